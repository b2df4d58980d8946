// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include "diagnose.h"
#include "libc.h"
#include "names.h"
#include "options.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace nandwich {

// Copies up to this many bytes become guarded loads and stores, which share guards with neighbours.
constexpr uint64_t ExpandLimit = 64;

AllocaInst *CallLowering::temporary(Function &F, Type *Ty, uint64_t Alignment) const
{
    IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().begin());
    AllocaInst *Slot = B.CreateAlloca(Ty);

    Slot->setAlignment(Align(Alignment));
    return Slot;
}

// A struct copy of constant size, in words as wide as the target moves them.
bool CallLowering::expandCopy(MemTransferInst &Call)
{
    const auto *Length = dyn_cast<ConstantInt>(Call.getLength());
    uint64_t Widest = Guest.word()->getIntegerBitWidth() / 8;

    if (isa<MemMoveInst>(Call) || Call.isVolatile() || Length == nullptr ||
        Length->getValue().ugt(ExpandLimit) || options().Mode == GuardMode::Outline ||
        Call.getFunction()->hasOptSize()) {
        return false;
    }
    IRBuilder<> B(&Call);
    uint64_t At = 0;
    for (uint64_t Left = Length->getZExtValue(); Left > 0;) {
        uint64_t Step = std::min(Widest, uint64_t(1) << Log2_64(Left));
        Type *Ty = B.getIntNTy(unsigned(Step) * 8);
        Value *From = B.CreatePtrAdd(Call.getRawSource(), ConstantInt::get(Guest.word(), At));
        Value *To = B.CreatePtrAdd(Call.getRawDest(), ConstantInt::get(Guest.word(), At));

        B.CreateAlignedStore(B.CreateAlignedLoad(Ty, From, Align(1)), To, Align(1));
        At += Step;
        Left -= Step;
    }
    return true;
}

void CallLowering::lowerBlockOperation(MemIntrinsic &Call)
{
    auto *Transfer = dyn_cast<MemTransferInst>(&Call);
    bool Native = Plain.isPlain(Call.getRawDest()) &&
                  (Transfer == nullptr || Plain.isPlain(Transfer->getRawSource()));

    if (Native) {
        return;
    }
    IRBuilder<> B(&Call);
    if (Transfer == nullptr) {
        Guest.fill(B, Call.getRawDest(), cast<MemSetInst>(Call).getValue(), Call.getLength());
    } else if (!expandCopy(*Transfer)) {
        if (isa<MemMoveInst>(Call)) {
            Guest.move(B, Call.getRawDest(), Transfer->getRawSource(), Call.getLength());
        } else {
            Guest.copy(B, Call.getRawDest(), Transfer->getRawSource(), Call.getLength());
        }
    }
    Call.eraseFromParent();
}

// Bytes of a va_list, or 0 where we do not know.
static uint64_t vaListBytes(const Module &M)
{
    switch (Triple(M.getTargetTriple()).getArch()) {
    case Triple::x86_64:
        return 24;
    case Triple::arm:
    case Triple::thumb:
    case Triple::riscv32:
        return 4;
    case Triple::avr:
        return 2;
    default:
        return 0;
    }
}

void CallLowering::lowerVaStart(IntrinsicInst &Call)
{
    Value *List = Call.getArgOperand(0);
    uint64_t Bytes = vaListBytes(M);

    if (Plain.isPlain(List)) {
        return;
    }
    if (Bytes == 0) {
        refuse(Call, "va_start on a va_list outside the stack is not known for this target");
        return;
    }
    IRBuilder<> B(&Call);
    AllocaInst *Local =
        temporary(*Call.getFunction(), ArrayType::get(B.getInt8Ty(), Bytes), 16);

    Call.setArgOperand(0, Local);
    B.SetInsertPoint(Call.getNextNode());
    Guest.copy(B, List, Local, B.getInt64(Bytes));
}

void CallLowering::lowerVaCopy(IntrinsicInst &Call)
{
    uint64_t Bytes = vaListBytes(M);

    if (Plain.isPlain(Call.getArgOperand(0)) && Plain.isPlain(Call.getArgOperand(1))) {
        return;
    }
    if (Bytes == 0) {
        refuse(Call, "va_copy of a va_list outside the stack is not known for this target");
        return;
    }
    IRBuilder<> B(&Call);
    Guest.copy(B, Call.getArgOperand(0), Call.getArgOperand(1), B.getInt64(Bytes));
    Call.eraseFromParent();
}

// These read or write nothing, or nothing of the program's.
static bool isHarmless(Intrinsic::ID ID)
{
    switch (ID) {
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::assume:
    case Intrinsic::objectsize:
    case Intrinsic::stacksave:
    case Intrinsic::stackrestore:
    case Intrinsic::var_annotation:
    case Intrinsic::ptr_annotation:
    case Intrinsic::annotation:
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::eh_sjlj_functioncontext:
    case Intrinsic::clear_cache:
        return true;
    default:
        return false;
    }
}

void CallLowering::lowerIntrinsic(IntrinsicInst &Call)
{
    if (auto *Block = dyn_cast<MemIntrinsic>(&Call)) {
        lowerBlockOperation(*Block);
        return;
    }
    switch (Call.getIntrinsicID()) {
    case Intrinsic::vastart:
        lowerVaStart(Call);
        return;
    case Intrinsic::vacopy:
        lowerVaCopy(Call);
        return;
    case Intrinsic::vaend:
        if (!Plain.isPlain(Call.getArgOperand(0))) {
            Call.eraseFromParent(); // does nothing on any of our targets
        }
        return;
    case Intrinsic::prefetch:
    case Intrinsic::invariant_start:
    case Intrinsic::invariant_end:
        if (!Plain.isPlain(Call.getArgOperand(Call.arg_size() == 4 ? 0 : Call.arg_size() - 1))) {
            if (!Call.getType()->isVoidTy()) {
                Call.replaceAllUsesWith(PoisonValue::get(Call.getType()));
            }
            Call.eraseFromParent();
        }
        return;
    default:
        break;
    }
    if (!isHarmless(Call.getIntrinsicID()) && !isa<DbgInfoIntrinsic>(Call) &&
        !Call.doesNotAccessMemory() && !Call.onlyAccessesInaccessibleMemory() &&
        handsOutPointer(Call)) {
        refuse(Call, "the builtin '" + Call.getCalledFunction()->getName() +
                         "' accesses memory in a way that cannot be guarded; use plain C here");
    }
}

bool CallLowering::handsOutPointer(const CallBase &Call) const
{
    for (const Value *Argument : Call.args()) {
        if (Argument->getType()->isPtrOrPtrVectorTy() && !Plain.isPlain(Argument)) {
            return true;
        }
    }
    return false;
}

void CallLowering::checkAsm(const CallBase &Call)
{
    const auto *Asm = cast<InlineAsm>(Call.getCalledOperand());

    // An empty template is a compiler barrier: it touches nothing.
    if (!Asm->getAsmString().empty() && handsOutPointer(Call)) {
        refuse(Call, "inline assembly is given a pointer that may be virtual; copy the data to a "
                     "local first, or mark the object NW_RAM");
    }
}

// Arguments passed in memory are copied by the code generator, beyond any guard.
void CallLowering::lowerByval(CallBase &Call)
{
    for (unsigned I = 0; I < Call.arg_size(); I++) {
        Value *From = Call.getArgOperand(I);

        if (!Call.isByValArgument(I) || Plain.isPlain(From)) {
            continue;
        }
        Type *Ty = Call.getParamByValType(I);
        AllocaInst *Local = temporary(*Call.getFunction(), Ty, 16);
        IRBuilder<> B(&Call);

        Guest.copy(B, Local, From,
                   B.getInt64(M.getDataLayout().getTypeAllocSize(Ty).getFixedValue()));
        Call.setArgOperand(I, Local);
    }
}

// setjmp writes natively to a local copy; the copy goes to the program's jmp_buf afterwards, and
// the wrapped longjmp fetches it from there.
void CallLowering::lowerSetjmp(CallBase &Call)
{
    // More than the jmp_buf of any target has. One with 16-bit pointers has little stack.
    const uint64_t StorageBytes = M.getDataLayout().getPointerSizeInBits() < 32 ? 64 : 512;
    Value *Env = Call.getArgOperand(0);

    if (Plain.isPlain(Env)) {
        return;
    }
    if (!isa<CallInst>(Call)) {
        refuse(Call, "setjmp under exception handling is not supported");
        return;
    }
    IRBuilder<> B(Call.getNextNode());
    AllocaInst *Storage =
        temporary(*Call.getFunction(), ArrayType::get(B.getInt8Ty(), StorageBytes), 16);

    Call.setArgOperand(0, Storage);
    Guest.setjmpDone(B, Env, Storage, &Call);
}

void CallLowering::checkCallee(const CallBase &Call)
{
    const auto *Callee =
        dyn_cast<Function>(Call.getCalledOperand()->stripPointerCastsAndAliases());

    if (Callee == nullptr || !Callee->isDeclaration()) {
        return;
    }
    StringRef Name = Callee->getName();
    if (libcKind(Name) == LibcKind::Refused) {
        refuse(Call, "'" + Name + "' cannot be used: " + libcRefusal(Name));
    } else if (libcKind(Name) == LibcKind::Unknown && !Name.starts_with(WrapperPrefix) &&
               !isSetjmp(Name) && !Notes.Plain.contains(Callee) && handsOutPointer(Call)) {
        Marks.require(*Callee, placeOf(Call));
    }
}

void CallLowering::lowerCall(CallBase &Call)
{
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call)) {
        lowerIntrinsic(*Intrinsic);
        return;
    }
    if (Call.isInlineAsm()) {
        checkAsm(Call);
        return;
    }
    lowerByval(Call);
    checkCallee(Call);
    const Function *Callee = Call.getCalledFunction();
    if (Callee != nullptr && isSetjmp(Callee->getName())) {
        lowerSetjmp(Call);
    }
}

void CallLowering::lower(Function &F)
{
    SmallVector<CallBase *, 32> Calls;

    for (Instruction &I : instructions(F)) {
        if (auto *Call = dyn_cast<CallBase>(&I)) {
            Calls.push_back(Call);
        } else if (isa<VAArgInst>(I) && !Plain.isPlain(I.getOperand(0))) {
            refuse(I, "va_arg on a va_list outside the stack is not known for this target");
        }
    }
    for (CallBase *Call : Calls) {
        lowerCall(*Call);
    }
}

static bool takesPointers(const FunctionType &Ty)
{
    for (const Type *Parameter : Ty.params()) {
        if (Parameter->isPointerTy()) {
            return true;
        }
    }
    return Ty.isVarArg();
}

void CallLowering::checkTakenAddresses()
{
    for (const Function &F : M) {
        if (!F.isDeclaration() || F.isIntrinsic() || !takesPointers(*F.getFunctionType()) ||
            F.getName().starts_with(WrapperPrefix) || Notes.Plain.contains(&F) ||
            isSetjmp(F.getName()) || libcKind(F.getName()) == LibcKind::Plain) {
            continue;
        }
        const User *Taker = nullptr;
        if (F.hasAddressTaken(&Taker)) {
            const auto *At = dyn_cast<Instruction>(Taker);

            Marks.require(F, At != nullptr ? placeOf(*At)
                                           : M.getSourceFileName() + " in an initialiser");
        }
    }
}

} // namespace nandwich
