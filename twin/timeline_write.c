/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a chip: requests, the layer's own work, operations. */
#include <string.h>

#include "nandwich/error.h"
#include "timeline_internal.h"

/* Tracks, in the order in which they stand. */
enum { FAULTS = TIMELINE_SHOWN + 1, REQUESTS, OWN_WORK, CHIP, COUNTERS };

/* Words of the trace; the order of `words` below. */
enum {
    READ = TIMELINE_WORDS, WRITE, TRIM, SYNC, WORK_AHEAD, /* as enum nw_timeline_kind */
    VERB_READ, VERB_PROGRAM, VERB_ERASE, VERB_IS_BAD, VERB_MARK_BAD, /* as enum nw_nand_verb */
    VERB_COPY, VERB_LOAD, VERB_FETCH, VERB_FILL, VERB_STORE, VERB_HEAL,
    FOR_HOST, FOR_COPY, FOR_MAP, FOR_OWN, /* as enum timeline_why */
    CATEGORY_REQUEST, CATEGORY_OWN, CATEGORY_CHIP,
    CLEANING, MAP_WORK, HOUSEKEEPING,
    NUMBER, SECTOR, SECTORS, WAITED, LONGEST, APPLICATION, NOT_SHOWN,
    BLOCK, PAGE, TO_BLOCK, TO_PAGE, BYTES, FOR, CORRECTED, RESULT,
    COPIES, ERASES, MAPS,
    NO_PROGRAM, NO_ERASE, UNREADABLE, NO_POWER, REFUSED,
    CATEGORY_FAULT, FAULT, WRITE_BACK, DISCARD, ADDRESS
};

static const char *const words[] = {
    TIMELINE_FIRST_WORDS,
    "read", "write", "trim", "sync", "work ahead",
    "read", "program", "erase", "ask if bad", "mark bad",
    "copy", "load buffer", "read buffer", "write buffer", "program buffer", "heal",
    "host", "copy", "map", "own work",
    "host request", "layer's own work", "chip operation",
    "cleaning", "map", "housekeeping",
    "request", "sector", "sectors", "waited ns", "longest, rank", "application",
    "operations not shown",
    "block", "page", "to block", "to page", "bytes", "for", "bits corrected", "result",
    "copies", "erases", "map operations",
    "program failed", "erase failed", "cannot be read", "power lost", "refused",
    "virtual memory", "fault", "write back", "discard", "address",
};

#define EACH_REQUEST 260U /* bytes of the file, without operations, at most */
#define FIXED_BYTES 6000000UL /* of counters and names */

static const struct timeline_op *ops_of(const struct nw_timeline *timeline,
                                        const struct timeline_kept *kept)
{
    return kept->own != NULL ? kept->own : timeline->window_ops + kept->first;
}

/* Work ahead has the number of the request behind it. */
static uint64_t flow_of(const struct timeline_kept *kept)
{
    return 2U * kept->number + 1U + (kept->request.kind == NW_TIMELINE_IDLE);
}

/* Begins the request; how many of its operations follow. */
static uint32_t begin_request(struct timeline_writer *writer, const struct timeline_kept *kept)
{
    const struct nw_timeline_request *request = &kept->request;
    uint64_t reserved = writer->left * EACH_REQUEST + FIXED_BYTES;
    uint64_t room = writer->perfetto.bytes + reserved < NW_TIMELINE_BYTES
                        ? (NW_TIMELINE_BYTES - writer->perfetto.bytes - reserved) / EACH_REQUEST
                        : 0;
    uint32_t ops = kept->op_count < room ? kept->op_count : (uint32_t)room;
    uint32_t cut = kept->cut + kept->op_count - ops;
    struct nw_perfetto_event event = {
        .time_ns = request->start_ns,
        .track = REQUESTS,
        .what = NW_PERFETTO_BEGIN,
        .name = (uint8_t)(READ + request->kind),
        .category = CATEGORY_REQUEST,
        .flow = ops > 0 ? flow_of(kept) : 0,
    };

    if (request->kind != NW_TIMELINE_IDLE) {
        nw_perfetto_note(&event, NUMBER, kept->number);
        nw_perfetto_note(&event, WAITED, request->start_ns - request->arrival_ns);
    }
    if (request->count > 0) {
        nw_perfetto_note(&event, SECTOR, request->sector);
        nw_perfetto_note(&event, SECTORS, request->count);
    }
    if (kept->rank > 0) {
        nw_perfetto_note(&event, LONGEST, kept->rank);
    }
    if (cut > 0) {
        nw_perfetto_note(&event, NOT_SHOWN, cut);
    }
    if (request->app > 0) {
        nw_perfetto_note(&event, APPLICATION, request->app);
    }
    nw_perfetto_tell(&writer->perfetto, &event);
    writer->timeline->counts.cut += cut;
    return ops;
}

static uint8_t failure(int result)
{
    switch (result) {
    case NW_ERR_PROGRAM: return NO_PROGRAM;
    case NW_ERR_ERASE: return NO_ERASE;
    case NW_ERR_ECC: return UNREADABLE;
    case NW_ERR_POWER: return NO_POWER;
    default: return REFUSED;
    }
}

static void show_op(struct timeline_writer *writer, const struct timeline_op *op, uint64_t flow,
                    int last)
{
    uint32_t pages = writer->timeline->chip.geometry.block_pages;
    int of_block = timeline_of_block(op->verb);
    int of_buffer = op->verb == NW_VERB_BUFFER_READ || op->verb == NW_VERB_BUFFER_WRITE;
    struct nw_perfetto_event event = {
        .time_ns = op->start_ns,
        .track = CHIP,
        .what = NW_PERFETTO_BEGIN,
        .name = (uint8_t)(VERB_READ + op->verb - NW_VERB_READ),
        .category = CATEGORY_CHIP,
        .flow = flow,
        .last = (uint8_t)last,
    };

    if (!of_buffer) {
        nw_perfetto_note(&event, BLOCK, op->page / pages);
    }
    if (!of_buffer && !of_block) {
        nw_perfetto_note(&event, PAGE, op->page % pages);
    }
    if (op->verb == NW_VERB_COPY) {
        nw_perfetto_note(&event, TO_BLOCK, op->to_page / pages);
        nw_perfetto_note(&event, TO_PAGE, op->to_page % pages);
    } else if (!of_block) {
        nw_perfetto_note(&event, BYTES, op->bytes);
    }
    nw_perfetto_say(&event, FOR, (uint8_t)(FOR_HOST + op->why));
    if (op->result < 0) {
        nw_perfetto_say(&event, RESULT, failure(op->result));
    } else if (op->result > 0 && op->verb == NW_VERB_READ) {
        nw_perfetto_note(&event, CORRECTED, (uint64_t)op->result);
    }
    nw_perfetto_tell(&writer->perfetto, &event);
    nw_timeline_end_slice(writer, CHIP, op->end_ns);
}

/* A run of operations that are all the layer's own. */
static void show_own_work(struct timeline_writer *writer, const struct timeline_op *ops,
                          uint32_t count)
{
    struct nw_perfetto_event event = {
        .time_ns = ops->start_ns,
        .track = OWN_WORK,
        .what = NW_PERFETTO_BEGIN,
        .category = CATEGORY_OWN,
    };
    uint32_t copies = 0, erases = 0, maps = 0;

    for (uint32_t i = 0; i < count; i++) {
        copies += ops[i].why == WHY_COPY && ops[i].verb != NW_VERB_READ;
        erases += ops[i].verb == NW_VERB_ERASE;
        maps += ops[i].why == WHY_MAP;
    }
    event.name = copies + erases > 0 ? CLEANING : maps > 0 ? MAP_WORK : HOUSEKEEPING;
    nw_perfetto_note(&event, COPIES, copies);
    nw_perfetto_note(&event, ERASES, erases);
    nw_perfetto_note(&event, MAPS, maps);
    nw_perfetto_tell(&writer->perfetto, &event);
    nw_timeline_end_slice(writer, OWN_WORK, ops[count - 1U].end_ns);
}

static void show_request(struct timeline_writer *writer, const struct timeline_kept *kept)
{
    const struct timeline_op *ops = ops_of(writer->timeline, kept);
    uint64_t flow = flow_of(kept);
    uint32_t shown;

    writer->left--;
    shown = begin_request(writer, kept);
    for (uint32_t i = 0; i < shown; i++) {
        show_op(writer, &ops[i], flow, i + 1U == shown);
    }
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t first = i;

        while (i < shown && ops[i].why != WHY_HOST) {
            i++;
        }
        if (i > first) {
            show_own_work(writer, ops + first, i - first);
        }
    }
    nw_timeline_end_slice(writer, REQUESTS, kept->request.end_ns);
}

/* The fault that asked for the request at `at`, and for those behind it; how many. */
static uint32_t show_fault(struct timeline_writer *writer, const struct timeline_kept *kept,
                           uint32_t at, uint32_t end)
{
    const struct nw_timeline_request *request = &kept[at].request;
    uint32_t last = at;
    struct nw_perfetto_event event = {
        .time_ns = request->start_ns,
        .track = FAULTS,
        .what = NW_PERFETTO_BEGIN,
        .category = CATEGORY_FAULT,
    };

    while (last + 1U < end && kept[last].request.kind != NW_TIMELINE_READ &&
           kept[last + 1U].request.fault == request->fault &&
           kept[last + 1U].number == kept[last].number + 1U) {
        last++;
    }
    event.name = kept[last].request.kind == NW_TIMELINE_READ   ? FAULT
                 : kept[last].request.kind == NW_TIMELINE_TRIM ? DISCARD
                                                               : WRITE_BACK;
    nw_perfetto_note(&event, FAULT, request->fault);
    nw_perfetto_point(&event, ADDRESS, kept[last].request.address);
    nw_perfetto_tell(&writer->perfetto, &event);
    nw_timeline_end_slice(writer, FAULTS, kept[last].request.end_ns);
    return last + 1U;
}

static void show_faults(struct timeline_writer *writer, const struct timeline_kept *kept,
                        uint32_t count, uint64_t first, uint64_t end)
{
    for (uint32_t i = 0; i < count;) {
        int counts = kept[i].place == TIMELINE_NONE && kept[i].number >= first &&
                     kept[i].number < end && kept[i].request.fault != 0;

        i = counts ? show_fault(writer, kept, i, count) : i + 1U;
    }
}

static void open_tracks(struct timeline_writer *writer, const char *chip)
{
    const struct nw_perfetto_track tracks[] = {
        {.number = TIMELINE_SHOWN, .name = TIMELINE_SHOWN_NAME, .about = TIMELINE_SHOWN_ABOUT},
        {.number = FAULTS,
         .name = "virtual memory",
         .about = "Faults that went to the device: from the page that had to leave for it to the "
                  "page that is there."},
        {.number = REQUESTS,
         .name = "host requests",
         .about = "From when the device begins with a request to its end. The arrows lead to the "
                  "operations of the chip."},
        {.number = OWN_WORK,
         .name = "layer's own work",
         .about = "Copies, erases and maps: what the translation layer does beside the host's "
                  "data."},
        {.number = CHIP, .name = chip, .about = "Each operation of the chip."},
    };

    for (uint32_t i = 0; i < sizeof tracks / sizeof tracks[0]; i++) {
        if (tracks[i].number != FAULTS || writer->timeline->config.faults != 0) {
            nw_perfetto_track(&writer->perfetto, &tracks[i]);
        }
    }
    nw_timeline_open_counters(writer, COUNTERS);
}

/* Those of the longest that have such numbers and are not in the window. */
static void show_longest(struct timeline_writer *writer, uint64_t first, uint64_t end)
{
    for (uint32_t i = 0; i < writer->timeline->long_count; i++) {
        const struct timeline_kept *kept = &writer->timeline->longest[i];

        if (kept->place == TIMELINE_NONE && kept->number >= first && kept->number < end) {
            show_request(writer, kept);
        }
    }
}

static void show_all(struct timeline_writer *writer)
{
    const struct nw_timeline *timeline = writer->timeline;
    uint64_t first = timeline->window_count > 0 ? timeline->window[0].number : 0;

    show_longest(writer, 0, first);
    for (uint32_t at = 0; at < timeline->window_count; at++) {
        show_request(writer, &timeline->window[at]);
    }
    show_longest(writer, first, UINT64_MAX);
    if (timeline->config.faults != 0) {
        show_faults(writer, timeline->longest, timeline->long_count, 0, first);
        show_faults(writer, timeline->window, timeline->window_count, 0, UINT64_MAX);
        show_faults(writer, timeline->longest, timeline->long_count, first, UINT64_MAX);
    }
}

int nw_timeline_write(struct nw_timeline *timeline, const char *path, const char *title,
                      const char *chip)
{
    size_t length = strlen(path), end = sizeof TIMELINE_VCD - 1U;
    struct timeline_writer writer;
    int result;

    if (length > end && strcmp(path + length - end, TIMELINE_VCD) == 0) {
        return nw_timeline_write_vcd(timeline, path, chip);
    }
    result = nw_timeline_begin_file(&writer, timeline, path);
    if (result < 0) {
        return result;
    }
    nw_perfetto_open(&writer.perfetto, writer.file, words, sizeof words / sizeof words[0], title);
    open_tracks(&writer, chip);
    show_all(&writer);
    return nw_timeline_end_file(&writer);
}
