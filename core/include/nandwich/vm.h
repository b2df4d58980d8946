/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm.h - software virtual memory: an address range larger than RAM, cached in page frames over a
 * block device, reached by guards the compiler puts before each access (compiler/).
 *
 * Words: a page is frame_bytes of virtual memory, a frame the RAM that holds one page, a sector the
 * block device's unit. A slot is a last-cache buffer (Lin et al. 2013, section 4): it remembers
 * where one page lies and pins it there, so nothing has to be invalidated. A page outside the
 * virtual range is an identity page: a slot may hold it too, with its own address as base, so the
 * fast path needs no range check. An address outside the virtual range is called plain.
 *
 * The guard, for an access of n bytes at address a through slot s:
 *   load:  o = a - s->read_tag;  if (o <= frame_bytes - n) use s->base + o
 *          else use nw_vm_load_miss(s, a, n, vm)
 *   store: o = a - s->write_tag; if (o <= frame_bytes - n) store to s->base + o
 *          else nw_vm_store_miss(vm, s, a, n, &value)
 * A valid write tag means the page is already marked dirty: stores cost no dirty tracking.
 *
 * POINTERS. What a miss function answers stays good until that slot's next miss, nw_vm_flush() or
 * nw_vm_slots_release(). What nw_vm_pin() answers stays good until its nw_vm_unpin().
 *
 * ERRORS. An error inside a guard has nowhere to be returned to, so every error but "no pin left"
 * goes to the caller's panic function, with the virtual address concerned; functions that answer
 * an int answer it too when panic returns. Dirty pages whose write-back failed stay dirty in RAM.
 * panic should not return into guarded code; it may longjmp away: the bookkeeping is whole
 * whenever it is called. Should it return all the same, a load gives zeros and a store is dropped.
 *
 * CONTENT. A page never written reads as zeros and costs no device read. Nothing persists: what the
 * device held before nw_vm_open() is not looked at.
 *
 * ONE THREAD. A VM and its slots belong to one thread of control; an interrupt handler may touch
 * pinned memory only. Any number of VMs may exist side by side on different devices.
 *
 * COST. A resident page is found by one hash of about one step. A fault costs at most one sector
 * (or frame, if larger) read, and a dirty victim at most one read and one write more.
 */
#ifndef NANDWICH_VM_H
#define NANDWICH_VM_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/block.h"
#include "nandwich/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An empty tag: the last page of the address space, where nothing lives. */
#define NW_VM_NO_TAG(frame_bytes) ((uintptr_t)0 - (uintptr_t)(frame_bytes))

/* The longest access one guard may make, bytes. */
#define NW_VM_ACCESS_MAX 16U

/* The most slots a VM takes: each may pin the same frame, and a frame counts its pins in a byte. */
#define NW_VM_SLOTS_MAX 200U

/* The layout is known to the compiler pass: change both together. */
struct nw_vm_slot {
    uintptr_t read_tag;  /* first address of the page held, or empty */
    uintptr_t write_tag; /* the same once the page is dirty, else empty */
    uint8_t *base;       /* where the page lies in RAM; meaningless while read_tag is empty */
    uintptr_t frame;     /* the run time's: whose pin this slot has */
};

enum nw_vm_policy {
    NW_VM_CLOCK = 0, /* second chance; a dirty candidate yields to a clean one close behind it */
    NW_VM_LRU = 1    /* by last use: fault, bulk access, or end of a slot's hold; 4 B a frame */
};

enum nw_vm_scheme {
    NW_VM_MULTI_CACHE = 0, /* on write-back gather the dirty frames of the sector, fill the rest */
    NW_VM_DIRECT = 1       /* a frame is one sector or more: plain, or shrunk by nw_shrink */
};

/* Counts only grow; the owner may zero them. */
struct nw_vm_stats {
    nw_count accesses;    /* guards run; added by instrumented code, 0 when it does not count */
    nw_count slot_misses; /* calls of a miss function: slot hits are accesses - slot_misses */
    nw_count straddles;   /* of these: across two pages, assembled without a slot */
    nw_count identity;    /* of these: refilled with a plain page */
    nw_count faults;      /* pages that had to be brought into a frame; so many of them ... */
    nw_count zero_pages;  /* ... never written: filled with zeros, nothing read */
    nw_count covered;     /* ... about to be overwritten as a whole: nothing read */
    nw_count buffer_hits; /* ... found in the sector buffer: nothing read */
    nw_count mapped;      /* ... read from a map (vm_map.h) */
    nw_count evictions;   /* pages that had to leave their frame */
    nw_count writebacks;  /* dirty pages written to the device */
    nw_count sectors_read;
    nw_count sectors_written;
    nw_count merges;      /* write-backs that had to read the rest of their sector first */
    nw_count discards;    /* pages dropped by nw_vm_discard() */
    nw_count bulk_calls;  /* nw_vm_read .. nw_vm_find */
    nw_count bulk_bytes;  /* bytes these went over */
    nw_count sectors_trimmed;
};

struct nw_vm;

struct nw_vm_config {
    uintptr_t base;          /* first virtual address, a multiple of frame_bytes */
    uint32_t bytes;          /* size of the range, a multiple of frame and sector; base + bytes must
                                not pass NW_VM_NO_TAG(frame_bytes) */
    uint16_t frame_bytes;    /* power of two, 16 .. 32768 */
    uint16_t frames;         /* page frames, slots + pins + 2 .. 65000 */
    uint16_t slots;          /* entries of slot_table, 0 .. NW_VM_SLOTS_MAX */
    uint16_t pins;           /* nw_vm_pin() calls that must never fail for want of a frame */
    uint8_t policy;          /* enum nw_vm_policy */
    uint8_t scheme;          /* enum nw_vm_scheme */
    struct nw_block *block;  /* sector_bytes a power of two */
    void *ram;               /* ram_bytes of it, aligned for any type; frames begin at its start */
    size_t ram_bytes;        /* at least nw_vm_ram_bytes() */
    struct nw_vm_slot *slot_table; /* emptied by nw_vm_open(); may be NULL when slots is 0 */
    /* Told of every error; see ERRORS. May be NULL when slots is 0. */
    void (*panic)(struct nw_vm *vm, int error, uintptr_t address);
    void *context;           /* the caller's own, found again in vm->context */
    /* Look-aside entries: slots that do not pin. Guards choose one by (address / frame_bytes) %
     * lookaside_entries, access at once and keep nothing, so a page may leave at any time: its one
     * entry is then emptied. A small direct-mapped cache for accesses no slot of their own pays
     * for. */
    struct nw_vm_slot *lookaside; /* emptied by nw_vm_open(); NULL when there are none */
    uint16_t lookaside_entries;   /* a power of two, or 0 */
};

/* Why a configuration is refused. */
enum nw_vm_reason {
    NW_VM_FITS = 0,
    NW_VM_BAD_FRAME = 1,   /* frame_bytes is no power of two or out of range */
    NW_VM_BAD_RANGE = 2,   /* base or bytes off their multiple, empty, or past the address space */
    NW_VM_BAD_SECTOR = 3,  /* sector_bytes is no power of two, or direct with sector > frame */
    NW_VM_BAD_CHOICE = 4,  /* unknown policy or scheme, too many slots, no slot_table, no panic, or
                                look-aside entries that are no power of two or not there */
    NW_VM_FEW_FRAMES = 5,  /* frames < needs.frames (or > 65000) */
    NW_VM_SMALL_BLOCK = 6, /* block->sectors < needs.sectors */
    NW_VM_SMALL_RAM = 7    /* ram_bytes < needs.ram_bytes */
};

/* The arithmetic behind a refusal. */
struct nw_vm_needs {
    uint32_t frames;  /* slots + pins + 2 */
    uint32_t sectors; /* bytes / sector_bytes */
    size_t ram_bytes; /* nw_vm_ram_bytes(); 0 when an earlier reason makes it meaningless */
    uint8_t reason;   /* enum nw_vm_reason: the first that applies */
};

struct nw_vm_frame;
struct nw_vm_order;
struct nw_vm_map;
struct nw_vm_mapped;

/* One virtual memory. The caller owns the struct and reads stats and the copied configuration; the
 * rest is the run time's own. What every miss reads comes first: small processors reach the front
 * of a struct with shorter instructions. */
struct nw_vm {
    uint8_t frame_shift;       /* log2 of frame_bytes */
    uint8_t bucket_shift;      /* 32 - log2 of buckets */
    uint8_t unit_shift;        /* log2 of pages a unit */
    uint8_t policy;
    uint8_t scheme;
    uint16_t frame_bytes;
    uint16_t frames;
    uint16_t slots;
    uint16_t unit_sectors;     /* sectors a unit, > 1 when a frame spans several */
    uint16_t free;             /* chain of empty frames */
    uint16_t hand;             /* CLOCK */
    uint16_t pins_left;
    uint16_t lookaside_mask;   /* entries - 1 */
    uintptr_t no_tag;          /* NW_VM_NO_TAG(frame_bytes) */
    uint32_t spread;           /* hash of a page: its address times this */
    uintptr_t base;
    uintptr_t bytes;
    uint8_t *memory;           /* frames * frame_bytes */
    struct nw_vm_frame *frame; /* what each frame holds */
    uint16_t *bucket;          /* hash of resident pages: first frame of each chain */
    struct nw_vm_order *order; /* LRU ring, frames + 1; NULL under CLOCK */
    struct nw_vm_slot *lookaside;
    struct nw_vm_slot *slot_table;
    uint8_t *written;          /* a bit for each unit: its device content counts */
    uint8_t *sector;           /* one sector, when a sector holds several pages, else NULL */
    uint32_t sector_unit;      /* unit whose device content `sector` holds, or NW_VM_NO_UNIT */
    uint32_t units;            /* a unit is what is read and written at once: sector or frame */
    struct nw_block *block;
    uintptr_t error_at;        /* virtual address of the last error */
    struct nw_vm_stats stats;
    void (*panic)(struct nw_vm *vm, int error, uintptr_t address);
    void *context;
    uint8_t bounce[NW_VM_ACCESS_MAX];
    uint32_t heaps;            /* opened in it so far; see heap.h */
    struct nw_vm_map *maps;    /* vm_map.h */
    const struct nw_vm_mapped *mapped; /* NULL until there is one */
};

#define NW_VM_NO_UNIT 0xFFFFFFFFUL

/* NW_OK, or NW_ERR_CONFIG or NW_ERR_RAM with the reason and the arithmetic in *needs. Touches
 * nothing. ram, ram_bytes, slot_table and panic are looked at last, so a caller may leave them
 * zero to ask for needs.ram_bytes. */
int nw_vm_check(const struct nw_vm_config *config, struct nw_vm_needs *needs);

/* RAM for this configuration, bytes; 0 when it is refused for another reason. Per frame:
 * frame_bytes + 8, + 2 to 4 of hash, + 4 under LRU; once 8, and 4 under LRU. Per unit (sector or
 * frame, the larger) of virtual memory: one bit. And one sector when a sector holds several
 * frames. */
size_t nw_vm_ram_bytes(const struct nw_vm_config *config);

/* NW_OK, or what nw_vm_check() says. The range reads as zeros afterwards. */
int nw_vm_open(struct nw_vm *vm, const struct nw_vm_config *config);

/* The slow sides of the guard; n is 1 .. NW_VM_ACCESS_MAX, any alignment. slot is one of the slot
 * table, or the look-aside entry of this address. Where the VM comes last, a guard's call has the
 * rest in place already.
 *
 * load: where n bytes can be read; the slot then holds the page. An access across two pages is put
 * together in a buffer of the VM (good until the next load miss), and the slot stays as it was.
 * Cost with the page resident, under CLOCK: about 40 instructions, 8 more of a slot. */
const uint8_t *nw_vm_load_miss(struct nw_vm_slot *slot, uintptr_t address, size_t n,
                               struct nw_vm *vm);

/* store: does the whole store; the slot then holds the page for writing. On a page the slot holds
 * for reading already this only marks it dirty. */
void nw_vm_store_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n,
                      const void *value);

/* read and write in one (atomics): where, marked dirty. Across two pages: panic, NW_ERR_ALIGN. */
uint8_t *nw_vm_modify_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n);

/* Where n bytes on one page can be stored; the slot then holds the page for writing. After an error
 * that is a buffer of the VM; with n 0, where a page is not resident or memory is plain, it is NULL
 * and nothing has changed. Cost: as a load's. */
uint8_t *nw_vm_write_miss(struct nw_vm_slot *slot, uintptr_t address, size_t n, struct nw_vm *vm);

/* The short way of a miss: where the n bytes lie, and the slot then holds their page. NULL, and
 * nothing has changed, when they lie on two pages, on a page that is not resident, or in plain
 * memory. n is 1 .. frame_bytes. Never touches the device. Cost: as a load's. */
uint8_t *nw_vm_hold_write(struct nw_vm_slot *slot, uintptr_t address, size_t n, struct nw_vm *vm);

/* The same for reading, of one byte. */
static inline const uint8_t *nw_vm_hold_read(struct nw_vm_slot *slot, uintptr_t address,
                                             struct nw_vm *vm)
{
    return nw_vm_load_miss(slot, address, 0, vm); /* no bytes are worth a fault */
}

/* Empty every slot and look-aside entry. To be called from plain code only, as a guard may rely on
 * its slot. */
void nw_vm_slots_release(struct nw_vm *vm);

/* Bulk: any mix of virtual and plain addresses, a page at a time. A range that begins in one kind
 * of memory and runs into the other is NW_ERR_RANGE. Whole pages are overwritten without being
 * read. On a device error the destination holds any mix of old, new and undefined bytes. n may be
 * 0. */
int nw_vm_move(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n); /* may overlap */
static inline int nw_vm_copy(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n)
{
    return nw_vm_move(vm, to, from, n); /* telling overlaps apart costs one subtraction */
}
static inline int nw_vm_read(struct nw_vm *vm, void *to, uintptr_t from, size_t n)
{
    return nw_vm_move(vm, (uintptr_t)to, from, n);
}
static inline int nw_vm_write(struct nw_vm *vm, uintptr_t to, const void *from, size_t n)
{
    return nw_vm_move(vm, to, (uintptr_t)from, n);
}
int nw_vm_fill(struct nw_vm *vm, uintptr_t to, uint8_t value, size_t n);

/* *order becomes < 0, 0 or > 0 as memcmp() says. */
int nw_vm_compare(struct nw_vm *vm, uintptr_t a, uintptr_t b, size_t n, int *order);

/* *index becomes that of the first byte equal to value, or NW_ERR_NOT_FOUND (no panic). n is cut
 * where the memory `from` lies in ends, so SIZE_MAX means "to the end". */
int nw_vm_find(struct nw_vm *vm, uintptr_t from, uint8_t value, size_t n, size_t *index);

/* Keep the page of `address` where it is: answers where the byte lies, and in *span how many bytes
 * from it on are in reach (to the end of the page; of a plain address: of its memory). With write
 * the page is dirty from now on. NULL without panic when no pin is left: there are frames - slots
 * - 2 in all, and a page takes 250 - slots, whatever slots hold it too. NULL after panic on a
 * device error. Cost beyond the page's own: a look at each slot. */
uint8_t *nw_vm_pin(struct nw_vm *vm, uintptr_t address, int write, size_t *span);

/* Undo one nw_vm_pin() of that page. NW_ERR_NOT_FOUND when none of that page is left to undo.
 * Plain: no effect. Cost: a look at each slot. */
int nw_vm_unpin(struct nw_vm *vm, uintptr_t address);

/* Empty every slot, write every dirty page, sync the device. Pages pinned for writing are written
 * and stay dirty. */
int nw_vm_flush(struct nw_vm *vm);

/* The content of the whole pages inside the range is no longer needed: they are not written back,
 * and sectors freed entirely are trimmed. Until written again these bytes read as what they held
 * last or as zeros, never as anything older: a dirty page of a sector that is not freed entirely
 * stays, unless that sector was never written. Pinned pages are left alone, and count as not freed.
 * On an error the address told is the page's or the sector's, whichever is larger: of it some
 * sectors may be zeros already, and all behind it is as it was. */
int nw_vm_discard(struct nw_vm *vm, uintptr_t address, size_t n);

#ifdef __cplusplus
}
#endif

#endif
