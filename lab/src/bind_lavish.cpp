// SPDX-License-Identifier: Apache-2.0
// The lavish layer over an emulated chip, for experiments and benches: sectors are written by the
// list, without payload.
#include "bind_twin.hpp"

#include "bindings.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <ctime>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "nandwich/ftl_lavish.h"
#include "nandwich/random.h"

namespace nb = nanobind;

namespace {

struct PyLavish {
    nw_ftl_lavish lavish;
    std::vector<std::max_align_t> ram;
    size_t ram_bytes;
};

std::unique_ptr<PyLavish> open_lavish(PyNand &nand, uint32_t sectors, uint8_t degree, uint8_t maps,
                                      uint16_t lavish_blocks, uint16_t spare_blocks,
                                      bool erase_late)
{
    auto self = std::make_unique<PyLavish>();
    nw_ftl_lavish_config config = {};

    if ((nand.geometry().flags & NW_CHIP_NO_PAYLOAD) == 0) {
        throw nb::value_error("needs a metadata-only chip");
    }
    config.sectors = sectors;
    config.degree = degree;
    config.maps = maps;
    config.lavish_blocks = lavish_blocks;
    config.spare_blocks = spare_blocks;
    config.erase_late = erase_late ? 1 : 0;
    self->ram_bytes = nw_ftl_lavish_ram_bytes(&config, nand.chip());
    self->ram.resize(self->ram_bytes / sizeof(std::max_align_t) + 1);
    int error = nw_ftl_lavish_open(&self->lavish, nand.chip(), &config, self->ram.data(),
                                   self->ram_bytes);

    if (error < 0) {
        throw nb::value_error(
            ("cannot open: " + std::string(nw_error_text(error)) + "; needs at least " +
             std::to_string(nw_ftl_lavish_blocks_needed(&config, nand.chip())) + " blocks, has " +
             std::to_string(nand.geometry().blocks))
                .c_str());
    }
    return self;
}

void ask(PyLavish &self, uint32_t sector, int (*verb)(nw_block_req *))
{
    nw_block_req req = {};

    req.block = &self.lavish.block;
    req.sector = sector;
    req.count = 1;
    int error = verb(&req);

    if (error < 0) {
        throw std::runtime_error("sector " + std::to_string(sector) + ": " + nw_error_text(error));
    }
}

void ask_all(PyLavish &self, const std::vector<uint32_t> &sectors, int (*verb)(nw_block_req *))
{
    for (uint32_t sector : sectors) {
        ask(self, sector, verb);
    }
}

double processor_seconds()
{
    timespec now;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        throw std::runtime_error("no processor clock");
    }
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double time_writes(PyLavish &self, uint64_t count, uint32_t seed)
{
    nw_random random;

    nw_random_seed(&random, seed);
    double start = processor_seconds();
    for (uint64_t i = 0; i < count; i++) {
        ask(self, nw_random_next(&random) % self.lavish.block.sectors, nw_block_write);
    }
    return processor_seconds() - start;
}

std::map<std::string, uint64_t> stats_of(const PyLavish &self)
{
    const nw_stats &stats = self.lavish.stats;
    std::map<std::string, uint64_t> all;

#define STAT(name) all[#name] = stats.name
    STAT(host_reads);
    STAT(host_writes);
    STAT(host_trims);
    STAT(reads);
    STAT(programs);
    STAT(erases);
    STAT(bytes_read);
    STAT(bytes_programmed);
    STAT(copies);
    STAT(map_reads);
    STAT(map_programs);
    STAT(merges_switch);
    STAT(merges_partial);
    STAT(merges_full);
    STAT(retired);
    STAT(lost);
#undef STAT
    all["merges_1"] = self.lavish.merges_1;
    return all;
}

/* Pages that can be programmed before the next erase: of blocks that are erased and not entered,
 * and behind what each logical block has written. On a chip without bad blocks. */
uint64_t free_pages(const PyLavish &self)
{
    const nw_ftl_lavish &lavish = self.lavish;
    uint32_t blocks = static_cast<uint32_t>(lavish.lavish_count) * lavish.degree;
    uint64_t pages = 0;

    for (uint32_t i = 0; i < blocks; i++) {
        pages += (lavish.bits[i / 8] >> i % 8 & 1) != 0 ? lavish.block_pages : 0;
    }
    for (uint16_t i = 0; i < lavish.logical_count; i++) {
        uint32_t begun = lavish.logical[i].next % lavish.block_pages;

        pages += begun != 0 ? lavish.block_pages - begun : 0;
    }
    return pages;
}

} // namespace

void bind_lavish(nb::module_ &m)
{
    nb::class_<PyLavish>(m, "Lavish", "A lavish device on an emulated chip without payload.")
        .def_static("open", &open_lavish, nb::arg("chip"), nb::kw_only(), nb::arg("sectors"),
                    nb::arg("degree") = 0, nb::arg("maps") = 0, nb::arg("lavish_blocks") = 0,
                    nb::arg("spare_blocks") = 0, nb::arg("erase_late") = false,
                    nb::keep_alive<0, 1>(),
                    "A new device; zeros are the layer's defaults. ValueError tells how many "
                    "blocks it needs.")
        .def("write", [](PyLavish &self, const std::vector<uint32_t> &sectors) {
            ask_all(self, sectors, nw_block_write);
        }, nb::arg("sectors"), "Writes one sector after the other.")
        .def("read", [](PyLavish &self, const std::vector<uint32_t> &sectors) {
            ask_all(self, sectors, nw_block_read);
        }, nb::arg("sectors"))
        .def("trim", [](PyLavish &self, const std::vector<uint32_t> &sectors) {
            ask_all(self, sectors, nw_block_trim);
        }, nb::arg("sectors"))
        .def("time_writes", &time_writes, nb::arg("count"), nb::arg("seed") = 1,
             "Processor seconds that so many writes of random sectors take.")
        .def_prop_ro("stats", &stats_of, "What was asked and done, counted.")
        .def_prop_ro("free_pages", &free_pages, "Programs there is room for before an erase.")
        .def_prop_ro("ram_bytes", [](const PyLavish &self) { return self.ram_bytes; })
        .def_prop_ro("lavish_blocks", [](const PyLavish &self) { return self.lavish.good; });
}
