/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h - stdin, stdout and stderr: before the program, and what is in buffers at its end. */
#ifndef NW_DEVICE_STREAMS_H
#define NW_DEVICE_STREAMS_H

void device_streams_begin(void);
void device_streams_end(void);

#endif
