/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - what the files of the board's firmware share. */
#ifndef NW_DEVICE_DEVICE_H
#define NW_DEVICE_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "board.h"

/* From the linker script: the address of a symbol is its value. */
extern volatile uint32_t board_port[];
extern const uint8_t board_vm_bytes[], board_frames_bytes[], board_policy[];

#define DEVICE_REGISTERS board_port
/* Of those that do something when they are written: one byte, whatever the processor. */
#define DEVICE_BYTE(word) ((volatile uint8_t *)&board_port[word])
#define DEVICE_VALUE(symbol) ((uint32_t)(uintptr_t)(symbol))

int32_t device_call(enum board_call call, uintptr_t a, uintptr_t b, uintptr_t c);

/* Ends the run before the program began; see enum board_refusal. */
_Noreturn void device_refuse(enum board_refusal why, uint32_t a, uint32_t b);

/* Ends the run: an error of the virtual memory at an address. */
_Noreturn void device_panic(int32_t error, uintptr_t address);

/* With virtual memory: blocks of the chip that part_open() gave which its layer takes. */
uint32_t device_layer_blocks(void);

/* RAM that nobody has yet, aligned for any type; the first of it in *start. */
size_t device_ram_left(uint8_t **start);
void device_ram_take(size_t bytes);
/* What is left is the C library's own; newlib and picolibc ask for it themselves. */
void device_heap_begin(void);

/* Before the program's constructors, and behind its end: virtual memory, or nothing of it. */
void device_memory_open(void);
void device_memory_tell(void);

#endif
