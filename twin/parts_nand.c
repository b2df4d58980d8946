/* SPDX-License-Identifier: Apache-2.0 */
/* NAND parts of the table. */
#include "parts_internal.h"

#define CLASS "datasheet class"
#define MARKER CLASS ": spare area less the bad-block marker"
#define CAPSULE "Mathur et al., SenSys 2006, measured: chip alone"
#define CAPSULE_NODE "Mathur et al., SenSys 2006, measured: chip and CPU"

static const struct nw_part_row k9f1g08u0a[] = {
    { "name", "K9F1G08U0A", "Samsung part number" },
    { "note", "1 Gbit SLC NAND, 8 bits wide, 2 KiB pages", CLASS },
    { "kind", "nand", CLASS },
    { "blocks", "1024", CLASS },
    { "block_pages", "64", CLASS },
    { "page_bytes", "2048 B", CLASS },
    { "spare_bytes", "62 B", MARKER " (64 - 2)" },
    { "program_bytes", "1 B", CLASS },
    { "page_programs", "4", CLASS ": four partial programs a page" },
    { "in_order", "yes", CLASS ": pages of a block in order" },
    { "copy", "yes", CLASS ": copy-back" },
    { "endurance", "100000", CLASS },
    { "factory_bad", "20", CLASS ": 1004 valid blocks" },
    { "standby", "33 uW", CLASS ": 3.3 V x 10 uA" },
    { "read.time", "25 us", CLASS ": tR" },
    { "read.byte_time", "30 ns", CLASS ": tRC" },
    { "read.energy", "1.2375 uJ", CLASS ": 3.3 V x 15 mA x 25 us" },
    { "read.byte_energy", "1.485 nJ", CLASS ": 3.3 V x 15 mA x 30 ns" },
    { "program.time", "200 us", CLASS ": tPROG typical" },
    { "program.byte_time", "30 ns", CLASS ": tWC" },
    { "program.energy", "9.9 uJ", CLASS ": 3.3 V x 15 mA x 200 us" },
    { "program.byte_energy", "1.485 nJ", CLASS ": 3.3 V x 15 mA x 30 ns" },
    { "erase.time", "2 ms", CLASS ": tBERS typical" },
    { "erase.energy", "99 uJ", CLASS ": 3.3 V x 15 mA x 2 ms" },
};

static const struct nw_part_row tc58dvg02a1ft00[] = {
    { "name", "TC58DVG02A1FT00", "Toshiba part number" },
    { "note", "1 Gbit SLC NAND, 512 B pages, with Capsule's measured costs", CLASS },
    { "kind", "nand", CLASS },
    { "blocks", "8192", CLASS ": 1 Gbit / (32 x 512 B)" },
    { "block_pages", "32", "Mathur et al., SenSys 2006" },
    { "page_bytes", "512 B", "Mathur et al., SenSys 2006" },
    { "spare_bytes", "15 B", MARKER " (16 - 1)" },
    { "program_bytes", "1 B", CLASS },
    { "page_programs", "4", "Mathur et al., SenSys 2006: four non-overlapping programs" },
    { "endurance", "100000", CLASS },
    { "factory_bad", "160", CLASS },
    { "standby", "33 uW", CLASS ": 3.3 V x 10 uA" },
    { "read.time", "32 us", CAPSULE },
    { "read.byte_time", "1.761 us", CAPSULE },
    { "read.energy", "1.073 uJ", CAPSULE },
    { "read.byte_energy", "0.0322 uJ", CAPSULE },
    { "program.time", "238 us", CAPSULE },
    { "program.byte_time", "1.530 us", CAPSULE },
    { "program.energy", "13.2 uJ", CAPSULE },
    { "program.byte_energy", "0.0202 uJ", CAPSULE },
    { "erase.time", "2 ms", CLASS ": block erase typical" },
    { "erase.energy", "66 uJ", CLASS ": 3.3 V x 10 mA x 2 ms" },
    { "node.read.time", "69 us", CAPSULE_NODE },
    { "node.read.byte_time", "1.759 us", CAPSULE_NODE },
    { "node.read.energy", "4.07 uJ", CAPSULE_NODE },
    { "node.read.byte_energy", "0.105 uJ", CAPSULE_NODE },
    { "node.program.time", "274 us", CAPSULE_NODE },
    { "node.program.byte_time", "1.577 us", CAPSULE_NODE },
    { "node.program.energy", "24.54 uJ", CAPSULE_NODE },
    { "node.program.byte_energy", "0.0962 uJ", CAPSULE_NODE },
    { "node.erase.time", "2 ms", CLASS ": block erase typical" },
    { "node.erase.energy", "114 uJ",
      CLASS ": 3.3 V x 10 mA x 2 ms, and an ATmega128 waiting at 3 V x 8 mA" },
};

static const struct nw_part_row w25n01gv[] = {
    { "name", "W25N01GV", "Winbond part number" },
    { "note", "1 Gbit SLC NAND on SPI, with ECC inside", CLASS },
    { "kind", "nand", CLASS },
    { "blocks", "1024", CLASS },
    { "block_pages", "64", CLASS },
    { "page_bytes", "2048 B", CLASS },
    { "spare_bytes", "62 B", MARKER " (64 - 2)" },
    { "program_bytes", "512 B", CLASS ": the unit of the ECC inside" },
    { "page_programs", "4", CLASS ": four partial programs a page" },
    { "in_order", "yes", CLASS ": pages of a block in order" },
    { "endurance", "100000", CLASS },
    { "factory_bad", "20", CLASS ": 1004 valid blocks" },
    { "ecc_bits", "1", CLASS ": 1 bit in each 528 B sector" },
    { "ecc_bytes", "512 B", CLASS ": 1 bit in each 528 B sector" },
    { "standby", "33 uW", CLASS ": 3.3 V x 10 uA" },
    { "read.time", "60 us", CLASS ": tRD with ECC" },
    { "read.byte_time", "19.231 ns", CLASS ": quad SPI at 104 MHz, two clocks a byte" },
    { "read.energy", "4.95 uJ", CLASS ": 3.3 V x 25 mA x 60 us" },
    { "read.byte_energy", "1587 pJ", CLASS ": 3.3 V x 25 mA x 19.231 ns" },
    { "program.time", "250 us", CLASS ": tPP typical" },
    { "program.byte_time", "19.231 ns", CLASS ": quad SPI at 104 MHz, two clocks a byte" },
    { "program.energy", "20.625 uJ", CLASS ": 3.3 V x 25 mA x 250 us" },
    { "program.byte_energy", "1587 pJ", CLASS ": 3.3 V x 25 mA x 19.231 ns" },
    { "erase.time", "2 ms", CLASS ": tBE typical" },
    { "erase.energy", "165 uJ", CLASS ": 3.3 V x 25 mA x 2 ms" },
};

static const struct nw_part_entry slc[] = {
    PART_ENTRY(k9f1g08u0a),
    PART_ENTRY(tc58dvg02a1ft00),
    PART_ENTRY(w25n01gv),
};

const struct nw_part_group nw_part_groups[] = {
    PART_GROUP(slc),
};
const uint32_t nw_part_group_count = sizeof nw_part_groups / sizeof nw_part_groups[0];
