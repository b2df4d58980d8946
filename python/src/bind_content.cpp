// SPDX-License-Identifier: Apache-2.0
// The recogniser: what a block of a disk is.
#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

extern "C" {
#include "nandwich/content.h"
}

namespace nb = nanobind;

namespace {

class Content {
public:
    Content(uint64_t bytes, uint16_t volumes, uint16_t images, uint32_t groups, uint32_t extents,
            uint32_t clusters, uint32_t l1)
    {
        const nw_content_config config = { bytes, volumes, images, groups, extents, clusters, l1 };
        const size_t needed = nw_content_ram_bytes(&config);

        ram_.resize(needed / sizeof(uint64_t) + 1U);
        if (nw_content_open(&content_, &config, ram_.data(), needed) != NW_OK) {
            throw std::invalid_argument("content: a number is out of range");
        }
        ram_bytes_ = needed;
    }

    void see(uint64_t at, const nb::bytes &data)
    {
        nw_content_see(&content_, at, static_cast<const uint8_t *>(data.data()),
                       static_cast<uint32_t>(data.size()));
    }

    void lose(uint64_t at, uint32_t bytes) { nw_content_see(&content_, at, nullptr, bytes); }

    std::tuple<std::string, bool, uint32_t> classify(uint64_t at,
                                                     const std::optional<nb::bytes> &data)
    {
        const uint8_t *start = data ? static_cast<const uint8_t *>(data->data()) : nullptr;
        const uint32_t bytes = data ? static_cast<uint32_t>(data->size()) : 0U;
        uint32_t run = 0;
        const uint8_t found = nw_content_class(&content_, at, start, bytes, &run);

        return { nw_content_name(found), (found & NW_CONTENT_GUEST) != 0, run };
    }

    // By sector, from the start: what it holds, as requests carry it, and how many hold several
    // classes. Such a one is what the first of them is that is metadata, else journal, else data.
    std::tuple<nb::bytes, uint32_t> map(uint32_t sector_bytes, uint32_t sectors)
    {
        std::vector<bool> mixed(sectors);
        std::string all(sectors, static_cast<char>(NW_CONTENT_UNKNOWN));
        const uint64_t end = static_cast<uint64_t>(sector_bytes) * sectors;
        uint64_t at = 0;

        while (at < end) {
            uint32_t run = 0;
            const uint8_t found = nw_content_class(&content_, at, nullptr, 0, &run);
            const uint64_t last = (std::min(end, at + run) - 1U) / sector_bytes;

            for (uint64_t sector = at / sector_bytes; sector <= last; sector++) {
                auto &known = reinterpret_cast<uint8_t &>(all[sector]);
                const bool begins = sector * sector_bytes >= at;

                mixed[sector] = mixed[sector] || (!begins && known != found);
                if (begins || weight(known) < weight(found)) {
                    known = found;
                }
            }
            at += run;
        }
        return { nb::bytes(all.data(), all.size()),
                 static_cast<uint32_t>(std::count(mixed.begin(), mixed.end(), true)) };
    }

    std::optional<std::tuple<uint64_t, uint32_t>> want()
    {
        uint64_t at = 0;
        uint32_t bytes = 0;

        if (nw_content_want(&content_, &at, &bytes) == 0) {
            return std::nullopt;
        }
        return std::tuple(at, bytes);
    }

    std::optional<std::tuple<uint64_t, uint32_t>> again()
    {
        uint64_t at = 0;
        uint32_t bytes = 0;

        if (nw_content_again(&content_, &at, &bytes) == 0) {
            return std::nullopt;
        }
        return std::tuple(at, bytes);
    }

    size_t ram_bytes() const { return ram_bytes_; }
    uint32_t refused() const { return content_.refused; }

    std::vector<std::string> unknown() const
    {
        std::vector<std::string> met;

        for (unsigned i = 0; i < NW_CONTENT_UNKNOWNS; i++) {
            if (((content_.unknown >> i) & 1U) != 0) {
                met.emplace_back(nw_content_unknown_name(static_cast<nw_content_unknown>(i)));
            }
        }
        return met;
    }

private:
    // Of several classes in a sector the one with the most goes for it.
    static int weight(uint8_t found)
    {
        const nw_block_hint hint = nw_content_hint(found);

        return hint == NW_HINT_METADATA ? NW_HINT_JOURNAL + 1 : hint;
    }

    std::vector<uint64_t> ram_;
    size_t ram_bytes_ = 0;
    nw_content content_ = {};
};

std::vector<std::string> content_names()
{
    std::vector<std::string> all;

    for (uint8_t found = 0; found < NW_CONTENT_CLASSES; found++) {
        all.emplace_back(nw_content_name(found));
    }
    return all;
}

}  // namespace

void bind_content(nb::module_ &m)
{
    using namespace nb::literals;

    m.def("content_names", &content_names, "A word for each class.");
    nb::class_<Content>(m, "Content", "Tells what a block of a disk is (nandwich/content.h).")
        .def(nb::init<uint64_t, uint16_t, uint16_t, uint32_t, uint32_t, uint32_t, uint32_t>(),
             "bytes"_a, nb::kw_only(), "volumes"_a = 8, "images"_a = 4, "groups"_a = 1024,
             "extents"_a = 1024, "clusters"_a = 65536, "l1"_a = 4096)
        .def("see", &Content::see, "at"_a, "data"_a, "These bytes were written or read there.")
        .def("lose", &Content::lose, "at"_a, "bytes"_a, "What was wanted cannot be read.")
        .def("classify", &Content::classify, "at"_a, "data"_a = nb::none(),
             "Class, whether it is a guest's, and for how many bytes.")
        .def("map", &Content::map, "sector_bytes"_a, "sectors"_a,
             "What each sector from the start on holds, a byte each: index of `content_names`, "
             "with 16 for a guest's; and how many hold blocks of several classes.")
        .def("want", &Content::want, "What is worth reading: place and bytes.")
        .def("again", &Content::again, "What may have another class than before: place and bytes.")
        .def_prop_ro("ram_bytes", &Content::ram_bytes)
        .def_prop_ro("refused", &Content::refused)
        .def_prop_ro("unknown", &Content::unknown,
                     "What was met and is not known: it counts as data.");
}
