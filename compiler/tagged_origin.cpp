// SPDX-License-Identifier: Apache-2.0
// Which tagged variable an address may belong to, and how far into it: a fixed point over all
// functions of a file. Offsets are told as a remainder, which is enough to see that an access stays
// inside an element; it only ever grows coarser, so the walk ends.
#include "tagged.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

#include <numeric>

using namespace llvm;

namespace nandwich {

bool Origin::operator==(const Origin &Other) const
{
    return Variables == Other.Variables && Modulus == Other.Modulus && Rest == Other.Rest &&
           Plain == Other.Plain;
}

static int64_t remainder(int64_t Value, uint64_t Modulus)
{
    int64_t By = int64_t(Modulus);

    return Modulus == 0 ? Value : ((Value % By) + By) % By;
}

static Origin joined(const Origin &A, const Origin &B)
{
    Origin Both = A;
    uint64_t Apart = uint64_t(A.Rest > B.Rest ? A.Rest - B.Rest : B.Rest - A.Rest);

    for (unsigned Variable : B.Variables) {
        auto *At = lower_bound(Both.Variables, Variable);
        if (At == Both.Variables.end() || *At != Variable) {
            Both.Variables.insert(At, Variable);
        }
    }
    Both.Modulus = std::gcd(std::gcd(A.Modulus, B.Modulus), Apart);
    Both.Rest = remainder(A.Rest, Both.Modulus);
    Both.Plain = A.Plain || B.Plain;
    return Both;
}

bool passesAddress(const CallBase &Call, unsigned Argument)
{
    return !Call.isByValArgument(Argument) &&
           !Call.paramHasAttr(Argument, Attribute::StructRet);
}

const Origin *Origins::of(const Value *V) const
{
    auto At = Known.find(V);

    return At == Known.end() ? nullptr : &At->second;
}

bool Origins::merge(const Value *Into, const Origin &From)
{
    auto [At, New] = Known.try_emplace(Into, From);

    if (New) {
        return true;
    }
    Origin Both = joined(At->second, From);
    if (Both == At->second) {
        return false;
    }
    At->second = Both;
    return true;
}

// Null and undefined values are addresses of nothing.
bool Origins::join(const Value *Into, const Value *From)
{
    if (const Origin *Found = of(From)) {
        return merge(Into, Origin(*Found));
    }
    Origin *Own = Marking && Known.count(Into) != 0 ? &Known[Into] : nullptr;
    if (Own == nullptr || Own->Plain || isa<ConstantPointerNull>(From) || isa<UndefValue>(From)) {
        return false;
    }
    Own->Plain = true;
    return true;
}

bool Origins::joinMoved(Instruction &I)
{
    auto &Gep = cast<GEPOperator>(I);
    const Origin *From = of(Gep.getPointerOperand());
    const DataLayout &DL = M.getDataLayout();
    unsigned Bits = DL.getIndexTypeSizeInBits(I.getType());
    MapVector<Value *, APInt> Steps;
    APInt Fixed(Bits, 0);

    if (From == nullptr) {
        return false;
    }
    Origin Moved = *From;
    if (!I.getType()->isPointerTy() || !Gep.collectOffset(DL, Bits, Steps, Fixed)) {
        Moved.Modulus = 1;
    }
    for (const auto &Step : Steps) {
        Moved.Modulus = std::gcd(Moved.Modulus, Step.second.abs().getZExtValue());
    }
    Moved.Rest = remainder(Moved.Rest + Fixed.getSExtValue(), Moved.Modulus);
    return merge(&I, Moved);
}

bool Origins::visitCall(CallBase &Call)
{
    Function *Callee = Call.getCalledFunction();
    bool Changed = false;

    if (Callee == nullptr || Callee->isDeclaration()) {
        return false;
    }
    for (unsigned I = 0; I < Callee->arg_size() && I < Call.arg_size(); I++) {
        if (passesAddress(Call, I)) {
            Changed |= join(Callee->getArg(I), Call.getArgOperand(I));
        }
    }
    if (!Callee->hasLocalLinkage() || !Call.getType()->isPointerTy()) {
        return Changed;
    }
    for (BasicBlock &Block : *Callee) {
        if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator())) {
            Changed |= join(&Call, Return->getReturnValue());
        }
    }
    return Changed;
}

bool Origins::visit(Instruction &I)
{
    bool Changed = false;

    if (isa<GetElementPtrInst>(I)) {
        return joinMoved(I);
    }
    if (auto *Phi = dyn_cast<PHINode>(&I)) {
        for (Value *From : Phi->incoming_values()) {
            Changed |= join(&I, From);
        }
    } else if (auto *Select = dyn_cast<SelectInst>(&I)) {
        Changed = join(&I, Select->getTrueValue());
        Changed |= join(&I, Select->getFalseValue());
    } else if (isa<FreezeInst>(I)) {
        Changed = join(&I, I.getOperand(0));
    } else if (auto *Call = dyn_cast<CallBase>(&I)) {
        Changed = visitCall(*Call);
    }
    return Changed;
}

// A function that others may call is given their addresses too.
void Origins::markPlain()
{
    Marking = true;
    for (Function &F : M) {
        for (Argument &A : F.args()) {
            auto At = Known.find(&A);
            if (At != Known.end() && (!F.hasLocalLinkage() || F.hasAddressTaken())) {
                At->second.Plain = true;
            }
        }
    }
}

Origins::Origins(Module &In, const std::vector<TaggedVariable> &Tagged) : M(In)
{
    for (unsigned I = 0; I < Tagged.size(); I++) {
        Known[Tagged[I].Global].Variables.push_back(I);
    }
    for (unsigned Phase = 0; Phase < 2; Phase++) {
        for (bool Changed = true; Changed;) {
            Changed = false;
            for (Function &F : M) {
                for (Instruction &I : instructions(F)) {
                    Changed |= visit(I);
                }
            }
        }
        if (Phase == 0) {
            markPlain();
        }
    }
}

} // namespace nandwich
