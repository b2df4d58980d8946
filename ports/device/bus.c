/* SPDX-License-Identifier: Apache-2.0 */
/* bus.c - the board's serial bus, as core/drivers wants it. */
#include "bus.h"

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

#if defined(NW_BOARD_DMA)
static int board_dma(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length)
{
    if ((out == NULL) == (in == NULL)) {
        return board_transfer(spi, out, in, length);
    }
    bus_move(out != NULL ? out : in, length, out != NULL ? MOVE_OUT : MOVE_IN);
    return NW_OK;
}

static int board_read4(struct nw_spi *spi, uint8_t *in, uint16_t length)
{
    (void)spi;
    bus_move(in, length, MOVE_IN_FOUR);
    return NW_OK;
}
#endif

static int board_wait(struct nw_spi *spi, uint16_t us)
{
    (void)spi;
    bus_wait(us);
    return NW_OK;
}

static const struct nw_spi_ops ops = {
    .select = board_select,
    .wait = board_wait,
#if defined(NW_BOARD_DMA)
    .transfer = board_dma,
    .read4 = board_read4,
#else
    .transfer = board_transfer,
#endif
};

struct nw_spi device_bus = {.ops = &ops, .khz = NW_BOARD_BUS_KHZ};
