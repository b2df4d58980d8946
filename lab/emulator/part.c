/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - the part on the board's serial bus, at command level, from tests/bus: a W25N01GV, or the
 * DataFlash of a Mica2. */
#include <string.h>

#include "dataflash_model.h"
#include "emulator.h"
#include "spi_nand_model.h"

static const struct spi_nand_kind w25n = {{0xEF, 0xAA, 0x21}, 1, 1, 2, 1, 1024, 0};
/* A part of no table and without a parameter page. */
static const struct spi_nand_kind foreign = {{0xA1, 0xE4, 0x00}, 1, 1, 1, 0, 1024, 0};

#define ECC_LOST 2U

static const struct dataflash_kind at45 = {{0xFF, 0xFF, 0xFF, 0xFF}, 7, 0, 2, 264, 2048};

static struct spi_nand_model model;
static struct dataflash_model dataflash;
static struct spi_model *part = &model.spi; /* the one that is there */
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
    bool foreign_id = strcmp(settings->fault, "id") == 0;

    if (strcmp(settings->part, "at45") == 0) {
        part = &dataflash.spi;
        dataflash_model_open(&dataflash, &at45, settings->seed);
        return;
    }
    spi_nand_model_open(&model, foreign_id ? &foreign : &w25n, settings->seed);
    model.spi.bus.stuck = strcmp(settings->fault, "stuck") == 0;
    loses = strcmp(settings->fault, "ecc") == 0;
}

void part_main_begins(void)
{
    model.ecc = loses ? ECC_LOST : 0;
}

void part_select(uint32_t on)
{
    (void)part->spi.ops->select(&part->spi, on != 0);
}

uint8_t part_exchange(uint8_t byte)
{
    uint8_t answer = 0xFF;

    (void)part->spi.ops->transfer(&part->spi, &byte, &answer, 1);
    return answer;
}

void part_wait(uint32_t us)
{
    (void)part->spi.ops->wait(&part->spi, (uint16_t)us);
}

struct flash part_flash(void)
{
    const struct bus *bus = &part->bus;
    struct flash flash = {bus->now_ns, bus->busy_us, bus->bytes, {0}};

    memcpy(flash.begun, bus->begun, sizeof flash.begun);
    return flash;
}

uint32_t part_violations(void)
{
    return part->bus.violations;
}

const char *part_violation(void)
{
    return part->bus.violations != 0 ? part->bus.why : NULL;
}
