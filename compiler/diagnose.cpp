// SPDX-License-Identifier: Apache-2.0
#include "diagnose.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace nandwich {

constexpr const char LinkedModule[] = "ld-temp.o"; // lld's name of the program

// A file's name as its reader can use it. clang keeps the front part a name shares with the folder
// it was called in apart from the name; without it the name would be cut off at the front.
static std::string nameOf(const DIFile *File, const DISubprogram *Sub)
{
    const DICompileUnit *Unit = Sub != nullptr ? Sub->getUnit() : nullptr;
    SmallString<256> Name(File->getFilename());

    if (!sys::path::is_absolute(Name) && Unit != nullptr &&
        File->getDirectory() != Unit->getDirectory()) {
        Name = File->getDirectory();
        sys::path::append(Name, File->getFilename());
    }
    return std::string(Name);
}

void refuse(const Instruction &At, const Twine &Reason)
{
    const Function &F = *At.getFunction();
    std::string Text = ("in '" + F.getName() + "': " + Reason).str();
    const DILocation *Loc = At.getDebugLoc().get();

    // The linker does not know the source; clang prints its line.
    if (Loc != nullptr && F.getParent()->getModuleIdentifier() == LinkedModule) {
        F.getContext().emitError(nameOf(Loc->getFile(), F.getSubprogram()) + ":" +
                                 Twine(Loc->getLine()) + ": " + Text);
        return;
    }
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

void warn(const Module &M, const Twine &Reason)
{
    M.getContext().diagnose(
        DiagnosticInfoInlineAsm(M.getSourceFileName() + ": " + Reason, DS_Warning));
}

void refuse(const GlobalVariable &At, const Twine &Reason)
{
    SmallVector<DIGlobalVariableExpression *, 1> Told;

    At.getDebugInfo(Told);
    if (Told.empty()) {
        refuse(*At.getParent(), Reason);
        return;
    }
    const DIGlobalVariable *Variable = Told[0]->getVariable();
    At.getContext().emitError(Variable->getFilename() + ":" + Twine(Variable->getLine()) + ": " +
                              Reason);
}

std::string placeOf(const Instruction &At)
{
    const Function &F = *At.getFunction();
    const DISubprogram *Sub = F.getSubprogram();

    if (const DILocation *Loc = At.getDebugLoc().get()) {
        return (nameOf(Loc->getFile(), Sub) + ":" + Twine(Loc->getLine()) + " in " + F.getName())
            .str();
    }
    if (Sub != nullptr) {
        return (nameOf(Sub->getFile(), Sub) + ":" + Twine(Sub->getLine()) + " in " + F.getName())
            .str();
    }
    return (F.getParent()->getSourceFileName() + " in " + F.getName()).str();
}

} // namespace nandwich
