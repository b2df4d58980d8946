/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sim_judge_name(uint8_t judge)
{
    static const char *const names[] = {"fine", "content", "error", "mount",
                                        "cost", "misuse",  "inside", "endless", "writes"};

    return names[judge];
}

/* The step has failed: -1. Beyond the budget most judges say nothing: 0. */
__attribute__((format(printf, 3, 4))) static int fail(struct sim_machine *machine, uint8_t judge,
                                                      const char *format, ...)
{
    struct sim_failure *failure = &machine->failure;
    va_list arguments;

    if (machine->head.beyond != 0 && judge < SIM_ENDLESS) {
        machine->subject.why[0] = '\0';
        return 0;
    }
    failure->judge = judge;
    failure->step = machine->steps;
    va_start(arguments, format);
    (void)vsnprintf(failure->text, sizeof failure->text, format, arguments);
    va_end(arguments);
    return -1;
}

/* Blocks */

/* Blocks of the subject's chip: with the oob filter one for many of the part's. */
static uint32_t count_blocks(const struct sim_machine *machine, int failed)
{
    uint32_t join = machine->head.oob != 0 ? machine->head.join : 1U;
    uint32_t last = UINT32_MAX;
    uint32_t count = 0;

    for (uint32_t i = 0; machine->nand != NULL && i < machine->gate.chip.geometry.blocks; i++) {
        int is_out = nw_nand_block_bad(machine->nand, i) != 0 ||
                     (failed && nw_nand_block_failed(machine->nand, i) != 0);

        if (is_out && i / join != last) {
            last = i / join;
            count++;
        }
    }
    return count;
}

uint32_t sim_machine_pending(const struct sim_machine *machine)
{
    return count_blocks(machine, 1) - count_blocks(machine, 0);
}

/* How many blocks one step has marked, at most, since the mount began. `marked`: bad blocks before
 * this step or mount. */
static void note_retired(struct sim_machine *machine, uint32_t marked)
{
    uint32_t retired = count_blocks(machine, 0) - marked;

    machine->retired = retired > machine->retired ? retired : machine->retired;
}

static int may_fill(const struct sim_machine *machine)
{
    struct sim_strain strain = {.bad = count_blocks(machine, 1)};

    strain.retired = machine->retired;
    strain.failing = machine->gate.failing_most;
    strain.strikes = (uint32_t)(machine->gate.counts.strikes - machine->struck);
    return machine->subject.kind->may_fill(&machine->subject, &strain);
}

/* Errors */

/* Is there a reason for the error of this call, in which `strikes` requests failed as told? */
static int explained(const struct sim_machine *machine, int error, uint64_t strikes)
{
    if (machine->gate.off != 0) {
        return 1;
    }
    switch (error) {
    case NW_ERR_IO:
        return strikes > 0 || (machine->subject.broken == error &&
                               machine->gate.counts.strikes > machine->struck);
    case NW_ERR_FULL: return may_fill(machine);
    case NW_ERR_PROGRAM:
    case NW_ERR_ERASE: /* two failures in one call, told or of worn blocks: either is answered */
        if (machine->subject.kind->mount == NULL) {
            return machine->gate.failing > 1U;
        }
        return machine->retired > 1U ||
               count_blocks(machine, 1) > machine->marked + (strikes > 0 ? 0U : 1U) ||
               (machine->subject.broken == error && may_fill(machine));
    case NW_ERR_ECC:
    case NW_ERR_CORRUPT: return machine->rotten != 0 && machine->clean == 0;
    default: return 0;
    }
}

static int judge_chip(struct sim_machine *machine)
{
    char text[300];

    if (machine->nand == NULL || nw_nand_misuse(machine->nand)->error == 0) {
        return 0;
    }
    (void)nw_misuse_text(nw_nand_misuse(machine->nand), text, sizeof text);
    return fail(machine, SIM_MISUSE, "%s", text);
}

/* What the subject says it read. Without power nothing can be read: the next mount shows it. */
static int judge_content(struct sim_machine *machine)
{
    struct sim_subject *subject = &machine->subject;

    if (machine->gate.off != 0) {
        subject->why[0] = '\0';
    }
    return subject->why[0] == '\0' ? 0 : fail(machine, SIM_CONTENT, "%s", subject->why);
}

/* Between two calls what is in RAM agrees with itself. What is asked for that is no request of the
 * subject, and no fault hits it. */
static int audit(struct sim_machine *machine)
{
    struct sim_subject *subject = &machine->subject;
    uint32_t where = 0;

    if (machine->up == 0 || subject->kind->audit == NULL) {
        return 0;
    }
    machine->gate.aside = 1;
    int result = subject->kind->audit(subject, &where);
    machine->gate.aside = 0;
    return result >= 0 ? 0
                       : fail(machine, SIM_INSIDE, "what it has in RAM is wrong at %lu: %s",
                              (unsigned long)where, nw_error_text(result));
}

/* Costs */

/* What a call or mount has cost. */
static int judge_cost(struct sim_machine *machine, const struct sim_counts *before,
                      const struct sim_most *most)
{
    const struct sim_counts *now = &machine->gate.counts;
    const struct nw_geometry *chip = &machine->gate.chip.geometry;
    uint64_t reads = now->reads - before->reads;
    uint64_t programs = now->programs - before->programs;
    uint64_t erases = now->erases - before->erases;
    uint64_t busy_us = reads * chip->read_us + programs * chip->program_us +
                       erases * chip->erase_us;

    int is_within = reads <= most->reads && programs <= most->programs &&
                    erases <= most->erases && busy_us <= most->busy_us;

    if (machine->subject.chip != &machine->gate.chip || is_within) {
        return 0;
    }
    return fail(machine, SIM_COST,
                "this takes %llu reads, %llu programs, %llu erases, %llu us: more than the "
                "header promises",
                (unsigned long long)reads, (unsigned long long)programs,
                (unsigned long long)erases, (unsigned long long)busy_us);
}

/* Mounts */

/* A device whose damage a mount has told is not written to any more by the next that tells it. */
static int judge_damage(struct sim_machine *machine, int result, uint64_t changes)
{
    int known = machine->damaged;

    machine->damaged = result == NW_ERR_CORRUPT;
    return machine->head.beyond == 0 || known == 0 || machine->damaged == 0 || changes == 0
               ? 0
               : fail(machine, SIM_WRITES, "%llu changes in a mount that tells known damage",
                      (unsigned long long)changes);
}

static int mount(struct sim_machine *machine)
{
    struct sim_subject *subject = &machine->subject;
    struct sim_counts before = machine->gate.counts;

    machine->up = 0;
    machine->clean = 1;
    machine->mounts++;
    machine->gate.asked = 0;
    machine->struck = before.strikes;
    machine->retired = 0;
    machine->gate.failing_most = 0;
    sim_gate_call(&machine->gate);
    uint32_t marked = count_blocks(machine, 0);
    int result = subject->kind->mount != NULL ? subject->kind->mount(subject)
                                              : subject->kind->format(subject);
    note_retired(machine, marked);
    machine->marked = count_blocks(machine, 0);
    if (judge_content(machine) < 0 ||
        judge_damage(machine, result, machine->gate.counts.changes - before.changes) < 0) {
        return -1;
    }
    if (subject->kind->bounded) {
        struct sim_most most = subject->kind->most(subject, NULL, 1);

        if (judge_cost(machine, &before, &most) < 0) {
            return -1;
        }
    }
    if (result >= 0) {
        machine->up = machine->gate.off == 0;
        return audit(machine);
    }
    return explained(machine, result, machine->gate.counts.strikes - before.strikes)
               ? 0
               : fail(machine, SIM_MOUNT, "the mount answers: %s", nw_error_text(result));
}

static int plug(struct sim_machine *machine)
{
    sim_gate_power_off(&machine->gate);
    if (machine->board.cycle != NULL) {
        machine->board.cycle(machine->board.context);
    }
    sim_gate_power_up(&machine->gate);
    return mount(machine);
}

static int reset(struct sim_machine *machine)
{
    return machine->gate.off != 0 ? plug(machine) : mount(machine);
}

static int mounts(struct sim_machine *machine, uint32_t count)
{
    int result = 0;

    for (uint32_t i = 0; i < count && result == 0; i++) {
        result = plug(machine);
        result = result == 0 ? judge_chip(machine) : result;
    }
    return result;
}

/* Calls */

/* What came of a call of the subject. */
static int judge_call(struct sim_machine *machine, int result, uint64_t strikes)
{
    if (judge_content(machine) < 0) {
        return -1;
    }
    if (machine->gate.off != 0) {
        machine->up = 0;
    }
    if (result >= 0 || explained(machine, result, strikes)) {
        machine->clean &= result >= 0;
        return 0;
    }
    return fail(machine, SIM_ERROR, "the call answers: %s", nw_error_text(result));
}

static int check(struct sim_machine *machine)
{
    uint64_t strikes = machine->gate.counts.strikes;

    if (machine->up == 0) {
        return 0;
    }
    int result = machine->subject.kind->check(&machine->subject);
    result = judge_call(machine, result, machine->gate.counts.strikes - strikes);
    return result < 0 ? result : audit(machine);
}

static int call(struct sim_machine *machine, const struct sim_step *step)
{
    struct sim_subject *subject = &machine->subject;
    struct sim_counts before = machine->gate.counts;
    uint32_t marked = count_blocks(machine, 0);

    if (machine->up == 0) {
        return 0;
    }
    machine->rotten |= sim_verb_of(subject->kind, step->verb)->twin;
    struct sim_most most = subject->kind->most(subject, step, machine->clean);
    sim_gate_call(&machine->gate);
    int result = subject->kind->run(subject, step);
    note_retired(machine, marked);
    uint64_t strikes = machine->gate.counts.strikes - before.strikes;
    if (judge_call(machine, result, strikes) < 0) {
        return -1;
    }
    int failed = result < 0 || strikes > 0 || machine->marked != count_blocks(machine, 1);

    return failed && !subject->kind->bounded ? 0 : judge_cost(machine, &before, &most);
}

/* Common steps */

static void arm_cut(struct sim_machine *machine, const struct sim_step *step)
{
    struct nw_cut cut = {.after = step->args[0],
                         .phase = (uint8_t)step->args[1],
                         .data = (uint8_t)step->args[2],
                         .spare = (uint8_t)step->args[3]};

    sim_gate_cut(&machine->gate, &cut);
}

static void arm_fault(struct sim_machine *machine, const struct sim_step *step)
{
    struct sim_fault fault = {.verb = (uint8_t)step->args[0],
                              .after = step->args[1],
                              .how = (uint8_t)step->args[2],
                              .times = step->args[3]};

    int again = fault.how == SIM_ECC || fault.how == SIM_WRONG;

    if (again && machine->subject.kind->reads_again < (fault.how == SIM_ECC ? 1U : 2U)) {
        return;
    }
    /* What fails once is read again: two at once would be more than is promised. */
    for (uint32_t i = 0; again && i < SIM_FAULTS; i++) {
        if (machine->gate.faults[i].how >= SIM_ECC && machine->gate.faults[i].times != 0) {
            return;
        }
    }
    if (again && fault.times > 1U) {
        fault.times = 1;
    }
    sim_gate_fail(&machine->gate, &fault);
}

static int common(struct sim_machine *machine, const struct sim_step *step)
{
    uint32_t blocks = machine->gate.chip.geometry.blocks;
    uint32_t pages = blocks * machine->gate.chip.geometry.block_pages;
    uint32_t bits = 8U * ((uint32_t)machine->gate.chip.geometry.page_bytes +
                          machine->gate.chip.geometry.spare_bytes);

    switch (step->verb) {
    case SIM_PLUG: return plug(machine);
    case SIM_RESET: return reset(machine);
    case SIM_MOUNTS: return mounts(machine, step->args[0]);
    case SIM_CHECK: return check(machine);
    case SIM_CUT: arm_cut(machine, step); return 0;
    case SIM_FAIL: arm_fault(machine, step); return 0;
    case SIM_MEND:
        sim_gate_mend(&machine->gate);
        sim_gate_cut(&machine->gate, NULL);
        return 0;
    case SIM_DOOM:
        nw_nand_doom(machine->nand, step->args[0] % blocks, (int)(step->args[1] & 1U));
        if (step->args[1] > 1U && machine->subject.kind->marks_fail != 0) {
            nw_nand_doom_marks(machine->nand, step->args[0] % blocks);
        }
        return 0;
    default: nw_nand_flip(machine->nand, step->args[0] % pages, step->args[1] % bits); return 0;
    }
}

int sim_machine_step(struct sim_machine *machine, const struct sim_step *step)
{
    int result;

    machine->gate.asked = 0;
    if (machine->nand == NULL && sim_verb_of(machine->subject.kind, step->verb)->twin != 0) {
        result = 0;
    } else {
        result = step->verb < SIM_COMMON ? common(machine, step) : call(machine, step);
    }
    if (judge_chip(machine) < 0) { /* whatever came of it, this comes first */
        result = -1;
    }
    if (machine->gate.asked > machine->gate.most) {
        result = fail(machine, SIM_ENDLESS, "the step asks the chip more than %lu times",
                      (unsigned long)machine->gate.most);
    }
    machine->steps++;
    return result;
}

/* Opening */

static int open_nand(struct sim_machine *machine)
{
    const struct sim_head *head = &machine->head;
    struct nw_nand_config config = {
        .part = &head->part,
        .seed = head->seed,
        .flags = (head->unerased != 0 ? NW_NAND_UNERASED : 0U) |
                 (head->wears != 0 ? NW_NAND_WEAR_OUT : 0U) |
                 (head->factory_bad != 0 ? NW_NAND_FACTORY_BAD : 0U) |
                 (head->unstable != 0 ? NW_NAND_UNSTABLE : 0U)};
    int result = nw_nand_open(&machine->nand, &config);

    for (uint32_t i = 0; result == NW_OK && head->worn != 0 && i < head->part.blocks; i++) {
        nw_nand_set_erases(machine->nand, i, head->worn);
    }
    return result;
}

static int open_ecc(struct sim_machine *machine)
{
    struct nw_ecc_config config = {.parts = (uint8_t)machine->head.ecc};
    size_t bytes = nw_ecc_ram_bytes(&config, &machine->gate.chip.geometry);

    machine->ecc_ram = bytes != 0 ? calloc(1, bytes) : NULL;
    if (machine->ecc_ram == NULL) {
        return bytes != 0 ? NW_ERR_RAM : NW_ERR_CONFIG;
    }
    return nw_ecc_open(&machine->ecc, &machine->gate.chip, &config, machine->ecc_ram, bytes);
}

static int open_oob(struct sim_machine *machine)
{
    struct nw_chip *below = &machine->gate.chip;
    uint16_t bytes = below->geometry.page_bytes;

    if (below->geometry.program_bytes == bytes) {
        machine->oob_tail = malloc(bytes);
        if (machine->oob_tail == NULL) {
            return NW_ERR_RAM;
        }
    }
    return nw_oob_open(&machine->oob, below, (uint16_t)machine->head.oob,
                       (uint16_t)machine->head.join, machine->oob_tail);
}

int sim_machine_open(struct sim_machine *machine, const struct sim_head *head,
                     const struct sim_board *board)
{
    struct sim_subject *subject = &machine->subject;
    int result = NW_OK;

    memset(machine, 0, sizeof *machine);
    machine->head = *head;
    if (board != NULL) {
        machine->board = *board;
    } else {
        result = open_nand(machine);
    }
    if (result < 0) {
        return result;
    }
    sim_gate_open(&machine->gate, machine->board.chip, machine->nand);
    subject->kind = head->kind;
    subject->head = &machine->head;
    subject->nand = machine->nand;
    subject->chip = &machine->gate.chip;
    subject->gate = &machine->gate;
    if (head->ecc != 0) {
        result = open_ecc(machine);
        subject->chip = &machine->ecc.chip;
    }
    if (head->oob != 0 && result == NW_OK) {
        machine->gate.ops.mark_bad = NULL; /* as of parts without spare bytes */
        result = open_oob(machine);
        subject->chip = &machine->oob.chip;
    }
    result = result < 0 ? result : head->kind->open(subject);
    result = result < 0 ? result : head->kind->format(subject);
    machine->up = 1;
    machine->clean = 1;
    machine->marked = count_blocks(machine, 0);
    return result < 0 ? result : NW_OK;
}

void sim_machine_close(struct sim_machine *machine)
{
    if (machine->subject.own != NULL) {
        machine->subject.kind->close(&machine->subject);
    }
    nw_nand_close(machine->nand);
    free(machine->ecc_ram);
    free(machine->oob_tail);
    memset(machine, 0, sizeof *machine);
}

int sim_play(const struct sim_history *history, const struct sim_board *board,
             struct sim_outcome *outcome)
{
    struct sim_machine machine;
    int result = sim_machine_open(&machine, &history->head, board);

    memset(outcome, 0, sizeof *outcome);
    for (uint32_t i = 0; result == NW_OK && i < history->count; i++) {
        if (sim_machine_step(&machine, &history->steps[i]) < 0) {
            break;
        }
    }
    outcome->failure = machine.failure;
    outcome->steps = machine.steps;
    outcome->mounts = machine.mounts;
    outcome->cuts = machine.gate.counts.cuts;
    outcome->changes = machine.gate.counts.changes;
    sim_machine_close(&machine);
    return result;
}
