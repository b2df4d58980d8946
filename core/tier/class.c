/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each slot is somebody's: of a chosen class, of a former one, or the other policy's, which is told
 * of its own alone. A write may move a slot between them.
 */
#include <string.h>

#include "nandwich/ram.h"
#include "nandwich/tier_class.h"

#define HINTS (1U << (NW_HINT_JOURNAL + 1U))

enum { FREE, CHOSEN, FORMER, OTHERS };

static struct nw_tier_class *class_of(struct nw_tier_policy *policy)
{
    return (struct nw_tier_class *)(void *)policy; /* its first member */
}

static int is_chosen(const struct nw_tier_class *by_class, const struct nw_tier_ask *ask)
{
    return ask->hint <= NW_HINT_JOURNAL && ((uint8_t)(by_class->hints >> ask->hint) & 1U) != 0;
}

static int start(struct nw_tier_policy *policy, uint16_t slots)
{
    struct nw_tier_class *by_class = class_of(policy);

    if (slots > by_class->room) {
        return NW_ERR_CONFIG;
    }
    memset(by_class->whose, FREE, slots);
    by_class->slots = slots;
    by_class->held = 0;
    by_class->former = 0;
    return by_class->other != NULL ? by_class->other->ops->start(by_class->other, slots) : NW_OK;
}

static int admit(struct nw_tier_policy *policy, const struct nw_tier_ask *ask)
{
    const struct nw_tier_class *by_class = class_of(policy);
    struct nw_tier_policy *other = by_class->other;

    if (ask->write != 0 && is_chosen(by_class, ask)) {
        return 1;
    }
    return other != NULL && other->ops->admit(other, ask) != 0;
}

/* A slot that is nobody's becomes somebody's by what a write says, or after a mount the last one
 * said. */
static void give(struct nw_tier_class *by_class, uint16_t slot, const struct nw_tier_ask *ask)
{
    if (is_chosen(by_class, ask)) {
        by_class->whose[slot] = CHOSEN;
        by_class->held++;
    } else if (by_class->other != NULL) {
        by_class->whose[slot] = OTHERS;
        by_class->other->ops->entered(by_class->other, slot, ask);
    } else {
        by_class->whose[slot] = FORMER;
        by_class->former++;
    }
}

static void take(struct nw_tier_class *by_class, uint16_t slot)
{
    if (by_class->whose[slot] == OTHERS) {
        by_class->other->ops->left(by_class->other, slot);
    } else if (by_class->whose[slot] == CHOSEN) {
        by_class->held--;
    } else {
        by_class->former--;
    }
    by_class->whose[slot] = FREE;
}

static void entered(struct nw_tier_policy *policy, uint16_t slot, const struct nw_tier_ask *ask)
{
    give(class_of(policy), slot, ask);
}

static void touched(struct nw_tier_policy *policy, uint16_t slot, const struct nw_tier_ask *ask)
{
    struct nw_tier_class *by_class = class_of(policy);
    int others = by_class->whose[slot] == OTHERS;

    if (others && (ask->write == 0 || !is_chosen(by_class, ask))) {
        by_class->other->ops->touched(by_class->other, slot, ask);
    } else if (ask->write != 0) {
        take(by_class, slot);
        give(by_class, slot, ask);
    }
}

static void left(struct nw_tier_policy *policy, uint16_t slot)
{
    take(class_of(policy), slot);
}

static uint16_t find_former(const struct nw_tier_class *by_class)
{
    for (uint16_t slot = 0; by_class->former > 0 && slot < by_class->slots; slot++) {
        if (by_class->whose[slot] == FORMER) {
            return slot;
        }
    }
    return NW_TIER_NONE;
}

static uint16_t victim(struct nw_tier_policy *policy, const struct nw_tier_ask *ask)
{
    const struct nw_tier_class *by_class = class_of(policy);
    struct nw_tier_policy *other = by_class->other;
    uint16_t slot = find_former(by_class);

    return slot == NW_TIER_NONE && other != NULL ? other->ops->victim(other, ask) : slot;
}

static uint16_t ahead(struct nw_tier_policy *policy, uint16_t free)
{
    const struct nw_tier_class *by_class = class_of(policy);
    struct nw_tier_policy *other = by_class->other;
    uint16_t slot = find_former(by_class);

    return slot == NW_TIER_NONE && other != NULL ? other->ops->ahead(other, free) : slot;
}

static const struct nw_tier_policy_ops class_ops = {start, admit,  entered, touched,
                                                    left,  victim, ahead};

size_t nw_tier_class_ram_bytes(uint16_t slots)
{
    return slots;
}

int nw_tier_class_open(struct nw_tier_class *by_class, uint8_t hints, struct nw_tier_policy *other,
                       uint16_t slots, void *ram, size_t ram_bytes)
{
    if (hints >= HINTS) {
        return NW_ERR_CONFIG;
    }
    if (ram == NULL || ram_bytes < slots) {
        return NW_ERR_RAM;
    }
    memset(by_class, 0, sizeof *by_class);
    by_class->policy.ops = &class_ops;
    by_class->other = other;
    by_class->whose = ram;
    by_class->room = slots;
    by_class->hints = hints != 0 ? hints : (uint8_t)(1U << NW_HINT_METADATA);
    return NW_OK;
}
