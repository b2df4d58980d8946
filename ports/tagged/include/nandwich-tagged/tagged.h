/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tagged.h - what a program with NW_VM variables is linked with: functions the compiler calls in
 * place of accesses (compiler/tagged_lower.cpp), and the tables `nandwich cc --layout` makes of a
 * layout. docs/tagged.md is for people.
 *
 * A tagged variable has an address and no memory there: nw_tagged_find() says where an address lies
 * in RAM now. An answer holds until the next call of any function here.
 */
#ifndef NANDWICH_TAGGED_TAGGED_H
#define NANDWICH_TAGGED_TAGGED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nandwich/small.h"

/* Tables lie in program memory where that is another space. */
#if defined(__AVR__)
#include <avr/pgmspace.h>
#define NW_TAGGED_TABLE PROGMEM
#define NW_TAGGED_BYTE(from) pgm_read_byte(from)
#define NW_TAGGED_COPY(to, from, bytes) memcpy_P(to, from, bytes)
#else
#define NW_TAGGED_TABLE
#define NW_TAGGED_BYTE(from) (*(from))
#define NW_TAGGED_COPY(to, from, bytes) memcpy(to, from, bytes)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tables, in the order of addresses ---- */

struct nw_tagged_object {
    uintptr_t start, bytes;
    uint16_t element_bytes; /* all elements of an object are alike */
    uint16_t first;         /* number of the first one */
    const uint8_t *initial; /* NULL: zeros */
    const uint8_t *there;   /* a symbol of the file that defines it: a missing one fails the link */
};

#define NW_TAGGED_PLACE_BYTES 3U /* page, offset in it (low byte first) */

extern const struct nw_tagged_object nw_tagged_objects[];
extern const uint8_t nw_tagged_places[]; /* of each element */
extern uint8_t *nw_tagged_frame_of[];    /* of each page */

/* Numbers and memory of the layout; chip, first_page, initial and panic stay as they are. Answers
 * the number of objects. */
uint16_t nw_tagged_configure(struct nw_small_config *config);

/* ---- at run time ---- */

extern struct nw_small nw_tagged_small;

/* Begins; config has chip, first_page and panic. As nw_small_open(). */
int nw_tagged_open(struct nw_small_config *config);

/* Where a page, an element, an address lies now; `marks` go to its frame. An address that is no
 * tagged variable's stays what it is. Cost with the page in RAM: of the first two a few loads, of
 * the third a search in the objects and a division. */
void *nw_tagged_page(uint8_t page, uint8_t marks);
void *nw_tagged_element(uint16_t element, uint8_t marks);
void *nw_tagged_find(const void *address, uint8_t marks);

/* As memmove and memset, tagged or not. */
void nw_tagged_move(void *to, const void *from, size_t bytes);
void nw_tagged_fill(void *to, uint8_t value, size_t bytes);

/* A piece of those: of element after element (access.c), or told to the recorder (record.c). */
#define NW_TAGGED_PIECE_BYTES 16U
void nw_tagged_get(uint8_t *to, const uint8_t *from, uint8_t bytes);
void nw_tagged_put(uint8_t *to, const uint8_t *from, uint8_t bytes);

/* Of a program that records: an access is about to be made. */
void nw_tagged_note_read(const void *address, size_t bytes);
void nw_tagged_note_write(const void *address, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
