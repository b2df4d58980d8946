/* SPDX-License-Identifier: Apache-2.0 */
/* memory_tagged.c - the memory of NW_VM variables on the board: a DataFlash on the bus. */
#include "bus.h"
#include "device.h"
#include "nandwich-tagged/tagged.h"
#include "nandwich/driver_dataflash.h"

static struct nw_dataflash part;

static void panic(struct nw_small *small, int error, uint8_t page)
{
    (void)small;
    device_panic(error, page);
}

void device_memory_open(void)
{
    struct nw_small_config config = {.chip = &part.chip, .panic = panic};
    int result = nw_dataflash_open(&part, &device_bus);

    if (result < 0) {
        device_refuse(REFUSE_PART, (uint32_t)result, 0);
    }
    result = nw_tagged_open(&config);
    if (result < 0) {
        device_refuse(REFUSE_GUEST, (uint32_t)result, 0);
    }
}

#define TELL(name)                                                                                 \
    (void)device_call(CALL_TELL, (uintptr_t) #name, (uintptr_t)nw_tagged_small.stats.name, 0)

void device_memory_tell(void)
{
    TELL(faults);
    TELL(buffer_reads);
    TELL(to_buffer);
    TELL(flash_writes);
}
