/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format and mount. The header of the NVM counts once its last 8 bytes are written; they hold the
 * session and a checksum of all. A mount counts the session up on the NVM first, then in the label
 * on flash: so an NVM that is one ahead has been cut there, and one that is behind is an old one.
 *
 * Never more than one: the label on flash, whatever a cut makes of it, is that of the NVM's session
 * or of the one before. The NVM is counted up only when flash shows the same session and has synced
 * it, for what flash shows it may still lose. Where they are apart the label follows, and no new
 * session is counted. So it holds behind any error, cut or reset of the processor, and behind the
 * last sync both are the same.
 */
#include <string.h>

#include "nandwich/crc.h"
#include "nandwich/ram.h"
#include "tier.h"

#define VERSION 1U
#define LEAST_SECTOR_BYTES TIER_HEAD_BYTES
#define MOST_SLOTS 0xFFFEU
#define MOST_BUCKETS 0x8000U

static const uint8_t magic[4] = {'N', 'W', 'T', 'I'};

#define CHECKED_BYTES (TIER_HEAD_BYTES - 4U)

/* Shape */

/* Where so many frames begin. */
static uint32_t begin_of(uint32_t frames)
{
    return (TIER_HEAD_BYTES + frames * TIER_ENTRY_BYTES + 63U) & ~(uint32_t)63U;
}

/* Frames that fit, and where they begin; 0: fewer than two. */
static uint32_t frames_of(const struct nw_tier_config *config, uint32_t *frames_at)
{
    uint32_t bytes = config->nvm->bytes;
    uint32_t sector = config->flash->sector_bytes;
    uint32_t each = sector + TIER_ENTRY_BYTES;
    uint32_t frames = bytes > TIER_HEAD_BYTES ? (bytes - TIER_HEAD_BYTES) / each : 0U;

    frames = frames > MOST_SLOTS + 1U ? MOST_SLOTS + 1U : frames;
    while (frames >= 2U && begin_of(frames) > bytes - frames * sector) {
        frames--; /* once or twice: the gap before the frames takes less than two sectors */
    }
    *frames_at = begin_of(frames);
    return frames >= 2U ? frames : 0U;
}

static int is_usable(const struct nw_tier_config *config)
{
    return (config->flash->flags & NW_BLOCK_PERSISTENT) != 0 && config->flash->sectors >= 2U &&
           config->flash->sector_bytes >= LEAST_SECTOR_BYTES &&
           config->nvm->atomic_bytes >= TIER_ENTRY_BYTES;
}

static void place(struct nw_tier *tier, struct nw_ram *ram)
{
    tier->sector = NW_RAM_TAKE(ram, uint32_t, tier->slots);
    tier->frame = NW_RAM_TAKE(ram, uint16_t, tier->slots);
    tier->next = NW_RAM_TAKE(ram, uint16_t, tier->slots);
    tier->heads = NW_RAM_TAKE(ram, uint16_t, tier->buckets);
    tier->state = NW_RAM_TAKE(ram, uint8_t, tier->slots);
    tier->page = NW_RAM_TAKE(ram, uint8_t, tier->block.sector_bytes);
}

/* NW_ERR_CONFIG, or the arrays are taken. */
static int shape(struct nw_tier *tier, const struct nw_tier_config *config, struct nw_ram *ram)
{
    memset(tier, 0, sizeof *tier);
    uint32_t frames = is_usable(config) ? frames_of(config, &tier->frames_at) : 0;

    if (frames == 0) {
        return NW_ERR_CONFIG;
    }
    tier->config = *config;
    tier->below.block = config->flash;
    tier->nvm.nvm = config->nvm;
    tier->slots = (uint16_t)(frames - 1U);
    tier->buckets = 1;
    while (tier->buckets < tier->slots && tier->buckets < MOST_BUCKETS) {
        tier->buckets = (uint16_t)(tier->buckets << 1);
    }
    tier->block = (struct nw_block){.ops = &nw_tier_ops,
                                    .context = tier,
                                    .sectors = config->flash->sectors - 1U,
                                    .sector_bytes = config->flash->sector_bytes,
                                    .flags = NW_BLOCK_PERSISTENT};
    place(tier, ram);
    return NW_OK;
}

size_t nw_tier_ram_bytes(const struct nw_tier_config *config)
{
    struct nw_ram ram = {NULL, 0, 0};
    struct nw_tier tier;

    return shape(&tier, config, &ram) == NW_OK ? ram.used : 0;
}

static int open_tier(struct nw_tier *tier, const struct nw_tier_config *config, void *memory,
                     size_t ram_bytes)
{
    struct nw_ram ram = {memory, ram_bytes, 0};
    int result = shape(tier, config, &ram);

    if (result == NW_OK && (memory == NULL || ram.used > ram_bytes)) {
        result = NW_ERR_RAM;
    }
    if (result == NW_OK && config->policy != NULL) {
        result = config->policy->ops->start(config->policy, tier->slots);
    }
    if (result == NW_OK) {
        nw_tier_clear(tier);
    }
    return result;
}

/* The header, which is the label on flash too. */

static void make_head(const struct nw_tier *tier, uint8_t *head)
{
    memset(head, 0, TIER_HEAD_BYTES);
    memcpy(head, magic, sizeof magic);
    head[4] = VERSION;
    nw_put16(head + 6, tier->block.sector_bytes);
    nw_put32(head + 8, tier->config.identity);
    nw_put32(head + 16, tier->block.sectors);
    nw_put32(head + 20, tier->slots);
    nw_put32(head + 24, tier->session);
    nw_put32(head + CHECKED_BYTES, nw_crc32(NW_CRC32_START, head, CHECKED_BYTES));
}

static int write_label(struct nw_tier *tier)
{
    uint8_t *label = tier->config.no_payload == 0 ? tier->page : NULL;

    memset(tier->page, 0, tier->block.sector_bytes);
    make_head(tier, tier->page);
    int result = nw_tier_ask_flash(tier, tier->block.sectors, 1, label, nw_block_write);
    return result == NW_OK ? nw_block_sync(&tier->below) : result;
}

/* The last 8 bytes of the header, which make it count. */
static int write_session(struct nw_tier *tier)
{
    uint8_t head[TIER_HEAD_BYTES];

    make_head(tier, head);
    return nw_tier_write_nvm(tier, 24, head + 24, 8);
}

/* Is flash in the session that the NVM tells of? 1, 0: it is in the one before, or its label has
 * rotted and is written anew; or an error. */
static int check_label(struct nw_tier *tier)
{
    uint8_t own[TIER_HEAD_BYTES];
    int result = nw_tier_ask_flash(tier, tier->block.sectors, 1, tier->page, nw_block_read);
    uint32_t session = tier->session;

    if (result != NW_OK) {
        return result == NW_ERR_ECC || result == NW_ERR_CORRUPT ? 0 : result;
    }
    tier->session = nw_get32(tier->page + 24);
    make_head(tier, own);
    result = session - tier->session > 1U ? NW_ERR_CORRUPT : session == tier->session;
    tier->session = session;
    return memcmp(own, tier->page, sizeof own) == 0 ? result : NW_ERR_NOT_FOUND;
}

static int is_zero(const uint8_t *bytes, uint32_t count)
{
    uint32_t i = 0;

    while (i < count && bytes[i] == 0) {
        i++;
    }
    return i == count;
}

static int read_head(struct nw_tier *tier)
{
    uint8_t head[TIER_HEAD_BYTES];
    uint8_t own[TIER_HEAD_BYTES];
    int result = nw_tier_read_nvm(tier, 0, head, sizeof head);

    if (result != NW_OK) {
        return result;
    }
    if (is_zero(head, sizeof head)) {
        return NW_ERR_BLANK;
    }
    if (memcmp(head, magic, sizeof magic) != 0 ||
        nw_get32(head + CHECKED_BYTES) != nw_crc32(NW_CRC32_START, head, CHECKED_BYTES)) {
        return NW_ERR_NOT_FOUND;
    }
    tier->config.identity = nw_get32(head + 8);
    tier->session = nw_get32(head + 24);
    make_head(tier, own);
    return memcmp(head, own, sizeof head) == 0 ? (int)NW_OK : NW_ERR_VERSION;
}

/* Format */

int nw_tier_format(struct nw_tier *tier, const struct nw_tier_config *config, void *ram,
                   size_t ram_bytes)
{
    uint8_t head[TIER_HEAD_BYTES] = {0};
    int result = open_tier(tier, config, ram, ram_bytes);

    if (result == NW_OK) {
        result = nw_tier_write_nvm(tier, 24, head + 24, 8); /* from here on there is none */
    }
    for (uint32_t frame = 0; frame <= tier->slots && result == NW_OK; frame++) {
        result = nw_tier_write_nvm(tier, nw_tier_entry_at((uint16_t)frame), head, 8);
    }
    if (result == NW_OK) {
        tier->session = 1;
        make_head(tier, head);
        result = nw_tier_write_nvm(tier, 0, head, 24);
    }
    if (result == NW_OK) {
        result = write_label(tier);
    }
    return result == NW_OK ? write_session(tier) : result;
}

/* Mount */

/* Of two frames with the same sector the older one is the spare frame. */
static int meet_twin(struct nw_tier *tier, uint16_t slot, uint16_t frame, uint8_t state)
{
    uint8_t ahead = (uint8_t)((unsigned)(state - tier->state[slot]) & ENTRY_GENERATION);

    if (tier->stale != TIER_NO_SECTOR || (ahead != ENTRY_NEXT && ahead != 3U * ENTRY_NEXT)) {
        return NW_ERR_CORRUPT;
    }
    tier->stale = tier->sector[slot];
    tier->spare = frame;
    if (ahead == ENTRY_NEXT) {
        tier->spare = tier->frame[slot];
        tier->frame[slot] = frame;
        tier->state[slot] = (uint8_t)(state | SLOT_DIRTY);
    }
    return NW_OK;
}

static int meet_entry(struct nw_tier *tier, uint16_t frame)
{
    uint8_t entry[TIER_ENTRY_BYTES];
    int result = nw_tier_read_nvm(tier, nw_tier_entry_at(frame), entry, sizeof entry);
    uint32_t sector = nw_get32(entry);
    uint8_t state = entry[4];

    if (result != NW_OK || is_zero(entry, sizeof entry)) {
        return result;
    }
    if (sector >= tier->block.sectors || (state & ENTRY_USED) == 0 ||
        (state & ~(ENTRY_USED | ENTRY_GENERATION)) != 0) {
        return NW_ERR_CORRUPT;
    }
    uint16_t slot = nw_tier_find(tier, sector);
    if (slot != NW_TIER_NONE) {
        return meet_twin(tier, slot, frame, state);
    }
    if (tier->free_count == 0) {
        return NW_ERR_CORRUPT; /* no frame is spare */
    }
    slot = nw_tier_take(tier, sector);
    tier->frame[slot] = frame;
    tier->state[slot] = (uint8_t)(state | SLOT_DIRTY);
    return NW_OK;
}

/* What a frame holds, to the policy. */
static void tell_policy(struct nw_tier *tier, const uint8_t *entry, uint32_t frame)
{
    struct nw_tier_policy *policy = tier->config.policy;
    struct nw_tier_ask ask = {.sector = nw_get32(entry),
                              .app = nw_get16(entry + 6),
                              .hint = entry[5],
                              .write = 1};

    if (policy != NULL && frame != tier->spare) {
        policy->ops->entered(policy, nw_tier_find(tier, ask.sector), &ask);
    }
}

/* Which frame a free slot has, and which is spare: all that no entry tells of, in their order. */
static int share_out(struct nw_tier *tier)
{
    uint8_t entry[TIER_ENTRY_BYTES];
    uint16_t slot = tier->free;
    int has_spare = tier->stale != TIER_NO_SECTOR;
    int result = NW_OK;

    for (uint32_t frame = 0; frame <= tier->slots && result == NW_OK; frame++) {
        result = nw_tier_read_nvm(tier, nw_tier_entry_at((uint16_t)frame), entry, sizeof entry);
        if (result != NW_OK) {
            break;
        }
        if (!is_zero(entry, sizeof entry)) {
            tell_policy(tier, entry, frame);
        } else if (!has_spare) {
            tier->spare = (uint16_t)frame;
            has_spare = 1;
        } else {
            tier->frame[slot] = (uint16_t)frame;
            slot = tier->next[slot];
        }
    }
    return result;
}

int nw_tier_mount(struct nw_tier *tier, const struct nw_tier_config *config, void *ram,
                  size_t ram_bytes)
{
    int together = 0;
    int result = open_tier(tier, config, ram, ram_bytes);

    if (result == NW_OK) {
        result = read_head(tier);
    }
    if (result == NW_OK) {
        together = check_label(tier);
        result = together < 0 ? together : (int)NW_OK;
    }
    for (uint32_t frame = 0; frame <= tier->slots && result == NW_OK; frame++) {
        result = meet_entry(tier, (uint16_t)frame);
    }
    if (result == NW_OK) {
        result = share_out(tier);
    }
    if (result == NW_OK && together) {
        result = nw_block_sync(&tier->below);
        tier->session++;
        result = result == NW_OK ? write_session(tier) : result;
    }
    return result == NW_OK ? write_label(tier) : result;
}
