/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accesses.c - writes down every load and store of a native run to the program's globals and its
 * heap, from main on, as a trace for `nandwich vmtrace`. That is what would lie in virtual memory,
 * and the few variables of the C library beside it.
 */
#include "accesses.h"

#include <errno.h>
#include <string.h>

#include "nandwich-vmtrace/access.h"
#include "nandwich/error.h"

#define IT_BITS 0x0600FC00U

static struct nw_access_writer writer;

/* A hook of memory in the middle of an IT block leaves its state behind in the processor, and the
 * code after the block is then taken for a part of it (unicorn 2.1.4, its issue 2309). Between two
 * blocks of code there is none, so it is cleared. */
static void leave_it_block(uc_engine *uc)
{
    uint32_t state = 0;

    uc_reg_read(uc, UC_ARM_REG_CPSR, &state);
    if ((state & IT_BITS) != 0) {
        state &= ~IT_BITS;
        uc_reg_write(uc, UC_ARM_REG_CPSR, &state);
    }
}

static void on_access(uc_engine *uc, uc_mem_type type, uint64_t address, int bytes, int64_t value,
                      void *context)
{
    const struct machine *machine = context;

    (void)value;
    leave_it_block(uc);
    if (machine->in_main) {
        nw_access_put(&writer, address, (uint32_t)bytes, type == UC_MEM_WRITE);
    }
}

void accesses_open(struct machine *machine)
{
    static uc_hook hook;
    const struct settings *settings = &machine->settings;
    uint64_t base = (uint64_t)settings->ram.start + settings->stack_bytes;
    uint64_t end = (uint64_t)settings->ram.start + settings->ram.bytes;

    if (settings->accesses[0] == '\0') {
        return;
    }
    if (strcmp(settings->arch, "arm") != 0) {
        machine_fail(settings->arch, "no accesses are recorded on it");
    }
    if (nw_access_create(&writer, settings->accesses, base, end - base) != NW_OK) {
        machine_fail(settings->accesses, strerror(errno));
    }
    if (uc_hook_add(machine->processor, &hook, UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE,
                    (void *)on_access, machine, base, end - 1U) != UC_ERR_OK) {
        machine_fail("the emulator", "no hook for accesses");
    }
}

void accesses_close(const struct machine *machine)
{
    if (machine->settings.accesses[0] != '\0' && nw_access_finish(&writer, 1) != NW_OK) {
        machine_fail(machine->settings.accesses, strerror(errno));
    }
}
