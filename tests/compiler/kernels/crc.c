/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 of messages in a buffer: a stream of bytes, and a table of 1 KB at each of them. */
#include <stdint.h>
#include <stdio.h>

#define BYTES 24000
#define MESSAGES 40
static uint8_t buffer[BYTES];
static uint32_t table[256], found[MESSAGES];

static void fill_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t rest = i;

        for (int bit = 0; bit < 8; bit++) {
            rest = rest & 1U ? rest >> 1 ^ 0xEDB88320U : rest >> 1;
        }
        table[i] = rest;
    }
}

static uint32_t crc(const uint8_t *from, size_t bytes)
{
    uint32_t rest = ~0U;

    while (bytes-- > 0) {
        rest = rest >> 8 ^ table[(rest ^ *from++) & 0xFFU];
    }
    return ~rest;
}

int main(void)
{
    uint32_t sum = 0;

    fill_table();
    for (uint32_t i = 0; i < BYTES; i++) {
        buffer[i] = (uint8_t)(i * 31 + i / 97);
    }
    for (uint32_t i = 0; i < MESSAGES; i++) {
        found[i] = crc(buffer + i * 301, 1500 + i * 100);
    }
    for (uint32_t i = 0; i < MESSAGES; i++) {
        sum = sum * 31 + found[i];
    }
    printf("%08x %08x\n", found[0], sum);
    return 0;
}
