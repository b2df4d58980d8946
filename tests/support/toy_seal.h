/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toy_seal.h - a library for struct nw_seal that mixes key and bytes well enough for tests, and is
 * no cryptography: fuzzing changes bytes a hundred times faster over it, and finds no collision by
 * chance. The real ones are in ports/seal.
 */
#ifndef NANDWICH_TEST_TOY_SEAL_H
#define NANDWICH_TEST_TOY_SEAL_H

#include "nandwich/store_seal.h"

/* The state of the hash: two words that each byte goes through. */
struct toy_state {
    uint64_t left;
    uint64_t right;
};

extern const struct nw_seal_library toy_seal_library;

#endif
