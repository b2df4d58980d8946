// SPDX-License-Identifier: Apache-2.0
#include "resident.h"

#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace nandwich {

Type *ResidentSlots::typeOf(SlotField Field) const
{
    return Field == Base ? PointerType::getUnqual(F.getContext()) : Guest.word();
}

Value *ResidentSlots::load(IRBuilder<> &B, Value *Slot, SlotField Field) const
{
    uint64_t Offset = Field * (Guest.word()->getIntegerBitWidth() / 8);

    return B.CreateLoad(typeOf(Field),
                        B.CreatePtrAdd(Slot, ConstantInt::get(Guest.word(), Offset)));
}

void ResidentSlots::noteLoop(Loop *L)
{
    if (L != nullptr) {
        Entrances.try_emplace(L, L->getLoopPreheader()->getTerminator());
    }
}

ResidentSlots::Home &ResidentSlots::homeOf(Loop *L, unsigned Slot)
{
    auto [At, New] = Homes.try_emplace({L, Slot}, Home());

    if (New) {
        IRBuilder<> AtEntry(&F.getEntryBlock(), F.getEntryBlock().begin());
        IRBuilder<> AtLoop(Entrances[L]);

        for (SlotField Field : {ReadTag, WriteTag, Base}) {
            AllocaInst *Variable = AtEntry.CreateAlloca(typeOf(Field));

            At->second[Field] = Variable;
            Allocas.push_back(Variable);
            AtLoop.CreateStore(load(AtLoop, Guest.slot(Slot), Field), Variable);
        }
    }
    return At->second;
}

Value *ResidentSlots::field(IRBuilder<> &B, Loop *L, unsigned Slot, Value *Pointer,
                            SlotField Field)
{
    if (L == nullptr) {
        return load(B, Pointer, Field);
    }
    return B.CreateLoad(typeOf(Field), homeOf(L, Slot)[Field]);
}

void ResidentSlots::reload(IRBuilder<> &B, Loop *L, unsigned Slot)
{
    if (L != nullptr) {
        for (SlotField Field : {ReadTag, WriteTag, Base}) {
            B.CreateStore(load(B, Guest.slot(Slot), Field), homeOf(L, Slot)[Field]);
        }
    }
}

void ResidentSlots::promote()
{
    if (!Allocas.empty()) {
        DominatorTree DT(F);

        PromoteMemToReg(Allocas, DT);
    }
}

} // namespace nandwich
