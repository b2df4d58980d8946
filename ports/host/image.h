/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - the file that keeps the chip, above all its wear, from one run to the next. */
#ifndef NW_HOST_IMAGE_H
#define NW_HOST_IMAGE_H

#include "stack.h"

/* Opens the chip from config.image where that file is there (1), else leaves it closed (0). An
 * image of another part, corrupt or cut short is refused with its place. */
int nw_host_image_load(struct nw_host_stack *stack, struct nw_host_why *why);

/* Saves the chip to config.image, whole or not at all; nothing without one. */
int nw_host_image_save(const struct nw_host_stack *stack);

#endif
