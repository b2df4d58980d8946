// SPDX-License-Identifier: Apache-2.0
#include "hotness.h"

#include "diagnose.h"
#include "slots.h"

#include "llvm/IR/Instructions.h"

#include <map>

using namespace llvm;

namespace nandwich {

constexpr double Seldom = 0.125;    // of the calls of a function
constexpr uint64_t ColdShare = 200; // one in so many accesses may be cold

static bool hasProfile(const Module &M)
{
    return M.getProfileSummary(false) != nullptr;
}

static bool isKnown(const Function &F)
{
    return !F.isDeclaration() && F.getEntryCount().has_value();
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
            uint64_t Runs = Frequency.getBlockProfileCount(&Block).value_or(0);
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
        return Frequency.getBlockProfileCount(&Block).value_or(0) < *Least;
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
