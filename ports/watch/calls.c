/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include "nandwich-watch/pause.h"

#include <sys/syscall.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/* number, kind, folder, path, flags, mode, to_folder, to_path, is_link */
const struct nw_call nw_calls[] = {
    {SYS_openat, NW_CALL_OPEN, 0, 1, 2, 3, -1, -1, 0},
    {SYS_openat2, NW_CALL_OPEN_HOW, 0, 1, 2, -1, -1, -1, 0},
    {SYS_truncate, NW_CALL_CONTENT, -1, 0, -1, -1, -1, -1, 0},
    {SYS_fchmod, NW_CALL_ATTRIBUTES, 0, -1, -1, -1, -1, -1, 0},
    {SYS_fchmodat, NW_CALL_ATTRIBUTES, 0, 1, -1, -1, -1, -1, 0},
    {SYS_fchmodat2, NW_CALL_ATTRIBUTES, 0, 1, 3, -1, -1, -1, 0},
    {SYS_fchown, NW_CALL_ATTRIBUTES, 0, -1, -1, -1, -1, -1, 0},
    {SYS_fchownat, NW_CALL_ATTRIBUTES, 0, 1, 4, -1, -1, -1, 0},
    {SYS_utimensat, NW_CALL_ATTRIBUTES, 0, 1, 3, -1, -1, -1, 0},
    {SYS_unlinkat, NW_CALL_REMOVE, 0, 1, -1, -1, -1, -1, 1},
    {SYS_mkdirat, NW_CALL_MAKE_FOLDER, 0, 1, -1, 2, -1, -1, 1},
    {SYS_mknodat, NW_CALL_MAKE, 0, 1, -1, -1, -1, -1, 1},
    {SYS_symlinkat, NW_CALL_MAKE, 1, 2, -1, -1, -1, -1, 1},
    {SYS_linkat, NW_CALL_LINK, 0, 1, 4, -1, 2, 3, 1},
    {SYS_renameat2, NW_CALL_MOVE, 0, 1, -1, -1, 2, 3, 1},
    {SYS_bind, NW_CALL_BIND, -1, 1, -1, -1, -1, -1, 1},
    {SYS_prctl, NW_CALL_PAUSE, -1, -1, -1, -1, -1, -1, 0},
#ifdef SYS_renameat
    {SYS_renameat, NW_CALL_MOVE, 0, 1, -1, -1, 2, 3, 1},
#endif
#ifdef SYS_open /* and its like, which newer machines do without */
    {SYS_open, NW_CALL_OPEN, -1, 0, 1, 2, -1, -1, 0},
    {SYS_creat, NW_CALL_CONTENT, -1, 0, -1, -1, -1, -1, 0},
    {SYS_chmod, NW_CALL_ATTRIBUTES, -1, 0, -1, -1, -1, -1, 0},
    {SYS_chown, NW_CALL_ATTRIBUTES, -1, 0, -1, -1, -1, -1, 0},
    {SYS_lchown, NW_CALL_ATTRIBUTES, -1, 0, -1, -1, -1, -1, 1},
    {SYS_utime, NW_CALL_ATTRIBUTES, -1, 0, -1, -1, -1, -1, 0},
    {SYS_utimes, NW_CALL_ATTRIBUTES, -1, 0, -1, -1, -1, -1, 0},
    {SYS_futimesat, NW_CALL_ATTRIBUTES, 0, 1, -1, -1, -1, -1, 0},
    {SYS_unlink, NW_CALL_REMOVE, -1, 0, -1, -1, -1, -1, 1},
    {SYS_rmdir, NW_CALL_REMOVE, -1, 0, -1, -1, -1, -1, 1},
    {SYS_mkdir, NW_CALL_MAKE_FOLDER, -1, 0, -1, 1, -1, -1, 1},
    {SYS_mknod, NW_CALL_MAKE, -1, 0, -1, -1, -1, -1, 1},
    {SYS_symlink, NW_CALL_MAKE, -1, 1, -1, -1, -1, -1, 1},
    {SYS_link, NW_CALL_LINK, -1, 0, -1, -1, -1, 1, 1},
    {SYS_rename, NW_CALL_MOVE, -1, 0, -1, -1, -1, 1, 1},
#endif
};
const size_t nw_calls_count = sizeof nw_calls / sizeof nw_calls[0];

const struct nw_call *nw_call_find(int number)
{
    for (size_t i = 0; i < nw_calls_count; i++) {
        if (nw_calls[i].number == number) {
            return &nw_calls[i];
        }
    }
    return NULL;
}
