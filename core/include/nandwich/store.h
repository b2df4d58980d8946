/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - durable typed objects on raw flash: stacks, queues, streams, arrays and files by name,
 * with checkpoints and rollback. A log of chunks over the whole chip, after Mathur et al.,
 * "Capsule: An Energy-Optimized Object Storage System for Memory-Constrained Sensor Devices",
 * SenSys 2006. Every bit on flash: docs/spec-store.md; why, and each cost measured: docs/store.md.
 *
 * WHICH CHIPS. NAND with at least one spare byte a page, NOR and DataFlash; pages of 64 bytes
 * (sealed: 128) to 16 KiB; at least 16 blocks of at least 8 pages; at most 65,535 blocks, and 2 GiB
 * less a block. Else format and mount answer NW_ERR_CONFIG, also where anchors leave no room: 16
 * blocks of 8 pages of 512 bytes need an anchor_bytes of 2,048 or less. Stack nw_ecc below for
 * parts that flip bits.
 *
 * DURABLE, within the budget of docs/faults.md. What was written is durable when a sync (or a
 * create, delete, rename, checkpoint, rollback or drop) has returned. Before that a power cut may
 * take it, the latest first: an element or a block of a file is there whole or not at all, and if
 * one is there all before it are. What was synced in the page programmed last is gone without a
 * word if that page rots: it looks like one that was cut.
 *
 * COST, in chip operations; F entries a node (fan), h = ceil(log F of the number of chunks) levels
 *   write, push, append, set   nothing but RAM until a page is full: 1 program; a node of 4 F + 14
 *                              bytes for every F elements in sequence, for every one at random
 *   sync                       1 program of the bytes since the last one; 0 if there are none
 *   pop, dequeue, next         2 reads and 1/F node reads; with read_ahead 1 read for a page
 *   get, peek, file read       2 reads and at most h node reads
 *   mount                      1 erase, 3 programs and what has to be moved; a few reads for each
 *                              doubling of the blocks, 3 at most for each chunk since the last but
 *                              one anchor; behind a mount that was cut 3 reads a block
 * With nw_store_idle() a write costs no erase; without, a synced overwrite of 64 bytes at most 1
 * erase and 8 to 15 programs (tests/unit/test_store_limit.c). No block is erased more than once
 * oftener than another, but for mounts.
 *
 * ERRORS common to all calls: NW_ERR_NOT_FOUND no such object or element; NW_ERR_TYPE; NW_ERR_RANGE
 * outside the object; NW_ERR_FULL no room, nothing was written; NW_ERR_CORRUPT, NW_ERR_ECC stored
 * bytes are damaged, nw_store_stats()->place tells where, all else goes on; NW_ERR_TAMPERED the
 * same of a sealed one. After any other error while writing each write answers it until the next
 * mount, which shows the call that failed as done or as not; reading goes on.
 */
#ifndef NANDWICH_STORE_H
#define NANDWICH_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_STORE_CHECKPOINTS 3U /* most that can be kept */

struct nw_store_config {
    uint8_t objects;       /* most objects at a time, 1 .. 60; 0: 8. About 32 + name_bytes B RAM.
                            * objects x (checkpoints + 1) x (31 + name_bytes) has to be no more
                            * than half a block less 137 bytes (sealed 165), for one chunk tells
                            * them all: of blocks of 4 KiB 44 objects with names of 12, or 22 with
                            * a checkpoint; else NW_ERR_CONFIG */
    uint8_t name_bytes;    /* longest name, 1 .. 32; 0: 12 */
    uint8_t frames;        /* index nodes in RAM, 4 .. 64; 0: 8, with checkpoints 5 for each of
                            * them and 5. More levels than frames - 1 are not possible:
                            * NW_ERR_RANGE, and nothing is written. With checkpoints give levels x
                            * (checkpoints + 1), a queue's or stream's a level more: with fewer
                            * each element counts a node a level */
    uint8_t fan;           /* entries of a node: 8, 16, 32 or 64; 0: 16. 4 B RAM a frame each */
    uint8_t checkpoints;   /* kept at a time, 0 .. 3. RAM as for all objects each */
    uint8_t read_ahead;    /* 1: a page of RAM for reading in sequence */
    uint32_t anchor_bytes; /* written between two anchors: less costs writes, more costs mount
                            * time; a 16th of the chip at most; 0: a 64th, 4 KiB .. 64 KiB */
    struct nw_seal *seal;  /* authenticated encryption: store_seal.h; NULL: none. Pages of 128
                            * bytes at least */
};

struct nw_store; /* in the caller's RAM */

/* Bytes of RAM for this chip and configuration; 0: they are NW_ERR_CONFIG. Whether enough fits a
 * small chip is told by format. */
size_t nw_store_ram_bytes(const struct nw_store_config *config,
                          const struct nw_geometry *geometry);

/*
 * An empty store. Cost: 3 reads and 1 erase a block, a read more of one that is not blank, and a
 * program, of pages below 101 bytes (sealed 129) two; where there was a store 3 reads, an erase and
 * 2 programs more. Cut before its end it leaves no store, but for one case: cut before its first
 * two programs are done it may leave the store there was, whole. So it is after any number of
 * formats that are cut one after the other, whatever shows then of what was torn (but for one
 * limit: core/store/wipe.c). Format again to the end: do not go on with the store there was, for
 * what was torn may show later, and a mount answer NW_ERR_NOT_FOUND. Cut in its last program, or
 * between the last two, it leaves the header of a block: a mount answers NW_ERR_NOT_FOUND, but with
 * another key NW_ERR_KEY, with another fan NW_ERR_VERSION, and nw_identify() tells a store.
 * The configuration goes with the store: mount with the same objects, name_bytes, fan and
 * checkpoints, else NW_ERR_VERSION, and with the same key. frames, read_ahead and anchor_bytes may
 * be others at each mount: with frames too few for the index of an object NW_ERR_VERSION, too;
 * limit_bytes follows them.
 * NW_ERR_CONFIG, NW_ERR_RAM, NW_ERR_FULL (so many bad blocks or so small a chip that limit_bytes
 * would be less than a block), or the chip's error.
 */
int nw_store_format(struct nw_store **store, struct nw_chip *chip,
                    const struct nw_store_config *config, void *ram, size_t ram_bytes);

/*
 * The store as the last sync left it, or later. `ram` is aligned for any type and belongs to the
 * store from now on, like `chip`. There is nothing to close.
 * NW_ERR_BLANK: nothing is written on the chip; NW_ERR_NOT_FOUND: something is, but no store: see
 * nw_identify(); nothing is written or erased then. NW_ERR_VERSION: another format, geometry or
 * configuration, told by bytes whose checksum is right; NW_ERR_KEY: sealed with another key, or not
 * sealed, or no seal given; NW_ERR_CORRUPT, NW_ERR_TAMPERED; NW_ERR_FULL: so many blocks have
 * failed that none is free; NW_ERR_PROGRAM: so many have failed in this mount, or six since they
 * were erased last, that its anchor found no place. Neither touches what is stored, and the next
 * mount tries again; but where hardly a good block is left, a page whose program failed may show
 * that anchor whole, and a later mount take the last good block for free. Else as format. Where
 * blocks fail so behind the anchor, when cleaning makes room for the next mount, it is NW_OK: all
 * is read, and writes answer NW_ERR_FULL, or NW_ERR_PROGRAM until the next mount.
 */
int nw_store_mount(struct nw_store **store, struct nw_chip *chip,
                   const struct nw_store_config *config, void *ram, size_t ram_bytes);

/*
 * The same without a program or an erase, for as long as the store is open: each call that writes,
 * sync and idle answer NW_ERR_UNSUPPORTED. It shows what a mount would show, also where that has no
 * free block or its programs fail; what a torn tail shows here may change at the next mount of
 * either kind. A node of the index that was changed since the newest anchor takes a frame; with
 * fewer frames each look-up goes through that part of the log, and bytes may be told as more than
 * they are.
 */
int nw_store_mount_read_only(struct nw_store **store, struct nw_chip *chip,
                             const struct nw_store_config *config, void *ram, size_t ram_bytes);

/* Makes durable what was written. */
int nw_store_sync(struct nw_store *store);

/* OBJECTS */

enum nw_store_type {
    NW_STORE_STACK = 1, /* push, pop */
    NW_STORE_QUEUE,     /* push, dequeue */
    NW_STORE_STREAM,    /* append, cursors */
    NW_STORE_ARRAY,     /* set, get */
    NW_STORE_FILE       /* read, write at an offset */
};

#define NW_STORE_EXPENDABLE 0x01U /* stream: where a put or a create would take used_bytes above
                                   * limit_bytes its oldest chunks are dropped until it does not,
                                   * synced ones too, and more where blocks fail meanwhile; at no
                                   * other time */

/*
 * What an object is. unit_bytes: a stream's elements have all this size and are packed into common
 * chunks, as many as a sync or a page end allows; 0: each element is a chunk of its own, of any
 * size. An array's values and a file's blocks always have this size (array: a third of a block
 * less 14, sealed 26, at most 65,000; file: a page less 38, sealed 66; 0 is 256, or the next lower
 * power of two that fits, and half a page).
 * count: of an array its keys 0 .. count - 1; of a stream the most chunks it keeps, the oldest are
 * dropped (ring); 0: no limit.
 */
struct nw_store_spec {
    uint8_t type;
    uint8_t flags;
    uint16_t unit_bytes;
    uint32_t count;
};

/* A new object; answers its handle (> 0), valid until the object is deleted or a rollback. The same
 * handle comes back with the 127th object that is created in that slot behind it. The name
 * has 1 .. name_bytes characters. NW_ERR_EXISTS; NW_ERR_NAME: empty or too long; NW_ERR_FULL: no
 * slot or no room; NW_ERR_CONFIG: a spec that contradicts itself; NW_ERR_RANGE: an array of so many
 * keys that its index has more levels than frames - 1. Durable. */
int nw_store_create(struct nw_store *store, const char *name, const struct nw_store_spec *spec);

/* The handle of an object. NW_ERR_NAME: the name is empty or too long. */
int nw_store_find(struct nw_store *store, const char *name);

/* Gives an object up, with all it holds (the paper's invalidate). Durable. */
int nw_store_delete(struct nw_store *store, int handle);

/*
 * Another name for an object, whose handle stays. An object that has this name gives way: after a
 * power cut one of the two is there under it, whole - the way to replace a file at once. What both
 * hold is durable with it. NW_ERR_NAME. Durable; cost: an anchor, of its own name a sync.
 */
int nw_store_rename(struct nw_store *store, int handle, const char *name);

struct nw_store_about {
    int handle;
    struct nw_store_spec spec;
    uint32_t head;  /* number of the first chunk: of a stack or an array 0 */
    uint32_t tail;  /* number behind the last one */
    uint32_t bytes; /* on flash, with its share of what the ends of blocks leave blank, without its
                     * index; a file: its length is nw_store_length() */
    char name[33];
};

/* The object in a slot, 0 .. objects - 1. NW_ERR_NOT_FOUND: none there; NW_ERR_RANGE: the end. */
int nw_store_at(struct nw_store *store, uint8_t slot, struct nw_store_about *about);

/* STACK, QUEUE, STREAM. Elements have 1 .. (a third of a block less 14, sealed 26; at most 32,767)
 * bytes; more: NW_ERR_RANGE, nothing is written. */

/* To the top of a stack, or the end of a queue; a stream has nw_store_append(). */
int nw_store_push(struct nw_store *store, int handle, const void *data, uint16_t bytes);

/* The newest element of a stack: its length. NW_ERR_RANGE: longer than `bytes`, nothing is taken;
 * NW_ERR_NOT_FOUND: empty. A damaged element stays, and NW_ERR_CORRUPT with it, until it is taken
 * with `data` NULL: unread, whatever its length, which is 0 if even that cannot be read, or not any
 * more since cleaning has passed. */
int nw_store_pop(struct nw_store *store, int handle, void *data, uint16_t bytes);

/* The oldest element of a queue, likewise. */
int nw_store_dequeue(struct nw_store *store, int handle, void *data, uint16_t bytes);

/* Element `number`, head .. tail - 1 of nw_store_about, left where it is: its length. */
int nw_store_peek(struct nw_store *store, int handle, uint32_t number, void *data, uint16_t bytes);

/* At the end of a stream; with a unit, a whole number of elements, of no more bytes together than
 * one element may have: else NW_ERR_RANGE, and nothing is written. */
int nw_store_append(struct nw_store *store, int handle, const void *data, uint16_t bytes);

/* Drops the chunks of a stream before `chunk`. */
int nw_store_trim(struct nw_store *store, int handle, uint32_t chunk);

/* A place in a stream, to be copied freely and kept as a tag (handle, chunk and offset say all). */
struct nw_store_cursor {
    int handle;
    uint32_t chunk;
    uint16_t offset; /* bytes in the chunk */
    uint16_t length; /* of the chunk; the store's own, like those below */
    uint32_t at;
    uint32_t epoch;
};

/* Before the first element, or behind the last one. */
int nw_store_first(struct nw_store *store, int handle, struct nw_store_cursor *cursor);
int nw_store_last(struct nw_store *store, int handle, struct nw_store_cursor *cursor);

/* To a place kept earlier. NW_ERR_NOT_FOUND: dropped since. An offset that no cursor has told is
 * not checked: within an element, what next and previous read begins there. */
int nw_store_seek(struct nw_store *store, int handle, uint32_t chunk, uint16_t offset,
                  struct nw_store_cursor *cursor);

/* The element behind the cursor, or before it, and the cursor moves over it: its length, 0 at the
 * end. With a unit as many elements as fit `bytes` and lie in one chunk; going back, one. An
 * element longer than `bytes`: NW_ERR_RANGE, the cursor stays. An element dropped meanwhile:
 * NW_ERR_NOT_FOUND. A chunk is checked when the cursor comes into it; if it is damaged the cursor
 * stays, and nw_store_seek() gets over it. */
int nw_store_next(struct nw_store *store, struct nw_store_cursor *cursor, void *data,
                  uint16_t bytes);
int nw_store_previous(struct nw_store *store, struct nw_store_cursor *cursor, void *data,
                      uint16_t bytes);

/* ARRAY */

int nw_store_set(struct nw_store *store, int handle, uint32_t key, const void *value);

/* NW_ERR_NOT_FOUND: never set. */
int nw_store_get(struct nw_store *store, int handle, uint32_t key, void *value);

/* Moves *key on to the first one from there that was set. One that damage hides counts as set: get
 * tells. NW_ERR_NOT_FOUND: there is none, *key is the array's count, or as it was where that is
 * beyond. Cost: the nodes on the way from key to key, no matter how far apart; no value is read. */
int nw_store_next_key(struct nw_store *store, int handle, uint32_t *key);

/* STREAM-INDEX: a stream and an array with values of this size, made with nw_store_create(). */
#define NW_STORE_TAG_BYTES 6U

/* Keeps the place under a tag, 0 .. the array's count - 1. NW_ERR_TAG: beyond; NW_ERR_TYPE: no such
 * array. Cost: set. */
int nw_store_tag(struct nw_store *store, int array, uint32_t tag,
                 const struct nw_store_cursor *cursor);

/* Goes to the place. NW_ERR_NOT_FOUND: never told, or the stream has dropped it; NW_ERR_TAG.
 * Cost: get. */
int nw_store_tagged(struct nw_store *store, int array, uint32_t tag, int stream,
                    struct nw_store_cursor *cursor);

/* FILE. Blocks of unit_bytes; a write into one costs the whole block again, and reading it, unless
 * it covers it or comes at the end while the last block is still in RAM. */

/* Writes at an offset, 0 .. length; at the end the file grows. Answers the bytes written; more than
 * 32,767 in a call: NW_ERR_RANGE. Fewer than asked where a later block met an error: a call with
 * the rest tells which, NW_ERR_FULL and NW_ERR_RANGE (frames) among them. An error answered: no
 * block of this call was changed. A damaged block is an error unless the call covers it, which
 * makes it whole. A cut may leave the first blocks of an unsynced write without the later ones. */
int nw_store_write(struct nw_store *store, int handle, uint32_t offset, const void *data,
                   uint16_t bytes);

/* Bytes read, fewer at the end; more than 32,767 asked for: NW_ERR_RANGE. A part of a block is
 * checked only with read_ahead and from the block's start: the checksum is the block's. */
int nw_store_read(struct nw_store *store, int handle, uint32_t offset, void *data, uint16_t bytes);

int nw_store_length(struct nw_store *store, int handle, uint32_t *bytes);

/* Cuts the end off. */
int nw_store_truncate(struct nw_store *store, int handle, uint32_t bytes);

/* CHECKPOINTS */

/* Keeps the state of all objects: its number (> 0, ascending). Behind 32,767 they begin at 1
 * again, and pass by those of checkpoints that are kept: no two have the same. If the most are kept
 * the oldest is given up. Durable. NW_ERR_FULL: with it used_bytes would be above limit_bytes;
 * nothing was changed. NW_ERR_UNSUPPORTED: the configuration has no checkpoints. */
int nw_store_checkpoint(struct nw_store *store);

/* All objects as that checkpoint saw them; 0: the newest one. Handles are void, checkpoints stay.
 * Durable. NW_ERR_FULL: used_bytes would be above limit_bytes, and more than it is; nothing was
 * changed. Dropping another one makes room. */
int nw_store_rollback(struct nw_store *store, int checkpoint);

/* Gives one up. Its index is no longer in use, nor what it held as far as the others cannot hold
 * it: with the last one all of that. */
int nw_store_drop(struct nw_store *store, int checkpoint);

/* The number of the checkpoint at a place, 0 .. NW_STORE_CHECKPOINTS - 1; 0: none there. */
int nw_store_kept(const struct nw_store *store, uint8_t place);

/* MAINTENANCE */

/* Up to `budget` pieces of work ahead of its time: each looks at one chunk, writes one node or
 * erases one block, or marks it bad where that fails. Answers how many were done; fewer than the
 * budget: there is no more. */
int nw_store_idle(struct nw_store *store, uint16_t budget);

/*
 * Moves chunks of an object to the end of the log, so that the blocks they lay in become free when
 * their turn comes: `count` numbers from *key on, which is moved on; keys of an array that were
 * never set are skipped, up to a whole subtree of the index counting as one.
 * Answers how many were moved: 0 at the end, or when no key of an array among them was ever set.
 * Cost of each: 1 read, its bytes read and written.
 */
int nw_store_compact(struct nw_store *store, int handle, uint32_t *key, uint16_t count);

/* Counts since mount. */
struct nw_store_stats {
    uint32_t reads; /* chip operations */
    uint32_t programs;
    uint32_t erases;
    uint32_t bytes_read;
    uint32_t bytes_programmed;
    uint32_t nodes_written; /* index nodes */
    uint32_t anchors;
    uint32_t moved;       /* chunks moved by cleaning and compaction */
    uint32_t bytes_moved;
    uint32_t dropped;     /* chunks of expendable streams that gave way */
    uint32_t corrected;   /* bits repaired below, and here each time one is met */
    uint32_t lost;        /* chunks that could not be read when they had to be, nor once more, or
                           * are missing, each once; a mount counts pages too. 0 after it: it met
                           * no damage; 1 may also be what a mount that was cut, or met an error,
                           * has left, with nothing missing. One wrong read is none. A mount that
                           * ends has put right what it met, and the next one meets it no more:
                           * where power goes before you look here, nobody is told */
    uint32_t retired;     /* blocks given up */
    uint32_t swapped;     /* programs that failed */
    uint32_t place;       /* page << place_shift | offset of the last damage met */
    uint32_t tampered;    /* sealed: times a chunk was met that the key does not prove */
};

const struct nw_store_stats *nw_store_stats(const struct nw_store *store);

struct nw_store_space {
    uint32_t used_bytes;  /* what cleaning has to write in one round of the log, at most */
    uint32_t limit_bytes; /* NW_ERR_FULL above */
    uint32_t put_bytes;   /* an element, a value or a block of a file of so many bytes is not
                           * refused for want of room, in whatever object; more may fit. Not
                           * said of an append of many elements at once */
    uint32_t free_blocks; /* that can be written before something has to be cleaned. 0: the next
                           * mount may answer NW_ERR_FULL; else it does not, unless more blocks
                           * fail in it */
    uint32_t good_blocks; /* that have not failed */
    uint32_t sequence;    /* of the newest block on the chip: it only ever grows, with each
                           * mount too */
};

/*
 * What is in use and how much may be. A put counts its bytes and header, and once for each sweep of
 * a round (8 .. 256) the nodes that have to be written anew for it, but never more often than it
 * moves itself; and a sixth. Anchors count where they are more than an eighth of anchor_bytes: each
 * object and its copies in checkpoints have 31 + name_bytes in them. So small values cost more than
 * they are: at 128 blocks of 16 KiB 8,800 elements of 64 bytes in a queue are the limit, 7,800
 * values of 64 bytes in an array of as many keys, or 3,200 in one of 40,000.
 * Overwriting what is there takes nothing, but for what a checkpoint holds: its index, as large as
 * that of the objects then, and what was overwritten, taken or deleted since it was made, or might
 * have been; of all checkpoints together no more than all they have. limit_bytes is told at
 * format, and falls at once with each block that fails: by default 70 % of a chip of 2 MiB with 128
 * blocks, 85 % of one of 128 MiB; of small chips less. No call takes used_bytes above it; where
 * blocks that failed have left it there, reading, pop, dequeue, trim, delete and drop go on, and
 * once they have brought used_bytes below puts do. (When it is 0, or so many have failed that no
 * block is free and none can be made so, only reading does.)
 */
void nw_store_space(const struct nw_store *store, struct nw_store_space *space);

#ifdef __cplusplus
}
#endif

#endif
