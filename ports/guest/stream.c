/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - streams over memory: fmemopen() and open_memstream() where the memory is virtual. The
 * library would reach it unguarded, so its buffer is carried over by functions of ours, which keep
 * to what the host's streams do.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *nw_libc_realloc(void *block, size_t bytes);

/* A stream over memory of a fixed size. */
struct fixed {
    char *at;
    size_t room;
    size_t end;  /* reading stops here */
    size_t next; /* where the next byte is read or written */
    int appends;
};

static ssize_t fixed_read(void *cookie, char *to, size_t bytes)
{
    struct fixed *stream = cookie;
    size_t left = stream->next < stream->end ? stream->end - stream->next : 0;
    size_t n = bytes < left ? bytes : left;

    nw_guest_get(to, stream->at + stream->next, n);
    stream->next += n;
    return (ssize_t)n;
}

/* A zero goes behind text that reaches further than before, over the last byte if need be. */
static ssize_t fixed_write(void *cookie, const char *from, size_t bytes)
{
    struct fixed *stream = cookie;
    size_t start = stream->appends ? stream->end : stream->next;
    int ends = bytes == 0 || from[bytes - 1] != '\0';

    if (start + bytes > stream->room) {
        if (stream->next + (size_t)ends >= stream->room) {
            errno = ENOSPC;
            return 0;
        }
        bytes = stream->room - start;
    }
    nw_guest_put(stream->at + start, from, bytes);
    stream->next = start + bytes;
    if (stream->next > stream->end) {
        stream->end = stream->next;
        if (stream->end < stream->room && ends) {
            nw_guest_fill(stream->at + stream->end, 0, 1);
        } else if (!stream->appends && ends) {
            nw_guest_fill(stream->at + stream->room - 1, 0, 1);
        }
    }
    return (ssize_t)bytes;
}

/* Where an offset from a place lands; -1 and errno outside 0 to limit. */
static off64_t landing(off64_t offset, int from, size_t here, size_t end, size_t limit)
{
    off64_t to = offset + (from == SEEK_SET ? 0 : from == SEEK_CUR ? (off64_t)here : (off64_t)end);

    if (to < 0 || (size_t)to > limit) {
        errno = EINVAL;
        return -1;
    }
    return to;
}

static int fixed_seek(void *cookie, off64_t *offset, int from)
{
    struct fixed *stream = cookie;
    off64_t to = landing(*offset, from, stream->next, stream->end, stream->room);

    if (to < 0) {
        return -1;
    }
    stream->next = (size_t)to;
    *offset = to;
    return 0;
}

static int close_cookie(void *cookie)
{
    free(cookie);
    return 0;
}

static FILE *open_fixed(char *memory, size_t bytes, const char *mode)
{
    static const cookie_io_functions_t functions = {fixed_read, fixed_write, fixed_seek,
                                                    close_cookie};
    struct fixed *stream = malloc(sizeof *stream);

    if (stream == NULL) {
        return NULL;
    }
    if (mode[0] == 'w' && mode[1] == '+') {
        nw_guest_fill(memory, 0, bytes > 0 ? 1 : 0);
    }
    size_t used = nw_guest_strlen(memory, bytes);
    int appends = mode[0] == 'a';
    *stream = (struct fixed){memory, bytes, mode[0] == 'r' ? bytes : appends ? used : 0,
                             appends ? used : 0, appends};
    FILE *file = fopencookie(stream, mode, functions);
    if (file == NULL) {
        free(stream);
    }
    return file;
}

NW_LIBC(FILE *, fmemopen, (void *memory, size_t bytes, const char *mode))
{
    struct nw_guest_text how;
    const char *plain = nw_guest_text(&how, mode);
    FILE *file = nw_guest_is_virtual(memory) ? open_fixed(memory, bytes, plain)
                                             : fmemopen(memory, bytes, plain);

    nw_guest_text_done(&how);
    return file;
}

/* A stream over memory that grows: where the program wants to be told of it, and what it has. */
struct growing {
    char **to;
    size_t *size;
    char *at;
    size_t room, end, next;
};

/* The size is where the next byte would go, as the host has it. */
static void tell(const struct growing *stream)
{
    nw_guest_put(stream->to, &stream->at, sizeof stream->at);
    nw_guest_put(stream->size, &stream->next, sizeof stream->next);
}

/* Room for so many bytes and a zero; what is new is zero. */
static int grow(struct growing *stream, size_t bytes)
{
    if (bytes < stream->room) {
        return 0;
    }
    size_t room = bytes + 1 > 2 * stream->room ? bytes + 1 : 2 * stream->room;
    char *larger = nw_libc_realloc(stream->at, room);
    if (larger == NULL) {
        return -1;
    }
    nw_guest_fill(larger + stream->room, 0, room - stream->room);
    stream->at = larger;
    stream->room = room;
    return 0;
}

static ssize_t growing_write(void *cookie, const char *from, size_t bytes)
{
    struct growing *stream = cookie;

    if (grow(stream, stream->next + bytes) != 0) {
        errno = ENOMEM;
        return 0;
    }
    nw_guest_put(stream->at + stream->next, from, bytes);
    stream->next += bytes;
    stream->end = stream->next > stream->end ? stream->next : stream->end;
    tell(stream);
    return (ssize_t)bytes;
}

static int growing_seek(void *cookie, off64_t *offset, int from)
{
    struct growing *stream = cookie;
    off64_t to = landing(*offset, from, stream->next, stream->end, SIZE_MAX / 2);

    if (to < 0) {
        return -1;
    }
    stream->next = (size_t)to;
    *offset = to;
    tell(stream);
    return 0;
}

static int growing_close(void *cookie)
{
    struct growing *stream = cookie;
    int result = grow(stream, stream->next);

    if (result == 0) {
        nw_guest_fill(stream->at + stream->next, 0, 1);
    }
    tell(stream);
    free(stream);
    return result;
}

NW_LIBC(FILE *, open_memstream, (char **to, size_t *size))
{
    static const cookie_io_functions_t functions = {NULL, growing_write, growing_seek,
                                                    growing_close};
    struct growing *stream = calloc(1, sizeof *stream);

    if (stream == NULL) {
        return NULL;
    }
    stream->to = to;
    stream->size = size;
    FILE *file = grow(stream, BUFSIZ) == 0 ? fopencookie(stream, "w", functions) : NULL;
    if (file == NULL) {
        free(stream);
        return NULL;
    }
    tell(stream);
    return file;
}

NW_LIBC(FILE *, fopencookie, (void *cookie, const char *mode, cookie_io_functions_t functions))
{
    struct nw_guest_text how;
    FILE *file = fopencookie(cookie, nw_guest_text(&how, mode), functions);

    nw_guest_text_done(&how);
    return file;
}
