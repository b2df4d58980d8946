/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: whatever stands on a disk, the recogniser has an answer for each block, touches no
 * memory but its own, and its questions come to an end.
 *
 * The disk begins as content_disk.h has it. Then four bytes an action: the block among the first
 * 64 (6 bits) and what (2 bits: a byte, a number of 32 bits, shown alone, all shown and asked: this
 * twice at most), place in the block / 4, value, place in the number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "content_disk.h"
#include "nandwich/bytes.h"

#define HOT 64U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct content_disk disk;
static struct nw_content content;
static uint64_t ram[8192];
static uint32_t shows;

#define must(holds) judge(holds, __LINE__)

static void judge(int holds, int line)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_content.c:%d does not hold\n", line);
        abort();
    }
}

static void act(const uint8_t *action)
{
    uint32_t block = action[0] % HOT;
    uint8_t *place = content_disk_at(&disk, block) + action[1] * 4U;

    switch (action[0] / HOT) {
    case 0:
        place[action[3] % 4U] = action[2];
        break;
    case 1:
        nw_put32(place, (uint32_t)action[2] << (action[3] % 32U));
        break;
    case 2:
        content_disk_show(&disk, &content, block);
        break;
    default:
        if (shows > 0) {
            shows--;
            must(content_disk_show_all(&disk, &content) >= 0);
        }
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t at = 0;
    uint32_t run = 0;

    shows = 2;
    content_disk_make(&disk);
    must(nw_content_open(&content, &content_disk_config, ram, sizeof ram) == NW_OK);
    if (size > 0 && data[size - 1U] % 2U == 0) { /* one that knows the disk as it was */
        must(content_disk_show_all(&disk, &content) >= 0);
    }
    for (size_t at = 0; at + 4U <= size; at += 4U) {
        act(data + at);
    }
    must(content_disk_show_all(&disk, &content) >= 0);
    for (uint32_t told = 0; nw_content_again(&content, &at, &run); told++) {
        must(told < CONTENT_WANTS && run > 0 && at < sizeof disk.data &&
             run <= sizeof disk.data - at);
    }
    for (at = 0; at < sizeof disk.data; at += 512U) {
        uint32_t left = (uint32_t)(sizeof disk.data - at);
        uint8_t with = nw_content_class(&content, at, disk.data + at, left, &run);

        must(run > 0 && run <= left);
        must((with & 0x0FU) < NW_CONTENT_CLASSES);
        must(nw_content_name(with) != NULL);
        (void)nw_content_class(&content, at, NULL, 0, &run);
        must(run > 0);
    }
    return 0;
}
