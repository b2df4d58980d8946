/* SPDX-License-Identifier: Apache-2.0 */
/* The little of FreeRTOS that docs/guide-rtos.md calls, as its reference tells it. */
#ifndef STUB_FREERTOS_H
#define STUB_FREERTOS_H

#include <stdint.h>

typedef uint32_t TickType_t;
typedef long BaseType_t;

#define pdTRUE 1L
#define portMAX_DELAY 0xFFFFFFFFU
#define pdMS_TO_TICKS(ms) ((TickType_t)(ms))

#endif
