// SPDX-License-Identifier: Apache-2.0
#ifndef NANDWICH_COMPILER_ATTRIBUTES_H
#define NANDWICH_COMPILER_ATTRIBUTES_H

#include "llvm/IR/Module.h"

namespace nandwich {

// Takes back what the optimiser found out about functions before their accesses became guards.
void stripAttributes(llvm::Module &M);

} // namespace nandwich

#endif
