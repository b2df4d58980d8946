// SPDX-License-Identifier: Apache-2.0
// Which loops get windows, and which of their accesses walk together.
#include "access.h"
#include "hotness.h"
#include "options.h"
#include "slots.h"
#include "windows.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace nandwich {

constexpr unsigned StreamsMax = 8;
constexpr unsigned InstructionsMax = 300; // of a loop that is copied
constexpr unsigned WholeMax = 60;         // of a loop that is copied once more, to run whole
constexpr unsigned WholeStreamsMax = 3;
constexpr unsigned ShortTrip = 8;         // a loop known to be shorter is left to the one around it
// Instructions, measured on loops of one to three streams: to set up a strip, the same for each
// stream, and what an access on a raw pointer saves.
constexpr double StripCost = 35, StreamCost = 13, RawSaves = 6.5;

MDNode *numberNode(LLVMContext &C, uint64_t Number)
{
    return MDNode::get(C,
                       ConstantAsMetadata::get(ConstantInt::get(Type::getInt64Ty(C), Number)));
}

uint64_t numberIn(const MDNode &Node)
{
    return mdconst::extract<ConstantInt>(Node.getOperand(0))->getZExtValue();
}

void setNumber(Instruction &I, const char *Kind, uint64_t Number)
{
    I.setMetadata(Kind, numberNode(I.getContext(), Number));
}

std::optional<uint64_t> numberOf(const Instruction &I, const char *Kind)
{
    const MDNode *Node = I.getMetadata(Kind);

    return Node != nullptr ? std::optional(numberIn(*Node)) : std::nullopt;
}

// The address as a walk of L alone: what loops inside L add becomes part of the bytes one iteration
// touches. Null: no such walk.
const SCEV *WindowPlanner::flatten(const SCEV *S, Loop &L, int64_t &Low, int64_t &High)
{
    while (const auto *Walk = dyn_cast<SCEVAddRecExpr>(S)) {
        if (Walk->getLoop() == &L || !L.contains(Walk->getLoop())) {
            break;
        }
        const auto *Step = dyn_cast<SCEVConstant>(Walk->getStepRecurrence(SE));
        unsigned Trip = SE.getSmallConstantMaxTripCount(Walk->getLoop());

        if (!Walk->isAffine() || Step == nullptr || Trip == 0 || Trip > options().FrameBytes) {
            return nullptr;
        }
        int64_t Way = Step->getAPInt().getSExtValue() * int64_t(Trip - 1);
        Low += std::min<int64_t>(Way, 0);
        High += std::max<int64_t>(Way, 0);
        S = Walk->getStart();
    }
    return S;
}

// False: the access stays guarded.
bool WindowPlanner::addStream(WindowPlan &P, Instruction &I, Value *Pointer, uint64_t Bytes,
                              bool Store)
{
    const Loop *Inner = LI.getLoopFor(I.getParent());
    // Wider, and too many iterations straddle.
    int64_t Together = std::max<int64_t>(16, options().FrameBytes / 16);
    int64_t Frame = options().FrameBytes, Low = 0, High = int64_t(Bytes), Offset = 0, Step = 0;
    const SCEV *S = flatten(SE.getSCEV(Pointer), *P.L, Low, High);

    if (S == nullptr || High - Low > std::max<int64_t>(Frame / 8, int64_t(Bytes)) ||
        High - Low > Frame) { // a vector may be wider than a page
        return false;
    }
    if (const auto *Walk = dyn_cast<SCEVAddRecExpr>(S)) {
        if (Walk->getLoop() == P.L) {
            const auto *Constant = dyn_cast<SCEVConstant>(Walk->getStepRecurrence(SE));

            if (!Walk->isAffine() || Constant == nullptr ||
                Constant->getAPInt().abs().ugt(uint64_t(Frame / 8))) {
                return false;
            }
            Step = Constant->getAPInt().getSExtValue();
            S = Walk->getStart();
        }
    }
    if (!SE.isLoopInvariant(S, P.L)) {
        return false;
    }
    S = withoutConstant(S, SE, Offset);
    Low += Offset;
    High += Offset;
    bool Always = DT.dominates(I.getParent(), P.L->getLoopLatch());
    if (Store && !Always) {
        P.Rare.insert(&I);
    }
    if (Always && Inner == P.L) {
        P.Always.insert(&I);
    }
    for (Stream &Known : P.Streams) {
        int64_t NewLow = std::min(Known.Low, Low), NewHigh = std::max(Known.High, High);

        if (Known.Start == S && Known.Step == Step && NewHigh - NewLow <= Together) {
            Known.Low = NewLow;
            Known.High = NewHigh;
            Known.Write |= Store && Always;
            Known.Members.push_back(&I);
            return true;
        }
    }
    // A page that is touched now and then only is not worth holding.
    if (!Always) {
        return false;
    }
    P.Streams.push_back({S, Step, Low, High, Store, {&I}, 0, nullptr});
    return true;
}

// False: the loop cannot have windows.
bool WindowPlanner::visit(WindowPlan &P, Instruction &I, std::string &Why)
{
    Value *Pointer = getLoadStorePointerOperand(&I);

    if (clobbersSlots(I)) {
        const Function *Callee = cast<CallBase>(I).getCalledFunction();

        Why = Callee == nullptr ? "it calls through a pointer"
                                : "it calls " + Callee->getName().str() +
                                      ", which may touch virtual memory";
        return false;
    }
    if (I.isAtomic() || I.isVolatile()) {
        Why = "it has volatile or atomic accesses";
        return false;
    }
    if (Pointer == nullptr || Pointer->getType()->getPointerAddressSpace() != 0 ||
        Plain.isPlain(Pointer)) {
        return true;
    }
    TypeSize Size = F.getDataLayout().getTypeStoreSize(getLoadStoreType(&I));
    if (Size.isScalable() ||
        !addStream(P, I, Pointer, Size.getFixedValue(), isa<StoreInst>(I))) {
        P.Guarded.push_back(&I);
    }
    return true;
}

// The busiest streams only, and a slot left over for accesses that keep their guards.
void WindowPlanner::limitStreams(WindowPlan &P)
{
    unsigned Limit = std::min(StreamsMax, options().Slots);

    std::stable_sort(P.Streams.begin(), P.Streams.end(), [](const Stream &A, const Stream &B) {
        return A.Members.size() > B.Members.size();
    });
    while (!P.Streams.empty() &&
           P.Streams.size() + (P.Guarded.empty() || options().Slots > StreamsMax ? 0 : 1) > Limit) {
        for (Instruction *I : P.Streams.back().Members) {
            P.Guarded.push_back(I);
        }
        P.Streams.pop_back();
    }
}

// How many iterations pay for windows.
unsigned WindowPlanner::payingTurns(const WindowPlan &P)
{
    double Saved = 0, Turns = timesRun(*P.L->getHeader(), Frequency);

    for (const Stream &S : P.Streams) {
        for (const Instruction *I : S.Members) {
            Saved += RawSaves * timesRun(*I->getParent(), Frequency) / Turns;
        }
    }
    double Cost = StripCost + StreamCost * double(P.Streams.size());

    return Saved > 0 ? unsigned(std::ceil(Cost / Saved)) : 0;
}

// What the test in front asks for; 0 where there are always so many, where nobody knows how many
// there are, and where code is to be small.
unsigned WindowPlanner::leastTurns(const WindowPlan &P, unsigned Paying)
{
    bool IsKnown = P.Turns != nullptr && !F.hasOptSize();

    return IsKnown && Paying > 1 && SE.getUnsignedRangeMin(P.Turns).ult(Paying - 1) ? Paying : 0;
}

// Whether a copy that runs whole is worth its code: all accesses are streams, no store has to mark
// its page on the way, and with as few turns as there are at least, most entries stay on a page.
bool WindowPlanner::mayBeWhole(const WindowPlan &P, unsigned Instructions)
{
    if (P.Turns == nullptr || Instructions > WholeMax || P.Streams.size() > WholeStreamsMax ||
        !P.Guarded.empty() || !P.Rare.empty() || F.hasOptSize()) {
        return false;
    }
    double Fewest = SE.getUnsignedRangeMin(P.Turns).roundToDouble(), Stay = 1;
    for (const Stream &S : P.Streams) {
        double Way = Fewest * double(std::abs(S.Step));

        Stay *= std::max(0.0, 1 - Way / double(S.last(options().FrameBytes)));
    }
    return Stay >= 0.5;
}

// How often entries are short: as if after each iteration as large a share of them ended, so that
// the profile's mean comes out; without a profile it is even chances. What others run makes up for
// those, so that the loop keeps its count. LLVM's own guesses need not be kept.
void WindowPlanner::estimate(WindowPlan &P, bool IsCounted)
{
    double Entries = timesRun(*P.L->getLoopPreheader(), Frequency);
    double Mean = Entries > 0 ? timesRun(*P.L->getHeader(), Frequency) / Entries : 1;

    P.Entries = countOf(*P.L->getLoopPreheader(), Frequency);
    if (IsCounted) {
        BranchProbability Back = Chances.getEdgeProbability(P.L->getLoopLatch(), P.L->getHeader());
        P.Back = double(Back.getNumerator()) / BranchProbability::getDenominator();
    }
    if (P.Least > 0) {
        Mean = std::max(Mean, double(P.Least));
        P.Short = IsCounted ? 1 - std::pow(1 - 1 / Mean, P.Least - 1) : 0.5;
        if (P.Back && P.L->getExitingBlock() == P.L->getLoopLatch()) {
            P.Back = 1 - (1 - P.Short) / (Mean - P.Short * P.Least / 2);
        }
    }
}

std::optional<WindowPlan> WindowPlanner::plan(Loop &L, std::string &Why)
{
    WindowPlan P = {&L, {}, {}, {}, {}, nullptr, nullptr, false, 0, 0, {}, {}};
    unsigned Instructions = 0, Word = F.getDataLayout().getPointerSizeInBits();
    unsigned Trip = SE.getSmallConstantTripCount(&L);

    if (!L.isLoopSimplifyForm() || !L.isSafeToClone()) {
        Why = "its shape cannot be copied";
        return std::nullopt;
    }
    if (Trip != 0 && Trip < ShortTrip) {
        Why = "it runs only " + std::to_string(Trip) + " times";
        return std::nullopt;
    }
    for (BasicBlock *Block : L.blocks()) {
        Instructions += unsigned(Block->size());
        for (Instruction &I : *Block) {
            if (!visit(P, I, Why)) {
                return std::nullopt;
            }
        }
    }
    if (Instructions > InstructionsMax || (F.hasOptSize() && Instructions > InstructionsMax / 8)) {
        Why = "it is too long to be copied";
        return std::nullopt;
    }
    limitStreams(P);
    if (none_of(P.Streams, [](const Stream &S) { return S.Step != 0; })) {
        Why = P.Streams.empty() && P.Guarded.empty() ? "" : "no address walks in small steps";
        return std::nullopt;
    }
    if (L.isLoopExiting(L.getLoopLatch())) {
        const SCEV *Count = SE.getExitCount(&L, L.getLoopLatch());

        if (!isa<SCEVCouldNotCompute>(Count) &&
            SE.getTypeSizeInBits(Count->getType()) <= Word) {
            P.Turns = Count;
        }
    }
    unsigned Paying = payingTurns(P);
    std::optional<double> Turns = countedTurns(L, Frequency);
    if (Turns && (*Turns == 0 || *Turns < Paying)) {
        Why = *Turns == 0 ? "the profile never saw it run"
                          : "it ran only " + std::to_string(unsigned(*Turns)) +
                                " times in the profile";
        return std::nullopt;
    }
    P.Whole = mayBeWhole(P, Instructions);
    P.Least = leastTurns(P, Paying);
    estimate(P, Turns.has_value());
    return P;
}

} // namespace nandwich
