/* SPDX-License-Identifier: Apache-2.0 */
#include "pass_chip.h"

struct nw_chip_req pass_below(const struct nw_chip_req *req)
{
    struct nw_chip_req below = *req;

    below.chip = req->chip->context;
    return below;
}

static int pass_read(struct nw_chip_req *req)
{
    struct nw_chip_req below = pass_below(req);

    return nw_chip_read(&below);
}

static int pass_program(struct nw_chip_req *req)
{
    struct nw_chip_req below = pass_below(req);

    return nw_chip_program(&below);
}

static int pass_erase(struct nw_chip_req *req)
{
    struct nw_chip_req below = pass_below(req);

    return nw_chip_erase(&below);
}

static int pass_is_bad(struct nw_chip_req *req)
{
    struct nw_chip_req below = pass_below(req);

    return nw_chip_is_bad(&below);
}

static int pass_mark_bad(struct nw_chip_req *req)
{
    struct nw_chip_req below = pass_below(req);

    return nw_chip_mark_bad(&below);
}

void pass_chip_open(struct nw_chip *chip, struct nw_chip_ops *ops, struct nw_chip *below)
{
    *ops = (struct nw_chip_ops){.read = pass_read,
                                .program = pass_program,
                                .erase = pass_erase,
                                .is_bad = pass_is_bad,
                                .mark_bad = pass_mark_bad};
    *chip = (struct nw_chip){.ops = ops, .context = below, .geometry = below->geometry};
}
