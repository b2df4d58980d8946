/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - the file that keeps the chip, above all its wear, from one run to the next. */
#ifndef NW_HOST_IMAGE_H
#define NW_HOST_IMAGE_H

#include "stack.h"

/* Saves the chip to config.image, whole or not at all; nothing without one. */
int nw_host_image_save(const struct nw_host_stack *stack);

#endif
