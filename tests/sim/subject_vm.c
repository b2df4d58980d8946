/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory and the heap in it as subjects, over the lavish layer. Nothing persists: with
 * power all begins anew. But requests to the chip fail and blocks go bad under them: errors are
 * told to panic, no byte is lost but those of a call that was told, and the bookkeeping stays
 * whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich/ftl_lavish_check.h"
#include "nandwich/heap.h"
#include "nandwich/vm.h"
#include "subject.h"

#define BASE ((uintptr_t)1 << 44) /* mapped to nothing on any host */
#define SLOTS 4U
#define BLOCKS 64U    /* of a heap, at most */
#define MOST_ALLOC 3000U

/* What a byte may read as. */
enum { KNOWN, OR_ZERO, ANY };

struct own {
    struct nw_layer_config config;
    struct nw_layer_site site;
    struct nw_vm vm;
    struct nw_vm_config vm_config;
    struct nw_vm_slot slots[SLOTS];
    struct nw_heap heap;
    uint32_t bytes;
    uint8_t *model;
    uint8_t *may;
    uint8_t *data;
    int error;      /* of the last panic; NW_OK */
    uint8_t broken; /* a heap that has met an error is used no more */
    uint32_t token;
    uintptr_t block[BLOCKS];
    uint32_t block_bytes[BLOCKS]; /* as asked for */
    uint32_t block_token[BLOCKS];
};

static struct own *own_of(const struct sim_subject *subject)
{
    return subject->own;
}

static void on_panic(struct nw_vm *vm, int error, uintptr_t address)
{
    (void)address;
    ((struct own *)vm->context)->error = error;
}

/* Opening */

static int vm_open(struct sim_subject *subject)
{
    const struct sim_head *head = subject->head;
    struct own *own = calloc(1, sizeof *own);

    subject->own = own;
    if (own == NULL) {
        return NW_ERR_RAM;
    }
    own->config = (struct nw_layer_config){.sectors = head->sectors != 0 ? head->sectors : 64U,
                                           .spare_blocks = (uint16_t)head->spare_blocks,
                                           .degree = (uint8_t)head->degree};
    own->site = (struct nw_layer_site){
        .config = &own->config, .chip = subject->chip, .chip_name = head->part.name};
    uint32_t sectors = nw_layer_lavish.sectors(&own->site);
    own->site.ram_bytes = sectors != 0 ? nw_layer_lavish.ram_bytes(&own->site) : 0;
    uint32_t page = subject->chip->geometry.page_bytes;
    own->bytes = sectors * page;
    own->vm_config = (struct nw_vm_config){
        .base = BASE,
        .bytes = own->bytes,
        .frame_bytes = (uint16_t)(page >> (head->shape % 3U)),
        .frames = (uint16_t)(SLOTS + 3U + head->maps),
        .slots = SLOTS,
        .policy = (head->log_blocks & 1U) != 0 ? NW_VM_LRU : NW_VM_CLOCK,
        .slot_table = own->slots,
        .panic = on_panic,
        .context = own};
    if (own->site.ram_bytes == 0) {
        return NW_ERR_CONFIG;
    }
    own->site.state = calloc(1, nw_layer_lavish.state_bytes);
    own->site.ram = calloc(1, own->site.ram_bytes);
    own->model = calloc(1, own->bytes);
    own->may = calloc(1, own->bytes);
    own->data = calloc(1, own->bytes);
    return own->site.state != NULL && own->site.ram != NULL && own->model != NULL &&
                   own->may != NULL && own->data != NULL
               ? NW_OK
               : (int)NW_ERR_RAM;
}

static void vm_close(struct sim_subject *subject)
{
    struct own *own = own_of(subject);

    free(own->site.state);
    free(own->site.ram);
    free(own->vm_config.ram);
    free(own->model);
    free(own->may);
    free(own->data);
    free(own);
    subject->own = NULL;
}

static int vm_format(struct sim_subject *subject)
{
    struct own *own = own_of(subject);

    memset(own->site.ram, 0xC3, own->site.ram_bytes);
    int result = nw_layer_lavish.format(&own->site, &own->vm_config.block);
    if (result < 0) {
        return result;
    }
    own->vm_config.ram_bytes = nw_vm_ram_bytes(&own->vm_config);
    if (own->vm_config.ram == NULL && own->vm_config.ram_bytes != 0) {
        own->vm_config.ram = malloc(own->vm_config.ram_bytes);
    }
    memset(own->model, 0, own->bytes);
    memset(own->may, KNOWN, own->bytes);
    own->error = NW_OK;
    own->broken = 0;
    memset(own->block, 0, sizeof own->block);
    result = nw_vm_open(&own->vm, &own->vm_config);
    return result < 0 ? result : nw_heap_open(&own->heap, &own->vm, BASE, own->bytes);
}

static uint32_t vm_places(const struct sim_subject *subject)
{
    return own_of(subject)->bytes;
}

static int vm_may_fill(const struct sim_subject *subject, const struct sim_strain *strain)
{
    const struct own *own = own_of(subject);

    return sim_lavish_may_fill(&own->site, strain);
}

/* Of the layer under it. */
static int vm_audit(struct sim_subject *subject, uint32_t *where)
{
    return nw_ftl_lavish_check(own_of(subject)->site.state, where);
}

static struct sim_most vm_most(const struct sim_subject *subject, const struct sim_step *step,
                               int clean)
{
    (void)subject;
    (void)step;
    (void)clean;
    return (struct sim_most){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
}

/* What the step has answered: what panic was told, for what comes back may be what followed. */
static int told(struct own *own, int result)
{
    int error = own->error;

    own->error = NW_OK;
    return error < 0 ? error : result;
}

/* Memory */

static void put(struct own *own, uint32_t at, uint32_t bytes, int result)
{
    for (uint32_t i = 0; i < bytes; i++) {
        own->model[at + i] = own->data[i];
        own->may[at + i] = result < 0 || own->error < 0 ? ANY : KNOWN;
    }
}

static void compare(struct sim_subject *subject, uint32_t at, uint32_t bytes, const uint8_t *data)
{
    struct own *own = own_of(subject);

    for (uint32_t i = 0; i < bytes && own->error == NW_OK; i++) {
        uint8_t *model = &own->model[at + i];

        if (own->may[at + i] == ANY) { /* what it shows stays */
            *model = data[i];
            own->may[at + i] = KNOWN;
        }
        if (data[i] != *model && (own->may[at + i] == KNOWN || data[i] != 0)) {
            (void)snprintf(subject->why, sizeof subject->why, "byte %lu reads as %u, it holds %u",
                           (unsigned long)(at + i), data[i], *model);
            return;
        }
    }
}

static void draw_bytes(struct own *own, uint32_t bytes)
{
    own->token++;
    for (uint32_t i = 0; i < bytes; i++) {
        own->data[i] = (uint8_t)((own->token * 2654435761U >> 13) + i * 7U + 1U);
    }
}

enum vm_verb { STORE, LOAD, WRITE, READ, FILL, MOVE, DISCARD, FLUSH, RELEASE, VM_VERBS };

#define PLACE {"at", UINT32_MAX, NULL}
#define LENGTH {"bytes", UINT32_MAX, NULL}

static const struct sim_verb vm_verbs[VM_VERBS] = {
    [STORE] = {"store", "through a guard: up to 16 bytes", {PLACE, LENGTH}, 0},
    [LOAD] = {"load", "through a guard, and compares", {PLACE, LENGTH}, 0},
    [WRITE] = {"write", "bytes at once", {PLACE, LENGTH}, 0},
    [READ] = {"read", "bytes at once, and compares", {PLACE, LENGTH}, 0},
    [FILL] = {"fill", "with one value", {PLACE, LENGTH, {"value", 255, NULL}}, 0},
    [MOVE] = {"move", "bytes, which may overlap", {PLACE, LENGTH, {"from", UINT32_MAX, NULL}}, 0},
    [DISCARD] = {"discard", "what the bytes hold is not needed", {PLACE, LENGTH}, 0},
    [FLUSH] = {"flush", "writes back all that is dirty", {{0}}, 0},
    [RELEASE] = {"release", "empties the slots", {{0}}, 0},
};

/* Only whole pages are discarded. */
static void forget(struct own *own, uint32_t at, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        if (own->may[at + i] == KNOWN) {
            own->may[at + i] = OR_ZERO;
        }
    }
}

static int vm_run(struct sim_subject *subject, const struct sim_step *step)
{
    struct own *own = own_of(subject);
    uint32_t at = step->args[0] % own->bytes;
    uint32_t left = own->bytes - at;
    uint32_t bytes = step->args[1] % left + 1U;
    uint32_t n = bytes < NW_VM_ACCESS_MAX ? bytes : NW_VM_ACCESS_MAX;
    struct nw_vm_slot *slot = &own->slots[at % SLOTS];
    int result = NW_OK;

    switch (step->verb - SIM_COMMON) {
    case STORE:
        draw_bytes(own, n);
        nw_vm_store_miss(&own->vm, slot, BASE + at, n, own->data);
        put(own, at, n, NW_OK);
        break;
    case LOAD:
        compare(subject, at, n, nw_vm_load_miss(slot, BASE + at, n, &own->vm));
        break;
    case WRITE:
        draw_bytes(own, bytes);
        result = nw_vm_write(&own->vm, BASE + at, own->data, bytes);
        put(own, at, bytes, result);
        break;
    case READ:
        result = nw_vm_read(&own->vm, own->data, BASE + at, bytes);
        compare(subject, at, result < 0 ? 0 : bytes, own->data);
        break;
    case FILL:
        memset(own->data, (int)step->args[2], bytes);
        result = nw_vm_fill(&own->vm, BASE + at, (uint8_t)step->args[2], bytes);
        put(own, at, bytes, result);
        break;
    case MOVE: {
        uint32_t from = step->args[2] % (own->bytes - bytes + 1U);

        result = nw_vm_move(&own->vm, BASE + at, BASE + from, bytes);
        memmove(own->model + at, own->model + from, bytes);
        memmove(own->may + at, own->may + from, bytes);
        for (uint32_t i = 0; i < bytes; i++) { /* a copy is not discarded: it stays as it is */
            own->may[at + i] = own->may[at + i] != KNOWN || result < 0 ? ANY : KNOWN;
        }
        break;
    }
    case DISCARD:
        result = nw_vm_discard(&own->vm, BASE + at, bytes);
        forget(own, at, bytes);
        break;
    case FLUSH: result = nw_vm_flush(&own->vm); break;
    default: nw_vm_slots_release(&own->vm); break;
    }
    return told(own, result);
}

static void vm_draw(struct sim_subject *subject, struct nw_random *random,
                    struct sim_taste *taste, struct sim_step *step)
{
    const struct own *own = own_of(subject);
    uint32_t most = nw_random_below(random, 3) == 0 ? own->bytes : 700U;

    step->verb = sim_draw_verb(taste, VM_VERBS, random);
    step->args[0] = (taste->first + nw_random_next(random) % taste->span) % own->bytes;
    step->args[1] = nw_random_next(random) % most;
    step->args[2] = nw_random_next(random) % own->bytes;
    if (step->verb - SIM_COMMON == FILL) {
        step->args[2] %= 256U;
    } else if (step->verb - SIM_COMMON != MOVE) {
        step->args[2] = 0;
    }
    if (step->verb - SIM_COMMON >= FLUSH) {
        step->args[0] = 0;
        step->args[1] = 0;
    }
}

static int vm_check(struct sim_subject *subject)
{
    struct own *own = own_of(subject);
    int result = nw_vm_read(&own->vm, own->data, BASE, own->bytes);

    compare(subject, 0, result < 0 ? 0 : own->bytes, own->data);
    return told(own, result);
}

/* The heap */

enum heap_verb { ALLOC, FREE, RESIZE, ZEROED, ALIGNED, HEAP_VERBS };

#define WHICH {"block", BLOCKS - 1U, NULL}
#define SIZE {"bytes", MOST_ALLOC, NULL}

static const struct sim_verb heap_verbs[HEAP_VERBS] = {
    [ALLOC] = {"alloc", "a block, in place of the one that has its number", {WHICH, SIZE}, 0},
    [FREE] = {"free", "a block", {WHICH}, 0},
    [RESIZE] = {"resize", "a block", {WHICH, SIZE}, 0},
    [ZEROED] = {"zeroed", "a block of zeros", {WHICH, SIZE}, 0},
    [ALIGNED] = {"aligned", "a block at a multiple of 2^shift",
                 {WHICH, SIZE, {"shift", 9, NULL}}, 0},
};

static uint8_t byte_of(uint32_t token, uint32_t index)
{
    return token == 0 ? 0 : (uint8_t)(token * 37U + index * 11U + (index >> 8));
}

/* The first bytes of a block are as they were written. */
static int verify(struct sim_subject *subject, uint32_t which, uint32_t bytes)
{
    struct own *own = own_of(subject);
    int result = nw_vm_read(&own->vm, own->data, own->block[which], bytes);

    for (uint32_t i = 0; result >= 0 && i < bytes; i++) {
        if (own->data[i] != byte_of(own->block_token[which], i)) {
            (void)snprintf(subject->why, sizeof subject->why,
                           "byte %lu of block %lu reads as %u, it holds %u", (unsigned long)i,
                           (unsigned long)which, own->data[i],
                           byte_of(own->block_token[which], i));
            return NW_OK;
        }
    }
    return result;
}

static int fill_block(struct own *own, uint32_t which, uint32_t token)
{
    own->block_token[which] = token;
    for (uint32_t i = 0; i < own->block_bytes[which]; i++) {
        own->data[i] = byte_of(token, i);
    }
    return nw_vm_write(&own->vm, own->block[which], own->data, own->block_bytes[which]);
}

/* Bytes that a block takes from `start` on, its header with it; none overlap. */
static uint32_t take_of(struct own *own, uint32_t which, uint32_t *start)
{
    size_t bytes = 0;

    (void)nw_heap_size(&own->heap, own->block[which], &bytes);
    *start = (uint32_t)(own->block[which] - BASE) - 8U;
    return (uint32_t)bytes + 8U;
}

/* heap.h: refused only when no R(n) free bytes lie side by side. */
static void judge_full(struct sim_subject *subject, uint32_t bytes, uint32_t align)
{
    struct own *own = own_of(subject);
    uint32_t need = (bytes + 8U + NW_HEAP_ALIGN - 1U) / NW_HEAP_ALIGN * NW_HEAP_ALIGN;
    uint32_t at = 0;
    uint32_t longest = 0;

    need = (need < 16U ? 16U : need) + (align > NW_HEAP_ALIGN ? align + 16U : 0);
    while (at < own->bytes) {
        uint32_t next = own->bytes;
        uint32_t end = own->bytes;

        for (uint32_t i = 0; i < BLOCKS; i++) {
            uint32_t start = 0;
            uint32_t takes = own->block[i] != 0 ? take_of(own, i, &start) : 0;

            if (takes != 0 && start >= at && start < next) {
                next = start;
                end = start + takes;
            }
        }
        longest = next - at > longest ? next - at : longest;
        at = end;
    }
    if (own->error == NW_OK && longest >= need + 2U * NW_HEAP_ALIGN) {
        (void)snprintf(subject->why, sizeof subject->why,
                       "%lu bytes are refused, %lu lie side by side", (unsigned long)need,
                       (unsigned long)longest);
    }
}

static int allocate(struct sim_subject *subject, const struct sim_step *step)
{
    struct own *own = own_of(subject);
    uint32_t which = step->args[0];
    uint32_t verb = step->verb - SIM_COMMON;
    uint32_t align = verb == ALIGNED ? 1U << step->args[2] : 0;
    uint32_t bytes = step->args[1] != 0 ? step->args[1] : 1U;
    uintptr_t address = 0;
    int result = verb == ZEROED ? nw_heap_alloc_zeroed(&own->heap, 1, bytes, &address)
                                : nw_heap_alloc(&own->heap, bytes, align, &address);

    if (result == NW_ERR_FULL) {
        judge_full(subject, bytes, align);
        return NW_OK;
    }
    if (result < 0) {
        return result;
    }
    own->block[which] = address;
    own->block_bytes[which] = bytes;
    own->block_token[which] = 0;
    if (align != 0 && address % align != 0) {
        (void)snprintf(subject->why, sizeof subject->why, "a block is not aligned to %lu",
                       (unsigned long)align);
    }
    result = verb == ZEROED ? verify(subject, which, bytes) : NW_OK;
    return result < 0 ? result : fill_block(own, which, ++own->token);
}

static int release(struct sim_subject *subject, uint32_t which)
{
    struct own *own = own_of(subject);

    if (own->block[which] == 0) {
        return NW_OK;
    }
    int result = verify(subject, which, own->block_bytes[which]);
    result = result < 0 ? result : nw_heap_free(&own->heap, own->block[which]);
    own->block[which] = 0;
    return result;
}

static int resize(struct sim_subject *subject, uint32_t which, uint32_t bytes)
{
    struct own *own = own_of(subject);
    uint32_t least = bytes < own->block_bytes[which] ? bytes : own->block_bytes[which];

    bytes = bytes != 0 ? bytes : 1U;
    if (own->block[which] == 0) {
        return NW_OK;
    }
    int result = nw_heap_resize(&own->heap, &own->block[which], bytes);
    if (result == NW_ERR_FULL) {
        judge_full(subject, bytes, 0);
        return verify(subject, which, own->block_bytes[which]);
    }
    result = result < 0 ? result : verify(subject, which, least);
    own->block_bytes[which] = bytes;
    return result < 0 ? result : fill_block(own, which, own->block_token[which]);
}

static int heap_run(struct sim_subject *subject, const struct sim_step *step)
{
    struct own *own = own_of(subject);
    int result = NW_OK;

    if (own->broken != 0) {
        return NW_OK;
    }
    switch (step->verb - SIM_COMMON) {
    case FREE: result = release(subject, step->args[0]); break;
    case RESIZE: result = resize(subject, step->args[0], step->args[1]); break;
    default:
        result = release(subject, step->args[0]);
        result = result < 0 ? result : allocate(subject, step);
        break;
    }
    result = told(own, result);
    own->broken = result < 0;
    return result;
}

static void heap_draw(struct sim_subject *subject, struct nw_random *random,
                      struct sim_taste *taste, struct sim_step *step)
{
    step->verb = sim_draw_verb(taste, HEAP_VERBS, random);
    uint32_t verb = step->verb - SIM_COMMON;

    (void)subject;
    step->args[0] = nw_random_next(random) % (taste->span < BLOCKS ? taste->span : BLOCKS);
    step->args[1] = verb == FREE ? 0 : nw_random_next(random) % (taste->in_order ? 64U : 700U);
    step->args[1] += verb != FREE && nw_random_below(random, 12) == 0 ? 2000U : 0;
    step->args[2] = verb == ALIGNED ? nw_random_below(random, 10) : 0;
}

static int heap_check(struct sim_subject *subject)
{
    struct own *own = own_of(subject);
    uintptr_t bad = 0;
    int result = NW_OK;

    if (own->broken != 0) {
        return NW_OK;
    }
    for (uint32_t i = 0; i < BLOCKS && result >= 0; i++) {
        result = own->block[i] != 0 ? verify(subject, i, own->block_bytes[i]) : NW_OK;
    }
    result = result < 0 ? result : nw_heap_check(&own->heap, &bad);
    result = told(own, result);
    own->broken = result < 0;
    return result;
}

/* A small chip, and more memory than frames. */
static void vm_fit(struct nw_random *random, struct sim_head *head)
{
    const struct sim_kind *kind = head->kind;

    *head = (struct sim_head){.kind = kind};
    sim_small_part(random, head);
    head->part.blocks = 14U + nw_random_below(random, 10);
    head->sectors = 20U + nw_random_below(random, 40);
    head->spare_blocks = nw_random_below(random, 4);
    head->degree = 2U + nw_random_below(random, 3);
    head->maps = nw_random_below(random, 12);
    head->log_blocks = nw_random_below(random, 2);
    head->shape = nw_random_below(random, 3);
    head->unerased = nw_random_below(random, 2);
}

const struct sim_kind sim_kind_vm = {
    .name = "vm",
    .what = "virtual memory over lavish: forgets with power",
    .verbs = vm_verbs,
    .verb_count = VM_VERBS,
    .fit = vm_fit,
    .open = vm_open,
    .close = vm_close,
    .format = vm_format,
    .places = vm_places,
    .draw = vm_draw,
    .run = vm_run,
    .check = vm_check,
    .audit = vm_audit,
    .may_fill = vm_may_fill,
    .most = vm_most,
};

const struct sim_kind sim_kind_heap = {
    .name = "heap",
    .what = "the heap in virtual memory: forgets with power",
    .verbs = heap_verbs,
    .verb_count = HEAP_VERBS,
    .fit = vm_fit,
    .open = vm_open,
    .close = vm_close,
    .format = vm_format,
    .places = vm_places,
    .draw = heap_draw,
    .run = heap_run,
    .check = heap_check,
    .audit = vm_audit,
    .may_fill = vm_may_fill,
    .most = vm_most,
};
