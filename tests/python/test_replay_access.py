# SPDX-License-Identifier: Apache-2.0
"""Goal: `access:` sources ask a layer for exactly the pages that a paging policy reads and writes,
in its order; they are near what virtual memory itself counts; and what they cannot be is refused
with what to do."""

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import paging_models
import pytest
from click.testing import CliRunner, Result
from paging_models import MODELS, Reference
from schemas import validate

from nandwich import _native, paths
from nandwich.cli.main import main
from nandwich.cli.sweep.point import Keys
from nandwich.cli.sweep.spec import read
from nandwich.replay import accesses, traffic
from nandwich.replay.options import Options

assert paths.CHECKOUT is not None
CHECKOUT = paths.CHECKOUT
_WAYS = {name: ways for name, _, ways in _native.paging_policies()}
_BASE, _FRAME = 0x1000, 16


def _run(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done


def _references(seed: int, length: int = 500) -> list[Reference]:
    """No page twice in a row; the pages lie far apart, and come in no order."""
    chance = random.Random(seed)
    pages = chance.sample(range(0, 4000), 24)
    found: list[Reference] = []
    while len(found) < length:
        page = pages[min(int(chance.expovariate(0.2)), len(pages) - 1)]
        if not found or found[-1][0] != page:
            found.append((page, chance.random() < 0.4))
    return found


def _write(path: Path, references: Sequence[Reference], frame: int = _FRAME) -> Path:
    writer = _native.AccessWriter(str(path), _BASE, 4096 * frame)
    for page, write in references:
        writer.put(_BASE + page * frame, 4, write)
    writer.finish()
    return path


def _asked(source: _native.Source, path: Path) -> list[tuple[int, int, bool]]:
    """(offset, bytes, is a write) of each request."""
    _native.write_trace(source, str(path), "msr")
    lines = (line.split(",") for line in path.read_text().splitlines())
    return [(int(at), int(size), kind == "Write") for _, _, _, kind, at, size, _ in lines]


# ---- the requests ----


class _Told(list[Reference]):
    """References of which the model's present one is known."""

    page = -1

    def __iter__(self) -> Iterator[Reference]:
        for page, write in super().__iter__():
            self.page = page
            yield page, write


def _transfers(policy: str, references: Sequence[Reference], frames: int) -> list[Reference]:
    """(page, is a write) as the policy's model makes them: who leaves is written first, and a page
    that comes for the first time is not read."""
    told, log = _Told(references), list[Reference]()

    def faults(books: paging_models.Books, count: int) -> None:
        if count > 0:
            log.append((told.page, False))
        books.__dict__["faults"] = count

    def leaves(books: paging_models.Books, page: int) -> None:
        if page in books.dirty:
            books.dirty.remove(page)
            log.insert(len(log) - 1, (page, True))  # before the page that needs the frame

    with pytest.MonkeyPatch.context() as patch:
        kept = property(lambda books: books.__dict__["faults"], faults)
        patch.setattr(paging_models.Books, "faults", kept, raising=False)
        patch.setattr(paging_models.Books, "leaves", leaves)
        MODELS[policy](told, frames)
    touched = set[int]()
    made = []
    for page, write in log:
        if write or page in touched:
            made.append((page, write))
        touched.add(page)
    return made


def _expected(policy: str, references: Sequence[Reference], frames: int) -> list[Reference]:
    """Of a policy of sets: those of each set in turn."""
    ways = _WAYS[policy]
    if not ways:
        return _transfers(policy, references, frames)
    sets = frames // ways
    parts = [[one for one in references if one[0] % sets == at] for at in range(sets)]
    return [one for part in parts for one in _transfers("lru", part, ways)]


@pytest.mark.quick
@pytest.mark.asan
@pytest.mark.parametrize("policy", [name for name in MODELS if not name.startswith("belady")])
def test_requests_are_the_transfers_of_the_policy(policy: str, tmp_path: Path) -> None:
    """Goal: each page-in and write-back of the model written from the policy's paper is a request,
    in the same order, on pages that lie side by side in the order of their addresses."""
    for seed in range(6):
        references = _references(seed)
        place = {page: at for at, page in enumerate(sorted({page for page, _ in references}))}
        trace = _write(tmp_path / "a.acc", references)
        for frames in (1, 2, 5, 8, 16):
            if _WAYS[policy] and frames % _WAYS[policy]:
                continue
            paging = f"access:{trace},frame={_FRAME},ram={frames * _FRAME},policy={policy}"
            found = _asked(accesses.traffic(paging), tmp_path / "asked.csv")
            wanted = _expected(policy, references, frames)
            if _WAYS[policy]:  # the order among pages of different sets is the program's
                sets = frames // _WAYS[policy]
                at_place = {at: page for page, at in place.items()}
                found.sort(key=lambda one: at_place[one[0] // _FRAME] % sets)
            told = [(place[page] * _FRAME, _FRAME, write) for page, write in wanted]
            assert found == told, (seed, frames)


@pytest.mark.quick
@pytest.mark.asan
@pytest.mark.parametrize("policy", MODELS)
def test_counts_are_those_of_vmtrace(policy: str, tmp_path: Path) -> None:
    """Goal: reads are faults less first touches and writes are write-backs, exactly, also of who
    knows the future; a page is never written twice without being read between."""
    references = _references(11, 3000)
    trace = _write(tmp_path / "a.acc", references, 512)
    table = _run(
        "vmtrace", trace, "--frames", 512, "--ram", "8K", "--policy", policy, "--json", "-"
    )
    known = json.loads(table.stdout)["frames"][0]
    outcome = known["results"][0]
    source = f"access:{trace},frame=512,ram=8K,policy={policy}"
    value = json.loads(_run("replay", source, "--verify", "--json", "-").stdout)
    validate("replay-1", value)
    facts, paging = value["source"], value["source"]["paging"]
    assert (paging["faults"], paging["writebacks"]) == (outcome["faults"], outcome["writebacks"])
    assert facts["reads"]["count"] == outcome["faults"] - known["pages"] > 0
    assert facts["writes"]["count"] == outcome["writebacks"] > 0
    assert value["result"]["done"] == facts["requests"]
    assert (paging["accesses"], paging["references"]) == (3000, 3000)
    assert (paging["frames"], paging["policy"], paging["cut"]) == (16, policy, "")
    assert value["result"]["violations"] == 0
    in_flash = set[int]()
    for at, _, write in _asked(accesses.traffic(source), tmp_path / "asked.csv"):
        assert not (write and at in in_flash), at
        (in_flash.add if write else in_flash.discard)(at)


@pytest.mark.quick
@pytest.mark.asan
def test_passes_are_alike_and_no_ram_is_too_much(tmp_path: Path) -> None:
    """Goal: a second pass asks for the same; when all pages fit in RAM nothing is asked for, which
    is an answer; --limit ends in the middle."""
    trace = _write(tmp_path / "a.acc", _references(3), 512)
    once, twice, none, few = (
        json.loads(
            _run("replay", f"access:{trace},frame=512,ram={ram}", *more, "--json", "-").stdout
        )
        for ram, more in (
            ("4K", ()),
            ("4K", ("--repeat", 2)),
            ("64K", ()),
            ("4K", ("--limit", 7)),
        )
    )
    assert twice["result"]["sectors_written"] == 2 * once["result"]["sectors_written"] > 0
    assert (none["result"]["done"], none["source"]["paging"]["faults"]) == (0, 24)
    assert (few["result"]["done"], few["source"]["requests"]) == (7, once["source"]["requests"])
    assert not once["options"]["arrivals"]  # no times: back to back


@pytest.mark.quick
@pytest.mark.asan
@pytest.mark.parametrize(("frame", "partial", "sectors"), [(512, True, 1), (8192, False, 4)])
def test_frames_of_any_size(frame: int, partial: bool, sectors: int, tmp_path: Path) -> None:
    """Goal: a frame smaller than a sector of 2 KiB is a sector written in part, a larger one is
    several sectors."""
    trace = _write(tmp_path / "a.acc", _references(4), frame)
    source = f"access:{trace},frame={frame},ram={8 * frame}"
    value = json.loads(_run("replay", source, "--json", "-").stdout)
    writes = value["source"]["paging"]["writebacks"]
    assert value["result"]["sectors_written"] == sectors * writes
    assert (value["result"]["partial_reads"] > 0) == partial
    assert value["source"]["extent_bytes"] <= 24 * frame  # no gaps between pages


# ---- the neighbours ----


@pytest.mark.quick
def test_other_verbs_take_it(tmp_path: Path) -> None:
    """Goal: compare, fit and trace convert play the same requests, and tell where they are from."""
    trace = _write(tmp_path / "a.acc", _references(5), 2048)
    source = f"access:{trace},frame=2K,ram=16K,policy=lru"
    value = json.loads(_run("replay", source, "--json", "-").stdout)
    assert value["provenance"]["inputs"].keys() == {str(trace)}
    told = _run("replay", source)
    assert "page faults" in told.stdout
    assert "8 frames of 2048 B by lru" in told.stdout
    _run("trace", "convert", source, tmp_path / "a.fio", "--to", "fio")
    again = json.loads(_run("replay", tmp_path / "a.fio", "--json", "-").stdout)
    assert again["result"]["layer"] == value["result"]["layer"]
    assert "tree" in _run("compare", source, "--ftl", "tree,page").stdout
    fit = json.loads(_run("fit", "--ram", "64K", "--trace", source, "--json", "-").stdout)
    assert fit["question"]["trace"] == source
    assert fit["provenance"]["inputs"].keys() == {str(trace)}


@pytest.mark.quick
def test_a_sweep_knows_the_trace(tmp_path: Path) -> None:
    """Goal: a result that is kept is not taken for one of another recording with the same name."""
    trace = _write(tmp_path / "a.acc", _references(6), 2048)
    spec = tmp_path / "memory.toml"
    spec.write_text(
        '[sweep]\nverb = "replay"\n[axes]\nsource = ['
        f'"access:{trace},frame=2K,ram=8K,policy=vm", "access:{trace},frame=2K,ram=16K"]\n'
    )
    points = read(spec).points
    assert len(points) == 2
    before = [Keys().of(point) for point in points]
    _write(trace, _references(7), 2048)
    assert not set(before) & {Keys().of(point) for point in points}
    trace.unlink()
    assert "cannot read" in _run("sweep", spec, "--dry-run", code=2).stderr


@pytest.fixture(scope="module")
def sorted_in_vm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded sort."""
    folder = tmp_path_factory.mktemp("sorted")
    _sort("heap", folder, "--record-accesses", folder / "sort.acc")
    return folder


def _sort(way: str, folder: Path, *more: object) -> dict[str, Any]:
    """What virtual memory counts; one slot, so that hardly a page is pinned, and no look-aside
    entry, which would hide uses from LRU."""
    words: list[object] = ["run", "examples/sort.c", "--once", "--no-native", "--quiet"]
    words += ["--frame", "2K", "--ram", "16K", "--slots", 1, "--scheme", "direct"]
    words += ["--lookaside", 0]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(CHECKOUT)
        patch.setenv("NANDWICH_CACHE", str(folder / "cache"))
        _run(*words, *more, "--json", folder / "run.json", "--", way, 8000)
    counted: dict[str, Any] = json.loads((folder / "run.json").read_text())["vm"]
    return counted


@pytest.mark.parametrize(("policy", "ours"), [("clock", "vm"), ("lru", "lru")])
def test_near_what_virtual_memory_counts(policy: str, ours: str, sorted_in_vm: Path) -> None:
    """Goal: faults and write-backs of a program under `nandwich run` are those of its trace, but
    for the page that the VM's slot pins."""
    counted = _sort("heap", sorted_in_vm, "--policy", policy)
    made = accesses.traffic(f"access:{sorted_in_vm}/sort.acc,frame=2K,ram=16K,policy={ours}")
    assert made.faults == pytest.approx(counted["faults"], rel=0.02)
    assert made.writebacks == pytest.approx(counted["sectors_written"], rel=0.02)
    assert made.writebacks > 1000


def test_what_help_and_pages_show_works(
    sorted_in_vm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: each command with an access: source that is shown plays."""
    texts = [(CHECKOUT / "docs" / page).read_text() for page in ("replay.md", "access-traces.md")]
    texts.append(_run("replay", "--help").stdout)
    shown = re.findall(r"^ *nandwich (replay access:sort[^\n]*)$", "\n".join(texts), re.MULTILINE)
    assert len(shown) == 5
    monkeypatch.chdir(sorted_in_vm)
    for line in shown:
        assert "page faults" in _run(*line.split()).stdout


# ---- refusals ----


@pytest.mark.quick
@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ("frame=2K,ram=16K,policy=lur", "did you mean lru"),
        ("frame=2K,ram=16K,polcy=lru", "did you mean policy"),
        ("frame=2K,ram=16K,ram=8K", "ram is there twice"),
        ("ram=16K", "how large is the frame? Add ,frame=SIZE"),
        ("frame=2K", "how large is the ram? Add ,ram=SIZE"),
        ("frame=2K,ram=x", "ram=x: "),
        ("frame=3000,ram=16K", "take a power of two from 16 B to 32 KiB"),
        ("frame=8,ram=16K", "take a power of two"),
        ("frame=64K,ram=64K", "take a power of two"),
        ("frame=2K,ram=1K", "less than a frame of 2048 B; take more"),
        ("frame=2K,ram=3K", "take a multiple of a frame"),
        ("frame=16,ram=1G", "256 MiB at most"),
        ("frame=2K,ram=16K,policy=ways-16", "ram is a multiple of 32 KiB"),
    ],
)
def test_wrong_memories_are_refused(figures: str, told: str, tmp_path: Path) -> None:
    trace = _write(tmp_path / "a.acc", _references(1))
    said = _run("replay", f"access:{trace},{figures}", code=2).stderr
    assert told in said
    assert len(said.splitlines()) == 1


@pytest.mark.quick
@pytest.mark.asan
def test_files_that_are_no_traces_are_refused(tmp_path: Path) -> None:
    memory = "frame=2K,ram=16K"
    (tmp_path / "a.csv").write_text("0,R,0,512\n" * 9)
    said = _run("replay", f"access:{tmp_path}/a.csv,{memory}", code=2).stderr
    assert "not an access trace" in said
    assert "run --record-accesses" in said
    assert "No such file" in _run("replay", f"access:{tmp_path}/none,{memory}", code=2).stderr
    lists = ("--ftl", "tree,page")
    said = _run("compare", f"access:{tmp_path}/none,{memory}", *lists, code=2).stderr
    assert "No such file" in said
    empty = _write(tmp_path / "empty.acc", [])
    assert "no accesses in it" in _run("replay", f"access:{empty},{memory}", code=2).stderr
    commas = _write(tmp_path / "a,b.acc", _references(2))
    for word in ("--format msr", "--unit 3", "--skip-bad 2", "--classes x.img"):
        said = _run("replay", f"access:{commas},{memory}", *word.split(), code=2).stderr
        assert "is for recorded traces" in said, word
    cut = tmp_path / "cut.acc"
    cut.write_bytes(commas.read_bytes()[:-20])
    done = _run("replay", f"access:{cut},frame=16,ram=128", "--json", "-")
    assert "the trace is cut at byte" in done.stderr
    assert "cut at byte" in json.loads(done.stdout)["source"]["paging"]["cut"]


@pytest.mark.quick
def test_the_name_of_the_file_may_have_commas() -> None:
    assert traffic.inputs(Options("access:a,b.acc,frame=2K,ram=4K")) == [Path("a,b.acc")]
    assert accesses.parse("access:a,b.acc,frame=2K,ram=4K").path == "a,b.acc"
    assert traffic.inputs(Options("gen:zipf")) == []
