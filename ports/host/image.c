/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

int nw_host_image_save(const struct nw_host_stack *stack)
{
    return stack->config.image[0] != '\0' ? nw_nand_save(stack->device.nand, stack->config.image)
                                          : NW_OK;
}
