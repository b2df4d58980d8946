// SPDX-License-Identifier: Apache-2.0
// What a program may do with the address of a tagged variable: reach into one element at a time,
// move within the variable, compare, subtract, give it to functions of the same file, copy from and
// to it. Everything else is refused with its line: elements lie apart, and the address is no place
// in RAM.
#include "diagnose.h"
#include "tagged.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <numeric>

using namespace llvm;

namespace nandwich {

namespace {

class Checker {
public:
    Checker(Module &In, const std::vector<TaggedVariable> &Variables, const Origins &Known)
        : M(In), Tagged(Variables), From(Known)
    {
    }

    void visit(Instruction &I);
    void visitInitialisers();

    bool Good = true;

private:
    void say(const Instruction &I, const Twine &Reason);
    std::string name(const Origin &O) const;
    void access(const Instruction &I, const Origin &O, uint64_t Bytes);
    void accessOne(const Instruction &I, const TaggedVariable &One, const Origin &O,
                   uint64_t Bytes);
    void use(Instruction &I, unsigned Operand, const Origin &O);
    void initialiser(const User &Holder, const TaggedVariable &One);
    void call(CallBase &Call, unsigned Operand, const Origin &O);

    Module &M;
    const std::vector<TaggedVariable> &Tagged;
    const Origins &From;
};

void Checker::say(const Instruction &I, const Twine &Reason)
{
    refuse(I, Reason);
    Good = false;
}

std::string Checker::name(const Origin &O) const
{
    return "'" + Tagged[O.Variables[0]].Name + "'";
}

void Checker::accessOne(const Instruction &I, const TaggedVariable &One, const Origin &O,
                        uint64_t Bytes)
{
    uint64_t Unit = std::gcd(O.Modulus, One.Element); // gcd(0, x) = x
    int64_t Within = O.Rest % int64_t(Unit);

    if (O.Modulus == 0 && (O.Rest < 0 || uint64_t(O.Rest) + Bytes > One.Bytes)) {
        say(I, "an access of " + Twine(Bytes) + " B at byte " + Twine(O.Rest) +
                   " lies outside the tagged variable '" + One.Name + "' of " + Twine(One.Bytes) +
                   " B");
    } else if (uint64_t(Within) + Bytes > Unit) {
        say(I, "an access of " + Twine(Bytes) + " B reaches over the elements of the tagged "
                   "variable '" + One.Name + "', which have " + Twine(One.Element) +
                   " B and may lie apart; access it by its own type");
    }
}

void Checker::access(const Instruction &I, const Origin &O, uint64_t Bytes)
{
    for (unsigned Variable : O.Variables) {
        if (Good) {
            accessOne(I, Tagged[Variable], O, Bytes);
        }
    }
}

// Arguments that stay in this file.
void Checker::call(CallBase &Call, unsigned Operand, const Origin &O)
{
    const Function *Callee = Call.getCalledFunction();
    bool IsArgument = Operand < Call.arg_size();

    if (isa<MemIntrinsic>(Call) || Call.isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(Call)) {
        return;
    }
    if (IsArgument && !passesAddress(Call, Operand)) {
        return; // a copy goes
    }
    if (Call.isInlineAsm()) {
        say(Call, "inline assembly is given the address of the tagged variable " + name(O));
        return;
    }
    if (Callee == nullptr) {
        say(Call, "a function called by a pointer is given the address of the tagged variable " +
                      name(O) + "; call it by its name, or give it a copy");
        return;
    }
    if (Callee->isDeclaration() || Callee->isInterposable() ||
        Callee->hasAvailableExternallyLinkage()) {
        say(Call, "'" + Callee->getName() + "' is given the address of the tagged variable " +
                      name(O) + ", and is not defined in this file; give it a copy in a local "
                                "variable");
    } else if (Operand >= Callee->arg_size()) {
        say(Call, "'" + Callee->getName() + "' takes the address of the tagged variable " +
                      name(O) + " as a variable argument; give it a copy");
    }
}

static bool isDistance(const User *U)
{
    const auto *Operator = dyn_cast<BinaryOperator>(U);

    return isa<ICmpInst>(U) ||
           (Operator != nullptr && Operator->getOpcode() == Instruction::Sub &&
            isa<PtrToIntOperator>(Operator->getOperand(0)) &&
            isa<PtrToIntOperator>(Operator->getOperand(1))); // a variable in RAM is a constant
}

void Checker::use(Instruction &I, unsigned Operand, const Origin &O)
{
    const DataLayout &DL = M.getDataLayout();

    if (auto *Load = dyn_cast<LoadInst>(&I); Load != nullptr && !Load->isAtomic()) {
        access(I, O, DL.getTypeStoreSize(Load->getType()));
        return;
    }
    if (auto *Store = dyn_cast<StoreInst>(&I); Store != nullptr && !Store->isAtomic()) {
        if (Operand == 0) {
            say(I, "the address of the tagged variable " + name(O) + " is stored, where it could "
                   "not be followed; store an index instead");
        } else {
            access(I, O, DL.getTypeStoreSize(Store->getValueOperand()->getType()));
        }
        return;
    }
    if (isa<GetElementPtrInst, PHINode, SelectInst, FreezeInst, ICmpInst>(I)) {
        return;
    }
    if (auto *Call = dyn_cast<CallBase>(&I)) {
        call(*Call, Operand, O);
        return;
    }
    const Function &F = *I.getFunction();
    if (isa<ReturnInst>(I)) {
        if (!F.hasLocalLinkage() || F.hasAddressTaken()) {
            say(I, "the address of the tagged variable " + name(O) + " is returned to where it "
                   "could not be followed; make the function static, or return an index");
        }
    } else if (!isa<PtrToIntInst>(I)) {
        say(I, "the tagged variable " + name(O) + " is used in a way that needs it in RAM "
               "(atomic, or as a part of another value)");
    } else if (!all_of(I.users(), isDistance)) {
        say(I, "the address of the tagged variable " + name(O) + " is cast to a number; it is no "
               "place in RAM");
    }
}

void Checker::visit(Instruction &I)
{
    for (unsigned Operand = 0; Good && Operand < I.getNumOperands(); Operand++) {
        if (const Origin *O = From.of(I.getOperand(Operand))) {
            use(I, Operand, *O);
        }
    }
}

// What an initial value belongs to: a variable with its line, or where a local one gets its value
// from a nameless constant.
void Checker::initialiser(const User &Holder, const TaggedVariable &One)
{
    std::string Reason = "the address of the tagged variable '" + One.Name +
                         "' is an initial value; store an index instead";
    SmallVector<const User *, 8> Left = {&Holder};
    SmallPtrSet<const User *, 8> Seen;

    Good = false;
    while (!Left.empty()) {
        const User *U = Left.pop_back_val();
        const auto *Global = dyn_cast<GlobalVariable>(U);

        if (!Seen.insert(U).second) {
            continue;
        }
        if (Global != nullptr && Global->hasMetadata(LLVMContext::MD_dbg)) {
            refuse(*Global, Reason);
            return;
        }
        if (const auto *I = dyn_cast<Instruction>(U)) {
            refuse(*I, Reason);
            return;
        }
        Left.append(U->user_begin(), U->user_end());
    }
    refuse(*One.Global, Reason);
}

// Addresses in initial values: what is left of a variable's users once instructions have their own.
void Checker::visitInitialisers()
{
    for (const TaggedVariable &One : Tagged) {
        for (const User *U : One.Global->users()) {
            if (Good && !isa<Instruction>(U)) {
                initialiser(*U, One);
            }
        }
        if (Good && One.Global->isThreadLocal()) {
            refuse(*One.Global, "the tagged variable '" + One.Name + "' is a thread's own");
            Good = false;
        }
    }
}

} // namespace

// One error a file is enough: the first tells what to do.
bool checkTagged(Module &M, const std::vector<TaggedVariable> &Tagged, const Origins &From)
{
    Checker Check(M, Tagged, From);

    Check.visitInitialisers();
    for (Function &F : M) {
        for (Instruction &I : instructions(F)) {
            if (Check.Good) {
                Check.visit(I);
            }
        }
    }
    return Check.Good;
}

} // namespace nandwich
