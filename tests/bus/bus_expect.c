/* SPDX-License-Identifier: Apache-2.0 */
/* What a test expects of a model. */
#include "bus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void bus_expect_clean(struct bus *bus)
{
    if (bus->violations != 0) {
        fail_msg("%u violations, the first: %s", (unsigned)bus->violations, bus->why);
    }
}

void bus_require(bool holds, const char *what)
{
    if (!holds) {
        fail_msg("%s", what);
    }
}
