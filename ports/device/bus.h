/* SPDX-License-Identifier: Apache-2.0 */
/* bus.h - the board's bus: a serial one, or that of a parallel NAND. */
#ifndef NW_DEVICE_BUS_H
#define NW_DEVICE_BUS_H

#include "nandwich/driver_parallel_nand.h"
#include "nandwich/driver_spi.h"

extern struct nw_spi device_bus;
extern struct nw_parallel_bus device_lanes;

#endif
