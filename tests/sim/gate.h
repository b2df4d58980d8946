/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - a chip in front of any other one, through which a tortured layer works: it counts, cuts
 * power at an operation that changes cells, and lets requests fail as told.
 *
 * A cut strikes before, inside or after a change to come. From then on every request answers
 * NW_ERR_POWER until sim_gate_power_up(). A cut inside needs the twin below, which tears the page
 * or the block; on another chip it strikes before.
 */
#ifndef NANDWICH_SIM_GATE_H
#define NANDWICH_SIM_GATE_H

#include "nandwich-twin/nand.h"
#include "nandwich/chip.h"

/* What happens to a request that fails. */
enum sim_how {
    SIM_UNDONE, /* NW_ERR_IO, and the chip was not asked */
    SIM_DONE,   /* NW_ERR_IO, but the chip has done it */
    SIM_ECC,    /* NW_ERR_ECC: what a read brings is not to be used; a copy programs nothing */
    SIM_WRONG   /* a bit of what a read brings is wrong, and nothing tells */
};

struct sim_fault {
    uint8_t verb;   /* enum nw_nand_verb; NW_VERB_NONE: any */
    uint8_t how;    /* enum sim_how */
    uint32_t after; /* such requests still let through */
    uint32_t times; /* requests that fail then; 0: the fault is over */
};

#define SIM_FAULTS 4U
#define SIM_MOST_ASKED 50000000UL

/* What passed. A copy inside the chip counts as a read and a program. */
struct sim_counts {
    uint64_t reads;
    uint64_t programs;
    uint64_t erases;
    uint64_t others;
    uint64_t changes; /* requests that change cells, as cuts count them */
    uint64_t strikes; /* requests that failed as told */
    uint64_t cuts;    /* that struck */
    uint64_t powers;  /* times that power came back */
};

struct sim_gate {
    struct nw_chip chip; /* give this one to the layer */
    struct nw_chip_ops ops;
    struct nw_chip *below;
    struct nw_nand *nand; /* the same, or NULL */
    struct nw_cut cut;    /* `after` counts changes */
    uint8_t armed;
    uint8_t off;
    uint8_t aside; /* 1: requests of a judge pass as they are, and are not counted */
    uint64_t asked; /* requests since whoever judges set it to 0, */
    uint64_t most;  /* and how many then take power away, for the loop has no end: SIM_MOST_ASKED */
    uint8_t cut_verb; /* enum nw_nand_verb of the request that the last cut struck */
    struct sim_fault faults[SIM_FAULTS];
    uint32_t failed;  /* the block that failed last in this call, */
    uint32_t failing; /* how many have in it, one after the other, */
    uint32_t failing_most; /* and in any call */
    struct sim_counts counts;
};

/* Stacks the gate on `below`, or on the twin if `nand` is not NULL. */
void sim_gate_open(struct sim_gate *gate, struct nw_chip *below, struct nw_nand *nand);

/* The gate that this chip is, or NULL. */
struct sim_gate *sim_gate_of(const struct nw_chip *chip);

/* Arms a cut; NULL: none. */
void sim_gate_cut(struct sim_gate *gate, const struct nw_cut *cut);

/* One fault more; nothing when SIM_FAULTS wait already. */
void sim_gate_fail(struct sim_gate *gate, const struct sim_fault *fault);

/* Another call of the layer begins. */
void sim_gate_call(struct sim_gate *gate);

/* No request fails any more. */
void sim_gate_mend(struct sim_gate *gate);

/* How much of a request to something else is done that loses power with the chip: an NVM, say. */
enum sim_share { SIM_NONE, SIM_PART, SIM_ALL };

/* Such a request; `changes`: it writes, so it counts as a change, may be cut and fail by a fault of
 * any verb. Answers what it has to answer. */
int sim_gate_pass(struct sim_gate *gate, int changes, uint8_t *share);

/* Power goes at rest. */
void sim_gate_power_off(struct sim_gate *gate);

/* Power is back. A cut that is armed stays so. */
void sim_gate_power_up(struct sim_gate *gate);

#endif
