/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in use. Cleaning goes round the log in sweeps: a sweep passes every index once, moves
 * what lies in the oldest blocks, and then these are free together. So in one round of the log each
 * byte of data is written again once, and each node at most once a sweep. In use is what a round
 * writes, and what one sweep takes before it frees anything. The larger the index, the more blocks
 * a sweep takes at a time.
 */
#include <string.h>

#include "store.h"

#define FEW_SWEEPS 3U  /* log2 of the sweeps in a round when they are of size 0, the largest */
#define SWEEP_SIZES 6U /* each half of the one before, as long as it is no less than a block, and
                        * than what is written between two anchors: they tell of what is free */

/* What is taken to be otherwise than it is; all 0: nothing. */
struct view {
    uint8_t more; /* chunks that each list and file is to have more than it has */
    uint8_t to;   /* table that is to be a copy of */
    uint8_t from; /* this one */
    const struct object *made; /* an object that is to be there, too; NULL: none */
};

struct books {
    struct view as;
    uint32_t data;                /* bytes of chunks that are no nodes */
    uint32_t nodes;               /* of the indexes, at most */
    uint32_t written[SWEEP_SIZES]; /* of nodes in one round, for each size */
    uint32_t cost;                /* what a round takes with the best size */
    uint32_t anchor;              /* bytes of the objects in one */
    uint16_t path;                /* most nodes on the way to a key, in all tables */
    uint8_t deepest;              /* array: levels of its index */
    uint8_t size;                 /* the best one */
};

/* Bytes of a node as a chunk. */
static uint32_t node_bytes_of(const struct nw_store *store)
{
    return store_whole(store, store->node_bytes);
}

static uint32_t all_bytes(const struct nw_store *store)
{
    return store->good * store_block_bytes(store);
}

static uint32_t sweep_bytes(const struct nw_store *store, uint8_t size)
{
    return all_bytes(store) >> (size + FEW_SWEEPS);
}

/* Does the object take at one end and give at the other? Then its index may need two nodes more on
 * each level than its length tells, and a level, according to where its keys are just now. */
static uint8_t slides(const struct object *object)
{
    return object->type == NW_STORE_QUEUE || object->type == NW_STORE_STREAM;
}

/* Keys of an object, if each list and file had so many chunks more. Of an array any may be set. */
static uint32_t keys_of(const struct object *object, uint8_t more)
{
    return object->tail - object->head + (object->type == NW_STORE_ARRAY ? 0 : more);
}

/* Levels of an object's index, at most. */
static uint8_t levels_of(const struct nw_store *store, const struct object *object, uint8_t more)
{
    uint32_t keys = keys_of(object, more);
    uint8_t levels = 1;

    while (keys > 0 && store_shorten(store, keys - 1U, levels) != 0) {
        levels++;
    }
    return (uint8_t)(levels + slides(object));
}

/* `stays`: what is on the way to a key stays in RAM, with that of the object's copies. */
static void add_index(const struct nw_store *store, const struct object *object,
                      struct books *books, int stays)
{
    uint32_t keys = keys_of(object, books->as.more);
    uint32_t chunks = keys;
    uint32_t nodes = 0;
    uint8_t levels = levels_of(store, object, books->as.more);

    if (object->type == NW_STORE_ARRAY) {
        uint32_t values = object->bytes / store_booked(store, object->unit);
        chunks = values < keys ? values : keys; /* which may lie far apart */
        books->deepest = levels > books->deepest ? levels : books->deepest;
    }
    for (uint8_t level = 1; level <= levels; level++) {
        uint32_t span = store_shorten(store, keys - 1U, level) + 1U + slides(object);
        nodes += span < chunks ? span : chunks;
    }
    books->nodes += nodes;
    uint32_t paths = chunks * levels; /* each chunk moves once a round */
    for (uint8_t size = 0; size < SWEEP_SIZES; size++) {
        uint8_t sweeps = (uint8_t)(size + FEW_SWEEPS);
        books->written[size] += stays && nodes <= paths >> sweeps ? nodes << sweeps : paths;
    }
}

/* What an anchor takes of the log beyond what is in the sixth: with it goes what is left of a page,
 * and the nodes on the way to where cleaning is, which will be written again. */
static uint32_t anchor_bytes(const struct nw_store *store, const struct books *books)
{
    uint32_t nodes = books->path < store->config.frames ? books->path : store->config.frames;
    uint32_t rest = store->page_programs == 1U ? store->page_bytes : store->program_bytes;
    uint32_t bytes = store->chunk_header + ANCHOR_HEAD + books->anchor + rest +
                     nodes * node_bytes_of(store);
    uint32_t few = store->interval / 8U;

    return bytes > few ? bytes - few : 0;
}

/* What is in use with sweeps of a size. A sixth is for what cleaning leaves blank, and lest it has
 * to do too much for each write. */
static uint32_t cost_of(const struct nw_store *store, const struct books *books, uint8_t size)
{
    uint32_t all = all_bytes(store);
    uint32_t most = all / node_bytes_of(store);
    uint32_t nodes = books->written[size];

    nodes = nodes < most ? nodes : most;
    uint32_t bytes = books->data + nodes * node_bytes_of(store);
    uint32_t anchors = (bytes + store->interval - 1U) / store->interval;
    return bytes + bytes / 6U + anchors * anchor_bytes(store, books) + sweep_bytes(store, size);
}

/* An object in the same slot of a table. */
static const struct object *object_at(const struct nw_store *store, const struct books *books,
                                      uint8_t table, uint8_t slot)
{
    return store_table(store, table == books->as.to ? books->as.from : table) + slot;
}

/* A checkpoint's index counts whole: cleaning writes each table's nodes for themselves. What moves
 * is entered in all that have it, one after the other, so that their nodes push each other out of
 * RAM unless all fit. */
static void add_slot(const struct nw_store *store, struct books *books, uint8_t slot)
{
    uint16_t levels = 0;

    for (uint8_t t = 0; t < store->tables; t++) {
        const struct object *object = object_at(store, books, t, slot);
        if (object->type != 0) {
            levels = (uint16_t)(levels + levels_of(store, object, books->as.more));
        }
    }
    for (uint8_t t = 0; t < store->tables; t++) {
        const struct object *object = object_at(store, books, t, slot);
        if (object->type != 0) {
            add_index(store, object, books, levels <= store->config.frames);
            books->data += t == 0 ? object->bytes : 0;
            books->anchor += OBJECT_BYTES + store->config.name_bytes;
        }
    }
    books->path = levels > books->path ? levels : books->path;
}

/* The books of what there is, seen so; answers the bytes in use, at most. */
static uint32_t add_up(const struct nw_store *store, struct view as, struct books *books)
{
    memset(books, 0, sizeof *books);
    books->as = as;
    books->data = store->held;
    if (as.made != NULL) {
        books->path = levels_of(store, as.made, 1);
        books->anchor = OBJECT_BYTES + store->config.name_bytes;
    }
    for (uint8_t slot = 0; slot < store->config.objects; slot++) {
        add_slot(store, books, slot);
    }
    books->cost = UINT32_MAX;
    for (uint8_t size = 0; size <= store->least_sweep; size++) {
        uint32_t cost = cost_of(store, books, size);
        if (cost < books->cost) {
            books->cost = cost;
            books->size = size;
        }
    }
    return books->cost - sweep_bytes(store, store->least_sweep);
}

/* The same as it is. */
static uint32_t add_up_now(const struct nw_store *store, struct books *books)
{
    return add_up(store, (struct view){0}, books);
}

/* Bytes in use, at most. */
uint32_t store_live(const struct nw_store *store)
{
    struct books books;

    return add_up_now(store, &books);
}

/* Blocks that a sweep takes, of so many there are. What passing a node counts in it: an eighth of
 * these for all together. */
uint16_t store_plan_sweep(struct nw_store *store, uint16_t most)
{
    struct books books;

    (void)add_up_now(store, &books);
    uint16_t blocks = (uint16_t)(store->good >> (books.size + FEW_SWEEPS));
    blocks = blocks > 0 ? blocks : 1U;
    blocks = blocks < most ? blocks : most;
    uint32_t cost = blocks * (store_block_bytes(store) / 8U) / (books.nodes + 1U);
    store->look = (uint16_t)(cost < store->node_bytes ? cost + 1U : store->node_bytes);
    return blocks;
}

/* Free blocks that are not kept for anything. */
static uint16_t spare_blocks(const struct nw_store *store)
{
    return (uint16_t)(store->free > store->low ? store->free - store->low : 0);
}

/* Bytes of the log that can be written before the free blocks kept in reserve are touched. */
static uint32_t room_of(const struct nw_store *store)
{
    uint32_t here = store->full == PAGE_OPEN
                        ? (uint32_t)(store->page_bytes - store->offset) +
                              store->left * (uint32_t)store->page_bytes
                        : 0;

    return spare_blocks(store) * store_block_bytes(store) + here;
}

/* Would there be so much room, were it so many times what it is, that nothing has to be cleaned?
 * Even if all that is needed lay in the oldest blocks, cleaning could begin later. */
int store_is_roomy(const struct nw_store *store, uint8_t times)
{
    uint32_t room = room_of(store);
    struct books books;

    if (room > all_bytes(store) / 2U) {
        return 1;
    }
    (void)add_up_now(store, &books);
    return room * times > books.cost / 4U +
                              sweep_bytes(store, books.size) + store_block_bytes(store) * 2U;
}

/* Is there room for what an object needs? */
int store_fits(struct nw_store *store, const struct need *need)
{
    struct object *object = need->object;
    struct books books;
    uint32_t bytes = object->bytes;
    uint32_t tail = object->tail;
    uint32_t held = store->held;

    if (need->is_there != 0) { /* what it replaces is dead, but for a checkpoint */
        store->held += need->bytes;
        store_bound_held(store);
    } else {
        object->bytes += need->bytes;
        object->tail += need->chunks;
    }
    uint32_t used = add_up(store, (struct view){.made = need->made}, &books);
    object->bytes = bytes;
    object->tail = tail;
    store->held = held;
    return used <= store->limit;
}

/* May table `to` become a copy of table `from`, and `held` what only checkpoints hold then? Where
 * it makes less of what is too much, it may. */
int store_fits_copy(struct nw_store *store, uint8_t to, uint8_t from, uint32_t held)
{
    struct books books;
    uint32_t was = store->held;
    uint32_t most = store_live(store);

    most = most > store->limit ? most : store->limit;
    store->held = held;
    uint32_t used = add_up(store, (struct view){.to = to, .from = from}, &books);
    store->held = was;
    return used <= most;
}

/* With the number of good blocks known. */
int store_set_limit(struct nw_store *store)
{
    uint32_t block_bytes = store_block_bytes(store);
    uint32_t kept = store->low + store->interval / block_bytes + 1U;
    uint32_t slack = store->good / 8U + 3U;
    uint32_t least = store->interval > block_bytes ? store->interval : block_bytes;

    if (store->good < kept + 4U) {
        store->limit = 0;
        return NW_ERR_FULL;
    }
    store->least_sweep = 0;
    while (store->least_sweep + 1U < SWEEP_SIZES &&
           sweep_bytes(store, (uint8_t)(store->least_sweep + 1U)) >= least) {
        store->least_sweep++;
    }
    store_bound_held(store);
    uint32_t usable = store->good - kept;
    slack = slack < usable / 2U ? slack : usable / 2U;
    store->rate = (uint16_t)(usable * 20U / (slack + (usable - slack) / 7U));
    uint32_t bytes = (usable - slack) * block_bytes;
    uint32_t sweep = sweep_bytes(store, store->least_sweep);
    store->limit = bytes > sweep ? bytes - sweep : 0;
    return NW_OK;
}

/* A put counts with the end of a block that stays blank, a sixth, and its share of anchors. Where
 * each list and file is longer by one already, its index does; a value that is new in an array adds
 * a node for each level, in every sweep of a round. */
static uint32_t put_most(const struct nw_store *store)
{
    struct books longer;
    uint32_t used = add_up(store, (struct view){.more = 1}, &longer); /* no less than now */
    uint32_t nodes = (uint32_t)longer.deepest << (longer.size + FEW_SWEEPS);
    uint32_t room = store->limit > used ? store->limit - used : 0;

    room = room / (store->interval + anchor_bytes(store, &longer)) * store->interval;
    uint32_t index = nodes * node_bytes_of(store) / 6U * 7U + store->chunk_header * 2U;
    return room > index ? (room - index) / 2U : 0;
}

void nw_store_space(const struct nw_store *store, struct nw_store_space *space)
{
    space->used_bytes = store_live(store);
    space->limit_bytes = store->limit;
    space->put_bytes = put_most(store);
    space->free_blocks = spare_blocks(store);
    space->good_blocks = store->good;
    space->sequence = store->sequence;
}
