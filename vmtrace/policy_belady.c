/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that know the future. MIN (Belady 1966) lets the page go whose next reference is
 * farthest away; of pages never used again a clean one. The greedy variant weighs what a page's
 * stay saves (a read, and a write if it is dirty) against how long it takes up a frame. */
#include "paging.h"

#include <string.h>

#define NOWHERE UINT32_MAX

/* A heap of pages with the farthest next use on top. */
struct heap {
    uint32_t *page;
    uint32_t count;
};

struct future {
    uint32_t *next;  /* by reference: when its page is referenced again, or refs->count */
    uint64_t *key;   /* by page: next use << 1, plus 1 if clean */
    uint32_t *place; /* by page: in its heap, or NOWHERE */
    uint8_t *dirty;  /* by page */
    uint32_t *both;  /* room of the heaps */
    struct heap heap[2]; /* clean, dirty; the plain variant keeps all in the first */
};

static void put_at(struct future *future, struct heap *heap, uint32_t at, uint32_t page)
{
    heap->page[at] = page;
    future->place[page] = at;
}

static void rise(struct future *future, struct heap *heap, uint32_t at)
{
    uint32_t page = heap->page[at];

    while (at > 0 && future->key[heap->page[(at - 1U) / 2U]] < future->key[page]) {
        put_at(future, heap, at, heap->page[(at - 1U) / 2U]);
        at = (at - 1U) / 2U;
    }
    put_at(future, heap, at, page);
}

static void sink(struct future *future, struct heap *heap, uint32_t at)
{
    uint32_t page = heap->page[at];

    for (uint32_t child = 2U * at + 1U; child < heap->count; child = 2U * at + 1U) {
        if (child + 1U < heap->count &&
            future->key[heap->page[child + 1U]] > future->key[heap->page[child]]) {
            child++;
        }
        if (future->key[heap->page[child]] <= future->key[page]) {
            break;
        }
        put_at(future, heap, at, heap->page[child]);
        at = child;
    }
    put_at(future, heap, at, page);
}

static void take_out(struct future *future, struct heap *heap, uint32_t page)
{
    uint32_t at = future->place[page];

    if (heap->count == 0) {
        return; /* never: the page is in it */
    }
    uint32_t last = heap->page[--heap->count];
    future->place[page] = NOWHERE;
    if (last != page) {
        put_at(future, heap, at, last);
        rise(future, heap, at);
        sink(future, heap, future->place[last]);
    }
}

static void add(struct future *future, struct heap *heap, uint32_t page)
{
    heap->page[heap->count] = page;
    rise(future, heap, heap->count++);
}

static void find_next_uses(struct future *future, const struct nw_refs *refs)
{
    uint32_t *seen = future->place; /* not in use yet */

    for (uint32_t page = 0; page < refs->pages; page++) {
        seen[page] = (uint32_t)refs->count;
    }
    for (uint64_t i = refs->count; i-- > 0;) {
        future->next[i] = seen[refs->ref[i] >> 1];
        seen[refs->ref[i] >> 1] = (uint32_t)i;
    }
    memset(future->place, 0xFF, refs->pages * sizeof *future->place);
}

static int future_open(struct future *future, const struct nw_refs *refs, uint32_t frames)
{
    size_t pages = (size_t)refs->pages + 1U;

    memset(future, 0, sizeof *future);
    if (refs->count >= UINT32_MAX) {
        return NW_ERR_FULL;
    }
    future->next = malloc((refs->count + 1U) * sizeof *future->next);
    future->key = malloc(pages * sizeof *future->key);
    future->place = malloc(pages * sizeof *future->place);
    future->dirty = calloc(pages, 1);
    future->both = calloc(frames, 2U * sizeof *future->both);
    if (future->next == NULL || future->key == NULL || future->place == NULL ||
        future->dirty == NULL || future->both == NULL) {
        return NW_ERR_RAM;
    }
    future->heap[0].page = future->both;
    future->heap[1].page = future->both + frames;
    find_next_uses(future, refs);
    return NW_OK;
}

static void future_close(struct future *future)
{
    free(future->next);
    free(future->key);
    free(future->place);
    free(future->dirty);
    free(future->both);
}

/* Of the farthest clean and the farthest dirty page: the heap of the one that saves less for the
 * time it stays. A page that is never used again saves no read. */
static uint32_t cheaper(const struct future *future, uint64_t now, uint64_t end,
                        const struct nw_paging_cost *cost)
{
    const struct heap *heap = future->heap;

    if (heap[0].count == 0 || heap[1].count == 0) {
        return heap[0].count == 0;
    }
    uint64_t clean = future->key[heap[0].page[0]] >> 1, dirty = future->key[heap[1].page[0]] >> 1;
    uint64_t keeps_clean = clean == end ? 0 : cost->read;
    uint64_t keeps_dirty = (dirty == end ? 0 : (uint64_t)cost->read) + cost->write;

    return keeps_dirty * (clean - now) < keeps_clean * (dirty - now);
}

/* The heap a page belongs to, as it is now. */
static struct heap *heap_of(struct future *future, uint32_t page, int two)
{
    return two && future->dirty[page] ? &future->heap[1] : &future->heap[0];
}

static int with_future(const struct nw_refs *refs, uint32_t frames,
                       const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    struct future future;
    struct heap *heap = future.heap;
    int error = future_open(&future, refs, frames);

    for (uint64_t i = 0; error == NW_OK && i < refs->count; i++) {
        uint32_t page = refs->ref[i] >> 1;
        int two = cost != NULL;

        struct heap *in = heap_of(&future, page, two);
        int stays = future.place[page] != NOWHERE;

        if (!stays) {
            if (heap[0].count + heap[1].count >= frames) {
                uint32_t from = two ? cheaper(&future, i, refs->count, cost) : 0;
                uint32_t victim = heap[from].page[0];

                take_out(&future, &heap[from], victim);
                if (future.dirty[victim]) {
                    write_back(result, victim);
                }
                future.dirty[victim] = 0;
            }
            page_in(result, page);
        }
        future.dirty[page] |= refs->ref[i] & 1U;
        future.key[page] = (uint64_t)future.next[i] << 1 | !future.dirty[page];
        struct heap *now_in = heap_of(&future, page, two);
        if (stays && in == now_in) {
            rise(&future, in, future.place[page]); /* its next use is farther than this one */
            continue;
        }
        if (stays) {
            take_out(&future, in, page);
        }
        add(&future, now_in, page);
    }
    future_close(&future);
    return error;
}

int nw_policy_belady(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                     const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    (void)ways;
    (void)cost;
    return with_future(refs, frames, NULL, result);
}

int nw_policy_belady_cost(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                          const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    (void)ways;
    return with_future(refs, frames, cost, result);
}
