/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc1010.h - the few registers of a CC1010-class 8051 that this port uses: timer 0, interrupts, the
 * SPI master, the stretch of external memory. 4 clocks a cycle, 14.7456 MHz.
 */
#ifndef NANDWICH_CC1010_H
#define NANDWICH_CC1010_H

__sfr __at(0x88) TCON;
__sfr __at(0x89) TMOD;
__sfr __at(0x8A) TL0;
__sfr __at(0x8C) TH0;
__sfr __at(0x8E) CKCON; /* bits 0-2: cycles added to each access to external RAM */
__sfr __at(0x90) P1;
__sfr __at(0xA2) SPDR; /* writing sends a byte, reading gives the one received */
__sfr __at(0xA3) SPSR; /* bit 7: transfer done */
__sfr __at(0xB0) P3;   /* bit 4: the card's chip select, low active */
__sbit __at(0x8C) TR0;
__sbit __at(0xA9) ET0;
__sbit __at(0xAF) EA;

/* Timer 0 counts every 12 clocks; one millisecond is 1229 counts. */
#define TIMER_RELOAD (65536UL - 1229UL)

#endif
