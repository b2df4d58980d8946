// SPDX-License-Identifier: Apache-2.0
#include "hotness.h"

#include "diagnose.h"
#include "passes.h"
#include "slots.h"
#include "windows.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ProfileSummary.h"

#include <map>

using namespace llvm;

namespace nandwich {

constexpr double Seldom = 0.125;    // of the calls of a function
constexpr uint64_t ColdShare = 200; // one in so many accesses may be cold

// On a load or store, and on a function: how often it ran in the profile, with all its copies.
constexpr const char RunsMetadata[] = "nw.runs";

static bool hasProfile(const Module &M)
{
    return M.getProfileSummary(false) != nullptr;
}

static bool isKnown(const Function &F)
{
    return !F.isDeclaration() && F.getEntryCount().has_value();
}

// No access runs more often than it did before anything was copied or moved.
static uint64_t mostRuns(const BasicBlock &Block)
{
    uint64_t Most = 0;

    for (const Instruction &I : Block) {
        Most = std::max(Most, numberOf(I, RunsMetadata).value_or(0));
    }
    if (Most > 0) {
        return Most;
    }
    const Module &M = *Block.getModule();
    std::unique_ptr<ProfileSummary> Summary(ProfileSummary::getFromMD(M.getProfileSummary(false)));
    return Summary != nullptr ? Summary->getMaxCount() : UINT64_MAX;
}

std::optional<uint64_t> countOf(const BasicBlock &Block, const BlockFrequencyInfo &Frequency)
{
    std::optional<uint64_t> Counted = Frequency.getBlockProfileCount(&Block);

    return Counted ? std::min(*Counted, mostRuns(Block)) : Counted;
}

PreservedAnalyses RunsPass::run(Module &M, ModuleAnalysisManager &AM)
{
    auto &FAM = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();

    for (Function &F : M) {
        if (!hasProfile(M) || !isKnown(F)) {
            continue;
        }
        auto &Frequency = FAM.getResult<BlockFrequencyAnalysis>(F);
        F.setMetadata(RunsMetadata, numberNode(M.getContext(), F.getEntryCount()->getCount()));
        for (BasicBlock &Block : F) {
            uint64_t Runs = Frequency.getBlockProfileCount(&Block).value_or(0);
            for (Instruction &I : Block) {
                if (Runs > 0 && getLoadStorePointerOperand(&I) != nullptr) {
                    setNumber(I, RunsMetadata, Runs);
                }
            }
        }
    }
    return PreservedAnalyses::all();
}

using Functions = SmallPtrSet<const Function *, 32>;

// What the calls that are left account for; nothing where not all of them are seen, or one comes
// from a function that has not its own entries again.
static std::optional<uint64_t> callsLeft(const Function &F, const Functions &Restored,
                                         FunctionAnalysisManager &FAM)
{
    uint64_t Sum = 0;

    if (!F.hasLocalLinkage()) {
        return std::nullopt;
    }
    for (const Use &U : F.uses()) {
        auto *Call = dyn_cast<CallBase>(U.getUser());

        if (Call == nullptr || !Call->isCallee(&U) || !isKnown(*Call->getFunction()) ||
            !Restored.contains(Call->getFunction())) {
            return std::nullopt;
        }
        auto &Frequency = FAM.getResult<BlockFrequencyAnalysis>(*Call->getFunction());
        Sum += countOf(*Call->getParent(), Frequency).value_or(0);
    }
    return Sum;
}

void restoreEntries(Module &M, FunctionAnalysisManager &FAM)
{
    std::vector<Function *> Callees = calleesFirst(M);
    Functions Restored;

    for (Function *F : reverse(Callees)) {
        const MDNode *Node = F->getMetadata(RunsMetadata);

        if (Node != nullptr && isKnown(*F)) {
            uint64_t Noted = numberIn(*Node);
            uint64_t Left = std::min(Noted, callsLeft(*F, Restored, FAM).value_or(Noted));
            F->setEntryCount(std::max(F->getEntryCount()->getCount(), Left));
        }
        Restored.insert(F);
    }
}

Hotness::Hotness(Module &M, FunctionAnalysisManager &FAM)
{
    std::map<uint64_t, uint64_t, std::greater<>> Accesses; // by the runs of their block
    uint64_t All = 0, Seen = 0;

    if (!hasProfile(M)) {
        return;
    }
    for (Function &F : M) {
        if (!isKnown(F)) {
            continue;
        }
        auto &Frequency = FAM.getResult<BlockFrequencyAnalysis>(F);
        for (BasicBlock &Block : F) {
            uint64_t Runs = countOf(Block, Frequency).value_or(0);
            uint64_t Here = uint64_t(count_if(Block, [](const Instruction &I) {
                return getLoadStorePointerOperand(&I) != nullptr;
            }));

            Accesses[Runs] += Here;
            All += Runs * Here;
        }
    }
    Least = UINT64_MAX;
    for (auto [Runs, Here] : Accesses) {
        if (Seen >= All - All / ColdShare) {
            break;
        }
        Least = Runs;
        Seen += Runs * Here;
    }
}

bool Hotness::isCold(const BasicBlock &Block, BlockFrequencyInfo &Frequency) const
{
    if (Least && isKnown(*Block.getParent())) {
        return countOf(Block, Frequency).value_or(0) < *Least;
    }
    return timesRun(Block, Frequency) < Seldom;
}

std::optional<double> countedTurns(const Loop &L, BlockFrequencyInfo &Frequency)
{
    const Function &F = *L.getHeader()->getParent();

    if (!hasProfile(*F.getParent()) || !isKnown(F)) {
        return std::nullopt;
    }
    double Entries = double(Frequency.getBlockProfileCount(L.getLoopPreheader()).value_or(0));
    double Runs = double(Frequency.getBlockProfileCount(L.getHeader()).value_or(0));

    return Entries > 0 ? Runs / Entries : 0;
}

void checkProfile(Module &M)
{
    if (hasProfile(M) && none_of(M, isKnown)) {
        refuse(M, "the profile is of another program: it knows no function of this one as it is");
    }
}

} // namespace nandwich
