/* SPDX-License-Identifier: Apache-2.0 */
/* bus.h - the board's bus: a serial one, or that of a parallel NAND. */
#ifndef NW_DEVICE_BUS_H
#define NW_DEVICE_BUS_H

#include "device.h"
#include "nandwich/driver_parallel_nand.h"
#include "nandwich/driver_spi.h"

extern struct nw_spi device_bus;
extern struct nw_parallel_bus device_lanes;

/* The processor sleeps until the bus has moved the bytes. */
static inline void bus_move(const uint8_t *memory, uint16_t length, enum board_move how)
{
    DEVICE_REGISTERS[BOARD_ARGUMENT] = (uint32_t)(uintptr_t)memory;
    DEVICE_REGISTERS[BOARD_ARGUMENT + 1] = length;
    *DEVICE_BYTE(BOARD_MOVE) = how;
}

static inline void bus_wait(uint16_t us)
{
    DEVICE_REGISTERS[BOARD_ARGUMENT] = us;
    *DEVICE_BYTE(BOARD_WAIT) = 1;
}

#endif
