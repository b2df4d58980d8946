/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the state of a store and what its files share, from the bottom up:
 *   place.c    positions, blocks and keys: arithmetic
 *   log.c      the log: write buffer, programs, blocks, reads at a position
 *   seal.c     tags and encryption, if the caller wants them
 *   sum.c      what tells that a chunk is whole
 *   torn.c     the page that a cut may have torn, in a mount
 *   walk.c     from chunk to chunk through what was written
 *   tree.c     the index of every object: key to position, nodes in a few frames of RAM
 *   anchor.c   all objects in one chunk, from which a mount starts
 *   space.c    what is in use, what fits, and how much of the log is cleaned at a time
 *   clean.c    moving what is still needed out of the oldest blocks; pacing, idle, compaction
 *   newest.c   where the newest block is, by bisection
 *   format.c   configuration, format
 *   wipe.c     how a format ends the store that was there
 *   redo.c     the replay of what came since the trees were told
 *   mount.c    which log and anchor count, its last page, the mount
 *   object.c   names, creation, deletion, checkpoints
 *   list.c     stack, queue, stream
 *   array.c    arrays
 *   file.c     files
 *   tags.c     stream and index together
 * Every bit on flash: docs/spec-store.md. Why it is built this way: docs/store.md.
 */
#ifndef NANDWICH_STORE_STATE_H
#define NANDWICH_STORE_STATE_H

#include "nandwich/bytes.h"
#include "nandwich/options.h"
#include "nandwich/store.h"
#include "nandwich/store_seal.h"

#define STORE_NONE 0xFFFFFFFFUL /* no position */
#define STORE_NO_BLOCK 0xFFFFU
#define STORE_VOID 0xFFFFFFF0UL /* sequence of void marks, of a format that goes on (wipe.c) */
#define STORE_LONGEST 65000U /* payload of any chunk */
#define ELEMENT_LONGEST 32767U /* of a list: an int of 16 bits answers its length */
#define STORE_ANY 0xFFU /* type of object */
#define STORE_FORMAT 5U

#define CHUNK_HEADER 14U
#define CHUNK_WHAT 9U /* of these that say what the chunk is */
#define BLOCK_HEADER 24U
#define CHUNK_TAG 10U /* of a sealed one: where its tag lies, in the checksum's place */
#define SEALED_CHUNK_HEADER 26U
#define SEALED_BLOCK_HEADER 40U /* a tag behind it */
#define STATE_BYTES 14U  /* payload of a state chunk */
#define OBJECT_BYTES 31U /* an object in an anchor, without its name */
#define ANCHOR_SHAPE 5U  /* in an anchor: bytes of a page, pages of a block and blocks, 2 each */
#define ANCHOR_HEAD 63U  /* before swaps and objects in an anchor */
#define SWAP_BYTES 6U    /* one of them there */
#define STORE_SWAPS 6U   /* blocks that may have failed since their last erase */
#define STORE_GENERATIONS 127U

enum chunk_kind {
    CHUNK_DATA = 1, /* an element, an array's value, a block of a file */
    CHUNK_NODE,     /* a node of an object's index; the mask is its level */
    CHUNK_STATE,    /* head, tail and bytes of an object from here on */
    CHUNK_ANCHOR,   /* all objects */
    CHUNK_MOVED,    /* data that cleaning moved; the mask tells the tables it belongs to */
    CHUNK_IMAGE     /* the page programmed last when a mount began: its number is the key */
};

/* The mask of data as it was first written. */
#define DATA_APPEND 1U /* its key was the object's tail */
#define DATA_SET 2U

#define PAGE_OPEN 0U  /* the frontier's page takes more */
#define PAGE_DONE 1U  /* the block is used up; the buffer still holds its last page */
#define PAGE_BLIND 2U /* the same, and the buffer holds nothing */

#define BLOCK_MOUNT 0x01U /* written by a mount: counts only once an anchor follows */
#define BLOCK_SEALED 0x04U
#define BLOCK_SWAP 0x02U  /* takes the place of the end of a block in which a program failed */

/* A chunk as its header tells it. */
struct chunk {
    uint32_t at; /* position of the header */
    uint32_t key;
    uint32_t crc;
    uint16_t length; /* of the payload */
    uint8_t kind;
    uint8_t mask; /* data: DATA_...; moved: bit t: belongs to table t; node: its level */
    uint8_t id;   /* slot of the object */
    uint8_t generation;
};

/* A block's header. */
struct block_head {
    uint32_t sequence; /* one more than that of the block before */
    uint32_t anchor;   /* where a mount begins to walk: the newest anchor at that time */
    uint32_t page;     /* swap: first page it stands for */
    uint32_t crc;      /* swap, but of a mount: of that page as it was begun */
    uint16_t first;    /* mount: first block of this mount */
    uint8_t flags;
};

/* An object in RAM: keys head .. tail - 1 exist. */
struct object {
    uint32_t root; /* position of the top node as last written, or STORE_NONE */
    uint32_t head;
    uint32_t tail;
    uint32_t bytes; /* that its chunks count, store_booked() */
    uint32_t limit; /* stream: most elements' chunks kept; 0: no limit */
    uint16_t unit;  /* bytes of an element, value or block; 0: elements of any length */
    uint16_t fill;  /* file: bytes in its last block; list: bytes of the head's chunk consumed */
    uint8_t type;   /* 0: the slot is free */
    uint8_t generation;
    uint8_t height; /* levels of the index */
    uint8_t rooted; /* of these under the node that root tells */
    uint8_t flags;
};

enum { FRAME_CLEAN, FRAME_DIRTY, FRAME_OLD };

/* A node in RAM. The parent of a node in RAM is in RAM too. */
struct frame {
    uint32_t index; /* of the node in its level */
    uint16_t used;  /* when, for choosing a victim */
    uint8_t object; /* number of the object + 1; 0: the frame is free */
    uint8_t level;
    uint8_t dirty; /* FRAME_OLD: has to be written before the next anchor */
    uint8_t children;
    _Alignas(uint32_t) uint8_t entries[]; /* positions, as they stand on flash */
};

/* How far cleaning has come: objects in slots before this one, and keys of its own before `key`,
 * have nothing left between the tail and block `end`, in no table. */
struct sweep {
    uint32_t key;
    uint16_t end; /* the tail: there is nothing being cleaned */
    uint8_t slot;
};

/* A block in which a program failed: its end lies in another one, page for page. That one may have
 * failed in turn, which a later swap tells. */
struct swap {
    uint16_t of;    /* the block */
    uint16_t from;  /* its first page that lies elsewhere: 0 is the first of the block */
    uint16_t block; /* where */
};

/* Mounted read-only: what the log tells of a key since the trees on flash were told. 1: *at, where
 * its chunk lies, or STORE_NONE; 0: nothing; or an error. *next becomes the lowest key behind it
 * that the log tells of, if that is lower. */
typedef int store_seek(struct nw_store *store, const struct object *object, uint32_t key,
                       uint32_t *at, uint32_t *next);

/* What is used most comes first: an AVR reaches only the first 64 bytes in one go, a Cortex-M
 * bytes up to 31, halves up to 62 and words up to 124 by short instructions. */
struct nw_store {
    uint8_t slots; /* objects of a table */
    uint8_t swap_count;
    uint8_t chunk_header; /* bytes of a chunk's header */
    uint8_t block_header; /* and of a block's */
    uint8_t full;         /* PAGE_... */
    uint8_t tables;       /* 1 + checkpoints */
    uint8_t frame_count;
    uint8_t name_bytes; /* of the longest name */
    uint8_t erased;
    uint8_t shift;     /* position = page << shift | offset */
    uint8_t programs;  /* that the frontier's page had */
    uint8_t marks;     /* a spare byte tells whether a page was written */
    uint8_t fan_shift; /* log2 of the entries of a node */
    uint8_t fan_mask;  /* these less one */
    uint8_t turn;      /* sweep: the table whose nodes are passed */
    uint8_t mounting;  /* flags of the blocks begun now */
    uint8_t flushing;  /* old frames are being written for an anchor */
    uint8_t any_head;   /* headers count with any fan and key: of what a format ends */
    uint8_t passed_bad; /* mounting: a bad block lies on the way to the log's end, or behind it */
    uint8_t page_programs;
    uint8_t spilt;        /* read-only: no frames for all that came since the trees were told */
    uint8_t most_sweeps; /* log2: in so many at most the log is cleaned once round */

    uint16_t blocks; /* of the chip, like page_bytes, block_pages, program_bytes ... */
    uint16_t page_bytes;
    uint16_t free;   /* good blocks ahead that an anchor no longer needs */
    uint16_t offset; /* bytes of the frontier's page in use */
    uint16_t good;   /* blocks not bad */
    uint16_t tail;   /* oldest block that may hold anything needed */
    uint16_t node_bytes; /* payload of a whole node */
    uint16_t tick;       /* counts steps in indexes */
    uint16_t prepared;   /* blocks ahead that are erased already */
    uint16_t block_pages;
    uint16_t programmed; /* bytes of the page on the chip */
    uint16_t safe;       /* block at which the newest anchor makes the frontier stop */
    uint16_t grow; /* offset + 1 of the header of the chunk that may still grow; 0: none */
    uint16_t low;  /* free blocks kept for mounts and for cleaning */
    uint16_t left; /* pages behind the frontier's in its block */
    uint16_t next_safe; /* the block that was the tail when the old frames were told */
    uint16_t newest;    /* mounting: block with the highest sequence: none behind it counts */
    uint16_t reserve;   /* free blocks kept for mounts */
    uint16_t longest;   /* payload of data */
    uint16_t first;     /* first block of the mount that began the frontier's, or none */

    uint32_t page;          /* the frontier: the page being filled */
    uint32_t torn;          /* mounting: the log's last page, which is read once; STORE_NONE */
    uint32_t image;         /* where the content is that it had then; STORE_NONE: in the buffer */
    int refused;            /* why store_object_of() found none */
    struct object *objects; /* tables x slots */
    const struct nw_seal_verbs *seal; /* if sealed: store_seal() tells it */
    uint8_t *buffer;        /* the frontier's page, whole */
    int32_t owed;           /* bytes that cleaning has to write, or look at */
    uint32_t held;          /* bytes dead but kept for checkpoints, at most */
    uint32_t place;         /* sweep: the key that is passed next, in one of its nodes, */
    uint32_t beyond;        /* and the first key behind these; STORE_NONE: none */
    uint32_t written;       /* bytes of the log used up, ever */
    uint32_t epoch;         /* counts moves: positions held elsewhere are void */
    uint32_t limit;         /* most bytes in use */
    uint32_t interval;      /* bytes after which an anchor is due */
    uint32_t sequence;      /* of the frontier's block */
    int broken;             /* what every write answers; NW_OK */
    struct nw_seal *sealing;
    uint32_t since;         /* bytes written since the newest anchor */
    uint32_t swept;         /* bytes of cleaning done between the tail and the sweep's end */
    uint32_t redo;          /* chunks before this position are in the trees on flash */
    uint32_t anchor;        /* position of the newest one */
    uint32_t known;         /* a page known to be written */
    uint32_t cache_page;    /* which page is read ahead, from cache_from on */
    struct frame *frames;   /* the first one */
    uint8_t *cache;         /* a page read ahead, or NULL */
    uint32_t block_bytes;
    uint32_t *kept;         /* serial of the checkpoint in table t, 0: none */
    char *names;            /* tables x slots x name_bytes */
    struct nw_chip *chip;
    uint32_t gainless; /* bytes in use when cleaning last gained nothing; 0: it gains */
    uint32_t told_sequence; /* of the newest block whose header is on the chip */
    uint32_t anchor_sequence; /* mounting: sequence of the block when it was written */
    uint32_t told;      /* where the header of the block at the frontier makes a mount begin */
    uint32_t next_redo; /* as redo, once the old frames are written; before: the log's end */
    uint32_t serial;    /* of checkpoints */
    uint32_t paced;     /* of what is used up, that by which cleaning was paced */
    store_seek *seek;   /* mounted read-only; NULL: it is not */

    struct sweep sweep;      /* now, */
    struct sweep next_sweep; /* when the old frames were told, */
    struct sweep told_sweep; /* and as anchors tell it */
    struct nw_store_stats stats;
    uint16_t program_bytes;
    uint16_t cache_from;
    uint16_t usual; /* bytes used up between two calls, on an average */
    uint16_t look;  /* of these, for a node that is only passed */
    uint16_t rate;  /* of that for each byte used up, in sixteenths */
    uint16_t cleaned; /* mounting: good blocks that were */
    uint16_t behind; /* mounting: it begins behind that block; none while it looks for the log */
    uint16_t lent;   /* blocks that the mount before has freed, which this one must not take */
    struct chunk growing; /* the one that may still grow */
    struct swap swap[STORE_SWAPS];
};

/* NULL: not sealed; in a small program that says so always, see store_seal.h. */
static inline const struct nw_seal_verbs *store_seal(const struct nw_store *store)
{
#ifdef NW_STORE_UNSEALED
    (void)store;
    return NULL;
#else
    return store->seal;
#endif
}

static inline char *store_name(const struct nw_store *store, uint8_t object)
{
    return store->names + (uint16_t)object * (uint16_t)store->name_bytes;
}

/* What is shorter than a call on a Cortex-M, and no longer on an AVR. */

static inline uint32_t store_block_bytes(const struct nw_store *store)
{
    return store->block_bytes;
}

static inline uint32_t store_first_page(const struct nw_store *store, uint16_t block)
{
    return (uint32_t)block * store->block_pages;
}

/* Bytes of a chunk, its header with it. */
static inline uint16_t store_whole(const struct nw_store *store, uint16_t length)
{
    return (uint16_t)(store->chunk_header + length);
}

static inline uint32_t store_page_of(const struct nw_store *store, uint32_t at)
{
    return at >> store->shift;
}

static inline uint32_t store_at(const struct nw_store *store, uint32_t page, uint16_t offset)
{
    return (page << store->shift) | offset;
}

/* The longest payload that always fits one page. */
static inline uint16_t store_page_room(const struct nw_store *store)
{
    return (uint16_t)(store->page_bytes - store->block_header - store->chunk_header);
}

/* The objects of a table. */
static inline struct object *store_table(const struct nw_store *store, uint8_t table)
{
    return store->objects + (uint16_t)table * store->slots;
}

/* place.c */
void store_count(uint32_t *counter, uint16_t more);
uint32_t store_booked(const struct nw_store *store, uint16_t length);
uint32_t store_shorten(const struct nw_store *store, uint32_t key, uint8_t digits);
uint16_t store_block_ahead(const struct nw_store *store, uint16_t block, uint16_t ahead);
uint16_t store_next_block(const struct nw_store *store, uint16_t block);
uint16_t store_block_before(const struct nw_store *store, uint16_t block);
uint16_t store_blocks_to(const struct nw_store *store, uint16_t block);
uint16_t store_block_with(const struct nw_store *store, uint32_t page);
uint16_t store_block_of(const struct nw_store *store, uint32_t at);
uint16_t store_place_of(const struct nw_store *store, uint32_t page);
uint16_t store_page_start(const struct nw_store *store, uint32_t page);
uint32_t store_after(const struct nw_store *store, uint32_t at, uint32_t bytes);
uint32_t store_behind(const struct nw_store *store, const struct chunk *chunk);
uint32_t store_data_at(const struct nw_store *store, const struct chunk *chunk, uint16_t from);
uint16_t store_align_up(const struct nw_store *store, uint16_t offset);
uint32_t store_block_start(const struct nw_store *store, uint16_t block);
uint8_t store_slot_of(const struct nw_store *store, const struct object *object);
uint16_t store_offset_of(const struct nw_store *store, uint32_t at);
int store_number_of(uint32_t serial);

/* log.c */
int store_make_ready(struct nw_store *store, uint16_t block);
int store_mark_bad(struct nw_store *store, uint16_t block);
int store_program(struct nw_store *store, uint32_t page, uint16_t from, uint16_t to);
int store_is_bad(struct nw_store *store, uint16_t block);
int store_go_to_good(struct nw_store *store, uint16_t *block, uint16_t step);
int store_good_after(struct nw_store *store, uint16_t *block);
uint32_t store_physical(const struct nw_store *store, uint32_t page);
int store_read(struct nw_store *store, uint32_t at, uint16_t length, uint8_t *data, int ahead);
int store_written(struct nw_store *store, uint32_t page);
uint32_t store_frontier(const struct nw_store *store);
int store_find_room(struct nw_store *store, uint16_t length, int within);
void store_let_grow(struct nw_store *store, const struct chunk *chunk);
int store_begin(struct nw_store *store, struct chunk *chunk);
int store_put(struct nw_store *store, const uint8_t *data, uint16_t length);
int store_copy(struct nw_store *store, const struct chunk *from, struct chunk *to);
void store_close(struct nw_store *store);
int store_flush(struct nw_store *store);
int store_fail(struct nw_store *store, int result);
int store_fail_early(struct nw_store *store, int result);
void store_put_block_head(struct nw_store *store, uint32_t page, uint32_t crc);
int store_open_block(struct nw_store *store);
int store_leave_page(struct nw_store *store);
int store_prepare(struct nw_store *store);
int store_append(struct nw_store *store, const struct object *object, struct chunk *chunk,
                 const uint8_t *data);

/* seal.c, by way of a seal that the caller has opened. Those that are called like a function of
 * sum.c do its work. */
struct nw_seal_verbs {
    uint32_t (*sum_begin)(const struct nw_store *store, const struct chunk *chunk);
    uint32_t (*sum_add)(const struct nw_store *store, uint32_t sum, const void *data,
                        uint16_t bytes);
    void (*sum_end)(const struct nw_store *store, uint32_t sum, struct chunk *chunk);
    int (*sum_check)(struct nw_store *store, uint32_t sum, const struct chunk *chunk);
    int (*load)(struct nw_store *store, const struct chunk *chunk, uint16_t from, uint16_t bytes,
                void *data, int ahead);
    /* Gives the block's header in the buffer its flag and tag; checks another's: NW_OK or
     * NW_ERR_KEY. */
    void (*head)(struct nw_store *store);
    int (*check_head)(const struct nw_store *store, uint32_t page, const uint8_t *bytes);
    /* The header of the chunk at a position was read. */
    void (*note)(struct nw_store *store, uint32_t at, const uint8_t *bytes);
    /* A chunk that was summed up is written: its tag goes into the header; then this is put, and
     * the payload, which is encrypted. */
    void (*start)(struct nw_store *store, const struct chunk *chunk, uint8_t *bytes);
    void (*put)(struct nw_store *store, uint8_t *data, uint16_t bytes);
    /* What was put last may grow: it is decrypted in the buffer. Then it is summed up, and
     * encrypted again. */
    void (*open)(struct nw_store *store);
    void (*close)(struct nw_store *store);
};

/* sum.c */
void store_put_what(const struct chunk *chunk, uint8_t *bytes);
void store_put_header(const struct chunk *chunk, uint8_t *bytes);
uint32_t store_sum_begin(const struct nw_store *store, const struct chunk *chunk);
uint32_t store_sum_add(const struct nw_store *store, uint32_t sum, const void *data,
                       uint16_t bytes);
void store_sum_end(const struct nw_store *store, uint32_t sum, struct chunk *chunk);
int store_damaged(struct nw_store *store, uint32_t at);
int store_sum_check(struct nw_store *store, uint32_t sum, const struct chunk *chunk);
int store_load(struct nw_store *store, const struct chunk *chunk, uint16_t from, uint16_t bytes,
               void *data, int ahead);
int store_read_proven(struct nw_store *store, const struct chunk *chunk, uint16_t at,
                      uint16_t bytes, void *data);
int store_read_part(struct nw_store *store, const struct chunk *chunk, uint16_t from,
                    uint16_t bytes, void *data);
int store_is_damage(int result);

/* On the way through the log. */
struct walk {
    uint32_t at;       /* where the next chunk is looked for */
    uint32_t end;      /* the log ends there, or STORE_NONE: nobody knows yet */
    uint32_t sequence; /* of the block */
    uint16_t block;
    uint16_t last;  /* the walk ends with it, or before; STORE_NO_BLOCK: wherever the log ends */
    uint16_t mount; /* first block of the mount in which the walk began, whose blocks count */
};

#define STORE_WALK_BLOCK 2 /* the walk has come to another block */

/* walk.c */
int store_read_chunk(struct nw_store *store, uint32_t at, struct chunk *chunk, int ahead);
int store_read_told(struct nw_store *store, uint32_t at, struct chunk *chunk, int ahead);
int store_look_at_page(struct nw_store *store, uint32_t page, struct block_head *head);
int store_look_at_head(struct nw_store *store, uint32_t page, struct block_head *head);
int store_read_head(struct nw_store *store, uint16_t block, struct block_head *head);
int store_next_chunk(struct nw_store *store, uint32_t *at, struct chunk *chunk);
int store_verify(struct nw_store *store, struct chunk *chunk);
int store_payload(struct nw_store *store, struct chunk *chunk, void *data, int ahead);
int store_payload_by(struct nw_store *store, struct chunk *chunk, void *data, uint16_t bytes,
                     int ahead);
int store_find_swap(struct nw_store *store, uint16_t block);
uint16_t store_end_of(const struct nw_store *store, uint16_t block);
uint8_t store_swap_of(const struct nw_store *store, uint16_t block);
int store_add_swap(struct nw_store *store, uint16_t of, uint16_t from, uint16_t block);
int store_begin_walk(struct nw_store *store, struct walk *walk, uint32_t at, uint16_t last);
int store_walk_on(struct nw_store *store, struct walk *walk);
int store_step(struct nw_store *store, struct walk *walk, struct chunk *chunk);

/* redo.c: up to store->next_redo; *place: of the last damage met, or STORE_NONE. */
int store_redo(struct nw_store *store, uint32_t *place);
store_seek store_seek_log;

/* newest.c */
int store_find_newest(struct nw_store *store, int all, uint16_t *newest, struct block_head *head);

/* torn.c */
void store_forget_log(struct nw_store *store);
void store_let_go(struct nw_store *store);
int store_hold(struct nw_store *store, uint32_t page, uint32_t as);
int store_pin(struct nw_store *store, uint16_t block);
int store_take_image(struct nw_store *store, uint16_t first);
int store_put_image(struct nw_store *store, uint32_t first);

/* tree.c */
int store_get(struct nw_store *store, struct object *object, uint32_t key, uint32_t *at);
int store_find(struct nw_store *store, struct object *object, uint32_t key, uint32_t *at);
int store_skip(struct nw_store *store, struct object *object, uint32_t *key);
int store_set(struct nw_store *store, struct object *object, const struct chunk *chunk,
              uint32_t *old);
int store_own_node(struct nw_store *store, struct object *object, const struct chunk *node);
int store_next_old(struct nw_store *store, struct object *object, uint32_t *key, uint32_t *at);
int store_has_old(const struct nw_store *store);
int store_flush_old(struct nw_store *store);
void store_age_frames(struct nw_store *store);
int store_flush_all(struct nw_store *store);
void store_drop_frames(struct nw_store *store, const struct object *first, uint8_t count);

/* anchor.c */
uint16_t store_anchor_most(const struct nw_store *store);
int store_write_anchor(struct nw_store *store);
int store_load_anchor(struct nw_store *store, uint32_t at);

/* format.c */
int store_open(struct nw_store **store, struct nw_chip *chip, const struct nw_store_config *config,
               void *memory, size_t bytes);

/* wipe.c */
int store_end_all(struct nw_store *store, uint16_t *mark);

/* space.c */
struct need {
    struct object *object; /* that grows */
    uint32_t bytes;        /* of new chunks, headers too */
    uint16_t chunks;       /* of these appended */
    uint8_t is_there;      /* they replace others as long */
    uint8_t type;          /* not 0: the slot is free yet, and is to be an object of this type */
};
uint32_t store_bytes_of(const struct nw_store *store, uint8_t table);
uint32_t store_held_by_others(const struct nw_store *store, uint32_t held, uint8_t table);
uint32_t store_live(const struct nw_store *store);
int store_fits(const struct nw_store *store, const struct need *need, uint8_t bare);
int store_fits_copy(struct nw_store *store, uint8_t to, uint8_t from, uint32_t held);
uint16_t store_plan_sweep(struct nw_store *store, uint16_t most);
int store_is_light(const struct nw_store *store);
int store_is_roomy(const struct nw_store *store, uint8_t times);
void store_set_limit(struct nw_store *store);

/* clean.c */
int store_clean_at_once(struct nw_store *store);
int store_clean_chunk(struct nw_store *store, struct chunk *chunk);
int store_set_moved(struct nw_store *store, const struct chunk *chunk);
int store_clean_for_mount(struct nw_store *store);
void store_sweep_anew(struct nw_store *store);
void store_sweep_from_safe(struct nw_store *store);
int store_is_old(const struct nw_store *store, uint32_t at);
int store_make_room(struct nw_store *store, const struct need *need);

/* object.c */
struct object *store_object_of(struct nw_store *store, int handle, uint8_t types);
int store_is_of(const struct nw_store *store, const struct chunk *chunk,
                const struct object *object);
uint8_t *store_growing(const struct nw_store *store, const struct object *object, uint32_t key);
int store_check_object(const struct nw_store *store, const struct object *object);
int store_write_state(struct nw_store *store, const struct object *object);
void store_get_state(struct object *object, const uint8_t *payload);
void store_bound_held(struct nw_store *store);
void store_killed(struct nw_store *store, struct object *object, uint32_t bytes);
int store_ready(struct nw_store *store, struct object *object, const struct chunk *chunk);
int store_put_data(struct nw_store *store, struct object *object, struct chunk *chunk,
                   const uint8_t *data);
int store_put_growing(struct nw_store *store, struct object *object, struct chunk *chunk,
                      const uint8_t *data);
int store_enter(struct nw_store *store, struct object *object, const struct chunk *chunk);

static inline int store_is_data(const struct chunk *chunk)
{
    return chunk->kind == CHUNK_DATA || chunk->kind == CHUNK_MOVED;
}

/* What store_append() is asked to write; the rest of a chunk is set there. */
static inline void store_describe(struct chunk *chunk, uint8_t kind, uint8_t mask, uint32_t key,
                                  uint16_t length)
{
    chunk->kind = kind;
    chunk->mask = mask;
    chunk->key = key;
    chunk->length = length;
}

static inline int store_is_append(const struct chunk *chunk)
{
    return chunk->kind == CHUNK_DATA && chunk->mask == DATA_APPEND;
}

/* Is what is in a slot now what a chunk of that slot tells of? */
static inline int store_is_known(const struct object *object, const struct chunk *chunk)
{
    return object->type != 0 && object->generation == chunk->generation;
}

/* Is one node of so many levels, with those below it, over both keys? */
static inline int store_is_under(const struct nw_store *store, uint32_t key, uint32_t other,
                                 uint8_t digits)
{
    return store_shorten(store, key ^ other, digits) == 0;
}

static inline int store_has_key(const struct object *object, uint32_t key)
{
    return key >= object->head && key < object->tail;
}

/* list.c */
int store_drop_head(struct nw_store *store, struct object *object);
int store_check_data(struct nw_store *store, const struct object *object, uint32_t number,
                     const struct chunk *chunk);
int store_find_chunk(struct nw_store *store, struct object *object, uint32_t number,
                     struct chunk *chunk);
int store_find_data(struct nw_store *store, struct object *object, uint32_t number,
                    struct chunk *chunk);

#endif
