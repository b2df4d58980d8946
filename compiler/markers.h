// SPDX-License-Identifier: Apache-2.0
// Across files the compiler cannot see whether a function that is given a possibly virtual pointer
// is instrumented. Every instrumented definition therefore defines the absolute symbol
// "nw_instrumented.NAME", and every file that hands out such a pointer refers to it from a section
// named ".nw_from.FILE:LINE in FUNCTION". A missing marker is an undefined symbol at link, and the
// linker's message contains the place; `nandwich cc` puts it into words.
#ifndef NANDWICH_COMPILER_MARKERS_H
#define NANDWICH_COMPILER_MARKERS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

#include <string>

namespace nandwich {

class Markers {
public:
    explicit Markers(llvm::Module &In) : M(In) {}

    // F must turn out to be instrumented; Place is where it is used.
    void require(const llvm::Function &F, const std::string &Place);
    // Says that F, defined here, is instrumented.
    void define(const llvm::Function &F);

private:
    llvm::Module &M;
    llvm::StringMap<bool> Required; // one reference a function and file
};

} // namespace nandwich

#endif
