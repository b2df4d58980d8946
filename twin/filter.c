/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "filter_internal.h"

int nw_filter_pass(struct nw_chip_req *req, struct nw_chip *below, uint8_t verb)
{
    static int (*const verbs[])(struct nw_chip_req *) = {
        [NW_VERB_READ] = nw_chip_read,
        [NW_VERB_PROGRAM] = nw_chip_program,
        [NW_VERB_ERASE] = nw_chip_erase,
        [NW_VERB_IS_BAD] = nw_chip_is_bad,
        [NW_VERB_MARK_BAD] = nw_chip_mark_bad,
        [NW_VERB_COPY] = nw_chip_copy,
        [NW_VERB_BUFFER_LOAD] = nw_chip_buffer_load,
        [NW_VERB_BUFFER_READ] = nw_chip_buffer_read,
        [NW_VERB_BUFFER_WRITE] = nw_chip_buffer_write,
        [NW_VERB_BUFFER_PROGRAM] = nw_chip_buffer_program,
        [NW_VERB_HEAL] = nw_chip_heal,
    };
    struct nw_chip *own = req->chip;
    int result;

    req->chip = below;
    result = verbs[verb](req);
    req->chip = own;
    return result;
}

void nw_filter_open(struct nw_chip *chip, const struct nw_chip *below, void *context,
                    struct nw_chip_ops *ops, const struct nw_chip_ops *all)
{
    *ops = *all;
    ops->copy = below->ops->copy != NULL ? all->copy : NULL;
    ops->buffer_load = below->ops->buffer_load != NULL ? all->buffer_load : NULL;
    ops->buffer_read = below->ops->buffer_read != NULL ? all->buffer_read : NULL;
    ops->buffer_write = below->ops->buffer_write != NULL ? all->buffer_write : NULL;
    ops->buffer_program = below->ops->buffer_program != NULL ? all->buffer_program : NULL;
    ops->heal = below->ops->heal != NULL ? all->heal : NULL;
    chip->ops = ops;
    chip->context = context;
    chip->geometry = below->geometry;
}
