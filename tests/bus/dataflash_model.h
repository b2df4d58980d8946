/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dataflash_model.h - DataFlash at command level, written from the datasheets of AT45DB041B and
 * AT45DB641E: status and id, two buffers, comparing, pages of 264 or 256 bytes and their addresses,
 * sector protection, deep power-down. A part without an id (revision B) has noise in the lowest two
 * bits of its status: "X" in its datasheet.
 */
#ifndef NANDWICH_TESTS_DATAFLASH_MODEL_H
#define NANDWICH_TESTS_DATAFLASH_MODEL_H

#include "bus.h"

struct dataflash_kind {
    uint8_t id[4];       /* all FF: a revision without */
    uint8_t density;     /* status bits 5 to 2 */
    uint8_t power_of_two;
    uint8_t buffers;
    uint16_t page_bytes; /* as switched */
    uint32_t pages;
};

struct dataflash_model {
    struct spi_model spi;
    struct dataflash_kind kind;
    uint32_t page_shift;
    uint32_t rewrite_us; /* buffer to page with erase */
    uint32_t page;    /* of the operation under way */
    uint8_t code;
    uint8_t buffer;
    bool differs;     /* the last comparison's result */
    uint8_t noise;    /* counts; its lowest bits are in the status of a part without an id */
    bool guarded;     /* sector protection: programs and erases do nothing until it is lifted */
    bool asleep;      /* deep power-down: it hears ABh alone, and the line floats */
    bool fail_next;   /* the next program or erase does nothing, and the part does not say so */
    uint32_t at_page; /* what `cells` holds; UINT32_MAX: nothing */
    uint8_t cells[1056];
};

void dataflash_model_open(struct dataflash_model *model, const struct dataflash_kind *kind,
                          uint32_t seed);
void dataflash_model_close(struct dataflash_model *model);
void dataflash_model_power_up(struct dataflash_model *model);

#endif
