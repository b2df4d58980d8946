/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.c - before main: the device is put together and the virtual memory opened over it; at the
 * end, however it comes: the report.
 *
 * Nothing is printed unless asked (stats=FILE) or something is wrong. A configuration that cannot
 * work ends the program before main with one line and status 2.
 */
#include "accesses.h"
#include "clock.h"
#include "config.h"
#include "crash.h"
#include "end.h"
#include "image.h"
#include "record.h"
#include "report.h"
#include "stack.h"

#include "nandwich-guest/guest.h"
#include "nandwich-watch/pause.h"
#include "nandwich/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Device chosen when the program was built, as key=value lines; `nandwich cc` links it in. */
extern const char nw_host_defaults[] __attribute__((weak));

/* Globals the compiler pass left in RAM (compiler/statics.h), where it was given some. */
extern const uint32_t nw_guest_statics_bytes __attribute__((weak));

static struct nw_host_config config;
static struct nw_host_stack stack;
static struct nw_host_record record;
static uint64_t setup_ns, started_ns;
static pid_t owner;
static char report_text[16384];

static _Noreturn void refuse(const char *line)
{
    fprintf(stderr, "nandwich: error: %s\n", line);
    _exit(2);
}

static void read_config(void)
{
    char error[1024];
    const char *file = getenv("NANDWICH_CONFIG"), *words = getenv("NANDWICH");
    int result = NW_OK;

    nw_host_config_defaults(&config);
    if (nw_host_defaults != NULL) {
        result = nw_host_config_read(&config, nw_host_defaults, 0, "--nw- at the link", error,
                                     sizeof error);
    }
    if (result >= 0 && file != NULL) {
        result = nw_host_config_file(&config, file, error, sizeof error);
    }
    if (result >= 0 && words != NULL) {
        result = nw_host_config_read(&config, words, 1, "NANDWICH", error, sizeof error);
    }
    if (result < 0) {
        refuse(error);
    }
}

static void panic(struct nw_vm *vm, int error, uintptr_t address)
{
    (void)vm;
    nw_host_panic(error, address);
}

void nw_guest_map_moved(size_t bytes, int to_file)
{
    nw_host_stack_moved(&stack, bytes, to_file);
}

void nw_guest_map_sized(size_t bytes)
{
    stack.mapped.peak_bytes = bytes > stack.mapped.peak_bytes ? bytes : stack.mapped.peak_bytes;
}

static int save_timeline(void)
{
    char chip[NW_HOST_WORD_BYTES + 8];
    int result;

    if (stack.timeline == NULL) {
        return 0;
    }
    snprintf(chip, sizeof chip, "chip %s", stack.device.part.name);
    result = nw_timeline_write(stack.timeline, config.timeline, program_invocation_short_name,
                               chip);
    if (result < 0) {
        fprintf(stderr, "nandwich: error: %s: the timeline cannot be written: %s\n",
                config.timeline, result == NW_ERR_IO ? strerror(errno) : nw_error_text(result));
    }
    return result;
}

/* Recordings and image to their files. 0, or -1: said on stderr. */
static int save(void)
{
    int failed = 0, result = nw_host_record_close(&record);

    if (result < 0) {
        fprintf(stderr, "nandwich: error: %s: the recording cannot be written: %s\n", config.record,
                strerror(errno));
        failed = -1;
    }
    if (nw_host_accesses_close() < 0) {
        fprintf(stderr, "nandwich: error: %s: the accesses cannot be written: %s\n",
                config.accesses, strerror(errno));
        failed = -1;
    }
    if (save_timeline() < 0) {
        failed = -1;
    }
    result = nw_host_crashed() ? NW_OK : nw_host_image_save(&stack);
    if (result < 0) {
        fprintf(stderr, "nandwich: error: %s: the chip cannot be saved: %s\n", config.image,
                result == NW_ERR_IO ? strerror(errno) : nw_error_text(result));
        failed = -1;
    }
    return failed;
}

static void report(uint64_t ended_ns, int saved)
{
    struct nw_json json = {report_text, sizeof report_text, 0, 0};

    nw_json_open(&json, NULL);
    nw_host_crash_report(&json);
    nw_json_bool(&json, "saved", saved);
    nw_host_report_device(&json, &stack);
    nw_host_report_vm(&json, nw_guest_stats());
    nw_host_report_heap(&json, &nw_guest_heap.stats);
    nw_host_report_storage(&json, &stack);
    nw_host_report_timeline(&json, &stack);
    nw_json_open(&json, "host_ns");
    nw_json_number(&json, "setup", setup_ns);
    nw_json_number(&json, "program", ended_ns - started_ns);
    nw_json_number(&json, "emulation", stack.timer.host_ns);
    nw_json_close(&json);
    nw_json_close(&json);
    if (nw_json_save(&json, config.stats) != 0) {
        fprintf(stderr, "nandwich: error: %s: the report cannot be written\n", config.stats);
    }
}

void nw_host_replaced(void)
{
    nw_guest_map_save();
    if (owner == getpid() && config.stats[0] != '\0') {
        nw_watch_pause(); /* the report is no file of the program's */
        /* Recordings and image end with this program: what was asked for is not there then. */
        report(nw_host_now_ns(), config.record[0] == '\0' && config.accesses[0] == '\0' &&
                                     config.timeline[0] == '\0' && config.image[0] == '\0');
        nw_watch_resume();
    }
}

void nw_host_end(void)
{
    uint64_t ended_ns = nw_host_now_ns();
    int failed;

    nw_guest_map_save();
    if (owner != getpid()) {
        return;
    }
    owner = 0;
    nw_watch_pause();
    failed = save();
    if (config.stats[0] != '\0') {
        report(ended_ns, failed == 0);
    }
    nw_watch_resume();
    if (config.stats[0] == '\0' && failed != 0) {
        fflush(NULL); /* what the program printed; nobody but the status can tell of the failure */
        _exit(1);
    }
}

static void open_record(void)
{
    char line[NW_HOST_PATH_BYTES + 64];

    if (config.record[0] == '\0') {
        return;
    }
    if (nw_host_record_open(&record, stack.vm.block, config.record) < 0) {
        snprintf(line, sizeof line, "%s: the recording cannot be written: %s", config.record,
                 strerror(errno));
        refuse(line);
    }
    stack.vm.block = &record.block;
}

static void open_accesses(void)
{
    char line[NW_HOST_PATH_BYTES + 128];

    if (config.accesses[0] == '\0') {
        return;
    }
    if (!nw_host_accesses_built()) {
        snprintf(line, sizeof line,
                 "accesses=%s: this program was not built to tell them; `nandwich run "
                 "--record-accesses` builds it so",
                 config.accesses);
        refuse(line);
    }
    if (nw_host_accesses_open(config.accesses, nw_guest_base, stack.vm.bytes) < 0) {
        snprintf(line, sizeof line, "%s: the accesses cannot be written: %s", config.accesses,
                 strerror(errno));
        refuse(line);
    }
}

static void open_guest(void)
{
    char line[512];
    int result;

    if (nw_guest_globals_bytes() > stack.vm.bytes || stack.vm.bytes > nw_guest_bytes_max) {
        snprintf(line, sizeof line,
                 "vm=%u does not hold the program: its globals take %u bytes of virtual memory, "
                 "the heap comes on top, and vm may be at most %u",
                 stack.vm.bytes, nw_guest_globals_bytes(), nw_guest_bytes_max);
        refuse(line);
    }
    result = nw_guest_open(&stack.vm);
    if (result == NW_ERR_CONFIG) {
        refuse("files of this program were compiled for different frames, slots or look-aside "
               "entries: build all of them again with the same --nw-frame, --nw-slots and "
               "--nw-lookaside");
    }
    if (result < 0) {
        snprintf(line, sizeof line, "virtual memory cannot be opened: %s", nw_error_text(result));
        refuse(line);
    }
}

__attribute__((constructor(101))) static void start(void)
{
    struct nw_host_guest guest = {.base = nw_guest_base,
                                  .frame_bytes = nw_guest_frame_bytes,
                                  .slots = nw_guest_slots};
    uint64_t began_ns = nw_host_now_ns();
    char line[NW_HOST_PATH_BYTES + 128];
    struct nw_why why = {line, sizeof line};

    nw_watch_pause();
    read_config();
    guest.statics_bytes = &nw_guest_statics_bytes != NULL ? nw_guest_statics_bytes : 0;
    if (nw_host_config_apart(&config, "/proc/self/exe", line, sizeof line) < 0) {
        refuse(line);
    }
    if (nw_host_stack_open(&stack, &config, &guest, &why) < 0) {
        refuse(line);
    }
    open_record();
    stack.line.faults = &nw_guest_stats()->faults;
    stack.vm.panic = panic;
    stack.vm.lookaside_entries = nw_guest_lookaside_entries; /* for the report of RAM */
    nw_host_crash_watch(nw_guest_base, stack.vm.bytes);
    open_guest();
    open_accesses(); /* the globals' first contents are no access of the program */
    owner = getpid();
    nw_watch_resume();
    atexit(nw_host_end);
    started_ns = nw_host_now_ns();
    setup_ns = started_ns - began_ns;
    errno = 0; /* as C has it when a program begins */
}
