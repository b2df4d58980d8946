/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accesses.h - writes down every access a program makes to its virtual memory, as a trace for
 * `nandwich vmtrace` and `nandwich layout` (nandwich-vmtrace/access.h).
 *
 * The program must be built for it: the pass then tells each guarded access, and the linker leads
 * the VM's block operations through here. What a program does before main and in a child of fork()
 * is not recorded.
 */
#ifndef NW_HOST_ACCESSES_H
#define NW_HOST_ACCESSES_H

#include <stdint.h>

/* 1: this program tells its accesses. */
int nw_host_accesses_built(void);

/* Begins a new file, for accesses to bytes from base on. NW_OK, or NW_ERR_IO: errno. */
int nw_host_accesses_open(const char *path, uintptr_t base, uint32_t bytes);

/* Ends the file, which takes the place of the old one. NW_OK, or NW_ERR_IO: the old one is still
 * there, and errno tells why. Nothing if not open. */
int nw_host_accesses_close(void);

#endif
