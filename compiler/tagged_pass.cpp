// SPDX-License-Identifier: Apache-2.0
#include "attributes.h"
#include "names.h"
#include "options.h"
#include "passes.h"
#include "tagged.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace nandwich {

// Local variables become values, so that addresses in them can be followed, at -O0 too.
static void promoteLocals(Function &F)
{
    SmallVector<AllocaInst *, 16> Locals;

    for (Instruction &I : F.getEntryBlock()) {
        auto *Local = dyn_cast<AllocaInst>(&I);
        if (Local != nullptr && isAllocaPromotable(Local)) {
            Locals.push_back(Local);
        }
    }
    if (!Locals.empty()) {
        DominatorTree DT(F);
        PromoteMemToReg(Locals, DT);
    }
}

// Constant expressions on a variable become instructions, each where it is used.
static void spreadConstants(const std::vector<TaggedVariable> &Tagged)
{
    SmallVector<Constant *, 16> Globals;

    for (const TaggedVariable &One : Tagged) {
        One.Global->removeDeadConstantUsers();
        Globals.push_back(One.Global);
    }
    convertUsersOfConstantsToInstructions(Globals);
    for (Constant *Global : Globals) {
        Global->removeDeadConstantUsers();
    }
}

static bool hasKnown(Function &F, const Origins &From)
{
    auto Known = [&](const Value *V) { return From.of(V) != nullptr; };
    auto Uses = [&](const Instruction &I) { return any_of(I.operand_values(), Known); };

    return any_of(F.args(), [&](const Argument &A) { return Known(&A); }) ||
           any_of(instructions(F), Uses);
}

// Functions that no address reaches stay as they are.
static Origins follow(Module &M, const std::vector<TaggedVariable> &Tagged)
{
    SmallPtrSet<Function *, 16> Promoted;

    for (;;) {
        Origins From(M, Tagged);
        size_t Before = Promoted.size();
        for (Function &F : M) {
            if (!F.isDeclaration() && hasKnown(F, From) && Promoted.insert(&F).second) {
                promoteLocals(F);
            }
        }
        if (Promoted.size() == Before) {
            return From;
        }
    }
}

// A reference to a symbol that only the tables of this very layout define.
static void requireLayout(Module &M, const TaggedPlan &Plan)
{
    Type *Byte = Type::getInt8Ty(M.getContext());
    Constant *Tables = M.getOrInsertGlobal((Twine(TaggedPrefix) + "layout_" + Plan.Digest).str(),
                                           Byte);
    // Not constant: a program that may lie anywhere fills the address in at its start.
    auto *Reference = new GlobalVariable(M, Tables->getType(), false, GlobalValue::PrivateLinkage,
                                         Tables, "nw_tagged_user");

    Reference->setSection("nw_tagged_built_for");
    appendToCompilerUsed(M, {Reference});
}

PreservedAnalyses TaggedPass::run(Module &M, ModuleAnalysisManager &)
{
    bool Places = !options().Plan.empty();
    TaggedPlan Plan;

    if (Places && !readPlan(M, options().Plan, Plan)) {
        return PreservedAnalyses::all();
    }
    std::vector<TaggedVariable> Tagged = findTagged(M, Places ? &Plan : nullptr);
    if (Tagged.empty()) {
        return PreservedAnalyses::all();
    }
    // A mark that keeps a variable is no use of its address.
    removeFromUsedLists(M, [&](Constant *Kept) {
        return any_of(Tagged, [&](const TaggedVariable &One) {
            return One.Global == Kept->stripPointerCasts();
        });
    });
    spreadConstants(Tagged);
    Origins From = follow(M, Tagged);
    if (!checkTagged(M, Tagged, From)) {
        return PreservedAnalyses::none();
    }
    if (!options().References.empty()) {
        writeReferences(M, Tagged, From, options().References);
    } else {
        stripAttributes(M);
        if (Places) {
            placeTagged(M, Tagged, From);
            requireLayout(M, Plan);
        } else {
            recordTagged(M, Tagged, From);
        }
    }
    return PreservedAnalyses::none();
}

} // namespace nandwich
