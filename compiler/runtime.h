// SPDX-License-Identifier: Apache-2.0
// The functions and objects of ports/guest that instrumented code uses.
#ifndef NANDWICH_COMPILER_RUNTIME_H
#define NANDWICH_COMPILER_RUNTIME_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace nandwich {

// Fields of struct nw_vm_slot (core/include/nandwich/vm.h), in words of a pointer's size.
enum SlotField { ReadTag = 0, WriteTag = 1, Base = 2, SlotWords = 4 };

class Runtime {
public:
    explicit Runtime(llvm::Module &M);

    llvm::Type *word() const { return Word; }
    llvm::Constant *slot(unsigned Index) const { return slotField(Index, ReadTag); }
    llvm::Constant *slotField(unsigned Index, SlotField Field) const;
    // In place of a slot, for loadOutline(), store() out of line, and all that follows where
    // sparesRegisters(): the look-aside entry of the address.
    llvm::Constant *noSlot() const;
    // The look-aside entry of an address.
    llvm::Value *lookasideEntry(llvm::IRBuilder<> &B, llvm::Value *Address) const;
    // What a guard calls leaves the caller's registers alone.
    bool sparesRegisters() const { return Thunks; }
    llvm::Constant *accessCounter() const;
    llvm::Type *counterType() const;

    // Where Bytes (1..16) can be read: fills the slot, or a bounce buffer for a straddle.
    llvm::Value *loadMiss(llvm::IRBuilder<> &B, llvm::Value *Slot, llvm::Value *Address,
                          uint64_t Bytes) const;
    // Where Bytes can be read and written; ends the program when they straddle (atomics).
    llvm::Value *modifyMiss(llvm::IRBuilder<> &B, llvm::Value *Slot, llvm::Value *Address,
                            uint64_t Bytes) const;
    // Where a run of Bytes lies in RAM, or null when it straddles.
    llvm::Value *spanMiss(llvm::IRBuilder<> &B, llvm::Value *Slot, llvm::Value *Address,
                          uint64_t Bytes, bool Write) const;
    // The slot takes the address's page if that needs no fault.
    void window(llvm::IRBuilder<> &B, llvm::Value *Slot, llvm::Value *Address, bool Write) const;
    // The page the slot holds is written from now on.
    void dirty(llvm::IRBuilder<> &B, llvm::Value *Slot) const;
    // The whole store. Outline: with the fast check inside.
    void store(llvm::IRBuilder<> &B, llvm::Value *Slot, llvm::Value *Address, llvm::Value *Value,
               bool Outline) const;
    // The fast check and, if need be, loadMiss, in one call.
    llvm::Value *loadOutline(llvm::IRBuilder<> &B, llvm::Value *Slot, llvm::Value *Address,
                             uint64_t Bytes) const;
    // Block operations on any mix of plain and virtual memory; they never touch the slots.
    void copy(llvm::IRBuilder<> &B, llvm::Value *To, llvm::Value *From, llvm::Value *Bytes) const;
    void move(llvm::IRBuilder<> &B, llvm::Value *To, llvm::Value *From, llvm::Value *Bytes) const;
    void fill(llvm::IRBuilder<> &B, llvm::Value *To, llvm::Value *Byte, llvm::Value *Bytes) const;
    void setjmpDone(llvm::IRBuilder<> &B, llvm::Value *Env, llvm::Value *Storage,
                    llvm::Value *Result) const;

    // Tells the run time of an access about to be made, for a recording.
    void note(llvm::IRBuilder<> &B, llvm::Value *Address, uint64_t Bytes, bool Write) const;

    // A function of ours that leaves the slot table alone, or only fills the slot it is given.
    static bool keepsSlots(const llvm::Function &Callee);

private:
    llvm::CallInst *call(llvm::IRBuilder<> &B, llvm::StringRef Name, llvm::Type *Result,
                         llvm::ArrayRef<llvm::Value *> Arguments, bool Thunk) const;
    llvm::Value *spill(llvm::IRBuilder<> &B, llvm::Value *Value) const;
    llvm::Value *bytes(uint64_t Count) const;

    llvm::Module &M;
    llvm::IntegerType *Word; // an integer of a pointer's size
    llvm::GlobalVariable *Slots;
    bool Thunks; // the target has thunks that spare the caller's registers
};

} // namespace nandwich

#endif
