/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any image mounts or is refused, and what mounts can be used. See store_forge.h. */
#include "store_forge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct forge forge;

    forge_try(&forge, data, size);
    return 0;
}
