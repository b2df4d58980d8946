/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvm.h - an emulated byte-addressable memory (PCM, STT-RAM) behind the nvm contract.
 *
 * An access costs the fixed part of read or program for each aligned line it touches, and the part
 * a byte for each byte. Writes are counted line by line. A cut inside a write leaves each aligned
 * unit of atomic_bytes old or new, drawn from the seed. A new memory holds zeros.
 *
 * METADATA ONLY. data == NULL moves nothing: it costs and counts as the real access, and the cells
 * keep what they held.
 *
 * MEMORY. Address space of the whole part, memory as it is written, 4 B a line. On the host only.
 */
#ifndef NANDWICH_TWIN_NVM_H
#define NANDWICH_TWIN_NVM_H

#include "nandwich-twin/meter.h"
#include "nandwich-twin/part.h"
#include "nandwich/nvm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_nvm_twin_config {
    const struct nw_part *part; /* of kind NW_PART_NVM; copied */
    uint32_t bytes;             /* another size than the part's; 0: the part's */
    uint32_t seed;
    struct nw_meter *meter; /* shared with other parts; NULL: its own */
};

struct nw_nvm_twin;

struct nw_nvm_twin_counts {
    uint64_t reads; /* calls */
    uint64_t writes;
    uint64_t bytes_read;
    uint64_t bytes_written;
    uint64_t lines_read;
    uint64_t lines_written;
};

/* NW_ERR_CONFIG: not an NVM part; NW_ERR_RAM. */
int nw_nvm_twin_open(struct nw_nvm_twin **twin, const struct nw_nvm_twin_config *config);
void nw_nvm_twin_close(struct nw_nvm_twin *twin); /* NULL is fine */

struct nw_nvm *nw_nvm_twin_nvm(struct nw_nvm_twin *twin);
struct nw_meter *nw_nvm_twin_meter(struct nw_nvm_twin *twin);
const struct nw_nvm_twin_counts *nw_nvm_twin_stats(const struct nw_nvm_twin *twin);

/* Writes that touched a line since new; a line above the part's endurance is worn out. */
uint32_t nw_nvm_twin_line_writes(const struct nw_nvm_twin *twin, uint32_t line);

/* Cuts power in the access that comes `after` others, inside it if it is a write. Every access then
 * answers NW_ERR_POWER until power is back. */
void nw_nvm_twin_cut(struct nw_nvm_twin *twin, uint64_t after);
void nw_nvm_twin_power_up(struct nw_nvm_twin *twin);

#ifdef __cplusplus
}
#endif

#endif
