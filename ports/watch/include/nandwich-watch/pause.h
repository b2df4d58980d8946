/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pause.h - by which the run time of a program tells `nandwich-watch` that the files the calling
 * thread changes from now on are none of the program's: its report, its recording, its image.
 * Without a watcher both calls do nothing.
 */
#ifndef NANDWICH_WATCH_PAUSE_H
#define NANDWICH_WATCH_PAUSE_H

#include <sys/prctl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An option of prctl() that no kernel has; the watcher answers in the kernel's place. */
#define NW_WATCH_PRCTL 0x4E575741 /* "NWWA" */

enum nw_watch_what { NW_WATCH_ON, NW_WATCH_OFF };

static inline void nw_watch_pause(void)
{
    (void)prctl(NW_WATCH_PRCTL, (unsigned long)NW_WATCH_OFF, 0UL, 0UL, 0UL);
}

static inline void nw_watch_resume(void)
{
    (void)prctl(NW_WATCH_PRCTL, (unsigned long)NW_WATCH_ON, 0UL, 0UL, 0UL);
}

#ifdef __cplusplus
}
#endif

#endif
