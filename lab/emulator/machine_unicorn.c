/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_unicorn.c - processor, memories and the count of instructions.
 *
 * COUNTED BY BLOCKS. Unicorn tells of each block of code it enters, with its place and its bytes;
 * the instructions in it are counted once, from the code itself, and charged to the owner of the
 * place. So an instruction of an IT block whose condition fails counts like any other, as it does
 * on the processor. A block that a fault or the end leaves half done counts whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

#include "accesses.h"
#include "board.h"
#include "cycles.h"
#include "emulator.h"

#define PORT_BYTES 0x1000U

/* The block that begins here. */
struct place {
    uint16_t instructions; /* 0: not known yet */
    uint16_t cycles_least, cycles_most;
    uint8_t owner;
    bool may_branch;
};

static bool is_riscv(const struct machine *machine)
{
    return strcmp(machine->settings.arch, "riscv") == 0;
}

static uint32_t length_at(const struct machine *machine, uint32_t at)
{
    if (is_riscv(machine)) {
        return (machine->code[at] & 3U) == 3U ? 4 : 2;
    }
    return machine->code[at + 1] >> 3 >= 0x1DU ? 4 : 2;
}

static uint16_t half_at(const struct machine *machine, uint32_t at)
{
    return (uint16_t)(machine->code[at] | machine->code[at + 1] << 8);
}

/* What the block of so many bytes takes, each instruction of it. */
static void look(const struct machine *machine, uint32_t at, uint32_t bytes, struct place *place)
{
    for (uint32_t next = at; next < at + bytes; next += length_at(machine, next)) {
        place->instructions++;
        if (!is_riscv(machine)) {
            struct cycles cycles = cycles_of(half_at(machine, next), half_at(machine, next + 2));

            place->cycles_least = (uint16_t)(place->cycles_least + cycles.least);
            place->cycles_most = (uint16_t)(place->cycles_most + cycles.most);
            place->may_branch = cycles.may_branch;
        }
    }
    place->owner = machine_owner(machine, machine->settings.code.start + at);
}

static void on_block(uc_engine *uc, uint64_t address, uint32_t bytes, void *context)
{
    struct machine *machine = context;
    struct settings *settings = &machine->settings;
    uint32_t at = (uint32_t)address - settings->code.start;
    struct place *place;

    (void)uc;
    if (machine->last != NULL && address != machine->next) {
        machine->cycles += CYCLES_REFILL_LEAST;
        machine->last->all.cycles_least += CYCLES_REFILL_LEAST;
        machine->last->all.cycles_most += CYCLES_REFILL_MOST;
    }
    machine->last = NULL;
    if (at >= settings->code.bytes) {
        return; /* no code: the fetch itself will fault */
    }
    place = &machine->places[at / 2];
    if (place->instructions == 0) {
        look(machine, at, bytes, place);
    }
    if (place->owner == machine->program) {
        machine->program_at = (uint32_t)address + bytes - 1U;
    }
    struct owner *owner = &settings->owners[place->owner];
    machine->cycles += is_riscv(machine) ? place->instructions : place->cycles_least;
    owner->all.instructions += place->instructions;
    owner->all.cycles_least += place->cycles_least;
    owner->all.cycles_most += place->cycles_most;
    machine->last = place->may_branch ? owner : NULL;
    machine->next = (uint32_t)address + bytes;
}

static uint64_t on_port_read(uc_engine *uc, uint64_t offset, unsigned bytes, void *context)
{
    const struct machine *machine = context;

    (void)uc;
    (void)bytes;
    return machine_answer(machine, (uint32_t)(offset / 4));
}

static void on_port_write(uc_engine *uc, uint64_t offset, unsigned bytes, uint64_t value,
                          void *context)
{
    struct machine *machine = context;
    uint32_t word = (uint32_t)(offset / 4);

    (void)bytes;
    if (word >= BOARD_WORDS) {
        return;
    }
    machine->registers[word] = (uint32_t)value;
    machine_register(machine, word);
    if (machine->end != END_NONE) {
        uc_emu_stop(uc);
    }
}

static bool on_invalid(uc_engine *uc, uc_mem_type type, uint64_t address, int bytes,
                       int64_t value, void *context)
{
    struct machine *machine = context;

    (void)uc;
    (void)type;
    (void)bytes;
    (void)value;
    machine->fault_at = (uint32_t)address;
    return false;
}

static uint32_t word_at(const uint8_t *image, size_t at)
{
    uint32_t word;

    memcpy(&word, image + at, sizeof word);
    return word;
}

static void must(uc_err error, const char *what)
{
    if (error != UC_ERR_OK) {
        machine_fail(what, uc_strerror(error));
    }
}

static void map(struct machine *machine)
{
    const struct settings *settings = &machine->settings;
    const struct range *code = &settings->code, *ram = &settings->ram;
    uc_engine *uc = machine->processor;

    must(uc_mem_map(uc, code->start, code->bytes, UC_PROT_READ | UC_PROT_EXEC), "code");
    must(uc_mem_write(uc, code->start, machine->code, code->bytes), "code");
    must(uc_mem_map(uc, ram->start, ram->bytes, UC_PROT_READ | UC_PROT_WRITE), "RAM");
    machine_fill_stack(machine);
    must(uc_mmio_map(uc, settings->port, PORT_BYTES, on_port_read, machine, on_port_write, machine),
         "registers");
}

bool machine_get(struct machine *machine, uint32_t from, void *to, size_t bytes)
{
    return uc_mem_read(machine->processor, from, to, bytes) == UC_ERR_OK;
}

bool machine_put(struct machine *machine, uint32_t to, const void *from, size_t bytes)
{
    return uc_mem_write(machine->processor, to, from, bytes) == UC_ERR_OK;
}

void machine_open(struct machine *machine)
{
    static uc_hook block, invalid;
    uc_engine *uc = NULL;
    const struct range *code = &machine->settings.code;

    machine->code = calloc(code->bytes + 4U, 1);
    machine->places = calloc(code->bytes / 2, sizeof *machine->places);
    if (machine->code == NULL || machine->places == NULL) {
        machine_fail("the emulator", "no memory");
    }
    must(is_riscv(machine) ? uc_open(UC_ARCH_RISCV, UC_MODE_RISCV32, &uc)
                           : uc_open(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS, &uc),
         "processor");
    machine->processor = uc;
    part_clock(&machine->cycles);
    if (!is_riscv(machine)) {
        must(uc_ctl_set_cpu_model(uc, UC_CPU_ARM_CORTEX_M3), "Cortex-M3");
    }
    machine_load(machine);
    machine->program = machine_owner_named(machine, "program");
    map(machine);
    must(uc_hook_add(machine->processor, &block, UC_HOOK_BLOCK, (void *)on_block, machine, 1, 0),
         "blocks");
    must(uc_hook_add(machine->processor, &invalid, UC_HOOK_MEM_INVALID, (void *)on_invalid, machine,
                     1, 0),
         "faults");
    accesses_open(machine);
}

void machine_run(struct machine *machine)
{
    const struct settings *settings = &machine->settings;
    uint32_t begin = settings->code.start, stack = 0;
    uint32_t top = settings->ram.start + settings->stack_bytes;
    uc_err error;

    if (!is_riscv(machine)) {
        stack = word_at(machine->code, 0);
        begin = word_at(machine->code, 4);
        uc_reg_write(machine->processor, UC_ARM_REG_SP, &stack);
    }
    error = uc_emu_start(machine->processor, begin, 0xFFFFFFFEU, 0, 0);
    accesses_close(machine);
    if (machine->end != END_NONE) {
        return;
    }
    uc_reg_read(machine->processor,
                is_riscv(machine) ? (int)UC_RISCV_REG_PC : (int)UC_ARM_REG_PC,
                &machine->fault_pc);
    /* Of one large frame the first access may lie anywhere in it: the stack pointer tells. */
    uc_reg_read(machine->processor, is_riscv(machine) ? (int)UC_RISCV_REG_SP : (int)UC_ARM_REG_SP,
                &stack);
    bool near = settings->ram.start - machine->fault_at <= settings->stack_bytes;
    machine->end = near || stack < settings->ram.start ? END_STACK : END_FAULT;
    machine->detail[0] = error;
    machine->detail[1] = top - (near && machine->fault_at < stack ? machine->fault_at : stack);
}
