// SPDX-License-Identifier: Apache-2.0
// The passes in the order they run: note the profile, prepare, page windows, guard.
#ifndef NANDWICH_COMPILER_PASSES_H
#define NANDWICH_COMPILER_PASSES_H

#include "llvm/IR/PassManager.h"

namespace nandwich {

// Before all other passes: notes at functions, loads and stores how often they ran in the profile,
// if there is one.
struct RunsPass : llvm::PassInfoMixin<RunsPass> {
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
    static bool isRequired() { return true; }
};

// Places globals in virtual memory, gives library calls to their wrappers, lowers what cannot be
// guarded as an access, checks what escapes, and takes back attributes that no longer hold.
struct PreparePass : llvm::PassInfoMixin<PreparePass> {
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
    static bool isRequired() { return true; }
};

// Gives loops page windows: takes accesses away from the guards.
struct WindowPass : llvm::PassInfoMixin<WindowPass> {
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
    static bool isRequired() { return true; }
};

// Puts a guard before every access that may touch virtual memory.
struct GuardPass : llvm::PassInfoMixin<GuardPass> {
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
    static bool isRequired() { return true; }
};

// Tagged mode (tagged.h), before all other passes and instead of those above.
struct TaggedPass : llvm::PassInfoMixin<TaggedPass> {
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
    static bool isRequired() { return true; }
};

// The last of all passes: what LLVM's code for an AVR needs to be right. Nothing elsewhere.
struct StackPass : llvm::PassInfoMixin<StackPass> {
    llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
    static bool isRequired() { return true; }
};

} // namespace nandwich

#endif
