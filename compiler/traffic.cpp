// SPDX-License-Identifier: Apache-2.0
// Callees come first: what goes through an argument is then known when the callers are looked at,
// and goes on to what each of them passes. Where functions call each other in a ring, what comes
// too late belongs to nobody.
#include "traffic.h"

#include "access.h"
#include "slots.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>

using namespace llvm;

namespace nandwich {

Traffic::Traffic(Module &M, const PlainMemory &Known, const Frequency &Times)
    : Plain(Known), Often(Times)
{
    for (Function *F : calleesFirst(M)) {
        for (Instruction &I : instructions(*F)) {
            visit(I);
        }
        for (const Argument &Given : F->args()) {
            handToCallers(Given);
        }
    }
}

// A block operation pays for its call and for each page, not for each word.
static double wordsOf(const MemIntrinsic &Call)
{
    constexpr uint64_t Most = 16, Unknown = 4;
    const auto *Length = dyn_cast<ConstantInt>(Call.getLength());

    return double(Length == nullptr ? Unknown : std::min(Most, Length->getLimitedValue() / 4));
}

void Traffic::visit(Instruction &I)
{
    Shape S;

    if (shapeOf(I, S)) {
        give(I.getOperand(S.PointerOperand), Often.runs(*I.getParent()));
    } else if (auto *Block = dyn_cast<MemIntrinsic>(&I)) {
        double Accesses = Often.runs(*I.getParent()) * wordsOf(*Block);

        give(Block->getRawDest(), Accesses);
        if (auto *Transfer = dyn_cast<MemTransferInst>(Block)) {
            give(Transfer->getRawSource(), Accesses);
        }
    }
}

void Traffic::give(const Value *Pointer, double Accesses)
{
    SmallVector<const Value *, 8> Roots;

    if (Pointer->getType()->getPointerAddressSpace() != 0 || Plain.isPlain(Pointer)) {
        return;
    }
    if (!rootsOf(Pointer, Roots)) {
        All += Accesses;
        return;
    }
    double Share = Accesses / double(Roots.size());
    for (const Value *Root : Roots) {
        const auto *Global = dyn_cast<GlobalVariable>(Root);
        const auto *Given = dyn_cast<Argument>(Root);

        if (Given != nullptr && callersAreKnown(*Given->getParent())) {
            Through[Given] += Share;
            continue;
        }
        All += Plain.isPlain(Root) ? 0 : Share;
        if (Global != nullptr && isVirtualGlobal(*Global)) {
            Hits[Global] += Share;
        }
    }
}

void Traffic::handToCallers(const Argument &Given)
{
    double Accesses = Through.lookup(&Given), Sum = 0;
    SmallVector<std::pair<const Value *, double>, 8> Passed;

    if (Accesses == 0) {
        return;
    }
    for (const User *U : Given.getParent()->users()) {
        const auto *Call = cast<CallBase>(U);
        // A function that passes its own argument on to itself adds nothing new.
        if (Call->getFunction() != Given.getParent()) {
            double Times = Often.runs(*Call->getParent());
            Passed.push_back({Call->getArgOperand(Given.getArgNo()), Times});
            Sum += Times;
        }
    }
    for (auto [Pointer, Times] : Passed) {
        give(Pointer, Sum > 0 ? Accesses * Times / Sum : 0);
    }
}

} // namespace nandwich
