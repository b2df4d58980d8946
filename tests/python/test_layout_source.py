# SPDX-License-Identifier: Apache-2.0
"""Layouts from the source: what the pass tells of each reference, how much it weighs, and what is
refused with its place."""

import json
import random
import subprocess
from pathlib import Path

import pytest
import tagged_programs
from click.testing import CliRunner, Result

from nandwich import _native, paths
from nandwich.cli.main import main
from nandwich.compiler import driver
from nandwich.vmtrace import layout, references

_HEAD = '#include <stdint.h>\n#include <string.h>\n#include "nandwich/guest.h"\n'
_KINDS = """
struct point { uint16_t x, y; };
NW_VM uint32_t once, often;
NW_VM uint16_t table[40];
NW_VM struct point points[12];
NW_VM uint8_t bytes[100];
static struct point moved(struct point by) { by.x++; return by; }
static void walk(uint16_t *at, int n) { while (n-- > 0) { *at++ = 1; } }
void f(int n)
{
    once = 3;
    for (int i = 0; i < n; i++) {
        table[7]++;
        for (int j = 0; j < n; j++) {
            often += points[j].y;
        }
    }
    points[2] = moved(points[1]);
    memset(bytes + 10, 0, 50);
    memcpy(bytes, table, (unsigned)n);
}
void g(int n) { walk(table + 1, n); }
"""


def _write(folder: Path, **files: str) -> list[str]:
    for name, text in files.items():
        (folder / f"{name}.c").write_text(_HEAD + text)
    return [str(folder / f"{name}.c") for name in files]


def _layout(*words: str | Path, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["layout", *map(str, words)])
    assert result.exit_code == code, result.output
    return result


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_each_reference_is_told(level: str, tmp_path: Path) -> None:
    """Goal: kind, loops around it, and which bytes: a place known when compiled, any element's, one
    field of any element, blocks, structs by value, through a pointer in another function."""
    (source,) = references.read(_write(tmp_path, kinds=_KINDS), [level])
    assert sorted(source.objects) == sorted(
        [(4, 4, "once"), (4, 4, "often"), (80, 2, "table"), (48, 4, "points"), (100, 1, "bytes")]
    )
    found = {
        ("write" if one.writes else "read", one.depth, one.first, one.step, one.bytes, one.name)
        for function in source.functions
        for one in function
    }
    assert found >= {
        ("write", 0, 0, 0, 4, "once"),
        ("read", 1, 14, 0, 2, "table"),
        ("write", 1, 14, 0, 2, "table"),
        ("read", 2, 2, 4, 2, "points"),
        ("read", 2, 0, 0, 4, "often"),
        ("write", 2, 0, 0, 4, "often"),
        ("write", 0, 10, 0, 50, "bytes"),
        ("read", 0, 0, 0, 0, "table"),
        ("write", 0, 0, 0, 0, "bytes"),
        ("write", 1, 0, 2, 2, "table"),
    }
    assert {one[:2] for one in found if one[5] == "points"} == {
        ("read", 2),
        ("read", 0),
        ("write", 0),
    }


def test_weights() -> None:
    """Goal: ten for each loop; an element that is one of several has its share of that; a small
    array is one element. Without loops' weight all three count the same."""
    text = (
        "object\t4\t4\tonce\nobject\t4\t4\toften\nobject\t80\t2\ttable\nobject\t20\t2\tfew\n"
        "function\tf\nwrite\t0\t0\t0\t4\tonce\tp\nread\t2\t0\t0\t4\toften\tp\n"
        "read\t1\t2\t4\t2\ttable\tp\nread\t0\t0\t2\t2\tfew\tp\n"
    )
    program = references.program([references.parse("a.c", text)], layout.Parameters())
    accesses, unit = program.graph.accesses, references._UNIT
    assert accesses[:2] == [unit, 100 * unit]
    assert accesses[2:-1] == [0, 10 * unit // 20] * 20  # every second element
    assert accesses[-1] == unit
    assert program.graph.writes[:2] == [unit, 0]
    assert program.graph.near(0, 1) == 100 * unit


def test_the_variables_are_those_of_a_recording(tmp_path: Path) -> None:
    """Goal: names, sizes and order as a recording has them, of random programs and of several
    files, so that --play takes the layout; a build with it does what the program does."""
    two = {
        "a": "extern NW_VM int32_t shared[30];\nstatic NW_VM uint16_t own[9];\nint b(void);\n"
        "int main(void) { own[1] = 4; shared[2] = own[1]; return b() - 4; }\n",
        "b": "NW_VM int32_t shared[30];\nNW_VM static uint8_t own[50];\n"
        "int b(void) { own[3] = (uint8_t)shared[2]; return own[3]; }\n",
    }
    programs = [_write(tmp_path, **two)]
    for number in range(4):
        path = tmp_path / f"random{number}.c"
        path.write_text(tagged_programs.program(number, rounds=5))
        programs.append([str(path)])
    for files in programs:
        _same_as_recorded(tmp_path, files)


def _built(folder: Path, *words: str) -> Path:
    target = folder / "program"
    plan = driver.plan([*words, "-w", "-O1", "-o", str(target)], "", layout.placement)
    subprocess.run(plan.command, check=True)
    return target


def _same_as_recorded(folder: Path, files: list[str]) -> None:
    trace, kept = str(folder / "app.acc"), str(folder / "app.layout")
    recorder = _built(folder, "--trace", *files)
    recorded = subprocess.run(
        [recorder], check=True, capture_output=True, env={"NANDWICH_TRACE": trace}
    )
    _layout("--from-source", *files, "-o", kept)
    made = [one[1:] for one in _native.AccessTrace(trace).objects]
    (objects,) = [layout.load(kept).shapes]
    assert [name for name, *_ in objects] == [name for *_, name in made]
    assert "app.layout" in _layout(trace, "--play", kept).output
    placed = subprocess.run(
        [_built(folder, "--layout", kept, *files)], check=True, capture_output=True
    )
    assert placed.stdout == recorded.stdout


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("int main(void) { return x; }", "a.c:4:25: error: use of undeclared identifier 'x'"),
        (
            "NW_VM uint32_t v; void *k;\nint main(void) { k = &v; return 0; }",
            "a.c:5:20: error: in 'main': the address of the tagged variable 'v' is stored",
        ),
        (
            "NW_VM extern int v[4];\nint main(void) { return v[1]; }",
            "a.c:5 in main: 'v' is defined",
        ),
        ("int main(void) { return 0; }", "a.c: no tagged variable is used; NW_VM tags one"),
        ("NW_VM struct { char c[300]; } v;\nint main(void) { return v.c[1]; }", "an element of v"),
    ],
)
def test_what_is_refused(text: str, told: str, tmp_path: Path) -> None:
    output = _layout("--from-source", *_write(tmp_path, a=text), code=2).output
    assert told in output
    assert "generated" not in output


def test_two_variables_of_one_name_are_refused(tmp_path: Path) -> None:
    text = "NW_VM static int v;\nint f(void) { return v++; }\n"
    files = _write(tmp_path, a=text)
    (tmp_path / "other").mkdir()
    files += _write(tmp_path / "other", a=text)
    assert (
        "have one tagged variable 'a.c:v' each" in _layout("--from-source", *files, code=2).output
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--method", "ours"), "from the source: published or first-fit"),
        (("--play", "x.layout"), "--play wants a trace"),
        (("--cflags", "-O2 -o x"), "--cflags: -o"),
        (("--cflags", "b.c"), "'b.c' is no flag"),
        (("--cflags", "'"), "--cflags: No closing quotation"),
    ],
)
def test_words_that_are_refused(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    files = _write(tmp_path, a="NW_VM int v;\nint main(void) { return v; }\n")
    assert told in _layout("--from-source", *files, *words, code=2).output


def test_flags_of_a_trace_are_refused(tmp_path: Path) -> None:
    assert "they go with --from-source" in _layout("x.acc", "--cflags", "-O2", code=2).output
    missing = _layout("--from-source", tmp_path / "none.c", code=2).output
    assert "none.c: no such file" in missing
    trace = tmp_path / "x.acc"
    trace.write_bytes(b"a trace")
    assert "x.acc: --from-source reads C files" in _layout("--from-source", trace, code=2).output


def test_what_is_told(tmp_path: Path) -> None:
    files = _write(
        tmp_path, a="NW_VM int v[LONG];\nint main(int n, char **a) { (void)a; return v[n]; }\n"
    )
    words = ("--from-source", *files, "--cflags", "-DLONG=70 -O2")
    assert "1 variable, 70 elements on 2 pages of 264 B\n1 reference" in _layout(*words).output
    told = json.loads(_layout(*words, "--json", "-").output)
    assert (told["references"], told["pages"], told["results"]) == (1, 2, [])


def test_what_a_reference_reaches_by_its_definition() -> None:
    """Goal: every byte from each start on; of an array of bytes that is copied into with a length
    nobody knows it took a step for each pair of bytes, 7 s for 8,192 of them."""
    draw = random.Random(1)
    for _ in range(2000):
        elements = references._Elements(3, draw.randrange(1, 9), draw.randrange(1, 7))
        whole = elements.count * elements.size
        step, length = draw.choice([0, draw.randrange(1, whole + 3)]), draw.randrange(whole + 2)
        first = draw.randrange(step or whole)
        reference = references.Reference(True, 0, first, step, length, "v", "")
        starts = range(first, whole, step) if step else [first]
        touched = {
            byte // elements.size
            for start in starts
            for byte in range(start, min(whole, start + (length or whole)))
        }
        assert list(elements.reached(reference)) == [3 + one for one in sorted(touched)], reference
    anywhere = references.Reference(True, 0, 0, 1, 0, "v", "")
    assert list(references._Elements(0, 8192, 1).reached(anywhere)) == list(range(8192))


def test_many_weights_count_less() -> None:
    """A block filled in four loops, twice, was an internal error: more than 2^32 in all."""
    words = "\t0\t0\t4096\tv\ta.c:1"
    text = "object\t4096\t1\tv\nfunction\tf\n" + "".join(
        f"{one}{words}\n" for one in ("write\t4", "write\t4", "read\t0")
    )
    graph = references.program([references.parse("a.c", text)], layout.Parameters()).graph
    assert len(set(graph.accesses)) == 1
    assert 1 << 30 < sum(graph.accesses) < 1 << 32
    assert graph.writes[0] * 4096 > (1 << 30)
    assert graph.accesses[0] > graph.writes[0]


def test_weights_beyond_the_graph_are_refused() -> None:
    graph = _native.Layouter([(0, 4, 4, "v")], 33, 264)
    graph.refer(0, True, (1 << 32) - 1)
    with pytest.raises(ValueError, match="more than"):
        graph.refer(0, True, 1)
    with pytest.raises(IndexError):
        graph.refer(1, True, 1)


def test_the_table_of_the_page(tmp_path: Path) -> None:
    """Goal: faults of examples/node.c by layout and pages in RAM, as docs/layouts.md has them."""
    assert paths.CHECKOUT is not None
    source, trace = str(paths.CHECKOUT / "examples/node.c"), str(tmp_path / "node.acc")
    recorder = _built(tmp_path, "--trace", source)
    subprocess.run([recorder], check=True, capture_output=True, env={"NANDWICH_TRACE": trace})
    traced = layout.read([trace], layout.Parameters())
    referred = references.program(references.read([source], []), layout.Parameters())
    laid = {
        "first fit": layout.decide(traced, "first-fit"),
        "published, from the source": layout.published(referred),
        "published, from its trace": layout.published(traced),
    }
    page = (paths.CHECKOUT / "docs/layouts.md").read_text(encoding="utf-8")
    for name, pages in laid.items():
        faults = [traced.graph.play(pages, count)["faults"] for count in (1, 2, 3, 4)]
        assert f"| {name} | {' | '.join(f'{one:,}' for one in faults)} |" in page
