# SPDX-License-Identifier: Apache-2.0
"""Goal: what local images leave out (papers/fatvm/lvalues.py) is what section 5.2 of FaTVM says,
read off in programs of a line or two; and F1, T1 hang on the table of parts."""

import subprocess
from pathlib import Path

import pytest

from lab import ROOT
from nandwich.compiler.toolchain import CLANG
from papers.fatvm import flash_costs, local_images, lvalues, traffic

_DECLARED = (
    "int x, y, a[9]; struct two { int u, v; } s, t; union { int i; float f; } w; void g(void);"
)


def _count(body: str) -> tuple[int, int, int, int]:
    """Reads, writes, and of each what is left out."""
    source = f"{_DECLARED}\n{body}\n"
    words = [CLANG, "-S", "-emit-llvm", *local_images._UNOPTIMISED, "-x", "c", "-", "-o", "-"]
    done = subprocess.run(words, input=source, capture_output=True, text=True, check=True)
    (function,) = lvalues.functions(done.stdout)
    found = local_images._sum(blocks := lvalues.counts(function), [1] * len(blocks))
    return found.reads, found.writes, found.reads_out, found.writes_out


@pytest.mark.quick
@pytest.mark.parametrize(
    ("body", "counts"),
    [
        # Algorithm 1: an image is read once, until something desynchronises it.
        ("int f(int *p) { return *p + *p; }", (2, 0, 1, 0)),
        ("int f(int *p) { int b = *p; g(); return b + *p; }", (2, 0, 0, 0)),
        ("int f(int *p) { int b = *p; p++; return b + *p; }", (2, 0, 0, 0)),
        ("int f(int *p) { return *p++ + *p; }", (2, 0, 0, 0)),
        ("int f(int *p) { *p = 1; return *p; }", (1, 1, 1, 0)),
        ("int f(int *p, int *q) { int b = *p; *q = 1; return b + *p; }", (2, 1, 0, 0)),
        ("int f(int *q) { int b = x; *q = 1; return b + x; }", (2, 1, 0, 0)),
        ("int f(int *p) { int b = *p; x = 1; return b + *p; }", (2, 1, 0, 0)),
        ("int f(void) { int b = x; y = 1; return b + x; }", (2, 1, 1, 0)),
        ("int f(int i, int j) { int b = a[i]; a[j] = 1; return b + a[i]; }", (2, 1, 0, 0)),
        ("int f(int i) { int b = a[i]; i++; return b + a[i]; }", (2, 0, 0, 0)),
        ("int f(void) { t = s; return t.u; }", (2, 1, 0, 0)),
        ("int f(void) { w.i = 1; w.f = 2; return w.i; }", (1, 2, 0, 0)),
        # On every path, or not at all.
        ("int f(int *p, int c) { int b = 0; if (c) b = *p; return b + *p; }", (2, 0, 0, 0)),
        ("int f(int *p, int c) { int b = *p; if (c) b++; return b + *p; }", (2, 0, 1, 0)),
        ("int f(int *p, int c) { int b = *p; while (c--) b += *p; return b; }", (2, 0, 1, 0)),
        ("int f(int c) { int b = x; while (c--) { b += x; g(); } return b; }", (2, 0, 0, 0)),
        ("int f(int c) { int b = x; switch (c) { case 1: g(); } return b + x; }", (2, 0, 0, 0)),
        # Algorithm 2: assigned again before anything depends on it.
        ("void f(void) { x = 1; x = 2; }", (0, 2, 0, 1)),
        ("void f(void) { x = 1; y = 3; x = 2; }", (0, 3, 0, 1)),
        ("void f(int *p) { x = 1; *p = 3; x = 2; }", (0, 3, 0, 0)),
        ("void f(int *p) { *p = 1; *p = 2; }", (0, 2, 0, 0)),
        ("void f(void) { x = 1; g(); x = 2; }", (0, 2, 0, 0)),
        ("void f(int c) { x = 1; if (c) x = 2; }", (0, 2, 0, 0)),
        ("void f(int c) { x = 1; if (c) x = 2; else x = 3; }", (0, 3, 0, 1)),
        ("void f(int c) { x = 1; do x = 2; while (c--); }", (0, 2, 0, 1)),
        ("void f(int i) { a[i] = 1; i++; a[i] = 2; }", (0, 2, 0, 0)),
        # Locals and constants are no lvalues of virtual memory.
        ("int f(int i) { static const int c[9]; int d[9]; return c[i] + d[i]; }", (0, 0, 0, 0)),
    ],
)  # fmt: skip
def test_images_leave_out_what_the_section_says(body: str, counts: tuple[int, ...]) -> None:
    assert _count(body) == counts


@pytest.mark.quick
def test_accesses_count_as_often_as_they_run(tmp_path: Path) -> None:
    source = tmp_path / "loop.c"
    source.write_text(
        "#include <stdlib.h>\nint x, y;\nint main(int n, char **v)\n"
        "{ for (int i = 0; i < atoi(v[1]); i++) { y = x; y += x; } return n - 2; }\n"
    )
    places, runs = local_images.counted(source, ["50"])
    assert (places.reads, places.writes) == (4, 2)  # v[1], and three in the loop
    assert (runs.reads, runs.writes, runs.reads_out) == (51 + 150, 100, 100)


def test_fft_is_left_the_same_by_images_and_by_the_optimiser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Goal: two ways to one count: where all is behind pointers clang keeps in registers what
    images keep. With an analysis that lets no pointer reach anything ours falls behind."""
    found = local_images.left("fft", True)
    assert found.imaged == found.optimised
    (ours,) = [one for one in local_images.answers([found]) if one.part == "ours"]
    assert ours.holds
    source, _, short = traffic.PROGRAMS["fft"]
    monkeypatch.setattr(lvalues, "_overlaps", lambda *_: False)  # no pointer reaches anything
    _, runs = local_images.counted(ROOT / source, short)
    assert runs.reads_out > found.runs.reads_out
    wrong = local_images.Left("fft", runs, runs, found.optimised, found.beside_statics)
    (ours,) = [one for one in local_images.answers([wrong]) if one.part == "ours"]
    assert not ours.holds


@pytest.mark.quick
def test_verdicts_on_flash_hang_on_the_part() -> None:
    """Goal: no verdict by construction: a NAND that costs as NOR does, and one that programs as
    fast as it reads, turn them."""
    energies = flash_costs._energies()
    assert [one.holds for one in flash_costs.energy_answers(energies)] == [True] * 3
    energies["with a node"]["NAND"] = energies["with a node"]["NOR"]
    assert [one.holds for one in flash_costs.energy_answers(energies)] == [False] * 3
    facts = flash_costs.chip(flash_costs._CHIP)
    assert flash_costs.time_answers(facts)[-1].verdict == "not reachable"
    order = flash_costs.time_answers({**facts, "program.time": facts["read.time"]})[-1]
    assert (order.holds, order.verdict) == (True, "")


@pytest.mark.quick
def test_time_and_energy_of_a_page() -> None:
    """By hand: 7 + 512 bytes at 30 ns; 1.2375 uJ a page of 2,048 B and 1.485 nJ a byte; 99 uJ a
    block of 128 KiB."""
    facts = flash_costs.chip("K9F1G08U0A")
    assert flash_costs.bus_us(512, 30) == pytest.approx(15.57)
    assert flash_costs.energy_uj(facts, "read") == pytest.approx(1.2375 / 2048 + 0.001485)
    assert flash_costs.energy_uj(facts, "erased") == pytest.approx(99 / 131072)
