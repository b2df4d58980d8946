/* SPDX-License-Identifier: Apache-2.0 */
#include "gate.h"

#include <stddef.h>
#include <string.h>

static const uint8_t changes_cells[] = {[NW_VERB_PROGRAM] = 1,  [NW_VERB_ERASE] = 1,
                                        [NW_VERB_MARK_BAD] = 1, [NW_VERB_COPY] = 1,
                                        [NW_VERB_HEAL] = 1};

static int ask(struct nw_chip_req *req, struct nw_chip *below, uint8_t verb)
{
    static int (*const verbs[])(struct nw_chip_req *) = {
        [NW_VERB_READ] = nw_chip_read,     [NW_VERB_PROGRAM] = nw_chip_program,
        [NW_VERB_ERASE] = nw_chip_erase,   [NW_VERB_IS_BAD] = nw_chip_is_bad,
        [NW_VERB_MARK_BAD] = nw_chip_mark_bad, [NW_VERB_COPY] = nw_chip_copy,
        [NW_VERB_HEAL] = nw_chip_heal,
    };
    struct nw_chip *own = req->chip;

    req->chip = below;
    int result = verbs[verb](req);
    req->chip = own;
    return result;
}

static void count(struct sim_counts *counts, uint8_t verb)
{
    switch (verb) {
    case NW_VERB_READ: counts->reads++; break;
    case NW_VERB_PROGRAM: counts->programs++; break;
    case NW_VERB_ERASE: counts->erases++; break;
    case NW_VERB_COPY:
        counts->reads++;
        counts->programs++;
        break;
    default: counts->others++; break;
    }
}

/* The fault that this request meets, or NULL. */
static const struct sim_fault *struck(struct sim_gate *gate, uint8_t verb)
{
    struct sim_fault *hit = NULL;

    for (uint32_t i = 0; i < SIM_FAULTS; i++) {
        struct sim_fault *fault = &gate->faults[i];

        if (fault->times == 0 || (fault->verb != NW_VERB_NONE && fault->verb != verb) ||
            (fault->how == SIM_ECC && verb != NW_VERB_READ && verb != NW_VERB_COPY) ||
            (fault->how == SIM_WRONG && verb != NW_VERB_READ)) {
            continue;
        }
        if (fault->after > 0) {
            fault->after--;
        } else if (hit == NULL) {
            hit = fault;
            fault->times--;
        }
    }
    return hit;
}

/* The change at hand is the one to be cut. */
static int cut_now(struct sim_gate *gate, struct nw_chip_req *req, uint8_t verb)
{
    int result = NW_ERR_POWER;

    gate->armed = 0;
    gate->cut_verb = verb;
    gate->counts.cuts++;
    if (gate->cut.phase == NW_CUT_INSIDE && gate->nand != NULL) {
        struct nw_cut inside = gate->cut;

        inside.after = 0;
        nw_nand_cut(gate->nand, &inside);
        result = ask(req, gate->below, verb);
        nw_nand_cut(gate->nand, NULL);
    } else if (gate->cut.phase == NW_CUT_AFTER) {
        (void)ask(req, gate->below, verb);
    }
    gate->off = 1;
    return result < 0 ? result : (int)NW_ERR_POWER;
}

/* Turns a bit of what a read has brought: which one, the number of the read tells. */
static void spoil(const struct nw_chip_req *req, uint64_t reads)
{
    uint32_t length = req->data != NULL ? req->length : 0;
    uint32_t bits = 8U * (length + req->spare_length);

    if (bits > 0) {
        uint32_t bit = (uint32_t)(reads * 2654435761U >> 4) % bits;
        uint8_t *byte = bit < 8U * length ? req->data + bit / 8U
                                          : req->spare + (bit / 8U - length);
        *byte = (uint8_t)(*byte ^ (1U << bit % 8U));
    }
}

/* Blocks that fail in this call. A block that fails again is one. */
static void note_failing(struct sim_gate *gate, uint32_t block)
{
    if (gate->failing == 0 || gate->failed != block) {
        gate->failed = block;
        gate->failing++;
    }
    if (gate->failing > gate->failing_most) {
        gate->failing_most = gate->failing;
    }
}

void sim_gate_call(struct sim_gate *gate)
{
    gate->failing = 0;
}

static int goes_on_for_ever(struct sim_gate *gate)
{
    gate->off = ++gate->asked > gate->most;
    return gate->off;
}

static int pass(struct nw_chip_req *req, uint8_t verb)
{
    struct sim_gate *gate = req->chip->context;

    if (gate->off != 0 || goes_on_for_ever(gate)) {
        return NW_ERR_POWER;
    }
    if (gate->aside != 0) {
        return ask(req, gate->below, verb);
    }
    count(&gate->counts, verb);
    const struct sim_fault *fault = struck(gate, verb);
    if (fault != NULL) {
        gate->counts.strikes++;
        if (fault->how == SIM_UNDONE) {
            return NW_ERR_IO;
        }
        if (fault->how == SIM_ECC && verb == NW_VERB_COPY) {
            return NW_ERR_ECC;
        }
    }
    if (changes_cells[verb] != 0) {
        gate->counts.changes++;
        if (gate->armed != 0 && gate->cut.after-- == 0) {
            return cut_now(gate, req, verb);
        }
    }
    int result = ask(req, gate->below, verb);
    if (result == NW_ERR_PROGRAM || result == NW_ERR_ERASE) {
        uint32_t pages = gate->chip.geometry.block_pages;
        note_failing(gate, verb == NW_VERB_ERASE     ? req->block
                           : verb == NW_VERB_PROGRAM ? req->page / pages
                                                     : req->to_page / pages);
    }
    if (fault == NULL || result < 0) {
        return result;
    }
    if (fault->how == SIM_WRONG) {
        spoil(req, gate->counts.reads);
        return result;
    }
    return fault->how == SIM_ECC ? NW_ERR_ECC : NW_ERR_IO;
}

#define GATED(verb, number)                            \
    static int gate_##verb(struct nw_chip_req *req)    \
    {                                                  \
        return pass(req, number);                      \
    }

GATED(read, NW_VERB_READ)
GATED(program, NW_VERB_PROGRAM)
GATED(erase, NW_VERB_ERASE)
GATED(is_bad, NW_VERB_IS_BAD)
GATED(mark_bad, NW_VERB_MARK_BAD)
GATED(copy, NW_VERB_COPY)
GATED(heal, NW_VERB_HEAL)

void sim_gate_open(struct sim_gate *gate, struct nw_chip *below, struct nw_nand *nand)
{
    memset(gate, 0, sizeof *gate);
    gate->below = nand != NULL ? nw_nand_chip(nand) : below;
    gate->nand = nand;
    gate->most = SIM_MOST_ASKED;
    gate->ops = (struct nw_chip_ops){.read = gate_read,
                                     .program = gate_program,
                                     .erase = gate_erase,
                                     .is_bad = gate_is_bad,
                                     .mark_bad = gate_mark_bad,
                                     .copy = gate->below->ops->copy != NULL ? gate_copy : NULL,
                                     .heal = gate->below->ops->heal != NULL ? gate_heal : NULL};
    gate->chip = (struct nw_chip){
        .ops = &gate->ops, .context = gate, .geometry = gate->below->geometry};
    gate->chip.geometry.buffers = 0;
}

struct sim_gate *sim_gate_of(const struct nw_chip *chip)
{
    return chip->ops->read == gate_read ? chip->context : NULL;
}

void sim_gate_cut(struct sim_gate *gate, const struct nw_cut *cut)
{
    gate->armed = cut != NULL;
    if (cut != NULL) {
        gate->cut = *cut;
    }
}

void sim_gate_fail(struct sim_gate *gate, const struct sim_fault *fault)
{
    for (uint32_t i = 0; i < SIM_FAULTS; i++) {
        if (gate->faults[i].times == 0) {
            gate->faults[i] = *fault;
            return;
        }
    }
}

void sim_gate_mend(struct sim_gate *gate)
{
    memset(gate->faults, 0, sizeof gate->faults);
}

int sim_gate_pass(struct sim_gate *gate, int changes, uint8_t *share)
{
    uint8_t verb = changes ? NW_VERB_BUFFER_WRITE : NW_VERB_BUFFER_READ;

    *share = SIM_NONE;
    if (gate->off != 0 || goes_on_for_ever(gate)) {
        return NW_ERR_POWER;
    }
    const struct sim_fault *fault = struck(gate, verb);
    gate->counts.strikes += fault != NULL;
    if (fault != NULL && fault->how == SIM_UNDONE) {
        return NW_ERR_IO;
    }
    gate->counts.changes += changes != 0;
    if (changes && gate->armed != 0 && gate->cut.after-- == 0) {
        static const uint8_t shares[] = {[NW_CUT_BEFORE] = SIM_NONE,
                                         [NW_CUT_INSIDE] = SIM_PART,
                                         [NW_CUT_AFTER] = SIM_ALL};

        gate->armed = 0;
        gate->off = 1;
        gate->cut_verb = verb;
        gate->counts.cuts++;
        *share = shares[gate->cut.phase];
        return NW_ERR_POWER;
    }
    *share = SIM_ALL;
    return fault != NULL ? (int)NW_ERR_IO : (int)NW_OK;
}

void sim_gate_power_off(struct sim_gate *gate)
{
    gate->off = 1;
}

void sim_gate_power_up(struct sim_gate *gate)
{
    gate->off = 0;
    gate->counts.powers++;
    if (gate->nand != NULL) {
        nw_nand_power_up(gate->nand);
    }
}
