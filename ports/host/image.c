/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int nw_host_image_load(struct nw_host_stack *stack, struct nw_host_why *why)
{
    const char *path = stack->config.image;
    struct nw_image_fault fault = {0, ""};
    int result;

    if (path[0] == '\0' || access(path, F_OK) != 0) {
        return 0;
    }
    result = nw_nand_load(&stack->nand, path, &fault);
    if (result < 0) {
        return result == NW_ERR_IO
                   ? nw_host_refuse(why, result, "%s: cannot be read: %s", path, strerror(errno))
                   : nw_host_refuse(why, result, "%s: byte %llu: %s; nothing was written", path,
                                    (unsigned long long)fault.offset, fault.text);
    }
    if (strcasecmp(nw_nand_part(stack->nand)->name, stack->part.name) != 0) {
        return nw_host_refuse(why, NW_ERR_VERSION, "%s holds a %s, not a %s: name that chip", path,
                              nw_nand_part(stack->nand)->name, stack->part.name);
    }
    return 1;
}

int nw_host_image_save(const struct nw_host_stack *stack)
{
    return stack->config.image[0] != '\0' ? nw_nand_save(stack->nand, stack->config.image) : NW_OK;
}
