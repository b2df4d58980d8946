/* SPDX-License-Identifier: Apache-2.0 */
#include "iotrace_packed.h"

#include <string.h>

#include "nandwich-replay/iotrace.h"

#define SECTOR 512U
#define MOST_BYTES ((uint64_t)1 << 62) /* of an address, as in other formats */

/* The first byte of a record. */
#define KIND 0x03U    /* enum nw_io_kind */
#define EARLIER 0x04U /* before the request before it */
#define SECTORS 0x08U /* place and size are in sectors */
#define PLACE 0x10U   /* it is not behind the one before */
#define SIZE 0x20U    /* nor as large */
#define UNIT 0x40U
#define APP 0x80U

/* Seven bits a byte, the least ones first; the last byte's top bit is 0. */
static uint8_t *put_number(uint8_t *to, uint64_t value)
{
    for (; value > 0x7FU; value >>= 7) {
        *to++ = (uint8_t)(value | 0x80U);
    }
    *to++ = (uint8_t)value;
    return to;
}

/* Bytes being read; `bad` when they end too soon or say what cannot be. */
struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    int bad;
};

static uint64_t get_number(struct cursor *cursor)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64U && cursor->at < cursor->end; shift += 7U) {
        uint64_t bits = *cursor->at & 0x7FU;

        value |= bits << shift;
        if (value >> shift != bits) {
            break; /* more than 64 bits */
        }
        if ((*cursor->at++ & 0x80U) == 0) {
            return value;
        }
    }
    cursor->bad = 1;
    return 0;
}

/* A difference with its sign in the lowest bit. */
static uint64_t signed_number(uint64_t from, uint64_t to)
{
    return to >= from ? (to - from) << 1 : (from - to) << 1 | 1U;
}

static uint64_t add_signed(uint64_t from, uint64_t number)
{
    return (number & 1U) != 0 ? from - (number >> 1) : from + (number >> 1);
}

static uint8_t *put_place(const struct nw_packed *packed, const struct nw_io *io, uint8_t *flags,
                          uint8_t *to)
{
    uint64_t grain = 1;

    if ((io->offset | io->bytes | packed->end) % SECTOR == 0) {
        grain = SECTOR;
        *flags |= SECTORS;
    }
    if (io->offset != packed->end) {
        *flags |= PLACE;
        to = put_number(to, signed_number(packed->end / grain, io->offset / grain));
    }
    if (io->bytes != packed->bytes) {
        *flags |= SIZE;
        to = put_number(to, io->bytes / grain);
    }
    return to;
}

size_t nw_packed_put(struct nw_packed *packed, const struct nw_io *io, const char *name,
                     uint8_t to[NW_PACKED_LONGEST])
{
    uint8_t flags = io->kind;
    uint8_t *at = to + 1;
    int earlier = io->time_ns < packed->time_ns;

    flags |= earlier ? EARLIER : 0;
    at = put_number(at, earlier ? packed->time_ns - io->time_ns : io->time_ns - packed->time_ns);
    if (io->unit != packed->unit) {
        flags |= UNIT;
        at = put_number(at, io->unit);
    }
    if (io->app != packed->app) {
        flags |= APP;
        at = put_number(at, io->app);
        if (io->app == packed->apps + 1U) {
            size_t length = name != NULL ? strlen(name) : 0;

            length = length < NW_IOTRACE_APP_BYTES ? length : NW_IOTRACE_APP_BYTES - 1U;
            *at++ = (uint8_t)length;
            memcpy(at, name != NULL ? name : "", length);
            at += length;
            packed->apps++;
        }
    }
    if (io->kind != NW_IO_SYNC) {
        at = put_place(packed, io, &flags, at);
        packed->end = io->offset + io->bytes;
        packed->bytes = io->bytes;
    }
    packed->time_ns = io->time_ns;
    packed->unit = io->unit;
    packed->app = io->app;
    to[0] = flags;
    return (size_t)(at - to);
}

/* Who asked; a name that is given for the first time. */
static uint16_t get_app(struct nw_packed *packed, struct cursor *cursor, const char **name,
                        size_t *name_bytes)
{
    uint64_t app = get_number(cursor);

    if (app > packed->apps + 1U || app > NW_IOTRACE_APPS) {
        cursor->bad = 1;
        return 0;
    }
    if (app == packed->apps + 1U && cursor->at == cursor->end) {
        cursor->bad = 1;
    } else if (app == packed->apps + 1U) {
        *name_bytes = *cursor->at++;
        *name = (const char *)cursor->at;
        cursor->bad |= *name_bytes == 0 || *name_bytes >= NW_IOTRACE_APP_BYTES ||
                       (size_t)(cursor->end - cursor->at) < *name_bytes;
        cursor->at += cursor->bad ? 0 : *name_bytes;
        packed->apps++;
    }
    return (uint16_t)app;
}

static void get_place(const struct nw_packed *packed, uint8_t flags, struct cursor *cursor,
                      struct nw_io *io)
{
    uint64_t grain = (flags & SECTORS) != 0 ? SECTOR : 1U;
    uint64_t place = packed->end / grain;
    uint64_t size = packed->bytes / grain;

    if ((flags & PLACE) != 0) {
        place = add_signed(place, get_number(cursor));
    }
    if ((flags & SIZE) != 0) {
        size = get_number(cursor);
    }
    if (place > MOST_BYTES / grain || size > MOST_BYTES / grain || size == 0) {
        cursor->bad = 1;
        return;
    }
    io->offset = place * grain;
    io->bytes = size * grain;
}

size_t nw_packed_get(struct nw_packed *packed, const uint8_t *from, size_t left, struct nw_io *io,
                     const char **name, size_t *name_bytes)
{
    struct cursor cursor = {.at = from, .end = from + left};
    uint8_t flags;
    uint64_t passed;

    *name_bytes = 0;
    if (left == 0) {
        return 0;
    }
    flags = *cursor.at++;
    passed = get_number(&cursor);
    *io = (struct nw_io){.kind = flags & KIND, .unit = packed->unit, .app = packed->app};
    io->time_ns = (flags & EARLIER) != 0 ? packed->time_ns - passed : packed->time_ns + passed;
    cursor.bad |= ((flags & EARLIER) != 0) != (io->time_ns < packed->time_ns);
    if ((flags & UNIT) != 0) {
        io->unit = get_number(&cursor);
    }
    if ((flags & APP) != 0) {
        io->app = get_app(packed, &cursor, name, name_bytes);
    }
    if (io->kind != NW_IO_SYNC) {
        get_place(packed, flags, &cursor, io);
        packed->end = io->offset + io->bytes;
        packed->bytes = io->bytes;
    }
    packed->time_ns = io->time_ns;
    packed->unit = io->unit;
    packed->app = io->app;
    return cursor.bad ? 0 : (size_t)(cursor.at - from);
}
