/* SPDX-License-Identifier: Apache-2.0 */
/* Goal: the checksums are the standard ones, at every length and however a message is cut in
 * pieces: what the fast tables of hosts and the small ones of devices write is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nandwich/crc.h"
#include "nandwich/random.h"

static uint32_t slow(uint32_t crc, uint32_t polynomial, const uint8_t *data, uint32_t length)
{
    for (uint32_t bit = 0; bit < 8U * length; bit++) {
        uint32_t in = (uint32_t)data[bit / 8U] >> bit % 8U & 1U;

        crc = crc >> 1 ^ (((crc ^ in) & 1U) != 0 ? polynomial : 0);
    }
    return crc;
}

static void test_published_check_values(void **state)
{
    (void)state;
    assert_int_equal(nw_crc32(NW_CRC32_START, "123456789", 9) ^ 0xFFFFFFFFUL, 0xCBF43926UL);
    assert_int_equal(nw_crc16(NW_CRC16_START, "123456789", 9), 0x6F91);
}

static void test_every_length_and_cut(void **state)
{
    uint8_t data[100];
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 1);
    for (uint32_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)nw_random_next(&random);
    }
    for (uint32_t length = 0; length <= sizeof data; length++) {
        uint32_t cut = length * 3U / 7U;
        uint32_t wide = nw_crc32(NW_CRC32_START, data, cut);
        uint16_t narrow = nw_crc16(NW_CRC16_START, data, cut);

        wide = nw_crc32(wide, data + cut, length - cut);
        narrow = nw_crc16(narrow, data + cut, length - cut);
        assert_int_equal(wide, slow(NW_CRC32_START, 0xEDB88320UL, data, length));
        assert_int_equal(narrow, slow(NW_CRC16_START, 0x8408U, data, length));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_check_values),
        cmocka_unit_test(test_every_length_and_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
