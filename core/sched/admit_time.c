/* SPDX-License-Identifier: Apache-2.0 */
/* How long operations take at most: the arithmetic under both tests of admission. */
#include "admit.h"

uint32_t nw_admit_product(uint32_t count, uint32_t each)
{
    return each != 0 && count > NW_ADMIT_FAR / each ? NW_ADMIT_FAR : count * each;
}

/* One comes as late as it may, and those behind it come when they are due. */
uint32_t nw_admit_firings(const struct nw_sched_load NW_XDATA *load, uint32_t span)
{
    uint32_t period = load->period < NW_ADMIT_FAR ? load->period : NW_ADMIT_FAR;

    return (span + load->jitter) / period + 1U;
}

/* Both are NW_ADMIT_FAR at most. */
static uint32_t sum(uint32_t a, uint32_t b)
{
    return a + b < NW_ADMIT_FAR ? a + b : NW_ADMIT_FAR;
}

void nw_admit_add(struct nw_admit_work *work, const struct nw_sched_load NW_XDATA *load,
                  uint32_t count)
{
    uint32_t *of = load->direction == NW_SCHED_READ ? &work->reads : &work->writes;

    count = count < NW_ADMIT_FAR ? count : NW_ADMIT_FAR;
    *of = sum(*of, count);
}

void nw_admit_before(struct nw_admit_work *work, const struct nw_sched_load NW_XDATA *load)
{
    if (load->direction == NW_SCHED_READ) {
        work->read_before = 1;
    } else {
        work->write_before = 1;
    }
}

uint32_t nw_admit_cost(const struct nw_sched_admission NW_XDATA *a,
                       const struct nw_sched_load NW_XDATA *load)
{
    return load->direction == NW_SCHED_READ ? a->read_ticks : a->write_ticks;
}

uint32_t nw_admit_opening(const struct nw_sched_admission NW_XDATA *a)
{
    return a->opening != 0 && a->open_ticks > a->write_ticks ? a->open_ticks - a->write_ticks : 0;
}

/* The first of the writes may open a unit, and then each so many-th. Where it is the first of a
 * session it may open the last sector of its unit, and the second write the unit behind. */
static uint32_t time_of(const struct nw_sched_admission NW_XDATA *a, uint32_t writes,
                        uint32_t reads)
{
    uint32_t time = sum(nw_admit_product(writes, a->write_ticks),
                        nw_admit_product(reads, a->read_ticks));

    if (writes != 0 && a->opening != 0) {
        uint32_t opened = writes == 1U ? 1U : (writes - 2U) / a->opening + 2U;

        time = sum(time, nw_admit_product(opened, nw_admit_opening(a)));
    }
    return time;
}

uint32_t nw_admit_time(const struct nw_sched_admission NW_XDATA *a,
                       const struct nw_admit_work *work)
{
    uint32_t most = time_of(a, work->writes, work->reads);

    if (work->write_before) {
        uint32_t time = time_of(a, work->writes + 1U, work->reads);

        most = time > most ? time : most;
    }
    if (work->read_before) {
        uint32_t time = time_of(a, work->writes, work->reads + 1U);

        most = time > most ? time : most;
    }
    return most;
}
