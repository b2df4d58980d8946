/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that go round the frames: CLOCK, enhanced second chance, the VM's own, and sets of
 * frames. Reference and dirty bits are bit maps, so that a search passes 64 frames at a time. */
#include "paging.h"

#include <string.h>

#define NO_FRAME UINT32_MAX

/* How far past a dirty candidate the VM looks for a clean one: CLEAN_REACH of core/vm/policy.c. */
#define CLEAN_REACH 64U

struct clock {
    uint32_t *frame_of; /* of a page; NO_FRAME */
    uint32_t *page_of;  /* of a frame */
    uint64_t *used, *dirty;
    uint32_t frames, filled, hand;
    struct nw_paging_result *result;
};

typedef uint32_t choose_victim(struct clock *clock);

static int get(const uint64_t *map, uint32_t frame)
{
    return (int)(map[frame >> 6] >> (frame & 63U) & 1U);
}

static void set(uint64_t *map, uint32_t frame, int value)
{
    uint64_t bit = 1ULL << (frame & 63U);

    map[frame >> 6] = value ? map[frame >> 6] | bit : map[frame >> 6] & ~bit;
}

static int clock_open(struct clock *clock, const struct nw_refs *refs, uint32_t frames,
                      struct nw_paging_result *result)
{
    size_t words = frames / 64U + 1U;

    memset(clock, 0, sizeof *clock);
    clock->frames = frames;
    clock->result = result;
    clock->frame_of = malloc(((size_t)refs->pages + 1U) * sizeof *clock->frame_of);
    clock->page_of = calloc(frames, sizeof *clock->page_of);
    clock->used = calloc(words, sizeof *clock->used);
    clock->dirty = calloc(words, sizeof *clock->dirty);
    if (clock->frame_of == NULL || clock->page_of == NULL || clock->used == NULL ||
        clock->dirty == NULL) {
        return NW_ERR_RAM;
    }
    memset(clock->frame_of, 0xFF, ((size_t)refs->pages + 1U) * sizeof *clock->frame_of);
    return NW_OK;
}

static void clock_close(struct clock *clock)
{
    free(clock->frame_of);
    free(clock->page_of);
    free(clock->used);
    free(clock->dirty);
}

/* A frame for a page that comes in. */
static uint32_t take_frame(struct clock *clock, choose_victim *choose)
{
    if (clock->filled < clock->frames) {
        return clock->filled++;
    }
    uint32_t frame = choose(clock);

    clock->frame_of[clock->page_of[frame]] = NO_FRAME;
    if (get(clock->dirty, frame)) {
        write_back(clock->result, clock->page_of[frame]);
    }
    set(clock->dirty, frame, 0);
    return frame;
}

static int go_round(const struct nw_refs *refs, uint32_t frames, choose_victim *choose,
                    struct nw_paging_result *result)
{
    struct clock clock;
    int error = clock_open(&clock, refs, frames, result);

    for (uint64_t i = 0; error == NW_OK && i < refs->count; i++) {
        uint32_t page = refs->ref[i] >> 1, frame = clock.frame_of[page];

        if (frame == NO_FRAME) {
            frame = take_frame(&clock, choose);
            page_in(result, page);
            clock.frame_of[page] = frame;
            clock.page_of[frame] = page;
        }
        set(clock.used, frame, 1);
        if (refs->ref[i] & 1U) {
            set(clock.dirty, frame, 1);
        }
    }
    clock_close(&clock);
    return error;
}

static uint32_t after(const struct clock *clock, uint32_t frame)
{
    return frame + 1U < clock->frames ? frame + 1U : 0;
}

/* The first frame of from .. to - 1 that is unused and, as wanted, dirty or clean; NO_FRAME. */
static uint32_t first_unused(const struct clock *clock, uint32_t from, uint32_t to, int dirty)
{
    uint64_t flip = dirty ? 0 : ~0ULL;

    for (uint32_t at = from; at < to; at = (at | 63U) + 1U) {
        uint64_t fit = ~clock->used[at >> 6] & (clock->dirty[at >> 6] ^ flip);

        fit &= ~0ULL << (at & 63U);
        if (fit != 0) {
            uint32_t found = (at & ~63U) + (uint32_t)__builtin_ctzll(fit);

            return found < to ? found : NO_FRAME;
        }
    }
    return NO_FRAME;
}

static void forgive(struct clock *clock, uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at < to;) {
        uint32_t end = least_of((at | 63U) + 1U, to);
        uint64_t bits = ~0ULL << (at & 63U);

        if ((end & 63U) != 0) {
            bits &= ~(~0ULL << (end & 63U));
        }
        clock->used[at >> 6] &= ~bits;
        at = end;
    }
}

/* ---- CLOCK ---- */

/* Frames up to the first unused one lose their mark. */
static uint32_t clock_choose(struct clock *clock)
{
    uint32_t frame = clock->hand;

    while (get(clock->used, frame)) {
        set(clock->used, frame, 0);
        frame = after(clock, frame);
    }
    clock->hand = after(clock, frame);
    return frame;
}

int nw_policy_clock(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                    const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    (void)ways;
    (void)cost;
    return go_round(refs, frames, clock_choose, result);
}

/* ---- enhanced second chance ---- */

/* One turn from the hand for unused frames, clean or dirty; NO_FRAME. */
static uint32_t esc_turn(const struct clock *clock, int dirty)
{
    uint32_t frame = first_unused(clock, clock->hand, clock->frames, dirty);

    return frame != NO_FRAME ? frame : first_unused(clock, 0, clock->hand, dirty);
}

/* The first page of the lowest class that is not empty: neither, dirty only, used only, both. The
 * turn that looks for the second class takes the marks of the frames it passes; if it finds none it
 * has taken all, and what were the third and fourth class are the first and second. */
static uint32_t esc_choose(struct clock *clock)
{
    uint32_t frame = esc_turn(clock, 0);

    if (frame == NO_FRAME) {
        frame = esc_turn(clock, 1);
        if (frame == NO_FRAME) {
            forgive(clock, 0, clock->frames);
            frame = esc_turn(clock, 0);
            frame = frame != NO_FRAME ? frame : esc_turn(clock, 1);
        } else if (frame >= clock->hand) {
            forgive(clock, clock->hand, frame);
        } else {
            forgive(clock, clock->hand, clock->frames);
            forgive(clock, 0, frame);
        }
    }
    clock->hand = after(clock, frame);
    return frame;
}

int nw_policy_esc(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                  const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    (void)ways;
    (void)cost;
    return go_round(refs, frames, esc_choose, result);
}

/* ---- the VM's ---- */

/* core/vm/policy.c without pins: the hand stays at a dirty candidate that yields. */
static uint32_t vm_choose(struct clock *clock)
{
    uint32_t frame = clock->hand;

    while (get(clock->used, frame)) {
        set(clock->used, frame, 0);
        frame = after(clock, frame);
    }
    clock->hand = frame;
    if (get(clock->dirty, frame)) {
        uint32_t reach = least_of(clock->frames, CLEAN_REACH), end = frame + reach;
        uint32_t clean = first_unused(clock, frame + 1U, least_of(end, clock->frames), 0);

        if (clean == NO_FRAME && end > clock->frames) {
            clean = first_unused(clock, 0, end - clock->frames, 0);
        }
        if (clean != NO_FRAME) {
            return clean;
        }
    }
    clock->hand = after(clock, frame);
    return frame;
}

int nw_policy_vm(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                 const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    (void)ways;
    (void)cost;
    return go_round(refs, frames, vm_choose, result);
}

/* ---- sets ---- */

#define EMPTY UINT32_MAX

/* Moves the page to the front of its set. A new one pushes the last out: its entry, or EMPTY. */
static uint32_t to_front(uint32_t *set_of, uint32_t ways, uint32_t page, int *hit)
{
    uint32_t carried = page << 1;

    for (uint32_t way = 0; way < ways; way++) {
        uint32_t entry = set_of[way];

        *hit = entry != EMPTY && entry >> 1 == page;
        if (*hit) {
            set_of[way] = carried;
            set_of[0] |= entry & 1U;
            return EMPTY;
        }
        set_of[way] = carried;
        carried = entry;
        if (entry == EMPTY) {
            break;
        }
    }
    return carried;
}

int nw_policy_sets(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                   const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    uint32_t *entries = malloc(frames * sizeof *entries);
    uint32_t *place = malloc(((size_t)refs->pages + 1U) * sizeof *place);
    uint32_t sets = frames / ways;
    int error = entries != NULL && place != NULL ? NW_OK : NW_ERR_RAM;

    (void)cost;
    for (uint32_t page = 0; error == NW_OK && page < refs->pages; page++) {
        place[page] = (uint32_t)(refs->page[page] % sets) * ways;
    }
    if (error == NW_OK) {
        memset(entries, 0xFF, frames * sizeof *entries);
    }
    for (uint64_t i = 0; error == NW_OK && i < refs->count; i++) {
        uint32_t page = refs->ref[i] >> 1, *set_of = entries + place[page];
        int hit = 0;
        uint32_t out = to_front(set_of, ways, page, &hit);

        if (out != EMPTY && (out & 1U)) {
            write_back(result, out >> 1);
        }
        if (!hit) {
            page_in(result, page);
        }
        set_of[0] |= refs->ref[i] & 1U;
    }
    free(entries);
    free(place);
    return error;
}
