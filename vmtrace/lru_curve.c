/* SPDX-License-Identifier: Apache-2.0 */
/* LRU for all numbers of frames at once. A page's stack distance d is the number of pages
 * referenced since its last reference, itself included: it is a hit from d frames on. Its dirty
 * level l is the least number of frames with which it is dirty in RAM; with l .. d - 1 frames it
 * was written back before it came again. */
#include "paging.h"

#include <string.h>

#define NEVER UINT32_MAX

/* Pages in the order of their last reference, as marks on a line of moments: a bit each, and a
 * Fenwick tree over words of 64 counts the marks behind one. When the line is full its marks move
 * together. */
struct line {
    uint64_t *marked;
    uint32_t *tree;  /* sums of marks, from 1 on */
    uint32_t *owner; /* of a moment: page + 1, or 0 */
    uint32_t *last;  /* of a page: its moment, or NEVER */
    uint32_t *dirty; /* of a page: its dirty level, or NEVER */
    uint32_t moments, words, now, marks;
};

/* Sets or takes the mark of a moment. */
static void change(struct line *line, uint32_t moment, uint32_t by)
{
    line->marked[moment >> 6] ^= 1ULL << (moment & 63U);
    for (uint32_t at = (moment >> 6) + 1U; at <= line->words; at += at & (0U - at)) {
        line->tree[at] += by;
    }
}

/* Marks at 0 .. moment. */
static uint32_t marks_to(const struct line *line, uint32_t moment)
{
    uint64_t here = line->marked[moment >> 6] << (63U - (moment & 63U));
    uint32_t sum = (uint32_t)__builtin_popcountll(here);

    for (uint32_t at = moment >> 6; at > 0; at -= at & (0U - at)) {
        sum += line->tree[at];
    }
    return sum;
}

static void move_together(struct line *line)
{
    uint32_t to = 0;

    for (uint32_t moment = 0; moment < line->moments; moment++) {
        uint32_t owner = line->owner[moment];

        if (owner != 0) {
            line->owner[moment] = 0;
            line->owner[to] = owner;
            line->last[owner - 1U] = to++;
        }
    }
    memset(line->tree, 0, ((size_t)line->words + 1U) * sizeof *line->tree);
    memset(line->marked, 0, line->words * sizeof *line->marked);
    for (uint32_t moment = 0; moment < to; moment++) {
        line->marked[moment >> 6] |= 1ULL << (moment & 63U);
        line->tree[(moment >> 6) + 1U]++;
    }
    for (uint32_t at = 1; at <= line->words; at++) {
        uint32_t above = at + (at & (0U - at));

        if (above <= line->words) {
            line->tree[above] += line->tree[at];
        }
    }
    line->now = to;
}

/* The stack distance of a reference made now; NEVER for a first one. */
static uint32_t pass(struct line *line, uint32_t page)
{
    uint32_t last = line->last[page], distance = NEVER;

    if (last != NEVER && last + 1U == line->now) {
        return 1;
    }
    if (line->now == line->moments) {
        move_together(line);
        last = line->last[page];
    }
    if (last != NEVER) {
        distance = line->marks - marks_to(line, last) + 1U;
        change(line, last, 0U - 1U);
        line->owner[last] = 0;
    } else {
        line->marks++;
    }
    change(line, line->now, 1);
    line->owner[line->now] = page + 1U;
    line->last[page] = line->now++;
    return distance;
}

static int line_open(struct line *line, const struct nw_refs *refs)
{
    size_t pages = (size_t)refs->pages + 1U;

    memset(line, 0, sizeof *line);
    line->words = refs->pages / 16U + 1U; /* four moments a page */
    line->moments = line->words * 64U;
    line->marked = calloc(line->words, sizeof *line->marked);
    line->tree = calloc((size_t)line->words + 1U, sizeof *line->tree);
    line->owner = calloc(line->moments, sizeof *line->owner);
    line->last = malloc(pages * sizeof *line->last);
    line->dirty = malloc(pages * sizeof *line->dirty);
    if (line->marked == NULL || line->tree == NULL || line->owner == NULL || line->last == NULL ||
        line->dirty == NULL) {
        return NW_ERR_RAM;
    }
    memset(line->last, 0xFF, pages * sizeof *line->last);
    memset(line->dirty, 0xFF, pages * sizeof *line->dirty);
    return NW_OK;
}

static void line_close(struct line *line)
{
    free(line->marked);
    free(line->tree);
    free(line->owner);
    free(line->last);
    free(line->dirty);
}

/* The page left RAM with `level` .. distance - 1 frames, dirty: as differences. */
static void wrote(uint64_t *writebacks, uint32_t most, uint32_t level, uint32_t distance)
{
    if (level < distance && level <= most) {
        writebacks[level - 1U]++;
        if (distance <= most) {
            writebacks[distance - 1U]--;
        }
    }
}

static void play(struct line *line, const struct nw_refs *refs, uint32_t most, uint64_t *faults,
                 uint64_t *writebacks)
{
    for (uint64_t i = 0; i < refs->count; i++) {
        uint32_t page = refs->ref[i] >> 1, distance = pass(line, page);
        uint32_t level = line->dirty[page];

        faults[0]++;
        if (distance <= most) {
            faults[distance - 1U]--; /* from here on a hit */
        }
        wrote(writebacks, most, level, distance);
        line->dirty[page] = (refs->ref[i] & 1U) != 0 ? 1U
                            : level == NEVER         ? NEVER
                                                     : most_of(level, distance);
    }
    for (uint32_t page = 0; page < refs->pages; page++) {
        uint32_t depth = line->marks - marks_to(line, line->last[page]) + 1U;

        wrote(writebacks, most, line->dirty[page], depth);
    }
}

int nw_paging_lru_curve(const struct nw_refs *refs, uint32_t most, uint64_t *faults,
                        uint64_t *writebacks)
{
    struct line line;
    int error = line_open(&line, refs);

    memset(faults, 0, most * sizeof *faults);
    memset(writebacks, 0, most * sizeof *writebacks);
    if (error == NW_OK) {
        play(&line, refs, most, faults, writebacks);
        for (uint32_t frames = 1; frames < most; frames++) {
            faults[frames] += faults[frames - 1U];
            writebacks[frames] += writebacks[frames - 1U];
        }
    }
    line_close(&line);
    return error;
}
