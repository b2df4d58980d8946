/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_start.c - start-up of a kernel on the emulated Cortex-M3, natively or in virtual memory
 * (-DVIRTUAL). Storage is an array, every page of the first PAGES is brought in before the count
 * begins: what is counted is the guards. With RAM_BYTES slots, tables and frames have so much, and
 * no page is there at the start; the statistics follow the output, behind a form feed. Ports:
 * run_m3.c.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PORT ((volatile uint32_t *)0x40000000UL)

int main(void);

static void put(char letter)
{
    PORT[1] = (uint32_t)(unsigned char)letter;
}

static void put_number(uint32_t number, uint32_t base, unsigned least)
{
    char text[12];
    unsigned length = 0;

    while (number != 0 || length < least) {
        text[length++] = "0123456789abcdef"[number % base];
        number /= base;
    }
    while (length > 0) {
        put(text[--length]);
    }
}

/* What the kernels print: %d, %u, %zu, %08x and %s of plain strings. */
static int print(const char *format, va_list list)
{
    for (; *format != '\0'; format++) {
        if (*format != '%') {
            put(*format);
            continue;
        }
        format += strspn(format + 1, "08zl") + 1;
        if (*format == 's') {
            for (const char *s = va_arg(list, const char *); *s != '\0'; s++) {
                put(*s);
            }
            continue;
        }
        uint32_t number = va_arg(list, uint32_t);
        if (*format == 'd' && (int32_t)number < 0) {
            put('-');
            number = 0U - number;
        }
        put_number(number, *format == 'x' ? 16 : 10, *format == 'x' ? 8 : 1);
    }
    return 0;
}

#if defined(VIRTUAL)
#include "nandwich-guest/guest.h"

#define SECTOR_BYTES 2048U
#define VM_BYTES (2UL << 20)
#define PAGES 2400U

static uint8_t disk[VM_BYTES];
static uint8_t ram[(VM_BYTES * 3) / 2] __attribute__((aligned(4096)));

static int disk_read(struct nw_block_req *req)
{
    memcpy(req->data, disk + (size_t)req->sector * SECTOR_BYTES,
           (size_t)req->count * SECTOR_BYTES);
    req->done = req->count;
    return NW_OK;
}

static int disk_write(struct nw_block_req *req)
{
    memcpy(disk + (size_t)req->sector * SECTOR_BYTES, req->data,
           (size_t)req->count * SECTOR_BYTES);
    req->done = req->count;
    return NW_OK;
}

static int disk_nothing(struct nw_block_req *req)
{
    req->done = req->count;
    return NW_OK;
}

static const struct nw_block_ops ops = {disk_read, disk_write, disk_nothing, disk_nothing, NULL};
static struct nw_block block = {&ops, NULL, VM_BYTES / SECTOR_BYTES, SECTOR_BYTES, 0, NULL};

static void panic(struct nw_vm *vm, int error, uintptr_t address)
{
    (void)vm;
    (void)error;
    put('!');
    put_number((uint32_t)address, 16, 8);
    PORT[0] = 255;
}

#if defined(RAM_BYTES)
/* As many frames as have room. */
static void fit(struct nw_vm_config *config)
{
    size_t entries = (size_t)nw_guest_slots + nw_guest_lookaside_entries;

    config->base = nw_guest_base;
    config->frame_bytes = nw_guest_frame_bytes;
    config->slots = nw_guest_slots;
    config->slot_table = nw_guest_slot_table;
    config->ram_bytes = RAM_BYTES - entries * sizeof(struct nw_vm_slot);
    config->frames = (uint16_t)(config->ram_bytes / nw_guest_frame_bytes);
    while (config->frames > 0 && nw_vm_ram_bytes(config) > config->ram_bytes) {
        config->frames--;
    }
}

static void warm(void)
{
}

static void put_line(const char *name, uint32_t number)
{
    while (*name != '\0') {
        put(*name++);
    }
    put_number(number, 10, 1);
    put('\n');
}

static void tell(void)
{
    const struct nw_vm_stats *stats = nw_guest_stats();

    put_line("\f\nframes ", nw_guest_vm.frames);
    put_line("misses ", (uint32_t)stats->slot_misses);
    put_line("faults ", (uint32_t)stats->faults);
    put_line("writebacks ", (uint32_t)stats->writebacks);
}
#else
static void fit(struct nw_vm_config *config)
{
    config->frames = PAGES;
    config->ram_bytes = sizeof ram;
}

static void warm(void)
{
    uint8_t byte;

    for (uint32_t page = 0; page < VM_BYTES / nw_guest_frame_bytes && page < PAGES - 200U; page++) {
        (void)nw_vm_read(&nw_guest_vm, &byte, nw_guest_base + page * nw_guest_frame_bytes, 1);
    }
}

static void tell(void)
{
}
#endif

static void open_memory(void)
{
    struct nw_vm_config config = {0};

    config.bytes = VM_BYTES;
    config.block = &block;
    config.panic = panic;
    config.ram = ram;
    fit(&config);
    if (nw_guest_open(&config) < 0) {
        put('?');
        PORT[0] = 255;
    }
    PORT[0] = 3;
    warm();
}

int nw_libc_printf(const char *format, ...);
int nw_libc_printf(const char *format, ...)
#else
static void open_memory(void)
{
}

static void tell(void)
{
}

int printf(const char *format, ...);
int printf(const char *format, ...)
#endif
{
    va_list list;

    va_start(list, format);
    int result = print(format, list);
    va_end(list);
    return result;
}

/* For newlib's malloc. */
void *_sbrk(int bytes);
void *_sbrk(int bytes)
{
    static uint8_t heap[1UL << 20] __attribute__((aligned(16)));
    static uint32_t used;
    void *at = heap + used;

    used += (uint32_t)bytes;
    return at;
}

__attribute__((used, noreturn)) void begin(void);
void begin(void)
{
    open_memory();
    PORT[0] = 1;
    (void)main();
    PORT[0] = 2;
    tell();
    PORT[0] = 255;
    for (;;) {
    }
}
