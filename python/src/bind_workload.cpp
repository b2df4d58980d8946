// SPDX-License-Identifier: Apache-2.0
// Workload generators by name, as sources of requests.
#include "bind_source.hpp"
#include "bindings.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "nandwich-replay/workload.h"
#include "nandwich/error.h"

namespace nb = nanobind;

namespace {

using Dict = nb::typed<nb::dict, nb::str, nb::any>;

// Fields a caller may change, by name.
void set_field(nw_workload_config &config, const std::string &key, uint64_t value)
{
    const auto small = static_cast<uint32_t>(value);

    if (value > UINT32_MAX && key != "requests" && key != "footprint" && key != "gap_ns" &&
        key != "pause_ns") {
        throw nb::value_error((key + " is too large").c_str());
    }
    if (key == "requests") {
        config.requests = value;
    } else if (key == "footprint") {
        config.footprint = value;
    } else if (key == "gap_ns") {
        config.gap_ns = value;
    } else if (key == "pause_ns") {
        config.pause_ns = value;
    } else if (key == "burst") {
        config.burst = small;
    } else if (key == "size") {
        config.size = small;
    } else if (key == "align") {
        config.align = small;
    } else if (key == "writes") {
        config.writes = small;
    } else if (key == "run") {
        config.run = small;
    } else if (key == "theta") {
        config.theta = small;
    } else if (key == "hot_share") {
        config.hot_share = small;
    } else if (key == "hot_space") {
        config.hot_space = small;
    } else if (key == "meta") {
        config.meta = small;
    } else {
        throw nb::value_error(("no figure '" + key + "'").c_str());
    }
}

// Requests written down one after the other, as the struct has them.
class Requests : public Source {
public:
    explicit Requests(const nb::bytes &packed) : ios_(packed.size() / sizeof(nw_io))
    {
        if (packed.size() % sizeof(nw_io) != 0) {
            throw nb::value_error("requests: not a whole number of records");
        }
        std::memcpy(ios_.data(), packed.data(), packed.size());
        for (const nw_io &io : ios_) {
            if (io.kind > NW_IO_SYNC || (io.bytes == 0) != (io.kind == NW_IO_SYNC)) {
                throw nb::value_error("requests: a kind or a number of bytes that is none");
            }
        }
        source_ = { &ops_, this };
    }

    nw_io_source *get() override { return &source_; }
    [[noreturn]] void fail(int error) const override
    {
        throw std::runtime_error(nw_error_text(error));
    }

private:
    static int fill(nw_io_source *source, nw_io *to, uint32_t room)
    {
        auto *self = static_cast<Requests *>(source->context);
        const size_t count = std::min<size_t>(room, self->ios_.size() - self->at_);

        std::copy_n(self->ios_.begin() + static_cast<ptrdiff_t>(self->at_), count, to);
        self->at_ += count;
        return static_cast<int>(count);
    }

    static int rewind(nw_io_source *source)
    {
        static_cast<Requests *>(source->context)->at_ = 0;
        return NW_OK;
    }

    static constexpr nw_io_source_ops ops_ = { &Requests::fill, &Requests::rewind };
    std::vector<nw_io> ios_;
    size_t at_ = 0;
    nw_io_source source_ = {};
};

class Workload : public Source {
public:
    Workload(const std::string &name, const std::map<std::string, uint64_t> &changes, uint64_t seed)
    {
        const nw_workload_config *found = nw_workload_find(name.c_str());

        if (found == nullptr) {
            throw nb::value_error(("no workload '" + name + "'").c_str());
        }
        nw_workload_config config = *found;

        for (const auto &[key, value] : changes) {
            set_field(config, key, value);
        }
        const char *why = nullptr;
        const int error = nw_workload_open(&workload_, &config, seed, &why);

        if (error < 0) {
            throw nb::value_error(why != nullptr ? why : nw_error_text(error));
        }
    }
    ~Workload() override { nw_workload_close(workload_); }

    nw_io_source *get() override { return nw_workload_source(workload_); }

    [[noreturn]] void fail(int error) const override
    {
        throw std::runtime_error(nw_error_text(error));
    }

private:
    nw_workload *workload_ = nullptr;
};

std::vector<Dict> workloads()
{
    std::vector<Dict> all;

    for (uint32_t i = 0; i < nw_workload_count; i++) {
        const nw_workload_config &config = nw_workloads[i];
        Dict dict;
        dict["name"] = config.name;
        dict["what"] = config.what;
        dict["requests"] = config.requests;
        dict["gap_ns"] = config.gap_ns;
        dict["pause_ns"] = config.pause_ns;
        dict["burst"] = config.burst;
        dict["size"] = config.size;
        dict["align"] = config.align;
        dict["writes"] = config.writes;
        dict["run"] = config.run;
        dict["theta"] = config.theta;
        dict["hot_share"] = config.hot_share;
        dict["hot_space"] = config.hot_space;
        dict["meta"] = config.meta;
        all.push_back(dict);
    }
    return all;
}

} // namespace

void bind_workload(nb::module_ &m)
{
    nb::class_<Source>(m, "Source", "A source of requests.");
    nb::class_<Requests, Source>(m, "Requests", "Requests written down (nandwich-replay/io.h).")
        .def(nb::init<const nb::bytes &>(), nb::arg("packed"),
             "Records of struct format `<QQQQBBH4x`: time in ns, offset, bytes, unit, kind (read, "
             "write, trim, sync from 0), class of content, application.");
    nb::class_<Workload, Source>(m, "Workload", "Requests made up by rule and seed.")
        .def(nb::init<const std::string &, const std::map<std::string, uint64_t> &, uint64_t>(),
             nb::arg("name"), nb::arg("changes"), nb::arg("seed") = 1,
             "A row of workloads() with figures changed; footprint must be given. ValueError.");
    m.def("workloads", &workloads, "The rows known by name, one dict each.");
}
