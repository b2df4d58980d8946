/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier_habit.h - a placement policy for devices that run many applications in turn: room in the NVM
 * goes to those that are used to run now.
 *
 * Source: vFlash of Chen, "Hardware/Software Codesign for Performance and Lifetime Enhancement in
 * NAND-Flash-based Embedded Storage Systems", PhD thesis, PolyU 2016, chapter 3: prediction 3.3.3,
 * who leaves 3.3.4 and algorithm 2. Where it is silent: docs/tier.md.
 *
 * HABITS. A day has periods. For each application and period is noted how many sectors it wrote
 * and how many of these writes were updates, for so many days. What is to come is the mean of the
 * same period over the days noted so far.
 *
 * WHO GETS ROOM. When a period begins, NVM is reserved for what each application is predicted to
 * write; when that is more than there is, the one with the most updates is served first. What is
 * not reserved is anybody's. Only writes go to the NVM, and no write waits for room there: without
 * it they go to flash.
 *
 * WHO LEAVES, in idle time only, until there is room for the next period: what was written once, of
 * the application that is not to run for the longest time; if there is no such sector, what was
 * updated, of the one with the fewest predicted updates among those furthest away. Oldest first.
 *
 * WITH LRU (ours) what is reserved is a claim, not a gap: until its application comes anybody may
 * use it. While nothing is predicted the policy does what tier_lrfu.h does with NW_TIER_LRU.
 *
 * The policy has no clock: set now_s before requests. What it learnt is lost with power.
 *
 * RAM: nw_tier_habit_ram_bytes(): 8 bytes a slot, 12 with lru; 4 an application, period and day,
 * 20 an application, 2 bits a sector if asked for. 16 MB in sectors of 4 KiB, 100 applications, a
 * week: 100 KB. Cost of each call: some 20 steps; of `ahead`, and with lru of `victim`, a look at
 * each application. When a period begins: applications x (applications + periods x days).
 */
#ifndef NANDWICH_TIER_HABIT_H
#define NANDWICH_TIER_HABIT_H

#include "nandwich/tier.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_tier_habit_config {
    uint16_t slots;    /* of the tier, at most */
    uint16_t apps;     /* requests of 1 .. apps are told apart, others are nobody's; 1 .. 4095 */
    uint8_t days;      /* remembered; 0: 7 */
    uint8_t periods;   /* a day; 0: 24 */
    uint32_t period_s; /* 0: 3600 */
    uint32_t sectors;  /* of the device: a sector counts once in a period, and a write to one that
                        * was written before is an update wherever it lies. 0: each write counts,
                        * and only those in the NVM are updates */
    uint16_t least_free; /* slots that idle keeps free, whatever is predicted; 0: as published: on a
                          * first day nothing is, so nothing leaves */
    uint8_t lru; /* 1: what is not reserved is LRU's: a write always goes in, and without a free
                  * slot the sector used least lately leaves, of an application that holds more
                  * than is reserved for it; so it does for least_free. Ours */
    uint8_t inter_only; /* 1: who is served first is no question of updates but of numbers */
};

/* What is known of an application; 0 is nobody. */
struct nw_tier_app {
    uint16_t held;    /* slots */
    uint16_t grant;   /* slots reserved in this period */
    uint16_t sectors; /* predicted for this period */
    uint16_t updates;
    uint16_t next_sectors; /* and for the next one */
    uint16_t next_updates;
    uint8_t distance; /* periods to its next predicted run; `periods`: none */
    uint8_t ran;      /* in this period */
};

struct nw_tier_habit {
    struct nw_tier_policy policy; /* give &habit.policy to the tier */
    struct nw_tier_habit_config config;
    uint32_t now_s; /* the caller's clock; 0 is a midnight */
    struct nw_tier_app *app;
    uint16_t *sectors; /* written, by day, period and application */
    uint16_t *updates;
    uint16_t *older; /* rings: by slot, then two of each application */
    uint16_t *newer;
    uint16_t *owner; /* by slot */
    uint8_t *updated; /* by slot */
    uint32_t *used_at; /* by slot, with lru: which of all uses was its last */
    uint8_t *known;   /* a bit a sector: written before */
    uint8_t *counted; /* a bit a sector: in this period */
    uint32_t uses;
    uint32_t rows;    /* of the tables: days times periods */
    uint32_t period;  /* since the clock's zero */
    uint32_t since;   /* the first one */
    uint16_t slots;
    uint16_t used;
    uint16_t reserved; /* slots that are, and not held */
};

/* 0: NW_ERR_CONFIG. */
size_t nw_tier_habit_ram_bytes(const struct nw_tier_habit_config *config);

/* NW_ERR_CONFIG: no slots or applications, or more than 65,535 slots and twice the applications;
 * NW_ERR_RAM. */
int nw_tier_habit_open(struct nw_tier_habit *habit, const struct nw_tier_habit_config *config,
                       void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif
