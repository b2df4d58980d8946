/* SPDX-License-Identifier: Apache-2.0 */
/* docs/guide-your-chip.md from its first step to its last, as one follows it: the page's own code
 * is guide.c, made by the test, on a model of a part that is in no table and tells nothing of
 * itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "guide.c"
#include "spi_nand_model.h"

static struct spi_nand_model model;

void pin_write(int pin, int level)
{
    if (pin == FLASH_CS) {
        (void)model.spi.spi.ops->select(&model.spi.spi, level == 0);
    }
}

uint8_t spi_exchange(uint8_t byte)
{
    uint8_t in = 0xFF;

    (void)model.spi.spi.ops->transfer(&model.spi.spi, &byte, &in, 1);
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

int main(void)
{
    static const struct spi_nand_kind kind = {{0xA1, 0xE4, 0}, 1, 1, 1, 0, 1024, 0};
    static uint8_t sector[2048];
    const struct nw_ftl_page_config config = {0};
    struct nw_block_req req = {.block = &ftl.block, .sector = 7, .count = 1, .data = sector};

    spi_nand_model_open(&model, &kind, 3);
    if (open_part(NULL) != NW_ERR_UNSUPPORTED || open_part(&mine) != NW_OK) {
        return 1;
    }
    if (try_part() != NW_OK) {
        return 2;
    }
    print_part();
    if (start_layer() != NW_ERR_NOT_FOUND ||
        nw_ftl_page_format(&ftl, &nand.chip, &config, ram, sizeof ram) != NW_OK) {
        return 3;
    }
    if (open_part(&mine) != NW_OK || start_layer() != NW_OK || nw_block_write(&req) != NW_OK) {
        return 4;
    }
    bus_expect_clean(&model.spi.bus);
    spi_nand_model_close(&model);
    return 0;
}
