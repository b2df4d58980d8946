/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a firmware example on unicorn's Cortex-M3 with a part of tests/bus on its SPI, and cuts its
 * power.
 *
 *   run_board IMAGE.elf nand|card RAM_BYTES RUN [FIRST LAST [CUT ...]]
 *
 * Each CUT is a start that loses power after so many instructions; the part keeps what it has. The
 * last start runs for RUN instructions. FIRST is what the console sends to the first start, behind
 * a comma to the second and so on, LAST what it sends to the last one. What the firmware says goes
 * to stdout; lines that begin with "=" are this program's:
 *
 *   = start              before each start, of a cut or by itself
 *   = reset              the firmware, or its watchdog, has begun anew
 *   = end                the rest is behind the last start
 *   = instructions N     of the last start
 *   = milliseconds N     of all, by the bus model's clock
 *   = stack N            deepest of all starts, bytes; below the variables or behind them
 *   = violations N WHY   what the firmware did to the part that its datasheet forbids
 *
 * With CARD_IMAGE=FILE in the environment the first MiB of the card is written there at the end.
 * A program of its own: unicorn is GPL-2 and never linked to what we ship.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

#include "sd_model.h"
#include "spi_nand_model.h"
#include "stm32f103_model.h"

#define FLASH 0x08000000U
#define FLASH_BYTES 0x00080000U
#define RAM 0x20000000U
#define GARBAGE 0xA5
#define HANDLER_END (FLASH + FLASH_BYTES - 2U) /* where interrupts return to: unused flash */
#define FAULT_VECTOR 3U
#define SYSTICK_VECTOR 15U
#define MOST_RESETS 20U
#define CARD_SECTORS 65536U
#define CARD_IMAGE_SECTORS 2048U
#define CARD_OPEN_US 60000U /* of a unit: the least that the RG-EDF paper saw */
#define WFI 0xBF30U
#define IT_BITS 0x0600FC00U /* of the xPSR */

static struct spi_nand_model nand;
static struct sd_model card;
static struct stm32f103 chip;
static uc_engine *uc;
static uint8_t flash[FLASH_BYTES];
static uint16_t length_at[FLASH_BYTES / 2]; /* instructions of the block that begins here */
static uint32_t ram_bytes, variables = UINT32_MAX, variables_end = RAM;
static uint64_t count, limit;
static uint32_t deepest;
static bool handling, faulted;
static char said = '\n';

static uint16_t instructions(uint32_t at, uint32_t bytes)
{
    uint32_t end = at + bytes;
    uint16_t found = 0;

    while (at < end) {
        unsigned top = flash[at + 1] >> 3;

        at += top == 0x1D || top == 0x1E || top == 0x1F ? 4 : 2;
        found++;
    }
    return found;
}

/* Before each run of instructions without a jump. What stops here has not run yet. */
static void on_block(uc_engine *engine, uint64_t address, uint32_t bytes, void *context)
{
    uint32_t at = (uint32_t)address - FLASH;

    (void)context;
    if (at >= FLASH_BYTES) {
        return;
    }
    if (count >= limit || chip.reset || (stm32f103_tick_is_due(&chip) && !handling)) {
        uc_emu_stop(engine);
        return;
    }
    if (length_at[at / 2] == 0) {
        length_at[at / 2] = instructions(at, bytes);
    }
    count += length_at[at / 2];
    stm32f103_spend(&chip, length_at[at / 2]);
}

static uint64_t on_read(uc_engine *engine, uint64_t offset, unsigned size, void *context)
{
    (void)engine;
    (void)size;
    return stm32f103_read(&chip, (uint32_t)(offset + (uintptr_t)context));
}

static void on_write(uc_engine *engine, uint64_t offset, unsigned size, uint64_t value,
                     void *context)
{
    (void)engine;
    (void)size;
    stm32f103_write(&chip, (uint32_t)(offset + (uintptr_t)context), (uint32_t)value);
}

static void say(char letter)
{
    putchar(letter);
    said = letter;
}

/* A line of this program's own; power may have gone in the midst of one of the firmware's. */
static void mark(const char *line)
{
    if (said != '\n') {
        putchar('\n');
    }
    said = '\n';
    printf("= %s\n", line);
}

static uint32_t word_at(const uint8_t *image, size_t at)
{
    uint32_t word;

    memcpy(&word, image + at, sizeof word);
    return word;
}

/* What the image has for flash, by the addresses that it is loaded to. */
static void load(const char *name)
{
    static uint8_t image[4U << 20];
    FILE *file = fopen(name, "rb");

    if (file == NULL || fread(image, 1, sizeof image, file) < 52) {
        fprintf(stderr, "run_board: %s is no image\n", name);
        exit(2);
    }
    fclose(file);
    for (unsigned one = 0; one < (word_at(image, 44) & 0xFFFFU); one++) {
        size_t at = word_at(image, 28) + (size_t)one * (word_at(image, 40) >> 16);
        uint32_t to = word_at(image, at + 12) - FLASH, bytes = word_at(image, at + 16);

        uint32_t end = word_at(image, at + 8) + word_at(image, at + 20);

        if (end > variables_end && end <= RAM + ram_bytes) {
            variables_end = end;
        }
        if (end > RAM && end <= RAM + ram_bytes && word_at(image, at + 8) < variables) {
            variables = word_at(image, at + 8);
        }
        if (word_at(image, at) == 1 && bytes != 0 && to + bytes <= FLASH_BYTES) {
            memcpy(flash + to, image + word_at(image, at + 4), bytes);
        }
    }
    uc_mem_write(uc, FLASH, flash, sizeof flash);
}

static uint32_t get(int reg)
{
    uint32_t value = 0;

    uc_reg_read(uc, reg, &value);
    return value;
}

static void set(int reg, uint32_t value)
{
    uc_reg_write(uc, reg, &value);
}

/* What the processor pushes when an interrupt comes, lowest address first. */
static const int frame[] = {UC_ARM_REG_R0,  UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3,
                            UC_ARM_REG_R12, UC_ARM_REG_LR, UC_ARM_REG_PC, UC_ARM_REG_XPSR};
static uint32_t interrupted_at, stack_then;

/* The handler begins outside of any IT block; what it interrupted may be in one, and goes on in it
 * when the xPSR is back. */
static uint32_t interrupt(uint32_t pc)
{
    uint32_t words[8], sp;

    stack_then = get(UC_ARM_REG_SP);
    interrupted_at = pc;
    sp = (stack_then - 32U) & ~7U;
    for (unsigned i = 0; i < 8; i++) {
        words[i] = get(frame[i]);
    }
    uc_mem_write(uc, sp, words, sizeof words);
    set(UC_ARM_REG_SP, sp);
    set(UC_ARM_REG_LR, HANDLER_END | 1U);
    set(UC_ARM_REG_XPSR, words[7] & ~IT_BITS);
    stm32f103_take_tick(&chip);
    handling = true;
    return word_at(flash, SYSTICK_VECTOR * 4U) & ~1U;
}

static uint32_t end_interrupt(void)
{
    uint32_t words[8];

    uc_mem_read(uc, get(UC_ARM_REG_SP), words, sizeof words);
    for (unsigned i = 0; i < 8; i++) {
        set(frame[i], words[i]);
    }
    set(UC_ARM_REG_SP, stack_then);
    handling = false;
    return interrupted_at;
}

/* RAM is painted before a start: the stack reaches down to the lowest place of its own where paint
 * is gone. */
static void measure_stack(void)
{
    static uint8_t ram[0x10000];
    uint32_t top = word_at(flash, 0), at = top <= variables ? 0 : variables_end - RAM;

    uc_mem_read(uc, RAM, ram, ram_bytes);
    while (at < top - RAM && ram[at] == GARBAGE) {
        at++;
    }
    if (top - RAM - at > deepest) {
        deepest = top - RAM - at;
    }
}

static void fail(const char *what, uint32_t pc)
{
    fflush(stdout);
    fprintf(stderr, "run_board: %s at %#x after %llu instructions\n", what, pc,
            (unsigned long long)count);
    exit(1);
}

/* Memory that is not there is a fault. What the processor pushes is lost where the stack has no
 * room either; a fault within the handler locks it up. */
static uint32_t fault(uc_err error, uint32_t pc)
{
    uint32_t sp = (get(UC_ARM_REG_SP) - 32U) & ~7U;

    if ((error != UC_ERR_READ_UNMAPPED && error != UC_ERR_WRITE_UNMAPPED) || faulted) {
        fail(uc_strerror(error), pc);
    }
    faulted = handling = true; /* no tick comes in between */
    set(UC_ARM_REG_SP, sp);
    set(UC_ARM_REG_LR, HANDLER_END | 1U);
    set(UC_ARM_REG_XPSR, get(UC_ARM_REG_XPSR) & ~IT_BITS);
    return word_at(flash, FAULT_VECTOR * 4U) & ~1U;
}

/* Runs until the limit, or a reset. */
static void go(uint32_t pc)
{
    while (count < limit && !chip.reset) {
        uc_err error = uc_emu_start(uc, pc | 1U, HANDLER_END, 0, 0);

        pc = get(UC_ARM_REG_PC) & ~1U;
        if (error != UC_ERR_OK) {
            pc = fault(error, pc);
        } else if (pc == HANDLER_END) {
            pc = end_interrupt();
        } else if (pc >= FLASH + 2U && word_at(flash, pc - FLASH - 2U) % 0x10000U == WFI &&
                   !stm32f103_tick_is_due(&chip) && !stm32f103_sleep(&chip)) {
            fail("asleep for ever", pc);
        }
        if (stm32f103_tick_is_due(&chip) && !handling) {
            pc = interrupt(pc);
        }
    }
}

static void start(void)
{
    stm32f103_start(&chip);
    for (int reg = UC_ARM_REG_R0; reg <= UC_ARM_REG_R12; reg++) {
        set(reg, 0xA5A5A5A5U);
    }
    handling = faulted = false;
    set(UC_ARM_REG_SP, word_at(flash, 0));
    mark("start");
    go(word_at(flash, 4) & ~1U);
}

/* From power on to its loss, or to the end of the run. */
static void power(uint64_t until)
{
    static uint8_t garbage[0x10000];
    unsigned resets = 0;

    memset(garbage, GARBAGE, sizeof garbage);
    uc_mem_write(uc, RAM, garbage, ram_bytes);
    count = 0;
    limit = until;
    start();
    while (chip.reset) {
        if (++resets > MOST_RESETS) {
            fail("reset after reset", 0);
        }
        mark("reset");
        start();
    }
    measure_stack();
}

static void cut(struct bus *bus)
{
    bus->cut_at = bus->bytes;
    (void)bus_byte(bus, 1);
    if (chip.part == &card.spi) {
        sd_model_power_up(&card);
    } else {
        spi_nand_model_power_up(&nand);
    }
}

static void open_part(const char *which)
{
    static const struct spi_nand_kind w25n01gv = {{0xEF, 0xAA, 0x21}, 1, 1, 2, 1, 1024, 0};

    if (strcmp(which, "card") == 0) {
        sd_model_open(&card, SD_LARGE, CARD_SECTORS);
        card.open_us = CARD_OPEN_US;
        chip.part = &card.spi;
    } else {
        spi_nand_model_open(&nand, &w25n01gv, 1);
        chip.part = &nand.spi;
    }
    chip.say = say;
}

static void write_card(const char *name)
{
    static uint8_t image[CARD_IMAGE_SECTORS * 512U];
    struct nw_block_req req = {.block = card.block, .count = CARD_IMAGE_SECTORS, .data = image};
    FILE *file = fopen(name, "wb");

    if (file == NULL || nw_block_read(&req) < 0 || fwrite(image, sizeof image, 1, file) != 1) {
        fail("no image of the card", 0);
    }
    fclose(file);
}

static void open_processor(void)
{
    static const uint32_t registers[] = {0x40000000U, 0xE000E000U};
    uc_hook block;

    if (uc_open(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS, &uc) != UC_ERR_OK) {
        fail("no processor", 0);
    }
    uc_ctl_set_cpu_model(uc, UC_CPU_ARM_CORTEX_M3);
    uc_mem_map(uc, FLASH, FLASH_BYTES, UC_PROT_READ | UC_PROT_EXEC);
    uc_mem_map(uc, RAM, ram_bytes, UC_PROT_READ | UC_PROT_WRITE);
    for (unsigned i = 0; i < 2; i++) {
        void *base = (void *)(uintptr_t)registers[i];

        uc_mmio_map(uc, registers[i], i == 0 ? 0x24000 : 0x1000, on_read, base, on_write, base);
    }
    uc_hook_add(uc, &block, UC_HOOK_BLOCK, (void *)on_block, NULL, 1, 0);
}

int main(int argc, char **argv)
{
    const char *image = getenv("CARD_IMAGE");
    char none[] = "";
    char *heard = none;
    struct bus *bus;

    if (argc < 5) {
        fprintf(stderr, "run_board IMAGE.elf nand|card RAM_BYTES RUN [FIRST LAST [CUT ...]]\n");
        return 2;
    }
    ram_bytes = (uint32_t)strtoul(argv[3], NULL, 0);
    open_processor();
    load(argv[1]);
    open_part(argv[2]);
    bus = &chip.part->bus;
    heard = argc > 5 ? argv[5] : heard;
    for (int one = 7; one < argc; one++) {
        char *comma = strchr(heard, ',');

        chip.heard = heard;
        heard = comma != NULL ? comma + 1 : none;
        if (comma != NULL) {
            *comma = '\0';
        }
        power(strtoull(argv[one], NULL, 0));
        cut(bus);
    }
    chip.heard = argc > 7 ? argv[6] : heard;
    power(strtoull(argv[4], NULL, 0));
    if (image != NULL) {
        write_card(image);
    }
    if (chip.strange != 0) {
        fail("a register that the model does not know", chip.strange_at);
    }
    mark("end");
    printf("= instructions %llu\n= milliseconds %llu\n= stack %u\n= violations %u %s\n",
           (unsigned long long)count, (unsigned long long)(bus->now_ns / 1000000U), deepest,
           bus->violations, bus->why);
    return bus->violations != 0;
}
