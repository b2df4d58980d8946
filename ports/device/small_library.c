/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_library.c - the C library over virtual memory on processors whose own library is too small
 * for ports/guest: formatted output of integers, characters and strings, a few functions of
 * strings.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "internal.h"

#define SPEC_BYTES 24 /* of flags, two numbers of 16 bits and a kind */
#define NUMBER_BYTES 40
#define DIGITS 200U /* a number that has more is read again, up to the next blank */

static char byte_at(const char *from)
{
    char byte;

    nw_guest_get(&byte, from, 1);
    return byte;
}

/* A conversion as avr-libc takes it: its flags and numbers, then `l` and the kind. */
static void specify(char *spec, const struct nw_conversion *c)
{
    int n = snprintf(spec, SPEC_BYTES, "%%%s", c->flags);

    if (c->width >= 0) {
        n += snprintf(spec + n, (size_t)(SPEC_BYTES - n), "%d", c->width);
    }
    if (c->precision >= 0) {
        n += snprintf(spec + n, (size_t)(SPEC_BYTES - n), ".%d", c->precision);
    }
    (void)snprintf(spec + n, (size_t)(SPEC_BYTES - n), "l%c", c->kind);
}

/* Text in its width, wherever it lies. */
static int put_text(FILE *file, const struct nw_conversion *c, const char *text, size_t length)
{
    size_t pad = c->width > 0 && (size_t)c->width > length ? (size_t)c->width - length : 0;
    int left = strchr(c->flags, '-') != NULL;

    for (size_t i = 0; !left && i < pad; i++) {
        putc(' ', file);
    }
    for (size_t i = 0; i < length; i++) {
        putc(byte_at(text + i), file);
    }
    for (size_t i = 0; left && i < pad; i++) {
        putc(' ', file);
    }
    return (int)(length + pad);
}

static int put_string(FILE *file, const struct nw_conversion *c, const char *text)
{
    size_t most = c->precision >= 0 ? (size_t)c->precision : SIZE_MAX;

    text = text != NULL ? text : "(null)";
    return put_text(file, c, text, nw_guest_strlen(text, most));
}

static int put_byte(FILE *file, const struct nw_conversion *c, int byte)
{
    char text = (char)byte;

    return put_text(file, c, &text, 1);
}

/* The argument, as wide as its conversion says; an int and a short are one here. */
static long take(const struct nw_conversion *c, va_list *list)
{
    int is_signed = c->kind == 'd' || c->kind == 'i';

    if (c->length == NW_LEN_L) {
        return va_arg(*list, long);
    }
    if (c->length == NW_LEN_HH) {
        int value = va_arg(*list, int);
        return is_signed ? (long)(signed char)value : (long)(unsigned char)value;
    }
    return is_signed ? (long)va_arg(*list, int) : (long)va_arg(*list, unsigned);
}

static int put_number(FILE *file, const struct nw_conversion *c, va_list *list)
{
    char spec[SPEC_BYTES], text[NUMBER_BYTES];

    if (c->length == NW_LEN_LL || c->length == NW_LEN_BIG) {
        nw_guest_refuse("printf of a long long, which this board does not have");
    }
    specify(spec, c);
    int n = snprintf(text, sizeof text, spec, take(c, list));
    if (n >= NUMBER_BYTES) {
        nw_guest_refuse("printf of a number of more than 39 characters");
    }
    fputs(text, file);
    return n;
}

/* Widths given as arguments; a negative one means left-aligned. */
static void take_stars(struct nw_conversion *c, va_list *list)
{
    if (c->width == -2) {
        c->width = va_arg(*list, int);
        if (c->width < 0) {
            c->width = c->width > INT_MIN ? -c->width : INT_MAX;
            if (strchr(c->flags, '-') == NULL) {
                c->flags[strlen(c->flags)] = '-';
            }
        }
    }
    if (c->precision == -2) {
        c->precision = va_arg(*list, int);
    }
}

static int put_conversion(FILE *file, struct nw_conversion *c, va_list *list)
{
    take_stars(c, list);
    switch (c->kind) {
    case '%': putc('%', file); return 1;
    case 'c': return put_byte(file, c, va_arg(*list, int));
    case 's': return put_string(file, c, va_arg(*list, const char *));
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': return put_number(file, c, list);
    default: nw_guest_refuse("a conversion of printf that this board does not have");
    }
}

int nw_libc_vfprintf(FILE *file, const char *format, va_list list);
int nw_libc_vfprintf(FILE *file, const char *format, va_list list)
{
    va_list own;
    int written = 0;

    va_copy(own, list);
    for (char byte; (byte = byte_at(format)) != '\0'; format++) {
        struct nw_conversion c;
        char text[SPEC_BYTES] = {0};

        if (byte != '%') {
            putc(byte, file);
            written++;
            continue;
        }
        for (size_t i = 0; i + 1 < sizeof text; i++) { /* the format may be virtual */
            text[i] = byte_at(format + i);
            if (text[i] == '\0') {
                break;
            }
        }
        nw_conversion_read(&c, text);
        written += put_conversion(file, &c, &own);
        format += c.end - text - 1;
    }
    va_end(own);
    return written;
}

NW_LIBC(int, printf, (const char *format, ...))
{
    va_list list;

    va_start(list, format);
    int written = nw_libc_vfprintf(stdout, format, list);
    va_end(list);
    return written;
}

NW_LIBC(int, fprintf, (FILE * file, const char *format, ...))
{
    va_list list;

    va_start(list, format);
    int written = nw_libc_vfprintf(file, format, list);
    va_end(list);
    return written;
}

NW_LIBC(int, fputs, (const char *text, FILE *file))
{
    static const struct nw_conversion plain = {.width = -1, .precision = -1};

    return put_string(file, &plain, text);
}

/* What clang makes of fputs() and fprintf() of a constant. */
NW_LIBC(size_t, fwrite, (const void *from, size_t bytes, size_t count, FILE *file))
{
    size_t most = bytes * count;

    for (size_t i = 0; i < most; i++) {
        if (putc(byte_at((const char *)from + i), file) == EOF) {
            return i / bytes;
        }
    }
    return most > 0 ? count : 0;
}

NW_LIBC(int, puts, (const char *text))
{
    return nw_libc_fputs(text, stdout) < 0 || putc('\n', stdout) == EOF ? EOF : 1;
}

NW_LIBC(size_t, strlen, (const char *text))
{
    return nw_guest_strlen(text, SIZE_MAX);
}

NW_LIBC(char *, strcpy, (char *to, const char *from))
{
    nw_guest_copy(to, from, nw_guest_strlen(from, SIZE_MAX) + 1);
    return to;
}

NW_LIBC(int, strcmp, (const char *a, const char *b))
{
    uint8_t x, y;

    do {
        x = (uint8_t)byte_at(a++);
        y = (uint8_t)byte_at(b++);
    } while (x == y && x != '\0');
    return x - y;
}

NW_LIBC(int, memcmp, (const void *a, const void *b, size_t bytes))
{
    for (size_t i = 0; i < bytes; i++) {
        uint8_t x = (uint8_t)byte_at((const char *)a + i);
        uint8_t y = (uint8_t)byte_at((const char *)b + i);

        if (x != y) {
            return x - y;
        }
    }
    return 0;
}

NW_LIBC(unsigned long, strtoul, (const char *from, char **end, int base))
{
    const char *first = from + nw_guest_blanks(from);
    struct nw_guest_text text;
    char *stop;
    const char *plain = nw_guest_text_n(&text, first, DIGITS);
    unsigned long value = strtoul(plain, &stop, base);

    if (stop == plain + DIGITS && nw_guest_is_virtual(first)) {
        plain = nw_guest_text_n(&text, first, nw_guest_word(first, DIGITS));
        value = strtoul(plain, &stop, base);
    }
    if (end != NULL) {
        const char *at = stop == plain ? from : first + (stop - plain);
        nw_guest_put(end, &at, sizeof at);
    }
    nw_guest_text_done(&text);
    return value;
}
