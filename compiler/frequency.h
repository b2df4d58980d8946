// SPDX-License-Identifier: Apache-2.0
// How often blocks run in one run of the program: as a profile counted them, else estimated from
// loops, branches and callers. Only good to compare blocks with each other.
#ifndef NANDWICH_COMPILER_FREQUENCY_H
#define NANDWICH_COMPILER_FREQUENCY_H

#include "slots.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

#include <vector>

namespace nandwich {

class Frequency {
public:
    // Cost: block frequencies of every function, and a few walks over all calls.
    Frequency(llvm::Module &In, llvm::FunctionAnalysisManager &Manager);

    double runs(const llvm::BasicBlock &Block) const;

private:
    using Component = std::vector<llvm::Function *>; // they call each other

    void order();
    void goRound();
    void enter(const Component &Members);
    void passOn(llvm::Function &Caller, const Component &Members);
    void passOnCall(const llvm::CallBase &Call, double Times, const Component &Members);

    llvm::Module &M;
    llvm::FunctionAnalysisManager &FAM;
    std::vector<Component> CallersFirst;
    TargetsByType Targets;
    llvm::DenseMap<const llvm::Function *, double> Calls;
    llvm::DenseMap<const llvm::Function *, double> Direct;  // of this round, by callers so far
    llvm::DenseMap<const llvm::Function *, double> Pointed; // of the round before, by pointers
    llvm::DenseMap<const llvm::Function *, double> PointedNext;
};

} // namespace nandwich

#endif
