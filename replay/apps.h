/* SPDX-License-Identifier: Apache-2.0 */
/* apps.h - names of applications, numbered from 1 as they come. */
#ifndef NW_REPLAY_APPS_H
#define NW_REPLAY_APPS_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich-replay/iotrace.h"

#define NW_APPS_HASHES 2048U /* a power of two, well above NW_IOTRACE_APPS */

struct nw_apps {
    char name[NW_IOTRACE_APPS][NW_IOTRACE_APP_BYTES];
    uint16_t at[NW_APPS_HASHES]; /* by hash; 0: nobody, the next one is tried */
    uint16_t count;
};

/* The number of a name; a new one gets the next. 0: it is empty or "<...>", which is ftrace's for
 * a name it lost, or there is no room. */
uint16_t nw_apps_number(struct nw_apps *apps, const char *name, size_t length);
/* The same, and a number behind a hyphen belongs to the name. */
uint16_t nw_apps_add(struct nw_apps *apps, const char *name, size_t length);

#endif
