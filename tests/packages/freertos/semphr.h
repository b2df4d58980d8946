/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores of FreeRTOS, as its reference tells them. */
#ifndef STUB_SEMPHR_H
#define STUB_SEMPHR_H

#include "FreeRTOS.h"

typedef struct semaphore *SemaphoreHandle_t;

BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t ticks);
BaseType_t xSemaphoreGive(SemaphoreHandle_t semaphore);

#endif
