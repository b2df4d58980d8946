# SPDX-License-Identifier: Apache-2.0
"""Rules that read one file at a time: lengths, the SPDX line, leftovers, banned calls."""

import ast
import re
from collections.abc import Iterator

from tidy import clex
from tidy.tree import Finding, Source

MAX_COLUMNS = 100
MAX_FUNCTION = 70
MAX_FILE = 1000
MAX_OPENING = 40
SPDX = "SPDX-License-Identifier: Apache-2.0"

# The brackets keep this file from holding what it looks for.
_MARKERS = re.compile(r"\b([T]ODO|[F]IXME|[X]XX|[H]ACK)\b")
_CONFLICT = re.compile(r"^(<{7}|>{7}|={7})( |$)")
_OUTSIDE = re.compile(r"/wor[k]/\w|\.\./share[d]")

#: What core/ may not call, and what to use instead.
BANNED_CALLS = {
    **dict.fromkeys(
        ("malloc", "calloc", "realloc", "free", "alloca", "strdup"),
        "take memory from the caller (nandwich/ram.h)",
    ),
    **dict.fromkeys(
        (
            "printf",
            "fprintf",
            "sprintf",
            "snprintf",
            "vprintf",
            "vfprintf",
            "vsprintf",
            "vsnprintf",
            "puts",
            "putchar",
            "perror",
        ),
        "answer an enum nw_error",
    ),
    **dict.fromkeys(
        ("memmove", "strlen", "strcpy", "strncpy", "strcmp", "strncmp", "strcat"),
        "only memcpy, memset and memcmp are there on every target",
    ),
    **dict.fromkeys(("abort", "exit", "assert", "setjmp", "longjmp"), "answer an enum nw_error"),
    **dict.fromkeys(("rand", "srand", "random"), "draw from nandwich/random.h"),
    **dict.fromkeys(
        ("time", "clock", "gettimeofday", "clock_gettime"), "take the time as an argument"
    ),
}
_CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED_CALLS) + r")\s*\(")
_FLOAT = re.compile(r"\b(float|double)\b")
_HEADERS = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
#: The standard headers a freestanding build has on every target, and string.h for the mem trio.
FREESTANDING = frozenset({"stdint.h", "stddef.h", "stdbool.h", "limits.h", "string.h"})

#: What opens and closes C's linkage in a public header, string contents blanked.
_BEGIN = re.compile(r"^#ifdef __cplusplus\nextern +\{\n#endif\n", re.MULTILINE)
_END = re.compile(r"^#ifdef __cplusplus\n\}\n#endif\n+#endif\s*\Z", re.MULTILINE)
_INCLUDE = re.compile(r"^\s*#\s*include\b", re.MULTILINE)
#: The first comment of a file behind its SPDX line.
_OPENING = re.compile(r"\A/\*[^\n]*\*/\n+(/\*.*?\*/)", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)


def lengths(source: Source) -> Iterator[Finding]:
    """Lines, functions and files stay short enough to read."""
    if not (source.is_source or source.path.endswith(".toml")):
        return
    for number, line in enumerate(source.lines, 1):
        if len(line) > MAX_COLUMNS:
            text = f"{len(line)} columns, at most {MAX_COLUMNS}"
            yield Finding(source.path, number, "line-length", text, len(line))
    if len(source.lines) > MAX_FILE:
        text = f"{len(source.lines)} lines, at most {MAX_FILE}: split it"
        yield Finding(source.path, 1, "file-length", text, len(source.lines))
    try:
        functions = _functions(source)
    except SyntaxError as error:
        yield Finding(source.path, error.lineno or 1, "compile", f"not Python: {error.msg}")
        return
    for function in functions:
        if function.length > MAX_FUNCTION:
            text = f"{function.name} has {function.length} lines, at most {MAX_FUNCTION}: split it"
            yield Finding(
                source.path, function.first, "function-length", text, function.length, function.name
            )


def _functions(source: Source) -> list[clex.Function]:
    if source.is_c_like:
        return clex.functions(source.text)
    if source.is_python:
        return [
            clex.Function(node.name, node.lineno, node.end_lineno or node.lineno)
            for node in ast.walk(ast.parse(source.text))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
    return []


def licence(source: Source) -> Iterator[Finding]:
    """One SPDX line, at the top of every source file."""
    if not (source.is_source or source.path.endswith(".toml")):
        return
    if not source.text.strip():
        return
    if not any(SPDX in line for line in source.lines[:3]):
        yield Finding(source.path, 1, "spdx", f"no '{SPDX}' in its first three lines")


def leftovers(source: Source) -> Iterator[Finding]:
    """No markers of unfinished work, merge conflicts, or paths of somebody's machine."""
    for number, line in enumerate(source.lines, 1):
        if marker := _MARKERS.search(line):
            text = f"'{marker.group(1)}' left behind: do it or open an issue"
            yield Finding(source.path, number, "marker", text)
        if _CONFLICT.match(line) and not source.is_doc:
            yield Finding(source.path, number, "marker", "merge conflict left behind")
        if outside := _OUTSIDE.search(line):
            text = f"'{outside.group(0)}' points outside the checkout"
            yield Finding(source.path, number, "outside-path", text)
        if line != line.rstrip() and (source.is_source or source.is_doc):
            yield Finding(source.path, number, "trailing-space", "space at the end of the line")


def core_calls(source: Source) -> Iterator[Finding]:
    """core/ calls nothing that a bare device lacks, and computes without floating point."""
    if not (source.path.startswith("core/") and source.is_c):
        return
    code = clex.blanked(source.text)
    for number, line in enumerate(code.splitlines(), 1):
        for call in _CALL.finditer(line):
            text = f"{call.group(1)}() in core: {BANNED_CALLS[call.group(1)]}"
            yield Finding(source.path, number, "banned-call", text)
        if found := _FLOAT.search(line):
            yield Finding(source.path, number, "no-float", f"'{found.group(1)}' in core")
    for include in _HEADERS.finditer(code):
        if include.group(1) not in FREESTANDING:
            number = code.count("\n", 0, include.start()) + 1
            allowed = ", ".join(sorted(FREESTANDING))
            text = f"<{include.group(1)}> in core: only {allowed}"
            yield Finding(source.path, number, "banned-header", text)


def opening(source: Source) -> Iterator[Finding]:
    """The opening comment of a public header: promise and cost; the rest stands in the docs."""
    if not _is_public_header(source):
        return
    if comment := _OPENING.match(source.text):
        length = comment.group(1).count("\n") + 1
        if length > MAX_OPENING:
            number = source.text.count("\n", 0, comment.start(1)) + 1
            text = f"opening comment of {length} lines, at most {MAX_OPENING}: docs/ takes the rest"
            yield Finding(source.path, number, "opening", text, length)


def _is_public_header(source: Source) -> bool:
    return source.path.endswith(".h") and "/include/" in source.path


def linkage(source: Source) -> Iterator[Finding]:
    """A public header gives its names the linkage of C, from its last include to its end."""
    if not _is_public_header(source):
        return
    code = clex.blanked(source.text)
    begin, end = _BEGIN.search(code), _END.search(code)
    head = code[: begin.start()] if begin and end else code
    plain = _DIRECTIVE.sub(lambda found: "\n" * found.group(0).count("\n"), head)
    if plain.strip():
        number = plain.count("\n", 0, len(plain) - len(plain.lstrip())) + 1
        text = 'this name is outside extern "C" { } under #ifdef __cplusplus: C++ cannot link it'
        yield Finding(source.path, number, "linkage", text)
    elif begin and end and _INCLUDE.search(code, begin.end()):
        number = code.count("\n", 0, begin.start()) + 2
        yield Finding(source.path, number, "linkage", 'an #include behind extern "C" {')


RULES = (lengths, licence, leftovers, core_calls, opening, linkage)
