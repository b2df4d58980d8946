/* SPDX-License-Identifier: Apache-2.0 */
#include "accesses.h"

#include "nandwich-guest/guest.h"
#include "nandwich-vmtrace/access.h"
#include "nandwich/error.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A block operation goes a page at a time, here and there in turn; so does its record. */
#define PIECE_BYTES 256U

/* What the pass notes of each global in virtual memory; change both together. */
struct object {
    const void *address;
    uintptr_t bytes, element_bytes;
    const char *name;
};

extern const struct object __start_nw_objects[] __attribute__((weak));
extern const struct object __stop_nw_objects[] __attribute__((weak));

static struct nw_access_writer writer;
static int recording;

/* Built with -nw-trace: the linker leads calls of these through the functions below. */
int __real_nw_vm_move(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n)
    __attribute__((weak));
int __real_nw_vm_pass(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n)
    __attribute__((weak));
int __real_nw_vm_fill(struct nw_vm *vm, uintptr_t to, uint8_t value, size_t n)
    __attribute__((weak));
int __real_nw_vm_compare(struct nw_vm *vm, uintptr_t a, uintptr_t b, size_t n, int *order)
    __attribute__((weak));
int __real_nw_vm_find(struct nw_vm *vm, uintptr_t from, uint8_t value, size_t n, size_t *index)
    __attribute__((weak));

int __wrap_nw_vm_move(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n);
int __wrap_nw_vm_pass(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n);
int __wrap_nw_vm_fill(struct nw_vm *vm, uintptr_t to, uint8_t value, size_t n);
int __wrap_nw_vm_compare(struct nw_vm *vm, uintptr_t a, uintptr_t b, size_t n, int *order);
int __wrap_nw_vm_find(struct nw_vm *vm, uintptr_t from, uint8_t value, size_t n, size_t *index);
void nw_guest_note_read(const void *address, size_t bytes);
void nw_guest_note_write(const void *address, size_t bytes);

static void note(uintptr_t address, size_t bytes, int write)
{
    uintptr_t offset = address - writer.base;

    if (offset >= writer.range_bytes || bytes == 0 || !recording) {
        return;
    }
    if (bytes > writer.range_bytes - offset) {
        bytes = writer.range_bytes - offset;
    }
    nw_access_put(&writer, address, (uint32_t)bytes, write);
}

void nw_guest_note_read(const void *address, size_t bytes)
{
    note((uintptr_t)address, bytes, 0);
}

void nw_guest_note_write(const void *address, size_t bytes)
{
    note((uintptr_t)address, bytes, 1);
}

static void note_two(uintptr_t a, uintptr_t b, size_t n, int write_a)
{
    for (size_t at = 0; at < n && recording; at += PIECE_BYTES) {
        size_t piece = n - at < PIECE_BYTES ? n - at : PIECE_BYTES;

        note(b + at, piece, 0);
        note(a + at, piece, write_a);
    }
}

int __wrap_nw_vm_move(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n)
{
    note_two(to, from, n, 1);
    return __real_nw_vm_move(vm, to, from, n);
}

int __wrap_nw_vm_pass(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n)
{
    if (to != (uintptr_t)vm->bounce) { /* else a guard's own, which has told its access */
        note_two(to, from, n, 1);
    }
    return __real_nw_vm_pass(vm, to, from, n);
}

int __wrap_nw_vm_fill(struct nw_vm *vm, uintptr_t to, uint8_t value, size_t n)
{
    note(to, n, 1);
    return __real_nw_vm_fill(vm, to, value, n);
}

int __wrap_nw_vm_compare(struct nw_vm *vm, uintptr_t a, uintptr_t b, size_t n, int *order)
{
    note_two(a, b, n, 0);
    return __real_nw_vm_compare(vm, a, b, n, order);
}

int __wrap_nw_vm_find(struct nw_vm *vm, uintptr_t from, uint8_t value, size_t n, size_t *index)
{
    int result = __real_nw_vm_find(vm, from, value, n, index);

    note(from, result == NW_OK ? *index + 1U : n, 0);
    return result;
}

int nw_host_accesses_built(void)
{
    return __real_nw_vm_move != NULL;
}

/* The file is the parent's. */
static void in_child(void)
{
    recording = 0;
}

static int by_address(const void *a, const void *b)
{
    const struct object *x = *(const struct object *const *)a;
    const struct object *y = *(const struct object *const *)b;

    return (x->address > y->address) - (x->address < y->address);
}

/* Two files may name one object (weak ones): it is told once. NW_OK, NW_ERR_RAM. */
static int put_objects(void)
{
    size_t count = (size_t)(__stop_nw_objects - __start_nw_objects);
    const struct object **order = (const struct object **)malloc((count + 1U) * sizeof(void *));
    uintptr_t behind = 0;

    if (order == NULL) {
        return NW_ERR_RAM;
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = &__start_nw_objects[i];
    }
    qsort((void *)order, count, sizeof(void *), by_address);
    for (size_t i = 0; i < count; i++) {
        struct nw_access_object object = {(uintptr_t)order[i]->address, (uint32_t)order[i]->bytes,
                                          (uint32_t)order[i]->element_bytes, ""};

        if (object.address >= behind && object.address - writer.base < writer.range_bytes) {
            strncpy(object.name, order[i]->name, sizeof object.name - 1);
            nw_access_put_object(&writer, &object);
            behind = (uintptr_t)order[i]->address + order[i]->bytes;
        }
    }
    free((void *)order);
    return NW_OK;
}

int nw_host_accesses_open(const char *path, uintptr_t base, uint32_t bytes)
{
    int result = nw_access_create(&writer, path, base, bytes);

    if (result == NW_OK && (put_objects() < 0 || pthread_atfork(NULL, NULL, in_child) != 0)) {
        (void)nw_access_finish(&writer, 0);
        errno = ENOMEM;
        result = NW_ERR_IO;
    }
    recording = result == NW_OK;
    return result;
}

int nw_host_accesses_close(void)
{
    int open = recording;

    recording = 0;
    return open ? nw_access_finish(&writer, 1) : NW_OK;
}
