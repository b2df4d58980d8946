/* SPDX-License-Identifier: Apache-2.0 */
/* How blocks die and bits flip: keyed draws in integers, the same on every machine. */
#include <string.h>

#include "nand_internal.h"

#define ERRORS_SCALE 1000000000000U /* a curve counts errors in so many bits */
#define CHUNK_BYTES 512U            /* errors are drawn by pieces of this size, or of the ECC's */
#define MOST_FLIPS 512U             /* of one piece; 327 expected of the largest, at worst */
#define DRAW_MOST 16U               /* errors expected in what one draw decides, at most */

enum { LIFE_KEY = 0x4C00, EARLY_KEY, DIES_KEY, PROGRAM_KEY, BAD_KEY, FLIP_KEY };

#define HEAL_KEY 0x4800U

/* rated x (0.85 .. 1.25). */
static uint32_t spread(uint64_t rated, uint64_t draw)
{
    uint64_t life;

    /* Four 16-bit uniforms: their sum runs from 0 to 262140, each worth 0.1 of the rating. */
    uint64_t sum = (draw & 0xFFFFU) + (draw >> 16 & 0xFFFFU) + (draw >> 32 & 0xFFFFU) +
                   (draw >> 48);

    life = rated * 85U / 100U + rated * sum / 655360U;
    return life < UINT32_MAX ? (uint32_t)life : UINT32_MAX;
}

static uint32_t life_of(const struct nw_nand *nand, uint32_t block)
{
    uint64_t rated = nand->part.endurance;
    uint64_t early = nand_key(nand, block, 0, EARLY_KEY);

    if (rated == 0) {
        return UINT32_MAX;
    }
    if ((early & 0xFFFFU) < nand->early_deaths) {
        return (uint32_t)(1U + (early >> 16) % rated);
    }
    return spread(rated, nand_key(nand, block, 0, LIFE_KEY));
}

void nw_nand_draw_lives(struct nw_nand *nand, const uint32_t *lives)
{
    for (uint32_t i = 0; i < nand->chip.geometry.blocks; i++) {
        struct nand_block *block = &nand->blocks[i];

        block->life = UINT32_MAX;
        if ((nand->flags & NW_NAND_WEAR_OUT) != 0) {
            block->life = lives != NULL ? lives[i] : life_of(nand, i);
            if ((nand_key(nand, i, 0, DIES_KEY) & 1U) != 0) {
                block->flags |= BLOCK_DIES_IN_PROGRAM;
            }
        }
        if (lives != NULL && lives[i] == 0) {
            block->flags |= BLOCK_BAD;
        }
    }
}

/* A healing ended: it is the block's heals-th. */
void nw_nand_gain_life(struct nw_nand *nand, uint32_t block_at)
{
    struct nand_block *block = &nand->blocks[block_at];
    uint64_t less = (uint64_t)nand->part.heal_step * (block->heals - 1U);
    uint64_t gain = nand->part.heal_life > less ? nand->part.heal_life - less : 0;

    block->fresh = block->erases;
    if (block->life != UINT32_MAX) {
        uint64_t draw = nand_key(nand, block_at, block->heals, HEAL_KEY);

        block->life = block->erases + spread(gain, draw);
    }
}

/* Marks 0 .. factory_bad blocks, fewer where one is drawn twice; never block 0: makers guarantee
 * that one. */
void nw_nand_draw_factory_bad(struct nw_nand *nand)
{
    uint32_t blocks = nand->chip.geometry.blocks;
    uint64_t most = (uint64_t)nand->part.factory_bad * blocks / nand->part.blocks;
    uint64_t count = nand_key(nand, 0, 0, BAD_KEY) % (most + 1U);

    count = (nand->flags & NW_NAND_FACTORY_MOST) != 0 ? most : count;
    for (uint64_t i = 1; blocks > 1U && i <= count; i++) {
        uint64_t block = 1U + nand_key(nand, i, 0, BAD_KEY) % (blocks - 1U);

        nand->blocks[block].flags |= BLOCK_BAD;
    }
}

/* Will this program fail? In the last cycle of its life one page in four does. */
bool nw_nand_program_dies(const struct nw_nand *nand, uint32_t page, uint32_t block_at)
{
    const struct nand_block *block = &nand->blocks[block_at];

    if (nand->part.rewrite != 0 && nand->pages[page].lifetime >= block->life) {
        return true;
    }
    if ((block->flags & BLOCK_DIES_IN_PROGRAM) == 0) {
        return false;
    }
    if ((block->flags & BLOCK_FAILED) != 0 || block->erases > block->life) {
        return true;
    }
    return block->erases == block->life &&
           (nand_key(nand, page, block->erases, PROGRAM_KEY) & 3U) == 0;
}

/* Upper half of a 64 x 64 bit product: the product of two fractions of 2^64. */
static uint64_t fraction_times(uint64_t a, uint64_t b)
{
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t mid = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t mid2 = (a & UINT32_MAX) * (b >> 32) + (mid & UINT32_MAX);

    return (a >> 32) * (b >> 32) + (mid >> 32) + (mid2 >> 32);
}

static uint64_t errors_after(const struct nw_curve *curve, uint32_t cycles)
{
    uint32_t i = 0;

    while (i < curve->points && curve->cycles[i] < cycles) {
        i++;
    }
    if (i == curve->points) {
        return curve->errors[i - 1U];
    }
    if (i == 0 || curve->cycles[i] == cycles) {
        return curve->errors[i];
    }
    uint64_t from = curve->errors[i - 1U];
    uint64_t run = curve->cycles[i] - curve->cycles[i - 1U];
    uint64_t gone = cycles - curve->cycles[i - 1U];

    return curve->errors[i] >= from ? from + (curve->errors[i] - from) * gone / run
                                    : from - (from - curve->errors[i]) * gone / run;
}

/* How many of `bits` flip, each with probability errors / ERRORS_SCALE: the binomial distribution
 * walked from 0 upwards with fractions of 2^64. With more than some 40 errors to be expected the
 * first fraction would vanish. */
static uint32_t draw_few(uint64_t errors, uint32_t bits, uint64_t draw)
{
    uint64_t share = UINT64_MAX / ERRORS_SCALE * errors;
    uint64_t keep = UINT64_MAX - share;
    uint64_t odds = UINT64_MAX / (ERRORS_SCALE - errors) * errors;
    uint64_t chance = UINT64_MAX;
    uint64_t square = keep;
    uint32_t flips = 0;

    for (uint32_t n = bits; n > 0; n >>= 1) {
        if ((n & 1U) != 0) {
            chance = fraction_times(chance, square);
        }
        square = fraction_times(square, square);
    }
    while (draw >= chance && flips < MOST_FLIPS) {
        uint64_t next;

        draw -= chance;
        next = fraction_times(chance, odds);
        flips++;
        chance = next / flips * (bits - flips + 1U) + next % flips * (bits - flips + 1U) / flips;
        if (chance == 0) {
            break;
        }
    }
    return flips;
}

/* The same for any number of bits, part by part. */
static uint32_t draw_flips(uint64_t errors, uint32_t bits, uint64_t draw)
{
    uint32_t parts = (uint32_t)(bits * errors / (DRAW_MOST * ERRORS_SCALE)) + 1U;
    uint32_t flips = 0;

    for (uint32_t i = 0; i < parts; i++) {
        flips += draw_few(errors, bits / parts + (i < bits % parts ? 1U : 0U),
                          i == 0 ? draw : nand_mix(draw - i));
    }
    return flips < MOST_FLIPS ? flips : MOST_FLIPS;
}

/* A stretch of a page's data or spare in which flips are drawn together. */
struct piece {
    uint32_t page;
    uint32_t number; /* of the piece in its page; keeps the draws apart */
    uint32_t start;  /* its first byte in the data or spare */
    uint32_t bytes;
    uint32_t flips;
    uint32_t bits[MOST_FLIPS]; /* which ones, counted from `start`, all different */
};

static void draw_piece(const struct nw_nand *nand, struct piece *piece, uint64_t errors)
{
    uint64_t when = (uint64_t)nand->pages[piece->page].lifetime << 32 |
                    nand->blocks[nand_block_of(nand, piece->page)].erases;
    uint64_t noise = (nand->flags & NW_NAND_READ_NOISE) != 0 ? nand->operations << 32 : 0;
    uint64_t key = nand_key(nand, piece->page, when, noise + FLIP_KEY + 16U * piece->number);
    uint32_t size = 8U * piece->bytes;

    piece->flips = draw_flips(errors, size, key);
    for (uint32_t i = 0; i < piece->flips; i++) {
        uint32_t bit = (uint32_t)(nand_mix(key + i + 1U) % size);

        for (uint32_t j = 0; j < i; j++) {
            if (piece->bits[j] == bit) { /* taken: try the next one against all */
                bit = (bit + 1U) % size;
                j = UINT32_MAX;
            }
        }
        piece->bits[i] = bit;
    }
}

/* Flips the piece's bits that fall into the bytes offset .. offset + length - 1, kept at `to`. */
static void apply_piece(const struct piece *piece, uint32_t offset, uint32_t length, uint8_t *to)
{
    for (uint32_t i = 0; i < piece->flips; i++) {
        uint32_t byte = piece->start + piece->bits[i] / 8U;

        if (byte >= offset && byte < offset + length) {
            to[byte - offset] ^= (uint8_t)(1U << (piece->bits[i] & 7U));
        }
    }
}

struct area {
    uint32_t page;
    uint32_t bytes;  /* of the whole area: the page's data, or its spare */
    uint32_t first;  /* number of its first piece */
    uint32_t offset; /* what is read of it */
    uint32_t length;
    uint8_t *to; /* NULL: only count */
};

/* Draws an area piece by piece; a piece with more flips than `repairs` is delivered as it is. Adds
 * to *repaired; answers false when the chip's ECC gives a piece up. */
static bool flip_area(struct nw_nand *nand, const struct area *area, uint64_t errors,
                      uint32_t repairs, uint32_t *repaired)
{
    uint32_t unit = nand->part.ecc_bytes != 0 ? nand->part.ecc_bytes : CHUNK_BYTES;
    uint32_t at = area->offset / unit;
    bool good = true;

    for (; at * unit < area->offset + area->length; at++) {
        struct piece piece;

        piece.page = area->page;
        piece.number = area->first + at;
        piece.start = at * unit;
        piece.bytes = area->bytes - piece.start < unit ? area->bytes - piece.start : unit;
        draw_piece(nand, &piece, errors);
        nand->stats.bits_flipped += piece.flips;
        if (piece.flips <= repairs) {
            *repaired += piece.flips;
            continue;
        }
        good = good && repairs == 0;
        if (area->to != NULL) {
            apply_piece(&piece, area->offset, area->length, area->to);
        }
    }
    return good;
}

int nw_nand_flip_bits(struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page,
                      bool repair)
{
    const struct nw_geometry *geometry = &nand->chip.geometry;
    struct area data = { page, geometry->page_bytes, 0, req->offset, req->length, req->data };
    struct area spare = { page, geometry->spare_bytes, 1024U, req->spare_offset, req->spare_length,
                          req->spare };
    uint32_t repairs = repair ? nand->part.ecc_bits : 0;
    uint32_t repaired = 0;
    const struct nand_block *block = &nand->blocks[nand_block_of(nand, page)];
    uint64_t errors;
    bool good;

    if (nand->part.errors.points == 0 || nand->pages[page].programs == 0) {
        return 0;
    }
    errors = errors_after(&nand->part.errors, block->erases - block->fresh);
    good = flip_area(nand, &data, errors, repairs, &repaired);
    good = flip_area(nand, &spare, errors, repairs, &repaired) && good;
    nand->stats.bits_corrected += repaired;
    return good ? (int)repaired : NW_ERR_ECC;
}
