/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - what happened to a device, as a value and as text. The text replays exactly: what is
 * printed and parsed again is the same history.
 *
 *   nandwich-torture 1
 *   subject tree
 *   part K9F1G08U0A          a part of the table, and what differs from it
 *   part.blocks 19
 *   spare_blocks 11          settings that are not 0
 *   seed 5
 *   steps
 *   write 3 2                a verb and its arguments, numbers or words
 *   cut 0 inside half new
 *   plug
 *
 * A line from # on is a comment; blank lines do not count. Which verbs there are depends on the
 * subject: those of every history are below, the subject's own follow them.
 */
#ifndef NANDWICH_SIM_HISTORY_H
#define NANDWICH_SIM_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich-twin/part.h"

#define SIM_ARGS 4U

/* One argument: a number from 0 to `most`, or one of the words. */
struct sim_arg {
    const char *name;
    uint32_t most;
    const char *const *words; /* closed by NULL; NULL: a number */
};

struct sim_verb {
    const char *name;
    const char *what; /* one line for the manual */
    struct sim_arg args[SIM_ARGS]; /* as many as have a name */
    uint8_t twin;     /* 1: only on an emulated chip */
};

/* The verbs of every history, in the order of sim_verbs. */
enum sim_common {
    SIM_PLUG,
    SIM_RESET,
    SIM_MOUNTS,
    SIM_CHECK,
    SIM_CUT,
    SIM_FAIL,
    SIM_MEND,
    SIM_DOOM,
    SIM_FLIP,
    SIM_COMMON /* a subject's own begin here */
};
extern const struct sim_verb sim_verbs[SIM_COMMON];

/* Where and on what; 0 is the default of every setting. */
struct sim_head {
    const struct sim_kind *kind;
    char base[NW_PART_NAME_BYTES]; /* the part's name in the table; "": none, all is told */
    struct nw_part part;
    uint32_t seed;         /* of the chip */
    uint32_t spare_blocks; /* of the layer: see nandwich-stack/layers.h */
    uint32_t log_blocks;
    uint32_t degree;
    uint32_t maps;
    uint32_t scrub_bits; /* tree */
    uint32_t sectors;
    uint32_t ecc;          /* parts of a page under the ecc filter; 0: no filter */
    uint32_t oob;          /* bytes of a page over the oob filter; 0: no filter */
    uint32_t join;         /* with it: blocks of the chip a block */
    uint32_t unerased;     /* 1: blocks must be erased before their first use */
    uint32_t wears;        /* 1: blocks fail when worn */
    uint32_t factory_bad;  /* 1: some blocks are bad when new */
    uint32_t shape;        /* store: which configuration, 1 and up: store_shapes */
    uint32_t worn;         /* erases each block has behind it */
    uint32_t unstable;     /* 1: what a cut leaves is drawn at each read: NW_NAND_UNSTABLE */
    uint32_t beyond;       /* 2: more goes wrong than clause F2 has it, and so on: see swarm.h */
};

struct sim_step {
    uint8_t verb; /* enum sim_common, or SIM_COMMON + place among the subject's */
    uint32_t args[SIM_ARGS];
};

struct sim_history {
    struct sim_head head;
    struct sim_step *steps;
    uint32_t count;
    uint32_t room;
};

/* Nodes in RAM; a tree's scrubbing follows from them. */
static inline void sim_head_maps(struct sim_head *head, uint32_t maps)
{
    head->maps = maps;
    head->scrub_bits = maps % 2U;
}

/* The description of a step's verb for this kind. */
const struct sim_verb *sim_verb_of(const struct sim_kind *kind, uint8_t verb);

/* How many arguments it takes. */
uint32_t sim_verb_args(const struct sim_verb *verb);

/* The settings of a head, so that one may go through them; `index` from 0. NULL: the end. */
struct sim_setting {
    const char *name;
    size_t offset; /* of a uint32_t in struct sim_head */
    uint32_t most;
};
const struct sim_setting *sim_setting_at(uint32_t index);
uint32_t *sim_setting_in(const struct sim_setting *setting, struct sim_head *head);

/* An empty history. */
void sim_history_init(struct sim_history *history);
void sim_history_free(struct sim_history *history);

/* Appends. NW_ERR_RAM. */
int sim_history_add(struct sim_history *history, const struct sim_step *step);

/* A copy of `from`. NW_ERR_RAM. */
int sim_history_copy(struct sim_history *to, const struct sim_history *from);

/* The text, closed by 0, to be freed; NULL: no memory. */
char *sim_history_print(const struct sim_history *history);

/* One step as a line without its end; its length, cut to `bytes`. */
int sim_step_text(const struct sim_kind *kind, const struct sim_step *step, char *text,
                  size_t bytes);

/* Reads a text. NW_ERR_CONFIG with one line in `why` that begins with the line's number;
 * NW_ERR_RAM. The history holds nothing then. */
int sim_history_parse(struct sim_history *history, const char *text, char *why, size_t bytes);

#endif
