/* SPDX-License-Identifier: Apache-2.0 */
/* math.c - the functions of <math.h> that answer through a pointer. */
#include "internal.h"

#include <math.h>

#define NW_SECOND(type, name, second)                                                              \
    NW_LIBC(type, name, (type value, second *to))                                                  \
    {                                                                                              \
        second other = 0;                                                                          \
        type result = name(value, &other);                                                         \
                                                                                                   \
        nw_guest_put(to, &other, sizeof other);                                                    \
        return result;                                                                             \
    }

NW_SECOND(double, frexp, int)
NW_SECOND(float, frexpf, int)
NW_SECOND(long double, frexpl, int)
NW_SECOND(double, modf, double)
NW_SECOND(float, modff, float)
NW_SECOND(long double, modfl, long double)

NW_LIBC(void, sincos, (double angle, double *sine, double *cosine))
{
    double s = sin(angle), c = cos(angle);

    nw_guest_put(sine, &s, sizeof s);
    nw_guest_put(cosine, &c, sizeof c);
}

NW_LIBC(void, sincosf, (float angle, float *sine, float *cosine))
{
    float s = sinf(angle), c = cosf(angle);

    nw_guest_put(sine, &s, sizeof s);
    nw_guest_put(cosine, &c, sizeof c);
}

NW_LIBC(double, remquo, (double x, double y, int *quotient))
{
    int bits = 0;
    double result = remquo(x, y, &bits);

    nw_guest_put(quotient, &bits, sizeof bits);
    return result;
}
