// SPDX-License-Identifier: Apache-2.0
// Callers come before callees, so one walk hands calls down the whole graph. What is called through
// pointers has no place in that order: what its callers gave it in one round it has in the next.
#include "frequency.h"

#include "hotness.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/InstIterator.h"

#include <algorithm>

using namespace llvm;

namespace nandwich {

constexpr unsigned Rounds = 4;        // pointers to functions that call through pointers, and so on
constexpr double Recursion = 8;       // how deep functions are taken to call themselves
constexpr double LibraryCalls = 32;   // of what qsort is given, as a loop of unknown length runs
constexpr double MostCalls = 1e12;    // nests of estimates say nothing any more

Frequency::Frequency(Module &In, FunctionAnalysisManager &Manager)
    : M(In), FAM(Manager), Targets(findTargets(In))
{
    order();
    for (unsigned Round = 0; Round < Rounds; Round++) {
        goRound();
    }
}

void Frequency::order()
{
    CallGraph Graph(M);

    for (auto Each = scc_begin(&Graph); !Each.isAtEnd(); ++Each) {
        Component Members;
        for (CallGraphNode *Node : *Each) {
            Function *F = Node->getFunction();
            if (F != nullptr && !F->isDeclaration()) {
                Members.push_back(F);
            }
        }
        CallersFirst.push_back(std::move(Members));
    }
    std::reverse(CallersFirst.begin(), CallersFirst.end());
}

double Frequency::runs(const BasicBlock &Block) const
{
    auto &F = const_cast<Function &>(*Block.getParent()); // analyses want it so, and leave it alone
    auto &Within = FAM.getResult<BlockFrequencyAnalysis>(F);

    if (std::optional<uint64_t> Counted = countOf(Block, Within)) {
        return double(*Counted);
    }
    return Calls.lookup(&F) * timesRun(Block, Within);
}

void Frequency::goRound()
{
    Direct.clear();
    PointedNext.clear();
    for (const Component &Members : CallersFirst) {
        enter(Members);
        for (Function *F : Members) {
            passOn(*F, Members);
        }
    }
    std::swap(Pointed, PointedNext);
}

// What others outside the module call runs once.
void Frequency::enter(const Component &Members)
{
    double Sum = 0;
    bool Recursive = Members.size() > 1;

    for (const Function *F : Members) {
        Sum += Direct.lookup(F) + Pointed.lookup(F) + (F->hasLocalLinkage() ? 0 : 1);
        Recursive = Recursive || any_of(F->users(), [&](const User *U) {
            const auto *Call = dyn_cast<CallBase>(U);
            return Call != nullptr && Call->getFunction() == F;
        });
    }
    for (const Function *F : Members) {
        Calls[F] = std::min(MostCalls, Recursive ? Recursion * Sum : Sum);
    }
}

void Frequency::passOn(Function &Caller, const Component &Members)
{
    for (Instruction &I : instructions(Caller)) {
        if (const auto *Call = dyn_cast<CallBase>(&I)) {
            passOnCall(*Call, runs(*I.getParent()), Members);
        }
    }
}

void Frequency::passOnCall(const CallBase &Call, double Times, const Component &Members)
{
    const Function *Callee = Call.getCalledFunction();

    if (Callee == nullptr) {
        auto Found = Targets.find(Call.getFunctionType());
        if (Found != Targets.end()) {
            for (const Function *Target : Found->second) {
                PointedNext[Target] += Times / double(Found->second.size());
            }
        }
    } else if (!Callee->isDeclaration()) {
        if (!is_contained(Members, Callee)) {
            Direct[Callee] += Times;
        }
    } else {
        for (const Value *Given : Call.args()) {
            if (const auto *Back = dyn_cast<Function>(Given)) {
                PointedNext[Back] += Times * LibraryCalls;
            }
        }
    }
}

} // namespace nandwich
