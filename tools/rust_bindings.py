#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes packages/rust/src/sys.rs from the public headers, as clang reads them.

    tools/rust_bindings.py            writes it anew
    tools/rust_bindings.py --check    exit 1 when it is not what the headers say

Sizes and offsets are asked of clang for 64-bit and 32-bit processors and stand in the file as
assertions, so a Rust compiler that lays out a struct otherwise refuses to go on.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "core" / "include"
TARGET = ROOT / "packages" / "rust" / "src" / "sys.rs"
CLANG = "clang-19"
HEADERS = (
    "error.h",
    "stats.h",
    "chip.h",
    "block.h",
    "ftl_tree.h",
    "store.h",
    "driver_spi.h",
    "driver_spi_nand.h",
    "driver_spi_nor.h",
)
#: By width of a pointer: a processor of that width. Enums are as wide as an int, as Rust has them.
TARGETS = {"64": "x86_64-linux-gnu", "32": "thumbv7m-none-eabi"}
SCALARS = {
    "void": "c_void",
    "char": "c_char",
    "int": "c_int",
    "uint8_t": "u8",
    "int8_t": "i8",
    "uint16_t": "u16",
    "uint32_t": "u32",
    "uint64_t": "u64",
    "size_t": "usize",
    "uintptr_t": "usize",
    "nw_count": "nw_count",
}
KEYWORDS = frozenset({"type", "in", "ref", "fn", "use", "mod"})
Node = dict[str, Any]


def clang(source: str, *options: str, target: str = TARGETS["64"]) -> str:
    """What clang makes of a few lines of C."""
    command = [CLANG, "-std=c11", "-ffreestanding", "-fno-short-enums", f"--target={target}"]
    command += [f"-I{INCLUDE}", *options, "-x", "c", "-", "-o", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"rust_bindings: {done.stderr}")
    return done.stdout


def rust_type(c_type: str) -> str:
    """A type as C writes it, as Rust does."""
    text = c_type.strip()
    if match := re.fullmatch(r"(.+) \(\*(?:const)?\)\((.*)\)", text):
        parts = [] if match[2] == "void" else match[2].split(", ")
        inner = ", ".join(rust_type(part) for part in parts)
        return f'Option<unsafe extern "C" fn({inner}){_answer(match[1])}>'
    if match := re.fullmatch(r"(.+?)\s*\[(\d+)\]", text):
        return f"[{rust_type(match[1])}; {match[2]}]"
    if match := re.fullmatch(r"(.+?)\s*\*(?:const)?", text):
        inner = match[1].strip()
        constant = inner.startswith("const ") and not inner.endswith("*")
        return f"{'*const' if constant else '*mut'} {rust_type(inner.removeprefix('const '))}"
    text = text.removeprefix("const ")
    if text.startswith("enum "):
        return "c_int"
    if text.startswith("struct "):
        return text.removeprefix("struct ")
    return SCALARS[text]


def _answer(c_type: str) -> str:
    return "" if c_type.strip() == "void" else f" -> {rust_type(c_type)}"


def _name(name: str) -> str:
    return f"r#{name}" if name in KEYWORDS else name


class Bindings:
    """What the headers declare, and how Rust says it."""

    def __init__(self) -> None:
        self.source = "".join(f'#include "nandwich/{header}"\n' for header in HEADERS)
        dump = clang(self.source, "-fsyntax-only", "-Xclang", "-ast-dump=json")
        self.nodes: list[Node] = json.loads(dump)["inner"]
        text = "".join((INCLUDE / "nandwich" / header).read_text() for header in HEADERS)
        self.text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        self.records = {
            node["name"]: node
            for node in self.nodes
            if node["kind"] == "RecordDecl"
            and node.get("completeDefinition")
            and re.search(rf"struct {node.get('name')} {{", self.text)
        }
        self.functions = [
            node
            for node in self.nodes
            if node["kind"] == "FunctionDecl"
            and node.get("storageClass") != "static"
            and re.search(rf"\b{node['name']}\(", self.text)
        ]

    def fields(self, record: str) -> list[tuple[str, str]]:
        inner = self.records[record].get("inner", [])
        found = [node for node in inner if node["kind"] == "FieldDecl"]
        return [(node["name"], node["type"]["qualType"]) for node in found]

    def used(self) -> tuple[list[str], list[str]]:
        """Records that functions reach, complete ones and those known by name alone."""
        pending = [node["type"]["qualType"] for node in self.functions]
        pending += [f"struct {name}" for name in self.records]
        found: set[str] = set()
        while pending:
            for name in re.findall(r"struct (\w+)", pending.pop()):
                if name not in found:
                    found.add(name)
                    if name in self.records:
                        pending += [c_type for _, c_type in self.fields(name)]
        whole = [name for name in self.records if name in found]
        return whole, sorted(found - set(whole))

    def constants(self) -> list[str]:
        lines = []
        for node in self.nodes:
            if node["kind"] == "EnumDecl" and re.search(rf"enum {node.get('name')} {{", self.text):
                value = -1
                for constant in node["inner"]:
                    told = constant.get("inner")
                    value = int(told[0]["value"]) if told else value + 1
                    lines.append(f"pub const {constant['name']}: c_int = {value};")
        for name, number in re.findall(
            r"^#define (NW_\w+) (0x[0-9A-F]+|\d+)U?L?\s*?$", self.text, re.MULTILINE
        ):
            lines.append(f"pub const {name}: u32 = {number};")
        return lines

    def layouts(self, records: list[str], width: str) -> list[str]:
        """Assertions of every size and offset, for one width of pointers."""
        asked = []
        for record in records:
            asked.append((f"size_of::<{record}>()", f"sizeof(struct {record})"))
            for name, _ in self.fields(record):
                rust = f"offset_of!({record}, {_name(name)})"
                asked.append((rust, f"__builtin_offsetof(struct {record}, {name})"))
        numbers = ", ".join(c for _, c in asked)
        source = f"{self.source}unsigned nw_numbers[] = {{{numbers}}};\n"
        made = clang(source, "-S", "-emit-llvm", target=TARGETS[width])
        found = re.search(r"@nw_numbers = .*?\[(i32.*?)\], align", made)
        assert found, made
        values = [word.split()[1] for word in found[1].split(", ")]
        lines = [f'#[cfg(target_pointer_width = "{width}")]', "const _: () = {"]
        pairs = zip(asked, values, strict=True)
        lines += [f"    assert!({rust} == {value});" for (rust, _), value in pairs]
        return [*lines, "};"]

    def rust(self) -> str:
        records, opaque = self.used()
        lines = [
            "// SPDX-License-Identifier: Apache-2.0",
            "//! The C interface as it is. Made by tools/rust_bindings.py; do not edit.",
            "#![allow(non_camel_case_types, missing_docs, clippy::missing_safety_doc)]",
            "",
            "use core::ffi::{c_char, c_int, c_void};",
            "use core::mem::{offset_of, size_of};",
            "",
            "/// As in stats.h.",
            '#[cfg(target_pointer_width = "64")]',
            "pub type nw_count = u64;",
            '#[cfg(not(target_pointer_width = "64"))]',
            "pub type nw_count = u32;",
            "",
            *self.constants(),
        ]
        for name in opaque:
            lines += ["", "#[repr(C)]", f"pub struct {name} {{", "    _private: [u8; 0],", "}"]
        for name in records:
            lines += ["", "#[repr(C)]", "#[derive(Clone, Copy)]", f"pub struct {name} {{"]
            for field, c_type in self.fields(name):
                lines.append(f"    pub {_name(field)}: {rust_type(c_type)},")
            lines.append("}")
        lines += ["", 'extern "C" {']
        for node in self.functions:
            parameters = [one for one in node.get("inner", []) if one["kind"] == "ParmVarDecl"]
            inner = ", ".join(
                f"{_name(one['name'])}: {rust_type(one['type']['qualType'])}" for one in parameters
            )
            answer = _answer(node["type"]["qualType"].split("(", 1)[0])
            lines.append(f"    pub fn {node['name']}({inner}){answer};")
        lines.append("}")
        for width in TARGETS:
            lines += ["", *self.layouts(records, width)]
        return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="say whether it is up to date")
    options = parser.parse_args()
    text = Bindings().rust()
    if options.check:
        if TARGET.read_text(encoding="utf-8") != text:
            print(f"{TARGET}: not what the headers say; run tools/rust_bindings.py")
            return 1
        return 0
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
