// SPDX-License-Identifier: Apache-2.0
// What a device did and when, as a trace for ui.perfetto.dev.
#include "bind_timeline.hpp"

#include "bindings.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <new>
#include <string>
#include <vector>

#include "nandwich/error.h"
#include "paths.hpp"

namespace nb = nanobind;

PyTimeline::PyTimeline(uint64_t from, uint64_t to, bool by_time)
{
    nw_timeline_config config = {};

    config.from = from;
    config.to = to;
    config.by_time = by_time ? 1 : 0;
    if (nw_timeline_open(&timeline_, &config) < 0) {
        throw std::bad_alloc();
    }
}

namespace
{

void answer(int error, const FilePath &path)
{
    if (error == NW_ERR_RAM) {
        throw std::bad_alloc();
    }
    if (error < 0) {
        throw_errno(path);
    }
}

void write_trace(const PyTimeline &self, const FilePath &path, const std::string &title,
                 const std::string &chip)
{
    answer(nw_timeline_write(self.get(), path.c_str(), title.c_str(), chip.c_str()), path);
}

void write_flows(const PyTimeline &self, const FilePath &path, const std::string &title,
                 const std::string &device, const std::vector<std::string> &names)
{
    std::vector<const char *> texts;

    for (const std::string &name : names) {
        texts.push_back(name.c_str());
    }
    answer(nw_timeline_write_flows(self.get(), path.c_str(), title.c_str(), device.c_str(),
                                   texts.data(), static_cast<uint32_t>(texts.size())),
           path);
}

std::map<std::string, uint64_t> counts(const PyTimeline &self)
{
    const nw_timeline_counts &all = *nw_timeline_outcome(self.get());

    return { { "requests", all.requests },   { "operations", all.operations },
             { "shown", all.shown },         { "inside", all.inside },
             { "left_out", all.left_out },   { "cut", all.cut },
             { "bytes", all.bytes } };
}

} // namespace

void bind_timeline(nb::module_ &m)
{
    m.attr("TIMELINE_REQUESTS") = static_cast<int>(NW_TIMELINE_REQUESTS);
    m.attr("TIMELINE_LONGEST") = static_cast<int>(NW_TIMELINE_LONGEST);
    m.attr("TIMELINE_BYTES") = static_cast<int>(NW_TIMELINE_BYTES);
    nb::class_<PyTimeline>(m, "Timeline", "Requests and chip operations; see timeline.h.")
        .def(nb::init<uint64_t, uint64_t, bool>(), nb::arg("first"), nb::arg("end"),
             nb::arg("by_time") = false, "With the window that is shown whole.")
        .def("write", &write_trace, nb::arg("path"), nb::arg("title"), nb::arg("chip"),
             "Replaces the file; OSError.")
        .def("write_flows", &write_flows, nb::arg("path"), nb::arg("title"), nb::arg("device"),
             nb::arg("names"), "The same of requests with deadlines, by the names of their flows.")
        .def("counts", &counts, "What was seen and what is shown.");
}
