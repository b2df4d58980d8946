/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.h - where a pointer points, on processors with several memories.
 *
 * On the 8051 a plain pointer has three bytes and every use of it calls a helper; a pointer known
 * to point to external RAM has two and uses DPTR. Layers that reach the 8051 say so with these
 * words; on every other processor they are empty.
 */
#ifndef NANDWICH_SPACE_H
#define NANDWICH_SPACE_H

#if defined(__SDCC_mcs51)
#define NW_XDATA __xdata /* external RAM, where a scheduler and its buffers live */
#define NW_CODE __code   /* program memory: constant tables */
#else
#define NW_XDATA
#define NW_CODE
#endif

/* Keeps the compiler from moving memory accesses across, where an interrupt shares the memory. */
#if defined(__GNUC__)
#define NW_COMPILER_BARRIER() __asm__ volatile("" ::: "memory")
#else
#define NW_COMPILER_BARRIER() ((void)0)
#endif

#endif
