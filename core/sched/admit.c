/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/sched_admit.h"

#include "parts.h"

#define TICKS_MAX 0x100000UL

static int load_ok(const struct nw_sched_admission NW_XDATA *a,
                   const struct nw_sched_load NW_XDATA *load)
{
    return load->period != 0 && load->deadline - 1U < NW_SCHED_FAR - 1U && load->size != 0 &&
           load->size <= a->sector_bytes && load->direction <= NW_SCHED_READ;
}

static uint32_t cost(const struct nw_sched_admission NW_XDATA *a,
                     const struct nw_sched_load NW_XDATA *load)
{
    return load->direction == NW_SCHED_READ ? a->read_ticks : a->write_ticks;
}

/* Requests of this flow that may wait at once; far too many are as good as 65535. */
static uint32_t waiting(const struct nw_sched_load NW_XDATA *load)
{
    uint32_t firings = load->deadline / load->period + 1U;

    return firings > 255U ? 65535U : firings * (load->burst == 0 ? 1U : load->burst);
}

/* Operations that `requests` of this flow need. */
static uint32_t groups(const struct nw_sched_admission NW_XDATA *a,
                       const struct nw_sched_load NW_XDATA *load, uint32_t requests)
{
    uint16_t most = 1;

    if (load->direction == NW_SCHED_WRITE) {
        most = (uint16_t)(a->sector_bytes / load->size);
    }
    return (requests + most - 1U) / most;
}

/* Operations of `other` that a request of `load` may have to wait for; saturates. */
static uint32_t ahead(const struct nw_sched_admission NW_XDATA *a,
                      const struct nw_sched_load NW_XDATA *load,
                      const struct nw_sched_load NW_XDATA *other)
{
    uint32_t count = groups(a, other, waiting(other));

    if (other->deadline < load->deadline) {
        uint32_t later = (load->deadline - other->deadline) / other->period + 1U;

        if (later > 255U) {
            return 65535U;
        }
        count += later * (other->burst == 0 ? 1U : other->burst);
    }
    return count > 65535U ? 65535U : count;
}

/* Worst time from issue to flash; saturates at the longest deadline there may be. */
static uint32_t worst_wait(const struct nw_sched_admission NW_XDATA *a, uint8_t flow)
{
    uint32_t longest = 0;
    uint32_t sum = 0;
    uint8_t j;

    for (j = 0; j < a->count; j++) {
        uint32_t one = cost(a, &a->loads[j]);
        uint32_t left = ahead(a, &a->loads[flow], &a->loads[j]);

        longest = one > longest ? one : longest;
        if (left != 0 && one > (NW_SCHED_FAR - sum) / left) {
            return NW_SCHED_FAR;
        }
        sum += one * left;
    }
    return sum + longest;
}

/* Device time a flow takes, in thousandths, with sectors as full as its deadline lets them get, but
 * by 255 firings at most; saturates at 65535. */
static uint32_t permille(const struct nw_sched_admission NW_XDATA *a,
                         const struct nw_sched_load NW_XDATA *load)
{
    uint32_t firings = load->deadline / load->period + 1U;
    uint32_t operations;
    uint32_t one;

    if (load->period > TICKS_MAX) {
        return 0;
    }
    if (firings > 255U) {
        firings = 255U;
    }
    operations = groups(a, load, firings * (load->burst == 0 ? 1U : load->burst));
    /* load_ok() has refused a period of 0. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    one = cost(a, load) * 1000U / (load->period * firings);
    /* At most 65025 operations: the product stays below 2^32. */
    one = operations * (one > 0xFFFFU ? 0xFFFFU : one);
    return one > 0xFFFFU ? 0xFFFFU : one;
}

int nw_sched_admit(struct nw_sched_admission NW_XDATA *admission)
{
    struct nw_sched_admission NW_XDATA *a = admission;
    uint32_t least = NW_SCHED_FAR;
    uint32_t load = 0;
    uint32_t slots = 0;
    uint8_t i;

    if (a->count == 0 || a->sector_bytes == 0 || a->write_ticks >= TICKS_MAX ||
        a->open_ticks >= TICKS_MAX || a->read_ticks >= TICKS_MAX) {
        return NW_ERR_CONFIG;
    }
    for (i = 0; i < a->count; i++) {
        if (!load_ok(a, &a->loads[i])) {
            return NW_ERR_CONFIG;
        }
    }
    a->flow = 0;
    a->wait_ticks = 0;
    for (i = 0; i < a->count; i++) {
        uint32_t wait = worst_wait(a, i);
        uint32_t deadline = a->loads[i].deadline;
        uint32_t room = wait < deadline ? deadline - wait : 0;

        load += permille(a, &a->loads[i]);
        slots += waiting(&a->loads[i]);
        if (i == 0 || room < least) {
            least = room;
            a->flow = i;
            a->wait_ticks = wait;
        }
    }
    a->room_ticks = least;
    a->load_permille = (uint16_t)(load > 0xFFFFUL ? 0xFFFFUL : load);
    a->needs_slots = (uint8_t)(slots > 255U ? 255U : slots);
    if (a->wait_ticks > a->loads[a->flow].deadline) {
        return NW_SCHED_NO;
    }
    return a->open_ticks <= a->write_ticks || least >= a->open_ticks - a->write_ticks
               ? NW_SCHED_YES
               : NW_SCHED_BUT_OPENINGS;
}
