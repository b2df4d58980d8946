/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what one flipped bit may cost, wherever it is on a chip with no code below the store. In
 * an element: this element, and the read says so. In a header, a node of an index, a state or an
 * anchor: nothing. (Sealed stores mend headers only: a node costs what lies below it, a state that
 * something was taken, an anchor the mount; all of them say so.) Nothing else changes, no other
 * bytes are ever read, the chip is never misused, and work goes on. But an element that touches the
 * page programmed last may look like a power cut and be gone with what lies behind it.
 * It was much more once: on NOR an element two pages before the log's end took all behind it
 * without a word; a bit of an anchor was NW_ERR_CORRUPT for ever; one in a chunk's header took the
 * rest of its page, and undid the create, delete or rename behind it; one in the only block's
 * header was NW_ERR_NOT_FOUND; one in a node took up to an object.
 * ctest: slow
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-seal/seal_sodium.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "nandwich/random.h"
#include "nandwich/store.h"

#define MENDED_CHUNK 10U /* bytes of a chunk's header that its own checksum covers, with it */
#define KEYS 200U /* most of an object */
#define VALUE_BYTES 24U
#define UNIT 8U
#define BLOCK_BYTES 48U
#define MOST 64U /* bytes of an element */
#define FLIPS 1000U /* of an image, and */
#define SOAK 200000U

struct shape {
    const char *part;
    uint32_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes; /* 0: the part's */
    uint8_t erased_zero; /* an erased byte is 0x00 */
    uint8_t sealed;
    struct nw_store_config config;
};

static const struct shape shapes[] = {
    {"W25Q128JV", 40, 16, 0, 0, 0,
     {.objects = 8, .checkpoints = 1, .anchor_bytes = 2048, .frames = 24}},
    {"TC58DVG02A1FT00", 40, 16, 0, 0, 0,
     {.objects = 8, .checkpoints = 1, .anchor_bytes = 2048, .frames = 24, .read_ahead = 1}},
    {"W25N01GV", 36, 8, 0, 0, 0,
     {.objects = 8, .checkpoints = 1, .anchor_bytes = 4096, .frames = 24}},
    {"AT45DB041B", 96, 8, 0, 0, 0,
     {.objects = 8, .checkpoints = 1, .anchor_bytes = 2112, .frames = 24}},
    {"K9LBG08U0M", 44, 10, 512, 1, 0,
     {.objects = 8, .checkpoints = 1, .anchor_bytes = 3072, .frames = 24}},
    {"W25Q128JV", 40, 16, 0, 0, 1,
     {.objects = 8, .checkpoints = 1, .anchor_bytes = 2048, .frames = 24}},
    {"TC58DVG02A1FT00", 40, 16, 0, 0, 1,
     {.objects = 8, .checkpoints = 1, .anchor_bytes = 2048, .frames = 24, .read_ahead = 1}},
};

enum { STACK, QUEUE, PACKED, RECORDS, ARRAY, BLOCKS, OBJECTS };

static const char *const names[OBJECTS] = {"stack", "queue", "packed", "records", "array", "file"};
static const struct nw_store_spec specs[OBJECTS] = {
    {.type = NW_STORE_STACK},
    {.type = NW_STORE_QUEUE},
    {.type = NW_STORE_STREAM, .unit_bytes = UNIT},
    {.type = NW_STORE_STREAM},
    {.type = NW_STORE_ARRAY, .unit_bytes = VALUE_BYTES, .count = 20},
    {.type = NW_STORE_FILE, .unit_bytes = BLOCK_BYTES},
};

/* What an object holds: a token for each key, 0: none. */
struct model {
    uint32_t head[OBJECTS];
    uint32_t tail[OBJECTS];
    uint8_t token[OBJECTS][KEYS];
};

/* What hangs on a byte of the chip. SEALED: an anchor that is sealed. */
enum { NOTHING, HEAD, ANCHOR, DATA, NODE, STATE, SEALED };

struct place {
    uint8_t what;
    uint8_t slot;
    uint8_t last; /* its chunk touches the page programmed last */
    uint32_t key;
};

/* What reading a key answers. */
struct sight {
    int32_t there; /* the token, 0: no such key; or an error */
};

static struct {
    const struct shape *shape;
    struct nw_store_config config;
    struct nw_seal_sodium seal;
    struct nw_nand *nand;
    struct nw_geometry geometry;
    struct nw_store *store;
    uint32_t chunk_head; /* bytes of the headers */
    uint32_t block_head;
    uint64_t ram[2048];
    struct nw_random random;
    struct model now;
    struct place *map; /* of each byte of the chip */
    uint8_t *image;
    /* the flip that is being tried */
    uint32_t page;
    uint32_t bit;
    const struct place *hit;
    const char *story;
    int mounted;
    uint32_t kinds[SEALED + 1U];
} bed;

static void expect(int holds, const char *what)
{
    if (!holds) {
        fail_msg("%s, %s, page %u bit %u (%u of slot %u key %u%s)%s: %s", bed.shape->part,
                 bed.story, (unsigned)bed.page, (unsigned)bed.bit, bed.hit ? bed.hit->what : 0,
                 bed.hit ? bed.hit->slot : 0, bed.hit ? (unsigned)bed.hit->key : 0,
                 bed.hit && bed.hit->last ? ", last" : "", bed.mounted ? ", mounted" : "", what);
    }
}

/* A seal as it is before its store is opened. */
static void open_seal(void)
{
    static const uint8_t key[NW_SEAL_KEY_BYTES] = "a key of thirty-two bytes, no mo";

    if (bed.shape->sealed) {
        nw_seal_sodium_open(&bed.seal, key);
        bed.config.seal = &bed.seal.seal;
    }
}

static int mount(void)
{
    open_seal();
    memset(bed.ram, 0xA5, sizeof bed.ram);
    return nw_store_mount(&bed.store, nw_nand_chip(bed.nand), &bed.config, bed.ram,
                          sizeof bed.ram);
}

static int handle_of(unsigned object)
{
    return nw_store_find(bed.store, names[object]);
}

/* Elements */

static uint16_t bytes_of(unsigned object, uint8_t token)
{
    return object == PACKED  ? UNIT
           : object == ARRAY ? VALUE_BYTES
           : object == BLOCKS ? BLOCK_BYTES
                             : (uint16_t)(10U + token % 40U);
}

static void fill(unsigned object, uint8_t token, uint8_t *bytes)
{
    for (uint16_t i = 0; i < bytes_of(object, token); i++) {
        bytes[i] = (uint8_t)(token * 37U + i * (token + 3U) + object * i);
    }
    bytes[0] = token;
}

/* Puts an element at a key: the next one, or of an array or a file any up to that. */
static int put(unsigned object, uint32_t key, uint8_t token)
{
    uint8_t bytes[MOST];
    uint16_t count = bytes_of(object, token);
    int handle = handle_of(object);

    fill(object, token, bytes);
    switch (specs[object].type) {
    case NW_STORE_STREAM: return nw_store_append(bed.store, handle, bytes, count);
    case NW_STORE_ARRAY: return nw_store_set(bed.store, handle, key, bytes);
    case NW_STORE_FILE: {
        int result = nw_store_write(bed.store, handle, key * BLOCK_BYTES, bytes, count);
        return result < 0 ? result : (int)NW_OK;
    }
    default: return nw_store_push(bed.store, handle, bytes, count);
    }
}

/* The token at a key, 0: there is none; or an error. */
static int look(unsigned object, uint32_t key)
{
    uint8_t bytes[MOST] = {0};
    uint8_t right[MOST];
    int handle = handle_of(object);
    int result;

    switch (specs[object].type) {
    case NW_STORE_ARRAY:
        result = nw_store_get(bed.store, handle, key, bytes);
        result = result == NW_OK ? (int)VALUE_BYTES : result;
        break;
    case NW_STORE_FILE:
        result = nw_store_read(bed.store, handle, key * BLOCK_BYTES, bytes, BLOCK_BYTES);
        break;
    default: result = nw_store_peek(bed.store, handle, key, bytes, sizeof bytes); break;
    }
    if (result == 0 || result == NW_ERR_NOT_FOUND || result == NW_ERR_RANGE) {
        return 0;
    }
    if (result > 0) {
        fill(object, bytes[0], right);
        expect(result == bytes_of(object, bytes[0]) &&
                   memcmp(bytes, right, (size_t)result) == 0,
               "other bytes than were written");
        return bytes[0];
    }
    return result;
}

/* Histories */

static void work_once(void)
{
    unsigned object = nw_random_below(&bed.random, OBJECTS);
    uint8_t token = (uint8_t)(1U + nw_random_below(&bed.random, 250));
    struct model *now = &bed.now;
    uint32_t key = now->tail[object];
    uint8_t bytes[MOST];

    if (object == ARRAY) {
        key = nw_random_below(&bed.random, specs[ARRAY].count);
    } else if (object == BLOCKS) {
        key = nw_random_below(&bed.random, key < 12U ? key + 1U : key);
    } else if (now->tail[object] - now->head[object] > 14U ||
               (now->tail[object] > now->head[object] &&
                nw_random_below(&bed.random, 4) == 0)) {
        int handle = handle_of(object);
        if (object == STACK) {
            assert_true(nw_store_pop(bed.store, handle, bytes, sizeof bytes) > 0);
            now->token[object][--now->tail[object]] = 0;
        } else if (object == QUEUE) {
            assert_true(nw_store_dequeue(bed.store, handle, bytes, sizeof bytes) > 0);
            now->token[object][now->head[object]++ % KEYS] = 0;
        } else {
            assert_int_equal(nw_store_trim(bed.store, handle, now->head[object] + 1U), NW_OK);
            now->token[object][now->head[object]++ % KEYS] = 0;
        }
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        return;
    }
    assert_int_equal(put(object, key, token), NW_OK);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    now->token[object][key % KEYS] = token;
    now->tail[object] = key + 1U > now->tail[object] ? key + 1U : now->tail[object];
}

static void work(uint32_t times)
{
    while (times-- > 0) {
        work_once();
    }
}

/* Each object, one of them by another name first; and two that are gone again. */
static void make_objects(void)
{
    static const struct nw_store_spec gone = {.type = NW_STORE_QUEUE};

    for (unsigned object = 0; object < OBJECTS; object++) {
        assert_true(nw_store_create(bed.store, object == ARRAY ? "new" : names[object],
                                    &specs[object]) > 0);
    }
    assert_true(nw_store_create(bed.store, "gone", &gone) > 0);
    int handle = nw_store_find(bed.store, "new");
    assert_int_equal(nw_store_rename(bed.store, handle, names[ARRAY]), NW_OK);
    work(20);
    handle = nw_store_find(bed.store, "gone");
    assert_int_equal(nw_store_push(bed.store, handle, "bytes", 5), NW_OK);
    assert_int_equal(nw_store_delete(bed.store, handle), NW_OK);
}

static void tell_nothing(void)
{
}

static void tell_work(void)
{
    make_objects();
    work(40);
}

static void tell_checkpoint(void)
{
    make_objects();
    assert_true(nw_store_checkpoint(bed.store) > 0);
    struct model saved = bed.now;
    work(30);
    assert_int_equal(nw_store_rollback(bed.store, 0), NW_OK);
    bed.now = saved;
    work(20);
}

static void tell_compacted(void)
{
    make_objects();
    work(30);
    for (unsigned object = 0; object < OBJECTS; object++) {
        uint32_t key = 0;
        while (nw_store_compact(bed.store, handle_of(object), &key, 100) > 0) {
        }
    }
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    work(10);
}

static void tell_mounts(void)
{
    make_objects();
    for (unsigned i = 0; i < 4U; i++) {
        work(i * 9U);
        assert_int_equal(mount(), NW_OK);
    }
}

/* The log ends just behind a chunk that runs into the page programmed last. */
static void tell_page_end(void)
{
    uint32_t written = 0;
    uint32_t before;

    make_objects();
    work(40);
    do {
        before = written;
        written = 0;
        work_once();
        for (uint32_t page = 0; page < bed.geometry.blocks * bed.geometry.block_pages; page++) {
            written += nw_nand_page_programs(bed.nand, page) > 0;
        }
    } while (before == 0 || written == before);
}

static void tell_rounds(void)
{
    make_objects();
    for (unsigned i = 0; i < 40U; i++) {
        work(100);
        assert_true(nw_store_idle(bed.store, 5) >= 0);
    }
}

static const struct story {
    const char *name;
    void (*tell)(void);
} stories[] = {
    {"freshly formatted", tell_nothing}, {"work", tell_work},
    {"a checkpoint", tell_checkpoint},   {"compacted", tell_compacted},
    {"mounts", tell_mounts},             {"rounds", tell_rounds},
    {"a page's end", tell_page_end},
};
#define STORIES (sizeof stories / sizeof *stories)

static void open_bed(const struct shape *shape, const struct story *story)
{
    struct nw_part part;

    memset(&bed, 0, sizeof bed);
    bed.shape = shape;
    bed.config = shape->config;
    bed.chunk_head = shape->sealed ? 26U : 14U;
    bed.block_head = shape->sealed ? 40U : 24U;
    open_seal();
    bed.story = story->name;
    nw_random_seed(&bed.random, 7);
    assert_true(nw_parts_get(shape->part, &part) >= 0);
    part.blocks = shape->blocks;
    part.block_pages = shape->block_pages;
    part.factory_bad = 0;
    if (shape->erased_zero) {
        part.page_bytes = shape->page_bytes;
        part.program_bytes = shape->page_bytes;
        part.erased = 0;
    }
    struct nw_nand_config config = {.part = &part, .seed = 3};
    assert_int_equal(nw_nand_open(&bed.nand, &config), NW_OK);
    bed.geometry = nw_nand_chip(bed.nand)->geometry;
    assert_int_equal(nw_store_format(&bed.store, nw_nand_chip(bed.nand), &bed.config, bed.ram,
                                     sizeof bed.ram),
                     NW_OK);
    bed.now.tail[ARRAY] = specs[ARRAY].count;
    story->tell();
}

static void close_bed(void)
{
    free(bed.map);
    free(bed.image);
    nw_nand_close(bed.nand);
}

/* What lies where */

static uint32_t pages(void)
{
    return bed.geometry.blocks * bed.geometry.block_pages;
}

static int is_chunk(const uint8_t *bytes)
{
    return (bytes[0] & 15U) >= 1U && (bytes[0] & 15U) <= 5U &&
           bytes[9] == (nw_crc16(NW_CRC16_START, bytes, 9) & 0xFFU);
}

/* The chunk at a place of the image is put on the map; answers its end. */
static uint32_t map_chunk(uint32_t at, uint32_t last)
{
    static const uint8_t whats[] = {NOTHING, DATA, NODE, STATE, ANCHOR, DATA};
    const uint8_t *bytes = bed.image + at;
    uint32_t end = at + bed.chunk_head + nw_get16(bytes + 3);
    struct place place = {.what = whats[bytes[0] & 15U], .slot = bytes[1]};

    place.key = nw_get32(bytes + 5);
    place.last = at / bed.geometry.page_bytes <= last &&
                 (end - 1U) / bed.geometry.page_bytes >= last;
    for (uint32_t i = at; i < end; i++) {
        bed.map[i] = place;
        bed.map[i].what = i - at < MENDED_CHUNK                           ? HEAD
                          : place.what == ANCHOR && bed.shape->sealed ? SEALED
                                                                       : place.what;
    }
    return end;
}

static void map_block(uint32_t start, uint32_t last)
{
    uint32_t page = bed.geometry.page_bytes;
    uint32_t end = start + bed.geometry.block_pages * page;
    uint32_t unit = bed.geometry.program_bytes;
    uint32_t at = start + bed.block_head;

    for (uint32_t i = start; i < at; i++) {
        bed.map[i].what = HEAD;
    }
    while (at < end) {
        uint32_t left = page - (at - start) % page;
        if (left >= bed.chunk_head && is_chunk(bed.image + at)) {
            at = map_chunk(at, last);
        } else {
            uint32_t gap = (unit - (page - left) % unit) % unit;
            at += left >= bed.chunk_head && gap != 0 && gap < left ? gap : left;
        }
    }
}

static void make_map(void)
{
    uint32_t page = bed.geometry.page_bytes;
    uint32_t block_bytes = page * bed.geometry.block_pages;
    uint32_t newest = 0;
    uint32_t highest = 0;

    bed.image = calloc(pages(), page);
    bed.map = calloc((size_t)pages() * page, sizeof *bed.map);
    assert_non_null(bed.image);
    assert_non_null(bed.map);
    for (uint32_t i = 0; i < pages(); i++) {
        nw_nand_peek(bed.nand, i, bed.image + i * page, NULL);
    }
    for (uint32_t at = 0; at < pages() * page; at += block_bytes) {
        if (bed.image[at] == 'N' && nw_get32(bed.image + at + 4) > highest) {
            highest = nw_get32(bed.image + at + 4);
            newest = at / page;
        }
    }
    uint32_t last = newest + bed.geometry.block_pages - 1U;
    while (nw_nand_page_programs(bed.nand, last) == 0) {
        last--;
    }
    for (uint32_t at = 0; at < pages() * page; at += block_bytes) {
        if (bed.image[at] == 'N') {
            map_block(at, last);
        }
    }
}

/* Judgement */

/* Is the bit put right wherever it is met? */
static int is_mended(void)
{
    uint8_t what = bed.hit->what;

    return bed.shape->sealed ? what <= HEAD : what != DATA;
}

/* May this element be missing, or be another than it was? Then `lost` or the read tell. */
static int may_differ(unsigned object, uint32_t key)
{
    const struct place *hit = bed.hit;

    if (hit->what == SEALED) {
        return 1;
    }
    if (is_mended() || (!hit->last && hit->slot != object)) {
        return 0;
    }
    return hit->last || hit->what == STATE || hit->what == NODE ||
           (hit->key == key && hit->what == DATA);
}

/* Every key of every object. */
static void see(struct sight sight[OBJECTS][KEYS])
{
    for (unsigned object = 0; object < OBJECTS; object++) {
        for (uint32_t i = 0; i < KEYS; i++) {
            uint32_t key = bed.now.head[object] / KEYS * KEYS + i; /* a window that slides */
            key += i < bed.now.head[object] % KEYS ? KEYS : 0;
            int far = key > bed.now.tail[object] + 2U;
            sight[object][i].there = far ? 0 : look(object, key);
        }
    }
}

static void judge(struct sight sight[OBJECTS][KEYS], uint32_t lost)
{
    for (unsigned object = 0; object < OBJECTS; object++) {
        for (uint32_t i = 0; i < KEYS; i++) {
            uint32_t key = bed.now.head[object] / KEYS * KEYS + i;
            key += i < bed.now.head[object] % KEYS ? KEYS : 0;
            int there = sight[object][i].there;

            if (there == bed.now.token[object][i]) {
                continue;
            }
            if (!may_differ(object, key)) {
                char why[80];
                (void)snprintf(why, sizeof why, "%s %u is %d, not %u; lost %u", names[object],
                               (unsigned)key, there, bed.now.token[object][i], (unsigned)lost);
                expect(0, why);
            }
            expect(there == NW_ERR_CORRUPT || there == NW_ERR_TAMPERED || lost > 0 ||
                       bed.hit->last || bed.hit->what == SEALED,
                   "nothing tells");
        }
    }
    expect(!is_mended() || lost == 0, "lost without a loss");
}

static int has_objects(void)
{
    return nw_store_find(bed.store, names[0]) > 0;
}

/* Names are as they were made. */
static void check_names(int made)
{
    for (unsigned object = 0; object < OBJECTS; object++) {
        expect((handle_of(object) > 0) == made, "an object");
    }
    expect(nw_store_find(bed.store, "gone") == NW_ERR_NOT_FOUND, "an object is there again");
    expect(nw_store_find(bed.store, "new") == NW_ERR_NOT_FOUND, "a name is there again");
}

/* An element more in each object; damage of a node may forbid it. */
static void go_on(int made)
{
    for (unsigned object = 0; made && object < OBJECTS; object++) {
        uint32_t key = object == BLOCKS ? 0 : 1;
        int result = put(object, key, 77);
        expect(result == NW_OK || (bed.hit->what == NODE && result == NW_ERR_TAMPERED),
               "no more can be written");
    }
    int other = nw_store_create(bed.store, "other", &specs[0]);
    expect(other > 0 && nw_store_delete(bed.store, other) == NW_OK, "no more can be created");
    expect(nw_store_sync(bed.store) == NW_OK, "no sync");
}

/* What was there before work went on is there after another mount. While the store is mounted RAM
 * may know what the chip has lost. */
static void compare(struct sight first[OBJECTS][KEYS], struct sight second[OBJECTS][KEYS])
{
    for (unsigned object = 0; object < OBJECTS; object++) {
        uint32_t written = object == BLOCKS ? 0 : 1; /* by go_on() */

        for (uint32_t i = 0; i < KEYS; i++) {
            int same = first[object][i].there == second[object][i].there;
            int is_new = object >= ARRAY ? i == written : first[object][i].there == 0;
            uint32_t key = bed.now.head[object] / KEYS * KEYS + i;
            key += i < bed.now.head[object] % KEYS ? KEYS : 0;
            expect(same || is_new || (bed.mounted && may_differ(object, key)),
                   "the next mount shows something else");
        }
    }
}

/* Two mounts show the same, and work goes on between them. */
static void try_store(int made)
{
    static struct sight first[OBJECTS][KEYS];
    static struct sight second[OBJECTS][KEYS];

    check_names(made);
    if (made) {
        uint32_t lost = nw_store_stats(bed.store)->lost;
        see(first);
        judge(first, lost);
    }
    go_on(made);
    expect(mount() == NW_OK, "the next mount");
    check_names(made);
    if (made) {
        see(second);
    }
    if (made) {
        compare(first, second);
    }
    expect(nw_nand_misuse(bed.nand)->error == 0, "misuse");
}

/* Flips */

static int is_soak(void)
{
    return getenv("NW_SOAK") != NULL;
}

/* One flip that is tried: of a byte's bits all that matter, or one. Of blank bytes those behind a
 * chunk, where a header is looked for. */
static int is_chosen(uint32_t at, uint32_t bit)
{
    uint8_t what = bed.map[at].what;
    int behind = at % bed.geometry.page_bytes > 0 && bed.map[at - 1U].what != NOTHING;

    if (bed.image[at] == bed.geometry.erased && (what != NOTHING || !behind)) {
        return 0;
    }
    return is_soak() || what <= HEAD || bit == at % 8U;
}

static uint32_t count_flips(void)
{
    uint32_t flips = 0;

    for (uint32_t bit = 0; bit < pages() * bed.geometry.page_bytes * 8U; bit++) {
        flips += is_chosen(bit / 8U, bit % 8U) ? 1U : 0U;
    }
    return flips;
}

/* An image to which each flip comes back. */
struct kept {
    struct nw_nand *nand;
    uint64_t ram[sizeof bed.ram / 8U];
    int made; /* it has objects */
};

static void try_flip(const struct kept *kept, uint32_t page, uint32_t bit, const struct place *hit)
{
    static struct sight sight[OBJECTS][KEYS];

    bed.page = page;
    bed.bit = bit;
    bed.hit = hit;
    bed.kinds[hit->what]++;
    for (bed.mounted = 0; bed.mounted < 2; bed.mounted++) {
        assert_int_equal(nw_nand_assign(bed.nand, kept->nand), NW_OK);
        nw_nand_flip(bed.nand, page, bit);
        if (hit->what == SEALED) {
            if (mount() == NW_OK && has_objects()) { /* refused, or as it was before */
                see(sight);
            }
            expect(nw_nand_misuse(bed.nand)->error == 0, "misuse");
            break;
        }
        if (bed.mounted) {
            open_seal();
            memcpy(bed.ram, kept->ram, sizeof bed.ram);
        } else {
            expect(mount() == NW_OK, "the mount");
        }
        try_store(kept->made);
    }
}

static void try_image(const struct shape *shape, const struct story *story)
{
    static struct kept kept;
    uint32_t page_bits;
    uint32_t number = 0;

    open_bed(shape, story);
    make_map();
    page_bits = bed.geometry.page_bytes * 8U;
    kept.made = has_objects();
    uint32_t flips = count_flips();
    uint32_t most = is_soak() ? SOAK : FLIPS;
    uint32_t step = flips / (shape->sealed ? most / 4U : most) + 1U; /* hashes take their time */
    memcpy(kept.ram, bed.ram, sizeof kept.ram);
    assert_int_equal(nw_nand_fork(&kept.nand, bed.nand), NW_OK);
    for (uint32_t bit = 0; bit < pages() * page_bits; bit++) {
        if (is_chosen(bit / 8U, bit % 8U) && number++ % step == 0) {
            try_flip(&kept, bit / page_bits, bit % page_bits, &bed.map[bit / 8U]);
        }
    }
    print_message("%s, %s: of %u flips 1 in %u: %u in headers, %u in anchors, %u in data, "
                  "%u in nodes, %u in states\n",
                  shape->part, story->name, (unsigned)flips, (unsigned)step,
                  (unsigned)bed.kinds[HEAD], (unsigned)bed.kinds[ANCHOR],
                  (unsigned)bed.kinds[DATA], (unsigned)bed.kinds[NODE],
                  (unsigned)bed.kinds[STATE]);
    nw_nand_close(kept.nand);
    close_bed();
}

static void try_shape(unsigned number)
{
    for (unsigned story = 0; story < STORIES; story++) {
        try_image(&shapes[number], &stories[story]);
    }
}

static void test_nor(void **state)
{
    (void)state;
    try_shape(0);
}

static void test_small_pages(void **state)
{
    (void)state;
    try_shape(1);
}

static void test_large_pages(void **state)
{
    (void)state;
    try_shape(2);
}

static void test_dataflash(void **state)
{
    (void)state;
    try_shape(3);
}

static void test_sealed(void **state)
{
    (void)state;
    try_shape(5);
    try_shape(6);
}

static void test_erased_zero(void **state)
{
    (void)state;
    try_shape(4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nor),
        cmocka_unit_test(test_small_pages),
        cmocka_unit_test(test_large_pages),
        cmocka_unit_test(test_dataflash),
        cmocka_unit_test(test_erased_zero),
        cmocka_unit_test(test_sealed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
