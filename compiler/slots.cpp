// SPDX-License-Identifier: Apache-2.0
// A slot key is an address without its constant part, cut into pieces where the constants lie
// apart: two rows of a picture, or the first and the last field of a large struct, seldom share a
// page. Keys are dealt the hottest first, each to the slot least used by what runs at the same
// time: the function itself, the functions it calls, and, as a tie-break, all others.
#include "slots.h"

#include "options.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/InstIterator.h"

#include <algorithm>
#include <limits>

using namespace llvm;

namespace nandwich {

TargetsByType findTargets(const Module &M)
{
    TargetsByType Targets;

    for (const Function &F : M) {
        if (!F.isDeclaration() && F.hasAddressTaken()) {
            Targets[F.getFunctionType()].push_back(&F);
        }
    }
    return Targets;
}

SlotDealer::SlotDealer(const Module &M)
    : Targets(findTargets(M)), Everywhere(options().Slots, 0.0)
{
}

const SlotDealer::Heat *SlotDealer::heatOf(const CallBase &Call) const
{
    const Function *Callee = Call.getCalledFunction();

    if (Callee == nullptr) {
        // Through a pointer: any target of that type will do as an estimate; the last one dealt.
        auto At = Targets.find(Call.getFunctionType());
        if (At == Targets.end()) {
            return nullptr;
        }
        for (const Function *Target : reverse(At->second)) {
            auto Found = HeatByFunction.find(Target);
            if (Found != HeatByFunction.end()) {
                return &Found->second;
            }
        }
        return nullptr;
    }
    auto Found = HeatByFunction.find(Callee);
    return Found == HeatByFunction.end() ? nullptr : &Found->second;
}

double timesRun(const BasicBlock &Block, BlockFrequencyInfo &Frequency)
{
    double Entry = double(Frequency.getEntryFreq().getFrequency());

    return Entry > 0 ? double(Frequency.getBlockFreq(&Block).getFrequency()) / Entry : 1.0;
}

SlotDealer::Heat SlotDealer::calleesOf(Function &F, BlockFrequencyInfo &Frequency) const
{
    Heat Sum(options().Slots, 0.0);

    for (Instruction &I : instructions(F)) {
        const auto *Call = dyn_cast<CallBase>(&I);
        const Heat *Callee = Call != nullptr ? heatOf(*Call) : nullptr;

        if (Callee != nullptr) {
            double Times = timesRun(*I.getParent(), Frequency);
            for (unsigned Slot = 0; Slot < Sum.size(); Slot++) {
                Sum[Slot] += Times * (*Callee)[Slot];
            }
        }
    }
    return Sum;
}

namespace {

// Accesses with one key and offsets near each other: likely on one page.
struct Piece {
    std::vector<Access *> Members;
    double Weight = 0;
    uint64_t Apart = 0; // slots it must not have
};

void cut(std::vector<Access *> &SameKey, std::vector<Piece> &Pieces)
{
    int64_t Start = 0, Last = 0, Gap = options().FrameBytes / 8;

    std::stable_sort(SameKey.begin(), SameKey.end(),
                     [](const Access *A, const Access *B) { return A->Offset < B->Offset; });
    for (Access *A : SameKey) {
        if (A == SameKey.front() || A->Offset - Last > Gap ||
            A->Offset - Start >= int64_t(options().FrameBytes)) {
            Start = A->Offset;
            Pieces.emplace_back();
        }
        Last = A->Offset;
        Pieces.back().Members.push_back(A);
    }
}

} // namespace

void SlotDealer::deal(Function &F, BlockFrequencyInfo &Frequency, std::vector<Access> &Accesses)
{
    // An address in two windows is two: what one keeps off, the other may leave free. Taken as one,
    // it could find no slot left, and get one that holds a window's page.
    MapVector<std::pair<const SCEV *, uint64_t>, std::vector<Access *>> ByKey;
    std::vector<Piece> Pieces;
    Heat Own = calleesOf(F, Frequency);

    // What windows hold is as busy as their loops, seldom as the guarded copies run.
    for (Access &A : Accesses) {
        if (A.Fixed >= 0) {
            A.Slot = unsigned(A.Fixed);
            Own[A.Slot] += 64 * timesRun(*A.I->getParent(), Frequency);
        }
    }
    for (Access &A : Accesses) {
        if (!A.Aside && A.Fixed < 0) {
            ByKey[{A.Key, A.Apart}].push_back(&A);
        }
    }
    for (auto &Entry : ByKey) {
        cut(Entry.second, Pieces);
    }
    for (Piece &P : Pieces) {
        P.Apart = P.Members.front()->Apart;
        for (const Access *A : P.Members) {
            P.Weight += timesRun(*A->I->getParent(), Frequency);
        }
    }
    std::stable_sort(Pieces.begin(), Pieces.end(),
                     [](const Piece &A, const Piece &B) { return A.Weight > B.Weight; });
    DenseSet<std::pair<Loop *, unsigned>> Taken; // slots, by the loop they are resident in
    double Hottest = *std::max_element(Everywhere.begin(), Everywhere.end());
    for (const Piece &P : Pieces) {
        // The others weigh less than the least of one's own.
        auto Used = [&](unsigned Slot) {
            double Others = Hottest > 0 ? Everywhere[Slot] / Hottest : 0;
            if ((P.Apart >> Slot & 1) != 0) {
                return std::numeric_limits<double>::infinity();
            }
            return Own[Slot] + P.Weight * Others / 4;
        };
        unsigned Best = Next;

        for (unsigned Step = 0; Step < Own.size(); Step++) {
            unsigned Slot = (Next + Step) % unsigned(Own.size());
            Best = Used(Slot) < Used(Best) ? Slot : Best;
        }
        // Two addresses that take turns on one slot miss at every access.
        Loop *Place = P.Members.front()->Resident;
        bool Crowded = Place != nullptr && !Taken.insert({Place, Best}).second;
        for (Access *A : P.Members) {
            A->Slot = Best;
            A->Crowded = Crowded;
        }
        Own[Best] += P.Weight;
        Next = (Best + 1) % unsigned(Own.size());
    }
    Heat &Before = HeatByFunction[&F];
    for (unsigned Slot = 0; Slot < Own.size(); Slot++) {
        Everywhere[Slot] += Own[Slot] - (Before.empty() ? 0.0 : Before[Slot]);
    }
    HeatByFunction[&F] = std::move(Own);
}

std::vector<Function *> calleesFirst(Module &M)
{
    std::vector<Function *> Order;
    CallGraph Graph(M);

    for (auto Component = scc_begin(&Graph); !Component.isAtEnd(); ++Component) {
        for (CallGraphNode *Node : *Component) {
            if (Function *F = Node->getFunction()) {
                Order.push_back(F);
            }
        }
    }
    return Order;
}

} // namespace nandwich
