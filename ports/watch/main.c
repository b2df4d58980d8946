/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nandwich-watch HOLD TOLD FOLDER PROGRAM NAME [ARGUMENT...]
 *
 * Runs PROGRAM, called NAME, and keeps in FOLDER how files were before it and its children changed
 * them. The run ends with the last of its processes. Then all files are put back, unless the
 * command that started this one says otherwise. An empty FOLDER: nothing is kept.
 *
 * HOLD is the reading end of a pipe. The byte 'k' after the run: the files stay as the run left
 * them. Its end, at any time: processes still running are killed and the files put back, so that
 * happens too when the command itself is killed.
 * TOLD is the writing end of a pipe for these words, each with a NUL behind it:
 *   "unable TEXT"      this system cannot watch; nothing was run
 *   "start TEXT"       PROGRAM cannot be run
 *   "lasting"          the program has ended, but not the processes it started
 *   "ended STATUS"     the run is over, with the status of waitpid(), and FOLDER/log written
 *   "failed TEXT"      something cannot be kept (the run was ended) or put back
 *   "back"             all is put back
 */
#include "back.h"
#include "filter.h"
#include "keep.h"
#include "stop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LASTING_MS = 2000 };

static int hold, told, listener = -1;
static pid_t first;      /* the program itself; 0: it has ended */
static int first_status; /* then, as waitpid() has it */

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void tell(const char *format, ...)
{
    char line[PATH_MAX + 256];
    size_t length, done = 0;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    length = strlen(line) + 1;
    while (done < length) {
        ssize_t count = write(told, line + done, length - done);

        if (count < 0 && errno != EINTR) {
            return; /* nobody listens any more */
        }
        done += count > 0 ? (size_t)count : 0;
    }
}

static void tell_not_back(const char *path)
{
    tell("failed %s: cannot be put back as it was: %s", path, strerror(errno));
}

/* A descriptor as the message beside one byte. */
union message {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr aligned;
};

static int pass(int channel, int descriptor)
{
    char byte = 0;
    struct iovec data = {&byte, 1};
    union message more = {{0}};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = more.bytes,
                             .msg_controllen = sizeof more.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
    return sendmsg(channel, &message, 0) == 1 ? 0 : -1;
}

/* The descriptor the other side passes; -1 with errno, which is what it sends instead of one. */
static int take(int channel)
{
    int error = 0, descriptor = -1;
    struct iovec data = {&error, sizeof error};
    union message more = {{0}};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = more.bytes,
                             .msg_controllen = sizeof more.bytes};
    const struct cmsghdr *head;

    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) <= 0) {
        errno = ECHILD;
        return -1;
    }
    head = CMSG_FIRSTHDR(&message);
    if (head == NULL || head->cmsg_type != SCM_RIGHTS) {
        errno = error;
        return -1;
    }
    memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
    return descriptor;
}

/* In the child: becomes the program. Errors go up the channel. */
static _Noreturn void become(int channel, char **words, int is_watched)
{
    int error, filter = -1;
    char ready;

    /* The stack starts at the same place in every run, where the system allows that, so that
     * counts repeat exactly. */
    personality(ADDR_NO_RANDOMIZE);
    if (is_watched && (filter = nw_filter_install()) >= 0 && pass(channel, filter) == 0 &&
        read(channel, &ready, 1) == 1) {
        close(filter);
        execv(words[0], words + 1);
    } else if (!is_watched) {
        execv(words[0], words + 1);
    }
    error = errno;
    (void)!write(channel, &error, sizeof error);
    _exit(127);
}

/* Starts the program; it waits until somebody hears its calls. */
static void start(char **words, int is_watched)
{
    int channel[2], error = 0;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0 || (child = fork()) < 0) {
        tell("start %s: %s", words[0], strerror(errno));
        exit(0);
    }
    if (child == 0) {
        become(channel[1], words, is_watched);
    }
    first = child;
    close(channel[1]);
    listener = is_watched ? take(channel[0]) : -1;
    if (is_watched && listener < 0) {
        tell("unable %s", strerror(errno));
        exit(0);
    }
    if (is_watched) {
        (void)!write(channel[0], "", 1);
    }
    if (read(channel[0], &error, sizeof error) == (ssize_t)sizeof error) {
        tell("start %s", strerror(error));
        exit(0);
    }
    close(channel[0]);
}

/* Whoever ended. 0: nobody is left. */
static int reap(void)
{
    int status;
    pid_t ended;

    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
        if (ended == first) {
            first = 0;
            first_status = status;
        }
    }
    return ended == 0 || errno != ECHILD;
}

/* Answers one stopped call. -1: it must not happen, and that is told. */
static int serve(void)
{
    struct seccomp_notif call;
    struct seccomp_notif_resp answer;

    memset(&call, 0, sizeof call);
    memset(&answer, 0, sizeof answer);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
        return 0; /* the caller is gone */
    }
    answer.id = call.id;
    switch (nw_stop(&call)) {
    case NW_STOP_GO_ON: answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE; break;
    case NW_STOP_DONE: break;
    case NW_STOP_NEVER:
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) != 0) {
            return 0;
        }
        tell("failed %s: cannot be kept as it is: %s", nw_stop_path, strerror(errno));
        return -1;
    }
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 && errno == EINVAL) {
        tell("failed this system is too old to watch a program's calls (Linux 5.5 is needed)");
        return -1;
    }
    return 0;
}

/* Kills the children there are; theirs become ours then. */
static void kill_children(void)
{
    DIR *list = opendir("/proc");
    const struct dirent *member;

    while (list != NULL && (member = readdir(list)) != NULL) {
        char name[PATH_MAX], line[512];
        const char *behind;
        int file, parent;
        ssize_t count;

        snprintf(name, sizeof name, "/proc/%s/stat", member->d_name);
        if (member->d_name[0] < '1' || member->d_name[0] > '9' ||
            (file = open(name, O_RDONLY | O_CLOEXEC)) < 0) {
            continue;
        }
        count = read(file, line, sizeof line - 1);
        close(file);
        line[count < 0 ? 0 : count] = '\0';
        behind = strrchr(line, ')'); /* the name before it may hold anything */
        if (behind != NULL && sscanf(behind, ") %*c %d", &parent) == 1 && parent == getpid()) {
            kill((pid_t)atoi(member->d_name), SIGKILL);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
}

static void end_all(void)
{
    while (reap()) {
        const struct timespec moment = {0, 2000000};

        kill_children();
        nanosleep(&moment, NULL);
    }
}

/* Watches until the last process has ended. 0; -1: it was stopped, and all processes with it. */
static int watch(int children)
{
    struct pollfd events[] = {{listener, POLLIN, 0}, {hold, POLLIN, 0}, {children, POLLIN, 0}};
    int lasting = 0;

    while (reap()) {
        int count = poll(events, 3, first != 0 || lasting ? -1 : LASTING_MS);
        struct signalfd_siginfo ended;

        if (count == 0) {
            lasting = 1;
            tell("lasting");
            continue;
        }
        if (events[1].revents != 0 || ((events[0].revents & POLLIN) != 0 && serve() != 0)) {
            end_all();
            return -1;
        }
        if ((events[0].revents & POLLHUP) != 0) {
            events[0].fd = -1; /* no process is left that could call */
        }
        if (events[2].revents != 0) {
            (void)!read(children, &ended, sizeof ended);
        }
    }
    return 0;
}

/* Nothing but the end of `hold` stops the watcher: no signal to a group or from a terminal. */
static int stand_apart(void)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct rlimit files;
    sigset_t set;

    setsid();
    dup2(nothing, STDIN_FILENO); /* who reads the program's output sees its end */
    dup2(nothing, STDOUT_FILENO);
    close(nothing);
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        signal(ignored[i], SIG_IGN);
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* for names of files with several */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    umask(0);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
    char word = 0;

    if (argc < 6) {
        fprintf(stderr, "nandwich-watch: this is for `nandwich run` alone\n");
        return 2;
    }
    hold = atoi(argv[1]);
    told = atoi(argv[2]);
    fcntl(hold, F_SETFD, FD_CLOEXEC);
    fcntl(told, F_SETFD, FD_CLOEXEC);
    nw_keep_start(argv[3]);
    prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
    start(argv + 4, argv[3][0] != '\0');
    if (watch(stand_apart()) == 0) {
        if (argv[3][0] == '\0' || nw_keep_log() == 0) {
            tell("ended %d", first_status);
        } else {
            tell("failed %s/log: %s", argv[3], strerror(errno));
        }
        while (read(hold, &word, 1) < 0 && errno == EINTR) {
        }
        if (word == 'k') {
            return 0;
        }
    }
    nw_back(tell_not_back);
    tell("back");
    return 0;
}
