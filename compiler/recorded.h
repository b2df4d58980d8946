// SPDX-License-Identifier: Apache-2.0
// What files of bitcode ask of the pass that runs at their link.
#ifndef NANDWICH_COMPILER_RECORDED_H
#define NANDWICH_COMPILER_RECORDED_H

#include "llvm/IR/Module.h"

namespace nandwich {

// A file that was compiled with choices keeps its command line (-frecord-command-line), and in it
// -D__NANDWICH_PASS__=key=value;... These hold for the program, where the link says nothing else.
// Files that ask for different values are refused. Takes the command lines out of the module.
void obeyRecorded(llvm::Module &M);

} // namespace nandwich

#endif
