/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs an image on unicorn's Cortex-M3 or RV32, as it was linked for, and prints what it writes and
 * the instructions it spent between two marks.
 *
 *   run_m3 IMAGE.elf
 *
 * A program of its own: unicorn is GPL-2 and never linked to what we ship. Ports of the image: a
 * word to PORT is a mark (1 begins the count, 2 ends it, 3 takes the virtual range away, 255 ends
 * the run), a word to PORT + 4 a character of output, PORT + 8 reads as the instructions so far.
 * The last line is "instructions N". Counted by blocks: an instruction of an IT block whose
 * condition fails costs its place like any other.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

#define CODE_BYTES 0x00100000U
#define RAM 0x20000000U
#define RAM_BYTES 0x00800000U
#define PORT 0x40000000U
#define VIRTUAL 0x60000000U
#define VIRTUAL_BYTES 0x00400000U
#define ELF_ARM 40U /* e_machine */
#define MOST_BLOCKS 400000000ULL

static uint8_t code[CODE_BYTES];
static uint16_t length_at[CODE_BYTES / 2]; /* instructions of the block that begins here */
static uint64_t count, since, took, blocks;
static int over, hidden, is_arm;

static uint16_t instructions(uint32_t at, uint32_t bytes)
{
    uint32_t end = at + bytes;
    uint16_t found = 0;

    while (at < end) {
        unsigned top = code[at + 1] >> 3;
        int is_long = is_arm ? top == 0x1D || top == 0x1E || top == 0x1F : (code[at] & 3) == 3;

        at += is_long ? 4 : 2;
        found++;
    }
    return found;
}

static void on_block(uc_engine *uc, uint64_t address, uint32_t bytes, void *context)
{
    (void)context;
    if (address >= CODE_BYTES) {
        return;
    }
    if (length_at[address / 2] == 0) {
        length_at[address / 2] = instructions((uint32_t)address, bytes);
    }
    count += length_at[address / 2];
    blocks++;
    if (blocks > MOST_BLOCKS) {
        uc_emu_stop(uc);
    }
}

static void on_port(uc_engine *uc, uc_mem_type type, uint64_t address, int bytes, int64_t value,
                    void *context)
{
    (void)type;
    (void)bytes;
    (void)context;
    if (address == PORT + 4) {
        putchar((int)value);
    } else if (value == 1) {
        since = count;
    } else if (value == 2) {
        took = count - since;
    } else if ((value == 3 && !hidden) || value == 255) {
        hidden = 1; /* the store runs again when the emulator goes on */
        over = value == 255;
        uc_emu_stop(uc);
    }
}

static void on_counter(uc_engine *uc, uc_mem_type type, uint64_t address, int bytes, int64_t value,
                       void *context)
{
    uint32_t so_far = (uint32_t)count;

    (void)type;
    (void)address;
    (void)bytes;
    (void)value;
    (void)context;
    uc_mem_write(uc, PORT + 8, &so_far, sizeof so_far);
}

static uint32_t word_at(const uint8_t *image, size_t at)
{
    uint32_t word;

    memcpy(&word, image + at, sizeof word);
    return word;
}

static uint32_t load(uc_engine *uc, const uint8_t *image)
{
    uint32_t headers = word_at(image, 28);
    unsigned size = word_at(image, 40) >> 16, number = word_at(image, 44) & 0xFFFFU;

    for (unsigned one = 0; one < number; one++) {
        size_t at = headers + (size_t)one * size;
        uint32_t offset = word_at(image, at + 4), to = word_at(image, at + 8);
        uint32_t bytes = word_at(image, at + 16);

        if (word_at(image, at) != 1 || bytes == 0) {
            continue;
        }
        if (uc_mem_write(uc, to, image + offset, bytes) != UC_ERR_OK) {
            fprintf(stderr, "run_m3: no memory at %#x\n", to);
            exit(2);
        }
        if (to + bytes <= CODE_BYTES) {
            memcpy(code + to, image + offset, bytes);
        }
    }
    return word_at(image, 24);
}

static uint8_t *read_file(const char *name)
{
    static uint8_t image[8U << 20];
    FILE *file = fopen(name, "rb");

    if (file == NULL || fread(image, 1, sizeof image, file) < 52) {
        fprintf(stderr, "run_m3: %s is no image\n", name);
        exit(2);
    }
    fclose(file);
    return image;
}

static void open_memory(uc_engine *uc)
{
    static uc_hook block, port, counter;

    uc_mem_map(uc, 0, CODE_BYTES, UC_PROT_ALL);
    uc_mem_map(uc, RAM, RAM_BYTES, UC_PROT_ALL);
    uc_mem_map(uc, PORT, 0x1000, UC_PROT_ALL);
    uc_mem_map(uc, VIRTUAL, VIRTUAL_BYTES, UC_PROT_ALL);
    uc_hook_add(uc, &block, UC_HOOK_BLOCK, (void *)on_block, NULL, 1, 0);
    uc_hook_add(uc, &port, UC_HOOK_MEM_WRITE, (void *)on_port, NULL, PORT, PORT + 7);
    uc_hook_add(uc, &counter, UC_HOOK_MEM_READ, (void *)on_counter, NULL, PORT + 8, PORT + 11);
}

int main(int argc, char **argv)
{
    uc_engine *uc = NULL;
    uint32_t stack = RAM + RAM_BYTES - 16, at = 0;
    const uint8_t *image = argc == 2 ? read_file(argv[1]) : NULL;

    if (image == NULL) {
        fprintf(stderr, "run_m3 IMAGE.elf\n");
        return 2;
    }
    is_arm = (word_at(image, 16) >> 16) == ELF_ARM;
    if (uc_open(is_arm ? UC_ARCH_ARM : UC_ARCH_RISCV,
                is_arm ? UC_MODE_THUMB | UC_MODE_MCLASS : UC_MODE_RISCV32, &uc) != UC_ERR_OK) {
        fprintf(stderr, "run_m3: no processor\n");
        return 2;
    }
    open_memory(uc);
    int pc = is_arm ? UC_ARM_REG_PC : UC_RISCV_REG_PC;
    uint32_t entry = load(uc, image), thumb = (uint32_t)is_arm;
    uc_reg_write(uc, is_arm ? UC_ARM_REG_SP : UC_RISCV_REG_SP, &stack);
    uc_err error = uc_emu_start(uc, entry | thumb, 0xFFFFFFFEU, 0, 0);
    uc_reg_read(uc, pc, &at);
    if (hidden && !over) {
        uc_mem_unmap(uc, VIRTUAL, VIRTUAL_BYTES);
        error = uc_emu_start(uc, at | thumb, 0xFFFFFFFEU, 0, 0);
        uc_reg_read(uc, pc, &at);
    }
    if (!over) {
        fprintf(stderr, "run_m3: stopped at %#x: %s\n", at, uc_strerror(error));
        return 1;
    }
    printf("instructions %llu\n", (unsigned long long)took);
    return 0;
}
