/* SPDX-License-Identifier: Apache-2.0 */
/*
 * board.h - the board that `nandwich run --target` emulates: what its program and its emulator
 * (lab/emulator) agree on. Words from the symbol board_port on, which the linker script places.
 *
 * CALL and SELECT to MOVE, COMMAND to PAUSE are written as bytes, and do what they do then.
 *
 * THE BUS. A part on a serial bus hangs on SELECT, DATA and WAIT. A store to DATA moves a byte both
 * ways, and the byte received stands in DATA when the store has ended: the processor waits on the
 * bus, so that instruction counts do not depend on the bus clock. A store to MOVE has the bus move
 * bytes by itself, by DMA, and the processor sleeps meanwhile.
 *
 * THE PARALLEL BUS of a NAND has eight lines instead, and SELECT is its chip enable. A store to
 * COMMAND, ADDRESS or LANES is a write cycle, with CLE or ALE high or neither; a load from LANES is
 * a read cycle. Data moves by MOVE too.
 *
 * CALLS OF THE HOST. Arguments first, then the call's number into CALL; its answer is read there. A
 * negative answer comes with an error of the C library in ERROR.
 */
#ifndef NW_DEVICE_BOARD_H
#define NW_DEVICE_BOARD_H

/* Registers, by their word. */
#define BOARD_CALL 0
#define BOARD_ERROR 1
#define BOARD_ARGUMENT 2 /* the first of three */
#define BOARD_SELECT 8   /* 1: the part is selected */
#define BOARD_DATA 9
#define BOARD_WAIT 10    /* the microseconds in ARGUMENT pass */
#define BOARD_MOVE 11    /* enum board_move; from or to the address in ARGUMENT, as many bytes as
                          * stand in the next one */
#define BOARD_COMMAND 12
#define BOARD_ADDRESS 13
#define BOARD_LANES 14
#define BOARD_PAUSE 15   /* 100 ns pass: tWB, tWHR, tADL */
#define BOARD_WORDS 16

enum board_move { MOVE_IN = 1, MOVE_OUT, MOVE_IN_FOUR /* by four lines */ };

enum board_call {
    CALL_EXIT = 1,  /* status; does not come back */
    CALL_OPEN,      /* name, flags as the C library has them, mode; answers a file */
    CALL_CLOSE,     /* file */
    CALL_READ,      /* file, address, bytes; answers bytes */
    CALL_WRITE,     /* file, address, bytes; answers bytes */
    CALL_SEEK,      /* file, offset, from; answers the place */
    CALL_KIND,      /* file; answers 1: regular, 0: something else */
    CALL_REMOVE,    /* name */
    CALL_RENAME,    /* name, new name */
    CALL_SECONDS,   /* answers the seconds since 1970 */
    CALL_CLOCK,     /* ticks a second; answers ticks since main began: the processor's least time
                     * and the bus's, as the report tells them */
    CALL_ARGUMENTS, /* address, bytes; writes the arguments one behind another, each ended by 0;
                     * answers their number; address 0: answers the bytes they take */
    CALL_TELL,      /* name, value; for the report */
    CALL_VARIABLE,  /* name, address, address of its bytes and those an element, 4 bytes each: of a
                     * program that records, before its first access */
    CALL_ACCESS,    /* address, bytes, 1: a store; for the recording */
    CALL_PLACE,     /* file, blocks at the part's beginning that are not for it; its content lies on
                     * the part, in good blocks one behind another at its end: answers the first
                     * block */
    CALL_REFUSE,    /* enum board_refusal, error or bytes needed, bytes there; does not come back */
    CALL_PANIC      /* error of the virtual memory, address; does not come back */
};

/* Why the program was not started. */
enum board_refusal {
    REFUSE_PART = 1, /* the driver's error, the id that was read */
    REFUSE_BLOCKS,   /* blocks needed, blocks of the part */
    REFUSE_RAM,      /* bytes of RAM needed, bytes there: for frames, tables, layer and heap */
    REFUSE_LAYER,    /* the layer's error */
    REFUSE_GUEST,    /* the virtual memory's error */
    REFUSE_ARGUMENTS /* bytes needed, bytes there */
};

#endif
