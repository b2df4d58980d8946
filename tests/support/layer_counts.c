/* SPDX-License-Identifier: Apache-2.0 */
#include "layer_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct layer_counts layer_counts_now(const struct layer_rig *rig)
{
    const struct nw_nand_counts *chip = nw_nand_stats(rig->nand);
    const struct nw_stats *layer = rig->block->stats;

    return (struct layer_counts){.reads = (uint32_t)chip->reads,
                                 .programs = (uint32_t)chip->programs,
                                 .erases = (uint32_t)chip->erases,
                                 .copies = (uint32_t)chip->copies,
                                 .moved = (uint32_t)layer->copies,
                                 .full = (uint32_t)layer->merges_full,
                                 .partial = (uint32_t)layer->merges_partial,
                                 .swaps = (uint32_t)layer->merges_switch};
}

static struct layer_counts since(const struct layer_rig *rig, struct layer_counts before)
{
    struct layer_counts now = layer_counts_now(rig);

    return (struct layer_counts){now.reads - before.reads,     now.programs - before.programs,
                                 now.erases - before.erases,   now.copies - before.copies,
                                 now.moved - before.moved,     now.full - before.full,
                                 now.partial - before.partial, now.swaps - before.swaps};
}

struct layer_counts layer_counts_run(struct layer_rig *rig, uint8_t kind, uint32_t sector,
                                     uint32_t count)
{
    struct layer_op op = {.kind = kind, .sector = sector, .count = count};
    struct layer_counts before = layer_counts_now(rig);

    assert_true(layer_rig_run(rig, &op) >= 0);
    return since(rig, before);
}

struct layer_counts layer_counts_write(struct layer_rig *rig, uint32_t sector, uint32_t count,
                                       uint32_t step)
{
    struct layer_counts before = layer_counts_now(rig);

    for (uint32_t i = 0; i < count; i++) {
        (void)layer_counts_run(rig, OP_WRITE, sector + i * step, 1);
    }
    return since(rig, before);
}

struct layer_counts layer_counts_read(struct layer_rig *rig, uint32_t sector, uint32_t count)
{
    struct layer_counts before = layer_counts_now(rig);

    for (uint32_t i = 0; i < count; i++) {
        struct nw_block_req req = {
            .block = rig->block, .sector = sector + i, .count = 1, .data = rig->data};
        assert_int_equal(nw_block_read(&req), NW_OK);
    }
    return since(rig, before);
}

struct layer_counts layer_counts_churn(struct layer_rig *rig)
{
    struct layer_counts before = layer_counts_now(rig);
    struct nw_random random;

    nw_random_seed(&random, 5);
    for (uint32_t i = 0; i < 1000U; i++) {
        (void)layer_counts_run(rig, OP_WRITE, nw_random_below(&random, rig->sectors), 1);
    }
    return since(rig, before);
}

void layer_counts_expect(const char *what, struct layer_counts got, struct layer_counts wanted)
{
    if (memcmp(&got, &wanted, sizeof got) != 0) {
        fail_msg("%s: reads %u programs %u erases %u copies %u moved %u full %u partial %u "
                 "switch %u, wanted %u %u %u %u %u %u %u %u",
                 what, got.reads, got.programs, got.erases, got.copies, got.moved, got.full,
                 got.partial, got.swaps, wanted.reads, wanted.programs, wanted.erases,
                 wanted.copies, wanted.moved, wanted.full, wanted.partial, wanted.swaps);
    }
}

void layer_counts_close(struct layer_rig *rig)
{
    assert_int_equal(layer_rig_check(rig, 0), 0);
    assert_int_equal(layer_rig_clean(rig), 0);
    layer_rig_close(rig);
}

void layer_counts_script(const struct nw_layer_kind *kind, const struct layer_shape *shape,
                         struct layer_counts churn)
{
    struct layer_rig rig;

    layer_rig_open(&rig, kind, shape, 1);
    layer_counts_expect("open", layer_counts_now(&rig), (struct layer_counts){.erases = 20});
    layer_counts_expect("read nothing", layer_counts_read(&rig, 0, 80), (struct layer_counts){0});
    layer_counts_expect("fill", layer_counts_write(&rig, 0, 80, 1),
                        (struct layer_counts){.programs = 80});
    layer_counts_expect("read", layer_counts_read(&rig, 0, 80), (struct layer_counts){.reads = 80});
    layer_counts_expect("trim", layer_counts_run(&rig, OP_TRIM, 0, 2),
                        (struct layer_counts){.programs = 2});
    layer_counts_expect("sync", layer_counts_run(&rig, OP_SYNC, 0, 0), (struct layer_counts){0});
    layer_counts_expect("churn", layer_counts_churn(&rig), churn);
    layer_counts_close(&rig);
}

void layer_counts_failed_merge(const struct nw_layer_kind *kind, const struct layer_shape *shape)
{
    struct layer_rig rig;

    for (uint32_t block = 0; block < shape->blocks; block++) {
        layer_rig_open(&rig, kind, shape, 1);
        (void)layer_counts_write(&rig, 0, 16, 1);
        (void)layer_counts_write(&rig, 5, 1, 1);
        (void)layer_counts_run(&rig, OP_DOOM_PROGRAM, block, 0);
        (void)layer_counts_write(&rig, 5, 40, 1);
        assert_true(rig.block->stats->retired <= 1U);
        layer_counts_close(&rig);
    }
}
