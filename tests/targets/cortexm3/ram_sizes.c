/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What layers and the store need of a Cortex-M3: RAM on parts of several sizes, by their own
 * ..._ram_bytes(), and stack, by painting it while each formats, fills, rewrites and mounts a chip
 * that is an array. docs/guide-ram.md shows these figures.
 */
#include <stddef.h>
#include <string.h>

#include "firmware.h"
#include "nandwich/driver_spi_nand.h"
#include "nandwich/ftl_lavish.h"
#include "nandwich/ftl_tree.h"
#include "nandwich/store.h"
#include "nandwich/vm.h"

#define BLOCKS 40U
#define PAGES 16U
#define DATA 512U
#define LINE (DATA + 16U)
#define PAINT 0xA5A5A5A5U
#define PAINTED 2000U /* words */

static uint8_t flash[BLOCKS * PAGES][LINE];
static uint64_t ram[2048];
static uint8_t sector[DATA];

static int chip_read(struct nw_chip_req *req)
{
    memcpy(req->data, &flash[req->page][req->offset], req->length);
    memcpy(req->spare, &flash[req->page][DATA + req->spare_offset], req->spare_length);
    return 0;
}

static int chip_program(struct nw_chip_req *req)
{
    memcpy(&flash[req->page][req->offset], req->data, req->length);
    memcpy(&flash[req->page][DATA + req->spare_offset], req->spare, req->spare_length);
    return NW_OK;
}

static int chip_erase(struct nw_chip_req *req)
{
    memset(flash[req->block * PAGES], 0xFF, PAGES * LINE);
    return NW_OK;
}

static int chip_is_bad(struct nw_chip_req *req)
{
    (void)req;
    return 0;
}

static const struct nw_chip_ops ops = {.read = chip_read,
                                       .program = chip_program,
                                       .erase = chip_erase,
                                       .is_bad = chip_is_bad,
                                       .mark_bad = chip_is_bad};
static const struct nw_geometry shape = {.blocks = BLOCKS,
                                         .block_pages = PAGES,
                                         .page_bytes = DATA,
                                         .spare_bytes = 16,
                                         .program_bytes = DATA,
                                         .page_programs = 1,
                                         .erased = 0xFF,
                                         .flags = NW_CHIP_IN_ORDER};
static struct nw_chip chip;

static const struct nw_ftl_tree_config tree_config;
static const struct nw_store_config store_config;

/* Every word below the stack pointer that is no longer as painted has been used. */
__attribute__((noinline)) static uint32_t stack_of(int (*work)(void), int *result)
{
    volatile uint32_t paint[PAINTED];
    uint32_t untouched = 0;

    for (uint32_t i = 0; i < PAINTED; i++) {
        paint[i] = PAINT;
    }
    __asm__ volatile("" ::: "memory");
    {
        /* The work runs with its stack at the top of the paint. */
        register uint32_t *top __asm__("r4") = (uint32_t *)(uintptr_t)&paint[PAINTED];
        register int (*call)(void) __asm__("r5") = work;
        register uint32_t old __asm__("r6");
        register int answer __asm__("r0");

        __asm__ volatile("mov %1, sp\n\tmov sp, %2\n\tblx %3\n\tmov sp, %1\n"
                         : "=r"(answer), "=&r"(old)
                         : "r"(top), "r"(call)
                         : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
        *result = answer;
    }
    while (untouched < PAINTED && paint[untouched] == PAINT) {
        untouched++;
    }
    return (PAINTED - untouched) * 4U;
}

static int use_block(struct nw_block *block)
{
    struct nw_block_req req = {.block = block, .count = 1, .data = sector};
    int result = NW_OK;

    for (uint32_t i = 0; i < 3U * block->sectors && result >= 0; i++) {
        req.sector = i < block->sectors ? i : i * 7U % block->sectors;
        result = nw_block_write(&req);
    }
    for (uint32_t i = 0; i < block->sectors && result >= 0; i++) {
        req.sector = i;
        result = nw_block_read(&req);
    }
    if (result >= 0) {
        result = nw_block_sync(&req);
    }
    return result;
}

static int work_tree(void)
{
    static struct nw_ftl_tree ftl;
    int result = nw_ftl_tree_format(&ftl, &chip, &tree_config, ram, sizeof ram);

    if (result >= 0) {
        result = use_block(&ftl.block);
    }
    return result < 0 ? result : nw_ftl_tree_mount(&ftl, &chip, &tree_config, ram, sizeof ram);
}

static int work_store(void)
{
    static const struct nw_store_spec queue = {.type = NW_STORE_QUEUE};
    static const struct nw_store_spec file = {.type = NW_STORE_FILE};
    struct nw_store *store;
    int result = nw_store_format(&store, &chip, &store_config, ram, sizeof ram);
    int handle = result < 0 ? result : nw_store_create(store, "queue", &queue);
    int text = handle < 0 ? handle : nw_store_create(store, "file", &file);

    for (uint32_t i = 0; i < 3000U && handle >= 0 && text >= 0 && result >= 0; i++) {
        result = nw_store_push(store, handle, sector, 100);
        if (result >= 0 && i > 500U) {
            result = nw_store_dequeue(store, handle, sector, DATA);
        }
        if (result >= 0 && i % 8U == 0) {
            result = nw_store_write(store, text, i % 400U == 0 ? 0 : i % 400U - 8U, sector, 8);
        }
        if (result >= 0 && i % 16U == 0) {
            result = nw_store_sync(store);
        }
    }
    if (result < 0 || text < 0) {
        return text < 0 ? text : result;
    }
    return nw_store_mount(&store, &chip, &store_config, ram, sizeof ram);
}

static void say_stack(const char *name, int (*work)(void))
{
    int result;
    uint32_t bytes;

    memset(flash, 0xFF, sizeof flash);
    bytes = stack_of(work, &result);
    firmware_say(name, result < 0 ? result : (int32_t)bytes);
}

/* With the layer's struct; 0: it does not work there. */
static int32_t with_struct(size_t ram_bytes, size_t state_bytes)
{
    return ram_bytes == 0 ? 0 : (int32_t)(ram_bytes + state_bytes);
}

static void say_ram(const struct nw_geometry *geometry)
{
    struct nw_chip part = {.ops = &ops, .geometry = *geometry};
    struct nw_ftl_lavish_config lavish = {.sectors = 1U << 20};

    lavish.sectors /= geometry->page_bytes;
    firmware_say("tree", with_struct(nw_ftl_tree_ram_bytes(&tree_config, geometry),
                                     sizeof(struct nw_ftl_tree)));
    firmware_say("lavish", with_struct(nw_ftl_lavish_ram_bytes(&lavish, &part),
                                       sizeof(struct nw_ftl_lavish)));
    firmware_say("store", (int32_t)nw_store_ram_bytes(&store_config, geometry));
}

static void say_parts(void)
{
    struct nw_geometry part = {.blocks = 1024,
                               .block_pages = 64,
                               .page_bytes = 2048,
                               .spare_bytes = 16,
                               .program_bytes = 2048,
                               .page_programs = 1,
                               .erased = 0xFF,
                               .flags = NW_CHIP_IN_ORDER};

    say_ram(&part); /* 128 MiB of SPI NAND */
    part.blocks = 256;
    say_ram(&part); /* 32 MiB of it */
    part.blocks = 64;
    say_ram(&part); /* 8 MiB of it */
    part.blocks = 1024;
    part.block_pages = 32;
    part.page_bytes = 512;
    part.program_bytes = 512;
    part.spare_bytes = 15;
    say_ram(&part); /* 16 MiB of NAND with small pages */
    part.blocks = 4096;
    part.block_pages = 16;
    part.page_bytes = 256;
    part.program_bytes = 1;
    part.page_programs = NW_PROGRAMS_UNLIMITED;
    part.spare_bytes = 0;
    part.flags = NW_CHIP_READ_ERASED;
    firmware_say("store-nor", (int32_t)nw_store_ram_bytes(&store_config, &part));
    part.blocks = 256;
    part.block_pages = 8;
    part.page_bytes = 264;
    firmware_say("store-dataflash", (int32_t)nw_store_ram_bytes(&store_config, &part));
}

int firmware_main(void)
{
    chip = (struct nw_chip){.ops = &ops, .geometry = shape};
    say_parts();
    firmware_say("spi-nand", (int32_t)(sizeof(struct nw_spi) + sizeof(struct nw_spi_nand)));
    say_stack("stack-tree", work_tree);
    say_stack("stack-store", work_store);
    return 0;
}
