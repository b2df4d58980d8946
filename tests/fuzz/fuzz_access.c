/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: any file is an access trace, a beginning of one, or is refused with a reason; what is
 * given out lies in the trace's range, is the same in every pass, and can be played by every
 * policy. Byte 0 chooses: with its lowest bit the checksums are made right, so that content is
 * reached; the others choose the frames' size and number.
 */
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

#include "access_format.h"
#include "nandwich-vmtrace/access.h"
#include "nandwich-vmtrace/paging.h"
#include "nandwich/error.h"

#define MOST_ACCESSES 20000U
#define MOST_REFERENCES 200000U
#define MOST_BYTES 4096U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(int holds)
{
    if (!holds) {
        abort();
    }
}

static void mend(uint8_t *file, size_t size)
{
    if (size < HEADER_BYTES) {
        return;
    }
    memcpy(file, access_magic, sizeof access_magic);
    put_le(file + 8, NW_ACCESS_VERSION, 4);
    put_le(file + 28, nw_crc32(NW_CRC32_START, file, 28), 4);
    for (size_t at = HEADER_BYTES; size - at >= CHUNK_HEAD_BYTES;) {
        uint8_t *head = file + at;
        uint32_t bytes = (uint32_t)get_le(head + 8, 4);

        if (bytes > size - at - CHUNK_HEAD_BYTES) {
            bytes %= (uint32_t)(size - at - CHUNK_HEAD_BYTES) + 1U;
            put_le(head + 8, bytes, 4);
        }
        put_le(head + 12, chunk_crc(head, head + CHUNK_HEAD_BYTES, bytes), 4);
        at += CHUNK_HEAD_BYTES + bytes;
    }
}

/* A policy reads what is no first touch, and writes what was dirty. */
static void judge_traffic(const struct nw_refs *refs, const struct nw_paging_result *result)
{
    struct nw_paging_traffic *traffic = result->traffic;
    uint64_t writes = 0;

    for (uint64_t i = 0; i < traffic->count; i++) {
        judge(traffic->transfer[i] >> 1 < refs->pages);
        writes += traffic->transfer[i] & 1U;
    }
    judge(writes == result->writebacks && traffic->touched == refs->pages);
    judge(traffic->count - writes == result->faults - refs->pages);
    nw_paging_traffic_close(traffic);
}

static void play(const struct nw_refs *refs, uint32_t frames)
{
    const struct nw_paging_cost cost = {36, 163};
    uint64_t faults[64], writebacks[64], least = 0;

    judge(nw_paging_lru_curve(refs, 64, faults, writebacks) == NW_OK);
    for (uint32_t i = nw_paging_policy_count; i-- > 0;) {
        struct nw_paging_traffic traffic = {0};
        struct nw_paging_result result = {.traffic = &traffic};
        const struct nw_paging_policy *policy = &nw_paging_policies[i];
        int error = nw_paging_run(policy, refs, frames, &cost, &result);

        judge(error == NW_OK || (error == NW_ERR_CONFIG && frames % policy->ways != 0));
        if (error < 0) {
            judge(traffic.count == 0);
            continue;
        }
        judge(result.faults >= refs->pages && result.faults <= refs->count);
        judge(result.writebacks <= result.faults);
        judge(result.faults >= least);
        judge_traffic(refs, &result);
        if (strcmp(policy->name, "belady") == 0) {
            least = result.faults;
        } else if (strcmp(policy->name, "lru") == 0) {
            judge(result.faults == faults[frames - 1] &&
                  result.writebacks == writebacks[frames - 1]);
        }
    }
}

/* One pass: how many accesses, or the error; their sum in *sum. */
static long pass(struct nw_access_reader *reader, struct nw_refs *refs, uint64_t *sum)
{
    uint64_t base = nw_access_base(reader), range = nw_access_range_bytes(reader);
    struct nw_access batch[64];
    long count = 0;
    int got;

    *sum = 0;
    while ((got = nw_access_read(reader, batch, 64)) > 0) {
        for (int i = 0; i < got; i++) {
            judge(batch[i].bytes > 0 && batch[i].write <= 1);
            judge(batch[i].address >= base && batch[i].address - base < range);
            judge(batch[i].bytes <= range - (batch[i].address - base));
            *sum = *sum * 31U + batch[i].address + batch[i].bytes + batch[i].write;
            if (refs != NULL && count + i < (long)MOST_ACCESSES &&
                refs->count < MOST_REFERENCES && batch[i].bytes < 100000) {
                judge(nw_refs_add(refs, batch[i].address - base, batch[i].bytes,
                                  batch[i].write) == NW_OK);
            }
        }
        count += got;
    }
    if (got < 0) {
        judge(nw_access_fault_of(reader)->text[0] != '\0');
    }
    return got < 0 ? got : count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t file[MOST_BYTES];
    struct nw_access_fault fault;
    struct nw_access_reader *reader;
    struct nw_refs refs;
    uint64_t first_sum, second_sum;

    if (size < 1 || size > MOST_BYTES) {
        return 0;
    }
    uint8_t choice = data[0];
    memcpy(file, data + 1, size - 1);
    if (choice & 1U) {
        mend(file, size - 1);
    }
    int result = nw_access_open(&reader, scratch_put(file, size - 1), &fault);
    if (result < 0) {
        judge(fault.text[0] != '\0' && memchr(fault.text, '\0', sizeof fault.text) != NULL);
        return 0;
    }
    judge(nw_refs_open(&refs, 16U << (choice >> 1 & 7U)) == NW_OK);
    long first = pass(reader, &refs, &first_sum);
    judge(nw_access_rewind(reader) == NW_OK);
    judge(pass(reader, NULL, &second_sum) == first && first_sum == second_sum);
    if (refs.count > 0) {
        play(&refs, 1U + (choice >> 4));
    }
    nw_refs_close(&refs);
    nw_access_close(reader);
    return 0;
}
