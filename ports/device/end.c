/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - the end of the program: buffers are written out, numbers told. */
#include "device.h"
#include "streams.h"

_Noreturn void _exit(int status);

_Noreturn void _exit(int status)
{
    device_streams_end();
    device_memory_tell();
    (void)device_call(CALL_EXIT, (uintptr_t)status, 0, 0);
    for (;;) {
    }
}

#if defined(__AVR__)
/* avr-libc's own does not know where to go. */
_Noreturn void exit(int status);
_Noreturn void exit(int status)
{
    _exit(status);
}
#endif
