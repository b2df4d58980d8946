/* SPDX-License-Identifier: Apache-2.0 */
/* A map of pages of a flash chip. */
#include "nandwich/chip_map.h"

#include <string.h>

/* What of the content stands from a place on in its page. */
static void aim(struct nw_chip_req *req, const struct nw_chip_map *map, uint32_t at)
{
    const struct nw_geometry *geometry = &map->chip->geometry;
    uint16_t offset = (uint16_t)(at % geometry->page_bytes);
    uint16_t length = (uint16_t)(geometry->page_bytes - offset);

    req->page = map->page + at / geometry->page_bytes;
    req->block = req->page / geometry->block_pages;
    req->offset = offset;
    req->length = length < map->bytes - at ? length : (uint16_t)(map->bytes - at);
}

static void ask(struct nw_chip_req *req, const struct nw_chip_map *map, uint32_t at)
{
    if (map->ahead != NULL && at < map->bytes) {
        aim(req, map, at);
        (void)map->ahead(req);
    }
}

int nw_chip_map_read(struct nw_vm_map *of, uintptr_t offset, uint8_t *to, size_t n)
{
    struct nw_chip_map *map = (struct nw_chip_map *)of;
    struct nw_chip_req req = {.chip = map->chip};
    uint32_t at = map->offset + (uint32_t)offset;
    uint8_t in_order = map->advice == NW_CHIP_MAP_SEQUENTIAL || at == map->next;

    while (n > 0 && at < map->bytes) {
        int result;

        aim(&req, map, at);
        req.data = to;
        req.length = req.length < n ? req.length : (uint16_t)n;
        result = map->read != NULL ? map->read(&req) : nw_chip_read(&req);
        if (result < 0) {
            return result;
        }
        at += req.length;
        to += req.length;
        n -= req.length;
    }
    memset(to, 0, n); /* behind the content */
    map->next = at;
    if (in_order && map->advice != NW_CHIP_MAP_RANDOM && at % map->chip->geometry.page_bytes == 0) {
        ask(&req, map, at);
    }
    return NW_OK;
}

int nw_chip_map_part(struct nw_vm_map *of, uintptr_t offset, uint8_t *to, size_t n)
{
    struct nw_chip_map *map = (struct nw_chip_map *)of;
    uint32_t next = map->next;
    int result = nw_chip_map_read(of, offset, to, n);

    map->next = next;
    return result;
}

void nw_chip_map_ahead(struct nw_chip_map *map, uintptr_t offset)
{
    struct nw_chip_req req = {.chip = map->chip};

    ask(&req, map, map->offset + (uint32_t)offset);
}
