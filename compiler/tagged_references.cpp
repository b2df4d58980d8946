// SPDX-License-Identifier: Apache-2.0
// What a source says of accesses where nothing was recorded: each place that reads or writes a
// tagged variable, in the order of the source, with the loops around it. Text for `nandwich layout
// --from-source`, words apart by tabs:
//   object BYTES ELEMENT NAME                          each variable that the file defines
//   function NAME                                      and behind it what it refers to:
//   read|write DEPTH FIRST STEP BYTES NAME PLACE
// A reference reaches BYTES (0: nobody knows) from byte FIRST on, or from FIRST plus any multiple
// of STEP where that is not 0. A function is looked at once, however often it is called.
#include "diagnose.h"
#include "tagged.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace nandwich {

namespace {

class References {
public:
    References(raw_ostream &To, const std::vector<TaggedVariable> &Variables, const Origins &Known)
        : Out(To), Tagged(Variables), From(Known)
    {
    }

    void write(Function &F);

private:
    void visit(const Instruction &I);
    void visitCall(const CallBase &Call);
    void tell(const Instruction &I, const Value *Pointer, bool Writes, uint64_t Bytes);

    raw_ostream &Out;
    const std::vector<TaggedVariable> &Tagged;
    const Origins &From;
    const Function *Begun = nullptr; // the function that was named last
    unsigned Depth = 0;
};

void References::tell(const Instruction &I, const Value *Pointer, bool Writes, uint64_t Bytes)
{
    const Origin *O = From.of(Pointer);

    if (O == nullptr) {
        return;
    }
    if (Begun != I.getFunction()) {
        Begun = I.getFunction();
        Out << "function\t" << Begun->getName() << "\n";
    }
    for (unsigned Variable : O->Variables) {
        Out << (Writes ? "write" : "read") << "\t" << Depth << "\t" << O->Rest << "\t"
            << O->Modulus << "\t" << Bytes << "\t" << Tagged[Variable].Name << "\t" << placeOf(I)
            << "\n";
    }
}

// Blocks that are copied or filled, and structs that go by value.
void References::visitCall(const CallBase &Call)
{
    const DataLayout &DL = Call.getDataLayout();

    if (const auto *Block = dyn_cast<MemIntrinsic>(&Call)) {
        const auto *Length = dyn_cast<ConstantInt>(Block->getLength());
        uint64_t Bytes = Length != nullptr ? Length->getZExtValue() : 0;

        if (const auto *Move = dyn_cast<MemTransferInst>(Block)) {
            tell(Call, Move->getRawSource(), false, Bytes);
        }
        tell(Call, Block->getRawDest(), true, Bytes);
        return;
    }
    for (unsigned I = 0; I < Call.arg_size(); I++) {
        if (!passesAddress(Call, I)) {
            bool Writes = !Call.isByValArgument(I);
            Type *Ty = Writes ? Call.getParamStructRetType(I) : Call.getParamByValType(I);
            tell(Call, Call.getArgOperand(I), Writes, DL.getTypeAllocSize(Ty));
        }
    }
}

void References::visit(const Instruction &I)
{
    const DataLayout &DL = I.getDataLayout();

    if (const auto *Load = dyn_cast<LoadInst>(&I)) {
        tell(I, Load->getPointerOperand(), false, DL.getTypeStoreSize(Load->getType()));
    } else if (const auto *Store = dyn_cast<StoreInst>(&I)) {
        tell(I, Store->getPointerOperand(), true,
             DL.getTypeStoreSize(Store->getValueOperand()->getType()));
    } else if (const auto *Call = dyn_cast<CallBase>(&I)) {
        visitCall(*Call);
    }
}

// clang leaves blocks in the order of the source.
void References::write(Function &F)
{
    DominatorTree DT(F);
    LoopInfo Loops(DT);

    for (const BasicBlock &Block : F) {
        Depth = Loops.getLoopDepth(&Block);
        for (const Instruction &I : Block) {
            visit(I);
        }
    }
}

} // namespace

void writeReferences(Module &M, const std::vector<TaggedVariable> &Tagged, const Origins &From,
                     const std::string &Path)
{
    std::error_code Error;
    raw_fd_ostream Out(Path, Error);

    if (Error) {
        M.getContext().emitError(Path + ": " + Error.message());
        return;
    }
    for (const TaggedVariable &One : Tagged) {
        if (!One.Global->isDeclaration()) {
            Out << "object\t" << One.Bytes << "\t" << One.Element << "\t" << One.Name << "\n";
        }
    }
    References Writer(Out, Tagged, From);
    for (Function &F : M) {
        if (!F.isDeclaration()) {
            Writer.write(F);
        }
    }
}

} // namespace nandwich
