/* SPDX-License-Identifier: Apache-2.0 */
/* Whether lavish blocks, maps and spares agree: see ftl_lavish_check.h. */
#include "nandwich/ftl_lavish_check.h"

#include "lavish.h"

/* Logical blocks that have this lavish block as data or log. */
static unsigned count_owners(const struct nw_ftl_lavish *lavish, unsigned block)
{
    unsigned owners = 0;

    for (unsigned i = 0; i < lavish->logical_count; i++) {
        owners += lavish->logical[i].data == block;
        owners += lavish->logical[i].log == block;
    }
    return owners;
}

/* Each is free, given up, or of one logical block alone. */
static int check_blocks(const struct nw_ftl_lavish *lavish, uint32_t *where)
{
    unsigned free = 0;
    unsigned good = 0;

    for (unsigned block = 0; block < lavish->lavish_count; block++, (*where)++) {
        unsigned state = lavish->state[block] & NW_LAVISH_STATE;

        if (state > NW_LAVISH_GONE ||
            count_owners(lavish, block) != (state == NW_LAVISH_USED ? 1U : 0U)) {
            return NW_ERR_CORRUPT;
        }
        free += state == NW_LAVISH_FREE;
        good += state != NW_LAVISH_GONE;
    }
    return free == lavish->free && good == lavish->good ? (int)NW_OK : (int)NW_ERR_CORRUPT;
}

/* A block of the chip is no part of a lavish block in use. */
static int is_spare(const struct nw_ftl_lavish *lavish, unsigned block)
{
    unsigned home = block / lavish->degree;

    return block < lavish->mark &&
           (home >= lavish->lavish_count ||
            (lavish->state[home] & NW_LAVISH_STATE) == NW_LAVISH_GONE);
}

/* Whether this spare stands for a bad block of a lavish block that knows of it. */
static int stands_right(const struct nw_ftl_lavish *lavish, const struct nw_lavish_spare *spare)
{
    unsigned home = spare->stands_for / lavish->degree;

    return home < lavish->lavish_count && (lavish->state[home] & NW_LAVISH_REPLACED) != 0 &&
           nw_lavish_bit(lavish, spare->stands_for);
}

static int check_spares(const struct nw_ftl_lavish *lavish, uint32_t *where)
{
    for (unsigned i = 0; i < lavish->spare_count; i++, (*where)++) {
        const struct nw_lavish_spare *spare = lavish->spares + i;

        if (spare->block == NONE && spare->stands_for == NONE) {
            continue;
        }
        if (!is_spare(lavish, spare->block) || !stands_right(lavish, spare)) {
            return NW_ERR_CORRUPT;
        }
        for (unsigned j = 0; j < i; j++) {
            const struct nw_lavish_spare *other = lavish->spares + j;

            if (other->block == spare->block || other->stands_for == spare->stands_for) {
                return NW_ERR_CORRUPT;
            }
        }
    }
    return NW_OK;
}

/* An index that holds something: in a lavish block of this logical one, below the next free one, in
 * a block of the chip that was entered. */
static int is_taken(const struct nw_ftl_lavish *lavish, const struct nw_lavish_logical *logical,
                    unsigned index)
{
    unsigned block = logical->data;
    unsigned part = index;

    if (index >= lavish->lavish_sectors) {
        block = logical->log;
        part -= lavish->lavish_sectors;
    }
    return index < logical->next && block < lavish->lavish_count &&
           !nw_lavish_bit(lavish, (unsigned)(nw_lavish_page(lavish, block, part) /
                                             lavish->block_pages));
}

/* A map in RAM: each sector in a page of its own, as many in the data block as are counted. */
static int check_map(const struct nw_ftl_lavish *lavish, const struct nw_lavish_map *map)
{
    const struct nw_lavish_logical *logical = lavish->logical + map->logical;
    unsigned valid = 0;

    for (unsigned i = 0; i < lavish->logical_sectors; i++) {
        unsigned index = nw_get16(nw_lavish_entry(lavish, map, i));

        if (index >= NW_LAVISH_LOST) {
            continue;
        }
        if (!is_taken(lavish, logical, index) || (!map->dirty && index == logical->stored)) {
            return NW_ERR_CORRUPT;
        }
        for (unsigned j = 0; j < i; j++) {
            if (nw_get16(nw_lavish_entry(lavish, map, j)) == index) {
                return NW_ERR_CORRUPT;
            }
        }
        valid += index < lavish->lavish_sectors;
    }
    return valid == logical->valid ? (int)NW_OK : (int)NW_ERR_CORRUPT;
}

/* The map of a logical block in RAM; NULL: it is not there. NW_ERR_CORRUPT in *result when two are,
 * or two share their bytes. */
static const struct nw_lavish_map *find_map(const struct nw_ftl_lavish *lavish, unsigned number,
                                            int *result)
{
    const struct nw_lavish_map *found = NULL;

    for (unsigned i = 0; i < lavish->map_count; i++) {
        const struct nw_lavish_map *map = lavish->maps + i;

        if (map->logical == number) {
            *result = found != NULL || map->slot >= lavish->map_count ? NW_ERR_CORRUPT : *result;
            found = map;
        }
        for (unsigned j = 0; j < i; j++) {
            *result = lavish->maps[j].slot == map->slot ? NW_ERR_CORRUPT : *result;
        }
    }
    return found;
}

static int check_logical(const struct nw_ftl_lavish *lavish, unsigned number)
{
    const struct nw_lavish_logical *logical = lavish->logical + number;
    unsigned sectors = lavish->lavish_sectors;
    unsigned end = logical->data == NONE ? 0U : logical->log == NONE ? sectors : 2U * sectors;
    int result = NW_OK;
    const struct nw_lavish_map *map = find_map(lavish, number, &result);

    if (result < 0 || logical->next > end || (logical->data == NONE && logical->log != NONE)) {
        return NW_ERR_CORRUPT;
    }
    if ((map == NULL || !map->dirty) &&
        (logical->stored == NONE ? logical->valid != 0
                                 : !is_taken(lavish, logical, logical->stored))) {
        return NW_ERR_CORRUPT;
    }
    return map != NULL ? check_map(lavish, map) : result;
}

int nw_ftl_lavish_check(const struct nw_ftl_lavish *lavish, uint32_t *where)
{
    int result = NW_OK;

    for (*where = 0; *where < lavish->logical_count; (*where)++) {
        result = check_logical(lavish, (unsigned)*where);
        if (result < 0) {
            return result;
        }
    }
    result = check_blocks(lavish, where);
    return result == NW_OK ? check_spares(lavish, where) : result;
}
