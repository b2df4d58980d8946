// SPDX-License-Identifier: Apache-2.0
#include "access.h"

#include "hotness.h"

#include "diagnose.h"
#include "libc.h"
#include "options.h"
#include "runtime.h"
#include "slots.h"
#include "windows.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace nandwich {

bool clobbersSlots(const Instruction &I)
{
    const auto *Call = dyn_cast<CallBase>(&I);

    if (Call == nullptr || isa<IntrinsicInst>(Call) || Call->isInlineAsm()) {
        return false;
    }
    const Function *Callee = Call->getCalledFunction();
    if (Callee == nullptr) {
        return true;
    }
    if (Callee->isDeclaration() && libcKind(Callee->getName()) == LibcKind::Plain) {
        return false;
    }
    return !Callee->hasFnAttribute("nw-plain") && !Callee->hasFnAttribute("nw-quiet") &&
           !Runtime::keepsSlots(*Callee);
}

const SCEV *withoutConstant(const SCEV *S, ScalarEvolution &SE, int64_t &Offset)
{
    if (const auto *Add = dyn_cast<SCEVAddExpr>(S)) {
        const auto *Constant = dyn_cast<SCEVConstant>(Add->getOperand(0));

        if (Constant == nullptr) {
            return S;
        }
        Offset = Constant->getAPInt().getSExtValue();
        SmallVector<const SCEV *, 4> Rest(drop_begin(Add->operands()));
        return SE.getAddExpr(Rest);
    }
    const auto *Walk = dyn_cast<SCEVAddRecExpr>(S);
    if (Walk == nullptr || !Walk->isAffine()) {
        return S;
    }
    // As deep as the loops are nested: a walking row inside a walking picture.
    const SCEV *Start = withoutConstant(Walk->getStart(), SE, Offset);
    return SE.getAddRecExpr(Start, Walk->getStepRecurrence(SE), Walk->getLoop(),
                            SCEV::FlagAnyWrap);
}

namespace {

class Collector {
public:
    Collector(Function &Code, const PlainMemory &PlainIn, ScalarEvolution &Evolution,
              LoopInfo &Loops)
        : F(Code), Plain(PlainIn), SE(Evolution), LI(Loops)
    {
    }

    void find();
    void mergeAll();
    bool leaveAside();

    AccessList List;

private:
    void visit(Instruction &I, Loop *Resident, Loop *Inner);
    void merge(unsigned Index);
    bool isSteady(const SCEV *Key, Loop *Inner);
    void dissolveSingles();
    bool standTogether(unsigned First, unsigned Count) const;
    Loop *residentLoop(BasicBlock *Block);
    bool loopKeepsSlots(Loop *L);

    Function &F;
    const PlainMemory &Plain;
    ScalarEvolution &SE;
    LoopInfo &LI;
    DenseMap<const Loop *, bool> Keeps;
    unsigned Stretch = 0, Run = 0;
    // Groups still open at this point of the stretch: by slot, its key and number.
    struct Open {
        const SCEV *Key;
        int Group;
    };
    DenseMap<unsigned, Open> OpenBySlot;
};

bool Collector::loopKeepsSlots(Loop *L)
{
    auto [At, New] = Keeps.try_emplace(L, true);

    if (New) {
        bool Kept = L->getLoopPreheader() != nullptr;
        for (BasicBlock *Block : L->blocks()) {
            Kept = Kept && none_of(*Block, clobbersSlots);
        }
        Keeps[L] = Kept;
        return Kept;
    }
    return At->second;
}

Loop *Collector::residentLoop(BasicBlock *Block)
{
    Loop *Found = nullptr;

    for (Loop *L = LI.getLoopFor(Block); L != nullptr && loopKeepsSlots(L);
         L = L->getParentLoop()) {
        Found = L;
    }
    return Found;
}

} // namespace

bool shapeOf(Instruction &I, Shape &S)
{
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
        S = {0, Load->getType(), Load->isAtomic() ? AccessKind::Modify : AccessKind::Load,
             !Load->isSimple()};
    } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
        S = {1, Store->getValueOperand()->getType(),
             Store->isAtomic() ? AccessKind::Modify : AccessKind::Store, !Store->isSimple()};
    } else if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I)) {
        S = {0, Rmw->getType(), AccessKind::Modify, true};
    } else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
        S = {0, Exchange->getCompareOperand()->getType(), AccessKind::Modify, true};
    } else {
        return false;
    }
    return true;
}

namespace {

// In the innermost loop around it the address stands still or moves in small steps.
bool Collector::isSteady(const SCEV *Key, Loop *Inner)
{
    if (Inner == nullptr || SE.isLoopInvariant(Key, Inner)) {
        return true;
    }
    const auto *Walk = dyn_cast<SCEVAddRecExpr>(Key);
    if (Walk == nullptr || Walk->getLoop() != Inner || !Walk->isAffine()) {
        return false;
    }
    const auto *Step = dyn_cast<SCEVConstant>(Walk->getStepRecurrence(SE));
    return Step != nullptr && Step->getAPInt().abs().ule(options().FrameBytes / 8);
}

void Collector::visit(Instruction &I, Loop *Resident, Loop *Inner)
{
    Shape S;

    if (!shapeOf(I, S)) {
        return;
    }
    // Other address spaces (segments, program memory) are other memory.
    Value *Pointer = I.getOperand(S.PointerOperand);
    if (Pointer->getType()->getPointerAddressSpace() != 0 || Plain.isPlain(Pointer)) {
        return;
    }
    TypeSize Size = F.getDataLayout().getTypeStoreSize(S.Ty);
    if (Size.isScalable()) {
        refuse(I, "scalable vectors have no fixed size to guard");
        return;
    }
    if (std::optional<uint64_t> Counted = numberOf(I, WindowMetadata)) {
        if (*Counted != 0) {
            List.Counted.push_back(&I);
        }
        return;
    }
    Access A = {};
    std::optional<uint64_t> Fixed = numberOf(I, SlotMetadata);
    A.I = &I;
    A.PointerOperand = S.PointerOperand;
    A.Ty = S.Ty;
    A.Bytes = uint32_t(Size.getFixedValue());
    A.Kind = S.Kind;
    A.Alone = S.Alone;
    A.Key = withoutConstant(SE.getSCEV(A.pointer()), SE, A.Offset);
    A.Cold = Fixed.has_value();
    A.Fixed = Fixed.has_value() ? int(int64_t(*Fixed)) : -1;
    A.Apart = numberOf(I, ApartMetadata).value_or(0);
    A.Alone = A.Alone || A.Fixed >= 0;
    // In a guarded copy other accesses refill a window's slots: none of them stays in registers.
    A.Resident = Fixed.has_value() ? nullptr : Resident;
    A.InLoop = Inner != nullptr;
    A.GroupIndex = -1;
    A.Stretch = Stretch;
    A.Run = Run;
    A.Steady = isSteady(A.Key, Inner);
    List.All.push_back(A);
}

// Joins the access to the open group on its slot, or opens a new one.
void Collector::merge(unsigned Index)
{
    Access &A = List.All[Index];
    int64_t Limit = std::min(options().MergeBytes, options().FrameBytes / 4);
    int64_t Low = A.Offset, High = A.Offset + A.Bytes;

    if (A.Alone || High - Low > Limit) {
        OpenBySlot.erase(A.Slot);
        return;
    }
    auto At = OpenBySlot.find(A.Slot);
    if (At != OpenBySlot.end() && At->second.Key == A.Key) {
        Group &G = List.Groups[unsigned(At->second.Group)];
        int64_t NewLow = std::min(G.Low, Low), NewHigh = std::max(G.High, High);

        if (NewHigh - NewLow <= Limit) {
            G = {NewLow, NewHigh, G.Write || A.Kind == AccessKind::Store, G.Members + 1};
            A.GroupIndex = At->second.Group;
            return;
        }
    }
    A.GroupIndex = int(List.Groups.size());
    List.Groups.push_back({Low, High, A.Kind == AccessKind::Store, 1});
    OpenBySlot[A.Slot] = {A.Key, A.GroupIndex};
}

void Collector::find()
{
    ReversePostOrderTraversal<Function *> Order(&F);

    for (BasicBlock *Block : Order) {
        Loop *Resident = residentLoop(Block);
        Loop *Inner = LI.getLoopFor(Block);

        Stretch++;
        Run++;
        for (Instruction &I : *Block) {
            Stretch += clobbersSlots(I) ? 1 : 0;
            Run += isa<CallBase>(I) ? 1 : 0;
            visit(I, Resident, Inner);
        }
    }
}

// A group of one is no group.
void Collector::dissolveSingles()
{
    for (Access &A : List.All) {
        if (A.GroupIndex >= 0 && List.Groups[unsigned(A.GroupIndex)].Members == 1) {
            A.GroupIndex = -1;
        }
    }
}

void Collector::mergeAll()
{
    unsigned Last = 0;

    for (unsigned Index = 0; Index < List.All.size(); Index++) {
        if (List.All[Index].Stretch != Last) {
            OpenBySlot.clear();
            Last = List.All[Index].Stretch;
        }
        if (!List.All[Index].Aside) {
            List.All[Index].GroupIndex = -1;
            merge(Index);
        }
    }
    dissolveSingles();
}

// The members of a group follow each other with no other access or call between: nothing can evict
// their page meanwhile, pinned or not.
bool Collector::standTogether(unsigned First, unsigned Count) const
{
    const Access &Leader = List.All[First];

    if (First + Count > List.All.size()) {
        return false;
    }
    return all_of(ArrayRef(List.All).slice(First, Count), [&](const Access &A) {
        return A.GroupIndex == Leader.GroupIndex && A.Run == Leader.Run;
    });
}

// What does not stay on its page long enough for a slot of its own goes to the look-aside entries,
// which need not stay valid beyond one access, or beyond neighbours that stand together. So does
// what would share its slot with another address of the same loop: a column of a matrix, unrolled,
// is as many addresses as it has rows. True: something did.
bool Collector::leaveAside()
{
    bool Any = false;
    std::vector<int> Decided(List.Groups.size(), -1);

    for (unsigned Index = 0; options().Lookaside > 0 && Index < List.All.size(); Index++) {
        Access &A = List.All[Index];
        bool Own = A.Resident != nullptr && A.Steady && !A.Crowded;

        if (A.Fixed >= 0) {
            continue;
        }
        if (A.GroupIndex < 0) {
            A.Aside = !Own;
        } else {
            int &Group = Decided[unsigned(A.GroupIndex)];
            if (Group < 0) { // its leader
                Group = !Own && standTogether(Index, List.Groups[unsigned(A.GroupIndex)].Members);
            }
            A.Aside = Group > 0;
        }
        A.Resident = A.Aside ? nullptr : A.Resident;
        Any = Any || A.Aside;
    }
    return Any;
}

} // namespace

AccessList collectAccesses(Function &F, const PlainMemory &Plain, ScalarEvolution &SE, LoopInfo &LI,
                           BlockFrequencyInfo &Frequency, const Hotness &Heat,
                           SlotDealer &Dealer)
{
    Collector Accesses(F, Plain, SE, LI);

    Accesses.find();
    for (Access &A : Accesses.List.All) {
        A.Cold = A.Cold || Heat.isCold(*A.I->getParent(), Frequency);
    }
    Dealer.deal(F, Frequency, Accesses.List.All);
    Accesses.mergeAll();
    if (Accesses.leaveAside()) {
        // With fewer accesses on the slots there are fewer conflicts between groups.
        Dealer.deal(F, Frequency, Accesses.List.All);
        Accesses.mergeAll();
    }
    return std::move(Accesses.List);
}

} // namespace nandwich
