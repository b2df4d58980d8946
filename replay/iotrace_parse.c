/* SPDX-License-Identifier: Apache-2.0 */
/* The text formats, each a function that reads one line. */
#include "iotrace_parse.h"

#include <string.h>

#define SECTOR 512U
#define MOST_BYTES ((uint64_t)1 << 62)

static int refuse(struct nw_line *line, const char *wanted)
{
    if (line->bad == NULL) {
        line->bad = line->at;
        line->wanted = wanted;
    }
    return 0;
}

static int at_end(const struct nw_line *line)
{
    return line->at == line->end;
}

static void skip_blanks(struct nw_line *line)
{
    while (!at_end(line) && (*line->at == ' ' || *line->at == '\t')) {
        line->at++;
    }
}

static int is_digit(const struct nw_line *line)
{
    return !at_end(line) && *line->at >= '0' && *line->at <= '9';
}

/* Digits, and the value; 0 and the complaint when there are none or too many. */
static int number(struct nw_line *line, uint64_t *value)
{
    const char *start = line->at;

    *value = 0;
    if (!is_digit(line)) {
        return refuse(line, "a number");
    }
    for (; is_digit(line); line->at++) {
        uint64_t digit = (uint64_t)(*line->at - '0');

        if (*value > (UINT64_MAX - digit) / 10U) {
            line->at = start;
            return refuse(line, "a number below 2^64");
        }
        *value = *value * 10U + digit;
    }
    return 1;
}

/* A decimal number times 10^places, digits beyond dropped. */
static int decimal(struct nw_line *line, uint32_t places, uint64_t *value)
{
    const char *start = line->at;

    if (!number(line, value)) {
        return 0;
    }
    if (!at_end(line) && *line->at == '.') {
        line->at++;
        for (; is_digit(line); line->at++) {
            if (places > 0 && *value <= UINT64_MAX / 10U - 1U) {
                *value = *value * 10U + (uint64_t)(*line->at - '0');
                places--;
            }
        }
    }
    for (; places > 0; places--) {
        if (*value > UINT64_MAX / 10U) {
            line->at = start;
            return refuse(line, "a time below 584 years");
        }
        *value *= 10U;
    }
    return 1;
}

static int literal(struct nw_line *line, char wanted, const char *text)
{
    if (at_end(line) || *line->at != wanted) {
        return refuse(line, text);
    }
    line->at++;
    return 1;
}

static int comma(struct nw_line *line)
{
    skip_blanks(line);
    if (!literal(line, ',', "a comma")) {
        return 0;
    }
    skip_blanks(line);
    return 1;
}

/* Over everything up to the next comma, and over it. */
static int skip_field(struct nw_line *line)
{
    while (!at_end(line) && *line->at != ',') {
        line->at++;
    }
    return comma(line);
}

/* A word up to a blank or comma. */
static int word(struct nw_line *line, const char **start, size_t *length)
{
    skip_blanks(line);
    *start = line->at;
    while (!at_end(line) && *line->at != ' ' && *line->at != '\t' && *line->at != ',') {
        line->at++;
    }
    *length = (size_t)(line->at - *start);
    return *length > 0 ? 1 : refuse(line, "a word");
}

static int is(const char *start, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(start, text, length) == 0;
}

/* After the last field that is read: nothing, or another field. */
static int ends_field(struct nw_line *line)
{
    return at_end(line) || *line->at == ' ' || *line->at == '\t' || *line->at == ','
               ? 1
               : refuse(line, "the end of the field");
}

/* A time in units of `unit` ns, as ns. */
static int time_of(struct nw_line *line, uint64_t unit, uint64_t *time_ns)
{
    const char *start;

    skip_blanks(line);
    start = line->at;
    if (!number(line, time_ns)) {
        return 0;
    }
    if (*time_ns > UINT64_MAX / unit) {
        line->at = start;
        return refuse(line, "a time below 584 years");
    }
    *time_ns *= unit;
    return 1;
}

static int read_or_write(struct nw_line *line, uint8_t *kind)
{
    const char *start;
    size_t length;

    if (!word(line, &start, &length)) {
        return 0;
    }
    if (is(start, length, "R") || is(start, length, "r") || is(start, length, "Read") ||
        is(start, length, "read")) {
        *kind = NW_IO_READ;
        return 1;
    }
    if (is(start, length, "W") || is(start, length, "w") || is(start, length, "Write") ||
        is(start, length, "write")) {
        *kind = NW_IO_WRITE;
        return 1;
    }
    line->at = start;
    return refuse(line, "R or W");
}

static int blank_number(struct nw_line *line, uint64_t *value)
{
    skip_blanks(line);
    return number(line, value);
}

/* A place or size in units of `unit` bytes, as bytes. */
static int bytes_of(struct nw_line *line, uint64_t unit, uint64_t *bytes)
{
    const char *start;

    skip_blanks(line);
    start = line->at;
    if (!number(line, bytes)) {
        return 0;
    }
    if (*bytes > MOST_BYTES / unit) {
        line->at = start;
        return refuse(line, "an address below 2^62 bytes");
    }
    *bytes *= unit;
    return 1;
}

/* The line is complete. A write of nothing is how some recorders note a flush. */
static int finish(struct nw_io *io)
{
    if (io->kind == NW_IO_SYNC || io->bytes > 0) {
        return NW_LINE_REQUEST;
    }
    if (io->kind != NW_IO_WRITE) {
        return NW_LINE_EMPTY;
    }
    io->kind = NW_IO_SYNC;
    io->offset = 0;
    return NW_LINE_REQUEST;
}

static int parse_msr(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    uint64_t took;

    (void)state;
    if (!time_of(line, 100, &io->time_ns) || !comma(line) || !skip_field(line) ||
        !number(line, &io->unit) || !comma(line) || !read_or_write(line, &io->kind) ||
        !comma(line) || !bytes_of(line, 1, &io->offset) || !comma(line) ||
        !bytes_of(line, 1, &io->bytes) || !comma(line) || !number(line, &took) ||
        !ends_field(line)) {
        return NW_LINE_BAD;
    }
    return finish(io);
}

static int parse_spc(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    (void)state;
    skip_blanks(line);
    if (!number(line, &io->unit) || !comma(line) || !bytes_of(line, SECTOR, &io->offset) ||
        !comma(line) || !bytes_of(line, 1, &io->bytes) || !comma(line) ||
        !read_or_write(line, &io->kind) || !comma(line) || !decimal(line, 9, &io->time_ns) ||
        !ends_field(line)) {
        return NW_LINE_BAD;
    }
    return finish(io);
}

/* Who asked. */
static void note_process(struct nw_iotrace_state *state, const char *start, const char *end)
{
    state->process = start;
    state->process_bytes = (size_t)(end - start);
}

static int parse_android(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    const char *start = line->at;
    const char *end = memchr(start, ',', (size_t)(line->end - start));

    note_process(state, start, end != NULL ? end : start);
    if (!skip_field(line) || !number(line, &io->unit) || !comma(line) ||
        !read_or_write(line, &io->kind) || !comma(line) ||
        !bytes_of(line, SECTOR, &io->offset) || !comma(line) ||
        !bytes_of(line, SECTOR, &io->bytes) || !comma(line) || !decimal(line, 9, &io->time_ns) ||
        !ends_field(line)) {
        return NW_LINE_BAD;
    }
    return finish(io);
}

/* The letters that tell what a block request is: "WS", "RA", "D", "FWS", ... A flush without data
 * has no sectors behind it. 0: neither. */
static int blk_kind(const char *letters, size_t length, int has_sectors, uint8_t *kind)
{
    for (size_t i = 0; i < length; i++) {
        switch (letters[i]) {
        case 'R': *kind = NW_IO_READ; return has_sectors;
        case 'W': *kind = NW_IO_WRITE; return has_sectors;
        case 'D': *kind = NW_IO_TRIM; return has_sectors;
        case 'F':
            *kind = NW_IO_SYNC;
            if (!has_sectors) {
                return 1;
            }
            break;
        default: break;
        }
    }
    return 0;
}

static int begins_summary(const struct nw_line *line)
{
    size_t left = (size_t)(line->end - line->at);

    return (left >= 3 && memcmp(line->at, "CPU", 3) == 0) ||
           (left >= 5 && memcmp(line->at, "Total", 5) == 0);
}

static int parse_blkparse(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    uint64_t major, minor, ignored;
    const char *start;
    size_t length;

    skip_blanks(line);
    if (state->ended != 0 || begins_summary(line)) {
        state->ended = 1;
        return NW_LINE_OTHER;
    }
    if (!number(line, &major) || !literal(line, ',', "a comma") || !number(line, &minor) ||
        !blank_number(line, &ignored) || !blank_number(line, &ignored)) {
        return NW_LINE_BAD;
    }
    skip_blanks(line);
    if (!decimal(line, 9, &io->time_ns) || !blank_number(line, &ignored) ||
        !word(line, &start, &length)) {
        return NW_LINE_BAD;
    }
    if (length != 1 || *start != state->action || !word(line, &start, &length)) {
        return NW_LINE_OTHER;
    }
    io->unit = major << 20 | minor;
    skip_blanks(line);
    if (!blk_kind(start, length, is_digit(line), &io->kind)) {
        return NW_LINE_OTHER;
    }
    io->offset = 0;
    io->bytes = 0;
    if (io->kind == NW_IO_SYNC) {
        return NW_LINE_REQUEST;
    }
    if (!bytes_of(line, SECTOR, &io->offset)) {
        return NW_LINE_BAD;
    }
    skip_blanks(line);
    if (!literal(line, '+', "a plus") || !bytes_of(line, SECTOR, &io->bytes) ||
        !ends_field(line)) {
        return NW_LINE_BAD;
    }
    skip_blanks(line);
    if (line->end - line->at >= 2 && *line->at == '[' && line->end[-1] == ']') {
        note_process(state, line->at + 1, line->end - 1);
    }
    return finish(io);
}

#define FIO_HEAD "fio version "

static int fio_head(struct nw_line *line, struct nw_iotrace_state *state)
{
    size_t length = sizeof FIO_HEAD - 1U;
    uint64_t version;

    if ((size_t)(line->end - line->at) < length || memcmp(line->at, FIO_HEAD, length) != 0) {
        (void)refuse(line, "fio version 2 iolog, or 3");
        return NW_LINE_BAD;
    }
    line->at += length;
    if (!number(line, &version)) {
        return NW_LINE_BAD;
    }
    if (version != 2 && version != 3) {
        line->at--;
        (void)refuse(line, "version 2 or 3");
        return NW_LINE_BAD;
    }
    state->version = (uint8_t)version;
    return NW_LINE_OTHER;
}

/* What is done to the file: an enum nw_io_kind, or one of these. */
enum { FIO_FILE = 100, FIO_WAIT, FIO_UNKNOWN };

static int fio_action(const char *start, size_t length)
{
    static const struct {
        const char *name;
        int action;
    } actions[] = {
        {"read", NW_IO_READ},  {"write", NW_IO_WRITE},    {"trim", NW_IO_TRIM},
        {"sync", NW_IO_SYNC},  {"datasync", NW_IO_SYNC},  {"add", FIO_FILE},
        {"open", FIO_FILE},    {"close", FIO_FILE},       {"wait", FIO_WAIT},
    };

    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (is(start, length, actions[i].name)) {
            return actions[i].action;
        }
    }
    return FIO_UNKNOWN;
}

static int parse_fio(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    uint64_t wait_ns;
    const char *start;
    size_t length;
    int action;

    if (state->version == 0) {
        return fio_head(line, state);
    }
    if (state->version == 3 && !time_of(line, 1000, &state->time_ns)) {
        return NW_LINE_BAD;
    }
    if (!word(line, &start, &length) || !word(line, &start, &length)) {
        return NW_LINE_BAD;
    }
    action = fio_action(start, length);
    if (action == FIO_UNKNOWN) {
        line->at = start;
        (void)refuse(line, "read, write, trim, sync, datasync, wait, add, open or close");
        return NW_LINE_BAD;
    }
    if (action == FIO_FILE) {
        return NW_LINE_OTHER;
    }
    if (action == FIO_WAIT) {
        skip_blanks(line);
        start = line->at;
        if (!time_of(line, 1000, &wait_ns)) {
            return NW_LINE_BAD;
        }
        if (wait_ns > UINT64_MAX - state->time_ns) {
            line->at = start;
            (void)refuse(line, "times below 584 years in all");
            return NW_LINE_BAD;
        }
        state->time_ns += wait_ns;
        return NW_LINE_OTHER;
    }
    io->offset = 0;
    io->bytes = 0;
    if (action != NW_IO_SYNC &&
        (!bytes_of(line, 1, &io->offset) || !bytes_of(line, 1, &io->bytes) ||
         !ends_field(line))) {
        return NW_LINE_BAD;
    }
    io->unit = 0;
    io->kind = (uint8_t)action;
    io->time_ns = state->time_ns;
    return finish(io);
}

/* What follows the time in the lines of DiskSim and SSDSim: device, block, size, flags. */
static int finish_disksim(struct nw_line *line, struct nw_io *io)
{
    uint64_t flags;

    if (!blank_number(line, &io->unit) ||
        !bytes_of(line, SECTOR, &io->offset) || !bytes_of(line, SECTOR, &io->bytes) ||
        !blank_number(line, &flags)) {
        return NW_LINE_BAD;
    }
    if (!at_end(line) && (*line->at == 'x' || *line->at == 'X')) { /* hexadecimal: last digit */
        char last = line->end[-1];
        flags = (uint64_t)(last >= '0' && last <= '9' ? last - '0' : (last | 32) - 'a' + 10);
        line->at = line->end;
    }
    skip_blanks(line);
    if (!at_end(line)) {
        (void)refuse(line, "the end of the line");
        return NW_LINE_BAD;
    }
    io->kind = (flags & 1U) != 0 ? NW_IO_READ : NW_IO_WRITE;
    return finish(io);
}

static int parse_fiu(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    uint64_t pid, major, minor;
    const char *start;
    size_t length;

    skip_blanks(line);
    if (!number(line, &io->time_ns) || !blank_number(line, &pid) || !word(line, &start, &length)) {
        return NW_LINE_BAD;
    }
    note_process(state, start, start + length);
    if (!bytes_of(line, SECTOR, &io->offset) || !bytes_of(line, SECTOR, &io->bytes) ||
        !read_or_write(line, &io->kind) || !blank_number(line, &major) ||
        !blank_number(line, &minor) || !word(line, &start, &length)) {
        return NW_LINE_BAD;
    }
    io->unit = major << 20 | minor;
    return finish(io);
}

static int parse_wiscsee(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    uint64_t pid;
    const char *start;
    size_t length;

    skip_blanks(line);
    start = line->at;
    if (!number(line, &pid)) {
        return NW_LINE_BAD;
    }
    note_process(state, start, line->at);
    if (!word(line, &start, &length)) {
        return NW_LINE_BAD;
    }
    if (!is(start, length, "D") && !is(start, length, "C")) {
        line->at = start;
        (void)refuse(line, "D or C");
        return NW_LINE_BAD;
    }
    if (*start == 'C') {
        return NW_LINE_OTHER;
    }
    skip_blanks(line);
    start = line->at;
    io->kind = NW_IO_TRIM;
    if (!word(line, &start, &length)) {
        return NW_LINE_BAD;
    }
    if (!is(start, length, "discard")) {
        line->at = start;
        if (!read_or_write(line, &io->kind)) {
            return NW_LINE_BAD;
        }
    }
    if (!bytes_of(line, 1, &io->offset) || !bytes_of(line, 1, &io->bytes)) {
        return NW_LINE_BAD;
    }
    skip_blanks(line);
    if (!decimal(line, 9, &io->time_ns) || !ends_field(line)) {
        return NW_LINE_BAD;
    }
    io->unit = 0;
    return finish(io);
}

static int parse_disksim(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    (void)state;
    skip_blanks(line);
    return decimal(line, 6, &io->time_ns) ? finish_disksim(line, io) : NW_LINE_BAD;
}

/* SSDSim took over DiskSim's columns, but its times are whole ns. */
static int parse_ssdsim(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    (void)state;
    return time_of(line, 1, &io->time_ns) && ends_field(line) ? finish_disksim(line, io)
                                                              : NW_LINE_BAD;
}

static uint32_t occurrences(const struct nw_line *line, char what)
{
    uint32_t count = 0;

    for (const char *at = line->at; at < line->end; at++) {
        count += *at == what;
    }
    return count;
}

/* What stands between the fields of a csv of `columns` columns: what is there often enough. */
static char find_separator(const struct nw_line *line, uint32_t columns)
{
    static const char separators[] = ";\t,";

    for (const char *one = separators; *one != '\0'; one++) {
        if (occurrences(line, *one) + 1U >= columns) {
            return *one;
        }
    }
    return occurrences(line, ';') > 0 ? ';' : ',';
}

/* Blanks before and behind a field; a tab may be the separator. */
static void skip_spaces(struct nw_line *line)
{
    while (!at_end(line) && *line->at == ' ') {
        line->at++;
    }
}

static int csv_op(struct nw_line *line, char separator, uint8_t *kind)
{
    static const struct {
        const char *name;
        uint8_t kind;
    } ops[] = {
        {"r", NW_IO_READ},  {"read", NW_IO_READ},    {"w", NW_IO_WRITE}, {"write", NW_IO_WRITE},
        {"t", NW_IO_TRIM},  {"trim", NW_IO_TRIM},    {"d", NW_IO_TRIM},  {"discard", NW_IO_TRIM},
        {"f", NW_IO_SYNC},  {"flush", NW_IO_SYNC},   {"s", NW_IO_SYNC},  {"sync", NW_IO_SYNC},
    };
    char word[8]; /* as long as the longest, and its end */
    size_t length = 0;
    const char *at = line->at;

    while (at < line->end && *at != separator && *at != ' ' && *at != '"') {
        if (length < sizeof word - 1U) {
            word[length] = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
        }
        length++;
        at++;
    }
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (length < sizeof word && is(word, length, ops[i].name)) {
            *kind = ops[i].kind;
            line->at = at;
            return 1;
        }
    }
    return refuse(line, "an operation: R, W, T (trim) or F (flush)");
}

/* One field without what is around it. */
static int csv_field(struct nw_line *line, uint8_t column, struct nw_iotrace_state *state,
                     struct nw_io *io)
{
    switch (column) {
    case NW_COLUMN_TIME: return decimal(line, state->columns->time_places, &io->time_ns);
    case NW_COLUMN_OP: return csv_op(line, state->separator, &io->kind);
    case NW_COLUMN_OFFSET: return bytes_of(line, 1, &io->offset);
    case NW_COLUMN_SIZE: return bytes_of(line, 1, &io->bytes);
    case NW_COLUMN_SECTOR: return bytes_of(line, SECTOR, &io->offset);
    case NW_COLUMN_SECTORS: return bytes_of(line, SECTOR, &io->bytes);
    default: break;
    }
    while (!at_end(line) && *line->at != state->separator) {
        line->at++;
    }
    return 1;
}

/* A field, its quotes, and the end of it. */
static int csv_whole(struct nw_line *line, uint8_t column, struct nw_iotrace_state *state,
                     struct nw_io *io)
{
    int quoted;

    skip_spaces(line);
    quoted = column != NW_COLUMN_OTHER && !at_end(line) && *line->at == '"';
    line->at += quoted;
    if (!csv_field(line, column, state, io)) {
        return 0;
    }
    if (quoted && !literal(line, '"', "a closing quote")) {
        return 0;
    }
    skip_spaces(line);
    return at_end(line) || *line->at == state->separator ? 1
                                                         : refuse(line, "the end of the field");
}

static int csv_fields(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    const struct nw_iotrace_columns *columns = state->columns;

    for (uint32_t i = 0; i < columns->count; i++) {
        if (i > 0 && !literal(line, state->separator, "another field")) {
            return 0;
        }
        if (!csv_whole(line, columns->column[i], state, io)) {
            return 0;
        }
    }
    return 1;
}

static int csv_request(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    char known = state->separator;

    if (known == 0) {
        state->separator = find_separator(line, state->columns->count);
    }
    *io = (struct nw_io){.kind = NW_IO_WRITE}; /* a column that is not there says nothing */
    if (!csv_fields(line, state, io)) {
        state->separator = known; /* a line that is wrong tells nothing of the others */
        return 0;
    }
    return 1;
}

static int parse_csv(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io)
{
    if (state->columns->header != 0 && state->headed == 0) {
        const char *start = line->at;

        state->headed = 1;
        if (!csv_request(line, state, io)) {
            return NW_LINE_OTHER;
        }
        line->at = start; /* to pass over it would lose a request */
        (void)refuse(line, "a heading, and this line is a request (leave --header out)");
        return NW_LINE_BAD;
    }
    if (!csv_request(line, state, io)) {
        return NW_LINE_BAD;
    }
    if (io->kind == NW_IO_SYNC) {
        io->offset = 0;
        io->bytes = 0;
    }
    return finish(io);
}

const struct nw_text_format nw_csv_format = {
    "csv", "any csv whose columns are named, see --columns", parse_csv, NULL};

/* Of two that fit equally the first is taken: where no time has a point, SSDSim. */
const struct nw_text_format nw_text_formats[] = {
    {"msr", "MSR Cambridge csv: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
     parse_msr, NULL},
    {"spc", "SPC-1 csv: ASU,LBA,Size,Opcode,Timestamp", parse_spc, NULL},
    {"android", "csv of a phone: process,device,rw,sector,size,timestamp", parse_android, NULL},
    {"blkparse", "text of blkparse", parse_blkparse, NULL},
    {"fio", "iolog of fio, version 2 or 3", parse_fio, FIO_HEAD},
    {"ssdsim", "SSDSim ascii: time device block size flags, whole ns", parse_ssdsim, NULL},
    {"disksim", "DiskSim ascii: time device block size flags, ms", parse_disksim, NULL},
    {"fiu", "FIU: time pid process block size W|R major minor md5", parse_fiu, NULL},
    {"wiscsee", "WiscSee: pid D|C operation offset size time ...", parse_wiscsee, NULL},
};
const uint32_t nw_text_format_count = sizeof nw_text_formats / sizeof nw_text_formats[0];
