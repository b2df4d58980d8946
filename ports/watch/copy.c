/* SPDX-License-Identifier: Apache-2.0 */
#include "copy.h"

#include <errno.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static char bytes[65536], others[65536];

static int copy_range(int from, int to, off_t at, off_t end)
{
    while (at < end) {
        size_t want = end - at < (off_t)sizeof bytes ? (size_t)(end - at) : sizeof bytes;
        ssize_t count = pread(from, bytes, want, at), done = 0;

        if (count <= 0) {
            return (int)count; /* 0: cut meanwhile */
        }
        while (done < count) {
            ssize_t some = pwrite(to, bytes + done, (size_t)(count - done), at + done);

            if (some <= 0) {
                return -1;
            }
            done += some;
        }
        at += count;
    }
    return 0;
}

int nw_copy(int from, int to)
{
    struct stat status;
    off_t at = 0;

    if (ioctl(to, FICLONE, from) == 0) { /* some file systems share content until it changes */
        return 0;
    }
    if (fstat(from, &status) != 0 || ftruncate(to, 0) != 0 || ftruncate(to, status.st_size) != 0) {
        return -1;
    }
    while (at < status.st_size) {
        off_t data = lseek(from, at, SEEK_DATA), hole;

        if (data < 0 && errno == ENXIO) {
            break; /* a hole up to the end */
        }
        data = data < 0 ? at : data; /* holes are not told here */
        hole = lseek(from, data, SEEK_HOLE);
        hole = hole < 0 ? status.st_size : hole;
        if (copy_range(from, to, data, hole) != 0) {
            return -1;
        }
        at = hole;
    }
    return 0;
}

int nw_copy_same(int one, int other)
{
    struct stat first, second;
    off_t at = 0;

    if (fstat(one, &first) != 0 || fstat(other, &second) != 0) {
        return -1;
    }
    if (first.st_size != second.st_size) {
        return 0;
    }
    while (at < first.st_size) {
        ssize_t count = pread(one, bytes, sizeof bytes, at);
        ssize_t same = pread(other, others, sizeof others, at);

        if (count <= 0 || same <= 0) {
            return -1;
        }
        if (count != same || memcmp(bytes, others, (size_t)count) != 0) {
            return 0;
        }
        at += count;
    }
    return 1;
}
