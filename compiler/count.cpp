// SPDX-License-Identifier: Apache-2.0
// Counting costs one addition a block: a local sum that lives in a register goes to the global
// counter before calls (which may never come back) and at the function's ends.
#include "guards.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace nandwich {

namespace {

class Counter {
public:
    Counter(Function &Code, const Runtime &Library) : F(Code), Guest(Library)
    {
        IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().begin());

        Sum = B.CreateAlloca(Guest.counterType());
        B.CreateStore(zero(), Sum);
    }

    void run(const DenseMap<Instruction *, unsigned> &Guarded);

private:
    Constant *zero() const { return ConstantInt::get(Guest.counterType(), 0); }
    void add(Instruction *Before, unsigned Count);
    void flush(Instruction *Before);
    bool walk(BasicBlock &Block, const DenseMap<Instruction *, unsigned> &Guarded, bool Pending,
              bool Emit);

    Function &F;
    const Runtime &Guest;
    AllocaInst *Sum;
};

void Counter::add(Instruction *Before, unsigned Count)
{
    IRBuilder<> B(Before);
    Value *Old = B.CreateLoad(Guest.counterType(), Sum);

    B.CreateStore(B.CreateAdd(Old, ConstantInt::get(Guest.counterType(), Count)), Sum);
}

void Counter::flush(Instruction *Before)
{
    IRBuilder<> B(Before);
    Value *Total = B.CreateLoad(Guest.counterType(), Guest.accessCounter());
    Value *Here = B.CreateLoad(Guest.counterType(), Sum);

    B.CreateStore(B.CreateAdd(Total, Here), Guest.accessCounter());
    B.CreateStore(zero(), Sum);
}

static bool endsCounting(const Instruction &I)
{
    return clobbersSlots(I) || isa<ReturnInst>(I) || isa<ResumeInst>(I) || isa<UnreachableInst>(I);
}

// A tail call that must stay one has nothing between itself and the return.
static bool followsMustTail(const Instruction &I)
{
    return isa<ReturnInst>(I) && I.getParent()->getTerminatingMustTailCall() != nullptr;
}

// Pending: the sum may be other than zero here. Returns the same for the block's end.
bool Counter::walk(BasicBlock &Block, const DenseMap<Instruction *, unsigned> &Guarded,
                   bool Pending, bool Emit)
{
    unsigned Fresh = 0;

    for (Instruction &I : make_early_inc_range(Block)) {
        Fresh += Guarded.lookup(&I);
        bool Ends = endsCounting(I) && !followsMustTail(I);
        if (Emit && Fresh > 0 && (Ends || I.isTerminator())) {
            add(&I, Fresh);
        }
        Pending = Pending || Fresh > 0;
        if (Ends || I.isTerminator()) {
            Fresh = 0;
        }
        if (Ends && Pending) {
            if (Emit) {
                flush(&I);
            }
            Pending = false;
        }
    }
    return Pending;
}

void Counter::run(const DenseMap<Instruction *, unsigned> &Guarded)
{
    DenseMap<BasicBlock *, bool> PendingAtEnd;
    auto PendingAtStart = [&](BasicBlock &Block) {
        return any_of(predecessors(&Block), [&](BasicBlock *P) { return PendingAtEnd[P]; });
    };

    for (bool Changed = true; Changed;) {
        Changed = false;
        for (BasicBlock &Block : F) {
            bool End = walk(Block, Guarded, PendingAtStart(Block), false);

            Changed = Changed || End != PendingAtEnd[&Block];
            PendingAtEnd[&Block] = End;
        }
    }
    for (BasicBlock &Block : F) {
        walk(Block, Guarded, PendingAtStart(Block), true);
    }
    DominatorTree DT(F);
    PromoteMemToReg({Sum}, DT);
}

} // namespace

void countAccesses(Function &F, const Runtime &Guest, const AccessList &List)
{
    DenseMap<Instruction *, unsigned> Guarded;

    for (const Access &A : List.All) {
        Guarded[A.I]++;
    }
    for (Instruction *I : List.Counted) {
        Guarded[I]++;
    }
    if (!Guarded.empty()) {
        Counter(F, Guest).run(Guarded);
    }
}

} // namespace nandwich
