/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.c - sort more numbers than fit in RAM: COUNT (default 200000) 32-bit numbers by heap sort,
 * which jumps about, then by merge sort, which walks. Compare the faults of the two:
 *
 *     nandwich run examples/sort.c --ram 32K -- merge 50000
 *     nandwich run examples/sort.c --ram 32K -- heap 50000
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sift(uint32_t *a, size_t at, size_t count)
{
    for (size_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
        uint32_t parent = a[at];

        if (child + 1 < count && a[child + 1] > a[child]) {
            child++;
        }
        if (a[child] <= parent) {
            return;
        }
        a[at] = a[child];
        a[child] = parent;
    }
}

static void heap_sort(uint32_t *a, size_t count)
{
    for (size_t at = count / 2; at-- > 0;) {
        sift(a, at, count);
    }
    for (size_t end = count; end-- > 1;) {
        uint32_t largest = a[0];

        a[0] = a[end];
        a[end] = largest;
        sift(a, 0, end);
    }
}

static void merge(uint32_t *to, const uint32_t *a, size_t a_count, const uint32_t *b,
                  size_t b_count)
{
    size_t i = 0, j = 0;

    for (size_t k = 0; k < a_count + b_count; k++) {
        if (j == b_count || (i < a_count && a[i] <= b[j])) {
            to[k] = a[i++];
        } else {
            to[k] = b[j++];
        }
    }
}

/* Bottom up: runs of 1, 2, 4 ... merged from one half of the memory to the other and back. */
static uint32_t *merge_sort(uint32_t *a, uint32_t *spare, size_t count)
{
    for (size_t run = 1; run < count; run *= 2) {
        uint32_t *swap = a;

        for (size_t at = 0; at < count; at += 2 * run) {
            size_t first = count - at < run ? count - at : run;
            size_t second = count - at - first < run ? count - at - first : run;

            merge(spare + at, a + at, first, a + at + first, second);
        }
        a = spare;
        spare = swap;
    }
    return a;
}

int main(int argc, char **argv)
{
    size_t count = argc > 2 ? strtoul(argv[2], NULL, 0) : 200000;
    uint32_t *a = malloc(count * sizeof *a), *spare = malloc(count * sizeof *spare);
    uint32_t x = 1, sum = 0;

    if (a == NULL || spare == NULL) {
        fprintf(stderr, "sort: no room for %zu numbers\n", count);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        x = x * 1664525U + 1013904223U;
        a[i] = x;
    }
    if (argc > 1 && strcmp(argv[1], "heap") == 0) {
        heap_sort(a, count);
    } else {
        a = merge_sort(a, spare, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && a[i - 1] > a[i]) {
            printf("not sorted at %zu\n", i);
            return 1;
        }
        sum = sum * 31 + a[i];
    }
    printf("%zu numbers sorted, checksum %08x\n", count, sum);
    return 0;
}
