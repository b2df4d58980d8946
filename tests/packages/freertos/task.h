/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of FreeRTOS, as its reference tells them. */
#ifndef STUB_TASK_H
#define STUB_TASK_H

#include "FreeRTOS.h"

void vTaskDelay(TickType_t ticks);

#endif
