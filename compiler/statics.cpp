// SPDX-License-Identifier: Apache-2.0
#include "statics.h"

#include "frequency.h"
#include "names.h"
#include "options.h"
#include "plain.h"
#include "traffic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace nandwich {

constexpr uint64_t WordBytes = 4; // a budget is counted out in these
constexpr uint64_t MostSteps = uint64_t(1) << 26; // takes 8 MB
constexpr double ColdShare = 1e7; // a byte has one access in so many, or more
constexpr unsigned MostLeft = 8; // told of what had to stay

static bool mayBeKept(const Static &Item, uint64_t Bytes)
{
    return Item.Reason == Against::Nothing && Item.Bytes <= Bytes;
}

// Those with most accesses a byte; the hotter one of equals.
static std::vector<bool> denseFirst(ArrayRef<Static> Items, uint64_t Bytes)
{
    std::vector<size_t> Order(Items.size());
    std::vector<bool> Taken(Items.size());

    for (size_t I = 0; I < Order.size(); I++) {
        Order[I] = I;
    }
    stable_sort(Order, [&](size_t A, size_t B) {
        return Items[A].Accesses * double(Items[B].Bytes) >
               Items[B].Accesses * double(Items[A].Bytes);
    });
    for (size_t I : Order) {
        if (mayBeKept(Items[I], Bytes)) {
            Taken[I] = true;
            Bytes -= Items[I].Bytes;
        }
    }
    return Taken;
}

std::vector<bool> mostIn(ArrayRef<Static> Items, uint64_t Bytes)
{
    size_t Words = size_t(Bytes / WordBytes), Count = Items.size();
    uint64_t Sum = 0;

    for (const Static &Item : Items) {
        Sum += mayBeKept(Item, Bytes) ? Item.Bytes : 0;
    }
    if (Sum <= Bytes || Count * uint64_t(Words + 1) > MostSteps) {
        return denseFirst(Items, Bytes);
    }
    // Best[W]: the most accesses W words can have of the items so far. Uses[I]: where item I is in.
    std::vector<double> Best(Words + 1, 0.0);
    std::vector<std::vector<bool>> Uses(Count);
    for (size_t I = 0; I < Count; I++) {
        size_t Own = size_t(Items[I].Bytes / WordBytes);

        Uses[I].resize(Words + 1);
        for (size_t W = Words + 1; mayBeKept(Items[I], Bytes) && W-- > Own;) {
            if (Best[W - Own] + Items[I].Accesses > Best[W]) {
                Best[W] = Best[W - Own] + Items[I].Accesses;
                Uses[I][W] = true;
            }
        }
    }
    std::vector<bool> Taken(Count);
    for (size_t I = Count, W = Words; I-- > 0;) {
        Taken[I] = Uses[I][W];
        W -= Taken[I] ? size_t(Items[I].Bytes / WordBytes) : 0;
    }
    return Taken;
}

// Hottest first; names, then the order of the module decide between equals.
static std::vector<Static> collect(Module &M, const Traffic &Known)
{
    const DataLayout &DL = M.getDataLayout();
    std::vector<Static> Items;

    for (GlobalVariable &Global : M.globals()) {
        // What another file may define otherwise is virtual there.
        if (!isVirtualGlobal(Global) || Global.isInterposable()) {
            continue;
        }
        Align Place = std::max(DL.getPreferredAlign(&Global), Align(WordBytes));
        uint64_t Bytes = alignTo(DL.getTypeAllocSize(Global.getValueType()), Place);
        double Accesses = Known.to(Global);
        bool IsCold = Accesses * ColdShare <= Known.all() * double(Bytes);
        Items.push_back({&Global, Bytes, Accesses,
                         IsCold ? Against::Cold : Against::Nothing, false});
    }
    stable_sort(Items, [](const Static &A, const Static &B) {
        return A.Accesses != B.Accesses ? A.Accesses > B.Accesses
                                        : A.Global->getName() < B.Global->getName();
    });
    return Items;
}

static json::Value share(double Part, double All)
{
    return All > 0 ? std::round(Part / All * 1e6) / 1e6 : 0.0;
}

static json::Object described(const Static &Item, double All)
{
    return json::Object{{"name", json::fixUTF8(Item.Global->getName())},
                        {"bytes", int64_t(Item.Bytes)},
                        {"share", share(Item.Accesses, All)}};
}

// The share of all accesses that half the budget, all of it and somewhat more would take.
static json::Array coverage(ArrayRef<Static> Items, uint64_t Budget, double All)
{
    json::Array Told;

    for (uint64_t Bytes : {Budget / 2, Budget, Budget + 1024, Budget + 4096}) {
        std::vector<bool> Taken = mostIn(Items, Bytes);
        double Sum = 0;

        for (size_t I = 0; I < Items.size(); I++) {
            Sum += Taken[I] ? Items[I].Accesses : 0;
        }
        Told.push_back(json::Object{{"bytes", int64_t(Bytes)}, {"share", share(Sum, All)}});
    }
    return Told;
}

static std::string told(ArrayRef<Static> Items, uint64_t Used, double All)
{
    json::Array Kept, Left;

    for (const Static &Item : Items) {
        json::Object One = described(Item, All);

        if (Item.Kept) {
            Kept.push_back(std::move(One));
        } else if (Item.Accesses > 0 && Left.size() < MostLeft) {
            One["why"] = Item.Reason == Against::Cold ? "cold" : "room";
            Left.push_back(std::move(One));
        }
    }
    return formatv("{0}", json::Value(json::Object{
                              {"budget_bytes", int64_t(options().StaticsBytes)},
                              {"bytes", int64_t(Used)},
                              {"kept", std::move(Kept)},
                              {"left", std::move(Left)},
                              {"coverage", coverage(Items, options().StaticsBytes, All)}}));
}

static void note(Module &M, StringRef Text, uint64_t Used)
{
    auto *Ty = Type::getInt32Ty(M.getContext());
    auto *Bytes = new GlobalVariable(M, Ty, true, GlobalValue::ExternalLinkage,
                                     ConstantInt::get(Ty, Used), StaticsSymbol);
    std::string Quoted;

    for (char C : Text) {
        Quoted += C == '"' || C == '\\' ? std::string("\\") + C : std::string(1, C);
    }
    appendToUsed(M, {Bytes});
    M.appendModuleInlineAsm((Twine(".pushsection ") + StaticsSection + ",\"\"\n.ascii \"" + Quoted +
                             "\"\n.popsection\n")
                                .str());
}

// For -Rpass=nandwich. A global has no place that a remark could name: the program's start it is.
static void remark(Module &M, const Static &Item)
{
    const Function *Start = M.getFunction("main");

    if (Start != nullptr && !Start->isDeclaration()) {
        OptimizationRemark Told("nandwich", "InRam", Start);

        Told << formatv("'{0}' stays in RAM: {1} bytes", Item.Global->getName(), Item.Bytes).str();
        M.getContext().diagnose(Told);
    }
}

void keepStatics(Module &M, FunctionAnalysisManager &FAM)
{
    uint64_t Used = 0;

    if (options().StaticsBytes == 0) {
        return;
    }
    PlainMemory Plain(M);
    Frequency Often(M, FAM);
    Traffic Known(M, Plain, Often);
    std::vector<Static> Items = collect(M, Known);
    std::vector<bool> Taken = mostIn(Items, options().StaticsBytes);

    for (size_t I = 0; I < Items.size(); I++) {
        if (Taken[I]) {
            Items[I].Kept = true;
            Items[I].Global->setSection("");
            Used += Items[I].Bytes;
            remark(M, Items[I]);
        }
    }
    note(M, told(Items, Used, Known.all()), Used);
}

} // namespace nandwich
