// SPDX-License-Identifier: Apache-2.0
// Page windows: a loop is cut into strips in which every stream of accesses stays on one page. At a
// strip's entry each stream's page is held by a slot of its own; inside, the original body runs on
// raw pointers. What straddles or has no page yet is one iteration of a guarded copy of the body. A
// small loop all of which lies on pages that its slots hold runs without strips; one that turns out
// to be too short to pay for a strip runs as it would without windows.
#ifndef NANDWICH_COMPILER_WINDOWS_H
#define NANDWICH_COMPILER_WINDOWS_H

#include "plain.h"
#include "runtime.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <optional>
#include <string>
#include <vector>

namespace nandwich {

// Accesses of one loop that walk together: the same start but for a constant, the same step.
struct Stream {
    const llvm::SCEV *Start; // address of the key at the loop's entry
    int64_t Step;            // bytes an iteration; 0: stands still
    int64_t Low, High;       // bytes touched in one iteration, from the key
    bool Write;              // a store that every iteration makes
    std::vector<llvm::Instruction *> Members;
    unsigned Slot;
    llvm::Value *First; // address of Low in the first iteration, in front of the loop

    // Where on a page an iteration's bytes may begin at most.
    uint64_t last(uint64_t FrameBytes) const { return FrameBytes - uint64_t(High - Low); }
    // Iterations after the first that may stay on the page of the first one; Step is not 0.
    uint64_t turnsOnPage(uint64_t FrameBytes) const
    {
        return last(FrameBytes) / uint64_t(Step < 0 ? -Step : Step);
    }
};

// A loop that gets windows.
struct WindowPlan {
    llvm::Loop *L;
    std::vector<Stream> Streams;
    std::vector<llvm::Instruction *> Guarded; // accesses that keep their guards
    llvm::SmallPtrSet<llvm::Instruction *, 8> Rare; // stores that not every iteration makes
    llvm::SmallPtrSet<llvm::Instruction *, 8> Always; // accesses that run once an iteration
    const llvm::SCEV *Turns; // times the latch goes back, or null: its own test stays
    llvm::Value *TurnsValue;
    bool Whole; // in front: does all of the loop lie on the pages that are held?
    unsigned Least; // iterations that pay for windows, tested in front; 0: no test
    double Short; // share of entries that have fewer than Least
    std::optional<uint64_t> Entries; // by a profile
    std::optional<double> Back; // share of the latch's runs that go back, of others, by a profile
};

// What is in the way, or a plan whose values in front of the loop are not made yet.
struct WindowPlanner {
    llvm::Function &F;
    const PlainMemory &Plain;
    llvm::BlockFrequencyInfo &Frequency;
    llvm::BranchProbabilityInfo &Chances;
    llvm::ScalarEvolution &SE;
    llvm::DominatorTree &DT;
    llvm::LoopInfo &LI;

    std::optional<WindowPlan> plan(llvm::Loop &L, std::string &Why);

private:
    bool addStream(WindowPlan &P, llvm::Instruction &I, llvm::Value *Pointer, uint64_t Bytes,
                   bool Store);
    const llvm::SCEV *flatten(const llvm::SCEV *S, llvm::Loop &L, int64_t &Low, int64_t &High);
    bool visit(WindowPlan &P, llvm::Instruction &I, std::string &Why);
    void limitStreams(WindowPlan &P);
    unsigned payingTurns(const WindowPlan &P);
    unsigned leastTurns(const WindowPlan &P, unsigned Paying);
    bool mayBeWhole(const WindowPlan &P, unsigned Instructions);
    void estimate(WindowPlan &P, bool IsCounted);
};

// Rewrites the loop. Analyses of the function are void afterwards.
void buildWindow(const WindowPlan &P, const Runtime &Guest);

// On an access inside a window: it needs no guard. The operand says whether it is counted in place.
constexpr const char WindowMetadata[] = "nw.window";
// On an access of the guarded copy: the slot of its stream, or -1. It runs seldom.
constexpr const char SlotMetadata[] = "nw.slot";
// On a guarded access inside a window: a mask of slots the window's streams are held by.
constexpr const char ApartMetadata[] = "nw.apart";

llvm::MDNode *numberNode(llvm::LLVMContext &C, uint64_t Number);
uint64_t numberIn(const llvm::MDNode &Node);
void setNumber(llvm::Instruction &I, const char *Kind, uint64_t Number);
std::optional<uint64_t> numberOf(const llvm::Instruction &I, const char *Kind);

} // namespace nandwich

#endif
