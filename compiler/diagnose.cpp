// SPDX-License-Identifier: Apache-2.0
#include "diagnose.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

namespace nandwich {

void refuse(const Instruction &At, const Twine &Reason)
{
    const Function &F = *At.getFunction();
    std::string Text = ("in '" + F.getName() + "': " + Reason).str();

    // Debug information may be absent; then the text alone has to do, with the file's name.
    if (!At.getDebugLoc()) {
        Text += " (" + placeOf(At) + ")";
    }
    F.getContext().diagnose(DiagnosticInfoUnsupported(F, Text, At.getDebugLoc()));
}

void refuse(const Module &M, const Twine &Reason)
{
    M.getContext().emitError(M.getSourceFileName() + ": " + Reason);
}

std::string placeOf(const Instruction &At)
{
    const Function &F = *At.getFunction();

    if (const DILocation *Loc = At.getDebugLoc().get()) {
        return (Loc->getFilename() + ":" + Twine(Loc->getLine()) + " in " + F.getName()).str();
    }
    if (const DISubprogram *Sub = F.getSubprogram()) {
        return (Sub->getFilename() + ":" + Twine(Sub->getLine()) + " in " + F.getName()).str();
    }
    return (F.getParent()->getSourceFileName() + " in " + F.getName()).str();
}

} // namespace nandwich
