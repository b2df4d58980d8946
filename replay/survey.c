/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-replay/survey.h"

#define BATCH 256U
#define MOST_ALIGN ((uint64_t)1 << 20)

static void note_unit(struct nw_survey *survey, uint64_t unit)
{
    for (uint32_t i = survey->unit_count; i > 0; i--) {
        if (survey->units[i - 1U] == unit) {
            return;
        }
    }
    if (survey->unit_count < NW_SURVEY_UNITS) {
        survey->units[survey->unit_count++] = unit;
    }
}

static void note_place(struct nw_survey *survey, const struct nw_io *io)
{
    uint64_t end = io->offset + io->bytes;

    survey->in_order += io->offset == survey->end && survey->requests > 0;
    survey->end = end;
    survey->lowest = survey->extent == 0 || io->offset < survey->lowest ? io->offset
                                                                        : survey->lowest;
    survey->extent = end > survey->extent ? end : survey->extent;
    survey->bits |= io->offset | io->bytes;
    survey->align = (survey->bits | MOST_ALIGN) & (~(survey->bits | MOST_ALIGN) + 1U);
}

static void note(struct nw_survey *survey, const struct nw_io *io)
{
    if (io->kind != NW_IO_SYNC) {
        note_place(survey, io);
    }
    if (survey->requests > 0) {
        int back = io->time_ns < survey->time_ns;

        survey->stepped_back += back != 0;
        nw_latency_add(&survey->gaps, back ? 0 : io->time_ns - survey->time_ns);
    }
    note_unit(survey, io->unit);
    survey->requests++;
    survey->count[io->kind]++;
    survey->bytes[io->kind] += io->bytes;
    survey->largest[io->kind] =
        io->bytes > survey->largest[io->kind] ? io->bytes : survey->largest[io->kind];
    survey->time_ns = io->time_ns;
    survey->last_ns = io->time_ns > survey->last_ns ? io->time_ns : survey->last_ns;
}

int nw_survey_run(struct nw_survey *survey, struct nw_io_source *source, uint64_t requests)
{
    struct nw_io batch[BATCH];

    while (requests > 0) {
        int count = source->ops->fill(source, batch, requests < BATCH ? (uint32_t)requests : BATCH);

        if (count <= 0) {
            return count;
        }
        for (int i = 0; i < count; i++) {
            note(survey, &batch[i]);
        }
        requests -= (uint32_t)count;
    }
    return 1;
}
