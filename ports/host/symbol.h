/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - names the function that holds an address of the running program, from the symbol table
 * of its own file. Safe in a signal handler: system calls and reads only.
 *
 * Only for programs linked at fixed addresses (no PIE), as `nandwich cc` links them.
 */
#ifndef NW_HOST_SYMBOL_H
#define NW_HOST_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

/* Copies the function's name (cut to fit) and returns 1; 0 when no function of the program's own
 * holds the address. Costs one pass over the symbol table: some 10 us a thousand functions. */
int nw_host_symbol(uintptr_t address, char *name, size_t name_bytes);

#endif
