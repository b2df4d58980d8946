/* SPDX-License-Identifier: Apache-2.0 */
/* One kind of access, COUNT times, inside measure(), for callgrind: access KIND COUNT. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pages of 512 bytes so far apart meet in one of the 64 look-aside entries: of two that take turns
 * neither is ever found there, though both stay in RAM. */
enum { RIVAL_BYTES = 64 * 512 };

static unsigned char area[2 * RIVAL_BYTES];

/* p[0], p[step], p[0] ...: with step 0 the same page again and again. */
__attribute__((noinline)) static unsigned measure(const volatile unsigned char *p, unsigned step,
                                                  unsigned count)
{
    unsigned sum = 0, at = 0;

    for (unsigned i = 0; i < count; i++) {
        sum += p[at];
        at ^= step;
    }
    return sum;
}

/* The same through a call that looks the page up each time and leaves the slots alone. */
__attribute__((noinline)) static unsigned measure_call(const unsigned char *p, size_t one,
                                                       unsigned count)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned char byte = 0;

        memcpy(&byte, p, one);
        sum += byte;
    }
    return sum;
}

int main(int argc, char **argv)
{
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

    memset(area, 1, sizeof area);
    switch (argc > 1 ? argv[1][0] : ' ') {
    case 'h': printf("%u\n", measure(area, 0, count)); return 0;
    case 'm': printf("%u\n", measure(area, RIVAL_BYTES, count)); return 0;
    case 'c': printf("%u\n", measure_call(area, (size_t)argc - 2, count)); return 0;
    default: return 2;
    }
}
