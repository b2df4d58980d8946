/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LRFU in logarithms. A value v that was last changed at time u is worth v / 2^(lambda (t - u)) at
 * time t: as log2 v + lambda u it stays the same number until it is used again. What is used at t
 * becomes 1 + that worth, so the new number is the logarithm of a sum of two powers of two.
 */
#include "nandwich/ram.h"
#include "nandwich/tier_lrfu.h"

#define ONE 65536U            /* a factor of two */
#define REBASE 0x80000000UL   /* numbers from here on are brought down again */

/* log2(1 + 2^-x) for x = 0 .. 16, between them nearly a line. */
static const uint32_t sums[] = {65536, 38336, 21098, 11136, 5732, 2909, 1466, 736, 369,
                                184,   92,    46,    23,    12,   6,    3,    1};

#define SUMS ((uint32_t)(sizeof sums / sizeof *sums))

/* log2(2^a + 2^b) */
static uint32_t log_of_sum(uint32_t a, uint32_t b)
{
    uint32_t high = a > b ? a : b;
    uint32_t apart = high - (a > b ? b : a);
    uint32_t whole = apart / ONE;

    if (whole + 1U >= SUMS) {
        return high + 1U; /* a reference always counts for something */
    }
    uint32_t step = sums[whole] - sums[whole + 1U];
    return high + sums[whole] - step * (apart % ONE / 256U) / 256U;
}

static struct nw_tier_lrfu *lrfu_of(struct nw_tier_policy *policy)
{
    return (struct nw_tier_lrfu *)(void *)policy; /* its first member */
}

/* The heap: what is worth least stands first. */

static void put(struct nw_tier_lrfu *lrfu, uint32_t at, uint16_t slot)
{
    lrfu->heap[at] = slot;
    lrfu->place[slot] = (uint16_t)at;
}

static uint32_t key_at(const struct nw_tier_lrfu *lrfu, uint32_t at)
{
    return lrfu->key[lrfu->heap[at]];
}

/* A slot gets the place where it belongs; `at` is free, and around it all is in order. */
static void settle(struct nw_tier_lrfu *lrfu, uint32_t at, uint16_t slot)
{
    uint32_t key = lrfu->key[slot];

    while (at > 0 && key_at(lrfu, (at - 1U) / 2U) > key) {
        put(lrfu, at, lrfu->heap[(at - 1U) / 2U]);
        at = (at - 1U) / 2U;
    }
    for (uint32_t child = 2U * at + 1U; child < lrfu->count; child = 2U * at + 1U) {
        if (child + 1U < lrfu->count && key_at(lrfu, child + 1U) < key_at(lrfu, child)) {
            child++;
        }
        if (key_at(lrfu, child) >= key) {
            break;
        }
        put(lrfu, at, lrfu->heap[child]);
        at = child;
    }
    put(lrfu, at, slot);
}

/* Time goes on by a reference. Numbers that have grown large are brought down: what falls below
 * zero has not been used for so long that nothing is left of it. */
static void tick(struct nw_tier_lrfu *lrfu)
{
    lrfu->now += lrfu->lambda;
    if (lrfu->now < REBASE) {
        return;
    }
    uint32_t by = REBASE / 2U;
    lrfu->now -= by;
    for (uint32_t i = 0; i < lrfu->count; i++) {
        uint32_t *key = &lrfu->key[lrfu->heap[i]];
        *key = *key > by ? *key - by : 0U;
    }
}

/* What the tier asks */

static int start(struct nw_tier_policy *policy, uint16_t slots)
{
    struct nw_tier_lrfu *lrfu = lrfu_of(policy);

    if (slots > lrfu->room) {
        return NW_ERR_CONFIG;
    }
    lrfu->count = 0;
    lrfu->now = ONE;
    return NW_OK;
}

static int admit(struct nw_tier_policy *policy, const struct nw_tier_ask *ask)
{
    return ask->write != 0 || lrfu_of(policy)->reads != 0;
}

static void entered(struct nw_tier_policy *policy, uint16_t slot, const struct nw_tier_ask *ask)
{
    struct nw_tier_lrfu *lrfu = lrfu_of(policy);

    (void)ask;
    tick(lrfu);
    lrfu->key[slot] = lrfu->now;
    lrfu->count++;
    settle(lrfu, lrfu->count - 1U, slot);
}

static void touched(struct nw_tier_policy *policy, uint16_t slot, const struct nw_tier_ask *ask)
{
    struct nw_tier_lrfu *lrfu = lrfu_of(policy);

    (void)ask;
    tick(lrfu);
    lrfu->key[slot] = log_of_sum(lrfu->key[slot], lrfu->now);
    settle(lrfu, lrfu->place[slot], slot);
}

static void left(struct nw_tier_policy *policy, uint16_t slot)
{
    struct nw_tier_lrfu *lrfu = lrfu_of(policy);
    uint16_t last = lrfu->heap[--lrfu->count];

    if (last != slot) {
        settle(lrfu, lrfu->place[slot], last);
    }
}

static uint16_t victim(struct nw_tier_policy *policy, const struct nw_tier_ask *ask)
{
    struct nw_tier_lrfu *lrfu = lrfu_of(policy);

    (void)ask;
    return lrfu->count > 0 ? lrfu->heap[0] : NW_TIER_NONE;
}

/* Idle keeps one slot in 16 free, so that a write does not wait for one to leave. */
static uint16_t ahead(struct nw_tier_policy *policy, uint16_t free)
{
    struct nw_tier_lrfu *lrfu = lrfu_of(policy);

    return lrfu->count > 0 && free < (lrfu->count + free + 15U) / 16U ? lrfu->heap[0]
                                                                      : NW_TIER_NONE;
}

static const struct nw_tier_policy_ops lrfu_ops = {start, admit, entered, touched,
                                                   left,  victim, ahead};

static void place(struct nw_tier_lrfu *lrfu, uint16_t slots, struct nw_ram *ram)
{
    lrfu->key = NW_RAM_TAKE(ram, uint32_t, slots);
    lrfu->heap = NW_RAM_TAKE(ram, uint16_t, slots);
    lrfu->place = NW_RAM_TAKE(ram, uint16_t, slots);
}

size_t nw_tier_lrfu_ram_bytes(uint16_t slots)
{
    struct nw_ram ram = {NULL, 0, 0};
    struct nw_tier_lrfu lrfu;

    place(&lrfu, slots, &ram);
    return ram.used;
}

int nw_tier_lrfu_open(struct nw_tier_lrfu *lrfu, uint32_t lambda, uint8_t reads, uint16_t slots,
                      void *ram, size_t ram_bytes)
{
    struct nw_ram arena = {ram, ram_bytes, 0};

    if (lambda > NW_TIER_LRU) {
        return NW_ERR_CONFIG;
    }
    place(lrfu, slots, &arena);
    if (ram == NULL || arena.used > ram_bytes) {
        return NW_ERR_RAM;
    }
    lrfu->policy.ops = &lrfu_ops;
    lrfu->lambda = lambda;
    lrfu->reads = reads;
    lrfu->room = slots;
    lrfu->count = 0;
    lrfu->now = ONE;
    return NW_OK;
}
