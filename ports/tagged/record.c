/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - a program that records its accesses to tagged variables: `nandwich cc --trace`. The
 * trace goes to NANDWICH_TRACE, else to nandwich.acc. Variables lie in RAM, all in one section; the
 * trace tells their places in it, so that it is the same wherever the program was loaded. A program
 * that calls _exit() or abort(), or that a signal ends, leaves its trace up to there.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nandwich-tagged/tagged.h"
#include "nandwich-vmtrace/access.h"

#define BASE 0x1000U /* of the trace's addresses */
#define FAILED 125

/* What the pass notes of each variable; change both together. */
struct object {
    const uint8_t *address;
    uintptr_t bytes, element_bytes;
    const char *name, *file;
};

extern const struct object __start_nw_objects[] __attribute__((weak));
extern const struct object __stop_nw_objects[] __attribute__((weak));
extern uint8_t __start_nw_tagged[] __attribute__((weak));
extern uint8_t __stop_nw_tagged[] __attribute__((weak));

static struct nw_access_writer writer;
static pid_t parent; /* 0: nothing is recorded */
static volatile sig_atomic_t writing, ended_by;

/* The linker puts ours in the place of the program's _exit() and _Exit(). */
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__Exit(int status);

static const char *path(void)
{
    const char *given = getenv("NANDWICH_TRACE");

    return given != NULL && given[0] != '\0' ? given : "nandwich.acc";
}

static _Noreturn void leave(int status)
{
    parent = 0;
    __real__exit(status);
}

static _Noreturn void fail(void)
{
    fprintf(stderr, "nandwich: %s: %s\n", path(), strerror(errno));
    leave(FAILED);
}

static void end(void)
{
    if (parent != 0 && parent == getpid() && nw_access_finish(&writer, 1) < 0) {
        fail();
    }
    parent = 0;
}

void __wrap__exit(int status)
{
    end();
    __real__exit(status);
}

void __wrap__Exit(int status)
{
    __wrap__exit(status);
}

static void end_by(int signal_number)
{
    end();
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

/* What it interrupts may be half a record: that is written first. */
static void on_signal(int signal_number)
{
    if (writing) {
        ended_by = signal_number;
    } else {
        end_by(signal_number);
    }
}

/* Where the program is ended by a signal, its trace so far counts. */
static void catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGALRM, SIGPIPE};
    struct sigaction ours = {.sa_handler = on_signal}, theirs;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], NULL, &theirs) == 0 && theirs.sa_handler == SIG_DFL) {
            (void)sigaction(numbers[i], &ours, NULL);
        }
    }
}

/* What runs beyond the last variable is cut there: no reader takes a trace that has more. */
static void note(const void *address, size_t bytes, int write)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)__start_nw_tagged;

    if (parent != 0 && offset < writer.range_bytes && bytes > 0) {
        uint64_t most = writer.range_bytes - offset;

        writing = 1;
        nw_access_put(&writer, BASE + offset, (uint32_t)(bytes < most ? bytes : most), write);
        writing = 0;
        if (ended_by != 0) {
            end_by(ended_by);
        }
    }
}

void nw_tagged_note_read(const void *address, size_t bytes)
{
    note(address, bytes, 0);
}

void nw_tagged_note_write(const void *address, size_t bytes)
{
    note(address, bytes, 1);
}

void nw_tagged_get(uint8_t *to, const uint8_t *from, uint8_t bytes)
{
    note(from, bytes, 0);
    memcpy(to, from, bytes);
}

void nw_tagged_put(uint8_t *to, const uint8_t *from, uint8_t bytes)
{
    note(to, bytes, 1);
    memcpy(to, from, bytes);
}

static int by_address(const void *a, const void *b)
{
    const struct object *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static int by_name(const void *a, const void *b)
{
    const struct object *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* A layout knows variables by their names: of a static its file's and its own. */
static void refuse_twins(struct object *all, size_t count)
{
    qsort(all, count, sizeof *all, by_name);
    for (size_t i = 1; i < count; i++) {
        if (by_name(&all[i - 1U], &all[i]) == 0) {
            fprintf(stderr,
                    "nandwich: %s and %s have one tagged variable '%s' each, which a layout could "
                    "not tell apart; rename one\n",
                    all[i - 1U].file, all[i].file, all[i].name);
            (void)nw_access_finish(&writer, 0);
            leave(FAILED);
        }
    }
}

static void put_objects(void)
{
    size_t count = (size_t)(__stop_nw_objects - __start_nw_objects);
    struct object *all = malloc((count + 1U) * sizeof *all);

    if (all == NULL) {
        fail();
    }
    if (count == 0) {
        free(all);
        return;
    }
    memcpy(all, __start_nw_objects, count * sizeof *all);
    refuse_twins(all, count);
    qsort(all, count, sizeof *all, by_address);
    for (size_t i = 0; i < count; i++) {
        struct nw_access_object object = {BASE + (uintptr_t)(all[i].address - __start_nw_tagged),
                                          (uint32_t)all[i].bytes, (uint32_t)all[i].element_bytes,
                                          ""};

        strncpy(object.name, all[i].name, sizeof object.name - 1);
        nw_access_put_object(&writer, &object);
    }
    free(all);
}

__attribute__((constructor(101))) static void begin(void)
{
    uint64_t bytes = (uint64_t)(__stop_nw_tagged - __start_nw_tagged);

    if (__stop_nw_objects - __start_nw_objects == 0) {
        fprintf(stderr, "nandwich: %s: this program has no tagged variable that it uses\n", path());
        bytes = 1; /* the trace of nothing takes the place of an older one */
    }
    if (nw_access_create(&writer, path(), BASE, bytes) < 0 || atexit(end) != 0 ||
        at_quick_exit(end) != 0) {
        fail();
    }
    put_objects();
    parent = getpid();
    catch();
}
