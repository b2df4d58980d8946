/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identify.h - what is on a chip: nothing, one of our layers, a store, or something else.
 *
 * Nothing is written or erased, and no RAM is wanted but about 200 bytes of stack. Ask before a
 * format, or when a mount has refused:
 *
 *     result = nw_ftl_tree_mount(&ftl, chip, &config, ram, bytes);
 *     if (result == NW_ERR_BLANK) {
 *         result = nw_ftl_tree_format(&ftl, chip, &config, ram, bytes);
 *     } else if (result == NW_ERR_NOT_FOUND && nw_identify(chip, &found) == NW_OK) {
 *         print("not formatted: the chip holds ", nw_kind_text(found.kind));
 *     }
 *
 * COST. Of the last good block 2 reads of at most 4 bytes. Then, up to the first block that tells,
 * an is_bad a block, and of its first page a read of the
 * spare bytes and three more of at most 32 bytes; of a block whose first page carries the tag of a
 * layer or is damaged, the tags of its pages; and the page that tells, once, in pieces of 32 bytes.
 * Of a store the first pages of all blocks are looked at, and of a tree layer the spare
 * bytes of those: a format that was cut may tell of itself in any, and then it is none.
 * A chip whose first pages are all blank is read whole: see nw_chip_is_blank().
 *
 * No format of ours gives a device an identity of its own, such as a serial number.
 */
#ifndef NANDWICH_IDENTIFY_H
#define NANDWICH_IDENTIFY_H

#include <stdint.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nw_kind {
    NW_KIND_BLANK,   /* nothing is written: blank.h */
    NW_KIND_UNKNOWN, /* something, and none of these: or so damaged that nothing tells what, or
                      * what a format left that was cut; but one that is cut in the program of its
                      * last page, or between those of its last two, may have left what looks like
                      * a store */
    NW_KIND_LAVISH,  /* ftl_lavish.h, and so on */
    NW_KIND_STORE,
    NW_KIND_TREE
};

/* What a field does not tell is 0. */
struct nw_identity {
    uint8_t kind;         /* enum nw_kind */
    uint8_t sealed;       /* 1: a store under a key, which keeps its geometry to itself */
    uint16_t version;     /* of the format */
    uint32_t sectors;     /* the layer has; a store does not tell, and lavish keeps nothing */
    uint32_t blocks;      /* of the chip that it was made for; lavish has no geometry of its own */
    uint16_t block_pages;
    uint16_t page_bytes;
};

/* NW_OK; NW_ERR_CONFIG: no geometry; NW_ERR_UNSUPPORTED: the chip has no spare bytes and cannot be
 * read where it is erased, so that nobody may ask; else the chip's error. */
int nw_identify(struct nw_chip *chip, struct nw_identity *identity);

/* "blank", "unknown", "tree" ... ; "unknown" for any other number. */
const char *nw_kind_text(int kind);

#ifdef __cplusplus
}
#endif

#endif
