// SPDX-License-Identifier: Apache-2.0
// How many accesses go to each global in virtual memory, estimated over one run of the program.
#ifndef NANDWICH_COMPILER_TRAFFIC_H
#define NANDWICH_COMPILER_TRAFFIC_H

#include "frequency.h"
#include "plain.h"

#include "llvm/ADT/DenseMap.h"

namespace nandwich {

class Traffic {
public:
    // Run after the globals have been placed. Cost: a walk over the module.
    Traffic(llvm::Module &M, const PlainMemory &Known, const Frequency &Times);

    // Those that provably go there; where an address may be one of several, each has its share.
    double to(const llvm::GlobalVariable &Global) const { return Hits.lookup(&Global); }
    // To all that may be virtual, the heap too.
    double all() const { return All; }

private:
    void visit(llvm::Instruction &I);
    void give(const llvm::Value *Pointer, double Accesses);
    void handToCallers(const llvm::Argument &Given);

    const PlainMemory &Plain;
    const Frequency &Often;
    llvm::DenseMap<const llvm::GlobalVariable *, double> Hits;
    llvm::DenseMap<const llvm::Argument *, double> Through; // until the callers get their shares
    double All = 0;
};

} // namespace nandwich

#endif
