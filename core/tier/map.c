/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map: which sector lies in which frame. Content goes to the spare frame; its entry, written in
 * one piece, makes it the sector's. The frame it had is the spare one from then on, with an entry
 * that is one generation behind and loses at a mount: nothing has to be erased. As the spare frame
 * is the next to be written whatever comes, that entry is gone before the sector's generation comes
 * round; only a sector that leaves the NVM has to take it away first.
 */
#include "tier.h"

static struct nw_nvm_req *request(struct nw_tier *tier, uint32_t address, uint8_t *data,
                                  uint32_t length)
{
    tier->nvm.address = address;
    tier->nvm.length = length;
    tier->nvm.data = data;
    return &tier->nvm;
}

int nw_tier_read_nvm(struct nw_tier *tier, uint32_t address, uint8_t *data, uint32_t length)
{
    return nw_nvm_read(request(tier, address, data, length));
}

int nw_tier_write_nvm(struct nw_tier *tier, uint32_t address, uint8_t *data, uint32_t length)
{
    return nw_nvm_write(request(tier, address, data, length));
}

uint32_t nw_tier_entry_at(uint16_t frame)
{
    return TIER_HEAD_BYTES + (uint32_t)frame * TIER_ENTRY_BYTES;
}

uint32_t nw_tier_frame_at(const struct nw_tier *tier, uint16_t frame)
{
    return tier->frames_at + (uint32_t)frame * tier->block.sector_bytes;
}

/* The list that a sector is in. */
static uint16_t *list_of(const struct nw_tier *tier, uint32_t sector)
{
    return &tier->heads[(uint16_t)(sector * 2654435761UL >> 16) & (tier->buckets - 1U)];
}

uint16_t nw_tier_find(const struct nw_tier *tier, uint32_t sector)
{
    uint16_t slot = *list_of(tier, sector);

    while (slot != NW_TIER_NONE && tier->sector[slot] != sector) {
        slot = tier->next[slot];
    }
    return slot;
}

void nw_tier_clear(struct nw_tier *tier)
{
    for (uint16_t i = 0; i < tier->buckets; i++) {
        tier->heads[i] = NW_TIER_NONE;
    }
    for (uint16_t slot = 0; slot < tier->slots; slot++) {
        tier->sector[slot] = TIER_NO_SECTOR;
        tier->frame[slot] = slot;
        tier->state[slot] = 0;
        tier->next[slot] = (uint16_t)(slot + 1U < tier->slots ? slot + 1U : NW_TIER_NONE);
    }
    tier->free = 0;
    tier->free_count = tier->slots;
    tier->spare = tier->slots;
    tier->stale = TIER_NO_SECTOR;
    tier->written_count = 0;
    tier->unsure = 0;
}

uint16_t nw_tier_take(struct nw_tier *tier, uint32_t sector)
{
    uint16_t *list = list_of(tier, sector);
    uint16_t slot = tier->free;

    tier->free = tier->next[slot];
    tier->free_count--;
    tier->sector[slot] = sector;
    tier->state[slot] = 0;
    tier->next[slot] = *list;
    *list = slot;
    return slot;
}

static void give_back(struct nw_tier *tier, uint16_t slot)
{
    uint16_t *link = list_of(tier, tier->sector[slot]);

    while (*link != slot) {
        link = &tier->next[*link];
    }
    *link = tier->next[slot];
    tier->sector[slot] = TIER_NO_SECTOR;
    tier->state[slot] = 0;
    tier->next[slot] = tier->free;
    tier->free = slot;
    tier->free_count++;
}

static int write_entry(struct nw_tier *tier, uint16_t frame, const struct nw_tier_ask *ask,
                       uint8_t state)
{
    uint8_t entry[TIER_ENTRY_BYTES];

    nw_put32(entry, ask->sector);
    entry[4] = state;
    entry[5] = ask->hint;
    nw_put16(entry + 6, ask->app);
    return nw_tier_write_nvm(tier, nw_tier_entry_at(frame), entry, sizeof entry);
}

/* Nothing is told of a frame any more. */
static int clear_entry(struct nw_tier *tier, uint16_t frame)
{
    static const struct nw_tier_ask nothing = {0};

    return write_entry(tier, frame, &nothing, 0);
}

int nw_tier_settle(struct nw_tier *tier)
{
    int result = NW_OK;

    if (tier->unsure != 0) {
        result = clear_entry(tier, tier->spare);
        if (result == NW_OK) {
            tier->unsure = 0;
            tier->stale = TIER_NO_SECTOR;
        }
    }
    return result;
}

int nw_tier_put(struct nw_tier *tier, const struct nw_tier_ask *ask, uint16_t *slot, uint8_t *data)
{
    uint8_t state = ENTRY_USED;
    int result = nw_tier_settle(tier);

    if (*slot != NW_TIER_NONE) {
        uint8_t old = tier->state[*slot];
        state = (uint8_t)(ENTRY_USED | ((old + ENTRY_NEXT) & ENTRY_GENERATION));
    }
    if (result == NW_OK) {
        uint32_t at = nw_tier_frame_at(tier, tier->spare);
        result = nw_tier_write_nvm(tier, at, data, tier->block.sector_bytes);
    }
    if (result == NW_OK) {
        result = write_entry(tier, tier->spare, ask, state);
        tier->unsure = (uint8_t)(result != NW_OK);
    }
    if (result != NW_OK) {
        return result;
    }
    tier->stale = ask->sector;
    if (*slot == NW_TIER_NONE) {
        *slot = nw_tier_take(tier, ask->sector);
        tier->stale = TIER_NO_SECTOR; /* a free slot's frame has no entry */
    }
    uint16_t frame = tier->frame[*slot];
    tier->frame[*slot] = tier->spare;
    tier->spare = frame;
    state = (uint8_t)(state | (ask->write != 0 ? SLOT_DIRTY : 0U));
    tier->state[*slot] = (uint8_t)(state | (data == NULL ? SLOT_NO_DATA : 0U));
    return NW_OK;
}

int nw_tier_clear_spare(struct nw_tier *tier)
{
    if (tier->stale != TIER_NO_SECTOR) {
        tier->unsure = 1;
    }
    return nw_tier_settle(tier);
}

/* If nobody knows whether its entry is gone, its frame becomes the spare one. */
int nw_tier_leave(struct nw_tier *tier, uint16_t slot)
{
    uint16_t frame = tier->frame[slot];
    int result = clear_entry(tier, frame);

    if (result != NW_OK) {
        tier->frame[slot] = tier->spare;
        tier->spare = frame;
        tier->unsure = 1;
    }
    give_back(tier, slot);
    return result;
}
