// SPDX-License-Identifier: Apache-2.0
// Layouts of variables from recorded accesses, and what they cost on a small node.
#include "bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind_vmtrace.hpp"

#include <new>
#include <string>
#include <tuple>
#include <vector>

extern "C" {
#include "nandwich-vmtrace/layout.h"
#include "nandwich/error.h"
}

namespace nb = nanobind;

namespace {

using Pages = std::vector<uint32_t>;
using Object = std::tuple<uint64_t, uint32_t, uint32_t, std::string>;
using Dict = nb::typed<nb::dict, nb::str, uint64_t>;

int checked(int result)
{
    if (result == NW_ERR_RAM) {
        throw std::bad_alloc();
    }
    if (result < 0) {
        nb::gil_scoped_acquire held;
        throw nb::value_error(nw_error_text(result));
    }
    return result;
}

Dict as_dict(const nw_node_result &result)
{
    Dict dict;

    dict["accesses"] = result.accesses;
    dict["faults"] = result.faults;
    dict["buffer_reads"] = result.buffer_reads;
    dict["to_buffer"] = result.to_buffer;
    dict["flash_writes"] = result.flash_writes;
    return dict;
}

// Elements of objects (address, bytes, element bytes, name), the access graph over them, and
// layouts made of it. A layout is the page of each element.
class Layouter {
public:
    Layouter(const std::vector<Object> &objects, uint32_t whole_bytes, uint32_t list_bytes)
    {
        for (const auto &[address, bytes, element, name] : objects) {
            nw_access_object object = { address, bytes, element, {} };

            (void)name;
            if (bytes == 0 || element == 0 || bytes % element != 0 ||
                address > UINT64_MAX - bytes ||
                (!objects_.empty() &&
                 address < objects_.back().address + objects_.back().bytes)) {
                throw nb::value_error("objects out of order, or no number of elements");
            }
            objects_.push_back(object);
        }
        checked(nw_elements_open(&elements_, objects_.data(),
                                 static_cast<uint32_t>(objects_.size()), whole_bytes));
        const int error =
            nw_graph_open(&graph_, elements_.bytes, elements_.count, list_bytes);
        if (error < 0) {
            nw_elements_close(&elements_);
            checked(error);
        }
    }
    Layouter(const Layouter &) = delete;
    Layouter &operator=(const Layouter &) = delete;
    ~Layouter()
    {
        nw_graph_close(&graph_);
        nw_elements_close(&elements_);
    }

    void begin() { nw_graph_begin(&graph_); }
    void access(uint32_t element, bool write)
    {
        if (element >= graph_.count) {
            throw nb::index_error("no such element");
        }
        nw_graph_access(&graph_, element, write);
    }
    void refer(uint32_t element, bool write, uint32_t weight)
    {
        if (element >= graph_.count) {
            throw nb::index_error("no such element");
        }
        referred_ += weight;
        if (referred_ > UINT32_MAX) {
            throw nb::value_error("weights add up to more than 2^32");
        }
        nw_graph_refer(&graph_, element, write, weight);
    }
    // The next accesses of a trace; whether there are more.
    bool load(AccessTrace &trace, uint64_t most)
    {
        nb::gil_scoped_release released;

        for (uint64_t done = 0; done < most;) {
            nw_access batch[256];
            const int count = trace.read(batch, 256);

            if (count == 0) {
                return false;
            }
            for (int i = 0; i < count; i++) {
                uint64_t at = batch[i].address;
                const uint64_t end = at + batch[i].bytes;
                uint32_t element = nw_elements_next(&elements_, &at, end);

                outside_ += element == NW_NO_ELEMENT;
                for (; element != NW_NO_ELEMENT;
                     element = nw_elements_next(&elements_, &at, end)) {
                    nw_graph_access(&graph_, element, batch[i].write);
                }
            }
            done += static_cast<uint64_t>(count);
        }
        return true;
    }

    Pages first_fit(uint32_t page_bytes) const
    {
        Pages page(graph_.count);

        checked(nw_layout_first_fit(&graph_, page_bytes, page.data()));
        return page;
    }
    Pages published(uint32_t page_bytes, uint32_t group_bytes, uint32_t share_permille,
                    uint64_t write_threshold, bool freeze) const
    {
        const nw_layout_config config = { page_bytes, group_bytes, share_permille,
                                          write_threshold, static_cast<uint8_t>(freeze) };
        Pages page(graph_.count);
        std::vector<uint32_t> group(graph_.count);
        nb::gil_scoped_release released;

        checked(nw_layout_group(&graph_, &config, group.data()));
        checked(nw_layout_place(&graph_, &config, group.data(), page.data()));
        return page;
    }
    std::vector<uint32_t> groups(uint32_t page_bytes, uint32_t group_bytes,
                                 uint32_t share_permille, bool freeze) const
    {
        const nw_layout_config config = { page_bytes, group_bytes, share_permille, 0,
                                          static_cast<uint8_t>(freeze) };
        std::vector<uint32_t> group(graph_.count);

        checked(nw_layout_group(&graph_, &config, group.data()));
        return group;
    }
    // Ours, from a layout to begin with.
    Pages search(Pages page, uint32_t page_bytes, uint32_t frames, uint64_t work, uint32_t seed,
                 uint32_t fault_cost, uint32_t write_cost) const
    {
        const uint32_t pages = check_pages(page, page_bytes);
        const nw_search search = { page_bytes, frames, fault_cost, write_cost,
                                   graph_.sampled < 100000 ? 2U : 1U, seed, work };
        nb::gil_scoped_release released;

        checked(nw_layout_search(&search, graph_.sample, graph_.sampled, graph_.bytes,
                                 graph_.count, page.data(), pages));
        checked(nw_layout_number(graph_.accesses, graph_.count, page.data(), pages));
        return page;
    }

    // What the sample costs on the node.
    Dict play(const Pages &page, uint32_t frames) const
    {
        const uint32_t pages = check_pages(page, UINT32_MAX);
        nw_node_result result = {};

        checked(nw_node_run(graph_.sample, graph_.sampled, 1, page.data(), pages, frames,
                            &result));
        return as_dict(result);
    }

    std::vector<uint64_t> accesses() const
    {
        return { graph_.accesses, graph_.accesses + graph_.count };
    }
    std::vector<uint64_t> writes() const
    {
        return { graph_.writes, graph_.writes + graph_.count };
    }
    Pages bytes() const { return { graph_.bytes, graph_.bytes + graph_.count }; }
    uint64_t sampled() const { return graph_.sampled; }
    uint64_t outside() const { return outside_; }
    uint32_t near(uint32_t a, uint32_t b) const
    {
        if (a >= graph_.count || b >= graph_.count) {
            throw nb::index_error("no such element");
        }
        return graph_.near[size_t{ a } * graph_.count + b] +
               (a == b ? 0 : graph_.near[size_t{ b } * graph_.count + a]);
    }

private:
    // How many pages; all elements must fit them.
    uint32_t check_pages(const Pages &page, uint32_t page_bytes) const
    {
        if (page.size() != graph_.count) {
            throw nb::value_error("a page for each element is wanted");
        }
        std::vector<uint64_t> used(graph_.count);
        uint32_t pages = 0;

        for (uint32_t i = 0; i < graph_.count; i++) {
            if (page[i] >= graph_.count) {
                throw nb::value_error("more pages than elements");
            }
            used[page[i]] += graph_.bytes[i];
            if (used[page[i]] > page_bytes) {
                throw nb::value_error("a page holds more than its bytes");
            }
            pages = page[i] >= pages ? page[i] + 1 : pages;
        }
        return pages;
    }

    std::vector<nw_access_object> objects_;
    nw_elements elements_ = {};
    nw_graph graph_ = {};
    uint64_t outside_ = 0;
    uint64_t referred_ = 0; // weights of all references
};

// How many pages; every access is to one of them.
uint32_t check_run(const std::vector<uint32_t> &accesses, const Pages &page)
{
    uint32_t pages = 0;

    for (uint32_t one : page) {
        if (one >= page.size()) {
            throw nb::value_error("more pages than elements");
        }
        pages = one >= pages ? one + 1 : pages;
    }
    for (uint32_t access : accesses) {
        if (access >> 1 >= page.size()) {
            throw nb::value_error("an access to no element");
        }
    }
    return pages;
}

// What accesses (element << 1 | write) cost on the node.
Dict node_run(const std::vector<uint32_t> &accesses, uint32_t repeat, const Pages &page,
              uint32_t frames)
{
    const uint32_t pages = check_run(accesses, page);
    nw_node_result result = {};

    checked(nw_node_run(accesses.data(), accesses.size(), repeat, page.data(), pages, frames,
                        &result));
    return as_dict(result);
}

// The page of each flash write of that run, in their order.
Pages node_writes(const std::vector<uint32_t> &accesses, uint32_t repeat, const Pages &page,
                  uint32_t frames)
{
    const uint32_t pages = check_run(accesses, page);
    nw_node_result result = {};
    Pages written;

    for (int turn = 0; turn < 2; turn++) {
        written.resize(result.flash_writes);
        checked(nw_node_writes(accesses.data(), accesses.size(), repeat, page.data(), pages,
                               frames, written.data(), written.size(), &result));
    }
    return written;
}

} // namespace

void bind_layout(nb::module_ &m)
{
    nb::class_<Layouter>(m, "Layouter", "Elements, their access graph, and layouts made of it.")
        .def(nb::init<const std::vector<Object> &, uint32_t, uint32_t>(), nb::arg("objects"),
             nb::arg("whole_bytes"), nb::arg("list_bytes"))
        .def("begin", &Layouter::begin, "Another node's accesses, or another function's.")
        .def("access", &Layouter::access, nb::arg("element"), nb::arg("write"))
        .def("refer", &Layouter::refer, nb::arg("element"), nb::arg("write"), nb::arg("weight"),
             "A reference in a source: as so many accesses, of which none is played.")
        .def("load", &Layouter::load, nb::arg("trace"), nb::arg("most"),
             "So many more accesses of a trace; whether there are more.")
        .def("first_fit", &Layouter::first_fit, nb::arg("page_bytes"))
        .def("groups", &Layouter::groups, nb::arg("page_bytes"), nb::arg("group_bytes"),
             nb::arg("share_permille") = 1000, nb::arg("freeze") = false)
        .def("published", &Layouter::published, nb::arg("page_bytes"), nb::arg("group_bytes"),
             nb::arg("share_permille"), nb::arg("write_threshold"), nb::arg("freeze") = false)
        .def("search", &Layouter::search, nb::arg("page"), nb::arg("page_bytes"),
             nb::arg("frames"), nb::arg("work"), nb::arg("seed") = 1, nb::arg("fault_cost") = 4,
             nb::arg("write_cost") = 4)
        .def("play", &Layouter::play, nb::arg("page"), nb::arg("frames"),
             "What the sample of the accesses costs on a small node.")
        .def("near", &Layouter::near, nb::arg("a"), nb::arg("b"))
        .def_prop_ro("bytes", &Layouter::bytes)
        .def_prop_ro("accesses", &Layouter::accesses)
        .def_prop_ro("writes", &Layouter::writes)
        .def_prop_ro("sampled", &Layouter::sampled)
        .def_prop_ro("outside", &Layouter::outside, "Accesses to no object.");
    m.def("node_run", &node_run, nb::arg("accesses"), nb::arg("repeat"), nb::arg("page"),
          nb::arg("frames"), "What accesses (element << 1 | write) cost on a small node.");
    m.def("node_writes", &node_writes, nb::arg("accesses"), nb::arg("repeat"), nb::arg("page"),
          nb::arg("frames"), "The page of each flash write of such a run, in their order.");
}
