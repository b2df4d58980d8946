/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: any file is a trace or is refused with a place, and its requests are such as the
 * replay may rely on. Byte 0 chooses the format by name, beyond the last: by content; byte 1 how
 * many bad lines are borne with. A csv has the columns that byte 1 draws.
 */
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

#include "nandwich-replay/iotrace.h"
#include "nandwich/error.h"

#define MOST_REQUESTS 100000U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(int holds)
{
    if (!holds) {
        abort();
    }
}

/* All requests: how many, or the error. */
static long play(struct nw_iotrace *trace)
{
    struct nw_io_source *source = nw_iotrace_source(trace);
    struct nw_io ios[64];
    long count = 0;
    int got;

    while ((got = source->ops->fill(source, ios, 64)) > 0 && count < (long)MOST_REQUESTS) {
        judge(got <= 64);
        for (int i = 0; i < got; i++) {
            judge(ios[i].kind <= NW_IO_SYNC);
            judge((ios[i].kind == NW_IO_SYNC) == (ios[i].bytes == 0));
            judge(ios[i].offset <= UINT64_MAX - ios[i].bytes);
        }
        count += got;
    }
    if (got < 0) {
        const struct nw_iotrace_fault *fault = nw_iotrace_fault_of(trace);

        judge(memchr(fault->text, '\0', sizeof fault->text) != NULL && fault->text[0] != '\0');
    }
    return got < 0 ? got : count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nw_iotrace_config config = {.unit = NW_IOTRACE_ALL_UNITS};
    struct nw_iotrace_fault fault;
    struct nw_iotrace *trace;
    const char *what;

    if (size < 2) {
        return 0;
    }
    config.format = nw_iotrace_format_at(data[0] % 12U, &what);
    config.skip_bad = data[1];
    if (config.format != NULL && strcmp(config.format, "csv") == 0) {
        config.columns.count = (uint8_t)(1 + data[1] % 8);
        config.columns.time_places = data[1] % 10U;
        config.columns.header = data[1] & 1U;
        for (uint32_t i = 0; i < config.columns.count; i++) {
            config.columns.column[i] = (uint8_t)((data[1] / 8U + i) % 7U);
        }
    }
    int result = nw_iotrace_open(&trace, scratch_put(data + 2, size - 2), &config, &fault);
    if (result < 0) {
        judge(fault.text[0] != '\0' && memchr(fault.text, '\0', sizeof fault.text) != NULL);
        return 0;
    }
    long first = play(trace);
    struct nw_io_source *source = nw_iotrace_source(trace);
    judge(source->ops->rewind(source) == NW_OK);
    judge(play(trace) == first);
    nw_iotrace_close(trace);
    return 0;
}
