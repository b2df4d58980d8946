/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stm32f103_model.h - what the firmware examples touch of an STM32F103, with a part on its SPI: one
 * of the models in tests/bus, behind a register that sends a byte.
 *
 * There is one clock, the bus model's: instructions, bytes on the bus, and what the firmware sleeps
 * or waits move it. An access to a register that this file does not know is a violation.
 */
#ifndef NANDWICH_TESTS_STM32F103_MODEL_H
#define NANDWICH_TESTS_STM32F103_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "bus.h"

/* 72 MHz, three cycles for two instructions: an estimate; nothing that is compared hangs on it. */
#define INSTRUCTION_PS 20833U

struct stm32f103 {
    struct spi_model *part;
    uint32_t plain[64];   /* registers that only remember, by a hash of their address */
    uint8_t received;     /* by the SPI */
    bool has_received;
    uint64_t timer_ns;    /* end of the one-shot timer; 0: not started */
    uint16_t timer_us;
    bool ticking;
    uint64_t tick_ns;     /* when the next tick is due */
    uint32_t ticks;       /* since the start */
    uint64_t picoseconds; /* of instructions, not yet moved on to the clock */
    bool watching;
    uint32_t watch_ms;
    uint64_t watch_ns;    /* when the watchdog bites */
    bool reset;           /* the firmware, or the watchdog, wants to begin anew */
    const char *heard;    /* what the console still sends to the firmware, a letter each 200 ms */
    uint64_t heard_ns;    /* when the next one is there */
    void (*say)(char letter);
    uint32_t strange;     /* accesses to registers nobody knows */
    uint32_t strange_at;
};

/* As after a loss of power, or after a reset: the part on the bus is not touched. */
void stm32f103_start(struct stm32f103 *chip);

uint32_t stm32f103_read(struct stm32f103 *chip, uint32_t address);
void stm32f103_write(struct stm32f103 *chip, uint32_t address, uint32_t value);

/* So many instructions have gone by. */
void stm32f103_spend(struct stm32f103 *chip, uint32_t instructions);

/* Sleeps until the next tick; false: there is none, ever. */
bool stm32f103_sleep(struct stm32f103 *chip);

bool stm32f103_tick_is_due(const struct stm32f103 *chip);

/* Its interrupt is taken. */
void stm32f103_take_tick(struct stm32f103 *chip);

#endif
