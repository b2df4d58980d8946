# SPDX-License-Identifier: Apache-2.0
"""Tidy itself: every rule fires on a small bad tree and keeps quiet on the good one beside it."""

import json
import os
from pathlib import Path

import pytest
from tidy import ratchet
from tidy.check import check
from tidy.clex import functions
from tidy.tree import Finding

pytestmark = pytest.mark.quick

SPDX_C = "/* SPDX-License-Identifier: Apache-2.0 */\n"
SPDX_SCRIPT = "# SPDX-License-Identifier: Apache-2.0\n"
C_LINKAGE = '#ifdef __cplusplus\nextern "C" {\n#endif\n'
C_LINKAGE_END = "#ifdef __cplusplus\n}\n#endif\n#endif\n"
LAYERS = (
    SPDX_SCRIPT
    + """
[[layer]]
name = "base"
files = ["core/base/*"]
headers = ["core/include/nandwich/base.h"]
uses = []
[[layer]]
name = "vm"
files = ["core/vm/*"]
headers = ["core/include/nandwich/vm.h"]
uses = ["base"]
[[layer]]
name = "twin"
files = ["twin/*"]
headers = ["twin/include/nandwich-twin/*.h"]
uses = ["vm"]
"""
)


def header(text: str, includes: str = "") -> str:
    """A public header that C++ can link."""
    return f"{SPDX_C}#ifndef NW_H\n{includes}{C_LINKAGE}{text}{C_LINKAGE_END}"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree without a fault: two layers, a page, a Python module and what uses it."""
    files = {
        "core/layers.toml": LAYERS,
        "core/include/nandwich/base.h": header("int nw_base(int value);\n").replace("NW", "BASE"),
        "core/base/base.c": SPDX_C
        + '#include "nandwich/base.h"\nint nw_base(int value) { return value; }\n',
        "core/include/nandwich/vm.h": header(
            "int nw_vm(void);\n", '#define NW_VM(x) \\\n    (x)\n#include "nandwich/base.h"\n'
        ),
        "core/vm/vm.c": SPDX_C
        + '#include "nandwich/vm.h"\nint nw_vm(void) { return nw_base(1); }\n',
        "twin/include/nandwich-twin/twin.h": header("int nw_twin(void);\n").replace("NW", "TWIN"),
        "twin/twin.c": SPDX_C
        + "#include <stdlib.h>\n#include <nandwich-twin/twin.h>\n#include <nandwich/vm.h>\n"
        + "int nw_twin(void) { void *p = malloc(1); free(p); return nw_vm(); }\n",
        "README.md": "# It\n[more](docs/more.md)\n",
        "docs/more.md": "[back](../README.md)\n",
        "python/used.py": SPDX_SCRIPT + '"""Used."""\n',
        "python/verb_x.py": SPDX_SCRIPT + "import used\n",
    }
    for path, text in files.items():
        write(tmp_path, path, text)
    database = [
        {"file": str(tmp_path / path)}
        for path in ("core/base/base.c", "core/vm/vm.c", "twin/twin.c")
    ]
    write(tmp_path, "build/dev/compile_commands.json", json.dumps(database))
    write(tmp_path, "build/dev/.built", "")
    return tmp_path


def write(root: Path, path: str, text: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def append(root: Path, path: str, text: str) -> None:
    target = root / path
    target.write_text(target.read_text() + text)


def broken(root: Path) -> list[tuple[str, str]]:
    """Rule and path of every finding."""
    return [(finding.rule, finding.path) for finding in check(root)]


def test_good_tree_has_no_findings(tree: Path) -> None:
    """Goal: the rules do not cry wolf; without this the tests below would prove little."""
    assert [str(finding) for finding in check(tree)] == []


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        ("line-length", "core/vm/vm.c", "/* " + "x" * 100 + " */\n"),
        ("file-length", "core/vm/vm.c", "\n" * 1000),
        (
            "function-length",
            "core/vm/vm.c",
            "int nw_f(void);\nint nw_f(void)\n{\n" + "\n" * 70 + "return 0;\n}\n",
        ),
        ("function-length", "python/used.py", "def f():\n" + "    pass\n" * 70),
        ("marker", "core/vm/vm.c", f"/* {'TO'}{'DO'} */\n"),
        ("marker", "python/used.py", "<" * 7 + " HEAD\n"),
        ("outside-path", "docs/more.md", f"see /{'work'}/there\n"),
        ("trailing-space", "docs/more.md", "space \n"),
        ("banned-call", "core/vm/vm.c", "void *malloc(unsigned n);\n"),
        ("banned-call", "core/vm/vm.c", "int f(void);\nint f(void) { return snprintf (0, 0); }\n"),
        ("banned-header", "core/vm/vm.c", "#include <stdlib.h>\n"),
        ("no-float", "core/vm/vm.c", "extern double nw_x;\n"),
        ("layer", "core/base/base.c", '#include "nandwich/vm.h"\n'),
        ("layer", "core/vm/vm.c", "#include <nandwich-twin/twin.h>\n"),
        ("include-circle", "core/include/nandwich/base.h", '#include "nandwich/vm.h"\n'),
        (
            "vla",
            "core/vm/vm.c",
            "int nw_v(int n);\nint nw_v(int n) { char a[n]; a[0] = 1; return a[0]; }\n",
        ),
        ("compile", "core/vm/vm.c", "int nw_w(void) { return undeclared; }\n"),
        ("compile", "python/used.py", "def f(:\n"),
        ("dead-link", "docs/more.md", "[gone](gone.md)\n"),
    ],
)
def test_rule_fires(tree: Path, rule: str, path: str, text: str) -> None:
    """Goal: each rule sees a file that breaks it and says which file."""
    append(tree, path, text)
    assert (rule, path) in broken(tree)


@pytest.mark.parametrize(
    "path", ["core/base/new.c", "twin/include/nandwich-twin/new.h", "docs/new.md", "python/new.py"]
)
def test_dead_file_is_found(tree: Path, path: str) -> None:
    """Goal: a file that no target, include, import or link reaches does not stay unnoticed."""
    comment = SPDX_SCRIPT if path.endswith(".py") else SPDX_C
    write(tree, path, comment)
    os.utime(tree / path, (1, 1))
    assert broken(tree) == [("dead-file", path)]


def test_a_file_younger_than_a_build_is_not_judged(tree: Path) -> None:
    """Goal: a source that another preset's next build will pick up is not called dead now."""
    write(tree, "build/release/compile_commands.json", "[]")
    write(tree, "build/release/.built", "")
    os.utime(tree / "build/release/.built", (1, 1))
    write(tree, "core/base/new.c", SPDX_C)
    assert broken(tree) == []


def test_a_module_only_talked_about_is_dead(tree: Path) -> None:
    """Goal: a module's name in a comment is no import."""
    write(tree, "python/new.py", SPDX_SCRIPT + '"""New."""\n')
    append(tree, "python/verb_x.py", "# see new\n")
    assert broken(tree) == [("dead-file", "python/new.py")]


def test_missing_licence_line_is_found(tree: Path) -> None:
    """Goal: a source file without its SPDX line is named."""
    write(tree, "python/used.py", '"""Used."""\n')
    assert broken(tree) == [("spdx", "python/used.py")]


def test_file_outside_every_layer_is_found(tree: Path) -> None:
    """Goal: a new folder in core/ cannot dodge the layer order by not being listed."""
    write(tree, "core/new/new.h", SPDX_C)
    append(tree, "core/vm/vm.c", '#include "../new/new.h"\n')
    assert broken(tree) == [("layer", "core/new/new.h")]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (SPDX_C + "\nint nw_new(void);\n", 3),
        (SPDX_C + f"int nw_early(void);\n{C_LINKAGE}int nw_new(void);\n{C_LINKAGE_END}", 2),
        (header("int nw_new(void);\n") + "int nw_late(void);\n", 4),
        (header("#include <stdint.h>\nint nw_new(void);\n"), 4),
    ],
)
def test_header_that_cxx_cannot_link_is_found(tree: Path, text: str, place: int) -> None:
    """Goal: a name that C++ would look for under another name does not get into a header."""
    write(tree, "core/include/nandwich/vm.h", header("int nw_vm(void);\n"))
    write(tree, "core/include/nandwich/base.h", text)
    found = [finding for finding in check(tree) if finding.rule == "linkage"]
    assert [(finding.path, finding.line) for finding in found] == [
        ("core/include/nandwich/base.h", place)
    ]
    write(tree, "core/include/nandwich/base.h", SPDX_C + "#define NW_NEW(x) \\\n    (x)\n")
    assert not [finding for finding in check(tree) if finding.rule == "linkage"]


@pytest.mark.parametrize(("lines", "breaks"), [(40, []), (41, [(41, 2)])])
def test_opening_of_a_public_header_stays_short(
    tree: Path, lines: int, breaks: list[tuple[int, int]]
) -> None:
    """Goal: a public header opens with promise and cost; stories do not grow back there."""
    comment = "/*\n" + " * words\n" * (lines - 2) + " */\n"
    for path in ("core/include/nandwich/base.h", "core/base/base.c"):  # a source may tell more
        text = (tree / path).read_text()
        write(tree, path, text.replace(SPDX_C, SPDX_C + comment, 1))
    append(tree, "core/include/nandwich/vm.h", "/*\n" + " * words\n" * 50 + " */\n")
    found = [finding for finding in check(tree) if finding.rule == "opening"]
    assert [(finding.value, finding.line) for finding in found] == breaks
    assert all(finding.path == "core/include/nandwich/base.h" for finding in found)


def test_recursion_across_files_is_found(tree: Path) -> None:
    """Goal: a circle of calls through two files is seen, with the names on it."""
    append(tree, "core/include/nandwich/base.h", "int nw_ping(int n);\nint nw_pong(int n);\n")
    append(tree, "core/base/base.c", "int nw_ping(int n) { return nw_pong(n); }\n")
    append(tree, "core/vm/vm.c", "int nw_pong(int n) { return n ? nw_ping(n - 1) : 0; }\n")
    found = [finding for finding in check(tree) if finding.rule == "recursion"]
    assert [finding.text for finding in found] == ["recursion: nw_ping -> nw_pong -> nw_ping"]


def test_files_that_call_each_other_are_found(tree: Path) -> None:
    """Goal: a reader can begin at the bottom: no file calls one that leads back to it."""
    append(tree, "core/include/nandwich/base.h", "int nw_low(void);\nint nw_high(void);\n")
    append(tree, "core/base/base.c", "int nw_low(void) { return 1; }\nint nw_up(void);\n")
    append(tree, "core/vm/vm.c", "int nw_high(void) { return nw_low(); } /* nw_up() */\n")
    assert not [finding for finding in check(tree) if finding.rule == "file-circle"]
    append(tree, "core/base/base.c", "int nw_back(void) { return nw_high(); }\n")
    found = [finding for finding in check(tree) if finding.rule == "file-circle"]
    assert [(finding.value, finding.text) for finding in found] == [
        (2, "files that call each other: core/base/base.c, core/vm/vm.c")
    ]


def test_files_keep_the_order_that_their_header_writes(tree: Path) -> None:
    """Goal: where a header says that each file calls only those above it, that is so."""
    promise = "/*\n * Files; each calls only\n * those above it:\n *   {}  one\n *   {}  two\n */\n"
    guard = "#ifndef NW_FILES_H\n#define NW_FILES_H\n#endif\n"
    append(tree, "core/vm/vm.c", '#include "files.h"\nstatic int nw_up(int n) { return n; }\n')
    append(tree, "core/vm/vm.c", "int nw_top(void);\nint nw_top(void) { return nw_up(nw_vm()); }\n")
    write(tree, "core/vm/low.c", SPDX_C + '#include "files.h"\nint nw_up(int n);\n')
    append(tree, "core/vm/low.c", "int nw_up(int n) { return n + nw_top(); }\n")

    def found(first: str, second: str) -> list[str]:
        write(tree, "core/vm/files.h", SPDX_C + promise.format(first, second) + guard)
        return [one.text for one in check(tree) if one.rule == "file-order"]

    assert found("vm.c", "low.c") == []  # the static one is its own
    assert found("low.c", "vm.c") == ["calls core/vm/vm.c, which files.h lists below it"]
    assert found("vm.c", "gone.c") == ["lists core/vm/gone.c, which is not there"]


def test_comments_and_strings_are_not_code(tree: Path) -> None:
    """Goal: a banned name in a comment or a string is no call."""
    append(tree, "core/vm/vm.c", "/* malloc(1) */ // free(p)\nextern const char *nw_t;\n")
    append(tree, "twin/twin.c", 'const char *nw_s = "} printf( {";\n')
    assert broken(tree) == []


def test_functions_are_found_in_c_and_cxx() -> None:
    """Goal: lengths are right for what C and C++ call a function, and for nothing else."""
    text = """\
#define BLOCK(x) do { (x)(); } while (0)
struct point { int x; };
static const struct point table[] = { { 1 }, { 2 } };
enum { A = (1), B };

static int first(int (*callback)(int),
                 int value)
{
    if (value) {
        return callback(value);
    }
    return 0;
}
namespace ours {
class Thing : public Base {
    Thing(int x) : Base(x), y_(x) { go(); }
    int get() const noexcept override { return 1; }
    int y_;
};
}
"""
    found = [(function.name, function.first, function.last) for function in functions(text)]
    assert found == [("first", 6, 13), ("Thing", 16, 16), ("get", 17, 17)]


def test_ratchet_lets_old_breaches_pass_and_only_shrinks() -> None:
    """Goal: a listed breach passes up to its size; a larger one, or a slack entry, fails."""
    breach = Finding("a.c", 3, "function-length", "long", 90, "nw_long")
    key = ("function-length", "a.c:nw_long")
    assert ratchet.apply([breach], {key: 90}) == []
    assert ratchet.apply([breach], {key: 89}) == [breach]
    slack = ratchet.apply([breach], {key: 95})
    assert [finding.rule for finding in slack] == ["ratchet"]
    assert "lower it to 90" in slack[0].text
    gone = ratchet.apply([], {key: 90})
    assert "remove it" in gone[0].text


def test_ratchet_refuses_a_line_it_cannot_read(tmp_path: Path) -> None:
    """Goal: a typing slip in the ratchet file is named with its line, not skipped."""
    write(tmp_path, ratchet.FILE, "# fine\nline-length a.c\n")
    with pytest.raises(ValueError, match=r"tidy\.ratchet:2: expected RULE"):
        ratchet.read(tmp_path)
