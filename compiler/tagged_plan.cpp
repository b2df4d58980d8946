// SPDX-License-Identifier: Apache-2.0
// Tagged variables of a file, and what the layout says of them. A plan is text by `nandwich cc`:
//   FILE of the layout
//   a digest of the rest
//   bytes up to which an array stays whole
//   ID BYTES ELEMENT START FIRST PAGE:OFFSET,PAGE:OFFSET,... NAME     for each variable
#include "tagged.h"

#include "diagnose.h"
#include "names.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace nandwich {

bool TaggedObject::isWhole() const
{
    for (size_t I = 0; I < Places.size(); I++) {
        if (Places[I].Page != Places[0].Page ||
            Places[I].Offset != Places[0].Offset + I * Element) {
            return false;
        }
    }
    return true;
}

static bool readPlaces(StringRef Text, std::vector<TaggedPlace> &Places)
{
    SmallVector<StringRef, 16> Words;

    Text.split(Words, ',');
    for (StringRef Word : Words) {
        auto [Page, Offset] = Word.split(':');
        TaggedPlace Place;
        if (Page.getAsInteger(10, Place.Page) || Offset.getAsInteger(10, Place.Offset)) {
            return false;
        }
        Places.push_back(Place);
    }
    return true;
}

static bool readObject(StringRef Line, TaggedPlan &Plan)
{
    SmallVector<StringRef, 7> Words;
    TaggedObject One;

    Line.split(Words, ' ', 6);
    if (Words.size() != 7 || Words[0].getAsInteger(10, One.Id) ||
        Words[1].getAsInteger(10, One.Bytes) || Words[2].getAsInteger(10, One.Element) ||
        Words[3].getAsInteger(10, One.Start) || Words[4].getAsInteger(10, One.First) ||
        !readPlaces(Words[5], One.Places) || One.Places.size() * One.Element != One.Bytes) {
        return false;
    }
    return Plan.Objects.emplace(Words[6].str(), std::move(One)).second;
}

bool readPlan(Module &M, const std::string &Path, TaggedPlan &Plan)
{
    auto File = MemoryBuffer::getFile(Path, true);
    SmallVector<StringRef, 64> Lines;

    if (!File) {
        M.getContext().emitError(Path + ": " + File.getError().message());
        return false;
    }
    (*File)->getBuffer().split(Lines, '\n', -1, false);
    bool Good = Lines.size() >= 3 && !Lines[2].getAsInteger(10, Plan.WholeBytes);
    for (size_t I = 3; Good && I < Lines.size(); I++) {
        Good = readObject(Lines[I], Plan);
    }
    if (!Good) {
        M.getContext().emitError(Path + ": no plan of `nandwich cc --layout`");
        return false;
    }
    Plan.File = Lines[0].str();
    Plan.Digest = Lines[1].str();
    return true;
}

static const DIType *bare(const DIType *Ty)
{
    const auto *Derived = dyn_cast_or_null<DIDerivedType>(Ty);

    while (Derived != nullptr && Derived->getTag() != dwarf::DW_TAG_pointer_type) {
        Ty = Derived->getBaseType();
        Derived = dyn_cast_or_null<DIDerivedType>(Ty);
    }
    return Ty;
}

static const DICompositeType *arrayOf(const DIType *Ty)
{
    const auto *Array = dyn_cast_or_null<DICompositeType>(bare(Ty));
    bool Is = Array != nullptr && Array->getTag() == dwarf::DW_TAG_array_type && !Array->isVector();

    return Is ? Array : nullptr;
}

// Of an array its innermost element, else all of it. clang gives an array with an initial value in
// part a type of two parts, so the debug information is asked first.
static uint64_t elementBytes(const GlobalVariable &Global)
{
    const DataLayout &DL = Global.getParent()->getDataLayout();
    SmallVector<DIGlobalVariableExpression *, 1> Told;
    Type *Ty = Global.getValueType();

    Global.getDebugInfo(Told);
    if (!Told.empty()) {
        const DIType *Element = Told[0]->getVariable()->getType();
        while (const DICompositeType *Array = arrayOf(Element)) {
            Element = Array->getBaseType();
        }
        Element = bare(Element);
        uint64_t Bytes = Element != nullptr ? Element->getSizeInBits() / 8 : 0;
        if (Bytes != 0 && DL.getTypeAllocSize(Ty) % Bytes == 0) {
            return Bytes;
        }
    }
    while (auto *Array = dyn_cast<ArrayType>(Ty)) {
        Ty = Array->getElementType();
    }
    return DL.getTypeAllocSize(Ty);
}

constexpr size_t MostNameBytes = 63; // NW_ACCESS_NAME_BYTES and an end

static std::string nameOf(const GlobalVariable &Global)
{
    std::string Name = Global.getName().str();

    if (Global.hasLocalLinkage()) {
        StringRef File = sys::path::filename(Global.getParent()->getSourceFileName());
        Name = (File + ":" + Name).str();
    }
    Name.resize(std::min(Name.size(), MostNameBytes)); // as the recorder keeps it
    return Name;
}

static std::string shape(uint64_t Bytes, uint64_t Element)
{
    return (Twine(Bytes) + " B in elements of " + Twine(Element) + " B").str();
}

static const TaggedObject *placeOf(Module &M, const TaggedVariable &One, const TaggedPlan &Plan)
{
    auto At = Plan.Objects.find(One.Name);
    uint64_t Element = One.Bytes <= Plan.WholeBytes ? One.Bytes : One.Element;

    if (At == Plan.Objects.end()) {
        refuse(M, Plan.File + " is for another version of the program: '" + One.Name +
                      "' is not in it; record and lay out again");
        return nullptr;
    }
    if (At->second.Bytes != One.Bytes || At->second.Element != Element) {
        refuse(M, Plan.File + " is for another version of the program, or another processor: '" +
                      One.Name + "' has " + shape(One.Bytes, Element) + ", there " +
                      shape(At->second.Bytes, At->second.Element) + "; record and lay out again");
        return nullptr;
    }
    return &At->second;
}

std::vector<TaggedVariable> findTagged(Module &M, const TaggedPlan *Plan)
{
    const DataLayout &DL = M.getDataLayout();
    std::vector<TaggedVariable> Found;

    for (GlobalVariable &Global : M.globals()) {
        bool Tagged = Global.getSection() == TaggedSection;
        bool Named = Plan != nullptr && !Global.hasLocalLinkage() &&
                     Plan->Objects.count(Global.getName().str()) != 0;
        Type *Ty = Global.getValueType();

        if ((!Tagged && !Named) || !Ty->isSized() || DL.getTypeAllocSize(Ty) == 0) {
            continue;
        }
        if (!Tagged && Global.isDeclaration()) {
            warn(M, "'" + Global.getName() + "' is tagged, and declared without NW_VM here: the "
                    "recording did not see what this file does with it; write NW_VM and record "
                    "again");
        }
        TaggedVariable One = {&Global, nameOf(Global), DL.getTypeAllocSize(Ty),
                              elementBytes(Global), nullptr};
        One.At = Plan != nullptr ? placeOf(M, One, *Plan) : nullptr;
        if (Plan == nullptr || One.At != nullptr) {
            Found.push_back(One);
        }
    }
    return Found;
}

} // namespace nandwich
