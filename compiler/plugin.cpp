// SPDX-License-Identifier: Apache-2.0
// Nandwich's LLVM 19 plugin: virtual memory for C programs. `nandwich cc` loads it with
//   clang-19 -fplugin=nandwich-pass.so -fpass-plugin=nandwich-pass.so -mllvm -nw-frame=512 ...
// and a test runs one pass, or one chain of them, with
//   opt-19 -load-pass-plugin=nandwich-pass.so -nw-frame=512 ...
//     -passes=nw-runs|nw-prepare|nw-windows|nw-guard|nw|nw-tagged|nw-stack
// lld runs it over the linked program, whose files are bitcode, with
//   ld.lld --load-pass-plugin=nandwich-pass.so
//     --lto-newpm-passes='nw-options<frame=512>,default<O2>'
// since lld reads its own -mllvm options before it loads a plugin.
#include "options.h"
#include "passes.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace nandwich {

// After inlining, SROA, LICM, GVN and idiom recognition, before the vectoriser and the unroller.
static void addPasses(ModulePassManager &MPM, OptimizationLevel Level)
{
    if (options().Tagged || options().Native) {
        return;
    }
    MPM.addPass(PreparePass());
    if (Level != OptimizationLevel::O0) {
        MPM.addPass(createModuleToFunctionPassAdaptor(LoopSimplifyPass()));
        MPM.addPass(WindowPass());
        MPM.addPass(createModuleToFunctionPassAdaptor(LoopSimplifyPass()));
    }
    MPM.addPass(GuardPass());
    if (Level != OptimizationLevel::O0) {
        FunctionPassManager Clean;

        Clean.addPass(EarlyCSEPass(true));
        Clean.addPass(InstCombinePass());
        Clean.addPass(SimplifyCFGPass());
        MPM.addPass(createModuleToFunctionPassAdaptor(std::move(Clean)));
    }
}

static bool parse(StringRef Name, ModulePassManager &MPM)
{
    if (Name == "nw-runs") {
        MPM.addPass(RunsPass());
    } else if (Name == "nw-prepare") {
        MPM.addPass(PreparePass());
    } else if (Name == "nw-guard") {
        MPM.addPass(GuardPass());
    } else if (Name == "nw-windows") {
        MPM.addPass(WindowPass());
    } else if (Name == "nw-tagged") {
        MPM.addPass(TaggedPass());
    } else if (Name == "nw-stack") {
        MPM.addPass(StackPass());
    } else if (Name == "nw") {
        addPasses(MPM, OptimizationLevel::O2);
    } else if (Name.consume_front("nw-options<") && Name.consume_back(">")) {
        return setOptions(Name);
    } else {
        return false;
    }
    return true;
}

} // namespace nandwich

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "nandwich", "1", [](PassBuilder &PB) {
                PB.registerOptimizerEarlyEPCallback(
                    [](ModulePassManager &MPM, OptimizationLevel Level) {
                        nandwich::addPasses(MPM, Level);
                    });
                PB.registerPipelineStartEPCallback(
                    [](ModulePassManager &MPM, OptimizationLevel) {
                        if (nandwich::options().Tagged) {
                            MPM.addPass(nandwich::TaggedPass());
                        } else if (!nandwich::options().Native) {
                            MPM.addPass(nandwich::RunsPass());
                        }
                    });
                PB.registerOptimizerLastEPCallback([](ModulePassManager &MPM, OptimizationLevel) {
                    MPM.addPass(nandwich::StackPass());
                });
                PB.registerPipelineParsingCallback(
                    [](StringRef Name, ModulePassManager &MPM,
                       ArrayRef<PassBuilder::PipelineElement>) {
                        return nandwich::parse(Name, MPM);
                    });
            }};
}
