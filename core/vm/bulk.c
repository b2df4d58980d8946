/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of bytes a page at a time, between virtual and plain memory; and pins. */
#include "frames.h"

#include <string.h>

/* All pins of a page but those of bulk operations, which need at most two more: a byte counts. */
#define PAGE_PINS_MAX (NW_VM_SLOTS_MAX + 50U)

/* A stretch of bytes inside one page, or of plain memory. */
struct run {
    uint8_t *at;
    size_t n;
    uint16_t frame; /* NW_VM_NONE: plain */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Bytes from an address to the end of the kind of memory it lies in. */
static size_t reach(const struct nw_vm *vm, uintptr_t address)
{
    if (nw_vm_is_virtual(vm, address)) {
        return vm->bytes - (address - vm->base);
    }
    return (address < vm->base ? vm->base : (uintptr_t)0) - address;
}

int nw_vm_is_plain(const struct nw_vm *vm, uintptr_t address, size_t n)
{
    return !nw_vm_is_virtual(vm, address) && n <= reach(vm, address);
}

static int check(struct nw_vm *vm, uintptr_t address, size_t n)
{
    if (n > reach(vm, address)) {
        vm->error_at = address;
        return NW_ERR_RANGE;
    }
    return NW_OK;
}

/* The n bytes, n > 0, from address on, as far as they lie in one page. */
static int open_run(struct nw_vm *vm, uintptr_t address, size_t n, enum nw_vm_want want,
                    struct run *run)
{
    size_t offset;
    int error;

    if (!nw_vm_is_virtual(vm, address)) {
        run->at = (uint8_t *)address;
        run->n = n;
        run->frame = NW_VM_NONE;
        return NW_OK;
    }
    offset = address & (vm->frame_bytes - 1U);
    error = nw_vm_frame_get(vm, address, want, &run->frame);
    if (error != NW_OK) {
        return error;
    }
    run->at = nw_vm_memory_of(vm, run->frame) + offset;
    run->n = smaller(n, vm->frame_bytes - offset);
    return NW_OK;
}

/* The same for the n bytes from address on as seen from their end. */
static int open_run_down(struct nw_vm *vm, uintptr_t address, size_t n, struct run *run)
{
    uintptr_t last = address + n - 1U;
    size_t step = n;

    if (nw_vm_is_virtual(vm, last)) {
        step = smaller(n, (last & (vm->frame_bytes - 1U)) + 1U);
    }
    return open_run(vm, last + 1U - step, step, NW_VM_WANT_CONTENT, run);
}

static void hold(struct nw_vm *vm, const struct run *run)
{
    if (run->frame != NW_VM_NONE) {
        nw_vm_frame_pin(&vm->frame[run->frame]);
    }
}

static void let_go(struct nw_vm *vm, const struct run *run)
{
    if (run->frame != NW_VM_NONE) {
        nw_vm_frame_unpin(&vm->frame[run->frame]);
    }
}

static int soil(struct nw_vm *vm, const struct run *run, uintptr_t address)
{
    return run->frame != NW_VM_NONE ? nw_vm_soil(vm, run->frame, address) : (int)NW_OK;
}

/* What is done with two ranges. */
enum way { COMPARE, MOVE_UP, MOVE_DOWN };

/* A page is about to be overwritten as a whole by the n bytes to come. */
static enum nw_vm_want want_of(const struct nw_vm *vm, uintptr_t to, size_t n)
{
    return (to & (vm->frame_bytes - 1U)) == 0 && n >= vm->frame_bytes ? NW_VM_WANT_ROOM
                                                                       : NW_VM_WANT_CONTENT;
}

/* Both ends of the next step through two ranges; the source is not let go while the target comes
 * in. */
static int open_both(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n, enum way way,
                     struct run *target, struct run *source)
{
    int error = way == MOVE_DOWN ? open_run_down(vm, from, n, source)
                                 : open_run(vm, from, n, NW_VM_WANT_CONTENT, source);

    if (error != NW_OK) {
        return error;
    }
    hold(vm, source);
    error = way == MOVE_DOWN
                ? open_run_down(vm, to, n, target)
                : open_run(vm, to, n, way == COMPARE ? NW_VM_WANT_CONTENT : want_of(vm, to, n),
                           target);
    let_go(vm, source);
    return error;
}

/* The short way, for struct copies, small blocks and the heap's headers: where n bytes lie that are
 * plain or on one resident page, which gets `marks`; NULL, and nothing has changed, elsewhere.
 * Under LRU a use is more than a mark: this is for CLOCK. */
NW_VM_INLINE uint8_t *at_hand(struct nw_vm *vm, uintptr_t address, size_t n, uint16_t marks)
{
    uintptr_t none = vm->no_tag, base = vm->base;
    uint16_t frame;

    if (!nw_vm_is_virtual(vm, address)) {
        return n <= (address < base ? base : (uintptr_t)0) - address ? (uint8_t *)address : NULL;
    }
    if (nw_vm_straddles(vm, address, n) || !nw_vm_look_up(vm, address, &frame) ||
        ((marks & NW_VM_DIRTY) != 0 && (vm->frame[frame].state & NW_VM_FIXED) != 0)) {
        return NULL;
    }
    vm->frame[frame].state |= marks;
    return nw_vm_memory_of(vm, frame) + (address & ~none);
}

/* The same for who may spend a call on it. */
NW_VM_SHARED uint8_t *find_at_hand(struct nw_vm *vm, uintptr_t address, size_t n, uint16_t marks)
{
    return vm->order == NULL && n > 0 ? at_hand(vm, address, n, marks) : NULL;
}

/* memmove(), which is not there on every target: in pieces as long as the two are apart, or through
 * a buffer where that is longer. */
NW_VM_APART void slide(uint8_t *to, const uint8_t *from, size_t n)
{
    uint8_t between[16];
    size_t ahead = (uintptr_t)to - (uintptr_t)from;
    int down = ahead < n;
    size_t apart = down ? ahead : 0U - ahead;
    size_t done;
    size_t piece;

    for (done = 0; done < n; done += piece) {
        size_t at;

        piece = smaller(n - done, apart < sizeof between ? sizeof between : apart);
        at = down ? n - done - piece : done;
        if (piece <= apart) {
            memcpy(to + at, from + at, piece);
        } else {
            memcpy(between, from + at, piece);
            memcpy(to + at, between, piece);
        }
    }
}

/* Moves, or where `order` is not NULL compares up to the first difference; pieces end where pages
 * do. Down is from the last byte back, where a move would overwrite what is still to be read. */
NW_VM_APART int two_slowly(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n, int *order)
{
    enum way way = order != NULL ? COMPARE : to - from < n ? MOVE_DOWN : MOVE_UP;
    int error = check(vm, to, n);

    if (error == NW_OK) {
        error = check(vm, from, n);
    }
    if (error == NW_OK && way == MOVE_UP && vm->mapped != NULL && nw_vm_is_plain(vm, to, n)) {
        int done = vm->mapped->part(vm, (uint8_t *)to, from, n);

        if (done <= 0) {
            return nw_vm_report(vm, done);
        }
    }
    while (error == NW_OK && n > 0 && to != from) {
        struct run source;
        struct run target;
        size_t step;

        error = open_both(vm, to, from, n, way, &target, &source);
        if (error != NW_OK) {
            break;
        }
        if (way != COMPARE) {
            error = soil(vm, &target, to);
            if (error != NW_OK) {
                break;
            }
        }
        step = smaller(target.n, source.n);
        n -= step;
        if (way == MOVE_DOWN) {
            target.at += target.n - step;
            source.at += source.n - step;
        } else {
            to += step;
            from += step;
        }
        if (way == COMPARE) {
            *order = memcmp(source.at, target.at, step);
            if (*order != 0) {
                break;
            }
        } else {
            slide(target.at, source.at, step);
        }
    }
    return nw_vm_report(vm, error);
}

/* The same, by the short way where there is one. Bytes moved onto themselves make nothing dirty. */
NW_VM_SHARED int two(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n, int *order)
{
    uint16_t marks = order != NULL ? NW_VM_REFERENCED : NW_VM_REFERENCED | NW_VM_DIRTY;
    uint8_t *source = to != from ? find_at_hand(vm, from, n, NW_VM_REFERENCED) : NULL;
    uint8_t *target = source != NULL ? find_at_hand(vm, to, n, marks) : NULL;

    if (target == NULL) {
        return two_slowly(vm, to, from, n, order);
    }
    if (order != NULL) {
        *order = memcmp(source, target, n);
    } else {
        slide(target, source, n);
    }
    return NW_OK;
}

/* Apart for its four arguments: with a fifth nw_vm_pass() would save registers. */
NW_VM_APART int move(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n)
{
    return two(vm, to, from, n, NULL);
}

int nw_vm_pass(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n)
{
    uint8_t *source, *target;

    if (vm->order == NULL && n > 0 && to - from >= n && from - to >= n) {
        source = at_hand(vm, from, n, NW_VM_REFERENCED);
        if (source != NULL) {
            target = at_hand(vm, to, n, NW_VM_REFERENCED | NW_VM_DIRTY);
            if (target != NULL) {
                memcpy(target, source, n);
                return NW_OK;
            }
        }
    }
    return move(vm, to, from, n);
}

int nw_vm_put_across(struct nw_vm *vm, uintptr_t address, const uint8_t *value, size_t n)
{
    struct run first;
    struct run second;
    int error = check(vm, address, n);

    if (error == NW_OK) {
        error = open_run(vm, address, n, NW_VM_WANT_CONTENT, &first);
    }
    if (error == NW_OK) {
        hold(vm, &first);
        error = open_run(vm, address + first.n, n - first.n, NW_VM_WANT_CONTENT, &second);
        let_go(vm, &first);
    }
    if (error == NW_OK) {
        error = soil(vm, &second, address + first.n);
    }
    if (error == NW_OK) {
        error = soil(vm, &first, address);
    }
    return error == NW_OK ? nw_vm_pass(vm, address, (uintptr_t)value, n) : nw_vm_report(vm, error);
}

static void count(struct nw_vm *vm, size_t n)
{
    vm->stats.bulk_calls++;
    vm->stats.bulk_bytes += n;
}

int nw_vm_move(struct nw_vm *vm, uintptr_t to, uintptr_t from, size_t n)
{
    count(vm, n);
    return nw_vm_pass(vm, to, from, n);
}

/* A page known to be zeros without being in RAM. */
static int is_zero_page(const struct nw_vm *vm, uintptr_t address)
{
    uint32_t page;

    if (!nw_vm_is_virtual(vm, address)) {
        return 0;
    }
    page = nw_vm_page_of(vm, address);
    return !nw_vm_unit_written(vm, page >> vm->unit_shift) &&
           nw_vm_resident(vm, page) == NW_VM_NONE &&
           (vm->mapped == NULL || vm->mapped->find(vm, address) == NULL);
}

NW_VM_APART int fill_slowly(struct nw_vm *vm, uintptr_t to, uint8_t value, size_t n)
{
    int error = check(vm, to, n);

    while (error == NW_OK && n > 0) {
        struct run run;

        if (value == 0 && is_zero_page(vm, to)) {
            run.n = smaller(n, vm->frame_bytes - (to & (vm->frame_bytes - 1U)));
        } else {
            error = open_run(vm, to, n, want_of(vm, to, n), &run);
            if (error == NW_OK) {
                error = soil(vm, &run, to);
            }
            if (error != NW_OK) {
                break;
            }
            memset(run.at, value, run.n);
        }
        to += run.n;
        n -= run.n;
    }
    return nw_vm_report(vm, error);
}

int nw_vm_fill(struct nw_vm *vm, uintptr_t to, uint8_t value, size_t n)
{
    uint8_t *target = find_at_hand(vm, to, n, NW_VM_REFERENCED | NW_VM_DIRTY);

    count(vm, n);
    if (target != NULL) {
        memset(target, value, n);
        return NW_OK;
    }
    return fill_slowly(vm, to, value, n);
}

int nw_vm_compare(struct nw_vm *vm, uintptr_t a, uintptr_t b, size_t n, int *order)
{
    count(vm, n);
    *order = 0;
    return two(vm, b, a, n, order);
}

int nw_vm_find(struct nw_vm *vm, uintptr_t from, uint8_t value, size_t n, size_t *index)
{
    uintptr_t at = from;

    vm->stats.bulk_calls++;
    n = smaller(n, reach(vm, from));
    while (n > 0) {
        struct run run;
        size_t step;
        int error = open_run(vm, at, n, NW_VM_WANT_CONTENT, &run);

        if (error != NW_OK) {
            return nw_vm_report(vm, error);
        }
        for (step = 0; step < run.n; step++) {
            if (run.at[step] == value) {
                *index = (size_t)(at - from) + step;
                vm->stats.bulk_bytes += *index + 1U;
                return NW_OK;
            }
        }
        at += run.n;
        n -= run.n;
    }
    vm->stats.bulk_bytes += at - from;
    return NW_ERR_NOT_FOUND;
}

/* How many pins of a frame are nw_vm_pin()'s and not a slot's. */
static uint8_t pins_of(const struct nw_vm *vm, uint16_t frame)
{
    uint8_t pins = (uint8_t)(vm->frame[frame].state / NW_VM_PIN);
    uint16_t slot;

    for (slot = 0; slot < vm->slots; slot++) {
        pins = (uint8_t)(pins - (vm->slot_table[slot].frame == (uintptr_t)&vm->frame[frame]));
    }
    return pins;
}

uint8_t *nw_vm_pin(struct nw_vm *vm, uintptr_t address, int write, size_t *span)
{
    struct run run;
    int error;

    if (vm->pins_left == 0 && nw_vm_is_virtual(vm, address)) {
        return NULL;
    }
    error = open_run(vm, address, reach(vm, address), NW_VM_WANT_CONTENT, &run);
    if (error != NW_OK) {
        (void)nw_vm_report(vm, error); /* NULL tells the caller */
        return NULL;
    }
    if (run.frame != NW_VM_NONE) {
        struct nw_vm_frame *held = &vm->frame[run.frame];

        if (pins_of(vm, run.frame) >= PAGE_PINS_MAX - vm->slots) {
            return NULL;
        }
        if (write) {
            error = nw_vm_soil(vm, run.frame, address);
            if (error != NW_OK) {
                (void)nw_vm_report(vm, error);
                return NULL;
            }
            held->state |= NW_VM_WRITER;
        }
        nw_vm_frame_pin(held);
        vm->pins_left--;
    }
    *span = run.n;
    return run.at;
}

int nw_vm_unpin(struct nw_vm *vm, uintptr_t address)
{
    uint16_t frame;

    if (!nw_vm_is_virtual(vm, address)) {
        return NW_OK;
    }
    frame = nw_vm_resident(vm, nw_vm_page_of(vm, address));
    if (frame == NW_VM_NONE || pins_of(vm, frame) == 0) {
        vm->error_at = address;
        return nw_vm_report(vm, NW_ERR_NOT_FOUND);
    }
    nw_vm_frame_unpin(&vm->frame[frame]);
    if (pins_of(vm, frame) == 0) {
        vm->frame[frame].state &= (uint16_t)~NW_VM_WRITER;
    }
    vm->pins_left++;
    return NW_OK;
}
