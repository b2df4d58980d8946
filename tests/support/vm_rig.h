/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_rig.h - a virtual memory on a RAM block device for tests, with the guards the compiler would
 * emit, written by hand.
 */
#ifndef NW_TEST_VM_RIG_H
#define NW_TEST_VM_RIG_H

#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include "nandwich/vm.h"
#include "ram_block.h"

/* Where virtual memory lies in tests: mapped to nothing on any host we run on. */
#define RIG_BASE ((uintptr_t)1 << 44)

struct vm_rig {
    struct nw_vm vm;
    struct nw_vm_config config;
    struct ram_block ram;
    struct nw_vm_slot slot[NW_VM_SLOTS_MAX];
    struct nw_vm_slot aside[64];
    void *memory;
    jmp_buf *escape; /* where panic jumps; NULL: panic returns */
    unsigned panics;
    int error; /* of the last panic */
    uintptr_t error_at;
};

/* frames of frame_bytes over sectors of sector_bytes; other fields of rig->config may be changed
 * before rig_start(). The device is just as large as the range, unwritten sectors hold 0xA5. */
void rig_prepare(struct vm_rig *rig, uint16_t frame_bytes, uint16_t frames, uint16_t sector_bytes,
                 uint32_t bytes);
/* Opens; fails the test when refused. */
void rig_start(struct vm_rig *rig);
void rig_stop(struct vm_rig *rig);

/* In place of a slot's number: the look-aside entry of the address. */
#define RIG_ASIDE 0xFFFFU

static inline struct nw_vm_slot *rig_slot(struct vm_rig *rig, unsigned slot, uintptr_t address)
{
    return slot != RIG_ASIDE ? &rig->slot[slot]
                             : &rig->aside[address / rig->config.frame_bytes %
                                           rig->config.lookaside_entries];
}

/* The guards. n as the compiler would know it; value and result little-endian in 16 bytes. */
static inline void rig_load(struct vm_rig *rig, unsigned slot, uintptr_t address, size_t n,
                            void *value)
{
    struct nw_vm_slot *s = rig_slot(rig, slot, address);
    uintptr_t offset = address - s->read_tag;

    rig->vm.stats.accesses++;
    if (offset <= rig->vm.frame_bytes - n) {
        memcpy(value, s->base + offset, n);
    } else {
        memcpy(value, nw_vm_load_miss(s, address, n, &rig->vm), n);
    }
}

static inline void rig_store(struct vm_rig *rig, unsigned slot, uintptr_t address, size_t n,
                             const void *value)
{
    struct nw_vm_slot *s = rig_slot(rig, slot, address);
    uintptr_t offset = address - s->write_tag;

    rig->vm.stats.accesses++;
    if (offset <= rig->vm.frame_bytes - n) {
        memcpy(s->base + offset, value, n);
    } else {
        nw_vm_store_miss(&rig->vm, s, address, n, value);
    }
}

#endif
