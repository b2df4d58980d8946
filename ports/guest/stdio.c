/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.c - <stdio.h> but for the formats. FILE objects are the host's and plain; buffers and names
 * may be virtual.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

void *nw_libc_realloc(void *block, size_t bytes);

/* Data crosses in pieces of this many bytes, on the stack: a device's is short. */
#if defined(__linux__)
#define PIECE_BYTES 4096U
#else
#define PIECE_BYTES 512U
#endif

NW_LIBC(FILE *, fopen, (const char *path, const char *mode))
{
    struct nw_guest_text name, how;
    FILE *file = fopen(nw_guest_text(&name, path), nw_guest_text(&how, mode));

    nw_guest_text_done(&name);
    nw_guest_text_done(&how);
    return file;
}
NW_LIBC_ALIAS(FILE *, fopen64, fopen, (const char *path, const char *mode));

NW_LIBC(FILE *, freopen, (const char *path, const char *mode, FILE *old))
{
    struct nw_guest_text name, how;
    FILE *file = freopen(nw_guest_text(&name, path), nw_guest_text(&how, mode), old);

    nw_guest_text_done(&name);
    nw_guest_text_done(&how);
    return file;
}
NW_LIBC_ALIAS(FILE *, freopen64, freopen, (const char *path, const char *mode, FILE *old));

NW_LIBC(FILE *, fdopen, (int descriptor, const char *mode))
{
    struct nw_guest_text how;
    FILE *file = fdopen(descriptor, nw_guest_text(&how, mode));

    nw_guest_text_done(&how);
    return file;
}

NW_LIBC(FILE *, popen, (const char *command, const char *mode))
{
    struct nw_guest_text line, how;

    nw_guest_map_save();
    FILE *file = popen(nw_guest_text(&line, command), nw_guest_text(&how, mode));

    nw_guest_text_done(&line);
    nw_guest_text_done(&how);
    return file;
}

NW_LIBC(size_t, fread, (void *to, size_t bytes, size_t count, FILE *file))
{
    uint8_t piece[PIECE_BYTES];
    size_t total, done = 0;

    if (!nw_guest_is_virtual(to) || bytes == 0 || __builtin_mul_overflow(bytes, count, &total)) {
        return fread(to, bytes, count, file);
    }
    while (done < total) {
        size_t want = total - done < sizeof piece ? total - done : sizeof piece;
        size_t got = fread(piece, 1, want, file);

        nw_guest_put((uint8_t *)to + done, piece, got);
        done += got;
        if (got < want) {
            break;
        }
    }
    return done / bytes;
}
NW_LIBC_ALIAS(size_t, fread_unlocked, fread, (void *to, size_t bytes, size_t count, FILE *file));

NW_LIBC(size_t, fwrite, (const void *from, size_t bytes, size_t count, FILE *file))
{
    uint8_t piece[PIECE_BYTES];
    size_t total, done = 0;

    if (!nw_guest_is_virtual(from) || bytes == 0 ||
        __builtin_mul_overflow(bytes, count, &total)) {
        return fwrite(from, bytes, count, file);
    }
    while (done < total) {
        size_t want = total - done < sizeof piece ? total - done : sizeof piece;

        nw_guest_get(piece, (const uint8_t *)from + done, want);
        size_t put = fwrite(piece, 1, want, file);
        done += put;
        if (put < want) {
            break;
        }
    }
    return done / bytes;
}
NW_LIBC_ALIAS(size_t, fwrite_unlocked, fwrite,
              (const void *from, size_t bytes, size_t count, FILE *file));

/* Bytes up to and including `stop`, at most limit, into host memory that grows. */
static size_t read_until(FILE *file, int stop, size_t limit, char **line)
{
    size_t room = 0, n = 0;
    int byte;

    *line = NULL;
    while (n < limit && (byte = getc(file)) != EOF) {
        if (n == room) {
            room = room == 0 ? 256 : 2 * room;
            char *larger = realloc(*line, room);
            if (larger == NULL) {
                nw_guest_refuse("out of host memory while reading a line");
            }
            *line = larger;
        }
        (*line)[n++] = (char)byte;
        if (byte == (unsigned char)stop) {
            break;
        }
    }
    return n;
}

NW_LIBC(char *, fgets, (char *to, int bytes, FILE *file))
{
    char *line;

    if (!nw_guest_is_virtual(to) || bytes <= 0) {
        return fgets(to, bytes, file);
    }
    size_t n = read_until(file, '\n', (size_t)bytes - 1, &line);
    int nothing = bytes > 1 && (n == 0 || ferror(file)); /* one byte: the end of a string */
    if (!nothing) {
        nw_guest_put(to, line, n);
        nw_guest_fill(to + n, 0, 1);
    }
    free(line);
    return nothing ? NULL : to;
}
NW_LIBC_ALIAS(char *, fgets_unlocked, fgets, (char *to, int bytes, FILE *file));

/* Room as the host gives it: 120 bytes at first, then twice as much or what is needed. */
static char *room_for_line(char **line, size_t *room, size_t needed)
{
    char *to;
    size_t has;

    nw_guest_get(&to, line, sizeof to);
    nw_guest_get(&has, room, sizeof has);
    if (to != NULL && has >= needed) {
        return to;
    }
    size_t larger = to == NULL || has == 0 ? 120 : 2 * has;
    has = larger > needed ? larger : needed;
    to = nw_libc_realloc(to, has);
    if (to != NULL) {
        nw_guest_put(line, &to, sizeof to);
        nw_guest_put(room, &has, sizeof has);
    }
    return to;
}

/* At the end of the file the line gets its room all the same: the program will free it. */
NW_LIBC(ssize_t, getdelim, (char **line, size_t *room, int stop, FILE *file))
{
    char *read;
    size_t n = read_until(file, stop, SIZE_MAX, &read);
    char *to = room_for_line(line, room, n + 1);

    if (to != NULL && n > 0) {
        nw_guest_put(to, read, n);
        nw_guest_fill(to + n, 0, 1);
    }
    free(read);
    return to != NULL && n > 0 ? (ssize_t)n : -1;
}
NW_LIBC_ALIAS(ssize_t, __getdelim, getdelim, (char **line, size_t *room, int stop, FILE *file));

NW_LIBC(ssize_t, getline, (char **line, size_t *room, FILE *file))
{
    return nw_libc_getdelim(line, room, '\n', file);
}

NW_LIBC(int, fputs, (const char *text, FILE *file))
{
    if (!nw_guest_is_virtual(text)) {
        return fputs(text, file);
    }
    size_t n = nw_guest_strlen(text, SIZE_MAX);
    return nw_libc_fwrite(text, 1, n, file) == n ? 1 : EOF;
}
NW_LIBC_ALIAS(int, fputs_unlocked, fputs, (const char *text, FILE *file));

NW_LIBC(int, puts, (const char *text))
{
    return nw_libc_fputs(text, stdout) == EOF || putc('\n', stdout) == EOF ? EOF : 1;
}
NW_LIBC_ALIAS(int, _IO_puts, puts, (const char *text));

/* The library cannot buffer in virtual memory. It gets a buffer of the same size, so that it reads
 * and writes at the same moments; what becomes of the stream is not known, so the buffer stays. */
static char *plain_buffer(char *buffer, size_t bytes)
{
    if (!nw_guest_is_virtual(buffer)) {
        return buffer;
    }
    char *plain = malloc(bytes + 1);
    if (plain == NULL) {
        nw_guest_refuse("out of host memory for the buffer of a stream");
    }
    return plain;
}

NW_LIBC(int, setvbuf, (FILE * file, char *buffer, int mode, size_t bytes))
{
    return setvbuf(file, mode == _IONBF ? NULL : plain_buffer(buffer, bytes), mode, bytes);
}

NW_LIBC(void, setbuf, (FILE * file, char *buffer))
{
    setbuf(file, plain_buffer(buffer, BUFSIZ));
}

NW_LIBC(void, setbuffer, (FILE * file, char *buffer, size_t bytes))
{
    setbuffer(file, plain_buffer(buffer, bytes), bytes);
}

NW_LIBC(void, perror, (const char *text))
{
    struct nw_guest_text copy;
    int error = errno;
    const char *plain = nw_guest_text(&copy, text);

    errno = error;
    perror(plain);
    nw_guest_text_done(&copy);
}

NW_LIBC(int, remove, (const char *path))
{
    struct nw_guest_text name;
    int result = remove(nw_guest_text(&name, path));

    nw_guest_text_done(&name);
    return result;
}

NW_LIBC(int, rename, (const char *from, const char *to))
{
    struct nw_guest_text old, new;
    int result = rename(nw_guest_text(&old, from), nw_guest_text(&new, to));

    nw_guest_text_done(&old);
    nw_guest_text_done(&new);
    return result;
}

NW_LIBC(int, fgetpos, (FILE * file, fpos_t *to))
{
    fpos_t position;
    int result = fgetpos(file, &position);

    if (result == 0) {
        nw_guest_put(to, &position, sizeof position);
    }
    return result;
}
NW_LIBC_ALIAS(int, fgetpos64, fgetpos, (FILE * file, fpos_t *to));

NW_LIBC(int, fsetpos, (FILE * file, const fpos_t *from))
{
    fpos_t position;

    nw_guest_get(&position, from, sizeof position);
    return fsetpos(file, &position);
}
NW_LIBC_ALIAS(int, fsetpos64, fsetpos, (FILE * file, const fpos_t *from));

NW_LIBC(char *, tmpnam, (char *to))
{
    static char own[L_tmpnam];
    static unsigned count;
    char name[L_tmpnam];

    /* The host's tmpnam draws a warning at every link; the names need only be fresh. */
    do {
        snprintf(name, sizeof name, "/tmp/nw%08x", ++count * 2654435761U);
        FILE *taken = fopen(name, "r");
        if (taken == NULL) {
            break;
        }
        fclose(taken);
    } while (count != 0);
    to = to != NULL ? to : own;
    nw_guest_put(to, name, strlen(name) + 1);
    return to;
}
