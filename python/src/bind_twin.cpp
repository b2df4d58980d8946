// SPDX-License-Identifier: Apache-2.0
// The emulated chip: opened, asked, cut, forked, saved. Single operations are for tests; whatever
// does many of them loops in C.
#include "bind_twin.hpp"

#include "bindings.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "nandwich/identify.h"
#include "paths.hpp"

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace nb = nanobind;

namespace {

void fail(int error, const std::string &what)
{
    if (error == NW_ERR_RAM) {
        throw std::bad_alloc();
    }
    throw nb::value_error((what + ": " + nw_error_text(error)).c_str());
}

std::unique_ptr<PyNand> open_nand(const PyPart &part, uint32_t blocks, uint32_t seed,
                                  const std::vector<std::string> &options, uint16_t early_deaths)
{
    static const std::map<std::string, uint32_t> flags = {
        { "no_payload", NW_NAND_NO_PAYLOAD }, { "wear_out", NW_NAND_WEAR_OUT },
        { "bit_errors", NW_NAND_BIT_ERRORS }, { "read_noise", NW_NAND_READ_NOISE },
        { "unerased", NW_NAND_UNERASED },     { "node_costs", NW_NAND_NODE_COSTS },
        { "factory_bad", NW_NAND_FACTORY_BAD }, { "unstable", NW_NAND_UNSTABLE },
    };
    nw_nand_config config = {};
    nw_nand *nand;

    config.part = &part.part;
    config.blocks = blocks;
    config.seed = seed;
    config.early_deaths = early_deaths;
    for (const std::string &option : options) {
        auto flag = flags.find(option);

        if (flag == flags.end()) {
            throw nb::value_error(("unknown option " + option).c_str());
        }
        config.flags |= flag->second;
    }
    int error = nw_nand_open(&nand, &config);

    if (error < 0) {
        fail(error, "cannot open " + std::string(part.part.name));
    }
    return std::make_unique<PyNand>(nand);
}

using Numbers = nb::typed<nb::dict, nb::str, nb::int_>;

Numbers stats_of(const PyNand &self)
{
    const struct nw_nand_counts *stats = nw_nand_stats(self.get());
    Numbers all;

#define STAT(name) all[#name] = stats->name
    STAT(reads);
    STAT(programs);
    STAT(erases);
    STAT(copies);
    STAT(buffer_loads);
    STAT(buffer_reads);
    STAT(buffer_writes);
    STAT(buffer_programs);
    STAT(buffer_rewrites);
    STAT(bytes_read);
    STAT(bytes_programmed);
    STAT(bits_flipped);
    STAT(bits_corrected);
    STAT(failures);
    STAT(heals);
    STAT(misuses);
    STAT(power_cuts);
#undef STAT
    return all;
}

Numbers geometry_of(const PyNand &self)
{
    const nw_geometry &geometry = self.geometry();
    Numbers all;

#define SHAPE(name) all[#name] = geometry.name
    SHAPE(blocks);
    SHAPE(block_pages);
    SHAPE(page_bytes);
    SHAPE(spare_bytes);
    SHAPE(program_bytes);
    SHAPE(page_programs);
    SHAPE(erased);
    SHAPE(buffers);
    SHAPE(flags);
    SHAPE(endurance);
    SHAPE(read_us);
    SHAPE(program_us);
    SHAPE(erase_us);
#undef SHAPE
    return all;
}

std::optional<std::string> misuse_of(const PyNand &self)
{
    const nw_misuse *misuse = nw_nand_misuse(self.get());
    char text[256];

    if (misuse->error == 0) {
        return std::nullopt;
    }
    (void)nw_misuse_text(misuse, text, sizeof text); // the buffer holds any of them
    return std::string(text);
}

uint8_t torn_of(const std::string &name)
{
    static const std::map<std::string, uint8_t> kinds = {
        { "any", NW_TORN_ANY },   { "old", NW_TORN_OLD },
        { "new", NW_TORN_NEW },   { "half", NW_TORN_HALF },
        { "mostly_old", NW_TORN_MOSTLY_OLD }, { "mostly_new", NW_TORN_MOSTLY_NEW },
        { "random", NW_TORN_RANDOM },
    };
    auto kind = kinds.find(name);

    if (kind == kinds.end()) {
        throw nb::value_error(("unknown outcome " + name).c_str());
    }
    return kind->second;
}

void arm_cut(PyNand &self, uint64_t after, const std::string &phase, const std::string &data,
             const std::string &spare)
{
    static const std::map<std::string, uint8_t> phases = {
        { "before", NW_CUT_BEFORE }, { "inside", NW_CUT_INSIDE }, { "after", NW_CUT_AFTER }
    };
    auto known = phases.find(phase);
    nw_cut order = {};

    if (known == phases.end()) {
        throw nb::value_error(("unknown phase " + phase).c_str());
    }
    order.after = after;
    order.phase = known->second;
    order.data = torn_of(data);
    order.spare = torn_of(spare);
    nw_nand_cut(self.get(), &order);
}

std::unique_ptr<PyNand> fork_nand(const PyNand &self)
{
    nw_nand *nand;
    int error = nw_nand_fork(&nand, self.get());

    if (error < 0) {
        fail(error, "cannot fork");
    }
    return std::make_unique<PyNand>(nand);
}

void save_nand(const PyNand &self, const FilePath &path)
{
    int error = nw_nand_save(self.get(), path.c_str());

    if (error == NW_ERR_IO) {
        throw_text(PyExc_RuntimeError, path.text + ": " + std::strerror(errno));
    }
    if (error < 0) {
        throw_text(PyExc_ValueError, path.text + ": " + nw_error_text(error));
    }
}

std::unique_ptr<PyNand> load_nand(const FilePath &path)
{
    nw_nand *nand;
    nw_image_fault fault;
    int error = nw_nand_load(&nand, path.c_str(), &fault);

    if (error == NW_ERR_RAM) {
        throw std::bad_alloc();
    }
    if (error < 0) {
        std::string where = error == NW_ERR_IO ? "" : ": offset " + std::to_string(fault.offset);

        throw_text(PyExc_ValueError, path.text + where + ": " + fault.text);
    }
    return std::make_unique<PyNand>(nand);
}

using Content = std::tuple<int, nb::bytes, nb::bytes>;

nw_chip_req request(const PyNand &self)
{
    nw_chip_req req = {};

    req.chip = self.chip();
    return req;
}

Content read_page(const PyNand &self, uint32_t page, uint16_t offset, uint16_t length,
                  uint16_t spare_offset, uint16_t spare_length)
{
    std::vector<uint8_t> data(length);
    std::vector<uint8_t> spare(spare_length);
    nw_chip_req req = request(self);

    req.page = page;
    req.offset = offset;
    req.length = length;
    req.spare_offset = spare_offset;
    req.spare_length = spare_length;
    req.data = data.data();
    req.spare = spare.data();
    int result = nw_chip_read(&req);

    return { result, nb::bytes(data.data(), data.size()), nb::bytes(spare.data(), spare.size()) };
}

int program_page(const PyNand &self, uint32_t page, nb::bytes data, nb::bytes spare,
                 uint16_t offset, uint16_t spare_offset)
{
    nw_chip_req req = request(self);
    std::vector<uint8_t> data_copy(data.c_str(), data.c_str() + data.size());
    std::vector<uint8_t> spare_copy(spare.c_str(), spare.c_str() + spare.size());

    if (data.size() > UINT16_MAX || spare.size() > UINT16_MAX) {
        return NW_ERR_RANGE;
    }
    req.page = page;
    req.offset = offset;
    req.length = static_cast<uint16_t>(data.size());
    req.spare_offset = spare_offset;
    req.spare_length = static_cast<uint16_t>(spare.size());
    req.data = data_copy.data();
    req.spare = spare_copy.data();
    return nw_chip_program(&req);
}

int on_block(const PyNand &self, uint32_t block, int (*verb)(nw_chip_req *))
{
    nw_chip_req req = request(self);

    req.block = block;
    return verb(&req);
}

template <typename Ask>
std::vector<uint32_t> for_all(uint32_t count, Ask ask)
{
    std::vector<uint32_t> all(count);

    for (uint32_t i = 0; i < count; i++) {
        all[i] = ask(i);
    }
    return all;
}

uint32_t checked(const PyNand &self, uint32_t block)
{
    if (block >= self.geometry().blocks) {
        throw nb::index_error("no such block");
    }
    return block;
}

void bind_questions(nb::class_<PyNand> &nand)
{
    nand.def_prop_ro("geometry", &geometry_of, "struct nw_geometry as a dict.")
        .def_prop_ro("stats", &stats_of, "What the chip was asked and did, counted.")
        .def_prop_ro("time_ns", [](const PyNand &self) {
            return nw_nand_meter(self.get())->time_ns;
        })
        .def_prop_ro("energy_pj", [](const PyNand &self) {
            return nw_nand_meter(self.get())->energy_pj;
        })
        .def_prop_ro("operations", [](const PyNand &self) {
            return nw_nand_operations(self.get());
        })
        .def_prop_ro("misuse", &misuse_of, "The first misuse in words; None if there was none.")
        .def_prop_ro("holds", [](const PyNand &self) {
            nw_identity found = {};

            return nw_identify(nw_nand_chip(self.get()), &found) < 0 ? "unknown"
                                                                     : nw_kind_text(found.kind);
        }, "What nw_identify() finds: blank, unknown, store, tree ...")
        .def_prop_ro("is_off", [](const PyNand &self) {
            return nw_nand_is_off(self.get()) != 0;
        })
        .def_prop_ro("block_erases", [](const PyNand &self) {
            return for_all(self.geometry().blocks,
                           [&](uint32_t i) { return nw_nand_block_erases(self.get(), i); });
        })
        .def_prop_ro("page_programs", [](const PyNand &self) {
            return for_all(self.geometry().blocks * self.geometry().block_pages,
                           [&](uint32_t i) { return nw_nand_page_programs(self.get(), i); });
        }, "Programs since the erase, page by page.")
        .def_prop_ro("bad_blocks", [](const PyNand &self) {
            std::vector<uint32_t> bad;

            for (uint32_t i = 0; i < self.geometry().blocks; i++) {
                if (nw_nand_block_bad(self.get(), i) != 0) {
                    bad.push_back(i);
                }
            }
            return bad;
        });
}

} // namespace

void bind_twin(nb::module_ &m)
{
    nb::class_<PyNand> nand(m, "Nand", "An emulated flash chip.");

    bind_questions(nand);
    nand.def_static("open", &open_nand, nb::arg("part"), nb::kw_only(), nb::arg("blocks") = 0,
                    nb::arg("seed") = 0, nb::arg("options") = std::vector<std::string>(),
                    nb::arg("early_deaths") = 0,
                    "A new chip. Options: no_payload, wear_out, bit_errors, read_noise, unerased, "
                    "node_costs, factory_bad.")
        .def_static("load", &load_nand, nb::arg("path"),
                    "A saved chip; ValueError tells the offset.")
        .def("save", &save_nand, nb::arg("path"))
        .def("fork", &fork_nand, "A second chip with the same state.")
        .def("cut", &arm_cut, nb::arg("after"), nb::arg("phase"), nb::arg("data") = "any",
             nb::arg("spare") = "any",
             "Arms a power cut before, inside or after the operation that comes `after` others.")
        .def("power_up", [](PyNand &self) { nw_nand_power_up(self.get()); })
        .def("forgive", [](PyNand &self) { nw_nand_forgive(self.get()); })
        .def("doom", [](PyNand &self, uint32_t block, bool in_program) {
            nw_nand_doom(self.get(), checked(self, block), in_program ? 1 : 0);
        }, nb::arg("block"), nb::arg("in_program"))
        .def("set_erases", [](PyNand &self, uint32_t block, uint32_t erases) {
            nw_nand_set_erases(self.get(), checked(self, block), erases);
        }, nb::arg("block"), nb::arg("erases"))
        .def("flip", [](PyNand &self, uint32_t page, uint32_t bit) {
            const nw_geometry &shape = self.geometry();

            (void)checked(self, page / shape.block_pages);
            if (bit >= 8U * (static_cast<uint32_t>(shape.page_bytes) + shape.spare_bytes)) {
                throw nb::index_error("no such bit");
            }
            nw_nand_flip(self.get(), page, bit);
        }, nb::arg("page"), nb::arg("bit"), "Flips a stored bit for good.")
        .def("read", &read_page, nb::arg("page"), nb::arg("offset") = 0, nb::arg("length") = 0,
             nb::arg("spare_offset") = 0, nb::arg("spare_length") = 0,
             "(result, data, spare) of one read.")
        .def("program", &program_page, nb::arg("page"), nb::arg("data") = nb::bytes("", 0),
             nb::arg("spare") = nb::bytes("", 0), nb::arg("offset") = 0,
             nb::arg("spare_offset") = 0)
        .def("erase", [](PyNand &self, uint32_t block) {
            return on_block(self, block, nw_chip_erase);
        }, nb::arg("block"))
        .def("is_bad", [](PyNand &self, uint32_t block) {
            return on_block(self, block, nw_chip_is_bad);
        }, nb::arg("block"))
        .def("mark_bad", [](PyNand &self, uint32_t block) {
            return on_block(self, block, nw_chip_mark_bad);
        }, nb::arg("block"));
    m.def("error_text", [](int error) { return std::string(nw_error_text(error)); },
          nb::arg("error"), "A phrase for an error number of the core.");
}
