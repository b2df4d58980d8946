/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a call that is durable when it returns is durable though a block fails while its anchor is
 * written, in whichever of the anchor's pages and wherever these begin.
 *
 * An anchor is summed up first and written then. It tells, too, which blocks have failed and how
 * many are good; when one failed between the two, it told something else than its checksum was of.
 * The call had answered NW_OK, and the next mount did not find it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nandwich-seal/seal_sodium.h"
#include "store_forge.h"

#define MOST_PROGRAMS 8U /* of a call that writes an anchor */

static struct forge bed;
static struct forge before;
static struct nw_seal_sodium sealing;

static void new_store(uint8_t chip, int sealed)
{
    static const uint8_t key[NW_SEAL_KEY_BYTES] = "a key of thirty-two bytes, no mo";

    forge_open(&bed, chip);
    if (sealed) {
        nw_seal_sodium_open(&sealing, key);
        bed.config.seal = &sealing.seal;
    }
    assert_int_equal(forge_format(&bed), NW_OK);
    assert_int_equal(nw_store_delete(bed.store, nw_store_find(bed.store, "e")), NW_OK);
}

static void fail_each(uint8_t chip, int sealed, uint16_t bytes)
{
    static const struct nw_store_spec spec = {.type = NW_STORE_QUEUE};
    static const uint8_t data[FORGE_PAGE_BYTES];

    new_store(chip, sealed);
    for (uint16_t left = bytes; left > 0;) {
        uint16_t part = left < sizeof data ? left : (uint16_t)sizeof data;
        assert_int_equal(nw_store_push(bed.store, nw_store_find(bed.store, "q"), data, part),
                         NW_OK);
        left = (uint16_t)(left - part);
    }
    before = bed;
    for (uint32_t at = 1; at <= MOST_PROGRAMS; at++) {
        bed = before;
        bed.fail_at = at;
        assert_true(nw_store_create(bed.store, "NEW", &spec) > 0);
        bed.fail_at = 0;
        int result = forge_mount(&bed);
        if (result != NW_OK || nw_store_find(bed.store, "NEW") <= 0 ||
            nw_store_stats(bed.store)->lost > 0) {
            fail_msg("chip %u sealed %d: %u bytes before, program %u: %s, lost %u", chip, sealed,
                     bytes, (unsigned)at, nw_error_text(result),
                     (unsigned)nw_store_stats(bed.store)->lost);
        }
    }
}

static void fail_all(int sealed)
{
    for (uint8_t chip = 0; chip < 3U; chip++) {
        for (uint16_t bytes = 1; bytes <= 10U * FORGE_PAGE_BYTES; bytes++) {
            fail_each(chip, sealed, bytes);
        }
    }
}

static void test_blocks_fail(void **state)
{
    (void)state;
    fail_all(0);
}

static void test_blocks_fail_sealed(void **state)
{
    (void)state;
    fail_all(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks_fail),
                                       cmocka_unit_test(test_blocks_fail_sealed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
