/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - stops a process, and all it starts, at the calls of calls.h until a watcher says go.
 */
#ifndef NW_WATCH_FILTER_H
#define NW_WATCH_FILTER_H

/*
 * Puts the filter over the calling process, for good. The descriptor on which the watcher hears of
 * the calls; -1 with errno: this system cannot do that (Linux 5.5 and seccomp are needed).
 * Refused with ENOSYS are the ways past the filter: io_uring, calls of another machine (32-bit
 * programs), files opened by handle.
 */
int nw_filter_install(void);

#endif
