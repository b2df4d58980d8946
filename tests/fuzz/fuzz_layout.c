/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: any variables and accesses to them give layouts in which each element lies on a page
 * that holds it, by every method, and costs that add up. Bytes 0 to 5 choose sizes and parameters,
 * the next ones the variables, the rest is accesses.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich-vmtrace/layout.h"
#include "nandwich/error.h"

#define MOST_ELEMENTS 64U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(int holds)
{
    if (!holds) {
        abort();
    }
}

static void judge_pages(const struct nw_graph *graph, const uint32_t *page, int pages,
                        uint32_t page_bytes)
{
    uint32_t used[MOST_ELEMENTS] = {0};

    judge(pages >= 1 && (uint32_t)pages <= graph->count);
    for (uint32_t element = 0; element < graph->count; element++) {
        judge(page[element] < (uint32_t)pages);
        used[page[element]] += graph->bytes[element];
    }
    for (int i = 0; i < pages; i++) {
        judge(used[i] > 0 && used[i] <= page_bytes);
    }
}

static uint64_t cost(const struct nw_graph *graph, const uint32_t *page, int pages,
                     uint32_t frames, uint32_t repeat)
{
    struct nw_node_result result;

    judge(nw_node_run(graph->sample, graph->sampled, repeat, page, (uint32_t)pages, frames,
                      &result) == NW_OK);
    judge(result.faults <= result.accesses && result.buffer_reads <= result.faults);
    judge(result.to_buffer <= result.faults && result.flash_writes <= result.to_buffer);
    judge((uint32_t)pages > frames || result.faults == 0);
    return 4U * result.faults + 4U * result.flash_writes;
}

static void lay(struct nw_graph *graph, const uint8_t *choice)
{
    struct nw_layout_config config = {.page_bytes = 16U + choice[0] % 49U,
                                      .group_bytes = choice[1],
                                      .share_permille = choice[2] * 4U,
                                      .write_threshold = choice[3] % 8U,
                                      .freeze = choice[3] >> 7};
    struct nw_search search = {.page_bytes = config.page_bytes,
                               .frames = 1U + choice[4] % 6U,
                               .fault_cost = 4,
                               .write_cost = 4,
                               .work = 4000,
                               .repeat = 1,
                               .seed = choice[5]};
    uint32_t group[MOST_ELEMENTS], page[MOST_ELEMENTS];
    int pages = nw_layout_first_fit(graph, config.page_bytes, page);

    judge_pages(graph, page, pages, config.page_bytes);
    judge(nw_layout_group(graph, &config, group) == NW_OK);
    for (uint32_t element = 0; element < graph->count; element++) {
        judge(group[element] <= element && group[group[element]] == group[element]);
    }
    pages = nw_layout_place(graph, &config, group, page);
    judge_pages(graph, page, pages, config.page_bytes);
    uint64_t before = cost(graph, page, pages, search.frames, 1);
    judge(nw_layout_search(&search, graph->sample, graph->sampled, graph->bytes, graph->count,
                           page, (uint32_t)pages) == NW_OK);
    judge(cost(graph, page, pages, search.frames, 1) <= before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nw_access_object object[16];
    struct nw_elements elements;
    struct nw_graph graph;
    uint32_t objects = 0;
    uint64_t address = 0;

    if (size < 24 || size > 4096) {
        return 0;
    }
    memset(object, 0, sizeof object);
    for (uint32_t i = 0; i < 16 && data[6 + i] != 0; i++, objects++) {
        uint32_t element = 1U + data[6 + i] % 16U;

        address += data[6 + i] >> 7;
        object[i].address = address;
        object[i].element_bytes = element;
        object[i].bytes = element * (1U + (data[6 + i] >> 4 & 3U));
        address += object[i].bytes;
    }
    int result = nw_elements_open(&elements, object, objects, data[5] % 16U);
    judge(result == (objects == 0 ? NW_ERR_CONFIG : NW_OK));
    if (result < 0) {
        return 0;
    }
    judge(nw_graph_open(&graph, elements.bytes, elements.count, data[4]) == NW_OK);
    for (size_t at = 22; at + 1 < size; at += 2) {
        uint64_t from = data[at] * 4U, end = from + 1U + data[at + 1] % 32U;
        uint32_t element = nw_elements_next(&elements, &from, end);

        if (data[at] == 0xFF) {
            nw_graph_begin(&graph);
        }
        for (; element != NW_NO_ELEMENT; element = nw_elements_next(&elements, &from, end)) {
            judge(element < elements.count);
            nw_graph_access(&graph, element, data[at + 1] >> 7);
        }
        judge(graph.listed <= 1 || graph.listed_bytes <= graph.list_bytes);
    }
    lay(&graph, data);
    nw_graph_close(&graph);
    nw_elements_close(&elements);
    return 0;
}
