/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bus.h - what all models of parts on a bus share: a count of bus bytes, at any of which power can
 * go; a clock; the operation a part is busy with; and a book of what a driver must never do.
 *
 * A model is a decoder of commands in front of an emulated chip of the twin. An operation
 * happens in the chip when it ends, or, torn, when power goes meanwhile. A command to a busy
 * part, a sequence the part's datasheet does not know, and whatever the chip itself counts as
 * misuse are violations.
 */
#ifndef NANDWICH_TESTS_BUS_H
#define NANDWICH_TESTS_BUS_H

#include <stdbool.h>

#include "nandwich-twin/nand.h"
#include "nandwich/driver_spi.h"
#include "nandwich/random.h"

#define BUS_NEVER UINT64_MAX
#define BUS_BYTE_NS 400U
#define BUS_KINDS 8U

struct bus {
    struct nw_nand *nand; /* NULL: a card */
    struct nw_chip *chip;
    uint64_t bytes;    /* moved so far, both ways at once counting one */
    uint64_t cut_at;   /* power goes at this byte */
    uint64_t now_ns;
    uint32_t byte_ps;  /* what a byte takes on one line; 0: BUS_BYTE_NS */
    uint32_t rest_ps;  /* of now_ns, below a nanosecond */
    uint64_t ready_ns; /* when the operation under way ends */
    uint8_t pending;   /* which one; 0: none */
    bool off;
    bool stuck;        /* what the part begins does not end */
    uint32_t fail_at;  /* the bus itself fails (NW_ERR_IO) after so many more transfers; 0: never */
    bool fail_acts;    /* the transfer is done all the same */
    uint32_t waits;    /* the driver's calls of wait */
    uint32_t begun[BUS_KINDS]; /* operations of each kind (`pending`) so far */
    uint64_t busy_us;  /* what they take, one by one */
    uint32_t violations;
    char why[160];     /* the first one */
    int (*perform)(struct bus *bus); /* does what is pending in the chip */
};

/* Another byte, by 1 or 4 lines: false when power goes, or is gone. */
bool bus_byte(struct bus *bus, uint8_t lines);

/* A transfer begins: false when the bus fails before anything of it has happened. *result is what
 * it answers when it is done. */
bool bus_transfer(struct bus *bus, int *result);

/* A wait of the driver's. */
int bus_wait(struct bus *bus, uint32_t us);

/* The part works on `pending` for so long. */
void bus_work(struct bus *bus, uint8_t pending, uint32_t us);

/* Ends what has been worked on long enough: true while the part is busy. */
bool bus_is_busy(struct bus *bus);

/* Power comes back; what the part had in its registers is for the model to forget. */
void bus_power_up(struct bus *bus);

void bus_violation(struct bus *bus, const char *why, uint32_t detail);

/* Fails the test when a driver did what it must not, or the chip was misused. In bus_expect.c, as
 * the next one: the emulator of `nandwich run --target` has its own of both. */
void bus_expect_clean(struct bus *bus);

/* Fails the test unless `holds`: a model could not be opened. */
void bus_require(bool holds, const char *what);

/*
 * A part on a serial bus. exchange() is asked for each byte of a command, index 0 being its code;
 * finish() when it is deselected.
 */
struct spi_model {
    struct bus bus;
    struct nw_spi spi;
    bool held;     /* the driver has the bus: selected, or, of a card, with the line high */
    bool driving;  /* a card holds the line until it is clocked while it is not selected */
    bool selected;
    uint8_t lines; /* that the byte under way goes by: 1 or 4 */
    uint32_t index;
    uint8_t head[8]; /* first bytes of the command */
    uint8_t (*exchange)(struct spi_model *model, uint32_t index, uint8_t out);
    void (*finish)(struct spi_model *model, uint32_t bytes);
    bool silent;  /* nobody drives the line, which reads `line` */
    uint8_t line;
    bool raw; /* bytes count when not selected, and a select starts no command: SD cards */
};

void spi_model_open(struct spi_model *model); /* on a bus of one line */
void spi_model_widen(struct spi_model *model); /* the bus reads by four lines too */

/* The address in bytes 1 .. `bytes` of the head, highest first. */
uint32_t spi_model_address(const struct spi_model *model, uint32_t bytes);

#endif
