# SPDX-License-Identifier: Apache-2.0
"""Programs with NW_VM variables, tagged mode of `nandwich cc`: they do what they do in RAM, with as
many faults as the simulator of layouts told; what would tear elements apart is refused with its
line; a layout of another version is refused with what changed."""

import json
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tagged_programs
from click.testing import CliRunner

from nandwich import paths
from nandwich.cli import verb_cc
from nandwich.cli.main import main
from nandwich.compiler import driver, tagged, toolchain
from nandwich.errors import InputError
from nandwich.vmtrace import layout

assert paths.CHECKOUT is not None
_INCLUDE = f"-I{paths.CHECKOUT / 'core/include'}"
_COUNTS = ("faults", "buffer_reads", "to_buffer", "flash_writes")
_LEVELS = ("-O0", "-O1", "-O2", "-Os")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path_factory.getbasetemp().parent / "nw-tagged"))


def _cc(*arguments: str | Path) -> str:
    """What `nandwich cc` complains about; nothing when it built."""
    plan = driver.plan([str(one) for one in arguments], "", verb_cc._placement)
    done = subprocess.run(plan.command, capture_output=True, text=True, check=False)
    return plan.explain(done.stderr) if done.returncode else ""


def _run(program: Path, **environment: str) -> str:
    done = subprocess.run(
        [program], capture_output=True, text=True, check=True, timeout=60, env=environment
    )
    assert done.stderr == ""
    return done.stdout


def _record(folder: Path, *arguments: str | Path) -> tuple[Path, str]:
    """The trace of a program, and what it printed."""
    trace = folder / "app.acc"
    assert _cc("--trace", "-w", *arguments, "-o", folder / "record") == ""
    return trace, _run(folder / "record", NANDWICH_TRACE=str(trace))


def _lay_out(
    folder: Path, trace: Path, *, page: int = 264, frames: int = 1, method: str = "first-fit"
) -> tuple[Path, dict[str, Any]]:
    """A layout, and what the simulator says it costs."""
    parameters = layout.Parameters(
        page=page, group=page // 8, whole=page // 8, list=page, frames=frames
    )
    program = layout.read([str(trace)], parameters)
    pages = layout.decide(program, method)
    target = folder / "app.layout"
    value = {"schema": "nandwich.layout/1", "layout": layout.as_file(program, method, pages)}
    layout.save(str(target), value)
    return target, layout.play(program, {method: pages}, [frames])[0]


def _with_layout(folder: Path, file: Path, *arguments: str | Path) -> tuple[str, dict[str, int]]:
    """What the program printed, and its counts."""
    told = _cc("--layout", file, "-w", *arguments, "-o", folder / "run")
    assert told == ""
    out = _run(folder / "run", NANDWICH_TAGGED=str(folder / "counts.json"))
    return out, json.loads((folder / "counts.json").read_text())


def _source(folder: Path, text: str, name: str = "app.c") -> Path:
    path = folder / name
    path.write_text('#include <stdint.h>\n#include "nandwich/guest.h"\n' + text)
    return path


def _compare(folder: Path, seed: int) -> int:
    """A generated program plainly, recording, and with a layout; its faults."""
    folder.mkdir()
    source, level = folder / "app.c", _LEVELS[seed % 4]
    source.write_text(tagged_programs.program(seed))
    command = [toolchain.CLANG, "-w", _INCLUDE, str(source), "-o", str(folder / "plain")]
    subprocess.run(command, check=True)
    expected = _run(folder / "plain")
    trace, recorded = _record(folder, "-O1" if seed % 2 else "-O0", source)
    assert recorded == expected, seed
    page, frames = (264, 64, 40)[seed % 3], 1 + seed % 5
    method = "published" if seed % 2 else "first-fit"
    file, told = _lay_out(folder, trace, page=page, frames=frames, method=method)
    out, counts = _with_layout(folder, file, level, source)
    assert out == expected, f"seed {seed}"
    assert {key: counts[key] for key in _COUNTS} == {key: told[key] for key in _COUNTS}, seed
    return counts["faults"]


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_generated_programs(first: int, tmp_path: Path) -> None:
    """Goal: 200 programs of random types and statements print what they print in RAM, and their
    faults, transfers and flash writes are the simulator's to the last one."""
    faults = [_compare(tmp_path / str(seed), seed) for seed in range(first, first + 20)]
    assert sum(faults) > 500


@pytest.mark.soak
@pytest.mark.parametrize("first", range(200, 5000, 100))
def test_many_generated_programs(first: int, tmp_path: Path) -> None:
    """Goal: the same for thousands."""
    for seed in range(first, first + 100):
        _compare(tmp_path / str(seed), seed)


def test_accesses_do_not_depend_on_the_level(tmp_path: Path) -> None:
    """Goal: a layout made from one build's trace fits the others: the same accesses at -O0 and
    -O2, so the same bytes of trace."""
    source = tmp_path / "app.c"
    source.write_text(tagged_programs.program(7))
    traces = [_record(tmp_path, level, source)[0].read_bytes() for level in _LEVELS]
    assert len(set(traces)) == 1


def test_only_tagged_variables_are_virtual(tmp_path: Path) -> None:
    """Goal: what carries no mark is left alone, whole functions too: the same code as without."""
    source = _source(
        tmp_path,
        "int plain[40]; NW_VM int tagged[40];\n"
        "int sum(const int *from, int n)\n"
        "{ int all = 0; while (n-- > 0) all += *from++; return all; }\n"
        "int of_plain(void) { plain[3] = 4; return sum(plain, 40); }\n",
    )
    shapes = []
    for flags in (["--trace"], []):
        command = driver.plan([*flags, "-O2", "-S", str(source), "-o", "-"], "", None).command
        if not flags:
            command = [toolchain.CLANG, "-g", _INCLUDE, "-O2", "-S", str(source), "-o", "-"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        functions = re.findall(
            r"^(sum|of_plain):[^\n]*$(.*?)^\.Lfunc_end", done.stdout, re.M | re.S
        )
        code = r"^\t(?!\.)(\w+.*?)(?:\s*#.*)?$"
        shapes.append({name: re.findall(code, body, re.M) for name, body in functions})
    assert shapes[0] == shapes[1]
    assert len(shapes[0]["sum"]) > 3


_TWO = {
    "a.c": """
#include "two.h"
NW_VM int32_t shared[30] = {5, 6};
static NW_VM uint16_t own = 3;
int32_t a(void) { static NW_VM int32_t calls; own++; return ++calls * shared[1] + own; }
""",
    "b.c": """
#include <stdio.h>
#include "two.h"
static NW_VM uint16_t own[9] = {1};
int main(void)
{
    for (int i = 0; i < 30; i++) { shared[i] += i; own[i % 9]++; }
    uint32_t all = (uint32_t)(a() + a()) + own[0];
    for (int i = 0; i < 30; i++) { all = all * 3 + (uint32_t)shared[i]; }
    printf("%lu\\n", (unsigned long)all);
    return 0;
}
""",
}


def _two(folder: Path) -> list[Path]:
    (folder / "two.h").write_text(
        '#include <stdint.h>\n#include "nandwich/guest.h"\n'
        "extern NW_VM int32_t shared[30];\nint32_t a(void);\n"
    )
    for name, text in _TWO.items():
        (folder / name).write_text(text)
    return [folder / name for name in _TWO]


def test_several_files(tmp_path: Path) -> None:
    """Goal: variables of several files, statics of one name, statics of functions, initial values;
    compiled one by one and linked."""
    sources = _two(tmp_path)
    plain = tmp_path / "plain"
    subprocess.run([toolchain.CLANG, _INCLUDE, *map(str, sources), "-o", str(plain)], check=True)
    trace, recorded = _record(tmp_path, *sources)
    assert recorded == _run(plain)
    file, told = _lay_out(tmp_path, trace, page=24)
    names = {one["name"] for one in json.loads(file.read_text())["layout"]["objects"]}
    assert names == {"shared", "a.c:own", "b.c:own", "a.c:a.calls"}
    objects = [source.with_suffix(".o") for source in sources]
    for source, target in zip(sources, objects, strict=True):
        assert _cc("--layout", file, "-O2", "-c", source, "-o", target) == ""
    out, counts = _with_layout(tmp_path, file, *objects)
    assert out == recorded
    assert counts["faults"] == told["faults"] > 10


_PLACES = """
NW_VM uint8_t few[20]; NW_VM uint32_t many[100];
uint32_t known(void) { return many[70] + few[3]; }
uint32_t whole(int i) { return few[i]; }
uint32_t table(int i) { return many[i]; }
uint32_t found(const uint32_t *at) { return *at; }
int main(int n, char **v)
{ (void)v; return (int)(found(many + n) + known() + whole(n) + table(n)); }
"""


def test_places_known_when_compiled_are_baked_in(tmp_path: Path) -> None:
    """Goal: a constant index, and any index of an array that stayed whole, ask for their page by
    its number; any other index asks the table; only an address that others may give is searched."""
    source = _source(tmp_path, _PLACES)
    file, _ = _lay_out(tmp_path, _record(tmp_path, source)[0])
    target = tmp_path / "app.s"
    flags = ("-O1", "-fno-inline", "-S")
    assert _cc("--layout", file, *flags, source, "-o", target) == ""
    asked = {}
    for name in ("known", "whole", "table", "found"):
        body = re.search(rf"^{name}:.*?^\.Lfunc_end", target.read_text(), re.M | re.S)
        assert body is not None
        asked[name] = re.findall(r"nw_tagged_(\w+)", body[0])
    assert asked == {
        "known": ["page", "page"], "whole": ["page"], "table": ["element"], "found": ["find"],
    }  # fmt: skip


def test_objects_of_another_layout_are_refused(tmp_path: Path) -> None:
    """Goal: one file compiled with an older layout of the same program does not link: its places
    are baked in."""
    sources = _two(tmp_path)
    trace, _ = _record(tmp_path, *sources)
    file, _ = _lay_out(tmp_path, trace, page=24)
    old = tmp_path / "old.o"
    assert _cc("--layout", file, "-c", sources[1], "-o", old) == ""
    file, _ = _lay_out(tmp_path, trace, page=40)
    told = _cc("--layout", file, sources[0], old, "-o", tmp_path / "run")
    assert told.count("error: ") == 1, told
    assert "an object was compiled with another layout" in told


def test_objects_of_another_mode_are_told(tmp_path: Path) -> None:
    """Goal: an object that records in a program with a layout, the reverse, and either in a
    program that lives wholly in virtual memory: one sentence each says what to do."""
    source = _source(tmp_path, _APP)
    file, _ = _lay_out(tmp_path, _record(tmp_path, source)[0])
    records, placed, target = tmp_path / "r.o", tmp_path / "p.o", tmp_path / "run"
    assert _cc("--trace", "-c", source, "-o", records) == ""
    assert _cc("--layout", file, "-c", source, "-o", placed) == ""
    for words in (["--trace", placed], [placed], [records]):
        told = _cc(*words, "-o", target)
        assert "compiled with --trace or --layout, for tagged variables" in told
        assert "symbol: nw_tagged" not in told
    told = _cc("--layout", file, records, "-o", target)
    assert "compiled with --trace or --layout" in told
    assert "another version" not in told


def test_frames_are_chosen_at_the_link(tmp_path: Path) -> None:
    """Goal: --nw-frames takes the place of the layout's, and more pages in RAM than there are is
    as many as there are."""
    sources = _two(tmp_path)
    file, _ = _lay_out(tmp_path, _record(tmp_path, *sources)[0], page=24)
    faults = [
        _with_layout(tmp_path, file, f"--nw-frames={frames}", *sources)[1]["faults"]
        for frames in (1, 3, 100)
    ]
    assert faults[0] > faults[1] > faults[2] == 0


# Each with the line that the message names, and words of it.
_REFUSED: dict[str, tuple[str, int, str]] = {
    "wider than an element": (
        "NW_VM uint8_t bytes[400];\nuint32_t f(int i) {\n"
        "    return *(uint32_t *)&bytes[i]; }\n", 5, "reaches over the elements"),
    "off its element": (
        "NW_VM uint32_t words[400];\nuint32_t f(int i) {\n"
        "    return *(uint32_t *)((char *)words + i); }\n", 5, "reaches over the elements"),
    "through a parameter": (
        "NW_VM uint16_t halves[400];\n"
        "static uint32_t g(const uint32_t *at) { return *at; }\n"
        "uint32_t f(int i) { return g((const uint32_t *)(halves + i)); }\n",
        4, "reaches over the elements"),
    "beyond its end": (
        "NW_VM uint16_t halves[4];\nint f(void) {\n    return halves[4]; }\n", 5, "lies outside"),
    "stored": (
        "NW_VM int value; int *keep;\nvoid f(void) {\n    keep = &value; }\n", 5, "is stored"),
    "an initial value": ("NW_VM int value; int *keep = &value;\n", 3, "is an initial value"),
    # Of these no line was told.
    "a local array's initial value": (
        "NW_VM int a, b;\nint f(int i) {\n    int *all[] = {&a, &b, &a, &b};\n"
        "    return *all[i]; }\n", 5, "is an initial value"),
    "a struct's initial value": (
        "NW_VM int a;\nstruct two { int n; int *at; };\nstatic struct two one = {1, &a};\n"
        "int f(void) { return *one.at + one.n++; }\n", 5, "is an initial value"),
    "to another file": (
        "NW_VM int value; void g(int *);\nvoid f(void) {\n    g(&value); }\n",
        5, "'g' is given the address"),
    "to the library": (
        '#include <stdio.h>\nNW_VM char line[80];\nvoid f(void) {\n    puts(line); }\n',
        6, "'puts' is given the address"),
    "by a pointer": (
        "NW_VM int value; void (*g)(int *);\nvoid f(void) {\n    g(&value); }\n",
        5, "a function called by a pointer"),
    "as a variable argument": (
        "NW_VM int v;\nint g(int n, ...) { return n; }\n"
        "int f(void) {\n    return g(1, &v); }\n", 6, "variable argument"),
    "returned": (
        "NW_VM int value;\nint *f(void) {\n    return &value; }\n", 5, "is returned"),
    "a number": (
        "NW_VM int value;\nuintptr_t f(void) {\n    return (uintptr_t)&value; }\n",
        5, "cast to a number"),
    "atomic": (
        "NW_VM int value;\nint f(void) {\n    return __atomic_fetch_add(&value, 1, 5); }\n",
        5, "needs it in RAM"),
    "assembly": (
        'NW_VM int value;\nvoid f(void) {\n    __asm__("" : : "r"(&value)); }\n',
        5, "inline assembly"),
    "of a thread": ("NW_VM _Thread_local int value;\nint f(void) { return value; }\n", 3, "thread"),
    "a constant beside a variable": (
        "NW_VM static int value;\nNW_VM static const int fixed[2] = {1, 2};\n"
        "int f(int i) { return value++ + fixed[i]; }\n",
        4, "is a constant, and constants are not tagged"),
}  # fmt: skip


@pytest.mark.parametrize("case", _REFUSED)
def test_what_cannot_be_is_refused_with_its_line(case: str, tmp_path: Path) -> None:
    """Goal: one error, with line and reason, for every way in which an address gets lost or an
    element would be torn; the same source without the tool is a plain program."""
    text, line, reason = _REFUSED[case]
    source = _source(tmp_path, text)
    told = _cc("--trace", "-c", source, "-o", tmp_path / "app.o")
    assert told.count("error:") == 1, told
    assert reason in told
    assert (f"app.c:{line}:" if line else "app.c: ") in told
    plain = [toolchain.CLANG, "-w", _INCLUDE, "-c", str(source), "-o", str(tmp_path / "app.o")]
    subprocess.run(plain, check=True)


def test_what_keeps_a_variable_is_no_use_of_its_address(tmp_path: Path) -> None:
    """Goal: a tagged variable with the attribute `used` is a variable like any other; it was
    refused as an address in an initial value."""
    source = _source(
        tmp_path,
        "__attribute__((used)) NW_VM static int x[40];\n"
        "int main(int n, char **v) { (void)v; x[n] = 3; return x[0]; }\n",
    )
    trace, out = _record(tmp_path, source)
    file, _ = _lay_out(tmp_path, trace)
    assert _with_layout(tmp_path, file, source)[0] == out


def test_a_distance_to_a_plain_variable(tmp_path: Path) -> None:
    """Goal: a function that gives back what it is given may get plain addresses too, and their
    distance is a number. It was refused as a cast of a tagged variable's address to a number."""
    source = _source(
        tmp_path,
        "#include <stdio.h>\nNW_VM static float v9[3]; static float ram[4];\n"
        "static float *same(float *p, int n) { return p + n; }\n"
        "int main(int argc, char **argv)\n{\n    (void)argv;\n    *same(v9, argc) = 2;\n"
        '    float *p = same(ram, argc);\n    printf("%d %d\\n", (int)(p - ram), (int)v9[1]);\n'
        "    return 0;\n}\n",
    )
    trace, out = _record(tmp_path, source)
    assert out == "1 2\n"
    file, _ = _lay_out(tmp_path, trace)
    assert _with_layout(tmp_path, file, source)[0] == out


def test_two_statics_of_one_name_in_files_of_one_name(tmp_path: Path) -> None:
    """Goal: what a layout could not tell apart is refused by the recording, with both files. It was
    recorded and laid out, and the build then failed at a file of the cache."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    text = "static NW_VM int own[9];\nint NAME(int i) { return own[i]++; }\n"
    sources = [
        _source(tmp_path / name, text.replace("NAME", name), "x.c") for name in ("one", "two")
    ]
    sources.append(
        _source(
            tmp_path,
            "int one(int), two(int);\nint main(void) { return one(1) + two(2); }\n",
            "main.c",
        )
    )
    assert _cc("--trace", *sources, "-o", tmp_path / "record") == ""
    trace = tmp_path / "app.acc"
    done = subprocess.run(
        [tmp_path / "record"], capture_output=True, text=True, check=False,
        env={"NANDWICH_TRACE": str(trace)},
    )  # fmt: skip
    assert done.returncode == 125
    assert all(str(source) in done.stderr for source in sources[:2])
    assert "one tagged variable 'x.c:own' each" in done.stderr
    assert not trace.exists()


@pytest.mark.parametrize(
    ("way", "status"),
    [
        ("raise(SIGINT)", -2), ("raise(SIGTERM)", -15), ("abort()", -6), ("_exit(3)", 3),
        ("_Exit(4)", 4), ("quick_exit(5)", 5), ("exit(6)", 6),
    ],
)  # fmt: skip
def test_a_recording_however_it_ends(way: str, status: int, tmp_path: Path) -> None:
    """Goal: the accesses up to the end of the program are in the trace, and the status is its own.
    A node's program has no end, and one that was interrupted left nothing and said nothing."""
    source = _source(
        tmp_path,
        "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\nNW_VM int many[50];\n"
        f"int main(void) {{ for (int i = 0; i < 50; i++) many[i] = i;\n    {way}; return 0; }}\n",
    )
    assert _cc("--trace", source, "-o", tmp_path / "record") == ""
    trace = tmp_path / "app.acc"
    done = subprocess.run(
        [tmp_path / "record"], check=False, env={"NANDWICH_TRACE": str(trace)}, cwd=tmp_path
    )
    assert done.returncode == status
    assert sum(layout.read([str(trace)], layout.Parameters()).graph.accesses) == 50


def test_a_recording_of_no_variable(tmp_path: Path) -> None:
    """Goal: a program that uses none of its tagged variables says so and leaves the trace of
    nothing; an older trace used to stay, and was taken for its own."""
    source = _source(tmp_path, "NW_VM static int never;\nint main(void) { return 0; }\n")
    assert _cc("--trace", "-w", source, "-o", tmp_path / "record") == ""
    trace = tmp_path / "app.acc"
    trace.write_text("an older one")
    done = subprocess.run(
        [tmp_path / "record"], capture_output=True, text=True, check=True,
        env={"NANDWICH_TRACE": str(trace)},
    )  # fmt: skip
    assert "no tagged variable that it uses" in done.stderr
    with pytest.raises(InputError, match="names no variables"):
        layout.read([str(trace)], layout.Parameters())


def test_a_forgotten_mark_is_told(tmp_path: Path) -> None:
    """Goal: a declaration without NW_VM is warned of when a layout is built with: what that file
    does was not recorded."""
    sources = _two(tmp_path)
    file, _ = _lay_out(tmp_path, _record(tmp_path, *sources)[0], page=24)
    header = tmp_path / "two.h"
    header.write_text(header.read_text().replace("extern NW_VM", "extern"))
    plan = driver.plan(
        ["--layout", str(file), "-c", str(sources[1]), "-o", str(tmp_path / "b.o")],
        "", verb_cc._placement,
    )  # fmt: skip
    done = subprocess.run(plan.command, capture_output=True, text=True, check=True)
    assert "'shared' is tagged, and declared without NW_VM here" in done.stderr


def test_frames_of_the_environment(tmp_path: Path) -> None:
    """Goal: NANDWICH_CC="frames=3" counts as --nw-frames=3 does; it was ignored."""
    source = _source(tmp_path, _APP)
    file, _ = _lay_out(tmp_path, _record(tmp_path, source)[0])
    plans = [
        driver.plan([*words, "--layout", str(file), str(source)], environment, verb_cc._placement)
        for words, environment in (([], "frames=3"), (["--nw-frames=3"], "frames=2"))
    ]
    assert plans[0].command == plans[1].command
    with pytest.raises(InputError, match="1 to 169"):
        driver.plan(["--layout", str(file), str(source)], "frames=0", verb_cc._placement)


_APP = "NW_VM int32_t many[50]; NW_VM int16_t one;\nint main(void) { many[one++] = 3; return 0; }\n"


@pytest.fixture
def laid_out(tmp_path: Path) -> Path:
    trace, _ = _record(tmp_path, _source(tmp_path, _APP))
    return _lay_out(tmp_path, trace)[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("many[50]", "many[51]"), "'many' has 204 B in elements of 4 B, there 200 B"),
        (("int32_t many[50]", "int16_t many[100]"), "'many' has 200 B in elements of 2 B, there"),
        (("int16_t one", "int16_t other, one"), "'other' is not in it"),
        (("NW_VM int16_t one", "int16_t one"), "'one'"),
    ],
)
def test_another_version_is_refused(change: tuple[str, str], reason: str, laid_out: Path) -> None:
    """Goal: a layout for another version of the program is refused, saying what changed."""
    text = _APP.replace(*change)
    if "NW_VM int16_t one" in change:
        text = text.replace("int16_t one", "int16_t uno").replace("one++", "uno++")
    source = _source(laid_out.parent, text)
    if "other, one" in change[1]:
        source.write_text(source.read_text().replace("one++", "one + other"))
    told = _cc("--layout", laid_out, source, "-o", laid_out.parent / "run")
    assert told.count("error: ") >= 1
    assert f"{laid_out} is for another version of the program" in told
    assert reason in told


def _damaged(change: Callable[[dict[str, Any]], None], file: Path) -> str:
    value = json.loads(file.read_text())
    change(value["layout"])
    file.write_text(json.dumps(value))
    with pytest.raises(InputError) as told:
        _cc("--layout", file, file.parent / "app.c", "-o", file.parent / "run")
    return str(told.value)


def test_layouts_that_no_node_can_hold(laid_out: Path) -> None:
    """Goal: pages larger than the flash's, more data than the pool, elements off their page: one
    sentence each."""
    kept = laid_out.read_text()
    assert "the DataFlash has 264 B a page" in _damaged(
        lambda value: value.update(page_bytes=528), laid_out
    )
    laid_out.write_text(kept)

    def spread(value: dict[str, Any]) -> None:
        value["pages"] = 201
        value["objects"][0]["places"][0] = [200, 0]

    assert "more tagged data than the pool takes: 201 pages" in _damaged(spread, laid_out)
    laid_out.write_text(kept)

    def tear(value: dict[str, Any]) -> None:
        value["objects"][0]["places"][0] = [0, 262]

    assert "lies on no page" in _damaged(tear, laid_out)


_HOSTILE: tuple[Any, ...] = (
    -1,
    0,
    1,
    255,
    256,
    1 << 31,
    1 << 64,
    1.5,
    None,
    "",
    "x",
    "a\nb",
    [],
    {},
    [[0, 0]],
)


def _spoil(chance: random.Random, value: Any) -> Any:
    """The value with one place in it changed."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(sorted(value))
        return {**value, key: _spoil(chance, value[key])}
    if isinstance(value, list) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        return [*value[:at], _spoil(chance, value[at]), *value[at + 1 :]]
    return chance.choice(_HOSTILE)


def test_hostile_layouts(laid_out: Path) -> None:
    """Goal: a layout with anything anywhere is one sentence, or text that the pass can read: as
    many lines as variables, each place on a page."""
    chance, good = random.Random(5), json.loads(laid_out.read_text())
    refused = []
    for _ in range(600):
        laid_out.write_text(json.dumps({**good, "layout": _spoil(chance, good["layout"])}))
        try:
            placement = verb_cc._placement(str(laid_out))
            tagged.check(placement)
        except InputError as error:
            refused.append(str(error))
            continue
        assert len(tagged.plan_text(placement).splitlines()) == 3 + len(placement.variables)
        for one in placement.variables:
            for page, offset in one.places:
                assert 0 <= page < placement.pages
                assert 0 <= offset <= placement.page_bytes - one.element_bytes
    assert 400 < len(refused) < 600
    assert [said for said in refused if "\n" in said] == []


def test_an_element_larger_than_a_page(tmp_path: Path) -> None:
    """Goal: a struct that no page holds is named, with its size."""
    source = _source(
        tmp_path,
        "NW_VM struct { char text[300]; } big;\nint main(void) { big.text[5] = 1; return 0; }\n",
    )
    trace, _ = _record(tmp_path, source)
    done = CliRunner().invoke(main, ["layout", str(trace), "-o", str(tmp_path / "app.layout")])
    assert done.exit_code != 0
    assert "an element of big has 300 B and does not fit a page of 264 B" in done.output


#: memset() beyond the last variable, as a faulty program does it.
OVERRUN = """#include <string.h>
NW_VM uint8_t a[40], b[40];
__attribute__((noinline)) static void clear(uint8_t *at, unsigned bytes) { memset(at, 0, bytes); }
int main(void) { clear(a, 8); clear(b, 41); return a[3] | b[3]; }
"""


def test_an_overrun_of_the_last_variable(tmp_path: Path) -> None:
    """Goal: its trace can still be laid out. It was refused: `an access out of the range`."""
    trace, _ = _record(tmp_path, "-O2", _source(tmp_path, OVERRUN))
    assert _lay_out(tmp_path, trace)[1]["accesses"] == 8 + 40 + 2


def test_a_trace_cut_short_is_used_to_the_cut(tmp_path: Path) -> None:
    """Goal: the layout of a cut trace is made, and the cut is told."""
    source = tmp_path / "app.c"
    source.write_text(tagged_programs.program(2, rounds=4000))
    trace, out = _record(tmp_path, "-O1", source)
    trace.write_bytes(trace.read_bytes()[:-100])
    file = tmp_path / "app.layout"
    done = CliRunner().invoke(main, ["layout", str(trace), "-o", str(file), "--method=first-fit"])
    assert done.exit_code == 0
    assert "warning" in done.output
    assert _with_layout(tmp_path, file, source)[0] == out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--trace", "--layout=x", "a.c"], "give one of them"),
        (["--layout", "a", "--layout", "b", "a.c"], "one layout"),
        (["a.c", "--layout"], "which file"),
        (["--trace", "--nw-frame=256", "a.c"], "only --nw-frames=N"),
        (["--trace", "--nw-frames=3", "a.c"], "only --nw-frames=N"),
        (["--trace", "-shared", "a.c"], "belong to a program"),
        (["--trace", "a.cpp"], "C++ is not supported"),
        (["--layout=/nowhere/app.layout", "a.c"], "cannot be read"),
    ],
)
@pytest.mark.quick
def test_words_that_contradict_themselves(arguments: list[str], reason: str) -> None:
    """Goal: each combination that means nothing is one sentence."""
    with pytest.raises(InputError, match=re.escape(reason)):
        _cc(*arguments)


def test_a_trace_that_cannot_be_written(tmp_path: Path) -> None:
    """Goal: the program that records ends with the reason, not with an empty trace."""
    source = _source(tmp_path, _APP)
    assert _cc("--trace", source, "-o", tmp_path / "record") == ""
    done = subprocess.run(
        [tmp_path / "record"], capture_output=True, text=True, check=False,
        env={"NANDWICH_TRACE": "/nowhere/app.acc"},
    )  # fmt: skip
    assert done.returncode == 125
    assert done.stderr == "nandwich: /nowhere/app.acc: No such file or directory\n"


def test_counts_that_cannot_be_written(tmp_path: Path) -> None:
    """Goal: the program's output is there, and then the reason with status 125; it used to end well
    with a line that did not say whose it was."""
    source = _source(
        tmp_path,
        '#include <stdio.h>\nNW_VM int one;\nint main(void) { return puts("1") < 0 || !++one; }\n',
    )
    file, _ = _lay_out(tmp_path, _record(tmp_path, source)[0])
    assert _cc("--layout", file, source, "-o", tmp_path / "run") == ""
    done = subprocess.run(
        [tmp_path / "run"], capture_output=True, text=True, check=False,
        env={"NANDWICH_TAGGED": "/nowhere/counts.json"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (125, "1\n")
    assert done.stderr == "nandwich: /nowhere/counts.json: No such file or directory\n"
