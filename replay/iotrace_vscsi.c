/* SPDX-License-Identifier: Apache-2.0 */
#include "iotrace_vscsi.h"

#include <stddef.h>

#include "nandwich/bytes.h"

#define SECTOR 512U
#define LOOK 8U /* records looked at to tell the version */

/* Where the fields of a record lie. */
struct layout {
    uint8_t bytes, command, version, length, block, time;
};

static const struct layout layouts[3] = {
    {0, 0, 0, 0, 0, 0},
    {32, 12, 14, 4, 16, 24}, /* serial, length, segments, command, version, block, time */
    {40, 0, 2, 8, 16, 24},   /* command, version, serial, length, segments, block, time, response */
};

static uint64_t get64(const uint8_t *from)
{
    return nw_get32(from) | (uint64_t)nw_get32(from + 4) << 32;
}

uint32_t nw_vscsi_bytes(uint8_t version)
{
    return layouts[version].bytes;
}

/* What a SCSI command is: an enum nw_io_kind, or -1 when it moves no data. */
static int kind_of(uint16_t command)
{
    switch (command & 0xFFU) {
    case 0x08: /* READ of 6, 10, 12, 16 bytes */
    case 0x28:
    case 0xA8:
    case 0x88: return NW_IO_READ;
    case 0x0A: /* WRITE */
    case 0x2A:
    case 0xAA:
    case 0x8A: return NW_IO_WRITE;
    case 0x35: /* SYNCHRONIZE CACHE */
    case 0x91: return NW_IO_SYNC;
    default: return -1;
    }
}

int nw_vscsi_parse(const uint8_t *record, uint8_t version, struct nw_io *io)
{
    const struct layout *layout = &layouts[version];
    uint64_t block = get64(record + layout->block);
    uint64_t time_us = get64(record + layout->time);
    int kind = kind_of(nw_get16(record + layout->command));

    if (nw_get16(record + layout->version) >> 8 != version || block > UINT64_MAX / SECTOR / 4U ||
        time_us > UINT64_MAX / 1000U) {
        return -1;
    }
    if (kind < 0) {
        return 0;
    }
    io->kind = (uint8_t)kind;
    io->unit = 0;
    io->time_ns = time_us * 1000U;
    io->bytes = kind == NW_IO_SYNC ? 0 : nw_get32(record + layout->length);
    io->offset = kind == NW_IO_SYNC ? 0 : block * SECTOR;
    return kind == NW_IO_SYNC || io->bytes > 0 ? 1 : 2;
}

uint8_t nw_vscsi_version(const uint8_t *bytes, uint32_t count)
{
    for (uint8_t version = 1; version <= 2; version++) {
        uint32_t size = nw_vscsi_bytes(version), good = 0, seen = 0;

        for (; seen < LOOK && (seen + 1U) * size <= count; seen++) {
            struct nw_io io;
            good += nw_vscsi_parse(bytes + (size_t)seen * size, version, &io) >= 0;
        }
        if (seen > 0 && good * 2U > seen) {
            return version;
        }
    }
    return 0;
}
