/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_calls.c SEED CALLS - random calls that make, change, move and remove files in the current
 * folder, by this process, by children and by other programs. What they answer goes to stdout.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELD = 4, KINDS = 46 };

static uint64_t state;
static int held[HELD] = {-1, -1, -1, -1}; /* files open for writing */

static uint32_t random_below(uint32_t bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state * 2685821657736338717U) >> 33) % bound;
}

/* A path below the current folder, of few names, so that calls meet. */
static void random_path(char *to)
{
    static const char *const folders[] = {
        "",      "",           "",   "full/",           "full/deep/",        "b/", "c/",
        "link/", "./full/../", "./", "/proc/self/cwd/", "//proc/self/cwd/b/"};
    static const char *const names[] = {"in",  "b",   "c",    "full",  "deep",
                                        "one", "two", "link", "grown", "\xff\xfe"};

    strcpy(to, folders[random_below(12)]);
    strcat(to, names[random_below(10)]);
    strcat(to, random_below(16) == 0 ? "/" : "");
}

static int write_to(int file)
{
    char bytes[64];
    size_t count = 1 + random_below(sizeof bytes);

    memset(bytes, 'a' + (int)random_below(26), count);
    return file < 0 ? -1 : (int)pwrite(file, bytes, count, random_below(100));
}

static int opened(const char *path, int flags)
{
    int file = open(path, flags | O_NONBLOCK, 0600 | (random_below(2) != 0 ? 044 : 0));
    int result = write_to(file);
    uint32_t place = random_below(2 * HELD);

    if (file >= 0 && place < HELD) {
        if (held[place] >= 0) {
            close(held[place]);
        }
        held[place] = file;
    } else if (file >= 0) {
        close(file);
    }
    return file < 0 ? -1 : result;
}

static int mapped(const char *path)
{
    int file = open(path, O_RDWR | O_NONBLOCK), result = -1;
    struct stat status;

    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        char *bytes = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

        if (bytes != MAP_FAILED) {
            bytes[0] = (char)('A' + (int)random_below(26));
            result = munmap(bytes, 1);
        }
    }
    close(file);
    return result;
}

static int bound(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int channel = socket(AF_UNIX, SOCK_STREAM, 0), result;

    strcpy(address.sun_path, path);
    result = bind(channel, (struct sockaddr *)&address, sizeof address);
    close(channel);
    return result;
}

static int shell(const char *line, const char *path, const char *other)
{
    fflush(stdout);
    setenv("P", path, 1);
    setenv("Q", other, 1);
    return WEXITSTATUS(system(line));
}

static int without_name(const char *path)
{
    int file = open(".", O_TMPFILE | O_RDWR, 0640), result;

    if (write_to(file) < 0) {
        return -1;
    }
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    result = linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    close(file);
    return result;
}

/* By a descriptor's own name in /proc. */
static int by_descriptor(int held_file, const char *path, int how)
{
    int file = how == 0 ? held_file : open(path, how == 1 ? O_RDONLY | O_NONBLOCK : O_PATH);
    char name[64];
    int result;

    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    result = opened(name, O_WRONLY | (random_below(2) != 0 ? O_TRUNC : 0));
    if (how != 0 && file >= 0) {
        close(file);
    }
    return result;
}

/* As if the folder were "/"; no path leads out of it. */
static int opened_below(const char *root, const char *path)
{
    struct open_how how = {.flags = O_WRONLY | O_NONBLOCK | (random_below(2) != 0 ? O_CREAT : 0),
                           .resolve = random_below(2) != 0 ? RESOLVE_IN_ROOT : RESOLVE_BENEATH};
    int folder = open(root, O_PATH | O_DIRECTORY), file, result;
    char name[64] = "/";

    how.mode = (how.flags & O_CREAT) != 0 ? 0640 : 0;
    strcat(name, path);
    file = (int)syscall(SYS_openat2, folder, name + random_below(2), &how, sizeof how);
    result = file < 0 ? -1 : write_to(file);
    close(file);
    close(folder);
    return result;
}

static int copied(const char *path, int to)
{
    int file = open(path, O_RDONLY | O_NONBLOCK), result;

    result = (int)(random_below(2) != 0 ? copy_file_range(file, NULL, to, NULL, 20, 0)
                                        : sendfile(to, file, NULL, 20));
    close(file);
    return result;
}

/* Calls on what is there. */
static int change(uint32_t kind, const char *path, const char *other, int file)
{
    static const mode_t modes[] = {0600, 0644, 0700, 0755, 0400, 0};
    const struct timespec times[2] = {{1000, 5}, {random_below(2000), 7}};
    mode_t mode = modes[random_below(6)];

    switch (kind) {
    case 0: return chmod(path, mode | 0700);
    case 1: return fchmod(file, mode);
    case 2: return fchmodat(AT_FDCWD, path, mode | 0700, 0);
    case 3: return utimensat(AT_FDCWD, path, times, 0);
    case 4: return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
    case 5: return futimens(file, times);
    case 6: return truncate(path, random_below(100));
    case 7: return ftruncate(file, random_below(100));
    case 8: return lchown(path, getuid(), getgid());
    case 9: return mapped(path);
    case 10: return write_to(file);
    case 11: return opened(path, O_RDWR);
    case 12: return opened(path, O_WRONLY | O_APPEND);
    case 13: return opened(path, O_RDONLY | O_TRUNC);
    case 14: return rename(path, other);
    case 15: return rename(path, other);
    case 16: return renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
    case 17: return renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_NOREPLACE);
    case 18: return by_descriptor(file, path, 0);
    case 19: return by_descriptor(file, path, 1);
    case 20: return opened_below(path, other);
    case 21: return copied(path, file);
    default: return fallocate(file, 0, random_below(50), 1 + random_below(50));
    }
}

/* Calls that make names or take them away. */
static int make(uint32_t kind, const char *path, const char *other)
{
    switch (kind) {
    case 0: return opened(path, O_WRONLY | O_CREAT | O_TRUNC);
    case 1: return opened(path, O_RDWR | O_CREAT);
    case 2: return opened(path, O_RDWR | O_CREAT | O_EXCL);
    case 3: return mkdir(path, 0755);
    case 4: return mkdirat(AT_FDCWD, path, 0700);
    case 5: return symlink(other, path);
    case 6: return symlinkat("b", AT_FDCWD, path);
    case 7: return link(path, other);
    case 8: return linkat(AT_FDCWD, path, AT_FDCWD, other, AT_SYMLINK_FOLLOW);
    case 9: return mkfifo(path, 0644);
    case 10: return bound(path);
    case 11: return without_name(path);
    case 12: return unlink(path);
    case 13: return rmdir(path);
    case 14: return remove(path);
    case 15:
        return shell("[ -f $P ] && cp -dpT --remove-destination $P $Q 2>/dev/null", path, other);
    case 16: return shell("mv -f $P $Q 2>/dev/null </dev/null", path, other);
    case 17: return shell("rm -rf $P; [ -p $Q ] || echo x 2>&- >>$Q", path, other);
    case 18: return by_descriptor(-1, path, 2);
    case 19: return opened_below(".", path);
    case 20: return opened(path, O_WRONLY | O_CREAT | O_NOFOLLOW);
    case 21: return chdir(path);
    default: return chdir("..") | chdir("work");
    }
}

static int one_call(void)
{
    char path[48], other[48];
    uint32_t kind = random_below(KINDS);
    int result, file = held[random_below(HELD)];

    random_path(path);
    random_path(other);
    errno = 0;
    if (kind >= KINDS / 2 && kind < KINDS - 8 && random_below(8) == 0) { /* by a child */
        int status;
        pid_t child = fork();

        if (child == 0) {
            _exit(make(kind - KINDS / 2, path, other) != 0);
        }
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    }
    result = kind < KINDS / 2 ? change(kind, path, other, file)
                              : make(kind - KINDS / 2, path, other);
    return result < 0 ? -errno : result;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        return 2;
    }
    state = strtoull(argv[1], NULL, 10) * 0x9E3779B97F4A7C15U + 1;
    for (int i = 0, calls = atoi(argv[2]); i < calls; i++) {
        printf("%d\n", one_call());
    }
    return 0;
}
