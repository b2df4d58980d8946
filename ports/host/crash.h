/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash.h - a program that ends by a fault: says where, in which function, whether it reached into
 * virtual memory past the guards; the report (end.h) is written first, then the signal takes its
 * usual course, so that the shell sees what it would have seen.
 */
#ifndef NW_HOST_CRASH_H
#define NW_HOST_CRASH_H

#include <stdint.h>

#include "json.h"

/* Catches SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT on a stack of its own. A fault at an address
 * from `base` on, `bytes` long, is an access past the guards. */
void nw_host_crash_watch(uintptr_t base, uint64_t bytes);

/* The run time cannot go on: storage failed (an enum nw_error) at this virtual address, or the
 * program misused its heap there (nw_guest_misuse). */
_Noreturn void nw_host_panic(int error, uintptr_t address);

/* 1 once the program has ended by a signal or by its storage: malloc is out of reach then. */
int nw_host_crashed(void);

/* Adds how the program ended, as "end": {"kind": "exit"|"signal"|"storage"|"misuse",
 * ...}. */
void nw_host_crash_report(struct nw_json *json);

#endif
