/* SPDX-License-Identifier: Apache-2.0 */
/* bus.h - the board's serial bus. */
#ifndef NW_DEVICE_BUS_H
#define NW_DEVICE_BUS_H

#include "nandwich/driver_spi.h"

extern struct nw_spi device_bus;

#endif
