// SPDX-License-Identifier: Apache-2.0
// The shape of a loop with windows. In front of a small one, a test whether all of it lies on pages
// that are held leads to a copy on raw pointers; in front of one that may be too short for windows,
// a test leads to a copy with guards:
//
//   strip:  each stream's slot holds its page? else bring it in if that takes no fault
//     all held                          not all
//   window: the original loop, raw,     guarded: a copy of the body with guards, once
//           as far as the pages reach
//   strip.end                           (its latch)
//                 back to strip, or out
//
// Faults and errors come from the guarded copy alone, in the program's own order: a window never
// touches a page before the program does.
#include "options.h"
#include "windows.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <algorithm>

using namespace llvm;

namespace nandwich {

namespace {

constexpr unsigned OftenWhole = 16; // entries that run whole, for one that does not

class Builder {
public:
    Builder(const WindowPlan &Given, const Runtime &Library)
        : P(Given), Guest(Library), L(*Given.L), F(*L.getHeader()->getParent()),
          C(F.getContext()), Header(L.getHeader()), Latch(L.getLoopLatch()),
          OldLatch(Latch), Blocks(L.blocks().begin(), L.blocks().end()),
          OneDoor(L.getExitingBlock() == Latch && P.TurnsValue != nullptr)
    {
    }

    void run();

private:
    struct Held {
        Value *Address, *Tag, *Ok;
    };

    // Where a stream's bytes lie: so far from their addresses. Made in front of the loop.
    struct Raw {
        Value *Delta;
        Instruction *Outside;
        const std::vector<BasicBlock *> &Inside;
    };

    BasicBlock *block(const char *Name) { return BasicBlock::Create(C, Name, &F, Header); }
    ConstantInt *number(uint64_t N) const
    {
        return ConstantInt::get(cast<IntegerType>(Guest.word()), N);
    }
    MDNode *mostly(unsigned Often) const { return MDBuilder(C).createBranchWeights(Often, 1); }
    MDNode *share(double OfFirst) const;
    double pageEnd() const;
    uint64_t last(const Stream &S) const { return S.last(options().FrameBytes); }
    uint64_t slots() const
    {
        uint64_t All = 0;

        for (const Stream &S : P.Streams) {
            All |= uint64_t(1) << S.Slot;
        }
        return All;
    }
    Value *load(IRBuilder<> &B, const Stream &S, SlotField Field) const
    {
        return B.CreateLoad(Guest.word(), Guest.slotField(S.Slot, Field));
    }
    BasicBlock *copyLoop(BasicBlock *Entry, const char *Name, ValueToValueMapTy &Made);
    Value *liesOnPage(IRBuilder<> &B, const Stream &S);
    void runWhole(BasicBlock *Otherwise);
    void moveOut(BasicBlock *Entry, ArrayRef<BasicBlock *> Exits);
    void keepShort();
    void copyBody();
    void openStrip();
    Held holdPage(IRBuilder<> &B, const Stream &S);
    Value *reach(IRBuilder<> &B, const Stream &S, const Held &H) const;
    void enterWindow(IRBuilder<> &B, ArrayRef<Held> Pages);
    void useRaw(IRBuilder<> &B, const Stream &S, Value *Tag);
    Value *moved(Value *Pointer, const Raw &To) const;
    bool moveTo(Instruction &I, const Raw &To, bool IsCounted) const;
    void count(IRBuilder<> &B, Value *Turns, unsigned Accesses);
    void markFirst(Instruction &I, const Stream &S, AllocaInst *Dirty);
    void turnBack();
    void close();
    void fixExits(ValueToValueMapTy &Made);

    const WindowPlan &P;
    const Runtime &Guest;
    Loop &L;
    Function &F;
    LLVMContext &C;
    BasicBlock *Header, *Latch, *OldLatch;
    std::vector<BasicBlock *> Blocks;
    bool OneDoor; // every strip runs to its end
    ValueToValueMapTy Copy; // of the guarded body
    BasicBlock *Strip, *Window, *StripEnd, *Join;
    std::vector<std::pair<PHINode *, PHINode *>> Carried; // of the window's header, of the strip
    PHINode *Done; // iterations so far
    Value *More;   // iterations of this strip after the first
    Value *Left;   // iterations after the first, or null
    std::vector<AllocaInst *> Marks;
    unsigned AtEnd = 0;                   // accesses counted at a strip's end
};

// Weights of a branch that goes to its first successor so often.
MDNode *Builder::share(double OfFirst) const
{
    constexpr double All = 1 << 20;
    double First = std::clamp(OfFirst * All, 1.0, All - 1);

    return MDBuilder(C).createBranchWeights(uint32_t(First), uint32_t(All - First));
}

// The share of iterations after which a page ends.
double Builder::pageEnd() const
{
    int64_t Widest = 1;

    for (const Stream &S : P.Streams) {
        Widest = std::max(Widest, std::abs(S.Step));
    }
    return double(Widest) / options().FrameBytes;
}

// The loop as it is, entered from another block: its header.
BasicBlock *Builder::copyLoop(BasicBlock *Entry, const char *Name, ValueToValueMapTy &Made)
{
    BasicBlock *Before = L.getLoopPreheader();
    SmallVector<BasicBlock *, 8> New;

    for (BasicBlock *Block : Blocks) {
        New.push_back(CloneBasicBlock(Block, Made, Name, &F));
        Made[Block] = New.back();
    }
    Made[Before] = Entry;
    remapInstructionsInBlocks(New, Made);
    Made.erase(Before);
    fixExits(Made);
    return cast<BasicBlock>(Made[Header]);
}

// All that the stream touches lies on the page its slot holds: the lowest of its bytes comes on
// that page before a limit, which is the same for each entry with as many turns.
Value *Builder::liesOnPage(IRBuilder<> &B, const Stream &S)
{
    Value *Lowest = S.First, *Limit = number(last(S) + 1);

    if (S.Step != 0) { // turns enough to leave the page are as bad as more of them
        Value *Turns = B.CreateBinaryIntrinsic(Intrinsic::umin, P.TurnsValue,
                                               number(S.turnsOnPage(options().FrameBytes) + 1));
        Value *Way = B.CreateMul(Turns, number(uint64_t(std::abs(S.Step))));

        Limit = B.CreateBinaryIntrinsic(Intrinsic::usub_sat, Limit, Way);
        Lowest = S.Step < 0 ? B.CreateSub(Lowest, Way) : Lowest;
    }
    Value *Tag = load(B, S, S.Write ? WriteTag : ReadTag);
    return B.CreateICmpULT(B.CreateSub(Lowest, Tag), Limit);
}

// The loop on raw pointers from its first turn to its last.
void Builder::runWhole(BasicBlock *Otherwise)
{
    BasicBlock *Test = Otherwise->getSinglePredecessor(), *Enter = block("nw.whole");
    ValueToValueMapTy Made;
    BasicBlock *First = copyLoop(Enter, ".whole", Made);
    IRBuilder<> B(Test->getTerminator());
    IRBuilder<> E(Enter);
    Value *All = B.getTrue();
    unsigned Counted = 0;
    std::vector<BasicBlock *> Copied;

    for (BasicBlock *Block : Blocks) {
        Copied.push_back(cast<BasicBlock>(Made[Block]));
    }
    Instruction *Last = E.CreateBr(First);
    E.SetInsertPoint(Last);
    for (const Stream &S : P.Streams) {
        All = B.CreateAnd(All, liesOnPage(B, S));
    }
    B.CreateCondBr(All, Enter, Otherwise, mostly(OftenWhole));
    Test->getTerminator()->eraseFromParent();
    for (const Stream &S : P.Streams) {
        Value *Tag = load(E, S, S.Write ? WriteTag : ReadTag);
        Value *Delta = E.CreateSub(load(E, S, SlotField::Base), Tag, "delta");

        for (Instruction *I : S.Members) {
            Counted += moveTo(*cast<Instruction>(Made[I]), {Delta, Last, Copied},
                              P.Always.contains(I));
        }
    }
    count(E, P.TurnsValue, Counted);
}

// The strips become a function of their own: in this one they would keep values alive, and take
// registers from the copy that runs whole.
void Builder::moveOut(BasicBlock *Entry, ArrayRef<BasicBlock *> Exits)
{
    SmallSetVector<BasicBlock *, 16> Region;

    Region.insert(Entry);
    for (unsigned N = 0; N < Region.size(); N++) {
        for (BasicBlock *Next : successors(Region[N])) {
            if (!is_contained(Exits, Next)) {
                Region.insert(Next);
            }
        }
    }
    CodeExtractor Extractor(Region.getArrayRef(), nullptr, false, nullptr, nullptr, nullptr,
                            false, false, nullptr, "strips");
    if (Function *Strips = Extractor.extractCodeRegion(CodeExtractorAnalysisCache(F))) {
        Strips->removeFnAttr(Attribute::AlwaysInline);
        Strips->removeFnAttr("interrupt"); // it is called, and returns as functions do
        Strips->removeFnAttr("signal");
        Strips->addFnAttr(Attribute::NoInline);
        Strips->setSection(F.getSection());
        if (P.Entries) {
            Strips->setEntryCount(*P.Entries / (OftenWhole + 1));
        }
    }
}

// The loop as it is, for what is too short: it gets guards like any other.
void Builder::keepShort()
{
    BasicBlock *Before = L.getLoopPreheader(), *Test = Before->getSinglePredecessor();
    ValueToValueMapTy Made;
    BasicBlock *First = copyLoop(Test, ".short", Made);
    IRBuilder<> B(Test->getTerminator());

    B.CreateCondBr(B.CreateICmpULT(P.TurnsValue, number(P.Least - 1), "short"), First, Before,
                   share(P.Short));
    Test->getTerminator()->eraseFromParent();
    auto *Last = cast<BranchInst>(cast<BasicBlock>(Made[Latch])->getTerminator());
    bool GoesFirst = Last->getSuccessor(0) == Made[Header];
    Last->setMetadata(LLVMContext::MD_prof, share(GoesFirst ? 1 - 2.0 / P.Least : 2.0 / P.Least));
}

// The guarded body: an iteration, entered at its header, with the strip's values.
void Builder::copyBody()
{
    SmallVector<BasicBlock *, 8> New;

    for (BasicBlock *Block : Blocks) {
        BasicBlock *Made = CloneBasicBlock(Block, Copy, ".guarded", &F);

        Copy[Block] = Made;
        New.push_back(Made);
    }
    for (auto &[Inner, Outer] : Carried) {
        cast<PHINode>(Copy[Inner])->eraseFromParent();
        Copy[Inner] = Outer;
    }
    remapInstructionsInBlocks(New, Copy);
    cast<BasicBlock>(Copy[Latch])->getTerminator()->replaceSuccessorWith(
        cast<BasicBlock>(Copy[Header]), Join);
    cast<BasicBlock>(Copy[Latch])->getTerminator()->setMetadata(LLVMContext::MD_loop, nullptr);
    for (const Stream &S : P.Streams) {
        for (Instruction *I : S.Members) {
            setNumber(*cast<Instruction>(Copy[I]), SlotMetadata, S.Slot);
        }
    }
    for (Instruction *I : P.Guarded) {
        setNumber(*cast<Instruction>(Copy[I]), SlotMetadata, ~uint64_t(0));
    }
}

// Values that leave the loop leave a copy of it by the same doors.
void Builder::fixExits(ValueToValueMapTy &Made)
{
    SmallVector<BasicBlock *, 4> Exits;

    L.getUniqueExitBlocks(Exits);
    for (BasicBlock *Exit : Exits) {
        for (PHINode &Phi : Exit->phis()) {
            unsigned Known = Phi.getNumIncomingValues();

            for (unsigned N = 0; N < Known; N++) {
                auto From = Made.find(Phi.getIncomingBlock(N));
                Value *V = Phi.getIncomingValue(N);

                if (From != Made.end()) {
                    auto At = Made.find(V);
                    Phi.addIncoming(At != Made.end() ? static_cast<Value *>(At->second) : V,
                                    cast<BasicBlock>(From->second));
                }
            }
        }
    }
}

void Builder::openStrip()
{
    BasicBlock *Before = L.getLoopPreheader();
    IRBuilder<> B(Strip);

    for (PHINode &Phi : Header->phis()) {
        PHINode *Outer = B.CreatePHI(Phi.getType(), 2, Phi.getName() + ".strip");

        Outer->addIncoming(Phi.getIncomingValueForBlock(Before), Before);
        Carried.push_back({&Phi, Outer});
    }
    Done = B.CreatePHI(Guest.word(), 2, "done");
    Done->addIncoming(number(0), Before);
    Before->getTerminator()->replaceSuccessorWith(Header, Strip);
    for (auto &[Inner, Outer] : Carried) {
        int Index = Inner->getBasicBlockIndex(Before);

        Inner->setIncomingBlock(unsigned(Index), Window);
        Inner->setIncomingValue(unsigned(Index), Outer);
    }
}

// The stream's slot holds the page of this strip's first iteration, if the page is resident.
Builder::Held Builder::holdPage(IRBuilder<> &B, const Stream &S)
{
    SlotField Field = S.Write ? WriteTag : ReadTag;
    Value *Address = B.CreateAdd(S.First, B.CreateMul(Done, number(uint64_t(S.Step))));
    Value *Tag = load(B, S, Field);
    Value *Hit = B.CreateICmpULE(B.CreateSub(Address, Tag), number(last(S)));
    BasicBlock *From = B.GetInsertBlock(), *Miss = block("nw.hold"), *Next = block("nw.held");

    B.CreateCondBr(Hit, Next, Miss, mostly(16));
    IRBuilder<> M(Miss);
    M.SetCurrentDebugLocation(Latch->getTerminator()->getDebugLoc());
    Guest.window(M, Guest.slot(S.Slot), Address, S.Write);
    Value *Fresh = load(M, S, Field);
    Value *Found = M.CreateICmpULE(M.CreateSub(Address, Fresh), number(last(S)));
    M.CreateBr(Next);
    B.SetInsertPoint(Next);
    PHINode *TagNow = B.CreatePHI(Guest.word(), 2, "tag");
    PHINode *Ok = B.CreatePHI(B.getInt1Ty(), 2, "held");
    TagNow->addIncoming(Tag, From);
    TagNow->addIncoming(Fresh, Miss);
    Ok->addIncoming(B.getTrue(), From);
    Ok->addIncoming(Found, Miss);
    return {Address, TagNow, Ok};
}

// Iterations after the first whose bytes stay on the page; null: all.
Value *Builder::reach(IRBuilder<> &B, const Stream &S, const Held &H) const
{
    Value *Offset = B.CreateSub(H.Address, H.Tag);

    if (S.Step == 0) {
        return nullptr;
    }
    Value *Room = S.Step > 0 ? B.CreateSub(number(last(S)), Offset) : Offset;
    return B.CreateUDiv(Room, number(uint64_t(std::abs(S.Step))));
}

void Builder::enterWindow(IRBuilder<> &B, ArrayRef<Held> Pages)
{
    More = Left;
    for (unsigned N = 0; N < Pages.size(); N++) {
        Value *Here = reach(B, P.Streams[N], Pages[N]);

        if (Here != nullptr) {
            More = More != nullptr ? B.CreateBinaryIntrinsic(Intrinsic::umin, More, Here) : Here;
        }
    }
    B.SetInsertPoint(B.CreateBr(Header));
    for (unsigned N = 0; N < Pages.size(); N++) {
        useRaw(B, P.Streams[N], Pages[N].Tag);
    }
}

// A store that not every iteration makes marks its page when it comes to it: a page that is read
// only must not be written back.
void Builder::markFirst(Instruction &I, const Stream &S, AllocaInst *Dirty)
{
    BasicBlock *Head = I.getParent(), *Tail = Head->splitBasicBlock(I.getIterator(), "nw.marked");
    BasicBlock *Mark = BasicBlock::Create(C, "nw.mark", &F, Tail);
    IRBuilder<> B(Head->getTerminator());

    B.CreateCondBr(B.CreateLoad(B.getInt1Ty(), Dirty), Tail, Mark, mostly(2000));
    Head->getTerminator()->eraseFromParent();
    IRBuilder<> M(Mark);
    M.SetCurrentDebugLocation(I.getDebugLoc());
    Guest.dirty(M, Guest.slot(S.Slot));
    M.CreateStore(M.getTrue(), Dirty);
    M.CreateBr(Tail);
    Blocks.push_back(Tail);
    if (Head == Latch) {
        Latch = Tail;
    }
}

// The accesses go to where the page lies. The pointers keep what they are based on, so what could
// not alias still cannot.
void Builder::useRaw(IRBuilder<> &W, const Stream &S, Value *Tag)
{
    Value *Delta = W.CreateSub(load(W, S, SlotField::Base), Tag, "delta");
    bool Rare = !S.Write && any_of(S.Members, [&](Instruction *I) { return P.Rare.contains(I); });
    AllocaInst *Dirty = nullptr;

    if (Rare) {
        IRBuilder<> AtEntry(&F.getEntryBlock(), F.getEntryBlock().begin());

        Dirty = AtEntry.CreateAlloca(AtEntry.getInt1Ty());
        Marks.push_back(Dirty);
        W.CreateStore(W.CreateICmpEQ(load(W, S, WriteTag), Tag), Dirty);
    }
    for (Instruction *I : S.Members) {
        if (Dirty != nullptr && P.Rare.contains(I)) {
            markFirst(*I, S, Dirty);
        }
        AtEnd += moveTo(*I, {Delta, W.GetInsertBlock()->getTerminator(), Blocks},
                        P.Always.contains(I));
    }
}

// The pointer, moved where it begins if that is in front of the loop: inside, its steps are those
// it had. Else null.
Value *Builder::moved(Value *Pointer, const Raw &To) const
{
    auto *Made = dyn_cast<Instruction>(Pointer);

    if (Made == nullptr || !is_contained(To.Inside, Made->getParent())) {
        return IRBuilder<>(To.Outside).CreatePtrAdd(Pointer, To.Delta);
    }
    auto *Step = dyn_cast<GetElementPtrInst>(Made);
    Value *From = Step != nullptr ? moved(Step->getPointerOperand(), To) : nullptr;
    if (From == nullptr) {
        return nullptr;
    }
    SmallVector<Value *, 4> Indices(Step->indices());
    return IRBuilder<>(Step).CreateGEP(Step->getSourceElementType(), From, Indices);
}

// The access goes to where the page lies. True: it is counted for all turns at once.
bool Builder::moveTo(Instruction &I, const Raw &To, bool IsCounted) const
{
    unsigned Operand = isa<StoreInst>(I) ? 1 : 0;
    Value *Pointer = I.getOperand(Operand);
    Value *There = moved(Pointer, To);

    I.setOperand(Operand,
                 There != nullptr ? There : IRBuilder<>(&I).CreatePtrAdd(Pointer, To.Delta));
    for (unsigned Kind : {LLVMContext::MD_invariant_load, LLVMContext::MD_invariant_group}) {
        I.setMetadata(Kind, nullptr);
    }
    Align Most = std::min(Align(16), getLoadStoreAlignment(&I));
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
        Load->setAlignment(Most);
    } else {
        cast<StoreInst>(I).setAlignment(Most);
    }
    IsCounted = IsCounted && OneDoor;
    setNumber(I, WindowMetadata, !IsCounted);
    return IsCounted;
}

// The window's loop ends after More turns: in place of the latch's own test where that is known to
// come later, else after it.
void Builder::turnBack()
{
    BasicBlock *Back = Latch;
    auto *Old = cast<BranchInst>(Latch->getTerminator());
    MDNode *LoopNode = Old->getMetadata(LLVMContext::MD_loop);
    DebugLoc Place = Old->getDebugLoc();
    IRBuilder<> H(Header, Header->begin());
    PHINode *Turn = H.CreatePHI(Guest.word(), 2, "turn");
    double Ends = pageEnd(); // the share of runs of this test that end the strip

    if (Left != nullptr) {
        BasicBlock *Exit = Old->getSuccessor(Old->getSuccessor(0) == Header ? 1 : 0);

        Ends = 1 - P.Back.value_or(1) * (1 - Ends);
        for (PHINode &Phi : Exit->phis()) {
            Phi.replaceIncomingBlockWith(Latch, StripEnd);
        }
        Old->eraseFromParent();
        IRBuilder<> E(StripEnd);
        E.CreateCondBr(E.CreateICmpEQ(More, Left), Exit, Join,
                       P.Back ? share((1 - *P.Back) / Ends) : nullptr);
    } else {
        Back = block("nw.turn");
        Old->replaceSuccessorWith(Header, Back);
        Old->setMetadata(LLVMContext::MD_loop, nullptr);
        for (PHINode &Phi : Header->phis()) {
            if (&Phi != Turn) {
                Phi.replaceIncomingBlockWith(Latch, Back);
            }
        }
        BranchInst::Create(Join, StripEnd);
    }
    IRBuilder<> B(Back);
    B.SetCurrentDebugLocation(Place);
    Value *Next = B.CreateAdd(Turn, number(1), "", true);
    BranchInst *Branch = B.CreateCondBr(B.CreateICmpEQ(Turn, More), StripEnd, Header,
                                        P.Back ? share(Ends) : nullptr);
    Branch->setMetadata(LLVMContext::MD_loop, LoopNode);
    Turn->addIncoming(number(0), Window);
    Turn->addIncoming(Next, Back);
}

// So many accesses in each turn, of which there are Turns after the first.
void Builder::count(IRBuilder<> &B, Value *Turns, unsigned Accesses)
{
    if (!options().Count || Accesses == 0) {
        return;
    }
    Type *Ty = Guest.counterType();
    Value *All = B.CreateZExtOrTrunc(B.CreateAdd(Turns, number(1)), Ty);
    Value *Old = B.CreateLoad(Ty, Guest.accessCounter());

    B.CreateStore(B.CreateAdd(Old, B.CreateMul(All, ConstantInt::get(Ty, Accesses))),
                  Guest.accessCounter());
}

void Builder::close()
{
    BasicBlock *CopiedLatch = cast<BasicBlock>(Copy[OldLatch]);
    IRBuilder<> E(StripEnd, StripEnd->begin());
    IRBuilder<> J(Join);
    Value *After = E.CreateAdd(E.CreateAdd(Done, More), number(1));
    IRBuilder<> G(CopiedLatch->getTerminator());
    Value *One = G.CreateAdd(Done, number(1));

    for (auto &[Inner, Outer] : Carried) {
        PHINode *Phi = J.CreatePHI(Inner->getType(), 2);
        Value *V = nullptr;

        for (unsigned N = 0; N < Inner->getNumIncomingValues(); N++) {
            V = Inner->getIncomingBlock(N) != Window ? Inner->getIncomingValue(N) : V;
        }
        auto At = Copy.find(V);
        Phi->addIncoming(V, StripEnd);
        Phi->addIncoming(At != Copy.end() ? static_cast<Value *>(At->second) : V, CopiedLatch);
        Outer->addIncoming(Phi, Join);
    }
    PHINode *Sum = J.CreatePHI(Guest.word(), 2);
    Sum->addIncoming(After, StripEnd);
    Sum->addIncoming(One, CopiedLatch);
    Done->addIncoming(Sum, Join);
    J.CreateBr(Strip);
}

void Builder::run()
{
    BasicBlock *Entry = L.getLoopPreheader();
    SmallVector<BasicBlock *, 4> Exits;

    L.getUniqueExitBlocks(Exits);
    if (P.Least > 0) {
        keepShort();
        Entry = Entry->getSinglePredecessor();
    }
    if (P.Whole) {
        runWhole(Entry);
    }
    Strip = block("nw.strip");
    Window = block("nw.window");
    StripEnd = block("nw.strip.end");
    Join = block("nw.join");
    openStrip();
    copyBody();
    fixExits(Copy);

    IRBuilder<> B(Strip);
    std::vector<Held> Pages;
    Left = P.TurnsValue != nullptr ? B.CreateSub(P.TurnsValue, Done, "left") : nullptr;
    Value *All = B.getTrue();
    for (const Stream &S : P.Streams) {
        Pages.push_back(holdPage(B, S));
    }
    for (const Held &H : Pages) {
        All = B.CreateAnd(All, H.Ok);
    }
    B.CreateCondBr(All, Window, cast<BasicBlock>(Copy[Header]), mostly(64));
    for (Instruction *I : P.Guarded) {
        setNumber(*I, ApartMetadata, slots());
    }
    IRBuilder<> W(Window);
    enterWindow(W, Pages);
    turnBack();
    close();
    IRBuilder<> E(StripEnd, StripEnd->begin());
    count(E, More, AtEnd);
    if (!Marks.empty()) {
        DominatorTree DT(F);

        PromoteMemToReg(Marks, DT);
    }
    if (P.Whole) {
        moveOut(Entry, Exits);
    }
}

} // namespace

void buildWindow(const WindowPlan &P, const Runtime &Guest)
{
    Builder(P, Guest).run();
}

} // namespace nandwich
