// SPDX-License-Identifier: Apache-2.0
#include "runtime.h"

#include "options.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace nandwich {

static GlobalVariable *external(Module &M, StringRef Name, Type *Ty)
{
    auto *Global = M.getNamedGlobal(Name);

    if (Global == nullptr) {
        Global = new GlobalVariable(M, Ty, false, GlobalValue::ExternalLinkage, nullptr, Name);
        Global->setDSOLocal(true);
    }
    return Global;
}

Runtime::Runtime(Module &In)
    : M(In), Word(In.getDataLayout().getIntPtrType(In.getContext())),
      Slots(external(In, "nw_guest_slot_table", ArrayType::get(Word, 0))),
      // LLVM's preserve_most exists on these; elsewhere the plain call is used.
      Thunks(Triple(In.getTargetTriple()).getArch() == Triple::x86_64)
{
}

Constant *Runtime::slotField(unsigned Index, SlotField Field) const
{
    uint64_t Offset = (uint64_t(Index) * SlotWords + Field) * (Word->getBitWidth() / 8);
    auto *Byte = Type::getInt8Ty(M.getContext());

    return ConstantExpr::getInBoundsGetElementPtr(Byte, Slots, ConstantInt::get(Word, Offset));
}

Constant *Runtime::noSlot() const
{
    return ConstantPointerNull::get(PointerType::getUnqual(M.getContext()));
}

// The page number's low bits choose the entry.
Value *Runtime::lookasideEntry(IRBuilder<> &B, Value *Address) const
{
    uint64_t Bytes = SlotWords * (Word->getBitWidth() / 8);
    unsigned Shift = Log2_32(options().FrameBytes), Scale = Log2_64(Bytes);
    Value *Index = Shift >= Scale ? B.CreateLShr(Address, Shift - Scale)
                                  : B.CreateShl(Address, Scale - Shift);
    Value *Offset = B.CreateAnd(Index, uint64_t(options().Lookaside - 1) << Scale);

    Constant *Table = external(M, "nw_guest_lookaside", ArrayType::get(Word, 0));
    return B.CreatePtrAdd(Table, Offset);
}

// nw_count of core/include/nandwich/stats.h
Type *Runtime::counterType() const
{
    return Type::getIntNTy(M.getContext(), Word->getBitWidth() <= 32 ? 32 : 64);
}

Constant *Runtime::accessCounter() const
{
    return external(M, "nw_guest_accesses", counterType());
}

Value *Runtime::bytes(uint64_t Count) const
{
    return ConstantInt::get(Word, Count);
}

CallInst *Runtime::call(IRBuilder<> &B, StringRef Name, Type *Result, ArrayRef<Value *> Arguments,
                        bool Thunk) const
{
    SmallVector<Type *, 4> Types;

    for (Value *A : Arguments) {
        Types.push_back(A->getType());
    }
    FunctionCallee Callee = M.getOrInsertFunction(Name, FunctionType::get(Result, Types, false));
    auto *F = cast<Function>(Callee.getCallee());

    F->setDSOLocal(true);
    F->setDoesNotThrow();
    if (Thunk && Thunks) {
        F->setCallingConv(CallingConv::PreserveMost);
    }
    CallInst *Call = B.CreateCall(F->getFunctionType(), F, Arguments);
    Call->setCallingConv(F->getCallingConv());
    Call->setDoesNotThrow();
    return Call;
}

Value *Runtime::loadMiss(IRBuilder<> &B, Value *Slot, Value *Address, uint64_t Bytes) const
{
    return call(B, "nw_guest_load_miss", B.getPtrTy(), {Slot, Address, bytes(Bytes)}, true);
}

Value *Runtime::modifyMiss(IRBuilder<> &B, Value *Slot, Value *Address, uint64_t Bytes) const
{
    return call(B, "nw_guest_modify_miss", B.getPtrTy(), {Slot, Address, bytes(Bytes)},
                true);
}

Value *Runtime::spanMiss(IRBuilder<> &B, Value *Slot, Value *Address, uint64_t Bytes,
                         bool Write) const
{
    return call(B, Write ? "nw_guest_span_write" : "nw_guest_span_read", B.getPtrTy(),
                {Slot, Address, bytes(Bytes)}, true);
}

void Runtime::window(IRBuilder<> &B, Value *Slot, Value *Address, bool Write) const
{
    call(B, Write ? "nw_guest_window_write" : "nw_guest_window_read", B.getVoidTy(),
         {Slot, Address}, true);
}

void Runtime::dirty(IRBuilder<> &B, Value *Slot) const
{
    call(B, "nw_guest_dirty", B.getVoidTy(), {Slot}, true);
}

Value *Runtime::loadOutline(IRBuilder<> &B, Value *Slot, Value *Address, uint64_t Bytes) const
{
    return call(B, "nw_guest_load", B.getPtrTy(), {Slot, Address, bytes(Bytes)}, true);
}

// The value in memory, for the call that takes it by address. The alloca stands in the entry block.
Value *Runtime::spill(IRBuilder<> &B, Value *V) const
{
    BasicBlock &Entry = B.GetInsertBlock()->getParent()->getEntryBlock();
    IRBuilder<> AtEntry(&Entry, Entry.begin());
    AllocaInst *Home = AtEntry.CreateAlloca(V->getType());

    B.CreateStore(V, Home);
    return Home;
}

// Whole scalars of 1, 2, 4 or 8 bytes travel in registers, all else by address.
static Value *asInteger(IRBuilder<> &B, const DataLayout &DL, Value *V, unsigned WordBits)
{
    Type *Ty = V->getType();
    uint64_t Bits = DL.getTypeSizeInBits(Ty).getFixedValue();

    if (Ty->isPointerTy()) {
        return B.CreatePtrToInt(V, B.getIntNTy(WordBits));
    }
    bool Scalar = Ty->isIntegerTy() || Ty->isFloatTy() || Ty->isDoubleTy();
    if (!Scalar || (Bits != 8 && Bits != 16 && Bits != 32 && Bits != 64) || Bits > 64) {
        return Ty->isIntegerTy(1) ? B.CreateZExt(V, B.getInt8Ty()) : nullptr;
    }
    return Ty->isIntegerTy() ? V : B.CreateBitCast(V, B.getIntNTy(unsigned(Bits)));
}

void Runtime::store(IRBuilder<> &B, Value *Slot, Value *Address, Value *V, bool Outline) const
{
    const DataLayout &DL = M.getDataLayout();
    StringRef Stem = Outline ? "nw_guest_store" : "nw_guest_store_miss";

    if (Value *Plain = asInteger(B, DL, V, Word->getBitWidth())) {
        std::string Name = (Stem + "_" + Twine(Plain->getType()->getIntegerBitWidth() / 8)).str();

        call(B, Name, B.getVoidTy(), {Slot, Address, Plain}, true);
        return;
    }
    uint64_t Bytes = DL.getTypeStoreSize(V->getType()).getFixedValue();
    call(B, "nw_guest_store_miss_n", B.getVoidTy(),
         {Slot, Address, bytes(Bytes), spill(B, V)}, true);
}

void Runtime::copy(IRBuilder<> &B, Value *To, Value *From, Value *Bytes) const
{
    call(B, "nw_guest_copy", B.getVoidTy(), {To, From, B.CreateZExtOrTrunc(Bytes, Word)}, false);
}

void Runtime::move(IRBuilder<> &B, Value *To, Value *From, Value *Bytes) const
{
    call(B, "nw_guest_move", B.getVoidTy(), {To, From, B.CreateZExtOrTrunc(Bytes, Word)}, false);
}

void Runtime::fill(IRBuilder<> &B, Value *To, Value *Byte, Value *Bytes) const
{
    call(B, "nw_guest_fill", B.getVoidTy(),
         {To, B.CreateZExt(Byte, B.getInt32Ty()), B.CreateZExtOrTrunc(Bytes, Word)}, false);
}

void Runtime::setjmpDone(IRBuilder<> &B, Value *Env, Value *Storage, Value *Result) const
{
    call(B, "nw_guest_setjmp_done", B.getVoidTy(), {Env, Storage, Result}, false);
}

void Runtime::note(IRBuilder<> &B, Value *Address, uint64_t Bytes, bool Write) const
{
    call(B, Write ? "nw_guest_note_write" : "nw_guest_note_read", B.getVoidTy(),
         {Address, bytes(Bytes)}, false);
}

bool Runtime::keepsSlots(const Function &Callee)
{
    return StringSwitch<bool>(Callee.getName())
        .Cases("nw_guest_copy", "nw_guest_move", "nw_guest_fill", "nw_guest_dirty", true)
        .Cases("nw_guest_note_read", "nw_guest_note_write", true)
        .Default(false);
}

} // namespace nandwich
