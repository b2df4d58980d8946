/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swarm.h - histories at random: from a seed each run draws its own subset of verbs and weights, a
 * small variant of a part, a configuration, which places it uses and how, and plays that on a
 * machine while it draws, so that steps suit the state. The same seed and wish give the same
 * history everywhere.
 *
 * Source of the idea: Groce, Zhang, Eide, Chen, Regehr, "Swarm testing", ISSTA 2012: leaving
 * features out of a run finds what runs with all of them hide.
 *
 * A plan, what is drawn before the first step, stays within what has to be borne; few go beyond and
 * say so (`beyond` in the head). Of these only crashes, endless steps and writes to a device known
 * to be damaged are judged. What is within, by the clauses F1 to F6 of docs/faults.md, is a table
 * in swarm.c.
 */
#ifndef NANDWICH_SIM_SWARM_H
#define NANDWICH_SIM_SWARM_H

#include "machine.h"

/* What is not left to the seed. */
struct sim_wish {
    const struct sim_kind *kind;
    const struct nw_part *part;    /* pages stay as they are there; NULL: small ones are drawn */
    const char *base;              /* its name in the table of parts, or "" */
    struct sim_head head;          /* settings that are not 0 stay */
    uint32_t blocks;               /* of the part; 0: few are drawn */
    uint32_t steps;                /* at most, start and end included; 0: drawn, some 100 */
    const struct sim_board *board; /* a chip that is not emulated; NULL */
    int stable;                    /* 1: what a cut leaves is drawn at power-up, not at each read */
};

/* A machine with a chip and a configuration at random. NW_ERR_CONFIG: none was found that the
 * subject works with; NW_ERR_RAM. Close it when that went well. */
int sim_swarm_open(const struct sim_wish *wish, struct nw_random *random,
                   struct sim_machine *machine);

/* Plays the run of that seed into `history`, which is empty before. NW_OK, whatever the outcome;
 * NW_ERR_CONFIG: no configuration was found that the subject works with. */
int sim_swarm(const struct sim_wish *wish, uint32_t seed, struct sim_history *history,
              struct sim_outcome *outcome);

#endif
