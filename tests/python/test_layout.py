# SPDX-License-Identifier: Apache-2.0
"""Goal: layouts follow the published heuristic to the element, the node counts what its paper says,
our search never does worse on what it saw, and a layout file is used whole or refused."""

import json
import random
import zlib
from pathlib import Path
from typing import Any

import layout_models
import pytest
from click.testing import CliRunner, Result
from schemas import validate

from nandwich import _native
from nandwich.cli.main import main
from nandwich.vmtrace import layout

pytestmark = pytest.mark.quick
Access = tuple[int, bool]


def _objects(chance: random.Random, count: int) -> list[tuple[int, int, int, str]]:
    """Single elements of 1, 2, 4 bytes and some arrays, with gaps between."""
    found, address = [], 0x100
    for number in range(count):
        size = chance.choice((1, 2, 4))
        elements = chance.choice((1, 1, 1, 3, 12))
        found.append((address, size * elements, size, f"v{number}"))
        address += size * elements + chance.choice((0, 0, 5))
    return found


def _accesses(chance: random.Random, count: int, length: int = 800) -> list[Access]:
    """Phases, in each of which a few elements are used in turn."""
    found: list[Access] = []
    while len(found) < length:
        some = [chance.randrange(count) for _ in range(chance.randrange(2, 9))]
        for _ in range(chance.randrange(1, 7)):
            found += [(one, chance.random() < 0.3) for one in some]
    return found


def _both(seed: int) -> tuple[_native.Layouter, layout_models.Graph, list[Access]]:
    chance = random.Random(seed)
    bound = chance.choice((8, 24, 64))
    graph = _native.Layouter(_objects(chance, 14), 6, bound)
    model = layout_models.Graph(graph.bytes, bound)
    accesses = _accesses(chance, len(graph.bytes))
    for at, (element, write) in enumerate(accesses):
        if at in (0, 300):
            graph.begin()
            model.begin()
        graph.access(element, write)
        model.access(element, write)
    return graph, model, accesses


@pytest.mark.asan
def test_the_graph_of_the_paper() -> None:
    """Goal: the list's bound, who is counted, and that repeats of the front element count too."""
    for seed in range(8):
        graph, model, _ = _both(seed)
        assert graph.accesses == model.f
        assert graph.writes == model.writes
        for a in range(len(model.f)):
            for b in range(a):
                assert graph.near(a, b) == model.g.get(frozenset((a, b)), 0)


@pytest.mark.asan
@pytest.mark.parametrize("freeze", [False, True])
def test_groups_and_places_of_the_paper(freeze: bool) -> None:
    for seed in range(4):
        graph, model, _ = _both(seed)
        for limit, share in ((8, 1000), (16, 1000), (16, 400)):
            group = layout_models.grouped(model, 64, limit, share=share, freeze=freeze)
            assert graph.groups(64, limit, share, freeze) == group, (seed, limit, share)
            for threshold in (0, 3, 1 << 40):
                expected = layout_models.placed(model, group, 64, threshold)
                assert graph.published(64, limit, share, threshold, freeze) == expected
        assert graph.first_fit(64) == layout_models.first_fit(model, 64)


@pytest.mark.asan
def test_the_node_of_the_paper() -> None:
    for seed in range(8):
        graph, _, accesses = _both(seed)
        pages = graph.first_fit(24)
        packed = [element << 1 | write for element, write in accesses]
        for frames in (1, 2, 3, 5, 64):
            node = layout_models.Node(max(pages) + 1, frames)
            for element, write in accesses:
                node.access(pages[element], write)
            told = _native.node_run(packed, 1, pages, frames)
            assert told == {"accesses": len(accesses), **node.counts}, (seed, frames)
            assert graph.play(pages, frames) == told


@pytest.mark.asan
def test_the_search_keeps_pages_whole_and_never_loses() -> None:
    gained = 0
    for seed in range(8):
        graph, _, _ = _both(seed)
        start = graph.published(32, 16, 1000, 2)
        found = graph.search(start, 32, 2, 400_000, seed=seed)
        assert found == graph.search(start, 32, 2, 400_000, seed=seed)
        for page in range(max(found) + 1):
            assert (
                sum(size for size, at in zip(graph.bytes, found, strict=True) if at == page) <= 32
            )
        before, after = (_cost(graph.play(pages, 2)) for pages in (start, found))
        gained += after < before
        # It played the accesses twice, from pages in another order: equal up to the first pages.
        assert after <= before + 4 * 2 * 2
    assert gained >= 6


def _node(seconds: int, write_cost: int = 10, frames: int = 1) -> layout.Program:
    """What examples/node.c does for so long, its variables in the order that clang gives them."""
    shapes = [("histogram", 64, 4), ("sent", 1, 4), ("forwarded", 1, 4), ("lost", 1, 4)]
    shapes += [("calibration", 1, 32), ("reading", 400, 2), ("neighbour", 24, 8)]
    objects, address = [], 0
    for name, count, size in shapes:
        objects.append((address, count * size, size, name))
        address += count * size
    graph = _native.Layouter(objects, 33, 264)
    chance, sent, calibration, reading, neighbour = random.Random(16), 64, 67, 68, 468
    for second in range(seconds):
        counter = chance.randrange(61)
        for element, write in (
            (calibration, False),
            (reading + second % 400, True),
            (counter, False),
            (counter, True),
        ):
            graph.access(element, write)
        if second % 5 == 0:
            one = neighbour + chance.randrange(24)
            for write in (True, True, True, False, True):
                graph.access(one, write)
        if second % 50 == 0:
            for number in range(48):
                graph.access(neighbour + number // 2, False)
            graph.access(sent, True)
    parameters = layout.Parameters(write_cost=write_cost, frames=frames)
    return layout.Program(objects, graph, parameters, [])


def test_ours_weighs_writes() -> None:
    """Goal: a flash write counts as the faults it takes as long as. It used to count as one: with
    two pages in RAM `ours` then wrote flash half as often again as first fit, and the node of the
    tutorial took 31.9 s where first fit took 25.1 s (now 24.7 s)."""
    few, many = (_node(3_000, cost, frames=2) for cost in (10, layout.WRITE_COST))
    light, weighed = (one.graph.play(layout.ours(one), 2) for one in (few, many))
    others = [many.graph.play(layout.decide(many, name), 2) for name in layout.METHODS[1:]]
    assert weighed["flash_writes"] < light["flash_writes"], (light, weighed)
    costs = [layout.cost(one, layout.WRITE_COST) for one in (weighed, light, *others)]
    assert costs[0] == min(costs)
    assert weighed["faults"] <= min(one["faults"] for one in others)


def test_ours_on_a_long_trace() -> None:
    """Goal: fewer faults than either other layout, however long the trace. The search used to get
    1,200 million accesses to play: on 100,000 of them it tried too few layouts to find any better
    one, gave first fit back, and that had more faults than the published one."""
    program = _node(20_000)
    faults = {
        method: program.graph.play(layout.decide(program, method), 1)["faults"]
        for method in layout.METHODS
    }
    assert program.graph.sampled > 100_000
    assert faults["ours"] < 0.9 * min(faults["published"], faults["first-fit"]), faults


def test_ours_never_has_more_faults_than_the_other_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: the promise of `ours`, with next to no time to search. It used to begin with the least
    sum of faults and flash writes and to end there, with more faults than a layout it had seen."""
    monkeypatch.setattr(layout, "_MOST_WORK", 200)
    for seed in range(40):
        graph, _, _ = _both(seed)
        for frames in (1, 2):
            parameters = layout.Parameters(page=32, group=8, frames=frames)
            program = layout.Program([], graph, parameters, [])
            found = {method: layout.decide(program, method) for method in layout.METHODS}
            faults = {name: graph.play(pages, frames)["faults"] for name, pages in found.items()}
            assert faults["ours"] == min(faults.values()), (seed, frames)


def _cost(result: dict[str, int]) -> int:
    return 4 * result["faults"] + 4 * result["flash_writes"]


@pytest.mark.asan
def test_what_the_binding_refuses() -> None:
    objects = [(0, 4, 4, "a"), (4, 4, 2, "b")]
    with pytest.raises(ValueError, match="configuration"):
        _native.Layouter([], 1, 8)
    with pytest.raises(ValueError, match="configuration"):
        _native.Layouter([(0, 8193, 1, "a")], 1, 8)
    for wrong in ([(0, 4, 4, "a"), (3, 4, 4, "b")], [(0, 4, 3, "a")], [(0, 0, 1, "a")]):
        with pytest.raises(ValueError, match="out of order"):
            _native.Layouter(wrong, 1, 8)
    graph = _native.Layouter(objects, 1, 8)
    with pytest.raises(IndexError):
        graph.access(3, True)
    for pages, told in (([0], "for each element"), ([0, 0, 9], "more pages")):
        with pytest.raises(ValueError, match=told):
            graph.play(pages, 1)
    with pytest.raises(ValueError, match="holds more"):
        graph.search([0, 0, 0], 7, 1, 10)
    with pytest.raises(ValueError, match="configuration"):
        graph.play([0, 0, 0], 65)


# ---- the command and its file ----

_OBJECTS = [(0, 4, 4, "count"), (4, 120, 4, "table"), (124, 2, 2, "state"), (200, 40, 1, "text")]


def _trace(
    path: Path,
    objects: list[tuple[int, int, int, str]],
    seed: int = 1,
    range_bytes: int = 4096,
) -> Path:
    chance = random.Random(seed)
    writer = _native.AccessWriter(str(path), 0, range_bytes)
    for one in objects:
        writer.object(*one)
    for _ in range(400):
        row = chance.randrange(3) * 40
        for _ in range(4):
            writer.put(4 + row, 4, False)
            writer.put(200 + row // 4, 1, True)
        writer.put(0, 4, True)
        writer.put(1000, 4, True)  # no variable
        writer.put(118, 12, False)  # the table's last two, the state, and what lies behind
    writer.finish()
    return path


def _layout(*words: str | Path, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["layout", *map(str, words)])
    assert result.exit_code == code, result.output
    return result


@pytest.mark.parametrize("method", ["ours", "published", "first-fit"])
def test_a_layout_is_made_and_played(tmp_path: Path, method: str) -> None:
    first, second = (_trace(tmp_path / f"{n}.acc", _OBJECTS, n) for n in (1, 2))
    target = tmp_path / "app.layout"
    words = ("--page", "64", "--frames", "1..3", "--method", method)
    made = json.loads(_layout(first, second, "-o", target, *words, "--json", "-").stdout)
    validate("layout-told-1", made)
    file = json.loads(target.read_text())
    validate("layout-1", file)
    assert (made["accesses"], made["outside"]) == (800 * 12, 800)
    # `count`, `state` are one element each; 8 is the most bytes of an array that stays whole.
    assert made["elements"] == 1 + 30 + 1 + 40
    before = target.read_bytes()
    _layout(first, second, "-o", target, *words)
    assert json.loads(target.read_text())["layout"] == json.loads(before)["layout"]
    played = json.loads(_layout(second, "--play", target, "--frames", "1..3", "--json", "-").stdout)
    validate("layout-told-1", played)
    names = [(one["layout"], one["frames"]) for one in played["results"]]
    shown = ("first-fit", "published", "app.layout")
    assert names == [(name, n) for name in shown for n in (1, 2, 3)]
    table = _layout(second, "--play", target).stdout
    assert "800 accesses" not in table
    assert "400 accesses to no variable, left out" in table


def _changed(tmp_path: Path, change: Any) -> Result:
    """What a layout file says after it was changed by hand."""
    trace, target = _trace(tmp_path / "a.acc", _OBJECTS), tmp_path / "app.layout"
    _layout(trace, "-o", target, "--page", "64")
    value = json.loads(target.read_text())
    change(value["layout"])
    target.write_text(json.dumps(value))
    return _layout(trace, "--play", target, code=2)


def _move(name: str, place: list[int]) -> Any:
    def change(value: dict[str, Any]) -> None:
        next(one for one in value["objects"] if one["name"] == name)["places"][0] = place

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda layout: layout.pop("pages"), "layout.pages: Field required"),
        (lambda layout: layout.update(more=1), "layout.more: Extra inputs"),
        (lambda layout: layout.update(page_bytes="64"), "layout.page_bytes: Input should be"),
        (lambda layout: layout.update(page_bytes=10**12), "layout.page_bytes"),
        (lambda layout: layout.update(objects=[]), "layout.objects"),
        (lambda layout: layout["objects"][1]["places"].pop(), "table: 29 places of 4 B for 120 B"),
        (_move("count", [99, 0]), "count: [99, 0] lies on no page"),
        (_move("count", [0, 61]), "count: [0, 61] lies on no page"),
        (_move("count", [-1, 0]), "count: [-1, 0] lies on no page"),
        (lambda layout: layout.update(program="0" * 16), "the fingerprint 0000000000000000"),
    ],
)
def test_a_layout_changed_by_hand_is_refused(tmp_path: Path, change: Any, told: str) -> None:
    assert told in _changed(tmp_path, change).stderr


def test_two_on_one_place_are_refused(tmp_path: Path) -> None:
    def change(value: dict[str, Any]) -> None:
        value["objects"][0]["places"] = value["objects"][1]["places"][:1]

    assert "overlap on page" in _changed(tmp_path, change).stderr


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        (_OBJECTS[:3], "text gone"),
        ([*_OBJECTS, (300, 4, 4, "more")], "more new"),
        ([(0, 2, 2, "count"), *_OBJECTS[1:]], "count of another size"),
        (
            [(0, 4, 4, "state"), *_OBJECTS[1:2], (124, 2, 2, "count"), _OBJECTS[3]],
            "count, state of",
        ),
    ],
)
def test_a_layout_of_another_version_is_refused(
    tmp_path: Path, objects: list[tuple[int, int, int, str]], told: str
) -> None:
    """Goal: refused by fingerprint, saying what changed."""
    old, target = _trace(tmp_path / "old.acc", _OBJECTS), tmp_path / "app.layout"
    _layout(old, "-o", target, "--page", "64")
    new = _trace(tmp_path / "new.acc", objects)
    result = _layout(new, "--play", target, code=2)
    assert f"for another version of the program: {told}" in result.stderr
    assert f"of another program than {old}" in _layout(old, new, "--page", "64", code=2).stderr


def test_hostile_layout_files(tmp_path: Path) -> None:
    """Goal: whatever is done to a layout file, it is used or refused with one line."""
    trace, target = _trace(tmp_path / "a.acc", _OBJECTS), tmp_path / "app.layout"
    _layout(trace, "-o", target, "--page", "64")
    whole, chance = target.read_bytes(), random.Random(16)
    used = 0
    for trial in range(40):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            kind, at = chance.randrange(4), chance.randrange(len(damaged))
            if kind == 0:
                damaged[at] = chance.randrange(256)
            elif kind == 1:
                del damaged[at : at + chance.randrange(1, 40)]
            elif kind == 2:
                damaged[at:at] = chance.choice((b"9", b"[" * 50, b'"', b"-1", b"1e999", b"null"))
            else:
                damaged = damaged[: max(at, 2)]
        target.write_bytes(damaged)
        result = CliRunner().invoke(main, ["layout", str(trace), "--play", str(target)])
        assert result.exit_code in (0, 2), (trial, result.output)
        assert result.exit_code == 0 or result.stderr.count("\n") == 1
        assert "internal error" not in result.stderr
        used += result.exit_code == 0
    for content in (b"", b"[" * 100_000, b"{}", b"\xff" * 99, b'{"schema": "nandwich.layout/1"}'):
        target.write_bytes(content)
        assert str(target) in _layout(trace, "--play", target, code=2).stderr
    assert "cannot be read" in _layout(trace, "--play", tmp_path, code=2).stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--frames 0", "1 to 64"),
        ("--frames 1..65", "1 to 64"),
        ("--frames x", "write a number"),
        ("--page 4", "8 bytes or more"),
        ("--page 8 --whole 0 --method published", None),
        ("--play y -o z", "nothing for -o"),
        ("--play y --page 64", "nothing for --page"),  # was taken and not used
        ("--play y --method published", "nothing for --method"),
        ("--play y --list 64", "nothing for --list"),
        ("--share nan", "no number"),  # was an internal error
    ],
)
def test_what_layout_refuses(tmp_path: Path, words: str, told: str | None) -> None:
    trace = _trace(tmp_path / "a.acc", _OBJECTS)
    result = _layout(trace, *words.split(), code=0 if told is None else 2)
    assert told is None or told in result.stderr


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """Goal: a name of any bytes in a trace is shown, and does not end the command."""
    path = _trace(tmp_path / "a.acc", [(0, 48, 24, "structs")])
    content = path.read_bytes().replace(b"structs", b"str\xff\x00ts")
    head = content[32:44]
    bytes_ = int.from_bytes(head[8:12], "little")
    body = content[48 : 48 + bytes_]
    # As docs/access-traces.md: zlib inverts the sum at the end.
    crc = (zlib.crc32(head + body) ^ 0xFFFFFFFF).to_bytes(4, "little")
    path.write_bytes(content[:44] + crc + content[48:])
    assert _native.AccessTrace(str(path)).objects[0][3] == "str\\xff"
    assert "of str\\xff has 24 B" in _layout(path, "--page", "16", code=2).stderr


def test_an_element_larger_than_a_page(tmp_path: Path) -> None:
    trace = _trace(tmp_path / "a.acc", [(0, 48, 24, "structs")])
    told = "an element of structs has 24 B and does not fit a page of 16 B: split it, or leave it"
    assert told in _layout(trace, "--page", "16", code=2).stderr


def test_more_elements_than_can_be_placed(tmp_path: Path) -> None:
    trace = _trace(tmp_path / "a.acc", [(0, 4 * 8193, 4, "many")], range_bytes=1 << 16)
    told = "8193 elements; at most 8192 can be placed: tag fewer variables, or make structs"
    assert told in _layout(trace, code=2).stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0", "1 to 64 are allowed"),
        ("1..65", "1 to 64 are allowed"),
        ("4..2", "the range ends before it begins"),
        ("two", "write a number, or 1..12"),
    ],
)
def test_pages_in_ram_that_are_refused(text: str, told: str, tmp_path: Path) -> None:
    """Goal: each says what is wrong; 4..2 was told that 1 to 64 are allowed."""
    trace = _trace(tmp_path / "a.acc", _OBJECTS)
    assert f"--frames {text}: {told}" in _layout(trace, "--frames", text, code=2).stderr


def test_all_methods_are_shown(tmp_path: Path) -> None:
    """Goal: the published layout stands in the table beside ours; it used to be left out."""
    trace = _trace(tmp_path / "a.acc", _OBJECTS)
    for method in layout.METHODS:
        table = _layout(trace, "--page", "64", "--method", method).stdout
        assert all(name in table for name in {"first-fit", "published", method})


def _spread(folder: Path, count: int) -> Path:
    """A trace of an array of so many elements of 8 B, each accessed."""
    path = folder / "many.acc"
    writer = _native.AccessWriter(str(path), 0, count * 8)
    writer.object(0, count * 8, 8, "many")
    for number in range(count):
        writer.put(number * 8, 8, True)
    writer.finish()
    return path


def test_ours_keeps_to_the_pages_of_the_node(tmp_path: Path) -> None:
    """Goal: where first fit has few enough pages, ours has too; another method says so. Groups that
    do not divide a page leave a piece of each free: 5,500 elements of 8 B took 172 pages of 264 B,
    of which 169 may be, and a build refused what first fit had room for."""
    small = ("--page", "56", "--group", "16")
    trace = _spread(tmp_path, 1100)
    target = tmp_path / "app.layout"
    made = _layout(trace, "-o", target, *small)
    assert made.stderr == ""
    assert json.loads(target.read_text())["layout"]["pages"] == 158
    told = _layout(trace, "--method", "published", *small).stderr
    assert "published takes 184 pages, and a build takes 169 at most" in told
    assert "--method ours or first-fit keeps to them" in told
    told = _layout(_spread(tmp_path, 1190), "--method", "first-fit", *small).stderr
    assert "first-fit takes 170 pages" in told
    assert "tag fewer variables" in told


def test_a_trace_without_accesses(tmp_path: Path) -> None:
    """Goal: nothing to judge by is said, and no layout written. A trace cut in its first chunk used
    to make one."""
    path, target = tmp_path / "a.acc", tmp_path / "app.layout"
    _trace(path, _OBJECTS)
    path.write_bytes(path.read_bytes()[:-30])
    told = _layout(path, "-o", target, code=2).stderr
    assert "no access to any variable" in told
    assert "used up to there" in told
    assert not target.exists()


def test_a_trace_without_variables(tmp_path: Path) -> None:
    path = tmp_path / "a.acc"
    writer = _native.AccessWriter(str(path), 0, 64)
    writer.put(0, 4, True)
    writer.finish()
    assert "names no variables" in _layout(path, code=2).stderr


def test_a_trace_cut_before_its_variables(tmp_path: Path) -> None:
    """Goal: the cut is told; it was taken for a trace of no variables."""
    path = _trace(tmp_path / "a.acc", _OBJECTS)
    path.write_bytes(path.read_bytes()[:60])
    told = "the trace is cut at byte 32: used up to there, so there is nothing to place"
    assert told in _layout(path, code=2).stderr
