/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulator.h - the board of ports/device in software: a processor (unicorn's or simavr's),
 * memories, a part on a bus (a model of tests/bus over the twin), and the host's files.
 *
 * Two programs of their own, one with each processor: unicorn is GPL-2, simavr GPL-3, and neither
 * is ever linked to what we ship.
 */
#ifndef NW_LAB_EMULATOR_H
#define NW_LAB_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board.h"
#include "bus.h"

#define NAME_BYTES 64
#define OWNERS_MAX 10
#define TOLD_MAX 32

struct range {
    uint32_t start;
    uint32_t bytes;
};

/* What code takes; cycles as a band (cycles.h), 0 where the processor is no Cortex-M3. */
struct spent {
    uint64_t instructions, cycles_least, cycles_most;
};

/* Whose code lies where. */
struct owner {
    char name[NAME_BYTES];
    uint32_t start, end;
    struct spent all;    /* so far */
    struct spent before; /* of these before main */
};

/* Where a file lies on the part. */
struct file_place {
    char name[4096];
    uint32_t block;
};

#define PLACES_MAX 8

struct settings {
    char arch[NAME_BYTES]; /* "arm", "riscv" or "avr" */
    char image[4096];
    char report[4096];
    char accesses[4096];  /* where all loads and stores are recorded; "": nowhere */
    char recording[4096]; /* where a program that records has its accesses; "": nowhere */
    char counted[4096]; /* where the memory of `counts` goes at the end */
    char part[256];         /* see part_kinds.c */
    char fault[NAME_BYTES]; /* "", "id", "stuck" or "ecc" */
    uint32_t port;
    uint32_t stack_bytes;
    uint32_t seed;
    uint32_t hz;     /* of the processor */
    uint32_t bus_ps; /* what a byte takes on one line; 0: BUS_BYTE_NS */
    bool bus_four;   /* the bus has four lines */
    uint32_t byte_ns; /* least time from byte to byte on a DataFlash's bus */
    uint32_t rewrite_us; /* of a DataFlash, buffer to page with erase; 0: as its model has it */
    struct range code, ram;
    struct range counts; /* of a program that counts its blocks; an empty one for others */
    struct owner owners[OWNERS_MAX];
    uint32_t owner_count;
    struct file_place places[PLACES_MAX];
    uint32_t place_count;
};

/* How the run ended. */
enum end { END_NONE, END_EXIT, END_REFUSED, END_PANIC, END_FAULT, END_STACK };

/* A number that the guest gave. */
struct told {
    char name[NAME_BYTES];
    uint32_t value;
};

/* Clock and operations of the part: what a phase of the run takes is a difference of two. The clock
 * is that of the bus and of waits; of a DataFlash, the processor's time is in it. */
struct flash {
    uint64_t now_ns, busy_us, bytes;
    uint32_t begun[BUS_KINDS];
};

struct machine {
    struct settings settings;
    void *processor;      /* of unicorn or simavr */
    uint8_t *code;        /* a copy of the code flash, to count by */
    struct place *places; /* what begins at each halfword of it */
    uint32_t next;        /* where the last block goes on if no branch is taken */
    uint64_t cycles;      /* so far: the least of the band, or an instruction each */
    struct owner *last;   /* whose block may have ended with a branch; NULL: none */
    bool has_stack;       /* the stack pointer has been set: it is watched from now on */
    uint32_t registers[16];
    struct flash before; /* main */
    uint64_t before_cycles;
    bool in_main;
    enum end end;
    int status;
    uint32_t detail[3];
    uint32_t fault_at, fault_pc;
    uint8_t program;     /* the owner of the program's own code */
    uint32_t program_at; /* in the last instruction of the program's own code; 0: not known */
    struct told told[TOLD_MAX];
    uint32_t told_count;
    int argc;
    char **argv;
};

/* machine_unicorn.c or machine_avr.c */
void machine_open(struct machine *machine);
void machine_run(struct machine *machine);
/* The guest's memory; false where there is none. */
bool machine_get(struct machine *machine, uint32_t from, void *to, size_t bytes);
bool machine_put(struct machine *machine, uint32_t to, const void *from, size_t bytes);

/* machine.c */
/* The image's segments into machine->code. */
void machine_load(struct machine *machine);
void machine_fill_stack(struct machine *machine);
uint8_t machine_owner(const struct machine *machine, uint32_t address);
uint8_t machine_owner_named(const struct machine *machine, const char *name);
/* A register was written; one is read. */
void machine_register(struct machine *machine, uint32_t word);
uint32_t machine_answer(const struct machine *machine, uint32_t word);
/* The most bytes of the stack that were ever in use. */
uint32_t machine_stack_peak(struct machine *machine);
_Noreturn void machine_fail(const char *what, const char *detail);

/* host.c: does the call in the registers; sets the answer. */
void host_call(struct machine *machine);

/* recording.c: what a program tells that records its accesses to NW_VM variables. */
void recording_variable(struct machine *machine, const char *name);
void recording_access(struct machine *machine);
uint64_t recording_accesses(void); /* so far */
void recording_close(const struct machine *machine); /* the file appears now */

/* part.c: the part on the bus. */
void part_open(const struct settings *settings);
/* The processor's count of cycles: the part works on while the processor does. */
void part_clock(const uint64_t *cycles);
void part_select(uint32_t on);
uint8_t part_exchange(uint8_t byte);
void part_latch(bool is_address, uint8_t byte);
void part_put(uint8_t byte);
uint8_t part_get(void);
void part_pause(void);
void part_move(uint8_t *bytes, uint32_t count, enum board_move how);
void part_wait(uint32_t us);
void part_main_begins(void);
struct flash part_flash(void);
/* A file's content on the part, as if it had been put there before: where the settings say, else at
 * the end. The first block, the same until the file is written; -1 and errno: ENOSPC where it would
 * take one of the first blocks, so many of which are another's. */
int64_t part_place(int file, uint32_t others);
const char *part_violation(void); /* the first thing a driver must never do; NULL: none */
uint32_t part_violations(void);

#endif
