/* SPDX-License-Identifier: Apache-2.0 */
/* The SD card model: a flat array of blocks and a clock that stumbles at sector changes. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "nandwich-twin/sdcard.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NO_SECTOR UINT32_MAX

struct nw_sdcard {
    struct nw_block block;
    struct nw_stats stats;
    struct nw_part part;
    struct nw_part_costs costs;
    struct nw_meter own_meter;
    struct nw_meter *meter;
    uint8_t *data;
    uint64_t operations; /* blocks read and written: what draws are keyed with */
    uint64_t requests;
    uint64_t cut_at; /* requests begun when the armed cut strikes */
    uint64_t opens;
    uint64_t extra_ns; /* what the processor adds to a write */
    uint32_t cut_blocks;
    uint32_t open_sector;
    uint32_t seed;
    uint32_t flags;
    bool off;
};

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014) over seed and operation. */
static uint64_t draw(const struct nw_sdcard *card, uint64_t least, uint64_t most)
{
    uint64_t x = ((uint64_t)card->seed << 32 ^ card->operations) + 0x9E3779B97F4A7C15U;

    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    x ^= x >> 31;
    return least + x % (most - least + 1U);
}

/* Books `ns` at the power that `cost` has for `bytes`. */
static void charge(struct nw_sdcard *card, const struct nw_cost *cost, uint32_t bytes, uint64_t ns)
{
    uint64_t usual_ns = nw_cost_ns(cost, bytes);
    uint64_t pj = nw_cost_pj(cost, bytes);

    card->meter->time_ns += ns;
    if (usual_ns > 0) {
        pj = pj / usual_ns * ns + pj % usual_ns * ns / usual_ns;
    }
    card->meter->energy_pj += pj;
}

static void charge_write(struct nw_sdcard *card, uint32_t at)
{
    uint32_t sector = at / card->part.sector_blocks;
    uint64_t ns = nw_cost_ns(&card->costs.program, card->part.page_bytes);

    if (sector != card->open_sector) {
        card->open_sector = sector;
        card->opens++;
        ns = draw(card, card->part.open_least_ns, card->part.open_most_ns) + card->extra_ns;
    }
    charge(card, &card->costs.program, card->part.page_bytes, ns);
    card->operations++;
}

static void charge_read(struct nw_sdcard *card)
{
    uint64_t ns = nw_cost_ns(&card->costs.read, card->part.page_bytes);

    charge(card, &card->costs.read, card->part.page_bytes,
           draw(card, ns, ns + card->part.read_spread_ns));
    card->operations++;
}

/* How many blocks may be done, fewer than asked when the cut strikes now; or an error. */
static int begin(struct nw_sdcard *card, const struct nw_block_req *req, uint32_t *count)
{
    *count = req->count;
    if (card->off) {
        return NW_ERR_POWER;
    }
    if (req->data == NULL && (card->flags & NW_SDCARD_NO_PAYLOAD) == 0) {
        return NW_ERR_UNSUPPORTED;
    }
    if (card->requests++ == card->cut_at) {
        card->off = true;
        *count = card->cut_blocks < req->count ? card->cut_blocks : req->count;
    }
    return NW_OK;
}

static uint8_t *place(const struct nw_sdcard *card, uint32_t at)
{
    return card->data + (uint64_t)at * card->part.page_bytes;
}

static int sdcard_read(struct nw_block_req *req)
{
    struct nw_sdcard *card = req->block->context;
    uint32_t bytes = card->part.page_bytes;
    uint32_t count;
    int error = begin(card, req, &count);

    if (error < 0) {
        return error;
    }
    for (; req->done < count; req->done++) {
        if (req->data != NULL) {
            memcpy(req->data + (size_t)req->done * bytes, place(card, req->sector + req->done),
                   bytes);
        }
        charge_read(card);
        card->stats.host_reads++;
        card->stats.reads++;
        card->stats.bytes_read += bytes;
    }
    return card->off ? NW_ERR_POWER : NW_OK;
}

static int sdcard_write(struct nw_block_req *req)
{
    struct nw_sdcard *card = req->block->context;
    uint32_t bytes = card->part.page_bytes;
    uint32_t count;
    int error = begin(card, req, &count);

    if (error < 0) {
        return error;
    }
    for (; req->done < count; req->done++) {
        if (req->data != NULL) {
            memcpy(place(card, req->sector + req->done), req->data + (size_t)req->done * bytes,
                   bytes);
        }
        charge_write(card, req->sector + req->done);
        card->stats.host_writes++;
        card->stats.programs++;
        card->stats.bytes_programmed += bytes;
    }
    return card->off ? NW_ERR_POWER : NW_OK;
}

static int sdcard_trim(struct nw_block_req *req)
{
    struct nw_sdcard *card = req->block->context;
    uint32_t bytes = card->part.page_bytes;
    uint32_t count;
    struct nw_block_req whole = *req;
    int error;

    whole.data = card->data; /* a trim brings none */
    error = begin(card, &whole, &count);
    if (error < 0) {
        return error;
    }
    memset(place(card, req->sector), 0, (size_t)count * bytes);
    req->done = count;
    card->stats.host_trims += count;
    return card->off ? NW_ERR_POWER : NW_OK;
}

static int sdcard_sync(struct nw_block_req *req)
{
    struct nw_sdcard *card = req->block->context;

    if (card->off) {
        return NW_ERR_POWER;
    }
    card->stats.syncs++;
    return NW_OK;
}

static const struct nw_block_ops sdcard_ops = {
    .read = sdcard_read,
    .write = sdcard_write,
    .trim = sdcard_trim,
    .sync = sdcard_sync,
};

static size_t card_bytes(const struct nw_sdcard *card)
{
    return (size_t)card->block.sectors * card->block.sector_bytes;
}

int nw_sdcard_open(struct nw_sdcard **out, const struct nw_sdcard_config *config)
{
    const struct nw_part *part = config->part;
    bool node = (config->flags & NW_SDCARD_NODE_COSTS) != 0;
    struct nw_sdcard *card;
    void *data;

    *out = NULL;
    if (part == NULL || part->kind != NW_PART_SDCARD || nw_part_check(part, NULL) < 0 ||
        (node && nw_part_has_node_costs(part) == 0)) {
        return NW_ERR_CONFIG;
    }
    card = calloc(1, sizeof *card);
    if (card == NULL) {
        return NW_ERR_RAM;
    }
    card->part = *part;
    card->costs = node ? part->node : part->chip;
    card->extra_ns = node && part->node.program.fixed_ns > part->chip.program.fixed_ns
                         ? part->node.program.fixed_ns - part->chip.program.fixed_ns
                         : 0;
    card->meter = config->meter != NULL ? config->meter : &card->own_meter;
    card->seed = config->seed;
    card->flags = config->flags;
    card->block.ops = &sdcard_ops;
    card->block.context = card;
    card->block.sectors = config->blocks != 0 ? config->blocks : part->blocks;
    card->block.sector_bytes = part->page_bytes;
    card->block.flags = NW_BLOCK_PERSISTENT;
    card->block.stats = &card->stats;
    card->open_sector = NO_SECTOR;
    card->cut_at = UINT64_MAX;
    data = mmap(NULL, card_bytes(card), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        free(card);
        return NW_ERR_RAM;
    }
    card->data = data;
    *out = card;
    return NW_OK;
}

void nw_sdcard_close(struct nw_sdcard *card)
{
    if (card != NULL) {
        (void)munmap(card->data, card_bytes(card)); /* mapped above: cannot fail */
        free(card);
    }
}

struct nw_block *nw_sdcard_block(struct nw_sdcard *card)
{
    return &card->block;
}

struct nw_meter *nw_sdcard_meter(struct nw_sdcard *card)
{
    return card->meter;
}

uint64_t nw_sdcard_opens(const struct nw_sdcard *card)
{
    return card->opens;
}

uint32_t nw_sdcard_open_sector(const struct nw_sdcard *card)
{
    return card->open_sector;
}

void nw_sdcard_cut(struct nw_sdcard *card, uint64_t after, uint32_t blocks)
{
    card->cut_at = card->requests + after;
    card->cut_blocks = blocks;
}

void nw_sdcard_power_up(struct nw_sdcard *card)
{
    card->off = false;
    card->cut_at = UINT64_MAX;
    card->open_sector = NO_SECTOR;
}
