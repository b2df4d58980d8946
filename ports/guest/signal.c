/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.c - handlers in virtual memory. One that ran between a guard and its access could take the
 * page away, so a signal is only noted when it arrives and its handler runs at the next library
 * call that looks: raise, printf, read, write, and whatever sleeps or waits. Faults (SIGSEGV,
 * SIGBUS, SIGFPE, SIGILL) cannot wait and are refused with EINVAL.
 */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define SIGNALS 65

static void (*handlers[SIGNALS])(int);
static volatile sig_atomic_t arrived[SIGNALS];
static volatile sig_atomic_t any_arrived;

static void note(int number)
{
    arrived[number] = 1;
    any_arrived = 1;
}

void nw_guest_deliver(void)
{
    if (!any_arrived) {
        return;
    }
    any_arrived = 0;
    for (int number = 1; number < SIGNALS; number++) {
        if (arrived[number]) {
            arrived[number] = 0;
            if (handlers[number] != NULL) {
                handlers[number](number);
            }
        }
    }
}

typedef void (*handler)(int);

NW_LIBC(handler, signal, (int number, handler wanted))
{
    if (number <= 0 || number >= SIGNALS || number == SIGSEGV || number == SIGBUS ||
        number == SIGFPE || number == SIGILL) {
        errno = EINVAL;
        return SIG_ERR;
    }
    int own = wanted != SIG_DFL && wanted != SIG_IGN && wanted != SIG_ERR;
    handler before = signal(number, own ? note : wanted);

    if (before == note) {
        before = handlers[number];
    }
    handlers[number] = own ? wanted : NULL;
    return before;
}
NW_LIBC_ALIAS(handler, bsd_signal, signal, (int number, handler wanted));
NW_LIBC_ALIAS(handler, __sysv_signal, signal, (int number, handler wanted));

NW_LIBC(int, pause, (void))
{
    int result = pause();

    nw_guest_deliver();
    return result;
}

NW_LIBC(int, raise, (int number))
{
    int result = raise(number);

    nw_guest_deliver();
    return result;
}
