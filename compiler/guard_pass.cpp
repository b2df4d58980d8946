// SPDX-License-Identifier: Apache-2.0
#include "diagnose.h"
#include "guards.h"
#include "hotness.h"
#include "options.h"
#include "passes.h"
#include "plain.h"
#include "slots.h"

#include "llvm/Analysis/GlobalsModRef.h"

using namespace llvm;

namespace nandwich {

// Before any guard is written: it may make blocks of its own around an access.
static void noteAccesses(const Runtime &Guest, const AccessList &List)
{
    for (const Access &A : List.All) {
        IRBuilder<> B(A.I);

        Guest.note(B, A.pointer(), A.Bytes, A.Kind != AccessKind::Load);
    }
}

PreservedAnalyses GuardPass::run(Module &M, ModuleAnalysisManager &AM)
{
    auto &FAM = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    PlainMemory Plain(M);
    Runtime Guest(M);

    if (!optionsError().empty()) {
        return PreservedAnalyses::all(); // PreparePass has said so
    }
    SlotDealer Dealer(M);
    Hotness Heat(M, FAM);
    for (Function *F : calleesFirst(M)) {
        if (F->isDeclaration() || F->hasFnAttribute("nw-plain")) {
            continue;
        }
        auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(*F);
        auto &LI = FAM.getResult<LoopAnalysis>(*F);
        auto &Frequency = FAM.getResult<BlockFrequencyAnalysis>(*F);
        AccessList List = collectAccesses(*F, Plain, SE, LI, Frequency, Heat, Dealer);

        if (options().Count) {
            countAccesses(*F, Guest, List);
        }
        if (options().Trace) {
            noteAccesses(Guest, List);
        }
        GuardEmitter(*F, Guest, List).run();
    }
    // What GlobalsAA knew of functions and globals is of the time before the guards, and it would
    // not go by itself.
    PreservedAnalyses Kept = PreservedAnalyses::none();
    Kept.abandon<GlobalsAA>();
    return Kept;
}

} // namespace nandwich
