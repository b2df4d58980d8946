/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - random sequences of library calls over memory of every kind: calls FIRST COUNT. Every
 * case is a line of results and, at its end, digests of the memory; natively and in virtual memory
 * the lines must be the same.
 */
#include "random.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define REGIONS 4
#define REGION_BYTES 300U

/* Static, from the heap, on the stack, and static again. */
static char first[REGION_BYTES], second[REGION_BYTES];
static char *region[REGIONS];
static FILE *file;
static int compares;
static uint64_t order_seen;
static wchar_t wide[REGION_BYTES];
static unsigned seed; /* of rand_r */

static char *any(void)
{
    return region[below(REGIONS)];
}

/* A place in a region that leaves room for so many bytes. */
static char *any_place(unsigned room)
{
    return any() + below(REGION_BYTES - room);
}

static long place_of(const void *found)
{
    const char *at = found;

    for (int i = 0; i < REGIONS; i++) {
        if (at >= region[i] && at <= region[i] + REGION_BYTES) {
            return i * 1000 + (long)(at - region[i]);
        }
    }
    return at == NULL ? -1 : -2;
}

static void fill_string(char *to, unsigned most)
{
    static const char *const sets[] = {"ab",         "abcdefgh", "aAbB zZ09",
                                       "0123456789", ", ;:x",    "\x80\xff~a"};
    const char *set = sets[below(6)];
    unsigned length = one_in(3) ? below(most) : below(most < 20 ? most : 20);

    for (unsigned i = 0; i < length; i++) {
        to[i] = pick(set);
    }
    to[length] = '\0';
}

static void tell(const char *name, long result)
{
    printf(" %s %ld", name, result);
}

static void memory_calls(void)
{
    unsigned n = below(100);
    char *a = any_place(101), *b = any_place(101);
    int byte = pick("ab,z0\x80");

    switch (below(14)) {
    case 0: tell("memmove", place_of(memmove(a, b, n))); break;
    case 1:
        b = any() == region[0] ? region[1] + 3 : region[2] + 5;
        a = region[3] + 60;
        tell("memcpy", place_of(memcpy(a, b, n)));
        break;
    case 2: tell("memset", place_of(memset(a, byte, n))); break;
    case 3: tell("memcmp", (memcmp(a, b, n) > 0) - (memcmp(a, b, n) < 0)); break;
    case 4: tell("memchr", place_of(memchr(a, byte, n))); break;
    case 5: tell("memrchr", place_of(memrchr(a, byte, n))); break;
    case 6: tell("memmem", place_of(memmem(a, n, b, below(4)))); break;
    case 7: tell("memccpy", place_of(memccpy(region[0], region[1] + 9, byte, n))); break;
    case 8: tell("mempcpy", place_of(mempcpy(region[2], region[3] + 9, n))); break;
    case 9: bzero(a, n); break;
    case 10: bcopy(a, b, n); break;
    case 11: tell("bcmp", bcmp(a, b, n) != 0); break;
    case 12: tell("rawmemchr", place_of(rawmemchr(region[1], '\0'))); break;
    default: memcpy(a, "constant", 8); break;
    }
}

static void string_search(void)
{
    const char *a = any(), *b = any() + below(3);
    int byte = pick("ab,z0\x80");

    switch (below(15)) {
    case 0: tell("strlen", (long)strlen(a)); break;
    case 1: tell("strnlen", (long)strnlen(a, below(40))); break;
    case 2: tell("strcmp", strcmp(a, b)); break;
    case 3: tell("strncmp", strncmp(a, b, below(30))); break;
    case 4: tell("strcasecmp", strcasecmp(a, b)); break;
    case 5: tell("strncasecmp", strncasecmp(a, b, below(30))); break;
    case 6: tell("strchr", place_of(strchr(a, one_in(5) ? 0 : byte))); break;
    case 7: tell("strrchr", place_of(strrchr(a, one_in(5) ? 0 : byte))); break;
    case 8: tell("strchrnul", place_of(strchrnul(a, byte))); break;
    case 9: tell("strstr", place_of(strstr(a, one_in(2) ? "ab" : b))); break;
    case 10: tell("strcasestr", place_of(strcasestr(a, one_in(2) ? "Ab" : b))); break;
    case 11: tell("strspn", (long)strspn(a, b)); break;
    case 12: tell("strcspn", (long)strcspn(a, b)); break;
    case 13: tell("strpbrk", place_of(strpbrk(a, b))); break;
    default:
        tell("strcoll", strcoll(a, b));
        tell("strverscmp", strverscmp(a, b));
        break;
    }
}

/* Both strings are short enough by now to stand behind one another. */
static void string_build(void)
{
    char *a = region[below(2)], *b = region[2 + below(2)], *made, *rest = NULL;
    unsigned n = below(60);

    a[100] = b[100] = '\0';
    switch (below(12)) {
    case 0: tell("strcpy", place_of(strcpy(a, b))); break;
    case 1: tell("strncpy", place_of(strncpy(a, b, n))); break;
    case 2: tell("stpcpy", place_of(stpcpy(a, b))); break;
    case 3: tell("stpncpy", place_of(stpncpy(a, b, n))); break;
    case 4: tell("strcat", place_of(strcat(a, b))); break;
    case 5: tell("strncat", place_of(strncat(a, b, n))); break;
    case 6:
        made = strtok(a, ", b");
        for (; made != NULL && n-- > 0; made = strtok(NULL, one_in(2) ? "a" : b)) {
            tell("strtok", place_of(made));
        }
        break;
    case 7:
        tell("strtok_r", place_of(strtok_r(a, b, &rest)));
        tell("rest", place_of(rest));
        break;
    case 8:
        for (rest = a; rest != NULL && n-- > 40;) {
            tell("strsep", place_of(strsep(&rest, ",ab")));
        }
        break;
    case 9:
        made = one_in(2) ? strdup(a) : strndup(a, n);
        tell("strdup", (long)strlen(made));
        tell("same", strncmp(made, a, strlen(made)));
        free(made);
        break;
    case 10: tell("strxfrm", (long)strxfrm(a, b, n)); break;
    default: tell("snprintf", snprintf(a, 200, "%.*s|%s", (int)n, b, b)); break;
    }
}

static void make_number(char *to)
{
    static const char *const ways[] = {"%lld",  "%llx",  "0x%llx", "  %llo",
                                       "+%lld", "%lldz", "\t-%lld"};
    static const char *const odd[] = {
        "",    "  ",      "-",     "0x",      "0xg",     "+-1",       "1e",  "1e+",  "inf",
        "-INFx", "nan",   "nan(12)", "1e400", "-1e-400", "0x1.8p3",   "0x1p-1080", ".5.", "1.e5",
        "99999999999999999999", "-99999999999999999999", "zzzzzzzzz"};

    if (one_in(3)) {
        strcpy(to, odd[below(21)]);
    } else if (one_in(2)) {
        sprintf(to, ways[below(7)], random_integer());
    } else {
        sprintf(to, one_in(2) ? "%.*g,": "%.*e", (int)below(25), random_double());
    }
    if (one_in(20)) {
        memmove(to + 210, to, 60); /* behind more blanks or zeros than a wrapper looks at */
        memset(to, one_in(2) ? ' ' : '0', 210);
    }
}

static void number_calls(void)
{
    static const int bases[] = {0, 10, 16, 8, 2, 36, 1, 37, -1, 7};
    char *a = any(), *end = NULL, **at = one_in(6) ? NULL : &end;
    static char *kept_end;
    int base = bases[below(10)];

    make_number(a);
    if (one_in(2)) {
        kept_end = NULL;
        at = &kept_end;
    }
    errno = 0;
    switch (below(11)) {
    case 0: tell("strtol", strtol(a, at, base)); break;
    case 1: tell("strtoul", (long)strtoul(a, at, base)); break;
    case 2: tell("strtoll", strtoll(a, at, base)); break;
    case 3: tell("strtoull", (long)strtoull(a, at, base)); break;
    case 4: printf(" strtod %a", strtod(a, at)); break;
    case 5: printf(" strtof %a", strtof(a, at)); break;
    case 6: printf(" strtold %La", strtold(a, at)); break;
    case 7: tell("atoi", atoi(a)); break;
    case 8: tell("atol", atol(a)); break;
    case 9: printf(" atof %a", atof(a)); break;
    default: tell("atoll", atoll(a)); break;
    }
    tell("errno", errno);
    if (at != NULL) {
        tell("end", place_of(*at));
    }
}

static size_t element_bytes;

static int compare(const void *a, const void *b)
{
    const unsigned char *x = a, *y = b;

    compares++;
    order_seen = order_seen * 31 + *x * 7 + *y;
    return element_bytes > 2 ? x[0] % 16 - y[0] % 16 : *x - *y;
}

static int compare_with(const void *a, const void *b, void *what)
{
    return *(int *)what * compare(a, b);
}

static void tree_visit(const void *node, VISIT which, int depth)
{
    order_seen = order_seen * 31 + **(unsigned char *const *)node + (unsigned)which * 3 +
                 (unsigned)depth;
}

static void keep(void *key)
{
    (void)key;
}

static void tree_calls(char *base, size_t count)
{
    static void *root;

    for (size_t i = 0; i < count; i++) {
        tsearch(base + i, &root, compare);
    }
    for (size_t i = 0; i < count; i += 3) {
        tell("tfind", tfind(base + i, &root, compare) != NULL);
        tdelete(base + i, &root, compare);
    }
    twalk(root, tree_visit);
    tdestroy(root, keep);
    root = NULL;
}

static void sort_calls(void)
{
    static size_t count;
    static int sign;
    size_t most;
    char *base = any();

    element_bytes = one_in(2) ? 1 : 1 + below(24);
    most = REGION_BYTES / element_bytes;
    count = below((unsigned)most);
    sign = one_in(2) ? 1 : -1;
    switch (below(6)) {
    case 0: qsort(base, count, element_bytes, compare); break;
    case 1: qsort_r(base, count, element_bytes, compare_with, &sign); break;
    case 2:
        qsort(base, count, element_bytes, compare);
        tell("bsearch", place_of(bsearch(any(), base, count, element_bytes, compare)));
        break;
    case 3: tell("lfind", place_of(lfind(any(), base, &count, element_bytes, compare))); break;
    case 4:
        if (count + 1 < most) {
            tell("lsearch", place_of(lsearch("q and more than any element", base, &count,
                                             element_bytes, compare)));
            tell("count", (long)count);
        }
        break;
    default:
        element_bytes = 1;
        tree_calls(base, below(40));
        break;
    }
    printf(" %d %llx", compares, (unsigned long long)order_seen);
}

static void heap_calls(void)
{
    static char *block[8];
    static size_t bytes[8];

    for (unsigned i = 0; i < 12; i++) {
        unsigned which = below(8);
        size_t want = one_in(4) ? below(3000) : below(60);
        char *before = block[which];

        switch (below(4)) {
        case 0:
            free(before);
            block[which] = calloc(1 + want / 7, 7);
            bytes[which] = (1 + want / 7) * 7;
            break;
        case 1:
            free(before);
            block[which] = one_in(3) ? aligned_alloc(64, (want + 64) & ~63UL) : malloc(want + 1);
            memset(block[which], (int)want, want);
            bytes[which] = want;
            break;
        case 2:
            block[which] = realloc(before, want + 1);
            bytes[which] = want < bytes[which] ? want : bytes[which];
            break;
        default:
            free(before);
            block[which] = NULL;
            bytes[which] = 0;
            break;
        }
        printf(" %llx", (unsigned long long)hash(block[which], bytes[which]));
    }
    for (unsigned i = 0; i < 8; i++) {
        free(block[i]);
        block[i] = NULL;
        bytes[i] = 0;
    }
}

static void file_write(void)
{
    char *a = any();
    unsigned n = below(200);
    static fpos_t kept;

    switch (below(9)) {
    case 0: tell("fwrite", (long)fwrite(a, 1 + below(5), n / 5, file)); break;
    case 1: tell("fputs", fputs(a, file) >= 0); break;
    case 2: tell("fputc", fputc(a[0], file)); break;
    case 3: tell("fprintf", fprintf(file, "%s:%u\n", a, n)); break;
    case 4: tell("fseek", fseek(file, (long)n - 10, one_in(2) ? SEEK_SET : SEEK_END)); break;
    case 5:
        tell("fgetpos", fgetpos(file, &kept));
        tell("fputs", fputs("\nline\n", file) >= 0);
        tell("fsetpos", fsetpos(file, &kept));
        break;
    case 6: tell("fflush", fflush(file)); break;
    case 7:
        fflush(file); /* a file has one handle at a time, says POSIX */
        tell("pwrite", pwrite(fileno(file), a, n, 5));
        break;
    default: rewind(file); break;
    }
}

static char *line;
static size_t room;

static void file_read(void)
{
    char *a = any();
    int n = 1 + (int)below(200);

    switch (below(9)) {
    case 0: tell("fread", (long)fread(a, 1 + below(5), (size_t)n / 5, file)); break;
    case 1: tell("fgets", place_of(fgets(a, n, file))); break;
    case 2: tell("fgetc", fgetc(file)); break;
    case 3: tell("ungetc", ungetc(n, file)); break;
    case 4:
        tell("getline", getline(&line, &room, file));
        break;
    case 5:
        tell("getdelim", getdelim(&line, &room, pick("a,9"), file));
        break;
    case 6: tell("fscanf", fscanf(file, "%99s %d", a, &n)); break;
    case 7:
        fflush(file);
        tell("pread", pread(fileno(file), a, (size_t)n, below(30)));
        break;
    default: tell("feof", feof(file) + 2 * ferror(file)); break;
    }
    if (line != NULL && one_in(3)) {
        free(line);
        line = NULL;
        room = 0;
    }
}

/* Reads and writes of one stream, with a seek between them. */
static void file_calls(void)
{
    static char buffer[100];

    if (one_in(3)) {
        fclose(file);
        file = tmpfile();
        if (one_in(2)) {
            setvbuf(file, one_in(2) ? buffer : NULL, one_in(2) ? _IOFBF : _IOLBF, sizeof buffer);
        }
    }
    for (unsigned i = below(8); i > 0; i--) {
        file_write();
    }
    tell("ftell", ftell(file));
    fseek(file, one_in(2) ? 0 : (long)below(50), SEEK_SET);
    for (unsigned i = below(8); i > 0; i--) {
        file_read();
    }
    tell("ftell", ftell(file));
    fseek(file, 0, SEEK_CUR);
}

static void stream_calls(void)
{
    static const char *const modes[] = {"r", "w", "a", "r+", "w+", "a+"};
    static char *made;
    static size_t bytes;
    FILE *mine = file, *over;
    char *a = any();
    size_t most = 1 + below(REGION_BYTES - 1);

    int to_string = one_in(3);

    over = to_string ? open_memstream(&made, &bytes) : fmemopen(a, most, modes[below(6)]);
    if (over == NULL) {
        tell("open", errno);
        return;
    }
    file = over;
    for (unsigned i = below(6); i > 0; i--) {
        switch (below(5)) {
        case 0: tell("fputs", fputs("some words", file) >= 0); break;
        case 1: tell("fseek", fseek(file, (long)below(40), SEEK_SET)); break;
        case 2:
            tell("fflush", fflush(file));
            break;
        case 3: /* reading a stream that only writes is nobody's promise */
            tell("fgetc", to_string ? 0 : fgetc(file));
            break;
        default: tell("ftell", ftell(file)); break;
        }
        clearerr(file);
    }
    tell("fclose", fclose(file));
    file = mine;
    if (made != NULL) {
        show(made, bytes);
        free(made);
        made = NULL;
    }
}

static void time_calls(void)
{
    static const char *const formats[] = {"%Y-%m-%d %H:%M:%S", "%c %j %U %w %y", "%e %I %p %Z %%",
                                          "%A %B %G %V",       "%s%n%t%D",       ""};
    static struct tm broken;
    static time_t now;
    char *a = any();

    now = (time_t)(random_integer() % 100000000000LL);
    gmtime_r(&now, &broken);
    tell("gmtime_r", broken.tm_yday + broken.tm_wday * 1000);
    tell("strftime", (long)strftime(a, below(100), formats[below(6)], &broken));
    broken.tm_mday += (int)below(100) - 50;
    tell("timegm", timegm(&broken));
    tell("mktime", mktime(&broken));
    broken.tm_isdst = 0;
    strcpy(a, one_in(2) ? asctime(gmtime(&now)) : ctime(&now));
}

/* Lines of wide characters go out and come in again. */
static void wide_stream(unsigned n)
{
    FILE *lines = tmpfile();

    wide[n] = below(3) ? L'\n' : L'\0';
    wide[60] = L'\0';
    tell("fputws", fputws(wide, lines));
    fputws(L"second\n", lines);
    rewind(lines);
    for (int i = 0; i < 3; i++) {
        tell("fgetws", fgetws(wide + 100, (int)below(30), lines) == NULL);
        wide[130] = L'\0';
        tell("wcslen", (long)wcslen(wide + 100));
    }
    fclose(lines);
}

/* The same as without a locale, in one that was made. */
static void locale_calls(void)
{
    static locale_t made;
    static char *end;
    static struct tm day;
    char *a = any(), *b = any();
    unsigned n = below(60);

    if (made == (locale_t)0) {
        made = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    }
    if (one_in(2)) {
        snprintf(a, REGION_BYTES, "%g,%d rest", random_double(), (int)below(5000) - 2500);
    }
    end = NULL;
    switch (below(7)) {
    case 0: printf(" strtod_l %a", strtod_l(a, &end, made)); break;
    case 1: tell("strtol_l", strtol_l(a, &end, (int)below(37), made)); break;
    case 2: tell("strcoll_l", strcoll_l(a, b, made)); break;
    case 3: tell("strcasecmp_l", strcasecmp_l(a, b, made)); break;
    case 4: tell("strncasecmp_l", strncasecmp_l(a, b, n, made)); break;
    case 5:
        day.tm_mday = (int)below(28) + 1;
        tell("strftime_l", (long)strftime_l(any(), n, "%A %d %B", &day, made));
        break;
    default: tell("isalpha_l", isalpha_l(a[0] & 0x7f, made) + tolower_l(a[1] & 0x7f, made)); break;
    }
    tell("end", place_of(end));
}

static void wide_calls(void)
{
    static double whole;
    static int power;
    char *a = any(), *b = any();
    unsigned n = below(40);

    b[60] = '\0';
    switch (below(10)) {
    case 0: tell("mbstowcs", (long)mbstowcs(one_in(5) ? NULL : wide, b, n)); break;
    case 1:
        wide[n] = L'\0';
        tell("wcstombs", (long)wcstombs(one_in(5) ? NULL : a, wide, n));
        break;
    case 2: tell("mblen", mblen(b, n)); break;
    case 3: tell("mbtowc", mbtowc(wide, b, n)); break;
    case 4: tell("wctomb", wctomb(a, (wchar_t)below(300))); break;
    case 5:
        printf(" frexp %a", frexp(random_double(), &power));
        tell("power", power);
        break;
    case 6:
        printf(" modf %a", modf(random_double(), &whole));
        printf(" %a", whole);
        break;
    case 7: tell("rand_r", rand_r(&seed)); break;
    case 8: wide_stream(n); break;
    default:
        tell("wcsxfrm", (long)wcsxfrm(wide + 50, wide, n + 1));
        wide[50 + n] = L'\0';
        break;
    }
    wide[REGION_BYTES - 1] = L'\0';
    tell("wcslen", (long)wcslen(wide));
}

static void match_calls(void)
{
    static const char *const patterns[] = {"a*b", "[a-c]+", "(a|b)(b*)", "x?y",
                                           "^a",  "b$",     "[",         "."};
    static const char *const globs[] = {"*", "a*", "[ab]?*", "*b", "\\a", "[!a]*"};
    static regmatch_t matches[3];
    static regex_t regex;
    const char *a = any();
    char message[60];
    int error = regcomp(&regex, patterns[below(8)], one_in(2) ? REG_EXTENDED : REG_ICASE);

    tell("regcomp", error);
    if (error == 0) {
        memset(matches, 0, sizeof matches);
        tell("regexec", regexec(&regex, a, 3, matches, one_in(4) ? REG_NOTBOL : 0));
        tell("from", matches[0].rm_so + 1000 * matches[1].rm_eo);
        regfree(&regex);
    } else {
        tell("regerror", (long)regerror(error, &regex, message, sizeof message));
    }
    tell("fnmatch", fnmatch(globs[below(6)], a, one_in(2) ? FNM_PERIOD : 0));
}

static void environment_calls(void)
{
    char *a = any(), *found;

    a[30] = '\0';
    switch (below(3)) {
    case 0: tell("setenv", setenv("NW_RANDOM", a, one_in(2))); break;
    case 1: tell("unsetenv", unsetenv("NW_RANDOM")); break;
    default: break;
    }
    found = getenv("NW_RANDOM");
    tell("getenv", found == NULL ? -1 : (long)strlen(found));
    for (int i = 0; a[i] != '\0'; i++) {
        a[i] = (char)(isupper((unsigned char)a[i]) ? tolower((unsigned char)a[i])
                                                   : toupper((unsigned char)a[i]));
    }
}

/* A digit pair for each region: a difference shows behind the call that made it. */
static void tell_memory(void)
{
    putchar(' ');
    for (int i = 0; i < REGIONS; i++) {
        printf("%02x", (unsigned)(hash(region[i], REGION_BYTES) >> 40 & 0xff));
    }
}

static void one_case(unsigned number)
{
    static void (*const groups[])(void) = {memory_calls, string_search, string_build, number_calls,
                                           sort_calls,   heap_calls,    file_calls,   stream_calls,
                                           time_calls,   wide_calls,    match_calls,
                                           environment_calls, locale_calls};
    char stack[REGION_BYTES];

    region[0] = first;
    region[1] = malloc(REGION_BYTES);
    region[2] = stack;
    region[3] = second;
    compares = 0;
    order_seen = number;
    unsetenv("NW_RANDOM");
    fclose(file);
    file = tmpfile();
    memset(wide, 0, sizeof wide);
    seed = number;
    for (int i = 0; i < REGIONS; i++) {
        memset(region[i], 'a' + i, REGION_BYTES);
        fill_string(region[i], 150);
    }
    for (unsigned i = 2 + below(6); i > 0; i--) {
        for (int each = 0; each < REGIONS; each++) {
            region[each][REGION_BYTES - 1] = '\0'; /* each is a string, however long */
        }
        groups[below(13)]();
        tell_memory();
    }
    free(region[1]);
    free(line);
    line = NULL;
    room = 0;
}

int main(int argc, char **argv)
{
    setenv("TZ", "UTC", 1);
    file = tmpfile();
    return file == NULL ? 2 : run_cases(argc, argv, one_case);
}
