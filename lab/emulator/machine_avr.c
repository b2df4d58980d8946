/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_avr.c - an ATmega128 with external RAM behind its own, by simavr, an instruction at a
 * time. Cycles are exact.
 *
 * Addresses of data as the linker has them (0x800000 and up) become those of the processor. Below
 * the stack lie registers, so it is watched; above the RAM there is nothing. A large frame wraps
 * the stack pointer below address 0. Its bytes are written one by one, the high one first, some
 * instructions apart: on the way up it stands too high for a moment, and how deep it is shows when
 * both are written.
 */
#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <simavr/sim_io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "emulator.h"

#define STACK_LOW 0x5DU /* the stack pointer */
#define STACK_HIGH 0x5EU
#define HALF_WRITTEN 0xFFU
#define WRITE_INSTRUCTIONS 3U

static avr_t *core_of(const struct machine *machine)
{
    return machine->processor;
}

static void on_write(avr_t *avr, avr_io_addr_t address, uint8_t value, void *context)
{
    struct machine *machine = context;
    uint32_t at = address - machine->settings.port;
    uint32_t word = at / 4U, shift = at % 4U * 8U;

    avr->data[address] = value;
    machine->registers[word] &= ~(0xFFU << shift);
    machine->registers[word] |= (uint32_t)value << shift;
    if (shift == 0) {
        machine_register(machine, word);
    }
}

static uint8_t on_read(avr_t *avr, avr_io_addr_t address, void *context)
{
    const struct machine *machine = context;
    uint32_t at = address - machine->settings.port;

    (void)avr;
    return (uint8_t)(machine->registers[at / 4U] >> at % 4U * 8U);
}

bool machine_get(struct machine *machine, uint32_t from, void *to, size_t bytes)
{
    const avr_t *avr = core_of(machine);

    from &= 0xFFFFU;
    if (from + bytes > avr->ramend + 1U) {
        return false;
    }
    memcpy(to, avr->data + from, bytes);
    return true;
}

bool machine_put(struct machine *machine, uint32_t to, const void *from, size_t bytes)
{
    avr_t *avr = core_of(machine);

    to &= 0xFFFFU;
    if (to + bytes > avr->ramend + 1U) {
        return false;
    }
    memcpy(avr->data + to, from, bytes);
    return true;
}

void machine_open(struct machine *machine)
{
    struct settings *settings = &machine->settings;
    avr_t *avr = avr_make_mcu_by_name("atmega128");

    if (avr == NULL) {
        machine_fail("simavr", "no atmega128");
    }
    settings->ram.start &= 0xFFFFU;
    avr->ramend = (uint16_t)(settings->ram.start + settings->ram.bytes - 1U);
    avr_init(avr);
    avr->log = LOG_NONE;
    part_clock(&machine->cycles);
    machine->processor = avr;
    machine->code = calloc(settings->code.bytes + 4U, 1);
    if (machine->code == NULL) {
        machine_fail("the emulator", "no memory");
    }
    machine_load(machine);
    memcpy(avr->flash, machine->code, settings->code.bytes);
    for (uint32_t i = 0; i < BOARD_WORDS * 4U; i++) {
        avr_io_addr_t address = (avr_io_addr_t)(settings->port + i);

        avr_register_io_write(avr, address, on_write, machine);
        avr_register_io_read(avr, address, on_read, machine);
    }
    machine_fill_stack(machine);
}

/* Whether the stack has gone below its end. A wrapped stack pointer stands far above its top. */
static bool is_too_deep(struct machine *machine, uint32_t stack)
{
    uint32_t bottom = machine->settings.ram.start, top = bottom + machine->settings.stack_bytes;

    machine->has_stack = machine->has_stack || (stack > bottom && stack < top);
    return machine->has_stack && (stack + 1U < bottom || stack > top + HALF_WRITTEN);
}

static void run_one(struct machine *machine, avr_t *avr)
{
    struct owner *owner = &machine->settings.owners[machine_owner(machine, avr->pc)];
    avr_cycle_count_t before = avr->cycle;

    machine->fault_pc = avr->pc;
    avr->run_cycle_count = 0;
    avr->pc = avr_run_one(avr);
    owner->all.instructions++;
    machine->cycles += avr->cycle - before;
    owner->all.cycles_least += avr->cycle - before;
    owner->all.cycles_most += avr->cycle - before;
}

void machine_run(struct machine *machine)
{
    const struct settings *settings = &machine->settings;
    avr_t *avr = core_of(machine);
    uint32_t since = 0; /* instructions since the stack was found too deep */

    avr->state = cpu_Running;
    while (machine->end == END_NONE && avr->state == cpu_Running) {
        run_one(machine, avr);
        uint32_t stack = avr->data[STACK_LOW] | (uint32_t)avr->data[STACK_HIGH] << 8;
        uint16_t used = (uint16_t)(settings->ram.start + settings->stack_bytes - stack);

        if (since > 0 || is_too_deep(machine, stack)) {
            machine->detail[1] = since == 0 || used > settings->stack_bytes ? used
                                                                            : machine->detail[1];
            machine->end = ++since > WRITE_INSTRUCTIONS ? END_STACK : END_NONE;
        }
    }
    if (machine->end == END_NONE) {
        machine->end = since > 0 ? END_STACK : END_FAULT;
    }
}
