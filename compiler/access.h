// SPDX-License-Identifier: Apache-2.0
// The accesses of a function that need a guard, and how they are dealt over slots and merged.
#ifndef NANDWICH_COMPILER_ACCESS_H
#define NANDWICH_COMPILER_ACCESS_H

#include "plain.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <vector>

namespace nandwich {

enum class AccessKind {
    Load,
    Store,
    Modify // atomics: the pointer must stay good for reading and writing
};

// Neighbours in one block whose addresses differ by constants: one guard checks the whole span.
struct Group {
    int64_t Low;  // first byte, relative to the slot key
    int64_t High; // behind the last byte
    bool Write;   // some member stores: the guard asks for writing
    unsigned Members;
};

struct Access {
    llvm::Instruction *I;
    unsigned PointerOperand;
    llvm::Type *Ty;
    uint32_t Bytes;
    AccessKind Kind;
    bool Alone;             // volatile or atomic: never merged
    const llvm::SCEV *Key;  // the address without its constant part
    int64_t Offset;         // the constant part
    bool Aside;             // goes through the look-aside entry of its address
    unsigned Slot;          // else through this slot
    llvm::Loop *Resident;   // outermost loop around it without calls: its slots stay in registers
    bool InLoop;
    bool Cold;              // its guard is out of line (Hotness::isCold)
    int GroupIndex;         // -1: a guard of its own
    unsigned Stretch;       // accesses of equal number have no call or block border between them
    unsigned Run;           // likewise, and no block operation either
    bool Steady;            // stays on a page for long: fixed, or walking in small steps
    int Fixed;              // the slot a page window holds for it, or -1
    uint64_t Apart;         // slots that windows around it hold: a bit each
    bool Crowded;           // the slot dealt is another address's in the same loop

    llvm::Value *pointer() const { return I->getOperand(PointerOperand); }
};

struct AccessList {
    std::vector<Access> All; // in program order within each block
    std::vector<Group> Groups;
    std::vector<llvm::Instruction *> Counted; // inside page windows: no guard
};

// A call after which nothing is known of the slots.
bool clobbersSlots(const llvm::Instruction &I);

// The address's own constant part; what is left names the slot. p, p + 1 and p->field agree, and a
// pointer that walks through a loop keeps its key however it is written.
const llvm::SCEV *withoutConstant(const llvm::SCEV *S, llvm::ScalarEvolution &SE, int64_t &Offset);

struct Shape {
    unsigned PointerOperand;
    llvm::Type *Ty;
    AccessKind Kind;
    bool Alone;
};

// False: no access.
bool shapeOf(llvm::Instruction &I, Shape &S);

class Hotness;
class SlotDealer;

// Finds, keys, deals and merges.
AccessList collectAccesses(llvm::Function &F, const PlainMemory &Plain, llvm::ScalarEvolution &SE,
                           llvm::LoopInfo &LI, llvm::BlockFrequencyInfo &Frequency,
                           const Hotness &Heat, SlotDealer &Dealer);

} // namespace nandwich

#endif
