// SPDX-License-Identifier: Apache-2.0
// A function that "only reads its argument" evicts, writes back and fills slots once guarded. Left
// in place, such an attribute lets later passes move calls over guards or drop them: wrong code.
// The call sites carry their own copies.
#include "attributes.h"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace nandwich {

static const AttributeMask &functionMask()
{
    static const AttributeMask Mask = [] {
        AttributeMask M;
        for (Attribute::AttrKind Kind :
             {Attribute::Memory, Attribute::NoSync, Attribute::NoFree, Attribute::Speculatable,
              Attribute::NoCallback, Attribute::AllocSize, Attribute::AllocKind}) {
            M.addAttribute(Kind);
        }
        M.addAttribute("alloc-family");
        return M;
    }();
    return Mask;
}

static const AttributeMask &valueMask()
{
    static const AttributeMask Mask = [] {
        AttributeMask M;
        for (Attribute::AttrKind Kind :
             {Attribute::ReadNone, Attribute::ReadOnly, Attribute::WriteOnly, Attribute::NoCapture,
              Attribute::NoFree, Attribute::Dereferenceable, Attribute::DereferenceableOrNull,
              Attribute::Writable, Attribute::DeadOnUnwind, Attribute::AllocAlign,
              Attribute::AllocatedPointer}) {
            M.addAttribute(Kind);
        }
        return M;
    }();
    return Mask;
}

static void stripFunction(Function &F)
{
    F.removeFnAttrs(functionMask());
    F.removeRetAttrs(valueMask());
    for (Argument &A : F.args()) {
        F.removeParamAttrs(A.getArgNo(), valueMask());
    }
}

static void stripCall(CallBase &Call)
{
    AttributeList Old = Call.getAttributes();
    LLVMContext &C = Call.getContext();
    AttributeList New = Old.removeFnAttributes(C, functionMask());

    New = New.removeRetAttributes(C, valueMask());
    for (unsigned I = 0; I < Call.arg_size(); I++) {
        New = New.removeParamAttributes(C, I, valueMask());
    }
    Call.setAttributes(New);
}

void stripAttributes(Module &M)
{
    for (Function &F : M) {
        if (F.isIntrinsic()) {
            continue; // theirs are part of their meaning
        }
        stripFunction(F);
        for (Instruction &I : instructions(F)) {
            auto *Call = dyn_cast<CallBase>(&I);

            if (Call != nullptr && Call->getIntrinsicID() == Intrinsic::not_intrinsic) {
                stripCall(*Call);
            }
        }
    }
}

} // namespace nandwich
