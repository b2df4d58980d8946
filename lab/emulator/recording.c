/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.c - the accesses that a program on the board tells, as a trace for `nandwich layout`.
 * Variables come first; the trace begins with them when the program does. Addresses are told as a
 * recording on the host tells them, from the first variable on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "emulator.h"
#include "nandwich-vmtrace/access.h"
#include "nandwich/error.h"

#define BASE 0x1000U
#define VARIABLES_MAX 8192U /* what a layout can place */

static struct nw_access_object variables[VARIABLES_MAX];
static uint32_t count;
static struct nw_access_writer writer;
static bool begun;

void recording_variable(struct machine *machine, const char *name)
{
    const uint32_t *argument = &machine->registers[BOARD_ARGUMENT];
    struct nw_access_object *one = &variables[count];
    uint32_t shape[2];

    if (count == VARIABLES_MAX) {
        machine_fail("the recording", "more than 8192 tagged variables");
    }
    if (!machine_get(machine, argument[2], shape, sizeof shape)) {
        machine_fail("the recording", "a variable told from nowhere");
    }
    one->address = argument[1];
    one->bytes = shape[0];
    one->element_bytes = shape[1];
    strncpy(one->name, name, sizeof one->name - 1U);
    count++;
}

static int by_address(const void *a, const void *b)
{
    const struct nw_access_object *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static uint64_t first_address(void)
{
    return count > 0 ? variables[0].address : 0;
}

static void begin(const struct machine *machine)
{
    const struct nw_access_object *last = &variables[count > 0 ? count - 1U : 0];

    begun = true;
    qsort(variables, count, sizeof *variables, by_address);
    uint64_t bytes = count > 0 ? last->address + last->bytes - first_address() : 1U;

    if (nw_access_create(&writer, machine->settings.recording, BASE, bytes) != NW_OK) {
        machine_fail(machine->settings.recording, strerror(errno));
    }
    for (uint32_t i = 0; i < count; i++) {
        struct nw_access_object object = variables[i];

        object.address = object.address - first_address() + BASE;
        nw_access_put_object(&writer, &object);
    }
}

/* What runs beyond the last variable is cut there, as on the host. */
void recording_access(struct machine *machine)
{
    const uint32_t *argument = &machine->registers[BOARD_ARGUMENT];

    if (!begun) {
        begin(machine);
    }
    uint64_t offset = argument[0] - first_address();

    if (offset < writer.range_bytes && argument[1] > 0) {
        uint64_t most = writer.range_bytes - offset;
        uint32_t bytes = argument[1] < most ? argument[1] : (uint32_t)most;

        nw_access_put(&writer, BASE + offset, bytes, argument[2] != 0);
    }
}

uint64_t recording_accesses(void)
{
    return writer.total;
}

void recording_close(const struct machine *machine)
{
    if (machine->settings.recording[0] == '\0') {
        return;
    }
    if (!begun) {
        begin(machine);
    }
    if (nw_access_finish(&writer, 1) != NW_OK) {
        machine_fail(machine->settings.recording, strerror(errno));
    }
}
