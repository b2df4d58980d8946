/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marks.h - what tells on flash which layer a chip belongs to. Each layer's mount looks for its own
 * mark, nw_identify() for all of them.
 *
 *   page    the list of a mount (page_fence.c): word NW_MARK_LIST, data from NW_MARK_PAGE on
 *   hybrids the record of a mount (hybrid_mount.c): word NW_MARK_RECORD, data from NW_MARK_HYBRID
 *           and the layer's name on
 *   lavish  the mark in the chip's last good block (lavish_mark.c)
 */
#ifndef NANDWICH_FTL_MARKS_H
#define NANDWICH_FTL_MARKS_H

#define NW_MARK_SESSION 0x80000000UL /* in the word of all that a mount writes */
#define NW_MARK_LIST 0xBFFFFFFEUL
#define NW_MARK_RECORD 0x87FFFFFEUL

#define NW_MARK_PAGE 0x3250574EUL       /* NWP2: magic and format in one */
#define NW_MARK_PAGE_FORMAT 2U
#define NW_MARK_HYBRID 0x4259484EUL     /* NHYB */
#define NW_MARK_FAST 0x54534146UL       /* FAST */
#define NW_MARK_LOG 0x20474F4CUL        /* LOG */
#define NW_MARK_NFTL 0x4C54464EUL       /* NFTL */
#define NW_MARK_SUPERBLOCK 0x52505553UL /* SUPR */

#endif
