/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_flash.c - virtual memory on the board: the part, a slice of it, a layer, the VM. A fresh
 * device each run, as virtual memory keeps nothing.
 *
 * NW_BOARD_TREE on the command line takes the tree instead of the lavish layer.
 */
#include "device.h"
#include "nandwich-guest/guest.h"
#include "nandwich/slice.h"
#include "part.h"

#if defined(NW_BOARD_TREE)
#include "nandwich/ftl_tree.h"
#define LAYER(name) nw_ftl_tree##name
#else
#include "nandwich/ftl_lavish.h"
#define LAYER(name) nw_ftl_lavish##name
#endif

/* RAM that stays for the C library: its streams' buffers, copies of strings. */
#if defined(__AVR__)
#define HEAP_LEAST 256U
#else
#define HEAP_LEAST 6144U
#endif
/* More than any part has. */
#define BLOCKS_MAX 65535U

static struct nw_slice slice;
static struct LAYER() layer;
static struct LAYER(_config) config;

static void panic(struct nw_vm *vm, int error, uintptr_t address)
{
    (void)vm;
    device_panic(error, address);
}

#if defined(NW_BOARD_TREE)
/* As many as the layer needs. */
static uint32_t layer_blocks(const struct nw_chip *part, uint32_t sectors)
{
    struct nw_geometry geometry = part->geometry;

    geometry.blocks = sectors / geometry.block_pages;
    while (geometry.blocks < BLOCKS_MAX && nw_ftl_tree_sectors(&config, &geometry) < sectors) {
        geometry.blocks++;
    }
    return geometry.blocks;
}

/* The least, and as a cache the whole map where there is room: less than 4 bytes a sector. */
static size_t layer_ram(size_t room)
{
    size_t least = nw_ftl_tree_ram_bytes(&config, &slice.chip.geometry);
    size_t map = 4U * (size_t)nw_ftl_tree_sectors(&config, &slice.chip.geometry);

    return least + map <= room ? least + map : least <= room ? room : least;
}

static int layer_begin(uint8_t *ram, size_t bytes)
{
    return nw_ftl_tree_format(&layer, &slice.chip, &config, ram, bytes);
}
#else
/* With a data and a log lavish block for each logical block, of seven eighths of the part: the rest
 * is for files that are mapped (map_flash.c), if they suffice. More maps than logical blocks are
 * none. */
static uint32_t layer_blocks(const struct nw_chip *part, uint32_t sectors)
{
    const struct nw_geometry *geometry = &part->geometry;
    uint32_t logical = sectors / geometry->block_pages + 1U;
    uint32_t ample = 2U * (logical + 1U) * NW_FTL_LAVISH_DEGREE;
    uint32_t most = geometry->blocks - geometry->blocks / 8U;
    uint32_t needed;

    config.sectors = sectors;
    config.maps = (uint8_t)(logical < NW_FTL_LAVISH_MAPS ? logical : NW_FTL_LAVISH_MAPS);
    needed = nw_ftl_lavish_blocks_needed(&config, part);
    if (ample < needed) {
        ample = needed;
    }
    if (needed > most) {
        most = geometry->blocks;
    }
    return ample > most && needed <= most ? most : ample;
}

static size_t layer_ram(size_t room)
{
    (void)room;
    return nw_ftl_lavish_ram_bytes(&config, &slice.chip);
}

static int layer_begin(uint8_t *ram, size_t bytes)
{
    return nw_ftl_lavish_open(&layer, &slice.chip, &config, ram, bytes);
}
#endif

/* The blocks of the part that the layer takes for the virtual memory. */
static void open_slice(struct nw_chip *part)
{
    uint32_t sectors = DEVICE_VALUE(board_vm_bytes) / part->geometry.page_bytes;
    uint32_t blocks = layer_blocks(part, sectors);

    if (blocks > part->geometry.blocks) {
        device_refuse(REFUSE_BLOCKS, blocks, part->geometry.blocks);
    }
    (void)nw_slice_open(&slice, part, 0, blocks);
}

static void open_layer(uint8_t *ram, size_t bytes)
{
    int result = layer_begin(ram, bytes);

    if (result < 0) {
        device_refuse(REFUSE_LAYER, (uint32_t)result, 0);
    }
}

uint32_t device_layer_blocks(void)
{
    return slice.chip.geometry.blocks;
}

/* Globals that the compiler pass left in RAM (compiler/statics.h), where it was given some. */
extern const uint32_t nw_guest_statics_bytes __attribute__((weak));

/* What those leave of the RAM for both. */
static uint16_t device_frames(void)
{
    uint32_t statics = &nw_guest_statics_bytes != NULL ? nw_guest_statics_bytes : 0;

    return (uint16_t)((DEVICE_VALUE(board_frames_bytes) - statics) / nw_guest_frame_bytes);
}

static void tell(const char *name, uintptr_t value)
{
    (void)device_call(CALL_TELL, (uintptr_t)name, value, 0);
}

void device_memory_open(void)
{
    struct nw_vm_config vm = {.base = nw_guest_base,
                              .bytes = DEVICE_VALUE(board_vm_bytes),
                              .frame_bytes = nw_guest_frame_bytes,
                              .frames = device_frames(),
                              .slots = nw_guest_slots,
                              .policy = (uint8_t)DEVICE_VALUE(board_policy),
                              .panic = panic,
                              .slot_table = nw_guest_slot_table,
                              .block = &layer.block};
    struct nw_vm_needs needs;
    uint8_t *ram;

    open_slice(part_open());
    size_t left = device_ram_left(&ram);
    uint16_t sector = slice.chip.geometry.page_bytes;

    /* What the layer will show, for the reckoning alone. */
    layer.block.sector_bytes = sector;
    layer.block.sectors = vm.bytes / sector;
    vm.scheme = vm.frame_bytes >= sector ? NW_VM_DIRECT : NW_VM_MULTI_CACHE;
    (void)nw_vm_check(&vm, &needs);
    vm.ram_bytes = (needs.ram_bytes + 15U) & ~(size_t)15U;
    size_t others = vm.ram_bytes + HEAP_LEAST;
    size_t room = left > others ? (left - others) & ~(size_t)15U : 0;
    size_t layer_bytes = (layer_ram(room) + 15U) & ~(size_t)15U;

    if (left < layer_bytes + others) {
        device_refuse(REFUSE_RAM, (uint32_t)(layer_bytes + others), (uint32_t)left);
    }
    vm.ram = ram;
    open_layer(ram + vm.ram_bytes, layer_bytes);
    device_ram_take(layer_bytes + vm.ram_bytes);
    tell("ram_layer", layer_bytes);
    tell("ram_vm", vm.ram_bytes);
    tell("blocks", slice.chip.geometry.blocks);
    int result = nw_guest_open(&vm);
    if (result < 0) {
        device_refuse(REFUSE_GUEST, (uint32_t)result, needs.reason);
    }
}

#define TELL(from, name) tell(#name, (uintptr_t)(from)->name)

void device_memory_tell(void)
{
    const struct nw_vm_stats *stats = nw_guest_stats();

    TELL(stats, accesses);
    TELL(stats, slot_misses);
    TELL(stats, faults);
    TELL(stats, zero_pages);
    TELL(stats, mapped);
    TELL(stats, evictions);
    TELL(stats, writebacks);
    TELL(stats, sectors_read);
    TELL(stats, sectors_written);
    TELL(&nw_guest_heap.stats, peak);
    TELL(&nw_guest_heap.stats, failures);
}
