// SPDX-License-Identifier: Apache-2.0
// What LLVM 19 gets wrong on an AVR: an argument that is passed on the stack and whose value takes
// a branch (a > b ? x : y, !x, 1 << n). Selects and shifts become blocks of their own after the
// call's frame was begun, in the middle of the call. Without a frame pointer the stores behind
// such a block stay relative to Y, which nobody set: LLVM's AVRFrameLowering.cpp mends those of the
// first block alone. "frame-pointer"="all" does not help, for that back end does not read it. Two
// neighbours of this defect are https://github.com/llvm/llvm-project/issues/55261 and
// https://github.com/avr-rust/rust-legacy-fork/issues/103; this one is in no issue that we found.
//
// So a function with such a call gets a byte on the stack that looks used, and with it a frame with
// room for all arguments. That takes less code than without: a call then moves no stack pointer.
// A function whose stack grows as it runs cannot have such room, and more is wrong with it: a
// call's frame is begun in Z whatever Z holds, and the array begins at the stack pointer, where the
// next call puts its return address, not one above. So it is refused.
#include "diagnose.h"
#include "passes.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace nandwich {

// The processor has 18 bytes of registers for arguments, an even number of them each.
static bool passesOnStack(const CallBase &Call)
{
    constexpr uint64_t Registers = 18;
    const DataLayout &Layout = Call.getModule()->getDataLayout();
    uint64_t Bytes = 0;

    if (Call.isInlineAsm() || isa<IntrinsicInst>(Call)) {
        return false;
    }
    for (const Use &Argument : Call.args()) {
        Bytes += alignTo(Layout.getTypeAllocSize(Argument->getType()).getFixedValue(), 2);
    }
    return Call.getFunctionType()->isVarArg() || Bytes > Registers;
}

// The empty text says that it writes the byte; "Q" is memory behind Y, so no address is reckoned.
static void addFrame(Function &F)
{
    IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
    AllocaInst *Byte = B.CreateAlloca(B.getInt8Ty(), nullptr, "nw.frame");
    auto *Type = FunctionType::get(B.getVoidTy(), {Byte->getType()}, false);
    CallInst *Use = B.CreateCall(InlineAsm::get(Type, "", "=*Q", true), {Byte});

    Use->addParamAttr(0, Attribute::get(F.getContext(), Attribute::ElementType, B.getInt8Ty()));
}

static bool needsFrame(const Function &F)
{
    bool Needs = false;

    for (const Instruction &I : instructions(F)) {
        const auto *Call = dyn_cast<CallBase>(&I);
        const auto *Place = dyn_cast<AllocaInst>(&I);

        if (Place != nullptr && !Place->isStaticAlloca()) {
            refuse(I, "an array of variable length, or alloca(): LLVM's code for them is wrong on "
                      "an AVR; give the array its greatest length, or take malloc()");
        }
        Needs |= Call != nullptr && passesOnStack(*Call);
    }
    return Needs;
}

PreservedAnalyses StackPass::run(Module &M, ModuleAnalysisManager &)
{
    if (Triple(M.getTargetTriple()).getArch() != Triple::avr) {
        return PreservedAnalyses::all();
    }
    for (Function &F : M) {
        if (!F.isDeclaration() && !F.hasFnAttribute(Attribute::Naked) && needsFrame(F)) {
            addFrame(F);
        }
    }
    return PreservedAnalyses::none();
}

} // namespace nandwich
