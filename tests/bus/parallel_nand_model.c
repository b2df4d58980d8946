/* SPDX-License-Identifier: Apache-2.0 */
/* NAND on an eight-bit bus, decoded. */
#include "parallel_nand_model.h"

#include <string.h>

#include "nandwich-twin/parts.h"

enum pending { NONE, RESET, READ, PROGRAM, ERASE, PARAMETERS };

#define FAILED 0x01U
#define READY 0x60U
#define WRITABLE 0x80U

static uint32_t page_bytes(const struct parallel_nand_model *model)
{
    return model->kind.small ? 512 : 2048;
}

static uint32_t spare_bytes(const struct parallel_nand_model *model)
{
    return page_bytes(model) / 32U;
}

static uint32_t block_pages(const struct parallel_nand_model *model)
{
    return model->kind.small ? 32 : 64;
}

/* Which of the chip's spare bytes lies at a place of the raw spare; -1: the mark. */
static int own_byte(const struct parallel_nand_model *model, uint32_t at)
{
    if (model->kind.small) {
        return at == 5U ? -1 : (int)(at < 5U ? at : at - 1U);
    }
    return at < 2U ? -1 : (int)(at - 2U);
}

static uint32_t mark_at(const struct parallel_nand_model *model)
{
    return model->kind.small ? 5 : 0;
}

static void read_row(struct parallel_nand_model *model)
{
    uint32_t block = model->row / block_pages(model);
    uint8_t spare[64];

    if (block >= model->kind.blocks) {
        bus_violation(&model->bus, "a row outside the part", model->row);
        return;
    }
    memset(model->cache, 0xFF, sizeof model->cache);
    nw_nand_peek(model->bus.nand, model->row, model->cache, spare);
    for (uint32_t i = 0; model->lost && i < page_bytes(model); i += 256U) {
        model->cache[i] ^= 3U;
    }
    for (uint32_t i = 0; i < spare_bytes(model); i++) {
        int own = own_byte(model, i);

        if (own >= 0) {
            model->cache[page_bytes(model) + i] = spare[own];
        }
    }
    if (nw_nand_block_bad(model->bus.nand, block) != 0 &&
        model->row % block_pages(model) == (model->mark_second ? 1U : 0U)) {
        model->cache[page_bytes(model) + mark_at(model)] = 0;
    }
}

/* What was loaded and is no FF by filling: one run of data, one of the chip's spare, or a mark. */
static int program_row(struct parallel_nand_model *model)
{
    struct nw_chip_req req = {.chip = model->bus.chip, .page = model->row};
    uint32_t bytes = page_bytes(model);
    uint8_t spare[64];
    bool gap = false;

    req.block = model->row / block_pages(model);
    req.data = model->cache;
    req.spare = spare;
    for (uint32_t i = 0; i < bytes; i++) {
        if (model->loaded[i] != 0) {
            req.offset = req.length == 0 ? (uint16_t)i : req.offset;
            gap = gap || req.offset + req.length != i;
            req.length++;
        }
    }
    req.data += req.offset;
    for (uint32_t i = 0; i < spare_bytes(model); i++) {
        int own = own_byte(model, i);

        if (model->loaded[bytes + i] == 0) {
            continue;
        }
        if (own < 0 && model->cache[bytes + i] != 0xFF) {
            return model->failing ? (int)NW_ERR_PROGRAM : nw_chip_mark_bad(&req);
        }
        if (own >= 0) {
            req.spare_offset = req.spare_length == 0 ? (uint16_t)own : req.spare_offset;
            gap = gap || req.spare_offset + req.spare_length != (uint16_t)own;
            spare[req.spare_length++] = model->cache[bytes + i];
        }
    }
    if (gap) {
        bus_violation(&model->bus, "a load with gaps", model->row);
    }
    return nw_chip_program(&req);
}

static int perform(struct bus *bus)
{
    struct parallel_nand_model *model = (struct parallel_nand_model *)bus;
    struct nw_chip_req req = {.chip = bus->chip, .block = model->row / block_pages(model)};
    int result = NW_OK;

    model->status &= (uint8_t)~FAILED;
    if (bus->pending == READ) {
        read_row(model);
    } else if (bus->pending == PROGRAM || bus->pending == ERASE) {
        if (model->protect) {
            return NW_OK;
        }
        model->failing = model->fail_next != 0 && --model->fail_next == 0;
        if (model->failing) {
            model->fail_next = model->fail_then;
            model->fail_then = 0;
            nw_nand_doom(bus->nand, req.block, bus->pending == PROGRAM);
        }
        result = bus->pending == PROGRAM ? program_row(model) : nw_chip_erase(&req);
        model->status |= (uint8_t)(result < 0 ? FAILED : 0);
    }
    return result;
}

/* Column and row of a whole address. */
static void take_address(struct parallel_nand_model *model, bool column, bool row)
{
    uint32_t columns = column ? (model->kind.small ? 1U : 2U) : 0;
    uint32_t rows = row ? model->kind.row_cycles : 0;

    if (model->cycles != columns + rows) {
        bus_violation(&model->bus, "an address of another length", model->cycles);
    }
    if (column) {
        model->column = model->address[0];
        model->column |= model->kind.small ? 0 : (uint32_t)model->address[1] << 8;
        if (model->kind.small) {
            model->column += model->pointer == 0x01 ? 256U : model->pointer == 0x50 ? 512U : 0;
        }
    }
    if (row) {
        model->row = 0;
        for (uint32_t i = rows; i > 0; i--) {
            model->row = model->row << 8 | model->address[columns + i - 1U];
        }
    }
}

static void latch_command(struct parallel_nand_model *model, uint8_t code)
{
    uint8_t before = model->code;

    if (bus_is_busy(&model->bus) && code != 0x70 && code != 0xFF) {
        bus_violation(&model->bus, "a command to a busy part", code);
    }
    if (code != 0x70) {
        model->cycles = code == 0x30 || code == 0xE0 || code == 0x10 || code == 0xD0 ? model->cycles
                                                                                      : 0;
    }
    model->code = code == 0x70 ? before : code;
    switch (code) {
    case 0x70: model->output = OUTPUT_STATUS; return;
    case 0xFF: bus_work(&model->bus, RESET, 500); model->pointer = 0; break;
    case 0x00:
        if (model->output == OUTPUT_STATUS) {
            model->output = before == 0xEC ? OUTPUT_PARAMETERS : OUTPUT_DATA;
        }
        model->pointer = 0;
        break;
    case 0x01:
    case 0x50:
        if (!model->kind.small) {
            bus_violation(&model->bus, "a pointer to a large part", code);
        }
        if (model->output == OUTPUT_STATUS && code == 0x50) {
            model->output = OUTPUT_DATA;
        }
        model->pointer = code;
        break;
    case 0x30:
        take_address(model, true, true);
        bus_work(&model->bus, READ, model->read_us);
        break;
    case 0xE0: take_address(model, true, false); break;
    case 0x80:
        memset(model->cache, 0xFF, sizeof model->cache);
        memset(model->loaded, 0, sizeof model->loaded);
        break;
    case 0x10: bus_work(&model->bus, PROGRAM, model->program_us); break;
    case 0xD0:
        take_address(model, false, true);
        bus_work(&model->bus, ERASE, model->erase_us);
        break;
    case 0x05:
    case 0x85:
        if (model->kind.small) {
            bus_violation(&model->bus, "no such command", code);
        }
        break;
    case 0x60:
    case 0x90:
    case 0xEC: break;
    default: bus_violation(&model->bus, "no such command", code); break;
    }
}

static void latch_address(struct parallel_nand_model *model, uint8_t byte)
{
    if (model->cycles >= sizeof model->address) {
        bus_violation(&model->bus, "an address too long", model->cycles);
        return;
    }
    model->address[model->cycles++] = byte;
    if (model->code == 0x90) {
        model->output = OUTPUT_ID;
        model->spot = 0;
    } else if (model->code == 0xEC) {
        model->spot = 0;
        bus_work(&model->bus, PARAMETERS, 25);
    } else if (model->kind.small && model->cycles == 1U + model->kind.row_cycles &&
               (model->code == 0x00 || model->code == 0x01 || model->code == 0x50)) {
        take_address(model, true, true);
        bus_work(&model->bus, READ, model->read_us);
    }
}

static int latch(struct nw_parallel_bus *wires, uint8_t address, const uint8_t *bytes,
                 uint8_t length)
{
    struct parallel_nand_model *model = wires->context;
    int result;

    if (!model->selected) {
        bus_violation(&model->bus, "a latch to nobody", bytes[0]);
    }
    if (!bus_transfer(&model->bus, &result)) {
        return result;
    }
    if (model->silent) {
        return result;
    }
    for (uint8_t i = 0; i < length; i++) {
        if (!bus_byte(&model->bus, 1)) {
            return NW_ERR_POWER;
        }
        if (address == 0) {
            latch_command(model, bytes[i]);
        } else {
            latch_address(model, bytes[i]);
        }
    }
    return result;
}

static int write(struct nw_parallel_bus *wires, const uint8_t *out, uint16_t length)
{
    struct parallel_nand_model *model = wires->context;
    int result;

    if (!bus_transfer(&model->bus, &result)) {
        return result;
    }
    if (model->code != 0x80 && model->code != 0x85) {
        bus_violation(&model->bus, "data to a part that takes none", model->code);
    } else if (model->cycles != 0) { /* else it goes on where it was */
        take_address(model, true, model->code == 0x80);
        model->cycles = 0;
        model->pointer = model->pointer == 0x01 ? 0 : model->pointer; /* 01h counts once */
    }
    for (uint16_t i = 0; i < length; i++) {
        if (!bus_byte(&model->bus, 1)) {
            return NW_ERR_POWER;
        }
        if (model->column >= page_bytes(model) + spare_bytes(model)) {
            bus_violation(&model->bus, "data behind the page", model->column);
            return NW_OK;
        }
        model->cache[model->column] = out != NULL ? out[i] : 0xFF;
        model->loaded[model->column++] = out != NULL;
    }
    return result;
}

static uint8_t output(struct parallel_nand_model *model)
{
    bool busy = bus_is_busy(&model->bus);

    if (model->output == OUTPUT_STATUS) {
        return (uint8_t)(model->status | (busy ? 0 : READY) | (model->protect ? 0 : WRITABLE));
    }
    if (busy) {
        bus_violation(&model->bus, "data from a busy part", model->output);
    }
    switch (model->output) {
    case OUTPUT_ID:
        if (model->address[0] == 0x20) {
            return model->kind.onfi != 0 ? (uint8_t)"ONFI"[model->spot++ & 3U] : 0xFF;
        }
        return model->kind.id[model->spot++ & 3U];
    case OUTPUT_PARAMETERS: return model->parameters[model->spot++ % sizeof model->parameters];
    case OUTPUT_DATA:
        if (model->column >= page_bytes(model) + spare_bytes(model)) {
            bus_violation(&model->bus, "data behind the page", model->column);
            return 0xFF;
        }
        return model->cache[model->column++];
    default: bus_violation(&model->bus, "data of nothing", model->output); return 0xFF;
    }
}

static int read(struct nw_parallel_bus *wires, uint8_t *in, uint16_t length)
{
    struct parallel_nand_model *model = wires->context;
    int result;

    if (!bus_transfer(&model->bus, &result)) {
        return result;
    }
    for (uint16_t i = 0; i < length; i++) {
        if (!bus_byte(&model->bus, 1)) {
            return NW_ERR_POWER;
        }
        in[i] = model->silent ? model->line : output(model);
    }
    return result;
}

static int model_select(struct nw_parallel_bus *wires, uint8_t on)
{
    struct parallel_nand_model *model = wires->context;

    if (model->bus.off) {
        model->selected = false;
        return NW_ERR_POWER;
    }
    if (on == (model->selected ? 1U : 0U)) {
        bus_violation(&model->bus, "selected twice, or deselected twice", on);
    }
    model->selected = on != 0;
    return NW_OK;
}

static int model_wait(struct nw_parallel_bus *wires, uint16_t us)
{
    struct parallel_nand_model *model = wires->context;

    return bus_wait(&model->bus, us);
}

void parallel_nand_model_power_up(struct parallel_nand_model *model)
{
    bus_power_up(&model->bus);
    model->selected = false;
    model->output = OUTPUT_NOTHING;
    model->code = 0;
    model->status = 0;
    memset(model->cache, 0xA5, sizeof model->cache);
    for (uint32_t copy = 0; copy < 3; copy++) {
        struct onfi_shape shape = model->told;

        if (shape.blocks == 0) {
            shape = (struct onfi_shape){model->kind.blocks, block_pages(model), page_bytes(model),
                                        (uint16_t)spare_bytes(model),
                                        (uint8_t)(0x20U | model->kind.row_cycles),
                                        model->kind.page_programs, 1, 0};
        }
        onfi_page_make(model->parameters + copy * 256U, &shape);
        if (copy + 1U < model->kind.onfi) {
            model->parameters[copy * 256U + 100U] ^= 4U;
        }
    }
}

void parallel_nand_model_open(struct parallel_nand_model *model,
                              const struct parallel_nand_kind *kind, uint32_t seed)
{
    static const struct nw_parallel_bus_ops ops = {model_select, latch, write, read, model_wait};
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .seed = seed, .flags = NW_NAND_FACTORY_BAD};

    memset(model, 0, sizeof *model);
    model->kind = *kind;
    model->read_us = kind->small ? 15 : 25;
    model->program_us = 200;
    model->erase_us = 2000;
    bus_require(nw_parts_get(kind->small ? "TC58DVG02A1FT00" : "K9F1G08U0A", &part) == NW_OK,
                "no such part in the table");
    part.blocks = kind->blocks;
    part.factory_bad = kind->blocks / 16U;
    part.page_programs = kind->page_programs;
    bus_require(nw_nand_open(&model->bus.nand, &config) == NW_OK, "the twin does not open");
    model->bus.chip = nw_nand_chip(model->bus.nand);
    model->bus.perform = perform;
    model->bus.cut_at = BUS_NEVER;
    model->wires = (struct nw_parallel_bus){.ops = &ops, .context = model, .byte_ns = 100};
    parallel_nand_model_power_up(model);
}

void parallel_nand_model_close(struct parallel_nand_model *model)
{
    bus_expect_clean(&model->bus);
    nw_nand_close(model->bus.nand);
}
