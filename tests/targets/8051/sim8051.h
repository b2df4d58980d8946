/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim8051.h - an instruction simulator for the 8051 of the CC1010 class, for tests.
 *
 * TIME is counted in clocks by one of two tables: CLASSIC, the original core (12 clocks a machine
 * cycle, 1, 2 or 4 cycles an instruction; checked against s51 of sdcc-ucsim), and FAST, the 4-clock
 * core (DW8051 and DS80C320 user guides: 1 to 5 cycles of 4 clocks; MOVX 2 plus the stretch of
 * CKCON). The CC1010 has a 4-clock core; its own table was not at hand, so FAST is the class, not
 * the chip.
 *
 * MEMORY is as small as the chip's: 128 bytes of internal RAM (a stack that leaves it stops the
 * run) and `xram` bytes of external RAM.
 *
 * DEVICES Timer 0 in mode 1 and its interrupt; an SPI master on SPDR (0xA2) and SPSR (0xA3, bit 7:
 * transfer done) behind which `spi` answers each byte. Writing SPDR during a transfer is a
 * violation.
 */
#ifndef SIM8051_H
#define SIM8051_H

#include <stdint.h>

enum { SIM_CLASSIC = 0, SIM_FAST = 1 };

enum sim_stop { SIM_RUNS = 0, SIM_HALTED, SIM_STACK, SIM_XRAM, SIM_OPCODE, SIM_SPI };

struct sim8051 {
    uint8_t code[65536];
    uint8_t xdata[65536];
    uint8_t iram[128];
    uint8_t sfr[128]; /* from 0x80 */
    uint16_t pc;
    uint32_t xram;    /* bytes of external RAM, from 0 */
    uint8_t fast;     /* SIM_CLASSIC or SIM_FAST */
    uint8_t in_interrupt;
    uint8_t highest;  /* stack pointer so far */
    enum sim_stop stop;
    uint64_t clocks;
    uint64_t instructions;
    uint64_t timer_from; /* clocks already counted by timer 0 */
    uint64_t interrupt_clocks; /* spent inside interrupts */
    uint64_t interrupt_start;

    uint64_t spi_ready;  /* clock at which the transfer under way ends */
    uint32_t spi_clocks; /* a byte */
    uint8_t (*spi)(struct sim8051 *sim, uint8_t out);
    void (*port)(struct sim8051 *sim, uint8_t address, uint8_t value); /* P0..P3 written; or NULL */
    void *context;
};

/* Ready to run at address 0; code is kept. */
void sim_reset(struct sim8051 *sim);

/* Loads an Intel hex file; 0, or -1 when it cannot be read. */
int sim_load(struct sim8051 *sim, const char *path);

/* Runs until something stops it (a jump to itself with interrupts off halts) or `clocks` is over.
 * */
void sim_run(struct sim8051 *sim, uint64_t clocks);

#endif
