/* SPDX-License-Identifier: Apache-2.0 */
/* Translation layers as subjects, by their entry in the table of layers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich/ftl_lavish_check.h"
#include "nandwich/ftl_tree_check.h"
#include "sectors.h"
#include "state_block.h"
#include "subject.h"
#include "tier_layer.h"

#define RUN 12U         /* sectors a call, at most */
#define SPARES 8U       /* writes go on while so many spare blocks are good */
#define MOST_STRIKES 2U /* errors in quick succession can use up the free blocks */

enum verb { WRITE, TRIM, READ, SYNC, IDLE, CHURN, ROT, OTHER, VERBS };

static const struct sim_verb verbs[VERBS] = {
    [WRITE] = {"write",
               "writes sectors",
               {{"sector", UINT32_MAX, NULL}, {"count", UINT32_MAX, NULL}},
               0},
    [TRIM] = {"trim",
              "trims sectors",
              {{"sector", UINT32_MAX, NULL}, {"count", UINT32_MAX, NULL}},
              0},
    [READ] = {"read",
              "reads sectors and compares",
              {{"sector", UINT32_MAX, NULL}, {"count", UINT32_MAX, NULL}},
              0},
    [SYNC] = {"sync", "syncs", {{0}}, 0},
    [IDLE] = {"idle", "offers idle time", {{"us", 100000000, NULL}}, 0},
    [CHURN] = {"churn",
               "writes sectors at random, one by one, among the first so many",
               {{"seed", UINT32_MAX, NULL},
                {"count", 1000000, NULL},
                {"among", UINT32_MAX, NULL}},
               0},
    [ROT] = {"rot", "spoils all pages that hold a sector's content",
             {{"sector", UINT32_MAX, NULL}}, 1},
    [OTHER] = {"other", "gives the mounts to come another configuration",
               {{"number", UINT32_MAX, NULL}}, 0},
};

#define CALL(verb, first, second) {SIM_COMMON + (verb), {first, second, 0, 0}}

/* One sector, alone and with the next one; then another logical block. */
static const struct sim_step menu[] = {CALL(WRITE, 3, 1), CALL(WRITE, 3, 2),     CALL(TRIM, 3, 1),
                                       CALL(SYNC, 0, 0),  CALL(IDLE, 50000, 0), CALL(WRITE, 20, 1)};

/* What the sectors may read as. */
struct model {
    uint32_t token; /* of the last write */
    uint32_t unused;
    struct sim_sector sectors[];
};

/* A layer and its model. */
struct own {
    struct nw_layer_config config;
    struct nw_layer_config next; /* of the next mount */
    struct nw_layer_site site;
    struct nw_block *block;
    struct model *model;
    uint32_t count;
    uint32_t bytes; /* of a sector */
    uint8_t trims_late; /* a trim lasts with the next sync only */
    uint8_t writes_late; /* and so does a write */
    uint8_t trimmed;    /* since the last sync */
    uint8_t unsettled;  /* a change answered an error, and nothing was changed since */
    uint8_t *data;      /* RUN sectors */
    uint8_t *wanted;    /* one */
};

static struct own *own_of(const struct sim_subject *subject)
{
    return subject->own;
}

/* Opening */

static size_t model_bytes(const struct own *own)
{
    return sizeof *own->model + own->count * sizeof *own->model->sectors;
}

static int block_open(struct sim_subject *subject)
{
    const struct sim_head *head = subject->head;
    const struct nw_layer_kind *layer = subject->kind->layer;
    struct own *own = calloc(1, sizeof *own);

    subject->own = own;
    if (own == NULL) {
        return NW_ERR_RAM;
    }
    own->config = (struct nw_layer_config){.sectors = head->sectors,
                                           .spare_blocks = (uint16_t)head->spare_blocks,
                                           .log_blocks = (uint16_t)head->log_blocks,
                                           .degree = (uint8_t)head->degree,
                                           .scrub_bits = (uint8_t)head->scrub_bits,
                                           .maps = (uint8_t)head->maps};
    own->trims_late = layer != &nw_layer_lavish; /* which writes a trim at once */
    own->writes_late =
        layer == &sim_layer_tier && (own->config.degree & SIM_TIER_HOLDS) != 0;
    own->site = (struct nw_layer_site){
        .config = &own->config, .chip = subject->chip, .chip_name = head->part.name};
    own->count = layer->sectors(&own->site);
    own->site.ram_bytes = own->count != 0 ? layer->ram_bytes(&own->site) : 0;
    if (own->site.ram_bytes == 0) {
        return NW_ERR_CONFIG;
    }
    own->next = own->config;
    own->bytes = subject->chip->geometry.page_bytes;
    own->site.state = calloc(1, layer->state_bytes);
    own->site.ram = calloc(1, own->site.ram_bytes);
    own->model = calloc(1, model_bytes(own));
    own->data = calloc(RUN, own->bytes);
    own->wanted = calloc(1, own->bytes);
    return own->site.state != NULL && own->site.ram != NULL && own->model != NULL &&
                   own->data != NULL && own->wanted != NULL
               ? NW_OK
               : (int)NW_ERR_RAM;
}

static void block_close(struct sim_subject *subject)
{
    struct own *own = own_of(subject);

    if (own == NULL) {
        return;
    }
    free(own->site.state);
    free(own->site.ram);
    free(own->model);
    free(own->data);
    free(own->wanted);
    free(own);
    subject->own = NULL;
}

/* The configuration of this mount, and RAM for it. */
static int configure(struct sim_subject *subject)
{
    struct own *own = own_of(subject);
    struct nw_layer_config before = own->config;

    own->config = own->next;
    size_t bytes = subject->kind->layer->ram_bytes(&own->site);
    if (bytes == 0) { /* it does not work here: as it was */
        own->config = before;
        return NW_OK;
    }
    free(own->site.ram);
    own->site.ram = malloc(bytes);
    own->site.ram_bytes = own->site.ram != NULL ? bytes : 0;
    return own->site.ram != NULL ? NW_OK : (int)NW_ERR_RAM;
}

/* RAM holds rubbish when a program starts. */
static void start(struct own *own)
{
    memset(own->site.ram, 0xC3, own->site.ram_bytes);
    own->trimmed = 0;
    own->unsettled = 0;
}

static int block_format(struct sim_subject *subject)
{
    struct own *own = own_of(subject);

    start(own);
    int result = subject->kind->layer->format(&own->site, &own->block);
    if (result < 0) {
        return result;
    }
    for (uint32_t i = 0; i < own->count; i++) {
        sim_sector_set(&own->model->sectors[i], 0);
    }
    return own->block->sectors == own->count ? NW_OK : (int)NW_ERR_CONFIG;
}

static int block_mount(struct sim_subject *subject)
{
    struct own *own = own_of(subject);
    int result = configure(subject);

    if (result == NW_OK) {
        start(own);
    }
    result = result < 0 ? result : subject->kind->layer->mount(&own->site, &own->block);
    for (uint32_t i = 0; result >= 0 && i < own->count; i++) {
        sim_sector_mount(&own->model->sectors[i]);
    }
    return result;
}

static uint32_t block_places(const struct sim_subject *subject)
{
    return own_of(subject)->count;
}

/* Content */

/* What write number `token` brings: all words differ, so that a mix of two writes shows. */
static void fill(uint8_t *data, uint32_t bytes, uint32_t token)
{
    for (uint32_t i = 0; i + 4U <= bytes; i += 4U) {
        uint32_t word = token == 0 ? 0 : token ^ (i * 2654435761U);
        memcpy(data + i, &word, 4);
    }
}

/* The write that a sector shows; SIM_LOST - 1 when it shows none whole. */
static uint32_t token_of(const struct own *own, const uint8_t *data)
{
    uint32_t token;

    memcpy(&token, data, 4);
    fill(own->wanted, own->bytes, token);
    return memcmp(own->wanted, data, own->bytes) == 0 ? token : SIM_LOST - 1U;
}

static int wrong(struct sim_subject *subject, uint32_t sector, uint32_t value)
{
    char wanted[120];

    sim_sector_text(&own_of(subject)->model->sectors[sector], wanted, sizeof wanted);
    if (value == SIM_LOST) {
        (void)snprintf(subject->why, sizeof subject->why,
                       "sector %lu answers an error, it holds %s", (unsigned long)sector, wanted);
    } else if (value == SIM_LOST - 1U) {
        (void)snprintf(subject->why, sizeof subject->why,
                       "sector %lu reads as nothing that was written, it holds %s",
                       (unsigned long)sector, wanted);
    } else {
        (void)snprintf(subject->why, sizeof subject->why,
                       "sector %lu reads as write %lu (0: zeros), it holds %s",
                       (unsigned long)sector, (unsigned long)value, wanted);
    }
    return -1;
}

/* Steps */

/* Sectors of a step: within the device, whatever its size. */
static struct nw_block_req request(const struct own *own, uint32_t sector, uint32_t count)
{
    struct nw_block_req req = {.block = own->block, .sector = sector % own->count, .count = count};

    req.count = count == 0 ? 1U : count;
    if (req.count > own->count - req.sector) {
        req.count = own->count - req.sector;
    }
    req.data = own->data;
    return req;
}

/* block.h: a request fails at one of its sectors. */
static void judge_done(struct sim_subject *subject, const struct nw_block_req *req, int result)
{
    if ((result < 0) != (req->done < req->count)) {
        (void)snprintf(subject->why, sizeof subject->why,
                       "the call answers '%s' with %lu of %lu sectors done",
                       nw_error_text(result < 0 ? result : 0), (unsigned long)req->done,
                       (unsigned long)req->count);
    }
}

static void hold(struct sim_sector *sector, uint32_t value, uint8_t late)
{
    if (late != 0) {
        sim_sector_late(sector, value);
    } else {
        sim_sector_set(sector, value);
    }
}

static int write_some(struct sim_subject *subject, uint32_t sector, uint32_t count)
{
    struct own *own = own_of(subject);
    struct nw_block_req req = request(own, sector, count);

    for (uint32_t i = 0; i < req.count; i++) {
        fill(own->data + (size_t)i * own->bytes, own->bytes, own->model->token + 1U + i);
    }
    sim_gate_call(subject->gate);
    int result = nw_block_write(&req);
    for (uint32_t i = 0; i < req.done; i++) {
        hold(&own->model->sectors[req.sector + i], own->model->token + 1U + i, own->writes_late);
    }
    if (req.done < req.count) {
        sim_sector_may(&own->model->sectors[req.sector + req.done],
                       own->model->token + 1U + req.done);
    }
    own->model->token += req.count;
    own->unsettled = result < 0;
    judge_done(subject, &req, result);
    return result;
}

static int run_write(struct sim_subject *subject, const struct sim_step *step)
{
    struct own *own = own_of(subject);
    struct nw_block_req all = request(own, step->args[0], step->args[1]);
    int result = NW_OK;

    for (uint32_t done = 0; done < all.count && result >= 0; done += RUN) {
        uint32_t left = all.count - done;
        result = write_some(subject, all.sector + done, left < RUN ? left : RUN);
    }
    return result;
}

static int run_churn(struct sim_subject *subject, const struct sim_step *step)
{
    struct own *own = own_of(subject);
    uint32_t among = step->args[2] < own->count && step->args[2] != 0 ? step->args[2] : own->count;
    struct nw_random random;
    int result = NW_OK;

    nw_random_seed(&random, step->args[0]);
    for (uint32_t i = 0; i < step->args[1] && result >= 0; i++) {
        result = write_some(subject, nw_random_next(&random) % among, 1);
    }
    return result;
}

static int run_trim(struct sim_subject *subject, const struct sim_step *step)
{
    struct own *own = own_of(subject);
    struct nw_block_req req = request(own, step->args[0], step->args[1]);
    int result = nw_block_trim(&req);

    own->unsettled = result < 0;
    own->trimmed = 1;
    for (uint32_t i = 0; i < req.done; i++) {
        struct sim_sector *sector = &own->model->sectors[req.sector + i];

        hold(sector, 0, own->trims_late);
    }
    if (req.done < req.count) {
        sim_sector_may(&own->model->sectors[req.sector + req.done], 0);
    }
    judge_done(subject, &req, result);
    return result;
}

/* Reads one sector and judges it: the layer's answer, NW_OK for content that is known to be lost;
 * `why` when it is wrong. What was under way when a change answered an error is old, new or an
 * error at each read, until a mount or the next change has settled it: its page may be unstable. */
static int read_one(struct sim_subject *subject, uint32_t sector)
{
    struct own *own = own_of(subject);
    struct nw_block_req req = request(own, sector, 1);
    uint32_t value = SIM_LOST;

    sim_gate_call(subject->gate);
    int result = nw_block_read(&req);
    if (result >= 0) {
        value = token_of(own, own->data);
    } else if (result != NW_ERR_ECC && result != NW_ERR_CORRUPT) {
        return result;
    }
    struct sim_sector now = own->model->sectors[sector];
    int open = own->unsettled && now.count > 1U;

    if (value == SIM_LOST && open) {
        return NW_OK;
    }
    if (sim_sector_show(open ? &now : &own->model->sectors[sector], value) < 0) {
        (void)wrong(subject, sector, value);
    }
    return NW_OK;
}

static int read_range(struct sim_subject *subject, uint32_t first, uint32_t count)
{
    int result = NW_OK;

    for (uint32_t i = 0; i < count && result >= 0 && subject->why[0] == '\0'; i++) {
        result = read_one(subject, first + i);
    }
    return result;
}

/* Is the page at hand how own->wanted begins, but for flipped bits? */
static int is_wanted(const struct own *own, uint32_t bytes)
{
    uint32_t differ = 0;

    for (uint32_t i = 0; i < bytes; i++) {
        differ += own->data[i] != own->wanted[i];
    }
    return differ <= 2U;
}

static int run_rot(struct sim_subject *subject, uint32_t place)
{
    struct own *own = own_of(subject);
    struct nw_block_req req = request(own, place, 1);
    struct sim_sector *sector = &own->model->sectors[req.sector];
    const struct nw_geometry *geometry = &nw_nand_chip(subject->nand)->geometry;
    uint32_t bytes = geometry->page_bytes < own->bytes ? geometry->page_bytes : own->bytes;

    if (sector->count != 1U || sector->value[0] == 0 || sector->value[0] >= SIM_LOST - 1U ||
        sector->any != 0 || subject->kind->mount == NULL) {
        return NW_OK; /* no content of its own, more than one, or a layer without checksums */
    }
    fill(own->wanted, own->bytes, sector->value[0]);
    for (uint32_t page = 0; page < geometry->blocks * geometry->block_pages; page++) {
        if (nw_nand_page_programs(subject->nand, page) > 0) {
            nw_nand_peek(subject->nand, page, own->data, NULL);
            if (is_wanted(own, bytes)) {
                nw_nand_flip(subject->nand, page, 64U);
                nw_nand_flip(subject->nand, page, 67U);
            }
        }
    }
    sim_sector_rot(sector);
    return NW_OK;
}

static int run_sync(struct own *own)
{
    struct nw_block_req req = request(own, 0, 1);
    int result = nw_block_sync(&req);

    for (uint32_t i = 0; result >= 0 && i < own->count; i++) {
        sim_sector_sync(&own->model->sectors[i]);
    }
    own->trimmed = result >= 0 ? 0 : own->trimmed;
    return result;
}

/* What the headers let change from mount to mount: nodes in RAM, as far as they go. */
static void draw_other(struct sim_subject *subject, uint32_t number)
{
    own_of(subject)->next.maps = (uint8_t)(number % 10U);
}

static int block_run(struct sim_subject *subject, const struct sim_step *step)
{
    struct own *own = own_of(subject);
    struct nw_block_req req = request(own, step->args[0], step->args[1]);

    switch (step->verb - SIM_COMMON) {
    case WRITE: return run_write(subject, step);
    case TRIM: return run_trim(subject, step);
    case READ: return read_range(subject, req.sector, req.count);
    case SYNC: return run_sync(own);
    case CHURN: return run_churn(subject, step);
    case ROT: return run_rot(subject, step->args[0]);
    case OTHER: draw_other(subject, step->args[0]); return NW_OK;
    default: req.budget_us = step->args[0]; return nw_block_idle(&req);
    }
}

static int block_check(struct sim_subject *subject)
{
    return read_range(subject, 0, own_of(subject)->count);
}

/* States */

static void *block_model(struct sim_subject *subject, size_t *bytes)
{
    struct own *own = own_of(subject);

    *bytes = model_bytes(own);
    return own->model;
}

/* Content that its sector may no longer have is all alike: were it shown, that were wrong. */
static uint32_t value_of(void *context, uint32_t sector, const uint8_t *data)
{
    const struct own *own = context;
    uint32_t token = token_of(own, data);
    uint32_t value = 0;

    if (token == SIM_LOST - 1U || sector >= own->count) {
        return SIM_STATE_OTHER;
    }
    const struct sim_sector *model = &own->model->sectors[sector];
    while (value < model->count && model->value[value] != token) {
        value++;
    }
    return value;
}

static void block_state(struct sim_subject *subject, struct sim_state *state)
{
    struct own *own = own_of(subject);
    struct sim_state_tags tags = {.nand = subject->nand, .value = value_of, .context = own};

    for (uint32_t i = 0; i < own->count; i++) {
        const struct sim_sector *sector = &own->model->sectors[i];
        uint64_t zeros = 0;

        for (uint8_t j = 0; j < sector->count; j++) {
            zeros |= (uint64_t)(sector->value[j] == 0) << j;
        }
        sim_state_put(state, zeros << 32 | (uint64_t)sector->count << 24 |
                                 (uint64_t)sector->live << 16 | (uint64_t)sector->lasts << 8 |
                                 sector->any);
    }
    sim_state_put_tags(state, &tags);
}

/* Drawing */

static void block_draw(struct sim_subject *subject, struct nw_random *random,
                       struct sim_taste *taste, struct sim_step *step)
{
    const struct own *own = own_of(subject);

    *step = (struct sim_step){.verb = sim_draw_verb(taste, subject->kind->verb_count, random)};
    uint32_t verb = step->verb - SIM_COMMON;
    uint32_t at = taste->in_order != 0 ? taste->next : nw_random_next(random);
    uint32_t count = 1U + nw_random_below(random, taste->longest);

    step->args[0] = (taste->first + at % taste->span) % own->count;
    if (verb == SYNC) {
        step->args[0] = 0;
    } else if (verb == IDLE) {
        step->args[0] = nw_random_below(random, 4) * nw_random_below(random, 8000);
    } else if (verb == CHURN) {
        step->args[0] = nw_random_below(random, 1000);
        step->args[1] = 1U + nw_random_below(random, own->count);
        step->args[2] = nw_random_below(random, 2) != 0 ? taste->span : 0;
    } else if (verb == OTHER) {
        step->args[0] = nw_random_below(random, 10000);
    } else if (verb != ROT) {
        step->args[1] = count;
        taste->next += count;
    }
}

/* Promises */

static uint32_t spare_blocks(const struct sim_subject *subject)
{
    uint32_t blocks = subject->chip->geometry.blocks;

    return subject->head->spare_blocks != 0 ? subject->head->spare_blocks : blocks / 14U + 10U;
}

static int may_fill(const struct sim_subject *subject, const struct sim_strain *strain)
{
    return strain->retired > 1U || strain->bad + SPARES > spare_blocks(subject) ||
           strain->strikes >= MOST_STRIKES;
}

int sim_lavish_may_fill(const struct nw_layer_site *site, const struct sim_strain *strain)
{
    const struct nw_ftl_lavish *lavish = site->state;
    uint32_t least = lavish->logical_count + 2U;
    uint32_t held = strain->bad < lavish->spare_count ? strain->bad : lavish->spare_count;
    uint32_t good = (site->chip->geometry.blocks - 1U - held) / lavish->degree;
    uint32_t beyond = strain->bad - held;
    uint32_t spares = lavish->blocks - (uint32_t)lavish->lavish_count * lavish->degree;

    good = good < lavish->lavish_count ? good : lavish->lavish_count;
    return strain->failing > 1U || good < least + beyond ||
           (strain->strikes > 0 && strain->bad > spares);
}

static int lavish_may_fill(const struct sim_subject *subject, const struct sim_strain *strain)
{
    const struct own *own = own_of(subject);

    return sim_lavish_may_fill(&own->site, strain);
}

/* Audits: sim_audit_layer() by its kind. */

int sim_audit_layer(const struct nw_layer_kind *layer, const void *state, uint32_t *where)
{
    if (layer == &nw_layer_tree) {
        return nw_ftl_tree_check(state, where);
    }
    return nw_ftl_lavish_check(state, where);
}

/* Nodes of `tree` are read: a chip that is not the twin's may fail in that. */
static int block_audit(struct sim_subject *subject, uint32_t *where)
{
    const struct own *own = own_of(subject);
    const struct nw_layer_kind *layer = subject->kind->layer;

    return layer == &nw_layer_tree && subject->nand == NULL
               ? (int)NW_OK
               : sim_audit_layer(layer, own->site.state, where);
}

static struct sim_most anything(void)
{
    return (struct sim_most){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
}

/* Maps leave RAM for a log that may be full: a read is not bounded by a figure. */
static struct sim_most lavish_most(const struct sim_subject *subject, const struct sim_step *step,
                                   int clean)
{
    (void)subject;
    (void)step;
    (void)clean;
    return anything();
}

/* What all kinds have. */
#define COMMON                                                                                    \
    .verbs = verbs, .open = block_open, .close = block_close, .format = block_format,             \
    .places = block_places, .draw = block_draw, .run = block_run, .check = block_check

#define KIND(word, line, mounts, fits, fills, asks, bounds)                                       \
    const struct sim_kind sim_kind_##word = {                                                     \
        COMMON, .name = #word, .what = line, .verb_count = VERBS, .layer = &nw_layer_##word,      \
        .reads_again = (mounts) != NULL, .marks_fail = (mounts) != NULL, .mount = mounts,         \
        .menu = menu, .menu_count = sizeof menu / sizeof menu[0], .menu_narrow = 5,               \
        .model = block_model, .state = block_state, .may_fill = fills, .most = asks,              \
        .bounded = bounds, .audit = block_audit, .fit = fits}

/* So many calls of one kind, and mounts. */
static struct sim_most so_many(const struct sim_subject *subject, enum nw_ftl_tree_call call,
                               uint32_t count, uint32_t mounts)
{
    const struct nw_geometry *geometry = &subject->chip->geometry;
    struct nw_ftl_tree_config config = {.spare_blocks = own_of(subject)->config.spare_blocks};
    struct nw_ftl_tree_most one;
    struct nw_ftl_tree_most mount;

    (void)nw_ftl_tree_longest(&config, geometry, call, &one); /* the device is open */
    (void)nw_ftl_tree_longest(&config, geometry, NW_FTL_TREE_MOUNT, &mount);
    return (struct sim_most){count * one.reads + mounts * mount.reads,
                             count * one.programs + mounts * mount.programs,
                             count * one.erases + mounts * mount.erases, UINT32_MAX};
}

/* What ftl_tree.h computes: of a call that may meet two failures. */
static struct sim_most tree_most(const struct sim_subject *subject, const struct sim_step *step,
                                 int clean)
{
    const struct own *own = own_of(subject);
    const struct nw_geometry *chip = &subject->chip->geometry;
    uint32_t step_us = 10U * chip->read_us + 6U * chip->program_us + chip->erase_us;

    if (step == NULL) {
        return so_many(subject, NW_FTL_TREE_MOUNT, 1, 0);
    }
    uint32_t count = request(own, step->args[0], step->args[1]).count;

    switch (step->verb - SIM_COMMON) {
    case READ:
        return so_many(subject, NW_FTL_TREE_READ, count, clean ? 0U : 1U);
    case SYNC:
        return clean && own->trimmed == 0 ? (struct sim_most){0, 0, 0, UINT32_MAX}
                                          : so_many(subject, NW_FTL_TREE_CHANGE, 2, 2);
    case WRITE:
    case TRIM: return so_many(subject, NW_FTL_TREE_CHANGE, count + 1U, 2);
    case IDLE:
        return so_many(subject, NW_FTL_TREE_STEP, 1U + step->args[0] / step_us, clean ? 1U : 2U);
    default: return anything();
    }
}

/* Blocks are longer than those of the small chips: so many, with pages up to that. */
static void fit_blocks(struct nw_random *random, struct sim_head *head, uint32_t blocks,
                       uint32_t pages)
{
    *head = (struct sim_head){.kind = head->kind};
    sim_small_part(random, head);
    head->part.blocks = 18U + nw_random_below(random, blocks);
    head->part.block_pages = (uint16_t)(16U + nw_random_below(random, pages));
    head->spare_blocks = 12U + nw_random_below(random, 4);
    sim_head_maps(head, nw_random_below(random, 2) * nw_random_below(random, 8));
}

static void tree_fit(struct nw_random *random, struct sim_head *head)
{
    fit_blocks(random, head, 12, 20);
    head->unerased = nw_random_below(random, 2);
    head->factory_bad = nw_random_below(random, 2);
    head->wears = nw_random_below(random, 8) == 0;
    if (head->wears != 0) {
        head->part.endurance = 30U + nw_random_below(random, 300);
    }
}

KIND(tree, "page-mapped, its map on flash", block_mount, tree_fit, may_fill, tree_most, 1);
KIND(lavish, "swap space: forgets with power", NULL, NULL, lavish_may_fill, lavish_most, 0);

/* Of the layer under it. */
static int tier_audit(struct sim_subject *subject, uint32_t *where)
{
    return sim_tier_audit(&own_of(subject)->site, where);
}

/* An NVM and the tree under it, no filter between. */
static void tier_fit(struct nw_random *random, struct sim_head *head)
{
    fit_blocks(random, head, 8, 8);
    head->degree = nw_random_below(random, 4) + 2U;
    head->unerased = nw_random_below(random, 2);
}

const struct sim_kind sim_kind_tier = {
    .name = "tier",
    .what = "a little NVM before the tree",
    COMMON,
    .verb_count = ROT, /* the NVM has content of its own */
    .layer = &sim_layer_tier,
    .reads_again = 1,
    .restarts = 1,
    .fit = tier_fit,
    .mount = block_mount,
    .audit = tier_audit,
    .may_fill = may_fill,
    .most = lavish_most,
};
