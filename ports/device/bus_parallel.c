/* SPDX-License-Identifier: Apache-2.0 */
/* bus_parallel.c - the board's bus of a parallel NAND, as core/drivers wants it. */
#include "bus.h"

static int board_select(struct nw_parallel_bus *bus, uint8_t on)
{
    (void)bus;
    *DEVICE_BYTE(BOARD_SELECT) = on;
    return NW_OK;
}

static int board_latch(struct nw_parallel_bus *bus, uint8_t address, const uint8_t *bytes,
                       uint8_t length)
{
    volatile uint8_t *to = DEVICE_BYTE(address != 0 ? BOARD_ADDRESS : BOARD_COMMAND);

    (void)bus;
    for (uint8_t i = 0; i < length; i++) {
        *to = bytes[i];
    }
    *DEVICE_BYTE(BOARD_PAUSE) = 1;
    return NW_OK;
}

static int board_write(struct nw_parallel_bus *bus, const uint8_t *out, uint16_t length)
{
    (void)bus;
    if (out != NULL) {
        bus_move(out, length, MOVE_OUT);
        return NW_OK;
    }
    for (uint16_t i = 0; i < length; i++) {
        *DEVICE_BYTE(BOARD_LANES) = 0xFFU;
    }
    return NW_OK;
}

static int board_read(struct nw_parallel_bus *bus, uint8_t *in, uint16_t length)
{
    (void)bus;
    if (length > 1) {
        bus_move(in, length, MOVE_IN);
        return NW_OK;
    }
    *in = *DEVICE_BYTE(BOARD_LANES); /* a status */
    return NW_OK;
}

static int board_wait(struct nw_parallel_bus *bus, uint16_t us)
{
    (void)bus;
    bus_wait(us);
    return NW_OK;
}

static const struct nw_parallel_bus_ops ops = {
    .select = board_select,
    .latch = board_latch,
    .write = board_write,
    .read = board_read,
    .wait = board_wait,
};

struct nw_parallel_bus device_lanes = {.ops = &ops, .byte_ns = NW_BOARD_BYTE_NS};
