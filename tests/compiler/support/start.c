/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.c - start-up for compiler tests: virtual memory over a RAM block device, so that no chip,
 * no translation layer and no host start-up is involved. NW_TEST_FRAMES sets the number of frames
 * (the least that works otherwise), NW_TEST_STATS=1 prints the statistics at the end,
 * NW_TEST_FAIL=N makes every device operation from the Nth on fail, NW_TEST_WARM=1 brings as many
 * pages in before main as there are frames for. An access to nowhere ends the program with its
 * address.
 */
#include "nandwich-guest/guest.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTOR_BYTES 2048U
#define VM_BYTES (64UL << 20)

static uint8_t *disk;
static unsigned long works = (unsigned long)-1; /* operations until the device fails */

static int works_on(void)
{
    works -= works > 0;
    return works > 0;
}

static uint8_t *place(const struct nw_block_req *req)
{
    return disk + (size_t)req->sector * SECTOR_BYTES;
}

static int disk_read(struct nw_block_req *req)
{
    if (!works_on()) {
        return NW_ERR_IO;
    }
    memcpy(req->data, place(req), (size_t)req->count * SECTOR_BYTES);
    req->done = req->count;
    return NW_OK;
}

static int disk_write(struct nw_block_req *req)
{
    if (!works_on()) {
        return NW_ERR_IO;
    }
    memcpy(place(req), req->data, (size_t)req->count * SECTOR_BYTES);
    req->done = req->count;
    return NW_OK;
}

static int disk_trim(struct nw_block_req *req)
{
    memset(place(req), 0, (size_t)req->count * SECTOR_BYTES);
    req->done = req->count;
    return NW_OK;
}

static int disk_sync(struct nw_block_req *req)
{
    (void)req;
    return NW_OK;
}

static const struct nw_block_ops disk_ops = {disk_read, disk_write, disk_trim, disk_sync, NULL};
static struct nw_block disk_block = {
    &disk_ops, NULL, VM_BYTES / SECTOR_BYTES, SECTOR_BYTES, 0, NULL};

static void panic(struct nw_vm *vm, int error, uintptr_t address)
{
    (void)vm;
    fprintf(stderr, "test: panic: %s at %#lx\n", nw_error_text(error), (unsigned long)address);
    _exit(3);
}

static void nowhere(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    fprintf(stderr, "test: nothing at %p\n", info->si_addr);
    _exit(5);
}

static void report(void)
{
    const struct nw_vm_stats *stats = nw_guest_stats();

    fprintf(stderr, "accesses %lu\nmisses %lu\nfaults %lu\nwritebacks %lu\n",
            (unsigned long)stats->accesses, (unsigned long)stats->slot_misses,
            (unsigned long)stats->faults, (unsigned long)stats->writebacks);
}

/* So that what is measured is the guards, not the faults. */
static void warm(void)
{
    uint8_t byte;

    for (uint32_t page = 0; page + nw_guest_slots + 2U < nw_guest_vm.frames; page++) {
        (void)nw_vm_read(&nw_guest_vm, &byte,
                         nw_guest_base + (uintptr_t)page * nw_guest_frame_bytes, 1);
    }
}

__attribute__((constructor(101))) static void start(void)
{
    struct nw_vm_config config = {0};
    const char *frames = getenv("NW_TEST_FRAMES");
    size_t align = 4096;

    struct sigaction action = {.sa_sigaction = nowhere, .sa_flags = SA_SIGINFO};
    const char *fail = getenv("NW_TEST_FAIL");

    sigaction(SIGSEGV, &action, NULL);
    works = fail != NULL ? strtoul(fail, NULL, 10) : works;
    config.bytes = VM_BYTES;
    config.base = nw_guest_base;
    config.frame_bytes = nw_guest_frame_bytes;
    config.slots = nw_guest_slots;
    config.frames = (uint16_t)(frames != NULL ? atoi(frames) : nw_guest_slots + 2);
    config.slot_table = nw_guest_slot_table;
    config.block = &disk_block;
    config.panic = panic;
    disk = calloc(1, VM_BYTES);
    config.ram_bytes = nw_vm_ram_bytes(&config);
    config.ram = aligned_alloc(align, (config.ram_bytes + align - 1) / align * align);
    int result = disk == NULL || config.ram == NULL ? NW_ERR_RAM : nw_guest_open(&config);
    if (result < 0) {
        fprintf(stderr, "test: start: %s\n", nw_error_text(result));
        _exit(4);
    }
    if (getenv("NW_TEST_WARM") != NULL) {
        warm();
    }
    if (getenv("NW_TEST_STATS") != NULL) {
        atexit(report);
    }
}
