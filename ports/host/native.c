/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native.c - what `nandwich run` links into the native twin of a program: its wall time from before
 * main to its end.
 *
 *   NANDWICH_NATIVE   file that gets {"host_ns": N} at the end; unset: nothing happens
 */
#include "clock.h"
#include "end.h"
#include "json.h"

#include "nandwich-watch/pause.h"

#include <stdlib.h>
#include <unistd.h>

static const char *result_path;
static pid_t owner;
static uint64_t started_ns;

static void report(void)
{
    uint64_t ended_ns = nw_host_now_ns();
    char text[128];
    struct nw_json json = {text, sizeof text, 0, 0};

    nw_json_open(&json, NULL);
    nw_json_number(&json, "host_ns", ended_ns - started_ns);
    nw_json_close(&json);
    nw_json_save(&json, result_path);
}

void nw_host_replaced(void)
{
    if (result_path != NULL && getpid() == owner) {
        nw_watch_pause(); /* the report is no file of the program's */
        report();
        nw_watch_resume();
    }
}

void nw_host_end(void)
{
    if (result_path != NULL && getpid() == owner) {
        nw_watch_pause();
        report();
        nw_watch_resume();
        result_path = NULL;
    }
}

__attribute__((constructor(101))) static void start(void)
{
    result_path = getenv("NANDWICH_NATIVE");
    if (result_path == NULL) {
        return;
    }
    owner = getpid();
    atexit(nw_host_end);
    started_ns = nw_host_now_ns();
}
