// SPDX-License-Identifier: Apache-2.0
// Which pointers provably never point into virtual memory: locals, constants, thread-locals, NW_RAM
// objects, and arguments of internal functions that only ever receive such pointers.
#ifndef NANDWICH_COMPILER_PLAIN_H
#define NANDWICH_COMPILER_PLAIN_H

#include "llvm/ADT/SmallPtrSet.h"
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

// A global that was moved to virtual memory.
bool isVirtualGlobal(const llvm::GlobalVariable &Global);

} // namespace nandwich

#endif
