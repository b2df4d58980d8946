/* SPDX-License-Identifier: Apache-2.0 */
/* back.h - puts back what keep.h remembers. */
#ifndef NW_WATCH_BACK_H
#define NW_WATCH_BACK_H

/*
 * Makes all that was kept as it was: content, modes, owners where that is allowed, times, links,
 * hard links; what was not there is gone, folders with all in them. Calls `failed` for each path
 * that cannot be put back, with errno set, and goes on.
 */
void nw_back(void (*failed)(const char *path));

#endif
