/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guest.h - the program's side of virtual memory, on every target: the one VM instance that
 * instrumented code addresses by name, its start, and the functions behind the guards.
 *
 * ORDER AT START-UP, before any instrumented code (constructors included) runs:
 *   1. read nw_guest_base, nw_guest_frame_bytes and nw_guest_slots: fixed when the program was
 *      built;
 *   2. fill a struct nw_vm_config with them (or leave these fields 0), the block device and RAM;
 *   3. nw_guest_open(): opens VM and heap and copies the initial contents of the globals. On Linux
 *      the range is then taken away from the processor, so an access no guard saw faults.
 *
 * The names below are known to the compiler pass (compiler/runtime.cpp, compiler/names.h) and to
 * the linker scripts: change all of them together.
 */
#ifndef NANDWICH_GUEST_GUEST_H
#define NANDWICH_GUEST_GUEST_H

#include "nandwich/heap.h"
#include "nandwich/vm.h"
#include "nandwich/vm_walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Slots the table has room for; a program uses nw_guest_slots of them. A device with little RAM is
 * built with fewer. */
#ifndef NW_GUEST_SLOTS_MAX
#define NW_GUEST_SLOTS_MAX 64U
#endif

extern struct nw_vm nw_guest_vm;
extern struct nw_heap nw_guest_heap; /* what malloc and its family hand out */
extern struct nw_vm_slot nw_guest_slot_table[NW_GUEST_SLOTS_MAX];
/* Look-aside entries, of which a program uses nw_guest_lookaside_entries. */
#ifndef NW_GUEST_LOOKASIDE_MAX
#define NW_GUEST_LOOKASIDE_MAX 256U
#endif
extern struct nw_vm_slot nw_guest_lookaside[NW_GUEST_LOOKASIDE_MAX];
/* What the program did wrong, once the VM's panic is not the storage's fault; else NULL. */
extern const char *nw_guest_misuse;
/* The signal by which a native run would end there; 0: none. */
extern int nw_guest_signal;
extern nw_count nw_guest_accesses; /* guarded accesses; nw_guest_stats() moves them to the VM */

/* How the program was built. Objects built otherwise are refused by nw_guest_open(). */
extern const uintptr_t nw_guest_base;        /* first virtual address */
extern const uint16_t nw_guest_frame_bytes;
extern const uint16_t nw_guest_slots;
extern const uint16_t nw_guest_lookaside_entries; /* a power of two, or 0 */
extern const uint32_t nw_guest_bytes_max;    /* the most virtual memory the layout has room for */

/* Virtual bytes the program's globals take, from the base on. */
uint32_t nw_guest_globals_bytes(void);

/* Open everything; base, frame_bytes, slots and slot_table are filled in where they are 0, and the
 * look-aside entries always. The heap gets what the globals leave over.
 * NW_ERR_CONFIG: objects built for different frames, slots or entries, or a config that contradicts
 * them, or less virtual memory than the globals need; else as nw_vm_open(), nw_heap_open(),
 * nw_vm_write(). */
int nw_guest_open(const struct nw_vm_config *config);

/* The VM's statistics with the accesses counted so far. Exact after a call from the program; a sum
 * still in a register is missing when the program crashed. */
const struct nw_vm_stats *nw_guest_stats(void);

/* The port may define it: a page of a mapped file, or what of it the file has, was read, or written
 * where `to_file` is not 0. */
void nw_guest_map_moved(size_t bytes, int to_file);

/* The port may define it: another mapping, and now all of them take so many bytes of the heap. */
void nw_guest_map_sized(size_t bytes);

/* What was written to shared mappings goes to their files: this program ends, or another process
 * is about to begin, which looks at them or has a copy of memory. Errors are nobody's. */
void nw_guest_map_save(void);

/* Block operations on any mix of memory, for struct copies and the memory builtins. */
void nw_guest_copy(void *to, const void *from, size_t bytes);
void nw_guest_move(void *to, const void *from, size_t bytes);
void nw_guest_fill(void *to, uint32_t byte, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
