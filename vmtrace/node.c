/* SPDX-License-Identifier: Apache-2.0 */
/* The small node of Lachenmann et al. 2007, section 3.3.2: a few pages in RAM under enhanced second
 * chance, and the two SRAM buffers of a DataFlash as a second level. */
#include "nandwich-vmtrace/layout.h"

#include "node.h"

#include "nandwich/error.h"

#include <stdlib.h>
#include <string.h>

#define NO_FRAME 0xFFU

int nw_node_open(struct node *node, uint32_t pages, uint32_t frames)
{
    memset(node, 0, sizeof *node);
    if (frames == 0 || frames > NW_NODE_FRAMES_MAX) {
        return NW_ERR_CONFIG;
    }
    node->pages = pages;
    node->frames = frames;
    node->all = frames == 64U ? ~0ULL : (1ULL << frames) - 1U;
    node->frame_of = malloc((size_t)pages + 1U);
    return node->frame_of != NULL ? NW_OK : NW_ERR_RAM;
}

void nw_node_close(struct node *node)
{
    free(node->frame_of);
}

void nw_node_start(struct node *node)
{
    memset(node->frame_of, (int)NO_FRAME, (size_t)node->pages + 1U);
    memset(&node->result, 0, sizeof node->result);
    node->used = node->dirty = 0;
    node->hand = 0;
    for (uint32_t frame = 0; frame < node->frames; frame++) {
        node->page_of[frame] = frame < node->pages ? frame : NO_PAGE;
        if (frame < node->pages) {
            node->frame_of[frame] = (uint8_t)frame;
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        node->buffer[i] = (struct buffer){.page = NO_PAGE, .in_flash = 1, .last = i};
    }
    node->now = 2;
}

/* The first frame of a set from the hand on. */
static uint32_t from_hand(const struct node *node, uint64_t set)
{
    uint64_t ahead = set & (~0ULL << node->hand);

    return (uint32_t)__builtin_ctzll(ahead != 0 ? ahead : set);
}

/* Frames from the hand up to, but without, `frame`. */
static uint64_t passed(const struct node *node, uint32_t frame)
{
    uint64_t before = (1ULL << frame) - 1U, hand = (1ULL << node->hand) - 1U;

    return frame >= node->hand ? before & ~hand : (before | ~hand) & node->all;
}

/* As nw_policy_esc(). */
static uint32_t choose(struct node *node)
{
    uint64_t idle = ~node->used & node->all, clean = idle & ~node->dirty;
    uint32_t frame;

    if (clean != 0) {
        frame = from_hand(node, clean);
    } else if (idle != 0) {
        frame = from_hand(node, idle);
        node->used &= ~passed(node, frame);
    } else {
        node->used = 0;
        clean = ~node->dirty & node->all;
        frame = from_hand(node, clean != 0 ? clean : node->all);
    }
    node->hand = frame + 1U < node->frames ? frame + 1U : 0;
    return frame;
}

/* A dirty page's way out: into its own buffer, else one whose content is in flash, else the one
 * used longest ago, which is written first. */
static void to_buffer(struct node *node, uint32_t page)
{
    struct buffer *one = &node->buffer[0], *other = &node->buffer[1], *into;

    if (one->page == page || other->page == page) {
        into = one->page == page ? one : other;
    } else if (one->in_flash != other->in_flash) {
        into = one->in_flash ? one : other;
    } else {
        into = one->last < other->last ? one : other;
    }
    if (into->page != page && !into->in_flash) {
        if (node->written != NULL && node->result.flash_writes < node->most_written) {
            node->written[node->result.flash_writes] = into->page;
        }
        node->result.flash_writes++;
    }
    node->result.to_buffer++;
    *into = (struct buffer){.page = page, .in_flash = 0, .last = node->now++};
}

uint32_t nw_node_fault(struct node *node, uint32_t page)
{
    uint32_t frame = choose(node) % NW_NODE_FRAMES_MAX, old = node->page_of[frame];
    uint64_t bit = 1ULL << frame;

    if (old != NO_PAGE) {
        node->frame_of[old] = NO_FRAME;
        if ((node->dirty & bit) != 0) {
            to_buffer(node, old);
        }
    }
    node->dirty &= ~bit;
    node->result.faults++;
    for (uint32_t i = 0; i < 2; i++) {
        if (node->buffer[i].page == page) {
            node->result.buffer_reads++;
            node->buffer[i].last = node->now++;
        }
    }
    node->page_of[frame] = page;
    node->frame_of[page] = (uint8_t)frame;
    return frame;
}

int nw_node_run(const uint32_t *accesses, uint64_t count, uint32_t repeat, const uint32_t *page,
                uint32_t pages, uint32_t frames, struct nw_node_result *result)
{
    return nw_node_writes(accesses, count, repeat, page, pages, frames, NULL, 0, result);
}

int nw_node_writes(const uint32_t *accesses, uint64_t count, uint32_t repeat, const uint32_t *page,
                   uint32_t pages, uint32_t frames, uint32_t *written, uint64_t most,
                   struct nw_node_result *result)
{
    struct node node;
    int error = nw_node_open(&node, pages, frames);

    if (error == NW_OK) {
        node.written = written;
        node.most_written = most;
        nw_node_start(&node);
        for (uint32_t turn = 0; turn < repeat; turn++) {
            nw_node_play(&node, accesses, count, page);
        }
        node.result.accesses = count * repeat;
        *result = node.result;
    }
    nw_node_close(&node);
    return error;
}
