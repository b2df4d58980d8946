/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - the part on the board's serial bus, at command level, from tests/bus: a serial NAND, or
 * the DataFlash of a Mica2. */
#include <string.h>

#include "dataflash_model.h"
#include "emulator.h"
#include "spi_nand_model.h"

#define ECC_LOST 2U
#define CLOCK_HZ 7372800U /* of a Mica2 */

static const struct dataflash_kind at45 = {{0xFF, 0xFF, 0xFF, 0xFF}, 7, 0, 2, 264, 2048};

static struct spi_nand_model model;
static struct dataflash_model dataflash;
static struct spi_model *part = &model.spi; /* the one that is there */
static bool loses;
static const uint64_t *cycles; /* NULL: time passes on the bus alone */
static uint64_t told_ns;       /* of the processor's time, so far */
static uint64_t next_ns;       /* no byte goes before */
static uint32_t byte_ns;

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

static void open_nand(const struct nand *nand, const char *fault, uint32_t seed)
{
    struct spi_nand_kind kind = {.id_dummy = 1,
                                 .planes = nand->planes,
                                 .codes = nand->codes,
                                 .onfi_row = nand->onfi_row,
                                 .blocks = nand->blocks,
                                 .page_bytes = nand->page_bytes};

    memcpy(kind.id, nand->id, sizeof kind.id);
    if (strcmp(fault, "id") == 0) { /* of no table, and without a parameter page */
        kind.id[0] = 0xA1;
        kind.id[1] = 0xE4;
        kind.onfi_row = 0;
    }
    spi_nand_model_open(&model, &kind, seed);
    model.read_us = nand->read_us;
    model.program_us = nand->program_us;
    model.erase_us = nand->erase_us;
}

void part_open(const struct settings *settings)
{
    if (strcmp(settings->part, "at45") == 0) {
        part = &dataflash.spi;
        dataflash_model_open(&dataflash, &at45, settings->seed);
        byte_ns = settings->byte_ns;
        if (settings->rewrite_us != 0) {
            dataflash.rewrite_us = settings->rewrite_us;
        }
        return;
    }
    open_nand(&settings->nand, settings->fault, settings->seed);
    model.spi.bus.stuck = strcmp(settings->fault, "stuck") == 0;
    loses = strcmp(settings->fault, "ecc") == 0;
}

void part_clock(const uint64_t *count)
{
    cycles = part == &dataflash.spi ? count : NULL;
}

/* What the processor took since it last asked the part is time for the part too. */
static void catch_up(void)
{
    if (cycles != NULL) {
        uint64_t now_ns = *cycles * 1000000000U / CLOCK_HZ;

        part->bus.now_ns += now_ns - told_ns;
        told_ns = now_ns;
    }
}

void part_main_begins(void)
{
    model.ecc = loses ? ECC_LOST : 0;
}

void part_select(uint32_t on)
{
    catch_up();
    (void)part->spi.ops->select(&part->spi, on != 0);
}

uint8_t part_exchange(uint8_t byte)
{
    uint8_t answer = 0xFF;

    catch_up();
    if (part->bus.now_ns < next_ns) {
        part->bus.now_ns = next_ns;
    }
    next_ns = part->bus.now_ns + byte_ns;
    (void)part->spi.ops->transfer(&part->spi, &byte, &answer, 1);
    return answer;
}

void part_wait(uint32_t us)
{
    catch_up();
    (void)part->spi.ops->wait(&part->spi, (uint16_t)us);
}

struct flash part_flash(void)
{
    const struct bus *bus = &part->bus;

    catch_up();
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
