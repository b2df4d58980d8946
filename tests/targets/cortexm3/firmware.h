/* SPDX-License-Identifier: Apache-2.0 */
/* firmware.h - what a test that runs in QEMU has: a start, a line to the host, an end. */
#ifndef NANDWICH_TESTS_FIRMWARE_H
#define NANDWICH_TESTS_FIRMWARE_H

#include <stdint.h>

/* The test: 0 when it passes. */
int firmware_main(void);

/* Where the processor begins. */
void firmware_start(void);

/* A word and a number to the host, a line each. */
void firmware_say(const char *what, int32_t value);

#endif
