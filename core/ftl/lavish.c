/* SPDX-License-Identifier: Apache-2.0 */
#include "lavish.h"

#include <string.h>

#include "mark.h"
#include "nandwich/ram.h"

#define SPARE_SHARE 32U      /* one block in so many is a spare */
#define MOST_BLOCKS ((uint32_t)NW_MARK_BLOCKS) /* of the chip; the mark takes one */
#define MOST_SECTORS 0x7F00U /* of a lavish block; two of them stay below NW_LAVISH_LOST */

/* A sector of a request: which of which logical block, and its bytes. */
struct step {
    unsigned number; /* of the logical block */
    unsigned sector; /* in it */
    uint8_t *data;
};

/* Does the same for each sector of a request. `act` answers 1 when it changed the map at the
 * front: its data block may have nothing valid left. The sector is done by then, so errors of the
 * work behind it are not told: nothing is lost by them, and the next call meets what lasts. */
static int each(struct nw_block_req *req, int (*act)(struct nw_ftl_lavish *, const struct step *))
{
    struct nw_ftl_lavish *lavish = req->block->context;
    struct step step;
    int result = NW_OK;

    step.data = req->data;
    while (result >= 0 && req->done < req->count) {
        uint32_t sector = req->sector + req->done;

        step.number = (unsigned)(sector / lavish->logical_sectors);
        step.sector = (unsigned)(sector % lavish->logical_sectors);
        result = act(lavish, &step);
        if (result >= 0) {
            req->done++;
            if (step.data != NULL) {
                step.data += lavish->block.sector_bytes;
            }
        }
        if (result > 0) {
            (void)nw_lavish_merge_1(lavish);
            result = NW_OK;
        }
        (void)nw_lavish_reserve(lavish, 0); /* if a block has failed: before another one does */
    }
    return result;
}

/* Where the map at the front has the index of a sector. */
static uint8_t *entry_of(const struct nw_ftl_lavish *lavish, const struct step *step)
{
    return nw_lavish_entry(lavish, lavish->maps, step->sector);
}

/* A map that finds no place to leave RAM for keeps others out: then the sector's entry is read
 * where its own map lies on flash. */
static int read_sector(struct nw_ftl_lavish *lavish, const struct step *step)
{
    unsigned stored = lavish->logical[step->number].stored;
    unsigned bytes = lavish->block.sector_bytes;
    uint8_t lone[2] = {0xFF, 0xFF}; /* nowhere */
    const uint8_t *entry = lone;
    int result = NW_OK;
    unsigned index;

    nw_lavish_tick(&lavish->stats.host_reads);
    if (lavish->logical[step->number].data != NONE) {
        result = nw_lavish_load(lavish, step->number);
        if (result >= 0) {
            entry = entry_of(lavish, step);
        } else if (result == NW_ERR_FULL) {
            result = NW_OK;
            if (stored != NONE) {
                lavish->req.offset = (uint16_t)(step->sector * 2U);
                result = nw_lavish_read_index(lavish, step->number, stored, lone, sizeof lone);
                lavish->req.offset = 0;
            }
        }
    }
    index = nw_get16(entry);
    if (result >= 0 && index < NW_LAVISH_LOST) {
        result = nw_lavish_read_index(lavish, step->number, index, step->data, bytes);
    } else if (result >= 0 && index == NW_LAVISH_LOST) {
        result = NW_ERR_ECC;
    } else if (step->data != NULL) {
        memset(step->data, 0, bytes);
    } else if (result >= 0 && (lavish->req.chip->geometry.flags & NW_CHIP_NO_PAYLOAD) == 0) {
        result = NW_ERR_UNSUPPORTED; /* as the chip answers for what is written */
    }
    return result < 0 ? result : NW_OK;
}

/* Sets where a sector lies (NONE: nowhere) in the map at the front. */
static void set_index(struct nw_ftl_lavish *lavish, const struct step *step, unsigned index)
{
    struct nw_lavish_logical *logical = lavish->logical + step->number;
    uint8_t *entry = entry_of(lavish, step);

    if (nw_get16(entry) < lavish->lavish_sectors) {
        logical->valid--;
    }
    if (index < lavish->lavish_sectors) {
        logical->valid++;
    }
    nw_put16(entry, (uint16_t)index);
}

/* Finds room for the sector and, after it, for the map. */
static int write_sector(struct nw_ftl_lavish *lavish, const struct step *step)
{
    int32_t index;

    nw_lavish_tick(&lavish->stats.host_writes);
    index = nw_lavish_make_room(lavish, step->number, 2);
    if (index >= 0) {
        lavish->maps->dirty = 1;
        index = nw_lavish_append(lavish, lavish->maps, step->data, lavish->block.sector_bytes);
    }
    if (index < 0) {
        return (int)index;
    }
    set_index(lavish, step, (unsigned)index);
    return 1;
}

static int trim_sector(struct nw_ftl_lavish *lavish, const struct step *step)
{
    int result;

    nw_lavish_tick(&lavish->stats.host_trims);
    if (lavish->logical[step->number].data == NONE) {
        return NW_OK;
    }
    result = nw_lavish_make_room(lavish, step->number, 1);
    if (result < 0 || nw_get16(entry_of(lavish, step)) == NONE) {
        return result;
    }
    lavish->maps->dirty = 1;
    set_index(lavish, step, NONE);
    return 1;
}

static int lavish_read(struct nw_block_req *req)
{
    return each(req, read_sector);
}

static int lavish_write(struct nw_block_req *req)
{
    return each(req, write_sector);
}

static int lavish_trim(struct nw_block_req *req)
{
    return each(req, trim_sector);
}

static int lavish_sync(struct nw_block_req *req)
{
    struct nw_ftl_lavish *lavish = req->block->context;

    nw_lavish_tick(&lavish->stats.syncs);
    return NW_OK;
}

/* Erases the next free lavish block, so that a merge into it need not; then merges ahead when the
 * next log would have to wait for it. Each is one step, counted at its worst: of a merge that is
 * its copies, two lavish blocks erased, and a map miss that enters a block. */
static int lavish_idle(struct nw_block_req *req)
{
    struct nw_ftl_lavish *lavish = req->block->context;
    const struct nw_geometry *geometry = &lavish->req.chip->geometry;
    unsigned block = nw_lavish_next(lavish);
    uint32_t cost_us = lavish->degree * geometry->erase_us;
    int merges = block == NONE || nw_lavish_is_clean(lavish, block);

    if (merges) {
        if (lavish->free > nw_lavish_least(lavish) || nw_lavish_victim(lavish) == NONE) {
            return 0;
        }
        cost_us += cost_us + geometry->erase_us +
                   (lavish->logical_sectors + 1U) * (geometry->read_us + geometry->program_us);
    }
    if (cost_us > req->budget_us) {
        return 1;
    }
    merges = merges ? nw_lavish_win(lavish) : nw_lavish_clean(lavish, block, NONE);
    return merges < 0 ? merges : 1;
}

static const struct nw_block_ops lavish_ops = {
    lavish_read, lavish_write, lavish_trim, lavish_sync, lavish_idle,
};

/* Works out what follows from the geometry: sectors, maps, logical blocks. */
static int shape(struct nw_ftl_lavish *lavish, const struct nw_ftl_lavish_config *config,
                 const struct nw_chip *chip)
{
    const struct nw_geometry *geometry = &chip->geometry;
    uint32_t sectors = geometry->block_pages;
    uint32_t count = 0;
    uint32_t map;

    lavish->degree = config->degree != 0 ? config->degree : NW_FTL_LAVISH_DEGREE;
    if (nw_geometry_check(geometry) != NW_OK || sectors * lavish->degree > MOST_SECTORS) {
        return NW_ERR_CONFIG;
    }
    lavish->lavish_sectors = (uint16_t)(sectors * lavish->degree);
    if (lavish->degree == 1) {
        sectors--; /* the map needs a place beside them */
    }
    if (sectors != 0 && config->sectors != 0) {
        count = (config->sectors - 1U) / sectors + 1U;
    }
    map = sectors * 2U + geometry->program_bytes - 1U;
    map -= map % geometry->program_bytes;
    if (count == 0 || count > MOST_BLOCKS || map > geometry->page_bytes) {
        return NW_ERR_CONFIG;
    }
    lavish->logical_sectors = (uint16_t)sectors;
    lavish->logical_count = (uint16_t)count;
    lavish->map_slot = (uint16_t)map;
    return NW_OK;
}

/* All but the mark's. */
static uint32_t usable_blocks(const struct nw_chip *chip)
{
    uint32_t blocks = chip->geometry.blocks;

    return (blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS) - 1U;
}

/* How many lavish blocks and spares. */
static int provision(struct nw_ftl_lavish *lavish, const struct nw_ftl_lavish_config *config,
                     const struct nw_chip *chip)
{
    uint32_t blocks = usable_blocks(chip);
    uint32_t spares = config->spare_blocks != 0 ? config->spare_blocks : blocks / SPARE_SHARE;
    uint32_t least = lavish->logical_count + NW_LAVISH_RESERVED;
    uint32_t count = config->lavish_blocks;

    if (count == 0) {
        spares += spares == 0; /* small chips have one too */
        count = blocks > spares ? (blocks - spares) / lavish->degree : 0U;
        if (count > least + lavish->logical_count) {
            count = least + lavish->logical_count;
        }
        if (count < least) {
            count = least;
        }
    }
    if (count < least || count * lavish->degree + config->spare_blocks > blocks) {
        return NW_ERR_CONFIG;
    }
    spares = config->spare_blocks;
    if (spares == 0) {
        spares = count * lavish->degree / SPARE_SHARE + 1U;
    }
    lavish->lavish_count = (uint16_t)count;
    /* a place for each bad block that costs no more than itself, on small chips too */
    lavish->spare_count = (uint16_t)(spares + lavish->degree);
    count = count * lavish->degree + lavish->spare_count;
    lavish->blocks = (uint16_t)(count < blocks ? count : blocks);
    return NW_OK;
}

static size_t bits_bytes(const struct nw_ftl_lavish *lavish)
{
    return (lavish->blocks + 7U) / 8U;
}

/* All sizes, then all arrays. */
static int layout(struct nw_ftl_lavish *lavish, const struct nw_ftl_lavish_config *config,
                  const struct nw_chip *chip, struct nw_ram *ram)
{
    unsigned maps = config->maps != 0 ? config->maps : NW_FTL_LAVISH_MAPS;

    if (shape(lavish, config, chip) != NW_OK || provision(lavish, config, chip) != NW_OK) {
        return NW_ERR_CONFIG;
    }
    lavish->map_count = (uint8_t)maps;
    lavish->block_pages = chip->geometry.block_pages;
    lavish->logical = NW_RAM_TAKE(ram, struct nw_lavish_logical, lavish->logical_count);
    lavish->maps = NW_RAM_TAKE(ram, struct nw_lavish_map, maps);
    lavish->spares = NW_RAM_TAKE(ram, struct nw_lavish_spare, lavish->spare_count);
    lavish->map_bytes = NW_RAM_TAKE(ram, uint8_t, (size_t)maps * lavish->map_slot);
    lavish->state = NW_RAM_TAKE(ram, uint8_t, lavish->lavish_count);
    lavish->bits = NW_RAM_TAKE(ram, uint8_t, bits_bytes(lavish));
    lavish->chip_copies = chip->ops->copy != NULL;
    if (!lavish->chip_copies && (chip->geometry.flags & NW_CHIP_NO_PAYLOAD) == 0) {
        lavish->page = NW_RAM_TAKE(ram, uint8_t, chip->geometry.page_bytes);
    }
    return NW_OK;
}

uint32_t nw_ftl_lavish_blocks_needed(const struct nw_ftl_lavish_config *config,
                                     const struct nw_chip *chip)
{
    struct nw_ftl_lavish lavish;
    uint32_t count;

    if (shape(&lavish, config, chip) != NW_OK) {
        return 0;
    }
    count = lavish.logical_count + NW_LAVISH_RESERVED;
    if (config->lavish_blocks > count) {
        count = config->lavish_blocks;
    }
    return count * lavish.degree + config->spare_blocks + 1U;
}

size_t nw_ftl_lavish_ram_bytes(const struct nw_ftl_lavish_config *config,
                               const struct nw_chip *chip)
{
    struct nw_ftl_lavish lavish;
    struct nw_ram ram = {NULL, 0, 0};

    return layout(&lavish, config, chip, &ram) == NW_OK ? ram.used : 0U;
}

int nw_ftl_lavish_open(struct nw_ftl_lavish *lavish, struct nw_chip *chip,
                       const struct nw_ftl_lavish_config *config, void *ram, size_t ram_bytes)
{
    struct nw_ram arena = {ram, ram_bytes, 0};
    int32_t mark;
    unsigned i;
    int result;

    memset(lavish, 0, sizeof *lavish);
    if (layout(lavish, config, chip, &arena) != NW_OK) {
        return NW_ERR_CONFIG;
    }
    if (ram == NULL || arena.used > ram_bytes) {
        return NW_ERR_RAM;
    }
    lavish->req.chip = chip;
    memset(ram, 0, arena.used);
    mark = nw_mark_claim(chip, config->erase, ram);
    if (mark < 0) {
        return (int)mark;
    }
    memset(ram, 0xFF, arena.used); /* NONE everywhere but here */
    memset(lavish->state, 0, lavish->lavish_count);
    memset(lavish->bits, 0, bits_bytes(lavish));
    lavish->mark = (uint32_t)mark;
    for (i = 0; i < lavish->logical_count; i++) {
        lavish->logical[i].next = 0;
        lavish->logical[i].valid = 0;
    }
    for (i = 0; i < lavish->map_count; i++) {
        lavish->maps[i].slot = (uint8_t)i;
        lavish->maps[i].dirty = 0;
    }
    lavish->erase_late = config->erase_late;
    lavish->good = lavish->lavish_count;
    lavish->free = lavish->lavish_count;
    lavish->block.ops = &lavish_ops;
    lavish->block.context = lavish;
    lavish->block.sectors = config->sectors;
    lavish->block.sector_bytes = chip->geometry.page_bytes;
    lavish->block.stats = &lavish->stats;
    result = nw_lavish_scan(lavish);
    if (result >= 0 && lavish->good < lavish->logical_count + NW_LAVISH_RESERVED) {
        return NW_ERR_FULL;
    }
    return result;
}
