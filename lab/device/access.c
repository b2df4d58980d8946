/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.c - ROUNDS loads or stores of 32 bits; two numbers of rounds tell what a round takes.
 *
 *     access none|load|store ROUNDS STEP     one pointer to and fro by STEP bytes; none: the loop
 *     access still|keep ROUNDS 0             a load, a store of one place
 *     access loop ROUNDS 0                   the loop of these two alone
 *
 * Each loop is a function of its own, so that none shares a last-cache buffer with another.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 65536U
#define PAGE_WORDS 128U

typedef volatile uint32_t word;

#define TO_AND_FRO(name, what)                                                                     \
    __attribute__((noinline)) static uint32_t name(uintptr_t at, uintptr_t other,                  \
                                                   uint32_t rounds)                                \
    {                                                                                              \
        uint32_t sum = 0;                                                                          \
                                                                                                   \
        for (uint32_t i = 0; i < rounds; i++) {                                                    \
            uintptr_t next = at;                                                                   \
                                                                                                   \
            what;                                                                                  \
            at = other;                                                                            \
            other = next;                                                                          \
            __asm__ volatile("" : "+r"(at));                                                       \
        }                                                                                          \
        return sum;                                                                                \
    }

TO_AND_FRO(none, )
TO_AND_FRO(load, sum += *(word *)at)
TO_AND_FRO(store, *(word *)at = i)

#define IN_PLACE(name, what)                                                                       \
    __attribute__((noinline)) static uint32_t name(uintptr_t at, uintptr_t other,                  \
                                                   uint32_t rounds)                                \
    {                                                                                              \
        uint32_t sum = 0;                                                                          \
                                                                                                   \
        (void)other;                                                                               \
        for (uint32_t i = 0; i < rounds; i++) {                                                    \
            what;                                                                                  \
            __asm__ volatile("" : "+r"(sum));                                                      \
        }                                                                                          \
        return sum + (uint32_t)at;                                                                 \
    }

IN_PLACE(loop, )
IN_PLACE(still, sum += *(word *)at)
IN_PLACE(keep, *(word *)at = i)

int main(int argc, char **argv)
{
    static const char *const names[] = {"none", "load", "store", "loop", "still", "keep"};
    static uint32_t (*const functions[])(uintptr_t, uintptr_t, uint32_t) = {none, load, store,
                                                                           loop, still, keep};
    word *block = calloc(BYTES, 1);

    if (argc != 4 || block == NULL) {
        return 1;
    }
    for (uint32_t i = 0; i < BYTES / sizeof *block; i += PAGE_WORDS) {
        block[i] = 1; /* so that every page has been there */
    }
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(argv[1], names[i]) == 0) {
            uintptr_t at = (uintptr_t)block;

            (void)functions[i](at, at + strtoul(argv[3], NULL, 10),
                               (uint32_t)strtoul(argv[2], NULL, 10));
            return 0;
        }
    }
    return 1;
}
