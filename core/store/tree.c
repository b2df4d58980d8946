/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of an object: a radix tree from key to the position of its newest chunk. A node is a
 * chunk like any other, written anew when its frame is needed or an anchor is due. With a node its
 * parent is in RAM, so a position can always be handed up without a search. The tree is no higher
 * than head .. tail needs: a top whose other children are dead is given up.
 */
#include <string.h>

#include "store.h"

static uint32_t *entries_of(const struct nw_store *store, uint8_t frame)
{
    return store->entries + ((uint32_t)frame << store->fan_shift);
}

/* A key without its lowest bits; shifts by 32 and more are defined here. */
static uint32_t shorten(uint32_t key, uint16_t bits)
{
    return bits >= 32U ? 0 : key >> bits;
}

/* Keys below which a tree of that height reaches, UINT32_MAX: all. */
uint32_t store_span(const struct nw_store *store, uint8_t height)
{
    uint16_t bits = (uint16_t)height * store->fan_shift;

    return bits >= 32U ? UINT32_MAX : (uint32_t)(1UL << bits);
}

static uint8_t find_frame(const struct nw_store *store, uint8_t object, uint8_t level,
                          uint32_t index)
{
    for (uint8_t i = 0; i < store->config.frames; i++) {
        const struct frame *frame = &store->frames[i];
        if (frame->taken != 0 && frame->index == index && frame->level == level &&
            frame->object == object) {
            return i;
        }
    }
    return STORE_NO_FRAME;
}

static uint8_t parent_of(const struct nw_store *store, const struct frame *frame)
{
    return find_frame(store, frame->object, (uint8_t)(frame->level + 1U),
                      frame->index >> store->fan_shift);
}

/* Writes the node of a frame and hands its position up. */
static int write_node(struct nw_store *store, uint8_t at)
{
    struct frame *frame = &store->frames[at];
    struct object *object = &store->objects[frame->object];
    uint16_t count = (uint16_t)(1U << store->fan_shift);
    const uint32_t *entries = entries_of(store, at);
    uint8_t parent = parent_of(store, frame);
    struct chunk chunk = {.kind = CHUNK_NODE,
                          .mask = frame->level,
                          .id = (uint8_t)(frame->object % store->config.objects),
                          .generation = object->generation,
                          .key = frame->index};
    uint8_t four[4];

    while (count > 0 && entries[count - 1U] == STORE_NONE) { /* an end of nothing is left out */
        count--;
    }
    chunk.length = (uint16_t)(4U * count);
    uint32_t sum = store_sum_begin(store, &chunk);
    for (uint16_t i = 0; i < count; i++) {
        nw_put32(four, entries[i]);
        sum = store_sum_add(store, sum, four, 4);
    }
    store_sum_end(store, sum, &chunk);
    int result = store_begin(store, &chunk);
    for (uint16_t i = 0; i < count && result == NW_OK; i++) {
        nw_put32(four, entries[i]);
        result = store_put(store, four, 4);
    }
    if (result < 0) {
        return result;
    }
    store->stats.nodes_written++;
    if (parent == STORE_NO_FRAME) {
        object->root = chunk.at;
        object->rooted = object->height;
    } else {
        uint16_t slot = (uint16_t)(frame->index & ((1UL << store->fan_shift) - 1U));
        struct frame *above = &store->frames[parent];

        entries_of(store, parent)[slot] = chunk.at;
        if (frame->dirty == FRAME_OLD || above->dirty == FRAME_CLEAN) {
            above->dirty = frame->dirty;
        }
    }
    frame->dirty = FRAME_CLEAN;
    return NW_OK;
}

/* A frame to use, emptied; not `keep`. */
static int take_frame(struct nw_store *store, uint8_t keep, uint8_t *taken)
{
    uint8_t best = STORE_NO_FRAME;
    uint16_t oldest = 0;

    for (uint8_t i = 0; i < store->config.frames; i++) {
        const struct frame *frame = &store->frames[i];
        uint16_t age = (uint16_t)(store->tick - frame->used);
        if (frame->taken == 0) {
            best = i;
            break;
        }
        if (frame->children == 0 && i != keep && (best == STORE_NO_FRAME || age > oldest)) {
            best = i;
            oldest = age;
        }
    }
    if (best == STORE_NO_FRAME) {
        return NW_ERR_PINNED;
    }
    if (store->frames[best].taken != 0) {
        int result = store->frames[best].dirty != FRAME_CLEAN ? write_node(store, best) : NW_OK;
        if (result < 0) {
            return result;
        }
        uint8_t parent = parent_of(store, &store->frames[best]);
        if (parent != STORE_NO_FRAME) {
            store->frames[parent].children--;
        }
        store->frames[best].taken = 0;
    }
    *taken = best;
    return NW_OK;
}

static int load_node(struct nw_store *store, const struct frame *frame, uint8_t at, uint32_t from)
{
    const struct object *object = &store->objects[frame->object];
    uint32_t *entries = entries_of(store, at);
    struct chunk chunk = {0};
    int result = store_read_chunk(store, from, &chunk, 0);

    if (result == NW_OK &&
        (chunk.kind != CHUNK_NODE || chunk.mask != frame->level || chunk.key != frame->index ||
         chunk.length > store_node_bytes(store) || chunk.generation != object->generation ||
         chunk.id != frame->object % store->config.objects)) {
        result = NW_ERR_CORRUPT;
    }
    memset(entries, 0xFF, store_node_bytes(store));
    if (result == NW_OK) {
        result = store_payload(store, &chunk, entries, 0);
    }
    if (result < 0) {
        store->stats.place = from;
        return result == NW_ERR_UNWRITTEN ? (int)NW_ERR_CORRUPT : result;
    }
    for (uint16_t i = 0; i < chunk.length / 4U; i++) {
        entries[i] = nw_get32((const uint8_t *)&entries[i]);
    }
    return NW_OK;
}

/* One step down: the frame of a node, read or made if it is in none. */
struct step {
    uint32_t index;
    uint32_t from;  /* where it lies, or STORE_NONE */
    uint8_t object;
    uint8_t level;
    uint8_t parent;
    uint8_t make;   /* 1: make it if there is none; 2: make it in any case */
};

static int step_down(struct nw_store *store, const struct step *step, uint8_t *found)
{
    struct frame frame = {
        .index = step->index, .object = step->object, .level = step->level, .taken = 1};
    uint8_t at = find_frame(store, step->object, step->level, step->index);
    int result = NW_OK;

    store->tick++;
    if (at != STORE_NO_FRAME) {
        store->frames[at].used = store->tick;
        *found = at;
        return NW_OK;
    }
    if (step->make == 0 && step->from == STORE_NONE) {
        return NW_ERR_NOT_FOUND;
    }
    result = take_frame(store, step->parent, &at);
    if (result < 0) {
        return result;
    }
    if (step->from == STORE_NONE || step->make == 2U) {
        memset(entries_of(store, at), 0xFF, store_node_bytes(store));
        frame.dirty = FRAME_DIRTY;
    } else {
        result = load_node(store, &frame, at, step->from);
        if (result < 0) {
            return result;
        }
    }
    frame.used = store->tick;
    store->frames[at] = frame;
    if (step->parent != STORE_NO_FRAME) {
        store->frames[step->parent].children++;
    }
    *found = at;
    return NW_OK;
}

/* The index of the node of `level` over a key. */
static uint32_t index_of(const struct nw_store *store, uint32_t key, uint8_t level)
{
    return shorten(key, (uint16_t)((level + 1U) * store->fan_shift));
}

/* Whether the top, as high as it is, is over the key. */
static int covers(const struct nw_store *store, const struct object *object, uint32_t key)
{
    return object->height > 0 && index_of(store, key, (uint8_t)(object->height - 1U)) ==
                                     index_of(store, object->head, (uint8_t)(object->height - 1U));
}

/* Could the tree hold the key without growing down to keys that are gone? */
int store_reaches(const struct nw_store *store, const struct object *object, uint32_t key)
{
    uint8_t level = (uint8_t)(object->height > 0 ? object->height - 1U : 0);

    return key >= object->head ||
           index_of(store, key, level) == index_of(store, object->head, level);
}

/* A level more: the old top becomes an entry of a new one. */
static int grow(struct nw_store *store, uint8_t at)
{
    struct object *object = &store->objects[at];
    struct step step = {.index = index_of(store, object->head, object->height),
                        .from = STORE_NONE,
                        .object = at,
                        .level = object->height,
                        .parent = STORE_NO_FRAME,
                        .make = 2};
    uint32_t index = 0;
    uint8_t old = STORE_NO_FRAME;
    uint8_t found;

    if (object->height + 2U > store->config.frames) {
        return NW_ERR_RANGE;
    }
    if (object->height > 0) {
        index = index_of(store, object->head, (uint8_t)(object->height - 1U));
        old = find_frame(store, at, (uint8_t)(object->height - 1U), index);
    }
    if (old != STORE_NO_FRAME) {
        store->frames[old].children++; /* keeps it: its position is not yet handed up */
    }
    int result = step_down(store, &step, &found);
    if (old != STORE_NO_FRAME) {
        store->frames[old].children--;
    }
    if (result < 0) {
        return result;
    }
    if (object->height > 0) { /* root keeps telling the old top until this one is written */
        entries_of(store, found)[index & ((1UL << store->fan_shift) - 1U)] =
            object->rooted == object->height ? object->root : STORE_NONE;
    }
    store->frames[found].children = old != STORE_NO_FRAME ? 1U : 0U;
    object->height++;
    return NW_OK;
}

/* As long as all that is left lies under one entry of the top, that one becomes the top. What the
 * flash tells of it, with what is replayed since, is all there is, so nothing need be written. */
static void lower(struct nw_store *store, uint8_t at)
{
    struct object *object = &store->objects[at];

    while (object->height > 1U) {
        uint8_t level = (uint8_t)(object->height - 1U);
        uint32_t child = index_of(store, object->head, (uint8_t)(level - 1U));
        uint8_t top = find_frame(store, at, level, index_of(store, object->head, level));

        if (top == STORE_NO_FRAME ||
            child != index_of(store, object->tail, (uint8_t)(level - 1U))) {
            return;
        }
        uint32_t from = entries_of(store, top)[child & ((1UL << store->fan_shift) - 1U)];
        if (store->frames[top].children >
            (find_frame(store, at, (uint8_t)(level - 1U), child) != STORE_NO_FRAME ? 1U : 0U)) {
            return; /* others below it are still in frames */
        }
        memset(&store->frames[top], 0, sizeof store->frames[top]);
        object->root = from;
        object->rooted = from == STORE_NONE ? 0 : level;
        object->height = level;
    }
}

/* The frame of the node of `level` on the way to `key`. `make`: 0: NW_ERR_NOT_FOUND if there is
 * none; 1: it is made then; 2: the key is appended, there are no later ones. */
static int reach(struct nw_store *store, uint8_t object_at, uint32_t key, uint8_t level, int make,
                 uint8_t *found)
{
    struct object *object = &store->objects[object_at];

    if (object->type != NW_STORE_ARRAY) {
        lower(store, object_at);
    }
    while (make && !covers(store, object, key)) {
        int result = grow(store, object_at);
        if (result < 0) {
            return result;
        }
    }
    if (level >= object->height || !covers(store, object, key)) {
        return NW_ERR_NOT_FOUND;
    }
    struct step step = {.from = object->rooted == object->height ? object->root : STORE_NONE,
                        .object = object_at,
                        .level = (uint8_t)(object->height - 1U),
                        .parent = STORE_NO_FRAME};
    for (;;) {
        uint32_t below = store_span(store, (uint8_t)(step.level + 1U)) - 1U;

        step.index = index_of(store, key, step.level);
        step.make = 0;
        if (make) { /* nothing of a node whose first key is appended is of any use */
            step.make = make == 2 && (key & below) == 0 ? 2U : 1U;
        }
        int result = step_down(store, &step, found);
        if (result < 0 || step.level == level) {
            return result;
        }
        uint32_t child = shorten(key, (uint16_t)(step.level * store->fan_shift));
        step.from = entries_of(store, *found)[child & ((1UL << store->fan_shift) - 1U)];
        step.parent = *found;
        step.level--;
    }
}

/* Where the key's chunk lies. NW_ERR_NOT_FOUND: nowhere. */
int store_get(struct nw_store *store, uint8_t object, uint32_t key, uint32_t *at)
{
    uint8_t found;
    int result = reach(store, object, key, 0, 0, &found);

    if (result < 0) {
        return result;
    }
    *at = entries_of(store, found)[key & ((1UL << store->fan_shift) - 1U)];
    return *at == STORE_NONE ? (int)NW_ERR_NOT_FOUND : (int)NW_OK;
}

/* From now on the key's chunk is this one; *old tells where it lay, or STORE_NONE. */
int store_set(struct nw_store *store, uint8_t object, const struct chunk *chunk, int append,
              uint32_t *old)
{
    struct object *own = &store->objects[object];
    uint8_t found;

    if (append && own->head == own->tail && chunk->key == own->tail) {
        store_drop_frames(store, object); /* it was empty: begin anew */
        own->root = STORE_NONE;
        own->rooted = 0;
        own->height = 0;
    }
    int result = reach(store, object, chunk->key, 0, append ? 2 : 1, &found);

    if (result < 0) {
        return result;
    }
    uint32_t *entry =
        &entries_of(store, found)[chunk->key & ((1UL << store->fan_shift) - 1U)];
    *old = *entry;
    *entry = chunk->at;
    if (store->frames[found].dirty == FRAME_CLEAN) {
        store->frames[found].dirty = FRAME_DIRTY;
    }
    return NW_OK;
}

/* Whether the object's tree uses that node at that place: then it is in a frame and will be
 * written anew. */
int store_own_node(struct nw_store *store, uint8_t object_at, const struct chunk *node, int *live)
{
    const struct object *object = &store->objects[object_at];
    uint8_t level = node->mask;
    uint8_t found;
    int result;

    *live = 0;
    if (object->type != NW_STORE_ARRAY) {
        lower(store, object_at); /* first: whether the node is needed depends on it */
    }
    uint32_t from = object->rooted == object->height ? object->root : STORE_NONE;
    if (level >= object->height) {
        return NW_OK;
    }
    uint16_t bits = (uint16_t)((level + 1U) * store->fan_shift);
    uint32_t key = bits >= 32U ? 0 : node->key << bits;
    uint32_t last = key | (store_span(store, (uint8_t)(level + 1U)) - 1U);
    if (shorten(key, bits) != node->key || key > object->tail || last < object->head ||
        !covers(store, object, key > object->head ? key : object->head)) {
        return NW_OK;
    }
    key = key > object->head ? key : object->head;
    if (level + 1U < object->height) {
        result = reach(store, object_at, key, (uint8_t)(level + 1U), 0, &found);
        if (result < 0) {
            return result == NW_ERR_NOT_FOUND ? (int)NW_OK : result;
        }
        from = entries_of(store, found)[node->key & ((1UL << store->fan_shift) - 1U)];
    }
    if (from != node->at) {
        return NW_OK;
    }
    result = reach(store, object_at, key, level, 0, &found);
    if (result < 0) {
        return result;
    }
    if (store->frames[found].dirty == FRAME_CLEAN) {
        store->frames[found].dirty = FRAME_DIRTY;
    }
    *live = 1;
    return NW_OK;
}

/* Writes one old frame, lowest level first: 1, or 0 when there is none. */
int store_flush_old(struct nw_store *store)
{
    uint8_t best = STORE_NO_FRAME;

    for (uint8_t i = 0; i < store->config.frames; i++) {
        const struct frame *frame = &store->frames[i];
        if (frame->taken != 0 && frame->dirty == FRAME_OLD &&
            (best == STORE_NO_FRAME || frame->level < store->frames[best].level)) {
            best = i;
        }
    }
    if (best == STORE_NO_FRAME) {
        return 0;
    }
    int result = write_node(store, best);
    return result < 0 ? result : 1;
}

/* Starts writing all frames that are dirty now; an anchor may follow when none is old any more. */
void store_age_frames(struct nw_store *store)
{
    for (uint8_t i = 0; i < store->config.frames; i++) {
        if (store->frames[i].dirty == FRAME_DIRTY) {
            store->frames[i].dirty = FRAME_OLD;
        }
    }
    store->flushing = 1;
    store_close(store);
    store->next_redo = store_frontier(store);
    store->next_safe = store->tail;
}

int store_flush_all(struct nw_store *store)
{
    int result;

    store_age_frames(store);
    do {
        result = store_flush_old(store);
    } while (result > 0);
    if (result == NW_OK) {
        store->next_redo = store_frontier(store);
    }
    return result;
}

/* Forgets the nodes of an object, written or not. */
void store_drop_frames(struct nw_store *store, uint8_t object)
{
    for (uint8_t i = 0; i < store->config.frames; i++) {
        if (store->frames[i].taken != 0 && store->frames[i].object == object) {
            memset(&store->frames[i], 0, sizeof store->frames[i]);
        }
    }
}
