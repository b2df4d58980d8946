# SPDX-License-Identifier: Apache-2.0
"""Goal: an access trace says what a program did and bears any damage, and each replacement policy
counts what its paper says it would."""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from paging_models import MODELS, Reference
from schemas import validate

from nandwich import _native
from nandwich.cli.main import main

pytestmark = pytest.mark.quick
_WAYS = {name: ways for name, _, ways in _native.paging_policies()}


def _references(seed: int, *, length: int = 600, pages: int = 24) -> list[Reference]:
    """No page twice in a row. Four shapes: even, mostly a few, loops, phases."""
    chance = random.Random(seed)
    shape, at, found = seed % 4, 0, list[Reference]()
    while len(found) < length:
        if shape == 0:
            page = chance.randrange(pages)
        elif shape == 1:
            page = min(int(chance.expovariate(0.3)), pages - 1)
        elif shape == 2:
            page = at % (pages // 2) if chance.random() < 0.8 else chance.randrange(pages)
        else:
            page = (len(found) // 100 * 5 + int(chance.expovariate(0.5))) % pages
        at += 1
        if not found or found[-1][0] != page:
            found.append((page, chance.random() < (0.1, 0.3, 0.6)[seed % 3]))
    return found


def _refs(references: list[Reference]) -> _native.Refs:
    refs = _native.Refs(16)
    for page, write in references:
        refs.add(page * 16 + 3, 2, write)
    return refs


@pytest.mark.asan
@pytest.mark.parametrize("policy", MODELS)
def test_policies_count_as_their_papers_say(policy: str) -> None:
    for seed in range(10):
        references = _references(seed)
        refs = _refs(references)
        assert (refs.accesses, refs.references) == (600, 600)
        for frames in (1, 2, 3, 4, 7, 8, 16, 24, 32):
            if _WAYS[policy] and frames % _WAYS[policy] != 0:
                with pytest.raises(ValueError, match="configuration contradicts"):
                    refs.run(policy, frames)
                continue
            told = refs.run(policy, frames, read_cost=2, write_cost=9)
            assert told == MODELS[policy](references, frames), (seed, frames)


def test_every_policy_has_a_model() -> None:
    assert list(MODELS) == list(_WAYS)


@pytest.mark.asan
def test_laws_of_paging() -> None:
    """Goal: nobody has fewer faults than Belady's optimum; LRU never has more with more frames, and
    its curve in one pass is what each number of frames gives; with a frame a page only first
    references fault and nothing is written; a cost of nothing for a write makes the greedy one
    choose the farthest page as Belady does, but for ties."""
    for seed in range(100, 110):
        refs = _refs(_references(seed, length=2000, pages=40))
        faults, writebacks = refs.lru_curve(48)
        assert faults == sorted(faults, reverse=True)
        for frames in (1, 4, 12, 16, 32, 48):
            least = refs.run("belady", frames)[0]
            assert (faults[frames - 1], writebacks[frames - 1]) == refs.run("lru", frames)
            for policy, ways in _WAYS.items():
                if not ways or frames % ways == 0:
                    assert refs.run(policy, frames)[0] >= least >= refs.pages
        for policy, ways in _WAYS.items():
            if not ways:
                assert refs.run(policy, 48) == (refs.pages, 0), policy


@pytest.mark.asan
def test_a_run_on_one_page_is_one_reference() -> None:
    refs = _native.Refs(256)
    for offset, bytes_, write in ((0, 4, False), (252, 4, True), (254, 4, False), (300, 700, True)):
        refs.add(offset, bytes_, write)
    # page 0; 0 and 1 by one access over the border; 1 to 3 by a long one: 0, 1, 2, 3
    assert (refs.accesses, refs.references, refs.pages) == (4, 4, 4)
    assert refs.run("lru", 1) == (4, 3)


# ---- the format ----


def _write(path: Path, accesses: list[tuple[int, int, bool]], *, named: bool = True) -> None:
    writer = _native.AccessWriter(str(path), 0x1000, 0x100000)
    if named:
        writer.object(0x1000, 40, 4, "counters")
        writer.object(0x1100, 7, 7, "state.name")
    for access in accesses:
        writer.put(*access)
    writer.finish()


def _accesses(seed: int, count: int) -> list[tuple[int, int, bool]]:
    chance = random.Random(seed)
    sizes = (1, 2, 4, 8, 16, 3, 64, 5000)
    return [
        (0x1000 + chance.randrange(0x100000 - 5000), chance.choice(sizes), chance.random() < 0.5)
        for _ in range(count)
    ]


@pytest.mark.asan
def test_what_was_written_is_read(tmp_path: Path) -> None:
    for count in (0, 1, 60_000):
        path, accesses = tmp_path / "a.acc", _accesses(count, count)
        _write(path, accesses)
        trace = _native.AccessTrace(str(path))
        assert (trace.base, trace.range_bytes) == (0x1000, 0x100000)
        assert trace.objects == [(0x1000, 40, 4, "counters"), (0x1100, 7, 7, "state.name")]
        for _ in range(2):
            assert trace.rest() == accesses
            assert trace.cut == ""
            trace.rewind()


@pytest.mark.asan
def test_a_cut_trace_is_used_up_to_the_cut(tmp_path: Path) -> None:
    """Goal: wherever a trace ends or a byte of it is wrong, it is refused with a reason, or a
    beginning of it is used and told to be one. Never is anything else than a beginning taken."""
    path, accesses = tmp_path / "a.acc", _accesses(7, 40_000)
    _write(path, accesses)
    whole = path.read_bytes()
    chance, cuts = random.Random(1), 0
    for trial in range(40):
        damaged = bytearray(whole)
        if trial % 2:
            damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        else:
            del damaged[chance.choice((trial, chance.randrange(len(whole)))) :]
        path.write_bytes(damaged)
        if len(damaged) < 32 or damaged[:32] != whole[:32]:
            with pytest.raises(ValueError, match=r"a\.acc: "):
                _native.AccessTrace(str(path))
            continue
        trace = _native.AccessTrace(str(path))
        taken = trace.rest()
        assert taken == accesses[: len(taken)]
        assert "used up to there" in trace.cut, trial
        cuts += len(taken) > 0
    assert cuts > 12


@pytest.mark.asan
def test_refused_traces(tmp_path: Path) -> None:
    path = tmp_path / "a.acc"
    _write(path, [(0x1000, 4, True)])
    good = path.read_bytes()
    for content, told in (
        (b"", "not an access trace"),
        (b"fio version 2 iolog\n" * 9, "not an access trace"),
        (good[:8] + b"\x02" + good[9:], "version 2 of the format"),
        (good[:20] + b"\x01" + good[21:], "the header is damaged"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=told):
            _native.AccessTrace(str(path))
    with pytest.raises(ValueError, match="No such file"):
        _native.AccessTrace(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="/dev/null: cannot be read: not a regular file"):
        _native.AccessTrace("/dev/null")  # was "Invalid argument"
    # Chunks that are whole and cannot be: the writer was wrong, and is told so.
    for accesses in ([(0x1000 + 0x100000, 4, False)], [(0xFFF, 1, False)]):
        _write(path, accesses)
        with pytest.raises(ValueError, match=r"a\.acc: byte \d+: an access out of the range"):
            _native.AccessTrace(str(path)).rest()


@pytest.mark.asan
def test_an_unfinished_trace_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.acc"
    path.write_text("old")
    writer = _native.AccessWriter(str(path), 0, 16)
    writer.put(0, 1, False)
    del writer
    assert path.read_text() == "old"


# ---- the commands ----

_PROGRAM = """
#include <stdio.h>
#include <string.h>
int numbers[1000];
char text[300];
int main(void)
{
    long sum = 0;
    for (int i = 0; i < 1000; i++) {
        numbers[i] = i * 7;
    }
    for (int i = 0; i < 1000; i += 10) {
        sum += numbers[(i * 37) % 1000];
    }
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    printf("%ld %zu\\n", sum, strlen(text));
    return 0;
}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The accesses of a small program, and what its run says."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "program.c").write_text(_PROGRAM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NANDWICH_CACHE", str(folder / "cache"))
        # Neither inlining of the lengths nor vectors: each access stands for one of the source.
        words = f"run {folder}/program.c -O1 -fno-builtin --once --ram 16K --json {folder}/run.json"
        words += f" --record-accesses {folder}/a.acc"
        result = CliRunner().invoke(main, words.split())
    assert result.exit_code == 0, result.output
    return folder


def test_a_program_is_recorded_access_by_access(recorded: Path) -> None:
    """Goal: the trace holds the stores of the first loop one after another, the loads of the
    second in their order, and the block operations by their bytes; and no more guarded accesses
    than the run counted."""
    trace = _native.AccessTrace(str(recorded / "a.acc"))
    accesses = trace.rest()
    assert trace.cut == ""
    assert sorted(shape for _, *shape in trace.objects) == [
        [300, 1, "text"],
        [4000, 4, "numbers"],
    ]
    stores = [address for address, bytes_, write in accesses if write and bytes_ == 4]
    first = stores[0]
    assert stores[:1000] == list(range(first, first + 4000, 4))
    loads = [address - first for address, bytes_, write in accesses if not write and bytes_ == 4]
    assert loads[:100] == [i * 37 % 1000 * 4 for i in range(0, 1000, 10)]
    assert any(bytes_ == 300 and write for _, bytes_, write in accesses)  # memset
    assert any(bytes_ == 300 and not write for _, bytes_, write in accesses)  # strlen, with its end
    run = json.loads((recorded / "run.json").read_text())
    guarded = [access for access in accesses if access[1] <= 16]
    assert 1100 <= len(guarded) <= run["vm"]["accesses"] + 10


def _vmtrace(*words: str | Path, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["vmtrace", *map(str, words)])
    assert result.exit_code == code, result.output
    return result


def test_table_json_and_plot_agree(recorded: Path, tmp_path: Path) -> None:
    picture, target = tmp_path / "p.svg", tmp_path / "v.json"
    words = ("--frames", "128,256", "--ram", "512..2K", "--plot", picture, "--json", target)
    table = _vmtrace(recorded / "a.acc", *words).stdout
    value = json.loads(target.read_text())
    validate("vmtrace-1", value)
    assert [part["frame_bytes"] for part in value["frames"]] == [128, 256]
    for part in value["frames"]:
        for one in part["results"]:
            assert str(one["faults"]) in table
            if one["policy"] == "lru":
                assert part["lru_faults"][one["frames"] - 1] == one["faults"]
            weighed = (one["faults"] * 36 + one["writebacks"] * 163) / 36
            assert one["cost_reads"] == pytest.approx(weighed, abs=0.06)
    # 2 frames of 256 bytes make no set of 4.
    assert re.search(r"^ways-4 +- +\d+ +\d+$", table, re.MULTILINE)
    root = ElementTree.fromstring(picture.read_text())
    lines = [each for each in root.iter() if each.tag.endswith("polyline")]
    assert len(lines) == 3 * len(_WAYS)  # two panels and the legend
    before = picture.read_bytes()
    _vmtrace(recorded / "a.acc", *words)
    assert picture.read_bytes() == before


def test_a_cut_trace_is_played_and_told(recorded: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.acc"
    cut.write_bytes((recorded / "a.acc").read_bytes()[:-20])
    result = _vmtrace(cut, "--policy", "lru", "--json", "-")
    assert "the trace is cut at byte" in result.stderr
    assert "the trace is cut at byte" in json.loads(result.stdout)["trace"]["cut"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--policy lur", "did you mean lru"),
        ("--ram 64K..4K", "is empty"),
        ("--plot x.png", "plots are SVG"),  # was an SVG under that name
        ("--ram 0", "is empty"),
        ("--ram x", "is no quantity"),
        ("--ram 512 --policy ways-2,ways-4", "too few frames"),  # was a table without a line
        ("--ram 1000", "not a multiple of a frame of 512"),
        ("--frames 4G --ram 4G", "less than 2 GiB"),
        ("--frames 1 --ram 1G", "16777216 at most"),
        ("--write-cost -1", "not in the range"),
    ],
)
def test_what_vmtrace_refuses(recorded: Path, words: str, told: str) -> None:
    assert told in _vmtrace(recorded / "a.acc", *words.split(), code=2).stderr


def test_a_trace_of_nothing(tmp_path: Path) -> None:
    _write(tmp_path / "a.acc", [])
    assert "no accesses" in _vmtrace(tmp_path / "a.acc", code=2).stderr
    assert "No such file" in _vmtrace(tmp_path / "b.acc", code=2).stderr


def test_a_program_not_built_for_it_is_refused(tmp_path: Path) -> None:
    """Goal: `accesses=` given to a program of `nandwich cc` ends it before main, with the reason,
    and not with a trace that lacks every guarded access."""
    (tmp_path / "p.c").write_text("int x[9];\nint main(int c, char **v) { return x[c]; }\n")
    program = tmp_path / "p"
    words = [sys.executable, "-m", "nandwich", "cc", str(tmp_path / "p.c"), "-o", str(program)]
    subprocess.run(words, check=True)
    environment = {**os.environ, "NANDWICH": f"accesses={tmp_path / 'a.acc'}"}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "not built to tell them" in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "a.acc").exists()


_FORKS = """
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int numbers[64];
int main(void)
{
    pid_t child = fork();
    for (int turn = 0; turn < (child == 0 ? 20000 : 100); turn++) {
        for (int i = 0; i < 64; i += 8) {
            numbers[i] += turn;
        }
    }
    if (child == 0) {
        return 0;
    }
    waitpid(child, NULL, 0);
    printf("%d\\n", numbers[8]);
    return 0;
}
"""


def test_a_child_leaves_its_parents_trace_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a child of fork() makes far more accesses than the recorder keeps in memory; none of
    them comes into the trace, and nothing of it is written twice."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "program.c").write_text(_FORKS)
    words = f"run {tmp_path}/program.c -O1 --once -q --ram 16K"
    words += f" --record-accesses {tmp_path}/a.acc"
    result = CliRunner().invoke(main, words.split())
    assert result.exit_code == 0, result.output
    trace = _native.AccessTrace(str(tmp_path / "a.acc"))
    accesses = [access for access in trace.rest() if access[1] == 4]
    assert trace.cut == ""
    assert 100 * 8 * 2 <= len(accesses) <= 100 * 8 * 2 + 20
