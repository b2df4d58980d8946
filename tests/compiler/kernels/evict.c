/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that only read, and block copies, between two accesses to one object: both can evict its
 * page. The first kind is what an optimiser likes to move accesses over. */
#include <stdint.h>
#include <stdio.h>

struct block {
    uint32_t words[40];
};

struct record {
    uint32_t first;
    uint32_t second;
    struct block block;
};

static struct record records[64];
static struct block blocks[64];
static uint32_t table[4096];

__attribute__((noinline)) static uint32_t look(const uint32_t *from, uint32_t step)
{
    return from[0] + from[step] + from[3 * step];
}

static uint32_t around_calls(uint32_t *at)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < 300; i++) {
        uint32_t *cell = &at[(i * 37) % 4000];

        *cell += i;
        sum += look(table + i, 700);
        *cell ^= sum;
        sum += look(table + 4 * i, 300);
        *cell += 1;
    }
    return sum;
}

static void around_copies(void)
{
    for (uint32_t i = 0; i < 2000; i++) {
        struct record *r = &records[(i * 29) % 64];

        r->first += i;
        r->block = blocks[(i * 13) % 64];
        r->second += r->first;
        blocks[(i * 7) % 64] = r->block;
        r->first ^= 5;
    }
}

int main(void)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < 4096; i++) {
        table[i] = i * 2654435761U;
    }
    for (uint32_t i = 0; i < 64 * 40; i++) {
        blocks[i / 40].words[i % 40] = i;
    }
    sum = around_calls(table);
    around_copies();
    for (uint32_t i = 0; i < 64; i++) {
        sum = sum * 31 + records[i].first;
        sum = sum * 31 + records[i].second;
        sum = sum * 31 + records[i].block.words[i % 40];
    }
    for (uint32_t i = 0; i < 4096; i++) {
        sum = sum * 31 + table[i];
    }
    printf("%08x\n", sum);
    return 0;
}
