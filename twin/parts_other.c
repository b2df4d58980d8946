/* SPDX-License-Identifier: Apache-2.0 */
/* Memory cards and byte-addressable memories of the table. */
#include "parts_internal.h"

#define RGEDF CLASS ": measured in Dou and Kalogeraki, SEUS 2008, place not noted"
#define THESIS "Chen, PhD thesis, Hong Kong PolyU, 2016"
#define NOT_NOTED CLASS ": as in " THESIS ", place not noted"
#define LINE "assumed: a line of 64 B, as in chapter 4"

static const struct nw_part_row sandisk_sd[] = {
    { "name", "SANDISK-SD-128M", "SanDisk 128 MiB SD card, as in Dou and Kalogeraki, SEUS 2008" },
    { "note", "128 MiB SD card on SPI, with the costs of the RG-EDF node", RGEDF },
    { "kind", "sdcard", RGEDF },
    { "blocks", "262144", RGEDF ": 128 MiB of 512 B blocks" },
    { "page_bytes", "512 B", RGEDF },
    { "sector_blocks", "256", RGEDF },
    { "standby", "495 uW", CLASS ": 3.3 V x 150 uA" },
    { "open.least", "60 ms", RGEDF ": first write into a new sector" },
    { "open.most", "140 ms", RGEDF ": first write into a new sector" },
    { "read.spread", "4 ms", RGEDF ": 11 to 15 ms" },
    { "read.time", "11 ms", RGEDF ": 11 to 15 ms" },
    { "read.energy", "2359.5 uJ", CLASS ": 3.3 V x 65 mA x 11 ms" },
    { "program.time", "9 ms", RGEDF ": a block, card alone" },
    { "program.energy", "2227.5 uJ", CLASS ": 3.3 V x 75 mA x 9 ms" },
    { "node.read.time", "11 ms", RGEDF ": 11 to 15 ms" },
    { "node.read.energy", "2896.74 uJ", CLASS ": 3.3 V x (65 + 14.8) mA x 11 ms" },
    { "node.program.time", "13 ms", RGEDF ": a block, with 512 B fetched from external RAM" },
    { "node.program.energy", "3852.42 uJ", CLASS ": 3.3 V x (75 + 14.8) mA x 13 ms" },
};

static const struct nw_part_row microsd[] = {
    { "name", "MICROSD-8G", "a microSD card of today" },
    { "note", "8 GiB microSD card, speed class 10", CLASS },
    { "kind", "sdcard", CLASS },
    { "blocks", "16777216", CLASS ": 8 GiB of 512 B blocks" },
    { "page_bytes", "512 B", CLASS },
    { "sector_blocks", "8192", CLASS ": a 4 MiB allocation unit" },
    { "standby", "660 uW", CLASS ": 3.3 V x 200 uA" },
    { "open.least", "2 ms", CLASS },
    { "open.most", "100 ms", CLASS ": within the 250 ms that the SD specification gives a write" },
    { "read.spread", "500 us", CLASS },
    { "read.time", "300 us", CLASS },
    { "read.byte_time", "80 ns", CLASS ": four bits at 25 MHz" },
    { "read.energy", "49.5 uJ", CLASS ": 3.3 V x 50 mA x 300 us" },
    { "read.byte_energy", "13.2 nJ", CLASS ": 3.3 V x 50 mA x 80 ns" },
    { "program.time", "800 us", CLASS },
    { "program.byte_time", "80 ns", CLASS ": four bits at 25 MHz" },
    { "program.energy", "211.2 uJ", CLASS ": 3.3 V x 80 mA x 800 us" },
    { "program.byte_energy", "21.12 nJ", CLASS ": 3.3 V x 80 mA x 80 ns" },
};

static const struct nw_part_row pcm[] = {
    { "name", "PCM-16M", "a phase-change memory as in " THESIS ", chapter 3" },
    { "note", "16 MiB phase-change memory with the costs of vFlash", THESIS ", chapter 3" },
    { "kind", "nvm", THESIS ", chapter 3" },
    { "nvm_bytes", "16 MiB", THESIS ", chapter 3" },
    { "atomic_bytes", "8 B", CLASS ": one word" },
    { "line_bytes", "64 B", LINE },
    { "endurance", "10000000", NOT_NOTED ": 1e6 to 1e8 writes" },
    { "read.time", "50 ns", THESIS ", chapter 3; the line of 64 B assumed" },
    { "read.byte_energy", "1 nJ", THESIS ", chapter 3: 1 J/GB" },
    { "program.time", "150 ns", THESIS ", chapter 3; the line of 64 B assumed" },
    { "program.byte_energy", "6 nJ", THESIS ", chapter 3: 6 J/GB" },
};

static const struct nw_part_row pcm_line[] = {
    { "name", "PCM-16M-1US", "a phase-change memory as in " THESIS ", chapter 4" },
    { "note", "16 MiB phase-change memory that writes a line in 1 us", THESIS ", chapter 4" },
    { "kind", "nvm", THESIS ", chapter 4" },
    { "nvm_bytes", "16 MiB", THESIS ", chapter 3" },
    { "atomic_bytes", "8 B", CLASS ": one word" },
    { "line_bytes", "64 B", THESIS ", chapter 4" },
    { "endurance", "10000000", NOT_NOTED ": 1e6 to 1e8 writes" },
    { "read.time", "50 ns", THESIS ", chapter 4" },
    { "read.byte_energy", "1 nJ", THESIS ", chapter 3: 1 J/GB" },
    { "program.time", "1 us", THESIS ", chapter 4: a 64 B line" },
    { "program.byte_energy", "6 nJ", THESIS ", chapter 3: 6 J/GB" },
};

static const struct nw_part_row sttram[] = {
    { "name", "STTRAM-16M", "a spin-torque memory as in " THESIS },
    { "note", "16 MiB STT-RAM", THESIS },
    { "kind", "nvm", THESIS },
    { "nvm_bytes", "16 MiB", "assumed: as the PCM beside it" },
    { "atomic_bytes", "8 B", CLASS ": one word" },
    { "line_bytes", "64 B", LINE },
    { "endurance", "0", NOT_NOTED ": more than 1e15 writes" },
    { "read.time", "1 ns", NOT_NOTED ": about 1 ns" },
    { "read.byte_energy", "1 pJ", CLASS ": about 0.1 pJ a bit" },
    { "program.time", "10 ns", NOT_NOTED ": about 10 ns" },
    { "program.byte_energy", "8 pJ", CLASS ": about 1 pJ a bit" },
};

static const struct nw_part_entry entries[] = {
    PART_ENTRY(sandisk_sd), PART_ENTRY(microsd), PART_ENTRY(pcm),
    PART_ENTRY(pcm_line),   PART_ENTRY(sttram),
};

const struct nw_part_group nw_parts_other = PART_GROUP(entries);
