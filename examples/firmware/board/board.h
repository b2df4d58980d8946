/* SPDX-License-Identifier: Apache-2.0 */
/*
 * board.h - what the examples have of their board: an STM32F103 with a part on SPI1, a console, a
 * tick of a millisecond, a sensor and a watchdog.
 *
 * Pins: PA4 chip select, PA5 clock, PA6 from the part, PA7 to the part; PA9 and PA10 the console
 * (115,200 baud); PA0 the sensor. A crystal of 8 MHz.
 *
 * For another processor write board.c anew; nothing above it knows the processor.
 */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/driver_spi.h"

/* The part on SPI1: a serial NAND, or a card. */
extern struct nw_spi board_spi;

/* Clocks, pins, SPI, console, tick. The first call of main. */
void board_open(void);

/* Milliseconds since the start; wraps after 49 days. */
uint32_t board_ms(void);

/* Sleeps until the next interrupt, a millisecond at most. */
void board_sleep(void);

/* Called by the tick's interrupt each millisecond. The example may have one of its own. */
void board_tick(uint32_t ms);

/* The sensor: 12 bits. */
uint16_t board_sample(void);

/* To the console. A number is shown with its sign, a space before it. */
void board_say(const char *text);
void board_say_number(int32_t number);
void board_say_line(const char *text, int32_t number);

/* Waits until the last letter is out: before a reset. */
void board_said(void);

/* A character from the console; -1: none came. */
int board_heard(void);

/* Whether this letter comes in the first tenth of a second; waits until that is over. A jumper
 * would do as well. */
int board_heard_first(char letter);

/*
 * The watchdog resets the processor when board_alive() was not called for so long, 26,000 ms at
 * most. Its clock may be a third off. Once started it cannot be stopped.
 */
void board_watch(uint32_t ms);
void board_alive(void);

/* Begins anew, as after a loss of power. */
__attribute__((noreturn)) void board_reset(void);

/* Says what went wrong and begins anew a second later: the way out of every error that the
 * example cannot mend where it stands. */
__attribute__((noreturn)) void board_fail(const char *what, int result);

#endif
