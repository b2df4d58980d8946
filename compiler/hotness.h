// SPDX-License-Identifier: Apache-2.0
// What a profile says of code: where a guard in place pays, and how long loops are. Without one, or
// for a function that it does not know, the static frequency within a function.
#ifndef NANDWICH_COMPILER_HOTNESS_H
#define NANDWICH_COMPILER_HOTNESS_H

#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

#include <optional>

namespace nandwich {

class Hotness {
public:
    // Counts what runs, once for a module: the blocks that together make all but one in 200 of its
    // loads and stores are hot.
    Hotness(llvm::Module &M, llvm::FunctionAnalysisManager &FAM);

    // Guards in this block are out of line.
    bool isCold(const llvm::BasicBlock &Block, llvm::BlockFrequencyInfo &Frequency) const;

private:
    std::optional<uint64_t> Least; // runs of the least hot block; nothing: no profile
};

// Times the loop ran for an entry, on average; nothing where no profile tells.
std::optional<double> countedTurns(const llvm::Loop &L, llvm::BlockFrequencyInfo &Frequency);

// Refuses a profile that knows no function of the program: it is of another one.
void checkProfile(llvm::Module &M);

} // namespace nandwich

#endif
