/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-replay/workload.h"

#include <stdlib.h>
#include <string.h>

#include "nandwich/error.h"
#include "scale.h"
#include "zipf.h"

#define LEAST_UNITS 16U

struct nw_workload {
    struct nw_workload_config config;
    struct nw_io_source source;
    uint64_t seed;
    uint64_t state;    /* of the random numbers */
    uint64_t done;     /* requests given */
    uint64_t time_ns;
    uint32_t units;    /* of the footprint */
    uint32_t next;     /* unit behind the last request */
    uint32_t head;     /* LOG, DATABASE: where the log is appended to */
    uint32_t stride;   /* ZIPF: strews ranks; shares no divisor with units */
    struct zipf *zipf; /* ZIPF only */
};

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t draw(struct nw_workload *workload)
{
    uint64_t x = workload->state += 0x9E3779B97F4A7C15U;

    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

/* 0 .. limit - 1. */
static uint32_t below(struct nw_workload *workload, uint32_t limit)
{
    return (uint32_t)(((draw(workload) >> 32) * limit) >> 32);
}

static int chance(struct nw_workload *workload, uint32_t permille)
{
    return permille >= 1000U || (permille > 0 && below(workload, 1000U) < permille);
}

/* An exponential number of mean 2^32: whole parts are lost games, the fraction is the winning one's
 * first draw. Bounded: a run of 64 lost games has probability e^-64. */
static uint64_t exponential(struct nw_workload *workload)
{
    for (uint64_t lost = 0; lost < 64U; lost++) {
        uint32_t first = (uint32_t)(draw(workload) >> 32), last = first;
        uint32_t length = 1;

        for (; length < 64U; length++) {
            uint32_t next = (uint32_t)(draw(workload) >> 32);
            if (next >= last) {
                break;
            }
            last = next;
        }
        if (length % 2U == 1U) {
            return lost << 32 | first;
        }
    }
    return (uint64_t)64U << 32;
}

static uint64_t scaled(uint64_t exponential, uint64_t mean)
{
    return nw_scale(exponential, mean, (uint64_t)1U << 32);
}

/* Units of one request: rounded up from an exponential number whose mean makes up for it. */
static uint32_t draw_units(struct nw_workload *workload)
{
    const struct nw_workload_config *config = &workload->config;
    uint64_t mean = config->size > config->align / 2U ? config->size - config->align / 2U : 1U;
    uint64_t units, most = workload->units / 4U;

    if ((config->fixed & NW_FIXED_SIZE) != 0) {
        return config->size / config->align;
    }
    units = (scaled(exponential(workload), mean) + config->align) / config->align;
    return (uint32_t)(units < most ? units : most);
}

static uint32_t hot_or_cold(struct nw_workload *workload, uint32_t units)
{
    const struct nw_workload_config *config = &workload->config;
    uint32_t hot = (uint32_t)((uint64_t)units * config->hot_space / 1000U);

    hot = hot > 0 ? hot : 1U;
    if (hot >= units || chance(workload, config->hot_share)) {
        return below(workload, hot);
    }
    return hot + below(workload, units - hot);
}

/* Appends `count` units to the log in front .. units - 1. */
static uint32_t append_log(struct nw_workload *workload, uint32_t front, uint32_t count)
{
    uint32_t at = workload->head;

    if (at < front || workload->units - at < count) {
        at = front;
    }
    workload->head = at + count;
    return at;
}

static uint32_t place_in_log(struct nw_workload *workload, uint32_t count, int writes)
{
    uint32_t front = workload->units / 100U + 1U;
    uint32_t recent = (workload->units - front) / 10U + 1U;

    if (writes) {
        return chance(workload, workload->config.meta) ? below(workload, front)
                                                       : append_log(workload, front, count);
    }
    if (workload->head < front + recent) {
        return front + below(workload, recent);
    }
    return workload->head - 1U - below(workload, recent);
}

static uint32_t place_in_database(struct nw_workload *workload, uint32_t count)
{
    uint32_t pages = workload->units - workload->units / 10U;

    return chance(workload, workload->config.meta) ? append_log(workload, pages, count)
                                                   : hot_or_cold(workload, pages);
}

static uint32_t jump(struct nw_workload *workload, uint32_t count, int writes)
{
    uint32_t rank;

    switch (workload->config.place) {
    case NW_PLACE_ZIPF:
        rank = (uint32_t)(draw(workload) >> 32);
        rank = nw_zipf_rank(workload->zipf, rank, (uint32_t)(draw(workload) >> 32));
        return (uint32_t)((uint64_t)rank * workload->stride % workload->units);
    case NW_PLACE_SEQUENTIAL:
        return workload->next;
    case NW_PLACE_HOT:
        return hot_or_cold(workload, workload->units);
    case NW_PLACE_LOG:
        return place_in_log(workload, count, writes);
    case NW_PLACE_DATABASE:
        return place_in_database(workload, count);
    default:
        return below(workload, workload->units);
    }
}

static void make(struct nw_workload *workload, struct nw_io *io, uint64_t number)
{
    const struct nw_workload_config *config = &workload->config;
    uint32_t count = draw_units(workload);
    int writes = chance(workload, config->writes);
    uint32_t at = chance(workload, config->run) ? workload->next : jump(workload, count, writes);

    if (workload->units - at < count) { /* no request crosses the end */
        at = config->place == NW_PLACE_SEQUENTIAL ? 0 : workload->units - count;
    }
    workload->next = at + count < workload->units ? at + count : 0;
    io->time_ns = workload->time_ns;
    io->offset = (uint64_t)at * config->align;
    io->bytes = (uint64_t)count * config->align;
    io->unit = 0;
    io->app = 0;
    io->content = 0;
    io->kind = writes ? NW_IO_WRITE : NW_IO_READ;
    if (config->gap_ns != 0) {
        int fixed = (config->fixed & NW_FIXED_GAP) != 0;

        workload->time_ns +=
            fixed ? config->gap_ns : scaled(exponential(workload), config->gap_ns);
    }
    if (config->burst != 0 && (number + 1U) % config->burst == 0) {
        workload->time_ns += config->pause_ns;
    }
}

static int workload_fill(struct nw_io_source *source, struct nw_io *to, uint32_t room)
{
    struct nw_workload *workload = source->context;
    uint64_t left = workload->config.requests - workload->done;
    uint32_t count = left < room ? (uint32_t)left : room;

    for (uint32_t i = 0; i < count; i++) {
        make(workload, &to[i], workload->done + i);
    }
    workload->done += count;
    return (int)count;
}

static int workload_rewind(struct nw_io_source *source)
{
    struct nw_workload *workload = source->context;

    workload->state = workload->seed;
    workload->done = 0;
    workload->time_ns = 0;
    workload->next = 0;
    workload->head = 0;
    return NW_OK;
}

static const struct nw_io_source_ops workload_ops = {workload_fill, workload_rewind};

static const char *fault_of(const struct nw_workload_config *config)
{
    uint32_t align = config->align;

    if (config->requests == 0) {
        return "requests must be at least 1";
    }
    if (align == 0 || (align & (align - 1U)) != 0) {
        return "align must be a power of two";
    }
    if (config->footprint % align != 0 || config->footprint / align < LEAST_UNITS ||
        config->footprint / align > UINT32_MAX) {
        return "footprint must be 16 to 2^32 - 1 units of align";
    }
    if (config->size == 0 || config->size > config->footprint / 4U ||
        ((config->fixed & NW_FIXED_SIZE) != 0 && config->size % align != 0)) {
        return "size must be 1 B to a quarter of the footprint, and whole units when fixed";
    }
    if (config->place == NW_PLACE_ZIPF && (config->theta == 0 || config->theta > 4000U)) {
        return "theta must be 0.001 to 4";
    }
    if (config->hot_space > 1000U) {
        return "hot_space must be at most 1";
    }
    return NULL;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

int nw_workload_open(struct nw_workload **workload, const struct nw_workload_config *config,
                     uint64_t seed, const char **why)
{
    struct nw_workload *made;

    *workload = NULL;
    *why = fault_of(config);
    if (*why != NULL) {
        return NW_ERR_CONFIG;
    }
    made = calloc(1, sizeof *made);
    if (made == NULL) {
        return NW_ERR_RAM;
    }
    made->config = *config;
    made->seed = seed;
    made->units = (uint32_t)(config->footprint / config->align);
    if (config->place == NW_PLACE_ZIPF) {
        made->zipf = malloc(sizeof *made->zipf);
        if (made->zipf == NULL) {
            free(made);
            return NW_ERR_RAM;
        }
        nw_zipf_open(made->zipf, made->units, config->theta);
        /* Near the golden section: neighbours in rank lie far apart. */
        made->stride = (uint32_t)((uint64_t)made->units * 2654435769U >> 32) | 1U;
        while (common_divisor(made->units, made->stride) != 1U) {
            made->stride += 2U;
        }
    }
    made->source = (struct nw_io_source){&workload_ops, made};
    (void)workload_rewind(&made->source);
    *workload = made;
    return NW_OK;
}

void nw_workload_close(struct nw_workload *workload)
{
    if (workload != NULL) {
        free(workload->zipf);
        free(workload);
    }
}

struct nw_io_source *nw_workload_source(struct nw_workload *workload)
{
    return &workload->source;
}
