/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.h - bytes as a file that functions with a path can read, without a disk. */
#ifndef NANDWICH_FUZZ_SCRATCH_H
#define NANDWICH_FUZZ_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* The file's path; it holds these bytes until the next call. Aborts when the system has none. */
const char *scratch_put(const uint8_t *data, size_t size);

#endif
