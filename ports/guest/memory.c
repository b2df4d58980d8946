/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - moving bytes between plain and virtual memory, for the wrappers and struct copies. */
#include "internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void nw_guest_fail(int result, const void *address)
{
    nw_guest_vm.panic(&nw_guest_vm, result, (uintptr_t)address);
    abort(); /* panic must not come back: the program's data is wrong from here on */
}

_Noreturn void nw_guest_refuse(const char *what)
{
    fprintf(stderr, "nandwich: error: %s\n", what);
    abort();
}

void nw_guest_copy(void *to, const void *from, size_t bytes)
{
    if (!nw_guest_is_virtual(to) && !nw_guest_is_virtual(from)) {
        memmove(to, from, bytes); /* moved: equal addresses are allowed */
    } else {
        nw_guest_must(nw_vm_move(&nw_guest_vm, (uintptr_t)to, (uintptr_t)from, bytes), to);
    }
}

void nw_guest_move(void *to, const void *from, size_t bytes)
{
    nw_guest_copy(to, from, bytes);
}

void nw_guest_fill(void *to, uint32_t byte, size_t bytes)
{
    if (!nw_guest_is_virtual(to)) {
        memset(to, (int)byte, bytes);
    } else {
        nw_guest_must(nw_vm_fill(&nw_guest_vm, (uintptr_t)to, (uint8_t)byte, bytes), to);
    }
}

void nw_guest_get(void *to, const void *from, size_t bytes)
{
    nw_guest_must(nw_vm_read(&nw_guest_vm, to, (uintptr_t)from, bytes), from);
}

void nw_guest_put(void *to, const void *from, size_t bytes)
{
    nw_guest_must(nw_vm_write(&nw_guest_vm, (uintptr_t)to, from, bytes), to);
}

size_t nw_guest_strlen(const char *text, size_t limit)
{
    size_t length = 0;

    if (!nw_guest_is_virtual(text)) {
        return strnlen(text, limit);
    }
    int result = nw_vm_find(&nw_guest_vm, (uintptr_t)text, 0, limit, &length);
    if (result == NW_ERR_NOT_FOUND) {
        return limit;
    }
    nw_guest_must(result, text);
    return length;
}

const char *nw_guest_text_n(struct nw_guest_text *copy, const char *string, size_t limit)
{
    copy->heap = NULL;
    copy->text = string;
    if (!nw_guest_is_virtual(string)) {
        return string;
    }
    size_t length = nw_guest_strlen(string, limit);
    char *to = copy->own;

    if (length >= sizeof copy->own) {
        copy->heap = malloc(length + 1);
        if (copy->heap == NULL) {
            nw_guest_refuse("out of host memory while copying a string");
        }
        to = copy->heap;
    }
    nw_guest_get(to, string, length);
    to[length] = '\0';
    copy->text = to;
    return to;
}

const char *nw_guest_text(struct nw_guest_text *copy, const char *string)
{
    return nw_guest_text_n(copy, string, SIZE_MAX);
}

void nw_guest_text_done(struct nw_guest_text *copy)
{
    free(copy->heap);
}

void nw_guest_reader_open(struct nw_guest_reader *reader, const void *from)
{
    reader->next = (uintptr_t)from;
    reader->at = reader->end = reader->piece;
}

size_t nw_guest_blanks(const char *text)
{
    struct nw_guest_reader reader;
    size_t n = 0;

    nw_guest_reader_open(&reader, text);
    while (isspace(nw_guest_reader_byte(&reader))) {
        n++;
    }
    return n;
}

size_t nw_guest_word(const char *text, size_t from)
{
    struct nw_guest_reader reader;

    nw_guest_reader_open(&reader, text + from);
    for (;; from++) {
        uint8_t byte = nw_guest_reader_byte(&reader);

        if (byte == '\0' || isspace(byte)) {
            return from;
        }
    }
}

/* To the end of an aligned block: what follows a string's end inside it can be read safely. */
void nw_guest_reader_fill(struct nw_guest_reader *reader)
{
    size_t n = sizeof reader->piece - (size_t)(reader->next % sizeof reader->piece);

    if (nw_guest_is_virtual((const void *)reader->next)) {
        uintptr_t left = nw_guest_vm.base + nw_guest_vm.bytes - reader->next;

        n = left < n ? (size_t)left : n;
        nw_guest_get(reader->piece, (const void *)reader->next, n);
        reader->at = reader->piece;
    } else {
        reader->at = (const uint8_t *)reader->next;
    }
    reader->end = reader->at + n;
    reader->next += n;
}
