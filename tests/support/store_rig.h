/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_rig.h - the object store on an emulated chip, with a plain model beside it that remembers
 * every state since the last one that was made durable: after a power cut the store must show one
 * of them, whole.
 */
#ifndef NANDWICH_TESTS_STORE_RIG_H
#define NANDWICH_TESTS_STORE_RIG_H

#include "nandwich-seal/seal_sodium.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/ecc.h"
#include "nandwich/random.h"
#include "nandwich/store.h"

/* A small variant of a real part. */
struct store_shape {
    const char *part;
    uint32_t blocks;
    uint16_t block_pages;   /* 0: the part's */
    uint16_t page_bytes;    /* 0: the part's */
    uint16_t spare_bytes;   /* 0: the part's */
    uint16_t program_bytes; /* 0: the part's */
    uint8_t erased;         /* 0x00 turns the erased value round */
    uint8_t ecc;            /* parts of the ecc filter below the store; 0: no filter */
    uint8_t sealed;         /* authenticated encryption */
    uint32_t nand_flags;
    struct nw_store_config config;
};

/* In the order of the tests: NAND of 512-byte pages, NAND in order with 512-byte units, NOR,
 * DataFlash, NAND under ECC, NAND in order whose erased value is 0x00; sealed NAND, sealed NOR. */
#define STORE_SHAPES 8U
extern const struct store_shape store_shapes[STORE_SHAPES];

/* For main: a group of tests, one for each shape. Answers how many failed. */
int store_each_shape(void (*run)(unsigned shape));

enum store_op_kind {
    STORE_PUSH,
    STORE_POP,
    STORE_ENQUEUE,
    STORE_DEQUEUE,
    STORE_APPEND,    /* `count` elements of 4 bytes */
    STORE_RECORD,    /* one of any size */
    STORE_RING,      /* one to a stream that keeps the newest 20 chunks */
    STORE_SET,       /* array, key `count` */
    STORE_WRITE,     /* the file, within one of its blocks */

    STORE_SYNC,
    STORE_IDLE,      /* `count` pieces of work */
    STORE_CHECKPOINT,
    STORE_ROLLBACK,
    STORE_RENEW_DELETE, /* delete the queue, and */
    STORE_RENEW_CREATE, /* make it again, the next time */
    STORE_DOOM_PROGRAM, /* block `count` fails */
    STORE_DOOM_ERASE
};

struct store_op {
    uint8_t kind;
    uint32_t count;
};

#define STORE_LIST 48U
#define STORE_PACKED 150U
#define STORE_KEYS 40U
#define STORE_FILE_BLOCK 64U
#define STORE_FILE_BYTES 512U
#define STORE_STATES 64U

/* What the objects hold: tokens, each of which tells an element's length and bytes. */
struct store_view {
    uint32_t stack[STORE_LIST];
    uint32_t stack_count;
    uint32_t queue[STORE_LIST];
    uint32_t queue_count;
    uint32_t has_queue;
    uint32_t packed[STORE_PACKED]; /* the newest so many, from the end */
    uint32_t packed_count;
    uint32_t records[STORE_LIST];
    uint32_t record_count;
    uint32_t ring[STORE_LIST];
    uint32_t ring_count;
    uint32_t array[STORE_KEYS];
    uint32_t length;
    uint8_t file[STORE_FILE_BYTES];
};

struct store_rig {
    const struct store_shape *shape;
    struct nw_store_config config;
    struct nw_seal_sodium seal;
    struct nw_nand *nand;
    struct nw_ecc ecc;
    void *ecc_ram;
    struct nw_chip *chip;
    struct nw_store *store;
    uint8_t *ram;
    size_t ram_bytes;
    struct store_view now;
    struct store_view saved;     /* at the newest checkpoint */
    uint32_t has_saved;
    struct store_view states[STORE_STATES]; /* since the last durable one, which is the first */
    uint32_t state_count;
    uint32_t token;
    struct store_view view;  /* what a check has read */
    int error;               /* the store's answer that has ended it; NW_OK: none */
    uint32_t alarms;         /* of the seal since the mount that are explained */
    char why[256];
};

/* State of a rig to come back to. */
struct store_snapshot {
    struct nw_nand *nand;
    struct store_rig rig; /* but for pointers */
    uint8_t *ram;
};

/* Opens, formats and makes the objects; aborts the test program when that fails. */
void store_rig_open(struct store_rig *rig, const struct store_shape *shape, uint32_t seed);
void store_rig_close(struct store_rig *rig);

/* On a chip of the caller's, which stays open: memory alone. NW_ERR_CONFIG: it does not work there,
 * NW_ERR_RAM. Close in either case. */
int store_rig_open_on(struct store_rig *rig, const struct store_shape *shape, struct nw_chip *chip);

/* An empty store with the rig's objects. NW_ERR_CONFIG: they cannot be made; or its answer. */
int store_rig_format(struct store_rig *rig);

/* Mounts with fresh RAM (filled with rubbish first): the store's answer. */
int store_rig_mount(struct store_rig *rig);

/* Runs an operation and keeps the model: the store's answer; those that cannot be done now (an
 * empty stack) answer NW_OK. */
int store_rig_run(struct store_rig *rig, const struct store_op *op);

/* A random operation. */
struct store_op store_rig_draw(struct store_rig *rig, struct nw_random *random);

/* Reads all objects: 0 if they are as the model; after a cut (`settle`) they may be as in any state
 * since the last durable one, which the model then takes over. -1 with why. */
int store_rig_check(struct store_rig *rig, int settle);

/* The same where any state from number `from` on will do, and none is taken over. */
int store_rig_shows(struct store_rig *rig, uint32_t from);

/* Mounts read-only, with so many frames at most: it has to show what store_rig_shows() allows, and
 * change no cell. -1 with why. Then the rig has to be mounted. */
int store_rig_look(struct store_rig *rig, uint8_t frames, uint32_t from);

/* No misuse of the chip so far; -1 with why. */
int store_rig_clean(struct store_rig *rig);

void store_snapshot_open(struct store_snapshot *snapshot, const struct store_rig *rig);
void store_snapshot_take(struct store_snapshot *snapshot, const struct store_rig *rig);
void store_snapshot_restore(const struct store_snapshot *snapshot, struct store_rig *rig);
void store_snapshot_close(struct store_snapshot *snapshot);

#endif
