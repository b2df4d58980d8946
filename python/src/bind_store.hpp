// SPDX-License-Identifier: Apache-2.0
// The object store over an emulated chip, shared by the bindings that use it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bind_twin.hpp"

// C has struct and function names apart (struct nw_store_stats, nw_store_stats()); C++ wonders.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "nandwich/ecc.h"
#include "nandwich/slice.h"
#include "nandwich/store.h"
#include "nandwich/store_check.h"
#include "nandwich-seal/seal_sodium.h"
#pragma GCC diagnostic pop

// Raises nandwich._native.StoreError(error, text) when `result` is an error; else gives it back.
inline int store_checked(int result)
{
    if (result < 0) {
        const nanobind::object type =
            nanobind::module_::import_("nandwich._native").attr("StoreError");

        PyErr_SetObject(type.ptr(), nanobind::make_tuple(result, nw_error_text(result)).ptr());
        throw nanobind::python_error();
    }
    return result;
}

// A store in memory of its own; the chip is kept alive by its Python owner.
class PyStore {
public:
    // `blocks`: on so many, from `first_block` on; 0: on all of the chip. `key`: of a sealed store,
    // NW_SEAL_KEY_BYTES; else nullptr.
    PyStore(PyNand &nand, const nw_store_config &config, uint32_t first_block = 0,
            uint32_t blocks = 0, bool ecc = false, const uint8_t *key = nullptr);
    ~PyStore();
    PyStore(const PyStore &) = delete; // chip_ may point into it
    PyStore &operator=(const PyStore &) = delete;

    void format();
    void mount();
    void mount_read_only();

    // The mounted store; ValueError when there is none.
    nw_store *get() const
    {
        if (store_ == nullptr) {
            throw nanobind::value_error("not mounted");
        }
        return store_;
    }
    PyNand &nand() const { return nand_; }
    const nw_store_config &config() const { return config_; }
    size_t ram_bytes() const { return ram_bytes_; }
    // Room for the longest element.
    std::vector<uint8_t> &scratch() { return scratch_; }

private:
    void start(int result);

    PyNand &nand_;
    nw_store_config config_;
    struct nw_slice slice_ = {};
    struct nw_ecc ecc_ = {};
    std::vector<uint8_t> ecc_ram_;
    std::unique_ptr<nw_seal_sodium> seal_;
    struct nw_chip *chip_; // the emulated one, slice_ of it, or ecc_ over either
    size_t ram_bytes_ = 0;
    std::vector<std::max_align_t> ram_;
    std::vector<uint8_t> scratch_;
    nw_store *store_ = nullptr;
};
