// SPDX-License-Identifier: Apache-2.0
#include "recorded.h"

#include "diagnose.h"
#include "options.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Metadata.h"

using namespace llvm;

namespace nandwich {

constexpr const char Lines[] = "llvm.commandline";
constexpr const char Macro[] = "__NANDWICH_PASS__=";

static StringRef wordsOf(StringRef Line)
{
    size_t At = Line.find(Macro);

    return At == StringRef::npos
               ? StringRef()
               : Line.substr(At + sizeof Macro - 1).take_until([](char C) { return C == ' '; });
}

void obeyRecorded(Module &M)
{
    NamedMDNode *Recorded = M.getNamedMetadata(Lines);
    MapVector<StringRef, StringRef> Chosen;

    if (Recorded == nullptr) {
        return;
    }
    for (const MDNode *Line : Recorded->operands()) {
        SmallVector<StringRef, 8> Words;

        wordsOf(cast<MDString>(Line->getOperand(0))->getString()).split(Words, ';', -1, false);
        for (StringRef Word : Words) {
            auto [Key, Value] = Word.split('=');
            auto [At, New] = Chosen.insert({Key, Value});

            if (!New && At->second != Value && Key != "plain") {
                refuse(M, Key + "=" + Value + " and " + Key + "=" + At->second +
                              ": files of one program ask for both");
            }
            if ((New || Key == "plain") && !obey(Word)) {
                refuse(M, "-nw-" + Word + ": no option of the pass, or no value of it");
            }
        }
    }
    Recorded->eraseFromParent();
}

} // namespace nandwich
