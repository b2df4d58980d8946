/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_kinds.c - the parts a board can carry: a serial NAND, a serial NOR, a parallel NAND, or the
 * DataFlash of a Mica2.
 *
 * SETTING. KIND,ID,READ,PROGRAM,ERASE,SHAPE..: times in microseconds, id in hexadecimal; the shape
 * is that of lab/device/parts.py. "at45" alone is the DataFlash.
 */
#include "part_kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataflash_model.h"
#include "nandwich/ecc.h"
#include "parallel_nand_model.h"
#include "spi_nand_model.h"
#include "spi_nor_model.h"

#define ECC_LOST 2U
#define SHAPE_MAX 6

/* A setting, read. */
struct setting {
    char kind[NAME_BYTES];
    uint32_t id; /* four bytes, the first one highest */
    uint16_t read_us, program_us, erase_us;
    uint32_t shape[SHAPE_MAX];
};

void bus_require(bool holds, const char *what)
{
    if (!holds) {
        machine_fail("the model of the part", what);
    }
}

void bus_expect_clean(struct bus *bus)
{
    (void)bus; /* told in the report */
}

static void read_setting(struct setting *told, const char *text)
{
    char id[9];
    int at = 0;

    if (sscanf(text, "%63[^,],%8[^,],%" SCNu16 ",%" SCNu16 ",%" SCNu16 "%n", told->kind, id,
               &told->read_us, &told->program_us, &told->erase_us, &at) != 5) {
        machine_fail("settings", text);
    }
    told->id = (uint32_t)strtoul(id, NULL, 16) << (32U - 4U * (uint32_t)strlen(id));
    for (int i = 0; i < SHAPE_MAX && text[at] == ','; i++) {
        int bytes = 0;

        (void)sscanf(text + at, ",%" SCNu32 "%n", &told->shape[i], &bytes);
        at += bytes;
    }
}

static void put_id(uint8_t *id, size_t bytes, const struct setting *told, bool is_foreign)
{
    for (size_t i = 0; i < bytes; i++) {
        id[i] = (uint8_t)(told->id >> (24U - 8U * i));
    }
    if (is_foreign) { /* of no table */
        id[0] = 0xA1;
        id[1] = 0xE4;
    }
}

static void on_serial_bus(struct part *part, struct spi_model *model,
                          const struct settings *settings)
{
    part->bus = &model->bus;
    part->spi = &model->spi;
    model->bus.byte_ps = settings->bus_ps;
    if (settings->bus_four) {
        spi_model_widen(model);
    }
}

static struct spi_nand_model spi_nand;

static void spi_nand_lose(void)
{
    spi_nand.ecc = ECC_LOST;
}

static void spi_nand_open(struct part *part, const struct setting *told,
                          const struct settings *settings, bool is_foreign)
{
    struct spi_nand_kind kind = {.id_dummy = 1,
                                 .planes = (uint8_t)told->shape[0],
                                 .codes = (uint8_t)told->shape[1],
                                 .onfi_row = is_foreign ? 0 : (uint8_t)told->shape[2],
                                 .blocks = told->shape[3],
                                 .page_bytes = (uint16_t)told->shape[4]};

    put_id(kind.id, sizeof kind.id, told, is_foreign);
    spi_nand_model_open(&spi_nand, &kind, settings->seed);
    spi_nand.read_us = told->read_us;
    spi_nand.program_us = told->program_us;
    spi_nand.erase_us = told->erase_us;
    on_serial_bus(part, &spi_nand.spi, settings);
    part->files = spi_nand.spi.bus.chip;
    part->lose = spi_nand_lose;
}

static struct spi_nor_model spi_nor;

static void spi_nor_open(struct part *part, const struct setting *told,
                         const struct settings *settings, bool is_foreign)
{
    struct spi_nor_kind kind = {.size = (uint8_t)told->shape[0],
                                .dwords = is_foreign ? 0 : 16};

    put_id(kind.id, sizeof kind.id, told, is_foreign);
    spi_nor_model_open(&spi_nor, &kind, settings->seed);
    spi_nor.program_us = told->program_us;
    spi_nor.erase_us = told->erase_us;
    on_serial_bus(part, &spi_nor.spi, settings);
    part->files = spi_nor.spi.bus.chip;
}

static struct parallel_nand_model parallel_nand;

static void parallel_nand_lose(void)
{
    parallel_nand.lost = true;
}

/* Its files carry the codes that the firmware wants (ports/device/part_parallel_nand.c). */
static void parallel_nand_open(struct part *part, const struct setting *told,
                               const struct settings *settings, bool is_foreign)
{
    static const struct nw_ecc_config config;
    static struct nw_ecc coded;
    static uint8_t ram[1024];
    struct parallel_nand_kind kind = {.row_cycles = (uint8_t)told->shape[0],
                                      .page_programs = (uint8_t)told->shape[1],
                                      .blocks = told->shape[2]};

    put_id(kind.id, sizeof kind.id, told, is_foreign);
    parallel_nand_model_open(&parallel_nand, &kind, settings->seed);
    parallel_nand.read_us = told->read_us;
    parallel_nand.program_us = told->program_us;
    parallel_nand.erase_us = told->erase_us;
    parallel_nand.bus.byte_ps = settings->bus_ps;
    bus_require(nw_ecc_open(&coded, parallel_nand.bus.chip, &config, ram, sizeof ram) >= 0,
                "no room for codes");
    part->bus = &parallel_nand.bus;
    part->lanes = &parallel_nand.wires;
    part->files = &coded.chip;
    part->lose = parallel_nand_lose;
}

static struct dataflash_model dataflash;

static void at45_open(struct part *part, const struct settings *settings)
{
    static const struct dataflash_kind at45 = {{0xFF, 0xFF, 0xFF, 0xFF}, 7, 0, 2, 264, 2048};

    dataflash_model_open(&dataflash, &at45, settings->seed);
    if (settings->rewrite_us != 0) {
        dataflash.rewrite_us = settings->rewrite_us;
    }
    part->bus = &dataflash.spi.bus;
    part->spi = &dataflash.spi.spi;
    part->byte_ns = settings->byte_ns;
}

void part_kind_open(struct part *part, const struct settings *settings)
{
    bool is_foreign = strcmp(settings->fault, "id") == 0;
    struct setting told = {0};

    if (strcmp(settings->part, "at45") == 0) {
        at45_open(part, settings);
        return;
    }
    read_setting(&told, settings->part);
    if (strcmp(told.kind, "spi_nand") == 0) {
        spi_nand_open(part, &told, settings, is_foreign);
    } else if (strcmp(told.kind, "spi_nor") == 0) {
        spi_nor_open(part, &told, settings, is_foreign);
    } else if (strcmp(told.kind, "parallel_nand") == 0) {
        parallel_nand_open(part, &told, settings, is_foreign);
    } else {
        machine_fail("settings", settings->part);
    }
    part->is_own_time = true;
    if (strcmp(settings->fault, "stuck") == 0) {
        part->bus->stuck = true;
        part->bus->pending = 1; /* since before the processor began */
    }
}
