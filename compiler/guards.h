// SPDX-License-Identifier: Apache-2.0
// Writes the guards of one function.
#ifndef NANDWICH_COMPILER_GUARDS_H
#define NANDWICH_COMPILER_GUARDS_H

#include "access.h"
#include "resident.h"
#include "runtime.h"

namespace nandwich {

class GuardEmitter {
public:
    GuardEmitter(llvm::Function &F, const Runtime &Guest, AccessList &List);

    void run();

private:
    struct Check {
        llvm::Value *Hit;     // the whole span lies in the page the slot holds
        llvm::Value *Pointer; // then here
        llvm::Value *Slot;    // what was looked at; null: nothing
    };

    Check check(llvm::IRBuilder<> &B, const Access &A, llvm::Value *Address, uint64_t Bytes,
                bool Write);
    void guardAlone(Access &A);
    void guardMember(Access &A);
    void guardOutline(Access &A);
    void leadGroup(Access &A);
    void guardModify(Access &A, llvm::Value *Address);
    void split(Access &A, const Check &C, llvm::Value *Address);
    void slowAccess(llvm::IRBuilder<> &B, Access &A, const Check &C, llvm::Value *Address,
                    llvm::Value *&Loaded);
    llvm::Value *slotForCall(const Access &A) const;
    llvm::Value *slotForMiss(const Access &A, const Check &C) const;
    llvm::Value *slotOf(llvm::IRBuilder<> &B, const Access &A, llvm::Value *Address) const;
    llvm::Value *addressOf(llvm::IRBuilder<> &B, const Access &A) const;
    llvm::MDNode *mostlyHit() const;
    bool outlines(const Access &A) const;

    llvm::Function &F;
    const Runtime &Guest;
    AccessList &List;
    ResidentSlots Resident;
    std::vector<llvm::Value *> GroupPointers; // by group; null until its leader was met
};

// Adds up the accesses into nw_guest_accesses. Call before run(): it counts the original blocks.
void countAccesses(llvm::Function &F, const Runtime &Guest, const AccessList &List);

} // namespace nandwich

#endif
