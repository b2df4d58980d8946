/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-level NAND parts of the table, among them the ones of the self-healing study. */
#include "parts_internal.h"

#define CHAPTER "Chen, PhD thesis, Hong Kong PolyU, 2016, chapter "
#define THESIS CHAPTER "2"
/* A torn or failed program of an upper page leaves the lower page of its cells as it was. */
#define APART "; shared cells are not modelled"
#define HEAL_ASSUMED "assumed: 3.3 V x 100 mA x 3 s; the thesis gives no figure"

static const struct nw_part_row k9lbg08u0m[] = {
    { "name", "K9LBG08U0M", "Samsung part number" },
    { "note", "32 Gbit MLC NAND, 4 KiB pages" APART, CLASS },
    { "kind", "nand", CLASS },
    { "blocks", "8192", CLASS },
    { "block_pages", "128", CLASS },
    { "page_bytes", "4096 B", CLASS },
    { "spare_bytes", "126 B", MARKER " (128 - 2)" },
    { "program_bytes", "4096 B", CLASS ": whole pages" },
    { "page_programs", "1", CLASS ": one program a page" },
    { "in_order", "yes", CLASS ": pages of a block in order" },
    { "endurance", "5000", CLASS },
    { "factory_bad", "200", CLASS ": about 2.5 % of the blocks" },
    { "errors", "0:100000 1000:500000 5000:20000000",
      CLASS ": 1e-7 new to 2e-5 worn, for an ECC of four bits in 512 B" },
    { "standby", "66 uW", CLASS ": 3.3 V x 20 uA" },
    { "read.time", "60 us", CLASS ": tR maximum" },
    { "read.byte_time", "25 ns", CLASS ": tRC" },
    { "read.energy", "2.97 uJ", CLASS ": 3.3 V x 15 mA x 60 us" },
    { "read.byte_energy", "1238 pJ", CLASS ": 3.3 V x 15 mA x 25 ns" },
    { "program.time", "800 us", CLASS ": tPROG typical" },
    { "program.byte_time", "25 ns", CLASS ": tWC" },
    { "program.energy", "39.6 uJ", CLASS ": 3.3 V x 15 mA x 800 us" },
    { "program.byte_energy", "1238 pJ", CLASS ": 3.3 V x 15 mA x 25 ns" },
    { "erase.time", "1.5 ms", CLASS ": tBERS typical" },
    { "erase.energy", "74.25 uJ", CLASS ": 3.3 V x 15 mA x 1.5 ms" },
};

/* Times as the thesis charges them: per page, whatever its size, so nothing a byte. */
#define THESIS_COSTS                                                                              \
    { "read.time", "25 us", THESIS ": page read" },                                               \
    { "read.energy", "12.288 uJ", CHAPTER "3: 1.5 J/GB, times 8192 B" },                   \
    { "program.time", "500 us", THESIS ": page program" },                                        \
    { "program.energy", "139.264 uJ", CHAPTER "3: 17 J/GB, times 8192 B" },                \
    { "erase.time", "1.5 ms", THESIS ": block erase" },                                           \
    { "erase.energy", "20.97152 mJ", CHAPTER "3: 10 J/GB, times 2 MiB" }

static const struct nw_part_row mlc64g[] = {
    { "name", "MLC64G", "a Micron 64 Gbit MLC as in " THESIS },
    { "note", "64 Gbit MLC NAND with its error curve, charged as in the thesis" APART, THESIS },
    { "kind", "nand", CLASS },
    { "blocks", "4096", CLASS },
    { "block_pages", "256", CLASS },
    { "page_bytes", "8192 B", CLASS },
    { "spare_bytes", "446 B", MARKER " (448 - 2)" },
    { "program_bytes", "8192 B", CLASS ": whole pages" },
    { "page_programs", "1", CLASS ": one program a page" },
    { "in_order", "yes", CLASS ": pages of a block in order" },
    { "endurance", "3000", THESIS },
    { "factory_bad", "100", CLASS ": about 2.5 % of the blocks" },
    { "errors",
      "0:1600000 750:5300000 1500:17900000 2250:59800000 3000:200000000 4500:2240000000",
      THESIS ": 75 % of the life has 29.9 % of the errors, taken as exponential; the level, "
             "2e-4 at 3000 cycles, is " CLASS " (24 bits in 1 KiB)" },
    { "standby", "33 uW", CLASS ": 3.3 V x 10 uA" },
    THESIS_COSTS,
};

#define TLC_SHAPE                                                                    \
    { "kind", "nand", CLASS },                                                       \
    { "blocks", "512", THESIS ": an 8 Gbit chip" },                                  \
    { "block_pages", "256", CLASS },                                                 \
    { "page_bytes", "8192 B", CLASS },                                               \
    { "spare_bytes", "638 B", MARKER " (640 - 2)" },                                 \
    { "program_bytes", "8192 B", CLASS ": whole pages" },                            \
    { "page_programs", "1", CLASS ": one program a page" },                          \
    { "in_order", "yes", CLASS ": pages of a block in order" },                      \
    { "endurance", "2500", THESIS ": L_0 of the TLC example" },                      \
    { "factory_bad", "12", CLASS ": about 2.5 % of the blocks" },                    \
    { "errors", "0:10000000 1250:100000000 2500:1000000000",                         \
      CLASS ": 1e-5 new to 1e-3 worn, for an ECC of 60 bits in 1 KiB" },             \
    { "standby", "33 uW", CLASS ": 3.3 V x 10 uA" }

static const struct nw_part_row tlc8g[] = {
    { "name", "TLC8G", "an 8 Gbit TLC as in " THESIS },
    { "note", "8 Gbit TLC NAND, charged as in the thesis" APART, THESIS },
    TLC_SHAPE,
    THESIS_COSTS,
};

static const struct nw_part_row tlc8g_heal[] = {
    { "name", "TLC8G-HEAL", "an 8 Gbit self-healing TLC as in " THESIS },
    { "note", "8 Gbit TLC NAND whose blocks are healed by heat" APART, THESIS },
    TLC_SHAPE,
    { "heal.life", "2490", THESIS ": L_1, ten cycles less than L_0" },
    { "heal.step", "10", THESIS ": each healing gives ten cycles less" },
    { "heal.limit", "250", THESIS ": theta" },
    { "heal.time", "3 s", THESIS },
    { "heal.energy", "990 mJ", HEAL_ASSUMED },
    THESIS_COSTS,
};

static const struct nw_part_entry entries[] = {
    PART_ENTRY(k9lbg08u0m),
    PART_ENTRY(mlc64g),
    PART_ENTRY(tlc8g),
    PART_ENTRY(tlc8g_heal),
};

const struct nw_part_group nw_parts_mlc = PART_GROUP(entries);
