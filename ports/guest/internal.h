/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of ports/guest share. */
#ifndef NW_GUEST_INTERNAL_H
#define NW_GUEST_INTERNAL_H

#include <stdarg.h>

#include "nandwich-guest/guest.h"

/* Address space the host's linker script sets aside: change both together. */
#define NW_GUEST_RANGE_BYTES 0x40000000UL

extern uintptr_t nw_guest_frame_word;
extern uintptr_t nw_guest_lookaside_mask;
extern uint8_t nw_guest_frame_shift;

/* A function the pass calls in place of NAME of the C library. Weak: a program that defines NAME
 * itself is renamed alike and wins. */
#define NW_LIBC(type, name, parameters)                                                            \
    type nw_libc_##name parameters;                                                                \
    __attribute__((weak)) type nw_libc_##name parameters

/* Another spelling of the same function. */
#define NW_LIBC_ALIAS(type, name, other, parameters)                                               \
    type nw_libc_##name parameters __attribute__((weak, alias("nw_libc_" #other)))

/* Takes the range away from the processor, so that an unguarded access faults; nothing where there
 * is no MMU. */
int nw_guest_hide(uintptr_t base, uint32_t bytes);

/* 1: the address lies in virtual memory. */
static inline int nw_guest_is_virtual(const void *pointer)
{
    return (uintptr_t)pointer - nw_guest_vm.base < nw_guest_vm.bytes;
}

/* Ends the program by the VM's panic when a result is an error. */
_Noreturn void nw_guest_fail(int result, const void *address);
static inline void nw_guest_must(int result, const void *address)
{
    if (result < 0) {
        nw_guest_fail(result, address);
    }
}
/* Ends the program for something the wrappers cannot do; one line on stderr. */
_Noreturn void nw_guest_refuse(const char *what);

/* Any mix of memory; errors end the program. */
void nw_guest_get(void *to, const void *from, size_t bytes); /* to: plain */
void nw_guest_put(void *to, const void *from, size_t bytes); /* from: plain */
size_t nw_guest_strlen(const char *text, size_t limit);

/* The arguments of a wrapper. In a struct, so that a function handed its address moves the caller's
 * on: a va_list handed on by value is moved on in the caller or not, as the processor's calling
 * convention has it. */
struct nw_guest_list {
    va_list list;
};

/* A copy of the list that a wrapper is given; va_end() it. Where a va_list is an array, as on
 * x86-64, its address is what comes, and that may be virtual. */
static inline void nw_guest_list_take(struct nw_guest_list *own, va_list list)
{
#if defined(__x86_64__)
    struct nw_guest_list given;

    nw_guest_get(&given, list, sizeof given);
    va_copy(own->list, given.list);
#else
    va_copy(own->list, list);
#endif
}

/* NAME over a plain copy of the object at `at`, which gets back what the call makes of it. */
#define NW_BY_COPY(type, name, parameters, shape, at, call)                                        \
    NW_LIBC(type, name, parameters)                                                                \
    {                                                                                              \
        shape own;                                                                                 \
                                                                                                   \
        nw_guest_get(&own, at, sizeof own);                                                        \
        type result = call;                                                                        \
        nw_guest_put(at, &own, sizeof own);                                                        \
        return result;                                                                             \
    }

/* Plain memory that need not be there: NULL stays NULL, else a copy in `own`. */
static inline void *nw_guest_get_or_null(void *own, const void *from, size_t bytes)
{
    if (from == NULL) {
        return NULL;
    }
    nw_guest_get(own, from, bytes);
    return own;
}

static inline void nw_guest_put_or_null(void *to, const void *own, size_t bytes)
{
    if (to != NULL) {
        nw_guest_put(to, own, bytes);
    }
}

/* A plain copy of a string, or the string itself where it is plain. */
struct nw_guest_text {
    const char *text;
    char *heap; /* set when the copy did not fit into `own` */
    char own[240];
};

/* Never NULL in text except for a NULL string. Release with nw_guest_text_done(). At most limit
 * bytes are taken. */
const char *nw_guest_text_n(struct nw_guest_text *copy, const char *string, size_t limit);
const char *nw_guest_text(struct nw_guest_text *copy, const char *string);
void nw_guest_text_done(struct nw_guest_text *copy);

/* Bytes of a string one after another; a plain one in place, a virtual one a piece at a time. */
struct nw_guest_reader {
    uintptr_t next;
    const uint8_t *at;
    const uint8_t *end;
    uint8_t piece[64];
};

void nw_guest_reader_open(struct nw_guest_reader *reader, const void *from);
void nw_guest_reader_fill(struct nw_guest_reader *reader);

static inline uint8_t nw_guest_reader_byte(struct nw_guest_reader *reader)
{
    if (reader->at == reader->end) {
        nw_guest_reader_fill(reader);
    }
    return *reader->at++;
}

/* Blanks at the beginning of a string, and bytes up to the next blank or the end behind `from`
 * bytes that are none. */
size_t nw_guest_blanks(const char *text);
size_t nw_guest_word(const char *text, size_t from);

/* A file is about to be read or written by its descriptor: what its mappings hold goes there; or it
 * was written: they have its content from now on. */
void nw_guest_map_settle(int file);
void nw_guest_map_changed(int file);

/* What madvise() says of a range: 0, or errno. */
int nw_guest_advise(void *address, size_t bytes, int advice);

/* Runs the handlers of signals that arrived since; see signal.c. */
void nw_guest_deliver(void);

#endif
