// SPDX-License-Identifier: Apache-2.0
// Chooses loops and slots. Innermost loops first; one that is short for certain leaves its place to
// the loop around it.
#include "access.h"
#include "options.h"
#include "passes.h"
#include "slots.h"
#include "windows.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace nandwich {

namespace {

// A function whose calls leave the slots alone: no guard in it, and none in what it calls.
bool isQuiet(Function &F, const PlainMemory &Plain)
{
    if (!F.isDefinitionExact()) {
        return false;
    }
    return none_of(instructions(F), [&](Instruction &I) {
        Shape S;

        return clobbersSlots(I) ||
               (shapeOf(I, S) && !Plain.isPlain(I.getOperand(S.PointerOperand)));
    });
}

class Windows {
public:
    Windows(Function &Code, FunctionAnalysisManager &FAM, const PlainMemory &Plain,
            unsigned &NextSlot)
        : F(Code), LI(FAM.getResult<LoopAnalysis>(F)),
          SE(FAM.getResult<ScalarEvolutionAnalysis>(F)),
          DT(FAM.getResult<DominatorTreeAnalysis>(F)),
          Remarks(FAM.getResult<OptimizationRemarkEmitterAnalysis>(F)),
          Planner{F,  Plain, FAM.getResult<BlockFrequencyAnalysis>(F),
                  FAM.getResult<BranchProbabilityAnalysis>(F), SE, DT, LI},
          Next(NextSlot)
    {
    }

    bool run(const Runtime &Guest);

private:
    bool choose(Loop &L);
    bool makeValues(WindowPlan &P);
    void tell(const Loop &L, const std::string &Why);

    Function &F;
    LoopInfo &LI;
    ScalarEvolution &SE;
    DominatorTree &DT;
    OptimizationRemarkEmitter &Remarks;
    WindowPlanner Planner;
    unsigned &Next;
    std::vector<WindowPlan> Plans;
};

void Windows::tell(const Loop &L, const std::string &Why)
{
    if (Why.empty()) {
        return;
    }
    Remarks.emit([&] {
        return OptimizationRemarkMissed("nandwich", "NoWindow", L.getStartLoc(), L.getHeader())
               << "no page window: " << Why;
    });
}

// True: this loop or one inside it has a plan, so none around it gets one.
bool Windows::choose(Loop &L)
{
    bool Inside = false;
    std::string Why;

    for (Loop *Sub : L) {
        Inside = choose(*Sub) || Inside;
    }
    if (Inside) {
        return true;
    }
    std::optional<WindowPlan> Plan = Planner.plan(L, Why);
    if (!Plan) {
        tell(L, Why);
        return false;
    }
    Plans.push_back(std::move(*Plan));
    return true;
}

// A loop with several exits may leave before it looks at its bound or an address, which then need
// not have a value; tests in front of it look at them.
Value *settled(IRBuilder<> &B, Value *V, const Loop &L)
{
    return L.getExitingBlock() != nullptr || isa<Constant>(V) ? V : B.CreateFreeze(V);
}

// What the strips reckon with, in front of the loop. False: it cannot be had there.
bool Windows::makeValues(WindowPlan &P)
{
    const DataLayout &DL = F.getDataLayout();
    Instruction *At = P.L->getLoopPreheader()->getTerminator();
    Type *Word = DL.getIntPtrType(F.getContext());
    SCEVExpander Expander(SE, DL, "nw", true);

    for (const Stream &S : P.Streams) {
        if (!Expander.isSafeToExpandAt(S.Start, At)) {
            return false;
        }
    }
    if (P.Turns != nullptr && Expander.isSafeToExpandAt(P.Turns, At)) {
        Value *Turns = Expander.expandCodeFor(P.Turns, nullptr, At);
        IRBuilder<> B(At);

        P.TurnsValue = settled(B, B.CreateZExt(Turns, Word), *P.L);
    } else {
        P.Whole = false;
        P.Least = 0;
    }
    if (P.Least > 0 && !P.Whole) { // what windows reckon with comes behind the test
        At = SplitBlock(At->getParent(), At, &DT, &LI)->getTerminator();
    }
    IRBuilder<> B(At);
    for (Stream &S : P.Streams) {
        Value *Start = Expander.expandCodeFor(S.Start, nullptr, At);

        Start = Start->getType()->isPointerTy() ? B.CreatePtrToInt(Start, Word) : Start;
        Start = B.CreateAdd(Start, ConstantInt::get(Word, uint64_t(S.Low), true), "first");
        S.First = settled(B, Start, *P.L);
        S.Slot = Next;
        Next = (Next + options().Slots - 1) % options().Slots;
    }
    if (P.Whole) { // this test reckons with them
        At = SplitBlock(At->getParent(), At, &DT, &LI)->getTerminator();
        if (P.Least > 0) {
            SplitBlock(At->getParent(), At, &DT, &LI);
        }
    }
    return true;
}

bool Windows::run(const Runtime &Guest)
{
    for (Loop *L : LI) {
        choose(*L);
    }
    erase_if(Plans, [&](WindowPlan &P) { return !makeValues(P); });
    if (Plans.empty()) {
        return false;
    }
    for (Loop *L : LI) {
        formLCSSARecursively(*L, DT, &LI, &SE);
    }
    for (const WindowPlan &P : Plans) {
        Remarks.emit([&] {
            return OptimizationRemark("nandwich", "Window", P.L->getStartLoc(),
                                      P.L->getHeader())
                   << "page window: " << ore::NV("Streams", unsigned(P.Streams.size()))
                   << " streams, " << ore::NV("Guarded", unsigned(P.Guarded.size()))
                   << " accesses keep their guards";
        });
        buildWindow(P, Guest);
    }
    return true;
}

} // namespace

PreservedAnalyses WindowPass::run(Module &M, ModuleAnalysisManager &AM)
{
    auto &FAM = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    PlainMemory Plain(M);
    Runtime Guest(M);
    unsigned NextSlot = options().Slots - 1;

    if (!optionsError().empty() || !options().Windows || options().Mode == GuardMode::Outline) {
        return PreservedAnalyses::all();
    }
    for (Function *F : calleesFirst(M)) {
        if (F->isDeclaration() || F->hasFnAttribute("nw-plain")) {
            continue;
        }
        if (isQuiet(*F, Plain)) {
            F->addFnAttr("nw-quiet");
        } else if (!F->hasOptNone() && !F->hasMinSize()) {
            Windows(*F, FAM, Plain, NextSlot).run(Guest);
        }
    }
    return PreservedAnalyses::none();
}

} // namespace nandwich
