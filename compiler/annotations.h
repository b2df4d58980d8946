// SPDX-License-Identifier: Apache-2.0
// NW_RAM and NW_PLAIN as clang hands them over: llvm.global.annotations.
#ifndef NANDWICH_COMPILER_ANNOTATIONS_H
#define NANDWICH_COMPILER_ANNOTATIONS_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Module.h"

namespace nandwich {

struct Annotations {
    explicit Annotations(const llvm::Module &M);

    llvm::SmallPtrSet<const llvm::GlobalValue *, 8> Ram;   // objects that stay in RAM
    llvm::SmallPtrSet<const llvm::GlobalValue *, 8> Plain; // functions left alone and trusted
};

} // namespace nandwich

#endif
