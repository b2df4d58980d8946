/* SPDX-License-Identifier: Apache-2.0 */
#include "stop.h"

#include "calls.h"
#include "keep.h"
#include "place.h"

#include "nandwich-watch/pause.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_PAUSED = 64 };

char nw_stop_path[PATH_MAX];
static uint32_t paused[MOST_PAUSED]; /* threads whose changes are none of the program's; 0: free */

static int is_paused(uint32_t thread)
{
    for (int i = 0; i < MOST_PAUSED; i++) {
        if (paused[i] == thread) {
            return 1;
        }
    }
    return 0;
}

static void set_paused(uint32_t thread, int on)
{
    for (int i = 0; i < MOST_PAUSED; i++) {
        if (paused[i] == thread) {
            paused[i] = 0;
        }
    }
    for (int i = 0; on && i < MOST_PAUSED; i++) {
        if (paused[i] == 0) {
            paused[i] = thread;
            return;
        }
    }
}

/* Of a stopped call: the process, and the arguments. */
struct stopped {
    const struct nw_call *call;
    pid_t caller;
    const uint64_t *arguments;
};

static int folder_of(const struct stopped *stopped, int number)
{
    return number < 0 ? AT_FDCWD : (int)(uint32_t)stopped->arguments[number];
}

/* Keeps what was found; the answer of a search that found nothing stays. */
static int keep_found(struct nw_place *place, int found, unsigned how)
{
    int result, error;

    if (found != NW_PLACE_FOUND) {
        return found;
    }
    strcpy(nw_stop_path, place->path);
    result = nw_keep(place, how);
    error = errno;
    nw_place_close(place);
    errno = error;
    return result;
}

static int keep_path(const struct stopped *stopped, int folder, const char *path, int is_link,
                     unsigned how)
{
    struct nw_place place;

    if (path[0] == '\0') {
        return 0; /* the call fails */
    }
    return keep_found(&place, nw_place_find(&place, stopped->caller, folder, path,
                                            is_link ? NW_PLACE_LINK : 0),
                      how);
}

/* A path among the arguments. 1, 0: the call fails by itself, -1. */
static int read_path(const struct stopped *stopped, int number, char *to)
{
    strcpy(nw_stop_path, "(a path)");
    if (nw_place_text(stopped->caller, stopped->arguments[number], to, PATH_MAX) < 0) {
        return errno == EFAULT || errno == ESRCH || errno == ENOENT ? 0 : -1;
    }
    strcpy(nw_stop_path, to);
    return 1;
}

static int keep_argument(const struct stopped *stopped, int folder, int number, int is_link,
                         unsigned how)
{
    char path[PATH_MAX];
    int result = read_path(stopped, number, path);

    return result <= 0 ? result
                       : keep_path(stopped, folder_of(stopped, folder), path, is_link, how);
}

static int keep_opened(const struct stopped *stopped, const struct open_how *open)
{
    struct nw_place place;
    const struct nw_call *call = stopped->call;
    const uint64_t flags = open->flags;
    unsigned how = NW_KEEP_CONTENT, search = 0;
    int exclusive = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL), found;
    char path[PATH_MAX];

    if ((flags & O_PATH) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
        return 0;
    }
    found = read_path(stopped, call->path, path);
    if (found <= 0 || path[0] == '\0') {
        return found;
    }
    if (exclusive && (open->mode & 0777) == 0600) {
        how |= NW_KEEP_RANDOM;
    }
    if (exclusive || (flags & O_NOFOLLOW) != 0) {
        search |= NW_PLACE_LINK;
    }
    if ((open->resolve & RESOLVE_IN_ROOT) != 0) {
        search |= NW_PLACE_IN_ROOT;
    }
    found = nw_place_find(&place, stopped->caller, folder_of(stopped, call->folder), path,
                          search);
    if (found == NW_PLACE_FOUND && place.file >= 0 &&
        (exclusive || ((flags & (O_ACCMODE | O_TRUNC)) == 0) ||
         faccessat(AT_FDCWD, place.path, W_OK, AT_EACCESS) != 0)) {
        nw_place_close(&place); /* the call fails, or only reads what is there */
        return 0;
    }
    return keep_found(&place, found, how);
}

static int keep_how(const struct stopped *stopped)
{
    struct open_how how = {0};
    ssize_t count = nw_place_bytes(stopped->caller, stopped->arguments[2], &how, sizeof how);

    if (count < (ssize_t)sizeof how) {
        return count < 0 && errno != EFAULT ? -1 : 0;
    }
    if ((how.flags & (O_ACCMODE | O_CREAT | O_TRUNC)) == 0) {
        return 0;
    }
    return keep_opened(stopped, &how);
}

static int keep_descriptor(const struct stopped *stopped, int number, unsigned how)
{
    struct nw_place place;
    int descriptor = folder_of(stopped, number);

    strcpy(nw_stop_path, "(an open file)");
    if (descriptor == AT_FDCWD) {
        return keep_path(stopped, AT_FDCWD, ".", 0, how);
    }
    return keep_found(&place, nw_place_descriptor(&place, stopped->caller, descriptor), how);
}

static uint64_t flags_of(const struct stopped *stopped)
{
    return stopped->call->flags < 0 ? 0 : stopped->arguments[stopped->call->flags];
}

/* The path of a call with AT_ flags: if it is empty, they may say that the descriptor is meant. */
static int keep_flagged(const struct stopped *stopped, int is_link, unsigned how)
{
    const struct nw_call *call = stopped->call;
    char path[PATH_MAX];
    int result = read_path(stopped, call->path, path);

    if (result > 0 && path[0] == '\0' && (flags_of(stopped) & AT_EMPTY_PATH) != 0) {
        return keep_descriptor(stopped, call->folder, how);
    }
    return result <= 0 ? result
                       : keep_path(stopped, folder_of(stopped, call->folder), path, is_link, how);
}

static int keep_attributes(const struct stopped *stopped)
{
    const struct nw_call *call = stopped->call;

    /* utimensat() and futimesat() take no path for the descriptor itself. */
    if (call->path < 0 || stopped->arguments[call->path] == 0) {
        return keep_descriptor(stopped, call->folder, 0);
    }
    return keep_flagged(stopped,
                        call->is_link || (flags_of(stopped) & AT_SYMLINK_NOFOLLOW) != 0, 0);
}

/* Writing by the new name changes the file as well. */
static int keep_linked(const struct stopped *stopped)
{
    const struct nw_call *call = stopped->call;
    int is_link = (flags_of(stopped) & AT_SYMLINK_FOLLOW) == 0;

    return keep_flagged(stopped, is_link, NW_KEEP_CONTENT) < 0
               ? -1
               : keep_argument(stopped, call->to_folder, call->to_path, 1, 0);
}

static int keep_socket(const struct stopped *stopped)
{
    struct sockaddr_un address = {0};
    char path[sizeof address.sun_path + 1] = {0};
    size_t bytes = (uint32_t)stopped->arguments[2], before = offsetof(struct sockaddr_un, sun_path);

    if (bytes <= before || bytes > sizeof address ||
        nw_place_bytes(stopped->caller, stopped->arguments[1], &address, bytes) != (ssize_t)bytes ||
        address.sun_family != AF_UNIX) {
        return 0;
    }
    memcpy(path, address.sun_path, bytes - before);
    return keep_path(stopped, AT_FDCWD, path, 1, 0);
}

static int keep(const struct stopped *stopped)
{
    const struct nw_call *call = stopped->call;
    const unsigned all = NW_KEEP_CONTENT | NW_KEEP_BELOW;
    int result;

    switch (call->kind) {
    case NW_CALL_OPEN:
        return keep_opened(stopped, &(struct open_how){stopped->arguments[call->flags],
                                                       stopped->arguments[call->mode], 0});
    case NW_CALL_OPEN_HOW: return keep_how(stopped);
    case NW_CALL_CONTENT: return keep_argument(stopped, -1, call->path, 0, NW_KEEP_CONTENT);
    case NW_CALL_ATTRIBUTES: return keep_attributes(stopped);
    case NW_CALL_MAKE: return keep_argument(stopped, call->folder, call->path, 1, 0);
    case NW_CALL_MAKE_FOLDER:
        return keep_argument(stopped, call->folder, call->path, 1,
                             (stopped->arguments[call->mode] & 0777) == 0700 ? NW_KEEP_RANDOM : 0);
    case NW_CALL_REMOVE: return keep_argument(stopped, call->folder, call->path, 1, all);
    case NW_CALL_LINK: return keep_linked(stopped);
    case NW_CALL_BIND: return keep_socket(stopped);
    default: break;
    }
    result = keep_argument(stopped, call->folder, call->path, 1, all);
    return result < 0 ? -1 : keep_argument(stopped, call->to_folder, call->to_path, 1, all);
}

enum nw_stop_answer nw_stop(const struct seccomp_notif *notified)
{
    struct stopped stopped = {nw_call_find(notified->data.nr), (pid_t)notified->pid, NULL};
    uint64_t arguments[6];

    for (int i = 0; i < 6; i++) {
        arguments[i] = notified->data.args[i];
    }
    stopped.arguments = arguments;
    if (stopped.call == NULL) {
        return NW_STOP_GO_ON;
    }
    if (stopped.call->kind == NW_CALL_PAUSE) {
        set_paused(notified->pid, arguments[1] == NW_WATCH_OFF);
        return NW_STOP_DONE;
    }
    if (is_paused(notified->pid)) {
        return NW_STOP_GO_ON;
    }
    return keep(&stopped) < 0 ? NW_STOP_NEVER : NW_STOP_GO_ON;
}
