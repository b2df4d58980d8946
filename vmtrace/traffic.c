/* SPDX-License-Identifier: Apache-2.0 */
/* The transfers of a policy, noted one after the other. */
#include "paging.h"

#include <string.h>

#define FIRST_ROOM 4096U

static void note(struct nw_paging_traffic *traffic, uint32_t transfer)
{
    if (traffic->count == traffic->room && traffic->error == NW_OK) {
        uint64_t room = traffic->room == 0 ? FIRST_ROOM : traffic->room * 2U;
        uint32_t *larger = realloc(traffic->transfer, room * sizeof *larger);

        if (larger == NULL) {
            traffic->error = NW_ERR_RAM;
        } else {
            traffic->transfer = larger;
            traffic->room = room;
        }
    }
    if (traffic->error == NW_OK) {
        traffic->transfer[traffic->count++] = transfer;
    }
}

/* Pages are numbered in the order of their first references, and each of these is a fault: a page
 * comes for the first time if its number is that of the pages that came so far. */
void nw_traffic_read(struct nw_paging_traffic *traffic, uint32_t page)
{
    if (page == traffic->touched) {
        traffic->touched++;
    } else {
        note(traffic, page << 1);
    }
}

void nw_traffic_write(struct nw_paging_traffic *traffic, uint32_t page)
{
    note(traffic, page << 1 | 1U);
}

void nw_paging_traffic_close(struct nw_paging_traffic *traffic)
{
    free(traffic->transfer);
    memset(traffic, 0, sizeof *traffic);
}
