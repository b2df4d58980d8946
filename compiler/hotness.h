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

// How often a block ran in the profile; nothing where none tells. LLVM's passes leave weights of
// branches that no longer fit together, and in nests of loops that adds up to many times the
// truth: no block ran more often than its accesses did before those passes (RunsPass).
std::optional<uint64_t> countOf(const llvm::BasicBlock &Block,
                                const llvm::BlockFrequencyInfo &Frequency);

// Functions have the entries again that the profile counted, before placement and windows ask, but
// no more than the calls that are left account for. Where a call is inlined LLVM takes the call's
// count from the function's, and a count too high leaves nothing for its other calls.
void restoreEntries(llvm::Module &M, llvm::FunctionAnalysisManager &FAM);

// Times the loop ran for an entry, on average; nothing where no profile tells.
std::optional<double> countedTurns(const llvm::Loop &L, llvm::BlockFrequencyInfo &Frequency);

// Refuses a profile that knows no function of the program: it is of another one.
void checkProfile(llvm::Module &M);

} // namespace nandwich

#endif
