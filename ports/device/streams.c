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
#else
void device_streams_end(void)
{
}
#endif
