/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - mmap() and its family: files and anonymous memory in the virtual range.
 *
 * A mapping is a block of the virtual heap, at a page of the host's, over which the VM has a map
 * (vm_map.h): its pages come from the file when they are touched. The file stays open by a
 * descriptor of ours. What read() and write() of a mapped file say is what its mappings hold, as on
 * the host, for mappings that are shared or only read; through stdio it is not.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nandwich/vm_map.h"

#define OWN_FILES 200 /* descriptors of ours are from here on, out of the program's way */

/* A part that is unmapped while others are not. */
struct hole {
    uintptr_t begin, end; /* in the mapping */
    struct hole *next;
};

struct mapping {
    struct nw_vm_map map; /* first: the VM knows this alone */
    struct mapping *next;
    struct hole *holes;
    uintptr_t random_begin, random_end; /* in the mapping: read in parts, as advised */
    int file; /* -1: none */
    uint64_t offset;
    dev_t device;
    ino_t inode;
    uint8_t is_shared, is_closed; /* PROT_NONE */
};

static struct mapping *mappings;
static size_t mapped_bytes; /* of all of them */

__attribute__((weak)) void nw_guest_map_moved(size_t bytes, int to_file)
{
    (void)bytes;
    (void)to_file;
}

__attribute__((weak)) void nw_guest_map_sized(size_t bytes)
{
    (void)bytes;
}

static uintptr_t host_page(void)
{
    return (uintptr_t)getpagesize();
}

static uintptr_t up(uintptr_t bytes, uintptr_t unit)
{
    return (bytes + unit - 1U) & ~(unit - 1U);
}

/* What mappings begin at: pages of the host's, and units of the VM. */
static uintptr_t unit_bytes(void)
{
    uintptr_t unit = nw_vm_map_unit(&nw_guest_vm);

    return unit > host_page() ? unit : host_page();
}

static struct mapping *mapping_at(uintptr_t address)
{
    struct mapping *one = mappings;

    while (one != NULL && address - one->map.address >= one->map.bytes) {
        one = one->next;
    }
    return one;
}

static int die(int number, const char *why)
{
    nw_guest_signal = number;
    nw_guest_misuse = why;
    return NW_ERR_RANGE;
}

static int is_hole(const struct mapping *mapping, uintptr_t offset)
{
    const struct hole *hole = mapping->holes;

    while (hole != NULL && offset - hole->begin >= hole->end - hole->begin) {
        hole = hole->next;
    }
    return hole != NULL;
}

/* Where the first hole behind `offset` begins, or the mapping ends. */
static uintptr_t next_hole(const struct mapping *mapping, uintptr_t offset)
{
    uintptr_t next = mapping->map.bytes;

    for (const struct hole *hole = mapping->holes; hole != NULL; hole = hole->next) {
        next = hole->begin > offset && hole->begin < next ? hole->begin : next;
    }
    return next;
}

/* A page of the file, with zeros behind its end. Whole pages there are none of the file's. */
static int map_read(struct nw_vm_map *map, uintptr_t offset, uint8_t *to, size_t n)
{
    const struct mapping *mapping = (const struct mapping *)map;
    size_t done = 0;
    ssize_t got = 1;

    if (mapping->is_closed || is_hole(mapping, offset)) {
        return die(SIGSEGV, "access to memory that is not mapped");
    }
    while (mapping->file >= 0 && done < n && got > 0) {
        got = pread(mapping->file, to + done, n - done, (off_t)(mapping->offset + offset + done));
        if (got < 0) {
            return die(SIGBUS, "a mapped file cannot be read");
        }
        done += (size_t)got;
    }
    memset(to + done, 0, n - done);
    if (mapping->file < 0) {
        return NW_OK;
    }
    if (done == 0) {
        uint64_t page = (mapping->offset + offset) & ~(uint64_t)(host_page() - 1U);
        struct stat now;

        if (fstat(mapping->file, &now) != 0 || (uint64_t)now.st_size <= page) {
            return die(SIGBUS, "access behind the end of a mapped file");
        }
    }
    nw_guest_map_moved(n, 0);
    return NW_OK;
}

/* Some bytes where the program told that it reads at random. */
static int map_part(struct nw_vm_map *map, uintptr_t offset, uint8_t *to, size_t n)
{
    const struct mapping *mapping = (const struct mapping *)map;

    return offset - mapping->random_begin < mapping->random_end - mapping->random_begin
               ? map_read(map, offset, to, n)
               : 1;
}

/* A page, as far as the file reaches. */
static int map_write(struct nw_vm_map *map, uintptr_t offset, const uint8_t *from, size_t n)
{
    const struct mapping *mapping = (const struct mapping *)map;
    uint64_t begin = mapping->offset + offset;
    struct stat now;

    if (fstat(mapping->file, &now) != 0) {
        return NW_ERR_IO;
    }
    if ((uint64_t)now.st_size <= begin) {
        return NW_OK;
    }
    n = (uint64_t)now.st_size - begin < n ? (size_t)((uint64_t)now.st_size - begin) : n;
    nw_guest_map_moved(n, 1);
    return pwrite(mapping->file, from, n, (off_t)begin) == (ssize_t)n ? NW_OK : NW_ERR_IO;
}

/* What POSIX says of the arguments, in the order in which Linux looks at them; 0, or errno. */
static int refusal(size_t bytes, int protection, int flags, int file, off_t offset,
                   struct stat *of_file)
{
    int kind = flags & MAP_TYPE;
    int has_file = (flags & MAP_ANONYMOUS) == 0;
    int mode = has_file ? fcntl(file, F_GETFL) : 0;

    if (((uint64_t)offset & (host_page() - 1U)) != 0) {
        return EINVAL;
    }
    if (has_file && (mode < 0 || (mode & O_PATH) != 0 || fstat(file, of_file) != 0)) {
        return EBADF;
    }
    if (bytes == 0 || (kind != MAP_PRIVATE && kind != MAP_SHARED && kind != MAP_SHARED_VALIDATE)) {
        return EINVAL;
    }
    if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0) {
        return ENOTSUP;
    }
    if (!has_file) {
        return 0;
    }
    if (offset < 0 || (uint64_t)offset > (uint64_t)INT64_MAX - up(bytes, host_page())) {
        return EOVERFLOW;
    }
    mode &= O_ACCMODE;
    if (mode == O_WRONLY ||
        (kind != MAP_PRIVATE && (protection & PROT_WRITE) != 0 && mode != O_RDWR)) {
        return EACCES;
    }
    return S_ISREG(of_file->st_mode) ? 0 : ENODEV;
}

static struct mapping *new_mapping(int protection, int flags)
{
    struct mapping *mapping = calloc(1, sizeof *mapping);

    if (mapping != NULL) {
        mapping->file = -1;
        mapping->is_closed = protection == PROT_NONE;
        mapping->is_shared = (flags & MAP_TYPE) != MAP_PRIVATE;
        mapping->map.read = map_read;
        mapping->map.kind = (protection & PROT_WRITE) == 0 ? NW_VM_MAP_READ_ONLY
                            : mapping->is_shared && (flags & MAP_ANONYMOUS) == 0
                                ? NW_VM_MAP_SHARED
                                : NW_VM_MAP_PRIVATE;
        mapping->map.write = mapping->map.kind == NW_VM_MAP_SHARED ? map_write : NULL;
        mapping->map.part = mapping->map.kind == NW_VM_MAP_READ_ONLY ? map_part : NULL;
    }
    return mapping;
}

/* The file's part: 0, or errno. */
static int open_file(struct mapping *mapping, int file, off_t offset, const struct stat *of_file)
{
    mapping->file = fcntl(file, F_DUPFD_CLOEXEC, OWN_FILES);
    if (mapping->file < 0) {
        mapping->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    }
    mapping->offset = (uint64_t)offset;
    mapping->device = of_file->st_dev;
    mapping->inode = of_file->st_ino;
    return mapping->file < 0 ? EMFILE : 0;
}

static void forget(struct mapping *mapping)
{
    while (mapping->holes != NULL) {
        struct hole *hole = mapping->holes;

        mapping->holes = hole->next;
        free(hole);
    }
    if (mapping->file >= 0) {
        close(mapping->file);
    }
    free(mapping);
}

static uintptr_t hole_bytes(const struct mapping *mapping)
{
    uintptr_t sum = 0;

    for (const struct hole *hole = mapping->holes; hole != NULL; hole = hole->next) {
        sum += hole->end - hole->begin;
    }
    return sum;
}

/* The holes of a mapping that a part touches become one with the part. */
static void add_hole(struct mapping *mapping, uintptr_t begin, uintptr_t end)
{
    struct hole *whole = malloc(sizeof *whole);
    struct hole **link = &mapping->holes;

    if (whole == NULL) {
        nw_guest_refuse("out of host memory for munmap()");
    }
    while (*link != NULL) {
        struct hole *hole = *link;

        if (hole->begin <= end && begin <= hole->end) {
            begin = hole->begin < begin ? hole->begin : begin;
            end = hole->end > end ? hole->end : end;
            *link = hole->next;
            free(hole);
        } else {
            link = &hole->next;
        }
    }
    *whole = (struct hole){begin, end, mapping->holes};
    mapping->holes = whole;
}

/* Room in the virtual range: 0, or errno. What a unit has behind the mapping's last page is not
 * mapped. */
static int place(struct mapping *mapping, size_t bytes)
{
    uintptr_t unit = unit_bytes();
    uintptr_t address = 0;

    if (bytes > UINTPTR_MAX - unit || nw_guest_heap.bytes == 0 ||
        nw_heap_alloc(&nw_guest_heap, up(bytes, unit), unit, &address) < 0) {
        return ENOMEM;
    }
    mapping->map.address = address;
    mapping->map.bytes = up(bytes, unit);
    if (up(bytes, host_page()) < mapping->map.bytes) {
        add_hole(mapping, up(bytes, host_page()), mapping->map.bytes);
    }
    nw_guest_must(nw_vm_map(&nw_guest_vm, &mapping->map), (const void *)address);
    mapped_bytes += mapping->map.bytes;
    nw_guest_map_sized(mapped_bytes);
    return 0;
}

NW_LIBC(void *, mmap,
        (void *hint, size_t bytes, int protection, int flags, int file, off_t offset))
{
    struct stat of_file;
    struct mapping *mapping = NULL;
    int error = refusal(bytes, protection, flags, file, offset, &of_file);

    (void)hint;
    if (error == 0) {
        mapping = new_mapping(protection, flags);
        error = mapping == NULL ? ENOMEM : 0;
    }
    if (error == 0 && (flags & MAP_ANONYMOUS) == 0) {
        error = open_file(mapping, file, offset, &of_file);
    }
    if (error == 0) {
        error = place(mapping, bytes);
    }
    if (error != 0) {
        if (mapping != NULL) {
            forget(mapping);
        }
        errno = error;
        return MAP_FAILED;
    }
    mapping->next = mappings;
    mappings = mapping;
    return (void *)mapping->map.address;
}
NW_LIBC_ALIAS(void *, mmap64, mmap,
              (void *hint, size_t bytes, int protection, int flags, int file, off_t offset));

static void sync_part(struct mapping *mapping, uintptr_t begin, uintptr_t end)
{
    nw_guest_must(nw_vm_map_sync(&nw_guest_vm, &mapping->map, begin, end - begin),
                  (const void *)mapping->map.address);
}

/* Pages of a part are read from the file when they are touched again. */
static void drop_part(struct mapping *mapping, uintptr_t begin, uintptr_t end)
{
    nw_vm_slots_release(&nw_guest_vm);
    nw_guest_must(nw_vm_discard(&nw_guest_vm, mapping->map.address + begin, end - begin),
                  (const void *)mapping->map.address);
}

static void unmap_part(struct mapping *mapping, uintptr_t begin, uintptr_t end)
{
    struct mapping **link = &mappings;

    sync_part(mapping, begin, end);
    drop_part(mapping, begin, end);
    add_hole(mapping, begin, end);
    if (hole_bytes(mapping) < mapping->map.bytes) {
        return;
    }
    while (*link != mapping) {
        link = &(*link)->next;
    }
    *link = mapping->next;
    mapped_bytes -= mapping->map.bytes;
    nw_guest_must(nw_vm_unmap(&nw_guest_vm, &mapping->map), (const void *)mapping->map.address);
    nw_guest_must(nw_heap_free(&nw_guest_heap, mapping->map.address),
                  (const void *)mapping->map.address);
    forget(mapping);
}

/* Calls `each` with the parts of mappings in a range of whole pages. 1: all of it is mapped. */
static int over(uintptr_t address, size_t bytes,
                void (*each)(struct mapping *mapping, uintptr_t begin, uintptr_t end))
{
    uintptr_t end = address + up(bytes, host_page());
    int whole = 1;

    while (address < end) {
        struct mapping *mapping = mapping_at(address);
        uintptr_t next = address + host_page();

        if (mapping == NULL || is_hole(mapping, address - mapping->map.address)) {
            whole = 0;
        } else {
            uintptr_t first = mapping->map.address;
            uintptr_t last = first + next_hole(mapping, address - first);

            next = last < end ? last : end;
            each(mapping, address - first, next - first);
        }
        address = next;
    }
    return whole;
}

static int is_misplaced(const void *address, size_t bytes)
{
    return ((uintptr_t)address & (host_page() - 1U)) != 0 || bytes > UINTPTR_MAX - host_page();
}

/* A range that is not mapped is nobody's fault, says POSIX. */
NW_LIBC(int, munmap, (void *address, size_t bytes))
{
    if (bytes == 0 || is_misplaced(address, bytes)) {
        errno = EINVAL;
        return -1;
    }
    (void)over((uintptr_t)address, bytes, unmap_part);
    return 0;
}

NW_LIBC(int, msync, (void *address, size_t bytes, int flags))
{
    int both = MS_ASYNC | MS_SYNC;

    if (is_misplaced(address, bytes) || (flags & ~(both | MS_INVALIDATE)) != 0 ||
        (flags & both) == both) {
        errno = EINVAL;
        return -1;
    }
    if (!over((uintptr_t)address, bytes, sync_part)) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

/* What is not needed is dropped: private pages are the file's again, shared ones stay written. */
static void forget_part(struct mapping *mapping, uintptr_t begin, uintptr_t end)
{
    if (mapping->file >= 0 || !mapping->is_shared) {
        sync_part(mapping, begin, end);
        drop_part(mapping, begin, end);
    }
}

static void leave_part(struct mapping *mapping, uintptr_t begin, uintptr_t end)
{
    (void)mapping;
    (void)begin;
    (void)end;
}

static void random_part(struct mapping *mapping, uintptr_t begin, uintptr_t end)
{
    mapping->random_begin = begin;
    mapping->random_end = end;
}

/* The pages of what was told to be random come in again. */
static void usual_part(struct mapping *mapping, uintptr_t begin, uintptr_t end)
{
    if (begin < mapping->random_end && mapping->random_begin < end) {
        mapping->random_end = mapping->random_begin;
    }
}

int nw_guest_advise(void *address, size_t bytes, int advice)
{
    if (is_misplaced(address, bytes)) {
        return EINVAL;
    }
    switch (advice) {
    case MADV_RANDOM:
        return over((uintptr_t)address, bytes, random_part) ? 0 : ENOMEM;
    case MADV_NORMAL:
    case MADV_SEQUENTIAL:
        return over((uintptr_t)address, bytes, usual_part) ? 0 : ENOMEM;
    case MADV_WILLNEED:
        return over((uintptr_t)address, bytes, leave_part) ? 0 : ENOMEM;
    case MADV_DONTNEED:
        return over((uintptr_t)address, bytes, forget_part) ? 0 : ENOMEM;
    default:
        return EINVAL;
    }
}

/* Another size for a whole mapping: what it is to lose is unmapped, a larger one moves. */
NW_LIBC(void *, mremap, (void *address, size_t before, size_t bytes, int flags, ...))
{
    struct mapping *mapping = mapping_at((uintptr_t)address);
    uintptr_t whole = up(before, host_page());

    if (is_misplaced(address, before) || bytes == 0 || (flags & ~MREMAP_MAYMOVE) != 0 ||
        mapping == NULL || (uintptr_t)address != mapping->map.address || is_hole(mapping, 0) ||
        whole != next_hole(mapping, 0) || whole + hole_bytes(mapping) != mapping->map.bytes) {
        errno = mapping == NULL ? EFAULT : EINVAL;
        return MAP_FAILED;
    }
    if (bytes <= whole) {
        uintptr_t left = up(bytes, host_page());

        if (left < whole) {
            unmap_part(mapping, left, whole);
        }
        return address;
    }
    if ((flags & MREMAP_MAYMOVE) == 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    int protection = mapping->is_closed                          ? PROT_NONE
                     : mapping->map.kind == NW_VM_MAP_READ_ONLY  ? PROT_READ
                                                                 : PROT_READ | PROT_WRITE;
    int kind = mapping->is_shared ? MAP_SHARED : MAP_PRIVATE;
    void *to = nw_libc_mmap(NULL, bytes, protection,
                            mapping->file < 0 ? kind | MAP_ANONYMOUS : kind, mapping->file,
                            (off_t)mapping->offset);

    if (to != MAP_FAILED) {
        if (mapping->map.kind == NW_VM_MAP_PRIVATE) {
            nw_guest_copy(to, address, whole);
        }
        (void)nw_libc_munmap(address, before);
    }
    return to;
}

static void ignore(struct nw_vm *vm, int error, uintptr_t address)
{
    (void)vm;
    (void)error;
    (void)address;
}

void nw_guest_map_save(void)
{
    void (*panic)(struct nw_vm *vm, int error, uintptr_t address) = nw_guest_vm.panic;

    nw_guest_vm.panic = ignore;
    for (struct mapping *one = mappings; one != NULL; one = one->next) {
        (void)nw_vm_map_sync(&nw_guest_vm, &one->map, 0, one->map.bytes);
    }
    nw_guest_vm.panic = panic;
}

/* Calls `each` with the mappings of a file whose pages are the file's. */
static void over_file(int file,
                      void (*each)(struct mapping *mapping, uintptr_t begin, uintptr_t end))
{
    struct stat now;

    if (mappings == NULL || fstat(file, &now) != 0) {
        return;
    }
    for (struct mapping *one = mappings; one != NULL; one = one->next) {
        if (one->file >= 0 && one->map.kind != NW_VM_MAP_PRIVATE && one->device == now.st_dev &&
            one->inode == now.st_ino) {
            each(one, 0, one->map.bytes);
        }
    }
}

void nw_guest_map_settle(int file)
{
    over_file(file, sync_part);
}

void nw_guest_map_changed(int file)
{
    over_file(file, drop_part);
}
