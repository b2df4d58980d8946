/* SPDX-License-Identifier: Apache-2.0 */
/* NAND on a serial bus, decoded. */
#include "spi_nand_model.h"

#include <stdlib.h>
#include <string.h>

#include "nandwich-twin/parts.h"

enum pending { NONE, RESET, READ, PROGRAM, ERASE };

#define BUSY 0x01U
#define LATCH 0x02U
#define ERASE_FAILED 0x04U
#define PROGRAM_FAILED 0x08U

#define BLOCK_PAGES 64U
#define WINBOND 0xEFU
#define MICRON 0x2CU
#define GIGADEVICE 0xC8U
#define MACRONIX 0xC2U
#define UNIT 512U
#define OTHER_CACHE 0xA5U /* what lies in the cache of the plane that does not work */

static struct spi_nand_model *of(struct spi_model *spi)
{
    return (struct spi_nand_model *)spi;
}

static uint32_t page_bytes(const struct spi_nand_model *model)
{
    return model->kind.page_bytes;
}

static uint32_t raw_bytes(const struct spi_nand_model *model)
{
    return page_bytes(model) + page_bytes(model) / 32U;
}

/* Which of the chip's spare bytes lies at a place of the raw spare; -1: one that the part has codes
 * in, or does not protect. Micron: 8 protected bytes for each 512 of data, from 20h on, or 40h with
 * pages of 4 KiB; the chip has the first 4. */
static int own_byte(const struct spi_nand_model *model, uint32_t at)
{
    uint32_t from = page_bytes(model) / 64U;

    if (model->kind.id[0] == MICRON) {
        return at >= from && ((at - from) & 4U) == 0 ? (int)((at - from) / 8U * 4U + at % 4U) : -1;
    }
    return (at & 12U) == 4U ? (int)(at / 16U * 4U + at % 4U) : -1;
}

/* The row into the cache, from the chip or from the OTP area. */
static void read_row(struct spi_nand_model *model)
{
    uint32_t bytes = page_bytes(model);
    uint32_t block = model->row / BLOCK_PAGES;
    uint32_t index = model->row % BLOCK_PAGES;
    uint8_t spare[256];

    memset(model->cache, 0xFF, sizeof model->cache);
    if ((model->config & 0x40U) != 0) {
        struct onfi_shape shape = model->told;

        if (shape.blocks == 0) {
            shape = (struct onfi_shape){model->kind.blocks, BLOCK_PAGES, bytes,
                                        (uint16_t)(bytes / 32U), 0x22, 4, 1, 0};
        }
        if (model->kind.onfi_row != 0 && model->row == model->kind.onfi_row) {
            for (uint32_t copy = 0; copy < 3U; copy++) {
                onfi_page_make(model->cache + copy * 256U, &shape);
                model->cache[copy * 256U + 200U] ^= copy < model->spoilt ? 1U : 0;
            }
        }
        return;
    }
    if (block >= model->kind.blocks) {
        bus_violation(&model->spi.bus, "a row outside the part", model->row);
        return;
    }
    if ((model->config & 0x10U) == 0) {
        bus_violation(&model->spi.bus, "a read without the part's ECC", model->row);
    }
    nw_nand_peek(model->spi.bus.nand, model->row, model->cache, spare);
    for (uint32_t i = 0; i < bytes / 32U; i++) {
        if (own_byte(model, i) >= 0) {
            model->cache[bytes + i] = spare[own_byte(model, i)];
        }
    }
    if (nw_nand_block_bad(model->spi.bus.nand, block) != 0 &&
        index == (model->mark_second ? 1U : 0U)) {
        model->cache[bytes] = 0;
    }
    model->status = (uint8_t)((model->status & 0x8FU) + model->ecc * 16U);
}

/* A code can be programmed once: one for each 512 bytes and their spare, or one for the data and
 * one for the spare bytes of each. */
static void touch(struct spi_nand_model *model, const struct nw_chip_req *req)
{
    uint32_t touched = 0;

    for (uint32_t i = 0; i < req->length; i += UNIT) {
        touched |= 1U << (req->offset + i) / UNIT;
    }
    for (uint32_t i = 0; i < req->spare_length; i++) {
        touched |= 1U << ((req->spare_offset + i) / 4U + (model->kind.codes == 2 ? 8U : 0));
    }
    if ((model->touched[model->row] & touched) != 0) {
        bus_violation(&model->spi.bus, "a code programmed twice", model->row);
    }
    model->touched[model->row] |= (uint16_t)touched;
}

/* What was loaded, as one run of data and one of the chip's spare; a mark alone marks the block. */
static int program_row(struct spi_nand_model *model)
{
    struct nw_chip_req req = {.chip = model->spi.bus.chip, .page = model->row};
    uint32_t bytes = page_bytes(model);
    uint8_t spare[256];
    bool gap = false;

    req.data = model->cache;
    req.spare = spare;
    for (uint32_t i = 0; i < bytes; i++) {
        if (model->loaded[i] != 0) {
            req.offset = req.length == 0 ? (uint16_t)i : req.offset;
            gap = gap || req.offset + req.length != i;
            req.length++;
        }
    }
    req.data += req.offset;
    for (uint32_t i = 0; i < bytes / 32U; i++) {
        int own = own_byte(model, i);

        if (model->loaded[bytes + i] == 0) {
            continue;
        }
        if (i < 2U && req.length == 0 && model->cache[bytes + i] == 0) {
            req.block = model->row / BLOCK_PAGES;
            return model->failing ? (int)NW_ERR_PROGRAM : nw_chip_mark_bad(&req);
        }
        if (own < 0) {
            bus_violation(&model->spi.bus, "a spare byte programmed that nothing protects", i);
            continue;
        }
        req.spare_offset = req.spare_length == 0 ? (uint16_t)own : req.spare_offset;
        gap = gap || req.spare_offset + req.spare_length != (uint16_t)own;
        spare[req.spare_length++] = model->cache[bytes + i];
    }
    if (gap) {
        bus_violation(&model->spi.bus, "a load with gaps", model->row);
    }
    touch(model, &req);
    return nw_chip_program(&req);
}

static int perform(struct bus *bus)
{
    struct spi_nand_model *model = of((struct spi_model *)bus);
    struct nw_chip_req req = {.chip = bus->chip, .block = model->row / BLOCK_PAGES};
    int result = NW_OK;

    if (bus->pending == READ) {
        read_row(model);
    } else if (bus->pending == PROGRAM || bus->pending == ERASE) {
        model->failing = model->fail_next != 0 && --model->fail_next == 0;
        if (model->failing) {
            model->fail_next = model->fail_then;
            model->fail_then = 0;
            nw_nand_doom(bus->nand, req.block, bus->pending == PROGRAM);
        }
        result = bus->pending == PROGRAM ? program_row(model) : nw_chip_erase(&req);
        if (bus->pending == ERASE) {
            memset(model->touched + req.block * BLOCK_PAGES, 0,
                   BLOCK_PAGES * sizeof *model->touched);
        }
        model->status &= (uint8_t)~LATCH;
        if (result < 0) {
            model->status |= bus->pending == PROGRAM ? PROGRAM_FAILED : ERASE_FAILED;
        }
    }
    return result;
}

static uint8_t *feature(struct spi_nand_model *model, uint8_t address)
{
    switch (address) {
    case 0xA0: return &model->protection;
    case 0xB0: return &model->config;
    case 0xC0: return &model->status;
    default: bus_violation(&model->spi.bus, "no such register", address); return &model->status;
    }
}

/* The bit of a column that chooses the plane: above those that tell the bytes of a page apart. */
static uint32_t plane_bit(const struct spi_nand_model *model)
{
    return 2U * page_bytes(model);
}

/* The plane that the column of the command under way chooses. */
static uint8_t plane_chosen(const struct spi_nand_model *model)
{
    return (spi_model_address(&model->spi, 2) & plane_bit(model)) != 0;
}

/* The place in the cache of a column, whose bit of the plane has to fit the row's. */
static uint32_t column(struct spi_nand_model *model, uint32_t index)
{
    uint32_t at = spi_model_address(&model->spi, 2) + index;

    if (model->kind.planes == 2 && (model->config & 0x40U) == 0) {
        at &= plane_bit(model) - 1U;
    }
    if (at >= raw_bytes(model)) {
        bus_violation(&model->spi.bus, "a column outside the page", at);
        return 0;
    }
    return at;
}

/* Each plane has a cache; the row at work is in that of its own plane. */
static bool other_plane(const struct spi_nand_model *model, uint8_t plane)
{
    return model->kind.planes == 2 && (model->config & 0x40U) == 0 &&
           plane != ((model->row / BLOCK_PAGES) & 1U);
}

/* Whether a read begins with the page and goes on behind it, whatever column it names. */
static bool goes_on(const struct spi_nand_model *model)
{
    return model->kind.id[0] == WINBOND  ? (model->config & 0x08U) == 0
           : model->kind.id[0] == MICRON ? (model->config & 0x01U) != 0
                                         : false;
}

/* A register is set, as far as it can be. */
static void set_feature(struct spi_nand_model *model, uint8_t address, uint8_t value)
{
    uint8_t *at = feature(model, address);
    uint8_t fixed = address == 0xB0                          ? model->config_fixed
                    : address == 0xA0 && model->pins_protect ? 0xFFU
                                                             : 0;

    *at = (uint8_t)((*at & fixed) | (value & (uint8_t)~fixed));
}

/* 6Bh sends its data by four lines, from parts that have bit 0 of B0 for it if that is set. */
static bool lines_fit(struct spi_nand_model *model, uint8_t code)
{
    uint8_t maker = model->kind.id[0];
    bool closed = (maker == GIGADEVICE || maker == MACRONIX) && (model->config & 0x01U) == 0;
    bool fit = model->spi.lines == (code == 0x6B ? 4 : 1) && (code == 0x03 || !closed);

    if (!fit) {
        bus_violation(&model->spi.bus, "data by lines that the part does not drive", code);
    }
    return fit;
}

static uint8_t exchange(struct spi_model *spi, uint32_t index, uint8_t out)
{
    struct spi_nand_model *model = of(spi);
    uint8_t code = spi->head[0];
    uint32_t at;

    if (index == 0) {
        if (bus_is_busy(&spi->bus) && code != 0x0F && code != 0xFF) {
            bus_violation(&spi->bus, "a command to a busy part", code);
        }
        if (code == 0x02) {
            memset(model->cache, 0xFF, sizeof model->cache);
            memset(model->loaded, 0, sizeof model->loaded);
        }
        return 0xFF;
    }
    switch (code) {
    case 0x0F:
        if (index < 2) {
            return 0xFF;
        }
        return (uint8_t)(*feature(model, spi->head[1]) |
                         (spi->head[1] == 0xC0 && bus_is_busy(&spi->bus) ? BUSY : 0));
    case 0x1F:
        if (index == 2) {
            set_feature(model, spi->head[1], out);
        }
        return 0xFF;
    case 0x9F:
        at = index - 1U - model->kind.id_dummy;
        return at < 3U ? model->kind.id[at] : 0;
    case 0x03:
    case 0x6B:
        if (index < 4) {
            return 0xFF;
        }
        if (!lines_fit(model, code)) {
            return 0xFF;
        }
        at = goes_on(model) ? (index - 4U) % raw_bytes(model) : column(model, index - 4U);
        return other_plane(model, plane_chosen(model)) ? OTHER_CACHE : model->cache[at];
    case 0x02:
    case 0x84:
        if (index >= 3) {
            at = column(model, index - 3U);
            model->cache[at] = out;
            model->loaded[at] = 1;
        }
        return 0xFF;
    default: return 0xFF;
    }
}

/* A command that names a row: what it starts. */
static void start(struct spi_nand_model *model, uint8_t pending, uint32_t bytes, uint32_t us)
{
    if (bytes != 4) {
        bus_violation(&model->spi.bus, "a row of another length", bytes);
        return;
    }
    model->row = spi_model_address(&model->spi, 3);
    if (pending != READ) {
        if ((model->status & LATCH) == 0) {
            return; /* the part does not take it in, and says nothing */
        }
        if ((model->protection & 0x7CU) != 0) {
            model->status |= pending == PROGRAM ? PROGRAM_FAILED : ERASE_FAILED;
            return;
        }
        if (pending == PROGRAM && other_plane(model, model->plane)) {
            bus_violation(&model->spi.bus, "a load for the other plane", model->row);
            memset(model->cache, OTHER_CACHE, sizeof model->cache);
        }
        model->status &= (uint8_t)~(pending == PROGRAM ? PROGRAM_FAILED : ERASE_FAILED);
    }
    bus_work(&model->spi.bus, pending, us);
}

static void finish(struct spi_model *spi, uint32_t bytes)
{
    struct spi_nand_model *model = of(spi);

    if (bytes == 0) {
        return;
    }
    switch (spi->head[0]) {
    case 0x06: model->status |= LATCH; break;
    case 0x10: start(model, PROGRAM, bytes, model->program_us); break;
    case 0x13: start(model, READ, bytes, model->read_us); break;
    case 0xD8: start(model, ERASE, bytes, model->erase_us); break;
    case 0xFF:
        if (spi->bus.pending > RESET) {
            bus_violation(&spi->bus, "a reset in the middle of an operation", spi->bus.pending);
        }
        model->status = 0;
        bus_work(&spi->bus, RESET, 500);
        break;
    case 0x02:
    case 0x84:
        if ((model->status & LATCH) == 0) {
            bus_violation(&spi->bus, "a load without write enable", bytes);
        }
        model->plane = plane_chosen(model);
        break;
    case 0x03:
    case 0x6B:
        if (other_plane(model, plane_chosen(model))) {
            bus_violation(&spi->bus, "a column of the other plane", model->row);
        }
        break;
    case 0x0F:
    case 0x1F:
    case 0x9F: break;
    default: bus_violation(&spi->bus, "no such command", spi->head[0]); break;
    }
}

void spi_nand_model_power_up(struct spi_nand_model *model)
{
    bus_power_up(&model->spi.bus);
    model->spi.spi.busy = 0;
    model->protection = 0x38; /* all blocks are protected */
    model->config = model->kind.id[0] == MICRON ? 0x01U : 0; /* without its ECC, as some wake */
    model->status = 0;
    model->row = 0;
    memset(model->cache, 0xA5, sizeof model->cache);
    bus_work(&model->spi.bus, RESET, 1000);
}

void spi_nand_model_open(struct spi_nand_model *model, const struct spi_nand_kind *kind,
                         uint32_t seed)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .seed = seed, .flags = NW_NAND_FACTORY_BAD};

    memset(model, 0, sizeof *model);
    model->kind = *kind;
    model->read_us = 60;
    model->program_us = 250;
    model->erase_us = 2000;
    model->kind.page_bytes = kind->page_bytes != 0 ? kind->page_bytes : 2048;
    bus_require(nw_parts_get("W25N01GV", &part) == NW_OK, "no part W25N01GV in the table");
    part.blocks = kind->blocks;
    part.block_pages = BLOCK_PAGES;
    part.page_bytes = model->kind.page_bytes;
    part.spare_bytes = (uint16_t)(model->kind.page_bytes / UNIT * 4U);
    part.program_bytes = UNIT;
    part.factory_bad = kind->blocks / 16U;
    bus_require(nw_nand_open(&model->spi.bus.nand, &config) == NW_OK, "the twin does not open");
    model->spi.bus.chip = nw_nand_chip(model->spi.bus.nand);
    model->spi.bus.perform = perform;
    model->touched = calloc((size_t)kind->blocks * BLOCK_PAGES, sizeof *model->touched);
    bus_require(model->touched != NULL, "no memory for the model");
    model->spi.exchange = exchange;
    model->spi.finish = finish;
    spi_model_open(&model->spi);
    spi_nand_model_power_up(model);
}

void spi_nand_model_close(struct spi_nand_model *model)
{
    bus_expect_clean(&model->spi.bus);
    free(model->touched);
    nw_nand_close(model->spi.bus.nand);
}
