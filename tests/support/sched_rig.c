/* SPDX-License-Identifier: Apache-2.0 */
#include "sched_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct sched_rig *current;

static int image_write(struct nw_block_req *req)
{
    int result = current->fail;

    current->fail = NW_OK;
    if (result == NW_OK) {
        memcpy(current->image[req->sector], req->data, 512);
    }
    return result;
}

static int image_read(struct nw_block_req *req)
{
    memcpy(req->data, current->image[req->sector], 512);
    return NW_OK;
}

static const struct nw_block_ops image_ops = {.read = image_read, .write = image_write};

void sched_rig_listen(struct nw_sched_event *event)
{
    size_t at = strlen(current->story);
    const char *marks = "+-x!";

    (void)snprintf(current->story + at, sizeof current->story - at, "%c%u%c%s ",
                   (char)('A' + event->flow), (unsigned)event->slot->sequence - 1U,
                   marks[event->verdict], event->more ? "&" : "");
}

void sched_rig_set(struct sched_rig *rig, const struct nw_sched_policy *policy, uint8_t flags)
{
    static const uint32_t deadlines[SCHED_RIG_FLOWS] = {100, 60, 80, 40, 90};

    memset(rig, 0, sizeof *rig);
    current = rig;
    rig->block.ops = &image_ops;
    rig->block.sectors = SCHED_RIG_SECTORS;
    rig->block.sector_bytes = 512;
    rig->sched.policy = policy;
    rig->sched.block = &rig->block;
    rig->sched.buffer = rig->buffer;
    rig->sched.event = sched_rig_listen;
    rig->sched.flows = rig->flows;
    rig->sched.flow_count = SCHED_RIG_FLOWS - 1U;
    rig->sched.slot_count = SCHED_RIG_SLOTS;
    rig->sched.flags = flags;
    rig->sched.sector_bytes = 512;
    rig->sched.sectors = SCHED_RIG_SECTORS;
    rig->sched.write_ticks = 13;
    rig->sched.read_ticks = 15;
    for (size_t i = 0; i < SCHED_RIG_FLOWS; i++) {
        rig->flows[i].deadline = deadlines[i];
        rig->flows[i].counts = &rig->counts[i];
    }
}

void sched_rig_open(struct sched_rig *rig)
{
    assert_int_equal(nw_sched_open(&rig->sched, (uint8_t *)rig->ram, sizeof rig->ram), NW_OK);
}

int sched_rig_offer(struct sched_rig *rig, char flow, uint16_t size, uint32_t time)
{
    struct nw_sched_offer offer = {
        .owner = &rig->sched, .now = time, .size = size, .flow = (uint8_t)(flow - 'A')};

    return nw_sched_submit(&offer);
}

void sched_rig_offer_all(struct sched_rig *rig, const char *letters)
{
    for (; *letters != 0; letters++) {
        assert_int_equal(sched_rig_offer(rig, *letters, 64, rig->now), NW_OK);
    }
}

int sched_rig_step(struct sched_rig *rig, uint32_t took)
{
    int todo = nw_sched_next(&rig->sched, rig->now);

    if (todo > 0) {
        int result = nw_sched_transfer(&rig->sched);

        rig->now += took;
        assert_int_equal(nw_sched_done(&rig->sched, rig->now, result), NW_OK);
        strcat(rig->story, "| ");
    }
    return todo;
}

void sched_rig_run(struct sched_rig *rig)
{
    while (sched_rig_step(rig, 13) > 0) {
    }
}
