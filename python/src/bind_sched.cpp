// SPDX-License-Identifier: Apache-2.0
// Deadline workloads: the scheduler's simulator, the offline bound and the admission test.
#include "bind_timeline.hpp"
#include "bindings.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "nandwich-replay/sched_bound.h"
#include "nandwich-replay/sched_device.h"
#include "nandwich-replay/sched_sim.h"
#include "nandwich-twin/parts.h"
#include "nandwich/error.h"
#include "nandwich/sched_admit.h"

namespace nb = nanobind;

namespace
{

// period, jitter, phase (negative: anywhere), deadline in ns; size; burst every, burst size; reads
using Flow = std::tuple<uint64_t, uint64_t, int64_t, uint64_t, uint32_t, uint32_t, uint32_t, bool>;
using Recording = std::vector<std::pair<uint64_t, uint32_t>>;
// submit, decide, flow, pressed, arrival, done, end
using Cpu =
    std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;

using Dict = nb::typed<nb::dict, nb::str, nb::any>;

void check(int status, const char *what)
{
    if (status < 0) {
        throw std::runtime_error(std::string(what) + ": " + nw_error_text(status));
    }
}

struct Workload {
    std::vector<nw_arrival_flow> flows;
    std::vector<nw_arrival> recorded;
    nw_arrivals arrivals = {};

    Workload(const std::vector<Flow> &given, const Recording &recording, uint64_t duration_ns)
    {
        for (const auto &[period, jitter, phase, deadline, size, every, burst, reads] : given) {
            nw_arrival_flow flow = {};
            flow.period_ns = period;
            flow.jitter_ns = jitter;
            flow.phase_ns = phase < 0 ? 0 : static_cast<uint64_t>(phase);
            flow.phase_random = phase < 0;
            flow.deadline_ns = deadline;
            flow.size = size;
            flow.burst_every = every;
            flow.burst_size = burst;
            flow.direction = reads ? NW_SCHED_READ : NW_SCHED_WRITE;
            flows.push_back(flow);
        }
        for (const auto &[time_ns, flow] : recording) {
            if (flow >= flows.size()) {
                throw std::invalid_argument("a recorded request names a flow that is not there");
            }
            recorded.push_back({time_ns, flow});
        }
        if (flows.empty() || flows.size() > NW_ARRIVAL_FLOWS) {
            throw std::invalid_argument("there must be 1 to 64 flows");
        }
        arrivals.flows = flows.data();
        arrivals.flow_count = static_cast<uint32_t>(flows.size());
        arrivals.recorded = recorded.empty() ? nullptr : recorded.data();
        arrivals.recorded_count = recorded.size();
        arrivals.end_ns = duration_ns;
    }
};

const nw_sched_policy *policy_named(const std::string &name)
{
    static const std::map<std::string, const nw_sched_policy *> policies = {
        {"fifo", &nw_sched_fifo},   {"edf", &nw_sched_edf},     {"g-edf", &nw_sched_gedf},
        {"rg-edf", &nw_sched_rgedf}, {"slack", &nw_sched_slack},
    };
    const auto found = policies.find(name);
    if (found == policies.end()) {
        throw std::invalid_argument("no policy '" + name + "'");
    }
    return found->second;
}

Dict flow_dict(const nw_sim_flow_result &flow)
{
    Dict dict;
    dict["offered"] = flow.offered;
    dict["met"] = flow.met;
    dict["late"] = flow.late;
    dict["dropped"] = flow.dropped;
    dict["failed"] = flow.failed;
    dict["full"] = flow.full;
    dict["refused"] = flow.refused;
    dict["past"] = flow.past;
    dict["response_us_sum"] = flow.response_us_sum;
    dict["response_us_max"] = flow.response_us_max;
    return dict;
}

// An open device that is closed whatever happens.
struct Device {
    nw_sim_device device = {};

    Device(const std::string &name, uint32_t blocks, uint32_t seed, bool filled)
    {
        nw_part part;
        check(nw_parts_get(name.c_str(), &part), name.c_str());
        const int status = nw_sim_device_open(&device, &part, blocks, seed,
                                              filled ? NW_SIM_FETCH_FILLED : 0);
        if (status < 0) {
            nw_sim_device_close(&device);
        }
        check(status, name.c_str());
    }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    ~Device() { nw_sim_device_close(&device); }
};

Dict device_facts(const std::string &part, uint32_t blocks, bool filled)
{
    Device opened(part, blocks, 1, filled);
    Dict dict;
    dict["sector_bytes"] = opened.device.block->sector_bytes;
    dict["sectors"] = opened.device.block->sectors;
    dict["unit"] = opened.device.unit;
    dict["write_ns"] = opened.device.write_ns;
    dict["open_ns"] = opened.device.open_ns;
    dict["read_ns"] = opened.device.read_ns;
    dict["fetch_ns"] = opened.device.fetch_ns;
    dict["longest_write_ns"] = opened.device.longest_write_ns;
    dict["longest_open_ns"] = opened.device.longest_open_ns;
    dict["longest_read_ns"] = opened.device.longest_read_ns;
    return dict;
}

Dict result_dict(const nw_sim_result &result, const nw_sim_config &config, size_t flows)
{
    Dict dict;
    nb::list parts;
    for (size_t i = 0; i < flows; i++) {
        parts.append(flow_dict(result.flows[i]));
    }
    dict["total"] = flow_dict(result.total);
    dict["flows"] = parts;
    dict["operations"] = result.operations;
    dict["openings"] = result.openings;
    dict["decisions"] = result.decisions;
    dict["cpu_ns"] = result.cpu_ns;
    dict["busy_ns"] = result.busy_ns;
    dict["end_ns"] = result.end_ns;
    dict["energy_pj"] = config.meter->energy_pj;
    return dict;
}

Dict run(const std::vector<Flow> &flows, const Recording &recording, uint64_t duration_ns,
             const std::string &part, uint32_t blocks, bool filled, const std::string &policy,
             uint32_t flags, uint32_t slots, uint32_t limit, uint32_t stubs, uint32_t guard_us,
             uint32_t clock_us, const Cpu &cpu, uint32_t seed, size_t log,
             const PyTimeline *timeline)
{
    Workload workload(flows, recording, duration_ns);
    Device opened(part, blocks, seed, filled);
    const nw_sim_device &device = opened.device;
    std::vector<nw_sim_event> events(log);
    nw_sim_result result = {};
    nw_sim_config config = {};

    config.arrivals = workload.arrivals;
    config.policy = policy_named(policy);
    config.block = device.block;
    config.meter = &opened.device.meter;
    std::tie(config.cpu.submit_ns, config.cpu.decide_ns, config.cpu.flow_ns,
             config.cpu.pressed_ns, config.cpu.arrival_ns, config.cpu.done_ns,
             config.cpu.end_ns) = cpu;
    config.seed = seed;
    config.slots = slots;
    config.limit = limit;
    config.stubs = stubs;
    config.unit = device.unit;
    config.clock_us = clock_us;
    config.fetch_ns = static_cast<uint32_t>(device.fetch_ns);
    config.write_us =
        static_cast<uint32_t>((device.write_ns + device.fetch_ns + 999U) / 1000U);
    config.open_us = static_cast<uint32_t>(device.open_ns / 1000U);
    config.read_us = static_cast<uint32_t>((device.read_ns + 999U) / 1000U);
    config.guard_us = guard_us;
    config.flags = static_cast<uint8_t>(flags);
    config.events = events.empty() ? nullptr : events.data();
    config.event_room = events.size();
    config.timeline = timeline != nullptr ? timeline->get() : nullptr;
    {
        nb::gil_scoped_release release;
        check(nw_sim_run(&config, &result), "the scheduler refuses this configuration");
    }
    Dict dict = result_dict(result, config, flows.size());
    nb::list told;
    for (size_t i = 0; i < events.size() && i < result.events; i++) {
        told.append(nb::make_tuple(events[i].time_ns, events[i].flow, events[i].sequence,
                                   static_cast<uint32_t>(events[i].verdict), events[i].sector));
    }
    dict["events"] = told;
    return dict;
}

// Whether a signal has come whose handler wants the search to end, as that of Ctrl-C does.
int signalled(void *)
{
    nb::gil_scoped_acquire acquire;

    return PyErr_CheckSignals();
}

Dict bound(const std::vector<Flow> &flows, const Recording &recording, uint64_t duration_ns,
               uint32_t seed, uint32_t sector_bytes, uint64_t write_ns, uint64_t read_ns,
               uint64_t grid_ns, uint64_t clock_ns, uint32_t unit,
               const std::vector<uint64_t> &open_ns, bool exact)
{
    Workload workload(flows, recording, duration_ns);
    std::vector<nw_arrival> requests(nw_bound_collect(&workload.arrivals, seed, nullptr, 0));
    nw_bound_config config = {};
    nw_bound_result result = {};

    nw_bound_collect(&workload.arrivals, seed, requests.data(), requests.size());
    config.flows = workload.flows.data();
    config.flow_count = static_cast<uint32_t>(workload.flows.size());
    config.requests = requests.data();
    config.request_count = requests.size();
    config.sector_bytes = sector_bytes;
    config.write_ns = write_ns;
    config.read_ns = read_ns;
    config.grid_ns = grid_ns;
    config.clock_ns = clock_ns;
    config.unit = unit;
    for (const uint64_t one : open_ns) {
        if (config.open_count < NW_BOUND_OPENINGS_MAX) {
            config.open_ns[config.open_count++] = one;
        }
    }
    config.ask = signalled;
    {
        nb::gil_scoped_release release;
        check(exact ? nw_bound_exact(&config, &result) : nw_bound_relaxed(&config, &result),
              "bound");
    }
    if (result.stopped != 0) {
        throw nb::python_error(); // what the signal's handler raised
    }
    Dict dict;
    dict["requests"] = requests.size();
    dict["met"] = result.met;
    dict["exact"] = static_cast<bool>(result.exact);
    dict["apart"] = static_cast<bool>(result.apart);
    dict["nodes"] = result.nodes;
    return dict;
}

// period, jitter, deadline in ticks; size; burst; reads
using Load = std::tuple<uint32_t, uint32_t, uint32_t, uint16_t, uint8_t, bool>;

Dict admit(const std::vector<Load> &given, uint16_t sector_bytes, uint16_t unit,
           uint32_t write_ticks, uint32_t open_ticks, uint32_t read_ticks, uint8_t order,
           uint8_t flags, uint32_t guard_ticks)
{
    std::vector<nw_sched_load> loads;
    nw_sched_admission admission = {};

    for (const auto &[period, jitter, deadline, size, burst, reads] : given) {
        nw_sched_load load = {};
        load.period = period;
        load.jitter = jitter;
        load.deadline = deadline;
        load.size = size;
        load.burst = burst;
        load.direction = static_cast<uint8_t>(reads ? NW_SCHED_READ : NW_SCHED_WRITE);
        loads.push_back(load);
    }
    if (loads.empty() || loads.size() > NW_SCHED_FLOWS_MAX) {
        throw std::invalid_argument("there must be 1 to 100 flows");
    }
    admission.loads = loads.data();
    admission.count = static_cast<uint8_t>(loads.size());
    admission.order = order;
    admission.flags = flags;
    admission.sector_bytes = sector_bytes;
    admission.unit = unit;
    admission.write_ticks = write_ticks;
    admission.open_ticks = open_ticks;
    admission.read_ticks = read_ticks;
    admission.guard_ticks = guard_ticks;
    const int answer = nw_sched_admit(&admission);
    check(answer, "admission test");
    Dict dict;
    dict["answer"] = answer == NW_SCHED_YES ? "yes" : answer == NW_SCHED_NO ? "no" : "but openings";
    dict["flow"] = admission.flow;
    dict["slots"] = admission.needs_slots;
    dict["load_permille"] = admission.load_permille;
    dict["wait_ticks"] = admission.wait_ticks;
    dict["room_ticks"] = admission.room_ticks;
    return dict;
}

} // namespace

void bind_sched(nb::module_ &m)
{
    m.attr("SCHED_DROP_LATE") = NW_SCHED_DROP_LATE;
    m.attr("SCHED_SPLIT") = NW_SCHED_SPLIT;
    m.attr("SCHED_WRAP") = NW_SCHED_WRAP;
    m.attr("SCHED_LEARN") = NW_SCHED_LEARN;
    m.attr("SCHED_SAVE") = NW_SCHED_SAVE;
    m.attr("SCHED_PREOPEN") = NW_SCHED_PREOPEN;
    m.def("sched_device", &device_facts, nb::arg("part"), nb::arg("blocks") = 0,
          nb::arg("filled") = false, "Sector size and times of a part as the scheduler sees it.");
    m.def("sched_run", &run, nb::arg("flows"), nb::arg("recording"), nb::arg("duration_ns"),
          nb::arg("part"), nb::arg("blocks"), nb::arg("filled"), nb::arg("policy"),
          nb::arg("flags"),
          nb::arg("slots"), nb::arg("limit"), nb::arg("stubs"), nb::arg("guard_us"),
          nb::arg("clock_us"), nb::arg("cpu"), nb::arg("seed"), nb::arg("log") = 0,
          nb::arg("timeline") = nb::none(),
          "One run of a deadline workload through the scheduler on a twin.");
    m.def("sched_bound", &bound, nb::arg("flows"), nb::arg("recording"), nb::arg("duration_ns"),
          nb::arg("seed"), nb::arg("sector_bytes"), nb::arg("write_ns"), nb::arg("read_ns"),
          nb::arg("grid_ns"), nb::arg("clock_ns") = 0, nb::arg("unit") = 0,
          nb::arg("open_ns") = std::vector<uint64_t>(), nb::arg("exact") = false,
          "How many requests any scheduler could have met, all arrivals known beforehand.");
    m.attr("SCHED_GROUPS") = static_cast<int>(NW_SCHED_GROUPS);
    m.attr("SCHED_SINGLES") = static_cast<int>(NW_SCHED_SINGLES);
    m.attr("SCHED_PASSING") = static_cast<int>(NW_SCHED_PASSING);
    m.def("sched_admit", &admit, nb::arg("loads"), nb::arg("sector_bytes"), nb::arg("unit"),
          nb::arg("write_ticks"), nb::arg("open_ticks"), nb::arg("read_ticks"), nb::arg("order"),
          nb::arg("flags"), nb::arg("guard_ticks"),
          "The admission test and its arithmetic.");
}
