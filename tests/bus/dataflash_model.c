/* SPDX-License-Identifier: Apache-2.0 */
/* DataFlash, decoded. */
#include "dataflash_model.h"

#include <stddef.h>
#include <string.h>

#include "nandwich-twin/parts.h"

enum pending { NONE, WORK };

#define READY 0x80U
#define DIFFERS 0x40U
#define NOBODY UINT32_MAX

static struct dataflash_model *of(struct spi_model *spi)
{
    return (struct dataflash_model *)spi;
}

static struct nw_chip_req request(struct dataflash_model *model, uint8_t *data)
{
    return (struct nw_chip_req){.chip = model->spi.bus.chip, .page = model->page,
                                .block = model->page / 8U, .buffer = model->buffer,
                                .length = model->kind.page_bytes, .data = data};
}

static int compare(struct dataflash_model *model)
{
    uint8_t buffer[1056];
    uint8_t cells[1056];
    struct nw_chip_req req = request(model, buffer);
    int result = nw_chip_buffer_read(&req);

    nw_nand_peek(model->spi.bus.nand, model->page, cells, NULL);
    model->differs = memcmp(buffer, cells, model->kind.page_bytes) != 0;
    return result;
}

static int perform(struct bus *bus)
{
    struct dataflash_model *model = of((struct spi_model *)bus);
    struct nw_chip_req req = request(model, NULL);
    bool lost = model->fail_next || model->guarded;

    model->at_page = NOBODY;
    switch (model->code) {
    case 0x53:
    case 0x55: return nw_chip_buffer_load(&req);
    case 0x60:
    case 0x61: return compare(model);
    case 0x88:
    case 0x89:
        if (nw_nand_page_programs(bus->nand, model->page) != 0) {
            bus_violation(bus, "a page programmed twice", model->page);
        }
        break;
    default: break;
    }
    if (lost) {
        model->fail_next = false;
        return NW_OK;
    }
    return model->code == 0x50 ? nw_chip_erase(&req) : nw_chip_buffer_program(&req);
}

static uint8_t read_cell(struct dataflash_model *model, uint32_t at)
{
    if (model->page >= model->kind.pages) {
        bus_violation(&model->spi.bus, "a page outside the part", model->page);
        return 0xFF;
    }
    if (model->at_page != model->page) {
        nw_nand_peek(model->spi.bus.nand, model->page, model->cells, NULL);
        model->at_page = model->page;
    }
    return model->cells[at % model->kind.page_bytes];
}

static uint32_t offset(const struct dataflash_model *model)
{
    return spi_model_address(&model->spi, 3) & ((1U << model->page_shift) - 1U);
}

/* A byte to or from a buffer. */
static uint8_t buffer_byte(struct dataflash_model *model, uint32_t at, uint8_t *out)
{
    uint8_t byte = 0xFF;
    struct nw_chip_req req = {.chip = model->spi.bus.chip, .buffer = model->buffer, .length = 1,
                              .offset = (uint16_t)at, .data = out != NULL ? out : &byte};
    int result = out != NULL ? nw_chip_buffer_write(&req) : nw_chip_buffer_read(&req);

    if (result < 0) {
        bus_violation(&model->spi.bus, "a place outside the buffer", at);
    }
    return byte;
}

static uint8_t exchange(struct spi_model *spi, uint32_t index, uint8_t out)
{
    struct dataflash_model *model = of(spi);
    uint8_t code = spi->head[0];

    if (model->asleep) {
        return spi->line;
    }
    if (index == 0) {
        if (bus_is_busy(&spi->bus) && code != 0xD7) {
            bus_violation(&spi->bus, "a command to a busy part", code);
        }
        return 0xFF;
    }
    if (index == 3) {
        model->page = spi_model_address(spi, 3) >> model->page_shift;
    }
    switch (code) {
    case 0xD7:
        if (model->kind.id[0] == 0xFF) {
            model->kind.power_of_two = ++model->noise & 3U;
        }
        return (uint8_t)((bus_is_busy(&spi->bus) ? 0U : READY) +
                         (model->differs ? DIFFERS : 0U) +
                         (model->kind.density * 4U) + model->kind.power_of_two);
    case 0x9F: return index < 5 ? model->kind.id[index - 1] : 0xFF;
    case 0xD2: return index < 8 ? 0xFF : read_cell(model, offset(model) + index - 8U);
    case 0xD4:
    case 0xD6:
        model->buffer = code == 0xD6;
        return index < 5 ? 0xFF : buffer_byte(model, offset(model) + index - 5U, NULL);
    case 0x84:
    case 0x87:
        model->buffer = code == 0x87;
        if (index >= 4) {
            (void)buffer_byte(model, offset(model) + index - 4U, &out);
        }
        return 0xFF;
    default: return 0xFF;
    }
}

static void start(struct dataflash_model *model, uint32_t bytes, bool second, uint32_t us)
{
    if (bytes != 4 || model->page >= model->kind.pages ||
        (second && model->kind.buffers < 2)) {
        bus_violation(&model->spi.bus, "no page, or no such buffer", model->page);
        return;
    }
    model->code = model->spi.head[0];
    model->buffer = second;
    bus_work(&model->spi.bus, WORK, us);
}

static void finish(struct spi_model *spi, uint32_t bytes)
{
    struct dataflash_model *model = of(spi);
    uint8_t code = spi->head[0];

    if (model->asleep) {
        model->asleep = bytes == 0 || code != 0xAB;
        return;
    }
    if (bytes == 0) {
        return;
    }
    switch (code) {
    case 0x53:
    case 0x55: start(model, bytes, code == 0x55, 200); break;
    case 0x60:
    case 0x61: start(model, bytes, code == 0x61, 200); break;
    case 0x83:
    case 0x86: start(model, bytes, code == 0x86, model->rewrite_us); break;
    case 0x88:
    case 0x89: start(model, bytes, code == 0x89, 3000); break;
    case 0x50: start(model, bytes, false, 30000); break;
    case 0x3D:
        if (spi_model_address(spi, 3) != 0x2A7F9AU || bytes != 4) {
            bus_violation(&spi->bus, "no such command", spi_model_address(spi, 3));
        }
        model->guarded = false;
        break;
    case 0xAB:
        if (model->kind.id[0] == 0xFF) {
            bus_violation(&spi->bus, "revision B knows no ABh", code);
        }
        break;
    case 0x84:
    case 0x87:
    case 0x9F:
    case 0xD2:
    case 0xD4:
    case 0xD6:
    case 0xD7: break;
    default: bus_violation(&spi->bus, "no such command", code); break;
    }
}

void dataflash_model_power_up(struct dataflash_model *model)
{
    bus_power_up(&model->spi.bus);
    model->spi.spi.busy = 0;
    model->differs = false;
    model->at_page = NOBODY;
}

void dataflash_model_open(struct dataflash_model *model, const struct dataflash_kind *kind,
                          uint32_t seed)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .seed = seed};

    memset(model, 0, sizeof *model);
    model->kind = *kind;
    model->rewrite_us = 15000;
    while ((1U << model->page_shift) < kind->page_bytes) {
        model->page_shift++;
    }
    bus_require(nw_parts_get("AT45DB041B", &part) == NW_OK, "no part AT45DB041B in the table");
    part.blocks = kind->pages / 8U;
    part.page_bytes = kind->page_bytes;
    part.program_bytes = kind->page_bytes;
    part.buffers = kind->buffers;
    bus_require(nw_nand_open(&model->spi.bus.nand, &config) == NW_OK, "the twin does not open");
    model->spi.bus.chip = nw_nand_chip(model->spi.bus.nand);
    model->spi.bus.perform = perform;
    model->spi.exchange = exchange;
    model->spi.finish = finish;
    spi_model_open(&model->spi);
    dataflash_model_power_up(model);
}

void dataflash_model_close(struct dataflash_model *model)
{
    bus_expect_clean(&model->spi.bus);
    nw_nand_close(model->spi.bus.nand);
}
