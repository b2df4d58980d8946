/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.c - a sensor node with more data than RAM: readings, neighbours and statistics carry NW_VM
 * and may lie in flash; what runs each time stays in RAM. docs/tagged.md takes it from here to a
 * layout. Without the tool it is a plain program.
 */
#include <stdint.h>
#include <stdio.h>

#include "nandwich/guest.h"

#define NEIGHBOURS 24U
#define READINGS 400U
#define BINS 64U

struct neighbour {
    uint16_t id;
    uint8_t hops, quality;
    uint32_t heard;
};

NW_VM static struct neighbour neighbour[NEIGHBOURS];
NW_VM static uint16_t reading[READINGS];
NW_VM static uint32_t histogram[BINS];
NW_VM static uint16_t calibration[16] = {3,  5,  8,  9,  11, 12, 12, 13,
                                         13, 14, 14, 15, 15, 15, 16, 16};
NW_VM static uint32_t sent, forwarded, lost;

static uint16_t readings, state = 7; /* in RAM: used each time */

static uint16_t next_random(void)
{
    state = (uint16_t)(state * 25173U + 13849U);
    return (uint16_t)(state >> 3);
}

/* Pointers to tagged variables go to functions of the same file. */
static uint8_t best(const struct neighbour *from, uint8_t count)
{
    uint8_t found = 0;

    for (uint8_t i = 1; i < count; i++) {
        if (from[i].quality > from[found].quality) {
            found = i;
        }
    }
    return found;
}

static void hear(void)
{
    struct neighbour *one = &neighbour[next_random() % NEIGHBOURS];

    one->id = (uint16_t)(one - neighbour);
    one->hops = (uint8_t)(1U + next_random() % 5U);
    one->quality = (uint8_t)next_random();
    one->heard++;
}

static void sample(void)
{
    uint16_t value = (uint16_t)(next_random() % 1024U);

    value = (uint16_t)(value + calibration[value >> 6]);
    reading[readings++ % READINGS] = value;
    histogram[value / 17U % BINS]++;
}

static void report(void)
{
    const struct neighbour *to = &neighbour[best(neighbour, NEIGHBOURS)];

    if (to->heard == 0) {
        lost++;
    } else if (to->hops > 1U) {
        forwarded++;
    }
    sent++;
}

int main(void)
{
    uint32_t all = 0;

    for (uint16_t second = 0; second < 3000U; second++) {
        sample();
        if (second % 5U == 0) {
            hear();
        }
        if (second % 50U == 0) {
            report();
        }
    }
    for (uint16_t i = 0; i < BINS; i++) {
        all = all * 7U + histogram[i];
    }
    printf("%lu sent, %lu forwarded, %lu lost, %08lx\n", (unsigned long)sent,
           (unsigned long)forwarded, (unsigned long)lost, (unsigned long)(all & 0xFFFFFFFFUL));
    return 0;
}
