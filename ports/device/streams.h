/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h - what is still in the buffers of stdout and stderr when the program ends. */
#ifndef NW_DEVICE_STREAMS_H
#define NW_DEVICE_STREAMS_H

void device_streams_end(void);

#endif
