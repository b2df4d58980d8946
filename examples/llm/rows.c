/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - rows of a large table in flash, copied one here and one there.
 *
 *     rows TABLE BYTES COUNT     add up COUNT rows of BYTES
 *
 * A page of flash holds 64 rows of 32 bytes. POSIX_MADV_RANDOM tells that the others are not
 * wanted: a memcpy() of a row to the stack reads the row alone, and no page leaves RAM for it. The
 * size is one that the compiler does not know: it would take a memcpy() of a known one for loads,
 * which want the page.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int fail(const char *why)
{
    fprintf(stderr, "rows: %s\nusage: rows TABLE BYTES COUNT\n", why);
    return 2;
}

int main(int argc, char **argv)
{
    struct stat status;
    int file = argc == 4 ? open(argv[1], O_RDONLY) : -1;
    uint8_t row[256];
    uint32_t bytes = argc == 4 ? (uint32_t)atol(argv[2]) : 0, sum = 0;

    if (file < 0 || fstat(file, &status) != 0) {
        return fail("no table");
    }
    if (bytes == 0 || bytes > sizeof row || status.st_size < bytes) {
        return fail("a row is of 1 to 256 bytes, and the table of one row at least");
    }
    uint8_t *table = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (table == MAP_FAILED ||
        posix_madvise(table, (size_t)status.st_size, POSIX_MADV_RANDOM) != 0) {
        return fail("the table cannot be mapped");
    }
    uint32_t rows = (uint32_t)status.st_size / bytes, count = (uint32_t)atol(argv[3]);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(row, table + i * 2654435761U % rows * bytes, bytes);
        for (uint32_t at = 0; at < bytes; at++) {
            sum += row[at];
        }
    }
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
