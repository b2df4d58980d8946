/* SPDX-License-Identifier: Apache-2.0 */
/* Goal: a replay does to the device what the trace says, takes the time the chip takes, notices
 * whatever does not read as written, and its books balance, on every layer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-replay/replay.h"
#include "nandwich-replay/tokens.h"
#include "nandwich-replay/workload.h"
#include "nandwich-stack/tier.h"
#include "nandwich-twin/parts.h"
#include "nandwich/content.h"

/* The end of a request's row: nobody's, of no class. */
#define READ NW_IO_READ, 0, 0
#define WRITE NW_IO_WRITE, 0, 0
#define TRIM NW_IO_TRIM, 0, 0
#define SYNC NW_IO_SYNC, 0, 0

#define BLOCKS 64U
#define PAGE 2048U

/* A source of requests written down in a test. */
struct script {
    struct nw_io_source source;
    const struct nw_io *ios;
    uint32_t count;
    uint32_t at;
};

static int script_fill(struct nw_io_source *source, struct nw_io *to, uint32_t room)
{
    struct script *script = source->context;
    uint32_t left = script->count - script->at;
    uint32_t count = left < room ? left : room;

    memcpy(to, script->ios + script->at, count * sizeof *to);
    script->at += count;
    return (int)count;
}

static int script_rewind(struct nw_io_source *source)
{
    struct script *script = source->context;

    script->at = 0;
    return NW_OK;
}

static const struct nw_io_source_ops script_ops = {script_fill, script_rewind};

/* A device, and what replays on it. */
struct rig {
    struct nw_stack stack;
    struct nw_tokens tokens;
    struct script script;
    struct nw_workload *workload;
    struct nw_replay_config config;
    struct nw_replay *replay;
};

static void open_device(struct rig *rig, const char *layer, uint32_t endurance, uint8_t flags)
{
    char text[256] = "";
    struct nw_why why = {text, sizeof text};
    struct nw_layer_config config = {0};
    struct nw_part part;
    struct nw_nand_config nand = {
        .part = &part, .blocks = BLOCKS, .seed = 1, .flags = NW_NAND_NO_PAYLOAD};

    memset(rig, 0, sizeof *rig);
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    if (endurance != 0) {
        part.endurance = endurance;
        nand.flags |= NW_NAND_WEAR_OUT;
    }
    nw_stack_init(&rig->stack);
    assert_int_equal(nw_stack_chip(&rig->stack, &nand, &why), NW_OK);
    if ((flags & NW_REPLAY_VERIFY) != 0) {
        assert_int_equal(nw_tokens_open(&rig->tokens, rig->stack.chip), NW_OK);
        rig->stack.chip = &rig->tokens.chip;
    }
    if (nw_stack_layer(&rig->stack, nw_layer_find(layer), &config, 0, &why) < 0) {
        fail_msg("%s: %s", layer, text);
    }
    rig->config = (struct nw_replay_config){.stack = &rig->stack,
                                            .source = &rig->script.source,
                                            .repeat = 1,
                                            .seed = 1,
                                            .flags = flags};
}

static void open_script(struct rig *rig, const struct nw_io *ios, uint32_t count, uint8_t flags)
{
    open_device(rig, "page", 0, flags);
    rig->script = (struct script){{&script_ops, &rig->script}, ios, count, 0};
}

static void close_rig(struct rig *rig)
{
    nw_replay_close(rig->replay);
    nw_workload_close(rig->workload);
    nw_stack_close(&rig->stack);
    nw_tokens_close(&rig->tokens);
}

static void assert_laws(struct rig *rig)
{
    struct nw_replay_law laws[NW_REPLAY_LAWS];
    uint32_t count;

    if (nw_replay_check(rig->replay, laws, &count) != 0) {
        for (uint32_t i = 0; i < count; i++) {
            print_error("%s: %llu %llu (%llu)\n", laws[i].name, (unsigned long long)laws[i].left,
                        (unsigned long long)laws[i].right, (unsigned long long)laws[i].slack);
        }
        fail();
    }
}

static const struct nw_replay_result *play(struct rig *rig)
{
    int status;

    assert_int_equal(nw_replay_open(&rig->replay, &rig->config), NW_OK);
    do {
        status = nw_replay_precondition(rig->replay, 100);
        assert_true(status >= 0);
    } while (status > 0);
    do {
        status = nw_replay_run(rig->replay, 1000);
        assert_true(status >= 0);
    } while (status > 0);
    assert_int_equal(nw_replay_run(rig->replay, 1000), 0);
    assert_laws(rig);
    return nw_replay_outcome(rig->replay);
}

#define NS_READ(bytes) nw_cost_ns(&rig.stack.part.chip.read, bytes)
#define NS_PROGRAM(bytes) nw_cost_ns(&rig.stack.part.chip.program, bytes)

static void test_partial_sectors_are_read_first(void **state)
{
    const struct nw_io ios[] = {
        {0, 0, 4 * PAGE, 0, WRITE},         /* four sectors */
        {0, 512, 512, 0, WRITE},            /* inside one: read 1, write 1 */
        {0, PAGE, 512, 0, WRITE},           /* the front of one: the same */
        {0, PAGE - 512, 1024, 0, WRITE},    /* across two: read 2, write 2 */
        {0, 512, 2 * PAGE, 0, READ},        /* three */
        {0, 100, 2 * PAGE + 8, 0, TRIM},    /* only one is whole */
        {0, 0, 0, 0, SYNC},
        {0, 512, 512, 0, TRIM},             /* nothing whole */
    };
    struct rig rig;
    const struct nw_replay_result *result;

    (void)state;
    open_script(&rig, ios, 8, NW_REPLAY_VERIFY);
    result = play(&rig);
    assert_int_equal(result->ended, NW_OK);
    assert_int_equal(result->done, 8);
    assert_int_equal(result->sectors_written, 4 + 1 + 1 + 2);
    assert_int_equal(result->partial_reads, 1 + 1 + 2);
    assert_int_equal(result->sectors_read, 3);
    assert_int_equal(result->sectors_trimmed, 1);
    assert_int_equal(result->syncs, 1);
    assert_int_equal(result->bytes_written, 4 * PAGE + 512 + 512 + 1024);
    assert_int_equal(result->bytes_read, 2 * PAGE);
    assert_int_equal(result->tokens_checked, 1 + 1 + 2 + 3);
    assert_int_equal(result->violations, 0);
    assert_int_equal(result->passes, 1);
    assert_int_equal(result->reads.count, 1);
    assert_int_equal(result->writes.count, 4);
    assert_int_equal(result->others.count, 3); /* trims and syncs wait, and write nothing */
    close_rig(&rig);
}

static void test_back_to_back_time_is_the_chips(void **state)
{
    const struct nw_io ios[] = {{0, 0, PAGE, 0, WRITE}, {9000, 0, PAGE, 0, READ}};
    struct rig rig;
    const struct nw_replay_result *result;
    uint64_t tag = 18; /* spare bytes of a tag */

    (void)state;
    open_script(&rig, ios, 2, 0);
    result = play(&rig);
    /* The first write finds its block erased. */
    assert_int_equal(result->writes.max_ns, NS_PROGRAM(PAGE + tag));
    assert_int_equal(result->reads.max_ns, NS_READ(PAGE + tag));
    assert_int_equal(result->end_ns, NS_PROGRAM(PAGE + tag) + NS_READ(PAGE + tag));
    assert_int_equal(result->busy_ns, result->end_ns);
    assert_int_equal(result->idle_ns, 0);
    assert_int_equal(result->worst_request, 0);
    assert_int_equal(result->worst_call_ns, result->writes.max_ns);
    close_rig(&rig);
}

static void test_arrivals_make_a_queue(void **state)
{
    /* Three at once, one while the last is served, one after a long gap, one stepping back. */
    const struct nw_io ios[] = {
        {1000, 0, PAGE, 0, WRITE},      {1000, PAGE, PAGE, 0, WRITE},
        {1000, 2 * PAGE, PAGE, 0, WRITE}, {2000, 3 * PAGE, PAGE, 0, WRITE},
        {900000000, 0, PAGE, 0, READ},  {800000000, 0, PAGE, 0, READ},
    };
    struct rig rig;
    const struct nw_replay_result *result;
    uint64_t write, read;

    (void)state;
    open_script(&rig, ios, 6, NW_REPLAY_ARRIVALS);
    result = play(&rig);
    write = NS_PROGRAM(PAGE + 18);
    read = NS_READ(PAGE + 18);
    assert_int_equal(result->queue_max, 4);
    assert_int_equal(result->writes.sum_ns, (1 + 2 + 3) * write + 4 * write - 1000);
    assert_int_equal(result->writes.max_ns, 4 * write - 1000);
    assert_int_equal(result->reads.sum_ns, read + 2 * read);
    assert_int_equal(result->stepped_back, 1);
    assert_int_equal(result->idle_ns, 1000 + (900000000 - 1000 - 4 * write));
    assert_int_equal(result->end_ns, 900000000 + 2 * read);
    assert_int_equal(result->standby_pj, rig.stack.part.standby_nw * result->idle_ns / 1000000);
    close_rig(&rig);
}

static void test_who_comes_as_another_leaves_waits_for_nobody(void **state)
{
    struct nw_io ios[] = {{0, 0, PAGE, 0, WRITE}, {0, PAGE, PAGE, 0, WRITE}};
    struct rig rig;

    (void)state;
    open_script(&rig, ios, 2, NW_REPLAY_ARRIVALS);
    ios[1].time_ns = NS_PROGRAM(PAGE + 18);
    assert_int_equal(play(&rig)->queue_max, 1);
    close_rig(&rig);
}

static void test_passes_follow_each_other_at_the_mean_gap(void **state)
{
    const struct nw_io ios[] = {{0, 0, PAGE, 0, READ}, {3000000, 0, PAGE, 0, READ}};
    struct rig rig;
    const struct nw_replay_result *result;

    (void)state;
    open_script(&rig, ios, 2, NW_REPLAY_ARRIVALS);
    rig.config.repeat = 3;
    result = play(&rig);
    assert_int_equal(result->requests, 6);
    assert_int_equal(result->passes, 3);
    /* Reads of sectors never written cost nothing: the last ends when it arrives, 5 gaps on. */
    assert_int_equal(result->end_ns, 5 * 3000000);
    close_rig(&rig);
}

static void test_a_wrong_page_is_noticed(void **state)
{
    const struct nw_io ios[] = {{0, 0, 2 * PAGE, 0, WRITE}, {0, 0, 2 * PAGE, 0, READ}};
    struct rig rig;
    const struct nw_replay_result *result;
    uint64_t *words;

    (void)state;
    open_script(&rig, ios, 2, NW_REPLAY_VERIFY);
    assert_int_equal(nw_replay_open(&rig.replay, &rig.config), NW_OK);
    assert_int_equal(nw_replay_run(rig.replay, 1), 1);
    /* The two pages are swapped behind the layer's back; its own check is the CRC, so that goes
     * first: ended tells where. */
    words = rig.tokens.words;
    for (uint32_t page = 0; page < BLOCKS * 64U; page++) {
        if (words[page] == 1U) { /* sector 0, version 1 */
            words[page] = 2U;
        }
    }
    assert_int_equal(nw_replay_run(rig.replay, 9), 0);
    result = nw_replay_outcome(rig.replay);
    assert_int_equal(result->ended, NW_ERR_CORRUPT);
    assert_int_equal(result->ended_sector, 0);
    assert_int_equal(result->done, 1);
    assert_laws(&rig);
    close_rig(&rig);
}

/* A layer that mixes sectors up: sector 1 is written and read as sector 0. */
static const struct nw_block_ops *honest;

static int lie_write(struct nw_block_req *req)
{
    struct nw_block_req other = *req;
    int status;

    other.sector = req->sector == 1U ? 0U : req->sector;
    status = honest->write(&other);
    req->done = other.done;
    return status;
}

static int lie_read(struct nw_block_req *req)
{
    struct nw_block_req other = *req;
    int status;

    other.sector = req->sector == 1U ? 0U : req->sector;
    status = honest->read(&other);
    req->done = other.done;
    return status;
}

static void test_a_lying_layer_is_caught(void **state)
{
    const struct nw_io ios[] = {
        {0, 0, PAGE, 0, WRITE}, {0, PAGE, PAGE, 0, WRITE},
        {0, 2 * PAGE, PAGE, 0, READ},
        {0, PAGE, PAGE, 0, READ}, {0, 0, PAGE, 0, READ},
    };
    struct nw_block_ops lies = {.write = lie_write, .read = lie_read};
    struct rig rig;
    const struct nw_replay_result *result;

    (void)state;
    open_script(&rig, ios, 5, NW_REPLAY_VERIFY);
    honest = rig.stack.block->ops;
    rig.stack.block->ops = &lies;
    result = play(&rig);
    assert_int_equal(result->ended, NW_OK);
    assert_int_equal(result->tokens_checked, 3);
    assert_int_equal(result->violations, 1); /* sector 0 holds what was meant for sector 1 */
    assert_int_equal(result->violation_request, 4);
    assert_int_equal(result->violation_sector, 0);
    close_rig(&rig);
}

/* A trace that only writes: --verify looked at nothing at all. */
static void test_what_was_only_written_is_read_back(void **state)
{
    const struct nw_io ios[] = {
        {0, 0, PAGE, 0, WRITE}, {0, PAGE, PAGE, 0, WRITE},
    };
    struct nw_block_ops lies = {.write = lie_write, .read = lie_read};
    struct rig rig;
    const struct nw_replay_result *result;

    (void)state;
    open_script(&rig, ios, 2, NW_REPLAY_VERIFY);
    honest = rig.stack.block->ops;
    rig.stack.block->ops = &lies;
    result = play(&rig);
    assert_int_equal(result->violations, 0);
    while (nw_replay_read_back(rig.replay, 7) > 0) {
    }
    assert_int_equal(result->read_back, rig.stack.block->sectors);
    assert_int_equal(result->violations, 1);
    assert_int_equal(result->violation_request, result->requests);
    assert_int_equal(result->violation_sector, 0);
    assert_int_equal(nw_replay_read_back(rig.replay, 7), 0);
    close_rig(&rig);
}

/* How often the sector was written, by its token. */
static uint32_t version_of(struct rig *rig, uint32_t sector)
{
    uint8_t data[PAGE];
    struct nw_block_req req = {
        .block = rig->stack.block, .sector = sector, .count = 1, .data = data};
    uint64_t word;

    assert_int_equal(nw_block_read(&req), NW_OK);
    assert_int_equal(nw_tokens_read(data, PAGE, &word), 1);
    assert_true(word == 0 || word >> 32 == sector);
    return (uint32_t)word;
}

static void test_what_does_not_fit(void **state)
{
    struct nw_io ios[] = {{0, 0, PAGE, 0, WRITE}, {0, 0, 2 * PAGE, 0, WRITE}};
    struct rig rig;
    const struct nw_replay_result *result;
    uint64_t device;

    (void)state;
    open_script(&rig, ios, 2, 0);
    device = (uint64_t)rig.stack.block->sectors * PAGE;
    ios[1].offset = device - PAGE; /* one sector over the end */
    result = play(&rig);
    assert_int_equal(result->ended, NW_ERR_RANGE);
    assert_int_equal(result->done, 1);
    assert_int_equal(result->ended_sector, rig.stack.block->sectors - 1);
    close_rig(&rig);

    open_script(&rig, ios, 2, NW_REPLAY_VERIFY);
    rig.config.fit = NW_REPLAY_WRAP;
    result = play(&rig);
    assert_int_equal(result->ended, NW_OK);
    assert_int_equal(result->sectors_written, 3);
    assert_int_equal(result->wrapped, 1);
    assert_int_equal(version_of(&rig, 0), 2); /* written at first, and by what went round */
    assert_int_equal(version_of(&rig, 1), 0);
    assert_int_equal(version_of(&rig, rig.stack.block->sectors - 1), 1);
    close_rig(&rig);

    ios[1].offset = 10 * device + 512 - 2 * PAGE; /* scaled by ten: ends inside */
    open_script(&rig, ios, 2, NW_REPLAY_VERIFY);
    rig.config.fit = NW_REPLAY_SCALE;
    rig.config.extent = 10 * device + 512;
    result = play(&rig);
    assert_int_equal(result->ended, NW_OK);
    assert_int_equal(result->wrapped, 1); /* did not fit behind its scaled start */
    close_rig(&rig);
}

static void test_until_worn(void **state)
{
    struct nw_workload_config config = *nw_workload_find("uniform");
    const char *why;
    struct rig rig;
    const struct nw_replay_result *result;

    (void)state;
    open_device(&rig, "page", 20, NW_REPLAY_VERIFY);
    config.requests = 1000;
    config.footprint = 64U * 4096U;
    assert_int_equal(nw_workload_open(&rig.workload, &config, 7, &why), NW_OK);
    rig.config.source = nw_workload_source(rig.workload);
    rig.config.repeat = 0;
    result = play(&rig);
    assert_int_equal(result->ended, NW_ERR_FULL);
    assert_int_equal(result->violations, 0);
    assert_int_equal(result->dead, 1);
    assert_true(result->death_request < result->requests);
    assert_true(result->passes >= 10);
    /* 64 blocks x 64 pages x 20 cycles are rated, up to a quarter more are drawn. */
    assert_in_range(result->sectors_written, 64U * 64U * 20U / 2U, 64U * 64U * 25U);
    assert_in_range(result->death_written, 64U * 64U * 20U / 4U, result->sectors_written);
    close_rig(&rig);
}

static void test_samples_are_few_and_grow(void **state)
{
    struct nw_workload_config config = *nw_workload_find("uniform");
    const struct nw_replay_sample *samples;
    const char *why;
    struct rig rig;
    uint32_t count;

    (void)state;
    open_device(&rig, "page", 0, 0);
    config.requests = 100003;
    config.footprint = 1024U * 4096U;
    assert_int_equal(nw_workload_open(&rig.workload, &config, 7, &why), NW_OK);
    rig.config.source = nw_workload_source(rig.workload);
    rig.config.precondition = 1500;
    (void)play(&rig);
    count = nw_replay_samples(rig.replay, &samples);
    assert_in_range(count, NW_REPLAY_SAMPLES / 2, NW_REPLAY_SAMPLES);
    for (uint32_t i = 1; i < count; i++) {
        assert_true(samples[i].requests > samples[i - 1].requests);
        assert_true(samples[i].time_ns > samples[i - 1].time_ns);
        assert_true(samples[i].response_max_ns > 0);
        if (i + 2 < count) {
            assert_int_equal(samples[i + 1].requests - samples[i].requests,
                             samples[i].requests - samples[i - 1].requests);
        }
    }
    assert_int_equal(samples[count - 1].requests, 100003);
    assert_int_equal(samples[count - 1].written, 200006); /* 4 KB are two sectors */
    close_rig(&rig);
}

static void test_a_run_may_be_ended_early(void **state)
{
    const struct nw_io ios[] = {{0, 0, PAGE, 0, WRITE}, {0, PAGE, PAGE, 0, WRITE}};
    const struct nw_replay_sample *samples;
    struct rig rig;

    (void)state;
    open_script(&rig, ios, 2, 0);
    assert_int_equal(nw_replay_open(&rig.replay, &rig.config), NW_OK);
    nw_replay_end(rig.replay); /* not begun */
    assert_int_equal(nw_replay_run(rig.replay, 1), 1);
    nw_replay_end(rig.replay);
    nw_replay_end(rig.replay);
    assert_int_equal(nw_replay_run(rig.replay, 1), 0);
    assert_int_equal(nw_replay_outcome(rig.replay)->requests, 1);
    assert_int_equal(nw_replay_outcome(rig.replay)->end_ns, NS_PROGRAM(PAGE + 18));
    assert_int_equal(nw_replay_samples(rig.replay, &samples), 1);
    assert_laws(&rig);
    close_rig(&rig);
}

static void test_every_layer_keeps_the_books(void **state)
{
    struct nw_workload_config config = *nw_workload_find("hotcold");
    const char *why;

    (void)state;
    for (uint32_t i = 0; i < nw_layer_kind_count; i++) {
        struct rig rig;
        const struct nw_replay_result *result;

        open_device(&rig, nw_layer_kinds[i]->name, 0, NW_REPLAY_VERIFY | NW_REPLAY_ARRIVALS);
        config.requests = 4000;
        config.writes = 700;
        config.run = 300;
        config.gap_ns = 500000;
        config.fixed = 0;
        config.footprint = (uint64_t)rig.stack.block->sectors * PAGE / 4096U * 4096U;
        assert_int_equal(nw_workload_open(&rig.workload, &config, 3, &why), NW_OK);
        rig.config.source = nw_workload_source(rig.workload);
        rig.config.precondition = 800;
        rig.config.flags |= NW_REPLAY_IDLE;
        result = play(&rig);
        assert_int_equal(result->ended, NW_OK);
        assert_int_equal(result->done, 4000);
        assert_int_equal(result->violations, 0);
        assert_true(result->tokens_checked > 1000);
        close_rig(&rig);
    }
}

/* The filter alone, on a part whose erased bytes may be read. */
static void test_tokens_are_the_pages_content(void **state)
{
    struct nw_part part;
    struct nw_nand_config config = {
        .part = &part, .blocks = 4, .seed = 1, .flags = NW_NAND_NO_PAYLOAD};
    struct nw_tokens tokens;
    struct nw_nand *nand;
    uint8_t page[PAGE], back[PAGE];
    struct nw_chip_req req = {.length = PAGE, .data = page};
    uint64_t word;

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.read_erased = 1;
    part.copy = 1;
    assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
    assert_int_equal(nw_tokens_open(&tokens, nw_nand_chip(nand)), NW_OK);
    req.chip = &tokens.chip;
    nw_tokens_paint(page, PAGE, 0x1122334455667788ULL);
    assert_int_equal(nw_chip_program(&req), NW_OK);
    req.page = 1;
    page[PAGE - 1] ^= 1U; /* no token: kept below */
    assert_int_equal(nw_chip_program(&req), NW_OK);
    for (uint32_t at = 0; at < 2; at++) {
        req.page = at;
        req.to_page = at + 2U;
        assert_int_equal(nw_chip_copy(&req), NW_OK);
    }
    req.data = back;
    for (uint32_t at = 0; at < 4; at++) {
        req.page = at;
        assert_int_equal(nw_chip_read(&req), NW_OK);
        assert_memory_equal(back, page, PAGE - 1);
        assert_int_equal(nw_tokens_read(back, PAGE, &word), at % 2U == 0);
    }
    req.offset = 3; /* off the words */
    req.length = 6;
    req.page = 0;
    assert_int_equal(nw_chip_read(&req), NW_OK);
    assert_memory_equal(back, page + 3, 6);
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    assert_int_equal(nw_chip_read(&req), NW_OK);
    assert_int_equal(back[0], 0xFF);
    nw_tokens_close(&tokens);
    nw_nand_close(nand);
}

static void test_refused_configurations(void **state)
{
    const struct nw_io none = {0};
    struct rig rig;

    (void)state;
    open_script(&rig, &none, 0, 0);
    rig.config.flags = NW_REPLAY_VERIFY; /* the device carries no payload */
    assert_int_equal(nw_replay_open(&rig.replay, &rig.config), NW_ERR_CONFIG);
    rig.config.flags = 0;
    rig.config.fit = NW_REPLAY_SCALE; /* to what? */
    assert_int_equal(nw_replay_open(&rig.replay, &rig.config), NW_ERR_CONFIG);
    rig.config.fit = NW_REPLAY_REFUSE;
    rig.config.repeat = 0; /* an empty source does not go round for ever */
    assert_int_equal(play(&rig)->requests, 0);
    close_rig(&rig);
}

/* An NVM of so many bytes before the layer. */
static void put_tier(struct rig *rig, const char *policy, uint32_t bytes)
{
    char text[256] = "";
    struct nw_why why = {text, sizeof text};
    struct nw_part part;
    struct nw_tier_choice choice = {.part = &part, .bytes = bytes, .apps = 2, .seed = 1};

    assert_int_equal(nw_parts_get("PCM-16M", &part), NW_OK);
    if (nw_stack_tier(&rig->stack, policy, &choice, &why) < 0) {
        fail_msg("%s: %s", policy, text);
    }
}

static const struct nw_replay_share *share(const struct rig *rig, enum nw_replay_by by, uint32_t at)
{
    const struct nw_replay_share *all;

    assert_true(at < nw_replay_shares(rig->replay, by, &all));
    return &all[at];
}

#define INODES NW_CONTENT_INODES
#define GUESTS (NW_CONTENT_BITMAP | NW_CONTENT_GUEST)

/* A request is split where the class changes, and only metadata goes to the NVM; what is nobody's
 * of no class is told apart, and so is who is beyond the last application. */
static void test_classes_and_applications(void **state)
{
    const struct nw_io ios[] = {
        {0, 0, 4 * PAGE, 0, NW_IO_WRITE, 0, 1}, /* data, two of inodes, a guest's bitmap */
        {0, PAGE, 3 * PAGE, 0, NW_IO_READ, 0, 2},
        {0, 3 * PAGE + 512, 512, 0, NW_IO_WRITE, 0, 2}, /* read first */
        {0, 8 * PAGE, PAGE, 0, NW_IO_WRITE, 0, 3},
        {0, 0, 2 * PAGE, 0, NW_IO_TRIM, 0, 0},
    };
    struct rig rig;
    uint8_t *content;

    (void)state;
    open_script(&rig, ios, 5, 0);
    put_tier(&rig, "class", 1 << 17);
    content = calloc(rig.stack.block->sectors, 1);
    assert_non_null(content);
    memcpy(content, ((uint8_t[]){NW_CONTENT_DATA, INODES, INODES, GUESTS}), 4);
    rig.config.content = content;
    rig.config.apps = 2;
    assert_int_equal(play(&rig)->ended, NW_OK);

    const struct nw_replay_share *one = share(&rig, NW_REPLAY_BY_CONTENT, INODES);
    assert_int_equal(one->requests, 3); /* the trim's second part too */
    assert_int_equal(one->written, 2);
    assert_int_equal(one->nvm_written, 2);
    assert_int_equal(one->nvm_read, 2);
    one = share(&rig, NW_REPLAY_BY_CONTENT, GUESTS);
    assert_int_equal(one->written, 2);
    assert_int_equal(one->read, 2);
    assert_int_equal(one->nvm_written + one->nvm_read, 4);
    one = share(&rig, NW_REPLAY_BY_CONTENT, NW_CONTENT_DATA);
    assert_int_equal(one->written, 1);
    assert_int_equal(one->nvm_written, 0);
    assert_true(one->served_ns >= NS_PROGRAM(PAGE));
    one = share(&rig, NW_REPLAY_BY_CONTENT, NW_CONTENT_UNKNOWN);
    assert_int_equal(one->written, 1);

    one = share(&rig, NW_REPLAY_BY_APP, 1);
    assert_int_equal(one->requests, 1);
    assert_int_equal(one->written, 4);
    assert_int_equal(one->nvm_written, 3);
    assert_int_equal(one->held, 3);
    one = share(&rig, NW_REPLAY_BY_APP, 2);
    assert_int_equal(one->read, 3 + 1);
    assert_int_equal(one->written, 1);
    one = share(&rig, NW_REPLAY_BY_APP, 0);
    assert_int_equal(one->requests, 2);
    assert_int_equal(one->written, 1);
    free(content);
    close_rig(&rig);
}

/* A source may know the class itself; the day has 24 hours, and waiting for another request is not
 * charged twice. */
static void test_shares_by_hour(void **state)
{
    const uint64_t hour_ns = 3600000000000U;
    const struct nw_io ios[] = {
        {0, 0, PAGE, 0, NW_IO_WRITE, INODES, 1},
        {hour_ns, PAGE, PAGE, 0, NW_IO_WRITE, NW_CONTENT_DATA, 1},
        {hour_ns, 2 * PAGE, PAGE, 0, NW_IO_WRITE, NW_CONTENT_DATA, 0},
        {25 * hour_ns, 0, PAGE, 0, NW_IO_READ, INODES, 0},
    };
    struct rig rig;
    uint64_t served_ns = 0;

    (void)state;
    open_script(&rig, ios, 4, NW_REPLAY_ARRIVALS);
    put_tier(&rig, "class", 1 << 17);
    rig.config.apps = 1;
    assert_int_equal(play(&rig)->ended, NW_OK);
    assert_int_equal(share(&rig, NW_REPLAY_BY_CONTENT, INODES)->nvm_written, 1);
    assert_int_equal(share(&rig, NW_REPLAY_BY_HOUR, 0)->requests, 1);
    assert_int_equal(share(&rig, NW_REPLAY_BY_HOUR, 1)->requests, 3);
    assert_int_equal(share(&rig, NW_REPLAY_BY_HOUR, 1)->nvm_read, 1);
    for (uint32_t app = 0; app < 2; app++) {
        served_ns += share(&rig, NW_REPLAY_BY_APP, app)->served_ns;
    }
    assert_int_equal(served_ns, nw_replay_outcome(rig.replay)->busy_ns);
    close_rig(&rig);
}

/* What the NVM held before counting can be read from there: no policy reads more than the bound. */
static void test_bound_of_an_old_device(void **state)
{
    struct nw_io ios[20];
    struct nw_tier_bound_result bound;
    struct rig rig;

    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        ios[i] = (struct nw_io){.offset = (uint64_t)i * PAGE, .bytes = PAGE, .kind = NW_IO_READ};
    }
    open_script(&rig, ios, 20, NW_REPLAY_BOUND);
    put_tier(&rig, "lru", 1 << 16);
    rig.config.precondition = (20U * 1000U + rig.stack.block->sectors - 1U) /
                              rig.stack.block->sectors;
    assert_int_equal(play(&rig)->ended, NW_OK);
    assert_int_equal(nw_replay_bound(rig.replay, &bound), NW_OK);
    assert_int_equal(bound.reads, 20);
    assert_true(rig.stack.tier->stats.nvm_reads > 0);
    assert_true(bound.most_nvm_reads >= rig.stack.tier->stats.nvm_reads);
    assert_int_equal(bound.least_flash_writes, 0);
    close_rig(&rig);
}

/* Room that is made at once delays who comes next; unseen it costs what it costs, but no time. */
static void test_preparation(void **state)
{
    struct nw_io ios[64];
    uint64_t busy_ns[3], energy_pj[3];
    uint64_t moved[3];

    (void)state;
    for (uint32_t i = 0; i < 64; i++) {
        ios[i] = (struct nw_io){.time_ns = i * 100000000U,
                                .offset = (uint64_t)i * PAGE,
                                .bytes = PAGE,
                                .kind = NW_IO_WRITE};
    }
    for (uint8_t how = NW_REPLAY_WHEN_IDLE; how <= NW_REPLAY_UNSEEN; how++) {
        struct rig rig;

        open_script(&rig, ios, 64, NW_REPLAY_ARRIVALS);
        put_tier(&rig, "lru", 1 << 16); /* some 30 slots */
        rig.config.prepare = how;
        busy_ns[how] = play(&rig)->busy_ns;
        energy_pj[how] = nw_replay_outcome(rig.replay)->energy_pj;
        moved[how] = rig.stack.tier->stats.moved_ahead;
        close_rig(&rig);
    }
    assert_int_equal(moved[NW_REPLAY_WHEN_IDLE], 0); /* without the flag IDLE */
    assert_true(moved[NW_REPLAY_AT_ONCE] > 0);
    assert_int_equal(moved[NW_REPLAY_AT_ONCE], moved[NW_REPLAY_UNSEEN]);
    assert_int_equal(energy_pj[NW_REPLAY_AT_ONCE], energy_pj[NW_REPLAY_UNSEEN]);
    assert_true(busy_ns[NW_REPLAY_UNSEEN] < busy_ns[NW_REPLAY_AT_ONCE] / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partial_sectors_are_read_first),
        cmocka_unit_test(test_back_to_back_time_is_the_chips),
        cmocka_unit_test(test_arrivals_make_a_queue),
        cmocka_unit_test(test_who_comes_as_another_leaves_waits_for_nobody),
        cmocka_unit_test(test_tokens_are_the_pages_content),
        cmocka_unit_test(test_passes_follow_each_other_at_the_mean_gap),
        cmocka_unit_test(test_a_wrong_page_is_noticed),
        cmocka_unit_test(test_a_lying_layer_is_caught),
        cmocka_unit_test(test_what_was_only_written_is_read_back),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_until_worn),
        cmocka_unit_test(test_samples_are_few_and_grow),
        cmocka_unit_test(test_a_run_may_be_ended_early),
        cmocka_unit_test(test_every_layer_keeps_the_books),
        cmocka_unit_test(test_refused_configurations),
        cmocka_unit_test(test_classes_and_applications),
        cmocka_unit_test(test_shares_by_hour),
        cmocka_unit_test(test_bound_of_an_old_device),
        cmocka_unit_test(test_preparation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
