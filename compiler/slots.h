// SPDX-License-Identifier: Apache-2.0
// Which slot serves which address: dealt so that what is used together does not share one.
#ifndef NANDWICH_COMPILER_SLOTS_H
#define NANDWICH_COMPILER_SLOTS_H

#include "access.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

#include <vector>

namespace nandwich {

// Functions whose address is taken: what a call through a pointer may reach.
using TargetsByType =
    llvm::DenseMap<const llvm::FunctionType *, std::vector<const llvm::Function *>>;
TargetsByType findTargets(const llvm::Module &M);

// One for a module; functions are dealt callees first.
class SlotDealer {
public:
    explicit SlotDealer(const llvm::Module &M);

    // Gives every access that has one its slot. The accesses carry key and offset. Callers
    // see the heat of the last time this was called for F.
    void deal(llvm::Function &F, llvm::BlockFrequencyInfo &Frequency,
              std::vector<Access> &Accesses);

private:
    // Expected uses of each slot by one call of a function, its callees included.
    using Heat = std::vector<double>;

    Heat calleesOf(llvm::Function &F, llvm::BlockFrequencyInfo &Frequency) const;
    const Heat *heatOf(const llvm::CallBase &Call) const;

    llvm::DenseMap<const llvm::Function *, Heat> HeatByFunction;
    TargetsByType Targets;
    Heat Everywhere; // sum over all functions so far: keeps callees of one caller apart
    unsigned Next = 0;
};

// How often a block runs for one call of its function.
double timesRun(const llvm::BasicBlock &Block, llvm::BlockFrequencyInfo &Frequency);

// The functions of a module, callees before callers where there is an order.
std::vector<llvm::Function *> calleesFirst(llvm::Module &M);

} // namespace nandwich

#endif
