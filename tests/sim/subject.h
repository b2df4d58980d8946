/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject.h - what keeps data, as one table entry: how it is opened, what can be asked of it, what
 * it may answer. Chips, cuts, faults, random histories, shrinking, replay and the command know
 * nothing else about it, so a new layer gets all of them by an entry.
 */
#ifndef NANDWICH_SIM_SUBJECT_H
#define NANDWICH_SIM_SUBJECT_H

#include "gate.h"
#include "history.h"
#include "nandwich-stack/layers.h"
#include "nandwich/random.h"
#include "state.h"

#define SIM_WHY_BYTES 256U

struct sim_subject {
    const struct sim_kind *kind;
    const struct sim_head *head;
    struct nw_chip *chip; /* the gate, or a filter on it */
    struct sim_gate *gate;
    struct nw_nand *nand; /* at the bottom; NULL: a chip of the caller's */
    void *own;            /* the kind's state and its model of what may be read */
    int broken; /* the error that every change answers until the next mount, as told; 0: none */
    char why[SIM_WHY_BYTES]; /* filled in when something reads as it must not */
};

/* How a run uses a subject: drawn once a run, so that each run dwells on something else. */
struct sim_taste {
    uint8_t weights[16]; /* of the subject's verbs, in their order; 0: never */
    uint32_t span;       /* places that are used, from `first` on */
    uint32_t first;
    uint8_t in_order;    /* 1: one after the other */
    uint8_t longest;     /* sectors or elements a call, at most */
    uint32_t next;       /* where it goes on in order */
};

/* What has gone wrong below since the device was made or, where so told, mounted. */
struct sim_strain {
    uint32_t bad;     /* blocks that are marked, have failed or are bound to */
    uint32_t retired; /* blocks that one step marked, at most, since the mount began */
    uint32_t failing; /* blocks that failed in one call, at most, since the mount began */
    uint32_t strikes; /* requests that failed as told since the mount */
};

/* What a call may ask of the chip at most; UINT32_MAX: the header does not say. */
struct sim_most {
    uint32_t reads;
    uint32_t programs;
    uint32_t erases;
    uint32_t busy_us; /* by the chip's typical times */
};

struct sim_kind {
    const char *name;
    const char *what; /* one line for help */
    const struct sim_verb *verbs;
    uint32_t verb_count; /* at most 16 */
    const struct nw_layer_kind *layer; /* where it is one of these */
    uint8_t reads_again; /* 1: what the chip cannot read once is not lost; 2: nor what it reads
                          * wrong once */
    uint8_t restarts;    /* 1: runs let mounts fail too, and the processor start anew behind them:
                          * what is held back below stays, and may go with power later */
    uint8_t marks_fail;  /* 1: marks of blocks fail, too; of other kinds they never do */
    uint8_t no_faults;   /* 1: runs let no request fail: nothing says what is left of such calls */
    /* Sets part and settings to what suits the kind. NULL: those drawn for layers do. */
    void (*fit)(struct nw_random *random, struct sim_head *head);

    /* Memory for the subject on subject->chip. NW_ERR_CONFIG: it does not work there. */
    int (*open)(struct sim_subject *subject);
    void (*close)(struct sim_subject *subject);
    int (*format)(struct sim_subject *subject);
    /* NULL: it forgets with power, and is formatted instead. RAM is filled with rubbish before. */
    int (*mount)(struct sim_subject *subject);
    /* How large it is: places that `taste` may name. */
    uint32_t (*places)(const struct sim_subject *subject);
    void (*draw)(struct sim_subject *subject, struct nw_random *random, struct sim_taste *taste,
                 struct sim_step *step);
    /* One step: what the subject answers. It keeps the model; why is set where a read is wrong. */
    int (*run)(struct sim_subject *subject, const struct sim_step *step);
    /* Reads everything: 0, or -1 with why, or the subject's error. */
    int (*check)(struct sim_subject *subject);
    /* Does what it has in RAM agree with itself? Asked after each mount and check, past the gate:
     * the answer of its nw_*_check(), and where that stopped. NULL: nobody can tell. */
    int (*audit)(struct sim_subject *subject, uint32_t *where);
    /* For the explorer: calls that tell something, and how many of them work on one place alone. */
    const struct sim_step *menu;
    uint8_t menu_count;
    uint8_t menu_narrow;
    /* For the explorer too; NULL: it does not work on this one.
     * The model of what may be read, one piece of memory: whoever keeps it with the chip comes back
     * to a device without power as it was. */
    void *(*model)(struct sim_subject *subject, size_t *bytes);
    /* The chip and the model as a state. */
    void (*state)(struct sim_subject *subject, struct sim_state *state);
    /* May it refuse a step as full? */
    int (*may_fill)(const struct sim_subject *subject, const struct sim_strain *strain);
    /* Asked before the step; NULL: of a mount. `clean`: no call has failed since the mount. */
    struct sim_most (*most)(const struct sim_subject *subject, const struct sim_step *step,
                            int clean);
    uint8_t bounded; /* 1: mounts have a most, and failures within the budget change no most */
};

extern const struct sim_kind sim_kind_tree;
extern const struct sim_kind sim_kind_lavish;
extern const struct sim_kind sim_kind_tier;
extern const struct sim_kind sim_kind_store;
extern const struct sim_kind sim_kind_feed;
extern const struct sim_kind sim_kind_vm;
extern const struct sim_kind sim_kind_heap;

/* The table, in the order to show it. */
extern const struct sim_kind *const sim_kinds[];
extern const uint32_t sim_kind_count;

/* One of the first `count` verbs of a subject, by their weights. */
uint8_t sim_draw_verb(const struct sim_taste *taste, uint32_t count, struct nw_random *random);

/* May a lavish layer be full? ftl_lavish.h: so many blocks may fail, if no call meets more than one
 * failure. */
int sim_lavish_may_fill(const struct nw_layer_site *site, const struct sim_strain *strain);

/* Whether what a layer has in RAM agrees with itself: what its nw_*_check() answers. */
int sim_audit_layer(const struct nw_layer_kind *layer, const void *state, uint32_t *where);

/* A small variant of a part, whichever the draw says. */
void sim_small_part(struct nw_random *random, struct sim_head *head);

/* The kind of that name, or NULL. */
const struct sim_kind *sim_kind_find(const char *name);

#endif
