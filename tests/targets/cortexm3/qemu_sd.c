/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card driver on a Cortex-M3 with QEMU's own model of a card (lm3s6965evb: a PL022 on whose bus
 * a card hangs, selected by pin D0). What a run wrote the next one finds: the image on the host is
 * the card.
 */
#include <stddef.h>
#include <string.h>

#include "firmware.h"
#include "nandwich/driver_sd.h"

#define SSI ((volatile uint32_t *)0x40008000U)
#define SSI_CR0 0
#define SSI_CR1 1
#define SSI_DATA 2
#define SSI_STATUS 3
#define SSI_RECEIVED 4U
#define PIN_D0 (*(volatile uint32_t *)(0x40007000U + (1U << 2)))
#define DIRECTION_D (*(volatile uint32_t *)0x40007400U)

static int board_select(struct nw_spi *spi, uint8_t on)
{
    (void)spi;
    PIN_D0 = on == NW_SPI_SELECT ? 0 : 1;
    return NW_OK;
}

static int board_transfer(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length)
{
    (void)spi;
    for (uint16_t i = 0; i < length; i++) {
        uint32_t byte;

        SSI[SSI_DATA] = out != NULL ? out[i] : 0xFFU;
        while ((SSI[SSI_STATUS] & SSI_RECEIVED) == 0) {
        }
        byte = SSI[SSI_DATA];
        if (in != NULL) {
            in[i] = (uint8_t)byte;
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
static struct nw_sd card;
static uint8_t data[8 * 512];

static uint8_t byte_of(uint32_t sector, uint32_t i)
{
    return (uint8_t)(sector * 31U + i * 7U + i / 256U);
}

static int differs(uint32_t sector, uint32_t count)
{
    for (uint32_t i = 0; i < count * 512U; i++) {
        if (data[i] != byte_of(sector + i / 512U, i % 512U)) {
            return (int)i + 1;
        }
    }
    return 0;
}

static int write_and_read(uint32_t sector, uint32_t count)
{
    struct nw_block_req req = {.block = &card.block, .sector = sector, .count = count,
                               .data = data};
    int result;

    for (uint32_t i = 0; i < count * 512U; i++) {
        data[i] = byte_of(sector + i / 512U, i % 512U);
    }
    result = nw_block_write(&req);
    if (result < 0 || req.done != count) {
        return result;
    }
    memset(data, 0xA5, sizeof data);
    result = nw_block_read(&req);
    return result < 0 ? result : differs(sector, count);
}

int firmware_main(void)
{
    struct nw_block_req req = {.block = &card.block, .count = 8, .data = data};
    int result;

    bus = (struct nw_spi){.ops = &ops, .khz = 8000};
    DIRECTION_D = 1;
    SSI[SSI_CR0] = 7; /* eight bits */
    SSI[SSI_CR1] = 2; /* on */
    result = nw_sd_open(&card, &bus);
    firmware_say("open", result);
    if (result < 0) {
        return 1;
    }
    firmware_say("sectors", (int32_t)card.block.sectors);
    firmware_say("shift", card.shift);
    req.sector = card.block.sectors - 8U;
    result = nw_block_read(&req);
    firmware_say("kept", result < 0 ? result : differs(req.sector, 8));
    for (uint32_t count = 1; count <= 8; count++) {
        result = write_and_read(count * 100U, count);
        firmware_say("written", result);
        if (result != 0) {
            firmware_say("response", card.response);
            return 2;
        }
    }
    result = write_and_read(card.block.sectors - 8U, 8);
    firmware_say("last", result);
    req.sector = 801;
    req.count = 3;
    result = result < 0 ? result : nw_block_trim(&req);
    firmware_say("trim", result);
    result = result < 0 ? result : nw_block_sync(&req);
    firmware_say("sync", result);
    return result;
}
