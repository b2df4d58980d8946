/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the SD card and the byte-addressable memory keep the block and nvm contracts, cost what
 * their parts say, and leave after a power cut what they may; platforms bill energy exactly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/nvm.h"
#include "nandwich-twin/parts.h"
#include "nandwich-twin/platform.h"
#include "nandwich-twin/sdcard.h"

struct card_rig {
    struct nw_sdcard *card;
    struct nw_block_req req;
    uint8_t data[16 * 512];
};

static void open_card(struct card_rig *rig, uint32_t flags)
{
    struct nw_part part;
    struct nw_sdcard_config config = { .part = &part, .seed = 5, .flags = flags };

    memset(rig, 0, sizeof *rig);
    assert_int_equal(nw_parts_get("sandisk-sd-128m", &part), NW_OK);
    assert_int_equal(nw_sdcard_open(&rig->card, &config), NW_OK);
    rig->req.block = nw_sdcard_block(rig->card);
    rig->req.data = rig->data;
    rig->req.count = 1;
}

static uint64_t lap(struct card_rig *rig)
{
    uint64_t ns = nw_sdcard_meter(rig->card)->time_ns;

    nw_sdcard_meter(rig->card)->time_ns = 0;
    return ns;
}

static int write_at(struct card_rig *rig, uint32_t at, uint8_t fill)
{
    rig->req.sector = at;
    memset(rig->data, fill, sizeof rig->data);
    return nw_block_write(&rig->req);
}

static int read_at(struct card_rig *rig, uint32_t at)
{
    rig->req.sector = at;
    return nw_block_read(&rig->req);
}

static void card_keeps_what_is_written(void **state)
{
    struct card_rig rig;

    (void)state;
    open_card(&rig, 0);
    assert_int_equal(rig.req.block->sectors, 262144);
    assert_int_equal(rig.req.block->sector_bytes, 512);
    memset(rig.data, 0xEE, sizeof rig.data);
    assert_int_equal(read_at(&rig, 1000), NW_OK);
    assert_int_equal(rig.data[511], 0); /* never written reads as zeros */
    assert_int_equal(write_at(&rig, 262143, 0x42), NW_OK);
    assert_int_equal(write_at(&rig, 262144, 0x42), NW_ERR_RANGE);
    memset(rig.data, 0, sizeof rig.data);
    assert_int_equal(read_at(&rig, 262143), NW_OK);
    assert_int_equal(rig.data[511], 0x42);
    assert_int_equal(nw_block_trim(&rig.req), NW_OK);
    assert_int_equal(read_at(&rig, 262143), NW_OK);
    assert_int_equal(rig.data[0], 0);
    assert_int_equal(nw_block_sync(&rig.req), NW_OK);
    rig.req.data = NULL;
    assert_int_equal(nw_block_read(&rig.req), NW_ERR_UNSUPPORTED);
    nw_sdcard_close(rig.card);
    open_card(&rig, NW_SDCARD_NO_PAYLOAD);
    rig.req.data = NULL;
    assert_int_equal(nw_block_write(&rig.req), NW_OK);
    assert_int_equal(nw_block_read(&rig.req), NW_OK);
    nw_sdcard_close(rig.card);
}

/* RG-EDF's measurements: 9 ms a block, 60 to 140 ms into a new sector, 11 to 15 ms to read. */
static void card_costs(void **state)
{
    struct card_rig rig;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    uint64_t pj;

    (void)state;
    open_card(&rig, 0);
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t ns;

        assert_int_equal(write_at(&rig, 256 * i, 1), NW_OK);
        ns = lap(&rig);
        least = ns < least ? ns : least;
        most = ns > most ? ns : most;
        assert_int_equal(write_at(&rig, 256 * i + 255, 1), NW_OK);
        pj = nw_sdcard_meter(rig.card)->energy_pj;
        assert_int_equal(lap(&rig), 9000000);
        assert_int_equal(write_at(&rig, 256 * i + 3, 1), NW_OK); /* the same sector */
        assert_int_equal(lap(&rig), 9000000);
        assert_int_equal(nw_sdcard_meter(rig.card)->energy_pj - pj, 2227500000U);
        assert_int_equal(nw_sdcard_open_sector(rig.card), i);
    }
    assert_in_range(least, 60000000, 63000000);
    assert_in_range(most, 137000000, 140000000);
    assert_int_equal(nw_sdcard_opens(rig.card), 300);
    least = UINT64_MAX;
    most = 0;
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t ns;

        assert_int_equal(read_at(&rig, i), NW_OK);
        ns = lap(&rig);
        least = ns < least ? ns : least;
        most = ns > most ? ns : most;
    }
    assert_in_range(least, 11000000, 11200000);
    assert_in_range(most, 14800000, 15000000);
    nw_sdcard_close(rig.card);

    open_card(&rig, NW_SDCARD_NODE_COSTS); /* 13 ms with the data fetched, 4 ms more to open */
    assert_int_equal(write_at(&rig, 0, 1), NW_OK);
    assert_in_range(lap(&rig), 64000000, 144000000);
    assert_int_equal(write_at(&rig, 1, 1), NW_OK);
    assert_int_equal(lap(&rig), 13000000);
    assert_int_equal(rig.req.block->stats->host_writes, 2);
    nw_sdcard_close(rig.card);
}

static void slow_writes_cost_more_energy(void **state)
{
    struct card_rig rig;
    uint64_t ns;

    (void)state;
    open_card(&rig, 0);
    assert_int_equal(write_at(&rig, 0, 1), NW_OK);
    ns = nw_sdcard_meter(rig.card)->time_ns; /* 247.5 mW, so 247.5 pJ a ns */
    assert_in_range(nw_sdcard_meter(rig.card)->energy_pj, ns * 2475 / 10 - 1, ns * 2475 / 10);
    nw_sdcard_close(rig.card);
}

static void card_cut(void **state)
{
    struct card_rig rig;

    (void)state;
    open_card(&rig, 0);
    rig.req.count = 16;
    assert_int_equal(write_at(&rig, 0, 0x11), NW_OK);
    nw_sdcard_cut(rig.card, 1, 5);
    assert_int_equal(read_at(&rig, 0), NW_OK);
    assert_int_equal(write_at(&rig, 0, 0x22), NW_ERR_POWER);
    assert_int_equal(rig.req.done, 5);
    assert_int_equal(read_at(&rig, 0), NW_ERR_POWER);
    assert_int_equal(nw_block_sync(&rig.req), NW_ERR_POWER);
    nw_sdcard_power_up(rig.card);
    assert_int_equal(read_at(&rig, 0), NW_OK);
    for (uint32_t i = 0; i < 16 * 512; i++) {
        assert_int_equal(rig.data[i], i < 5 * 512 ? 0x22 : 0x11);
    }
    nw_sdcard_close(rig.card);
}

static void open_memory(struct nw_nvm_twin **twin, const char *name)
{
    struct nw_part part;
    struct nw_nvm_twin_config config = { .part = &part, .seed = 3 };

    assert_int_equal(nw_parts_get(name, &part), NW_OK);
    assert_int_equal(nw_nvm_twin_open(twin, &config), NW_OK);
}

static void memory_costs_by_line_and_byte(void **state)
{
    struct nw_nvm_twin *twin;
    struct nw_nvm_req req;
    uint8_t data[300];

    (void)state;
    open_memory(&twin, "PCM-16M-1US");
    req.nvm = nw_nvm_twin_nvm(twin);
    req.data = data;
    req.address = 60;
    req.length = 8; /* two lines of 64 B */
    memset(data, 7, sizeof data);
    assert_int_equal(nw_nvm_write(&req), NW_OK);
    assert_int_equal(nw_nvm_twin_meter(twin)->time_ns, 2000);
    assert_int_equal(nw_nvm_twin_meter(twin)->energy_pj, 8 * 6000);
    req.address = 0;
    req.length = 300; /* five lines */
    assert_int_equal(nw_nvm_read(&req), NW_OK);
    assert_int_equal(nw_nvm_twin_meter(twin)->time_ns, 2250);
    assert_int_equal(nw_nvm_twin_meter(twin)->energy_pj, 8 * 6000 + 300 * 1000);
    assert_int_equal(data[59], 0);
    assert_int_equal(data[60], 7);
    assert_int_equal(data[67], 7);
    assert_int_equal(data[68], 0);
    assert_int_equal(nw_nvm_twin_line_writes(twin, 0), 1);
    assert_int_equal(nw_nvm_twin_line_writes(twin, 1), 1);
    assert_int_equal(nw_nvm_twin_line_writes(twin, 2), 0);
    assert_int_equal(nw_nvm_twin_stats(twin)->lines_read, 5);
    assert_int_equal(nw_nvm_twin_stats(twin)->bytes_written, 8);
    req.address = 16U << 20;
    req.length = 1;
    assert_int_equal(nw_nvm_read(&req), NW_ERR_RANGE);
    nw_nvm_twin_close(twin);
}

static void memory_tears_between_units_only(void **state)
{
    uint32_t old_units = 0;

    (void)state;
    for (uint32_t seed = 1; seed < 40; seed++) {
        struct nw_part part;
        struct nw_nvm_twin_config config = { .part = &part, .bytes = 4096, .seed = seed };
        struct nw_nvm_twin *twin;
        struct nw_nvm_req req;
        uint8_t data[128];

        assert_int_equal(nw_parts_get("PCM-16M", &part), NW_OK);
        assert_int_equal(nw_nvm_twin_open(&twin, &config), NW_OK);
        req.nvm = nw_nvm_twin_nvm(twin);
        req.data = data;
        req.address = 4;
        req.length = 100;
        memset(data, 0xFF, sizeof data);
        nw_nvm_twin_cut(twin, 0);
        assert_int_equal(nw_nvm_write(&req), NW_ERR_POWER);
        assert_int_equal(nw_nvm_read(&req), NW_ERR_POWER);
        nw_nvm_twin_power_up(twin);
        req.address = 0;
        req.length = 128;
        assert_int_equal(nw_nvm_read(&req), NW_OK);
        for (uint32_t i = 0; i < 128; i++) {
            uint8_t unit = data[i / 8 * 8 == 0 ? 4 : i / 8 * 8];

            assert_int_equal(data[i], i < 4 || i >= 104 ? 0 : unit);
        }
        old_units += data[16] == 0;
        nw_nvm_twin_close(twin);
    }
    assert_in_range(old_units, 8, 32);
}

static void wrong_kinds_are_refused(void **state)
{
    struct nw_part part;
    struct nw_nvm_twin_config memory = { .part = &part };
    struct nw_sdcard_config card = { .part = &part, .flags = NW_SDCARD_NODE_COSTS };
    struct nw_nvm_twin *twin;
    struct nw_sdcard *sd;

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    assert_int_equal(nw_nvm_twin_open(&twin, &memory), NW_ERR_CONFIG);
    assert_int_equal(nw_sdcard_open(&sd, &card), NW_ERR_CONFIG);
    assert_int_equal(nw_parts_get("MICROSD-8G", &part), NW_OK); /* has no costs with processor */
    assert_int_equal(nw_sdcard_open(&sd, &card), NW_ERR_CONFIG);
    assert_null(twin);
    assert_null(sd);
}

static void platforms(void **state)
{
    struct nw_platform platform;

    (void)state;
    assert_true(nw_platforms_count() >= 6);
    for (uint32_t i = 0; i < nw_platforms_count(); i++) {
        const struct nw_part_entry *entry = nw_platforms_at(i);

        assert_string_equal(entry->rows[0].key, "name");
        assert_int_equal(nw_platforms_get(entry->rows[0].value, &platform), NW_OK);
        assert_true(platform.supply_mv > 0 && platform.sleep_na > 0);
    }
    assert_int_equal(nw_platforms_get("telosb", &platform), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_platforms_get("mica2", &platform), NW_OK);
    assert_int_equal(platform.clock_hz, 7372800);
    /* 3 V x 12 mA for 1.5 s, and for an hour; then 10 uA for a nanosecond. */
    assert_int_equal(nw_platform_pj(&platform, platform.active_na, 1500000000), 54000000000U);
    assert_int_equal(nw_platform_pj(&platform, platform.active_na, 3600000000000U),
                     129600000000000U);
    assert_int_equal(nw_platform_pj(&platform, platform.sleep_na, 1000000), 30000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(card_keeps_what_is_written),
        cmocka_unit_test(card_costs),
        cmocka_unit_test(slow_writes_cost_more_energy),
        cmocka_unit_test(card_cut),
        cmocka_unit_test(memory_costs_by_line_and_byte),
        cmocka_unit_test(memory_tears_between_units_only),
        cmocka_unit_test(wrong_kinds_are_refused),
        cmocka_unit_test(platforms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
