/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.h - writes a trace that ui.perfetto.dev opens: packets of TrackEvents in protobuf's wire
 * format (https://perfetto.dev/docs/reference/trace-packet-proto has the numbers of the fields).
 *
 * Tracks lie in one process, below each other as `parent` says. A track of slices is a sequence of
 * packets of its own: its events come in order of time, each begin has its end, and slices nest.
 * All names come from one list of words, so that a packet holds their numbers alone: about 45 bytes
 * a slice with two notes.
 *
 * No malloc. The stream keeps its error for ferror().
 */
#ifndef NANDWICH_TWIN_PERFETTO_H
#define NANDWICH_TWIN_PERFETTO_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NW_PERFETTO_WORDS 255U /* at most; a longer one is cut at NW_PERFETTO_LETTERS bytes */
#define NW_PERFETTO_LETTERS 80U
#define NW_PERFETTO_NOTES 7U

enum nw_perfetto_what {
    NW_PERFETTO_BEGIN = 1,
    NW_PERFETTO_END = 2,
    NW_PERFETTO_COUNTER = 4
};

struct nw_perfetto {
    FILE *file;
    const char *const *words;
    uint32_t word_count;
    uint64_t bytes; /* written so far */
};

struct nw_perfetto_track {
    const char *name;
    const char *about; /* what the viewer tells of it; NULL: nothing */
    const char *unit;  /* of a counter; NULL: a track of slices */
    uint32_t number;   /* 1 and up, each once */
};

/* What the value of a note is. */
enum nw_perfetto_as { NW_PERFETTO_NUMBER, NW_PERFETTO_WORD, NW_PERFETTO_ADDRESS };

/* What a slice says of itself when one clicks at it. */
struct nw_perfetto_note {
    uint8_t word;    /* its name */
    uint8_t as;      /* enum nw_perfetto_as */
    uint64_t value;
};

struct nw_perfetto_event {
    uint64_t time_ns;
    uint64_t flow;  /* arrows join the slices that begin with one number; 0: none */
    double value;   /* of a counter */
    uint32_t track;
    uint8_t what;   /* enum nw_perfetto_what */
    uint8_t name;   /* of a begin: numbers of words */
    uint8_t category;
    uint8_t last;   /* the flow ends here */
    uint8_t note_count;
    struct nw_perfetto_note notes[NW_PERFETTO_NOTES];
};

/* The words stay the caller's, until the last event. */
void nw_perfetto_open(struct nw_perfetto *perfetto, FILE *file, const char *const *words,
                      uint32_t word_count, const char *process);

/* Tracks stand in the order in which they are opened. */
void nw_perfetto_track(struct nw_perfetto *perfetto, const struct nw_perfetto_track *track);

void nw_perfetto_tell(struct nw_perfetto *perfetto, const struct nw_perfetto_event *event);

/* Adds a note: a number, a word, an address. What is too many is left out. */
void nw_perfetto_note(struct nw_perfetto_event *event, uint8_t word, uint64_t value);
void nw_perfetto_say(struct nw_perfetto_event *event, uint8_t word, uint8_t value);
void nw_perfetto_point(struct nw_perfetto_event *event, uint8_t word, uint64_t address);

#ifdef __cplusplus
}
#endif

#endif
