// SPDX-License-Identifier: Apache-2.0
// Globals: mutable ones live in virtual memory under the address the linker gives them, so pointers
// to them in initialisers are ordinary relocations. Constants and string literals stay native, as
// do thread-locals, NW_RAM objects and objects the program itself put into a section.
#include "globals.h"

#include "diagnose.h"
#include "names.h"
#include "options.h"
#include "plain.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nandwich {

static bool belongsInVirtualMemory(const GlobalVariable &Global, const Annotations &Notes)
{
    if (Global.isDeclaration() || Global.isConstant() || Global.isThreadLocal()) {
        return false;
    }
    if (Global.hasSection() || Global.getName().starts_with("llvm.") ||
        Global.hasAvailableExternallyLinkage()) {
        return false;
    }
    return !Notes.Ram.contains(&Global);
}

static void place(GlobalVariable &Global)
{
    if (Global.hasCommonLinkage()) {
        refuse(*Global.getParent(),
               "'" + Global.getName() + "' is a common symbol, which has no place of its own; "
                                        "compile without -fcommon");
        return;
    }
    Global.setSection(Global.getInitializer()->isNullValue() ? BssSection : DataSection);
}

static GlobalVariable *note(Module &M, Constant *Value, GlobalValue::LinkageTypes Linkage,
                            StringRef Name)
{
    auto *Note = new GlobalVariable(M, Value->getType(), true, Linkage, Value, Name);

    Note->setAlignment(Align(2));
    return Note;
}

// What the object was built for: constants for the run time, and an entry in a section that gathers
// all objects' choices, so that start-up refuses a mixture.
static void noteConfig(Module &M)
{
    auto *Ty = Type::getInt16Ty(M.getContext());
    const Options &O = options();
    Constant *Words[] = {ConstantInt::get(Ty, O.FrameBytes), ConstantInt::get(Ty, O.Slots),
                         ConstantInt::get(Ty, O.Lookaside)};
    Constant *All = ConstantArray::get(ArrayType::get(Ty, 3), Words);
    GlobalVariable *Entry = note(M, All, GlobalValue::PrivateLinkage, "nw_config_entry");

    Entry->setSection(ConfigSection);
    appendToUsed(M, {Entry, note(M, Words[0], GlobalValue::WeakAnyLinkage, "nw_guest_frame_bytes"),
                     note(M, Words[1], GlobalValue::WeakAnyLinkage, "nw_guest_slots"),
                     note(M, Words[2], GlobalValue::WeakAnyLinkage,
                          "nw_guest_lookaside_entries")});
}

// What is placed as a whole: the innermost element of an array; a struct stays together.
static Type *elementOf(Type *Ty)
{
    while (auto *Array = dyn_cast<ArrayType>(Ty)) {
        Ty = Array->getElementType();
    }
    return Ty;
}

// An entry for a recording: address, bytes, bytes an element, name.
static void noteObject(Module &M, GlobalVariable &Global)
{
    LLVMContext &Context = M.getContext();
    const DataLayout &DL = M.getDataLayout();
    Type *Word = DL.getIntPtrType(Context);
    uint64_t Bytes = DL.getTypeAllocSize(Global.getValueType());
    uint64_t Element = DL.getTypeAllocSize(elementOf(Global.getValueType()));

    if (Bytes == 0 || Element == 0) {
        return;
    }
    Constant *Text = ConstantDataArray::getString(Context, Global.getName());
    auto *Name = new GlobalVariable(M, Text->getType(), true, GlobalValue::PrivateLinkage, Text,
                                    "nw_object_name");
    Constant *Entry = ConstantStruct::getAnon({&Global, ConstantInt::get(Word, Bytes),
                                               ConstantInt::get(Word, Element), Name});
    GlobalVariable *Note = note(M, Entry, GlobalValue::PrivateLinkage, "nw_object_entry");

    Note->setAlignment(Align(8));
    Note->setSection(ObjectsSection);
    appendToUsed(M, {Note});
}

void placeGlobals(Module &M, const Annotations &Notes)
{
    for (GlobalVariable &Global : M.globals()) {
        if (belongsInVirtualMemory(Global, Notes)) {
            place(Global);
        }
    }
    for (GlobalIFunc &IFunc : M.ifuncs()) {
        refuse(M, "'" + IFunc.getName() + "' is an ifunc: its resolver would run before virtual "
                                          "memory exists; choose the function at run time");
    }
}

void noteGlobals(Module &M)
{
    SmallVector<GlobalVariable *, 32> Virtual;

    for (GlobalVariable &Global : M.globals()) {
        if (options().Trace && isVirtualGlobal(Global)) {
            Virtual.push_back(&Global);
        }
    }
    for (GlobalVariable *Global : Virtual) {
        noteObject(M, *Global);
    }
    noteConfig(M);
}

} // namespace nandwich
