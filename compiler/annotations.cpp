// SPDX-License-Identifier: Apache-2.0
#include "annotations.h"

#include "names.h"
#include "options.h"

#include "llvm/IR/Constants.h"

using namespace llvm;

namespace nandwich {

static StringRef textOf(const Value *Pointer)
{
    const auto *Global = dyn_cast<GlobalVariable>(Pointer->stripPointerCasts());

    if (Global == nullptr || !Global->hasInitializer()) {
        return "";
    }
    const auto *Text = dyn_cast<ConstantDataArray>(Global->getInitializer());
    return Text != nullptr && Text->isCString() ? Text->getAsCString() : "";
}

Annotations::Annotations(const Module &M)
{
    for (const std::string &Name : plainFunctionOptions()) {
        if (const Function *F = M.getFunction(Name)) {
            Plain.insert(F);
        }
    }
    const GlobalVariable *List = M.getGlobalVariable("llvm.global.annotations");
    if (List == nullptr || !List->hasInitializer()) {
        return;
    }
    const auto *Entries = dyn_cast<ConstantArray>(List->getInitializer());
    if (Entries == nullptr) {
        return;
    }
    for (const Use &U : Entries->operands()) {
        const auto *Entry = cast<ConstantStruct>(U.get());
        const auto *Subject = dyn_cast<GlobalValue>(Entry->getOperand(0)->stripPointerCasts());
        StringRef Text = textOf(Entry->getOperand(1));

        if (Subject != nullptr && Text == RamAnnotation) {
            Ram.insert(Subject);
        } else if (Subject != nullptr && Text == PlainAnnotation) {
            Plain.insert(Subject);
        }
    }
}

} // namespace nandwich
