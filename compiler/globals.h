// SPDX-License-Identifier: Apache-2.0
#ifndef NANDWICH_COMPILER_GLOBALS_H
#define NANDWICH_COMPILER_GLOBALS_H

#include "annotations.h"

#include "llvm/IR/Module.h"

namespace nandwich {

// Moves every mutable global and static into the sections the linker places at virtual addresses.
void placeGlobals(llvm::Module &M, const Annotations &Notes);

// Records what the object was built for and, for a recording, what lies at virtual addresses.
void noteGlobals(llvm::Module &M);

} // namespace nandwich

#endif
