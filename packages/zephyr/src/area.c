/* SPDX-License-Identifier: Apache-2.0 */
/* The chip contract over Zephyr's flash map. */
#include <nandwich-zephyr/area.h>

/* How often a page is written. Serial NOR takes a byte at a time, any number of times. A flash with
 * larger write blocks may keep a code beside each, which is written once. */
static uint8_t programs_of(uint16_t page_bytes, uint16_t program_bytes)
{
    uint16_t units = page_bytes / program_bytes;

    if (program_bytes == 1U || units >= NW_PROGRAMS_UNLIMITED) {
        return NW_PROGRAMS_UNLIMITED;
    }
    return (uint8_t)units;
}

static struct nw_zephyr_area *area_of(const struct nw_chip_req *req)
{
    return req->chip->context;
}

static off_t place_of(const struct nw_chip_req *req)
{
    return (off_t)req->page * req->chip->geometry.page_bytes + req->offset;
}

static int told(struct nw_zephyr_area *area, int result, int error)
{
    if (result == 0) {
        return NW_OK;
    }
    area->error = result;
    return error;
}

static int area_read(struct nw_chip_req *req)
{
    struct nw_zephyr_area *area = area_of(req);

    if (req->length == 0) {
        return NW_OK;
    }
    return told(area, flash_area_read(area->area, place_of(req), req->data, req->length),
                NW_ERR_IO);
}

static int area_program(struct nw_chip_req *req)
{
    struct nw_zephyr_area *area = area_of(req);

    if (req->length == 0) {
        return NW_OK;
    }
    return told(area, flash_area_write(area->area, place_of(req), req->data, req->length),
                NW_ERR_PROGRAM);
}

static int area_erase(struct nw_chip_req *req)
{
    struct nw_zephyr_area *area = area_of(req);
    const struct nw_geometry *geometry = &req->chip->geometry;
    uint32_t bytes = (uint32_t)geometry->block_pages * geometry->page_bytes;

    return told(area, flash_area_erase(area->area, (off_t)req->block * (off_t)bytes, bytes),
                NW_ERR_ERASE);
}

static int area_is_bad(struct nw_chip_req *req)
{
    (void)req;
    return 0;
}

static int area_mark_bad(struct nw_chip_req *req)
{
    (void)req;
    return NW_ERR_UNSUPPORTED;
}

static const struct nw_chip_ops operations = {
    .read = area_read,
    .program = area_program,
    .erase = area_erase,
    .is_bad = area_is_bad,
    .mark_bad = area_mark_bad,
};

/* The size of the partition's erase pages; 0: they differ, or the driver does not know them. */
static size_t erase_bytes(const struct flash_area *area)
{
    const struct device *flash = flash_area_get_device(area);
    struct flash_pages_info first;
    struct flash_pages_info page;
    off_t at;

    if (flash_get_page_info_by_offs(flash, area->fa_off, &first) != 0 ||
        first.start_offset != area->fa_off || first.size == 0) {
        return 0;
    }
    for (at = 0; (size_t)at < area->fa_size; at += (off_t)first.size) {
        if (flash_get_page_info_by_offs(flash, area->fa_off + at, &page) != 0 ||
            page.size != first.size) {
            return 0;
        }
    }
    return area->fa_size % first.size == 0 ? first.size : 0;
}

int nw_zephyr_area_open(struct nw_zephyr_area *area, uint8_t id, uint16_t page_bytes)
{
    /* Typical times of serial NOR: what idle work is planned by. */
    struct nw_geometry geometry = {.page_bytes = page_bytes,
                                   .flags = NW_CHIP_READ_ERASED,
                                   .read_us = 100,
                                   .program_us = 500,
                                   .erase_us = 45000};
    size_t block_bytes;

    area->error = 0;
    if (told(area, flash_area_open(id, &area->area), NW_ERR_NOT_FOUND) != NW_OK) {
        return NW_ERR_NOT_FOUND;
    }
    block_bytes = erase_bytes(area->area);
    geometry.program_bytes = (uint16_t)flash_area_align(area->area);
    if (page_bytes == 0 || block_bytes == 0 || block_bytes % page_bytes != 0 ||
        block_bytes / page_bytes > UINT16_MAX || geometry.program_bytes == 0) {
        return NW_ERR_CONFIG;
    }
    geometry.blocks = (uint32_t)(area->area->fa_size / block_bytes);
    geometry.block_pages = (uint16_t)(block_bytes / page_bytes);
    geometry.page_programs = programs_of(page_bytes, geometry.program_bytes);
    geometry.erased = flash_area_erased_val(area->area);
    area->chip.ops = &operations;
    area->chip.context = area;
    area->chip.geometry = geometry;
    return nw_geometry_check(&geometry);
}
