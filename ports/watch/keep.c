/* SPDX-License-Identifier: Apache-2.0 */
#include "keep.h"

#include "copy.h"
#include "table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SECURITYFS_MAGIC
#define SECURITYFS_MAGIC 0x73636673
#endif

static const char *keep_folder;
static size_t keep_copies;
static struct nw_kept *keep_several; /* files with more than one name, by their first */

void nw_keep_start(const char *folder)
{
    keep_folder = folder;
}

void nw_keep_copy_name(char *to, size_t bytes, size_t number)
{
    snprintf(to, bytes, "%s/%zu", keep_folder, number);
}

/* What looks like files but is the kernel's own: to write there changes no file. */
static int is_kernels(int file)
{
    struct statfs system;

    if (fstatfs(file, &system) != 0) {
        return 0;
    }
    switch ((unsigned long)system.f_type) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
    case SECURITYFS_MAGIC:
    case DEVPTS_SUPER_MAGIC: return 1;
    default: return 0;
    }
}

/* Opens for reading what is open with O_PATH. A file of ours that nobody may read is lent the
 * right for the moment. */
static int open_content(int file, const struct stat *status)
{
    char name[64];
    int opened;

    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    opened = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0 && errno == EACCES && chmod(name, (status->st_mode & 07777U) | S_IRUSR) == 0) {
        opened = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        int error = errno;

        chmod(name, status->st_mode & 07777U);
        errno = error;
    }
    return opened;
}

static int keep_content(struct nw_kept *kept, int file)
{
    char name[PATH_MAX];
    int from = open_content(file, &kept->status), to, result = -1, error;

    if (from < 0) {
        return -1;
    }
    nw_keep_copy_name(name, sizeof name, keep_copies + 1);
    to = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (to >= 0) {
        result = nw_copy(from, to);
    }
    error = errno;
    close(from);
    if (to >= 0) {
        close(to);
    }
    errno = error;
    if (result == 0) {
        kept->copy = ++keep_copies;
        if (kept->status.st_nlink > 1) { /* without a handle it comes back as a new file */
            kept->handle = fcntl(file, F_DUPFD_CLOEXEC, 0);
        }
    }
    return result;
}

/* A file with several names may have been changed by another one of them already: what was kept
 * then is how it was before. */
static void join_names(struct nw_kept *kept)
{
    for (struct nw_kept *other = keep_several; other != NULL; other = other->next) {
        if (nw_place_is_same(&other->status, &kept->status)) {
            kept->first = other;
            kept->status = other->status;
            return;
        }
    }
    if (kept->status.st_nlink > 1) {
        kept->next = keep_several;
        keep_several = kept;
    }
}

static int keep_target(struct nw_kept *kept, int file)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(file, "", target, sizeof target - 1);

    if (length < 0) {
        return -1;
    }
    target[length] = '\0';
    kept->target = strdup(target);
    return kept->target == NULL ? -1 : 0;
}

static int keep_below(const struct nw_place *place);

/* What an entry lacks for changes of this kind. */
static int complete(struct nw_kept *kept, const struct nw_place *place, unsigned how)
{
    if (S_ISREG(kept->status.st_mode) && kept->first->copy == 0 && (how & NW_KEEP_CONTENT) != 0) {
        return keep_content(kept->first, place->file);
    }
    if (S_ISLNK(kept->status.st_mode) && kept->target == NULL) {
        return keep_target(kept, place->file);
    }
    if (S_ISDIR(kept->status.st_mode) && !kept->whole && (how & NW_KEEP_BELOW) != 0) {
        int result = keep_below(place);

        kept->whole = 1;
        return result;
    }
    return 0;
}

/* Whether the run itself made what lies below some folder of this path. */
static int made_by_run(const char *path)
{
    char above[PATH_MAX];
    char *slash;

    strcpy(above, path);
    while ((slash = strrchr(above, '/')) != NULL && slash != above) {
        const struct nw_kept *kept;

        *slash = '\0';
        kept = nw_table_find(above);
        if (kept != NULL) {
            return kept->absent || !S_ISDIR(kept->status.st_mode) || kept->whole;
        }
    }
    return 0;
}

/* A member of a folder that is kept whole was made by the run, or it had an entry: it goes when the
 * folder is put back. */
static int add(const struct nw_place *place, unsigned how)
{
    int is_random = place->file < 0 && (how & NW_KEEP_RANDOM) != 0;
    struct nw_kept *kept;

    /* That a name was chosen at random is worth knowing wherever it is. */
    if ((made_by_run(place->path) && !is_random) ||
        (place->file >= 0 && is_kernels(place->file))) {
        return 0;
    }
    kept = nw_table_add(place->path);
    if (kept == NULL) {
        return -1;
    }
    kept->first = kept;
    kept->handle = -1;
    kept->absent = place->file < 0;
    kept->random = is_random;
    if (kept->absent) {
        return 0;
    }
    kept->status = place->status;
    if (S_ISREG(kept->status.st_mode)) {
        join_names(kept);
    }
    return complete(kept, place, how);
}

int nw_keep(const struct nw_place *place, unsigned how)
{
    struct nw_kept *kept = nw_table_find(place->path);

    if (kept == NULL) {
        return add(place, how);
    }
    /* What lies there now may be another thing than what was kept. */
    if (kept->absent || place->file < 0 || !nw_place_is_same(&place->status, &kept->status)) {
        return 0;
    }
    return complete(kept, place, how);
}

static int keep_member(const struct nw_place *folder, const char *name)
{
    struct nw_place *place = malloc(sizeof *place);
    int result = -1, error;

    if (place == NULL) {
        return -1;
    }
    if (snprintf(place->path, sizeof place->path, "%s/%s", folder->path, name) >=
        (int)sizeof place->path) {
        free(place);
        errno = ENAMETOOLONG;
        return -1;
    }
    place->file = openat(AT_FDCWD, place->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (place->file >= 0 && fstat(place->file, &place->status) == 0) {
        result = nw_keep(place, NW_KEEP_CONTENT | NW_KEEP_BELOW);
    }
    error = errno;
    nw_place_close(place);
    free(place);
    errno = error;
    return result;
}

/* The depth is bounded by that of a path. */
static int keep_below(const struct nw_place *place)
{
    int file = openat(AT_FDCWD, place->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int result = 0, error;
    struct dirent *member;
    DIR *list;

    list = file < 0 ? NULL : fdopendir(file);
    if (list == NULL) {
        return -1;
    }
    errno = 0;
    while (result == 0 && (member = readdir(list)) != NULL) {
        if (strcmp(member->d_name, ".") != 0 && strcmp(member->d_name, "..") != 0) {
            result = keep_member(place, member->d_name);
        }
    }
    error = errno;
    closedir(list);
    errno = error;
    return result;
}

static const char *kind(const struct nw_kept *kept)
{
    if (kept->absent) {
        return kept->random ? "random" : "absent";
    }
    if (S_ISREG(kept->status.st_mode)) {
        return "file";
    }
    if (S_ISDIR(kept->status.st_mode)) {
        return kept->whole ? "whole" : "folder";
    }
    return "other";
}

int nw_keep_log(void)
{
    char name[PATH_MAX];
    size_t count;
    struct nw_kept *const *all = nw_table_all(&count);
    FILE *log;
    int failed;

    snprintf(name, sizeof name, "%s/log", keep_folder);
    log = fopen(name, "we");
    if (log == NULL) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(log, "%zu%c%s%c%s%c", all[i]->first->copy, 0, kind(all[i]), 0, all[i]->path, 0);
    }
    failed = ferror(log);
    return fclose(log) != 0 || failed ? -1 : 0;
}
