// SPDX-License-Identifier: Apache-2.0
#include "libc.h"

#include "names.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace nandwich {

namespace {

struct Entry {
    LibcKind Kind;
    bool ReturnsPlain;
    const char *Reason; // of a refusal
};

StringMap<Entry> makeTable()
{
    StringMap<Entry> Table;

#define WRAPPED(NAME) Table[#NAME] = {LibcKind::Wrapped, false, ""};
#define WRAPPED_RETURNS_PLAIN(NAME) Table[#NAME] = {LibcKind::Wrapped, true, ""};
#define PLAIN(NAME) Table[#NAME] = {LibcKind::Plain, false, ""};
#define RETURNS_PLAIN(NAME) Table[#NAME] = {LibcKind::Plain, true, ""};
#define REFUSED(NAME, REASON) Table[#NAME] = {LibcKind::Refused, false, REASON};
#include "libc.def"
    return Table;
}

const Entry *find(StringRef Name)
{
    static const StringMap<Entry> Table = makeTable();

    // clang writes a leading \1 when a header renames a symbol by asm("...").
    Name.consume_front("\1");
    auto At = Table.find(Name);
    return At == Table.end() ? nullptr : &At->second;
}

} // namespace

LibcKind libcKind(StringRef Name)
{
    const Entry *E = find(Name);

    return E == nullptr ? LibcKind::Unknown : E->Kind;
}

StringRef libcRefusal(StringRef Name)
{
    const Entry *E = find(Name);

    return E != nullptr && E->Kind == LibcKind::Refused ? E->Reason : "";
}

bool libcReturnsPlain(StringRef Name)
{
    // Already renamed when the guards ask.
    Name.consume_front(WrapperPrefix);
    const Entry *E = find(Name);

    return E != nullptr && E->ReturnsPlain;
}

bool isSetjmp(StringRef Name)
{
    return StringSwitch<bool>(Name)
        .Cases("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", true)
        .Default(false);
}

// A definition is renamed like a declaration: a program's own getline or index then takes the place
// of the wrapper (which is weak) and leaves the host library's function alone.
void renameLibrary(Module &M)
{
    SmallVector<Function *, 32> Wrapped;

    for (Function &F : M) {
        if (!F.hasLocalLinkage() && libcKind(F.getName()) == LibcKind::Wrapped) {
            Wrapped.push_back(&F);
        }
    }
    for (Function *F : Wrapped) {
        StringRef Old = F->getName();

        Old.consume_front("\1");
        std::string Name = (Twine(WrapperPrefix) + Old).str();

        if (Function *Known = M.getFunction(Name)) {
            F->replaceAllUsesWith(Known);
            F->eraseFromParent();
        } else {
            F->setName(Name);
        }
    }
}

} // namespace nandwich
