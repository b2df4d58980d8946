/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program with nothing of Nandwich but the core: the tree layer on a chip of its own, an
 * array. It is built in each way that the core can be taken: docs/packages.md. */
#include <stdio.h>
#include <string.h>

#include <nandwich/ftl_tree.h>
#include <nandwich/version.h>

#define BLOCKS 32U
#define PAGES 16U
#define PAGE_BYTES 512U
#define SPARE_BYTES 16U
#define LINE (PAGE_BYTES + SPARE_BYTES)

static uint8_t flash[BLOCKS * PAGES][LINE];
static uint32_t ram[4096];

static int chip_read(struct nw_chip_req *req)
{
    if (req->length > 0) {
        memcpy(req->data, &flash[req->page][req->offset], req->length);
    }
    if (req->spare_length > 0) {
        memcpy(req->spare, &flash[req->page][PAGE_BYTES + req->spare_offset], req->spare_length);
    }
    return 0;
}

static int chip_program(struct nw_chip_req *req)
{
    if (req->length > 0) {
        memcpy(&flash[req->page][req->offset], req->data, req->length);
    }
    if (req->spare_length > 0) {
        memcpy(&flash[req->page][PAGE_BYTES + req->spare_offset], req->spare, req->spare_length);
    }
    return NW_OK;
}

static int chip_erase(struct nw_chip_req *req)
{
    memset(flash[req->block * PAGES], 0xFF, (size_t)PAGES * LINE);
    return NW_OK;
}

static int chip_is_bad(struct nw_chip_req *req)
{
    (void)req;
    return 0;
}

static int chip_mark_bad(struct nw_chip_req *req)
{
    (void)req;
    return NW_ERR_UNSUPPORTED;
}

static const struct nw_chip_ops ops = {.read = chip_read,
                                       .program = chip_program,
                                       .erase = chip_erase,
                                       .is_bad = chip_is_bad,
                                       .mark_bad = chip_mark_bad};
static struct nw_chip chip = {.ops = &ops,
                              .geometry = {.blocks = BLOCKS,
                                           .block_pages = PAGES,
                                           .page_bytes = PAGE_BYTES,
                                           .spare_bytes = SPARE_BYTES,
                                           .program_bytes = PAGE_BYTES,
                                           .page_programs = 1,
                                           .erased = 0xFF,
                                           .flags = NW_CHIP_IN_ORDER}};

int main(void)
{
    static uint8_t sector[PAGE_BYTES] = "hello, flash";
    static struct nw_ftl_tree ftl;
    const struct nw_ftl_tree_config config = {0};
    size_t bytes = nw_ftl_tree_ram_bytes(&config, &chip.geometry);
    struct nw_block_req req = {.block = &ftl.block, .sector = 7, .count = 1, .data = sector};
    int result = bytes > sizeof ram ? NW_ERR_RAM : NW_OK;

    if (result == NW_OK) {
        result = nw_ftl_tree_format(&ftl, &chip, &config, ram, bytes);
    }
    if (result == NW_OK) {
        result = nw_block_write(&req);
    }
    memset(sector, 0, sizeof sector);
    if (result == NW_OK) {
        result = nw_ftl_tree_mount(&ftl, &chip, &config, ram, bytes);
    }
    if (result == NW_OK) {
        result = nw_block_read(&req);
    }
    printf("%d.%d.%d: %s, %s\n", NW_VERSION_MAJOR, NW_VERSION_MINOR, NW_VERSION_PATCH,
           nw_error_text(result), (const char *)sector);
    return result != NW_OK;
}
