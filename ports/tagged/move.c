/* SPDX-License-Identifier: Apache-2.0 */
/* move.c - blocks in pieces, so that a recording and a run touch the same in the same order. */
#include "nandwich-tagged/tagged.h"

static uint8_t piece_of(size_t bytes)
{
    return (uint8_t)(bytes < NW_TAGGED_PIECE_BYTES ? bytes : NW_TAGGED_PIECE_BYTES);
}

/* Overlapping upwards, the end goes first. */
void nw_tagged_move(void *to, const void *from, size_t bytes)
{
    uint8_t piece[NW_TAGGED_PIECE_BYTES];
    uintptr_t up = (uintptr_t)to - (uintptr_t)from;

    for (size_t done = 0; done < bytes;) {
        uint8_t now = piece_of(bytes - done);
        size_t at = up < bytes ? bytes - done - now : done;

        nw_tagged_get(piece, (const uint8_t *)from + at, now);
        nw_tagged_put((uint8_t *)to + at, piece, now);
        done += now;
    }
}

void nw_tagged_fill(void *to, uint8_t value, size_t bytes)
{
    uint8_t piece[NW_TAGGED_PIECE_BYTES];

    memset(piece, value, sizeof piece);
    for (size_t done = 0; done < bytes;) {
        uint8_t now = piece_of(bytes - done);

        nw_tagged_put((uint8_t *)to + done, piece, now);
        done += now;
    }
}
