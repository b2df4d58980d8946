/* SPDX-License-Identifier: Apache-2.0 */
/* ram.c - the RAM behind the variables, handed out from its start. */
#include "device.h"

/* From the linker script. */
extern uint8_t bss_end[], ram_end[];

static uint8_t *ram_next;

size_t device_ram_left(uint8_t **start)
{
    if (ram_next == NULL) {
        ram_next = bss_end;
    }
    *start = (uint8_t *)(((uintptr_t)ram_next + 15U) & ~(uintptr_t)15U);
    return *start < ram_end ? (size_t)(ram_end - *start) : 0;
}

void device_ram_take(size_t bytes)
{
    uint8_t *start;

    (void)device_ram_left(&start);
    ram_next = start + bytes;
}

#if defined(__AVR__)
#include <stdlib.h>

void device_heap_begin(void)
{
    uint8_t *start;

    (void)device_ram_left(&start);
    __malloc_heap_start = (char *)start;
    __malloc_heap_end = (char *)ram_end;
}
#else
void device_heap_begin(void)
{
}
#endif
