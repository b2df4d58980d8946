// SPDX-License-Identifier: Apache-2.0
// Histories of what keeps data: drawn from a seed, played, shrunk.
#include "bind_twin.hpp"

#include "bindings.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

extern "C" {
#include "shrink.h"
#include "swarm.h"
}

namespace nb = nanobind;

namespace {

using Dict = nb::typed<nb::dict, nb::str, nb::any>;
using Numbers = std::map<std::string, uint64_t>;

// A history with what it came to.
class Played {
public:
    Played() { sim_history_init(&history); }
    ~Played() { sim_history_free(&history); }
    Played(const Played &) = delete;
    Played &operator=(const Played &) = delete;

    void parse(const std::string &text)
    {
        char why[240];
        const int result = sim_history_parse(&history, text.c_str(), why, sizeof why);

        if (result < 0) {
            throw std::invalid_argument(result == NW_ERR_RAM ? nw_error_text(result) : why);
        }
    }

    Dict dict() const
    {
        char *text = sim_history_print(&history);
        Dict result;

        if (text == nullptr) {
            throw std::bad_alloc();
        }
        result["history"] = nb::str(text);
        std::free(text);
        result["judge"] = sim_judge_name(outcome.failure.judge);
        result["failed_step"] = outcome.failure.step + 1U;
        result["what"] = outcome.failure.text;
        result["steps"] = outcome.steps;
        result["mounts"] = outcome.mounts;
        result["cuts"] = outcome.cuts;
        result["changes"] = outcome.changes;
        result["beyond"] = history.head.beyond;
        return result;
    }

    sim_history history;
    sim_outcome outcome = {};
};

const sim_kind *kind_of(const std::string &name)
{
    const sim_kind *kind = sim_kind_find(name.c_str());

    if (kind == nullptr) {
        throw std::invalid_argument("no subject '" + name + "'");
    }
    return kind;
}

void set(sim_head &head, const std::string &name, uint64_t value)
{
    const sim_setting *setting;

    for (uint32_t i = 0; (setting = sim_setting_at(i)) != nullptr; i++) {
        if (name == setting->name) {
            if (value > setting->most) {
                throw std::invalid_argument(name + " is at most " + std::to_string(setting->most));
            }
            *sim_setting_in(setting, &head) = static_cast<uint32_t>(value);
            return;
        }
    }
    throw std::invalid_argument("no setting '" + name + "'");
}

void must(int result)
{
    if (result == NW_ERR_CONFIG) {
        throw std::invalid_argument("it works on no chip of this kind with these settings");
    }
    if (result < 0) {
        throw std::runtime_error(nw_error_text(result));
    }
}

Dict draw(const std::string &subject, uint32_t seed, const PyPart *part, const std::string &base,
          const Numbers &settings, uint32_t blocks, uint32_t steps,
          bool stable)
{
    sim_wish wish = {};
    Played played;
    int result;

    wish.kind = kind_of(subject);
    wish.part = part != nullptr ? &part->part : nullptr;
    wish.base = base.c_str();
    wish.blocks = blocks;
    wish.steps = steps;
    wish.stable = stable ? 1 : 0;
    for (const auto &[name, value] : settings) {
        set(wish.head, name, value);
    }
    {
        const nb::gil_scoped_release free;
        result = sim_swarm(&wish, seed, &played.history, &played.outcome);
    }
    must(result);
    return played.dict();
}

Dict play(const std::string &text)
{
    Played played;
    int result;

    played.parse(text);
    {
        const nb::gil_scoped_release free;
        result = sim_play(&played.history, nullptr, &played.outcome);
    }
    must(result);
    return played.dict();
}

Dict shrink(const std::string &text, uint32_t plays)
{
    Played played;
    int result;

    played.parse(text);
    {
        const nb::gil_scoped_release free;
        result = sim_shrink(&played.history, nullptr, plays, &played.outcome);
    }
    must(result);
    return played.dict();
}

std::vector<std::tuple<std::string, std::string>> subjects()
{
    std::vector<std::tuple<std::string, std::string>> all;

    for (uint32_t i = 0; i < sim_kind_count; i++) {
        all.emplace_back(sim_kinds[i]->name, sim_kinds[i]->what);
    }
    return all;
}

} // namespace

void bind_torture(nb::module_ &m)
{
    m.def("torture_subjects", &subjects, "What can be tortured: name, what it is.");
    m.def("torture_draw", &draw, nb::arg("subject"), nb::arg("seed"), nb::kw_only(),
          nb::arg("part").none() = nb::none(), nb::arg("base") = "",
          nb::arg("settings") = Numbers(), nb::arg("blocks") = 0, nb::arg("steps") = 0,
          nb::arg("stable") = false,
          "Plays the run of a seed; `base` is the part's name in the table.");
    m.def("torture_play", &play, nb::arg("history"), "Replays; ValueError tells the line.");
    m.def("torture_shrink", &shrink, nb::arg("history"), nb::arg("plays") = 4000,
          "The smallest history found that fails before the same judge.");
}
