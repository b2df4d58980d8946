// SPDX-License-Identifier: Apache-2.0
#include "markers.h"

#include "names.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nandwich {

void Markers::require(const Function &F, const std::string &Place)
{
    if (!Required.try_emplace(F.getName(), true).second) {
        return;
    }
    auto *Byte = Type::getInt8Ty(M.getContext());
    auto *Marker =
        cast<Constant>(M.getOrInsertGlobal((Twine(MarkerPrefix) + F.getName()).str(), Byte));
    auto *Reference = new GlobalVariable(M, Marker->getType(), true, GlobalValue::PrivateLinkage,
                                         Marker, "nw_from");

    // The assembler takes a quoted name; quotes and backslashes in file names would end it.
    std::string Section = MarkerSection + Place;
    for (char &C : Section) {
        C = C == '"' || C == '\\' ? '_' : C;
    }
    Reference->setSection(Section);
    appendToUsed(M, {Reference});
}

// Weak, since an inline function is defined in many files.
void Markers::define(const Function &F)
{
    std::string Name = (Twine(MarkerPrefix) + F.getName()).str();

    M.appendModuleInlineAsm(".weak \"" + Name + "\"\n.set \"" + Name + "\", 0\n");
}

} // namespace nandwich
