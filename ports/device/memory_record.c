/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_record.c - NW_VM variables of a program that records on the board: they lie in RAM, and
 * each access is told to the host. Nothing of it is kept on the node.
 */
#include "device.h"
#include "nandwich-tagged/tagged.h"

/* What the pass notes of each variable; change both together. */
struct object {
    const uint8_t *address;
    uintptr_t bytes, element_bytes;
    const char *name, *file;
};

extern const struct object __start_nw_objects[], __stop_nw_objects[];

void device_memory_open(void)
{
    for (const struct object *one = __start_nw_objects; one < __stop_nw_objects; one++) {
        uint32_t shape[2] = {(uint32_t)one->bytes, (uint32_t)one->element_bytes};

        (void)device_call(CALL_VARIABLE, (uintptr_t)one->name, (uintptr_t)one->address,
                          (uintptr_t)shape);
    }
}

void device_memory_tell(void)
{
}

static void note(const void *address, size_t bytes, uint8_t write)
{
    (void)device_call(CALL_ACCESS, (uintptr_t)address, bytes, write);
}

void nw_tagged_note_read(const void *address, size_t bytes)
{
    note(address, bytes, 0);
}

void nw_tagged_note_write(const void *address, size_t bytes)
{
    note(address, bytes, 1);
}

void nw_tagged_get(uint8_t *to, const uint8_t *from, uint8_t bytes)
{
    note(from, bytes, 0);
    memcpy(to, from, bytes);
}

void nw_tagged_put(uint8_t *to, const uint8_t *from, uint8_t bytes)
{
    note(to, bytes, 1);
    memcpy(to, from, bytes);
}
