/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - a small node step by step, for those who play thousands of layouts on one. */
#ifndef NW_VMTRACE_NODE_H
#define NW_VMTRACE_NODE_H

#include <stdint.h>

#include "nandwich-vmtrace/layout.h"

#define NO_PAGE UINT32_MAX

struct buffer {
    uint32_t page;
    uint8_t in_flash; /* its content is also in flash */
    uint64_t last;    /* when it was used */
};

struct node {
    uint8_t *frame_of; /* of a page */
    uint32_t page_of[NW_NODE_FRAMES_MAX];
    uint64_t used, dirty, all; /* a bit a frame */
    uint32_t pages, frames, hand;
    struct buffer buffer[2];
    uint64_t now;
    struct nw_node_result result;
    uint32_t *written; /* NULL, or where the pages of flash writes go, one after another */
    uint64_t most_written;
};

/* NW_OK, NW_ERR_CONFIG, NW_ERR_RAM; close it in each case. */
int nw_node_open(struct node *node, uint32_t pages, uint32_t frames);
void nw_node_close(struct node *node);

/* As after a reset. */
void nw_node_start(struct node *node);

/* The page is in no frame: the frame it comes to. */
uint32_t nw_node_fault(struct node *node, uint32_t page);

static inline void nw_node_play(struct node *node, const uint32_t *accesses, uint64_t count,
                                const uint32_t *page)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t wanted = page[accesses[i] >> 1];
        uint32_t frame = node->frame_of[wanted];

        if (frame == 0xFFU) {
            frame = nw_node_fault(node, wanted);
        }
        node->used |= 1ULL << frame;
        node->dirty |= (uint64_t)(accesses[i] & 1U) << frame;
    }
}

#endif
