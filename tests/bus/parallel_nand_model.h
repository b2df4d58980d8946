/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel_nand_model.h - NAND on an eight-bit bus at command level, written from ONFI 1.0 and the
 * datasheets of K9F1G08U0A and K9F1208U0B: latches, the small parts' pointers, the status mode and
 * the way back to data, random data input and output, the parameter page in three copies.
 */
#ifndef NANDWICH_TESTS_PARALLEL_NAND_MODEL_H
#define NANDWICH_TESTS_PARALLEL_NAND_MODEL_H

#include "bus.h"
#include "nandwich/driver_parallel_nand.h"
#include "onfi_page.h"

struct parallel_nand_kind {
    uint8_t id[4];
    uint8_t small;         /* pages of 512 bytes */
    uint8_t row_cycles;
    uint8_t onfi;          /* copies of the parameter page that are spoilt, and one; 0: none */
    uint8_t page_programs;
    uint32_t blocks;
};

enum parallel_output { OUTPUT_NOTHING, OUTPUT_DATA, OUTPUT_STATUS, OUTPUT_ID, OUTPUT_PARAMETERS };

struct parallel_nand_model {
    struct bus bus;
    struct nw_parallel_bus wires;
    struct parallel_nand_kind kind;
    struct onfi_shape told; /* blocks 0: the truth */
    bool selected;
    bool silent;  /* nobody drives the bus, which reads `line` */
    uint8_t line;
    bool protect;           /* the WP pin is low */
    uint8_t fail_next;      /* 1: the next program or erase fails, 2: the one behind it, .. */
    uint8_t fail_then;      /* and so many behind that one fails the next; 0: none */
    bool failing;           /* the one under way does */
    bool mark_second;       /* bad-block marks stand in page 1 only */
    bool lost;              /* two bits of each 256 bytes that are read are others */
    uint16_t read_us, program_us, erase_us; /* by kind.small; a test may set others */
    uint8_t output;         /* enum parallel_output */
    uint8_t pointer;        /* small: 00h, 01h, 50h */
    uint8_t code;           /* the last command */
    uint8_t status;
    uint8_t address[5];
    uint32_t cycles;
    uint32_t column;
    uint32_t row;
    uint32_t spot;          /* in id or parameter pages */
    uint8_t cache[2048 + 64];
    uint8_t loaded[2048 + 64];
    uint8_t parameters[3 * 256];
};

void parallel_nand_model_open(struct parallel_nand_model *model,
                              const struct parallel_nand_kind *kind, uint32_t seed);
void parallel_nand_model_close(struct parallel_nand_model *model);
void parallel_nand_model_power_up(struct parallel_nand_model *model);

#endif
