/* SPDX-License-Identifier: Apache-2.0 */
/* stop.h - a process stopped at a call: what the call is about to change is kept. */
#ifndef NW_WATCH_STOP_H
#define NW_WATCH_STOP_H

#include <linux/seccomp.h>
#include <limits.h>

/* What the answer to a call is. */
enum nw_stop_answer {
    NW_STOP_GO_ON, /* the kernel does it */
    NW_STOP_DONE,  /* it was for the watcher, and is done */
    NW_STOP_NEVER  /* it must not happen: what it changes cannot be kept; errno, nw_stop_path */
};

enum nw_stop_answer nw_stop(const struct seccomp_notif *call);

/* The path of which NW_STOP_NEVER speaks. */
extern char nw_stop_path[PATH_MAX];

#endif
