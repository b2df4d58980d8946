/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanf.c - the scanf family with virtual inputs, formats and targets. All arguments of scanf are
 * pointers, so the host's own vfscanf or vsscanf is run on plain stand-ins, and what it assigned is
 * then copied to the program's memory. A string without a width that fills its stand-in ends the
 * program with a message.
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

#define TARGETS 24U
#define TEXT_BYTES 16384U   /* of a string without a width */
#define WIDTH_MOST (1 << 20) /* of one with a width */

struct target {
    void *to;      /* the program's */
    size_t bytes;  /* to copy; 0: a string, up to its end */
    size_t unit;   /* bytes of a character of text, plain or wide */
    size_t room;   /* bytes at `text` */
    int is_count;  /* %n: not an assignment */
    int endless;   /* a string the program gave no width */
    int allocates; /* %m: the program wants memory with the text */
    char *text;    /* stand-in of a string, from the host's heap */
    uint64_t value[2];
};

/* In a struct, so that a function handed its address moves the caller's on: a va_list handed on by
 * value is moved on in the caller or not, as the processor's calling convention has it. */
struct arguments {
    va_list list;
};

struct plan {
    struct target target[TARGETS];
    void *standin[TARGETS];
    size_t targets;
    char format[1024];
    size_t length;
};

static void add_text(struct plan *plan, const char *text, size_t n)
{
    if (plan->length + n >= sizeof plan->format) {
        nw_guest_refuse("scanf: a format of more than 1000 bytes");
    }
    memcpy(plan->format + plan->length, text, n);
    plan->length += n;
    plan->format[plan->length] = '\0';
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

static int is_text(const struct nw_conversion *c)
{
    return c->kind == 's' || c->kind == '[' || c->kind == 'c' || c->kind == 'S' || c->kind == 'C';
}

static void add_text_target(struct plan *plan, struct target *target, const struct nw_conversion *c)
{
    int one = c->kind == 'c' || c->kind == 'C';
    size_t wide = c->width > 0 ? (size_t)c->width : 0;
    size_t room = one ? (wide > 0 ? wide : 1) : wide > 0 ? wide + 1 : TEXT_BYTES;

    target->unit = c->length == NW_LEN_L || c->kind == 'S' || c->kind == 'C' ? sizeof(wchar_t) : 1;
    target->bytes = one ? room * target->unit : 0;
    if (target->allocates) {
        nw_guest_get(target->value, target->to, sizeof(char *)); /* may stay, or become NULL */
        plan->standin[plan->targets++] = target->value;
        return;
    }
    target->endless = !one && c->width <= 0;
    target->room = room * target->unit;
    target->text = malloc(target->room);
    if (target->text == NULL) {
        nw_guest_refuse("out of host memory in scanf");
    }
    memset(target->text, 1, target->room); /* so that the last zero is the end of the string */
    if (one) {
        nw_guest_get(target->text, target->to, target->bytes); /* the input may end before */
    }
    plan->standin[plan->targets++] = target->text;
}

static void add_target(struct plan *plan, const struct nw_conversion *c, void *to, int allocates)
{
    if (plan->targets == TARGETS) {
        nw_guest_refuse("scanf: more than 24 targets in one call");
    }
    struct target *target = &plan->target[plan->targets];

    memset(target, 0, sizeof *target);
    target->to = to;
    target->is_count = c->kind == 'n';
    target->allocates = allocates;
    if (is_text(c)) {
        add_text_target(plan, target, c);
        return;
    }
    target->bytes = value_bytes(c);
    if (target->bytes > sizeof(long long)) {
        nw_guest_get(target->value, to, target->bytes); /* a long double does not fill its place */
    }
    plan->standin[plan->targets++] = target->value;
}

/* Z is a length of printf alone: what scanf makes of it the host decides. */
static int is_integer(const struct nw_conversion *c)
{
    return c->kind != '\0' && *c->rest != 'Z' && strchr("dinouxX", c->kind) != NULL;
}

/* Small C libraries do not know every length, and the stand-in has room for any: an integer comes
 * as a long, or a long long, and the bytes of its target are taken from that. */
static void add_integer(struct plan *plan, const struct nw_conversion *c, const char *at)
{
    int is_long = nw_length_bytes(c->length) > sizeof(long);

    add_text(plan, at, (size_t)(c->rest - at));
    add_text(plan, "ll", is_long ? 2 : 1);
    add_text(plan, &c->kind, 1);
}

/* One conversion of the program's format into the plan's; where to read on. */
static const char *add_conversion(struct plan *plan, const char *at,
                                  struct arguments *arguments)
{
    struct nw_conversion c;
    int skipped = at[1] == '*';
    char width[16];

    nw_conversion_read(&c, at + skipped);
    int allocates = c.kind == 'm';
    if (allocates) {
        nw_conversion_rest(&c, c.end);
    }
    const char *end = c.kind == '[' ? set_end(c.end) : c.end;
    if (end == NULL) {
        add_text(plan, at, strlen(at));
        return at + strlen(at);
    }
    if (c.kind == '$') {
        nw_guest_refuse("scanf: numbered arguments (%1$d) are not supported");
    }
    if (c.kind == '%' || skipped) {
        add_text(plan, at, (size_t)(end - at));
        return end;
    }
    int one = c.kind == 'c' || c.kind == 'C';
    if (is_text(&c) && !one && c.width <= 0 && !allocates) {
        snprintf(width, sizeof width, "%%%u", TEXT_BYTES - 1);
        add_text(plan, width, strlen(width));
        add_text(plan, at + 1, (size_t)(end - at - 1));
    } else if (is_integer(&c)) {
        add_integer(plan, &c, at);
    } else {
        if (!allocates && c.width > WIDTH_MOST) {
            nw_guest_refuse("scanf: a field wider than 1048576");
        }
        add_text(plan, at, (size_t)(end - at));
    }
    add_target(plan, &c, va_arg(arguments->list, void *), allocates);
    return end;
}

static void make_plan(struct plan *plan, const char *format, va_list list)
{
    struct nw_guest_text copy;
    struct arguments arguments;
    const char *at = nw_guest_text(&copy, format);

    va_copy(arguments.list, list);
    plan->targets = 0;
    plan->length = 0;
    plan->format[0] = '\0';
    memset(plan->standin, 0, sizeof plan->standin);
    while (*at != '\0') {
        size_t plain = strcspn(at, "%");

        add_text(plan, at, plain);
        at += plain;
        if (*at == '%') {
            at = add_conversion(plan, at, &arguments);
        }
    }
    va_end(arguments.list);
    nw_guest_text_done(&copy);
}

/* A mark no conversion writes by chance tells whether a %n behind the last assignment was reached.
 * */
#define UNTOUCHED UINT64_C(0x9d3c5a71e64f28b7)

static void mark_counts(struct plan *plan)
{
    for (size_t i = 0; i < plan->targets; i++) {
        if (plan->target[i].is_count) {
            plan->target[i].value[0] = UNTOUCHED;
        }
    }
}

void *nw_libc_malloc(size_t bytes);

static int is_zero(const char *at, size_t unit)
{
    static const char zeros[sizeof(wchar_t)];

    return memcmp(at, zeros, unit) == 0;
}

/* A string read from a file may hold zeros, so its end is sought from behind. */
static size_t text_bytes(const struct target *target)
{
    size_t bytes = target->room;

    while (bytes > target->unit && !is_zero(target->text + bytes - target->unit, target->unit)) {
        bytes -= target->unit;
    }
    return bytes;
}

/* The host's heap gave the memory; the program gets a block of its own. */
static void deliver_allocated(const struct target *target)
{
    char *text;

    memcpy(&text, target->value, sizeof text);
    size_t bytes = target->bytes != 0   ? target->bytes
                   : target->unit == 1 ? strlen(text) + 1
                                       : (wcslen((wchar_t *)(void *)text) + 1) * target->unit;
    char *own = nw_libc_malloc(bytes);
    if (own == NULL) {
        nw_guest_refuse("scanf: no room in virtual memory for the text of %m");
    }
    nw_guest_put(own, text, bytes);
    nw_guest_put(target->to, &own, sizeof own);
    free(text);
}

static void deliver_one(const struct target *target)
{
    if (target->allocates) {
        deliver_allocated(target);
        return;
    }
    if (target->text == NULL) {
        nw_guest_put(target->to, target->value, target->bytes);
        return;
    }
    size_t bytes = target->bytes != 0 ? target->bytes : text_bytes(target);
    if (target->endless && bytes == target->room) {
        nw_guest_refuse("scanf: a string of more than 16382 bytes; give it a width");
    }
    nw_guest_put(target->to, target->text, bytes);
}

static void deliver(struct plan *plan, int assigned)
{
    int error = errno;

    for (size_t i = 0; i < plan->targets; i++) {
        struct target *target = &plan->target[i];

        if (target->is_count ? target->value[0] != UNTOUCHED : assigned-- > 0) {
            deliver_one(target);
        } else if (target->allocates) {
            nw_guest_put(target->to, target->value, sizeof(char *));
        }
        free(target->text);
    }
    errno = error;
}

#define STANDINS(s)                                                                                \
    s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12], s[13], s[14], \
        s[15], s[16], s[17], s[18], s[19], s[20], s[21], s[22], s[23]

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

NW_LIBC(int, vfscanf, (FILE * file, const char *format, va_list list))
{
    struct plan plan;

    make_plan(&plan, format, list);
    mark_counts(&plan);
    int assigned = fscanf(file, plan.format, STANDINS(plan.standin));
    deliver(&plan, assigned);
    return assigned;
}

NW_LIBC(int, vsscanf, (const char *from, const char *format, va_list list))
{
    struct plan plan;
    struct nw_guest_text copy;

    make_plan(&plan, format, list);
    mark_counts(&plan);
    int assigned = sscanf(nw_guest_text(&copy, from), plan.format, STANDINS(plan.standin));
    nw_guest_text_done(&copy);
    deliver(&plan, assigned);
    return assigned;
}

#pragma GCC diagnostic pop

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
