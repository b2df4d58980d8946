/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a layer with a wear policy survives power cuts as well as one without: cuts at every chip
 * operation of the common trials with static wear levelling at its most eager, and cuts in random
 * places of work that heals, moves and forgets.
 * ctest: slow
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layer_trials.h"
#include "nandwich/bytes.h"
#include "nandwich/wear_dheating.h"
#include "nandwich/wear_swl.h"

#define MOST_BLOCKS 256U
#define FTL_BYTES 4096U

/* The policy lies behind the layer's state, so that snapshots of a rig hold it too. */
struct worn_state {
    uint64_t ftl[FTL_BYTES / 8U];
    struct nw_swl swl;
    struct nw_dheating dheating;
    uint64_t ram[MOST_BLOCKS / 2U];
};

typedef int (*open_fn)(const struct nw_layer_site *site, struct nw_block **block);
typedef int (*policy_fn)(const struct nw_layer_site *site, struct nw_block **block, open_fn open);

static int open_with(const struct nw_layer_site *site, struct nw_block **block,
                     struct nw_wear *wear, open_fn open)
{
    struct nw_layer_config config = *site->config;
    struct nw_layer_site worn = *site;

    config.wear = wear;
    worn.config = &config;
    return open(&worn, block);
}

static int open_swl(const struct nw_layer_site *site, struct nw_block **block, open_fn open)
{
    struct nw_swl_config config = {
        .heal = {.heals = 1, .cycles = 6}, .threshold = 2, .seed = 1};
    struct worn_state *state = site->state;

    assert_int_equal(nw_swl_open(&state->swl, &config, (uint16_t)site->chip->geometry.blocks,
                                 state->ram, sizeof state->ram),
                     NW_OK);
    return open_with(site, block, &state->swl.wear, open);
}

static int open_dheating(const struct nw_layer_site *site, struct nw_block **block, open_fn open)
{
    struct nw_dheating_config config = {.heal = {.heals = 1, .cycles = 6}};
    struct worn_state *state = site->state;

    assert_int_equal(nw_dheating_open(&state->dheating, &config,
                                      (uint16_t)site->chip->geometry.blocks, state->ram,
                                      sizeof state->ram),
                     NW_OK);
    return open_with(site, block, &state->dheating.wear, open);
}

static int page_format_swl(const struct nw_layer_site *site, struct nw_block **block)
{
    return open_swl(site, block, nw_layer_page.format);
}

static int page_mount_swl(const struct nw_layer_site *site, struct nw_block **block)
{
    return open_swl(site, block, nw_layer_page.mount);
}

static struct nw_layer_kind worn_kind(const struct nw_layer_kind *kind, open_fn format,
                                      open_fn mount)
{
    struct nw_layer_kind worn = *kind;

    assert_true(kind->state_bytes <= FTL_BYTES);
    worn.state_bytes = sizeof(struct worn_state);
    worn.format = format;
    worn.mount = mount;
    return worn;
}

static void page_with_swl_survives_cuts(void **state)
{
    struct nw_layer_kind kind = worn_kind(&nw_layer_page, page_format_swl, page_mount_swl);

    (void)state;
    layer_trial_cuts(&kind, 0);
    layer_trial_cuts(&kind, 2);
}

struct healer {
    struct nw_nand *nand;
    const struct nw_layer_kind *kind;
    struct nw_layer_config config;
    struct nw_layer_site site;
    struct nw_block *block;
    struct worn_state state;
    uint32_t *tokens;
    uint32_t coming; /* sector under way when power went, and its token */
    uint32_t coming_token;
    struct nw_random random;
    uint8_t data[512];
};

static void open_healer(struct healer *healer, const struct nw_layer_kind *kind, policy_fn policy)
{
    static const char *const fields[][2] = {
        {"block_pages", "16"}, {"page_bytes", "512 B"}, {"program_bytes", "512 B"},
        {"spare_bytes", "32 B"}, {"heal.limit", "200"},
    };
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .blocks = 40, .seed = 5};

    assert_int_equal(nw_parts_get("TLC8G-HEAL", &part), NW_OK);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        assert_int_equal(nw_part_set(&part, fields[i][0], fields[i][1]), NW_OK);
    }
    memset(healer, 0, sizeof *healer);
    assert_int_equal(nw_nand_open(&healer->nand, &config), NW_OK);
    healer->kind = kind;
    healer->site = (struct nw_layer_site){.config = &healer->config,
                                          .chip = nw_nand_chip(healer->nand),
                                          .chip_name = "part",
                                          .state = &healer->state};
    healer->site.ram_bytes = kind->ram_bytes(&healer->site);
    healer->site.ram = malloc(healer->site.ram_bytes);
    nw_random_seed(&healer->random, 3);
    assert_int_equal(policy(&healer->site, &healer->block, kind->format), NW_OK);
    healer->tokens = calloc(healer->block->sectors, sizeof *healer->tokens);
}

/* Writes on until power goes. */
static void work_until_cut(struct healer *healer)
{
    int result = NW_OK;

    while (result == NW_OK) {
        uint32_t sector = nw_random_below(&healer->random, healer->block->sectors / 2U);
        struct nw_block_req req = {
            .block = healer->block, .sector = sector, .count = 1, .data = healer->data};

        healer->coming = sector;
        healer->coming_token = nw_random_next(&healer->random);
        nw_put32(healer->data, healer->coming_token);
        result = nw_block_write(&req);
        if (req.done > 0) {
            healer->tokens[sector] = healer->coming_token;
        }
    }
    assert_int_equal(result, NW_ERR_POWER);
}

static void check_content(struct healer *healer)
{
    for (uint32_t sector = 0; sector < healer->block->sectors; sector++) {
        struct nw_block_req req = {
            .block = healer->block, .sector = sector, .count = 1, .data = healer->data};

        assert_int_equal(nw_block_read(&req), NW_OK);
        uint32_t token = nw_get32(healer->data);
        if (sector == healer->coming && token == healer->coming_token) {
            healer->tokens[sector] = token;
        }
        assert_int_equal(token, healer->tokens[sector]);
    }
    assert_int_equal(nw_nand_misuse(healer->nand)->error, 0);
}

static void heal_under_cuts(const struct nw_layer_kind *kind, policy_fn policy)
{
    struct healer *healer = calloc(1, sizeof *healer);

    open_healer(healer, kind, policy);
    for (uint32_t cuts = 0; cuts < 250; cuts++) {
        struct nw_cut cut = {.after = 1U + nw_random_below(&healer->random, 1500),
                             .phase = (uint8_t)nw_random_below(&healer->random, 3)};

        nw_nand_cut(healer->nand, &cut);
        work_until_cut(healer);
        nw_nand_power_up(healer->nand);
        assert_int_equal(policy(&healer->site, &healer->block, kind->mount), NW_OK);
        check_content(healer);
    }
    assert_true(nw_nand_stats(healer->nand)->heals > 100);
    nw_nand_close(healer->nand);
    free(healer->site.ram);
    free(healer->tokens);
    free(healer);
}

static void page_heals_under_cuts(void **state)
{
    (void)state;
    heal_under_cuts(&nw_layer_page, open_swl);
    heal_under_cuts(&nw_layer_page, open_dheating);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_with_swl_survives_cuts),
        cmocka_unit_test(page_heals_under_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
