/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of serial NOR on an ARM core with QEMU's own model of W25Q256 (ast1030-evb: a flash
 * controller in its user mode, where bytes written to a window go out on the bus). nw_chip_check()
 * goes through the part, addresses of four bytes and all.
 */
#include <stddef.h>

#include "firmware.h"
#include "nandwich/check.h"
#include "nandwich/driver_spi_nor.h"

#define CONTROLLER ((volatile uint32_t *)0x7E630000U)
#define SETTINGS 0
#define WIDTH 1 /* addresses of four bytes: QEMU's controller counts along, for the dummy byte */
#define CONTROL 4
#define WRITABLE (1U << 16)
#define USER_MODE 3U
#define DESELECTED 4U
#define WINDOW ((volatile uint8_t *)0x90000000U)

static int board_select(struct nw_spi *spi, uint8_t on)
{
    (void)spi;
    CONTROLLER[CONTROL] = on == NW_SPI_SELECT ? USER_MODE : USER_MODE | DESELECTED;
    return NW_OK;
}

static int board_transfer(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length)
{
    (void)spi;
    for (uint16_t i = 0; i < length; i++) {
        if (in != NULL) {
            in[i] = WINDOW[0];
        } else {
            WINDOW[0] = out != NULL ? out[i] : 0xFFU;
        }
    }
    return NW_OK;
}

static int board_wait(struct nw_spi *spi, uint16_t us)
{
    (void)spi;
    for (volatile uint32_t i = 0; i < us; i++) {
    }
    return NW_OK;
}

static const struct nw_spi_ops ops = {
    .select = board_select,
    .transfer = board_transfer,
    .wait = board_wait,
};
static struct nw_spi bus;
static struct nw_spi_nor nor;
static struct nw_check check;
static uint8_t ram[512];

int firmware_main(void)
{
    int result;

    bus = (struct nw_spi){.ops = &ops, .khz = 8000};
    CONTROLLER[SETTINGS] = CONTROLLER[SETTINGS] | WRITABLE;
    CONTROLLER[WIDTH] = 1;
    result = nw_spi_nor_open(&nor, &bus, NULL);
    firmware_say("open", result);
    firmware_say("id", (int32_t)(nor.id[0] << 16 | nor.id[1] << 8 | nor.id[2]));
    if (result < 0) {
        return 1;
    }
    firmware_say("blocks", (int32_t)nor.chip.geometry.blocks);
    firmware_say("address", nor.address_bytes);
    check = (struct nw_check){.chip = &nor.chip, .ram = ram, .ram_bytes = sizeof ram, .seed = 9};
    result = nw_chip_check(&check);
    firmware_say("check", result);
    firmware_say("step", check.step);
    firmware_say("tried", (int32_t)check.tried);
    return result;
}
