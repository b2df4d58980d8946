/* SPDX-License-Identifier: Apache-2.0 */
/* The chip's bus as a value change dump (IEEE 1364), with words on two signals as GTKWave has them.
 * The twin charges an operation a fixed time and one for each byte that moves, so what shows is:
 * bytes move, and the chip is busy. A wave viewer wants order in time, so only the window is
 * written. */
#include <inttypes.h>
#include <string.h>

#include "nandwich/error.h"
#include "timeline_internal.h"

/* Signals by the letters that stand for them in the file. */
#define READY '!'
#define MOVING '"'
#define FAILED '#'
#define OPERATION '$'
#define FOR '%'
#define REQUEST '&'
#define BLOCK '\''
#define PAGE '('
#define BYTES ')'

#define OP_BYTES 260U /* of the file for each operation, at most */

struct dump {
    FILE *file;
    uint64_t time_ns; /* told last */
};

static void at(struct dump *dump, uint64_t time_ns)
{
    if (time_ns > dump->time_ns) {
        fprintf(dump->file, "#%" PRIu64 "\n", time_ns);
        dump->time_ns = time_ns;
    }
}

static void put_number(struct dump *dump, char signal, uint64_t value)
{
    char bits[65];
    char *first = bits + sizeof bits - 1U;

    *first = '\0';
    do {
        *--first = (char)('0' + (value & 1U));
        value >>= 1;
    } while (value != 0);
    fprintf(dump->file, "b%s %c\n", first, signal);
}

static void put_head(struct dump *dump, const char *chip)
{
    char name[64];
    size_t length = strlen(chip) < sizeof name ? strlen(chip) : sizeof name - 1U;

    for (size_t i = 0; i < length; i++) { /* a blank would end the name */
        name[i] = (char)(chip[i] > ' ' && chip[i] <= '~' ? chip[i] : '_');
    }
    name[length] = '\0';
    fprintf(dump->file,
            "$version Nandwich $end\n"
            "$timescale 1 ns $end\n"
            "$scope module %s $end\n"
            "$var wire 1 %c ready $end\n"
            "$var wire 1 %c moving $end\n"
            "$var wire 1 %c failed $end\n"
            "$var string 1 %c operation $end\n"
            "$var string 1 %c for $end\n"
            "$var wire 64 %c request $end\n"
            "$var wire 32 %c block $end\n"
            "$var wire 16 %c page $end\n"
            "$var wire 16 %c bytes $end\n"
            "$upscope $end\n"
            "$enddefinitions $end\n"
            "#0\n$dumpvars\n1%c\n0%c\n0%c\nsidle %c\ns- %c\nb0 %c\nb0 %c\nb0 %c\nb0 %c\n$end\n",
            name, READY, MOVING, FAILED, OPERATION, FOR, REQUEST, BLOCK, PAGE, BYTES, READY, MOVING,
            FAILED, OPERATION, FOR, REQUEST, BLOCK, PAGE, BYTES);
}

/* How long bytes move in an operation; they do before the chip is busy, but for reads. */
static uint64_t moving_ns(const struct nw_timeline *timeline, const struct timeline_op *op)
{
    const struct nw_part_costs *costs = &timeline->costs;
    const struct nw_cost *cost = NULL;

    switch (op->verb) {
    case NW_VERB_READ: cost = &costs->read; break;
    case NW_VERB_PROGRAM: cost = &costs->program; break;
    case NW_VERB_COPY: cost = &costs->copy; break;
    case NW_VERB_BUFFER_READ: cost = &costs->buffer_read; break;
    case NW_VERB_BUFFER_WRITE: cost = &costs->buffer_write; break;
    default: return 0;
    }
    uint64_t moving = (op->bytes * cost->byte_ps + 999U) / 1000U;
    uint64_t all = op->end_ns - op->start_ns; /* less where power went */

    return moving < all ? moving : all;
}

static void put_op(struct dump *dump, const struct nw_timeline *timeline,
                   const struct timeline_op *op)
{
    static const char *const why[] = {"host", "copy", "map", "own_work"};
    uint32_t pages = timeline->chip.geometry.block_pages;
    int comes_out = op->verb == NW_VERB_READ || op->verb == NW_VERB_BUFFER_READ;
    uint64_t moving = moving_ns(timeline, op);
    uint64_t turn_ns = comes_out ? op->end_ns - moving : op->start_ns + moving;

    at(dump, op->start_ns);
    fprintf(dump->file, "0%c\ns%s %c\ns%s %c\n", FAILED, nw_verb_name(op->verb), OPERATION,
            why[op->why], FOR);
    put_number(dump, BLOCK, op->page / pages);
    put_number(dump, PAGE, op->page % pages);
    put_number(dump, BYTES, op->bytes);
    if (turn_ns > op->start_ns) {
        fprintf(dump->file, "%d%c\n%d%c\n", !comes_out, READY, !comes_out, MOVING);
    }
    if (op->end_ns > turn_ns) {
        at(dump, turn_ns);
        fprintf(dump->file, "%d%c\n%d%c\n", comes_out, READY, comes_out, MOVING);
    }
    at(dump, op->end_ns);
    fprintf(dump->file, "1%c\n0%c\n%d%c\nsidle %c\n", READY, MOVING, op->result < 0, FAILED,
            OPERATION);
}

/* Operations of the window, in their order; those that would make the file too long are counted. */
static void put_all(struct dump *dump, struct nw_timeline *timeline)
{
    uint32_t left = NW_TIMELINE_BYTES / OP_BYTES;

    for (uint32_t i = 0; i < timeline->window_count; i++) {
        const struct timeline_kept *kept = &timeline->window[i];
        uint32_t count = kept->op_count < left ? kept->op_count : left;

        timeline->counts.shown += nw_timeline_asked(&kept->request) != 0;
        timeline->counts.cut += kept->cut + kept->op_count - count;
        left -= count;
        if (count > 0) {
            at(dump, timeline->window_ops[kept->first].start_ns);
            put_number(dump, REQUEST, kept->number);
        }
        for (uint32_t op = 0; op < count; op++) {
            put_op(dump, timeline, &timeline->window_ops[kept->first + op]);
        }
    }
}

int nw_timeline_write_vcd(struct nw_timeline *timeline, const char *path, const char *chip)
{
    struct timeline_writer writer;
    struct dump dump = {0};
    int result = nw_timeline_begin_file(&writer, timeline, path);

    if (result < 0) {
        return result;
    }
    dump.file = writer.file;
    timeline->counts.shown = 0; /* no request outside of the window */
    put_head(&dump, chip);
    put_all(&dump, timeline);
    long bytes = ftell(dump.file);
    return nw_timeline_close_file(&writer, bytes > 0 ? (uint64_t)bytes : 0, NW_OK);
}
