/* SPDX-License-Identifier: Apache-2.0 */
/* Policies of one or two queues: LRU, round robin, CFLRU, 2Q, S3-FIFO. */
#include "paging.h"

enum { QUEUE = 0 };

static int one_queue(const struct nw_refs *refs, uint32_t frames, int recency,
                     struct nw_paging_result *result)
{
    struct lists lists;
    int error = nw_lists_open(&lists, refs, result);

    for (uint64_t i = 0; error == NW_OK && i < refs->count; i++) {
        uint32_t page = refs->ref[i] >> 1;

        if (lists.in[page] == NO_LIST) {
            if (lists.count[QUEUE] == frames) {
                uint32_t victim = list_oldest(&lists, QUEUE);

                list_remove(&lists, victim);
                let_go(&lists, victim);
            }
            page_in(result, page);
            list_add(&lists, QUEUE, page);
        } else if (recency) {
            list_move(&lists, QUEUE, page);
        }
        lists.dirty[page] |= refs->ref[i] & 1U;
    }
    nw_lists_close(&lists);
    return error;
}

int nw_policy_lru(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                  const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    (void)ways;
    (void)cost;
    return one_queue(refs, frames, 1, result);
}

int nw_policy_fifo(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                   const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    (void)ways;
    (void)cost;
    return one_queue(refs, frames, 0, result);
}

/* CFLRU. The LRU list in two pieces, the clean-first window behind the newer one. A page that is
 * referenced leaves the window, so those in it never change: the clean among them are a list of
 * their own, in their order, and the dirty likewise. Which of the two is older is a matter of the
 * moment at which they came to the front. */
enum { NEWER = 0, CLEAN = 1, DIRTY = 2 };

static void cflru_shift(struct lists *lists, uint32_t newer_most)
{
    while (lists->count[NEWER] > newer_most) {
        uint32_t page = list_oldest(lists, NEWER);

        list_move(lists, lists->dirty[page] ? DIRTY : CLEAN, page);
    }
}

/* Without a clean page in the window the least recently used one of all, which is dirty and in the
 * window, or the window is empty. */
static uint32_t cflru_victim(const struct lists *lists)
{
    if (lists->count[CLEAN] > 0) {
        return list_oldest(lists, CLEAN);
    }
    return list_oldest(lists, lists->count[DIRTY] > 0 ? DIRTY : NEWER);
}

int nw_policy_cflru(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                    const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    uint32_t window = most_of(1, frames / 4U);
    struct lists lists;
    int error = nw_lists_open(&lists, refs, result);

    (void)ways;
    (void)cost;
    for (uint64_t i = 0; error == NW_OK && i < refs->count; i++) {
        uint32_t page = refs->ref[i] >> 1;

        if (lists.in[page] == NO_LIST) {
            if (lists.count[NEWER] + lists.count[CLEAN] + lists.count[DIRTY] == frames) {
                uint32_t victim = cflru_victim(&lists);

                list_remove(&lists, victim);
                let_go(&lists, victim);
            }
            page_in(result, page);
        } else {
            list_remove(&lists, page);
        }
        list_add(&lists, NEWER, page);
        lists.dirty[page] |= refs->ref[i] & 1U;
        cflru_shift(&lists, frames - window);
    }
    nw_lists_close(&lists);
    return error;
}

/* 2Q, full version: a page seen once waits in a short FIFO; one that is seen again after it left
 * that queue goes to the LRU list. Sizes as its authors advise. */
enum { ONCE_IN = 0, ONCE_OUT = 1, MANY = 2 };

static void two_queues_reclaim(struct lists *lists, uint32_t frames)
{
    uint32_t victim;

    if (lists->count[ONCE_IN] + lists->count[MANY] < frames) {
        return;
    }
    if (lists->count[ONCE_IN] <= most_of(1, frames / 4U) && lists->count[MANY] > 0) {
        victim = list_oldest(lists, MANY);
        list_remove(lists, victim);
        let_go(lists, victim);
        return;
    }
    victim = list_oldest(lists, ONCE_IN);
    list_move(lists, ONCE_OUT, victim);
    let_go(lists, victim);
    if (lists->count[ONCE_OUT] > most_of(1, frames / 2U)) {
        list_remove(lists, list_oldest(lists, ONCE_OUT));
    }
}

int nw_policy_2q(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                 const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    struct lists lists;
    int error = nw_lists_open(&lists, refs, result);

    (void)ways;
    (void)cost;
    for (uint64_t i = 0; error == NW_OK && i < refs->count; i++) {
        uint32_t page = refs->ref[i] >> 1;
        uint8_t in = lists.in[page];

        if (in == MANY) {
            list_move(&lists, MANY, page);
        } else if (in != ONCE_IN) {
            if (in == ONCE_OUT) {
                list_remove(&lists, page);
            }
            two_queues_reclaim(&lists, frames);
            page_in(result, page);
            list_add(&lists, in == ONCE_OUT ? MANY : ONCE_IN, page);
        }
        lists.dirty[page] |= refs->ref[i] & 1U;
    }
    nw_lists_close(&lists);
    return error;
}

/* S3-FIFO, algorithm 1: `mark` is the frequency, up to 3. */
enum { SMALL = 0, MAIN = 1, GHOST = 2 };

static void s3_leave_main(struct lists *lists)
{
    while (lists->count[MAIN] > 0) {
        uint32_t page = list_oldest(lists, MAIN);

        if (lists->mark[page] == 0) {
            list_remove(lists, page);
            let_go(lists, page);
            return;
        }
        lists->mark[page]--;
        list_move(lists, MAIN, page);
    }
}

static void s3_leave_small(struct lists *lists, uint32_t main_most)
{
    while (lists->count[SMALL] > 0) {
        uint32_t page = list_oldest(lists, SMALL);

        if (lists->mark[page] <= 1) {
            list_move(lists, GHOST, page);
            let_go(lists, page);
            if (lists->count[GHOST] > main_most) {
                list_remove(lists, list_oldest(lists, GHOST));
            }
            return;
        }
        list_move(lists, MAIN, page);
        if (lists->count[MAIN] > main_most) {
            s3_leave_main(lists);
        }
    }
}

int nw_policy_s3fifo(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                     const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    uint32_t small_most = most_of(1, frames / 10U), main_most = frames - small_most;
    struct lists lists;
    int error = nw_lists_open(&lists, refs, result);

    (void)ways;
    (void)cost;
    for (uint64_t i = 0; error == NW_OK && i < refs->count; i++) {
        uint32_t page = refs->ref[i] >> 1;

        if (lists.in[page] == SMALL || lists.in[page] == MAIN) {
            lists.mark[page] = (uint8_t)least_of(lists.mark[page] + 1U, 3);
        } else {
            while (lists.count[SMALL] + lists.count[MAIN] >= frames) {
                if (lists.count[SMALL] >= small_most) {
                    s3_leave_small(&lists, main_most);
                } else {
                    s3_leave_main(&lists);
                }
            }
            page_in(result, page);
            int known = lists.in[page] == GHOST;
            if (known) {
                list_remove(&lists, page);
            }
            list_add(&lists, known ? MAIN : SMALL, page);
            lists.mark[page] = 0;
        }
        lists.dirty[page] |= refs->ref[i] & 1U;
    }
    nw_lists_close(&lists);
    return error;
}
