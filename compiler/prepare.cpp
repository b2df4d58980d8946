// SPDX-License-Identifier: Apache-2.0
#include "annotations.h"
#include "attributes.h"
#include "calls.h"
#include "diagnose.h"
#include "globals.h"
#include "hotness.h"
#include "libc.h"
#include "markers.h"
#include "options.h"
#include "passes.h"
#include "plain.h"
#include "recorded.h"
#include "runtime.h"
#include "statics.h"

using namespace llvm;

namespace nandwich {

PreservedAnalyses PreparePass::run(Module &M, ModuleAnalysisManager &AM)
{
    obeyRecorded(M);
    std::string Wrong = optionsError();

    if (!Wrong.empty()) {
        M.getContext().emitError(Wrong);
        return PreservedAnalyses::all();
    }
    auto &FAM = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();

    checkProfile(M);
    restoreEntries(M, FAM);
    Annotations Notes(M);
    renameLibrary(M);
    placeGlobals(M, Notes);
    keepStatics(M, FAM);
    noteGlobals(M);
    stripAttributes(M);

    PlainMemory Plain(M);
    Runtime Guest(M);
    Markers Marks(M);
    CallLowering Calls(M, Notes, Plain, Guest, Marks);
    for (Function &F : M) {
        if (F.isDeclaration()) {
            continue;
        }
        if (Notes.Plain.contains(&F)) {
            F.addFnAttr("nw-plain"); // the guard pass leaves it alone
            continue;
        }
        Calls.lower(F);
        if (!F.hasLocalLinkage() && !F.hasAvailableExternallyLinkage()) {
            Marks.define(F);
        }
    }
    Calls.checkTakenAddresses();
    return PreservedAnalyses::none();
}

} // namespace nandwich
