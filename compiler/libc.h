// SPDX-License-Identifier: Apache-2.0
// What the pass knows of the C library: which functions ports/guest wraps, which are harmless.
#ifndef NANDWICH_COMPILER_LIBC_H
#define NANDWICH_COMPILER_LIBC_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"

namespace nandwich {

enum class LibcKind {
    Unknown, // not a library function we know: must be instrumented, or marked NW_PLAIN
    Plain,   // never touches memory the program's pointers lead to, or only plain memory
    Wrapped, // ports/guest has nw_libc_NAME, which takes virtual pointers
    Refused  // cannot work on virtual memory; libcRefusal() says why
};

LibcKind libcKind(llvm::StringRef Name);
llvm::StringRef libcRefusal(llvm::StringRef Name);
// The pointer it returns is the library's own memory (getenv, localtime, ...).
bool libcReturnsPlain(llvm::StringRef Name);
// setjmp under its several names: handled in place, it cannot be wrapped.
bool isSetjmp(llvm::StringRef Name);

// Renames every wrapped function declared or defined in the module: uses, calls and tables follow.
void renameLibrary(llvm::Module &M);

} // namespace nandwich

#endif
