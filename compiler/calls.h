// SPDX-License-Identifier: Apache-2.0
// Everything that touches memory without being a load or a store: block operations, arguments
// passed in memory, variable arguments, setjmp, inline assembly, and calls to functions we cannot
// see into.
#ifndef NANDWICH_COMPILER_CALLS_H
#define NANDWICH_COMPILER_CALLS_H

#include "annotations.h"
#include "markers.h"
#include "plain.h"
#include "runtime.h"

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"

namespace nandwich {

class CallLowering {
public:
    CallLowering(llvm::Module &In, const Annotations &Given, const PlainMemory &Known,
                 const Runtime &Library, Markers &Checks)
        : M(In), Notes(Given), Plain(Known), Guest(Library), Marks(Checks)
    {
    }

    void lower(llvm::Function &F);
    // Functions whose address is stored in tables are called from anywhere.
    void checkTakenAddresses();

private:
    void lowerCall(llvm::CallBase &Call);
    void lowerIntrinsic(llvm::IntrinsicInst &Call);
    void lowerBlockOperation(llvm::MemIntrinsic &Call);
    bool expandCopy(llvm::MemTransferInst &Call);
    void lowerVaStart(llvm::IntrinsicInst &Call);
    void lowerVaCopy(llvm::IntrinsicInst &Call);
    void lowerByval(llvm::CallBase &Call);
    void lowerSetjmp(llvm::CallBase &Call);
    void checkAsm(const llvm::CallBase &Call);
    void checkCallee(const llvm::CallBase &Call);
    bool handsOutPointer(const llvm::CallBase &Call) const;
    llvm::AllocaInst *temporary(llvm::Function &F, llvm::Type *Ty, uint64_t Alignment) const;

    llvm::Module &M;
    const Annotations &Notes;
    const PlainMemory &Plain;
    const Runtime &Guest;
    Markers &Marks;
};

} // namespace nandwich

#endif
