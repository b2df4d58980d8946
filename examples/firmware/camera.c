/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A camera that decodes its JPEG pictures itself, in megabytes of memory that it does not have: a
 * picture of 512 x 600 takes 1.5 MB, the processor has 64 KB. camera_decode.c is plain C, compiled
 * with the pass, and lives in virtual memory: 32 KB of frames over serial NAND. All else, this file
 * too, is compiled as ever and has nothing virtual.
 *
 * ORDER. Board, part, layer, nw_guest_open(), and only then a call of virtual code. What is kept
 * in virtual memory ends with power, and so does what the lavish layer holds: a slice of the part
 * for nothing else. A part that holds something else is not touched.
 *
 * RULES. Virtual code may be called from the main loop alone, never from an interrupt. What it is
 * handed (the JPEG, struct picture) may lie anywhere; what it has of its own is not to be looked
 * into from here.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "board.h"
#include "camera.h"
#include "nandwich-guest/guest.h"
#include "nandwich/driver_spi_nand.h"
#include "nandwich/ftl_lavish.h"
#include "nandwich/slice.h"

#define VM_BYTES (4UL << 20)
#define FRAME_BYTES (32UL << 10) /* of all frames */
#define PERIOD_MS 60000U

/* The picture. A sensor would write it to RAM or a file; here it lies in code flash. */
__asm__(".section .rodata.jpeg\n.global jpeg\n.global jpeg_end\njpeg:\n.incbin \"" PICTURE
        "\"\njpeg_end:\n.previous\n");
extern const uint8_t jpeg[], jpeg_end[];

static struct nw_spi_nand nand;
static struct nw_slice slice;
static struct nw_ftl_lavish ftl;
static struct nw_ftl_lavish_config ftl_config; /* the defaults, and how many sectors */
static uint32_t ram[RAM_BYTES / 4]; /* virtual memory, then the layer: see open_memory() */

/* What the run time asks of a C library: room for copies of a few strings, and a way to end. */
void *_sbrk(ptrdiff_t bytes);
void *_sbrk(ptrdiff_t bytes)
{
    static uint64_t heap[64];
    static ptrdiff_t used;
    void *at = (uint8_t *)heap + used;

    if (bytes > (ptrdiff_t)sizeof heap - used) {
        return (void *)-1;
    }
    used += bytes;
    return at;
}

void abort(void)
{
    board_fail("abort", 0);
}

/* The part no longer does its work, or the program has run wild. Nothing to save: begin anew. */
static void panic(struct nw_vm *vm, int error, uintptr_t address)
{
    (void)vm;
    (void)address;
    board_fail("virtual memory", error);
}

/* As many blocks of the part as the layer needs, and as many again: then it has less to copy. */
static void open_part(uint32_t bytes)
{
    int result = nw_spi_nand_open(&nand, &board_spi, NULL);

    if (result == NW_OK) {
        ftl_config.sectors = bytes / nand.chip.geometry.page_bytes;
        result = nw_slice_open(&slice, &nand.chip, 0,
                               2U * nw_ftl_lavish_blocks_needed(&ftl_config, &nand.chip));
    }
    if (result < 0) {
        board_fail("flash", result);
    }
}

static void open_memory(void)
{
    struct nw_vm_config vm = {.base = nw_guest_base, .bytes = VM_BYTES, .panic = panic};
    struct nw_vm_needs needs;
    size_t layer_bytes;
    int result;

    open_part(VM_BYTES);
    layer_bytes = nw_ftl_lavish_ram_bytes(&ftl_config, &slice.chip);
    vm.frame_bytes = nw_guest_frame_bytes;
    vm.frames = (uint16_t)(FRAME_BYTES / nw_guest_frame_bytes);
    vm.slots = nw_guest_slots;
    vm.slot_table = nw_guest_slot_table;
    vm.block = &ftl.block;
    ftl.block.sector_bytes = slice.chip.geometry.page_bytes; /* for the reckoning alone */
    ftl.block.sectors = VM_BYTES / ftl.block.sector_bytes;
    (void)nw_vm_check(&vm, &needs);
    vm.ram = ram;
    vm.ram_bytes = (needs.ram_bytes + 15U) & ~(size_t)15U;
    board_say_line("ram", (int32_t)(vm.ram_bytes + layer_bytes));
    if (layer_bytes == 0 || vm.ram_bytes + layer_bytes > sizeof ram) {
        board_fail("RAM_BYTES is not enough", (int)sizeof ram);
    }
    result = nw_ftl_lavish_open(&ftl, &slice.chip, &ftl_config, (uint8_t *)ram + vm.ram_bytes,
                                layer_bytes);
    if (result == NW_OK) {
        result = nw_guest_open(&vm);
    }
    if (result < 0) {
        board_fail("memory", result);
    }
}

static void take_picture(void)
{
    struct picture picture;
    uint32_t since = board_ms();
    int result = camera_decode(jpeg, (uint32_t)(jpeg_end - jpeg), &picture);

    if (result < 0) {
        board_say_line("no picture", result); /* its file is broken; the next one may not be */
        return;
    }
    board_say("picture");
    board_say_number((int32_t)picture.width);
    board_say_number((int32_t)picture.height);
    board_say_number((int32_t)(picture.sum >> 16));
    board_say_number((int32_t)(picture.sum & 0xFFFFU));
    board_say_line("", picture.gray);
    board_say_line("ms", (int32_t)(board_ms() - since));
    board_say_line("faults", (int32_t)nw_guest_stats()->faults);
}

int main(void)
{
    uint32_t due;

    board_open();
    board_say("camera\n");
    open_memory();
    /* A picture takes seconds in one call, and nobody can feed a watchdog from inside it but the
     * code itself. So its limit is what no picture may take. */
    board_watch(26000);
    due = board_ms();
    for (;;) {
        if ((int32_t)(board_ms() - due) >= 0) {
            take_picture();
            due += PERIOD_MS;
        }
        board_alive(); /* the loop turns: a node that waits for its next picture is well */
        board_sleep();
    }
}
