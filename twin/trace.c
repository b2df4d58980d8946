/* SPDX-License-Identifier: Apache-2.0 */
/* Each operation told after it was done. */
#include "nandwich-twin/trace.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

#include "filter_internal.h"

static int trace(struct nw_chip_req *req, uint8_t verb)
{
    struct nw_trace *filter = req->chip->context;
    struct nw_trace_event event;

    event.req = req;
    event.verb = verb;
    event.result = nw_filter_pass(req, filter->below, verb);
    event.number = filter->count++;
    event.time_ns = filter->meter != NULL ? filter->meter->time_ns : 0;
    filter->tell(filter->context, &event);
    return event.result;
}

NW_FILTER_VERBS(trace)

void nw_trace_open(struct nw_trace *filter, struct nw_chip *below, const struct nw_meter *meter,
                   void (*tell)(void *context, const struct nw_trace_event *event), void *context)
{
    filter->below = below;
    filter->meter = meter;
    filter->tell = tell;
    filter->context = context;
    filter->count = 0;
    nw_filter_open(&filter->chip, below, filter, &filter->ops, &trace_ops);
}

static int place_text(const struct nw_trace_event *event, char *text, size_t bytes)
{
    const struct nw_chip_req *req = event->req;

    switch (event->verb) {
    case NW_VERB_ERASE:
    case NW_VERB_HEAL:
    case NW_VERB_IS_BAD:
    case NW_VERB_MARK_BAD: return snprintf(text, bytes, "b%" PRIu32, req->block);
    case NW_VERB_COPY:
        return snprintf(text, bytes, "p%" PRIu32 ">p%" PRIu32, req->page, req->to_page);
    case NW_VERB_BUFFER_READ:
    case NW_VERB_BUFFER_WRITE: return snprintf(text, bytes, "f%u", req->buffer);
    case NW_VERB_BUFFER_LOAD:
    case NW_VERB_BUFFER_PROGRAM:
        return snprintf(text, bytes, "f%up%" PRIu32, req->buffer, req->page);
    default: return snprintf(text, bytes, "p%" PRIu32, req->page);
    }
}

int nw_trace_text(const struct nw_trace_event *event, char *text, size_t bytes)
{
    const struct nw_chip_req *req = event->req;
    bool moves_data = event->verb == NW_VERB_READ || event->verb == NW_VERB_PROGRAM ||
                      event->verb == NW_VERB_BUFFER_READ || event->verb == NW_VERB_BUFFER_WRITE;
    bool moves_spare = event->verb == NW_VERB_READ || event->verb == NW_VERB_PROGRAM ||
                       event->verb == NW_VERB_COPY;
    char place[32];
    int wrote = place_text(event, place, sizeof place); /* two 32-bit numbers: fits */

    if (wrote >= 0) {
        wrote = snprintf(text, bytes, "%" PRIu64 " %" PRIu64 " %s %s %u+%u %u+%u %d", event->number,
                         event->time_ns, nw_verb_name(event->verb), place,
                         moves_data ? req->offset : 0U, moves_data ? req->length : 0U,
                         moves_spare ? req->spare_offset : 0U,
                         moves_spare ? req->spare_length : 0U, event->result);
    }
    return wrote < 0 || (size_t)wrote < bytes ? wrote : (int)bytes - 1;
}

void nw_trace_to_file(void *context, const struct nw_trace_event *event)
{
    char line[160];

    if (nw_trace_text(event, line, sizeof line) > 0) {
        (void)fprintf(context, "%s\n", line); /* the stream keeps its error for ferror() */
    }
}
