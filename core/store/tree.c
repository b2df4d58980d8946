/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of an object: a radix tree from key to the position of its newest chunk. A node is a
 * chunk like any other, written anew when its frame is needed or an anchor is due. With a node its
 * parent is in RAM, so a position can always be handed up without a search. The tree is no higher
 * than head .. tail needs: a top whose other children are dead is given up.
 */
#include <string.h>

#include "store.h"

/* On the way from the top of an object's index to a node. */
struct path {
    struct object *object;
    uint32_t key;
    struct frame *frame; /* of the node reached, NULL: none yet */
    uint32_t from;       /* where what comes next lies, a node or a chunk, or STORE_NONE */
    uint32_t next;       /* lowest key behind it that a look-up has met in the log */
    uint8_t level;       /* how far down to go */
    uint8_t reached;     /* how far it came, if any */
    uint8_t make;        /* nodes that are missing */
    uint8_t read;        /* where no frame can be had it is gone without; READ_BARE: it is */
    uint8_t old;         /* have those that lie in what is being cleaned written anew */
};

enum { READ_NONE, READ, READ_BARE };
enum { MAKE_NONE, MAKE, MAKE_LAST }; /* MAKE_LAST: the key is appended, there are no later ones */

/* Where in a node the position of one below it stands, or of a chunk. */
static uint8_t *entry_of(const struct nw_store *store, struct frame *frame, uint32_t index)
{
    uint8_t place = (uint8_t)((uint8_t)index & store->fan_mask);

    return frame->entries + 4U * place;
}

static struct frame *next_frame(const struct nw_store *store, struct frame *frame)
{
    return (void *)(frame->entries + store->node_bytes);
}

/* What a frame tells of its object. */
static uint8_t number_of(const struct nw_store *store, const struct object *object)
{
    return (uint8_t)(object - store->objects + 1);
}

static struct object *object_of(const struct nw_store *store, const struct frame *frame)
{
    return store->objects + frame->object - 1;
}

static struct frame *find_frame(const struct nw_store *store, const struct object *object,
                                uint8_t level, uint32_t index)
{
    struct frame *frame = store->frames;
    uint8_t number = number_of(store, object);

    for (uint8_t i = store->frame_count; i > 0; i--, frame = next_frame(store, frame)) {
        if (frame->object == number && frame->level == level && frame->index == index) {
            return frame;
        }
    }
    return NULL;
}

static struct frame *parent_of(const struct nw_store *store, const struct frame *frame)
{
    return find_frame(store, object_of(store, frame), (uint8_t)(frame->level + 1U),
                      store_shorten(store, frame->index, 1));
}

static void release(struct frame *frame)
{
    frame->object = 0;
    frame->children = 0;
    frame->dirty = FRAME_CLEAN;
}

static void touch(struct frame *frame)
{
    if (frame->dirty == FRAME_CLEAN) {
        frame->dirty = FRAME_DIRTY;
    }
}

/* Writes the node of a frame and hands its position up. */
static int write_node(struct nw_store *store, struct frame *frame)
{
    struct object *object = object_of(store, frame);
    struct frame *parent = parent_of(store, frame);
    struct chunk chunk;

    store_describe(&chunk, CHUNK_NODE, frame->level, frame->index, store->node_bytes);
    while (chunk.length > 0 && nw_get32(frame->entries + chunk.length - 4U) == STORE_NONE) {
        chunk.length = (uint16_t)(chunk.length - 4U); /* an end of nothing is left out */
    }
    int result = store_append(store, object, &chunk, frame->entries);
    if (result < 0) {
        return result;
    }
    store_count(&store->stats.nodes_written, 1);
    if (parent == NULL) {
        object->root = chunk.at;
        object->rooted = object->height;
    } else {
        nw_put32(entry_of(store, parent, frame->index), chunk.at);
        if (frame->dirty == FRAME_OLD || parent->dirty == FRAME_CLEAN) {
            parent->dirty = frame->dirty;
        }
    }
    frame->dirty = FRAME_CLEAN;
    return NW_OK;
}

/* Has path->frame be an empty one for a node of the path's object, another one than it was. */
static int take_frame(struct nw_store *store, struct path *path, uint8_t level, uint32_t index)
{
    struct frame *frame = store->frames;
    struct frame *best = NULL;
    uint16_t oldest = 0;

    for (uint8_t i = store->frame_count; i > 0; i--, frame = next_frame(store, frame)) {
        uint16_t age = frame->object == 0 ? UINT16_MAX : (uint16_t)(store->tick - frame->used);

        if (frame->children == 0 && frame != path->frame && (best == NULL || age > oldest)) {
            best = frame;
            oldest = age;
        }
    }
    if (best == NULL) {
        return NW_ERR_PINNED;
    }
    if (best->object != 0) {
        int result = best->dirty != FRAME_CLEAN ? write_node(store, best) : (int)NW_OK;
        if (result < 0) {
            return result;
        }
        struct frame *parent = parent_of(store, best);
        if (parent != NULL) {
            parent->children--;
        }
    }
    memset(best->entries, 0xFF, store->node_bytes);
    best->object = number_of(store, path->object);
    best->index = index;
    best->level = level;
    best->dirty = FRAME_DIRTY;
    best->used = store->tick;
    path->frame = best;
    return NW_OK;
}

/* The chunk of a node of the path's object, which lies at path->from. */
static int find_node(struct nw_store *store, const struct path *path, uint8_t level,
                     uint32_t index, struct chunk *chunk)
{
    int result = store_read_told(store, path->from, chunk, 0);

    if (result == NW_OK &&
        (chunk->kind != CHUNK_NODE || chunk->mask != level || chunk->key != index ||
         chunk->length > store->node_bytes || !store_is_of(store, chunk, path->object))) {
        result = store_damaged(store, path->from);
    }
    return result;
}

/* The node of path->frame as it lies at path->from. */
static int load_node(struct nw_store *store, const struct path *path)
{
    struct frame *frame = path->frame;
    uint32_t from = path->from;
    struct chunk chunk;
    int result = find_node(store, path, frame->level, frame->index, &chunk);

    frame->dirty = FRAME_CLEAN;
    if (result == NW_OK) {
        result = store_payload(store, &chunk, frame->entries, 0);
    }
    if (result < 0) {
        store->stats.place = from;
        release(frame);
    }
    return result;
}

/* Down by a node that has no frame: a dirty one has to be written before another node takes its
 * frame, which a store that is full or broken cannot. Nodes below have none either. */
static int step_bare(struct nw_store *store, struct path *path, uint8_t level, uint32_t index)
{
    uint8_t entry[4] = {0xFF, 0xFF, 0xFF, 0xFF};
    struct chunk chunk;
    uint16_t at = (uint16_t)(4U * (store_shorten(store, path->key, level) & store->fan_mask));
    uint16_t bytes = 4;
    int result = find_node(store, path, level, index, &chunk);

    path->read = READ_BARE;
    path->reached = level;
    if (result == NW_OK && at >= chunk.length) { /* left out: there is none */
        at = 0;
        bytes = 0;
    }
    if (result == NW_OK) {
        result = store_read_proven(store, &chunk, at, bytes, entry);
    }
    path->from = nw_get32(entry);
    return result;
}

/* To the node of `level` on the path, which lies at path->from if it is in no frame. */
static int step_down(struct nw_store *store, struct path *path, uint8_t level)
{
    uint32_t from = path->from;
    uint8_t digits = (uint8_t)(level + 1U);
    uint32_t index = store_shorten(store, path->key, digits);
    struct frame *parent = path->frame;
    struct frame *frame = find_frame(store, path->object, level, index);

    store->tick++;
    if (frame == NULL) {
        if (path->make == MAKE_NONE && from == STORE_NONE) {
            return NW_ERR_NOT_FOUND;
        }
        int result = path->read == READ_BARE ? (int)NW_ERR_PINNED
                                             : take_frame(store, path, level, index);
        if (result < 0) {
            return path->read != READ_NONE ? step_bare(store, path, level, index) : result;
        }
        frame = path->frame;
        /* nothing of a node whose first key is appended is of any use */
        if (from != STORE_NONE && (path->make != MAKE_LAST ||
                                   store_is_under(store, path->key - 1U, path->key, digits))) {
            result = load_node(store, path);
            if (result < 0) {
                return result;
            }
        }
        if (parent != NULL) {
            parent->children++;
        }
    }
    frame->used = store->tick;
    path->frame = frame;
    path->reached = level;
    path->from = nw_get32(entry_of(store, frame, store_shorten(store, path->key, level)));
    if (path->old != 0 && store_is_old(store, from)) {
        touch(frame);
    }
    return NW_OK;
}

/* Whether the top, as high as it is, is over the key. */
static int covers(const struct nw_store *store, const struct object *object, uint32_t key)
{
    return object->height > 0 && store_is_under(store, key, object->head, object->height);
}

/* Where the top lies, or STORE_NONE. */
static uint32_t root_of(const struct object *object)
{
    return object->rooted == object->height ? object->root : STORE_NONE;
}

/* A level more: the old top becomes an entry of a new one. */
static int grow(struct nw_store *store, struct path *path)
{
    struct object *object = path->object;
    uint8_t height = object->height;
    uint32_t index = store_shorten(store, object->head, height);
    struct frame *old =
        height > 0 ? find_frame(store, object, (uint8_t)(height - 1U), index) : NULL;

    if (height + 2U > store->frame_count) {
        return NW_ERR_RANGE;
    }
    store->tick++;
    path->frame = old; /* to be kept: its position is not yet handed up */
    int result = take_frame(store, path, height,
                            store_shorten(store, object->head, (uint8_t)(height + 1U)));
    if (result < 0) {
        return result;
    }
    if (height > 0) { /* root keeps telling the old top until this one is written */
        nw_put32(entry_of(store, path->frame, index), root_of(object));
    }
    path->frame->children = old != NULL ? 1U : 0U;
    object->height++;
    return NW_OK;
}

/* As long as all that is left lies under one entry of the top, that one becomes the top. What the
 * flash tells of it, with what is replayed since, is all there is, so nothing need be written. */
static void lower(struct nw_store *store, struct object *object)
{
    while (object->height > 1U && object->type != NW_STORE_ARRAY) {
        uint8_t level = (uint8_t)(object->height - 1U);
        uint32_t child = store_shorten(store, object->head, level);
        struct frame *top =
            find_frame(store, object, level, store_shorten(store, object->head, object->height));
        struct frame *below = find_frame(store, object, (uint8_t)(level - 1U), child);

        if (top == NULL || child != store_shorten(store, object->tail, level) ||
            top->children > (below != NULL ? 1U : 0U)) {
            return; /* the last: others below it are still in frames */
        }
        object->root = nw_get32(entry_of(store, top, child));
        object->rooted = object->root == STORE_NONE ? 0 : level;
        object->height = level;
        release(top);
    }
}

/* Goes the path. NW_ERR_NOT_FOUND: there is no such node. */
static int reach(struct nw_store *store, struct path *path)
{
    struct object *object = path->object;
    int result = NW_OK;

    lower(store, object);
    while (!covers(store, object, path->key)) {
        result = path->make != MAKE_NONE ? grow(store, path) : (int)NW_ERR_NOT_FOUND;
        if (result < 0) {
            return result;
        }
    }
    path->frame = NULL;
    path->from = root_of(object);
    for (uint8_t level = object->height; result == NW_OK && level > path->level;) {
        level--;
        result = step_down(store, path, level);
    }
    return result;
}

/* Goes the path down to a chunk: where it lies. NW_ERR_NOT_FOUND: nowhere. */
static int look_up(struct nw_store *store, struct path *path, uint32_t *at)
{
    int result = 0;

    if (store->spilt != 0 && store->mounting == 0) { /* the replay's are for books alone */
        result = store->seek(store, path->object, path->key, at, &path->next);
    }
    if (result == 0) {
        result = reach(store, path);
        *at = path->from;
    }
    return result >= 0 && *at == STORE_NONE ? (int)NW_ERR_NOT_FOUND : result < 0 ? result : NW_OK;
}

/* Where the key's chunk lies. NW_ERR_NOT_FOUND: nowhere. */
int store_get(struct nw_store *store, struct object *object, uint32_t key, uint32_t *at)
{
    struct path path = {.object = object, .key = key};

    return look_up(store, &path, at);
}

/* The same for a reader, who needs no frames: goes on where nothing can be written any more. */
int store_find(struct nw_store *store, struct object *object, uint32_t key, uint32_t *at)
{
    struct path path = {.object = object, .key = key, .read = READ};

    return look_up(store, &path, at);
}

/* The key behind all those that are missing with this one: a whole subtree, if there is none. Where
 * the key has a chunk, or damage hides that, it stays: then 0, else 1, or another error. Cost: as
 * store_get(). */
int store_skip(struct nw_store *store, struct object *object, uint32_t *key)
{
    struct path path = {.object = object,
                        .key = *key,
                        .next = STORE_NONE,
                        .reached = UINT8_MAX,
                        .read = READ};
    uint32_t at;

    int result = look_up(store, &path, &at);

    if (result != NW_ERR_NOT_FOUND) {
        return store_is_damage(result) ? 0 : result;
    }
    uint32_t next = 0; /* over the top, or without one, there is nothing more */
    if (path.reached != UINT8_MAX) {
        uint8_t level = path.reached; /* of the lowest node there is */
        uint16_t bits = (uint16_t)level * store->fan_shift;

        next = bits < 32U ? (store_shorten(store, *key, level) + 1U) << bits : 0;
    }
    next = next > *key && next < object->tail ? next : object->tail;
    *key = next < path.next ? next : path.next;
    return 1;
}

/*
 * The first key from *key on, in the same node, whose chunk lies in what is being cleaned: 1, and
 * *at tells where. 0: there is none, and *key is the first one of the next node. The nodes on the
 * way that lie there themselves will be written anew.
 */
int store_next_old(struct nw_store *store, struct object *object, uint32_t *key, uint32_t *at)
{
    struct path path = {.object = object, .key = *key, .old = 1};
    uint32_t next = (*key | store->fan_mask) + 1U;
    int result = reach(store, &path);

    if (result == NW_ERR_NOT_FOUND) {
        result = store_skip(store, object, key);
        return result < 0 ? result : 0;
    }
    next = next != 0 && next < object->tail ? next : object->tail;
    for (; result == NW_OK && *key < next; (*key)++) {
        *at = nw_get32(entry_of(store, path.frame, *key));
        if (store_is_old(store, *at)) {
            return 1;
        }
    }
    *key = next;
    return result < 0 ? result : 0;
}

/* From now on the key's chunk is this one; *old tells where it lay, or STORE_NONE. Without `old`
 * the path is only gone, which leaves all of it in frames: the next call for this key reads and
 * writes nothing. Mounted read-only, what has no frame is found in the log; *old is not told. */
int store_set(struct nw_store *store, struct object *object, const struct chunk *chunk,
              uint32_t *old)
{
    struct path path = {.object = object, .key = chunk->key, .make = MAKE};

    if (store_is_append(chunk)) {
        path.make = MAKE_LAST;
        if (object->head == object->tail && path.key == object->tail) {
            store_drop_frames(store, object, 1); /* it was empty: begin anew */
            object->rooted = 0;
            object->height = 0;
            object->root = STORE_NONE;
        }
    }
    int result = reach(store, &path);
    if (result == NW_ERR_UNSUPPORTED && old != NULL) {
        store->spilt = 1;
        *old = STORE_NONE;
        return NW_OK;
    }
    if (result == NW_OK && old != NULL) {
        *old = path.from;
        nw_put32(entry_of(store, path.frame, path.key), chunk->at);
        touch(path.frame);
    }
    return result;
}

/* If the object's tree uses that node at that place, then it is in a frame from now on, and will
 * be written anew. */
int store_own_node(struct nw_store *store, struct object *object, const struct chunk *node)
{
    uint8_t digits = (uint8_t)(node->mask + 1U);
    struct path path = {.object = object, .key = object->head, .level = digits};
    uint32_t first = store_shorten(store, path.key, digits);

    lower(store, object); /* first: whether the node is needed depends on it */
    if (object->head == object->tail || digits > object->height || node->key < first ||
        node->key > store_shorten(store, object->tail, digits)) {
        return NW_OK; /* of an empty object nothing is needed: what root tells may be gone */
    }
    if (node->key > first) {
        path.key = node->key << (digits * store->fan_shift);
    }
    int result = reach(store, &path);
    if (result == NW_OK && path.from == node->at) {
        path.level = node->mask;
        result = reach(store, &path);
        if (result == NW_OK && path.frame != NULL) {
            touch(path.frame);
        }
    }
    return result == NW_ERR_NOT_FOUND ? (int)NW_OK : result;
}

/* The old frame of the lowest level, or NULL. */
static struct frame *find_old(const struct nw_store *store)
{
    struct frame *frame = store->frames;
    struct frame *best = NULL;

    for (uint8_t i = store->frame_count; i > 0; i--, frame = next_frame(store, frame)) {
        if (frame->dirty == FRAME_OLD && (best == NULL || frame->level < best->level)) {
            best = frame;
        }
    }
    return best;
}

int store_has_old(const struct nw_store *store)
{
    return find_old(store) != NULL;
}

/* Writes one old frame, lowest level first: 1, or 0 when there is none. */
int store_flush_old(struct nw_store *store)
{
    struct frame *frame = find_old(store);
    int result = frame != NULL ? write_node(store, frame) : (int)NW_OK;

    return frame != NULL && result == NW_OK ? 1 : result;
}

/* Starts writing all frames that are dirty now; an anchor may follow when none is old any more. */
void store_age_frames(struct nw_store *store)
{
    struct frame *frame = store->frames;

    for (uint8_t i = store->frame_count; i > 0; i--, frame = next_frame(store, frame)) {
        if (frame->dirty == FRAME_DIRTY) {
            frame->dirty = FRAME_OLD;
        }
    }
    store->flushing = 1;
    store_close(store);
    store->next_redo = store_frontier(store);
    store->next_safe = store->tail;
    store->next_sweep = store->sweep;
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

/* Forgets the nodes of `count` objects, written or not. */
void store_drop_frames(struct nw_store *store, const struct object *first, uint8_t count)
{
    struct frame *frame = store->frames;
    uint8_t number = number_of(store, first);

    for (uint8_t i = store->frame_count; i > 0; i--, frame = next_frame(store, frame)) {
        if (frame->object >= number && frame->object < number + count) {
            release(frame);
        }
    }
}
