/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/bytes.h"
#include "nandwich/ecc.h"

/* Position of a bit: byte * 8 + bit, 12 bits for 512 bytes. */
#define POSITION_MASK 0xFFFUL

static uint8_t parity_of(uint32_t word)
{
    word ^= word >> 16;
    word ^= word >> 8;
    word ^= word >> 4;
    return (uint8_t)((0x6996U >> (word & 15U)) & 1U);
}

/* Up to four bytes as a word of the bits that differ from erased. */
static uint32_t word_at(const struct nw_ecc_unit *unit, uint16_t at, uint32_t erased)
{
    uint32_t word = 0;
    uint8_t byte;

    if (unit->length - at >= 4) {
        return nw_get32(unit->data + at) ^ erased;
    }
    for (byte = 0; at + byte < unit->length; byte++) {
        word |= (uint32_t)(uint8_t)(unit->data[at + byte] ^ unit->erased) << (8U * byte);
    }
    return word;
}

/* Exclusive or of the positions of all set bits, that of their complements above it. */
static uint32_t positions(const struct nw_ecc_unit *unit)
{
    uint32_t erased = unit->erased != 0 ? 0xFFFFFFFFUL : 0UL;
    uint32_t column = 0; /* the 32 column parities */
    uint32_t row = 0;
    uint32_t complement;
    uint16_t at;

    for (at = 0; at < unit->length; at = (uint16_t)(at + 4U)) {
        uint32_t word = word_at(unit, at, erased);

        column ^= word;
        if (parity_of(word) != 0) {
            row ^= at;
        }
    }
    row <<= 3;
    row |= parity_of(column & 0xAAAAAAAAUL) | (uint32_t)parity_of(column & 0xCCCCCCCCUL) << 1 |
           (uint32_t)parity_of(column & 0xF0F0F0F0UL) << 2 |
           (uint32_t)parity_of(column & 0xFF00FF00UL) << 3 |
           (uint32_t)parity_of(column & 0xFFFF0000UL) << 4;
    complement = parity_of(column) != 0 ? (uint32_t)(row ^ POSITION_MASK) : row;
    return row | complement << 12;
}

static void secded_encode(struct nw_ecc_unit *unit)
{
    uint32_t code = positions(unit);

    unit->parity[0] = (uint8_t)((code & 0xFFU) ^ unit->erased);
    unit->parity[1] = (uint8_t)(((code >> 8) & 0xFFU) ^ unit->erased);
    unit->parity[2] = (uint8_t)((code >> 16) ^ unit->erased);
}

static int secded_check(struct nw_ecc_unit *unit)
{
    uint32_t syndrome = positions(unit);
    uint16_t position;
    uint8_t flip;

    syndrome ^= (uint32_t)(uint8_t)(unit->parity[0] ^ unit->erased);
    syndrome ^= (uint32_t)(uint8_t)(unit->parity[1] ^ unit->erased) << 8;
    syndrome ^= (uint32_t)(uint8_t)(unit->parity[2] ^ unit->erased) << 16;
    if (syndrome == 0) {
        return 0;
    }
    if ((syndrome & (syndrome - 1UL)) == 0) {
        return 1; /* a bit of the code itself */
    }
    position = (uint16_t)(syndrome & POSITION_MASK);
    if ((position ^ POSITION_MASK) != syndrome >> 12 || (position >> 3) >= unit->length) {
        return NW_ERR_ECC;
    }
    flip = (uint8_t)(1U << (position & 7U));
    unit->data[position >> 3] = (uint8_t)(unit->data[position >> 3] ^ flip);
    return 1;
}

const struct nw_ecc_code nw_ecc_secded = {512, 3, secded_encode, secded_check};
