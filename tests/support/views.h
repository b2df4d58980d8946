/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.h - a chip and an NVM in a piece of memory, of which each cut and each view can be tried.
 * What a cut left shows itself at each power-up in one of the ways that it may: a page as its new
 * content, or as blank, or not at all; a block that was being erased as its old content, or as
 * blank, or not at all. What showed whole never turns blank. Of a write to the NVM that was cut
 * none shows, or all, or every other unit; and that stays.
 */
#ifndef NANDWICH_TESTS_VIEWS_H
#define NANDWICH_TESTS_VIEWS_H

#include "nandwich/block.h"
#include "nandwich/chip.h"
#include "nandwich/nvm.h"
#include "nandwich/random.h"

#define VIEWS_BLOCKS 24U
#define VIEWS_BLOCK_PAGES 16U
#define VIEWS_BYTES 256U
#define VIEWS_SPARE 18U
#define VIEWS_PAGES (VIEWS_BLOCKS * VIEWS_BLOCK_PAGES)
#define VIEWS_NVM_BYTES 1152U /* room for four sectors, and what a tier keeps beside them */
#define VIEWS_NVM_UNIT 8U

struct views {
    uint8_t bytes[VIEWS_PAGES][VIEWS_BYTES + VIEWS_SPARE]; /* also before an erase that was cut */
    uint8_t written[VIEWS_PAGES];
    uint8_t page_kind[VIEWS_PAGES];
    uint8_t block_kind[VIEWS_BLOCKS];
    uint8_t page_view[VIEWS_PAGES];
    uint8_t block_view[VIEWS_BLOCKS];
    uint8_t nvm[VIEWS_NVM_BYTES];
    uint8_t nvm_new[VIEWS_BYTES]; /* of the write that was cut */
    uint32_t nvm_at;
    uint32_t nvm_length; /* 0: none was */
    uint32_t cut_after;  /* changes; 0: never */
    uint8_t off;
};

/* The device that chip and NVM below work on. */
extern struct views *views_now;
extern struct nw_chip views_chip;
extern struct nw_nvm views_nvm;

/* A copy with power, under the view of that number; NULL: there are not so many. To be freed. */
struct views *views_show(const struct views *dark, uint32_t number);

/* From now on nothing that a cut left can be read. */
void views_lose(struct views *lit);

/* From each view of a device without power a mount: cut in each of its changes, up to so many times
 * in a row, and whole: `mounted` is told. Returns how many mounts there were. */
uint32_t views_mounts(const struct views *dark, uint32_t cuts, int (*mount)(void),
                      void (*mounted)(void));

/* The same for one way, drawn: up to so many mounts that are cut, and the whole one behind them. */
void views_walk(const struct views *dark, struct nw_random *random, uint32_t cuts,
                int (*mount)(void), void (*mounted)(void));

/* What has to be there behind a mount: a token for each number, and one under way. */
struct views_judged {
    int (*mount)(void);
    int (*holds)(uint32_t number, uint32_t token);
    const uint32_t *wanted;
    uint32_t count;
    uint32_t under_way;
    uint32_t coming; /* its token, or the wanted one */
    uint32_t histories;
    struct nw_random *random; /* NULL, or one view is drawn */
};

/* A device has mounted: all is there, and what is under way stays as it shows at one more power-up
 * of each view. */
void views_judge(struct views_judged *judged);

/* The content of a token, VIEWS_BYTES a sector: zeros for 0. */
void views_fill(uint8_t *bytes, uint32_t token);

/* Writes a sector of a block device with a token. Answers as nw_block_write. */
int views_write(struct nw_block *block, uint32_t sector, uint32_t token);

/* Can a sector be read, and does it show that token? */
int views_holds(struct nw_block *block, uint32_t sector, uint32_t token);

#endif
