/* SPDX-License-Identifier: Apache-2.0 */
/* Where the processor begins: variables get their values, then main. */
#include <stdint.h>

#include "board.h"

extern uint32_t data_start[], data_end[], data_from[], bss_start[], bss_end[];
extern uint32_t stack_end[], stack_top[];

int main(void);
void systick_handler(void);
void start(void);

void start(void)
{
    const uint32_t *from = data_from;

    for (uint32_t *to = data_start; to < data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
    (void)main();
    board_reset();
}

/* A fault in the field: begin anew. Under a debugger put a breakpoint here. The stack pointer
 * tells what it was: one that went too deep is at the stack's end or below, behind the 32 bytes
 * that the processor itself pushes. */
void fault_at(uintptr_t stack);
__attribute__((used)) void fault_at(uintptr_t stack)
{
    board_say(stack < (uintptr_t)stack_end + 64U ? "stack_bytes are too few\n" : "fault\n");
    board_said();
    board_reset();
}

/* On a stack of its own, for there may be none left. */
__attribute__((naked)) static void fault(void)
{
    __asm__ volatile("mov r0, sp\n"
                     "ldr r1, =stack_top\n"
                     "mov sp, r1\n"
                     "b fault_at\n");
}

#define SYSTICK 15

__attribute__((section(".vectors"), used)) static const void *const vectors[SYSTICK + 1] = {
    [0] = stack_top,
    [1] = (const void *)start,
    [2] = (const void *)fault, /* NMI */
    [3] = (const void *)fault, /* HardFault, and the three below when they are not switched on */
    [4] = (const void *)fault,
    [5] = (const void *)fault,
    [6] = (const void *)fault,
    [SYSTICK] = (const void *)systick_handler,
};
