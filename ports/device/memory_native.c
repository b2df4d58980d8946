/* SPDX-License-Identifier: Apache-2.0 */
/* memory_native.c - the same board without virtual memory: what a native run is compared with. */
#include "device.h"

void device_memory_open(void)
{
}

void device_memory_tell(void)
{
}
