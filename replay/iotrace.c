/* SPDX-License-Identifier: Apache-2.0 */
/* A trace file as a source: lines or records out of a buffer, told from each other by content. */
#include "nandwich-replay/iotrace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps.h"
#include "input.h"
#include "iotrace_packed.h"
#include "iotrace_parse.h"
#include "iotrace_vscsi.h"
#include "nandwich/error.h"

#define BUFFER_BYTES (1U << 18) /* also the longest line */
#define LOOK_LINES 64U          /* of the head, to tell the format */
#define EXCERPT 100

static const char vscsi_name[] = "vscsi";
static const char vscsi_what[] = "VMware vSCSI records, version 1 or 2";
static const char packed_name[] = "packed";
static const char packed_what[] = "Nandwich's own, for long traces: a few bytes a request";

struct nw_iotrace {
    struct nw_io_source source;
    struct nw_iotrace_config config;
    struct nw_input *input;
    const struct nw_text_format *format; /* NULL: records */
    uint8_t vscsi;                       /* version; 0: packed */
    char action;                         /* blkparse */
    struct nw_iotrace_state state;
    struct nw_packed packed;
    struct nw_iotrace_fault fault;
    struct nw_apps apps;
    uint64_t line;
    uint64_t skipped;
    uint64_t empty;
    uint64_t requests;
    uint64_t base_ns; /* time of the first request */
    uint32_t at;
    uint32_t count;
    uint8_t over; /* 1: the input has ended */
    uint8_t buffer[BUFFER_BYTES];
};

const char *nw_iotrace_format_at(uint32_t i, const char **what)
{
    if (i < nw_text_format_count) {
        *what = nw_text_formats[i].what;
        return nw_text_formats[i].name;
    }
    const struct {
        const char *name, *what;
    } others[] = {{vscsi_name, vscsi_what},
                  {packed_name, packed_what},
                  {nw_csv_format.name, nw_csv_format.what}};

    i -= nw_text_format_count;
    if (i >= sizeof others / sizeof others[0]) {
        return NULL;
    }
    *what = others[i].what;
    return others[i].name;
}

/* Text as it may be shown: one line, printable, not too long. */
static void excerpt(const char *from, const char *end, char *to, size_t room)
{
    size_t length = (size_t)(end - from) < room - 1U ? (size_t)(end - from) : room - 1U;

    for (size_t i = 0; i < length; i++) {
        to[i] = (char)(from[i] >= ' ' && from[i] <= '~' ? from[i] : '?');
    }
    to[length] = '\0';
}

static int io_fault(struct nw_iotrace_fault *fault, int status)
{
    fault->line = 0;
    fault->column = 0;
    (void)snprintf(fault->text, sizeof fault->text, "%s",
                   status == NW_ERR_CORRUPT ? "the packed data is damaged or ends early"
                                            : strerror(errno));
    return NW_ERR_IO;
}

/* Moves what is left to the front and reads behind it. NW_OK or the input's error. */
static int refill(struct nw_iotrace *trace)
{
    uint32_t left = trace->count - trace->at;

    memmove(trace->buffer, trace->buffer + trace->at, left);
    trace->at = 0;
    trace->count = left;
    while (trace->count < BUFFER_BYTES && trace->over == 0) {
        int got = nw_input_read(trace->input, trace->buffer + trace->count,
                                BUFFER_BYTES - trace->count);

        if (got < 0) {
            return io_fault(&trace->fault, got);
        }
        trace->over = got == 0;
        trace->count += (uint32_t)got;
    }
    return NW_OK;
}

/* The next line without its end: 1, 0 behind the last, or an error. */
static int next_line(struct nw_iotrace *trace, struct nw_line *line)
{
    const char *start, *end;

    for (;;) { /* twice at most */
        uint32_t left = trace->count - trace->at;

        start = (const char *)trace->buffer + trace->at;
        end = left > 0 ? memchr(start, '\n', left) : NULL;
        if (end != NULL || trace->over != 0 || left == BUFFER_BYTES) {
            break;
        }
        int status = refill(trace);
        if (status < 0) {
            return status;
        }
    }
    if (end == NULL) { /* the last line, or one that fills the buffer: no request anyway */
        end = (const char *)trace->buffer + trace->count;
        if (end == start) {
            return 0;
        }
        trace->at = trace->count;
    } else {
        trace->at = (uint32_t)(end - (const char *)trace->buffer) + 1U;
    }
    while (end > start && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    *line = (struct nw_line){.at = start, .end = end};
    trace->line++;
    return 1;
}

/* Lines that are no requests in any format; a heading, if it has no digit, is noted in `state`. */
static int says_nothing(const struct nw_line *line, uint64_t number, struct nw_iotrace_state *state)
{
    const char *at = line->at;

    while (at < line->end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    if (at == line->end || *at == '#') {
        return 1;
    }
    if (number != 1U) {
        return 0;
    }
    while (at < line->end && (*at < '0' || *at > '9')) {
        at++;
    }
    state->headed = at == line->end; /* --header has one line in mind, and it is behind */
    return state->headed;
}

static int bad_line(struct nw_iotrace *trace, const struct nw_line *line, const char *start)
{
    struct nw_iotrace_fault *fault = &trace->fault;
    char shown[EXCERPT + 1];

    excerpt(start, line->end, shown, sizeof shown);
    fault->line = trace->line;
    fault->column = (uint32_t)(line->bad - start) + 1U;
    (void)snprintf(fault->text, sizeof fault->text, "wanted %s: %s", line->wanted, shown);
    return NW_ERR_CORRUPT;
}

/* Who asked, by the line just read. */
static uint16_t app_of(struct nw_iotrace *trace)
{
    const struct nw_iotrace_state *state = &trace->state;

    return state->process != NULL
               ? nw_apps_number(&trace->apps, state->process, state->process_bytes)
               : 0;
}

/* The next request of a text file: 1, 0 at the end, or an error. */
static int next_text(struct nw_iotrace *trace, struct nw_io *io)
{
    for (;;) { /* a line each turn */
        struct nw_line line;
        int status = next_line(trace, &line);
        const char *start = line.at;

        if (status <= 0) {
            return status;
        }
        if (says_nothing(&line, trace->line, &trace->state)) {
            continue;
        }
        trace->state.process = NULL;
        status = trace->format->parse(&line, &trace->state, io);
        if (status == NW_LINE_REQUEST) {
            io->app = app_of(trace);
            io->content = 0;
            return 1;
        }
        trace->empty += status == NW_LINE_EMPTY;
        if (status == NW_LINE_BAD) {
            if (trace->skipped == trace->config.skip_bad) {
                return bad_line(trace, &line, start);
            }
            trace->skipped++;
        }
    }
}

/* The next record: 1 a request, 0 none, 2 a request of no bytes, -1 no whole record. Moves on. */
static int take_vscsi(struct nw_iotrace *trace, struct nw_io *io)
{
    uint32_t size = nw_vscsi_bytes(trace->vscsi);

    if (trace->count - trace->at < size) {
        trace->at = trace->count;
        return -1;
    }
    trace->at += size;
    io->app = 0;
    io->content = 0;
    return nw_vscsi_parse(trace->buffer + trace->at - size, trace->vscsi, io);
}

/* The same; behind a record that is none nothing can be read. */
static int take_packed(struct nw_iotrace *trace, struct nw_io *io)
{
    const char *name = NULL;
    size_t name_bytes;
    size_t length = nw_packed_get(&trace->packed, trace->buffer + trace->at,
                                  trace->count - trace->at, io, &name, &name_bytes);

    trace->at = length > 0 ? trace->at + (uint32_t)length : trace->count;
    if (length > 0 && name_bytes > 0 && nw_apps_add(&trace->apps, name, name_bytes) != io->app) {
        return -1;
    }
    return length > 0 ? 1 : -1;
}

static int bad_record(struct nw_iotrace *trace)
{
    trace->fault.line = trace->line;
    trace->fault.column = 0;
    if (trace->vscsi == 0) {
        (void)snprintf(trace->fault.text, sizeof trace->fault.text,
                       "no whole record: the file is damaged or ends early");
    } else {
        (void)snprintf(trace->fault.text, sizeof trace->fault.text,
                       "no whole record of version %u", trace->vscsi);
    }
    return NW_ERR_CORRUPT;
}

static int next_record(struct nw_iotrace *trace, struct nw_io *io)
{
    uint32_t longest = trace->vscsi != 0 ? nw_vscsi_bytes(trace->vscsi) : NW_PACKED_LONGEST;

    for (;;) { /* a record each turn */
        int status = trace->count - trace->at < longest && trace->over == 0 ? refill(trace) : NW_OK;

        if (status < 0 || trace->count == trace->at) {
            return status;
        }
        trace->line++;
        status = trace->vscsi != 0 ? take_vscsi(trace, io) : take_packed(trace, io);
        if (status == 1) {
            return 1;
        }
        trace->empty += status == 2;
        if (status < 0) {
            if (trace->skipped == trace->config.skip_bad || trace->vscsi == 0) {
                return bad_record(trace);
            }
            trace->skipped++;
        }
    }
}

static int no_request(struct nw_iotrace *trace)
{
    trace->fault.line = trace->line;
    trace->fault.column = 0;
    (void)snprintf(trace->fault.text, sizeof trace->fault.text,
                   "%llu lines and not one request of format %s%s",
                   (unsigned long long)trace->line, nw_iotrace_format_name(trace),
                   trace->config.unit != NW_IOTRACE_ALL_UNITS ? " for that unit" : "");
    return NW_ERR_NOT_FOUND;
}

static int trace_fill(struct nw_io_source *source, struct nw_io *to, uint32_t room)
{
    struct nw_iotrace *trace = source->context;
    uint32_t count = 0;

    while (count < room) {
        struct nw_io *io = &to[count];
        int status = trace->format != NULL ? next_text(trace, io) : next_record(trace, io);

        if (status < 0) {
            return status;
        }
        if (status == 0) {
            return trace->requests > 0 ? (int)count : no_request(trace);
        }
        if (trace->config.unit != NW_IOTRACE_ALL_UNITS && io->unit != trace->config.unit) {
            continue;
        }
        if (trace->requests == 0) {
            trace->base_ns = io->time_ns;
        }
        io->time_ns = io->time_ns > trace->base_ns ? io->time_ns - trace->base_ns : 0;
        trace->requests++;
        count++;
    }
    return (int)count;
}

static int is_packed(const struct nw_iotrace *trace)
{
    return trace->format == NULL && trace->vscsi == 0;
}

/* The first bytes of the file lie in the buffer. */
static void from_start(struct nw_iotrace *trace)
{
    trace->state =
        (struct nw_iotrace_state){.action = trace->action, .columns = &trace->config.columns};
    trace->packed = (struct nw_packed){0};
    trace->at = is_packed(trace) ? NW_PACKED_HEAD_BYTES : 0;
    trace->line = 0;
    trace->skipped = 0;
    trace->empty = 0;
    trace->requests = 0;
}

static int trace_rewind(struct nw_io_source *source)
{
    struct nw_iotrace *trace = source->context;
    int status = nw_input_rewind(trace->input);

    if (status < 0) {
        return io_fault(&trace->fault, status);
    }
    trace->at = 0;
    trace->count = 0;
    trace->over = 0;
    status = refill(trace);
    if (status == NW_OK) {
        from_start(trace);
    }
    return status;
}

static const struct nw_io_source_ops trace_ops = {trace_fill, trace_rewind};

/* Whether a whole line lies in the buffer. */
static int has_line(const struct nw_iotrace *trace)
{
    uint32_t left = trace->count - trace->at;

    return left > 0 &&
           (trace->over != 0 || memchr(trace->buffer + trace->at, '\n', left) != NULL);
}

/* How well the first lines fit a format: requests less bad lines; what lies in the buffer stays. */
static int64_t score(struct nw_iotrace *trace, const struct nw_text_format *format, char action)
{
    struct nw_iotrace_state state = {.action = action};
    int64_t requests = 0, others = 0, bad = 0;

    for (uint32_t i = 0; i < LOOK_LINES; i++) {
        struct nw_io io;
        struct nw_line line;
        int status = has_line(trace) ? next_line(trace, &line) : 0;

        if (status <= 0) {
            break;
        }
        if (says_nothing(&line, trace->line, &state)) {
            continue;
        }
        status = format->parse(&line, &state, &io);
        requests += status == NW_LINE_REQUEST;
        others += status == NW_LINE_OTHER || status == NW_LINE_EMPTY;
        bad += status == NW_LINE_BAD;
    }
    trace->at = 0;
    trace->line = 0;
    return requests > 0 && requests + others >= bad ? 2 * requests + others - bad : 0;
}

/* blkparse: the first of a request's events that this file has at all. */
static int64_t score_any(struct nw_iotrace *trace, const struct nw_text_format *format,
                         char *action)
{
    static const char actions[] = "QDC";
    int64_t best = 0;

    for (const char *one = actions; *one != '\0' && best == 0; one++) {
        best = score(trace, format, *one);
        *action = *one;
    }
    return best;
}

/* A file may say what it is and hold no request. */
static int says_format(const struct nw_iotrace *trace, const struct nw_text_format *format)
{
    size_t length = format->head != NULL ? strlen(format->head) : 0;

    return length > 0 && trace->count >= length &&
           memcmp(trace->buffer, format->head, length) == 0;
}

/* How far a format understands the first line that could be a request. */
struct stop {
    uint64_t line;
    uint32_t column;
    uint32_t fields; /* that it passed; 0: it understands all of it, or none is wrong */
    const char *wanted;
    const char *start; /* of the line, */
    const char *end;   /* and behind it */
};

static struct stop stop_of(struct nw_iotrace *trace, const struct nw_text_format *format)
{
    struct nw_iotrace_state state = {.action = 'Q'};
    struct stop stop = {0};
    struct nw_line line;
    struct nw_io io;

    while (has_line(trace) && next_line(trace, &line) > 0) {
        const char *start = line.at;

        if (says_nothing(&line, trace->line, &state)) {
            continue;
        }
        if (format->parse(&line, &state, &io) == NW_LINE_BAD) {
            for (const char *at = start + 1; at < line.bad; at++) {
                stop.fields += *at == ',' || *at == ' ' || *at == '\t';
            }
            stop.line = trace->line;
            stop.column = (uint32_t)(line.bad - start) + 1U;
            stop.wanted = line.wanted;
            stop.start = start;
            stop.end = line.end;
        }
        break;
    }
    trace->at = 0;
    trace->line = 0;
    return stop;
}

/* Nothing fits. Where one format understands most fields of the first line, what that line lacks is
 * told: a csv under the right heading may have a wrong unit in every line. */
static int no_format(struct nw_iotrace *trace, struct nw_iotrace_fault *fault)
{
    const char *start = (const char *)trace->buffer;
    const char *end = memchr(start, '\n', trace->count);
    struct stop nearest = {.line = 1,
                           .fields = 2, /* a word and a number are in any text */
                           .start = start,
                           .end = end != NULL ? end : start + trace->count};
    const char *name = NULL;
    char shown[EXCERPT + 1];
    char more[EXCERPT + 1] = "";

    if (trace->count == 0) {
        (void)snprintf(fault->text, sizeof fault->text, "an empty file");
        return NW_ERR_NOT_FOUND;
    }
    for (uint32_t i = 0; i < nw_text_format_count; i++) {
        struct stop stop = stop_of(trace, &nw_text_formats[i]);

        if (stop.fields > nearest.fields) {
            nearest = stop;
            name = nw_text_formats[i].name;
        }
    }
    if (name != NULL) {
        (void)snprintf(more, sizeof more, " (as %s it wants %s here)", name, nearest.wanted);
    }
    excerpt(nearest.start, nearest.end, shown, sizeof shown);
    fault->line = nearest.line;
    fault->column = nearest.column;
    (void)snprintf(fault->text, sizeof fault->text, "the first lines are of no known format%s: %s",
                   more, shown);
    return NW_ERR_NOT_FOUND;
}

/* The text format that fits the first lines best, or that is wanted: 1, 0: none. */
static int find_text(struct nw_iotrace *trace, const char *wanted)
{
    int64_t best = 0;

    for (uint32_t i = 0; i < nw_text_format_count; i++) {
        const struct nw_text_format *format = &nw_text_formats[i];
        char action = 0;
        int64_t points;

        if (wanted != NULL && strcmp(wanted, format->name) != 0) {
            continue;
        }
        points = score_any(trace, format, &action);
        /* One that is asked for, or that the file names, is taken at its word. */
        if (points > best || wanted != NULL || says_format(trace, format)) {
            best = points > 0 ? points : 1;
            trace->format = format;
            trace->action = action;
        }
    }
    return best != 0;
}

static int find_format(struct nw_iotrace *trace, struct nw_iotrace_fault *fault)
{
    const char *wanted = trace->config.format;
    int packed = trace->count >= NW_PACKED_HEAD_BYTES &&
                 memcmp(trace->buffer, NW_PACKED_HEAD, NW_PACKED_HEAD_BYTES) == 0;

    if (trace->config.columns.count > 0) {
        trace->format = &nw_csv_format;
        return NW_OK;
    }
    if (packed && (wanted == NULL || strcmp(wanted, packed_name) == 0)) {
        return NW_OK;
    }
    if (find_text(trace, wanted)) {
        return NW_OK;
    }
    if (wanted == NULL || strcmp(wanted, vscsi_name) == 0) {
        trace->vscsi = nw_vscsi_version(trace->buffer, trace->count);
        if (trace->vscsi != 0) {
            return NW_OK;
        }
    } else if (strcmp(wanted, packed_name) != 0) {
        (void)snprintf(fault->text, sizeof fault->text, "no format '%s'", wanted);
        return NW_ERR_CONFIG;
    }
    return no_format(trace, fault);
}

int nw_iotrace_open(struct nw_iotrace **trace, const char *path,
                    const struct nw_iotrace_config *config, struct nw_iotrace_fault *fault)
{
    struct nw_iotrace *made = calloc(1, sizeof *made);
    int status;

    *trace = NULL;
    memset(fault, 0, sizeof *fault);
    if (made == NULL) {
        return NW_ERR_RAM;
    }
    made->config = *config;
    made->source = (struct nw_io_source){&trace_ops, made};
    status = nw_input_open(&made->input, path);
    if (status == NW_ERR_IO) {
        int no_file = errno == EINVAL;

        (void)io_fault(fault, status);
        if (no_file) {
            (void)snprintf(fault->text, sizeof fault->text,
                           "not a regular file; a trace is read more than once, so save it first");
        }
    }
    if (status == NW_OK) {
        status = refill(made);
        *fault = made->fault;
    }
    if (status == NW_OK) {
        status = find_format(made, fault);
    }
    if (status < 0) {
        nw_iotrace_close(made);
        return status;
    }
    from_start(made);
    *trace = made;
    return NW_OK;
}

void nw_iotrace_close(struct nw_iotrace *trace)
{
    if (trace != NULL) {
        nw_input_close(trace->input);
        free(trace);
    }
}

struct nw_io_source *nw_iotrace_source(struct nw_iotrace *trace)
{
    return &trace->source;
}

const struct nw_iotrace_fault *nw_iotrace_fault_of(const struct nw_iotrace *trace)
{
    return &trace->fault;
}

const char *nw_iotrace_format_name(const struct nw_iotrace *trace)
{
    if (trace->format != NULL) {
        return trace->format->name;
    }
    return is_packed(trace) ? packed_name : vscsi_name;
}

const char *nw_iotrace_packing(const struct nw_iotrace *trace)
{
    static const char *const names[] = {
        [NW_PLAIN] = "plain", [NW_GZIP] = "gzip", [NW_ZSTD] = "zstd"};

    return names[nw_input_packing(trace->input)];
}

char nw_iotrace_separator(const struct nw_iotrace *trace)
{
    return trace->state.separator;
}

uint64_t nw_iotrace_lines(const struct nw_iotrace *trace)
{
    return trace->line;
}

uint64_t nw_iotrace_skipped(const struct nw_iotrace *trace)
{
    return trace->skipped;
}

uint64_t nw_iotrace_empty(const struct nw_iotrace *trace)
{
    return trace->empty;
}

const char *nw_iotrace_app(const struct nw_iotrace *trace, uint16_t app)
{
    return app >= 1 && app <= trace->apps.count ? trace->apps.name[app - 1U] : NULL;
}
