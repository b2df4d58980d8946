/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One flipped bit is put right where more hangs on it than one element: in the headers of chunks
 * and blocks, and in anchors. The checksum that tells of damage also tells where a single bit would
 * explain it. What is mended so has the right checksum, so it is believed like what was never hit;
 * two bits in one place stay damage. What a payload holds is never taken for a header: a header is
 * mended only at its own place, where the log leads to.
 */
#include "nandwich/crc.h"
#include "store.h"

#define CRC32_POLYNOMIAL 0xEDB88320UL

/* By which one of so many bits before a CRC-32 it differs from what it should be, so that it is
 * `wrong` by this: its number; `bits` themselves if it is a bit of the CRC; STORE_NONE: by more. */
uint32_t store_find_flip(uint32_t wrong, uint32_t bits)
{
    uint32_t effect = 1; /* of a bit that is so far from the end */

    if ((wrong & (wrong - 1U)) == 0) {
        return bits;
    }
    while (bits > 0 && effect != wrong) {
        effect = (effect >> 1) ^ (CRC32_POLYNOMIAL & (0U - (effect & 1U)));
        bits--;
    }
    return effect == wrong ? bits : STORE_NONE;
}

/* Is the payload of a chunk that is not sealed whole, but for one bit? NW_OK, and *flip tells it,
 * or its end for none: one of the CRC may be wrong, so the chunk has the right one from now on.
 * NW_ERR_CORRUPT: more is wrong, or not all of it was written; or the chip's error. */
int store_find_payload_flip(struct nw_store *store, struct chunk *chunk, uint32_t *flip)
{
    uint32_t sum;
    uint32_t bits = chunk->length * 8UL;
    int result = store_sum_up(store, chunk, NULL, 0, &sum);

    if (result < 0) {
        return result;
    }
    *flip = store_find_flip(sum ^ chunk->crc, bits);
    if (*flip == bits) {
        chunk->crc = sum;
    }
    return *flip != STORE_NONE ? (int)NW_OK : (int)NW_ERR_CORRUPT;
}
