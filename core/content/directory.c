/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block of a directory is a chain of entries that fills it to the last byte: inode (4), length of
 * the entry (2), of the name (1), type (1), name. Chance does not make one: each length has to lead
 * to the next one, and the last to the end. A tail with a checksum may stand there. The roots of
 * indexed directories look the same; their inner nodes, and empty blocks, are one unused entry as
 * long as the block or but for the tail.
 */
#include "inside.h"

#define ENTRY_HEAD 8U
#define TAIL_BYTES 12U
#define WHOLE 65536UL /* as long as that: an entry that is a block of 64 KiB */
#define LENGTH_WHOLE 65535UL
#define TAIL_TYPE 0xDEU
#define TYPES 8U

int nw_content_is_directory(const uint8_t *data, uint32_t bytes)
{
    uint32_t at = 0;
    int named = 0;

    while (at + ENTRY_HEAD <= bytes) {
        uint32_t length = nw_get16(data + at + 4);
        uint32_t name = data[at + 6];
        uint8_t type = data[at + 7];

        if (length == LENGTH_WHOLE && bytes == WHOLE) {
            length = WHOLE;
        }
        if (length % 4U != 0 || length < ENTRY_HEAD + name || length > bytes - at) {
            return 0;
        }
        if (type >= TYPES && (type != TAIL_TYPE || at + length != bytes)) {
            return 0;
        }
        named |= nw_get32(data + at) != 0 ? name != 0
                                          : at == 0 && bytes - length <= TAIL_BYTES;
        at += length;
    }
    return at == bytes && named;
}
