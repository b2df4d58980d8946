/* SPDX-License-Identifier: Apache-2.0 */
/* String search: a window that jumps over the text by a table, compared from its end. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BYTES 30000
static char text[BYTES], pattern[24];
static uint8_t jump[256];
static uint32_t hits[16];

static void prepare(size_t bytes)
{
    memset(jump, (int)bytes, sizeof jump);
    for (size_t i = 0; i + 1 < bytes; i++) {
        jump[(unsigned char)pattern[i]] = (uint8_t)(bytes - 1 - i);
    }
}

static uint32_t occurrences(size_t bytes)
{
    uint32_t found = 0;

    for (size_t at = 0; at + bytes <= BYTES;) {
        size_t i = bytes;

        while (i > 0 && text[at + i - 1] == pattern[i - 1]) {
            i--;
        }
        found += i == 0;
        at += jump[(unsigned char)text[at + bytes - 1]];
    }
    return found;
}

int main(void)
{
    static const char *const wanted[] = {
        "river", "over the", "stone and", "a", "riverbank", "the o", "nothing of the kind", "and"};
    static const char *const words[] = {
        "river ", "stone ", "over ", "the ", "and ", "old ", "bank "};
    uint32_t x = 11, sum = 0;
    size_t at = 0;

    while (at < BYTES) {
        x = x * 1664525U + 1013904223U;
        for (const char *from = words[(x >> 18) % 7]; *from != '\0' && at < BYTES; from++) {
            text[at++] = *from;
        }
    }
    for (int i = 0; i < 16; i++) {
        size_t bytes = strlen(wanted[i % 8]);

        memcpy(pattern, wanted[i % 8], bytes);
        pattern[0] = (char)(i < 8 ? pattern[0] : ' ');
        prepare(bytes);
        hits[i] = occurrences(bytes);
    }
    for (int i = 0; i < 16; i++) {
        sum = sum * 31 + hits[i];
    }
    printf("%u %u %08x\n", hits[0], hits[1], sum);
    return 0;
}
