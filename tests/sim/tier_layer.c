/* SPDX-License-Identifier: Apache-2.0 */
#include "tier_layer.h"

#include <stdlib.h>
#include <string.h>

#include "gate.h"
#include "held.h"
#include "nandwich/tier.h"
#include "nandwich/tier_lrfu.h"
#include "subject.h"

#define SLOTS 7U /* sectors in the NVM */
#define MOST_SECTOR SIM_HELD_BYTES
#define UNIT 8U
#define NVM_BYTES ((SLOTS + 1U) * (MOST_SECTOR + UNIT) + 256U)
#define MOST_STATE 4096U /* of the layer below */
#define LRFU_BYTES 512U

/* The NVM's content stays when power goes, what is held while it does not; the rest is RAM. */
struct state {
    struct nw_tier tier;
    struct nw_tier_lrfu lrfu;
    struct nw_tier_config config;
    struct nw_layer_site below;
    struct nw_nvm nvm;
    struct sim_gate *gate;
    struct nw_block *flash; /* the layer below's */
    struct sim_held held;
    uint64_t below_state[MOST_STATE / 8U];
    uint64_t lrfu_ram[LRFU_BYTES / 8U];
    uint8_t cells[NVM_BYTES];
    uint32_t cuts; /* which units of a write that is cut are new */
};

static int nvm_read(struct nw_nvm_req *req)
{
    struct state *state = req->nvm->context;
    uint8_t share;
    int result = sim_gate_pass(state->gate, 0, &share);

    if (share == SIM_ALL) {
        memcpy(req->data, state->cells + req->address, req->length);
    }
    return result;
}

static int nvm_write(struct nw_nvm_req *req)
{
    struct state *state = req->nvm->context;
    uint8_t share;
    int result = sim_gate_pass(state->gate, 1, &share);

    state->cuts += share == SIM_PART;
    for (uint32_t i = 0; share != SIM_NONE && i < req->length; i++) {
        uint32_t unit = (req->address + i) / UNIT;

        if (share == SIM_ALL || ((unit + state->cuts) * 2654435761U >> 31) != 0) {
            state->cells[req->address + i] = req->data[i];
        }
    }
    return result;
}

static const struct nw_nvm_ops nvm_ops = {nvm_read, nvm_write};

static uint32_t tier_sectors(const struct nw_layer_site *site)
{
    uint32_t sectors = nw_layer_tree.sectors(site);

    if (site->chip->geometry.page_bytes > MOST_SECTOR || sim_gate_of(site->chip) == NULL ||
        nw_layer_tree.state_bytes > MOST_STATE) {
        return 0;
    }
    return sectors > 1U ? sectors - 1U : 0;
}

static size_t room(size_t bytes)
{
    return (bytes + 15U) & ~(size_t)15U;
}

/* What the tier asks before it is told of a device: the shape alone. */
static size_t own_ram(const struct nw_layer_site *site)
{
    struct nw_block flash = {.sectors = tier_sectors(site) + 1U,
                             .sector_bytes = site->chip->geometry.page_bytes,
                             .flags = NW_BLOCK_PERSISTENT};
    struct nw_nvm nvm = {.bytes = (SLOTS + 1U) * (flash.sector_bytes + UNIT) + 256U,
                         .atomic_bytes = UNIT};
    struct nw_tier_config config = {.flash = &flash, .nvm = &nvm};

    return nw_tier_ram_bytes(&config);
}

static size_t tier_ram(const struct nw_layer_site *site)
{
    size_t bytes = nw_layer_tree.ram_bytes(site);
    size_t own = own_ram(site);

    return bytes != 0 && own != 0 ? room(bytes) + own : 0;
}

/* The layer below is there: what the tier stands on. */
static int prepare(const struct nw_layer_site *site, struct nw_block *flash)
{
    struct state *state = site->state;

    state->nvm = (struct nw_nvm){.ops = &nvm_ops,
                                 .context = state,
                                 .bytes = (SLOTS + 1U) * (flash->sector_bytes + UNIT) + 256U,
                                 .atomic_bytes = UNIT};
    state->config = (struct nw_tier_config){.flash = flash,
                                            .nvm = &state->nvm,
                                            .policy = &state->lrfu.policy,
                                            .identity = 4711};
    return nw_tier_lrfu_open(&state->lrfu, 3000, (uint8_t)(site->config->degree & 1U), SLOTS + 8U,
                             state->lrfu_ram, sizeof state->lrfu_ram);
}

static int start(const struct nw_layer_site *site, struct nw_block **block, int format)
{
    struct state *state = site->state;
    struct nw_block *flash;

    state->gate = sim_gate_of(site->chip);
    state->below = *site; /* with the first part of the RAM */
    state->below.state = state->below_state;
    state->below.ram_bytes = nw_layer_tree.ram_bytes(site);
    int result = format ? nw_layer_tree.format(&state->below, &flash)
                        : nw_layer_tree.mount(&state->below, &flash);
    state->flash = flash;
    if (result >= 0 && (site->config->degree & SIM_TIER_HOLDS) != 0) {
        sim_held_open(&state->held, flash, state->gate, format);
        flash = &state->held.block;
    }
    result = result < 0 ? result : prepare(site, flash);
    if (result < 0) {
        return result;
    }
    size_t used = room(state->below.ram_bytes);
    uint8_t *ram = (uint8_t *)site->ram + used;
    result = format ? nw_tier_format(&state->tier, &state->config, ram, site->ram_bytes - used)
                    : nw_tier_mount(&state->tier, &state->config, ram, site->ram_bytes - used);
    *block = &state->tier.block;
    return result;
}

static int tier_format(const struct nw_layer_site *site, struct nw_block **block)
{
    return start(site, block, 1);
}

static int tier_mount(const struct nw_layer_site *site, struct nw_block **block)
{
    return start(site, block, 0);
}

int sim_tier_audit(const struct nw_layer_site *site, uint32_t *where)
{
    const struct state *state = site->state;

    return sim_audit_layer(&nw_layer_tree, state->below_state, where);
}

static int tier_refuse(const struct nw_layer_site *site, int error, struct nw_why *why)
{
    return nw_layer_tree.refuse(site, error, why);
}

const struct nw_layer_kind sim_layer_tier = {
    .name = "tier",
    .what = "a little NVM before the tree",
    .state_bytes = sizeof(struct state),
    .sectors = tier_sectors,
    .ram_bytes = tier_ram,
    .format = tier_format,
    .mount = tier_mount,
    .refuse = tier_refuse,
};
