/* SPDX-License-Identifier: Apache-2.0 */
/* docs/guide-your-chip.md from its first step to its last, as one follows it: the page's own code
 * is guide.c, made by the test, on a model of a part that is in no table and tells nothing of
 * itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "guide.c"
#include "spi_nand_model.h"

static struct spi_nand_model model;

void pin_write(int pin, int level)
{
    if (pin == FLASH_CS && !model.spi.bus.off) {
        (void)model.spi.spi.ops->select(&model.spi.spi, level == 0);
    }
}

uint8_t spi_exchange(uint8_t byte)
{
    uint8_t in = 0xFF;

    if (!model.spi.bus.off) {
        (void)model.spi.spi.ops->transfer(&model.spi.spi, &byte, &in, 1);
    }
    return in;
}

void delay_us(uint32_t us)
{
    (void)model.spi.spi.ops->wait(&model.spi.spi, (uint16_t)us);
}

uint32_t clock_us(void)
{
    return (uint32_t)(model.spi.bus.now_ns / 1000U);
}

/* A loss of power in the midst of step 4. */
static int pull_the_plug(uint64_t behind_bytes)
{
    model.spi.bus.cut_at = model.spi.bus.bytes + behind_bytes;
    (void)before_the_plug();
    model.spi.bus.cut_at = BUS_NEVER;
    spi_nand_model_power_up(&model);
    model.spi.selected = false; /* the board had no power either */
    memset(&check, 0, sizeof check);
    return open_part(&mine) == NW_OK ? after_the_plug() : 1;
}

/* One who takes a part of two planes for a part of one: what the page says of it. */
static int one_plane_too_few(void)
{
    static const struct spi_nand_kind two = {{0xA1, 0xE4, 0}, 1, 2, 1, 0, 1024, 0};
    int wrong;

    spi_nand_model_open(&model, &two, 3);
    wrong = first_time() != NW_OK || check.bad_blocks < 512 || check.bad_blocks > 600;
    model.spi.bus.violations = 0; /* the model saw each of them */
    spi_nand_model_close(&model);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct spi_nand_kind kind = {{0xA1, 0xE4, 0}, 1, 1, 1, 0, 1024, 0};
    static uint8_t sector[2048];
    const struct nw_ftl_tree_config config = {0};
    struct nw_block_req req = {.block = &ftl.block, .sector = 7, .count = 1, .data = sector};

    (void)argv;
    if (argc > 1) {
        return one_plane_too_few();
    }
    spi_nand_model_open(&model, &kind, 3);
    if (first_time() != NW_OK) {
        return 1;
    }
    for (uint32_t i = 0; i < 20; i++) {
        if (pull_the_plug(40000 + i * 7777) != NW_OK) {
            return 2;
        }
    }
    if (every_time() != NW_ERR_NOT_FOUND ||
        nw_ftl_tree_format(&ftl, &nand.chip, &config, ram, sizeof ram) != NW_OK) {
        return 3;
    }
    if (every_time() != NW_OK || nw_block_write(&req) != NW_OK) {
        return 4;
    }
    bus_expect_clean(&model.spi.bus);
    spi_nand_model_close(&model);
    return 0;
}
