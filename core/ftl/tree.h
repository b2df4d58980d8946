/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - inside the tree layer. Files, bottom first; each calls only those above it:
 *
 *   tree_node.c   bytes of nodes: places, entries, reading through the cache
 *   tree_log.c    the log: programs, roots, a block after another
 *   tree_map.c    where a sector lies: look-up, change, push
 *   tree_clean.c  victims, moves, pace
 *   tree_count.c  valid pages of all blocks, by the map
 *   tree_mend.c   nodes that cannot be read, made anew of the tags of all pages
 *   tree_find.c   finding the newest root, and what came after it
 *   tree_mount.c  a mount's own block
 *   tree.c        opening, the verbs
 *
 * PLACES. A place is the number of a page. 0 is none: page 0 of each block is a root. Places and
 * sectors take `width` bytes on flash.
 *
 * ENTRIES. An entry says that a sector lies in a place (0: that it holds nothing now): 2 * width
 * bytes, in order of sectors, each sector once. RAM has one such list, the changes since the newest
 * root. The root has one, cut into a group for each child; each inner node has one, cut into a
 * group for each leaf. A leaf is an array of places. The upper always tells the truth over the
 * lower: RAM over root over inner node over leaf.
 *
 * PUSH. When root and changes have no room for another change, the root's largest group goes to its
 * inner node. When that has no room, its largest groups go to their leaves before. New nodes are
 * written to the log and replace the old ones in RAM; a mount finds them behind the root, as it
 * finds the sectors.
 */
#ifndef NANDWICH_FTL_TREE_INSIDE_H
#define NANDWICH_FTL_TREE_INSIDE_H

#include "nandwich/ftl_tree.h"
#include "tag.h"

/* The word of a tag. A plain number is a sector. Where a tag is long it also names the sector of
 * the page before in its block, in place of erases: should that one rot, a mount knows which. */
#define NW_TREE_LEAF 0x10000000UL    /* | number of the leaf */
#define NW_TREE_INNER 0x20000000UL   /* | number of the child */
#define NW_TREE_PUSHED 0x10000000UL  /* with INNER: it holds what was the root's group */
#define NW_TREE_DAMAGED 0x40000000UL /* with a sector: its content is lost */
#define NW_TREE_END 0x1FFFFFFEUL     /* no data; the mount that wrote it has ended */
#define NW_TREE_KIND 0xB0000000UL    /* bits that are 0 for a sector */
#define NW_TREE_NUMBER 0x0FFFFFFFUL

#define NW_TREE_HEAD 64U        /* bytes of a root before its children */
#define NW_TREE_QUEUE 12U       /* free blocks known by number */
#define NW_TREE_FAILED 6U       /* blocks to be emptied: nw_tree_list() */
#define NW_TREE_TAIL 2U         /* last pages of a block that count with none behind them */
#define NW_TREE_NO_BLOCK 0xFFFFU
#define NW_TREE_UNKNOWN 0xFFFFU   /* entries */
#define NW_TREE_NONE 0xFFFFFFFFUL /* no page */
#define NW_TREE_OUT 255U        /* in counts: no candidate for cleaning */
#define NW_TREE_PIECE 256U      /* bytes of entries on the stack */
#define NW_TREE_PASSED 8U       /* one small read in so many puts its node into the cache */
#define NW_TREE_RUN 32U         /* sectors looked up at once */
#define NW_TREE_TRIES 8U        /* blocks in a row that may fail */
#define NW_TREE_LOW 8U          /* cleaning begins below so many free blocks */
#define NW_TREE_STOCK 5U        /* a mount sees to so many: three may fail */
#define NW_TREE_FLOOR 4U        /* the host's writes wait for cleaning below so many */

struct nw_tree_child {
    uint32_t at;      /* place of the inner node; 0: none yet, all its sectors hold nothing */
    uint16_t start;   /* its group begins at this entry of the root on flash */
    uint16_t entries; /* of the inner node; NW_TREE_UNKNOWN: it cannot be read */
    uint8_t pushed;   /* its group is in the inner node already */
};

enum nw_tree_unsaved {
    NW_TREE_SAVED,
    NW_TREE_ROOTED, /* the newest root, which counts with the next page behind it */
    NW_TREE_TRIMMED /* trims, in RAM alone */
};

/* Free blocks in the order they will be used. The first `usable` may be erased: tree_log.c. */
struct nw_tree_queue {
    uint16_t block[NW_TREE_QUEUE];
    uint8_t count;
    uint8_t usable;
    uint8_t erased;   /* 1: the first one is erased */
};

/* What is used most stands first: small processors reach it by short instructions. */
struct nw_tree {
    /* shape, constant */
    uint8_t width;
    uint8_t entry;         /* bytes of one */
    uint8_t payload;       /* the chip keeps the content of sectors; of nodes it always does */
    /* state */
    uint8_t must_open;     /* the block takes no more pages */
    uint8_t unsaved;       /* what a cut would take back: enum nw_tree_unsaved */
    uint8_t mounting;      /* 1: nothing written counts yet, and the last free block may be taken */
    uint8_t exact;         /* no block holds more than its count says */
    uint8_t failed_count;
    uint8_t sound;         /* a bit for each of `failed` that is not to be marked bad */
    struct nw_tree_queue queue;
    /* shape, constant */
    uint16_t block_pages;
    uint16_t page_bytes;
    uint16_t leaf_places;
    uint16_t leaves;       /* below an inner node */
    uint16_t children;     /* of the root */
    uint16_t inner_at;     /* entries of an inner node begin here */
    uint16_t root_at;      /* likewise of the root */
    uint16_t blocks;
    uint16_t root_room;    /* entries */
    uint16_t inner_room;
    uint16_t changes_room;
    uint16_t cost;         /* programs of nodes for 256 changes, at most */
    uint32_t sectors;
    uint32_t span;         /* sectors below an inner node */
    /* RAM apart */
    uint8_t *buffer;
    uint8_t *counts;       /* valid pages of each block, at most 254; NW_TREE_OUT */
    uint8_t *changes;      /* entries */
    struct nw_tree_child *child; /* and one more, whose start is the end */
    uint8_t *leaf_at;      /* places of the leaves, as their inner nodes on flash have them */
    uint16_t *leaf_start;  /* entries of an inner node before those of this leaf */
    uint8_t *cache;        /* pages */
    uint32_t *cached;      /* their numbers, or NW_TREE_NONE */
    uint16_t frames;
    uint16_t hand;
    uint8_t passed;        /* reads that were not taken into the cache, counted */
    uint8_t run_count;     /* sectors whose places are known since the last look-up of a leaf, */
    uint32_t run_first;    /* from this one on, */
    uint8_t *run;          /* and the places */
    /* log */
    uint32_t root;         /* page of the newest root; NW_TREE_NONE: a format has just begun */
    uint32_t next;         /* page to be programmed next */
    uint32_t before;       /* sector of the page before it; NW_TREE_NONE */
    uint32_t owed;         /* page to be copied before the next sector's: tree_mend.c; 0: none */
    uint64_t version;      /* of the block being written: grows, odd if a mount began it */
    uint16_t left;         /* from there to the end of the block */
    uint16_t current;      /* the block; NW_TREE_NO_BLOCK: none yet */
    uint16_t change_count;
    uint16_t live;         /* entries of the root not pushed */
    uint16_t virgin;       /* blocks from here on were never used since the format */
    uint16_t failed[NW_TREE_FAILED];
    /* cleaning */
    uint16_t victim;
    uint16_t victim_at;    /* its page to be looked at next */
    struct nw_tagged tagged;
};

/* tree_node.c */
/* Bytes that overlap, in either direction. */
void nw_tree_slide(uint8_t *to, const uint8_t *from, size_t bytes);
uint32_t nw_tree_get(const struct nw_tree *tree, const uint8_t *from);
void nw_tree_put(const struct nw_tree *tree, uint8_t *to, uint32_t value);
/* The first of `count` entries whose sector is not below this one. */
uint16_t nw_tree_lower(const struct nw_tree *tree, const uint8_t *entries, uint16_t count,
                       uint32_t sector);
/* Adds or replaces one; answers how many there are then. The caller sees to the room. */
uint16_t nw_tree_insert(const struct nw_tree *tree, uint8_t *entries, uint16_t count,
                        uint32_t sector, uint32_t place);
/* Bytes of a node, by the cache if there is one. */
int nw_tree_read(struct nw_tree *tree, uint32_t page, uint32_t offset, uint16_t length,
                 uint8_t *to);
/* A whole node to the buffer, checked. NW_ERR_ECC or NW_ERR_CORRUPT: it is lost. */
int nw_tree_load(struct nw_tree *tree, uint32_t page);
/* The buffer was programmed to `page` and takes the place of a node that may be in the cache. */
void nw_tree_renew(struct nw_tree *tree, uint32_t old, uint32_t page);
/* Forgets pages that are about to be erased. */
void nw_tree_uncache(struct nw_tree *tree, uint32_t first, uint32_t end);
/* Could this node not be read? */
static inline int nw_tree_is_lost(int result)
{
    return result == NW_ERR_ECC || result == NW_ERR_CORRUPT;
}

/* tree_log.c */
void nw_tree_gain(struct nw_tree *tree, uint32_t place);
void nw_tree_lose(struct nw_tree *tree, uint32_t place);
/* One page more in the block there is; its place in *place. Ask for room before. */
int nw_tree_append(struct nw_tree *tree, uint32_t word, uint8_t *data, uint32_t *place);
/* A block to be emptied first of all. `sound`: not to be marked bad then. */
void nw_tree_list(struct nw_tree *tree, uint16_t block, int sound);
/* Its entry, or failed_count when it has none. */
uint8_t nw_tree_listed(const struct nw_tree *tree, uint16_t block);
/* Sees to it that so many pages can be programmed: a new block if need be. Uses the buffer. */
int nw_tree_room(struct nw_tree *tree, uint16_t pages);
/* A new block. */
int nw_tree_open(struct nw_tree *tree);
/* A root within the block, or a block, and that root once more. */
int nw_tree_save(struct nw_tree *tree);
/* The root in the buffer, which lies at `page`, is the newest: what RAM knows of it. */
void nw_tree_adopt(struct nw_tree *tree, uint32_t page);
void nw_tree_enqueue(struct nw_tree *tree, uint16_t block);
void nw_tree_drop_first(struct nw_tree_queue *queue);
/* Blocks that hold nothing, this one and the current one apart, join the queue. */
int nw_tree_gather(struct nw_tree *tree, uint16_t newest);
/* With usable blocks in the queue, the first not erased: erases it, or, when it is bad or goes bad
 * by that, drops it. Cost: at most one erase. */
int nw_tree_erase_ahead(struct nw_tree *tree);
int nw_tree_mark_bad(struct nw_tree *tree, uint16_t block);

/* tree_map.c */
/* Where a sector lies; 0: it holds nothing. Uses the buffer. */
int nw_tree_find(struct nw_tree *tree, uint32_t sector, uint32_t *place);
/* An inner node to the buffer, an empty one if there is none; RAM learns where its leaves lie. */
int nw_tree_load_inner(struct nw_tree *tree, uint16_t number);
/* Where the leaf lies as its inner node on flash has it; 0: it holds nothing. */
uint32_t nw_tree_leaf_place(const struct nw_tree *tree, uint32_t leaf);
/* Have root and changes no more room than this? */
static inline int nw_tree_is_full(const struct nw_tree *tree, uint16_t room)
{
    return tree->live + tree->change_count + room >= tree->root_room;
}

/* The largest group of the root goes down. Uses the buffer. */
int nw_tree_push(struct nw_tree *tree);
/* Sees to it that one change more has room. Uses the buffer. */
int nw_tree_reserve(struct nw_tree *tree);
void nw_tree_change(struct nw_tree *tree, uint32_t sector, uint32_t place);
/* The inner node in the buffer takes the place of the one there was. */
int nw_tree_put_inner(struct nw_tree *tree, uint16_t number);
/* Entries *at to `end` of a node on flash into the node in the buffer: a leaf whose first sector is
 * this one, up to the first entry of another leaf, or NW_TREE_NONE: an inner node. *at grows. */
int nw_tree_pour(struct nw_tree *tree, uint32_t page, uint32_t entries_at, uint16_t *at,
                 uint16_t end, uint32_t first);
/* Writes a node that lies at `place` anew if it is in use: for cleaning. */
int nw_tree_move_inner(struct nw_tree *tree, uint32_t child, uint32_t place);
int nw_tree_move_leaf(struct nw_tree *tree, uint32_t leaf, uint32_t place);

/* tree_clean.c */
/* Most valid pages of a victim whose cleaning wins at least `won` pages. */
uint16_t nw_tree_worth(const struct nw_tree *tree, uint16_t won);
/* A sector's page to the log once more, if it is one in use. `reserved`: its change has room. */
int nw_tree_copy(struct nw_tree *tree, uint32_t place, int reserved);
/* Room for a sector's page and its change, with what is owed copied before. Uses the buffer. */
int nw_tree_ready(struct nw_tree *tree);
/* Is there something to clean, as there is below so many free blocks? */
int nw_tree_wants(const struct nw_tree *tree, uint8_t below);
/* One page of the victim, which is chosen first if there is none: one with at most `most` valid
 * pages. 1: there is none such. */
int nw_tree_clean_step(struct nw_tree *tree, uint16_t most);
/* What a write owes to cleaning. */
int nw_tree_pace(struct nw_tree *tree);

/* tree_count.c */
/* Counts the valid pages of all blocks. 1: a node cannot be read, so its sectors count nowhere. */
int nw_tree_count(struct nw_tree *tree);

/* tree_mend.c */
/* Makes nodes that cannot be read anew. Uses the buffer. */
int nw_tree_mend(struct nw_tree *tree);

/* tree_find.c */
/* The newest state on the chip, to RAM; *last is the page written last. NW_ERR_NOT_FOUND. */
int nw_tree_restore(struct nw_tree *tree, uint32_t *last);

/* tree_mount.c */
int nw_tree_mount(struct nw_tree *tree);

#endif
