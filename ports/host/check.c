/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - nandwich-check CONFIG FRAME_BYTES SLOTS: opens the device a configuration file
 * describes as a program compiled for that frame and slots would, and prints what it comes to as
 * JSON; status 2 and one line on stderr when it cannot be. `nandwich-check chips` prints the names
 * of all parts.
 */
#include "json.h"
#include "report.h"
#include "stack.h"

#include "nandwich-twin/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Any base that is a multiple of every frame: only sizes are checked here. */
#define ANY_BASE ((uintptr_t)1 << 32)

static struct nw_host_config config;
static struct nw_host_stack stack;

static void print_chips(void)
{
    for (uint32_t i = 0; i < nw_parts_count(); i++) {
        printf("%s\n", nw_parts_at(i)->rows[0].value);
    }
}

int main(int argc, char **argv)
{
    char line[1024], text[4096];
    struct nw_host_why why = {line, sizeof line};
    struct nw_json json = {text, sizeof text, 0, 0};
    struct nw_host_guest guest = {ANY_BASE, 0, 0};

    if (argc == 2 && strcmp(argv[1], "chips") == 0) {
        print_chips();
        return 0;
    }
    if (argc != 4) {
        fprintf(stderr, "nandwich: error: usage: nandwich-check CONFIG FRAME_BYTES SLOTS\n");
        return 2;
    }
    guest.frame_bytes = (uint16_t)strtoul(argv[2], NULL, 10);
    guest.slots = (uint16_t)strtoul(argv[3], NULL, 10);
    nw_host_config_defaults(&config);
    if (nw_host_config_file(&config, argv[1], line, sizeof line) < 0 ||
        nw_host_stack_open(&stack, &config, &guest, &why) < 0) {
        fprintf(stderr, "nandwich: error: %s\n", line);
        return 2;
    }
    nw_json_open(&json, NULL);
    nw_host_report_device(&json, &stack);
    nw_host_report_storage(&json, &stack);
    nw_json_close(&json);
    if (!nw_json_whole(&json)) {
        return 2;
    }
    printf("%.*s\n", (int)json.used, text);
    return 0;
}
