/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-replay/sched_sim.h"

#include <string.h>

struct sim {
    struct nw_sched sched; /* first: see tell() */
    struct nw_sim_config *config;
    struct nw_sim_result *result;
    struct nw_sched_flow flows[NW_ARRIVAL_FLOWS];
    struct nw_sched_counts counts[NW_ARRIVAL_FLOWS];
    uint64_t ram[NW_SCHED_RAM_BYTES(NW_SCHED_SLOTS_MAX, NW_ARRIVAL_FLOWS) / 8U + 1U];
    uint64_t next_ns; /* of the next arrival */
    uint64_t begun_ns; /* the operation under way, or the last */
    uint64_t done_ns;
    uint8_t opens;  /* it writes to a new unit */
    uint8_t ending; /* it is being ended */
};

static uint32_t ticks(const struct sim *sim, uint64_t time_ns)
{
    return sim->config->clock_us + (uint32_t)(time_ns / 1000U);
}

static uint32_t now(const struct sim *sim)
{
    return ticks(sim, sim->config->meter->time_ns);
}

static void keep(struct sim *sim, const struct nw_sim_event *event)
{
    if (sim->result->events < sim->config->event_room) {
        sim->config->events[sim->result->events] = *event;
    }
    sim->result->events++;
}

/* On the timeline: a request that ends now. */
static void draw(struct sim *sim, const struct nw_sim_event *event, uint64_t issued_ns)
{
    const struct nw_arrival_flow *of = &sim->config->arrivals.flows[event->flow];
    int lost = event->verdict == NW_SCHED_FULL || event->verdict == NW_SCHED_REFUSED;
    struct nw_timeline_request request = {
        .arrival_ns = issued_ns,
        .start_ns = issued_ns,
        .end_ns = lost ? issued_ns : event->time_ns, /* it never waited in a slot */
        .sector = event->sector,
        .queues = 1,
        .free_blocks = NW_TIMELINE_UNKNOWN,
        .kind = of->direction == NW_SCHED_READ ? NW_TIMELINE_READ : NW_TIMELINE_WRITE,
        .due_ns = issued_ns + of->deadline_ns,
        .flow = (uint16_t)event->flow,
        .verdict = event->verdict,
        .opens = sim->opens,
    };

    if (sim->ending != 0) {
        request.begun_ns = sim->begun_ns;
        request.done_ns = sim->done_ns;
    }
    nw_timeline_add(sim->config->timeline, &request, sim->config->meter->energy_pj);
}

/* An operation that no request asked for. */
static void draw_opening(struct sim *sim)
{
    struct nw_timeline_request request = {
        .arrival_ns = sim->begun_ns,
        .start_ns = sim->begun_ns,
        .end_ns = sim->done_ns,
        .queues = 1,
        .free_blocks = NW_TIMELINE_UNKNOWN,
        .kind = NW_TIMELINE_WRITE,
        .begun_ns = sim->begun_ns,
        .done_ns = sim->done_ns,
        .flow = UINT16_MAX,
        .verdict = NW_TIMELINE_NOBODY,
    };

    nw_timeline_add(sim->config->timeline, &request, sim->config->meter->energy_pj);
}

/* When a request that ends was issued: `due` on the node's clock tells. */
static uint64_t issued_ns(const struct sim *sim, uint32_t flow, uint32_t due)
{
    uint32_t ago_us = now(sim) - (due - sim->flows[flow].deadline);
    uint64_t now_us = sim->config->meter->time_ns / 1000U;

    return now_us > ago_us ? (now_us - ago_us) * 1000U : 0;
}

/* What became of a request that was issued at such a time. */
static void end(struct sim *sim, const struct nw_sim_event *event, uint64_t issued)
{
    if (sim->config->timeline != NULL) {
        draw(sim, event, issued);
    }
    if (sim->config->events != NULL) {
        keep(sim, event);
    }
}

/* `sched` is the first member of struct sim: its owner is found from it. */
static void tell(struct nw_sched_event *told)
{
    struct sim *sim = (struct sim *)(void *)told->owner;

    if (!told->more) {
        struct nw_sim_event event = {
            .time_ns = sim->config->meter->time_ns,
            .flow = told->flow,
            .sequence = told->slot->sequence,
            .sector = told->sector,
            .verdict = told->verdict,
        };

        end(sim, &event, issued_ns(sim, told->flow, told->slot->time));
    }
}

static void tell_lost(struct sim *sim, uint32_t flow, int status)
{
    struct nw_sim_event event = {
        .time_ns = sim->config->meter->time_ns,
        .flow = flow,
        .sequence = sim->flows[flow].sequence,
        .verdict = status == NW_ERR_FULL ? NW_SCHED_FULL : NW_SCHED_REFUSED,
    };

    end(sim, &event, sim->next_ns);
}

static void charge(struct sim *sim, uint64_t cost_ns)
{
    sim->config->meter->time_ns += cost_ns;
    sim->result->cpu_ns += cost_ns;
}

/* Requests in the ring of arrivals. */
static uint32_t arrived(const struct nw_sched *sched)
{
    uint32_t put = sched->put;
    uint32_t take = sched->take;

    return put >= take ? put - take : put + sched->ring_size - take;
}

/* Hands a request in, unless the queue of arrivals is one of its own and full. */
static int offer(struct sim *sim, struct nw_sched_offer *offered)
{
    struct nw_sched_flow *flow = &sim->flows[offered->flow];

    if (sim->config->stubs == 0 || arrived(&sim->sched) < sim->config->stubs) {
        return nw_sched_submit(offered);
    }
    flow->sequence++;
    flow->counts->of[NW_SCHED_OFFERED]++;
    flow->counts->of[NW_SCHED_FULL]++;
    return NW_ERR_FULL;
}

/* The timers' interrupts up to the present. */
static void feed(struct sim *sim)
{
    struct nw_arrivals *arrivals = &sim->config->arrivals;
    struct nw_meter *meter = sim->config->meter;
    struct nw_sched_offer request = {.owner = &sim->sched, .data = NULL};

    while (sim->next_ns <= meter->time_ns) {
        const struct nw_arrival_flow *flow = &arrivals->flows[arrivals->flow];
        int status;

        request.now = ticks(sim, sim->next_ns);
        request.flow = (uint8_t)arrivals->flow;
        request.size = (uint16_t)flow->size;
        request.sector = 0;
        if (flow->direction == NW_SCHED_READ && sim->sched.position > 0) {
            request.sector = sim->sched.position - 1U;
        }
        status = offer(sim, &request);
        if (status < 0) {
            tell_lost(sim, arrivals->flow, status);
        }
        charge(sim, sim->config->cpu.submit_ns);
        nw_arrivals_take(arrivals);
        sim->next_ns = nw_arrivals_peek(arrivals);
    }
}

static void charge_decision(struct sim *sim, uint32_t arrivals)
{
    const struct nw_sim_cpu *cpu = &sim->config->cpu;
    uint64_t cost_ns = cpu->decide_ns;

    if (sim->sched.held > sim->sched.slot_count / 2U) {
        cost_ns = cpu->pressed_ns;
    } else if (sim->sched.order_count > 1) {
        cost_ns += (uint64_t)(sim->sched.order_count - 1U) * cpu->flow_ns;
    }
    charge(sim, cost_ns + (uint64_t)arrivals * cpu->arrival_ns);
    sim->result->decisions++;
}

/* Nothing to do: on to the next arrival, or to the time the scheduler asked for. 0: all is done. */
static int sleep(struct sim *sim)
{
    struct nw_meter *meter = sim->config->meter;
    uint64_t until = sim->next_ns;

    if (sim->sched.waiting) {
        uint64_t wake = meter->time_ns + 1000U;
        int32_t left = (int32_t)(sim->sched.wake - now(sim));

        if (left > 0) {
            wake = meter->time_ns + (uint64_t)left * 1000U;
        }
        until = wake < until ? wake : until;
    }
    if (until == UINT64_MAX) {
        return 0;
    }
    if (until > meter->time_ns) {
        meter->time_ns = until;
    }
    return 1;
}

/* The processor fetches what a group holds, and no more, on its way into the device. */
static void fetch(struct sim *sim)
{
    uint8_t serving = sim->sched.serving;

    if (serving != NW_SCHED_NONE && sim->flows[serving].direction == NW_SCHED_WRITE) {
        sim->config->meter->time_ns += (uint64_t)sim->config->fetch_ns *
                                       sim->flows[serving].bytes /
                                       sim->config->block->sector_bytes;
    }
}

static void operate(struct sim *sim)
{
    struct nw_meter *meter = sim->config->meter;
    const struct nw_sim_cpu *cpu = &sim->config->cpu;
    uint64_t start = meter->time_ns;
    uint32_t members = nw_sched_members(&sim->sched);
    int result;

    sim->begun_ns = start;
    sim->opens = sim->sched.unit != 0 && sim->sched.unit_left == 0;
    fetch(sim);
    result = nw_sched_transfer(&sim->sched);
    sim->done_ns = meter->time_ns;
    sim->result->busy_ns += meter->time_ns - start;
    sim->result->operations++;
    sim->result->openings += sim->sched.opening;
    feed(sim);
    sim->ending = 1;
    nw_sched_done(&sim->sched, now(sim), result);
    sim->ending = 0;
    if (members == 0 && sim->config->timeline != NULL) {
        draw_opening(sim);
    }
    charge(sim, cpu->done_ns + (uint64_t)members * cpu->end_ns);
}

static int setup(struct sim *sim)
{
    const struct nw_sim_config *config = sim->config;
    struct nw_sched *sched = &sim->sched;
    uint32_t count = config->arrivals.flow_count;

    if (count == 0 || count > NW_ARRIVAL_FLOWS || config->slots > NW_SCHED_SLOTS_MAX ||
        config->limit > config->slots || config->unit > 0xFFFFU) {
        return NW_ERR_CONFIG;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct nw_arrival_flow *flow = &config->arrivals.flows[i];

        if (flow->deadline_ns / 1000U >= 1UL << 30 || flow->size == 0 || flow->size > 0xFFFFU) {
            return NW_ERR_CONFIG;
        }
        sim->flows[i].deadline = (uint32_t)(flow->deadline_ns / 1000U);
        /* The core takes less than 2^30; what comes later than any deadline is all the same. */
        sim->flows[i].period = (uint32_t)(flow->period_ns / 1000U < 1UL << 30
                                              ? flow->period_ns / 1000U
                                              : (1UL << 30) - 1U);
        sim->flows[i].direction = flow->direction;
        sim->flows[i].limit = (uint8_t)config->limit;
        sim->flows[i].counts = &sim->counts[i];
    }
    sched->policy = config->policy;
    sched->block = config->block;
    sched->event = config->events != NULL || config->timeline != NULL ? tell : NULL;
    sched->flows = sim->flows;
    sched->flow_count = (uint8_t)count;
    sched->slot_count = (uint8_t)config->slots;
    sched->flags = config->flags;
    sched->sector_bytes = config->block->sector_bytes;
    sched->unit = (uint16_t)config->unit;
    sched->sectors = config->block->sectors;
    sched->write_ticks = config->write_us;
    sched->open_ticks = config->open_us;
    sched->read_ticks = config->read_us;
    sched->guard_ticks = config->guard_us;
    return nw_sched_open(sched, (uint8_t *)sim->ram, sizeof sim->ram);
}

static void add(struct nw_sim_flow_result *to, const struct nw_sim_flow_result *from)
{
    to->offered += from->offered;
    to->met += from->met;
    to->late += from->late;
    to->dropped += from->dropped;
    to->failed += from->failed;
    to->full += from->full;
    to->refused += from->refused;
    to->past += from->past;
    to->response_us_sum += from->response_us_sum;
    if (from->response_us_max > to->response_us_max) {
        to->response_us_max = from->response_us_max;
    }
}

/* The device's counts wrap at 32 bits; a run's are taken over before they can. */
static void collect(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->config->arrivals.flow_count; i++) {
        struct nw_sched_counts *counts = &sim->counts[i];
        struct nw_sim_flow_result part = {
            .offered = counts->of[NW_SCHED_OFFERED],
            .met = counts->of[NW_SCHED_MET],
            .late = counts->of[NW_SCHED_LATE],
            .dropped = counts->of[NW_SCHED_DROPPED],
            .failed = counts->of[NW_SCHED_FAILED],
            .full = counts->of[NW_SCHED_FULL],
            .refused = counts->of[NW_SCHED_REFUSED],
            .past = counts->of[NW_SCHED_PAST],
            .response_us_sum = counts->response_sum, .response_us_max = counts->response_max,
        };

        add(&sim->result->flows[i], &part);
        add(&sim->result->total, &part);
        memset(counts, 0, sizeof *counts);
    }
}

int nw_sim_run(struct nw_sim_config *config, struct nw_sim_result *result)
{
    struct sim sim = {.config = config, .result = result};
    int status = setup(&sim);
    int todo;

    if (status < 0) {
        return status;
    }
    memset(result, 0, sizeof *result);
    nw_arrivals_start(&config->arrivals, config->seed);
    sim.next_ns = nw_arrivals_peek(&config->arrivals);
    do {
        uint32_t arrivals;

        feed(&sim);
        arrivals = arrived(&sim.sched);
        todo = nw_sched_next(&sim.sched, now(&sim));
        charge_decision(&sim, arrivals - arrived(&sim.sched));
        if (todo > 0) {
            operate(&sim);
        }
        if ((result->decisions & 0x3FFU) == 0) {
            collect(&sim);
        }
    } while (todo > 0 || sleep(&sim));
    collect(&sim);
    result->end_ns = config->meter->time_ns;
    return NW_OK;
}
