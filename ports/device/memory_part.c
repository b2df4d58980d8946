/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_part.c - the board without virtual memory, but with its part: pread() reads a file that
 * lies there, for programs that do by hand what virtual memory does by itself.
 */
#include <errno.h>
#include <unistd.h>

#include "bus.h"
#include "device.h"
#include "nandwich/driver_spi_nand_ahead.h"

static struct nw_spi_nand part;

void device_memory_open(void)
{
    int result = nw_spi_nand_open(&part, &device_bus, NULL);

    if (result < 0) {
        device_refuse(REFUSE_PART, (uint32_t)result, 0);
    }
}

void device_memory_tell(void)
{
}

ssize_t pread(int file, void *to, size_t bytes, off_t offset)
{
    const struct nw_geometry *geometry = &part.chip.geometry;
    int32_t first = device_call(CALL_PLACE, (uintptr_t)file, 0, 0);
    uint8_t *data = to;
    size_t left = bytes;

    while (first >= 0 && left > 0) {
        struct nw_chip_req req = {.chip = &part.chip, .data = data};

        req.page = (uint32_t)first + (uint32_t)offset / geometry->page_bytes;
        req.offset = (uint16_t)((uint32_t)offset % geometry->page_bytes);
        req.length = (uint16_t)(geometry->page_bytes - req.offset);
        req.length = req.length < left ? req.length : (uint16_t)left;
        if (nw_spi_nand_read_on(&req) < 0) {
            break;
        }
        data += req.length;
        offset += req.length;
        left -= req.length;
    }
    if (left > 0) {
        errno = EIO;
        return -1;
    }
    return (ssize_t)bytes;
}
