/* SPDX-License-Identifier: Apache-2.0 */
/* Serial NOR and DataFlash parts of the table. */
#include "parts_internal.h"

#define VIMEM "Lachenmann et al., EuroSys 2007, section 3.1"
/* The list of features at hand is that of the part before the letters. */
#define AT45 "Atmel AT45DB041 datasheet, rev. 0669D-07/98, features"
#define READING AT45 ": 4 mA typical, at 3.0 V"
#define CROSSBOW "Crossbow MPR/MIB User's Manual 7430-0021-06, Rev. A, table 6-2"
#define MICA2 VIMEM ": 10 mA reading, 35 mA writing; " CROSSBOW ": ATmega128L 12 mA; at 3.0 V"

/*
 * Node costs: the Mica2 moves a 264 B page from the chip in 3.6 ms and writes one in 16.3 ms, of
 * which the chip is busy for 13.2 ms; the transfer is spread over its 264 data bytes and 8 (read)
 * or 4 (write) command bytes.
 */
static const struct nw_part_row at45db041b[] = {
    { "name", "AT45DB041B", "Atmel part number" },
    { "note", "4 Mbit DataFlash with two page buffers, as on the Mica2", CLASS },
    { "kind", "dataflash", CLASS },
    { "blocks", "256", CLASS ": 2048 pages, blocks of 8" },
    { "block_pages", "8", CLASS },
    { "page_bytes", "264 B", AT45 },
    { "program_bytes", "264 B", CLASS ": whole pages, through a buffer" },
    { "page_programs", "1", CLASS },
    { "buffers", "2", AT45 },
    { "read_erased", "yes", CLASS },
    { "rewrite", "yes", AT45 ": erase and program in one cycle" },
    { "endurance", "100000", CLASS ": each page of an AT45DB041D, taken for the B as well" },
    { "standby", "6 uW", CLASS ": 3.0 V x 2 uA" },
    { "read.time", "3.2 us", CLASS ": 8 command bytes at 20 MHz" },
    { "read.byte_time", "400 ns", CLASS ": 20 MHz" },
    { "read.energy", "38.4 nJ", READING },
    { "read.byte_energy", "4.8 nJ", READING },
    { "program.time", "7.0016 ms", AT45 ": 7 ms typical; 4 command bytes at 20 MHz" },
    { "program.byte_time", "400 ns", CLASS ": 20 MHz" },
    { "program.energy", "735.0192 uJ", VIMEM ": 35 mA, at 3.0 V x 7 ms" },
    { "program.byte_energy", "4.8 nJ", READING },
    { "erase.time", "12 ms", CLASS ": block erase maximum" },
    { "erase.energy", "1260 uJ", VIMEM ": 35 mA, at 3.0 V x 12 ms" },
    { "buffer_load.time", "120 us", AT45 ": page to buffer, typical" },
    { "buffer_load.energy", "1.44 uJ", READING " x 120 us" },
    { "buffer_read.time", "1.6 us", CLASS ": 4 command bytes at 20 MHz" },
    { "buffer_read.byte_time", "400 ns", CLASS ": 20 MHz" },
    { "buffer_read.energy", "19.2 nJ", READING },
    { "buffer_read.byte_energy", "4.8 nJ", READING },
    { "buffer_write.time", "1.6 us", CLASS ": 4 command bytes at 20 MHz" },
    { "buffer_write.byte_time", "400 ns", CLASS ": 20 MHz" },
    { "buffer_write.energy", "19.2 nJ", READING },
    { "buffer_write.byte_energy", "4.8 nJ", READING },
    { "buffer_program.time", "7 ms", AT45 ": page program, typical" },
    { "buffer_program.energy", "735 uJ", VIMEM ": 35 mA, at 3.0 V x 7 ms" },
    { "buffer_rewrite.time", "13.2 ms", VIMEM ": 16.3 ms a page less the transfer" },
    { "buffer_rewrite.energy", "1386 uJ", VIMEM ": 35 mA, at 3.0 V x 13.2 ms" },
    { "node.read.time", "105.96 us", VIMEM ": 3.6 ms a page" },
    { "node.read.byte_time", "13.235 us", VIMEM ": 3.6 ms a page" },
    { "node.read.energy", "6993.36 nJ", MICA2 },
    { "node.read.byte_energy", "873.51 nJ", MICA2 },
    { "node.program.time", "7.046312 ms", VIMEM ": transfer; " AT45 ": 7 ms typical" },
    { "node.program.byte_time", "11.567 us", VIMEM ": 16.3 ms a page less 13.2 ms" },
    { "node.program.energy", "990.056592 uJ", MICA2 },
    { "node.program.byte_energy", "763.422 nJ", MICA2 },
    { "node.erase.time", "12 ms", CLASS ": block erase maximum" },
    { "node.erase.energy", "1692 uJ", MICA2 },
    { "node.buffer_load.time", "120 us", AT45 ": page to buffer, typical" },
    { "node.buffer_load.energy", "7.92 uJ", MICA2 },
    { "node.buffer_read.time", "105.96 us", VIMEM ": 3.6 ms a page" },
    { "node.buffer_read.byte_time", "13.235 us", VIMEM ": 3.6 ms a page" },
    { "node.buffer_read.energy", "6993.36 nJ", MICA2 },
    { "node.buffer_read.byte_energy", "873.51 nJ", MICA2 },
    { "node.buffer_write.time", "46.312 us", VIMEM ": 16.3 ms a page less 13.2 ms" },
    { "node.buffer_write.byte_time", "11.567 us", VIMEM ": 16.3 ms a page less 13.2 ms" },
    { "node.buffer_write.energy", "3056.592 nJ", MICA2 },
    { "node.buffer_write.byte_energy", "763.422 nJ", MICA2 },
    { "node.buffer_program.time", "7 ms", AT45 ": page program, typical" },
    { "node.buffer_program.energy", "987 uJ", MICA2 },
    { "node.buffer_rewrite.time", "13.2 ms", VIMEM ": 16.3 ms a page less the transfer" },
    { "node.buffer_rewrite.energy", "1861.2 uJ", MICA2 },
};

static const struct nw_part_row w25q128jv[] = {
    { "name", "W25Q128JV", "Winbond part number" },
    { "note", "128 Mbit serial NOR, 4 KiB erase sectors", CLASS },
    { "kind", "nor", CLASS },
    { "blocks", "4096", CLASS ": 4 KiB sectors" },
    { "block_pages", "16", CLASS },
    { "page_bytes", "256 B", CLASS },
    { "program_bytes", "1 B", CLASS },
    { "page_programs", "unlimited", CLASS },
    { "read_erased", "yes", CLASS },
    { "endurance", "100000", CLASS },
    { "standby", "33 uW", CLASS ": 3.3 V x 10 uA" },
    { "read.time", "192 ns", CLASS ": 20 clocks of command, address and mode at 104 MHz" },
    { "read.byte_time", "19.231 ns", CLASS ": quad, two clocks a byte at 104 MHz" },
    { "read.energy", "9.504 nJ", CLASS ": 3.3 V x 15 mA x 192 ns" },
    { "read.byte_energy", "952 pJ", CLASS ": 3.3 V x 15 mA x 19.231 ns" },
    { "program.time", "400 us", CLASS ": tPP typical, whatever the length" },
    { "program.byte_time", "19.231 ns", CLASS ": quad, two clocks a byte at 104 MHz" },
    { "program.energy", "26.4 uJ", CLASS ": 3.3 V x 20 mA x 400 us" },
    { "program.byte_energy", "952 pJ", CLASS ": 3.3 V x 15 mA x 19.231 ns" },
    { "erase.time", "45 ms", CLASS ": tSE typical" },
    { "erase.energy", "2.97 mJ", CLASS ": 3.3 V x 20 mA x 45 ms" },
};

static const struct nw_part_entry entries[] = {
    PART_ENTRY(at45db041b),
    PART_ENTRY(w25q128jv),
};

const struct nw_part_group nw_parts_serial = PART_GROUP(entries);
