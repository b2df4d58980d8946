/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - the part on the board's serial bus, at command level: the model of tests/bus. */
#include <string.h>

#include "emulator.h"
#include "spi_nand_model.h"

#define ECC_LOST 2U

static struct spi_nand_model model;
static bool loses;

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

void part_open(const struct settings *settings)
{
    const struct part *part = &settings->part;
    struct spi_nand_kind kind = {.id_dummy = 1,
                                 .planes = part->planes,
                                 .codes = part->codes,
                                 .onfi_row = part->onfi_row,
                                 .blocks = part->blocks,
                                 .page_bytes = part->page_bytes};

    memcpy(kind.id, part->id, sizeof kind.id);
    if (strcmp(settings->fault, "id") == 0) { /* of no table, and without a parameter page */
        kind.id[0] = 0xA1;
        kind.id[1] = 0xE4;
        kind.onfi_row = 0;
    }
    spi_nand_model_open(&model, &kind, settings->seed);
    model.read_us = part->read_us;
    model.program_us = part->program_us;
    model.erase_us = part->erase_us;
    model.spi.bus.stuck = strcmp(settings->fault, "stuck") == 0;
    loses = strcmp(settings->fault, "ecc") == 0;
}

void part_main_begins(void)
{
    model.ecc = loses ? ECC_LOST : 0;
}

void part_select(uint32_t on)
{
    (void)model.spi.spi.ops->select(&model.spi.spi, on != 0);
}

uint8_t part_exchange(uint8_t byte)
{
    uint8_t answer = 0xFF;

    (void)model.spi.spi.ops->transfer(&model.spi.spi, &byte, &answer, 1);
    return answer;
}

void part_wait(uint32_t us)
{
    (void)model.spi.spi.ops->wait(&model.spi.spi, (uint16_t)us);
}

struct flash part_flash(void)
{
    const struct bus *bus = &model.spi.bus;
    struct flash flash = {bus->now_ns, bus->busy_us, bus->bytes, {0}};

    memcpy(flash.begun, bus->begun, sizeof flash.begun);
    return flash;
}

uint32_t part_violations(void)
{
    return model.spi.bus.violations;
}

const char *part_violation(void)
{
    return model.spi.bus.violations != 0 ? model.spi.bus.why : NULL;
}
