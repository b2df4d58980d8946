// SPDX-License-Identifier: Apache-2.0
// The symbols and sections the pass shares with ports/guest and with the linker scripts. Change
// both sides together.
#ifndef NANDWICH_COMPILER_NAMES_H
#define NANDWICH_COMPILER_NAMES_H

namespace nandwich {

// Sections whose objects live in virtual memory; ".bss." makes the second one take no file space.
constexpr const char DataSection[] = ".nw_vm.data";
constexpr const char BssSection[] = ".bss.nw_vm";
// Three numbers an object file: what it was built for. Start-up refuses a mixture.
constexpr const char ConfigSection[] = "nw_config";
// What lies in virtual memory, for a recording: struct object of ports/host/accesses.c.
constexpr const char ObjectsSection[] = "nw_objects";
// Which globals stayed in RAM (statics.h): JSON that is not loaded, and how many bytes they take.
constexpr const char StaticsSection[] = ".nw_statics";
constexpr const char StaticsSymbol[] = "nw_guest_statics_bytes";
// Tagged mode: variables marked NW_VM, and the symbols of ports/tagged.
constexpr const char TaggedSection[] = "nw_tagged";
constexpr const char TaggedPrefix[] = "nw_tagged_";
// Cross-file check, see markers.h.
constexpr const char MarkerPrefix[] = "nw_instrumented.";
constexpr const char MarkerSection[] = ".nw_from.";
// A libc function NAME becomes this prefix + NAME.
constexpr const char WrapperPrefix[] = "nw_libc_";
// __attribute__((annotate("..."))) by the macros of nandwich/guest.h.
constexpr const char RamAnnotation[] = "nw_ram";
constexpr const char PlainAnnotation[] = "nw_plain";

} // namespace nandwich

#endif
