/* SPDX-License-Identifier: Apache-2.0 */
/* accesses.h - records what a run does to its memory, where the settings ask for it. */
#ifndef NW_LAB_ACCESSES_H
#define NW_LAB_ACCESSES_H

#include <unicorn/unicorn.h>

#include "emulator.h"

void accesses_open(struct machine *machine);
void accesses_close(const struct machine *machine); /* the file appears now */

#endif
