/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subjects that do not bear unstable pages yet. Tests let what a cut leaves stay as it is between
 * two power-ups for these; docs/reliability.md has a seed of each. Who mends one strikes its line.
 */
#include <string.h>

#include "subject.h"

static const struct {
    const char *subject;
    const char *why;
} stables[] = {
    {"page", "a mount believes a torn page that reads, and reads meet it again"},
};

const char *sim_stable_why(const struct sim_kind *kind)
{
    const char *why = NULL;

    for (uint32_t i = 0; i < sizeof stables / sizeof stables[0]; i++) {
        why = strcmp(stables[i].subject, kind->name) == 0 ? stables[i].why : why;
    }
    return why;
}
