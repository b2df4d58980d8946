/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-vmtrace/paging.h"

#include "nandwich/error.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024U
#define NO_PAGE UINT64_MAX

int nw_refs_open(struct nw_refs *refs, uint32_t frame_bytes)
{
    memset(refs, 0, sizeof *refs);
    refs->frame_bytes = frame_bytes;
    refs->last_page = NO_PAGE;
    refs->slots = FIRST_SLOTS;
    refs->slot = calloc(refs->slots, sizeof *refs->slot);
    return refs->slot != NULL ? NW_OK : NW_ERR_RAM;
}

void nw_refs_close(struct nw_refs *refs)
{
    free(refs->ref);
    free(refs->page);
    free(refs->slot);
    memset(refs, 0, sizeof *refs);
}

static uint32_t first_slot(const struct nw_refs *refs, uint64_t page)
{
    return (uint32_t)((page * 0x9E3779B97F4A7C15ULL) >> 32) & (refs->slots - 1U);
}

static int grow_slots(struct nw_refs *refs)
{
    uint32_t slots = refs->slots * 2U;
    uint32_t *slot = calloc(slots, sizeof *slot);

    if (slot == NULL) {
        return NW_ERR_RAM;
    }
    free(refs->slot);
    refs->slot = slot;
    refs->slots = slots;
    for (uint32_t number = 0; number < refs->pages; number++) {
        uint32_t at = first_slot(refs, refs->page[number]);

        while (slot[at] != 0) {
            at = (at + 1U) & (slots - 1U);
        }
        slot[at] = number + 1U;
    }
    return NW_OK;
}

static int new_page(struct nw_refs *refs, uint32_t at, uint64_t page, uint32_t *number)
{
    if (refs->pages == INT32_MAX) {
        return NW_ERR_FULL;
    }
    if (refs->pages == refs->page_room) {
        uint32_t room = refs->page_room == 0 ? FIRST_SLOTS : refs->page_room * 2U;
        uint64_t *larger = realloc(refs->page, room * sizeof *larger);

        if (larger == NULL) {
            return NW_ERR_RAM;
        }
        refs->page = larger;
        refs->page_room = room;
    }
    *number = refs->pages;
    refs->page[refs->pages++] = page;
    refs->slot[at] = refs->pages;
    return refs->pages * 2ULL > refs->slots ? grow_slots(refs) : NW_OK;
}

static int number_of(struct nw_refs *refs, uint64_t page, uint32_t *number)
{
    uint32_t at = first_slot(refs, page);

    while (refs->slot[at] != 0) {
        *number = refs->slot[at] - 1U;
        if (refs->page[*number] == page) {
            return NW_OK;
        }
        at = (at + 1U) & (refs->slots - 1U);
    }
    return new_page(refs, at, page, number);
}

static int append(struct nw_refs *refs, uint64_t page, int write)
{
    uint32_t number;
    int result = number_of(refs, page, &number);

    if (result < 0) {
        return result;
    }
    if (refs->count == refs->room) {
        uint64_t room = refs->room == 0 ? 65536U : refs->room * 2U;
        uint32_t *larger = realloc(refs->ref, room * sizeof *larger);

        if (larger == NULL) {
            return NW_ERR_RAM;
        }
        refs->ref = larger;
        refs->room = room;
    }
    refs->ref[refs->count++] = number << 1 | (write != 0);
    refs->last_page = page;
    return NW_OK;
}

int nw_refs_add(struct nw_refs *refs, uint64_t offset, uint32_t bytes, int write)
{
    uint64_t page = offset / refs->frame_bytes, last = (offset + bytes - 1U) / refs->frame_bytes;

    refs->accesses++;
    for (; page <= last; page++) {
        if (page == refs->last_page) {
            refs->ref[refs->count - 1U] |= write != 0;
            continue;
        }
        int result = append(refs, page, write);
        if (result < 0) {
            return result;
        }
    }
    return NW_OK;
}
