/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: drivers of NAND, NOR and DataFlash work on a bus that takes whole commands alone, as
 * driver_spi.h promises (WHOLE COMMANDS): a transfer is noted, what it asks for is poisoned, and
 * all of it happens when the part is deselected. Linux, Zephyr and embedded-hal have such buses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dataflash_model.h"
#include "nandwich/driver_dataflash.h"
#include "nandwich/driver_spi_nand.h"
#include "nandwich/driver_spi_nor.h"
#include "spi_nand_model.h"
#include "spi_nor_model.h"

struct noted {
    const uint8_t *out;
    uint8_t *in;
    uint16_t length;
};

static const struct nw_spi_ops *wire;
static struct noted noted[2];
static uint32_t used;

static int whole_select(struct nw_spi *spi, uint8_t on)
{
    int result = NW_OK;

    if (on != 0) {
        used = 0;
        return NW_OK;
    }
    assert_int_equal(wire->select(spi, 1), NW_OK);
    for (uint32_t i = 0; i < used && result == NW_OK; i++) {
        result = wire->transfer(spi, noted[i].out, noted[i].in, noted[i].length);
    }
    assert_int_equal(wire->select(spi, 0), NW_OK);
    return result;
}

/* What of a command has no meaning was what lay on the stack: another byte on the wire each time,
 * and now and then one of somebody's key. */
static void check_head(const uint8_t *out, uint16_t length)
{
    static const struct {
        uint8_t code;
        uint8_t from;
    } rows[] = {{0x03, 3}, {0x0B, 4}, {0x5A, 4}, {0xD2, 4}, {0xD4, 4}, {0xD6, 4}};

    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint16_t at = rows[i].from; out[0] == rows[i].code && at < length; at++) {
            assert_int_equal(out[at], 0);
        }
    }
}

static int whole_transfer(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length)
{
    (void)spi;
    assert_true(used < sizeof noted / sizeof noted[0]);
    assert_true(out == NULL || in == NULL);
    if (used == 0) {
        check_head(out, length);
    }
    if (in != NULL) {
        memset(in, 0xEE, length);
    }
    noted[used++] = (struct noted){out, in, length};
    return NW_OK;
}

static int whole_wait(struct nw_spi *spi, uint16_t us)
{
    return wire->wait(spi, us);
}

static const struct nw_spi_ops whole_ops = {
    .select = whole_select,
    .transfer = whole_transfer,
    .wait = whole_wait,
};

static struct nw_spi *whole(struct spi_model *model)
{
    wire = model->spi.ops;
    model->spi.ops = &whole_ops;
    return &model->spi;
}

static void use(struct nw_chip *chip, struct bus *bus)
{
    static uint8_t data[4096], back[4096];
    uint16_t page_bytes = chip->geometry.page_bytes;
    struct nw_chip_req req = {.chip = chip, .block = 2};

    req.page = 2U * chip->geometry.block_pages;
    for (uint32_t i = 0; i < page_bytes; i++) {
        data[i] = (uint8_t)(i * 7U + i / 256U);
    }
    assert_int_equal(nw_chip_is_bad(&req), 0);
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    req.length = page_bytes;
    req.data = data;
    assert_int_equal(nw_chip_program(&req), NW_OK);
    req.data = back;
    assert_int_equal(nw_chip_read(&req), 0);
    assert_memory_equal(back, data, page_bytes);
    bus_expect_clean(bus);
}

static void on_nand(void **state)
{
    static const struct spi_nand_kind kind = {{0xEF, 0xAA, 0x21}, 1, 1, 2, 1, 1024, 0};
    static struct spi_nand_model model;
    struct nw_spi_nand nand;

    (void)state;
    spi_nand_model_open(&model, &kind, 3);
    assert_int_equal(nw_spi_nand_open(&nand, whole(&model.spi), NULL), NW_OK);
    use(&nand.chip, &model.spi.bus);
    spi_nand_model_close(&model);
}

static void on_nor(void **state)
{
    static const struct spi_nor_kind kind = {{0xEF, 0x40, 0x13}, 19, 16, 0, 0, 0, 0, 0};
    static struct spi_nor_model model;
    struct nw_spi_nor nor;

    (void)state;
    spi_nor_model_open(&model, &kind, 3);
    assert_int_equal(nw_spi_nor_open(&nor, whole(&model.spi), NULL), NW_OK);
    use(&nor.chip, &model.spi.bus);
    spi_nor_model_close(&model);
}

static void on_dataflash(void **state)
{
    static const struct dataflash_kind kind = {{0x1F, 0x24, 0, 0}, 7, 0, 2, 264, 2048};
    static struct dataflash_model model;
    struct nw_dataflash flash;

    (void)state;
    dataflash_model_open(&model, &kind, 3);
    assert_int_equal(nw_dataflash_open(&flash, whole(&model.spi)), NW_OK);
    use(&flash.chip, &model.spi.bus);
    dataflash_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_nand),
        cmocka_unit_test(on_nor),
        cmocka_unit_test(on_dataflash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
