/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with open addresses: counts words, forgets some, moves up what they held back. */
#include <stdint.h>
#include <stdio.h>

#define PLACES 1024U
static struct {
    uint32_t key; /* 0: free */
    uint32_t count;
    uint32_t last;
} table[PLACES];
static uint32_t used, steps;

static uint32_t home(uint32_t key)
{
    return key * 2654435761U >> 22;
}

static uint32_t place(uint32_t key)
{
    uint32_t at = home(key);

    while (table[at].key != 0 && table[at].key != key) {
        at = (at + 1) % PLACES;
        steps++;
    }
    return at;
}

static void count(uint32_t key, uint32_t now)
{
    uint32_t at = place(key);

    if (table[at].key == 0) {
        table[at].key = key;
        table[at].count = 0;
        used++;
    }
    table[at].count++;
    table[at].last = now;
}

static void forget(uint32_t key)
{
    uint32_t hole = place(key);

    if (table[hole].key == 0) {
        return;
    }
    used--;
    for (uint32_t at = (hole + 1) % PLACES; table[at].key != 0; at = (at + 1) % PLACES) {
        if ((at - home(table[at].key)) % PLACES >= (at - hole) % PLACES) {
            table[hole] = table[at];
            hole = at;
        }
    }
    table[hole].key = 0;
}

int main(void)
{
    uint32_t x = 7, sum = 0;

    for (uint32_t i = 0; i < 30000; i++) {
        x = x * 1664525U + 1013904223U;
        uint32_t word = 1 + (x >> 20) * (x >> 20) / 21000;

        if (i % 3 == 2) {
            forget(word);
        } else {
            count(word, i);
        }
    }
    for (uint32_t at = 0; at < PLACES; at++) {
        if (table[at].key != 0) {
            sum = sum * 31 + table[at].key + table[at].count * 3 + table[at].last;
        }
    }
    printf("%u words, %u steps, %08x\n", used, steps, sum);
    return 0;
}
