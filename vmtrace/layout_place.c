/* SPDX-License-Identifier: Apache-2.0 */
/* Placement, section 4.3: first fit by decreasing accesses, on one set of pages for what is often
 * written and another for the rest. */
#include "nandwich-vmtrace/layout.h"

#include "nandwich/error.h"

#include <stdlib.h>
#include <string.h>

/* A group, or an element alone. */
struct item {
    uint32_t first; /* its lowest element */
    uint32_t bytes, elements;
    uint64_t accesses, writes;
    uint32_t page;
};

/* Room left in the pages of both sets. */
struct shelf {
    uint32_t *room;
    uint8_t *written; /* which set */
    uint32_t pages;
};

/* By decreasing mean accesses, then by first element. The means are compared as fractions. */
static int more_accessed(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    double of_x = (double)x->accesses / x->elements, of_y = (double)y->accesses / y->elements;

    if (of_x != of_y) {
        return of_x > of_y ? -1 : 1;
    }
    return (x->first > y->first) - (x->first < y->first);
}

/* The first page of this set with so much room; a new one if none has. */
static uint32_t fit(struct shelf *shelf, uint32_t page_bytes, uint32_t bytes, uint8_t written)
{
    uint32_t page = 0;

    while (page < shelf->pages &&
           (shelf->written[page] != written || shelf->room[page] < bytes)) {
        page++;
    }
    if (page == shelf->pages) {
        shelf->pages++;
        shelf->room[page] = page_bytes;
        shelf->written[page] = written;
    }
    shelf->room[page] -= bytes;
    return page;
}

static uint32_t gather(const struct nw_graph *graph, const uint32_t *group, struct item *item,
                       uint32_t *item_of)
{
    uint32_t count = 0;

    for (uint32_t element = 0; element < graph->count; element++) {
        if (group[element] == element) {
            item_of[element] = count;
            item[count] = (struct item){.first = element};
            count++;
        }
        struct item *mine = &item[item_of[group[element]]];
        mine->bytes += graph->bytes[element];
        mine->elements++;
        mine->accesses += graph->accesses[element];
        mine->writes += graph->writes[element];
    }
    return count;
}

static int place_all(const struct nw_graph *graph, const struct nw_layout_config *config,
                     const uint32_t *group, uint32_t *page, struct item *item, uint32_t *item_of,
                     struct shelf *shelf)
{
    uint32_t count = gather(graph, group, item, item_of);

    qsort(item, count, sizeof *item, more_accessed);
    for (uint32_t i = 0; i < count; i++) {
        if (item[i].bytes > config->page_bytes) {
            return NW_ERR_CONFIG;
        }
        uint8_t written = item[i].writes > config->write_threshold * item[i].elements;
        item[i].page = fit(shelf, config->page_bytes, item[i].bytes, written);
        item_of[item[i].first] = i;
    }
    for (uint32_t element = 0; element < graph->count; element++) {
        page[element] = item[item_of[group[element]]].page;
    }
    return nw_layout_number(graph->accesses, graph->count, page, shelf->pages);
}

int nw_layout_place(const struct nw_graph *graph, const struct nw_layout_config *config,
                    const uint32_t *group, uint32_t *page)
{
    struct item *item = calloc(graph->count, sizeof *item);
    uint32_t *item_of = calloc(graph->count, sizeof *item_of);
    struct shelf shelf = {calloc(graph->count, sizeof *shelf.room),
                          calloc(graph->count, sizeof *shelf.written), 0};
    int result = NW_ERR_RAM;

    if (item != NULL && item_of != NULL && shelf.room != NULL && shelf.written != NULL) {
        result = place_all(graph, config, group, page, item, item_of, &shelf);
    }
    free(item);
    free(item_of);
    free(shelf.room);
    free(shelf.written);
    return result < 0 ? result : (int)shelf.pages;
}

int nw_layout_first_fit(const struct nw_graph *graph, uint32_t page_bytes, uint32_t *page)
{
    struct shelf shelf = {calloc(graph->count, sizeof *shelf.room),
                          calloc(graph->count, sizeof *shelf.written), 0};
    int result = shelf.room != NULL && shelf.written != NULL ? NW_OK : NW_ERR_RAM;

    for (uint32_t element = 0; result == NW_OK && element < graph->count; element++) {
        if (graph->bytes[element] > page_bytes) {
            result = NW_ERR_CONFIG;
            break;
        }
        page[element] = fit(&shelf, page_bytes, graph->bytes[element], 0);
    }
    free(shelf.room);
    free(shelf.written);
    return result < 0 ? result : (int)shelf.pages;
}

struct rank {
    uint64_t accesses;
    uint32_t page;
};

static int busier(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    if (x->accesses != y->accesses) {
        return x->accesses > y->accesses ? -1 : 1;
    }
    return (x->page > y->page) - (x->page < y->page);
}

int nw_layout_number(const uint64_t *accesses, uint32_t elements, uint32_t *page, uint32_t pages)
{
    struct rank *rank = calloc((size_t)pages + 1U, sizeof *rank);
    uint32_t *number = calloc((size_t)pages + 1U, sizeof *number);
    int result = rank != NULL && number != NULL ? NW_OK : NW_ERR_RAM;

    for (uint32_t i = 0; result == NW_OK && i < pages; i++) {
        rank[i].page = i;
    }
    for (uint32_t element = 0; result == NW_OK && element < elements; element++) {
        rank[page[element]].accesses += accesses[element];
    }
    if (result == NW_OK) {
        qsort(rank, pages, sizeof *rank, busier);
        for (uint32_t i = 0; i < pages; i++) {
            number[rank[i].page] = i;
        }
        for (uint32_t element = 0; element < elements; element++) {
            page[element] = number[page[element]];
        }
    }
    free(rank);
    free(number);
    return result;
}
