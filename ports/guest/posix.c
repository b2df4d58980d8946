/* SPDX-License-Identifier: Apache-2.0 */
/* posix.c - files by descriptor and by name, with virtual buffers, names and structs. */
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE_BYTES 4096U

static mode_t mode_of(int flags, va_list list)
{
    int has = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;

    return has ? va_arg(list, mode_t) : 0;
}

NW_LIBC(int, open, (const char *path, int flags, ...))
{
    struct nw_guest_text name;
    va_list list;

    va_start(list, flags);
    int file = open(nw_guest_text(&name, path), flags, mode_of(flags, list));
    va_end(list);
    nw_guest_text_done(&name);
    return file;
}
NW_LIBC_ALIAS(int, open64, open, (const char *path, int flags, ...));

NW_LIBC(int, openat, (int folder, const char *path, int flags, ...))
{
    struct nw_guest_text name;
    va_list list;

    va_start(list, flags);
    int file = openat(folder, nw_guest_text(&name, path), flags, mode_of(flags, list));
    va_end(list);
    nw_guest_text_done(&name);
    return file;
}
NW_LIBC_ALIAS(int, openat64, openat, (int folder, const char *path, int flags, ...));

NW_LIBC(int, creat, (const char *path, mode_t mode))
{
    struct nw_guest_text name;
    int file = creat(nw_guest_text(&name, path), mode);

    nw_guest_text_done(&name);
    return file;
}
NW_LIBC_ALIAS(int, creat64, creat, (const char *path, mode_t mode));

/* A transfer is one call of the host up to this size: a pipe may have no second piece to give, and
 * a message is read whole or cut. */
#define TRANSFER_BYTES (1UL << 20)

/* Memory for a transfer of n bytes or its pieces: `own` or from the host's heap. */
static uint8_t *piece_of(size_t n, uint8_t *own, size_t *room)
{
    *room = n < TRANSFER_BYTES ? n : TRANSFER_BYTES;
    uint8_t *piece = *room <= PIECE_BYTES ? own : malloc(*room);

    if (piece == NULL) {
        nw_guest_refuse("out of host memory for a transfer");
    }
    return piece;
}

static void piece_done(uint8_t *piece, const uint8_t *own)
{
    if (piece != own) {
        free(piece);
    }
}

/* Reads on while whole pieces arrive: a short read of a file means its end, as programs expect. */
static ssize_t read_pieces(int file, uint8_t *to, size_t n, off_t offset, int positioned)
{
    uint8_t own[PIECE_BYTES];
    size_t done = 0, room;
    uint8_t *piece = piece_of(n, own, &room);
    ssize_t got = 0;

    while (done < n) {
        size_t want = n - done < room ? n - done : room;

        got = positioned ? pread(file, piece, want, offset + (off_t)done)
                         : read(file, piece, want);
        if (got <= 0) {
            break;
        }
        nw_guest_put(to + done, piece, (size_t)got);
        done += (size_t)got;
        if ((size_t)got < want) {
            break;
        }
    }
    piece_done(piece, own);
    return got < 0 && done == 0 ? -1 : (ssize_t)done;
}

static ssize_t write_pieces(int file, const uint8_t *from, size_t n, off_t offset, int positioned)
{
    uint8_t own[PIECE_BYTES];
    size_t done = 0, room;
    uint8_t *piece = piece_of(n, own, &room);
    ssize_t put = 0;

    while (done < n) {
        size_t want = n - done < room ? n - done : room;

        nw_guest_get(piece, from + done, want);
        put = positioned ? pwrite(file, piece, want, offset + (off_t)done)
                         : write(file, piece, want);
        if (put <= 0) {
            break;
        }
        done += (size_t)put;
        if ((size_t)put < want) {
            break;
        }
    }
    piece_done(piece, own);
    return put < 0 && done == 0 ? -1 : (ssize_t)done;
}

NW_LIBC(ssize_t, read, (int file, void *to, size_t n))
{
    nw_guest_map_settle(file);
    ssize_t got = nw_guest_is_virtual(to) && n > 0 ? read_pieces(file, to, n, 0, 0)
                                                   : read(file, to, n);

    nw_guest_deliver();
    return got;
}

NW_LIBC(ssize_t, write, (int file, const void *from, size_t n))
{
    nw_guest_map_settle(file);
    ssize_t put = nw_guest_is_virtual(from) && n > 0 ? write_pieces(file, from, n, 0, 0)
                                                     : write(file, from, n);

    nw_guest_map_changed(file);
    nw_guest_deliver();
    return put;
}

NW_LIBC(ssize_t, pread, (int file, void *to, size_t n, off_t offset))
{
    nw_guest_map_settle(file);
    return nw_guest_is_virtual(to) && n > 0 ? read_pieces(file, to, n, offset, 1)
                                            : pread(file, to, n, offset);
}
NW_LIBC_ALIAS(ssize_t, pread64, pread, (int file, void *to, size_t n, off_t offset));

NW_LIBC(ssize_t, pwrite, (int file, const void *from, size_t n, off_t offset))
{
    nw_guest_map_settle(file);
    ssize_t put = nw_guest_is_virtual(from) && n > 0 ? write_pieces(file, from, n, offset, 1)
                                                     : pwrite(file, from, n, offset);

    nw_guest_map_changed(file);
    return put;
}
NW_LIBC_ALIAS(ssize_t, pwrite64, pwrite, (int file, const void *from, size_t n, off_t offset));

/* Bytes of all parts; -1 and errno where the host would refuse their number or sum. */
static ssize_t parts_bytes(const struct iovec *parts, int count)
{
    size_t sum = 0;

    for (int i = 0; i < count && count <= IOV_MAX; i++) {
        struct iovec part;

        nw_guest_get(&part, &parts[i], sizeof part);
        if (part.iov_len > SSIZE_MAX - sum) {
            count = -1;
        }
        sum += part.iov_len;
    }
    if (count < 0 || count > IOV_MAX) {
        errno = EINVAL;
        return -1;
    }
    return (ssize_t)sum;
}

/* Moves n bytes between the parts, one after the other, and plain memory. */
static void move_parts(const struct iovec *parts, uint8_t *plain, size_t n, int to_parts)
{
    for (size_t done = 0; n > 0; parts++) {
        struct iovec part;

        nw_guest_get(&part, parts, sizeof part);
        size_t bytes = part.iov_len < n ? part.iov_len : n;
        if (to_parts) {
            nw_guest_put(part.iov_base, plain + done, bytes);
        } else {
            nw_guest_get(plain + done, part.iov_base, bytes);
        }
        done += bytes;
        n -= bytes;
    }
}

/* One call of the host, as a pipe or a message asks for; it follows no pointer of the list. */
static ssize_t transfer_parts(int file, const struct iovec *parts, int count, int reads)
{
    ssize_t sum = parts_bytes(parts, count), moved = -1;
    uint8_t own[PIECE_BYTES];
    size_t room;

    if (sum >= 0) {
        uint8_t *piece = piece_of((size_t)sum, own, &room);

        if (!reads) {
            move_parts(parts, piece, room, 0);
        }
        nw_guest_map_settle(file);
        moved = reads ? read(file, piece, room) : write(file, piece, room);
        if (!reads) {
            nw_guest_map_changed(file);
        }
        if (reads && moved > 0) {
            move_parts(parts, piece, (size_t)moved, 1);
        }
        piece_done(piece, own);
    }
    nw_guest_deliver();
    return moved;
}

NW_LIBC(ssize_t, readv, (int file, const struct iovec *parts, int count))
{
    return transfer_parts(file, parts, count, 1);
}

NW_LIBC(ssize_t, writev, (int file, const struct iovec *parts, int count))
{
    return transfer_parts(file, parts, count, 0);
}

NW_LIBC(int, stat, (const char *path, struct stat *to))
{
    struct nw_guest_text name;
    struct stat own;
    int result = stat(nw_guest_text(&name, path), &own);

    nw_guest_text_done(&name);
    if (result == 0) {
        nw_guest_put(to, &own, sizeof own);
    }
    return result;
}
NW_LIBC_ALIAS(int, stat64, stat, (const char *path, struct stat *to));

NW_LIBC(int, lstat, (const char *path, struct stat *to))
{
    struct nw_guest_text name;
    struct stat own;
    int result = lstat(nw_guest_text(&name, path), &own);

    nw_guest_text_done(&name);
    if (result == 0) {
        nw_guest_put(to, &own, sizeof own);
    }
    return result;
}
NW_LIBC_ALIAS(int, lstat64, lstat, (const char *path, struct stat *to));

NW_LIBC(int, fstat, (int file, struct stat *to))
{
    struct stat own;
    int result = fstat(file, &own);

    if (result == 0) {
        nw_guest_put(to, &own, sizeof own);
    }
    return result;
}
NW_LIBC_ALIAS(int, fstat64, fstat, (int file, struct stat *to));

/* A call that takes one name and plain values. */
#define NW_BY_NAME(name, parameters, call)                                                         \
    NW_LIBC(int, name, parameters)                                                                 \
    {                                                                                              \
        struct nw_guest_text copy;                                                                 \
        const char *plain = nw_guest_text(&copy, path);                                            \
        int result = call;                                                                         \
                                                                                                   \
        nw_guest_text_done(&copy);                                                                 \
        return result;                                                                             \
    }

NW_BY_NAME(access, (const char *path, int mode), access(plain, mode))
NW_BY_NAME(unlink, (const char *path), unlink(plain))
NW_BY_NAME(rmdir, (const char *path), rmdir(plain))
NW_BY_NAME(mkdir, (const char *path, mode_t mode), mkdir(plain, mode))
NW_BY_NAME(chdir, (const char *path), chdir(plain))
NW_BY_NAME(chmod, (const char *path, mode_t mode), chmod(plain, mode))
NW_BY_NAME(chown, (const char *path, uid_t user, gid_t group), chown(plain, user, group))
NW_BY_NAME(lchown, (const char *path, uid_t user, gid_t group), lchown(plain, user, group))
NW_BY_NAME(truncate, (const char *path, off_t bytes), truncate(plain, bytes))
NW_LIBC_ALIAS(int, truncate64, truncate, (const char *path, off_t bytes));

NW_LIBC(int, symlink, (const char *from, const char *to))
{
    struct nw_guest_text left, right;
    int result = symlink(nw_guest_text(&left, from), nw_guest_text(&right, to));

    nw_guest_text_done(&left);
    nw_guest_text_done(&right);
    return result;
}

NW_LIBC(int, link, (const char *from, const char *to))
{
    struct nw_guest_text left, right;
    int result = link(nw_guest_text(&left, from), nw_guest_text(&right, to));

    nw_guest_text_done(&left);
    nw_guest_text_done(&right);
    return result;
}

void *nw_libc_malloc(size_t bytes);

NW_LIBC(char *, getcwd, (char *to, size_t bytes))
{
    char own[4096]; /* PATH_MAX */

    if (getcwd(own, to != NULL && bytes < sizeof own ? bytes : sizeof own) == NULL) {
        return NULL;
    }
    size_t length = strlen(own) + 1;
    to = to != NULL ? to : nw_libc_malloc(length > bytes ? length : bytes);
    if (to != NULL) {
        nw_guest_put(to, own, length);
    }
    return to;
}

NW_LIBC(ssize_t, readlink, (const char *path, char *to, size_t bytes))
{
    struct nw_guest_text name;
    char own[4096];
    ssize_t n = readlink(nw_guest_text(&name, path), own, bytes < sizeof own ? bytes : sizeof own);

    nw_guest_text_done(&name);
    if (n > 0) {
        nw_guest_put(to, own, (size_t)n);
    }
    return n;
}

NW_LIBC(int, fcntl, (int file, int command, ...))
{
    va_list list;

    va_start(list, command);
    void *argument = va_arg(list, void *); /* or an int, passed the same way */
    va_end(list);
    if (command != F_GETLK && command != F_SETLK && command != F_SETLKW) {
        return fcntl(file, command, argument);
    }
    struct flock own;
    nw_guest_get(&own, argument, sizeof own);
    int result = fcntl(file, command, &own);
    nw_guest_put(argument, &own, sizeof own);
    return result;
}
NW_LIBC_ALIAS(int, fcntl64, fcntl, (int file, int command, ...));

NW_LIBC(int, ioctl, (int file, unsigned long request, ...))
{
    va_list list;

    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (nw_guest_is_virtual(argument)) {
        nw_guest_refuse("ioctl: how much memory the request touches is not known; use a local");
    }
    return ioctl(file, request, argument);
}

NW_LIBC(DIR *, opendir, (const char *path))
{
    struct nw_guest_text name;
    DIR *folder = opendir(nw_guest_text(&name, path));

    nw_guest_text_done(&name);
    return folder;
}

NW_LIBC(int, gethostname, (char *to, size_t bytes))
{
    char own[256];
    int result = gethostname(own, bytes < sizeof own ? bytes : sizeof own);

    if (result == 0 && bytes > 0) {
        size_t length = strnlen(own, sizeof own - 1) + 1;

        own[length - 1] = '\0';
        nw_guest_put(to, own, length < bytes ? length : bytes);
    }
    return result;
}

NW_LIBC(int, uname, (struct utsname * to))
{
    struct utsname own;
    int result = uname(&own);

    if (result == 0) {
        nw_guest_put(to, &own, sizeof own);
    }
    return result;
}

NW_LIBC(int, pipe, (int to[2]))
{
    int own[2];
    int result = pipe(own);

    if (result == 0) {
        nw_guest_put(to, own, sizeof own);
    }
    return result;
}

NW_LIBC(pid_t, waitpid, (pid_t process, int *to, int options))
{
    int status = 0;
    pid_t result = waitpid(process, &status, options);

    if (to != NULL && result > 0) {
        nw_guest_put(to, &status, sizeof status);
    }
    nw_guest_deliver();
    return result;
}
