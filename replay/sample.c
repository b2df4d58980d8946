/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-replay/sample.h"

/* A step of splitmix64: neighbours fall apart. */
static uint32_t hash(uint64_t page)
{
    page += 0x9E3779B97F4A7C15ULL;
    page = (page ^ page >> 30) * 0xBF58476D1CE4E5B9ULL;
    page = (page ^ page >> 27) * 0x94D049BB133111EBULL;
    return (uint32_t)((page ^ page >> 31) % NW_SAMPLE_WHOLE);
}

static int is_in(const struct nw_sample *sample, uint64_t page)
{
    return hash(page) < sample->share;
}

static void count_pages(struct nw_sample *sample)
{
    const struct nw_io *io = &sample->rest;

    if (io->kind == NW_IO_READ || io->kind == NW_IO_WRITE) {
        sample->pages[io->kind] += (io->offset + io->bytes - 1U) / sample->page_bytes -
                                   io->offset / sample->page_bytes + 1U;
    }
}

/* The next run of pages of `rest` that are in the sample: 1, or 0 when no more are. */
static int take_run(struct nw_sample *sample, struct nw_io *to)
{
    struct nw_io *rest = &sample->rest;
    uint64_t end = rest->offset + rest->bytes;
    uint64_t from = rest->offset;
    uint64_t at;

    if (rest->kind == NW_IO_SYNC) {
        *to = *rest;
        sample->more = 0;
        return 1;
    }
    while (from < end && !is_in(sample, from / sample->page_bytes)) {
        from = (from / sample->page_bytes + 1U) * sample->page_bytes;
    }
    sample->more = 0;
    if (from >= end) {
        return 0;
    }
    at = from;
    while (at < end && is_in(sample, at / sample->page_bytes)) {
        at = (at / sample->page_bytes + 1U) * sample->page_bytes;
    }
    at = at < end ? at : end;
    *to = *rest;
    to->offset = from;
    to->bytes = at - from;
    rest->offset = at;
    rest->bytes = end - at;
    sample->more = at < end;
    return 1;
}

static int sample_fill(struct nw_io_source *source, struct nw_io *to, uint32_t room)
{
    struct nw_sample *sample = source->context;
    uint32_t count = 0;

    while (count < room) {
        if (sample->more == 0) {
            int got = sample->from->ops->fill(sample->from, &sample->rest, 1);

            if (got <= 0) {
                return got < 0 ? got : (int)count;
            }
            sample->more = 1;
            count_pages(sample);
        }
        count += (uint32_t)take_run(sample, &to[count]);
    }
    return (int)count;
}

static int sample_rewind(struct nw_io_source *source)
{
    struct nw_sample *sample = source->context;

    sample->more = 0;
    sample->pages[NW_IO_READ] = 0;
    sample->pages[NW_IO_WRITE] = 0;
    return sample->from->ops->rewind(sample->from);
}

static const struct nw_io_source_ops sample_ops = {sample_fill, sample_rewind};

void nw_sample_open(struct nw_sample *sample, struct nw_io_source *from, uint32_t page_bytes,
                    uint32_t share)
{
    *sample = (struct nw_sample){.source = {&sample_ops, sample},
                                 .from = from,
                                 .page_bytes = page_bytes,
                                 .share = share};
}
