/* SPDX-License-Identifier: Apache-2.0 */
#include "apps.h"

#include <string.h>

/* What ftrace writes for a process whose name it has lost. */
static const char unknown[] = "<...>";

/* FNV-1a */
static uint32_t hash_of(const char *name, size_t length)
{
    uint32_t hash = 2166136261U;

    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (uint8_t)name[i]) * 16777619U;
    }
    return hash;
}

/* A thread's number behind its name tells no application. */
static size_t without_number(const char *name, size_t length)
{
    size_t end = length;

    while (end > 0 && name[end - 1U] >= '0' && name[end - 1U] <= '9') {
        end--;
    }
    return end > 1 && end < length && name[end - 1U] == '-' ? end - 1U : length;
}

uint16_t nw_apps_number(struct nw_apps *apps, const char *name, size_t length)
{
    return nw_apps_add(apps, name, without_number(name, length));
}

uint16_t nw_apps_add(struct nw_apps *apps, const char *name, size_t length)
{
    char shown[NW_IOTRACE_APP_BYTES] = "";

    length = length < sizeof shown ? length : sizeof shown - 1U;
    if (length == 0 || (length == sizeof unknown - 1U && memcmp(name, unknown, length) == 0)) {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        shown[i] = (char)(name[i] >= ' ' && name[i] <= '~' ? name[i] : '?');
    }
    uint32_t at = hash_of(shown, length) % NW_APPS_HASHES;

    for (; apps->at[at] != 0; at = (at + 1U) % NW_APPS_HASHES) {
        if (strcmp(apps->name[apps->at[at] - 1U], shown) == 0) {
            return apps->at[at];
        }
    }
    if (apps->count == NW_IOTRACE_APPS) {
        return 0;
    }
    memcpy(apps->name[apps->count], shown, sizeof shown);
    apps->at[at] = ++apps->count;
    return apps->count;
}
