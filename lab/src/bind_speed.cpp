// SPDX-License-Identifier: Apache-2.0
// Loops for the benches of the twin: how many operations a second the model does.
#include "bind_twin.hpp"

#include "bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include "nandwich-models/models.h"
#include "nandwich/random.h"

namespace nb = nanobind;

namespace {

void must(int result, const char *what)
{
    if (result < 0) {
        throw std::runtime_error(std::string(what) + ": " + nw_error_text(result));
    }
}

// Of this thread alone: others may use the machine at the same time.
double processor_seconds()
{
    timespec now;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        throw std::runtime_error("no processor clock");
    }
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Programs page after page, erasing each block first, and for each reads one of those written so
// far at random, all by spare and no payload. Answers operations and processor seconds.
std::tuple<uint64_t, double> time_chip(PyNand &nand, uint64_t rounds, uint32_t seed)
{
    const nw_geometry &geometry = nand.geometry();
    uint32_t pages = geometry.blocks * geometry.block_pages;
    uint8_t spare[16] = { 0 };
    nw_chip_req req = {};
    nw_random random;
    uint32_t at = 0;
    uint32_t written = 0;

    if ((geometry.flags & NW_CHIP_NO_PAYLOAD) == 0 || geometry.spare_bytes < 14) {
        throw nb::value_error("needs a metadata-only chip with spare bytes");
    }
    nw_random_seed(&random, seed);
    req.chip = nand.chip();
    req.length = geometry.page_bytes;
    req.spare = spare;
    req.spare_length = 14;
    uint64_t before = nw_nand_operations(nand.get());
    double start = processor_seconds();
    for (uint64_t i = 0; i < rounds; i++) {
        if (at % geometry.block_pages == 0) {
            req.block = at / geometry.block_pages;
            must(nw_chip_erase(&req), "erase");
        }
        req.page = at;
        must(nw_chip_program(&req), "program");
        written = at < written ? written : at + 1U;
        req.page = nw_random_next(&random) % written;
        if (req.page / geometry.block_pages == at / geometry.block_pages) {
            req.page = at; // the rest of this block is erased
        }
        must(nw_chip_read(&req), "read");
        at = at + 1U < pages ? at + 1U : 0;
    }
    double took = processor_seconds() - start;

    return { nw_nand_operations(nand.get()) - before, took };
}

// Opens a page model on the chip, writes every sector once, then `writes` sectors at random: only
// these are timed. Answers all chip operations of that part, and processor seconds.
std::tuple<uint64_t, double> time_page_ftl(PyNand &nand, uint64_t writes, uint32_t seed)
{
    nw_model_config config = {};
    config.kind = NW_MODEL_PAGE;
    size_t bytes = nw_model_ram_bytes(&config, &nand.geometry());
    auto ram = std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1U);
    nw_model ftl;
    nw_block_req req = {};
    nw_random random;

    if (bytes == 0 || (nand.geometry().flags & NW_CHIP_NO_PAYLOAD) == 0) {
        throw nb::value_error("needs a metadata-only chip that the page model works on");
    }
    must(nw_model_open(&ftl, nand.chip(), &config, ram.get(), bytes), "format");
    req.block = &ftl.block;
    req.count = 1;
    for (req.sector = 0; req.sector < ftl.block.sectors; req.sector++) {
        must(nw_block_write(&req), "fill");
    }
    nw_random_seed(&random, seed);
    uint64_t before = nw_nand_operations(nand.get());
    double start = processor_seconds();
    for (uint64_t i = 0; i < writes; i++) {
        req.sector = nw_random_next(&random) % ftl.block.sectors;
        must(nw_block_write(&req), "write");
    }
    double took = processor_seconds() - start;

    return { nw_nand_operations(nand.get()) - before, took };
}

} // namespace

void bind_speed(nb::module_ &m)
{
    m.def("time_chip", &time_chip, nb::arg("nand"), nb::arg("rounds"), nb::arg("seed") = 1,
          "(operations, processor seconds) of programs, random reads and erases on a bare chip.");
    m.def("time_page_ftl", &time_page_ftl, nb::arg("nand"), nb::arg("writes"), nb::arg("seed") = 1,
          "(chip operations, processor seconds) of random writes to a full page FTL.");
}
