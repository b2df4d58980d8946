/* SPDX-License-Identifier: Apache-2.0 */
/* start.c - from reset to main and to the end: data, zeros, memory, constructors, arguments. */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "streams.h"

#if defined(__AVR__)
#include <avr/pgmspace.h>

#define ARGUMENTS_MAX 8
#define ARGUMENT_BYTES 64U
#else
#define ARGUMENTS_MAX 64
#define ARGUMENT_BYTES 1024U
#endif

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

#if defined(__AVR__)
/* Code flash is another space. Constructors are not run: the compiler makes none of C. */
static void copy_data(void)
{
    memcpy_P(data_start, data_image, (size_t)(data_end - data_start));
}

static void run_constructors(void)
{
}
#else
static void copy_data(void)
{
    memcpy(data_start, data_image, (size_t)(data_end - data_start));
}

static void run_constructors(void)
{
    for (void (*const *one)(void) = init_start; one < init_end; one++) {
        (*one)();
    }
}
#endif

void device_reset(void)
{
    static char *list[ARGUMENTS_MAX];

    copy_data();
    memset(bss_start, 0, (size_t)(bss_end - bss_start));
    device_streams_begin();
    device_memory_open();
    device_heap_begin();
    run_constructors();
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
#elif defined(__AVR__)
/* r1 is zero for the compiler; the stack pointer is SPH:SPL. */
__attribute__((used, naked, section(".vectors"))) void device_begin(void);
void device_begin(void)
{
    __asm__ volatile("clr r1\n out 0x3f, r1\n ldi r28, lo8(stack_top - 1)\n"
                     "ldi r29, hi8(stack_top - 1)\n out 0x3e, r29\n out 0x3d, r28\n"
                     "jmp device_reset\n");
}
#endif
