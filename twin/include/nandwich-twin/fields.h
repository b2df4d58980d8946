/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h - a struct described field by field, so that it can be set from and shown as
 * `key = value` text. Parts and platforms are written down that way: in the table, in a user's file
 * and in the header of a saved image alike.
 *
 * VALUES
 *   count    "2048", "0xFF", "unlimited" where the description allows it (all ones)
 *   flag     "yes" or "no"
 *   text     any characters but a line end, shorter than the field
 *   bytes    a number and B, KiB, MiB or GiB
 *   time     a number and ps, ns, us, ms or s
 *   energy   a number and pJ, nJ, uJ, mJ or J
 *   power    a number and nW, uW, mW or W
 *   current  a number and nA, uA, mA or A
 *   voltage  a number and mV or V
 *   clock    a number and Hz, kHz or MHz
 *   rate     a number and bit/s or kbit/s
 *   curve    points "cycles:errors" apart by blanks, both counts, cycles ascending, at most eight
 * A number with a unit may have a decimal fraction ("1.530 us"); it must come out as a whole number
 * of the field's base unit. Nothing is rounded.
 */
#ifndef NANDWICH_TWIN_FIELDS_H
#define NANDWICH_TWIN_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nw_field_kind {
    NW_FIELD_COUNT,
    NW_FIELD_FLAG,
    NW_FIELD_TEXT,
    NW_FIELD_BYTES,
    NW_FIELD_NS,
    NW_FIELD_PS,
    NW_FIELD_PJ,
    NW_FIELD_NW,
    NW_FIELD_NA,
    NW_FIELD_MV,
    NW_FIELD_HZ,
    NW_FIELD_BPS,
    NW_FIELD_CURVE,
    NW_FIELD_CHOICE /* one of the words in `choices`, kept as its index */
};

#define NW_CURVE_POINTS 8U
#define NW_CURVE_MOST 10000000000U /* errors a 10^12 bits: one bit in a hundred */

/* Errors a 10^12 bits against erase cycles; straight between the points, flat outside them. */
struct nw_curve {
    uint32_t points; /* 0: no curve */
    uint32_t cycles[NW_CURVE_POINTS];
    uint64_t errors[NW_CURVE_POINTS];
};

struct nw_field {
    const char *key;
    const char *help; /* what the figure says, one phrase */
    uint16_t offset;  /* in the struct described */
    uint8_t size;     /* 1, 2, 4 or 8 bytes; of a text: its room, the closing 0 included */
    uint8_t kind;     /* enum nw_field_kind */
    uint64_t least;   /* smallest value that makes sense */
    uint64_t most;    /* largest one */
    const char *const *choices; /* of a choice: its words, closed by NULL */
};

/* The description of `key` among `count` fields, NULL when there is none. */
const struct nw_field *nw_field_find(const struct nw_field *fields, size_t count, const char *key);

/* Sets one field of `object`, which is unchanged on error. NW_ERR_CONFIG: the text is not of the
 * field's form or not whole in its base unit; NW_ERR_RANGE: below least or above most. */
int nw_field_set(const struct nw_field *field, void *object, const char *value);

/* The field's value as a number; 0 for a text or a curve. */
uint64_t nw_field_number(const struct nw_field *field, const void *object);

/* Writes the value as text that nw_field_set() reads back to the same value, in the largest unit
 * that keeps it exact. Answers its length, NW_ERR_RAM when `bytes` are too few. */
int nw_field_text(const struct nw_field *field, const void *object, char *text, size_t bytes);

/* What form a value of this field has, for messages: "a time like 25 us". */
const char *nw_field_form(const struct nw_field *field);

#ifdef __cplusplus
}
#endif

#endif
