// SPDX-License-Identifier: Apache-2.0
// What cannot be virtualised is refused at build time with place and reason.
#ifndef NANDWICH_COMPILER_DIAGNOSE_H
#define NANDWICH_COMPILER_DIAGNOSE_H

#include "llvm/ADT/Twine.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"

#include <string>

namespace nandwich {

// An error at an instruction's place; clang prints it as any other error, with the source line.
void refuse(const llvm::Instruction &At, const llvm::Twine &Reason);

// An error without a place in the source: names the module's file.
void refuse(const llvm::Module &M, const llvm::Twine &Reason);

// The same as a warning.
void warn(const llvm::Module &M, const llvm::Twine &Reason);

// An error at a variable's declaration, as near as the debug information tells.
void refuse(const llvm::GlobalVariable &At, const llvm::Twine &Reason);

// "file:line in function", as near as the debug information tells.
std::string placeOf(const llvm::Instruction &At);

} // namespace nandwich

#endif
