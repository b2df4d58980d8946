/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - inside the tree layer, on the floor (floor.h). Files, bottom first; each calls only
 * those above it:
 *
 *   tree_node.c   bytes of nodes: places, entries, reading through the cache and from the twin
 *   tree_map.c    where a sector lies: look-up, change, push
 *   tree_root.c   the root: built for the floor, and taken over from it in a mount
 *   tree_clean.c  victims, moves, pace
 *   tree_count.c  pages of all blocks that are reached, by the map
 *   tree.c        opening, the verbs
 *   tree_most.c   the longest calls
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
 * TWICE. Roots and nodes stand twice, one copy behind the other in one block. A place is that of
 * the first copy; where it cannot be read the second one is.
 *
 * PUSH. When root and changes have no room for another change, the child below which most of both
 * wait takes them into its inner node. When that has no room, its largest groups go to their leaves
 * before. New nodes are written to the log and replace the old ones in RAM; a mount finds them
 * behind the root, as it finds the sectors.
 */
#ifndef NANDWICH_FTL_TREE_INSIDE_H
#define NANDWICH_FTL_TREE_INSIDE_H

#include "nandwich/ftl_tree.h"
#include "floor.h"

/* The word of a node's tag. */
#define NW_TREE_LEAF 0x10000000UL   /* | number of the leaf */
#define NW_TREE_INNER 0x20000000UL  /* | number of the child */
#define NW_TREE_PUSHED 0x10000000UL /* with INNER: it holds all that waited for it */

#define NW_TREE_ENTRIES_AT NW_FLOOR_HEAD /* in a root */
#define NW_TREE_HEAD (NW_FLOOR_HEAD + 2U) /* bytes of a root before its children */
#define NW_TREE_UNKNOWN 0xFFFFU /* entries */
#define NW_TREE_PIECE 256U      /* bytes of entries on the stack */
#define NW_TREE_PASSED 8U       /* one small read in so many puts its node into the cache */
#define NW_TREE_RUN 32U         /* sectors looked up at once */
#define NW_TREE_OVER 2U         /* entries of a root beyond its room: a mount's copy, and one */
#define NW_TREE_LOW 4U          /* cleaning begins below so many free blocks, the list for mounts */
#define NW_TREE_EASE 2U         /* apart, and so many more where more than 12 are spare */
#define NW_TREE_SCRUB 64U      /* writes from one block that is scrubbed to the next, at least */
#define NW_TREE_SHARE 4U        /* a write passes that part of a victim at most */
#define NW_TREE_FLOOR 2U        /* the host's writes wait for cleaning below so many */

struct nw_tree_child {
    uint32_t at;      /* place of the inner node; 0: none yet, all its sectors hold nothing */
    uint16_t start;   /* its group begins at this entry of the root on flash */
    uint16_t group;   /* so many; 0 too when they are in the inner node already */
    uint16_t entries; /* of the inner node; NW_TREE_UNKNOWN: it cannot be read */
};

/* Bytes stand first, then half words: small processors reach them there by short instructions. */
struct nw_tree {
    uint8_t width;
    uint8_t entry;         /* bytes of one */
    uint8_t low;           /* cleaning begins below so many free blocks, the list apart */
    uint8_t trimmed;       /* trims since the newest root that counts: in RAM alone */
    uint8_t buffered;      /* the buffer holds the newest root */
    uint8_t folded;        /* with changes that it does not hold on flash: in a mount */
    uint8_t passed;        /* reads that were not taken into the cache, counted */
    uint8_t unneeded;      /* the victim is cleaned though no block has to be won */
    uint8_t rest;          /* writes until a block may be scrubbed */
    uint8_t run_count;     /* sectors whose places are known since the last look-up of a leaf */
    uint16_t leaf_places;
    uint16_t leaves;       /* below an inner node */
    uint16_t children;     /* of the root */
    uint16_t inner_at;     /* entries of an inner node begin here */
    uint16_t root_at;      /* likewise of the root */
    uint16_t root_room;    /* entries */
    uint16_t inner_room;
    uint16_t changes_room;
    uint16_t cost;         /* programs of nodes for 256 changes, at most */
    uint16_t change_count;
    uint16_t live;         /* entries of the root not pushed */
    uint16_t victim;
    uint16_t victim_at;    /* pages of it that were looked at; where roots may be comes last */
    uint16_t frames;
    uint16_t hand;
    uint32_t sectors;
    uint32_t span;         /* sectors below an inner node */
    uint32_t root;         /* page of the newest root; NW_FLOOR_NONE: a format has just begun */
    uint32_t run_first;    /* the first of the run, */
    uint8_t *run;          /* and the places */
    /* RAM apart */
    uint8_t *changes;      /* entries */
    struct nw_tree_child *child;
    uint8_t *leaf_at;      /* places of the leaves, as their inner nodes on flash have them */
    uint16_t *leaf_start;  /* entries of an inner node before those of this leaf */
    uint8_t *cache;        /* pages */
    uint32_t *cached;      /* their numbers, or NW_FLOOR_NONE */
    struct nw_floor floor; /* last, for it is large */
};

/* tree_node.c */
/* The tree that stands on this floor. Not inline: its fields are nearer than the floor's to it. */
struct nw_tree *nw_tree_of(struct nw_floor *floor);
/* A node's two pages are reached, or are not any more. */
void nw_tree_reach_node(struct nw_tree *tree, uint32_t place, int is);
/* Bytes that overlap, in either direction. */
void nw_tree_slide(uint8_t *to, const uint8_t *from, size_t bytes);
uint32_t nw_tree_get(const struct nw_tree *tree, const uint8_t *from);
void nw_tree_put(const struct nw_tree *tree, uint8_t *to, uint32_t value);
/* The first of `count` entries whose sector is not below this one. */
unsigned nw_tree_lower(const struct nw_tree *tree, const uint8_t *entries, unsigned count,
                       uint32_t sector);
/* Adds or replaces one; answers how many there are then. The caller sees to the room. */
uint16_t nw_tree_insert(const struct nw_tree *tree, uint8_t *entries, unsigned count,
                        uint32_t sector, uint32_t place);
/* Bytes of a node, by the cache if there is one. Nothing is checked. */
int nw_tree_read(struct nw_tree *tree, uint32_t page, uint32_t offset, unsigned length,
                 uint8_t *to);
/* A whole node to the buffer, checked. NW_ERR_ECC: both copies are lost. */
int nw_tree_load(struct nw_tree *tree, uint32_t page);
/* The buffer was programmed to `page` and takes the place of a node that may be in the cache. */
void nw_tree_renew(struct nw_tree *tree, uint32_t old, uint32_t page);
/* Forgets pages that are about to be erased. */
void nw_tree_uncache(struct nw_tree *tree, uint32_t first, uint32_t end);
/* tree_map.c */
/* Where a sector lies; 0: it holds nothing. Uses the buffer. */
int nw_tree_find(struct nw_tree *tree, uint32_t sector, uint32_t *place);
/* An inner node to the buffer, an empty one if there is none; RAM learns where its leaves lie. */
int nw_tree_load_inner(struct nw_tree *tree, unsigned number);
/* A leaf to the buffer, with what waits for it in its inner node. */
int nw_tree_load_leaf(struct nw_tree *tree, uint32_t leaf);
/* Where the leaf lies as its inner node on flash has it; 0: it holds nothing. */
uint32_t nw_tree_leaf_place(const struct nw_tree *tree, uint32_t leaf);
/* Have root and changes no more room than this? */
static inline int nw_tree_is_full(const struct nw_tree *tree, unsigned room)
{
    return tree->live + tree->change_count + room >= tree->root_room;
}

/* Changes below a child, and the first of them. */
unsigned nw_tree_changes_of(const struct nw_tree *tree, unsigned child, unsigned *first);
/* So many changes, from this one on, leave RAM. A mount in the midst of a session keeps trims: no
 * page tells of them, and all that pages tell is older. */
void nw_tree_drop(struct nw_tree *tree, unsigned from, unsigned count, int with_trims);
/* What waits below one child, most of all, goes down. Uses the buffer. */
int nw_tree_push(struct nw_tree *tree);
/* Sees to it that one change more has room, and so many pages in the log. Uses the buffer. */
int nw_tree_reserve(struct nw_tree *tree, unsigned pages);
void nw_tree_change(struct nw_tree *tree, uint32_t sector, uint32_t place);
/* Likewise, and the pages that are reached are counted. */
void nw_tree_settle(struct nw_tree *tree, uint32_t sector, uint32_t old, uint32_t place);
/* Entries into the node in the buffer: a leaf whose first sector is this one, up to the first entry
 * of another leaf, or NW_FLOOR_NONE: an inner node. How many went there. */
unsigned nw_tree_apply(struct nw_tree *tree, const uint8_t *from, unsigned count, uint32_t first);
/* Entries *at to `end` of a node on flash, likewise. *at grows. */
int nw_tree_pour(struct nw_tree *tree, uint32_t page, uint32_t entries_at, unsigned *at,
                 unsigned end, uint32_t first);
/* Writes the node of this word that lies at `place` anew if it is in use: for cleaning. */
int nw_tree_move(struct nw_tree *tree, uint32_t word, uint32_t place);

/* tree_root.c */
extern const struct nw_floor_map nw_tree_floor_map;

/* tree_clean.c */
/* Most pages of a victim that are reached, so that its cleaning wins at least `won` pages. */
unsigned nw_tree_worth(const struct nw_tree *tree, unsigned won);
/* Is there something to clean, as there is below so many free blocks? */
int nw_tree_wants(const struct nw_tree *tree, unsigned below);
/* One page of the victim, which is chosen first if there is none: one of which at most `most` pages
 * are reached. 1: there is none such. */
int nw_tree_clean_step(struct nw_tree *tree, unsigned most);
/* What a mount owes: free blocks for the next one. */
int nw_tree_restock(struct nw_tree *tree);
/* What a write owes to cleaning. */
int nw_tree_pace(struct nw_tree *tree);

/* tree_count.c */
/* Counts the pages of all blocks that are reached. NW_ERR_ECC: a node cannot be read. */
int nw_tree_count(struct nw_floor *floor);

/* tree.c */
/* How all fits together on this chip; 0: it does not. */
int nw_tree_plan(struct nw_tree *tree, const struct nw_ftl_tree_config *config,
                 const struct nw_geometry *geometry);

#endif
