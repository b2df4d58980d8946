/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - an array of counters far larger than RAM, counted up at random places. One half of
 * the events falls on a sixteenth of the array, as in most real counting.
 *
 *     nandwich run examples/counters.c --ram 16K --ftl tree -- 100000
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNTERS = 1 << 16 };

static uint32_t counters[COUNTERS];

int main(int argc, char **argv)
{
    unsigned long events = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;
    uint32_t x = 2463534242U, most = 0, total = 0;

    for (unsigned long i = 0; i < events; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        counters[(x & 1U) != 0 ? (x >> 1) % COUNTERS : (x >> 1) % (COUNTERS / 16)]++;
    }
    for (uint32_t i = 0; i < COUNTERS; i++) {
        total += counters[i];
        most = counters[i] > most ? counters[i] : most;
    }
    printf("%lu events, %lu counted, at most %lu in one place\n", events, (unsigned long)total,
           (unsigned long)most);
    return total == events ? 0 : 1;
}
