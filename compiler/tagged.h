// SPDX-License-Identifier: Apache-2.0
// Tagged mode: only variables marked NW_VM are virtual. The pass runs before any other, so that a
// build that records and a build with a layout see the same accesses. It follows the addresses of
// tagged variables through each file; what it cannot follow, or what would tear elements apart, is
// refused.
#ifndef NANDWICH_COMPILER_TAGGED_H
#define NANDWICH_COMPILER_TAGGED_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <map>
#include <string>
#include <vector>

namespace nandwich {

// ---- what a layout says (the driver writes it as text from the layout file) ----

struct TaggedPlace {
    uint32_t Page, Offset;
};

struct TaggedObject {
    unsigned Id;
    uint64_t Bytes, Element; // what is placed as a whole
    uint64_t Start;          // virtual address
    unsigned First;          // number of its first element
    std::vector<TaggedPlace> Places;

    // All of it lies on one page as it lies in C.
    bool isWhole() const;
};

struct TaggedPlan {
    std::string File;   // the layout's, for messages
    std::string Digest; // of all below: files of one program must agree
    uint64_t WholeBytes = 0;
    std::map<std::string, TaggedObject> Objects;
};

// False: the text is none; said as an error.
bool readPlan(llvm::Module &M, const std::string &Path, TaggedPlan &Plan);

// ---- variables of a file ----

struct TaggedVariable {
    llvm::GlobalVariable *Global;
    std::string Name;       // of a static with its file
    uint64_t Bytes;
    uint64_t Element;       // of an array its innermost element, else all of it
    const TaggedObject *At; // nullptr: no layout
};

// Those in NW_VM's section, and externals that the plan knows.
std::vector<TaggedVariable> findTagged(llvm::Module &M, const TaggedPlan *Plan);

// ---- where addresses come from ----

struct Origin {
    llvm::SmallVector<unsigned, 2> Variables; // sorted
    uint64_t Modulus = 0; // the offset in the variable is Rest + a multiple of this; 0: Rest
    int64_t Rest = 0;
    bool Plain = false; // may also be no tagged variable's

    bool operator==(const Origin &Other) const;
};

class Origins {
public:
    Origins(llvm::Module &In, const std::vector<TaggedVariable> &Tagged);

    // nullptr: no tagged variable's address.
    const Origin *of(const llvm::Value *V) const;

private:
    bool visit(llvm::Instruction &I);
    bool visitCall(llvm::CallBase &Call);
    bool join(const llvm::Value *Into, const llvm::Value *From);
    bool joinMoved(llvm::Instruction &Gep);
    bool merge(const llvm::Value *Into, const Origin &From);
    void markPlain();

    llvm::Module &M;
    llvm::DenseMap<const llvm::Value *, Origin> Known;
    bool Marking = false; // second phase: where plain addresses come in
};

// The argument takes an address along to its parameter (not by value, not for a result).
bool passesAddress(const llvm::CallBase &Call, unsigned Argument);

// ---- what is refused, and what takes the place of an access ----

// True: everything the file does with tagged variables can be built.
bool checkTagged(llvm::Module &M, const std::vector<TaggedVariable> &Tagged, const Origins &From);

// A recording: accesses are told, variables stay what they are.
void recordTagged(llvm::Module &M, const std::vector<TaggedVariable> &Tagged, const Origins &From);

// A layout: accesses go to the run time, variables have addresses and no memory.
void placeTagged(llvm::Module &M, const std::vector<TaggedVariable> &Tagged, const Origins &From);

// No trace: what the source refers to, as text to a file.
void writeReferences(llvm::Module &M, const std::vector<TaggedVariable> &Tagged,
                     const Origins &From, const std::string &Path);

} // namespace nandwich

#endif
