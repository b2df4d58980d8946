/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: no mount takes a chip that holds something else, and none changes a bit of it. There was a
 * call to open a layer that formatted every chip it did not know: opened as the wrong kind, a
 * device of another layer or a store was gone, with NW_OK.
 *
 * Every kind of content is put on a chip and every layer's mount tried on it: the error says
 * whether the chip is blank, not a page is programmed, no block erased, no bit other than before;
 * then nw_identify() tells what it is, and its own mount finds all its data.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-seal/seal_sodium.h"
#include "nandwich-stack/layers.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/blank.h"
#include "nandwich/ftl_lavish.h"
#include "nandwich/identify.h"
#include "nandwich/random.h"
#include "nandwich/store.h"

#define SECTORS 12U
#define MOST_PAGE 4096U
#define MOST_READS 4U /* a page: 2 to find it blank, and as a mount looks for its own */

/* Small variants of real parts; whoever cannot work there is left out. */
static const struct {
    const char *part;
    uint32_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes;
    uint8_t erased;
} shapes[] = {
    {"K9F1G08U0A", 40, 16, 512, 0xFF},
    {"TC58DVG02A1FT00", 40, 16, 512, 0xFF},
    {"K9LBG08U0M", 40, 16, 1024, 0x00},
    {"W25Q128JV", 40, 16, 256, 0xFF},
    {"AT45DB041B", 40, 8, 264, 0xFF},
};

#define SHAPES (sizeof shapes / sizeof shapes[0])

/* A chip, and what is opened on it last. */
struct site {
    struct nw_nand *nand;
    struct nw_chip *chip;
    void *ram;
    void *state;
    struct nw_block *block;
    struct nw_store *store;
    struct nw_seal_sodium seal;
};

static struct site site;
static struct nw_ftl_lavish lavish;

/* A kind of content: made, or looked for. */
struct content {
    const char *name;
    int kind; /* what nw_identify() tells */
    const struct nw_layer_kind *layer;
    /* Puts it there; 0: it does not go on this chip. */
    int (*make)(const struct content *self);
    /* Mounts it; NULL: nothing does. */
    int (*mount)(const struct content *self);
    /* Once mounted: all that was written is there. */
    void (*check)(void);
    uint8_t sealed;
};

static void *need(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1U);

    assert_non_null(memory);
    memset(memory, 0xC3, bytes);
    return memory;
}

static void clear(void)
{
    free(site.ram);
    free(site.state);
    site.ram = NULL;
    site.state = NULL;
}

static void fill(uint8_t *bytes, uint32_t count, uint32_t token)
{
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(token * 41U + i * 7U + (i >> 8));
    }
}

/* Layers */

static int open_layer(const struct content *self, int format)
{
    static const struct nw_layer_config config = {.spare_blocks = 12};
    struct nw_layer_site where = {.config = &config, .chip = site.chip};

    clear();
    where.ram_bytes = self->layer->sectors(&where) != 0 ? self->layer->ram_bytes(&where) : 0;
    if (where.ram_bytes == 0) {
        return NW_ERR_CONFIG;
    }
    site.ram = need(where.ram_bytes);
    site.state = need(self->layer->state_bytes);
    where.ram = site.ram;
    where.state = site.state;
    return format != 0 ? self->layer->format(&where, &site.block)
                       : self->layer->mount(&where, &site.block);
}

static int make_layer(const struct content *self)
{
    uint8_t data[MOST_PAGE];
    int result = open_layer(self, 1);

    if (result == NW_ERR_CONFIG) {
        return 0;
    }
    assert_int_equal(result, NW_OK);
    for (uint32_t i = 0; i < 3U * SECTORS; i++) {
        struct nw_block_req req = {
            .block = site.block, .sector = i % SECTORS * 5U, .count = 1, .data = data};

        fill(data, site.block->sector_bytes, i);
        assert_int_equal(nw_block_write(&req), NW_OK);
    }
    return 1;
}

static int mount_layer(const struct content *self)
{
    return open_layer(self, 0);
}

static void check_layer(void)
{
    uint8_t data[MOST_PAGE];
    uint8_t wanted[MOST_PAGE];

    for (uint32_t i = 0; i < SECTORS; i++) {
        struct nw_block_req req = {
            .block = site.block, .sector = i * 5U, .count = 1, .data = data};

        fill(wanted, site.block->sector_bytes, i + 2U * SECTORS);
        assert_int_equal(nw_block_read(&req), NW_OK);
        assert_memory_equal(data, wanted, site.block->sector_bytes);
    }
}

/* Stores */

static int open_store(const struct content *self, int format)
{
    static const uint8_t key[NW_SEAL_KEY_BYTES] = "a key of thirty-two bytes, no mo";
    struct nw_store_config config = {.objects = 2};

    clear();
    if (self->sealed != 0) {
        nw_seal_sodium_open(&site.seal, key);
        config.seal = &site.seal.seal;
    }
    size_t bytes = nw_store_ram_bytes(&config, &site.chip->geometry);
    if (bytes == 0) {
        return NW_ERR_CONFIG;
    }
    site.ram = need(bytes);
    return format != 0 ? nw_store_format(&site.store, site.chip, &config, site.ram, bytes)
                       : nw_store_mount(&site.store, site.chip, &config, site.ram, bytes);
}

static int make_store(const struct content *self)
{
    static const struct nw_store_spec spec = {.type = NW_STORE_QUEUE};
    uint8_t data[40];
    int result = open_store(self, 1);

    if (result == NW_ERR_CONFIG) {
        return 0;
    }
    assert_int_equal(result, NW_OK);
    int queue = nw_store_create(site.store, "queue", &spec);
    assert_true(queue > 0);
    for (uint32_t i = 0; i < SECTORS; i++) {
        fill(data, sizeof data, i);
        assert_int_equal(nw_store_push(site.store, queue, data, sizeof data), NW_OK);
    }
    assert_int_equal(nw_store_sync(site.store), NW_OK);
    return 1;
}

static int mount_store(const struct content *self)
{
    return open_store(self, 0);
}

static void check_store(void)
{
    uint8_t data[40];
    uint8_t wanted[40];
    int queue = nw_store_find(site.store, "queue");

    assert_true(queue > 0);
    for (uint32_t i = 0; i < SECTORS; i++) {
        fill(wanted, sizeof wanted, i);
        assert_int_equal(nw_store_peek(site.store, queue, i, data, sizeof data), 40);
        assert_memory_equal(data, wanted, sizeof data);
    }
}

/* Lavish forgets; what it leaves is its own all the same. */

static int open_lavish(uint8_t erase)
{
    struct nw_ftl_lavish_config config = {.sectors = 40, .degree = 2, .erase = erase};

    clear();
    size_t bytes = nw_ftl_lavish_ram_bytes(&config, site.chip);
    assert_true(bytes > 0);
    site.ram = need(bytes);
    return nw_ftl_lavish_open(&lavish, site.chip, &config, site.ram, bytes);
}

static void write_lavish(void)
{
    uint8_t data[MOST_PAGE];

    for (uint32_t i = 0; i < 500U; i++) {
        struct nw_block_req req = {
            .block = &lavish.block, .sector = i * 7U % 40U, .count = 1, .data = data};

        fill(data, lavish.block.sector_bytes, i);
        assert_int_equal(nw_block_write(&req), NW_OK);
    }
}

static int make_lavish(const struct content *self)
{
    (void)self;
    assert_int_equal(open_lavish(0), NW_OK);
    write_lavish();
    return 1;
}

static int mount_lavish(const struct content *self)
{
    (void)self;
    return open_lavish(0);
}

/* What is none of ours */

static int make_nothing(const struct content *self)
{
    (void)self;
    return 1;
}

static void litter(uint32_t page, struct nw_random *random)
{
    const struct nw_geometry *geometry = &site.chip->geometry;
    uint8_t data[MOST_PAGE];
    uint8_t spare[256];
    struct nw_chip_req req = {.chip = site.chip,
                              .block = page / geometry->block_pages,
                              .page = page,
                              .length = geometry->page_bytes,
                              .spare_length = geometry->spare_bytes,
                              .data = data,
                              .spare = spare};

    if (nw_chip_is_bad(&req) == 0) {
        for (uint32_t i = 0; i < sizeof data; i++) {
            data[i] = (uint8_t)nw_random_below(random, 256);
            spare[i % sizeof spare] = (uint8_t)nw_random_below(random, 256);
        }
        assert_int_equal(nw_chip_program(&req), NW_OK);
    }
}

static int make_garbage(const struct content *self)
{
    const struct nw_geometry *geometry = &site.chip->geometry;
    struct nw_random random;

    (void)self;
    nw_random_seed(&random, 5);
    for (uint32_t page = 0; page < geometry->blocks * geometry->block_pages; page++) {
        if (page / geometry->block_pages % 3U == 0) {
            litter(page, &random);
        }
    }
    return 1;
}

/* One page of the whole chip, and not the first of its block: it has to be looked for. */
static int make_speck(const struct content *self)
{
    struct nw_random random;

    (void)self;
    nw_random_seed(&random, 6);
    litter(site.chip->geometry.blocks / 2U * site.chip->geometry.block_pages + 5U, &random);
    return 1;
}

static const struct content contents[] = {
    {"tree", NW_KIND_TREE, &nw_layer_tree, make_layer, mount_layer, check_layer, 0},
    {"lavish", NW_KIND_LAVISH, NULL, make_lavish, mount_lavish, write_lavish, 0},
    {"store", NW_KIND_STORE, NULL, make_store, mount_store, check_store, 0},
    {"sealed store", NW_KIND_STORE, NULL, make_store, mount_store, check_store, 1},
    {"blank", NW_KIND_BLANK, NULL, make_nothing, NULL, NULL, 0},
    {"garbage", NW_KIND_UNKNOWN, NULL, make_garbage, NULL, NULL, 0},
    {"a speck", NW_KIND_UNKNOWN, NULL, make_speck, NULL, NULL, 0},
};

#define CONTENTS (sizeof contents / sizeof contents[0])

static void open_chip(unsigned shape, uint32_t seed)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .seed = seed};

    assert_int_equal(nw_parts_get(shapes[shape].part, &part), NW_OK);
    part.blocks = shapes[shape].blocks;
    part.block_pages = shapes[shape].block_pages;
    part.page_bytes = shapes[shape].page_bytes;
    part.program_bytes = part.program_bytes > part.page_bytes ? part.page_bytes
                                                              : part.program_bytes;
    part.erased = shapes[shape].erased;
    part.factory_bad = part.factory_bad > 2U ? 2U : part.factory_bad;
    assert_int_equal(nw_nand_open(&site.nand, &config), NW_OK);
    site.chip = nw_nand_chip(site.nand);
}

/* All cells, one after the other. */
static uint8_t *image_of(struct nw_nand *nand, size_t *bytes)
{
    const struct nw_geometry *geometry = &nw_nand_chip(nand)->geometry;
    uint32_t pages = geometry->blocks * geometry->block_pages;
    size_t each = (size_t)geometry->page_bytes + geometry->spare_bytes;
    uint8_t *image = need(pages * each);

    for (uint32_t page = 0; page < pages; page++) {
        uint8_t *data = image + page * each;

        nw_nand_peek(nand, page, data,
                     geometry->spare_bytes > 0 ? data + geometry->page_bytes : NULL);
    }
    *bytes = pages * each;
    return image;
}

/* The error that this mount owes to that content. */
static int error_owed(const struct content *held, const struct content *mounted)
{
    if (held->kind == NW_KIND_STORE && mounted->kind == NW_KIND_STORE) {
        return NW_ERR_KEY; /* a store, but not with this key */
    }
    return held->kind == NW_KIND_BLANK ? (int)NW_ERR_BLANK : (int)NW_ERR_NOT_FOUND;
}

/* What is there says what it is and in which shape. */
static void check_identity(const struct content *held)
{
    const struct nw_geometry *geometry = &site.chip->geometry;
    struct nw_identity found;

    assert_int_equal(nw_identify(site.chip, &found), NW_OK);
    assert_string_equal(nw_kind_text(found.kind), nw_kind_text(held->kind));
    assert_int_equal(found.sealed, held->sealed);
    assert_int_equal(found.version != 0, held->kind > NW_KIND_UNKNOWN);
    if (held->layer != NULL) {
        assert_int_equal(found.sectors, site.block->sectors);
    }
    if (held->kind > NW_KIND_UNKNOWN && held->kind != NW_KIND_LAVISH && held->sealed == 0) {
        assert_int_equal(found.blocks, geometry->blocks);
        assert_int_equal(found.block_pages, geometry->block_pages);
        assert_int_equal(found.page_bytes, geometry->page_bytes);
    }
    assert_int_equal(nw_chip_is_blank(site.chip), held->kind == NW_KIND_BLANK);
}

static uint32_t pages(void)
{
    return site.chip->geometry.blocks * site.chip->geometry.block_pages;
}

/* One content, every mount. A blank chip was once asked in pieces of 32 bytes, 67 of them for a
 * page of 2 KiB: a mount of 128 MiB took minutes. */
static void try_all(const struct content *held)
{
    size_t bytes;
    struct nw_nand_counts before = *nw_nand_stats(site.nand);
    uint8_t *was = image_of(site.nand, &bytes);

    check_identity(held);
    for (unsigned i = 0; i < CONTENTS; i++) {
        const struct content *mounted = &contents[i];

        if (mounted == held || mounted->mount == NULL ||
            (mounted->kind == NW_KIND_LAVISH && held->kind == NW_KIND_BLANK)) {
            continue; /* lavish takes a blank chip */
        }
        uint64_t reads = nw_nand_stats(site.nand)->reads;
        int result = mounted->mount(mounted);
        if (result == NW_ERR_BLANK) {
            reads = nw_nand_stats(site.nand)->reads - reads;
            assert_in_range(reads, pages(), MOST_READS * pages());
        }
        if (result != NW_ERR_CONFIG && result != error_owed(held, mounted)) {
            fail_msg("%s mounted as %s answers %s", held->name, mounted->name,
                     nw_error_text(result));
        }
        uint8_t *is = image_of(site.nand, &bytes);
        assert_memory_equal(was, is, bytes);
        assert_int_equal(nw_nand_stats(site.nand)->programs, before.programs);
        assert_int_equal(nw_nand_stats(site.nand)->erases, before.erases);
        free(is);
    }
    free(was);
    if (held->mount != NULL) {
        assert_int_equal(held->mount(held), NW_OK);
        held->check();
    }
}

static void test_every_pair(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        unsigned made = 0;

        for (unsigned i = 0; i < CONTENTS; i++) {
            open_chip(shape, 3);
            if (contents[i].make(&contents[i]) != 0) {
                made++;
                try_all(&contents[i]);
            }
            assert_int_equal(nw_nand_misuse(site.nand)->error, 0);
            clear();
            nw_nand_close(site.nand);
        }
        assert_true(made >= 6U);
    }
}

/* A list, record or root that rots tells nothing any more, though its tag is whole: what it says
 * may be what flipped. */
static void test_a_record_that_rots(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CONTENTS; i++) {
        struct nw_identity found;

        open_chip(0, 3);
        if (contents[i].layer != NULL && contents[i].make(&contents[i]) != 0) {
            uint32_t last = 8U * (site.chip->geometry.page_bytes - 1U);

            for (uint32_t page = 0; page < pages(); page++) {
                if (nw_nand_page_programs(site.nand, page) > 0) {
                    nw_nand_flip(site.nand, page, last);
                    nw_nand_flip(site.nand, page, last + 1U);
                }
            }
            assert_int_equal(nw_identify(site.chip, &found), NW_OK);
            if (found.kind != NW_KIND_UNKNOWN) {
                fail_msg("%s: %s is told", contents[i].name, nw_kind_text(found.kind));
            }
        }
        clear();
        nw_nand_close(site.nand);
    }
}

/* Told to, lavish takes any chip, and nothing else is there afterwards. */
static void test_lavish_erases_when_told(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (unsigned i = 0; i < CONTENTS; i++) {
            open_chip(shape, 3);
            if (contents[i].make(&contents[i]) != 0) {
                assert_int_equal(open_lavish(1), NW_OK);
                write_lavish();
                for (unsigned other = 0; other < CONTENTS; other++) {
                    if (contents[other].mount != NULL && contents[other].kind != NW_KIND_LAVISH) {
                        int result = contents[other].mount(&contents[other]);
                        assert_true(result == NW_ERR_NOT_FOUND || result == NW_ERR_CONFIG);
                    }
                }
                assert_int_equal(open_lavish(0), NW_OK);
            }
            assert_int_equal(nw_nand_misuse(site.nand)->error, 0);
            clear();
            nw_nand_close(site.nand);
        }
    }
}

/* A block in which the mark cannot be made goes bad, and the next one takes it. */
static void test_lavish_marks_another_block(void **state)
{
    (void)state;
    for (int in_program = 0; in_program < 2; in_program++) {
        open_chip(0, 3);
        uint32_t last = site.chip->geometry.blocks - 1U;

        while (nw_nand_block_bad(site.nand, last) != 0) {
            last--;
        }
        nw_nand_doom(site.nand, last, in_program);
        assert_int_equal(open_lavish(1), NW_OK);
        assert_int_not_equal(nw_nand_block_bad(site.nand, last), 0);
        assert_int_equal(open_lavish(0), NW_OK);
        write_lavish();
        assert_int_equal(nw_nand_misuse(site.nand)->error, 0);
        clear();
        nw_nand_close(site.nand);
    }
}

/* What happens between two power-ups: an open and some writes, or a part of that. */
static int live(uint64_t after, int cuts)
{
    struct nw_cut cut = {
        .after = after, .phase = NW_CUT_INSIDE, .data = NW_TORN_ANY, .spare = NW_TORN_ANY};
    uint8_t data[MOST_PAGE] = {1};

    nw_nand_cut(site.nand, cuts != 0 ? &cut : NULL);
    int result = open_lavish(0);
    for (uint32_t i = 0; i < 30U && result == NW_OK; i++) {
        struct nw_block_req req = {
            .block = &lavish.block, .sector = i % 20U, .count = 1, .data = data};
        result = nw_block_write(&req);
    }
    struct nw_cut rest = {.phase = NW_CUT_BEFORE};
    struct nw_chip_req any = {.chip = site.chip};
    nw_nand_cut(site.nand, &rest);
    assert_int_equal(nw_chip_is_bad(&any), NW_ERR_POWER); /* off at rest, if not before */
    nw_nand_power_up(site.nand);
    return result;
}

/* Cuts in the first sessions of a chip's life: at each operation from the mark's erase on, and
 * some before. Whatever they leave, and however it reads from one power-up to the next, the chip is
 * lavish's own or blank ever after. Refused once, it would need a hand. */
static void test_lavish_knows_its_chip_after_any_cut(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        open_chip(shape, 1);
        assert_int_equal(open_lavish(0), NW_OK);
        uint64_t open = nw_nand_operations(site.nand);
        clear();
        nw_nand_close(site.nand);
        for (uint32_t trial = 0; trial < 1200U; trial++) {
            /* behind the mark comes an is_bad a block, and writes */
            uint64_t after = trial % 60U == 0 ? trial : open + 10U - trial % 60U;

            open_chip(shape, trial);
            for (uint32_t session = 0; session < 6U; session++) {
                int result = live(session == 0 ? after : after / 3U + trial % 40U,
                                  session == 0 || (session < 5U && trial % 2U == 0));
                if (result != NW_OK && result != NW_ERR_POWER) {
                    fail_msg("%s: trial %u, session %u: %s", shapes[shape].part, (unsigned)trial,
                             (unsigned)session, nw_error_text(result));
                }
            }
            assert_int_equal(nw_nand_misuse(site.nand)->error, 0);
            clear();
            nw_nand_close(site.nand);
        }
    }
}

/* A format of a store that is cut leaves no store: what nw_identify() tells and what a mount
 * answers agree, at each operation of it. Once the blocks of the older store that were still to be
 * erased were taken for one that is there. */
static void test_a_format_that_is_cut(void **state)
{
    const struct content *store = NULL;
    uint32_t seen[2] = {0, 0};

    (void)state;
    for (unsigned i = 0; i < CONTENTS; i++) {
        store = strcmp(contents[i].name, "store") == 0 ? &contents[i] : store;
    }
    assert_non_null(store);
    for (unsigned shape = 0; shape < 4U; shape++) {
        int result = NW_ERR_POWER;
        for (uint32_t after = 0; result != NW_OK; after++) {
            struct nw_cut cut = {.after = after, .phase = NW_CUT_BEFORE};
            struct nw_identity found;

            open_chip(shape, 1);
            assert_int_equal(store->make(store), 1);
            for (unsigned i = 0; i < 100U; i++) { /* some blocks */
                int queue = nw_store_find(site.store, "queue");
                assert_int_equal(nw_store_push(site.store, queue, &cut, sizeof cut), NW_OK);
                assert_int_equal(nw_store_sync(site.store), NW_OK);
                assert_true(nw_store_dequeue(site.store, queue, NULL, 0) > 0);
            }
            nw_nand_cut(site.nand, &cut);
            result = open_store(store, 1);
            nw_nand_cut(site.nand, NULL);
            nw_nand_power_up(site.nand);
            assert_int_equal(nw_identify(site.chip, &found), NW_OK);
            int mounted = open_store(store, 0);
            int none = mounted == NW_ERR_NOT_FOUND || mounted == NW_ERR_BLANK;
            if (none != (found.kind != NW_KIND_STORE)) {
                fail_msg("%s, %u: a mount says %s, and that it is %s", shapes[shape].part,
                         (unsigned)after, nw_error_text(mounted), nw_kind_text(found.kind));
            }
            seen[none]++;
            clear();
            nw_nand_close(site.nand);
        }
    }
    assert_true(seen[0] > 4U && seen[1] > 100U);
}

/* A chip that cannot be asked what it holds is taken when told to, and is not asked. */
static void test_a_chip_that_cannot_be_asked(void **state)
{
    struct nw_identity found;
    struct nw_part part;
    struct nw_nand_config config = {.part = &part};

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.blocks = 40;
    part.block_pages = 16;
    part.spare_bytes = 0;
    assert_int_equal(nw_nand_open(&site.nand, &config), NW_OK);
    site.chip = nw_nand_chip(site.nand);
    assert_int_equal(nw_identify(site.chip, &found), NW_ERR_UNSUPPORTED);
    assert_int_equal(nw_chip_is_blank(site.chip), NW_ERR_UNSUPPORTED);
    assert_int_equal(open_lavish(0), NW_ERR_UNSUPPORTED);
    for (unsigned i = 0; i < 2U; i++) {
        assert_int_equal(open_lavish(1), NW_OK);
        write_lavish();
    }
    assert_int_equal(nw_nand_misuse(site.nand)->error, 0);
    clear();
    nw_nand_close(site.nand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_a_record_that_rots),
        cmocka_unit_test(test_lavish_marks_another_block),
        cmocka_unit_test(test_lavish_erases_when_told),
        cmocka_unit_test(test_lavish_knows_its_chip_after_any_cut),
        cmocka_unit_test(test_a_format_that_is_cut),
        cmocka_unit_test(test_a_chip_that_cannot_be_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
