// SPDX-License-Identifier: Apache-2.0
// What the pass can be told, by -mllvm -nw-... (after -fplugin=) or on opt's command line.
#ifndef NANDWICH_COMPILER_OPTIONS_H
#define NANDWICH_COMPILER_OPTIONS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nandwich {

enum class GuardMode {
    Inline,  // the check in place; out of line in functions built for size (as Hybrid)
    Outline, // a call an access
    Hybrid   // in place inside loops, a call elsewhere
};

struct Options {
    uint32_t FrameBytes; // power of two, 16..32768: the same in every object of a program
    uint32_t Slots;      // 1..64, the same in every object of a program
    uint32_t Lookaside;  // look-aside entries: a power of two up to 256, or 0; likewise
    uint32_t MergeBytes; // neighbours checked together span at most this; 0: every access alone
    GuardMode Mode;
    bool Windows; // loops run on raw pointers a page at a time
    bool Trace;   // every access is told to the run time; without windows
    bool Count; // add up the guarded accesses in nw_guest_accesses
    bool Native; // no virtual memory: only what the back end needs (stack_pass.cpp)
    bool Tagged;      // only variables marked NW_VM are virtual (tagged.h)
    uint32_t StaticsBytes; // RAM for globals that would be virtual; of a whole program only
    std::string Plan; // where they go; empty: their accesses are recorded
    std::string References; // a file for what the source refers to, in the place of a recording
};

const Options &options();

// Sets them from words key=value with semicolons between, as -nw-key=value would. False: not one of
// ours, or not a value of it.
bool setOptions(llvm::StringRef Words);

// One word key=value, unless the option was set before. False: as above.
bool obey(llvm::StringRef Word);

// Names given by -nw-plain=: functions that never touch virtual memory.
const std::vector<std::string> &plainFunctionOptions();

// Empty, or what is wrong with the options.
std::string optionsError();

} // namespace nandwich

#endif
