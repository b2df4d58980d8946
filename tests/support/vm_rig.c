/* SPDX-License-Identifier: Apache-2.0 */
#include "vm_rig.h"

#include <stdio.h>
#include <stdlib.h>

static void on_panic(struct nw_vm *vm, int error, uintptr_t address)
{
    struct vm_rig *rig = vm->context;

    rig->panics++;
    rig->error = error;
    rig->error_at = address;
    if (rig->escape != NULL) {
        longjmp(*rig->escape, 1);
    }
}

void rig_prepare(struct vm_rig *rig, uint16_t frame_bytes, uint16_t frames, uint16_t sector_bytes,
                 uint32_t bytes)
{
    memset(rig, 0, sizeof *rig);
    ram_block_open(&rig->ram, bytes / sector_bytes, sector_bytes, 0xA5);
    rig->config.base = RIG_BASE;
    rig->config.bytes = bytes;
    rig->config.frame_bytes = frame_bytes;
    rig->config.frames = frames;
    rig->config.block = &rig->ram.block;
    rig->config.slot_table = rig->slot;
    rig->config.lookaside = rig->aside;
    rig->config.panic = on_panic;
    rig->config.context = rig;
}

void rig_start(struct vm_rig *rig)
{
    int error;

    rig->config.ram_bytes = nw_vm_ram_bytes(&rig->config);
    rig->memory = malloc(rig->config.ram_bytes);
    rig->config.ram = rig->memory;
    error = nw_vm_open(&rig->vm, &rig->config);
    if (error != NW_OK) {
        fprintf(stderr, "vm_rig: nw_vm_open: %s\n", nw_error_text(error));
        exit(2);
    }
}

void rig_stop(struct vm_rig *rig)
{
    ram_block_close(&rig->ram);
    free(rig->memory);
}
