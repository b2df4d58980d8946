/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of the chip contract: check, strike if a cut is due, act, charge. */
#include <string.h>

#include "nand_internal.h"

#define LIKELY(x) __builtin_expect((x) != 0, 1)

/* Counts the operation; NAND_RUN, NAND_CUT_INSIDE, NAND_CUT_AFTER, or NW_ERR_POWER. */
static inline int begin(struct nw_nand *nand)
{
    int phase = LIKELY(nand->operations < nand->stop_at) ? NAND_RUN : nw_nand_stopped(nand);

    nand->operations++;
    return phase;
}

/* An operation cut inside is charged half of what it would have cost. */
static int cut_short(struct nw_nand *nand, const struct nw_cost *cost, uint32_t bytes)
{
    nand->meter->time_ns += nw_cost_ns(cost, bytes) / 2U;
    nand->meter->energy_pj += nw_cost_pj(cost, bytes) / 2U;
    return nw_nand_power_off(nand);
}

static inline int finish(struct nw_nand *nand, int phase, int result)
{
    return LIKELY(phase == NAND_RUN) ? result : nw_nand_power_off(nand);
}

static int nand_read(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    uint32_t bytes = (uint32_t)req->length + req->spare_length;
    int phase = begin(nand);
    int result;

    if (phase < 0) {
        return phase;
    }
    result = nw_nand_check_read(nand, req, NW_VERB_READ);
    if (result < 0) {
        return result;
    }
    nand->stats.reads++;
    if (phase == NAND_CUT_INSIDE) {
        return cut_short(nand, &nand->costs.read, bytes);
    }
    if (req->length > 0 && req->data != NULL) {
        nw_nand_load_data(nand, req->page, req->offset, req->length, req->data);
    }
    if (req->spare_length > 0) {
        nw_nand_load_spare(nand, req->page, req->spare_offset, req->spare_length, req->spare);
    }
    if ((nand->flags & NW_NAND_BIT_ERRORS) != 0) {
        result = nw_nand_flip_bits(nand, req, req->page, true);
    }
    if (nw_nand_try_read(nand, req, req->page) < 0) {
        result = NW_ERR_ECC;
    }
    nand->stats.bytes_read += bytes;
    nw_meter_charge(nand->meter, &nand->costs.read, bytes);
    return finish(nand, phase, result);
}

/* Puts the bytes of a checked program into the page; shared by program, copy, buffer_program. */
static int put_page(struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page, int phase,
                    const struct nw_cost *cost, uint32_t bytes)
{
    uint32_t block = nand_block_of(nand, page);
    int result;

    if (phase == NAND_CUT_INSIDE) {
        result = nw_nand_tear_page(nand, req, page, cost == &nand->costs.buffer_rewrite);
        return result < 0 ? result : cut_short(nand, cost, bytes);
    }
    nw_meter_charge(nand->meter, cost, bytes);
    if (!LIKELY(nand->blocks[block].erases < nand->blocks[block].life && nand->part.rewrite == 0) &&
        nw_nand_program_dies(nand, page, block)) {
        nand->blocks[block].flags |= BLOCK_FAILED;
        nand->stats.failures++;
        result = nw_nand_tear_page(nand, req, page, false);
        return finish(nand, phase, result < 0 ? result : NW_ERR_PROGRAM);
    }
    nw_nand_store(nand, req, page);
    return finish(nand, phase, NW_OK);
}

static int nand_program(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    uint32_t bytes = (uint32_t)req->length + req->spare_length;
    int phase = begin(nand);
    int error;

    if (phase < 0) {
        return phase;
    }
    error = nw_nand_check_program(nand, req, NW_VERB_PROGRAM, req->page);
    if (error < 0) {
        return error;
    }
    nand->stats.programs++;
    nand->stats.bytes_programmed += bytes;
    return put_page(nand, req, req->page, phase, &nand->costs.program, bytes);
}

/* A DataFlash programs through a buffer: the last one, whose content is lost. */
static int buffered_program(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    int result = nand_program(req);

    if (result != NW_ERR_POWER && req->data != NULL) {
        uint32_t last = nand->chip.geometry.buffers - 1U;

        memcpy(nand->buffers + last * nand->chip.geometry.page_bytes + req->offset, req->data,
               req->length);
    }
    return result;
}

static int nand_erase(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    struct nand_block *block = &nand->blocks[req->block];
    int phase = begin(nand);
    int error;

    if (phase < 0) {
        return phase;
    }
    error = nw_nand_check_block(nand, req, NW_VERB_ERASE);
    if (error < 0) {
        return error;
    }
    nand->stats.erases++;
    if (phase == NAND_CUT_INSIDE) {
        nw_nand_tear_block(nand, req->block, nand->cut.data);
        return cut_short(nand, &nand->costs.erase, 0);
    }
    nw_meter_charge(nand->meter, &nand->costs.erase, 0);
    if ((block->flags & BLOCK_FAILED) != 0 ||
        (block->erases >= block->life && (block->flags & BLOCK_DIES_IN_PROGRAM) == 0)) {
        block->flags |= BLOCK_FAILED;
        nand->stats.failures++;
        nw_nand_tear_block(nand, req->block, NW_TORN_ANY);
        return finish(nand, phase, NW_ERR_ERASE);
    }
    nw_nand_wipe_block(nand, req->block);
    return finish(nand, phase, NW_OK);
}

/* Heat for seconds: what the block held is gone, also when the cut comes inside. */
static int nand_heal(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    struct nand_block *block = &nand->blocks[req->block];
    const struct nw_cost cost = {.fixed_ns = nand->part.heal_ns, .fixed_pj = nand->part.heal_pj};
    int phase = begin(nand);
    int error;

    if (phase < 0) {
        return phase;
    }
    if (block->heals >= nand->part.heal_limit) {
        return NW_ERR_UNSUPPORTED;
    }
    error = nw_nand_check_block(nand, req, NW_VERB_HEAL);
    if (error < 0) {
        return error;
    }
    nand->stats.heals++;
    block->flags |= BLOCK_TORN;
    block->torn = NW_TORN_ANY;
    nw_nand_unsettle_block(nand, req->block, NW_TORN_ANY);
    if (phase == NAND_CUT_INSIDE) {
        return cut_short(nand, &cost, 0);
    }
    nw_meter_charge(nand->meter, &cost, 0);
    block->heals++;
    nw_nand_gain_life(nand, req->block);
    return finish(nand, phase, NW_OK);
}

static int nand_is_bad(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    int phase = begin(nand);

    if (phase < 0) {
        return phase;
    }
    if (phase == NAND_CUT_INSIDE) {
        return cut_short(nand, &nand->costs.read, 1);
    }
    nw_meter_charge(nand->meter, &nand->costs.read, 1);
    return finish(nand, phase, (nand->blocks[req->block].flags & BLOCK_BAD) != 0 ? 1 : 0);
}

static int nand_mark_bad(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    int phase = begin(nand);

    if (phase < 0) {
        return phase;
    }
    /* Cut inside: marked or not, by the drawn or the given outcome. */
    if (phase == NAND_CUT_INSIDE) {
        bool marks = nand->cut.data == NW_TORN_ANY
                         ? (nand_key(nand, req->block, nand->operations, 9U) & 1U) != 0
                         : nand->cut.data == NW_TORN_NEW;

        if (marks && (nand->blocks[req->block].flags & BLOCK_UNMARKED) == 0) {
            nand->blocks[req->block].flags |= BLOCK_BAD;
        }
        return cut_short(nand, &nand->costs.program, 1);
    }
    nw_meter_charge(nand->meter, &nand->costs.program, 1);
    if ((nand->blocks[req->block].flags & BLOCK_UNMARKED) != 0) {
        return finish(nand, phase, NW_ERR_PROGRAM);
    }
    nand->blocks[req->block].flags |= BLOCK_BAD;
    return finish(nand, phase, NW_OK);
}

/* A chip that checks the source finds that it cannot be read, and programs nothing. */
static int refuse_copy(struct nw_nand *nand, int phase)
{
    nand->stats.copies++;
    if (phase == NAND_CUT_INSIDE) {
        return cut_short(nand, &nand->costs.read, 0);
    }
    nw_meter_charge(nand->meter, &nand->costs.read, 0);
    return finish(nand, phase, NW_ERR_ECC);
}

static int nand_copy(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    uint16_t page_bytes = nand->chip.geometry.page_bytes;
    struct nw_chip_req whole = *req;
    int phase = begin(nand);
    int error;

    if (phase < 0) {
        return phase;
    }
    whole.offset = 0;
    whole.length = page_bytes;
    whole.data = NULL;
    error = nw_nand_check_read(nand, &whole, NW_VERB_COPY);
    if (error == NW_OK) {
        whole.spare_length = 0; /* the new one of the target: not read */
        if (nw_nand_try_read(nand, &whole, req->page) < 0) {
            return refuse_copy(nand, phase);
        }
        whole.spare_length = req->spare_length;
        error = nw_nand_check_program(nand, &whole, NW_VERB_COPY, req->to_page);
    }
    if (error < 0) {
        return error;
    }
    if ((nand->flags & NW_NAND_NO_PAYLOAD) == 0 ||
        (nand->pages[req->page].flags & PAGE_PAYLOAD) != 0) {
        struct nw_chip_req raw = whole;

        whole.data = nand->scratch;
        nw_nand_load_data(nand, req->page, 0, page_bytes, whole.data);
        if ((nand->flags & NW_NAND_BIT_ERRORS) != 0) {
            raw.data = whole.data;
            raw.spare_length = 0;
            (void)nw_nand_flip_bits(nand, &raw, req->page, false); /* raw: cannot fail */
        }
    }
    nand->stats.copies++;
    nand->stats.bytes_programmed += req->spare_length;
    return put_page(nand, &whole, req->to_page, phase, &nand->costs.copy, req->spare_length);
}

static uint8_t *buffer_at(const struct nw_nand *nand, const struct nw_chip_req *req)
{
    return nand->buffers + (uint32_t)req->buffer * nand->chip.geometry.page_bytes;
}

static int nand_buffer_load(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    struct nw_chip_req whole = *req;
    int phase = begin(nand);
    int result;

    if (phase < 0) {
        return phase;
    }
    whole.offset = 0;
    whole.length = nand->chip.geometry.page_bytes;
    whole.spare_length = 0;
    whole.data = buffer_at(nand, req);
    result = nw_nand_check_read(nand, &whole, NW_VERB_BUFFER_LOAD);
    if (result < 0) {
        return result;
    }
    nand->stats.buffer_loads++;
    if (phase == NAND_CUT_INSIDE) {
        return cut_short(nand, &nand->costs.buffer_load, 0);
    }
    nw_nand_load_data(nand, req->page, 0, whole.length, whole.data);
    if ((nand->flags & NW_NAND_BIT_ERRORS) != 0) {
        result = nw_nand_flip_bits(nand, &whole, req->page, true);
    }
    if (nw_nand_try_read(nand, &whole, req->page) < 0) {
        result = NW_ERR_ECC;
    }
    nw_meter_charge(nand->meter, &nand->costs.buffer_load, 0);
    return finish(nand, phase, result);
}

static int nand_buffer_read(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    int phase = begin(nand);

    if (phase < 0) {
        return phase;
    }
    nand->stats.buffer_reads++;
    if (phase == NAND_CUT_INSIDE) {
        return cut_short(nand, &nand->costs.buffer_read, req->length);
    }
    if (req->data != NULL) {
        memcpy(req->data, buffer_at(nand, req) + req->offset, req->length);
    }
    nand->stats.bytes_read += req->length;
    nw_meter_charge(nand->meter, &nand->costs.buffer_read, req->length);
    return finish(nand, phase, NW_OK);
}

static int nand_buffer_write(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    int phase = begin(nand);

    if (phase < 0) {
        return phase;
    }
    nand->stats.buffer_writes++;
    if (phase == NAND_CUT_INSIDE) {
        return cut_short(nand, &nand->costs.buffer_write, req->length);
    }
    if (req->data != NULL) {
        memcpy(buffer_at(nand, req) + req->offset, req->data, req->length);
    }
    nand->stats.bytes_programmed += req->length;
    nw_meter_charge(nand->meter, &nand->costs.buffer_write, req->length);
    return finish(nand, phase, NW_OK);
}

static int nand_buffer_program(struct nw_chip_req *req)
{
    struct nw_nand *nand = nand_of(req);
    const struct nw_cost *cost = &nand->costs.buffer_program;
    struct nw_chip_req whole = *req;
    int phase = begin(nand);
    int error;

    if (phase < 0) {
        return phase;
    }
    whole.offset = 0;
    whole.length = nand->chip.geometry.page_bytes;
    whole.spare_length = 0;
    whole.data = buffer_at(nand, req);
    if (nand->part.rewrite != 0 && nand->pages[req->page].programs > 0 &&
        (nand->blocks[nand_block_of(nand, req->page)].flags & (BLOCK_BAD | BLOCK_TORN)) == 0) {
        nw_nand_wipe_page(nand, req->page);
        cost = &nand->costs.buffer_rewrite;
    }
    error = nw_nand_check_program(nand, &whole, NW_VERB_BUFFER_PROGRAM, req->page);
    if (error < 0) {
        return error;
    }
    nand->stats.buffer_programs++;
    if (cost == &nand->costs.buffer_rewrite) {
        nand->stats.buffer_rewrites++;
    }
    return put_page(nand, &whole, req->page, phase, cost, 0);
}

const struct nw_chip_ops nw_nand_plain_ops = {
    .read = nand_read,
    .program = nand_program,
    .erase = nand_erase,
    .is_bad = nand_is_bad,
    .mark_bad = nand_mark_bad,
    .heal = nand_heal,
};

const struct nw_chip_ops nw_nand_copy_ops = {
    .read = nand_read,
    .program = nand_program,
    .erase = nand_erase,
    .is_bad = nand_is_bad,
    .mark_bad = nand_mark_bad,
    .heal = nand_heal,
    .copy = nand_copy,
};

const struct nw_chip_ops nw_nand_buffer_ops = {
    .read = nand_read,
    .program = buffered_program,
    .erase = nand_erase,
    .is_bad = nand_is_bad,
    .mark_bad = nand_mark_bad,
    .heal = nand_heal,
    .buffer_load = nand_buffer_load,
    .buffer_read = nand_buffer_read,
    .buffer_write = nand_buffer_write,
    .buffer_program = nand_buffer_program,
};
