/* SPDX-License-Identifier: Apache-2.0 */
#include "back.h"

#include "copy.h"
#include "table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mode_t mode_of(const struct nw_kept *kept)
{
    return kept->status.st_mode & 07777U;
}

static int remove_all(int folder, const char *name);

/* Removes what lies in a folder: everything, or (keeping: its path) what was not there before. */
static int empty(int folder, const char *keeping)
{
    DIR *list = fdopendir(folder);
    struct dirent *member;
    char path[PATH_MAX];
    int result = 0;

    if (list == NULL) {
        close(folder);
        return -1;
    }
    while ((member = readdir(list)) != NULL) {
        if (strcmp(member->d_name, ".") == 0 || strcmp(member->d_name, "..") == 0) {
            continue;
        }
        if (keeping != NULL &&
            (snprintf(path, sizeof path, "%s/%s", keeping, member->d_name) >= (int)sizeof path ||
             nw_table_find(path) != NULL)) {
            continue;
        }
        result |= remove_all(dirfd(list), member->d_name);
    }
    closedir(list);
    return result;
}

static int open_folder(int folder, const char *name)
{
    fchmodat(folder, name, 0700, 0); /* it goes, or has its mode back at the end */
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The depth is bounded by the depth of folders. */
static int remove_all(int folder, const char *name)
{
    struct stat status;
    int below;

    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    }
    if (!S_ISDIR(status.st_mode)) {
        return unlinkat(folder, name, 0);
    }
    below = open_folder(folder, name);
    if (below < 0 || empty(below, NULL) != 0) {
        return -1;
    }
    return unlinkat(folder, name, AT_REMOVEDIR);
}

/* Another name of the file that is in its place already. */
static const char *find_other_name(const struct nw_kept *kept)
{
    size_t count;
    struct nw_kept *const *all = nw_table_all(&count);
    struct stat status;

    for (size_t i = 0; i < count && all[i] != kept; i++) {
        if (all[i]->first == kept->first && lstat(all[i]->path, &status) == 0 &&
            S_ISREG(status.st_mode)) {
            return all[i]->path;
        }
    }
    return NULL;
}

/* Gives a file with several names this one again. 0; -1: it has to be made anew. */
static int link_again(const struct nw_kept *kept)
{
    char name[64];
    const char *other;

    if (kept->status.st_nlink < 2) {
        return -1;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", kept->first->handle);
    if (kept->first->handle >= 0 &&
        linkat(AT_FDCWD, name, AT_FDCWD, kept->path, AT_SYMLINK_FOLLOW) == 0) {
        return 0;
    }
    other = find_other_name(kept); /* no name of it was left */
    return other == NULL ? -1 : linkat(AT_FDCWD, other, AT_FDCWD, kept->path, 0);
}

static int open_kept(const struct nw_kept *kept, int flags)
{
    int file = open(kept->path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (file < 0 && errno == EACCES && chmod(kept->path, mode_of(kept) | 0600U) == 0) {
        file = open(kept->path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    return file;
}

static int close_all(int one, int other, int result)
{
    int error = errno;

    if (one >= 0) {
        close(one);
    }
    if (other >= 0) {
        close(other);
    }
    errno = error;
    return result;
}

static int put_content(const struct nw_kept *kept, int is_there)
{
    char name[PATH_MAX];
    int from, to = -1, result = -1;

    nw_keep_copy_name(name, sizeof name, kept->first->copy);
    from = open(name, O_RDONLY | O_CLOEXEC);
    if (from >= 0 && is_there) {
        to = open_kept(kept, O_RDONLY);
        if (to >= 0 && nw_copy_same(from, to) == 1) {
            return close_all(from, to, 0);
        }
        close_all(to, -1, 0);
    }
    if (from >= 0) {
        to = open_kept(kept, O_WRONLY | (is_there ? 0 : O_CREAT | O_EXCL));
    }
    if (to >= 0) {
        result = nw_copy(from, to);
    }
    return close_all(from, to, result);
}

/* Of the kinds without content. */
static int make(const struct nw_kept *kept)
{
    if (S_ISDIR(kept->status.st_mode)) {
        return mkdir(kept->path, 0700);
    }
    if (S_ISLNK(kept->status.st_mode)) {
        return symlink(kept->target, kept->path);
    }
    return mknod(kept->path, kept->status.st_mode, kept->status.st_rdev);
}

/* Whether what lies at a path is the thing that was kept, whatever has become of its content. */
static int is_still(const struct nw_kept *kept, const struct stat *now)
{
    char target[PATH_MAX];
    ssize_t length;

    if ((now->st_mode & S_IFMT) != (kept->status.st_mode & S_IFMT)) {
        return 0;
    }
    if (S_ISREG(now->st_mode)) {
        return nw_place_is_same(now, &kept->status);
    }
    if (S_ISLNK(now->st_mode) && kept->target != NULL) {
        length = readlink(kept->path, target, sizeof target);
        return length == (ssize_t)strlen(kept->target) &&
               memcmp(target, kept->target, (size_t)length) == 0;
    }
    return S_ISLNK(now->st_mode) || now->st_rdev == kept->status.st_rdev;
}

/* What was there before is there again; attributes come last. */
static int put_thing(const struct nw_kept *kept)
{
    struct stat now;
    int is_there = lstat(kept->path, &now) == 0;

    if (is_there && !is_still(kept, &now)) {
        if (remove_all(AT_FDCWD, kept->path) != 0) {
            return -1;
        }
        is_there = 0;
    }
    if (!is_there && S_ISREG(kept->status.st_mode)) {
        is_there = link_again(kept) == 0;
    } else if (!is_there) {
        return make(kept);
    }
    if (S_ISDIR(kept->status.st_mode)) { /* the run may have locked it, and its members come now */
        return (now.st_mode & 0700U) == 0700U ? 0 : chmod(kept->path, mode_of(kept) | 0700U);
    }
    if (S_ISREG(kept->status.st_mode) && (kept->first->copy != 0 || !is_there)) {
        return put_content(kept, is_there); /* without a copy: an error, told as such */
    }
    return 0;
}

static int put_attributes(const struct nw_kept *kept)
{
    const struct stat *was = &kept->status;
    const struct timespec times[2] = {was->st_atim, was->st_mtim};
    struct stat now;

    if (lstat(kept->path, &now) != 0) {
        return -1;
    }
    if (now.st_uid != was->st_uid || now.st_gid != was->st_gid) {
        (void)!lchown(kept->path, was->st_uid, was->st_gid); /* only root gives files away */
    }
    if (!S_ISLNK(was->st_mode) && lstat(kept->path, &now) == 0 && now.st_mode != was->st_mode &&
        chmod(kept->path, mode_of(kept)) != 0) {
        return -1;
    }
    if (now.st_mtim.tv_sec != was->st_mtim.tv_sec || now.st_mtim.tv_nsec != was->st_mtim.tv_nsec) {
        return utimensat(AT_FDCWD, kept->path, times, AT_SYMLINK_NOFOLLOW);
    }
    return 0;
}

/* A folder that was kept whole holds nothing that was not there. */
static int clear_folder(const struct nw_kept *kept)
{
    int folder = open(kept->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return folder < 0 ? -1 : empty(folder, kept->path);
}

void nw_back(void (*failed)(const char *path))
{
    size_t count;
    struct nw_kept *const *all;

    nw_table_sort();
    all = nw_table_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (!all[i]->absent && put_thing(all[i]) != 0) {
            failed(all[i]->path);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if ((all[i]->absent && remove_all(AT_FDCWD, all[i]->path) != 0) ||
            (all[i]->whole && clear_folder(all[i]) != 0)) {
            failed(all[i]->path);
        }
    }
    for (size_t i = count; i-- > 0;) { /* what lies in a folder before the folder, for its times */
        if (!all[i]->absent && put_attributes(all[i]) != 0) {
            failed(all[i]->path);
        }
    }
}
