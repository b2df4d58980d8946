/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors, semihosting, and nothing else. No data with values, so there is nothing to copy. */
#include "firmware.h"

#define WRITE_TEXT 0x04
#define END 0x18
#define ENDED_WELL 0x20026
#define ENDED_BADLY 0x20023 /* "run-time error" */

extern uint32_t stack_top;

static void ask_host(uint32_t what, const void *argument)
{
    register uint32_t r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void firmware_say(const char *what, int32_t value)
{
    char digits[16];
    uint32_t left = value < 0 ? 0U - (uint32_t)value : (uint32_t)value;
    uint32_t at = sizeof digits;

    digits[--at] = '\0';
    digits[--at] = '\n';
    do {
        digits[--at] = (char)('0' + left % 10U);
        left /= 10U;
    } while (left > 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    digits[--at] = ' ';
    ask_host(WRITE_TEXT, what);
    ask_host(WRITE_TEXT, digits + at);
}

void firmware_start(void)
{
    int result = firmware_main();

    firmware_say("end", result);
    ask_host(END, (const void *)(uintptr_t)(result == 0 ? ENDED_WELL : ENDED_BADLY));
    for (;;) {
    }
}

static void fault(void)
{
    firmware_say("fault", 0);
    ask_host(END, (const void *)(uintptr_t)ENDED_BADLY);
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top,
    (const void *)firmware_start,
    (const void *)fault,
    (const void *)fault,
    (const void *)fault,
};
