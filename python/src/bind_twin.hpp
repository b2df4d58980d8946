// SPDX-License-Identifier: Apache-2.0
// The emulated parts as Python objects, for bindings of layers that stand on them.
#pragma once

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich-twin/platform.h"

#include <cstdint>
#include <string>

// A part's description: from the table, changed or made up field by field.
struct PyPart {
    nw_part part;
};

// An emulated chip; owns it.
class PyNand {
public:
    explicit PyNand(nw_nand *nand) : nand_(nand) {}
    ~PyNand() { nw_nand_close(nand_); }
    PyNand(const PyNand &) = delete;
    PyNand &operator=(const PyNand &) = delete;

    nw_nand *get() const { return nand_; }
    nw_chip *chip() const { return nw_nand_chip(nand_); }
    const nw_geometry &geometry() const { return nw_nand_chip(nand_)->geometry; }

private:
    nw_nand *nand_;
};
