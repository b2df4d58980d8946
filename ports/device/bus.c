/* SPDX-License-Identifier: Apache-2.0 */
/* bus.c - the board's serial bus, as core/drivers wants it. */
#include "bus.h"

#include "device.h"

static int board_select(struct nw_spi *spi, uint8_t on)
{
    (void)spi;
    *DEVICE_BYTE(BOARD_SELECT) = on == NW_SPI_SELECT;
    return NW_OK;
}

/* One byte both ways: the processor waits until it is through. */
static int board_transfer(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length)
{
    volatile uint8_t *data = DEVICE_BYTE(BOARD_DATA);

    (void)spi;
    if (out == NULL && in != NULL) { /* most of all bytes: data that is read */
        uint8_t *end = in + length;

        while (in < end) {
            *data = 0xFFU;
            *in++ = *data;
        }
        return NW_OK;
    }
    for (uint16_t i = 0; i < length; i++) {
        *data = out != NULL ? out[i] : 0xFFU;
        if (in != NULL) {
            in[i] = *data;
        }
    }
    return NW_OK;
}

static int board_wait(struct nw_spi *spi, uint16_t us)
{
    (void)spi;
    DEVICE_REGISTERS[BOARD_ARGUMENT] = us;
    *DEVICE_BYTE(BOARD_WAIT) = 1;
    return NW_OK;
}

static const struct nw_spi_ops ops = {board_select, board_transfer, board_wait, NULL};

struct nw_spi device_bus = {.ops = &ops, .khz = 20000};
