/* SPDX-License-Identifier: Apache-2.0 */
/* A part as it was measured, as text: without printf, for a board has none to spare. */
#include "nandwich/check.h"

#include <string.h>

#define LINE_BYTES 64U

/* A line under way. */
struct line {
    const struct nw_check *check;
    void (*put)(void *context, const char *line);
    void *context;
    char text[LINE_BYTES];
    uint8_t length;
};

static void word(struct line *line, const char *text)
{
    while (*text != '\0' && line->length < LINE_BYTES - 1U) {
        line->text[line->length++] = *text++;
    }
}

static void number(struct line *line, uint32_t value)
{
    char digits[10];
    uint8_t count = 0;

    do {
        digits[count++] = (char)('0' + value % 10U);
        value /= 10U;
    } while (value > 0);
    while (count > 0 && line->length < LINE_BYTES - 1U) {
        line->text[line->length++] = digits[--count];
    }
}

static void end(struct line *line)
{
    line->text[line->length] = '\0';
    line->put(line->context, line->text);
    line->length = 0;
}

static void plain(struct line *line, const char *text)
{
    word(line, text);
    end(line);
}

static void count(struct line *line, const char *key, uint32_t value)
{
    word(line, key);
    word(line, " = ");
    number(line, value);
    end(line);
}

static void quantity(struct line *line, const char *key, uint32_t value, const char *unit)
{
    word(line, key);
    word(line, " = \"");
    number(line, value);
    word(line, unit);
    plain(line, "\"");
}

static void flag(struct line *line, const char *key, uint8_t value)
{
    word(line, key);
    plain(line, value != 0 ? " = true" : " = false");
}

static uint32_t mean_us(const struct nw_check_time *time)
{
    return time->count == 0 ? 0 : (time->sum_us + time->count / 2U) / time->count;
}

/* What a byte of a page takes, in ns, by what a read of one byte takes less. */
static uint32_t byte_ns(const struct nw_check *check, uint32_t bytes)
{
    uint32_t whole = mean_us(&check->read);
    uint32_t one = mean_us(&check->read_one);

    return whole <= one || bytes < 2U ? 0 : (whole - one) * 1000U / (bytes - 1U);
}

/* Mean time of a verb less what its bytes take. */
static void cost(struct line *line, const char *table, const struct nw_check_time *time,
                 uint32_t bytes)
{
    uint32_t each = bytes > 0 ? byte_ns(line->check, bytes) : 0;
    uint32_t moved = each * bytes / 1000U;
    uint32_t mean = mean_us(time);

    if (time->count == 0) {
        return;
    }
    plain(line, "");
    plain(line, table);
    quantity(line, "time", mean > moved ? mean - moved : mean, " us");
    if (each > 0) {
        quantity(line, "byte_time", each, " ns");
    }
}

static const char *kind(const struct nw_geometry *geometry)
{
    if (geometry->buffers > 0) {
        return "kind = \"dataflash\"";
    }
    return geometry->spare_bytes == 0 && (geometry->flags & NW_CHIP_READ_ERASED) != 0
               ? "kind = \"nor\""
               : "kind = \"nand\"";
}

void nw_check_text(const struct nw_check *check, void (*put)(void *context, const char *line),
                   void *context)
{
    const struct nw_geometry *geometry = &check->chip->geometry;
    uint32_t bytes = (uint32_t)geometry->page_bytes + geometry->spare_bytes;
    struct line line = {.check = check, .put = put, .context = context};

    plain(&line, "name = \"MEASURED\"");
    plain(&line, "note = \"a part on its board, by nw_chip_check\"");
    plain(&line, "sources = \"nw_chip_check on the board\"");
    plain(&line, kind(geometry));
    count(&line, "blocks", geometry->blocks);
    count(&line, "block_pages", geometry->block_pages);
    quantity(&line, "page_bytes", geometry->page_bytes, " B");
    quantity(&line, "spare_bytes", geometry->spare_bytes, " B");
    quantity(&line, "program_bytes", geometry->program_bytes, " B");
    if (geometry->page_programs == NW_PROGRAMS_UNLIMITED) {
        plain(&line, "page_programs = \"unlimited\"");
    } else {
        count(&line, "page_programs", geometry->page_programs);
    }
    count(&line, "erased", geometry->erased);
    count(&line, "buffers", geometry->buffers);
    flag(&line, "in_order", geometry->flags & NW_CHIP_IN_ORDER);
    flag(&line, "read_erased", geometry->flags & NW_CHIP_READ_ERASED);
    flag(&line, "rewrite", geometry->flags & NW_CHIP_REWRITE);
    flag(&line, "copy", check->chip->ops->copy != NULL);
    count(&line, "endurance", geometry->endurance);
    count(&line, "factory_bad", check->bad_blocks);
    cost(&line, "[read]", &check->read, bytes);
    cost(&line, "[program]", &check->program, bytes);
    cost(&line, "[erase]", &check->erase, 0);
}
