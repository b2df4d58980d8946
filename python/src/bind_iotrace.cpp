// SPDX-License-Identifier: Apache-2.0
// Recorded traces: read as a source of requests, surveyed, written in another format.
#include "bind_source.hpp"
#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "paths.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "nandwich-replay/iotrace.h"
#include "nandwich-replay/sample.h"
#include "nandwich-replay/survey.h"
#include "nandwich/error.h"

namespace nb = nanobind;

namespace {

using Dict = nb::typed<nb::dict, nb::str, nb::any>;

// FILE:LINE:COLUMN: text, as compilers say it.
std::string told(const std::string &path, const nw_iotrace_fault &fault)
{
    std::string text = path;

    if (fault.line > 0) {
        text += ":" + std::to_string(fault.line);
    }
    if (fault.column > 0) {
        text += ":" + std::to_string(fault.column);
    }
    return text + ": " + fault.text;
}

class Trace : public Source {
public:
    Trace(const FilePath &path, const std::string &format, uint64_t skip_bad,
          std::optional<uint64_t> unit, const std::vector<uint8_t> &columns, uint8_t time_places,
          bool header)
        : path_(path.text)
    {
        nw_iotrace_config config = {};
        nw_iotrace_fault fault;

        config.format = format.empty() ? nullptr : format.c_str();
        config.skip_bad = skip_bad;
        config.unit = unit.value_or(NW_IOTRACE_ALL_UNITS);
        if (columns.size() > NW_IOTRACE_COLUMNS || time_places > 9) {
            throw_text(PyExc_ValueError, "too many columns");
        }
        config.columns.count = static_cast<uint8_t>(columns.size());
        config.columns.header = header ? 1 : 0;
        config.columns.time_places = time_places;
        std::copy(columns.begin(), columns.end(), config.columns.column);
        const int error = nw_iotrace_open(&trace_, path.c_str(), &config, &fault);

        if (error == NW_ERR_RAM) {
            throw std::bad_alloc();
        }
        if (error < 0) {
            throw_text(PyExc_ValueError, told(path_, fault));
        }
    }
    ~Trace() override { nw_iotrace_close(trace_); }

    nw_io_source *get() override { return nw_iotrace_source(trace_); }
    nw_iotrace *trace() const { return trace_; }

    std::vector<std::string> apps() const
    {
        std::vector<std::string> all;

        for (uint16_t app = 1; nw_iotrace_app(trace_, app) != nullptr; app++) {
            all.emplace_back(nw_iotrace_app(trace_, app));
        }
        return all;
    }

    [[noreturn]] void fail(int error) const override
    {
        if (error == NW_ERR_RAM) {
            throw std::bad_alloc();
        }
        throw_text(PyExc_ValueError, told(path_, *nw_iotrace_fault_of(trace_)));
    }

private:
    std::string path_;
    nw_iotrace *trace_ = nullptr;
};

// The requests of another source that fall on some of its pages.
class Sample : public Source {
public:
    Sample(Source &from, uint32_t page_bytes, double share) : from_(from)
    {
        if (page_bytes == 0 || !(share > 0 && share <= 1)) {
            throw_text(PyExc_ValueError, "a page of no bytes, or a share that is not 0 .. 1");
        }
        nw_sample_open(&sample_, from.get(), page_bytes,
                       static_cast<uint32_t>(std::ceil(share * NW_SAMPLE_WHOLE)));
    }

    nw_io_source *get() override { return &sample_.source; }
    const Source &origin() const override { return from_.origin(); }
    uint64_t pages(int kind) const { return sample_.pages[kind]; }
    [[noreturn]] void fail(int error) const override
    {
        from_.fail(error);
        std::abort();
    }

private:
    Source &from_;
    nw_sample sample_ = {};
};

// One pass over a source, in steps so that progress can be shown.
class Survey {
public:
    explicit Survey(Source &source) : source_(source), survey_(std::make_unique<nw_survey>())
    {
        if (source.get()->ops->rewind(source.get()) < 0) {
            source.fail(NW_ERR_IO);
        }
    }

    bool run(uint64_t requests)
    {
        const int status = nw_survey_run(survey_.get(), source_.get(), requests);

        if (status < 0) {
            source_.fail(status);
        }
        return status > 0;
    }

    Dict result() const
    {
        static const char *const kinds[] = { "reads", "writes", "trims", "syncs" };
        const nw_survey &s = *survey_;
        Dict dict;

        dict["requests"] = s.requests;
        for (int i = 0; i < 4; i++) {
            Dict kind;
            kind["count"] = s.count[i];
            kind["bytes"] = s.bytes[i];
            kind["largest_bytes"] = s.largest[i];
            dict[kinds[i]] = kind;
        }
        dict["extent_bytes"] = s.extent;
        dict["lowest_byte"] = s.lowest;
        dict["align_bytes"] = s.align;
        dict["duration_ns"] = s.last_ns;
        dict["stepped_back"] = s.stepped_back;
        dict["in_order"] = s.in_order;
        dict["gap_mean_ns"] = s.gaps.count > 0 ? s.gaps.sum_ns / s.gaps.count : 0;
        dict["gap_p50_ns"] = nw_latency_at(&s.gaps, 500000);
        dict["gap_max_ns"] = s.gaps.max_ns;
        dict["units"] = std::vector<uint64_t>(s.units, s.units + s.unit_count);
        return dict;
    }

private:
    Source &source_;
    std::unique_ptr<nw_survey> survey_;
};

[[noreturn]] void cannot_write(const FilePath &path)
{
    throw_errno(path);
}

// Requests written, and those that the format has no word for.
std::tuple<uint64_t, uint64_t> write_trace(Source &source, const FilePath &path,
                                           const std::string &format)
{
    nw_iotrace_writer *made = nullptr;
    const int error = nw_iotrace_create(&made, path.c_str(), format.c_str());

    if (error == NW_ERR_CONFIG) {
        throw nb::value_error(("format " + format + " is not written").c_str());
    }
    if (error < 0) {
        cannot_write(path);
    }
    std::unique_ptr<nw_iotrace_writer, void (*)(nw_iotrace_writer *)> writer(
        made, nw_iotrace_drop);
    if (const Trace *trace = dynamic_cast<const Trace *>(&source.origin()); trace != nullptr) {
        nw_iotrace_name_apps(made, trace->trace());
    }
    nw_io batch[256];
    uint64_t written = 0;
    uint64_t dropped = 0;
    int count;

    while ((count = source.get()->ops->fill(source.get(), batch, 256)) > 0) {
        for (int i = 0; i < count; i++) {
            const int status = nw_iotrace_put(writer.get(), &batch[i]);

            if (status < 0) {
                cannot_write(path);
            }
            (status > 0 ? written : dropped)++;
        }
    }
    if (count < 0) {
        source.fail(count);
    }
    if (nw_iotrace_finish(writer.release()) < 0) {
        cannot_write(path);
    }
    return { written, dropped };
}

std::vector<std::tuple<std::string, std::string>> formats()
{
    std::vector<std::tuple<std::string, std::string>> all;
    const char *what;

    for (uint32_t i = 0; nw_iotrace_format_at(i, &what) != nullptr; i++) {
        all.emplace_back(nw_iotrace_format_at(i, &what), what);
    }
    return all;
}

} // namespace

void bind_iotrace(nb::module_ &m)
{
    nb::class_<Trace, Source>(m, "Trace", "A recorded trace, read as a stream.")
        .def(nb::init<const FilePath &, const std::string &, uint64_t,
                      std::optional<uint64_t>, const std::vector<uint8_t> &, uint8_t, bool>(),
             nb::arg("path"), nb::kw_only(), nb::arg("format") = "", nb::arg("skip_bad") = 0,
             nb::arg("unit") = nb::none(), nb::arg("columns") = std::vector<uint8_t>(),
             nb::arg("time_places") = 9, nb::arg("header") = false,
             "ValueError tells file, line, column and what is wrong. `columns` of a csv are\n"
             "numbers of enum nw_iotrace_column; `time_places`: 0 ns, 3 us, 6 ms, 9 s.")
        .def_prop_ro("separator", [](const Trace &self) {
            const char one = nw_iotrace_separator(self.trace());
            return one == '\0' ? std::string() : std::string(1, one);
        })
        .def_prop_ro("format", [](const Trace &self) {
            return std::string(nw_iotrace_format_name(self.trace()));
        })
        .def_prop_ro("packing", [](const Trace &self) {
            return std::string(nw_iotrace_packing(self.trace()));
        })
        .def_prop_ro("lines", [](const Trace &self) { return nw_iotrace_lines(self.trace()); })
        .def_prop_ro("skipped", [](const Trace &self) { return nw_iotrace_skipped(self.trace()); })
        .def_prop_ro("empty", [](const Trace &self) { return nw_iotrace_empty(self.trace()); })
        .def_prop_ro("apps", &Trace::apps,
                     "Applications met so far; the first one's number in requests is 1.");
    nb::class_<Sample, Source>(m, "Sample", "Requests to a share of a source's pages, by a hash.")
        .def(nb::init<Source &, uint32_t, double>(), nb::arg("source"), nb::arg("page_bytes"),
             nb::arg("share"), nb::keep_alive<1, 2>())
        .def_prop_ro("pages_read", [](const Sample &self) { return self.pages(NW_IO_READ); },
                     "That the source asked for so far, in the sample or not.")
        .def_prop_ro("pages_written", [](const Sample &self) { return self.pages(NW_IO_WRITE); });
    nb::class_<Survey>(m, "Survey", "What a source asks for, in one pass over it.")
        .def(nb::init<Source &>(), nb::arg("source"), nb::keep_alive<1, 2>())
        .def("run", &Survey::run, nb::arg("requests"), "So many more; whether there are more.")
        .def("result", &Survey::result);
    m.def("write_trace", &write_trace, nb::arg("source"), nb::arg("path"), nb::arg("format"),
          "(written, left out) requests; packed when the path ends in .gz.");
    m.def("trace_formats", &formats, "(name, what it is) of each format that is read.");
}
