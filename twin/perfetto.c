/* SPDX-License-Identifier: Apache-2.0 */
/* Fields in the order of their numbers where that costs nothing; a message inside another is made
 * in a buffer first, because its length stands before it. */
#include "nandwich-twin/perfetto.h"

#include <string.h>

#define ROOM 512U /* bytes: an event has 7 notes of 16 and some 60 more, a word 4 times 80 */

/* Types of the wire format. */
#define VARINT 0U
#define FIXED64 1U
#define BYTES 2U

#define CLEARED 1U /* the packet begins its sequence: what earlier ones named is forgotten */
#define NEEDS 2U   /* it needs those names */
#define EXPLICIT 3U
#define PROCESS 1U /* its number; a track's is one more than the caller's */

struct message {
    uint8_t *bytes;
    uint32_t length;
};

static void put_number(struct message *to, uint64_t value)
{
    for (; value >= 0x80U; value >>= 7) {
        to->bytes[to->length++] = (uint8_t)(value | 0x80U);
    }
    to->bytes[to->length++] = (uint8_t)value;
}

static void put(struct message *to, uint32_t field, uint64_t value)
{
    put_number(to, (uint64_t)field << 3 | VARINT);
    put_number(to, value);
}

static void put_fixed(struct message *to, uint32_t field, uint64_t value)
{
    put_number(to, (uint64_t)field << 3 | FIXED64);
    for (uint32_t i = 0; i < 64U; i += 8U) {
        to->bytes[to->length++] = (uint8_t)(value >> i);
    }
}

static void put_bytes(struct message *to, uint32_t field, const void *bytes, uint32_t length)
{
    put_number(to, (uint64_t)field << 3 | BYTES);
    put_number(to, length);
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

static void put_message(struct message *to, uint32_t field, const struct message *inner)
{
    put_bytes(to, field, inner->bytes, inner->length);
}

/* Cut at `most` bytes, but in no letter: a string of protobuf is UTF-8. */
static void put_text(struct message *to, uint32_t field, const char *text, uint32_t most)
{
    uint32_t length = 0;

    while (length <= most && text[length] != '\0') {
        length++;
    }
    if (length > most) {
        do {
            length--;
        } while (length > 0 && ((uint8_t)text[length] & 0xC0U) == 0x80U);
    }
    put_bytes(to, field, text, length);
}

/* A packet of the trace. */
static void send(struct nw_perfetto *perfetto, const struct message *packet)
{
    uint8_t head[12];
    struct message front = {head, 0};

    put_number(&front, 1U << 3 | BYTES);
    put_number(&front, packet->length);
    (void)fwrite(head, 1, front.length, perfetto->file);
    (void)fwrite(packet->bytes, 1, packet->length, perfetto->file);
    perfetto->bytes += front.length + packet->length;
}

void nw_perfetto_open(struct nw_perfetto *perfetto, FILE *file, const char *const *words,
                      uint32_t word_count, const char *process)
{
    uint8_t bytes[3][ROOM];
    struct message packet = {bytes[0], 0};
    struct message track = {bytes[1], 0};
    struct message inner = {bytes[2], 0};

    *perfetto = (struct nw_perfetto){.file = file, .words = words, .word_count = word_count};
    put(&inner, 1, 1); /* pid */
    put_text(&inner, 6, process, NW_PERFETTO_LETTERS);
    put(&track, 1, PROCESS);
    put_message(&track, 3, &inner);
    put(&track, 11, EXPLICIT); /* order of its children: by their rank */
    put(&packet, 10, PROCESS);
    put_message(&packet, 60, &track);
    send(perfetto, &packet);
}

/* A word in a packet of its own: as name of a category (1), an event (2) and a note (3), and as
 * what a note says (29). */
static void send_word(struct nw_perfetto *perfetto, uint32_t track, uint32_t number)
{
    static const uint8_t fields[] = {1, 2, 3, 29};
    uint8_t bytes[3][ROOM];
    struct message packet = {bytes[0], 0};
    struct message names = {bytes[1], 0};
    struct message word = {bytes[2], 0};

    put(&word, 1, number + 1U); /* 0 would be no name */
    put_text(&word, 2, perfetto->words[number], NW_PERFETTO_LETTERS);
    for (uint32_t kind = 0; kind < sizeof fields; kind++) {
        put_message(&names, fields[kind], &word);
    }
    put(&packet, 10, track);
    put_message(&packet, 12, &names);
    put(&packet, 13, NEEDS);
    send(perfetto, &packet);
}

void nw_perfetto_track(struct nw_perfetto *perfetto, const struct nw_perfetto_track *track)
{
    uint32_t number = track->number + PROCESS;
    uint8_t bytes[3][ROOM];
    struct message packet = {bytes[0], 0};
    struct message about = {bytes[1], 0};
    struct message inner = {bytes[2], 0};

    put(&about, 1, number);
    put_text(&about, 2, track->name, NW_PERFETTO_LETTERS);
    put(&about, 5, PROCESS);
    if (track->unit != NULL) {
        put_text(&inner, 6, track->unit, NW_PERFETTO_LETTERS);
        put_message(&about, 8, &inner);
        inner.length = 0;
    }
    put(&about, 11, EXPLICIT);
    put(&about, 12, track->number); /* rank */
    if (track->about != NULL) {
        put_text(&about, 14, track->about, ROOM / 2U);
    }
    put(&packet, 10, number);
    if (track->unit == NULL) {
        uint8_t event[16];
        struct message of_events = {event, 0};

        put(&packet, 13, CLEARED);
        put(&of_events, 11, number);
        put_message(&inner, 11, &of_events);
        put_message(&packet, 59, &inner);
    }
    put_message(&packet, 60, &about);
    send(perfetto, &packet);
    for (uint32_t i = 0; track->unit == NULL && i < perfetto->word_count; i++) {
        send_word(perfetto, number, i);
    }
}

static void put_note(struct message *to, const struct nw_perfetto_note *note)
{
    uint8_t bytes[32];
    struct message inner = {bytes, 0};

    put(&inner, 1, note->word + 1U);
    switch (note->as) {
    case NW_PERFETTO_WORD: put(&inner, 17, note->value + 1U); break;
    case NW_PERFETTO_ADDRESS: put(&inner, 7, note->value); break;
    default: put(&inner, 3, note->value);
    }
    put_message(to, 4, &inner);
}

void nw_perfetto_tell(struct nw_perfetto *perfetto, const struct nw_perfetto_event *event)
{
    uint8_t bytes[2][ROOM];
    struct message packet = {bytes[0], 0};
    struct message inner = {bytes[1], 0};

    put(&packet, 8, event->time_ns);
    put(&packet, 10, event->track + PROCESS);
    if (event->what == NW_PERFETTO_BEGIN) {
        put(&inner, 3, event->category + 1U);
        for (uint32_t i = 0; i < event->note_count; i++) {
            put_note(&inner, &event->notes[i]);
        }
        put(&inner, 10, event->name + 1U);
        if (event->flow != 0) {
            put_fixed(&inner, event->last != 0 ? 48U : 47U, event->flow);
        }
    }
    put(&inner, 9, event->what);
    if (event->what == NW_PERFETTO_COUNTER) {
        uint64_t bits;

        memcpy(&bits, &event->value, sizeof bits);
        put(&inner, 11, event->track + PROCESS);
        put_fixed(&inner, 44, bits);
    }
    put_message(&packet, 11, &inner);
    if (event->what != NW_PERFETTO_COUNTER) {
        put(&packet, 13, NEEDS);
    }
    send(perfetto, &packet);
}

static void add_note(struct nw_perfetto_event *event, uint8_t word, uint8_t as, uint64_t value)
{
    if (event->note_count < NW_PERFETTO_NOTES) {
        event->notes[event->note_count++] = (struct nw_perfetto_note){word, as, value};
    }
}

void nw_perfetto_note(struct nw_perfetto_event *event, uint8_t word, uint64_t value)
{
    add_note(event, word, NW_PERFETTO_NUMBER, value);
}

void nw_perfetto_say(struct nw_perfetto_event *event, uint8_t word, uint8_t value)
{
    add_note(event, word, NW_PERFETTO_WORD, value);
}

void nw_perfetto_point(struct nw_perfetto_event *event, uint8_t word, uint64_t address)
{
    add_note(event, word, NW_PERFETTO_ADDRESS, address);
}
