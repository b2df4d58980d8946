/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guest.h - the two words a program in virtual memory may say to its compiler. Including it is
 * never needed: every global then lives in virtual memory and every local in RAM. Other compilers
 * see nothing.
 */
#ifndef NANDWICH_GUEST_H
#define NANDWICH_GUEST_H

#if defined(__NANDWICH__)
/* Keep this global or static in RAM: small hot tables, what interrupts or DMA touch, what other
 * threads see. Its accesses run at native speed. On an `extern` it changes nothing but speed. */
#define NW_RAM __attribute__((annotate("nw_ram")))
/* This function never touches virtual memory, neither by its arguments nor by globals: it is left
 * uninstrumented, and passing it pointers is not refused. The program's word is taken for it; if it
 * is wrong, the access faults and is reported. */
#define NW_PLAIN __attribute__((annotate("nw_plain")))
#else
#define NW_RAM
#define NW_PLAIN
#endif

#endif
