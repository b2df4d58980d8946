/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.c - random formats of printf and scanf with arguments to fit: formats FIRST COUNT. Every
 * case is a line of what came out; natively and in virtual memory the lines must be the same.
 */
#include "random.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>
#include <wchar.h>

#define ARGUMENTS 4
#define TEXT_BYTES 16384

enum kind { NONE, INT, LONG, POINTER, DOUBLE, WIDE };

union value {
    int i;
    long l;
    void *p;
    double d;
    long double x;
};

struct call {
    enum kind kind[ARGUMENTS];
    union value value[ARGUMENTS];
    unsigned count;
    char *format;
    char *plain; /* room on the stack */
    size_t bytes; /* for snprintf */
    unsigned how;
    int ended;
};

static char text[TEXT_BYTES], format_kept[600], strings[4][80];
static wchar_t wide_strings[4][40];
static long long counts[ARGUMENTS];
static FILE *file;

static void put(struct call *call, const char *what)
{
    strcat(call->format, what);
}

static void put_char(struct call *call, char what)
{
    char one[2] = {what, 0};

    strcat(call->format, one);
}

static union value *add(struct call *call, enum kind kind)
{
    call->kind[call->count] = kind;
    return &call->value[call->count++];
}

static char *a_string(unsigned number)
{
    static char literal[] = "a literal, so to say";
    char *to = one_in(3) ? malloc(80) : strings[number];
    size_t length = one_in(8) ? below(75) : below(12);

    if (one_in(10)) {
        return one_in(2) ? NULL : literal;
    }
    for (size_t i = 0; i < length; i++) {
        to[i] = (char)(one_in(9) ? 128 + below(127) : ' ' + below(95));
    }
    to[length] = '\0';
    return to;
}

static wchar_t *a_wide_string(unsigned number)
{
    size_t length = below(20);

    for (size_t i = 0; i < length; i++) {
        wide_strings[number][i] = (wchar_t)(' ' + below(95));
    }
    wide_strings[number][length] = L'\0';
    return one_in(12) ? NULL : wide_strings[number];
}

/* Width or precision, as digits or as an argument; most are short, some make long text. */
static void put_number(struct call *call, int may_star)
{
    int number = (int)(one_in(12) ? 300 + below(500) : below(30));
    char digits[16];

    if (may_star && one_in(4)) {
        put(call, "*");
        add(call, INT)->i = one_in(4) ? -number : number;
        return;
    }
    snprintf(digits, sizeof digits, "%d", number);
    put(call, digits);
}

static void put_integer(struct call *call)
{
    static const char *const lengths[] = {"", "hh", "h", "l", "ll", "j", "z", "t", "Z", "q", "L"};
    unsigned length = below(11);

    put(call, lengths[length]);
    put_char(call, pick("diouxXbB"));
    if (length < 3) {
        add(call, INT)->i = (int)random_integer();
    } else {
        add(call, LONG)->l = (long)random_integer();
    }
}

static void put_text(struct call *call)
{
    switch (below(8)) {
    case 0:
        put(call, "c");
        add(call, INT)->i = (int)below(256);
        break;
    case 1:
        put(call, one_in(2) ? "lc" : "C");
        add(call, INT)->i = (int)(1 + below(126));
        break;
    case 2:
        put(call, one_in(2) ? "ls" : "S");
        add(call, POINTER)->p = a_wide_string(call->count);
        break;
    case 3:
        put(call, "p");
        add(call, POINTER)->p = (void *)(uintptr_t)(one_in(3) ? 0 : random_bits() >> 20);
        break;
    case 4:
        put(call, "m");
        break;
    default:
        put(call, "s");
        add(call, POINTER)->p = a_string(call->count);
        break;
    }
}

/* Letters that mean nothing: printed in the host's way, and no argument is taken. They end the
 * format, for glibc takes what follows one in ways of its own, such as %qd for %d. */
static void put_unknown(struct call *call)
{
    static const char *const lengths[] = {"", "", "", "hh", "l", "q", "Z"};

    put(call, lengths[below(7)]);
    call->ended = 1;
    put_char(call, pick("DJKMNOPQRTUVWYkrvwy"));
}

static void put_count(struct call *call)
{
    static const char *const lengths[] = {"%n", "%hhn", "%hn", "%ln", "%lln", "%jn", "%zn", "%tn"};

    put(call, lengths[below(8)]);
    counts[call->count] = UINT64_C(0x5a5a5a5a5a5a5a5a);
    add(call, POINTER)->p = &counts[call->count];
}

/* A conversion takes three arguments at most. */
static void put_conversion(struct call *call)
{
    if (one_in(10)) {
        put_count(call);
        return;
    }
    /* Of such a letter glibc prints a negative width given as an argument in a way of its own. */
    int unknown = one_in(12), may_star = !unknown;

    put(call, "%");
    for (unsigned i = below(4); i > 0; i--) {
        put_char(call, pick("-+ #0'"));
    }
    if (one_in(2)) {
        put_number(call, may_star && call->count + 2 < ARGUMENTS);
    }
    if (one_in(2)) {
        put(call, ".");
        put_number(call, may_star && call->count + 1 < ARGUMENTS);
    }
    if (unknown) {
        put_unknown(call);
        return;
    }
    switch (below(5)) {
    case 0:
    case 1: put_integer(call); break;
    case 2:
        put(call, one_in(4) ? "l" : "");
        put_char(call, pick("aAeEfFgG"));
        add(call, DOUBLE)->d = random_double();
        break;
    case 3:
        put(call, "L");
        put_char(call, pick("aAeEfFgG"));
        add(call, WIDE)->x = (long double)random_double() / 3;
        break;
    default: put_text(call); break;
    }
}

static void put_anything(struct call *call)
{
    while (call->count < ARGUMENTS && strlen(call->format) < 500 && !call->ended) {
        switch (below(8)) {
        case 0: put(call, "%%"); break;
        case 1: put(call, " text "); break;
        case 2: put_char(call, (char)(128 + below(127))); break;
        case 3:
            if (one_in(3)) {
                return;
            }
            break;
        default: put_conversion(call); break;
        }
    }
}

/* What the stream got, from its beginning. */
static int read_back(int n)
{
    fflush(file);
    rewind(file);
    size_t got = fread(text, 1, sizeof text, file);
    rewind(file);
    ftruncate(fileno(file), 0);
    show(text, got);
    return n;
}

static int made_in_memory(char *made, int n)
{
    show(n < 0 ? "" : made, n < 0 ? 0 : (size_t)n);
    return n;
}

static int through(struct call *call, const char *format, ...)
{
    char *made = NULL;
    va_list list;
    int n;

    va_start(list, format);
    errno = (int)call->how;
    switch (call->how % 7) {
    case 0: n = made_in_memory(text, vsprintf(text, format, list)); break;
    case 1: n = made_in_memory(call->plain, vsprintf(call->plain, format, list)); break;
    case 2: n = read_back(vfprintf(file, format, list)); break;
    case 3: n = read_back(vdprintf(fileno(file), format, list)); break;
    case 4:
        n = vasprintf(&made, format, list);
        made_in_memory(made, n);
        free(n < 0 ? NULL : made);
        break;
    case 5: n = vprintf(format, list); break;
    default:
        memset(text, 'x', sizeof text);
        n = vsnprintf(text, call->bytes, format, list);
        show(text, call->bytes + 1);
        break;
    }
    va_end(list);
    return n;
}

/* One real call for each list of kinds. */
#define END(...) return through(__VA_ARGS__)
#define STEP_3(...)                                                                                \
    switch (call->kind[3]) {                                                                       \
    case INT: END(__VA_ARGS__, call->value[3].i);                                                  \
    case LONG: END(__VA_ARGS__, call->value[3].l);                                                 \
    case POINTER: END(__VA_ARGS__, call->value[3].p);                                              \
    case DOUBLE: END(__VA_ARGS__, call->value[3].d);                                               \
    case WIDE: END(__VA_ARGS__, call->value[3].x);                                                 \
    default: END(__VA_ARGS__);                                                                     \
    }
#define STEP_2(...)                                                                                \
    switch (call->kind[2]) {                                                                       \
    case INT: STEP_3(__VA_ARGS__, call->value[2].i)                                                \
    case LONG: STEP_3(__VA_ARGS__, call->value[2].l)                                               \
    case POINTER: STEP_3(__VA_ARGS__, call->value[2].p)                                            \
    case DOUBLE: STEP_3(__VA_ARGS__, call->value[2].d)                                             \
    case WIDE: STEP_3(__VA_ARGS__, call->value[2].x)                                               \
    default: END(__VA_ARGS__);                                                                     \
    }
#define STEP_1(...)                                                                                \
    switch (call->kind[1]) {                                                                       \
    case INT: STEP_2(__VA_ARGS__, call->value[1].i)                                                \
    case LONG: STEP_2(__VA_ARGS__, call->value[1].l)                                               \
    case POINTER: STEP_2(__VA_ARGS__, call->value[1].p)                                            \
    case DOUBLE: STEP_2(__VA_ARGS__, call->value[1].d)                                             \
    case WIDE: STEP_2(__VA_ARGS__, call->value[1].x)                                               \
    default: END(__VA_ARGS__);                                                                     \
    }
#define STEP_0(...)                                                                                \
    switch (call->kind[0]) {                                                                       \
    case INT: STEP_1(__VA_ARGS__, call->value[0].i)                                                \
    case LONG: STEP_1(__VA_ARGS__, call->value[0].l)                                               \
    case POINTER: STEP_1(__VA_ARGS__, call->value[0].p)                                            \
    case DOUBLE: STEP_1(__VA_ARGS__, call->value[0].d)                                             \
    case WIDE: STEP_1(__VA_ARGS__, call->value[0].x)                                               \
    default: END(__VA_ARGS__);                                                                     \
    }

static int print(struct call *call)
{
    STEP_0(call, call->format)
}

static void one_printf(unsigned number)
{
    char plain[TEXT_BYTES], format[600] = "";
    struct call call = {.plain = plain, .how = number, .bytes = below(80)};

    call.format = one_in(2) ? format : format_kept;
    call.format[0] = '\0';
    put_anything(&call);
    show(call.format, strlen(call.format));
    putchar(' ');
    int n = print(&call);
    printf(" = %d", n);
    for (unsigned i = 0; i < call.count; i++) {
        char *at = call.value[i].p;

        if (call.kind[i] == POINTER && at == (char *)&counts[i]) {
            printf(" %llx", (unsigned long long)counts[i]);
        } else if (call.kind[i] == POINTER && (at == strings[i] || at == plain)) {
            call.value[i].p = NULL;
        }
    }
}

/* scanf: the format and an input that more or less fits it. */
#define CELLS 6

struct scan {
    char *format, *input;
    unsigned cells;
    unsigned allocated; /* bits of the cells that get a pointer */
};

static unsigned char cells[CELLS][128];

static void both(struct scan *scan, const char *format, const char *input)
{
    strcat(scan->format, format);
    strcat(scan->input, input);
}

static void scan_integer(struct scan *scan)
{
    static const char *const lengths[] = {"", "hh", "h", "l", "ll", "j", "z", "t", "q", "L", "Z"};
    static const char *const ways[] = {"%lld", "%llu", "%llx", "%#llx", "%llo", "%#llo", " %+lld"};
    char format[24] = "", input[48];
    const char *length = lengths[below(11)];
    unsigned width = one_in(4) ? 1 + below(12) : 0;

    if (width > 0) {
        snprintf(format, sizeof format, "%u", width);
    }
    strcat(format, length);
    snprintf(input, sizeof input, ways[below(7)], random_integer());
    format[strlen(format) + 1] = '\0';
    format[strlen(format)] = pick("diouxXpb");
    if (format[strlen(format) - 1] == 'p') {
        strcpy(format, "p");
    }
    both(scan, format, input);
}

static void scan_float(struct scan *scan)
{
    static const char *const kinds[] = {"f", "lf", "Lf", "e", "lg", "La", "5f", "8lf"};
    static const char *const ways[] = {"%g", "%f", "%.3e", "%a", "%.1f", "%G"};
    char input[400];

    snprintf(input, sizeof input, ways[below(6)], random_double());
    if (strlen(input) > 60) {
        input[60] = '\0';
    }
    both(scan, kinds[below(8)], input);
}

static void scan_text(struct scan *scan)
{
    static const char *const kinds[] = {"s",    "5s",     "20s",    "c",    "3c",     "[a-z]",
                                        "[^,]", "10[^ ]", "[]a-f]", "[^]]", "2[0-9]", "[%a-c]",
                                        "ls",   "7ls",    "2lc",    "C",    "l[a-d]", "S",
                                        "2C",   "5S"};
    char input[40];
    unsigned length = below(12);

    for (unsigned i = 0; i < length; i++) {
        input[i] = pick("abcdefxyz0123,] %-");
    }
    input[length] = '\0';
    both(scan, kinds[below(20)], input);
}

static void scan_conversion(struct scan *scan)
{
    int skips = one_in(6);

    if (!skips && scan->cells == CELLS) {
        return;
    }
    strcat(scan->format, skips ? "%*" : "%");
    if (!skips && one_in(12)) {
        scan->allocated |= 1U << scan->cells++;
        both(scan, one_in(2) ? "ms" : one_in(2) ? "5ms" : "m[a-z]", "some-text");
        return;
    }
    switch (below(7)) {
    case 0:
    case 1:
    case 2: scan_integer(scan); break;
    case 3: scan_float(scan); break;
    case 4:
        if (!skips) {
            both(scan, one_in(2) ? "n" : "hhn", "");
            break;
        }
        /* fall through */
    default: scan_text(scan); break;
    }
    scan->cells += !skips;
}

static void scan_anything(struct scan *scan)
{
    for (unsigned i = 1 + below(7); i > 0; i--) {
        switch (below(6)) {
        case 0: both(scan, " ", " \t\n"); break;
        case 1: both(scan, ",", one_in(5) ? ";" : ","); break;
        case 2: both(scan, "%%", " %"); break;
        default:
            scan_conversion(scan);
            strcat(scan->input, one_in(3) ? "" : " ");
            break;
        }
    }
    if (one_in(8)) {
        scan->input[below((unsigned)strlen(scan->input) + 1)] = '\0';
    }
}

static int scan_from(const struct scan *scan, unsigned how)
{
    char at[] = "?";
    int n;

    if (how % 3 != 2) {
        return sscanf(scan->input, scan->format, cells[0], cells[1], cells[2], cells[3], cells[4],
                      cells[5]);
    }
    fputs(scan->input, file);
    rewind(file);
    n = fscanf(file, scan->format, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]);
    printf(" %ld %zu", ftell(file), fread(at, 1, 1, file));
    rewind(file);
    ftruncate(fileno(file), 0);
    return n;
}

static void one_scanf(unsigned number)
{
    char format[600] = "", input[1000] = "";
    struct scan scan = {format, input, 0, 0};

    if (one_in(2)) {
        scan.format = format_kept;
        scan.input = text;
        format_kept[0] = text[0] = '\0';
    }
    memset(cells, 0xa5, sizeof cells);
    scan_anything(&scan);
    show(scan.format, strlen(scan.format));
    putchar(' ');
    show(scan.input, strlen(scan.input));
    errno = 0;
    printf(" = %d", scan_from(&scan, number));
    for (unsigned i = 0; i < CELLS; i++) {
        if ((scan.allocated >> i & 1) != 0 && cells[i][7] == 0) {
            char *made;

            memcpy(&made, cells[i], sizeof made);
            show(made != NULL ? made : "(none)", made != NULL ? strlen(made) : 6);
            free(made);
            continue;
        }
        printf(" %llx", (unsigned long long)hash(cells[i], sizeof cells[i]));
    }
}

static void one_case(unsigned number)
{
    if (one_in(3)) {
        one_scanf(number);
    } else {
        one_printf(number);
    }
}

int main(int argc, char **argv)
{
    file = tmpfile();
    return file == NULL ? 2 : run_cases(argc, argv, one_case);
}
