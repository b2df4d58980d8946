/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - what the guest asks of the host: files, time, arguments, its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "board.h"
#include "emulator.h"

/* Flags of open() as the small C libraries have them. */
#define GUEST_WRITE_ONLY 0x0001U
#define GUEST_READ_WRITE 0x0002U
#define GUEST_APPEND 0x0008U
#define GUEST_CREATE 0x0200U
#define GUEST_TRUNCATE 0x0400U
#define GUEST_EXCLUSIVE 0x0800U
/* Errors above this one have other numbers there. */
#define COMMON_ERRORS 34
#define GUEST_EIO 5

static uint32_t argument(const struct machine *machine, uint32_t which)
{
    return machine->registers[BOARD_ARGUMENT + which];
}

/* A string of the guest, cut to `bytes`. */
static char *text_at(struct machine *machine, uint32_t address, char *to, size_t bytes)
{
    size_t n = 0;

    while (n + 1 < bytes && machine_get(machine, address + (uint32_t)n, to + n, 1) &&
           to[n] != '\0') {
        n++;
    }
    to[n] = '\0';
    return to;
}

static int64_t answer_of(struct machine *machine, int64_t result)
{
    if (result < 0) {
        machine->registers[BOARD_ERROR] = errno <= COMMON_ERRORS ? (uint32_t)errno : GUEST_EIO;
    }
    return result;
}

static int64_t do_open(struct machine *machine)
{
    char name[4096];
    uint32_t given = argument(machine, 1);
    int flags = (given & GUEST_READ_WRITE) != 0   ? O_RDWR
                : (given & GUEST_WRITE_ONLY) != 0 ? O_WRONLY
                                                  : O_RDONLY;

    flags |= (given & GUEST_APPEND) != 0 ? O_APPEND : 0;
    flags |= (given & GUEST_CREATE) != 0 ? O_CREAT : 0;
    flags |= (given & GUEST_TRUNCATE) != 0 ? O_TRUNC : 0;
    flags |= (given & GUEST_EXCLUSIVE) != 0 ? O_EXCL : 0;
    return open(text_at(machine, argument(machine, 0), name, sizeof name), flags, 0666);
}

/* In pieces: the guest's memory is not ours. */
static int64_t do_transfer(struct machine *machine, bool reads)
{
    int file = (int)argument(machine, 0);
    uint32_t at = argument(machine, 1), left = argument(machine, 2);
    uint8_t piece[4096];
    int64_t done = 0;

    while (left > 0) {
        uint32_t bytes = left < sizeof piece ? left : (uint32_t)sizeof piece;
        ssize_t moved;

        if (!reads && !machine_get(machine, at, piece, bytes)) {
            errno = EFAULT;
            return -1;
        }
        moved = reads ? read(file, piece, bytes) : write(file, piece, bytes);
        if (moved < 0) {
            return done > 0 ? done : -1;
        }
        if (reads && !machine_put(machine, at, piece, (size_t)moved)) {
            errno = EFAULT;
            return -1;
        }
        done += moved;
        at += (uint32_t)moved;
        left -= (uint32_t)moved;
        if ((uint32_t)moved < bytes) {
            break;
        }
    }
    return done;
}

static int64_t do_kind(struct machine *machine)
{
    struct stat state;

    if (fstat((int)argument(machine, 0), &state) != 0) {
        return -1;
    }
    return S_ISREG(state.st_mode) ? 1 : 0;
}

static int64_t do_rename(struct machine *machine)
{
    char from[4096], to[4096];

    return rename(text_at(machine, argument(machine, 0), from, sizeof from),
                  text_at(machine, argument(machine, 1), to, sizeof to));
}

static int64_t do_remove(struct machine *machine)
{
    char name[4096];

    return unlink(text_at(machine, argument(machine, 0), name, sizeof name));
}

/* Asked for just before main: here the program begins. */
static int64_t do_arguments(struct machine *machine)
{
    uint32_t at = argument(machine, 0), bytes = 0;

    for (int i = 0; i < machine->argc; i++) {
        uint32_t length = (uint32_t)strlen(machine->argv[i]) + 1;

        if (at != 0 && bytes + length <= argument(machine, 1)) {
            (void)machine_put(machine, at + bytes, machine->argv[i], length);
        }
        bytes += length;
    }
    if (at == 0) {
        return bytes;
    }
    machine->before = part_flash();
    machine->before_cycles = machine->cycles;
    for (uint32_t i = 0; i <= machine->settings.owner_count; i++) {
        machine->settings.owners[i].before = machine->settings.owners[i].all;
    }
    machine->in_main = true;
    part_main_begins();
    return machine->argc;
}

static int64_t do_clock(const struct machine *machine)
{
    uint64_t ns = part_flash().now_ns - machine->before.now_ns;

    ns += (machine->cycles - machine->before_cycles) * 1000000U / (machine->settings.hz / 1000U);
    return (int64_t)(uint32_t)(ns / 1000U * argument(machine, 0) / 1000000U);
}

static void do_tell(struct machine *machine)
{
    struct told *told;

    if (machine->told_count == TOLD_MAX) {
        machine_fail("the guest", "tells too much");
    }
    told = &machine->told[machine->told_count++];
    text_at(machine, argument(machine, 0), told->name, sizeof told->name);
    told->value = argument(machine, 1);
}

static void do_variable(struct machine *machine)
{
    char name[NAME_BYTES];

    recording_variable(machine, text_at(machine, argument(machine, 0), name, sizeof name));
}

static void do_end(struct machine *machine, enum end end)
{
    machine->end = end;
    machine->status = (int)(argument(machine, 0) & 0xFFU);
    for (uint32_t i = 0; i < 3; i++) {
        machine->detail[i] = argument(machine, i);
    }
}

void host_call(struct machine *machine)
{
    int64_t answer = 0;

    switch (machine->registers[BOARD_CALL]) {
    case CALL_EXIT: do_end(machine, END_EXIT); break;
    case CALL_REFUSE: do_end(machine, END_REFUSED); break;
    case CALL_PANIC: do_end(machine, END_PANIC); break;
    case CALL_OPEN: answer = do_open(machine); break;
    case CALL_CLOSE: answer = close((int)argument(machine, 0)); break;
    case CALL_READ: answer = do_transfer(machine, true); break;
    case CALL_WRITE: answer = do_transfer(machine, false); break;
    case CALL_SEEK:
        answer = lseek((int)argument(machine, 0), (int32_t)argument(machine, 1),
                       (int)argument(machine, 2));
        break;
    case CALL_KIND: answer = do_kind(machine); break;
    case CALL_REMOVE: answer = do_remove(machine); break;
    case CALL_RENAME: answer = do_rename(machine); break;
    case CALL_SECONDS: answer = (int64_t)(uint32_t)time(NULL); break;
    case CALL_CLOCK: answer = do_clock(machine); break;
    case CALL_ARGUMENTS: answer = do_arguments(machine); break;
    case CALL_TELL: do_tell(machine); break;
    case CALL_VARIABLE: do_variable(machine); break;
    case CALL_ACCESS: recording_access(machine); break;
    case CALL_PLACE:
        answer = part_place((int)argument(machine, 0), argument(machine, 1));
        break;
    default: machine_fail("the guest", "an unknown call");
    }
    machine->registers[BOARD_CALL] = (uint32_t)answer_of(machine, answer);
}
