// SPDX-License-Identifier: Apache-2.0
// What a device did and when, as a trace for ui.perfetto.dev.
#include "bind_timeline.hpp"

#include "bindings.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <map>
#include <new>
#include <string>

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

void write_trace(const PyTimeline &self, const FilePath &path, const std::string &title,
                 const std::string &chip)
{
    const int error = nw_timeline_write(self.get(), path.c_str(), title.c_str(), chip.c_str());

    if (error == NW_ERR_RAM) {
        throw std::bad_alloc();
    }
    if (error < 0) {
        throw_errno(path);
    }
}

std::map<std::string, uint64_t> counts(const PyTimeline &self)
{
    const nw_timeline_counts &all = *nw_timeline_outcome(self.get());

    return { { "requests", all.requests },   { "operations", all.operations },
             { "shown", all.shown },         { "in_window", all.in_window },
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
        .def("counts", &counts, "What was seen and what is shown.");
}
