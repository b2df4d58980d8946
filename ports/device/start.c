/* SPDX-License-Identifier: Apache-2.0 */
/* start.c - from reset to main and to the end: data, zeros, memory, constructors, arguments. */
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define ARGUMENTS_MAX 64
#define ARGUMENT_BYTES 1024U

int main(int argc, char **argv);

/* From the linker script. */
extern uint8_t data_start[], data_end[], data_image[], bss_start[], bss_end[];
extern void (*const init_start[])(void), (*const init_end[])(void);

__attribute__((used, noreturn)) void device_reset(void);

static int take_arguments(char **list)
{
    static char text[ARGUMENT_BYTES];
    uint32_t bytes = (uint32_t)device_call(CALL_ARGUMENTS, 0, 0, 0);
    char *at = text;

    if (bytes > sizeof text) {
        device_refuse(REFUSE_ARGUMENTS, bytes, sizeof text);
    }
    int count = (int)device_call(CALL_ARGUMENTS, (uintptr_t)text, sizeof text, 0);
    if (count >= ARGUMENTS_MAX) {
        device_refuse(REFUSE_ARGUMENTS, (uint32_t)count, ARGUMENTS_MAX - 1U);
    }
    for (int i = 0; i < count; i++) {
        list[i] = at;
        at += strlen(at) + 1;
    }
    list[count] = NULL;
    return count;
}

static void run_list(void (*const *first)(void), void (*const *end)(void))
{
    for (; first < end; first++) {
        (*first)();
    }
}

void device_reset(void)
{
    static char *list[ARGUMENTS_MAX];

    memcpy(data_start, data_image, (size_t)(data_end - data_start));
    memset(bss_start, 0, (size_t)(bss_end - bss_start));
    device_memory_open();
    run_list(init_start, init_end);
    exit(main(take_arguments(list), list));
}

#if defined(__arm__)
extern uint8_t stack_top[];

static void on_fault(void)
{
    for (;;) {
    }
}

/* What a Cortex-M reads at reset: its stack, its first instruction, and where faults go. */
__attribute__((used, section(".vectors"))) static void *const vectors[] = {
    stack_top, (void *)device_reset, (void *)on_fault, (void *)on_fault};

/* Where the compiler finds variables of the one thread: 8 bytes behind what this answers. Only r0
 * may change. */
__attribute__((naked, used)) void *__aeabi_read_tp(void);
void *__aeabi_read_tp(void)
{
    __asm__ volatile("ldr r0, =thread_start - 8\nbx lr\n.ltorg\n");
}
#elif defined(__riscv)
__attribute__((used, naked, section(".vectors"))) void device_begin(void);
void device_begin(void)
{
    __asm__ volatile(".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
                     "la sp, stack_top\nla tp, thread_start\nj device_reset\n");
}
#endif
