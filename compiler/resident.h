// SPDX-License-Identifier: Apache-2.0
// Slots kept in registers: inside a loop that makes no calls nobody else changes the slot table,
// so a slot's tags and base are loaded once before the loop and again only after a miss.
#ifndef NANDWICH_COMPILER_RESIDENT_H
#define NANDWICH_COMPILER_RESIDENT_H

#include "runtime.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <array>

namespace nandwich {

class ResidentSlots {
public:
    ResidentSlots(llvm::Function &Code, const Runtime &Library) : F(Code), Guest(Library) {}

    // A field of the slot at the builder's place. Loop: the loop the slot of this number is
    // resident in, or null; then it is read from the table, where Pointer leads.
    llvm::Value *field(llvm::IRBuilder<> &B, llvm::Loop *Loop, unsigned Slot,
                       llvm::Value *Pointer, SlotField Field);
    // After a call that may have filled this slot.
    void reload(llvm::IRBuilder<> &B, llvm::Loop *Loop, unsigned Slot);
    // Call before the function's blocks are split: preheaders are found by their terminators.
    void noteLoop(llvm::Loop *Loop);
    // Turns the homes into registers. Invalidates nothing but the dominator tree it makes itself.
    void promote();

private:
    using Home = std::array<llvm::AllocaInst *, 3>;

    Home &homeOf(llvm::Loop *Loop, unsigned Slot);
    llvm::Value *load(llvm::IRBuilder<> &B, llvm::Value *Slot, SlotField Field) const;
    llvm::Type *typeOf(SlotField Field) const;

    llvm::Function &F;
    const Runtime &Guest;
    llvm::DenseMap<std::pair<llvm::Loop *, unsigned>, Home> Homes;
    llvm::DenseMap<llvm::Loop *, llvm::Instruction *> Entrances;
    llvm::SmallVector<llvm::AllocaInst *, 16> Allocas;
};

} // namespace nandwich

#endif
