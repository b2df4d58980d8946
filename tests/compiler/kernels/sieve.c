/* SPDX-License-Identifier: Apache-2.0 */
/* Sieve of primes in a board of bits: wide strides of read, change and write. */
#include <stdint.h>
#include <stdio.h>

#define LIMIT 120000U
static uint32_t composite[LIMIT / 32 + 1], gaps[128];

static int is_prime(uint32_t n)
{
    return (composite[n / 32] >> (n % 32) & 1U) == 0;
}

int main(void)
{
    uint32_t primes = 0, last = 2, sum = 0;

    for (uint32_t n = 2; n * n < LIMIT; n++) {
        if (is_prime(n)) {
            for (uint32_t multiple = n * n; multiple < LIMIT; multiple += n) {
                composite[multiple / 32] |= 1U << multiple % 32;
            }
        }
    }
    for (uint32_t n = 2; n < LIMIT; n++) {
        if (is_prime(n)) {
            primes++;
            gaps[n - last]++;
            last = n;
        }
    }
    for (int i = 0; i < 128; i++) {
        sum = sum * 31 + gaps[i];
    }
    printf("%u primes, the last %u, gaps %08x\n", primes, last, sum);
    return 0;
}
