// SPDX-License-Identifier: Apache-2.0
// Which pointers provably never point into virtual memory: locals, constants, thread-locals, NW_RAM
// objects, and arguments of internal functions that only ever receive such pointers.
#ifndef NANDWICH_COMPILER_PLAIN_H
#define NANDWICH_COMPILER_PLAIN_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

namespace nandwich {

class PlainMemory {
public:
    // Run after the globals have been placed. Cost: a few walks over the module's calls.
    explicit PlainMemory(const llvm::Module &M);

    bool isPlain(const llvm::Value *Pointer) const;

private:
    bool isPlainRoot(const llvm::Value *Root) const;
    void assumeInternalArguments(const llvm::Module &M);
    bool dropOneRound();

    llvm::SmallPtrSet<const llvm::Argument *, 32> Arguments;
};

// What the address is computed from, through arithmetic, phis and selects. False: more values than
// are followed, or arithmetic that makes any address.
bool rootsOf(const llvm::Value *Pointer, llvm::SmallVectorImpl<const llvm::Value *> &Roots);

// Only direct calls reach the function, so its arguments are exactly what those calls pass.
bool callersAreKnown(const llvm::Function &F);

// A global that was moved to virtual memory.
bool isVirtualGlobal(const llvm::GlobalVariable &Global);

} // namespace nandwich

#endif
