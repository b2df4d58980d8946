/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the recogniser tells a disk's blocks apart whatever order they come in, needs the RAM it
 * says, and keeps its head on a disk that lies: changed bytes, tables that point at each other.
 * What real tools make is judged in tests/python/test_content.py.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "content_disk.h"
#include "nandwich/bytes.h"
#include "nandwich/random.h"

#define ROUNDS 300U
#define CHANGES 12U

static struct content_disk disk;
static struct nw_content content;
static uint64_t ram[8192];

static uint8_t class_at(uint32_t block)
{
    return nw_content_class(&content, (uint64_t)block * CONTENT_BLOCK, NULL, 0, NULL);
}

static void open_content(void)
{
    size_t needed = nw_content_ram_bytes(&content_disk_config);

    assert_true(needed > 0 && needed <= sizeof ram);
    memset(ram, 0xA5, sizeof ram);
    assert_int_equal(nw_content_open(&content, &content_disk_config, ram, needed - 1U), NW_ERR_RAM);
    assert_int_equal(nw_content_open(&content, &content_disk_config, ram, needed), NW_OK);
    for (size_t i = needed; i < sizeof ram; i++) {
        assert_int_equal(((uint8_t *)ram)[i], 0xA5);
    }
}

static void check_all(void)
{
    static const struct {
        uint32_t first, count;
        uint8_t class_of;
    } parts[] = {
        {0, 1, NW_CONTENT_DATA},           {1, 1, NW_CONTENT_SUPERBLOCK},
        {2, 1, NW_CONTENT_DESCRIPTORS},    {3, 1, NW_CONTENT_DATA},
        {4, 2, NW_CONTENT_BITMAP},         {6, 4, NW_CONTENT_INODES},
        {10, 2, NW_CONTENT_BITMAP},        {12, 4, NW_CONTENT_INODES},
        {16, 4, NW_CONTENT_DATA},          {20, 8, NW_CONTENT_JOURNAL},
        {28, 4, NW_CONTENT_DATA},          {32, 4, NW_CONTENT_IMAGE},
        {36, 1, NW_CONTENT_DATA | NW_CONTENT_GUEST},
        {37, 1, NW_CONTENT_SUPERBLOCK | NW_CONTENT_GUEST},
        {38, 1, NW_CONTENT_DESCRIPTORS | NW_CONTENT_GUEST},
        {39, 1, NW_CONTENT_DATA | NW_CONTENT_GUEST},
        {40, 2, NW_CONTENT_BITMAP | NW_CONTENT_GUEST},
        {42, 4, NW_CONTENT_INODES | NW_CONTENT_GUEST},
        {52, 48, NW_CONTENT_DATA | NW_CONTENT_GUEST},
        {100, 29, NW_CONTENT_DATA},        {129, 1, NW_CONTENT_SUPERBLOCK},
        {130, 1, NW_CONTENT_DESCRIPTORS},  {131, 125, NW_CONTENT_DATA},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (uint32_t block = parts[i].first; block < parts[i].first + parts[i].count; block++) {
            if (class_at(block) != parts[i].class_of) {
                fail_msg("block %u: %u, not %u", (unsigned)block, class_at(block),
                         parts[i].class_of);
            }
        }
    }
}

static void test_any_order(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 1);
    for (uint32_t round = 0; round < 50U; round++) {
        content_disk_make(&disk);
        open_content();
        for (uint32_t i = 0; i < CONTENT_BLOCKS; i++) {
            content_disk_show(&disk, &content, nw_random_below(&random, CONTENT_BLOCKS));
        }
        assert_true(content_disk_answer(&disk, &content) >= 0);
        content_disk_show(&disk, &content, CONTENT_IMAGE); /* whoever opens the image */
        assert_true(content_disk_answer(&disk, &content) >= 0);
        check_all();
        assert_int_equal(content_disk_answer(&disk, &content), 0);
    }
}

/* A rig showed a disk in sectors, as the header allows: only whole blocks of the host's file system
 * were looked at for an image and for nodes of a file, and neither asked for later. */
static void test_in_sectors(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 3);
    for (uint32_t round = 0; round < 50U; round++) {
        content_disk_make(&disk);
        open_content();
        for (uint32_t i = 0; i < 2U * CONTENT_BLOCKS; i++) {
            uint32_t at = 512U * (round == 0 ? i : nw_random_below(&random, 2U * CONTENT_BLOCKS));

            nw_content_see(&content, at, disk.data + at, 512);
        }
        assert_true(content_disk_answer(&disk, &content) >= 0);
        nw_content_see(&content, (uint64_t)CONTENT_IMAGE * CONTENT_BLOCK,
                       content_disk_at(&disk, CONTENT_IMAGE), 512);
        assert_true(content_disk_answer(&disk, &content) >= 0);
        check_all();
        assert_int_equal(content_disk_answer(&disk, &content), 0);
    }
}

/* The same of a node that is written again in parts; and a part of what was asked for is no
 * answer. */
static void test_a_node_in_parts(void **state)
{
    uint8_t *node = content_disk_at((content_disk_make(&disk), &disk), CONTENT_NODE);
    uint64_t at = (uint64_t)CONTENT_NODE * CONTENT_BLOCK;
    uint64_t wanted = 0;
    uint32_t bytes = 0;

    (void)state;
    open_content();
    assert_true(content_disk_show_all(&disk, &content) >= 0);
    assert_int_equal(class_at(CONTENT_JOURNAL), NW_CONTENT_JOURNAL);
    nw_put32(node + 20, CONTENT_JOURNAL + 40U); /* the journal moved */
    nw_content_see(&content, at, node, 512);
    assert_int_equal(nw_content_want(&content, &wanted, &bytes), 1);
    assert_int_equal(wanted, at);
    nw_content_see(&content, at, node, 512);
    nw_content_see(&content, at + 512U, node + 512U, 512);
    assert_int_equal(content_disk_answer(&disk, &content), 1);
    assert_int_equal(class_at(CONTENT_JOURNAL), NW_CONTENT_DATA);
    assert_int_equal(class_at(CONTENT_JOURNAL + 40U), NW_CONTENT_JOURNAL);
}

/* And of GPT, whose header stands in the sector behind the one that announces it. */
static void test_half_a_table(void **state)
{
    uint64_t at = 1;
    uint32_t bytes = 0;

    (void)state;
    memset(&disk, 0, sizeof disk);
    disk.data[446 + 4] = 0xEE;
    disk.data[446 + 8] = 1;
    disk.data[446 + 12] = 0xFF;
    disk.data[510] = 0x55;
    disk.data[511] = 0xAA;
    open_content();
    nw_content_see(&content, 0, disk.data, 512);
    assert_int_equal(nw_content_want(&content, &at, &bytes), 1);
    assert_int_equal(at, 0);
    assert_true(bytes >= 1024);
    assert_int_equal(content_disk_answer(&disk, &content), 1);
}

/* Nobody can read what is asked for: it is not asked for again and again. */
static void test_nothing_can_be_read(void **state)
{
    uint64_t at;
    uint32_t bytes;
    int asked = 0;

    (void)state;
    content_disk_make(&disk);
    open_content();
    content_disk_show(&disk, &content, 1);
    while (nw_content_want(&content, &at, &bytes)) {
        assert_true(++asked < 20);
        nw_content_see(&content, at, NULL, bytes);
    }
    assert_int_equal(class_at(1), NW_CONTENT_SUPERBLOCK);
    assert_int_equal(class_at(4), NW_CONTENT_DATA);
}

/* Takes all that is to be told again: 1: `first` to before `end` of the disk, each block once. */
static int told_again(uint32_t first, uint32_t end)
{
    uint8_t times[CONTENT_BLOCKS] = {0};
    uint64_t at;
    uint32_t bytes;

    while (nw_content_again(&content, &at, &bytes)) {
        assert_true(bytes > 0 && bytes <= 65536U && at + bytes <= sizeof disk.data);
        for (uint64_t block = at / CONTENT_BLOCK; block < (at + bytes) / CONTENT_BLOCK; block++) {
            times[block]++;
        }
    }
    for (uint32_t block = 0; block < CONTENT_BLOCKS; block++) {
        if (times[block] != (block >= first && block < end)) {
            return 0;
        }
    }
    return 1;
}

/* A guest's blocks are written before the entries of L2 that tell of them: they passed as data, and
 * nobody was told when that turned out wrong. */
static void test_what_came_too_early_is_told_again(void **state)
{
    static uint8_t l2[CONTENT_BLOCK];
    uint8_t *entries = content_disk_at((content_disk_make(&disk), &disk), CONTENT_GUEST - 1U);

    (void)state;
    memcpy(l2, entries, sizeof l2);
    memset(entries, 0, CONTENT_BLOCK);
    open_content();
    assert_true(content_disk_show_all(&disk, &content) >= 0);
    assert_int_equal(class_at(CONTENT_GUEST + 1U), NW_CONTENT_DATA);
    assert_true(told_again(CONTENT_IMAGE, CONTENT_IMAGE + 128U)); /* the whole image is new */
    assert_true(told_again(0, 0));
    memcpy(entries, l2, 7U * 8U);
    content_disk_show(&disk, &content, CONTENT_GUEST - 1U);
    assert_true(content_disk_answer(&disk, &content) > 0);
    assert_int_equal(class_at(CONTENT_GUEST + 1U), NW_CONTENT_SUPERBLOCK | NW_CONTENT_GUEST);
    assert_true(told_again(CONTENT_IMAGE, CONTENT_IMAGE + 128U)); /* a file system is new there */
    memcpy(entries, l2, 9U * 8U);
    content_disk_show(&disk, &content, CONTENT_GUEST - 1U);
    assert_true(content_disk_answer(&disk, &content) >= 0);
    assert_true(told_again(CONTENT_GUEST + 7U, CONTENT_GUEST + 9U));
    content_disk_show(&disk, &content, CONTENT_GUEST - 1U);
    assert_true(told_again(0, 0));
}

/* A guest gets a journal later, in its inode or in a node below it: what was written of it before
 * the superblock passed as data, and nobody was told. */
static void test_a_journal_that_comes_later_is_told_again(void **state)
{
    (void)state;
    for (uint16_t depth = 0; depth < 2U; depth++) {
        uint8_t *super = content_disk_at((content_disk_make(&disk), &disk), CONTENT_GUEST + 1U);
        uint8_t *node = content_disk_at(&disk, CONTENT_GUEST + 19U);

        open_content();
        assert_true(content_disk_show_all(&disk, &content) >= 0);
        (void)told_again(0, 0);
        memcpy(super + 0xE0, content_disk_at(&disk, 1) + 0xE0, 0x200U);
        memcpy(node, content_disk_at(&disk, CONTENT_NODE), 32);
        if (depth == 0) {
            memcpy(super + 0x10C, node, 32);
        }
        content_disk_show(&disk, &content, CONTENT_GUEST + 1U);
        if (depth > 0) { /* the node is found empty, and written later */
            memset(node, 0, 32);
            assert_true(content_disk_answer(&disk, &content) > 0);
            assert_true(told_again(0, 0));
            memcpy(node, content_disk_at(&disk, CONTENT_NODE), 32);
            content_disk_show(&disk, &content, CONTENT_GUEST + 19U);
        }
        assert_true(content_disk_answer(&disk, &content) >= 0);
        assert_int_equal(class_at(CONTENT_GUEST + 20U), NW_CONTENT_JOURNAL | NW_CONTENT_GUEST);
        assert_true(told_again(CONTENT_IMAGE, CONTENT_IMAGE + 128U));
        assert_true(told_again(0, 0));
    }
}

/* L1 no longer names a table: that is data again. */
static void test_a_table_that_is_dropped_is_told_again(void **state)
{
    uint8_t *entry = content_disk_at((content_disk_make(&disk), &disk), CONTENT_IMAGE + 2U);

    (void)state;
    open_content();
    assert_true(content_disk_show_all(&disk, &content) >= 0);
    (void)told_again(0, 0);
    memset(entry, 0, 8);
    content_disk_show(&disk, &content, CONTENT_IMAGE + 2U);
    assert_true(content_disk_answer(&disk, &content) >= 0);
    assert_int_equal(class_at(CONTENT_GUEST - 1U), NW_CONTENT_DATA);
    assert_true(told_again(CONTENT_GUEST - 1U, CONTENT_GUEST));
}

/* The host's inode tells of a part of the image's file later than L1 tells what lies there: L2 was
 * taken for a hole then, and never asked for again. */
static void test_a_part_that_has_a_place_later(void **state)
{
    uint8_t *inode = content_disk_at((content_disk_make(&disk), &disk), CONTENT_INODE) + 3U * 128U;

    (void)state;
    for (uint16_t blocks = 1; blocks < 8U; blocks++) {
        open_content();
        nw_put16(inode + 56, blocks);
        for (uint32_t block = 0; block < CONTENT_GUEST; block++) {
            content_disk_show(&disk, &content, block);
            assert_true(content_disk_answer(&disk, &content) >= 0);
        }
        (void)told_again(0, 0);
        nw_put16(inode + 56, 128);
        content_disk_show(&disk, &content, CONTENT_INODE);
        assert_true(content_disk_answer(&disk, &content) >= 0);
        check_all();
        assert_true(told_again(CONTENT_IMAGE + (blocks < 7U ? 0 : blocks), CONTENT_IMAGE + 128U));
    }
}

/* L1 points to itself, to the header, twice to one L2; L2 to itself and to L1. */
static void test_tables_that_point_at_each_other(void **state)
{
    uint8_t *header = content_disk_at((content_disk_make(&disk), &disk), CONTENT_IMAGE);
    uint8_t *l1 = header + 2U * CONTENT_BLOCK;
    uint8_t *l2 = header + 3U * CONTENT_BLOCK;

    (void)state;
    header[39] = 5; /* entries of L1 */
    for (uint32_t i = 0; i < 5U; i++) {
        static const uint8_t to[] = {3, 2, 0, 3, 3};

        l1[8U * i + 6U] = (uint8_t)(to[i] << 2);
    }
    for (uint32_t i = 0; i < 4U; i++) {
        l2[8U * i + 6U] = (uint8_t)((i + 1U) << 2); /* counts, L1, L2, and what was the first */
    }
    open_content();
    assert_true(content_disk_show_all(&disk, &content) >= 0);
    assert_int_equal(content_disk_show_all(&disk, &content), 0);
    for (uint32_t block = CONTENT_IMAGE; block < CONTENT_GUEST; block++) {
        assert_int_equal(class_at(block), NW_CONTENT_IMAGE);
    }
    assert_int_equal(class_at(CONTENT_GUEST), NW_CONTENT_DATA | NW_CONTENT_GUEST);
}

/* A part of an image's file is the node that tells of the file, twice, and stands where L2 should:
 * each look at L2 showed the node, whose two entries were news each time, so L2 was asked for
 * again, without end. */
static void test_a_file_over_its_own_tree(void **state)
{
    static const uint32_t entries[][3] = {
        {0, 3, CONTENT_IMAGE}, {3, 1, 60}, {50, 1, 60}}; /* from, count, first */
    uint8_t *inode = content_disk_at((content_disk_make(&disk), &disk), CONTENT_INODE) + 3U * 128U;
    uint8_t *node = content_disk_at(&disk, 60);

    (void)state;
    memset(inode + 52, 0, 48);
    nw_put16(inode + 46, 1); /* depth */
    nw_put32(inode + 56, 60);
    nw_put16(node, 0xF30A);
    nw_put16(node + 2, 3);
    for (uint32_t i = 0; i < 3U; i++) {
        nw_put32(node + 12U + 12U * i, entries[i][0]);
        nw_put16(node + 16U + 12U * i, (uint16_t)entries[i][1]);
        nw_put32(node + 20U + 12U * i, entries[i][2]);
    }
    open_content();
    assert_true(content_disk_show_all(&disk, &content) >= 0);
    content_disk_show(&disk, &content, CONTENT_IMAGE);
    assert_true(content_disk_answer(&disk, &content) >= 0);
    assert_int_equal(class_at(CONTENT_IMAGE + 2U), NW_CONTENT_IMAGE);
}

static void test_changed_at_random(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 7);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        content_disk_make(&disk);
        open_content();
        assert_true(content_disk_show_all(&disk, &content) >= 0);
        for (uint32_t i = 0; i < CHANGES; i++) {
            uint32_t block = nw_random_below(&random, 64);
            uint8_t *place =
                content_disk_at(&disk, block) + 4U * nw_random_below(&random, CONTENT_BLOCK / 4U);

            nw_put32(place, nw_random_below(&random, 256) << nw_random_below(&random, 32));
            content_disk_show(&disk, &content, block);
        }
        assert_true(content_disk_show_all(&disk, &content) >= 0);
        for (uint32_t block = 0; block < CONTENT_BLOCKS; block++) {
            assert_true((class_at(block) & 0x0FU) < NW_CONTENT_CLASSES);
        }
        /* The disk as it was is recognised again, whatever stood there in between. */
        content_disk_make(&disk);
        assert_true(content_disk_show_all(&disk, &content) >= 0);
        content_disk_show(&disk, &content, CONTENT_IMAGE);
        assert_true(content_disk_answer(&disk, &content) >= 0);
        check_all();
    }
}

static uint8_t class_with(const uint8_t *block)
{
    return nw_content_class(&content, 200UL * CONTENT_BLOCK, block, CONTENT_BLOCK, NULL);
}

/* A block of zeros once passed as an empty directory: its length 0 was taken for 64 KiB. */
static void test_what_is_a_directory(void **state)
{
    static uint8_t block[CONTENT_BLOCK];
    struct nw_random random;

    (void)state;
    content_disk_make(&disk);
    open_content();
    assert_true(content_disk_show_all(&disk, &content) >= 0);
    assert_int_equal(class_with(block), NW_CONTENT_DATA);
    nw_put16(block + 4, CONTENT_BLOCK); /* empty */
    assert_int_equal(class_with(block), NW_CONTENT_DIRECTORY);
    nw_put16(block + 4, 12);
    assert_int_equal(class_with(block), NW_CONTENT_DATA); /* the chain ends too soon */
    nw_put32(block, 2);
    block[6] = 1;
    nw_put16(block + 16, CONTENT_BLOCK - 12U); /* an entry and a free rest */
    assert_int_equal(class_with(block), NW_CONTENT_DIRECTORY);
    block[6] = 5; /* a name longer than its entry */
    assert_int_equal(class_with(block), NW_CONTENT_DATA);
    nw_random_seed(&random, 11);
    for (uint32_t round = 0; round < 20000U; round++) {
        for (uint32_t i = 0; i < 64U; i++) {
            block[i] = (uint8_t)nw_random_below(&random, 256);
        }
        assert_int_equal(class_with(block), NW_CONTENT_DATA);
    }
}

static void test_hints(void **state)
{
    (void)state;
    assert_int_equal(nw_content_hint(NW_CONTENT_BITMAP | NW_CONTENT_GUEST), NW_HINT_METADATA);
    assert_int_equal(nw_content_hint(NW_CONTENT_JOURNAL), NW_HINT_JOURNAL);
    assert_int_equal(nw_content_hint(NW_CONTENT_DIRECTORY), NW_HINT_DATA);
    assert_int_equal(nw_content_hint(NW_CONTENT_UNKNOWN), NW_HINT_NONE);
    assert_int_equal(nw_content_hint(NW_CONTENT_CLASSES), NW_HINT_NONE);
    assert_string_equal(nw_content_name(NW_CONTENT_IMAGE), "image");
    assert_string_equal(nw_content_unknown_name(NW_CONTENT_COMPRESSED), "compressed clusters");
    assert_string_equal(nw_content_unknown_name(NW_CONTENT_UNKNOWNS), "none");
}

/* 12 KB were told for a disk of 64 GiB: half of what its 512 groups take, once for the volume and
 * once for the disk itself, and nothing else. */
static void test_ram_is_told_truly(void **state)
{
    struct nw_content_config config = {.bytes = (uint64_t)64 << 30, .groups = 512, .extents = 64};

    (void)state;
    for (config.volumes = 1; config.volumes < 5; config.volumes++) {
        for (config.images = 0; config.images < 4; config.images++) {
            size_t volumes = config.volumes + (size_t)1;
            size_t least;
            size_t needed;

            config.clusters = 1000U * config.images;
            config.l1 = 7U * config.images;
            least = volumes * (24U * config.groups + 16U * config.extents) +
                    config.images * (16U * config.extents + 4U * (config.clusters + config.l1));
            needed = nw_content_ram_bytes(&config);
            assert_in_range(needed, least, least + volumes * 540U + config.images * 460U + 40U);
        }
    }
    config = (struct nw_content_config){
        .bytes = (uint64_t)64 << 30, .volumes = 1, .groups = 512, .extents = 64};
    assert_in_range(nw_content_ram_bytes(&config), 26600, 27800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_in_sectors),
        cmocka_unit_test(test_a_node_in_parts),
        cmocka_unit_test(test_half_a_table),
        cmocka_unit_test(test_nothing_can_be_read),
        cmocka_unit_test(test_what_came_too_early_is_told_again),
        cmocka_unit_test(test_a_journal_that_comes_later_is_told_again),
        cmocka_unit_test(test_a_table_that_is_dropped_is_told_again),
        cmocka_unit_test(test_a_part_that_has_a_place_later),
        cmocka_unit_test(test_tables_that_point_at_each_other),
        cmocka_unit_test(test_a_file_over_its_own_tree),
        cmocka_unit_test(test_changed_at_random),
        cmocka_unit_test(test_what_is_a_directory),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_ram_is_told_truly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
