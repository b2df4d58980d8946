/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - every choice that is made when Nandwich is compiled. Nothing has to be chosen:
 * without any of these words everything works, and is small.
 *
 * Choose by -DNW_..., or write the words in a header of your own and name it to the compiler:
 *     -DNW_OPTIONS_FILE='"my_options.h"'
 * Choose the same for core and for every file that includes its headers: NW_COUNT_32 changes
 * structs. What lies on flash is the same whatever is chosen.
 *
 *   NW_COUNT_32        counts (stats.h) have 32 bits where they would have 64: on hosts only, small
 *                      processors have 32 anyway
 *   NW_STORE_UNSEALED  the store has no seals (store_seal.h): some 1,100 bytes of code less; a seal
 *                      given is NW_ERR_CONFIG, a sealed store met NW_ERR_KEY
 *   NW_CRC_WIDE        checksums eight bytes at a time: 12 KB of tables. For hosts
 */
#ifndef NANDWICH_OPTIONS_H
#define NANDWICH_OPTIONS_H

#ifdef NW_OPTIONS_FILE
#include NW_OPTIONS_FILE
#endif

#endif
