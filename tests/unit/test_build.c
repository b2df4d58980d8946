// SPDX-License-Identifier: Apache-2.0
// Goal: the core may rely on what it assumes of any C compiler it meets: eight-bit bytes, two's
// complement, and unsigned arithmetic that wraps. If a new target breaks one, this fails before
// anything subtle does.
// ctest: quick
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_bytes_have_eight_bits(void **state)
{
    (void)state;
    volatile uint8_t byte = 0xff;
    byte = (uint8_t)(byte + 1);
    assert_int_equal(byte, 0);
}

static void test_negative_numbers_are_twos_complement(void **state)
{
    (void)state;
    volatile int32_t minus_one = -1;
    assert_true((uint32_t)minus_one == 0xffffffffUL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_have_eight_bits),
        cmocka_unit_test(test_negative_numbers_are_twos_complement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
