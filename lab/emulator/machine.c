/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - what the boards share, whatever their processor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "emulator.h"

#define STACK_FILL 0xA5
#define HEADER_BYTES 52U
#define IMAGE_BYTES_MAX (64U << 20)

_Noreturn void machine_fail(const char *what, const char *detail)
{
    fprintf(stderr, "emulator: %s: %s\n", what, detail);
    exit(125);
}

uint8_t machine_owner(const struct machine *machine, uint32_t address)
{
    const struct settings *settings = &machine->settings;

    for (uint32_t i = 0; i < settings->owner_count; i++) {
        if (address >= settings->owners[i].start && address < settings->owners[i].end) {
            return (uint8_t)i;
        }
    }
    return (uint8_t)settings->owner_count;
}

/* The bus's DMA. */
static void move(struct machine *machine, uint32_t how)
{
    uint32_t at = machine->registers[BOARD_ARGUMENT], left = machine->registers[BOARD_ARGUMENT + 1];
    uint8_t bytes[UINT16_MAX];
    bool is_there = left > 0 && left <= sizeof bytes;

    if (is_there && how == MOVE_OUT) {
        is_there = machine_get(machine, at, bytes, left);
    }
    if (is_there) {
        part_move(bytes, left, (enum board_move)how);
    }
    if (is_there && how != MOVE_OUT) {
        is_there = machine_put(machine, at, bytes, left);
    }
    if (!is_there) {
        machine_fail("the bus's DMA", "no such memory");
    }
}

uint8_t machine_owner_named(const struct machine *machine, const char *name)
{
    uint8_t owner = 0;

    while (owner < machine->settings.owner_count &&
           strcmp(machine->settings.owners[owner].name, name) != 0) {
        owner++;
    }
    return owner;
}

void machine_register(struct machine *machine, uint32_t word)
{
    uint32_t value = machine->registers[word];

    switch (word) {
    case BOARD_CALL: host_call(machine); break;
    case BOARD_SELECT: part_select(value); break;
    case BOARD_DATA: machine->registers[BOARD_DATA] = part_exchange((uint8_t)value); break;
    case BOARD_MOVE: move(machine, value); break;
    case BOARD_COMMAND:
    case BOARD_ADDRESS: part_latch(word == BOARD_ADDRESS, (uint8_t)value); break;
    case BOARD_LANES: part_put((uint8_t)value); break;
    case BOARD_PAUSE: part_pause(); break;
    case BOARD_WAIT: part_wait(machine->registers[BOARD_ARGUMENT]); break;
    default: break;
    }
}

uint32_t machine_answer(const struct machine *machine, uint32_t word)
{
    return word == BOARD_LANES ? part_get() : word < BOARD_WORDS ? machine->registers[word] : 0;
}

static uint32_t word_at(const uint8_t *image, size_t at)
{
    uint32_t word;

    memcpy(&word, image + at, sizeof word);
    return word;
}

static void load(struct machine *machine, const uint8_t *image, size_t bytes)
{
    const struct range *code = &machine->settings.code;
    uint32_t headers = word_at(image, 28);
    unsigned size = word_at(image, 40) >> 16, number = word_at(image, 44) & 0xFFFFU;

    for (unsigned one = 0; one < number; one++) {
        size_t at = headers + (size_t)one * size;
        uint32_t offset = word_at(image, at + 4), to = word_at(image, at + 12);
        uint32_t length = word_at(image, at + 16);

        if (word_at(image, at) != 1 || length == 0) {
            continue;
        }
        if (to - code->start > code->bytes || length > code->bytes - (to - code->start) ||
            offset + (size_t)length > bytes) {
            machine_fail(machine->settings.image, "a segment outside the code flash");
        }
        memcpy(machine->code + (to - code->start), image + offset, length);
    }
}

void machine_load(struct machine *machine)
{
    static uint8_t image[IMAGE_BYTES_MAX];
    FILE *file = fopen(machine->settings.image, "rb");
    size_t bytes = file != NULL ? fread(image, 1, sizeof image, file) : 0;

    if (bytes < HEADER_BYTES || bytes == sizeof image) {
        machine_fail(machine->settings.image, "no image, or a too large one");
    }
    (void)fclose(file);
    load(machine, image, bytes);
}

void machine_fill_stack(struct machine *machine)
{
    uint32_t bytes = machine->settings.stack_bytes;
    uint8_t *fill = malloc(bytes);

    if (fill == NULL) {
        machine_fail("the emulator", "no memory");
    }
    memset(fill, STACK_FILL, bytes);
    if (!machine_put(machine, machine->settings.ram.start, fill, bytes)) {
        machine_fail("the emulator", "no memory for the stack");
    }
    free(fill);
}

uint32_t machine_stack_peak(struct machine *machine)
{
    const struct settings *settings = &machine->settings;
    uint8_t *stack = malloc(settings->stack_bytes);
    uint32_t at = 0;

    if (stack == NULL) {
        machine_fail("the emulator", "no memory");
    }
    (void)machine_get(machine, settings->ram.start, stack, settings->stack_bytes);
    while (at < settings->stack_bytes && stack[at] == STACK_FILL) {
        at++;
    }
    free(stack);
    return settings->stack_bytes - at;
}
