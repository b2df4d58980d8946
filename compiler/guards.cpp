// SPDX-License-Identifier: Apache-2.0
// The guard: o = address - tag; o <= frame - n ? access base + o : slow path. Since the bound is
// frame - n for any alignment, what the IR says of alignment is never trusted; the slow path does
// accesses that straddle two pages. A slot holds its page pinned, so nothing else can invalidate
// it.
#include "guards.h"

#include "diagnose.h"
#include "options.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace nandwich {

// What the runtime's miss functions take at once; wider accesses go through a copy.
constexpr uint64_t MissLimit = 16;

GuardEmitter::GuardEmitter(Function &Code, const Runtime &Library, AccessList &Accesses)
    : F(Code), Guest(Library), List(Accesses), Resident(Code, Library),
      GroupPointers(Accesses.Groups.size(), nullptr)
{
}

MDNode *GuardEmitter::mostlyHit() const
{
    return MDBuilder(F.getContext()).createBranchWeights(2000, 1);
}

Value *GuardEmitter::addressOf(IRBuilder<> &B, const Access &A) const
{
    return B.CreatePtrToInt(A.pointer(), Guest.word());
}

bool GuardEmitter::outlines(const Access &A) const
{
    if (A.Kind == AccessKind::Modify || A.Bytes > MissLimit) {
        return false;
    }
    if (options().Mode == GuardMode::Outline || A.Cold) {
        return true;
    }
    return (options().Mode == GuardMode::Hybrid || F.hasOptSize()) && !A.InLoop;
}

Value *GuardEmitter::slotOf(IRBuilder<> &B, const Access &A, Value *Address) const
{
    return A.Aside ? Guest.lookasideEntry(B, Address) : Guest.slot(A.Slot);
}

// What the functions that check themselves are given: they find a look-aside entry.
Value *GuardEmitter::slotForCall(const Access &A) const
{
    return A.Aside ? Guest.noSlot() : Guest.slot(A.Slot);
}

// What a miss is given. With thunks the code around a guard keeps its registers, and would have to
// keep the entry in one: there they find it again.
Value *GuardEmitter::slotForMiss(const Access &A, const Check &C) const
{
    return Guest.sparesRegisters() ? slotForCall(A) : C.Slot;
}

GuardEmitter::Check GuardEmitter::check(IRBuilder<> &B, const Access &A, Value *Address,
                                        uint64_t Bytes, bool Write)
{
    uint64_t Frame = options().FrameBytes;
    Value *Slot = slotOf(B, A, Address);
    Value *Tag = Resident.field(B, A.Resident, A.Slot, Slot, Write ? WriteTag : ReadTag);
    Value *Offset = B.CreateSub(Address, Tag);
    Value *Base = Resident.field(B, A.Resident, A.Slot, Slot, SlotField::Base);
    Value *Hit = B.getFalse();

    if (Bytes <= Frame) {
        Hit = B.CreateICmpULE(Offset, ConstantInt::get(Guest.word(), Frame - Bytes));
    }
    return {Hit, B.CreatePtrAdd(Base, Offset), Slot};
}

// These speak of the virtual address, not of the frame it lies in at the moment.
static void dropAddressFacts(Instruction &I)
{
    for (unsigned Kind : {LLVMContext::MD_invariant_load, LLVMContext::MD_invariant_group,
                          LLVMContext::MD_dereferenceable,
                          LLVMContext::MD_dereferenceable_or_null}) {
        I.setMetadata(Kind, nullptr);
    }
}

// The access by the runtime, in the cold block. Loaded gets a load's result. A member of a group
// that was not checked alone has no look-aside entry yet: the run time finds it.
void GuardEmitter::slowAccess(IRBuilder<> &B, Access &A, const Check &C, Value *Address,
                              Value *&Loaded)
{
    bool Unchecked = C.Slot == nullptr && A.Aside;
    Value *Slot = C.Slot == nullptr ? slotForCall(A) : slotForMiss(A, C);
    bool Wide = A.Bytes > MissLimit;
    AllocaInst *Home = nullptr;

    if (Wide) {
        IRBuilder<> AtEntry(&F.getEntryBlock(), F.getEntryBlock().begin());

        Home = AtEntry.CreateAlloca(A.Ty);
    }
    if (A.Kind == AccessKind::Store) {
        Value *V = cast<StoreInst>(A.I)->getValueOperand();

        if (Wide) {
            B.CreateStore(V, Home);
            Guest.copy(B, A.pointer(), Home, B.getInt64(A.Bytes));
        } else {
            Guest.store(B, Slot, Address, V, Unchecked);
        }
    } else {
        auto *Copy = cast<LoadInst>(A.I->clone());

        if (Wide) {
            Guest.copy(B, Home, A.pointer(), B.getInt64(A.Bytes));
            Copy->setOperand(0, Home);
            Copy->setAlignment(Home->getAlign());
        } else {
            Copy->setOperand(0, Unchecked ? Guest.loadOutline(B, Slot, Address, A.Bytes)
                                          : Guest.loadMiss(B, Slot, Address, A.Bytes));
        }
        dropAddressFacts(*Copy);
        Loaded = B.Insert(Copy);
    }
    if (!Wide) {
        Resident.reload(B, A.Resident, A.Slot);
    }
}

// if (Hit) the access on the pointer, else by the runtime.
void GuardEmitter::split(Access &A, const Check &C, Value *Address)
{
    Instruction *Then = nullptr, *Else = nullptr;
    Value *Loaded = nullptr;

    SplitBlockAndInsertIfThenElse(C.Hit, A.I, &Then, &Else, mostlyHit());
    IRBuilder<> Slow(Else);
    Slow.SetCurrentDebugLocation(A.I->getDebugLoc());
    slowAccess(Slow, A, C, Address, Loaded);
    if (A.Kind == AccessKind::Load) {
        auto *Phi = PHINode::Create(A.Ty, 2, "", A.I->getParent()->begin());

        A.I->replaceAllUsesWith(Phi);
        Phi->addIncoming(A.I, Then->getParent());
        Phi->addIncoming(Loaded, Else->getParent());
    }
    A.I->moveBefore(Then);
    A.I->setOperand(A.PointerOperand, C.Pointer);
    dropAddressFacts(*A.I);
}

void GuardEmitter::guardAlone(Access &A)
{
    IRBuilder<> B(A.I);
    Value *Address = addressOf(B, A);

    if (A.Kind == AccessKind::Modify) {
        guardModify(A, Address);
        return;
    }
    split(A, check(B, A, Address, A.Bytes, A.Kind == AccessKind::Store), Address);
}

// Atomics: find a pointer good for reading and writing, then the original instruction on it.
void GuardEmitter::guardModify(Access &A, Value *Address)
{
    if (A.Bytes > MissLimit) {
        refuse(*A.I, "an atomic access of more than 16 bytes cannot be guarded");
        return;
    }
    IRBuilder<> B(A.I);
    Check C = check(B, A, Address, A.Bytes, true);
    BasicBlock *Head = A.I->getParent();
    Instruction *Else =
        SplitBlockAndInsertIfThen(B.CreateNot(C.Hit), A.I, false,
                                  MDBuilder(F.getContext()).createBranchWeights(1, 2000));
    IRBuilder<> Slow(Else);

    Slow.SetCurrentDebugLocation(A.I->getDebugLoc());
    Value *Missed = Guest.modifyMiss(Slow, slotForMiss(A, C), Address, A.Bytes);
    Resident.reload(Slow, A.Resident, A.Slot);
    auto *Phi = PHINode::Create(Missed->getType(), 2, "", A.I->getParent()->begin());
    Phi->addIncoming(C.Pointer, Head);
    Phi->addIncoming(Missed, Else->getParent());
    A.I->setOperand(A.PointerOperand, Phi);
    dropAddressFacts(*A.I);
}

void GuardEmitter::guardOutline(Access &A)
{
    IRBuilder<> B(A.I);
    Value *Address = addressOf(B, A);
    Value *Slot = slotForCall(A);

    if (A.Kind == AccessKind::Load) {
        A.I->setOperand(A.PointerOperand, Guest.loadOutline(B, Slot, Address, A.Bytes));
        dropAddressFacts(*A.I);
        Resident.reload(B, A.Resident, A.Slot);
    } else {
        Guest.store(B, Slot, Address, cast<StoreInst>(A.I)->getValueOperand(), true);
        Resident.reload(B, A.Resident, A.Slot);
        A.I->eraseFromParent();
    }
}

// One check for the whole group before its first member: a pointer to the span, or null.
void GuardEmitter::leadGroup(Access &A)
{
    const Group &G = List.Groups[unsigned(A.GroupIndex)];
    uint64_t Bytes = uint64_t(G.High - G.Low);
    IRBuilder<> B(A.I);
    Value *Start = B.CreateAdd(addressOf(B, A),
                               ConstantInt::get(Guest.word(), uint64_t(G.Low - A.Offset), true));
    Check C = check(B, A, Start, Bytes, G.Write);
    BasicBlock *Head = A.I->getParent();
    Instruction *Else =
        SplitBlockAndInsertIfThen(B.CreateNot(C.Hit), A.I, false,
                                  MDBuilder(F.getContext()).createBranchWeights(1, 2000));
    IRBuilder<> Slow(Else);

    Slow.SetCurrentDebugLocation(A.I->getDebugLoc());
    Value *Missed = Guest.spanMiss(Slow, slotForMiss(A, C), Start, Bytes, G.Write);
    Resident.reload(Slow, A.Resident, A.Slot);
    auto *Phi = PHINode::Create(Missed->getType(), 2, "", A.I->getParent()->begin());
    Phi->addIncoming(C.Pointer, Head);
    Phi->addIncoming(Missed, Else->getParent());
    GroupPointers[unsigned(A.GroupIndex)] = Phi;
}

void GuardEmitter::guardMember(Access &A)
{
    const Group &G = List.Groups[unsigned(A.GroupIndex)];

    if (GroupPointers[unsigned(A.GroupIndex)] == nullptr) {
        leadGroup(A);
    }
    Value *Span = GroupPointers[unsigned(A.GroupIndex)];
    IRBuilder<> B(A.I);
    Value *Address = addressOf(B, A);
    Value *Here =
        B.CreatePtrAdd(Span, ConstantInt::get(Guest.word(), uint64_t(A.Offset - G.Low)));
    split(A, {B.CreateIsNotNull(Span), Here, nullptr}, Address);
}

void GuardEmitter::run()
{
    for (const Access &A : List.All) {
        Resident.noteLoop(A.Resident);
    }
    for (Access &A : List.All) {
        if (outlines(A)) {
            guardOutline(A);
        } else if (A.GroupIndex >= 0) {
            guardMember(A);
        } else {
            guardAlone(A);
        }
    }
    Resident.promote();
}

} // namespace nandwich
