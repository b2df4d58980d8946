/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-stack/why.h"

#include <stdarg.h>
#include <stdio.h>

int nw_refuse(struct nw_why *why, int error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why->text, why->bytes, format, arguments);
    va_end(arguments);
    return error;
}
