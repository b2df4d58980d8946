/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier.h - a little NVM in front of a block device on flash: sectors that are rewritten often live
 * in the NVM, all others on flash. The whole is a block device again. How, each bit in the NVM, and
 * why a cut is survived: docs/tier.md.
 *
 * Source: the two-level store of Chen, "Hardware/Software Codesign for Performance and Lifetime
 * Enhancement in NAND-Flash-based Embedded Storage Systems", PhD thesis, PolyU 2016, chapters 3 and
 * 4. There the map lies in RAM; here it lies in the NVM.
 *
 * WORDS. A frame is room for one sector in the NVM. A slot is what a policy sees of such a sector;
 * the sector keeps its slot as long as it stays in the NVM. There is one frame more than slots.
 *
 * DURABLE, as block.h asks of a persistent device, within the budget of docs/faults.md; `flash` has
 * to be persistent and keep the same budget. A write to the NVM is durable when it has returned;
 * any other when `flash` says so. Clause F5 holds for pages of `flash`. The NVM is trusted: a byte
 * that rots there is an error of a mount, or older or wrong content without one.
 *
 * ONE PAIR. Flash and NVM carry the same identity and the number of the session. A mount refuses an
 * NVM of another device, of an older session than its flash, or of more than one newer, and touches
 * nothing then. The last sector of `flash` is the label that tells; where nobody can read it, a
 * mount believes the NVM and writes the label anew. Nobody else may write to `flash`.
 *
 * COST, in calls below; S: frames. An entry is 8 bytes of NVM
 *   read    in the NVM 1 NVM read; neighbours on flash as one request, and what the policy takes
 *           in as a write
 *   write   to the NVM 1 NVM write of the sector and 1 entry. Where no slot is free and the policy
 *           gives one up: before it 1 NVM read, 1 flash write and sync, 1 or 2 entries. Else as
 *           flash, neighbours as one request
 *   trim    as flash; with sectors in the NVM also a sync, an entry for each and one more
 *   sync    as flash
 *   idle    writes sectors back as the policy wants it, each about move_us; the rest is flash's
 *   mount   2 S entries and 32 bytes read, 1 entry written; 1 flash read and write, 2 syncs; behind
 *           a cut mount an entry and a sync less
 * Behind an idle the next write without a free slot, trim or sync also syncs flash and writes up to
 * 9 entries; behind an NVM write 1 entry; behind a call that failed what is left of it.
 *
 * SIZE. 65,535 frames at most. RAM, nw_tier_ram_bytes(): 9 bytes a slot, 2 for each of the next
 * power of two slots (up to 32,768), and a sector. 16 MB in sectors of 4 KiB: 49 KB.
 */
#ifndef NANDWICH_TIER_H
#define NANDWICH_TIER_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/block.h"
#include "nandwich/nvm.h"
#include "nandwich/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_TIER_NONE 0xFFFFU /* no slot */
#define NW_TIER_BATCH 8U     /* sectors written back before flash is synced, at most */

/* A sector that is asked for, as a policy is told of it. */
struct nw_tier_ask {
    uint32_t sector;
    uint16_t app;  /* as in struct nw_block_req; after a mount that of the last write */
    uint8_t hint;
    uint8_t write; /* 0: a read */
};

struct nw_tier_policy;

/* All there. Slots are numbered from 0. */
struct nw_tier_policy_ops {
    /* A session starts, nothing is in the NVM; sectors that are follow as `entered`. NW_ERR_CONFIG:
     * it was opened for fewer slots. */
    int (*start)(struct nw_tier_policy *policy, uint16_t slots);
    /* Is a sector that is not in the NVM to go there? */
    int (*admit)(struct nw_tier_policy *policy, const struct nw_tier_ask *ask);
    void (*entered)(struct nw_tier_policy *policy, uint16_t slot, const struct nw_tier_ask *ask);
    void (*touched)(struct nw_tier_policy *policy, uint16_t slot, const struct nw_tier_ask *ask);
    void (*left)(struct nw_tier_policy *policy, uint16_t slot);
    /* No slot is free for a sector that is to go in: the slot to give up, or NW_TIER_NONE: then it
     * goes to flash. */
    uint16_t (*victim)(struct nw_tier_policy *policy, const struct nw_tier_ask *ask);
    /* Idle: a slot to give up ahead, when so many are free; or NW_TIER_NONE. */
    uint16_t (*ahead)(struct nw_tier_policy *policy, uint16_t free);
};

struct nw_tier_policy {
    const struct nw_tier_policy_ops *ops;
};

struct nw_tier_config {
    struct nw_block *flash;        /* persistent; its last sector is the tier's own */
    struct nw_nvm *nvm;            /* atomic_bytes 8 or more */
    struct nw_tier_policy *policy; /* NULL: nothing goes to the NVM any more */
    uint32_t identity;             /* format: of this device; whatever will not be given twice */
    uint32_t move_us;              /* idle: about what it takes to write a sector back; 0: 1000 */
    uint8_t no_payload; /* 1: flash is metadata only; such a tier is formatted, never mounted */
};

struct nw_tier_stats {
    nw_count nvm_reads;   /* sectors read there, of those asked for */
    nw_count nvm_writes;  /* sectors written there */
    nw_count flash_reads; /* sectors that went to flash */
    nw_count flash_writes;
    nw_count moved;       /* sectors written back to flash */
    nw_count moved_ahead; /* of these: in idle */
};

/* All fields are the tier's own; block and stats may be read. */
struct nw_tier {
    struct nw_block block; /* give &tier.block to the layer above */
    struct nw_tier_config config;
    struct nw_tier_stats stats;
    struct nw_block_req below; /* the one request to flash */
    struct nw_nvm_req nvm;     /* and to the NVM */
    uint32_t *sector; /* by slot; UINT32_MAX: free */
    uint16_t *frame;  /* by slot */
    uint16_t *next;   /* by slot: of those with the same hash, or of the free ones */
    uint8_t *state;   /* by slot */
    uint16_t *heads;  /* by hash: the first slot */
    uint8_t *page;    /* a sector */
    uint32_t frames_at; /* address of the first frame */
    uint32_t stale;     /* sector of which the spare frame tells something older */
    uint32_t session;
    uint16_t buckets; /* a power of two */
    uint16_t slots;
    uint16_t spare;      /* the frame that no slot has */
    uint16_t free;       /* the first free slot */
    uint16_t free_count;
    uint16_t written[NW_TIER_BATCH]; /* slots written back, to be left with the next sync */
    uint8_t written_count;
    uint8_t unsure; /* 1: nobody knows what the spare frame's entry says */
};

/* RAM for this NVM and flash; 0: they are NW_ERR_CONFIG. */
size_t nw_tier_ram_bytes(const struct nw_tier_config *config);

/*
 * A tier that holds nothing yet: sectors read as `flash` has them. Cut before its end it leaves
 * none. NW_ERR_CONFIG: flash is not persistent or has fewer than two sectors, or its sectors fewer
 * than 32 bytes; the NVM tears 8 bytes, has room for less than two frames, or does not fit the
 * policy. NW_ERR_RAM. Else the error of what lies below.
 */
int nw_tier_format(struct nw_tier *tier, const struct nw_tier_config *config, void *ram,
                   size_t ram_bytes);

/*
 * The tier as it was left. NW_ERR_BLANK: the NVM holds zeros where a tier begins; NW_ERR_NOT_FOUND:
 * it holds something else, or flash has no label of this identity; NW_ERR_VERSION: another version,
 * or made for another number or size of sectors or frames; NW_ERR_CORRUPT: one of the two is older
 * than the other, or an entry is outside the device. Else as format.
 */
int nw_tier_mount(struct nw_tier *tier, const struct nw_tier_config *config, void *ram,
                  size_t ram_bytes);

/*
 * The first half of idle: writes back ahead what the policy gives up, each about move_us, and
 * leaves flash's own work alone. For whoever knows that room will be short. 1: more would be done
 * with more time; 0: nothing left; else the error of what lies below.
 */
int nw_tier_prepare(struct nw_tier *tier, uint32_t budget_us);

#ifdef __cplusplus
}
#endif

#endif
