/* SPDX-License-Identifier: Apache-2.0 */
/* Serial NOR, decoded. */
#include "spi_nor_model.h"

#include <string.h>

#include "nandwich-twin/parts.h"

enum pending { NONE, RESET, READ, PROGRAM, ERASE }; /* as NAND has them; a read takes no time */

#define BUSY 0x01U
#define LATCH 0x02U
#define PROTECTED 0x1CU
#define SECTOR 4096U
#define TABLE_AT 0x80U

static struct spi_nor_model *of(struct spi_model *spi)
{
    return (struct spi_nor_model *)spi;
}

static uint32_t address_bytes(const struct spi_nor_model *model)
{
    return model->wide ? 4 : 3;
}

static void put(uint8_t *at, uint32_t value)
{
    for (uint32_t i = 0; i < 4U; i++) {
        at[i] = (uint8_t)(value >> (8U * i));
    }
}

/* As JESD216B lays it out: a header, one parameter header, and the basic table further up. */
static void make_sfdp(struct spi_nor_model *model)
{
    uint8_t *table = model->sfdp + TABLE_AT;
    uint8_t size = model->told_size != 0 ? model->told_size : model->kind.size;

    memset(model->sfdp, 0xFF, sizeof model->sfdp);
    if (model->kind.dwords == 0) {
        return;
    }
    memcpy(model->sfdp, "SFDP\x06\x01\x00\xFF\x00\x06\x01", 11);
    model->sfdp[11] = model->kind.dwords;
    put(model->sfdp + 12, 0xFF000000U | TABLE_AT);
    put(table, size > 24 ? 0xFFF320E5U : 0xFFF120E5U); /* addresses of four bytes too */
    if (model->hybrid) {
        table[0] |= 3U; /* no 4 KiB everywhere; the map says where */
        model->sfdp[6] = 1;
        memcpy(model->sfdp + 16, "\x81\x00\x01\x02", 4);
        put(model->sfdp + 20, 0xFF0000F0U);
    }
    put(table + 4, size >= 29 ? 0x80000000U | (size + 3U) : (8U << size) - 1U);
    put(table + 28, 0x520F200CU);  /* 4 KiB by 20h, 32 KiB by 52h */
    put(table + 32, 0x0000D810U);  /* 64 KiB by D8h */
    if (model->kind.dwords >= 16) {
        /* Erases of 4 KiB: (2 + 1) x 16 ms; pages of 256 bytes: (5 + 1) x 64 us. */
        put(table + 36, 2U << 4 | 1U << 9);
        put(table + 40, 8U << 4 | 5U << 8 | 1U << 13);
        put(table + 60, (uint32_t)model->kind.ways << 24);
    }
}

static int perform(struct bus *bus)
{
    struct spi_nor_model *model = of((struct spi_model *)bus);
    struct nw_chip_req req = {.chip = bus->chip, .block = model->address / SECTOR,
                              .page = model->address / 256U,
                              .offset = (uint16_t)(model->address % 256U),
                              .length = (uint16_t)model->length, .data = model->page};
    int result = NW_OK;

    if (bus->pending == RESET) {
        return NW_OK;
    }
    if (model->fail_next) {
        nw_nand_doom(bus->nand, req.block, bus->pending == PROGRAM);
        model->fail_next = false;
    }
    result = bus->pending == PROGRAM ? nw_chip_program(&req) : nw_chip_erase(&req);
    model->status &= (uint8_t)~LATCH;
    if (result < 0) {
        model->failures |= bus->pending == PROGRAM ? model->kind.program_failed
                                                   : model->kind.erase_failed;
    }
    return result;
}

static uint8_t read_byte(struct spi_nor_model *model, uint32_t address)
{
    uint8_t data[256];

    if (address >> model->kind.size != 0) {
        bus_violation(&model->spi.bus, "an address outside the part", address);
        return 0xFF;
    }
    /* A page at a time, for the sake of the tests' time. */
    if (address % 256U == 0 || model->address / 256U != address / 256U || model->length != 0) {
        nw_nand_peek(model->spi.bus.nand, address / 256U, data, NULL);
        memcpy(model->page, data, sizeof data);
        model->address = address;
        model->length = 0;
    }
    return model->page[address % 256U];
}

static uint8_t exchange(struct spi_model *spi, uint32_t index, uint8_t out)
{
    struct spi_nor_model *model = of(spi);
    uint32_t wide = address_bytes(model);
    uint8_t code = spi->head[0];

    if (model->asleep) {
        return spi->line;
    }
    if (index == 0) {
        if (bus_is_busy(&spi->bus) && code != 0x05) {
            bus_violation(&spi->bus, "a command to a busy part", code);
        }
        if (code == 0x0B || code == 0x02) {
            model->length = 1; /* nothing read as yet */
        }
        return 0xFF;
    }
    if (model->kind.failed_code != 0 && code == model->kind.failed_code) {
        return model->no_register ? 0xFF : model->failures;
    }
    switch (code) {
    case 0x05: return (uint8_t)(model->status | (bus_is_busy(&spi->bus) ? BUSY : 0));
    case 0x9F: return index < 4 ? model->kind.id[index - 1] : 0;
    case 0x5A: return index < 5 ? 0xFF
                                : model->sfdp[(spi_model_address(spi, 3) + index - 5U) % 256U];
    case 0x0B:
        return index <= wide + 1U ? 0xFF
                                  : read_byte(model, spi_model_address(spi, wide) + index - wide -
                                                         2U);
    case 0x02:
        if (index > wide) {
            model->page[(index - wide - 1U) % 256U] = out;
        }
        return 0xFF;
    default: return 0xFF;
    }
}

static void start(struct spi_nor_model *model, uint8_t pending, uint32_t bytes, uint32_t us)
{
    uint32_t wide = address_bytes(model);

    model->address = spi_model_address(&model->spi, wide);
    model->length = bytes - wide - 1U;
    if ((pending == ERASE && model->length != 0) || (pending == PROGRAM && model->length == 0) ||
        model->address % 256U + model->length > 256U || model->address >> model->kind.size != 0) {
        bus_violation(&model->spi.bus, "a program over its page, or no address", model->address);
        return;
    }
    if ((model->status & LATCH) != 0 && (model->status & PROTECTED) == 0) {
        model->failures = model->kind.clear_code == 0 ? 0 : model->failures;
        bus_work(&model->spi.bus, pending, us);
    } /* else the part does not take it in, and the latch stays as it is */
}

static void finish(struct spi_model *spi, uint32_t bytes)
{
    struct spi_nor_model *model = of(spi);
    bool armed = model->armed;
    uint8_t code = spi->head[0];

    model->armed = false;
    if (model->asleep) {
        model->asleep = bytes == 0 || code != 0xAB;
        return;
    }
    if (bytes == 0 || (code != 0 && code == model->kind.failed_code)) {
        return;
    }
    if (code != 0 && code == model->kind.clear_code) {
        model->failures = 0;
        return;
    }
    switch (code) {
    case 0x06: model->status |= LATCH; break;
    case 0x02: start(model, PROGRAM, bytes, model->program_us); break;
    case 0x20: start(model, ERASE, bytes, model->erase_us); break;
    case 0x66: model->armed = true; break;
    case 0x99:
        if (!armed) {
            bus_violation(&spi->bus, "a reset that was not enabled", 0);
        }
        model->status &= (uint8_t)~LATCH;
        model->wide = false;
        bus_work(&spi->bus, RESET, 30);
        break;
    case 0xB7:
        if ((model->kind.ways & 1U) != 0 || (model->status & LATCH) != 0) {
            model->wide = true;
        }
        break;
    case 0x0B: spi->bus.begun[READ]++; break;
    case 0x05:
    case 0x5A:
    case 0x9F:
    case 0xAB: break;
    default: bus_violation(&spi->bus, "no such command", code); break;
    }
}

void spi_nor_model_power_up(struct spi_nor_model *model)
{
    bus_power_up(&model->spi.bus);
    model->spi.spi.busy = 0;
    model->status &= PROTECTED;
    model->failures = 0;
    model->wide = false;
    model->length = 1;
    make_sfdp(model);
}

void spi_nor_model_open(struct spi_nor_model *model, const struct spi_nor_kind *kind,
                        uint32_t seed)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .seed = seed};

    memset(model, 0, sizeof *model);
    model->kind = *kind;
    model->program_us = 400;
    model->erase_us = 45000;
    bus_require(nw_parts_get("W25Q128JV", &part) == NW_OK, "no part W25Q128JV in the table");
    part.blocks = 1U << (kind->size - 12U);
    bus_require(nw_nand_open(&model->spi.bus.nand, &config) == NW_OK, "the twin does not open");
    model->spi.bus.chip = nw_nand_chip(model->spi.bus.nand);
    model->spi.bus.perform = perform;
    model->spi.exchange = exchange;
    model->spi.finish = finish;
    spi_model_open(&model->spi);
    spi_nor_model_power_up(model);
}

void spi_nor_model_close(struct spi_nor_model *model)
{
    bus_expect_clean(&model->spi.bus);
    nw_nand_close(model->spi.bus.nand);
}
