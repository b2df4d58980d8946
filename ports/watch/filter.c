/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"

#include "calls.h"

#include "nandwich-watch/pause.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#if defined(__x86_64__)
enum { MACHINE = (int)AUDIT_ARCH_X86_64, LOWEST_FOREIGN = 0x40000000 }; /* from there on: x32 */
#elif defined(__aarch64__)
enum { MACHINE = (int)AUDIT_ARCH_AARCH64, LOWEST_FOREIGN = 0x40000000 };
#else
#error "ports/watch knows x86-64 and AArch64"
#endif

enum { MOST = 256 };

static struct sock_filter code[MOST];
static unsigned short length;

static void add(unsigned short what, uint32_t value, uint8_t if_true, uint8_t if_false)
{
    if (length < MOST) {
        code[length++] = (struct sock_filter){what, if_true, if_false, value};
    }
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(uint32_t value)
{
    add(BPF_RET | BPF_K, value, 0, 0);
}

/* The low half of an argument; both machines have it first. */
static size_t argument(int number)
{
    return offsetof(struct seccomp_data, args) + 8U * (unsigned)number;
}

/* Opening is the most frequent call: what only reads goes on without a stop. */
static void add_call(const struct nw_call *call)
{
    int looks = call->kind == NW_CALL_OPEN || call->kind == NW_CALL_PAUSE;

    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->number, 0, looks ? 4 : 1);
    if (call->kind == NW_CALL_OPEN) {
        load(argument(call->flags));
        add(BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC, 0, 1);
    } else if (call->kind == NW_CALL_PAUSE) {
        load(argument(0));
        add(BPF_JMP | BPF_JEQ | BPF_K, NW_WATCH_PRCTL, 0, 1);
    }
    answer(SECCOMP_RET_USER_NOTIF);
    if (looks) {
        answer(SECCOMP_RET_ALLOW);
    }
}

static void add_refused(int number)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
    answer(SECCOMP_RET_ERRNO | ENOSYS);
}

static void write_code(void)
{
    length = 0;
    load(offsetof(struct seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)MACHINE, 1, 0);
    answer(SECCOMP_RET_ERRNO | ENOSYS);
    load(offsetof(struct seccomp_data, nr));
    add(BPF_JMP | BPF_JGE | BPF_K, LOWEST_FOREIGN, 0, 1);
    answer(SECCOMP_RET_ERRNO | ENOSYS);
    for (size_t i = 0; i < nw_calls_count; i++) {
        add_call(&nw_calls[i]);
    }
    add_refused(SYS_io_uring_setup);
    add_refused(SYS_open_by_handle_at);
    answer(SECCOMP_RET_ALLOW);
}

static int install(unsigned long more)
{
    struct sock_fprog program = {length, code};

    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER | more, &program);
}

int nw_filter_install(void)
{
    int listener;

    write_code();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0) {
        return -1;
    }
    /* Without it (before Linux 5.19) a signal may break off a call that is being looked at. */
    listener = install(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    return listener >= 0 || errno != EINVAL ? listener : install(0);
}
