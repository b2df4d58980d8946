/* SPDX-License-Identifier: Apache-2.0 */
/* The board that the guides take for granted. guide_board.c is one, with a part on it that is in no
 * table. */
#ifndef GUIDE_BOARD_H
#define GUIDE_BOARD_H

#include <stdint.h>

#define FLASH_CS 4

void pin_write(int pin, int level);
uint8_t spi_exchange(uint8_t byte);
void delay_us(uint32_t us);
uint32_t clock_us(void);

/* In guide-rtos.md and device.md. */
#define GPIO_PIN_SET(pin, level) pin_write(pin, level)
int spi_polled(const uint8_t *out, uint8_t *in, uint16_t length);
void spi_dma_start(const uint8_t *out, uint8_t *in, uint16_t length);
void spi_dma_stop(void);
void spi_wait_idle(void);
void watchdog_feed(void);

#endif
