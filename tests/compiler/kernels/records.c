/* SPDX-License-Identifier: Apache-2.0 */
/* Shell sort of structs by two keys: fields of neighbours compared, whole structs moved. */
#include <stdint.h>
#include <stdio.h>

#define RECORDS 1200
struct record {
    uint32_t number;
    uint16_t group;
    char name[10];
    uint32_t amount;
};
static struct record records[RECORDS];

static int is_before(const struct record *a, const struct record *b)
{
    if (a->group != b->group) {
        return a->group < b->group;
    }
    for (int i = 0; i < 10; i++) {
        if (a->name[i] != b->name[i]) {
            return a->name[i] < b->name[i];
        }
    }
    return a->number < b->number;
}

static void sort(void)
{
    for (int gap = 364; gap > 0; gap /= 3) {
        for (int i = gap; i < RECORDS; i++) {
            struct record one = records[i];
            int at = i;

            while (at >= gap && is_before(&one, &records[at - gap])) {
                records[at] = records[at - gap];
                at -= gap;
            }
            records[at] = one;
        }
    }
}

int main(void)
{
    uint32_t x = 21, sum = 0;

    for (uint32_t i = 0; i < RECORDS; i++) {
        x = x * 1664525U + 1013904223U;
        records[i].number = i;
        records[i].group = (uint16_t)((x >> 16) % 40);
        records[i].amount = x >> 12;
        for (uint32_t j = 0; j < 9; j++) {
            records[i].name[j] = (char)('a' + (x >> (j + 4)) % 3);
        }
    }
    sort();
    for (int i = 0; i < RECORDS; i++) {
        sum = sum * 31 + records[i].number + records[i].amount;
        if (i > 0 && is_before(&records[i], &records[i - 1])) {
            printf("out of order at %d\n", i);
        }
    }
    printf("%08x\n", sum);
    return 0;
}
