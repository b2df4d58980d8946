/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - plays a history on a subject, one step after the other, and judges each:
 *
 *   content  what is read is one of the values that the contract allows, and stays
 *   error    no call answers an error that nothing explains; FULL only where it is promised
 *   mount    every mount ends well, unless power or the chip fails in it
 *   cost     no call asks more of the chip than its header promises
 *   misuse   the chip is never asked for what chip.h forbids
 *   inside   after each mount and check what the subject has in RAM agrees with itself
 *   endless  no call or mount asks the chip more than SIM_MOST_ASKED times
 *   writes   beyond the budget: a mount that tells damage, as the one before did, changes nothing
 *
 * While the device is down (power is off, or its mount failed) steps other than the common ones
 * mean nothing, so that a history stays one when steps are taken out of it.
 */
#ifndef NANDWICH_SIM_MACHINE_H
#define NANDWICH_SIM_MACHINE_H

#include "nandwich/ecc.h"
#include "nandwich/oob.h"
#include "subject.h"

enum sim_judge {
    SIM_FINE,
    SIM_CONTENT,
    SIM_ERROR,
    SIM_MOUNT,
    SIM_COST,
    SIM_MISUSE,
    SIM_INSIDE,
    SIM_ENDLESS, /* this and the next are judged beyond the budget too */
    SIM_WRITES
};

/* The judge's name. */
const char *sim_judge_name(uint8_t judge);

struct sim_failure {
    uint8_t judge; /* SIM_FINE: none */
    uint32_t step; /* from 0 */
    char text[400];
};

/* A chip that is not emulated. */
struct sim_board {
    struct nw_chip *chip;
    void (*cycle)(void *context); /* takes power away and gives it back; NULL: only the program is
                                   * made to believe so */
    void *context;
};

struct sim_machine {
    struct sim_head head;
    struct sim_gate gate;
    struct sim_subject subject;
    struct nw_nand *nand; /* NULL: a board */
    struct sim_board board;
    struct nw_ecc ecc;
    void *ecc_ram;
    struct nw_oob oob;
    uint8_t *oob_tail;
    uint8_t up;
    uint8_t clean;  /* no call has failed since the mount */
    uint8_t rotten; /* a page was spoilt */
    uint8_t damaged; /* the last mount has told NW_ERR_CORRUPT */
    uint32_t marked;  /* bad blocks at the last mount */
    uint32_t retired; /* blocks that one step marked, at most, since the mount began */
    uint64_t struck; /* strikes at the last mount */
    uint32_t steps;
    uint32_t mounts;
    struct sim_failure failure;
};

/* Makes the chip, or takes the board's, and an empty device on it. NW_ERR_CONFIG: the subject does
 * not work there, NW_ERR_FULL: too many blocks are bad, NW_ERR_RAM. Close in either case. */
int sim_machine_open(struct sim_machine *machine, const struct sim_head *head,
                     const struct sim_board *board);
void sim_machine_close(struct sim_machine *machine);

/* Blocks that are bound to fail, or have and are not marked yet. */
uint32_t sim_machine_pending(const struct sim_machine *machine);

/* One step: 0, or -1 with the failure. */
int sim_machine_step(struct sim_machine *machine, const struct sim_step *step);

/* What a history came to. */
struct sim_outcome {
    struct sim_failure failure;
    uint32_t steps;
    uint32_t mounts;
    uint64_t cuts;
    uint64_t changes; /* of the chip */
};

/* Plays all of a history, or as far as it goes well. Answers NW_OK, or what stood in the way of
 * opening it. */
int sim_play(const struct sim_history *history, const struct sim_board *board,
             struct sim_outcome *outcome);

#endif
