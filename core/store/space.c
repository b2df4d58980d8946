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

/* Log2 of the sweeps in a round: as long as each takes no less than a block, and than what is
 * written between two anchors, which tell of what is free. */
#define FEW_SWEEPS 3U
#define MANY_SWEEPS 8U

/* What is taken to be otherwise than it is; all 0: nothing. */
struct view {
    uint16_t more; /* chunks that each list and file is to have more than it has */
    uint8_t to;    /* table that is to be a copy of */
    uint8_t from;  /* this one */
    uint8_t bare;  /* 1: expendable streams are to hold nothing but what is needed */
    const struct need *need; /* what an object is to have beside what it has, or NULL */
};

struct books {
    uint32_t data;  /* bytes of chunks that are no nodes */
    uint32_t gone;  /* of these of expendable streams */
    uint32_t nodes; /* of the indexes, at most */
    uint32_t written[MANY_SWEEPS + 1U]; /* nodes in a round, by the log2 of its sweeps */
    uint32_t cost;   /* what a round takes with the best number of them */
    uint32_t anchor; /* bytes of the objects in one; then of all of it */
    uint16_t path;   /* most nodes on the way to a key, in all tables */
    uint8_t deepest; /* array: levels of its index */
    uint8_t sweeps;  /* log2 of the best number */
};

/* Bytes of a node as a chunk. */
static uint32_t node_bytes_of(const struct nw_store *store)
{
    return store_whole(store, store->node_bytes);
}

/* Blocks that are good and have not failed: the others go on holding what they hold, and are bad
 * when their turn comes. */
static uint16_t sound_blocks(const struct nw_store *store)
{
    return (uint16_t)(store->good - store->swap_count);
}

static uint32_t all_bytes(const struct nw_store *store)
{
    return sound_blocks(store) * store_block_bytes(store);
}

static uint32_t sweep_bytes(const struct nw_store *store, uint8_t sweeps)
{
    return all_bytes(store) >> sweeps;
}

/* Does the object take at one end and give at the other? Then its index may need two nodes more on
 * each level than its length tells, and a level, according to where its keys are just now. */
static uint8_t slides(const struct object *object)
{
    return object->type == NW_STORE_QUEUE || object->type == NW_STORE_STREAM;
}

/* The index of an object in all tables, at most. */
struct index {
    uint32_t nodes;
    uint32_t paths; /* nodes on the ways to all chunks, as if they were not shared */
    uint16_t levels;
};

/* Adds the index that an object has if each list and file has so many chunks more. Of an array any
 * may be set, and those that are may lie far apart. Answers its levels. */
static uint8_t add_index(const struct nw_store *store, const struct object *object, uint16_t more,
                         struct index *index)
{
    uint32_t keys = object->tail - object->head;
    uint32_t chunks = keys + more;
    uint8_t slack = slides(object);
    uint8_t levels = 0;
    uint32_t last;

    if (object->type == NW_STORE_ARRAY) {
        uint32_t values = object->bytes / store_booked(store, object->unit);
        chunks = values < keys ? values : keys;
    } else {
        keys = chunks;
    }
    keys -= keys > 0 ? 1U : 0;
    do {
        levels++;
        last = store_shorten(store, keys, levels);
        uint32_t nodes = last + 1U + slack;
        index->nodes += nodes < chunks ? nodes : chunks;
    } while (last > 0);
    if (slack > 0) {
        levels++;
        index->nodes += chunks < 2U ? chunks : 2U;
    }
    index->paths += chunks * levels;
    index->levels = (uint16_t)(index->levels + levels);
    return levels;
}

/* What an anchor takes of the log beyond what is in the sixth: with it goes what is left of a page,
 * and the nodes on the way to where cleaning is, which will be written again. */
static uint32_t anchor_bytes(const struct nw_store *store, const struct books *books)
{
    uint32_t nodes = books->path < store->frame_count ? books->path : store->frame_count;
    uint32_t rest = store->page_programs == 1U ? store->page_bytes : store->program_bytes;
    uint32_t bytes = (store->chunk_header + ANCHOR_HEAD + books->anchor) * 2U + rest +
                     store->page_bytes + nodes * node_bytes_of(store);
    uint32_t few = store->interval / 8U;

    return bytes > few ? bytes - few : 0;
}

/* The number of sweeps with which the least is in use. A sixth is for what cleaning leaves blank,
 * and lest it has to do too much for each write. */
static void choose_sweeps(const struct nw_store *store, struct books *books)
{
    uint32_t node = node_bytes_of(store);
    uint32_t most = all_bytes(store) / node;

    books->cost = UINT32_MAX;
    for (uint8_t sweeps = FEW_SWEEPS; sweeps <= store->most_sweeps; sweeps++) {
        uint32_t nodes = books->written[sweeps];

        nodes = nodes < most ? nodes : most;
        uint32_t bytes = books->data + nodes * node;
        uint32_t anchors = (bytes + store->interval - 1U) / store->interval;
        bytes += bytes / 6U + anchors * books->anchor + sweep_bytes(store, sweeps);
        if (bytes < books->cost) {
            books->cost = bytes;
            books->sweeps = sweeps;
        }
    }
}

/* The object that is needed, or gives way, as it would be then. */
static void look_ahead(const struct view *as, struct books *books, const struct object *object,
                       struct object *then)
{
    if (as->bare != 0 && (object->flags & NW_STORE_EXPENDABLE) != 0) {
        books->gone += object->bytes;
        then->head = then->tail;
    }
    if (as->need->object == object) {
        then->type = as->need->type != 0 ? as->need->type : object->type;
        then->tail += as->need->chunks; /* of an array: none */
        then->bytes += as->need->is_there != 0 ? 0 : as->need->bytes;
    }
}

/* The object of a slot in each table. A checkpoint's index counts whole: cleaning writes each
 * table's nodes for themselves. What moves is entered in all that have it, one after the other, so
 * that their nodes push each other out of RAM unless all fit. */
static void add_slot(const struct nw_store *store, const struct view *as, struct books *books,
                     uint8_t slot)
{
    struct index index = {0};

    for (uint8_t t = 0; t < store->tables; t++) {
        uint8_t from = t == as->to ? as->from : t;
        const struct object *object = store_table(store, from) + slot;
        struct object then = *object;

        if (t == 0 && as->need != NULL) {
            look_ahead(as, books, object, &then);
        }
        if (then.type == 0) {
            continue;
        }
        uint8_t levels = add_index(store, &then, as->more, &index);
        if (then.type == NW_STORE_ARRAY && levels > books->deepest) {
            books->deepest = levels;
        }
        books->anchor += OBJECT_BYTES + store->name_bytes;
    }
    books->path = index.levels > books->path ? index.levels : books->path;
    books->nodes += index.nodes;
    if (index.levels > store->frame_count) {
        index.nodes = index.paths;
    }
    for (uint8_t sweeps = FEW_SWEEPS; sweeps <= MANY_SWEEPS; sweeps++) {
        books->written[sweeps] +=
            index.nodes <= index.paths >> sweeps ? index.nodes << sweeps : index.paths;
    }
}

/* Bytes of a table's objects. */
uint32_t store_bytes_of(const struct nw_store *store, uint8_t table)
{
    const struct object *object = store_table(store, table);
    uint32_t bytes = 0;

    for (uint8_t left = store->slots; left > 0; left--, object++) {
        bytes += object->bytes;
    }
    return bytes;
}

/* What only checkpoints but that in `table` hold, of so much: no more than all they have. */
uint32_t store_held_by_others(const struct nw_store *store, uint32_t held, uint8_t table)
{
    uint32_t bytes = 0;

    for (uint8_t t = 1; t < store->tables; t++) {
        bytes += t != table ? store_bytes_of(store, t) : 0; /* 0: no checkpoint in it */
    }
    return held < bytes ? held : bytes;
}

/* The books of what there is, seen so; answers the bytes in use, at most. */
static uint32_t add_up(const struct nw_store *store, const struct view *as, struct books *books)
{
    uint32_t held = store->held;

    memset(books, 0, sizeof *books);
    for (uint8_t slot = 0; slot < store->slots; slot++) {
        add_slot(store, as, books, slot);
    }
    books->data = store_bytes_of(store, as->from) - books->gone; /* which are the objects then */
    if (as->need != NULL) { /* what goes, or is replaced, is dead, but for a checkpoint */
        uint32_t *grows = as->need->is_there != 0 ? &held : &books->data;
        *grows += as->need->bytes;
        held = store_held_by_others(store, held + books->gone, 0);
    }
    books->data += held;
    books->anchor = anchor_bytes(store, books);
    choose_sweeps(store, books);
    return books->cost - sweep_bytes(store, store->most_sweeps);
}

/* The same as it is. */
static uint32_t add_up_now(const struct nw_store *store, struct books *books)
{
    return add_up(store, &(struct view){0}, books);
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
    uint16_t blocks = (uint16_t)(sound_blocks(store) >> books.sweeps);
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

/* Bytes of the log in so many free blocks and what is left of the frontier's. */
static uint32_t room_of(const struct nw_store *store, uint16_t blocks)
{
    uint32_t here = store->full == PAGE_OPEN
                        ? (uint32_t)(store->page_bytes - store->offset) +
                              store->left * (uint32_t)store->page_bytes
                        : 0;

    return blocks * store_block_bytes(store) + here;
}

/* Could all that is needed, and an anchor, which takes no more than half a block, be written before
 * anything is freed? */
int store_is_light(const struct nw_store *store)
{
    return room_of(store, store->free) > store_live(store) + store_block_bytes(store) / 2U;
}

/* Would there be so much room, were it so many times what it is, that nothing has to be cleaned?
 * Even if all that is needed lay in the oldest blocks, cleaning could begin later. */
int store_is_roomy(const struct nw_store *store, uint8_t times)
{
    uint32_t room = room_of(store, spare_blocks(store));
    struct books books;

    if (room > all_bytes(store) / 2U) {
        return 1;
    }
    (void)add_up_now(store, &books);
    return room * times > books.cost / 4U +
                              sweep_bytes(store, books.sweeps) + store_block_bytes(store) * 2U;
}

/* Is there room for what an object needs? `bare`: once all expendable streams have given way. */
int store_fits(const struct nw_store *store, const struct need *need, uint8_t bare)
{
    struct books books;

    return add_up(store, &(struct view){.need = need, .bare = bare}, &books) <= store->limit;
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
    uint32_t used = add_up(store, &(struct view){.to = to, .from = from}, &books);
    store->held = was;
    return used <= most;
}

/* With the number of good blocks known, and of those that have failed. With fewer than four more
 * than are kept free nothing may be in use; cleaning goes on for mounts. */
void store_set_limit(struct nw_store *store)
{
    uint32_t block_bytes = store_block_bytes(store);
    uint32_t kept = store->low + store->interval / block_bytes + 1U;
    uint16_t good = sound_blocks(store);
    uint32_t slack = good + 24U; /* in eighths of a block, that the limit falls with each */
    uint32_t least = store->interval > block_bytes ? store->interval : block_bytes;
    uint32_t usable = (good < kept + 4U ? 4U : good - kept) * 8U;

    store->most_sweeps = MANY_SWEEPS;
    while (store->most_sweeps > FEW_SWEEPS && sweep_bytes(store, store->most_sweeps) < least) {
        store->most_sweeps--;
    }
    store_bound_held(store);
    slack = slack < usable / 2U ? slack : usable / 2U;
    store->rate = (uint16_t)(usable * 20U / (slack + (usable - slack) / 7U));
    uint32_t bytes = (usable - slack) * (block_bytes / 8U);
    uint32_t sweep = sweep_bytes(store, store->most_sweeps);
    store->limit = good >= kept + 4U && bytes > sweep ? bytes - sweep : 0;
}

/* A put counts with the end of a block that stays blank, a sixth, and its share of anchors. Where
 * each list and file is longer by three already, as an append of a unit counts, its index does; a
 * value that is new in an array adds a node for each level, in every sweep of a round. */
static uint32_t put_most(const struct nw_store *store)
{
    struct books longer;
    uint32_t used = add_up(store, &(struct view){.more = 3}, &longer); /* no less than now */
    uint32_t nodes = (uint32_t)longer.deepest << longer.sweeps;
    uint32_t room = store->limit > used ? store->limit - used : 0;

    room = room / (store->interval + longer.anchor) * store->interval;
    uint32_t index = nodes * node_bytes_of(store) / 6U * 7U + store->chunk_header * 2U;
    return room > index ? (room - index) / 2U : 0;
}

void nw_store_space(const struct nw_store *store, struct nw_store_space *space)
{
    space->used_bytes = store_live(store);
    space->limit_bytes = store->limit;
    space->put_bytes = put_most(store);
    space->free_blocks = spare_blocks(store);
    space->good_blocks = sound_blocks(store);
    space->sequence = store->told_sequence;
}
