/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a saved chip comes back the same to the bit, and an image that is corrupt, cut short or not
 * one at all is refused with an offset, whatever byte is wrong.
 */
#define _DEFAULT_SOURCE /* truncate */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nand_rig.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "nandwich/random.h"

static char image_path[64];
static char other_path[64];

static uint8_t *slurp(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *content = malloc(1U << 20);

    assert_non_null(file);
    assert_non_null(content);
    *bytes = fread(content, 1, 1U << 20, file);
    assert_int_equal(fclose(file), 0);
    return content;
}

static void spill(const char *path, const uint8_t *content, size_t bytes)
{
    FILE *file;

    (void)remove(path); /* some file systems wait for the disk when a file is cut and rewritten */
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* A chip with a bit of everything: whole, partial, torn pages, a torn block, wear, a bad block. */
static void live(struct nand_rig *rig)
{
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .blocks = 6, .seed = 9,
                                     .flags = NW_NAND_WEAR_OUT | NW_NAND_BIT_ERRORS };
    struct nw_cut cut = { .phase = NW_CUT_INSIDE };

    assert_int_equal(nw_parts_get("TC58DVG02A1FT00", &part), NW_OK);
    rig_open_config(rig, &config);
    assert_int_equal(rig_erase(rig, 0), NW_OK);
    assert_int_equal(rig_program(rig, 0, 0, 512, 0, 15), NW_OK);
    assert_int_equal(rig_program(rig, 1, 128, 128, 3, 4), NW_OK);
    nw_nand_cut(rig->nand, &cut);
    assert_int_equal(rig_program(rig, 40, 0, 512, 0, 15), NW_ERR_POWER);
    nw_nand_power_up(rig->nand);
    assert_int_equal(rig_program(rig, 64, 0, 512, 0, 15), NW_OK);
    nw_nand_cut(rig->nand, &cut);
    assert_int_equal(rig_erase(rig, 2), NW_ERR_POWER);
    nw_nand_power_up(rig->nand);
    rig->req.block = 3;
    assert_int_equal(nw_chip_mark_bad(&rig->req), NW_OK);
    nw_nand_doom(rig->nand, 4, 1);
    assert_int_equal(rig_program(rig, 128, 0, 512, 0, 15), NW_ERR_PROGRAM);
    assert_int_equal(rig_program(rig, 160, 0, 512, 0, 15), NW_OK);
    assert_int_equal(rig_erase(rig, 5), NW_OK);
}

static void same_state(struct nw_nand *a, struct nw_nand *b)
{
    const struct nw_geometry *geometry = &nw_nand_chip(a)->geometry;
    uint8_t left[512 + 15];
    uint8_t right[512 + 15];

    assert_memory_equal(geometry, &nw_nand_chip(b)->geometry, sizeof *geometry);
    assert_memory_equal(nw_nand_stats(a), nw_nand_stats(b), sizeof(struct nw_nand_counts));
    assert_memory_equal(nw_nand_meter(a), nw_nand_meter(b), sizeof(struct nw_meter));
    assert_memory_equal(nw_nand_part(a), nw_nand_part(b), sizeof(struct nw_part));
    assert_int_equal(nw_nand_operations(a), nw_nand_operations(b));
    assert_int_equal(nw_nand_is_off(a), nw_nand_is_off(b));
    for (uint32_t block = 0; block < geometry->blocks; block++) {
        assert_int_equal(nw_nand_block_erases(a, block), nw_nand_block_erases(b, block));
        assert_int_equal(nw_nand_block_bad(a, block), nw_nand_block_bad(b, block));
        assert_int_equal(nw_nand_block_failed(a, block), nw_nand_block_failed(b, block));
    }
    for (uint32_t page = 0; page < geometry->blocks * geometry->block_pages; page++) {
        assert_int_equal(nw_nand_page_programs(a, page), nw_nand_page_programs(b, page));
        assert_int_equal(nw_nand_page_lifetime(a, page), nw_nand_page_lifetime(b, page));
        nw_nand_peek(a, page, left, left + 512);
        nw_nand_peek(b, page, right, right + 512);
        assert_memory_equal(left, right, sizeof left);
    }
}

/* Legal use, misuse, a failure and a power cut after what live() left. */
static void go_on(struct nand_rig *rig)
{
    struct nw_cut cut = { .after = 2, .phase = NW_CUT_INSIDE };

    rig_use(rig, rig->nand);
    rig_fill(rig, 0x3C, 0xC3);
    assert_int_equal(rig_program(rig, 1, 200, 16, 0, 0), NW_ERR_NOT_ERASED);
    assert_int_equal(rig_program(rig, 1, 0, 0, 6, 4), NW_ERR_NOT_ERASED);
    assert_int_equal(rig_program(rig, 40, 0, 512, 0, 15), NW_ERR_NOT_ERASED);
    assert_int_equal(rig_program(rig, 65, 0, 512, 0, 15), NW_ERR_NOT_ERASED);
    assert_int_equal(rig_program(rig, 96, 0, 512, 0, 15), NW_ERR_BAD_BLOCK);
    assert_int_equal(rig_program(rig, 129, 0, 512, 0, 15), NW_ERR_PROGRAM);
    nw_nand_cut(rig->nand, &cut);
    assert_int_equal(rig_program(rig, 2, 0, 512, 0, 15), NW_OK);
    assert_int_equal(rig_program(rig, 3, 0, 512, 0, 15), NW_OK);
    assert_int_equal(rig_program(rig, 4, 0, 512, 0, 15), NW_ERR_POWER);
}

static void comes_back_the_same(void **state)
{
    struct nand_rig rig;
    struct nw_nand *loaded;
    struct nw_image_fault fault;
    size_t bytes;
    size_t bytes_again;
    uint8_t *first;
    uint8_t *again;

    (void)state;
    live(&rig);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    assert_int_equal(nw_nand_load(&loaded, image_path, &fault), NW_OK);
    same_state(rig.nand, loaded);
    assert_int_equal(nw_nand_save(loaded, other_path), NW_OK);
    first = slurp(image_path, &bytes);
    again = slurp(other_path, &bytes_again);
    assert_int_equal(bytes, bytes_again);
    assert_memory_equal(first, again, bytes);
    free(first);
    free(again);

    go_on(&rig);
    go_on(&(struct nand_rig){ .nand = loaded });
    same_state(rig.nand, loaded);
    nw_nand_close(loaded);
    nw_nand_close(rig.nand);
}

static void expect_refused(int error)
{
    struct nw_nand *nand;
    struct nw_image_fault fault;

    assert_int_equal(nw_nand_load(&nand, image_path, &fault), error);
    assert_null(nand);
    assert_true(fault.text[0] != '\0');
}

/* Every byte of the header and of the first chunks, and bytes all over the rest, one at a time. */
static void every_wrong_byte_is_found(void **state)
{
    struct nand_rig rig;
    size_t bytes;
    uint8_t *image;

    (void)state;
    live(&rig);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    nw_nand_close(rig.nand);
    image = slurp(image_path, &bytes);
    for (size_t at = 0; at < bytes; at += at < 600 ? 1 : 13) {
        image[at] ^= 0x40;
        spill(image_path, image, bytes);
        expect_refused(NW_ERR_CORRUPT);
        image[at] ^= 0x40;
    }
    free(image);
}

static void every_cut_off_end_is_found(void **state)
{
    struct nand_rig rig;
    size_t bytes;
    uint8_t *image;

    (void)state;
    live(&rig);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    nw_nand_close(rig.nand);
    image = slurp(image_path, &bytes);
    for (size_t left = 0; left < bytes; left += left < 100 || left > bytes - 60 ? 1 : 53) {
        spill(image_path, image, left);
        expect_refused(NW_ERR_CORRUPT);
    }
    spill(image_path, image, bytes);
    assert_int_equal(truncate(image_path, (off_t)bytes + 1), 0);
    expect_refused(NW_ERR_CORRUPT); /* something after the end */
    free(image);
}

static void the_offset_is_told(void **state)
{
    struct nand_rig rig;
    struct nw_nand *nand;
    struct nw_image_fault fault;
    size_t bytes;
    uint8_t *image;
    size_t second;

    (void)state;
    live(&rig);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    nw_nand_close(rig.nand);
    image = slurp(image_path, &bytes);
    second = 32 + 12 + nw_get32(image + 36); /* header, then the chunk of the part */
    assert_memory_equal(image + second, "CHIP", 4);
    image[second + 20] ^= 1;
    spill(image_path, image, bytes);
    assert_int_equal(nw_nand_load(&nand, image_path, &fault), NW_ERR_CORRUPT);
    assert_int_equal(fault.offset, second);
    assert_string_equal(fault.text, "a chunk does not match its checksum");
    image[16] = 9; /* another version, with a checksum that fits */
    nw_put32(image + 28, nw_crc32(NW_CRC32_START, image, 28));
    spill(image_path, image, bytes);
    expect_refused(NW_ERR_VERSION);
    spill(image_path, (const uint8_t *)"GIF89a", 6);
    expect_refused(NW_ERR_CORRUPT);
    assert_int_equal(remove(image_path), 0);
    expect_refused(NW_ERR_IO);
    free(image);
}

/* Content made to lie, with checksums that fit: refused or harmless, never a crash (sanitizers). */
static void lies_with_good_checksums_do_no_harm(void **state)
{
    struct nand_rig rig;
    struct nw_random random;
    size_t bytes;
    uint8_t *image;
    uint32_t refused = 0;

    (void)state;
    live(&rig);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    nw_nand_close(rig.nand);
    image = slurp(image_path, &bytes);
    nw_random_seed(&random, 4);
    for (uint32_t round = 0; round < 1500; round++) {
        uint32_t skip = nw_random_below(&random, 9);
        size_t at = 32;
        size_t chunk_bytes;
        size_t hit;
        struct nw_nand *nand;
        uint8_t old;

        for (uint32_t i = 0; i < skip; i++) {
            at += 12 + nw_get32(image + at + 4);
        }
        chunk_bytes = nw_get32(image + at + 4);
        if (chunk_bytes == 0) {
            continue;
        }
        hit = at + 8 + nw_random_next(&random) % (chunk_bytes < 40 || round % 2 ? chunk_bytes : 40);
        old = image[hit];
        image[hit] = (uint8_t)nw_random_next(&random);
        nw_put32(image + at + 8 + chunk_bytes,
                 nw_crc32(NW_CRC32_START, image + at, (uint32_t)chunk_bytes + 8));
        spill(image_path, image, bytes);
        if (nw_nand_load(&nand, image_path, NULL) == NW_OK) {
            uint8_t data[512];
            uint8_t spare[15];

            nw_nand_peek(nand, 40, data, spare);
            nw_nand_peek(nand, 64, data, spare);
            nw_nand_close(nand);
        } else {
            refused++;
        }
        image[hit] = old;
        nw_put32(image + at + 8 + chunk_bytes,
                 nw_crc32(NW_CRC32_START, image + at, (uint32_t)chunk_bytes + 8));
    }
    assert_in_range(refused, 150, 1350);
    free(image);
}

/* Offset of the chunk `skip` after the first, and of its content. */
static size_t chunk_at(const uint8_t *image, uint32_t skip)
{
    size_t at = 32;

    for (uint32_t i = 0; i < skip; i++) {
        at += 12 + nw_get32(image + at + 4);
    }
    return at;
}

/* Each contradiction, told as if it were true: refused for what it is. */
static void contradictions_are_refused(void **state)
{
    static const struct {
        uint32_t chunk;  /* 0 part, 1 chip, 2.. blocks 0 to 5, 8 torn */
        uint32_t offset; /* in its content */
        uint32_t value;  /* 2 bytes */
        const char *text;
    } lies[] = {
        { 2, 0, 5, "a block contradicts itself" },       /* number */
        { 2, 16, 9999, "a block contradicts itself" },   /* healed after its last erase */
        { 2, 20, 33, "a block contradicts itself" },     /* next page */
        { 2, 22, 0xFF00, "a block contradicts itself" }, /* outcome */
        { 2, 24, 32, "a block contradicts itself" },     /* page index */
        { 2, 30, 0x1001, "a block contradicts itself" }, /* page flags */
        { 2, 30, 0x0100, "a block contradicts itself" }, /* flags of a page without programs */
        { 2, 567, 0, "a block contradicts itself" },     /* the second page: index 0 again */
        { 8, 0, 999, "a torn page lies outside the part" },
        { 8, 4, 1, "a torn page lies outside the part" }, /* offset 1 with 512 bytes */
        { 8, 8, 1, "a torn page lies outside the part" },
        { 8, 12, 9, "a torn page lies outside the part" },
    };
    struct nand_rig rig;
    size_t bytes;
    uint8_t *image;

    (void)state;
    live(&rig);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    nw_nand_close(rig.nand);
    image = slurp(image_path, &bytes);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        size_t at = chunk_at(image, lies[i].chunk);
        uint32_t length = nw_get32(image + at + 4);
        uint8_t *hit = image + at + 8 + lies[i].offset;
        uint16_t old = nw_get16(hit);
        struct nw_image_fault fault;
        struct nw_nand *nand;

        nw_put16(hit, (uint16_t)lies[i].value);
        nw_put32(image + at + 8 + length, nw_crc32(NW_CRC32_START, image + at, length + 8));
        spill(image_path, image, bytes);
        assert_int_equal(nw_nand_load(&nand, image_path, &fault), NW_ERR_CORRUPT);
        assert_string_equal(fault.text, lies[i].text);
        assert_int_equal(fault.offset, at);
        nw_put16(hit, old);
        nw_put32(image + at + 8 + length, nw_crc32(NW_CRC32_START, image + at, length + 8));
    }
    free(image);
}

/* Chunks longer than anything that may stand there, with good checksums. */
static void too_long_chunks_are_refused(void **state)
{
    static const uint32_t chunks[] = { 0, 1, 2, 8, 9, 10 };
    struct nand_rig rig;
    size_t bytes;
    uint8_t *image;

    (void)state;
    live(&rig);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    nw_nand_close(rig.nand);
    image = slurp(image_path, &bytes);
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        size_t at = chunk_at(image, chunks[i]);
        uint8_t *longer = calloc(1, at + 200012);
        struct nw_image_fault fault;
        struct nw_nand *nand;

        assert_non_null(longer);
        memcpy(longer, image, at + 4);
        nw_put32(longer + at + 4, 200000);
        nw_put32(longer + at + 200008, nw_crc32(NW_CRC32_START, longer + at, 200008));
        spill(image_path, longer, at + 200012);
        assert_int_equal(nw_nand_load(&nand, image_path, &fault), NW_ERR_CORRUPT);
        assert_string_equal(fault.text, "no chunk of the kind that must stand here");
        assert_int_equal(fault.offset, at);
        free(longer);
    }
    free(image);
}

/* The image with the content of one chunk replaced, and a checksum that fits. */
static void spill_with(const uint8_t *image, size_t bytes, uint32_t chunk, const void *content,
                       uint32_t length)
{
    size_t at = chunk_at(image, chunk);
    size_t rest = at + 12 + nw_get32(image + at + 4);
    uint8_t *changed = malloc(bytes + length);

    assert_non_null(changed);
    memcpy(changed, image, at + 4);
    nw_put32(changed + at + 4, length);
    if (length > 0) {
        memcpy(changed + at + 8, content, length);
    }
    nw_put32(changed + at + 8 + length, nw_crc32(NW_CRC32_START, changed + at, length + 8));
    memcpy(changed + at + 12 + length, image + rest, bytes - rest);
    spill(image_path, changed, at + 12 + length + (bytes - rest));
    free(changed);
}

/* A chunk of nothing, where no memory had been taken yet, was read through a null pointer (UBSan).
 * What stood behind a zero byte in a part's lines, or had no end, was passed over in silence. */
static void empty_and_hostile_chunks_are_refused(void **state)
{
    static const char *const parts[] = { "\n", "x", " = ", " = \n", "page_bytes = 512 B",
                                         "\0page_bytes = 512 B\n", "page_bytes = 512 B\n\0" };
    static const uint8_t sizes[] = { 1, 1, 3, 4, 18, 20, 20 };
    struct nand_rig rig;
    size_t bytes;
    uint8_t *image;

    (void)state;
    live(&rig);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    nw_nand_close(rig.nand);
    image = slurp(image_path, &bytes);
    for (uint32_t chunk = 0; chunk < 8; chunk++) { /* part, chip and blocks cannot be empty */
        spill_with(image, bytes, chunk, NULL, 0);
        expect_refused(NW_ERR_CORRUPT);
    }
    for (size_t i = 0; i < sizeof sizes; i++) {
        spill_with(image, bytes, 0, parts[i], sizes[i]);
        expect_refused(NW_ERR_CORRUPT);
    }
    for (uint32_t i = 0; i < 3; i++) { /* the same before or behind all of its lines */
        uint32_t length = nw_get32(image + 36);
        uint8_t *lines = malloc(length + 8U);

        assert_non_null(lines);
        memcpy(lines + 1, image + 40, length);
        lines[0] = '\0';
        memcpy(lines + 1 + length, i == 1 ? "\0x = 1\n" : "blocks=", 7);
        spill_with(image, bytes, 0, lines + (i > 0), i == 0 ? length + 1U : length + 7U);
        expect_refused(NW_ERR_CORRUPT);
        free(lines);
    }
    free(image);
}

/* What is torn no more leaves no trace: the list does not grow with the cuts of a long life. */
static void healed_tears_are_forgotten(void **state)
{
    struct nand_rig rig;
    size_t bytes;
    uint8_t *image;

    (void)state;
    rig_open(&rig, "TC58DVG02A1FT00", 0);
    for (uint32_t i = 0; i < 20; i++) {
        struct nw_cut cut = { .phase = NW_CUT_INSIDE };

        nw_nand_cut(rig.nand, &cut);
        assert_int_equal(rig_program(&rig, i, 0, 512, 0, 15), NW_ERR_POWER);
        nw_nand_power_up(rig.nand);
    }
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    image = slurp(image_path, &bytes);
    assert_int_equal(nw_get32(image + chunk_at(image, 10) + 4), 20 * 15);
    free(image);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    image = slurp(image_path, &bytes);
    assert_int_equal(nw_get32(image + chunk_at(image, 10) + 4), 0);
    free(image);
    rig_close_clean(&rig);
}

/* A part without spare bytes and in one piece a page: arrays of no bytes were null pointers, with
 * which the twin counted and copied (UBSan). */
static void a_part_without_spare_bytes_comes_back(void **state)
{
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .blocks = 4, .flags = NW_NAND_BIT_ERRORS };
    struct nw_cut cut = { .phase = NW_CUT_INSIDE };
    struct nand_rig rig;
    struct nw_nand *loaded;
    struct nw_nand *copy;
    uint8_t page[2][512];
    uint8_t spare;

    (void)state;
    assert_int_equal(nw_parts_get("TC58DVG02A1FT00", &part), NW_OK);
    assert_int_equal(nw_part_set(&part, "spare_bytes", "0 B"), NW_OK);
    assert_int_equal(nw_part_set(&part, "program_bytes", "512 B"), NW_OK);
    rig_open_config(&rig, &config);
    rig.req.spare = NULL;
    assert_int_equal(nw_nand_open(&copy, &config), NW_OK);
    assert_int_equal(rig_program(&rig, 0, 0, 512, 0, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 1, 0, 512, 0, 0), NW_OK);
    assert_int_equal(rig_read(&rig, 1, 512, 0), NW_OK);
    assert_int_equal(rig_read(&rig, 2, 0, 0), NW_OK);
    nw_nand_cut(rig.nand, &cut);
    assert_int_equal(rig_program(&rig, 2, 0, 512, 0, 0), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    nw_nand_cut(rig.nand, &cut);
    assert_int_equal(rig_erase(&rig, 1), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    assert_int_equal(nw_nand_load(&loaded, image_path, NULL), NW_OK);
    assert_int_equal(nw_nand_assign(copy, loaded), NW_OK);
    for (uint32_t i = 0; i < 40; i++) {
        nw_nand_peek(rig.nand, i, page[0], &spare);
        nw_nand_peek(copy, i, page[1], &spare);
        assert_memory_equal(page[0], page[1], 512);
    }
    nw_nand_close(loaded);
    nw_nand_close(copy);
    rig_close_clean(&rig);
}

static void a_save_that_fails_leaves_the_old_image(void **state)
{
    struct nand_rig rig;
    struct nw_nand *loaded;

    (void)state;
    live(&rig);
    assert_int_equal(nw_nand_save(rig.nand, image_path), NW_OK);
    assert_int_equal(nw_nand_save(rig.nand, "/nowhere/at/all"), NW_ERR_IO);
    assert_int_equal(nw_nand_save(rig.nand, "/tmp"), NW_ERR_IO); /* cannot rename over a folder */
    assert_int_equal(nw_nand_load(&loaded, image_path, NULL), NW_OK);
    nw_nand_close(loaded);
    nw_nand_close(rig.nand);
}

static int name_files(void **state)
{
    (void)state;
    (void)snprintf(image_path, sizeof image_path, "nw-image-%ld", (long)getpid());
    (void)snprintf(other_path, sizeof other_path, "nw-other-%ld", (long)getpid());
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    (void)remove(image_path);
    (void)remove(other_path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_the_same),
        cmocka_unit_test(every_wrong_byte_is_found),
        cmocka_unit_test(every_cut_off_end_is_found),
        cmocka_unit_test(the_offset_is_told),
        cmocka_unit_test(lies_with_good_checksums_do_no_harm),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(too_long_chunks_are_refused),
        cmocka_unit_test(empty_and_hostile_chunks_are_refused),
        cmocka_unit_test(a_part_without_spare_bytes_comes_back),
        cmocka_unit_test(healed_tears_are_forgotten),
        cmocka_unit_test(a_save_that_fails_leaves_the_old_image),
    };

    return cmocka_run_group_tests(tests, name_files, remove_files);
}
