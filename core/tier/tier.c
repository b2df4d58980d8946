/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs. A sector that the NVM has is read and written there; for any other the policy says
 * where it goes. What leaves the NVM is written to flash, flash is synced, and only then its entry
 * goes: so at any moment one of the two has the newest content for good.
 */
#include "tier.h"

int nw_tier_ask_flash(struct nw_tier *tier, uint32_t sector, uint32_t count, uint8_t *data,
                      int (*verb)(struct nw_block_req *req))
{
    tier->below.sector = sector;
    tier->below.count = count;
    tier->below.data = data;
    return verb(&tier->below);
}

/* The bytes of the sector to be done next. */
static uint8_t *data_of(const struct nw_block_req *req)
{
    return req->data != NULL ? req->data + (size_t)req->done * req->block->sector_bytes : NULL;
}

/* The sector behind `past` more, as a policy is told of it. */
static struct nw_tier_ask ask_of(const struct nw_block_req *req, uint32_t past, uint8_t write)
{
    return (struct nw_tier_ask){.sector = req->sector + req->done + past,
                                .app = req->app,
                                .hint = req->hint,
                                .write = write};
}

/* A part of a request: `count` sectors from the one that is to be done next. */
static int pass_down(struct nw_block_req *req, uint32_t count,
                     int (*verb)(struct nw_block_req *req))
{
    struct nw_tier *tier = req->block->context;
    int result = nw_tier_ask_flash(tier, req->sector + req->done, count, data_of(req), verb);

    req->done += tier->below.done;
    return result;
}

/* Makes durable what flash was given, and lets the sectors go that were written back. */
static int sync_flash(struct nw_tier *tier)
{
    int result = nw_block_sync(&tier->below);

    if (result == NW_OK && tier->written_count > 0) {
        result = nw_tier_clear_spare(tier);
    }
    while (result == NW_OK && tier->written_count > 0) {
        uint16_t slot = tier->written[--tier->written_count];

        if ((tier->state[slot] & SLOT_WRITTEN) != 0) { /* not written anew since */
            result = nw_tier_leave(tier, slot);
        }
    }
    return result;
}

/* Writes a slot back. For the policy it is gone; the map has it until the next sync_flash(). */
static int write_back(struct nw_tier *tier, uint16_t slot)
{
    int result = NW_OK;

    if (tier->written_count == NW_TIER_BATCH) {
        result = sync_flash(tier);
    }
    if (result == NW_OK && (tier->state[slot] & SLOT_DIRTY) != 0) {
        uint32_t at = nw_tier_frame_at(tier, tier->frame[slot]);
        uint8_t *data = (tier->state[slot] & SLOT_NO_DATA) == 0 ? tier->page : NULL;
        result = nw_tier_read_nvm(tier, at, data, tier->block.sector_bytes);
        if (result == NW_OK) {
            result = nw_tier_ask_flash(tier, tier->sector[slot], 1, data, nw_block_write);
        }
        tier->stats.moved += result == NW_OK ? 1U : 0U;
    }
    if (result == NW_OK) {
        tier->state[slot] |= SLOT_WRITTEN;
        tier->written[tier->written_count++] = slot;
        tier->config.policy->ops->left(tier->config.policy, slot);
    }
    return result;
}

/* Is there a slot for a sector that has none? 1, 0: it goes to flash, or an error. */
static int make_room(struct nw_tier *tier, const struct nw_tier_ask *ask)
{
    struct nw_tier_policy *policy = tier->config.policy;
    int result = NW_OK;

    if (policy == NULL || policy->ops->admit(policy, ask) == 0) {
        return 0;
    }
    if (tier->free_count == 0 && tier->written_count == 0) {
        uint16_t slot = policy->ops->victim(policy, ask);
        if (slot == NW_TIER_NONE) {
            return 0;
        }
        result = write_back(tier, slot);
    }
    if (result == NW_OK && tier->free_count == 0) {
        result = sync_flash(tier);
    }
    return result < 0 ? result : tier->free_count > 0;
}

static void tell(struct nw_tier *tier, uint16_t slot, const struct nw_tier_ask *ask, int entered)
{
    struct nw_tier_policy *policy = tier->config.policy;

    if (policy != NULL) {
        (entered ? policy->ops->entered : policy->ops->touched)(policy, slot, ask);
    }
}

/* The sector's new content goes to the NVM, and the policy hears of it. */
static int put(struct nw_tier *tier, const struct nw_tier_ask *ask, uint16_t slot, uint8_t *data)
{
    int enters = slot == NW_TIER_NONE || (tier->state[slot] & SLOT_WRITTEN) != 0;
    int result = nw_tier_put(tier, ask, &slot, data);

    if (result == NW_OK) {
        tell(tier, slot, ask, enters);
    }
    return result;
}

/* Read */

/* Sectors from the next one on that the NVM has not. */
static uint32_t misses(const struct nw_block_req *req)
{
    uint32_t count = 0;

    while (count < req->count - req->done &&
           nw_tier_find(req->block->context, req->sector + req->done + count) == NW_TIER_NONE) {
        count++;
    }
    return count;
}

static int read_sector(struct nw_block_req *req, uint16_t slot)
{
    struct nw_tier *tier = req->block->context;
    struct nw_tier_ask ask = ask_of(req, 0, 0);
    uint32_t at = nw_tier_frame_at(tier, tier->frame[slot]);
    int result = nw_tier_read_nvm(tier, at, data_of(req), tier->block.sector_bytes);

    if (result == NW_OK) {
        if ((tier->state[slot] & SLOT_WRITTEN) == 0) { /* else it is about to leave */
            tell(tier, slot, &ask, 0);
        }
        tier->stats.nvm_reads ++;
        req->done++;
    }
    return result;
}

static int tier_read(struct nw_block_req *req)
{
    struct nw_tier *tier = req->block->context;
    int result = NW_OK;

    while (req->done < req->count && result == NW_OK) {
        uint16_t slot = nw_tier_find(tier, req->sector + req->done);

        if (slot != NW_TIER_NONE) {
            result = read_sector(req, slot);
            continue;
        }
        uint32_t first = req->done;
        uint8_t *data = data_of(req);
        struct nw_tier_ask ask = ask_of(req, 0, 0);
        result = pass_down(req, misses(req), nw_block_read);
        tier->stats.flash_reads += req->done - first;
        for (; first < req->done && tier->config.policy != NULL; first++, ask.sector++) {
            if (make_room(tier, &ask) > 0) { /* the policy wants it too */
                (void)put(tier, &ask, NW_TIER_NONE, data); /* the reader has it, come what may */
            }
            data += data != NULL ? tier->block.sector_bytes : 0U;
        }
    }
    return result;
}

/* Write */

static int write_sector(struct nw_block_req *req, uint16_t slot)
{
    struct nw_tier *tier = req->block->context;
    struct nw_tier_ask ask = ask_of(req, 0, 1);
    int result = put(tier, &ask, slot, data_of(req));

    if (result == NW_OK) {
        tier->stats.nvm_writes ++;
        req->done++;
    }
    return result;
}

static int write_flash(struct nw_block_req *req, uint32_t count)
{
    struct nw_tier *tier = req->block->context;
    uint32_t first = req->done;
    int result = count > 0 ? pass_down(req, count, nw_block_write) : (int)NW_OK;

    tier->stats.flash_writes += req->done - first;
    return result;
}

/* What the policy does not want is gathered until something comes that it does: flash then gets it
 * as one request. */
static int tier_write(struct nw_block_req *req)
{
    struct nw_tier *tier = req->block->context;
    uint32_t past = 0; /* sectors for flash, not written yet */
    int result = nw_tier_settle(tier);

    while (req->done + past < req->count && result == NW_OK) {
        struct nw_tier_ask ask = ask_of(req, past, 1);
        uint16_t slot = nw_tier_find(tier, ask.sector);
        int room = slot != NW_TIER_NONE ? 1 : make_room(tier, &ask);

        if (room == 0) {
            past++;
            continue;
        }
        result = write_flash(req, past);
        past = 0;
        if (result == NW_OK) {
            result = room < 0 ? room : write_sector(req, slot);
        }
    }
    return result == NW_OK ? write_flash(req, past) : result;
}

/* Trim */

/* Sectors from the next one on that the NVM has. Flash is about to lose them: should the trim fail
 * behind that, they have to be written back as any other. */
static uint32_t hits(const struct nw_block_req *req)
{
    struct nw_tier *tier = req->block->context;
    uint32_t count = 0;

    for (; count < req->count - req->done; count++) {
        uint16_t slot = nw_tier_find(tier, req->sector + req->done + count);

        if (slot == NW_TIER_NONE) {
            break;
        }
        tier->state[slot] |= SLOT_DIRTY;
    }
    return count;
}

/* Sectors that flash has trimmed, up to `end` of the request: flash must have it for good before
 * the NVM lets go, lest a cut brings what flash had before. */
static int trim_nvm(struct nw_block_req *req, uint32_t end)
{
    struct nw_tier *tier = req->block->context;
    int result = req->done < end ? sync_flash(tier) : (int)NW_OK;

    if (result == NW_OK) {
        result = nw_tier_clear_spare(tier);
    }
    while (req->done < end && result == NW_OK) {
        uint16_t slot = nw_tier_find(tier, req->sector + req->done);

        result = nw_tier_leave(tier, slot);
        req->done += result == NW_OK ? 1U : 0U;
        if (tier->config.policy != NULL) {
            tier->config.policy->ops->left(tier->config.policy, slot);
        }
    }
    return result;
}

static int tier_trim(struct nw_block_req *req)
{
    struct nw_tier *tier = req->block->context;
    int result = nw_tier_settle(tier);

    if (result == NW_OK && tier->written_count > 0) { /* flash must not lose what is to leave */
        result = sync_flash(tier);
    }
    while (req->done < req->count && result == NW_OK) {
        uint32_t first = req->done;
        uint32_t held = hits(req);

        result = pass_down(req, held > 0 ? held : misses(req), nw_block_trim);
        if (held > 0) {
            uint32_t end = req->done;
            req->done = first;
            int left = trim_nvm(req, end);
            result = left < 0 ? left : result;
        }
    }
    return result;
}

static int tier_sync(struct nw_block_req *req)
{
    struct nw_tier *tier = req->block->context;
    int result = nw_tier_settle(tier);

    return result == NW_OK ? sync_flash(tier) : result;
}

/* Idle: 1 as long as the policy has something to write back that fits no more. */
static int move_ahead(struct nw_tier *tier, uint32_t *budget_us)
{
    struct nw_tier_policy *policy = tier->config.policy;
    uint32_t each_us = tier->config.move_us != 0 ? tier->config.move_us : 1000U;
    int result = NW_OK;

    while (policy != NULL && result == NW_OK) {
        uint16_t free = (uint16_t)(tier->free_count + tier->written_count);
        uint16_t slot = policy->ops->ahead(policy, free);

        if (slot == NW_TIER_NONE) {
            break;
        }
        if (*budget_us < each_us) {
            return 1;
        }
        *budget_us -= each_us;
        result = write_back(tier, slot);
        tier->stats.moved_ahead += result == NW_OK ? 1U : 0U;
    }
    return result;
}

/* The same, and what was written back has left. */
static int make_free(struct nw_tier *tier, uint32_t *budget_us)
{
    int more = move_ahead(tier, budget_us);
    int result = more >= 0 && tier->written_count > 0 ? sync_flash(tier) : (int)NW_OK;

    return result < 0 ? result : more;
}

int nw_tier_prepare(struct nw_tier *tier, uint32_t budget_us)
{
    return make_free(tier, &budget_us);
}

static int tier_idle(struct nw_block_req *req)
{
    struct nw_tier *tier = req->block->context;
    uint32_t budget_us = req->budget_us;
    int more = make_free(tier, &budget_us);
    int result = more;

    if (more >= 0) {
        tier->below.budget_us = budget_us;
        result = nw_block_idle(&tier->below);
    }
    return result < 0 ? result : more > 0 || result > 0;
}

const struct nw_block_ops nw_tier_ops = {tier_read, tier_write, tier_trim, tier_sync, tier_idle};
