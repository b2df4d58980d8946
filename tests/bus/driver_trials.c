/* SPDX-License-Identifier: Apache-2.0 */
/* Layers and the store over a driver, with cuts at bus bytes. */
#include "driver_trials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/store.h"

#define PLACES 48U   /* sectors, or keys of an array, that the work goes to */
#define RUN 3U       /* sectors a call */
#define VALUE_BYTES 64U

/* A place may read as any version from `sure` to `last`; 0: never written. */
struct place {
    uint32_t sure;
    uint32_t last;
};

struct subject {
    struct driver_trial *trial;
    const struct nw_layer_kind *kind;
    struct nw_layer_config config;
    struct nw_layer_site site;
    struct nw_block *block;
    struct nw_store *store;
    int array;
    struct place places[PLACES];
    uint32_t version;
    uint32_t bytes; /* of a place */
    uint32_t cuts;
    uint8_t *data;
    struct nw_random random;
};

static void *need(size_t bytes)
{
    void *memory = calloc(1, bytes);

    assert_non_null(memory);
    return memory;
}

static void stop(struct subject *subject, const char *what, int result)
{
    fail_msg("seed %u after %u cuts: %s: %s (%s)", (unsigned)subject->trial->seed,
             (unsigned)subject->cuts, what, nw_error_text(result),
             subject->trial->bus->violations != 0 ? subject->trial->bus->why : "no violation");
}

/* All words of a version differ from those of any other place and version. */
static void fill(uint8_t *data, uint32_t bytes, uint32_t place, uint32_t version)
{
    for (uint32_t i = 0; i + 4U <= bytes; i += 4U) {
        uint32_t word = version == 0 ? 0 : (version << 8 | place) ^ (i * 2654435761U);

        memcpy(data + i, &word, 4);
    }
}

/* The version a place was read as; -1: none that it may be. */
static int64_t version_of(const struct subject *subject, uint32_t place, const uint8_t *data)
{
    uint8_t expected[8192];
    uint32_t word;

    memcpy(&word, data, 4);
    word >>= 8;
    fill(expected, subject->bytes, place, word);
    if (word < subject->places[place].sure || word > subject->places[place].last ||
        memcmp(expected, data, subject->bytes) != 0) {
        return -1;
    }
    return word;
}

static int read_place(struct subject *subject, uint32_t place)
{
    struct nw_block_req req = {.block = subject->block, .sector = place, .count = 1,
                               .data = subject->data};
    int result;

    if (subject->store == NULL) {
        return nw_block_read(&req);
    }
    memset(subject->data, 0, subject->bytes);
    result = nw_store_get(subject->store, subject->array, place, subject->data);
    return result == NW_ERR_NOT_FOUND ? (int)NW_OK : result;
}

static int sync_all(struct subject *subject)
{
    struct nw_block_req req = {.block = subject->block};
    int result = subject->store != NULL ? nw_store_sync(subject->store) : nw_block_sync(&req);

    for (uint32_t i = 0; result >= 0 && i < PLACES; i++) {
        subject->places[i].sure = subject->places[i].last;
    }
    return result;
}

static int write_places(struct subject *subject, uint32_t place, uint32_t count)
{
    struct nw_block_req req = {.block = subject->block, .sector = place, .count = count,
                               .data = subject->data};

    for (uint32_t i = 0; i < count; i++) {
        subject->places[place + i].last = ++subject->version;
        fill(subject->data + (size_t)i * subject->bytes, subject->bytes, place + i,
             subject->version);
    }
    if (subject->store == NULL) {
        return nw_block_write(&req);
    }
    return nw_store_set(subject->store, subject->array, place, subject->data);
}

/* Some work; what the first call answered that did not go well. */
static int step(struct subject *subject)
{
    uint32_t what = nw_random_below(&subject->random, 16);
    uint32_t place = nw_random_below(&subject->random, PLACES - RUN);
    int result;

    if (what < 11U) {
        uint32_t count = subject->store != NULL ? 1 : 1U + nw_random_below(&subject->random, RUN);

        return write_places(subject, place, count);
    }
    if (what < 14U) {
        return sync_all(subject);
    }
    result = read_place(subject, place);
    if (result >= 0 && version_of(subject, place, subject->data) != subject->places[place].last) {
        stop(subject, "a place reads as what was not written last", (int)place);
    }
    return result;
}

static void check_all(struct subject *subject)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        int result = read_place(subject, i);
        int64_t version;

        if (result < 0) {
            stop(subject, "a read behind a mount", result);
        }
        version = version_of(subject, i, subject->data);
        if (version < 0) {
            (void)fprintf(stderr, "place %u, versions %u to %u\n", (unsigned)i,
                          (unsigned)subject->places[i].sure, (unsigned)subject->places[i].last);
            stop(subject, "a place reads as what it must not", (int)i);
        }
        subject->places[i].sure = (uint32_t)version;
        subject->places[i].last = (uint32_t)version;
    }
}

static int mount_store(struct subject *subject, int format)
{
    struct nw_store_config config = {.objects = 2, .anchor_bytes = 4096};
    struct nw_store_spec spec = {.type = NW_STORE_ARRAY, .unit_bytes = VALUE_BYTES,
                                 .count = PLACES};
    int result;

    memset(subject->site.ram, 0xC3, subject->site.ram_bytes);
    if (format == 0) {
        result = nw_store_mount(&subject->store, subject->trial->chip, &config, subject->site.ram,
                                subject->site.ram_bytes);
        subject->array = result < 0 ? 0 : nw_store_find(subject->store, "a");
        return result < 0 ? result : subject->array < 0 ? subject->array : (int)NW_OK;
    }
    result = nw_store_format(&subject->store, subject->trial->chip, &config, subject->site.ram,
                             subject->site.ram_bytes);
    subject->array = result < 0 ? 0 : nw_store_create(subject->store, "a", &spec);
    return result < 0 ? result : subject->array < 0 ? subject->array : (int)NW_OK;
}

static int mount(struct subject *subject)
{
    if (subject->store != NULL) {
        return mount_store(subject, 0);
    }
    if (subject->kind == NULL) {
        subject->block = subject->trial->block;
        return NW_OK;
    }
    memset(subject->site.ram, 0xC3, subject->site.ram_bytes);
    return subject->kind->mount(&subject->site, &subject->block);
}

/* Power comes back, now and then to go again before all is mounted. */
static void come_back(struct subject *subject)
{
    struct driver_trial *trial = subject->trial;

    for (;;) {
        int result = trial->power_up(trial);

        if (result < 0) {
            stop(subject, "the driver's open", result);
        }
        if (subject->cuts < trial->cuts && nw_random_below(&subject->random, 4) == 0) {
            trial->bus->cut_at =
                trial->bus->bytes + nw_random_below(&subject->random, trial->cut_bytes);
        }
        result = mount(subject);
        if (result >= 0 && !trial->bus->off) {
            trial->bus->cut_at = BUS_NEVER;
            return;
        }
        if (!trial->bus->off) {
            stop(subject, "a mount", result);
        }
        subject->cuts++;
    }
}

static void cut_and_check(struct subject *subject)
{
    struct driver_trial *trial = subject->trial;

    nw_random_seed(&subject->random, trial->seed);
    while (subject->cuts < trial->cuts) {
        int result = NW_OK;

        trial->bus->cut_at = trial->bus->bytes + 1U +
                             (nw_random_next(&subject->random) >> 8) % trial->cut_bytes;
        while (result >= 0) {
            result = step(subject);
        }
        if (result != NW_ERR_POWER) {
            stop(subject, "work", result);
        }
        subject->cuts++;
        come_back(subject);
        check_all(subject);
        if (trial->bus->violations != 0) {
            stop(subject, "the bus", NW_OK);
        }
    }
}

static void begin(struct subject *subject, struct driver_trial *trial)
{
    const char *seed = getenv("NW_SEED");

    memset(subject, 0, sizeof *subject);
    if (seed != NULL) {
        trial->seed = (uint32_t)strtoul(seed, NULL, 0);
    }
    subject->trial = trial;
    subject->site.chip = trial->chip;
    subject->site.chip_name = "a driver's";
    subject->site.config = &subject->config;
}

void driver_trial_layer(struct driver_trial *trial, const struct nw_layer_kind *kind)
{
    struct subject subject;

    begin(&subject, trial);
    subject.kind = kind;
    subject.block = trial->block;
    if (kind != NULL) {
        subject.config.spare_blocks = 12;
        subject.site.state = need(kind->state_bytes);
        subject.site.ram_bytes = kind->ram_bytes(&subject.site);
        assert_int_not_equal(subject.site.ram_bytes, 0);
        subject.site.ram = need(subject.site.ram_bytes);
        assert_int_equal(kind->format(&subject.site, &subject.block), NW_OK);
    }
    subject.bytes = subject.block->sector_bytes;
    subject.data = need((size_t)RUN * subject.bytes);
    assert_true(subject.block->sectors >= PLACES);
    cut_and_check(&subject);
    free(subject.site.state);
    free(subject.site.ram);
    free(subject.data);
}

void driver_trial_store(struct driver_trial *trial)
{
    struct nw_store_config config = {.objects = 2, .anchor_bytes = 4096};
    struct subject subject;

    begin(&subject, trial);
    subject.bytes = VALUE_BYTES;
    subject.data = need(VALUE_BYTES);
    subject.site.ram_bytes = nw_store_ram_bytes(&config, &trial->chip->geometry);
    assert_int_not_equal(subject.site.ram_bytes, 0);
    subject.site.ram = need(subject.site.ram_bytes);
    assert_int_equal(mount_store(&subject, 1), NW_OK);
    cut_and_check(&subject);
    free(subject.site.ram);
    free(subject.data);
}
