/* SPDX-License-Identifier: Apache-2.0 */
/*
 * H-ARC. A list's number says what stands in it: written or read, often or once, held or
 * remembered. Each is a ring whose first node is its own, so that its oldest is the next newer one.
 */
#include <string.h>

#include "nandwich/ram.h"
#include "nandwich/tier_harc.h"

#define WRITTEN 1U
#define OFTEN 2U
#define REMEMBERED 4U

static struct nw_tier_harc *harc_of(struct nw_tier_policy *policy)
{
    return (struct nw_tier_harc *)(void *)policy; /* its first member */
}

/* Rings */

static uint16_t ring_of(const struct nw_tier_harc *harc, unsigned list)
{
    return (uint16_t)(2U * harc->room + list);
}

static uint16_t oldest(const struct nw_tier_harc *harc, unsigned list)
{
    return harc->newer[ring_of(harc, list)];
}

static void join(struct nw_tier_harc *harc, uint16_t node, unsigned list)
{
    uint16_t ring = ring_of(harc, list);
    uint16_t newest = harc->older[ring];

    harc->older[node] = newest;
    harc->newer[node] = ring;
    harc->newer[newest] = node;
    harc->older[ring] = node;
    harc->list[node] = (uint8_t)list;
    harc->count[list]++;
}

static void leave(struct nw_tier_harc *harc, uint16_t node)
{
    harc->newer[harc->older[node]] = harc->newer[node];
    harc->older[harc->newer[node]] = harc->older[node];
    harc->count[harc->list[node]]--;
}

/* Those remembered */

static uint16_t *head_of(const struct nw_tier_harc *harc, uint32_t sector)
{
    return &harc->heads[(uint16_t)(sector * 2654435761UL >> 16) & (harc->buckets - 1U)];
}

static uint16_t find(const struct nw_tier_harc *harc, uint32_t sector)
{
    uint16_t node = *head_of(harc, sector);

    while (node != NW_TIER_NONE && harc->sector[node] != sector) {
        node = harc->chain[node - harc->room];
    }
    return node;
}

static void forget(struct nw_tier_harc *harc, uint16_t node)
{
    uint16_t *link = head_of(harc, harc->sector[node]);

    while (*link != node) {
        link = &harc->chain[*link - harc->room];
    }
    *link = harc->chain[node - harc->room];
    leave(harc, node);
    harc->chain[node - harc->room] = harc->forgotten;
    harc->forgotten = node;
}

static void remember(struct nw_tier_harc *harc, uint32_t sector, unsigned list)
{
    uint16_t *head = head_of(harc, sector);

    if (harc->forgotten == NW_TIER_NONE) {
        unsigned longest = REMEMBERED;
        for (unsigned other = REMEMBERED + 1U; other < NW_TIER_HARC_LISTS; other++) {
            longest = harc->count[other] > harc->count[longest] ? other : longest;
        }
        forget(harc, oldest(harc, longest));
    }
    uint16_t node = harc->forgotten;
    harc->forgotten = harc->chain[node - harc->room];
    harc->chain[node - harc->room] = *head;
    *head = node;
    harc->sector[node] = sector;
    join(harc, node, list | REMEMBERED);
}

/* Sizes */

static uint16_t more(uint16_t size, uint32_t by, uint16_t most)
{
    return by < (uint32_t)most - size ? (uint16_t)(size + by) : most;
}

static uint16_t less(uint16_t size, uint32_t by)
{
    return by < size ? (uint16_t)(size - by) : 0;
}

/* How often the one goes into the other, at least once. */
static uint32_t times(uint32_t part, uint32_t whole)
{
    return whole > part ? whole / part : 1U;
}

/* A remembered node has come back. */
static void adapt(struct nw_tier_harc *harc, uint16_t node)
{
    const uint16_t *count = &harc->count[REMEMBERED];
    unsigned list = harc->list[node];
    unsigned kind = list & WRITTEN;
    uint32_t read = (uint32_t)count[0] + count[OFTEN];
    uint32_t written = (uint32_t)count[WRITTEN] + count[WRITTEN | OFTEN];
    uint32_t once = count[kind];
    uint32_t often = count[kind | OFTEN];

    if (kind != 0) {
        harc->want_written = more(harc->want_written, 2U * times(written, read), harc->slots);
    } else {
        harc->want_written = less(harc->want_written, times(read, written));
    }
    uint16_t all = kind != 0 ? harc->want_written : (uint16_t)(harc->slots - harc->want_written);
    uint16_t *want = &harc->want_once[kind];
    *want = *want < all ? *want : all;
    *want = (list & OFTEN) == 0 ? more(*want, times(once, often), all)
                                : less(*want, times(often, once));
}

/* What the tier asks */

static int start(struct nw_tier_policy *policy, uint16_t slots)
{
    struct nw_tier_harc *harc = harc_of(policy);

    if (slots > harc->room) {
        return NW_ERR_CONFIG;
    }
    harc->slots = slots;
    for (unsigned list = 0; list < NW_TIER_HARC_LISTS; list++) {
        uint16_t ring = ring_of(harc, list);
        harc->older[ring] = ring;
        harc->newer[ring] = ring;
        harc->count[list] = 0;
    }
    for (uint16_t i = 0; i < harc->buckets; i++) {
        harc->heads[i] = NW_TIER_NONE;
    }
    harc->forgotten = NW_TIER_NONE;
    for (uint16_t i = 0; i < slots; i++) {
        harc->chain[i] = harc->forgotten;
        harc->forgotten = (uint16_t)(harc->room + i);
    }
    harc->want_written = (uint16_t)(slots / 2U);
    harc->want_once[0] = (uint16_t)(slots / 4U);
    harc->want_once[1] = (uint16_t)(slots / 4U);
    harc->leaving = NW_TIER_NONE;
    return NW_OK;
}

static int admit(struct nw_tier_policy *policy, const struct nw_tier_ask *ask)
{
    return ask->write != 0 || harc_of(policy)->reads != 0;
}

static void entered(struct nw_tier_policy *policy, uint16_t slot, const struct nw_tier_ask *ask)
{
    struct nw_tier_harc *harc = harc_of(policy);
    uint16_t known = find(harc, ask->sector);
    unsigned list = ask->write != 0 ? WRITTEN : 0U;

    if (known != NW_TIER_NONE) {
        adapt(harc, known);
        forget(harc, known);
        list |= OFTEN;
    }
    harc->sector[slot] = ask->sector;
    join(harc, slot, list);
}

static void touched(struct nw_tier_policy *policy, uint16_t slot, const struct nw_tier_ask *ask)
{
    struct nw_tier_harc *harc = harc_of(policy);
    unsigned list = (harc->list[slot] & WRITTEN) | (ask->write != 0 ? WRITTEN : 0U) | OFTEN;

    leave(harc, slot);
    join(harc, slot, list);
}

static void left(struct nw_tier_policy *policy, uint16_t slot)
{
    struct nw_tier_harc *harc = harc_of(policy);

    leave(harc, slot);
    if (slot == harc->leaving) { /* else it was trimmed: it will not be asked for again */
        remember(harc, harc->sector[slot], harc->list[slot]);
        harc->leaving = NW_TIER_NONE;
    }
}

static uint16_t give_up(struct nw_tier_harc *harc)
{
    uint32_t written = (uint32_t)harc->count[WRITTEN] + harc->count[WRITTEN | OFTEN];
    uint32_t read = (uint32_t)harc->count[0] + harc->count[OFTEN];
    unsigned kind = read == 0 || (written > 0 && written > harc->want_written) ? WRITTEN : 0U;
    uint16_t once = harc->count[kind];

    if (written + read == 0) {
        return NW_TIER_NONE;
    }
    if (once == 0 || (once <= harc->want_once[kind] && harc->count[kind | OFTEN] > 0)) {
        kind |= OFTEN;
    }
    harc->leaving = oldest(harc, kind);
    return harc->leaving;
}

static uint16_t victim(struct nw_tier_policy *policy, const struct nw_tier_ask *ask)
{
    (void)ask;
    return give_up(harc_of(policy));
}

static uint16_t ahead(struct nw_tier_policy *policy, uint16_t free)
{
    struct nw_tier_harc *harc = harc_of(policy);

    return free < (harc->slots + 15U) / 16U ? give_up(harc) : NW_TIER_NONE;
}

static const struct nw_tier_policy_ops harc_ops = {start, admit,  entered, touched,
                                                   left,  victim, ahead};

static void place(struct nw_tier_harc *harc, uint16_t slots, struct nw_ram *ram)
{
    harc->room = slots;
    harc->buckets = 1;
    while (harc->buckets < slots) {
        harc->buckets = (uint16_t)(harc->buckets << 1);
    }
    harc->sector = NW_RAM_TAKE(ram, uint32_t, 2U * slots);
    harc->older = NW_RAM_TAKE(ram, uint16_t, 2U * slots + NW_TIER_HARC_LISTS);
    harc->newer = NW_RAM_TAKE(ram, uint16_t, 2U * slots + NW_TIER_HARC_LISTS);
    harc->chain = NW_RAM_TAKE(ram, uint16_t, slots);
    harc->heads = NW_RAM_TAKE(ram, uint16_t, harc->buckets);
    harc->list = NW_RAM_TAKE(ram, uint8_t, 2U * slots);
}

size_t nw_tier_harc_ram_bytes(uint16_t slots)
{
    struct nw_ram ram = {NULL, 0, 0};
    struct nw_tier_harc harc;

    if (slots > NW_TIER_HARC_SLOTS) {
        return 0;
    }
    place(&harc, slots, &ram);
    return ram.used;
}

int nw_tier_harc_open(struct nw_tier_harc *harc, uint8_t reads, uint16_t slots, void *ram,
                      size_t ram_bytes)
{
    struct nw_ram arena = {ram, ram_bytes, 0};

    if (slots > NW_TIER_HARC_SLOTS) {
        return NW_ERR_CONFIG;
    }
    memset(harc, 0, sizeof *harc);
    place(harc, slots, &arena);
    if (ram == NULL || arena.used > ram_bytes) {
        return NW_ERR_RAM;
    }
    harc->policy.ops = &harc_ops;
    harc->reads = reads;
    return NW_OK;
}
