// SPDX-License-Identifier: Apache-2.0
// What takes the place of accesses to tagged variables: a note to the recorder, or the run time's
// answer where the element lies in RAM now. An answer holds until the next call of the run time, so
// each access asks right before it is made.
#include "names.h"
#include "tagged.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nandwich {

namespace {

// NW_SMALL_USED and NW_SMALL_DIRTY of core/include/nandwich/small.h.
constexpr uint8_t UsedMark = 1, DirtyMark = 2;

class Lowering {
public:
    Lowering(Module &In, const std::vector<TaggedVariable> &Variables, const Origins &Known,
             bool Recording)
        : M(In), Tagged(Variables), From(Known), Records(Recording),
          Word(In.getDataLayout().getIntPtrType(In.getContext()))
    {
    }

    void lower();

private:
    void collect();
    CallInst *call(IRBuilder<> &B, StringRef Name, Type *Result, ArrayRef<Value *> Arguments);
    Constant *byte(uint64_t Value) const
    {
        return ConstantInt::get(Type::getInt8Ty(M.getContext()), Value);
    }
    void lowerAccess(Instruction &I, unsigned Operand);
    Value *resident(IRBuilder<> &B, Value *Pointer, const Origin &O, uint8_t Marks);
    Value *atPage(IRBuilder<> &B, const TaggedPlace &Place, Value *Further, uint8_t Marks);
    Value *atIndex(IRBuilder<> &B, const TaggedObject &At, Value *Delta, const Origin &O,
                   uint8_t Marks);
    void lowerBlock(MemIntrinsic &Block);
    void lowerCopies(CallBase &Call);

    Module &M;
    const std::vector<TaggedVariable> &Tagged;
    const Origins &From;
    bool Records;
    IntegerType *Word;
    SmallVector<std::pair<Instruction *, unsigned>, 64> Accesses;
    SmallVector<MemIntrinsic *, 8> Blocks;
    SmallVector<CallBase *, 8> Calls;
};

CallInst *Lowering::call(IRBuilder<> &B, StringRef Name, Type *Result, ArrayRef<Value *> Arguments)
{
    SmallVector<Type *, 4> Types;

    for (Value *A : Arguments) {
        Types.push_back(A->getType());
    }
    FunctionCallee Callee = M.getOrInsertFunction(
        (Twine(TaggedPrefix) + Name).str(), FunctionType::get(Result, Types, false));
    auto *F = cast<Function>(Callee.getCallee());
    CallInst *Call = B.CreateCall(F->getFunctionType(), F, Arguments);

    F->setDoesNotThrow();
    for (unsigned I = 0; I < Types.size(); I++) {
        if (Types[I]->isIntegerTy() && Types[I] != Word) {
            F->addParamAttr(I, Attribute::ZExt);
            Call->addParamAttr(I, Attribute::ZExt);
        }
    }
    return Call;
}

void Lowering::collect()
{
    for (Function &F : M) {
        for (Instruction &I : instructions(F)) {
            if (isa<LoadInst>(I) && From.of(I.getOperand(0)) != nullptr) {
                Accesses.push_back({&I, 0});
            } else if (isa<StoreInst>(I) && From.of(I.getOperand(1)) != nullptr) {
                Accesses.push_back({&I, 1});
            } else if (auto *Block = dyn_cast<MemIntrinsic>(&I)) {
                if (From.of(Block->getArgOperand(0)) != nullptr ||
                    From.of(Block->getArgOperand(1)) != nullptr) {
                    Blocks.push_back(Block);
                }
            } else if (auto *Call = dyn_cast<CallBase>(&I)) {
                Calls.push_back(Call);
            }
        }
    }
}

Value *Lowering::atPage(IRBuilder<> &B, const TaggedPlace &Place, Value *Further, uint8_t Marks)
{
    Value *Page = call(B, "page", B.getPtrTy(), {byte(Place.Page), byte(Marks)});
    Value *Offset = B.CreateAdd(Further, ConstantInt::get(Word, Place.Offset));

    return B.CreatePtrAdd(Page, Offset);
}

// By the table. Where the offset is known as a remainder the division leaves none.
Value *Lowering::atIndex(IRBuilder<> &B, const TaggedObject &At, Value *Delta, const Origin &O,
                         uint8_t Marks)
{
    bool Known = O.Modulus % At.Element == 0;
    Constant *Size = ConstantInt::get(Word, At.Element);
    Value *Within = Known ? ConstantInt::get(Word, uint64_t(O.Rest) % At.Element) : nullptr;
    Value *Index = Known ? B.CreateUDiv(B.CreateSub(Delta, Within), Size, "", true)
                         : B.CreateUDiv(Delta, Size);

    if (!Known) {
        Within = B.CreateSub(Delta, B.CreateMul(Index, Size));
    }
    Value *Number = B.CreateTrunc(B.CreateAdd(Index, ConstantInt::get(Word, At.First)),
                                  B.getInt16Ty());
    Value *Element = call(B, "element", B.getPtrTy(), {Number, byte(Marks)});
    return B.CreatePtrAdd(Element, Within);
}

// Where the address lies in RAM, brought there if need be.
Value *Lowering::resident(IRBuilder<> &B, Value *Pointer, const Origin &O, uint8_t Marks)
{
    if (O.Variables.size() != 1 || O.Plain) {
        return call(B, "find", B.getPtrTy(), {Pointer, byte(Marks)});
    }
    const TaggedObject &At = *Tagged[O.Variables[0]].At;
    if (O.Modulus == 0) {
        uint64_t Offset = uint64_t(O.Rest);
        return atPage(B, At.Places[Offset / At.Element],
                      ConstantInt::get(Word, Offset % At.Element), Marks);
    }
    Value *Delta = B.CreateSub(B.CreatePtrToInt(Pointer, Word), ConstantInt::get(Word, At.Start));
    return At.isWhole() ? atPage(B, At.Places[0], Delta, Marks) : atIndex(B, At, Delta, O, Marks);
}

void Lowering::lowerAccess(Instruction &I, unsigned Operand)
{
    bool Writes = isa<StoreInst>(I);
    IRBuilder<> B(&I);
    Value *Pointer = I.getOperand(Operand);

    if (Records) {
        Type *Ty = Writes ? I.getOperand(0)->getType() : I.getType();
        uint64_t Bytes = M.getDataLayout().getTypeStoreSize(Ty);
        call(B, Writes ? "note_write" : "note_read", B.getVoidTy(),
             {Pointer, ConstantInt::get(Word, Bytes)});
        return;
    }
    uint8_t Marks = Writes ? UsedMark | DirtyMark : UsedMark;
    I.setOperand(Operand, resident(B, Pointer, *From.of(Pointer), Marks));
    if (Writes) {
        cast<StoreInst>(I).setAlignment(Align(1));
    } else {
        cast<LoadInst>(I).setAlignment(Align(1));
    }
}

void Lowering::lowerBlock(MemIntrinsic &Block)
{
    IRBuilder<> B(&Block);
    Value *Bytes = B.CreateZExtOrTrunc(Block.getLength(), Word);

    if (auto *Fill = dyn_cast<MemSetInst>(&Block)) {
        call(B, "fill", B.getVoidTy(), {Fill->getRawDest(), Fill->getValue(), Bytes});
    } else {
        call(B, "move", B.getVoidTy(),
             {Block.getRawDest(), cast<MemTransferInst>(Block).getRawSource(), Bytes});
    }
    Block.eraseFromParent();
}

// Arguments and results that go through memory do so through a local copy.
void Lowering::lowerCopies(CallBase &Call)
{
    for (unsigned I = 0; I < Call.arg_size(); I++) {
        Value *Given = Call.getArgOperand(I);
        bool ByValue = Call.isByValArgument(I);

        if (passesAddress(Call, I) || From.of(Given) == nullptr) {
            continue;
        }
        Type *Ty = ByValue ? Call.getParamByValType(I) : Call.getParamStructRetType(I);
        BasicBlock &Entry = Call.getFunction()->getEntryBlock();
        AllocaInst *Local = IRBuilder<>(&Entry, Entry.begin()).CreateAlloca(Ty);
        Constant *Bytes = ConstantInt::get(Word, M.getDataLayout().getTypeAllocSize(Ty));

        Local->setAlignment(Align(16));
        Call.setArgOperand(I, Local);
        IRBuilder<> B(ByValue ? &Call : Call.getNextNode());
        call(B, "move", B.getVoidTy(),
             ByValue ? ArrayRef<Value *>{Local, Given, Bytes}
                     : ArrayRef<Value *>{Given, Local, Bytes});
    }
}

void Lowering::lower()
{
    collect();
    for (auto [I, Operand] : Accesses) {
        lowerAccess(*I, Operand);
    }
    for (CallBase *Call : Calls) {
        lowerCopies(*Call);
    }
    for (MemIntrinsic *Block : Blocks) {
        lowerBlock(*Block);
    }
}

} // namespace

static Constant *textOf(Module &M, StringRef Text)
{
    Constant *Value = ConstantDataArray::getString(M.getContext(), Text);

    return new GlobalVariable(M, Value->getType(), true, GlobalValue::PrivateLinkage, Value,
                              "nw_object_text");
}

// An entry for the recording: address, bytes, bytes an element, name, source file.
static void noteVariable(Module &M, const TaggedVariable &One)
{
    Type *Word = M.getDataLayout().getIntPtrType(M.getContext());
    Constant *Entry = ConstantStruct::getAnon(
        {One.Global, ConstantInt::get(Word, One.Bytes), ConstantInt::get(Word, One.Element),
         textOf(M, One.Name), textOf(M, M.getSourceFileName())});
    // Addresses of a program that may lie anywhere are filled in at its start.
    auto *Note = new GlobalVariable(M, Entry->getType(), false, GlobalValue::PrivateLinkage, Entry,
                                    "nw_object_entry");

    Note->setAlignment(M.getDataLayout().getPointerABIAlignment(0));
    Note->setSection(ObjectsSection);
    appendToUsed(M, {Note});
}

void recordTagged(Module &M, const std::vector<TaggedVariable> &Tagged, const Origins &From)
{
    Lowering(M, Tagged, From, true).lower();
    for (const TaggedVariable &One : Tagged) {
        if (!One.Global->isDeclaration()) {
            noteVariable(M, One);
        }
    }
}

// Where the initial value lies, and that the variable is there at all.
static void defineVariable(Module &M, const TaggedVariable &One)
{
    std::string Number = std::to_string(One.At->Id);
    std::string Object = TaggedPrefix + ("object_" + Number);

    M.appendModuleInlineAsm(".globl " + Object + "\n.set " + Object + ", 0\n");
    Constant *Value = One.Global->getInitializer();
    if (Value->isNullValue() || isa<UndefValue>(Value)) {
        return;
    }
    auto *Initial =
        new GlobalVariable(M, Value->getType(), true, GlobalValue::ExternalLinkage, Value,
                           TaggedPrefix + ("initial_" + Number));
    if (Triple(M.getTargetTriple()).getArch() == Triple::avr) {
        Initial->setSection(".progmem.data.nw_tagged");
    }
}

void placeTagged(Module &M, const std::vector<TaggedVariable> &Tagged, const Origins &From)
{
    IntegerType *Word = M.getDataLayout().getIntPtrType(M.getContext());

    Lowering(M, Tagged, From, false).lower();
    for (const TaggedVariable &One : Tagged) {
        if (!One.Global->isDeclaration()) {
            defineVariable(M, One);
        }
        One.Global->replaceAllUsesWith(ConstantExpr::getIntToPtr(
            ConstantInt::get(Word, One.At->Start), One.Global->getType()));
        One.Global->eraseFromParent();
    }
}

} // namespace nandwich
