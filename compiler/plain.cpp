// SPDX-License-Identifier: Apache-2.0
#include "plain.h"

#include "libc.h"
#include "names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace nandwich {

bool isVirtualGlobal(const GlobalVariable &Global)
{
    return Global.getSection() == DataSection || Global.getSection() == BssSection;
}

static bool isPlainGlobal(const GlobalVariable &Global)
{
    // The run time's own objects: page windows read the slots.
    if (Global.isThreadLocal() || Global.getName().starts_with("nw_guest_")) {
        return true;
    }
    // Another file may define it, or define it otherwise: in virtual memory.
    if (!Global.hasInitializer() || Global.isInterposable()) {
        return false;
    }
    return !isVirtualGlobal(Global);
}

static bool callReturnsPlain(const CallBase &Call)
{
    const auto *Callee = dyn_cast<Function>(Call.getCalledOperand()->stripPointerCasts());

    if (Callee == nullptr) {
        return false;
    }
    switch (Callee->getIntrinsicID()) {
    case Intrinsic::threadlocal_address:
    case Intrinsic::stacksave:
    case Intrinsic::frameaddress:
        return true;
    case Intrinsic::not_intrinsic:
        return Callee->isDeclaration() && libcReturnsPlain(Callee->getName());
    default:
        return false;
    }
}

bool PlainMemory::isPlainRoot(const Value *Root) const
{
    if (isa<AllocaInst>(Root) || isa<ConstantPointerNull>(Root) || isa<UndefValue>(Root) ||
        isa<Function>(Root) || isa<BlockAddress>(Root)) {
        return true;
    }
    if (const auto *Global = dyn_cast<GlobalVariable>(Root)) {
        return isPlainGlobal(*Global);
    }
    if (const auto *Argument = dyn_cast<llvm::Argument>(Root)) {
        return Argument->hasByValAttr() || Arguments.contains(Argument);
    }
    if (const auto *Call = dyn_cast<CallBase>(Root)) {
        return callReturnsPlain(*Call);
    }
    return false;
}

bool rootsOf(const Value *Pointer, SmallVectorImpl<const Value *> &Roots)
{
    constexpr unsigned Limit = 64; // values looked at
    SmallPtrSet<const Value *, 16> Seen;
    SmallVector<const Value *, 16> Work{Pointer};

    while (!Work.empty()) {
        const Value *V = Work.pop_back_val();

        if (!Seen.insert(V).second) {
            continue;
        }
        if (Seen.size() > Limit) {
            return false;
        }
        if (const auto *Step = dyn_cast<GEPOperator>(V)) {
            // Arithmetic from null makes any address.
            if (isa<ConstantPointerNull>(Step->getPointerOperand())) {
                return false;
            }
            Work.push_back(Step->getPointerOperand());
        } else if (const auto *Phi = dyn_cast<PHINode>(V)) {
            Work.append(Phi->value_op_begin(), Phi->value_op_end());
        } else if (const auto *Select = dyn_cast<SelectInst>(V)) {
            Work.push_back(Select->getTrueValue());
            Work.push_back(Select->getFalseValue());
        } else if (const auto *Freeze = dyn_cast<FreezeInst>(V)) {
            Work.push_back(Freeze->getOperand(0));
        } else {
            Roots.push_back(V);
        }
    }
    return true;
}

bool PlainMemory::isPlain(const Value *Pointer) const
{
    SmallVector<const Value *, 8> Roots;

    return rootsOf(Pointer, Roots) &&
           all_of(Roots, [&](const Value *Root) { return isPlainRoot(Root); });
}

bool callersAreKnown(const Function &F)
{
    if (!F.hasLocalLinkage() || F.isDeclaration()) {
        return false;
    }
    for (const Use &U : F.uses()) {
        const auto *Call = dyn_cast<CallBase>(U.getUser());

        if (Call == nullptr || !Call->isCallee(&U) ||
            Call->getFunctionType() != F.getFunctionType()) {
            return false;
        }
    }
    return true;
}

void PlainMemory::assumeInternalArguments(const Module &M)
{
    for (const Function &F : M) {
        if (callersAreKnown(F)) {
            for (const Argument &A : F.args()) {
                if (A.getType()->isPointerTy()) {
                    Arguments.insert(&A);
                }
            }
        }
    }
}

// Takes away what some call contradicts; true: something went, look again.
bool PlainMemory::dropOneRound()
{
    SmallVector<const Argument *, 16> Gone;

    for (const Argument *A : Arguments) {
        for (const User *U : A->getParent()->users()) {
            if (!isPlain(cast<CallBase>(U)->getArgOperand(A->getArgNo()))) {
                Gone.push_back(A);
                break;
            }
        }
    }
    for (const Argument *A : Gone) {
        Arguments.erase(A);
    }
    return !Gone.empty();
}

PlainMemory::PlainMemory(const Module &M)
{
    // Start by believing all and drop what is contradicted: so recursion keeps its arguments.
    assumeInternalArguments(M);
    while (dropOneRound()) {
    }
}

} // namespace nandwich
