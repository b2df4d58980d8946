/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "memory_chip.h"
#include "nandwich/ecc.h"
#include "nandwich/random.h"

#define LARGEST 512U

static const struct nw_geometry shape = {
    .blocks = 2,
    .block_pages = 4,
    .page_bytes = 2048,
    .spare_bytes = 62,
    .program_bytes = 512,
    .page_programs = 4,
    .erased = 0xFF,
};

static struct memory_chip memory;
static struct nw_ecc ecc;
static uint8_t ram[4096];
static struct nw_random dice;

static void fill(uint8_t *bytes, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(nw_random_next(&dice) >> 13);
    }
}

static void flip(uint8_t *data, uint16_t length, uint8_t *parity, uint32_t bit)
{
    uint8_t *bytes = bit < length * 8U ? data : parity - length;

    bytes[bit / 8] ^= (uint8_t)(1U << (bit % 8));
}

/* Every single flip of a code word is repaired; every double one (each, or a sample) is detected
 * and nothing touched. */
static void sweep_flips(uint16_t length, uint8_t erased, uint32_t doubles)
{
    uint8_t good[LARGEST];
    uint8_t data[LARGEST];
    uint8_t good_parity[3];
    uint8_t parity[3];
    struct nw_ecc_unit unit = {good, good_parity, length, erased};
    uint32_t bits = (uint32_t)(length + 3) * 8;
    uint32_t i;
    uint32_t k;

    fill(good, length);
    nw_ecc_secded.encode(&unit);
    unit.data = data;
    unit.parity = parity;
    memcpy(data, good, length);
    memcpy(parity, good_parity, 3);
    assert_int_equal(nw_ecc_secded.check(&unit), 0);
    for (i = 0; i < bits; i++) {
        memcpy(parity, good_parity, 3);
        flip(data, length, parity, i);
        assert_int_equal(nw_ecc_secded.check(&unit), 1);
        assert_memory_equal(data, good, length);
    }
    for (k = 0; k < doubles; k++) {
        uint32_t first = k / bits % bits;
        uint32_t second = k % bits;

        if (doubles < bits * bits) {
            first = nw_random_below(&dice, bits);
            second = nw_random_below(&dice, bits);
        }
        if (first == second) {
            continue;
        }
        memcpy(data, good, length);
        memcpy(parity, good_parity, 3);
        flip(data, length, parity, first);
        flip(data, length, parity, second);
        assert_int_equal(nw_ecc_secded.check(&unit), NW_ERR_ECC);
        flip(data, length, parity, first);
        flip(data, length, parity, second);
        assert_memory_equal(data, good, length);
        assert_memory_equal(parity, good_parity, 3);
    }
}

/* Goal: SECDED keeps its promise bit by bit, for every length class and both erased values. */
static void secded_repairs_one_and_detects_two(void **state)
{
    static const uint16_t small[] = {1, 2, 3, 4, 5, 6, 11, 16};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof small / sizeof small[0]; i++) {
        uint32_t bits = (small[i] + 3U) * 8U;

        sweep_flips(small[i], 0xFF, bits * bits);
        sweep_flips(small[i], 0x00, bits * bits);
    }
    sweep_flips(256, 0xFF, 200000);
    sweep_flips(512, 0x00, 200000);
    sweep_flips(511, 0xFF, 20000);
}

/* Goal: erased bytes with erased parity are a code word, so a blank page needs no special case. */
static void erased_is_a_code_word(void **state)
{
    uint8_t erased;

    (void)state;
    for (erased = 0;; erased = 0xFF) {
        uint8_t data[LARGEST];
        uint8_t parity[3];
        uint8_t blank[3] = {erased, erased, erased};
        struct nw_ecc_unit unit = {data, parity, LARGEST, erased};

        memset(data, erased, sizeof data);
        nw_ecc_secded.encode(&unit);
        assert_memory_equal(parity, blank, 3);
        if (erased == 0xFF) {
            break;
        }
    }
}

static void open_over(const struct nw_geometry *geometry, uint16_t unit_bytes, uint8_t parts)
{
    struct nw_ecc_config config = {.unit_bytes = unit_bytes, .parts = parts};
    size_t bytes = nw_ecc_ram_bytes(&config, geometry);

    memory_chip_open(&memory, geometry, 1, 1);
    assert_true(bytes > 0 && bytes <= sizeof ram);
    assert_int_equal(nw_ecc_open(&ecc, &memory.chip, &config, ram, bytes - 1), NW_ERR_RAM);
    assert_int_equal(nw_ecc_open(&ecc, &memory.chip, &config, ram, bytes), NW_OK);
}

/* Goal: the geometry seen above is the arithmetic the header tells. */
static void geometry_is_as_told(void **state)
{
    (void)state;
    open_over(&shape, 0, 0);
    assert_int_equal(ecc.chip.geometry.spare_bytes, 24);
    assert_int_equal(ecc.chip.geometry.program_bytes, 512);
    assert_int_equal(ecc.chip.geometry.page_programs, 4);
    assert_int_equal(ecc.chip.geometry.buffers, 0);
    assert_null(ecc.chip.ops->copy);
    open_over(&shape, 512, 1);
    assert_int_equal(ecc.chip.geometry.spare_bytes, 62 - 4 * 3 - 3);
    assert_int_equal(ecc.chip.geometry.program_bytes, 2048);
    assert_int_equal(ecc.chip.geometry.page_programs, 1);
}

static int open_answer(struct nw_geometry geometry, uint16_t unit_bytes, uint8_t parts)
{
    struct nw_ecc_config config = {.unit_bytes = unit_bytes, .parts = parts};
    int answer;

    memory_chip_open(&memory, &geometry, 0, 0);
    answer = nw_ecc_open(&ecc, &memory.chip, &config, ram, sizeof ram);
    assert_int_equal(nw_ecc_ram_bytes(&config, &geometry) == 0, answer == NW_ERR_CONFIG);
    return answer;
}

/* Goal: what does not fit is refused when opened. */
static void configs_are_checked(void **state)
{
    struct nw_geometry geometry = shape;

    (void)state;
    assert_int_equal(open_answer(geometry, 1024, 0), NW_ERR_CONFIG);
    assert_int_equal(open_answer(geometry, 300, 0), NW_ERR_CONFIG);
    assert_int_equal(open_answer(geometry, 256, 3), NW_ERR_CONFIG);
    assert_int_equal(open_answer(geometry, 256, 5), NW_ERR_CONFIG);
    assert_int_equal(open_answer(geometry, 256, 2), NW_OK);
    geometry.program_bytes = 2048;
    assert_int_equal(open_answer(geometry, 256, 2), NW_ERR_CONFIG);
    assert_int_equal(open_answer(geometry, 256, 0), NW_OK);
    assert_int_equal(ecc.part_bytes, 2048);
    geometry.spare_bytes = 8 * 3;
    assert_int_equal(open_answer(geometry, 256, 0), NW_OK);
    assert_int_equal(ecc.chip.geometry.spare_bytes, 0);
    geometry.spare_bytes = 8 * 3 - 1;
    assert_int_equal(open_answer(geometry, 256, 0), NW_ERR_CONFIG);
    geometry.page_bytes = 264;
    geometry.program_bytes = 264;
    assert_int_equal(open_answer(geometry, 0, 0), NW_ERR_CONFIG);
    assert_int_equal(open_answer(geometry, 264, 0), NW_OK);
}

/* Goal: any write of parts and any read of bytes agree with a plain model, for many shapes, and
 * requests come back as they went in. */
static void round_trips(void **state)
{
    static const uint8_t parts[] = {1, 2, 4};
    uint8_t model[2048 + 62];
    unsigned i;
    unsigned k;

    (void)state;
    for (i = 0; i < sizeof parts; i++) {
        open_over(&shape, 256, parts[i]);
        for (k = 0; k < 400; k++) {
            uint8_t got[2048];
            uint8_t got_spare[62];
            uint16_t spare_bytes = ecc.chip.geometry.spare_bytes;
            struct nw_chip_req req = {.chip = &ecc.chip,
                                      .page = k % 8,
                                      .length = 2048,
                                      .spare_length = spare_bytes,
                                      .data = model,
                                      .spare = model + 2048};
            struct nw_chip_req before = req;

            fill(model, sizeof model);
            assert_int_equal(nw_chip_program(&req), NW_OK);
            assert_memory_equal(&req, &before, sizeof req);
            req.offset = (uint16_t)nw_random_below(&dice, 2048);
            req.length = (uint16_t)nw_random_below(&dice, 2049U - req.offset);
            req.spare_offset = (uint16_t)nw_random_below(&dice, spare_bytes);
            spare_bytes = (uint16_t)(spare_bytes - req.spare_offset);
            req.spare_length = (uint16_t)nw_random_below(&dice, spare_bytes + 1U);
            req.data = got;
            req.spare = got_spare;
            before = req;
            assert_int_equal(nw_chip_read(&req), 0);
            assert_memory_equal(&req, &before, sizeof req);
            assert_memory_equal(got, model + req.offset, req.length);
            assert_memory_equal(got_spare, model + 2048 + req.spare_offset, req.spare_length);
        }
    }
}

/* Goal: parts of a page are programmed one by one, each with its own spare, none disturbing
 * another: what is not named stays erased. */
static void parts_are_independent(void **state)
{
    uint8_t model[2048];
    uint8_t own[24];
    uint8_t got[2048];
    uint8_t got_spare[24];
    struct nw_chip_req req = {.chip = &ecc.chip};
    unsigned part;

    (void)state;
    open_over(&shape, 256, 4);
    fill(model, sizeof model);
    fill(own, sizeof own);
    for (part = 0; part < 4; part++) {
        req.offset = (uint16_t)(part * 512U);
        req.length = 512;
        req.data = model + part * 512U;
        req.spare_offset = (uint16_t)(part * 6U);
        req.spare_length = part == 2 ? 0 : 6;
        req.spare = own + part * 6U;
        assert_int_equal(nw_chip_program(&req), NW_OK);
        assert_int_equal(memory.last.spare_offset, part * 15U);
        assert_int_equal(memory.last.spare_length, 15);
    }
    memset(own + 12, 0xFF, 6);
    req.offset = 0;
    req.length = 2048;
    req.data = got;
    req.spare_offset = 0;
    req.spare_length = 24;
    req.spare = got_spare;
    assert_int_equal(nw_chip_read(&req), 0);
    assert_memory_equal(got, model, sizeof model);
    assert_memory_equal(got_spare, own, sizeof own);
    req.length = 256;
    assert_int_equal(nw_chip_program(&req), NW_ERR_ALIGN);
}

/* Goal: each flipped bit of a page as it lies on the chip, data, spare or code, is repaired and
 * counted by a read of the whole page; two in one word are an error. */
static void flips_on_the_chip_are_repaired(void **state)
{
    uint8_t model[2048];
    uint8_t own[24];
    uint8_t got[2048];
    uint8_t got_spare[24];
    struct nw_chip_req req = {.chip = &ecc.chip, .page = 5, .length = 2048, .spare_length = 24};
    uint32_t bit;
    unsigned repaired = 0;

    (void)state;
    open_over(&shape, 256, 4);
    fill(model, sizeof model);
    fill(own, sizeof own);
    req.data = model;
    req.spare = own;
    assert_int_equal(nw_chip_program(&req), NW_OK);
    req.data = got;
    req.spare = got_spare;
    for (bit = 0; bit < (2048U + 60U) * 8U; bit++) {
        uint8_t *byte = bit < 2048U * 8U ? memory.data + 5 * 2048 + bit / 8
                                         : memory.spare + 5 * 62 + (bit - 2048U * 8U) / 8;
        int result;

        *byte ^= (uint8_t)(1U << bit % 8);
        result = nw_chip_read(&req);
        *byte ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(result, 1);
        assert_memory_equal(got, model, sizeof model);
        assert_memory_equal(got_spare, own, sizeof own);
        repaired++;
    }
    assert_int_equal(repaired, (2048 + 60) * 8);
    memory.data[5 * 2048 + 300] ^= 0x21;
    assert_int_equal(nw_chip_read(&req), NW_ERR_ECC);
    memory.data[5 * 2048 + 300] ^= 0x21;
    memory.spare[5 * 62 + 2] ^= 0x81;
    assert_int_equal(nw_chip_read(&req), NW_ERR_ECC);
    req.spare_length = 0;
    assert_int_equal(nw_chip_read(&req), 0);
}

/* Goal: bits repaired add up over units and with those the chip below repaired; its errors come up.
 * */
static void corrections_add_up(void **state)
{
    uint8_t data[2048];
    struct nw_chip_req req = {.chip = &ecc.chip, .length = 2048, .data = data};

    (void)state;
    open_over(&shape, 256, 4);
    fill(data, sizeof data);
    assert_int_equal(nw_chip_program(&req), NW_OK);
    memory.data[0] ^= 1;
    memory.data[256] ^= 4;
    memory.data[2047] ^= 128;
    memory.answer = 5;
    assert_int_equal(nw_chip_read(&req), 8);
    memory.answer = NW_ERR_POWER;
    assert_int_equal(nw_chip_read(&req), NW_ERR_POWER);
    memory.answer = NW_ERR_PROGRAM;
    assert_int_equal(nw_chip_program(&req), NW_ERR_PROGRAM);
}

/* Goal: a blank page reads as erased without an error, data and spare, and so it does with a bit
 * flipped; a unit cut by the request costs no more than one extra read at each end. */
static void blank_pages_and_read_costs(void **state)
{
    uint8_t got[2048];
    uint8_t blank[2048];
    uint8_t spare[24];
    struct nw_chip_req req = {.chip = &ecc.chip,
                              .offset = 100,
                              .length = 1500,
                              .spare_length = 24,
                              .data = got,
                              .spare = spare};

    (void)state;
    open_over(&shape, 256, 4);
    memset(blank, 0xFF, sizeof blank);
    assert_int_equal(nw_chip_read(&req), 0);
    assert_int_equal(memory.calls[MEMORY_READ], 3);
    assert_memory_equal(got, blank, 1500);
    assert_memory_equal(spare, blank, 24);
    memory.data[700] ^= 0x10;
    assert_int_equal(nw_chip_read(&req), 1);
    assert_memory_equal(got, blank, 1500);
    memset(memory.calls, 0, sizeof memory.calls);
    req.length = 0;
    assert_int_equal(nw_chip_read(&req), 0);
    assert_int_equal(memory.calls[MEMORY_READ], 1);
    assert_int_equal(memory.last.length, 0);
    req.length = 256;
    req.offset = 512;
    req.spare_length = 0;
    assert_int_equal(nw_chip_read(&req), 1);
    assert_int_equal(memory.calls[MEMORY_READ], 2);
    assert_int_equal(memory.last.spare_offset, 15);
    assert_int_equal(memory.last.spare_length, 15);
}

/* Goal: without payload the same operations run, spare is still protected. */
static void metadata_only(void **state)
{
    uint8_t own[24];
    uint8_t got[24];
    struct nw_chip_req req = {.chip = &ecc.chip, .length = 2048, .spare_length = 24, .spare = own};

    (void)state;
    open_over(&shape, 256, 4);
    fill(own, sizeof own);
    assert_int_equal(nw_chip_program(&req), NW_OK);
    assert_null(memory.last.data);
    assert_int_equal(memory.last.length, 2048);
    memory.spare[1] ^= 2;
    req.spare = got;
    req.offset = 10;
    req.length = 2000;
    assert_int_equal(nw_chip_read(&req), 1);
    assert_memory_equal(got, own, 24);
    assert_int_equal(memory.calls[MEMORY_READ], 3);
    assert_null(memory.last.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secded_repairs_one_and_detects_two),
        cmocka_unit_test(erased_is_a_code_word),
        cmocka_unit_test(geometry_is_as_told),
        cmocka_unit_test(configs_are_checked),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(parts_are_independent),
        cmocka_unit_test(flips_on_the_chip_are_repaired),
        cmocka_unit_test(corrections_add_up),
        cmocka_unit_test(blank_pages_and_read_costs),
        cmocka_unit_test(metadata_only),
    };

    nw_random_seed(&dice, 20131);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
