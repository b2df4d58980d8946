/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guest.h - the words a program may say about virtual memory to its compiler. NW_RAM and NW_PLAIN
 * are of programs that live there wholly: including this is then never needed, every global lives
 * in virtual memory and every local in RAM. NW_VM is of small nodes: what it marks is virtual, all
 * else in RAM. Other compilers see nothing.
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

#if defined(__NANDWICH_TAGGED__)
/* This global or static lives in virtual memory, all others in RAM: `nandwich cc --trace` and
 * `nandwich cc --layout`, docs/tagged.md. Write it on each declaration, `extern` ones too. */
#define NW_VM __attribute__((section("nw_tagged")))
#else
#define NW_VM
#endif

#endif
