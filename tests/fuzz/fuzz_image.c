/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: any file loads as a chip or is refused with its place, and what loads can be used.
 * Byte 0 even: the rest is the file. Odd: the rest changes a good image, five bytes a change
 * (place 4, value 1), and all checksums are made right again: lies that only content betrays.
 */
#include "scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"

#define BLOCKS 4U
#define HEADER 32U
#define MOST_BYTES 65536U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t good[MOST_BYTES];
static size_t good_bytes;

#define must(holds) judge(holds, __LINE__)

static void judge(int holds, int line)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_image.c:%d does not hold\n", line);
        abort();
    }
}

static uint8_t page_data[8192], page_spare[1024];

static struct nw_chip_req page_of(struct nw_nand *nand, uint32_t page)
{
    const struct nw_geometry *geometry = &nw_nand_chip(nand)->geometry;

    must(geometry->page_bytes <= sizeof page_data && geometry->spare_bytes <= sizeof page_spare);
    return (struct nw_chip_req){.chip = nw_nand_chip(nand),
                                .page = page,
                                .data = page_data,
                                .length = geometry->page_bytes,
                                .spare = page_spare,
                                .spare_length = geometry->spare_bytes};
}

/* An image with a bad block, whole pages, a torn one and an erase that did not end. */
static void make_good(void)
{
    char path[] = "/tmp/nandwich-fuzz-XXXXXX";
    struct nw_part part;
    struct nw_nand *nand;
    int file;

    must(nw_parts_get("K9F1G08U0A", &part) == NW_OK);
    must(nw_nand_open(&nand, &(struct nw_nand_config){.part = &part, .blocks = BLOCKS}) == NW_OK);
    for (uint32_t page = 0; page < 6; page++) {
        struct nw_chip_req req = page_of(nand, page);

        memset(page_data, (int)page, sizeof page_data);
        if (page == 5) {
            nw_nand_cut(nand, &(struct nw_cut){.phase = NW_CUT_INSIDE});
        }
        (void)nw_chip_program(&req);
    }
    nw_nand_power_up(nand);
    file = mkstemp(path);
    must(file >= 0 && nw_nand_save(nand, path) == NW_OK);
    must(close(file) == 0);
    file = open(path, O_RDONLY);
    good_bytes = (size_t)read(file, good, sizeof good);
    must(good_bytes > HEADER && good_bytes < sizeof good);
    must(close(file) == 0 && unlink(path) == 0);
    nw_nand_close(nand);
}

static void sign(uint8_t *image, size_t size)
{
    nw_put32(image + 28, nw_crc32(NW_CRC32_START, image, 28));
    for (size_t at = HEADER; at + 12U <= size;) {
        size_t whole = 8U + (size_t)nw_get32(image + at + 4);

        if (whole > size - at - 4U) {
            break;
        }
        nw_put32(image + at + whole, nw_crc32(NW_CRC32_START, image + at, whole));
        at += whole + 4U;
    }
}

/* Everything may fail; nothing may crash or run wild. */
static void use(struct nw_nand *nand)
{
    struct nw_chip *chip = nw_nand_chip(nand);
    uint32_t pages = chip->geometry.blocks * chip->geometry.block_pages;

    if (chip->geometry.page_bytes > sizeof page_data ||
        chip->geometry.spare_bytes > sizeof page_spare) {
        return;
    }
    nw_nand_power_up(nand);
    for (uint32_t page = 0; page < pages; page += 1U + pages / 16U) {
        struct nw_chip_req req = page_of(nand, page);

        (void)nw_chip_read(&req);
        (void)nw_chip_program(&req);
    }
    uint32_t step = 1U + chip->geometry.blocks / 8U;
    for (uint32_t block = 0; block < chip->geometry.blocks; block += step) {
        struct nw_chip_req req = {.chip = chip, .block = block};

        (void)nw_chip_is_bad(&req);
        (void)nw_chip_erase(&req);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t image[MOST_BYTES];
    struct nw_image_fault fault;
    struct nw_nand *nand;
    size_t bytes = size > 1 ? size - 1 : 0;

    if (good_bytes == 0) {
        make_good();
    }
    if (size > 0 && (data[0] & 1U) != 0) {
        memcpy(image, good, good_bytes);
        for (size_t at = 1; at + 5U <= size; at += 5) {
            image[nw_get32(data + at) % good_bytes] = data[at + 4];
        }
        bytes = good_bytes;
        sign(image, bytes);
    } else {
        memcpy(image, data + (size > 0), bytes < MOST_BYTES ? bytes : MOST_BYTES);
    }
    int result = nw_nand_load(&nand, scratch_put(image, bytes), &fault);
    if (result == NW_OK) {
        use(nand);
        nw_nand_close(nand);
    } else {
        must(result == NW_ERR_RAM || fault.text[0] != '\0');
    }
    return 0;
}
