/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heating list: blocks at their bar wait here until they are healed, at once or lazily. Source
 * of lazy and early healing: Chen, "Hardware/Software Codesign for Performance and Lifetime
 * Enhancement in NAND-Flash-based Embedded Storage Systems", 2016, chapter 2.
 */
#include <string.h>

#include "wear.h"

#define MOST_SINCE 0xFFFFU  /* what the low half of `erases` counts to */
#define MOST_HEALS 255U     /* what fits the 24 bits of a tag above it */
#define LEAST_FREE 3U       /* with fewer free blocks than this nothing waits */

/* Erases that a block healed `heals` times may have since. */
static uint32_t bar_of(const struct nw_wear *wear, uint16_t heals)
{
    const struct nw_geometry *geometry = &wear->view.chip->geometry;
    const struct nw_heal_config *config = &wear->heal.config;
    uint32_t percent = config->percent != 0 ? config->percent : 100U;
    uint32_t life = geometry->endurance;

    if (config->cycles != 0) {
        return config->cycles;
    }
    if (heals > 0) {
        uint32_t less = (uint32_t)geometry->heal_step * (heals - 1U);

        life = geometry->heal_life > less ? geometry->heal_life - less : 0;
    }
    return life * percent / 100U;
}

int nw_heal_start(struct nw_wear *wear)
{
    const struct nw_geometry *geometry = &wear->view.chip->geometry;
    struct nw_heal *heal = &wear->heal;

    heal->count = 0;
    heal->cursor = 0;
    heal->since_s = wear->now_s;
    heal->most = 0;
    memset(heal->waits, 0, wear->room);
    if (heal->config.heals == 0 || geometry->heal_life == 0) {
        return NW_OK;
    }
    heal->most = geometry->heal_limit < MOST_HEALS ? (uint8_t)geometry->heal_limit : MOST_HEALS;
    return geometry->endurance == 0 || geometry->endurance >= MOST_SINCE ||
                   geometry->heal_life >= MOST_SINCE
               ? (int)NW_ERR_CONFIG
               : (int)NW_OK;
}

int nw_heal_given(struct nw_wear *wear, uint16_t block)
{
    uint32_t erases = wear->view.erases[block];
    uint16_t heals = nw_wear_heals(erases);
    struct nw_heal *heal = &wear->heal;

    if (heals >= heal->most || nw_wear_since(erases) == 0 ||
        nw_wear_since(erases) < bar_of(wear, heals)) {
        return 0;
    }
    if (heal->count == 0) {
        heal->since_s = wear->now_s;
    }
    heal->waits[block] = 1;
    heal->count++;
    if (heal->count > wear->stats.most_waiting) {
        wear->stats.most_waiting = heal->count;
    }
    return 1;
}

/* Has the list waited long enough? */
static int is_due(const struct nw_wear *wear)
{
    const struct nw_heal *heal = &wear->heal;
    uint32_t period = heal->config.period_s;
    uint16_t most = (uint16_t)(wear->view.blocks / 32U + 1U); /* layers keep more spare than that */

    if (period == 0 || heal->count > most || *wear->view.free < LEAST_FREE) {
        return 1;
    }
    if (heal->config.fixed == 0) {
        period = period / most * (most + 1U - heal->count);
    }
    return wear->now_s - heal->since_s >= period;
}

static int heal_block(struct nw_wear *wear, uint16_t block)
{
    struct nw_chip_req req = {.chip = wear->view.chip, .block = block};
    int result = nw_chip_heal(&req);

    if (result == NW_ERR_UNSUPPORTED) { /* at its limit: a power cut had made us forget */
        wear->view.erases[block] = (uint32_t)wear->heal.most << 16;
        return NW_OK;
    }
    if (result < 0) {
        return result;
    }
    wear->view.erases[block] = ((uint32_t)nw_wear_heals(wear->view.erases[block]) + 1U) << 16;
    wear->stats.heals++;
    return NW_OK;
}

/* The search goes on behind the block it has come to. */
static void advance(struct nw_wear *wear)
{
    uint16_t next = (uint16_t)(wear->heal.cursor + 1U);

    wear->heal.cursor = next < wear->view.blocks ? next : 0U;
}

int32_t nw_heal_one(struct nw_wear *wear, int when)
{
    struct nw_heal *heal = &wear->heal;
    int lazy = heal->config.period_s != 0;

    if (heal->count == 0 || (when == NW_HEAL_DUE && !is_due(wear))) {
        return NW_WEAR_NONE;
    }
    do { /* past those of which an erase has failed while they waited */
        if (heal->count == 0) {
            return NW_WEAR_NONE;
        }
        while (heal->waits[heal->cursor] == 0) {
            advance(wear);
        }
        heal->waits[heal->cursor] = 0;
        heal->count--;
    } while (wear->view.state[heal->cursor] == NW_BLOCK_BAD);
    int result = heal_block(wear, heal->cursor);
    if (result == NW_ERR_IO || result == NW_ERR_BUSY) { /* not the block's: it waits on */
        heal->waits[heal->cursor] = 1;
        heal->count++;
        advance(wear); /* the others come first */
    }
    if (result < 0) {
        return result; /* any other error: the block stays out of use in this session */
    }
    heal->since_s = wear->now_s;
    wear->stats.heals_idle += when == NW_HEAL_IDLE;
    wear->stats.heals_forced += when != NW_HEAL_IDLE && lazy;
    return heal->cursor;
}
