// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace nandwich {

static cl::opt<unsigned> FrameBytes("nw-frame", cl::init(512),
                                    cl::desc("Nandwich: bytes a page frame (16..32768)"));
static cl::opt<unsigned> Slots("nw-slots", cl::init(16),
                               cl::desc("Nandwich: last-cache-buffer slots (1..64)"));
static cl::opt<unsigned>
    Lookaside("nw-lookaside", cl::init(64),
              cl::desc("Nandwich: look-aside entries (a power of two up to 256, or 0)"));
static cl::opt<unsigned> MergeBytes("nw-merge", cl::init(64),
                                    cl::desc("Nandwich: span checked by one guard (0: off)"));
static cl::opt<bool> Windows("nw-windows", cl::init(true),
                             cl::desc("Nandwich: page windows for loops"));
static cl::opt<bool> Trace("nw-trace", cl::init(false),
                           cl::desc("Nandwich: tell every guarded access (no windows)"));
static cl::opt<bool> Count("nw-count", cl::init(true),
                           cl::desc("Nandwich: count guarded accesses"));
static cl::opt<GuardMode>
    Mode("nw-guards", cl::init(GuardMode::Inline), cl::desc("Nandwich: where guards stand"),
         cl::values(clEnumValN(GuardMode::Inline, "inline", "in place: fastest"),
                    clEnumValN(GuardMode::Outline, "outline", "a call: smallest"),
                    clEnumValN(GuardMode::Hybrid, "hybrid", "in place in loops, else a call")));
static cl::opt<bool> Native("nw-native", cl::init(false),
                            cl::desc("Nandwich: no virtual memory, the back end's needs alone"));
static cl::opt<bool> Tagged("nw-tagged", cl::init(false),
                            cl::desc("Nandwich: only NW_VM variables are virtual"));
static cl::opt<unsigned>
    Statics("nw-statics", cl::init(0),
            cl::desc("Nandwich: bytes of RAM for the hottest globals (0: none)"));
static cl::opt<std::string> Plan("nw-plan", cl::init(""),
                                 cl::desc("Nandwich: places of NW_VM variables"));
static cl::opt<std::string>
    References("nw-references", cl::init(""),
               cl::desc("Nandwich: a file for what the source does with NW_VM variables"));
static cl::list<std::string> Plain("nw-plain", cl::CommaSeparated,
                                   cl::desc("Nandwich: functions that touch no virtual memory"));

const Options &options()
{
    static Options Current;

    Current = {FrameBytes, Slots, Lookaside, MergeBytes, Mode,   Windows && !Trace, Trace, Count,
               Native,     Tagged,     Statics,    Plan,       References};
    return Current;
}

static cl::Option *find(StringRef Key)
{
    return cl::getRegisteredOptions().lookup(("nw-" + Key).str());
}

static bool set(cl::Option *Known, StringRef Value)
{
    return Known != nullptr && !Known->addOccurrence(0, Known->ArgStr, Value);
}

bool setOptions(StringRef Words)
{
    SmallVector<StringRef, 16> Each;

    Words.split(Each, ';', -1, false);
    return all_of(Each, [](StringRef Word) {
        auto [Key, Value] = Word.split('=');

        return set(find(Key), Value);
    });
}

bool obey(StringRef Word)
{
    auto [Key, Value] = Word.split('=');
    cl::Option *Known = find(Key);

    if (Known != nullptr && Known->getNumOccurrences() != 0 && Key != "plain") {
        return true;
    }
    return set(Known, Value);
}

const std::vector<std::string> &plainFunctionOptions()
{
    return Plain;
}

std::string optionsError()
{
    if (FrameBytes < 16 || FrameBytes > 32768 || !isPowerOf2_32(FrameBytes)) {
        return "-nw-frame=" + std::to_string(FrameBytes) +
               ": a frame is a power of two from 16 to 32768 bytes";
    }
    if (Slots < 1 || Slots > 64) {
        return "-nw-slots=" + std::to_string(Slots) + ": from 1 to 64 slots are allowed";
    }
    if (Lookaside > 256 || (Lookaside != 0 && !isPowerOf2_32(Lookaside))) {
        return "-nw-lookaside=" + std::to_string(Lookaside) +
               ": look-aside entries are a power of two up to 256, or 0";
    }
    return "";
}

} // namespace nandwich
