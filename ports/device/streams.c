/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.c - stdin, stdout and stderr of picolibc, which has none of its own; newlib has. They are
 * buffered as newlib's are, and written out when the program ends.
 */
#include "streams.h"

#include <stdio.h>

#if defined(__PICOLIBC__)
#include <stdio-bufio.h>
#include <unistd.h>

#define BUFFER_BYTES 512

#define STREAM(name, number, way, flags)                                                           \
    static char name##_buffer[BUFFER_BYTES];                                                       \
    static struct __file_bufio name##_file =                                                       \
        FDEV_SETUP_BUFIO(number, name##_buffer, BUFFER_BYTES, read, write, lseek, close, way,      \
                         flags);                                                                   \
    FILE *const name = &name##_file.xfile.cfile.file

STREAM(stdin, 0, __SRD, 0);
STREAM(stdout, 1, __SWR, 0);
STREAM(stderr, 2, __SWR, __BLBF);

void device_streams_end(void)
{
    (void)fflush(stdout);
    (void)fflush(stderr);
}
#elif defined(__AVR__)
#include "device.h"

#define BUFFER_BYTES 32U

static uint8_t waiting;
static char buffer[BUFFER_BYTES];

static void write_out(void)
{
    (void)device_call(CALL_WRITE, 1, (uintptr_t)buffer, waiting);
    waiting = 0;
}

/* avr-libc buffers nothing: stdout goes by lines, stderr at once. */
static int put(char byte, FILE *stream)
{
    if (stream == stderr) {
        (void)device_call(CALL_WRITE, 2, (uintptr_t)&byte, 1);
        return 0;
    }
    buffer[waiting++] = byte;
    if (waiting == BUFFER_BYTES) {
        write_out();
    }
    return 0;
}

static FILE out = FDEV_SETUP_STREAM(put, NULL, _FDEV_SETUP_WRITE);
static FILE err = FDEV_SETUP_STREAM(put, NULL, _FDEV_SETUP_WRITE);

void device_streams_begin(void)
{
    stdout = &out;
    stderr = &err;
}

void device_streams_end(void)
{
    write_out();
}
#else
void device_streams_end(void)
{
}
#endif

#if !defined(__AVR__)
void device_streams_begin(void)
{
}
#endif
