/* SPDX-License-Identifier: Apache-2.0 */
/* What an Arduino sketch includes: the object store and drivers of serial parts. All else is a
 * header of its own: #include <nandwich/ftl_tree.h>. */
#ifndef NANDWICH_ARDUINO_H
#define NANDWICH_ARDUINO_H

#include <nandwich/driver_dataflash.h>
#include <nandwich/driver_spi_nand.h>
#include <nandwich/driver_spi_nor.h>
#include <nandwich/store.h>

#endif
