// SPDX-License-Identifier: Apache-2.0
// Globals that stay in RAM under a budget (-nw-statics=BYTES): the hot and small of those that
// would live in virtual memory.
#ifndef NANDWICH_COMPILER_STATICS_H
#define NANDWICH_COMPILER_STATICS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nandwich {

// What may be said against a global in RAM.
enum class Against {
    Nothing,
    Cold // less than one access in ten million for each byte: page frames serve more
};

struct Static {
    llvm::GlobalVariable *Global;
    uint64_t Bytes;  // what it takes of the budget: up to the next object of its alignment
    double Accesses; // estimated, in one run of the program
    Against Reason;
    bool Kept; // in RAM
};

// Which of Items, hottest first, have the most accesses in that many bytes. The best there is, but
// where Items times words of the budget exceed 2^26: then those with most accesses a byte, which
// falls short by less than the accesses of the first that does not fit. Cost: a step and a bit for
// each item and word. Equal in equal modules.
std::vector<bool> mostIn(llvm::ArrayRef<Static> Items, uint64_t Bytes);

// Takes what is chosen back out of virtual memory. Notes what was done and what more would bring
// (docs/schemas/run-1.json, "statics") as JSON in the section .nw_statics, which is not loaded, and
// the bytes taken in nw_guest_statics_bytes. Run after the globals have been placed.
void keepStatics(llvm::Module &M, llvm::FunctionAnalysisManager &FAM);

} // namespace nandwich

#endif
