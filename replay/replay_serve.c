/* SPDX-License-Identifier: Apache-2.0 */
/* One request on the device: which sectors it is, what it costs, whether it reads as written. */
#include <stdlib.h>

#include "nandwich-replay/tokens.h"
#include "replay_share.h"
#include "scale.h"

/* A run of whole sectors. */
struct span {
    uint32_t first;
    uint32_t count;
    uint8_t head; /* 1: the first sector is touched in part only */
    uint8_t tail; /* 1: so is the last */
};

static uint64_t token_of(uint32_t sector, uint32_t version)
{
    return version != 0 ? (uint64_t)sector << 32 | version : 0;
}

static int verifies(const struct nw_replay *replay)
{
    return replay->versions != NULL;
}

static int have_payload(struct nw_replay *replay, uint32_t count)
{
    uint64_t bytes = (uint64_t)count * replay->block->sector_bytes;

    if (bytes > replay->payload_bytes) {
        uint8_t *larger = realloc(replay->payload, bytes);

        if (larger == NULL) {
            return NW_ERR_RAM;
        }
        replay->payload = larger;
        replay->payload_bytes = bytes;
    }
    return NW_OK;
}

static void note_violation(struct nw_replay *replay, uint32_t sector, uint64_t request)
{
    struct nw_replay_result *result = &replay->result;

    if (result->violations == 0) {
        result->violation_request = request;
        result->violation_sector = sector;
    }
    result->violations++;
}

static void compare(struct nw_replay *replay, uint32_t sector, uint32_t count, uint64_t request)
{
    uint16_t bytes = replay->block->sector_bytes;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t word;
        int whole = nw_tokens_read(replay->payload + (uint64_t)i * bytes, bytes, &word);

        if (!whole || word != token_of(sector + i, replay->versions[sector + i])) {
            note_violation(replay, sector + i, request);
        }
    }
}

static int read_sectors(struct nw_replay *replay, uint32_t sector, uint32_t count)
{
    struct nw_block_req req = {
        .block = replay->block, .sector = sector, .count = count, .app = replay->app};
    int status;

    if (verifies(replay)) {
        status = have_payload(replay, count);
        if (status < 0) {
            return status;
        }
        req.data = replay->payload;
    }
    status = nw_block_read(&req);
    if (status < 0) {
        replay->result.ended_sector = sector + req.done;
    } else if (verifies(replay)) {
        replay->result.tokens_checked += count;
        compare(replay, sector, count, replay->result.requests - 1U);
    }
    return status;
}

int nw_replay_read_back(struct nw_replay *replay, uint64_t sectors)
{
    struct nw_replay_result *result = &replay->result;
    uint32_t end = verifies(replay) ? replay->block->sectors : 0;

    if (end > 0 && have_payload(replay, 1) < 0) {
        return NW_ERR_RAM;
    }
    for (; sectors > 0 && replay->read_back < end; sectors--) {
        uint32_t sector = replay->read_back++;
        struct nw_block_req req = {
            .block = replay->block, .sector = sector, .count = 1, .data = replay->payload};

        if (result->ended < 0 && sector == result->ended_sector) {
            continue;
        }
        result->read_back++;
        if (nw_block_read(&req) < 0) {
            note_violation(replay, sector, result->requests);
        } else {
            compare(replay, sector, 1, result->requests);
        }
    }
    return replay->read_back < end;
}

/* One class of sectors. */
static int write_sectors(struct nw_replay *replay, uint32_t sector, uint32_t count, uint8_t hint)
{
    struct nw_block_req req = {.block = replay->block,
                               .sector = sector,
                               .count = count,
                               .app = replay->app,
                               .hint = hint};
    uint16_t bytes = replay->block->sector_bytes;
    int status;

    if (verifies(replay)) {
        status = have_payload(replay, count);
        if (status < 0) {
            return status;
        }
        req.data = replay->payload;
        for (uint32_t i = 0; i < count; i++) {
            nw_tokens_paint(req.data + (uint64_t)i * bytes, bytes,
                            token_of(sector + i, replay->versions[sector + i] + 1U));
        }
    }
    status = nw_block_write(&req);
    for (uint32_t i = 0; verifies(replay) && i < req.done; i++) {
        replay->versions[sector + i]++;
    }
    if (status < 0) {
        replay->result.ended_sector = sector + req.done;
    }
    return status;
}

int nw_replay_write(struct nw_replay *replay, uint32_t sector, uint32_t count)
{
    return write_sectors(replay, sector, count, NW_HINT_NONE);
}

static int trim_sectors(struct nw_replay *replay, uint32_t sector, uint32_t count)
{
    struct nw_block_req req = {.block = replay->block, .sector = sector, .count = count};
    int status = nw_block_trim(&req);

    for (uint32_t i = 0; verifies(replay) && i < req.done; i++) {
        replay->versions[sector + i] = 0;
    }
    if (status < 0) {
        replay->result.ended_sector = sector + req.done;
    }
    return status;
}

/* When a request came, and when the device began with it. */
struct moments {
    uint64_t arrival_ns;
    uint64_t start_ns;
};

/* Whole sectors in so many bytes: a division costs more than all the rest here. */
static uint64_t sectors_in(const struct nw_replay *replay, uint64_t bytes)
{
    return replay->shift < 64U ? bytes >> replay->shift : bytes / replay->block->sector_bytes;
}

/* Where the request lies on this device; count 0 when it is not to be served. */
static int place(struct nw_replay *replay, const struct nw_io *io, struct span *span)
{
    const struct nw_replay_config *config = &replay->config;
    uint64_t unit = replay->block->sector_bytes;
    uint64_t device = replay->block->sectors * unit;
    uint64_t offset = io->offset;
    uint64_t bytes = io->bytes;
    uint64_t first, end;

    if (config->fit == NW_REPLAY_SCALE && config->extent > device) {
        uint64_t scaled = nw_scale(offset, device, config->extent) / unit * unit;

        offset = scaled + offset % unit;
        if (bytes > device || offset > device - bytes) {
            bytes = bytes > device ? device : bytes;
            offset = device - bytes;
            replay->result.wrapped++;
        }
    } else if (bytes > device || offset > device - bytes) {
        if (config->fit != NW_REPLAY_WRAP) {
            replay->result.ended_sector = offset / unit;
            return NW_ERR_RANGE;
        }
        replay->result.wrapped++;
        bytes = bytes > device ? device : bytes;
        offset %= device;
    }
    first = sectors_in(replay, offset);
    end = sectors_in(replay, offset + bytes);
    span->first = (uint32_t)first;
    span->head = first * unit != offset;
    span->tail = end * unit != offset + bytes;
    span->count = (uint32_t)(end - first) + span->tail;
    return NW_OK;
}

static int perform_piece(struct nw_replay *replay, uint32_t sector, uint32_t count, uint8_t kind,
                         uint8_t hint)
{
    switch (kind) {
    case NW_IO_READ: return read_sectors(replay, sector, count);
    case NW_IO_WRITE: return write_sectors(replay, sector, count, hint);
    default: return trim_sectors(replay, sector, count);
    }
}

/* What has been done is kept for the bound, if somebody asked for it. */
static int note_bound(struct nw_replay *replay, uint32_t sector, uint32_t count, uint8_t kind,
                      int status)
{
    return status >= 0 && replay->bound != NULL
               ? nw_tier_bound_note(replay->bound, kind, sector, count)
               : status;
}

/* A run of sectors, piece by piece of one class, with its place in the books. */
static int in_pieces(struct nw_replay *replay, uint32_t sector, uint32_t count, uint8_t kind)
{
    int status = NW_OK;

    if (replay->config.content == NULL && replay->content == 0) {
        return note_bound(replay, sector, count, kind,
                          perform_piece(replay, sector, count, kind, NW_HINT_NONE));
    }
    while (count > 0 && status >= 0) {
        struct replay_part part = nw_replay_begin_part(replay);
        uint8_t content;
        uint32_t piece = nw_replay_same_content(replay, sector, count, &content);

        status = perform_piece(replay, sector, piece, kind, (uint8_t)nw_content_hint(content));
        nw_replay_note_piece(replay, &part, content, kind, piece);
        status = note_bound(replay, sector, piece, kind, status);
        sector += piece;
        count -= piece;
    }
    return status;
}

static int read_partial(struct nw_replay *replay, uint32_t sector)
{
    replay->result.partial_reads++;
    return in_pieces(replay, sector, 1, NW_IO_READ);
}

/* Read the sectors that the span touches in part: what it leaves of them is written again. */
static int complete_span(struct nw_replay *replay, const struct span *span)
{
    uint32_t last = span->first + span->count - 1U;
    int status = NW_OK;

    if (span->head != 0 || (span->tail != 0 && span->count == 1U)) {
        status = read_partial(replay, span->first);
    }
    if (status >= 0 && span->tail != 0 && span->count > 1U) {
        status = read_partial(replay, last % replay->block->sectors);
    }
    return status;
}

/* The part of the span up to the device's end, then the rest from its start (WRAP). */
static int each_piece(struct nw_replay *replay, struct span *span, uint8_t kind)
{
    uint32_t until_end = replay->block->sectors - span->first;
    uint32_t first = span->count < until_end ? span->count : until_end;
    int status = in_pieces(replay, span->first, first, kind);

    if (status >= 0 && span->count > first) {
        status = in_pieces(replay, 0, span->count - first, kind);
    }
    return status;
}

static int perform(struct nw_replay *replay, const struct nw_io *io, struct span *span)
{
    struct nw_replay_result *result = &replay->result;
    int status = NW_OK;

    switch (io->kind) {
    case NW_IO_READ:
        result->sectors_read += span->count;
        result->bytes_read += io->bytes;
        return each_piece(replay, span, io->kind);
    case NW_IO_WRITE:
        if ((span->head | span->tail) != 0) {
            status = complete_span(replay, span);
        }
        result->sectors_written += span->count;
        result->bytes_written += io->bytes;
        return status < 0 ? status : each_piece(replay, span, io->kind);
    default:
        /* Only whole sectors can be forgotten. */
        span->first += span->head;
        if (span->count <= (uint32_t)span->head + span->tail) {
            return NW_OK;
        }
        span->count -= (uint32_t)span->head + span->tail;
        span->first = span->first == replay->block->sectors ? 0 : span->first;
        result->sectors_trimmed += span->count;
        return each_piece(replay, span, io->kind);
    }
}

static int sync_device(struct nw_replay *replay)
{
    struct nw_block_req req = {.block = replay->block};

    replay->result.syncs++;
    return nw_block_sync(&req);
}

/* The meter's time since it was last looked at. */
static uint64_t worked(struct nw_replay *replay)
{
    uint64_t took = replay->meter->time_ns - replay->worked_ns;

    replay->worked_ns = replay->meter->time_ns;
    return took;
}

/* The clocks of the wear policy and of the one that places by habits. */
static void tell_time(struct nw_replay *replay)
{
    struct nw_stack *stack = replay->config.stack;

    if (stack->wear != NULL) {
        stack->wear->now_s = (uint32_t)(replay->now_ns / 1000000000U);
    }
    if (stack->tier_clock_s != NULL) {
        *stack->tier_clock_s = (uint32_t)(replay->now_ns / 1000000000U);
    }
}

/* Healings since last looked at have ended now. */
static void note_heals(struct nw_replay *replay)
{
    const struct nw_wear *wear = replay->config.stack->wear;

    while (wear != NULL && replay->heals < wear->stats.heals - replay->heals_before) {
        if (replay->heals < NW_REPLAY_HEALS) {
            replay->heal_ns[replay->heals] = replay->now_ns;
        }
        replay->heals++;
    }
}

static void begin_line(struct nw_replay *replay)
{
    if (replay->timeline != NULL) {
        nw_timeline_begin(replay->timeline, replay->now_ns - replay->worked_ns);
    }
}

/* A request has ended now. Without `io`: work ahead. */
static void end_line(struct nw_replay *replay, const struct nw_io *io, const struct span *span,
                     const struct moments *began)
{
    struct nw_timeline_request request = {.arrival_ns = began->arrival_ns,
                                          .start_ns = began->start_ns,
                                          .end_ns = replay->now_ns,
                                          .sector = span->first,
                                          .count = span->count,
                                          .queues = replay->queue != NULL,
                                          .kind = NW_TIMELINE_IDLE};

    if (replay->timeline == NULL) {
        return;
    }
    request.free_blocks = nw_stack_free_blocks(replay->config.stack);
    if (io != NULL) {
        request.kind = io->kind; /* the first four of both have the same order */
        request.app = replay->app;
    }
    nw_timeline_end(replay->timeline, &request);
}

/* The device has nothing to do until `until_ns`. */
static int be_idle(struct nw_replay *replay, uint64_t until_ns)
{
    struct nw_replay_result *result = &replay->result;
    uint64_t gap = until_ns - replay->now_ns;
    uint64_t took = 0;
    int status = NW_OK;

    if ((replay->config.flags & NW_REPLAY_IDLE) != 0) {
        struct nw_block_req req = {.block = replay->block};

        tell_time(replay);
        begin_line(replay);
        req.budget_us = gap / 1000U < UINT32_MAX ? (uint32_t)(gap / 1000U) : UINT32_MAX;
        status = nw_block_idle(&req);
        took = worked(replay);
        result->ahead_ns += took;
    }
    /* Work ahead that overran its budget makes the next request wait. */
    result->idle_ns += took < gap ? gap - took : 0;
    replay->now_ns += took;
    note_heals(replay);
    if (took > 0) {
        uint64_t began_ns = replay->now_ns - took;

        end_line(replay, NULL, &(struct span){0}, &(struct moments){began_ns, began_ns});
    }
    replay->now_ns = took < gap ? until_ns : replay->now_ns;
    return status;
}

static void join_queue(struct nw_replay *replay, uint64_t arrival_ns, uint64_t done_ns)
{
    while (replay->queue_count > 0 && replay->queue[replay->queue_head] <= arrival_ns) {
        replay->queue_head = (replay->queue_head + 1U) % NW_REPLAY_QUEUE_MOST;
        replay->queue_count--;
    }
    if (replay->queue_count < NW_REPLAY_QUEUE_MOST) {
        uint32_t at = (replay->queue_head + replay->queue_count) % NW_REPLAY_QUEUE_MOST;

        replay->queue[at] = done_ns;
        replay->queue_count++;
    }
    if (replay->queue_count > replay->result.queue_max) {
        replay->result.queue_max = replay->queue_count;
    }
}

static void note_times(struct nw_replay *replay, const struct nw_io *io, uint64_t response,
                       uint64_t service)
{
    struct nw_replay_result *result = &replay->result;

    nw_latency_add(io->kind == NW_IO_READ    ? &result->reads
                   : io->kind == NW_IO_WRITE ? &result->writes
                                             : &result->others,
                   response);
    if (response > replay->sample_max_ns) {
        replay->sample_max_ns = response;
    }
    if (service > result->worst_call_ns) {
        result->worst_call_ns = service;
        result->worst_request = result->requests - 1U;
    }
    if (result->dead == 0 && replay->layer->retired != 0) {
        result->dead = 1;
        result->death_request = result->requests - 1U;
        result->death_written = result->sectors_written;
        result->death_ns = replay->now_ns;
    }
}

/* When the request arrives; the device is idle until then if it has nothing else to do. */
static int await(struct nw_replay *replay, const struct nw_io *io, uint64_t *arrival_ns)
{
    uint64_t arrival = replay->pass_ns + io->time_ns;

    if (arrival < replay->arrival_ns) {
        arrival = replay->arrival_ns;
        replay->result.stepped_back++;
    }
    replay->arrival_ns = arrival;
    if (replay->queue == NULL) {
        *arrival_ns = replay->now_ns;
        return NW_OK;
    }
    *arrival_ns = arrival;
    return arrival > replay->now_ns ? be_idle(replay, arrival) : (int)NW_OK;
}

/* Room in the NVM that is made without waiting for idle time. */
static int prepare(struct nw_replay *replay)
{
    struct nw_tier *tier = replay->config.stack->tier;
    int status = NW_OK;

    if (replay->config.prepare != NW_REPLAY_WHEN_IDLE && tier != NULL) {
        status = nw_tier_prepare(tier, UINT32_MAX);
    }
    if (replay->config.prepare == NW_REPLAY_UNSEEN) {
        replay->meter->time_ns = replay->worked_ns;
        begin_line(replay); /* anew: the operations above are of no request */
    }
    return status < 0 ? status : (int)NW_OK;
}

int nw_replay_serve(struct nw_replay *replay, const struct nw_io *io)
{
    struct span span = {0};
    uint64_t arrival, service;
    int status = io->kind == NW_IO_SYNC ? NW_OK : place(replay, io, &span);

    replay->app = io->app <= replay->config.apps ? io->app : 0;
    replay->content = io->content;
    if (status >= 0) {
        status = await(replay, io, &arrival);
    }
    if (status < 0) {
        return status;
    }
    tell_time(replay);
    begin_line(replay);
    struct replay_part part = {0};
    if (replay->keeps_shares != 0) {
        part = nw_replay_begin_part(replay);
        status = prepare(replay);
        if (status < 0) {
            return status;
        }
    }
    status = io->kind == NW_IO_SYNC ? sync_device(replay) : perform(replay, io, &span);
    service = worked(replay);
    replay->result.busy_ns += service;
    replay->now_ns += service;
    note_heals(replay);
    if (status >= 0 && replay->queue != NULL) {
        join_queue(replay, arrival, replay->now_ns);
    }
    end_line(replay, io, &span, &(struct moments){arrival, replay->now_ns - service});
    if (status < 0) {
        return status;
    }
    if (replay->keeps_shares != 0) {
        nw_replay_note_request(replay, &part, arrival);
    }
    note_times(replay, io, replay->now_ns - arrival, service);
    return NW_OK;
}
