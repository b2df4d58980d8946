/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanf.c - the scanf family with virtual inputs, formats and targets. The format is taken apart,
 * and each part of it is the host's own fscanf or sscanf with a plain stand-in. Text comes in
 * pieces by a width and is written to the program's memory as it comes, so that a call needs the
 * same room however many conversions it has and however long a text is. A %n behind each part
 * tells how many bytes it took; where the part failed it stays untouched.
 */
#include "format.h"
#include "internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define PIECE 200U         /* bytes of the input at once: a copy of them needs no heap */
#define CHARACTER_BYTES 4U /* of the input for a wide character, at most */
#define FORMAT_BYTES 320U  /* room for a set that names every character */
#define NOT_REACHED (-2)

/* Where the characters come from, and how far the call is. */
struct input {
    FILE *file;       /* NULL: the text */
    const char *text; /* the program's */
    size_t taken;     /* bytes since the call began */
    int assigned;
    int result; /* of the part that failed, as the host told it */
};

/* One conversion of the program's format. */
struct field {
    struct nw_conversion c;
    const char *at;
    const char *end;  /* NULL: a set without an end */
    void *to;         /* the program's; NULL: skipped (%*d) */
    int is_skipped;   /* takes no argument */
    int is_allocated; /* %m: the program wants memory with the text */
    size_t unit;      /* bytes of a character of text, plain or wide */
};

/* A part of the format for the host. */
struct part {
    char format[FORMAT_BYTES];
    size_t length;
};

static void add(struct part *part, const char *text, size_t n)
{
    if (part->length + n >= sizeof part->format) {
        nw_guest_refuse("scanf: a conversion of more than 300 bytes");
    }
    memcpy(part->format + part->length, text, n);
    part->length += n;
    part->format[part->length] = '\0';
}

static void begin(struct part *part, const char *text, size_t n)
{
    part->length = 0;
    add(part, text, n);
}

static size_t value_bytes(const struct nw_conversion *c)
{
    switch (c->kind) {
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': /* the host takes ll for L here, as printf does */
        return c->length == NW_LEN_BIG || c->length == NW_LEN_LL ? sizeof(long double)
               : c->length == NW_LEN_L ? sizeof(double)
                                       : sizeof(float);
    case 'p':
        return sizeof(void *);
    default:
        return nw_length_bytes(c->length);
    }
}

/* The end of a set such as %[]a-z]. */
static const char *set_end(const char *at)
{
    at += *at == '^';
    at += *at == ']';
    at = strchr(at, ']');
    return at != NULL ? at + 1 : NULL;
}

static int is_characters(const struct nw_conversion *c)
{
    return c->kind == 'c' || c->kind == 'C';
}

static int is_string(const struct nw_conversion *c)
{
    return c->kind == 's' || c->kind == 'S';
}

static int is_text(const struct nw_conversion *c)
{
    return is_string(c) || is_characters(c) || c->kind == '[';
}

/* Z is a length of printf alone: what scanf makes of it the host decides. */
static int is_integer(const struct nw_conversion *c)
{
    return c->kind != '\0' && *c->rest != 'Z' && strchr("dinouxX", c->kind) != NULL;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

/* The part over the file, or over the next `most` bytes of the text. Returns the bytes it took, or
 * NOT_REACHED where it failed. */
static int try_part(struct input *in, struct part *part, void *standin, size_t most)
{
    struct nw_guest_text copy;
    int taken = NOT_REACHED;

    if (in->file != NULL) {
        in->result = standin != NULL ? fscanf(in->file, part->format, standin, &taken)
                                     : fscanf(in->file, part->format, &taken);
        return taken;
    }
    const char *plain = nw_guest_text_n(&copy, in->text + in->taken, most);
    in->result = standin != NULL ? sscanf(plain, part->format, standin, &taken)
                                 : sscanf(plain, part->format, &taken);
    nw_guest_text_done(&copy);
    return taken;
}

#pragma GCC diagnostic pop

/* The part with a %n behind it. 1: it matched. Only a number may take all of PIECE bytes and yet
 * be cut short: it is tried again with all of it. */
static int run(struct input *in, struct part *part, void *standin, size_t most)
{
    add(part, "%n", 2);
    int taken = try_part(in, part, standin, most);
    if (in->file == NULL && most > PIECE && most != SIZE_MAX && taken > (int)PIECE) {
        taken = try_part(in, part, standin, nw_guest_word(in->text + in->taken, PIECE));
    }
    in->taken += taken > 0 ? (size_t)taken : 0;
    return taken >= 0;
}

static void skip_blanks(struct input *in)
{
    struct part part;

    if (in->file != NULL) {
        begin(&part, " ", 1);
        (void)run(in, &part, NULL, 0);
    } else {
        in->taken += nw_guest_blanks(in->text + in->taken);
    }
}

static void put(void *to, const void *from, size_t bytes)
{
    int error = errno;

    nw_guest_put(to, from, bytes);
    errno = error;
}

void *nw_libc_malloc(size_t bytes);

/* The host's heap gave the memory; the program gets a block of its own. */
static void put_allocated(const struct field *field, char *text)
{
    size_t bytes = is_characters(&field->c) ? (field->c.width > 0 ? (size_t)field->c.width : 1)
                   : field->unit == 1       ? strlen(text) + 1
                                            : wcslen((wchar_t *)(void *)text) + 1;
    char *own = nw_libc_malloc(bytes * field->unit);

    if (own == NULL) {
        nw_guest_refuse("scanf: no room in virtual memory for the text of %m");
    }
    put(own, text, bytes * field->unit);
    put(field->to, &own, sizeof own);
    free(text);
}

static int scan_allocated(struct input *in, const struct field *field)
{
    struct part part;
    char *text;

    nw_guest_get(&text, field->to, sizeof text); /* may stay, or become NULL */
    begin(&part, field->at, (size_t)(field->end - field->at));
    if (!run(in, &part, &text, SIZE_MAX)) {
        put(field->to, &text, sizeof text);
        return 0;
    }
    put_allocated(field, text);
    return 1;
}

union piece {
    char plain[PIECE + 1];
    wchar_t wide[PIECE / CHARACTER_BYTES + 1];
};

/* Wide characters that came; what stands behind them is none. */
static size_t wide_count(const struct field *field, const union piece *piece)
{
    size_t n = PIECE / CHARACTER_BYTES + 1;

    while (n > 0 && piece->wide[n - 1] == (wchar_t)0x01010101) {
        n--;
    }
    return is_characters(&field->c) ? n : n - 1;
}

/* Up to `most` characters of text to `to`; behind the first piece blanks end a string. Returns how
 * many, -1: none matched. */
static int scan_piece(struct input *in, const struct field *field, int is_first, size_t most,
                      void *to)
{
    struct part part;
    union piece piece;
    char width[8];
    size_t before = in->taken;

    memset(&piece, 1, sizeof piece);
    begin(&part, width, (size_t)snprintf(width, sizeof width, "%%%u", (unsigned)most));
    if (is_string(&field->c) && !is_first) {
        const char *set = field->unit == 1 ? "[^ \t\n\v\f\r]" : "l[^ \t\n\v\f\r]";
        add(&part, set, strlen(set));
    } else {
        add(&part, field->c.rest, (size_t)(field->end - field->c.rest));
    }
    if (!run(in, &part, &piece, PIECE)) {
        return -1;
    }
    size_t n = field->unit == 1 ? in->taken - before : wide_count(field, &piece);
    if (to != NULL) {
        put(to, &piece, (n + !is_characters(&field->c)) * field->unit);
    }
    return (int)n;
}

static int scan_text(struct input *in, const struct field *field)
{
    size_t room = field->unit == 1 ? PIECE : PIECE / CHARACTER_BYTES;
    size_t left = field->c.width > 0         ? (size_t)field->c.width
                  : is_characters(&field->c) ? 1
                                             : SIZE_MAX;
    char *to = field->to;

    for (int is_first = 1; left > 0; is_first = 0) {
        size_t most = left < room ? left : room;
        int n = scan_piece(in, field, is_first, most, to);

        if (n < 0 && is_first) {
            return 0;
        }
        if (n < (int)most) {
            break;
        }
        left -= most;
        to = to != NULL ? to + most * field->unit : NULL;
    }
    return 1;
}

/* Small C libraries do not know every length, and the stand-in has room for any: an integer comes
 * as a long, or a long long, and the bytes of its target are taken from that. */
static int scan_value(struct input *in, const struct field *field)
{
    const struct nw_conversion *c = &field->c;
    size_t bytes = value_bytes(c);
    uint64_t value[2] = {0, 0};
    struct part part;

    if (field->to != NULL && bytes > sizeof(long long)) {
        nw_guest_get(value, field->to, bytes); /* a long double does not fill its place */
    }
    if (is_integer(c) && !field->is_skipped) {
        begin(&part, field->at, (size_t)(c->rest - field->at));
        add(&part, "ll", bytes > sizeof(long) ? 2 : 1);
        add(&part, &c->kind, 1);
    } else {
        begin(&part, field->at, (size_t)(field->end - field->at));
    }
    if (!run(in, &part, field->is_skipped ? NULL : value, PIECE + 1)) {
        return 0;
    }
    if (field->to != NULL) {
        put(field->to, value, bytes);
    }
    return 1;
}

static int scan_field(struct input *in, const struct field *field)
{
    if (field->c.kind == 'n') {
        uint64_t taken = in->taken;

        if (field->to != NULL) {
            put(field->to, &taken, value_bytes(&field->c));
        }
        return 1;
    }
    if (field->c.kind != '[' && !is_characters(&field->c)) {
        skip_blanks(in);
    }
    int matched = field->is_allocated && !field->is_skipped ? scan_allocated(in, field)
                  : is_text(&field->c)                      ? scan_text(in, field)
                                                            : scan_value(in, field);
    in->assigned += matched && !field->is_skipped && field->c.kind != '%';
    return matched;
}

/* One conversion of the program's format. 0: it did not match, or has no end. */
static int scan_conversion(struct input *in, const char **at, struct nw_guest_list *arguments)
{
    struct field field = {.at = *at, .is_skipped = (*at)[1] == '*'};

    nw_conversion_read(&field.c, *at + field.is_skipped);
    field.is_allocated = field.c.kind == 'm';
    if (field.is_allocated) {
        nw_conversion_rest(&field.c, field.c.end);
    }
    if (field.c.kind == '$') {
        nw_guest_refuse("scanf: numbered arguments (%1$d) are not supported");
    }
    field.unit = field.c.length == NW_LEN_L || field.c.kind == 'S' || field.c.kind == 'C'
                     ? sizeof(wchar_t)
                     : 1;
    field.end = field.c.kind == '[' ? set_end(field.c.end) : field.c.end;
    if (field.c.kind == '\0' || field.end == NULL) {
        in->result = 0;
        return 0;
    }
    field.is_skipped |= field.c.kind == '%';
    if (!field.is_skipped) {
        field.to = va_arg(arguments->list, void *);
    }
    *at = field.end;
    return scan_field(in, &field);
}

/* Blanks, or characters up to the next blank or '%'. */
static int scan_plain(struct input *in, const char **at)
{
    size_t n = strcspn(*at, "% \t\n\v\f\r");
    struct part part;

    if (n == 0) {
        *at += strspn(*at, " \t\n\v\f\r");
        skip_blanks(in);
        return 1;
    }
    n = n < PIECE ? n : PIECE;
    begin(&part, *at, n);
    *at += n;
    return run(in, &part, NULL, n);
}

static int scan(struct input *in, const char *format, va_list list)
{
    struct nw_guest_text copy;
    struct nw_guest_list arguments;
    const char *at = nw_guest_text(&copy, format);
    int matched = 1;

    nw_guest_list_take(&arguments, list);
    while (matched && *at != '\0') {
        matched = *at == '%' ? scan_conversion(in, &at, &arguments) : scan_plain(in, &at);
    }
    va_end(arguments.list);
    nw_guest_text_done(&copy);
    return !matched && in->result < 0 && in->assigned == 0 ? EOF : in->assigned;
}

NW_LIBC(int, vfscanf, (FILE * file, const char *format, va_list list))
{
    struct input in = {.file = file};

    return scan(&in, format, list);
}

NW_LIBC(int, vsscanf, (const char *from, const char *format, va_list list))
{
    struct input in = {.text = from};

    return scan(&in, format, list);
}

NW_LIBC(int, vscanf, (const char *format, va_list list))
{
    return nw_libc_vfscanf(stdin, format, list);
}

#define NW_VARIADIC(name, parameters, call)                                                        \
    NW_LIBC(int, name, parameters)                                                                 \
    {                                                                                              \
        va_list list;                                                                              \
                                                                                                   \
        va_start(list, format);                                                                    \
        int n = call;                                                                              \
        va_end(list);                                                                              \
        return n;                                                                                  \
    }

NW_VARIADIC(scanf, (const char *format, ...), nw_libc_vfscanf(stdin, format, list))
NW_VARIADIC(fscanf, (FILE * file, const char *format, ...), nw_libc_vfscanf(file, format, list))
NW_VARIADIC(sscanf, (const char *from, const char *format, ...),
            nw_libc_vsscanf(from, format, list))

/* The C99 and C23 spellings glibc's headers use. */
NW_LIBC_ALIAS(int, __isoc99_scanf, scanf, (const char *format, ...));
NW_LIBC_ALIAS(int, __isoc99_fscanf, fscanf, (FILE * file, const char *format, ...));
NW_LIBC_ALIAS(int, __isoc99_sscanf, sscanf, (const char *from, const char *format, ...));
NW_LIBC_ALIAS(int, __isoc99_vscanf, vscanf, (const char *format, va_list list));
NW_LIBC_ALIAS(int, __isoc99_vfscanf, vfscanf, (FILE * file, const char *format, va_list list));
NW_LIBC_ALIAS(int, __isoc99_vsscanf, vsscanf,
              (const char *from, const char *format, va_list list));
NW_LIBC_ALIAS(int, __isoc23_scanf, scanf, (const char *format, ...));
NW_LIBC_ALIAS(int, __isoc23_fscanf, fscanf, (FILE * file, const char *format, ...));
NW_LIBC_ALIAS(int, __isoc23_sscanf, sscanf, (const char *from, const char *format, ...));
