/* SPDX-License-Identifier: Apache-2.0 */
/* A trace file as a source: lines or records out of a buffer, told from each other by content. */
#include "nandwich-replay/iotrace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps.h"
#include "input.h"
#include "nandwich/error.h"
#include "iotrace_parse.h"
#include "iotrace_vscsi.h"

#define BUFFER_BYTES (1U << 18) /* also the longest line */
#define LOOK_LINES 64U          /* of the head, to tell the format */
#define EXCERPT 100

static const char vscsi_name[] = "vscsi";
static const char vscsi_what[] = "VMware vSCSI records, version 1 or 2";

struct nw_iotrace {
    struct nw_io_source source;
    struct nw_iotrace_config config;
    struct nw_input *input;
    const struct nw_text_format *format; /* NULL: vscsi */
    uint8_t vscsi;                       /* version */
    char action;                         /* blkparse */
    struct nw_iotrace_state state;
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
    i -= nw_text_format_count;
    *what = i == 0 ? vscsi_what : nw_csv_format.what;
    return i == 0 ? vscsi_name : i == 1 ? nw_csv_format.name : NULL;
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

static int next_record(struct nw_iotrace *trace, struct nw_io *io)
{
    uint32_t size = nw_vscsi_bytes(trace->vscsi);

    for (;;) { /* a record each turn */
        int status = trace->count - trace->at < size && trace->over == 0 ? refill(trace) : NW_OK;

        if (status < 0 || trace->count == trace->at) {
            return status;
        }
        trace->line++;
        status = trace->count - trace->at < size
                     ? -1
                     : nw_vscsi_parse(trace->buffer + trace->at, trace->vscsi, io);
        trace->at = trace->count - trace->at < size ? trace->count : trace->at + size;
        if (status == 1) {
            io->app = 0;
            io->content = 0;
            return 1;
        }
        trace->empty += status == 2;
        if (status < 0) {
            if (trace->skipped == trace->config.skip_bad) {
                trace->fault.line = trace->line;
                trace->fault.column = 0;
                (void)snprintf(trace->fault.text, sizeof trace->fault.text,
                               "no whole record of version %u", trace->vscsi);
                return NW_ERR_CORRUPT;
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

static void from_start(struct nw_iotrace *trace)
{
    trace->state =
        (struct nw_iotrace_state){.action = trace->action, .columns = &trace->config.columns};
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
    from_start(trace);
    return NW_OK;
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

static int find_format(struct nw_iotrace *trace, struct nw_iotrace_fault *fault)
{
    const char *wanted = trace->config.format;
    int64_t best = 0;
    char shown[EXCERPT + 1];
    const char *start = (const char *)trace->buffer;
    const char *end = memchr(start, '\n', trace->count);

    if (trace->config.columns.count > 0) {
        trace->format = &nw_csv_format;
        return NW_OK;
    }
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
    if (best == 0 && (wanted == NULL || strcmp(wanted, vscsi_name) == 0)) {
        trace->vscsi = nw_vscsi_version(trace->buffer, trace->count);
        best = trace->vscsi;
    } else if (best == 0) {
        (void)snprintf(fault->text, sizeof fault->text, "no format '%s'", wanted);
        return NW_ERR_CONFIG;
    }
    if (best != 0) {
        return NW_OK;
    }
    excerpt(start, end != NULL ? end : start + trace->count, shown, sizeof shown);
    fault->line = trace->count > 0 ? 1 : 0;
    (void)snprintf(fault->text, sizeof fault->text, "%s%s",
                   trace->count > 0 ? "the first lines are of no known format: " : "an empty file",
                   shown);
    return NW_ERR_NOT_FOUND;
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
    return trace->format != NULL ? trace->format->name : vscsi_name;
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
