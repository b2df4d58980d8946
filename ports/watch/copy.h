/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - the content of files: copied with their holes, compared. */
#ifndef NW_WATCH_COPY_H
#define NW_WATCH_COPY_H

/* Makes the content of `to` that of `from`. 0, or -1 with errno. */
int nw_copy(int from, int to);

/* 1: both hold the same; 0: they do not; -1 with errno. */
int nw_copy_same(int one, int other);

#endif
