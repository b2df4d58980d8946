/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making room after Lin et al. 2013: switch, merge I, II and III. All but merge II move sectors the
 * same way: those below some index go to a fresh lavish block, in the order of their numbers, and
 * only when all have arrived is the map changed. So an error half-way leaves the old state.
 */
#include <string.h>

#include "lavish.h"

static struct nw_lavish_map *cached(const struct nw_ftl_lavish *lavish, unsigned number)
{
    struct nw_lavish_map *map = lavish->maps;
    unsigned i;

    for (i = 0; i < lavish->map_count; i++, map++) {
        if (map->logical == number) {
            return map;
        }
    }
    return NULL;
}

/* The chip's page of an index of a logical block. */
static uint32_t locate(const struct nw_ftl_lavish *lavish, unsigned number, unsigned index)
{
    const struct nw_lavish_logical *logical = lavish->logical + number;
    unsigned block = logical->data;

    if (index >= lavish->lavish_sectors) {
        index -= lavish->lavish_sectors;
        block = logical->log;
    }
    return nw_lavish_page(lavish, block, index);
}

int nw_lavish_read_index(struct nw_ftl_lavish *lavish, unsigned number, unsigned index,
                         uint8_t *data, unsigned length)
{
    return nw_lavish_read(lavish, locate(lavish, number, index), data, length);
}

/* Free indices of a logical block. */
static unsigned room_of(const struct nw_ftl_lavish *lavish, const struct nw_lavish_logical *logical)
{
    unsigned end = 0;

    if (logical->data != NONE) {
        end = lavish->lavish_sectors;
    }
    if (logical->log != NONE) {
        end += end;
    }
    return end - logical->next;
}

/* Copies the sectors with an index below `limit` to a lavish block from its sector *at on, which
 * counts on with each, also when it fails. */
static int copy_below(struct nw_ftl_lavish *lavish, const struct nw_lavish_map *map, unsigned limit,
                      unsigned to, unsigned *at)
{
    uint8_t *entry = nw_lavish_entry(lavish, map, 0);
    unsigned left;

    for (left = lavish->logical_sectors; left > 0; left--, entry += 2) {
        unsigned index = nw_get16(entry);
        int result;

        if (index >= limit) {
            continue;
        }
        result = nw_lavish_copy(lavish, locate(lavish, map->logical, index), to, *at);
        if (result >= 0) {
            ++*at;
        } else if (result == NW_ERR_ECC) {
            nw_put16(entry, NW_LAVISH_LOST);
            nw_lavish_tick(&lavish->stats.lost);
        } else {
            return result;
        }
    }
    return NW_OK;
}

/* Copies likewise to the start of a fresh lavish block, which it answers, or an error. */
static int32_t copy_to_fresh(struct nw_ftl_lavish *lavish, const struct nw_lavish_map *map,
                             unsigned limit, unsigned *count)
{
    for (;;) {
        unsigned fresh = nw_lavish_take(lavish);
        int released;
        int result;
        int worn;

        if (fresh == NONE) {
            return NW_ERR_FULL;
        }
        *count = 0;
        result = copy_below(lavish, map, limit, fresh, count);
        if (result >= 0) {
            return (int32_t)fresh;
        }
        worn = nw_lavish_is_worn(result);
        released = nw_lavish_release(lavish, fresh, worn ? *count : NONE);
        if (!worn) {
            return result;
        }
        if (released < 0) {
            return released; /* it tells more than that a block is worn: power may have gone */
        }
        /* a block was marked bad: this ends */
    }
}

/* Indices below `limit` become `base` and up, as copy_below laid them; the others, all in the log,
 * move down into the data block. Counts what is valid in the data block then. */
static void renumber(struct nw_ftl_lavish *lavish, const struct nw_lavish_map *map, unsigned limit,
                     unsigned base)
{
    uint8_t *entry = nw_lavish_entry(lavish, map, 0);
    unsigned valid = 0;
    unsigned left;

    for (left = lavish->logical_sectors; left > 0; left--, entry += 2) {
        unsigned index = nw_get16(entry);

        if (index < NW_LAVISH_LOST) {
            index = index < limit ? base++ : index - lavish->lavish_sectors;
            valid += index < lavish->lavish_sectors;
            nw_put16(entry, (uint16_t)index);
        }
    }
    lavish->logical[map->logical].valid = (uint16_t)valid;
}

/* Switch: what is valid in the data block starts a new log; the old log takes its place. */
static int switch_blocks(struct nw_ftl_lavish *lavish, struct nw_lavish_map *map)
{
    struct nw_lavish_logical *logical = lavish->logical + map->logical;
    unsigned sectors = lavish->lavish_sectors;
    unsigned data = logical->data;
    unsigned count;
    int32_t fresh = copy_to_fresh(lavish, map, sectors, &count);

    if (fresh < 0) {
        return (int)fresh;
    }
    renumber(lavish, map, sectors, sectors);
    logical->data = logical->log;
    logical->log = (uint16_t)fresh;
    logical->next = (uint16_t)(sectors + count);
    nw_lavish_tick(&lavish->stats.merges_switch);
    return nw_lavish_release(lavish, data, NONE);
}

/* Merge III, and the flight from a worn block: everything valid goes to a fresh lavish block.
 * `worn` is the index of a sector that failed, or NONE. */
static int gather(struct nw_ftl_lavish *lavish, struct nw_lavish_map *map, unsigned worn)
{
    struct nw_lavish_logical *logical = lavish->logical + map->logical;
    unsigned sectors = lavish->lavish_sectors;
    unsigned data = logical->data;
    unsigned log = logical->log;
    unsigned count;
    int32_t fresh = copy_to_fresh(lavish, map, NW_LAVISH_LOST, &count);
    int second;
    int result;

    if (fresh < 0) {
        return (int)fresh;
    }
    renumber(lavish, map, NW_LAVISH_LOST, 0);
    logical->data = (uint16_t)fresh;
    logical->log = NONE;
    logical->next = (uint16_t)count;
    nw_lavish_tick(&lavish->stats.merges_full);
    result = nw_lavish_release(lavish, data, worn);
    second = nw_lavish_release(lavish, log, worn - sectors); /* also if the first has failed */
    return result < 0 ? result : second;
}

/* A program of index `next` failed. The page may hold anything and is skipped; the first page of a
 * block is erased again when entered. A worn block: away from it, NW_OK when that is done. If that
 * fails too the block stays, and is met again. */
static int recover(struct nw_ftl_lavish *lavish, struct nw_lavish_map *map, int result)
{
    struct nw_lavish_logical *logical = lavish->logical + map->logical;
    unsigned failed = logical->next;

    if (failed % lavish->block_pages != 0) {
        logical->next++;
    }
    return nw_lavish_is_worn(result) ? gather(lavish, map, failed) : result;
}

/* Merge II: appends what is valid in the data block to the log, which has room and takes the data
 * block's place. Merge I, when nothing is valid. The map is dirty. */
static int merge_into_log(struct nw_ftl_lavish *lavish, struct nw_lavish_map *map)
{
    struct nw_lavish_logical *logical = lavish->logical + map->logical;
    unsigned sectors = lavish->lavish_sectors;
    unsigned data = logical->data;
    unsigned first = logical->next - sectors;
    unsigned at = first;
    int result = copy_below(lavish, map, sectors, logical->log, &at);

    logical->next = (uint16_t)(sectors + at);
    if (result < 0) {
        return recover(lavish, map, result);
    }
    renumber(lavish, map, sectors, first);
    logical->data = logical->log;
    logical->log = NONE;
    logical->next = (uint16_t)at;
    if (at == first) {
        lavish->merges_1++;
        nw_lavish_tick(&lavish->stats.merges_switch);
    } else {
        nw_lavish_tick(&lavish->stats.merges_partial);
    }
    return nw_lavish_release(lavish, data, NONE);
}

int nw_lavish_merge_1(struct nw_ftl_lavish *lavish)
{
    struct nw_lavish_map *map = lavish->maps;
    const struct nw_lavish_logical *logical = lavish->logical + map->logical;

    if (logical->valid > 0 || logical->log == NONE || logical->next < lavish->lavish_sectors) {
        return NW_OK;
    }
    return merge_into_log(lavish, map);
}

int32_t nw_lavish_append(struct nw_ftl_lavish *lavish, struct nw_lavish_map *map, uint8_t *data,
                         unsigned length)
{
    struct nw_lavish_logical *logical = lavish->logical + map->logical;

    for (;;) {
        unsigned index = logical->next;
        unsigned block = logical->data;
        int result;

        if (room_of(lavish, logical) == 0) {
            result = gather(lavish, map, NONE);
        } else {
            if (index >= lavish->lavish_sectors) {
                index -= lavish->lavish_sectors;
                block = logical->log;
            }
            result = nw_lavish_program(lavish, block, index, data, length);
            if (result >= 0) {
                return logical->next++;
            }
            result = recover(lavish, map, result);
        }
        if (result < 0) {
            return result;
        }
        /* room was found, or a block marked bad: this ends */
    }
}

/* Brings a map from flash. If it cannot be read, every sector is lost until written again. */
static int fetch(struct nw_ftl_lavish *lavish, const struct nw_lavish_map *map, unsigned number)
{
    unsigned stored = lavish->logical[number].stored;
    uint8_t *entry = nw_lavish_entry(lavish, map, 0);
    int result;

    memset(entry, 0xFF, lavish->map_slot);
    if (stored == NONE) {
        return NW_OK;
    }
    nw_lavish_tick(&lavish->stats.map_reads);
    result = nw_lavish_read_index(lavish, number, stored, entry, lavish->logical_sectors * 2U);
    if (result == NW_ERR_ECC) {
        memset(entry, NW_LAVISH_LOST & 0xFFU, lavish->map_slot);
        nw_lavish_count(&lavish->stats.lost, lavish->logical_sectors);
        return NW_OK;
    }
    return result;
}

int nw_lavish_load(struct nw_ftl_lavish *lavish, unsigned number)
{
    struct nw_lavish_map *map = cached(lavish, number);
    struct nw_lavish_map front;

    if (map == NULL) {
        int32_t result;

        map = lavish->maps + lavish->map_count - 1;
        if (map->dirty) {
            result = nw_lavish_append(lavish, map, nw_lavish_entry(lavish, map, 0),
                                      lavish->map_slot);
            if (result < 0) {
                return (int)result;
            }
            nw_lavish_tick(&lavish->stats.map_programs);
            lavish->logical[map->logical].stored = (uint16_t)result;
            map->dirty = 0;
        }
        map->logical = NONE;
        result = fetch(lavish, map, number);
        if (result < 0) {
            return (int)result;
        }
        map->logical = (uint16_t)number;
    }
    for (front = *map; map > lavish->maps; map--) {
        *map = map[-1];
    }
    *map = front;
    return NW_OK;
}

unsigned nw_lavish_victim(const struct nw_ftl_lavish *lavish)
{
    const struct nw_lavish_logical *logical = lavish->logical;
    unsigned victim = NONE;
    unsigned least = NONE;
    unsigned i;

    for (i = 0; i < lavish->logical_count; i++, logical++) {
        if (logical->log != NONE && logical->valid < least &&
            (lavish->free > 0 || room_of(lavish, logical) > logical->valid)) {
            least = logical->valid;
            victim = i;
        }
    }
    return victim;
}

int nw_lavish_win(struct nw_ftl_lavish *lavish)
{
    struct nw_lavish_map *map = lavish->maps;
    unsigned number = nw_lavish_victim(lavish);
    struct nw_lavish_logical *logical = lavish->logical + number;
    int result;

    if (number == NONE) {
        return NW_ERR_FULL;
    }
    result = nw_lavish_load(lavish, number);
    if (result < 0) {
        return result;
    }
    map->dirty = 1;
    if (logical->next < lavish->lavish_sectors) {
        logical->next = lavish->lavish_sectors; /* the log was taken ahead of its first use */
    }
    return room_of(lavish, logical) > logical->valid ? merge_into_log(lavish, map)
                                                     : gather(lavish, map, NONE);
}

int nw_lavish_reserve(struct nw_ftl_lavish *lavish, unsigned more)
{
    int result = NW_OK;

    while (result >= 0 && lavish->free < nw_lavish_least(lavish) + more) {
        result = nw_lavish_win(lavish); /* each time a log goes: this ends */
    }
    return result;
}

/* Gives a logical block what it lacks: a data lavish block, a log. */
static int grow(struct nw_ftl_lavish *lavish, struct nw_lavish_logical *logical)
{
    int result = nw_lavish_reserve(lavish, 1);
    uint16_t fresh;

    if (result >= 0) {
        fresh = (uint16_t)nw_lavish_take(lavish);
        if (logical->data == NONE) {
            logical->data = fresh;
        } else {
            logical->log = fresh;
        }
    }
    return result;
}

int nw_lavish_make_room(struct nw_ftl_lavish *lavish, unsigned number, unsigned need)
{
    struct nw_lavish_logical *logical = lavish->logical + number;
    struct nw_lavish_map *map = lavish->maps;
    int result = nw_lavish_reserve(lavish, 0);

    while (result >= 0 && room_of(lavish, logical) < need) {
        if (logical->data == NONE || logical->log == NONE) {
            result = grow(lavish, logical);
            continue;
        }
        result = nw_lavish_load(lavish, number);
        if (result >= 0) {
            map->dirty = 1;
            result = logical->valid > 0 ? switch_blocks(lavish, map) : merge_into_log(lavish, map);
        }
    }
    return result < 0 ? result : nw_lavish_load(lavish, number);
}
