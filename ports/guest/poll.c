/* SPDX-License-Identifier: Apache-2.0 */
/* poll.c - waiting for files: select and poll, with sets and lists anywhere. */
#include "internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/time.h>

/* The three sets of select(), plain. */
struct sets {
    fd_set set[3];
    fd_set *at[3];
};

static void take_sets(struct sets *own, fd_set *const from[3])
{
    for (int i = 0; i < 3; i++) {
        own->at[i] = nw_guest_get_or_null(&own->set[i], from[i], sizeof own->set[i]);
    }
}

static void give_sets(const struct sets *own, fd_set *const to[3], int result)
{
    for (int i = 0; i < 3 && result >= 0; i++) {
        nw_guest_put_or_null(to[i], &own->set[i], sizeof own->set[i]);
    }
}

NW_LIBC(int, select,
        (int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *timeout))
{
    fd_set *const given[3] = {reads, writes, others};
    struct sets own;
    struct timeval time, *limit = nw_guest_get_or_null(&time, timeout, sizeof time);

    take_sets(&own, given);
    int result = select(count, own.at[0], own.at[1], own.at[2], limit);
    give_sets(&own, given, result);
    nw_guest_put_or_null(timeout, &time, sizeof time); /* what is left of it */
    nw_guest_deliver();
    return result;
}

NW_LIBC(int, pselect,
        (int count, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *timeout,
         const sigset_t *mask))
{
    fd_set *const given[3] = {reads, writes, others};
    struct sets own;
    struct timespec time;
    sigset_t set;

    take_sets(&own, given);
    int result = pselect(count, own.at[0], own.at[1], own.at[2],
                         nw_guest_get_or_null(&time, timeout, sizeof time),
                         nw_guest_get_or_null(&set, mask, sizeof set));
    give_sets(&own, given, result);
    nw_guest_deliver();
    return result;
}

/* The list of poll() in the host's memory. */
static struct pollfd *take_list(const struct pollfd *list, nfds_t count)
{
    struct pollfd *own = malloc((count + 1) * sizeof *own);

    if (own == NULL) {
        nw_guest_refuse("out of host memory in poll");
    }
    nw_guest_get(own, list, count * sizeof *own);
    return own;
}

static void give_list(struct pollfd *list, struct pollfd *own, nfds_t count)
{
    nw_guest_put(list, own, count * sizeof *own);
    free(own);
    nw_guest_deliver();
}

NW_LIBC(int, poll, (struct pollfd * list, nfds_t count, int timeout_ms))
{
    struct pollfd *own = take_list(list, count);
    int result = poll(own, count, timeout_ms);

    give_list(list, own, count);
    return result;
}

NW_LIBC(int, ppoll,
        (struct pollfd * list, nfds_t count, const struct timespec *timeout, const sigset_t *mask))
{
    struct pollfd *own = take_list(list, count);
    struct timespec time;
    sigset_t set;
    int result = ppoll(own, count, nw_guest_get_or_null(&time, timeout, sizeof time),
                       nw_guest_get_or_null(&set, mask, sizeof set));

    give_list(list, own, count);
    return result;
}
