/* SPDX-License-Identifier: Apache-2.0 */
/* The field list of a part, and what makes a description whole. */
#include "nandwich-twin/part.h"

#include <stddef.h>
#include <string.h>

static const char *const kinds[] = { "nand", "nor", "dataflash", "sdcard", "nvm", NULL };

#define MOST_NS 3600000000000U
#define MOST_PJ 1000000000000000U

#define ROOM(member) ((uint8_t)sizeof(((struct nw_part *)0)->member))
#define FIELD(key, member, kind, least, most, help) \
    { key, help, (uint16_t)offsetof(struct nw_part, member), ROOM(member), kind, least, most, NULL }
#define FLAG(key, member, help) FIELD(key, member, NW_FIELD_FLAG, 0, 1, help)

#define COST(key, member, what)                                                            \
    FIELD(key ".time", member.fixed_ns, NW_FIELD_NS, 0, MOST_NS, what ": time a call"),    \
    FIELD(key ".byte_time", member.byte_ps, NW_FIELD_PS, 0, MOST_NS, what ": time a byte"), \
    FIELD(key ".energy", member.fixed_pj, NW_FIELD_PJ, 0, MOST_PJ, what ": energy a call"), \
    FIELD(key ".byte_energy", member.byte_pj, NW_FIELD_PJ, 0, MOST_PJ, what ": energy a byte")

#define COSTS(prefix, member)                                                    \
    COST(prefix "read", member.read, "read"),                                    \
    COST(prefix "program", member.program, "program"),                           \
    COST(prefix "erase", member.erase, "block erase"),                           \
    COST(prefix "copy", member.copy, "copy inside the chip"),                    \
    COST(prefix "buffer_load", member.buffer_load, "page to chip buffer"),       \
    COST(prefix "buffer_read", member.buffer_read, "chip buffer to host"),       \
    COST(prefix "buffer_write", member.buffer_write, "host to chip buffer"),     \
    COST(prefix "buffer_program", member.buffer_program, "chip buffer to page"), \
    COST(prefix "buffer_rewrite", member.buffer_rewrite, "page erase, then chip buffer to page")

static const struct nw_field fields[] = {
    FIELD("name", name, NW_FIELD_TEXT, 0, 0, "part number or name"),
    FIELD("note", note, NW_FIELD_TEXT, 0, 0, "what it is"),
    { "kind", "which model opens it", (uint16_t)offsetof(struct nw_part, kind), 1, NW_FIELD_CHOICE,
      0, 4, kinds },
    FIELD("blocks", blocks, NW_FIELD_COUNT, 1, UINT32_MAX, "erase blocks"),
    FIELD("block_pages", block_pages, NW_FIELD_COUNT, 1, UINT16_MAX, "pages a block"),
    FIELD("page_bytes", page_bytes, NW_FIELD_BYTES, 1, UINT16_MAX, "data a page"),
    FIELD("spare_bytes", spare_bytes, NW_FIELD_BYTES, 0, 4096,
          "spare a page, without the bad-block marker"),
    FIELD("program_bytes", program_bytes, NW_FIELD_BYTES, 1, UINT16_MAX, "unit of a program"),
    FIELD("page_programs", page_programs, NW_FIELD_COUNT, 1, UINT8_MAX,
          "programs a page between erases"),
    FIELD("erased", erased, NW_FIELD_COUNT, 0, UINT8_MAX, "value of an erased byte"),
    FIELD("buffers", buffers, NW_FIELD_COUNT, 0, 8, "page buffers inside the chip"),
    FLAG("in_order", in_order, "pages of a block are programmed in ascending order"),
    FLAG("read_erased", read_erased, "erased data may be read"),
    FLAG("copy", copy, "copies a page inside the chip"),
    FLAG("rewrite", rewrite, "a buffer may be programmed to a page in use"),
    FIELD("endurance", endurance, NW_FIELD_COUNT, 0, UINT32_MAX,
          "rated erases a block (NVM: writes a unit); 0: no practical limit"),
    FIELD("factory_bad", factory_bad, NW_FIELD_COUNT, 0, UINT32_MAX,
          "most bad blocks when new"),
    FIELD("errors", errors, NW_FIELD_CURVE, 0, 0,
          "raw bit errors in 10^12 bits after so many erases"),
    FIELD("ecc_bits", ecc_bits, NW_FIELD_COUNT, 0, 255, "bits the chip repairs in each ecc_bytes"),
    FIELD("ecc_bytes", ecc_bytes, NW_FIELD_BYTES, 0, 4096, "unit of the chip's own ECC"),
    FIELD("heal.life", heal_life, NW_FIELD_COUNT, 0, UINT32_MAX,
          "erases gained by the first healing"),
    FIELD("heal.step", heal_step, NW_FIELD_COUNT, 0, UINT16_MAX,
          "erases fewer by each further healing"),
    FIELD("heal.limit", heal_limit, NW_FIELD_COUNT, 0, UINT16_MAX, "healings of a block"),
    FIELD("heal.time", heal_ns, NW_FIELD_NS, 0, MOST_NS, "one healing: time"),
    FIELD("heal.energy", heal_pj, NW_FIELD_PJ, 0, MOST_PJ, "one healing: energy"),
    FIELD("nvm_bytes", nvm_bytes, NW_FIELD_BYTES, 0, UINT32_MAX,
          "size of a byte-addressable memory"),
    FIELD("atomic_bytes", atomic_bytes, NW_FIELD_BYTES, 0, 4096,
          "unit that a power cut never tears"),
    FIELD("line_bytes", line_bytes, NW_FIELD_BYTES, 0, 4096,
          "NVM: each aligned line touched costs the fixed part once"),
    FIELD("sector_blocks", sector_blocks, NW_FIELD_COUNT, 0, UINT32_MAX,
          "SD card: blocks that are opened together"),
    FIELD("open.least", open_least_ns, NW_FIELD_NS, 0, MOST_NS,
          "SD card: shortest first write to a sector"),
    FIELD("open.most", open_most_ns, NW_FIELD_NS, 0, MOST_NS,
          "SD card: longest first write to a sector"),
    FIELD("read.spread", read_spread_ns, NW_FIELD_NS, 0, MOST_NS,
          "SD card: longest read over shortest read"),
    FIELD("standby", standby_nw, NW_FIELD_NW, 0, MOST_NS, "power while idle"),
    COSTS("", chip),
    COSTS("node.", node),
};

const struct nw_field *nw_part_fields(size_t *count)
{
    *count = sizeof fields / sizeof fields[0];
    return fields;
}

void nw_part_init(struct nw_part *part)
{
    memset(part, 0, sizeof *part);
    part->program_bytes = 1;
    part->page_programs = 1;
    part->erased = 0xFFU;
}

int nw_part_set(struct nw_part *part, const char *key, const char *value)
{
    size_t count;
    const struct nw_field *all = nw_part_fields(&count);
    const struct nw_field *field = nw_field_find(all, count, key);

    return field == NULL ? NW_ERR_NOT_FOUND : nw_field_set(field, part, value);
}

static const char *flash_fault(const struct nw_part *part)
{
    if (part->blocks == 0 || part->block_pages == 0 || part->page_bytes == 0) {
        return "blocks, block_pages and page_bytes must be given";
    }
    if (part->blocks > UINT32_MAX / part->block_pages) {
        return "blocks x block_pages must fit 32 bits";
    }
    if (part->page_bytes % part->program_bytes != 0) {
        return "page_bytes must be a multiple of program_bytes";
    }
    if (part->erased != 0xFFU && part->erased != 0x00U) {
        return "erased must be 0x00 or 0xFF";
    }
    if (part->factory_bad >= part->blocks) {
        return "factory_bad must be fewer than blocks";
    }
    if (part->ecc_bits > 0 && part->ecc_bytes == 0) {
        return "ecc_bits needs ecc_bytes";
    }
    if (part->heal_life != 0 && part->heal_limit == 0) {
        return "heal.life needs heal.limit";
    }
    if (part->rewrite != 0 && part->buffers == 0) {
        return "rewrite needs buffers";
    }
    return NULL;
}

static const char *nvm_fault(const struct nw_part *part)
{
    if (part->nvm_bytes == 0 || part->atomic_bytes == 0) {
        return "nvm_bytes and atomic_bytes must be given";
    }
    if (part->line_bytes == 0) {
        return "line_bytes must be given";
    }
    if ((part->atomic_bytes & (part->atomic_bytes - 1U)) != 0) {
        return "atomic_bytes must be a power of two";
    }
    return NULL;
}

static const char *sdcard_fault(const struct nw_part *part)
{
    if (part->blocks == 0 || part->page_bytes == 0 || part->sector_blocks == 0) {
        return "blocks, page_bytes (of a block) and sector_blocks must be given";
    }
    if (part->open_least_ns > part->open_most_ns) {
        return "open.least must not be above open.most";
    }
    return NULL;
}

int nw_part_check(const struct nw_part *part, const char **why)
{
    const char *fault;

    if (part->name[0] == '\0') {
        fault = "name must be given";
    } else if (part->kind == NW_PART_NVM) {
        fault = nvm_fault(part);
    } else if (part->kind == NW_PART_SDCARD) {
        fault = sdcard_fault(part);
    } else {
        fault = flash_fault(part);
    }
    if (why != NULL) {
        *why = fault;
    }
    return fault == NULL ? NW_OK : NW_ERR_CONFIG;
}

int nw_part_has_node_costs(const struct nw_part *part)
{
    static const struct nw_part_costs none;

    return memcmp(&part->node, &none, sizeof none) != 0;
}

uint64_t nw_part_bytes(const struct nw_part *part)
{
    if (part->kind == NW_PART_NVM) {
        return part->nvm_bytes;
    }
    if (part->kind == NW_PART_SDCARD) {
        return (uint64_t)part->blocks * part->page_bytes;
    }
    return (uint64_t)part->blocks * part->block_pages * part->page_bytes;
}
