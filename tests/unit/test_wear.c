/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: each policy chooses, moves and heals as its header says, told from a view made by hand: no
 * translation layer is involved, so every answer is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich-models/wear.h"
#include "nandwich-models/wear_dheating.h"
#include "nandwich-models/wear_swl.h"

#define BLOCKS 8U

struct rig {
    struct nw_nand *nand;
    uint32_t erases[BLOCKS];
    uint16_t next[BLOCKS + 1U]; /* the last one is the list's head */
    uint8_t state[BLOCKS];
    uint16_t free;
    uint64_t ram[64];
};

/* Every block free, in one list. */
static void start(struct rig *rig, struct nw_wear *wear)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .blocks = BLOCKS};

    assert_int_equal(nw_parts_get("TLC8G-HEAL", &part), NW_OK);
    assert_int_equal(nw_nand_open(&rig->nand, &config), NW_OK);
    memset(rig->erases, 0, sizeof rig->erases);
    memset(rig->state, NW_BLOCK_FREE, sizeof rig->state);
    for (uint16_t i = 0; i <= BLOCKS; i++) {
        rig->next[i] = (uint16_t)(i < BLOCKS ? i + 1U : 0U);
    }
    rig->free = BLOCKS;
    wear->view = (struct nw_wear_view){.chip = nw_nand_chip(rig->nand),
                                       .erases = rig->erases,
                                       .next = rig->next,
                                       .state = rig->state,
                                       .free = &rig->free,
                                       .blocks = BLOCKS};
    assert_int_equal(wear->ops->start(wear), NW_OK);
}

static void stop(struct rig *rig)
{
    assert_int_equal(nw_nand_misuse(rig->nand)->error, 0);
    nw_nand_close(rig->nand);
}

static uint16_t choose(struct rig *rig, struct nw_wear *wear, uint16_t data)
{
    return wear->ops->choose(wear, rig->next[BLOCKS], data);
}

static void erase(struct rig *rig, struct nw_wear *wear, uint16_t block)
{
    rig->erases[block]++;
    wear->ops->erased(wear, block);
}

static void dynamic_takes_the_fewest_erases(void **state)
{
    struct nw_wear wear;
    struct rig rig;

    (void)state;
    assert_true(nw_wear_dynamic_ram_bytes(BLOCKS) == BLOCKS);
    assert_int_equal(nw_wear_dynamic_open(&wear, NULL, BLOCKS, rig.ram, BLOCKS - 1U), NW_ERR_RAM);
    assert_int_equal(nw_wear_dynamic_open(&wear, NULL, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, &wear);
    for (uint16_t i = 0; i < BLOCKS; i++) {
        rig.erases[i] = 10U + (i + 3U) % BLOCKS; /* block 5 has the fewest */
    }
    assert_int_equal(choose(&rig, &wear, NW_WEAR_HOST), 5);
    assert_int_equal(choose(&rig, &wear, NW_WEAR_MOVED), 5);
    assert_int_equal(wear.ops->given(&wear, 5), 0);
    assert_int_equal(wear.ops->heal(&wear, 1), NW_WEAR_NONE);
    assert_int_equal(wear.ops->move(&wear), NW_WEAR_NONE);
    stop(&rig);
}

static void a_policy_for_fewer_blocks_is_refused(void **state)
{
    struct nw_heal_config bad = {.heals = 1, .percent = 101};
    struct nw_wear wear;
    struct rig rig;

    (void)state;
    assert_int_equal(nw_wear_dynamic_open(&wear, &bad, BLOCKS, rig.ram, sizeof rig.ram),
                     NW_ERR_CONFIG);
    assert_int_equal(nw_wear_dynamic_open(&wear, NULL, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, &wear);
    wear.view.blocks = BLOCKS + 1U;
    assert_int_equal(wear.ops->start(&wear), NW_ERR_CONFIG);
    stop(&rig);
}

/* TLC8G-HEAL: 2500 erases, then 2490, 2480 ... */
static void the_bar_follows_the_life(void **state)
{
    struct nw_heal_config config = {.heals = 1};
    struct nw_wear wear;
    struct rig rig;

    (void)state;
    assert_int_equal(nw_wear_dynamic_open(&wear, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, &wear);
    rig.erases[3] = 2499;
    assert_int_equal(wear.ops->given(&wear, 3), 0);
    rig.erases[3] = 2500;
    assert_int_equal(wear.ops->given(&wear, 3), 1);
    assert_int_equal(wear.ops->heal(&wear, 0), 3);
    assert_int_equal(wear.ops->heal(&wear, 0), NW_WEAR_NONE);
    assert_int_equal(rig.erases[3], 0x10000);
    assert_int_equal(nw_nand_block_heals(rig.nand, 3), 1);
    rig.erases[3] = 0x10000 + 2489;
    assert_int_equal(wear.ops->given(&wear, 3), 0);
    rig.erases[3] = 0x10000 + 2490;
    assert_int_equal(wear.ops->given(&wear, 3), 1);
    assert_int_equal(wear.ops->heal(&wear, 0), 3);
    rig.erases[3] = 0x20000 + 2480;
    assert_int_equal(wear.ops->given(&wear, 3), 1);
    rig.erases[4] = 250UL << 16 | 2500; /* as often as a block may be healed */
    assert_int_equal(wear.ops->given(&wear, 4), 0);
    assert_int_equal(wear.stats.heals, 2);
    stop(&rig);
}

/* The bar is one erase at least. A hundredth of 50 erases was none: then every block had reached it
 * at once, also those whose erases nobody knows yet, and a mount took all data for healed away. */
static void the_least_bar_is_one_erase(void **state)
{
    struct nw_heal_config config = {.heals = 1, .percent = 1};
    struct nw_wear wear;
    struct rig rig;

    (void)state;
    assert_int_equal(nw_wear_dynamic_open(&wear, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, &wear);
    wear.view.chip->geometry.endurance = 50;
    assert_int_equal(wear.ops->given(&wear, 0), 0);
    rig.erases[0] = 1;
    assert_int_equal(wear.ops->given(&wear, 0), 1);
    stop(&rig);
}

static void early_healing_lowers_the_bar(void **state)
{
    struct nw_heal_config config = {.heals = 1, .percent = 95};
    struct nw_wear wear;
    struct rig rig;

    (void)state;
    assert_int_equal(nw_wear_dynamic_open(&wear, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, &wear);
    rig.erases[0] = 2374;
    assert_int_equal(wear.ops->given(&wear, 0), 0);
    rig.erases[0] = 2375;
    assert_int_equal(wear.ops->given(&wear, 0), 1);
    stop(&rig);
}

/* Eager: the list is empty after the next block taken. Lazy: one in idle time, or one a period. */
static void lazy_healing_waits(void **state)
{
    struct nw_heal_config config = {.heals = 1, .cycles = 100, .period_s = 60};
    struct nw_wear wear;
    struct rig rig;

    (void)state;
    assert_int_equal(nw_wear_dynamic_open(&wear, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, &wear);
    wear.now_s = 1000;
    for (uint16_t i = 0; i < 2; i++) {
        rig.erases[i] = 100;
        assert_int_equal(wear.ops->given(&wear, i), 1);
    }
    assert_int_equal(wear.ops->heal(&wear, 0), 0); /* two of eight are too many to wait */
    wear.now_s = 1059;
    assert_int_equal(wear.ops->heal(&wear, 0), NW_WEAR_NONE);
    wear.now_s = 1060;
    assert_int_equal(wear.ops->heal(&wear, 0), 1);
    for (uint16_t i = 2; i < 4; i++) {
        rig.erases[i] = 100;
        assert_int_equal(wear.ops->given(&wear, i), 1);
    }
    wear.now_s = 1070;
    assert_int_equal(wear.ops->heal(&wear, 1), 2);
    wear.now_s = 1129; /* the wait starts anew with a healing in idle time */
    assert_int_equal(wear.ops->heal(&wear, 0), NW_WEAR_NONE);
    rig.free = 2; /* hardly a block left: no waiting */
    assert_int_equal(wear.ops->heal(&wear, 0), 3);
    assert_int_equal(wear.ops->heal(&wear, 0), NW_WEAR_NONE);
    assert_int_equal(wear.stats.heals, 4);
    assert_int_equal(wear.stats.heals_idle, 1);
    assert_int_equal(wear.stats.heals_forced, 3);
    assert_int_equal(wear.stats.most_waiting, 2);
    stop(&rig);
}

/* Three blocks of the five that a chip of 128 lets wait: 60 s come to 60 / 5 x (6 - 3) = 36 s. */
static void the_period_shrinks_as_the_list_grows(void **state)
{
    (void)state;
    for (uint8_t fixed = 0; fixed < 2; fixed++) {
        struct nw_heal_config config = {
            .heals = 1, .fixed = fixed, .cycles = 100, .period_s = 60};
        uint32_t due_s = fixed != 0 ? 1060 : 1036;
        uint8_t states[128] = {NW_BLOCK_FREE};
        uint32_t erases[128] = {100, 100, 100};
        struct nw_wear wear;
        struct rig rig;

        assert_int_equal(nw_wear_dynamic_open(&wear, &config, 128, rig.ram, sizeof rig.ram), NW_OK);
        start(&rig, &wear);
        wear.view.erases = erases;
        wear.view.state = states;
        wear.view.blocks = 128;
        wear.now_s = 1000;
        for (uint16_t i = 0; i < 3; i++) {
            assert_int_equal(wear.ops->given(&wear, i), 1);
        }
        wear.now_s = due_s - 1;
        assert_int_equal(wear.ops->heal(&wear, NW_HEAL_DUE), NW_WEAR_NONE);
        wear.now_s = due_s;
        assert_int_equal(wear.ops->heal(&wear, NW_HEAL_DUE), 0);
        stop(&rig);
    }
}

/* Threshold 4, a block a flag: with one block erased again and again, the data of the others has to
 * move one after the other, never of the same one twice in a round. */
static void swl_moves_what_lies_still(void **state)
{
    struct nw_swl_config config = {.threshold = 4, .seed = 1};
    struct nw_swl swl;
    struct rig rig;
    uint8_t moved[BLOCKS] = {0};

    (void)state;
    assert_int_equal(nw_swl_open(&swl, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, &swl.wear);
    memset(rig.state, NW_BLOCK_USED, sizeof rig.state);
    rig.state[6] = NW_BLOCK_FREE;
    for (uint16_t i = 1; i <= 3; i++) {
        erase(&rig, &swl.wear, 0);
        assert_int_equal(swl.wear.ops->move(&swl.wear), NW_WEAR_NONE);
    }
    for (uint16_t turn = 0; turn < 6; turn++) {
        uint16_t block = NW_WEAR_NONE;

        for (uint16_t i = 0; block == NW_WEAR_NONE; i++) {
            assert_true(i < 8); /* 4 for each flag; block 6 may be passed over */
            erase(&rig, &swl.wear, 0);
            block = swl.wear.ops->move(&swl.wear);
        }
        assert_true(block != 0 && block != 6);
        moved[block]++;
        assert_int_equal(moved[block], 1);
        erase(&rig, &swl.wear, block);
    }
    assert_int_equal(swl.wear.stats.moves, 6);
    erase(&rig, &swl.wear, 6);
    assert_int_equal(swl.wear.stats.rounds, 1); /* all flags set, all cleared */
    stop(&rig);
}

/* Moved data lies still: it goes where wear was, all other data where there was least. */
static void swl_puts_moved_data_on_worn_blocks(void **state)
{
    struct nw_swl_config config = {.seed = 1};
    struct nw_swl swl;
    struct rig rig;

    (void)state;
    assert_int_equal(nw_swl_open(&swl, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, &swl.wear);
    for (uint16_t i = 0; i < BLOCKS; i++) {
        rig.erases[i] = 10U + (i + 3U) % BLOCKS; /* block 5 has the fewest, block 4 the most */
    }
    assert_int_equal(choose(&rig, &swl.wear, NW_WEAR_MOVED), 4);
    assert_int_equal(choose(&rig, &swl.wear, NW_WEAR_HOST), 5);
    assert_int_equal(choose(&rig, &swl.wear, 0), 5);
    stop(&rig);
}

static void swl_moves_whole_sets(void **state)
{
    struct nw_swl_config config = {.threshold = 2, .set_shift = 1, .seed = 1};
    struct nw_swl swl;
    struct rig rig;

    (void)state;
    assert_int_equal(nw_swl_open(&swl, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, &swl.wear);
    memset(rig.state, NW_BLOCK_USED, sizeof rig.state);
    for (uint16_t i = 0; i < 4; i++) {
        erase(&rig, &swl.wear, i % 2U);
    }
    uint16_t first = swl.wear.ops->move(&swl.wear);
    assert_true(first >= 2 && first % 2 == 0 && first < BLOCKS);
    assert_int_equal(swl.wear.ops->move(&swl.wear), first + 1);
    assert_int_equal(swl.wear.ops->move(&swl.wear), NW_WEAR_NONE);
    config.threshold = 1;
    assert_int_equal(nw_swl_open(&swl, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_ERR_CONFIG);
    assert_true(nw_swl_ram_bytes(&config, BLOCKS) == 0);
    stop(&rig);
}

/* A layer that keeps a logical block in each block and writes some again and again. */
struct level {
    uint32_t erases[128];
    uint16_t next[129]; /* the last one is the list's head */
    uint8_t state[128];
    uint16_t owner[128];
    uint16_t place[128];
    uint16_t free;
    uint16_t blocks;
    uint64_t ram[64];
};

static void level_write(struct level *level, struct nw_wear *wear, uint16_t data, uint16_t kind)
{
    uint16_t block = wear->ops->choose(wear, level->next[level->blocks], kind);
    uint16_t before = level->blocks;
    uint16_t old = level->place[data];

    while (level->next[before] != block) {
        before = level->next[before];
    }
    level->next[before] = level->next[block];
    level->state[block] = NW_BLOCK_USED;
    level->erases[block]++;
    wear->ops->erased(wear, block);
    level->owner[block] = data;
    level->place[data] = block;
    level->free--;
    if (old != NW_WEAR_NONE) { /* last in the list of free blocks */
        while (level->next[before] < level->blocks) {
            before = level->next[before];
        }
        level->next[before] = old;
        level->next[old] = NW_WEAR_NONE;
        level->state[old] = NW_BLOCK_FREE;
        level->free++;
    }
}

/* `hot` logical blocks are written `writes` times in turn; the others once, but for moves. Answers
 * how many erases the most erased block has above the mean. */
static uint32_t level_out(struct level *level, struct nw_wear *wear, uint16_t free, uint16_t hot,
                          uint32_t writes)
{
    struct nw_chip chip = {0};
    uint32_t most = 0;
    uint64_t sum = 0;

    level->free = level->blocks;
    for (uint16_t i = 0; i <= level->blocks; i++) {
        level->next[i] = i == level->blocks ? 0 : (uint16_t)(i + 1U);
    }
    level->next[level->blocks - 1U] = NW_WEAR_NONE;
    memset(level->place, 0xFF, sizeof level->place);
    memset(level->erases, 0, sizeof level->erases);
    memset(level->state, NW_BLOCK_FREE, sizeof level->state);
    wear->view = (struct nw_wear_view){.chip = &chip,
                                       .erases = level->erases,
                                       .next = level->next,
                                       .state = level->state,
                                       .free = &level->free,
                                       .blocks = level->blocks};
    assert_int_equal(wear->ops->start(wear), NW_OK);
    for (uint16_t data = 0; data < level->blocks - free; data++) {
        level_write(level, wear, data, NW_WEAR_HOST);
    }
    for (uint32_t i = 0; i < writes; i++) {
        level_write(level, wear, (uint16_t)(i % hot), NW_WEAR_HOST);
        uint16_t block = wear->ops->move(wear);

        if (block != NW_WEAR_NONE) {
            level_write(level, wear, level->owner[block], NW_WEAR_MOVED);
        }
    }
    for (uint16_t block = 0; block < level->blocks; block++) {
        sum += level->erases[block];
        most = level->erases[block] > most ? level->erases[block] : most;
    }
    return most - (uint32_t)(sum / level->blocks);
}

/* The figures wear_swl.h tells, over thresholds and sets: twice as much with two blocks free. With
 * flags shared by a set, a set that held one block erased often kept its still blocks: with sets of
 * 8 (set_shift 3) the most erased block came to three times the mean. */
static void swl_is_as_even_as_it_tells(void **state)
{
    static const uint16_t thresholds[] = {0, 2, 10, 100};
    static const uint16_t frees[] = {2, 3, 8};
    static const uint16_t hots[] = {1, 5, 40};
    static struct level level;
    struct nw_swl swl;

    (void)state;
    level.blocks = 128;
    for (uint32_t pick = 0; pick < 4U * 5U * 3U * 3U; pick++) {
        struct nw_swl_config config = {.threshold = thresholds[pick % 4U],
                                       .set_shift = (uint8_t)(pick / 4U % 5U), /* 8 sets or more */
                                       .seed = pick};
        uint16_t free = frees[pick / 20U % 3U];
        uint32_t threshold = config.threshold != 0 ? config.threshold : 100U;
        uint32_t term = threshold + (threshold << config.set_shift) / free;
        uint32_t bound = 2U + (free == 2U ? 2U * term : term);
        uint64_t erases = 128U - free + 60000U;

        assert_int_equal(nw_swl_open(&swl, &config, 128, level.ram, sizeof level.ram), NW_OK);
        assert_in_range(level_out(&level, &swl.wear, free, hots[pick / 60U], 60000), 0, bound);
        erases += swl.wear.stats.moves;
        assert_true(swl.wear.stats.moves * 9U * threshold <= 10U * erases);
    }
}

/* What changes all takes its turn by itself. Under data that never changes blocks are still. */
static void dynamic_is_even_where_data_changes(void **state)
{
    static struct level level;
    struct nw_wear wear;

    (void)state;
    level.blocks = 128;
    assert_int_equal(nw_wear_dynamic_open(&wear, NULL, 128, level.ram, sizeof level.ram), NW_OK);
    assert_in_range(level_out(&level, &wear, 8, 120, 60000), 0, 2);
    assert_true(level_out(&level, &wear, 8, 1, 60000) > 5000);
}

static void write_times(struct nw_wear *wear, uint16_t data, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        wear->ops->updated(wear, data);
    }
}

/* The filter: 255 updates of one block, 100 of another: the first is hot, the most worn young block
 * grows old and is emptied. Both counters start anew. */
static void hot_data_is_found_and_takes_old_blocks(void **state)
{
    struct nw_dheating_config config = {.heal = {.heals = 1, .cycles = 100}};
    struct nw_dheating dheating;
    struct nw_wear *wear = &dheating.wear;
    struct rig rig;

    (void)state;
    assert_int_equal(nw_dheating_open(&dheating, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, wear);
    for (uint16_t i = 0; i < BLOCKS; i++) {
        rig.erases[i] = (i * 3U) % BLOCKS; /* block 5 has 7, block 0 none */
    }
    rig.state[5] = NW_BLOCK_USED;
    rig.next[4] = 6;
    write_times(wear, 2, 100);
    write_times(wear, 1, 254);
    assert_int_equal(wear->stats.hot, 0);
    assert_int_equal(choose(&rig, wear, 1), 0);
    write_times(wear, 1, 1);
    assert_int_equal(wear->stats.hot, 1);
    assert_int_equal(wear->ops->move(wear), 5);
    assert_int_equal(wear->ops->move(wear), NW_WEAR_NONE);
    assert_int_equal(choose(&rig, wear, 2), 0); /* cold: the least worn */
    rig.state[5] = NW_BLOCK_FREE;
    rig.next[4] = 5;
    assert_int_equal(choose(&rig, wear, 1), 5);
    assert_int_equal(choose(&rig, wear, NW_WEAR_HOST), 5);
    assert_int_equal(choose(&rig, wear, NW_WEAR_MOVED), 0);

    write_times(wear, 2, 254); /* 100 are forgotten: not full yet */
    assert_int_equal(wear->stats.hot, 1);
    write_times(wear, 2, 1);
    assert_int_equal(wear->stats.hot, 2); /* block 2 has the next most erases and is free */
    assert_int_equal(wear->ops->move(wear), NW_WEAR_NONE);
    assert_int_equal(wear->stats.moves, 1);
    assert_int_equal(choose(&rig, wear, 2), 5); /* the most worn of the old ones */
    stop(&rig);
}

/* A hot block is full again, what is cold was updated less than the mean: nothing new is hot. */
static void lukewarm_data_stays_cold(void **state)
{
    struct nw_dheating_config config = {.heal = {.heals = 1, .cycles = 100}};
    struct nw_dheating dheating;
    struct rig rig;

    (void)state;
    assert_int_equal(nw_dheating_open(&dheating, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, &dheating.wear);
    write_times(&dheating.wear, 1, 255);
    write_times(&dheating.wear, 2, 100);
    write_times(&dheating.wear, 1, 255);
    assert_int_equal(dheating.wear.stats.hot, 1);
    write_times(&dheating.wear, 2, 254);
    write_times(&dheating.wear, 1, 255); /* 254 x 2 < 255 + 254: still below the mean */
    assert_int_equal(dheating.wear.stats.hot, 1);
    stop(&rig);
}

/* Healed blocks are new, and for each the most worn young one gets old. Cold data takes new ones
 * after young ones, hot data only when none is young. When all are healed the next round begins. */
static void healed_blocks_are_new_until_all_are(void **state)
{
    struct nw_dheating_config config = {.heal = {.heals = 1, .cycles = 10}};
    struct nw_dheating dheating;
    struct nw_wear *wear = &dheating.wear;
    struct rig rig;

    (void)state;
    assert_int_equal(nw_dheating_open(&dheating, &config, BLOCKS, rig.ram, sizeof rig.ram), NW_OK);
    start(&rig, wear);
    write_times(wear, 1, 255); /* block 0 grows old */
    rig.erases[0] = 10;
    rig.erases[1] = 5;
    rig.erases[2] = 4;
    assert_int_equal(wear->ops->given(wear, 0), 1);
    assert_int_equal(wear->ops->heal(wear, 0), 0);
    assert_int_equal(choose(&rig, wear, 1), 1); /* old now */
    assert_int_equal(choose(&rig, wear, 3), 3); /* cold: young ones first, the least worn */
    rig.next[0] = 2; /* block 1 is taken */
    assert_int_equal(choose(&rig, wear, 1), 2); /* not the new one: a young one, which gets old */
    assert_int_equal(choose(&rig, wear, 3), 3);
    for (uint16_t i = 3; i < BLOCKS; i++) {
        rig.erases[i] = 0x10005; /* all but 1 and 2 are new */
    }
    rig.next[0] = 3;
    assert_int_equal(choose(&rig, wear, 1), 0); /* of new blocks the least worn */
    rig.erases[0] = 0x10006;
    assert_int_equal(choose(&rig, wear, 1), 3);
    rig.next[0] = 1;
    assert_int_equal(choose(&rig, wear, 3), 3); /* cold data too: new ones, not old ones */
    memset(rig.erases, 0, sizeof rig.erases);
    rig.erases[0] = 0x10000;
    for (uint16_t i = 1; i < BLOCKS; i++) {
        assert_int_equal(wear->stats.rounds, 0);
        rig.erases[i] = 10;
        assert_int_equal(wear->ops->given(wear, i), 1);
        assert_int_equal(wear->ops->heal(wear, 0), i);
    }
    assert_int_equal(wear->stats.rounds, 1);
    rig.erases[7] = 0x10003;
    assert_int_equal(choose(&rig, wear, 1), 0); /* nothing is hot any more, all are young */
    stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dynamic_takes_the_fewest_erases),
        cmocka_unit_test(a_policy_for_fewer_blocks_is_refused),
        cmocka_unit_test(the_bar_follows_the_life),
        cmocka_unit_test(the_least_bar_is_one_erase),
        cmocka_unit_test(early_healing_lowers_the_bar),
        cmocka_unit_test(lazy_healing_waits),
        cmocka_unit_test(the_period_shrinks_as_the_list_grows),
        cmocka_unit_test(swl_moves_what_lies_still),
        cmocka_unit_test(swl_puts_moved_data_on_worn_blocks),
        cmocka_unit_test(swl_moves_whole_sets),
        cmocka_unit_test(swl_is_as_even_as_it_tells),
        cmocka_unit_test(dynamic_is_even_where_data_changes),
        cmocka_unit_test(hot_data_is_found_and_takes_old_blocks),
        cmocka_unit_test(lukewarm_data_stays_cold),
        cmocka_unit_test(healed_blocks_are_new_until_all_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
