/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - calls of the host, those that do not come back included. Files: files.c. */
#include <stdint.h>

#include "device.h"

int32_t device_call(enum board_call call, uintptr_t a, uintptr_t b, uintptr_t c)
{
    DEVICE_REGISTERS[BOARD_ARGUMENT] = (uint32_t)a;
    DEVICE_REGISTERS[BOARD_ARGUMENT + 1] = (uint32_t)b;
    DEVICE_REGISTERS[BOARD_ARGUMENT + 2] = (uint32_t)c;
    *DEVICE_BYTE(BOARD_CALL) = (uint8_t)call;
    return (int32_t)DEVICE_REGISTERS[BOARD_CALL];
}

/* All 32 bits of each, whatever an address has. */
static _Noreturn void last_call(enum board_call call, uint32_t a, uint32_t b, uint32_t c)
{
    DEVICE_REGISTERS[BOARD_ARGUMENT] = a;
    DEVICE_REGISTERS[BOARD_ARGUMENT + 1] = b;
    DEVICE_REGISTERS[BOARD_ARGUMENT + 2] = c;
    *DEVICE_BYTE(BOARD_CALL) = (uint8_t)call;
    for (;;) {
    }
}

_Noreturn void device_refuse(enum board_refusal why, uint32_t a, uint32_t b)
{
    last_call(CALL_REFUSE, why, a, b);
}

_Noreturn void device_panic(int32_t error, uintptr_t address)
{
    last_call(CALL_PANIC, (uint32_t)error, address, 0);
}
