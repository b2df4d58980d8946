/* SPDX-License-Identifier: Apache-2.0 */
/* An emulated chip: opening, forking, and the questions that cost nothing. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "nandwich-twin/nand.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "nand_internal.h"

static int check_config(const struct nw_nand_config *config)
{
    const struct nw_part *part = config->part;

    if (part == NULL || nw_part_check(part, NULL) < 0 || part->kind > NW_PART_DATAFLASH ||
        part->buffers > NAND_MAX_BUFFERS) {
        return NW_ERR_CONFIG;
    }
    if ((config->flags & NW_NAND_NODE_COSTS) != 0 && nw_part_has_node_costs(part) == 0) {
        return NW_ERR_CONFIG;
    }
    return config->blocks > UINT32_MAX / part->block_pages ? NW_ERR_CONFIG : NW_OK;
}

static void set_geometry(struct nw_nand *nand, const struct nw_nand_config *config)
{
    const struct nw_part *part = config->part;
    const struct nw_part_costs *costs = &nand->costs;
    struct nw_geometry *geometry = &nand->chip.geometry;
    uint32_t moved = (uint32_t)part->page_bytes + part->spare_bytes;

    geometry->blocks = config->blocks != 0 ? config->blocks : part->blocks;
    geometry->block_pages = part->block_pages;
    geometry->page_bytes = part->page_bytes;
    geometry->spare_bytes = part->spare_bytes;
    geometry->program_bytes = part->program_bytes;
    geometry->page_programs = part->page_programs;
    geometry->erased = part->erased;
    geometry->buffers = part->buffers;
    geometry->flags = (uint8_t)((part->in_order != 0 ? NW_CHIP_IN_ORDER : 0U) |
                                (part->read_erased != 0 ? NW_CHIP_READ_ERASED : 0U) |
                                (part->rewrite != 0 ? NW_CHIP_REWRITE : 0U));
    if ((config->flags & NW_NAND_NO_PAYLOAD) != 0) {
        geometry->flags |= NW_CHIP_NO_PAYLOAD;
    }
    geometry->endurance = part->endurance;
    geometry->read_us = (uint32_t)((nw_cost_ns(&costs->read, moved) + 999U) / 1000U);
    geometry->program_us = (uint32_t)((nw_cost_ns(&costs->program, moved) + 999U) / 1000U);
    geometry->erase_us = (uint32_t)((nw_cost_ns(&costs->erase, 0) + 999U) / 1000U);
    if (part->heal_limit > 0) {
        geometry->heal_us = (uint32_t)(part->heal_ns / 1000U);
        geometry->heal_life = part->heal_life;
        geometry->heal_step = (uint16_t)part->heal_step;
        geometry->heal_limit = (uint16_t)part->heal_limit;
    }
}

static void set_costs(struct nw_nand *nand, const struct nw_nand_config *config)
{
    static const struct nw_cost none;
    struct nw_part_costs *costs = &nand->costs;

    *costs = (config->flags & NW_NAND_NODE_COSTS) != 0 ? config->part->node : config->part->chip;
    if (memcmp(&costs->copy, &none, sizeof none) == 0) {
        costs->copy = costs->program;
        costs->copy.fixed_ns += costs->read.fixed_ns;
        costs->copy.fixed_pj += costs->read.fixed_pj;
    }
}

static size_t data_bytes(const struct nw_nand *nand)
{
    return (size_t)nand->page_count * nand->chip.geometry.page_bytes;
}

static size_t spare_bytes(const struct nw_nand *nand)
{
    return (size_t)nand->page_count * nand->chip.geometry.spare_bytes;
}

/* Zeroed memory that costs nothing until it is touched; NULL when there is none. No bytes have an
 * address too: a part without spare bytes counts from it. */
static void *map_zeroed(size_t bytes)
{
    void *at = mmap(NULL, bytes + (bytes == 0), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static void unmap(void *at, size_t bytes)
{
    if (at != NULL) {
        (void)munmap(at, bytes + (bytes == 0)); /* fails for what was never mapped only */
    }
}

static bool map_arrays(struct nw_nand *nand)
{
    const struct nw_geometry *geometry = &nand->chip.geometry;
    size_t pages = nand->page_count;
    size_t buffers = (size_t)geometry->buffers * geometry->page_bytes;

    nand->pages = map_zeroed(pages * sizeof *nand->pages);
    nand->blocks = map_zeroed((size_t)geometry->blocks * sizeof *nand->blocks);
    nand->data = map_zeroed(data_bytes(nand));
    nand->spare = map_zeroed(spare_bytes(nand));
    nand->spare_bits = map_zeroed(pages * nand->spare_words * sizeof *nand->spare_bits);
    nand->data_bits = map_zeroed(pages * nand->data_words * sizeof *nand->data_bits);
    nand->buffers = calloc(1, buffers + 1U);
    nand->scratch = calloc(1, geometry->page_bytes);
    return nand->pages != NULL && nand->blocks != NULL && nand->data != NULL &&
           nand->spare != NULL && nand->spare_bits != NULL && nand->data_bits != NULL &&
           nand->buffers != NULL && nand->scratch != NULL;
}

static const struct nw_chip_ops *choose_ops(const struct nw_part *part)
{
    if (part->buffers > 0) {
        return &nw_nand_buffer_ops;
    }
    return part->copy != 0 ? &nw_nand_copy_ops : &nw_nand_plain_ops;
}

int nw_nand_build(struct nw_nand **out, const struct nw_nand_config *config)
{
    struct nw_nand *nand;
    int error = check_config(config);

    *out = NULL;
    if (error < 0) {
        return error;
    }
    nand = calloc(1, sizeof *nand);
    if (nand == NULL) {
        return NW_ERR_RAM;
    }
    set_costs(nand, config);
    set_geometry(nand, config);
    nand->part = *config->part;
    nand->chip.ops = choose_ops(config->part);
    nand->chip.context = nand;
    nand->seed = config->seed;
    nand->flags = config->flags;
    nand->early_deaths = config->early_deaths;
    nand->stop_at = UINT64_MAX;
    nand->meter = config->meter != NULL ? config->meter : &nand->own_meter;
    nand->page_count = nand->chip.geometry.blocks * nand->chip.geometry.block_pages;
    nand->data_units = config->part->page_bytes / config->part->program_bytes;
    nand->data_words = nand->data_units > 1U ? (nand->data_units + 63U) / 64U : 0;
    nand->spare_words = (config->part->spare_bytes + 63U) / 64U;
    nand->block_shift = 255U;
    for (uint8_t shift = 0; shift < 16U; shift++) {
        if (1U << shift == config->part->block_pages) {
            nand->block_shift = shift;
        }
    }
    if (!map_arrays(nand)) {
        nw_nand_close(nand);
        return NW_ERR_RAM;
    }
    *out = nand;
    return NW_OK;
}

int nw_nand_open(struct nw_nand **out, const struct nw_nand_config *config)
{
    int error = nw_nand_build(out, config);
    struct nw_nand *nand = *out;

    if (error < 0) {
        return error;
    }
    nw_nand_draw_lives(nand, config->lives);
    if ((nand->flags & NW_NAND_FACTORY_BAD) != 0 && config->lives == NULL) {
        nw_nand_draw_factory_bad(nand);
    }
    for (uint32_t i = 0; (nand->flags & NW_NAND_UNERASED) != 0 && i < nand->chip.geometry.blocks;
         i++) {
        nand->blocks[i].flags |= BLOCK_RAW;
    }
    nw_nand_power_up(nand);
    return NW_OK;
}

void nw_nand_close(struct nw_nand *nand)
{
    size_t pages;

    if (nand == NULL) {
        return;
    }
    pages = nand->page_count;
    unmap(nand->pages, pages * sizeof *nand->pages);
    unmap(nand->blocks, (size_t)nand->chip.geometry.blocks * sizeof *nand->blocks);
    unmap(nand->data, data_bytes(nand));
    unmap(nand->spare, spare_bytes(nand));
    unmap(nand->spare_bits, pages * nand->spare_words * sizeof *nand->spare_bits);
    unmap(nand->data_bits, pages * nand->data_words * sizeof *nand->data_bits);
    free(nand->torn);
    free(nand->buffers);
    free(nand->scratch);
    free(nand);
}

static bool same_shape(const struct nw_nand *a, const struct nw_nand *b)
{
    const struct nw_geometry *left = &a->chip.geometry;
    const struct nw_geometry *right = &b->chip.geometry;

    return left->blocks == right->blocks && left->block_pages == right->block_pages &&
           left->page_bytes == right->page_bytes && left->spare_bytes == right->spare_bytes &&
           left->program_bytes == right->program_bytes && left->buffers == right->buffers;
}

static void copy_pages(struct nw_nand *to, const struct nw_nand *from)
{
    uint32_t page_bytes = from->chip.geometry.page_bytes;
    uint32_t spare = from->chip.geometry.spare_bytes;

    for (uint32_t page = 0; page < from->page_count; page++) {
        uint8_t flags = from->pages[page].flags;

        if (from->pages[page].programs == 0) {
            continue;
        }
        if (spare > 0) {
            memcpy(nand_spare_at(to, page), nand_spare_at(from, page), spare);
            memcpy(to->spare_bits + (size_t)page * to->spare_words,
                   from->spare_bits + (size_t)page * to->spare_words,
                   to->spare_words * sizeof *to->spare_bits);
        }
        if ((flags & PAGE_PARTLY) != 0) {
            memcpy(to->data_bits + (size_t)page * to->data_words,
                   from->data_bits + (size_t)page * to->data_words,
                   to->data_words * sizeof *to->data_bits);
        }
        if ((flags & PAGE_PAYLOAD) != 0) {
            memcpy(nand_data_at(to, page), nand_data_at(from, page), page_bytes);
        }
    }
}

/* Everything of `from` goes over but what belongs to `to` alone: its memory and its own meter. */
int nw_nand_assign(struct nw_nand *to, const struct nw_nand *from)
{
    struct nw_nand mine = *to;
    struct nand_torn *torn = NULL;

    if (!same_shape(to, from)) {
        return NW_ERR_CONFIG;
    }
    if (from->torn_count > 0) {
        torn = malloc(from->torn_count * sizeof *torn);
        if (torn == NULL) {
            return NW_ERR_RAM;
        }
        memcpy(torn, from->torn, from->torn_count * sizeof *torn);
    }
    free(to->torn);
    *to = *from;
    to->chip.context = to;
    to->pages = mine.pages;
    to->blocks = mine.blocks;
    to->data = mine.data;
    to->spare = mine.spare;
    to->spare_bits = mine.spare_bits;
    to->data_bits = mine.data_bits;
    to->buffers = mine.buffers;
    to->scratch = mine.scratch;
    to->torn = torn;
    to->torn_room = from->torn_count;
    to->own_meter = *from->meter;
    to->meter = &to->own_meter;
    memcpy(to->pages, from->pages, from->page_count * sizeof *to->pages);
    memcpy(to->blocks, from->blocks, from->chip.geometry.blocks * sizeof *to->blocks);
    memcpy(to->buffers, from->buffers,
           (size_t)from->chip.geometry.buffers * from->chip.geometry.page_bytes);
    copy_pages(to, from);
    return NW_OK;
}

int nw_nand_fork(struct nw_nand **to, const struct nw_nand *from)
{
    struct nw_nand_config config = { 0 };
    int error;

    config.part = &from->part;
    config.blocks = from->chip.geometry.blocks;
    error = nw_nand_build(to, &config);
    if (error < 0) {
        return error;
    }
    error = nw_nand_assign(*to, from);
    if (error < 0) {
        nw_nand_close(*to);
        *to = NULL;
    }
    return error;
}

struct nw_chip *nw_nand_chip(struct nw_nand *nand)
{
    return &nand->chip;
}

struct nw_meter *nw_nand_meter(struct nw_nand *nand)
{
    return nand->meter;
}

const struct nw_part_costs *nw_nand_costs(const struct nw_nand *nand)
{
    return &nand->costs;
}

const struct nw_part *nw_nand_part(const struct nw_nand *nand)
{
    return &nand->part;
}

const struct nw_nand_counts *nw_nand_stats(const struct nw_nand *nand)
{
    return &nand->stats;
}

uint64_t nw_nand_operations(const struct nw_nand *nand)
{
    return nand->operations;
}

uint32_t nw_nand_block_erases(const struct nw_nand *nand, uint32_t block)
{
    return nand->blocks[block].erases;
}

uint32_t nw_nand_block_heals(const struct nw_nand *nand, uint32_t block)
{
    return nand->blocks[block].heals;
}

uint32_t nw_nand_page_programs(const struct nw_nand *nand, uint32_t page)
{
    return nand->pages[page].programs;
}

uint32_t nw_nand_page_lifetime(const struct nw_nand *nand, uint32_t page)
{
    return nand->pages[page].lifetime;
}

int nw_nand_block_bad(const struct nw_nand *nand, uint32_t block)
{
    return (nand->blocks[block].flags & BLOCK_BAD) != 0 ? 1 : 0;
}

int nw_nand_block_failed(const struct nw_nand *nand, uint32_t block)
{
    return (nand->blocks[block].flags & BLOCK_FAILED) != 0 ? 1 : 0;
}

void nw_nand_set_erases(struct nw_nand *nand, uint32_t block, uint32_t erases)
{
    nand->blocks[block].erases = erases;
}

void nw_nand_doom(struct nw_nand *nand, uint32_t block, int in_program)
{
    struct nand_block *state = &nand->blocks[block];

    state->flags &= (uint8_t)~BLOCK_DIES_IN_PROGRAM;
    state->flags |= BLOCK_FAILED;
    if (in_program != 0) {
        state->flags |= BLOCK_DIES_IN_PROGRAM;
        state->life = 0;
    }
}

void nw_nand_doom_marks(struct nw_nand *nand, uint32_t block)
{
    nand->blocks[block].flags |= BLOCK_UNMARKED;
}

void nw_nand_flip(struct nw_nand *nand, uint32_t page, uint32_t bit)
{
    uint32_t data_bits = 8U * nand->chip.geometry.page_bytes;

    if (bit < data_bits) {
        nand_data_at(nand, page)[bit / 8U] ^= (uint8_t)(1U << (bit & 7U));
    } else {
        bit -= data_bits;
        nand_spare_at(nand, page)[bit / 8U] ^= (uint8_t)(1U << (bit & 7U));
    }
}

void nw_nand_peek(struct nw_nand *nand, uint32_t page, uint8_t *data, uint8_t *spare)
{
    if (data != NULL) {
        nw_nand_load_data(nand, page, 0, nand->chip.geometry.page_bytes, data);
    }
    if (spare != NULL) {
        nw_nand_load_spare(nand, page, 0, nand->chip.geometry.spare_bytes, spare);
    }
}
