/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_device.h - what a deadline workload runs on: an SD card of the parts table, or a flash chip
 * under the page FTL, each with its clock.
 */
#ifndef NANDWICH_REPLAY_SCHED_DEVICE_H
#define NANDWICH_REPLAY_SCHED_DEVICE_H

#include "nandwich-twin/meter.h"
#include "nandwich-twin/part.h"
#include "nandwich/block.h"
#include "nandwich-models/models.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_SIM_FETCH_FILLED 1U

struct nw_nand;
struct nw_sdcard;

struct nw_sim_device {
    struct nw_block *block;
    struct nw_meter meter;
    uint32_t unit;     /* sectors opened at once, 0: no such cost */
    uint64_t write_ns; /* shortest write, first guess of the scheduler too */
    uint64_t open_ns;  /* middle of the times of a write that opens a unit */
    uint64_t read_ns;  /* shortest read of a sector that has been written */
    uint64_t fetch_ns; /* NW_SIM_FETCH_FILLED: what the processor takes to fetch a full sector */
    /* The longest of each; 0: not known. A chip's layer cleans and erases in between. */
    uint64_t longest_write_ns, longest_open_ns, longest_read_ns;

    struct nw_sdcard *card;
    struct nw_nand *nand;
    struct nw_model ftl;
    void *ram;
};

/*
 * Opens a new device; payload is not kept. Costs are those of chip and processor where they are
 * known. The first sector of a chip is written, so that whoever reads what was written last finds
 * something: its layer answers for nothing in no time.
 *
 * `flags`: NW_SIM_FETCH_FILLED leaves to the caller what the processor adds to a write, for a
 * workload that fetches no more than it has (nw_sim_config.fetch_ns); else 0.
 * `blocks`: erase blocks of a chip (its FTL keeps 4 bytes a page here), 0: all. Errors: those of
 * nw_sdcard_open(), nw_nand_open(), nw_model_open(); NW_ERR_UNSUPPORTED: a part of another
 * kind. Close it also after an error.
 */
int nw_sim_device_open(struct nw_sim_device *device, const struct nw_part *part, uint32_t blocks,
                       uint32_t seed, uint32_t flags);
void nw_sim_device_close(struct nw_sim_device *device);

#ifdef __cplusplus
}
#endif

#endif
