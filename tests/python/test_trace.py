# SPDX-License-Identifier: Apache-2.0
"""Packed traces as docs/replay.md writes them down; cache curves against a cache that is played."""

import json
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from nandwich.cli.main import main

CAMERA = Path(__file__).parents[2] / "examples/traces/camera.csv"


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


def _numbers(data: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def _unpacked(data: bytes) -> Iterator[tuple[str, str, int, int, int]]:
    """(who, kind, offset, bytes, ns) of each record, by the document alone."""
    assert data[:6] == b"NWIO1\n"
    names = [""]
    at, when, end, size, who = 6, 0, 0, 0, 0

    def number() -> int:
        nonlocal at
        start = at
        while data[at] >= 128:
            at += 1
        at += 1
        return next(_numbers(data[start:at]))

    while at < len(data):
        flags = data[at]
        at += 1
        when += number() * (-1 if flags & 4 else 1)
        if flags & 64:
            number()
        if flags & 128:
            who = number()
            if who == len(names):
                names.append(data[at + 1 : at + 1 + data[at]].decode())
                at += 1 + data[at]
        kind = "RWTS"[flags & 3]
        if kind == "S":
            yield names[who], kind, 0, 0, when
            continue
        grain = 512 if flags & 8 else 1
        place = end // grain
        if flags & 16:
            step = number()
            place += -(step >> 1) if step & 1 else step >> 1
        size = number() * grain if flags & 32 else size
        end = place * grain + size
        yield names[who], kind, place * grain, size, when


def test_a_packed_trace_is_what_the_document_says(tmp_path: Path) -> None:
    """Goal: another program reads it by docs/replay.md, to the ns and with who asked."""
    packed = tmp_path / "camera.packed"
    assert _run("trace", "convert", CAMERA, packed, "--to", "packed").exit_code == 0
    rows = [line.split(",") for line in CAMERA.read_text().splitlines()[1:] if line[0] != "#"]
    first = float(rows[0][5])
    wanted = [
        (who, rw, 512 * int(sector), 512 * int(size), round((float(at) - first) * 1e9))
        for who, _, rw, sector, size, at in rows
    ]
    found = list(_unpacked(packed.read_bytes()))
    assert [one[:4] for one in found] == [one[:4] for one in wanted]
    assert all(abs(one[4] - two[4]) <= 1 for one, two in zip(found, wanted, strict=True))
    assert packed.stat().st_size < 10 * len(wanted)


def _lru(pages: list[tuple[int, bool]], frames: int) -> tuple[int, int]:
    """Misses and pages written back, by playing a cache."""
    cache: OrderedDict[int, bool] = OrderedDict()
    missed = written = 0
    for page, write in pages:
        dirty = write or cache.get(page, False)
        missed += page not in cache
        cache[page] = dirty
        cache.move_to_end(page)
        if len(cache) > frames:
            written += cache.popitem(last=False)[1]
    return missed, written


def _curve(*arguments: object) -> dict[str, Any]:
    done = _run("trace", "curve", *arguments, "--json", "-")
    assert done.exit_code == 0, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    validate("curve-1", value)
    return value


@pytest.mark.quick
def test_a_curve_is_that_of_a_cache_played() -> None:
    """Goal: without a sample each point is exact."""
    value = _curve(CAMERA)
    pages = [
        (page, rw == "W")
        for _, _, rw, sector, size, _ in (
            line.split(",") for line in CAMERA.read_text().splitlines()[1:] if line[0] != "#"
        )
        for page in range(int(sector) // 8, (int(sector) + int(size) - 1) // 8 + 1)
    ]
    writes = sum(write for _, write in pages)
    assert (value["pages_read"], value["pages_written"]) == (len(pages) - writes, writes)
    assert len(value["points"]) > 3
    for one in value["points"]:
        missed, written = _lru(pages, one["cache_bytes"] // 4096)
        assert one["missed"] == round(missed / len(pages), 6)
        assert one["written_back"] == round(written / writes, 6)


def test_a_sample_tells_nearly_the_same() -> None:
    """Goal: a tenth of the pages, at most three points off; too few pages are said to be."""
    workload = "gen:zipf,requests=400K,footprint=2G,theta=0.8,writes=60%"
    whole = {one["cache_bytes"]: one["missed"] for one in _curve(workload)["points"]}
    for one in _curve(workload, "--sample", "0.1")["points"]:
        assert abs(one["missed"] - whole[one["cache_bytes"]]) < 0.03
    few = _run("trace", "curve", workload, "--sample", "0.001")
    assert "take a larger --sample" in few.stderr
    none = _run("trace", "curve", "gen:sequential,requests=2,footprint=1M", "--sample", "0.0000001")
    assert none.exit_code == 2
    assert "no page of the sample" in none.stderr
    for page in ("0", "1", "8G"):
        wrong = _run("trace", "curve", CAMERA, "--page", page)
        assert wrong.exit_code == 2
        assert "from 512 B to 1 GiB" in wrong.stderr


def test_a_sampled_trace_is_part_of_the_whole(tmp_path: Path) -> None:
    """Goal: convert writes the requests to the pages of the sample alone."""
    some, rest = tmp_path / "some.packed", tmp_path / "all.packed"
    for target, more in ((some, ["--sample", "0.2", "--page", "4K"]), (rest, [])):
        done = _run("trace", "convert", CAMERA, target, "--to", "packed", *more)
        assert done.exit_code == 0, done.stderr
    part, whole = (
        {
            page
            for _, kind, offset, size, _ in _unpacked(path.read_bytes())
            if kind != "S"
            for page in range(offset // 4096, (offset + size - 1) // 4096 + 1)
        }
        for path in (some, rest)
    )
    assert part < whole
    assert 0.1 < len(part) / len(whole) < 0.3


def test_a_curve_has_a_page(tmp_path: Path) -> None:
    """Goal: what the help shows works: the curve's picture is in a report."""
    curve, page = tmp_path / "curve.json", tmp_path / "curve.html"
    assert _run("trace", "curve", CAMERA, "--json", curve).exit_code == 0
    done = _run("report", curve, "-o", page)
    assert done.exit_code == 0, done.stderr
    assert "What a cache would miss" in page.read_text()


def test_a_bad_line_is_blamed_itself_and_counted(tmp_path: Path) -> None:
    """Goal: a wrong first row says nothing of what stands between the fields of the others."""
    path = tmp_path / "own.csv"
    path.write_text("h1;h2\nsome garbage\n0;W;0;4096\n9;R;0;4096\n")
    how = [str(path), "--columns", "time,op,offset,size", "--unit", "us", "--header"]
    for verb in (["trace", "curve"], ["replay"], ["compare"]):
        more = ["--ftl", "page,tree"] if verb == ["compare"] else []
        done = _run(*verb, *how, *more)
        assert done.exit_code == 2
        assert ":2:1: wanted a number: some garbage" in done.stderr
        assert done.stdout == ""
    for verb in (["trace", "curve"], ["replay"]):
        done = _run(*verb, *how, "--skip-bad", 1)
        assert done.exit_code == 0
        assert "1 bad lines skipped" in done.stderr


def test_a_heading_that_is_a_request_is_told(tmp_path: Path) -> None:
    """--header passed over the first request of a csv that has no heading."""
    path = tmp_path / "own.csv"
    how = [str(path), "--columns", "time,op,offset,size", "--unit", "us", "--header"]
    path.write_text("0,W,0,4096\n9,R,0,4096\n")
    done = _run("trace", "info", *how)
    assert done.exit_code == 2
    assert "own.csv:1:1: wanted a heading, and this line is a request" in done.stderr
    assert _run("trace", "info", *how[:-1]).exit_code == 0
    path.write_text("t0,op1,2,3\n0,W,0,4096\n")
    assert _run("trace", "info", *how).exit_code == 0


def test_convert_replaces_no_file_unless_told(tmp_path: Path) -> None:
    target = tmp_path / "recording"
    target.write_text("not to be made again")
    line = ("trace", "convert", CAMERA, target, "--to", "spc")
    done = _run(*line)
    assert done.exit_code == 2
    assert f"{target} exists; --force replaces it" in done.stderr
    assert target.read_text() == "not to be made again"
    assert _run(*line, "--force").exit_code == 0
    assert _run("trace", "info", target).exit_code == 0


def test_requests_without_end_are_refused(tmp_path: Path) -> None:
    """Goal: a trace that asks for more pages than anybody can count is an error, not an hour."""
    path = tmp_path / "huge.csv"
    path.write_text(f"0,W,0,{1 << 61}\n9,R,0,4096\n")
    for more in ([], ["--sample", "0.001"]):
        done = _run("trace", "curve", path, "--columns", "time,op,offset,size", *more)
        assert done.exit_code == 2
        assert "take larger pages" in done.stderr
