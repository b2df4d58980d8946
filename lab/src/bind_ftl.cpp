// SPDX-License-Identifier: Apache-2.0
// The page-mapped layer over an emulated chip. Calls answer the layer's number, so that a test sees
// errors as they are; random_writes loops in C.
#include "bind_twin.hpp"

#include "bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "nandwich/ftl_page.h"
#include "nandwich/random.h"

namespace nb = nanobind;

namespace {

using Numbers = nb::typed<nb::dict, nb::str, nb::int_>;

class PyPageFtl {
public:
    PyPageFtl(PyNand &nand, uint16_t spare_blocks)
        : nand_(nand), config_{}, ftl_{}
    {
        config_.spare_blocks = spare_blocks;
        ram_bytes_ = nw_ftl_page_ram_bytes(&config_, &nand.geometry());
        if (ram_bytes_ == 0) {
            throw nb::value_error("the page layer cannot work on this chip with so many spares");
        }
        ram_.resize(ram_bytes_ / sizeof(std::max_align_t) + 1);
    }

    int start(bool format)
    {
        std::fill(ram_.begin(), ram_.end(), std::max_align_t{});
        is_open_ = false;
        int result = format ? nw_ftl_page_format(&ftl_, nand_.chip(), &config_, ram_.data(),
                                                 ram_bytes_)
                            : nw_ftl_page_mount(&ftl_, nand_.chip(), &config_, ram_.data(),
                                                ram_bytes_);
        is_open_ = result == NW_OK;
        return result;
    }

    nw_block_req request(uint32_t sector, uint32_t count)
    {
        nw_block_req req = {};

        if (!is_open_) {
            throw nb::value_error("not mounted");
        }
        req.block = &ftl_.block;
        req.sector = sector;
        req.count = count;
        return req;
    }

    bool keeps_payload() const { return (nand_.geometry().flags & NW_CHIP_NO_PAYLOAD) == 0; }
    uint32_t sectors() const { return nw_ftl_page_sectors(&config_, &nand_.geometry()); }
    uint32_t sector_bytes() const { return nand_.geometry().page_bytes; }
    size_t ram_bytes() const { return ram_bytes_; }
    const nw_stats &stats() const { return ftl_.stats; }

private:
    PyNand &nand_;
    nw_ftl_page_config config_;
    nw_ftl_page ftl_;
    std::vector<std::max_align_t> ram_;
    size_t ram_bytes_;
    bool is_open_ = false;
};

std::tuple<int, uint32_t, nb::bytes> read_sectors(PyPageFtl &self, uint32_t sector, uint32_t count)
{
    nw_block_req req = self.request(sector, count);
    bool fits = sector < self.sectors() && count <= self.sectors() - sector;
    std::vector<uint8_t> data(fits ? static_cast<size_t>(count) * self.sector_bytes() : 1);

    req.data = self.keeps_payload() ? data.data() : nullptr;
    int result = nw_block_read(&req);
    size_t got = static_cast<size_t>(req.done) * (self.keeps_payload() ? self.sector_bytes() : 0U);
    return { result, req.done, nb::bytes(data.data(), got) };
}

std::tuple<int, uint32_t> write_sectors(PyPageFtl &self, uint32_t sector, nb::bytes data)
{
    size_t count = data.size() / self.sector_bytes();
    nw_block_req req = self.request(sector, static_cast<uint32_t>(count));
    std::vector<uint8_t> copy(data.c_str(), data.c_str() + data.size());

    if (count * self.sector_bytes() != data.size()) {
        throw nb::value_error("not a whole number of sectors");
    }
    req.data = self.keeps_payload() ? copy.data() : nullptr;
    int result = nw_block_write(&req);
    return { result, req.done };
}

int ask(PyPageFtl &self, uint32_t sector, uint32_t count, int (*verb)(nw_block_req *))
{
    nw_block_req req = self.request(sector, count);

    return verb(&req);
}

// Writes that many sectors of a metadata-only device, drawn evenly; answers the first error.
int random_writes(PyPageFtl &self, uint64_t writes, uint32_t seed)
{
    nw_block_req req = self.request(0, 1);
    nw_random random;

    nw_random_seed(&random, seed);
    for (uint64_t i = 0; i < writes; i++) {
        req.sector = static_cast<uint32_t>(
            (static_cast<uint64_t>(nw_random_next(&random)) * self.sectors()) >> 32);
        int result = nw_block_write(&req);
        if (result < 0) {
            return result;
        }
    }
    return NW_OK;
}

Numbers stats_of(const PyPageFtl &self)
{
    const nw_stats &stats = self.stats();
    Numbers all;

#define STAT(name) all[#name] = stats.name
    STAT(host_reads);
    STAT(host_writes);
    STAT(host_trims);
    STAT(syncs);
    STAT(reads);
    STAT(programs);
    STAT(erases);
    STAT(bytes_read);
    STAT(bytes_programmed);
    STAT(copies);
    STAT(map_reads);
    STAT(map_programs);
    STAT(corrected);
    STAT(retired);
    STAT(scrubbed);
    STAT(lost);
#undef STAT
    return all;
}

} // namespace

void bind_ftl(nb::module_ &m)
{
    nb::class_<PyPageFtl>(m, "PageFtl", "The page-mapped translation layer on an emulated chip.")
        .def(nb::init<PyNand &, uint16_t>(), nb::keep_alive<1, 2>(), nb::arg("nand"),
             nb::kw_only(), nb::arg("spare_blocks") = 0)
        .def("format", [](PyPageFtl &self) { return self.start(true); })
        .def("mount", [](PyPageFtl &self) { return self.start(false); }, "With RAM wiped.")
        .def("read", &read_sectors, nb::arg("sector"), nb::arg("count") = 1,
             "(result, sectors done, data).")
        .def("write", &write_sectors, nb::arg("sector"), nb::arg("data"),
             "(result, sectors done); on a metadata-only chip the data only says how many.")
        .def("random_writes", &random_writes, nb::arg("writes"), nb::arg("seed"))
        .def("trim", [](PyPageFtl &self, uint32_t sector, uint32_t count) {
            return ask(self, sector, count, nw_block_trim);
        }, nb::arg("sector"), nb::arg("count") = 1)
        .def("sync", [](PyPageFtl &self) { return ask(self, 0, 1, nw_block_sync); })
        .def("idle", [](PyPageFtl &self, uint32_t budget_us) {
            nw_block_req req = self.request(0, 1);
            req.budget_us = budget_us;
            return nw_block_idle(&req);
        }, nb::arg("budget_us"))
        .def_prop_ro("sectors", &PyPageFtl::sectors)
        .def_prop_ro("sector_bytes", &PyPageFtl::sector_bytes)
        .def_prop_ro("ram_bytes", &PyPageFtl::ram_bytes)
        .def_prop_ro("stats", &stats_of, "struct nw_stats as a dict, since format or mount.");
}
