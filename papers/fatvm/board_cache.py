# SPDX-License-Identifier: Apache-2.0
"""F2, F10 and T5: how often the five programs miss on the emulated Cortex-M3 (Lin et al. 2013,
sections 2.2 and 7.2).

F2 and T5 are runs of the firmware itself: 32 KB of frames, 8 MB of virtual memory, LRU as in the
paper. F10 plays the recorded accesses of the JPEG decoder on caches, as the paper did.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lab.device import figures
from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment, near
from nandwich import plots
from papers.fatvm import on_board, traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OURS = "programs, picture and sizes are ours"

# F2 -----------------------------------------------------------------------------------------------

_FRAMES = (128, 256, 512, 1024, 2048)
_BUFFERS: dict[str, Any] = {**figures.CALLS, "slots": 8}  # of 16 frames of 2,048 B
_SMALL, _LARGE = 256, 2048
#: Estimated as in section 2.2, a constant and so much a byte: 25 us of array time; two commands,
#: five bytes of address and a frame at 0.1 us, the least that goes with figure 1 (node_nand.toml).
_ARRAY_US, _COMMAND_BYTES, _BYTE_US = 25, 7, 0.1
#: A line is flat while its ends are no more than so many times apart; steep from twice that on.
_FLAT, _STEEP = 2, 4
#: What makes a program's line; where it is not as published, its reason.
_WHY = {
    "jpeg": "our decoder (stb_image) goes through rows of blocks and uses what lies beside",
    "gray": "rows from their begin to their end",
    "fft": "butterflies far apart share no frame, those close together do",
    "huffman": "a stream in, a stream out",
    "red-black": "a search takes one node of a frame: larger frames are fewer places",
}


def _estimated_ms(misses: int, frame: int) -> float:
    return misses * (_ARRAY_US + _BYTE_US * (_COMMAND_BYTES + frame)) / 1000


def _sizes_row(program: str, frame: int, value: dict[str, Any]) -> list[Value]:
    misses = int(value["vm"]["faults"])
    return [
        program,
        frame,
        misses,
        value["vm"]["zero_pages"],
        value["vm"]["writebacks"],
        round(_estimated_ms(misses, frame), 1),
        round(on_board.storage_ns(value["flash"]) / 1e6, 1),
    ]


def _shape(program: str, small: Sequence[Value], large: Sequence[Value]) -> Answer:
    """A line of (a) and the line of (b) that is reckoned from it."""
    misses = float(large[2]) / float(small[2])
    times = float(large[5]) / float(small[5])
    if program == "jpeg":
        holds, said = misses > 1 and times >= _STEEP, "> 1, steep"
    else:
        holds, said = misses < 1 and 1 / _FLAT <= times <= _FLAT, "< 1, flat"
    return Answer(
        f"{misses:.2f} x, {times:.2f} x",
        holds=holds,
        tolerance="misses: a claim of order; estimated time steep: "
        f"{_STEEP} x and more, flat: within {_FLAT} x either way",
        why=f"{small[2]} misses with 256 B, {large[2]} with 2,048 B, estimated {small[5]} and "
        f"{large[5]} ms; {_WHY[program]}; " + _OURS,
        part=program,
        claim=f"{program}: misses with frames of 2,048 B over those with 256 B, and read time",
        published=said,
    )


def _draw_sizes(rows: Sequence[Sequence[Value]], axes: "Axes") -> None:
    for program in on_board.PROGRAMS:
        chosen = [row for row in rows if row[0] == program]
        axes.plot(
            [float(row[1]) for row in chosen], [float(row[2]) for row in chosen], label=program
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(_FRAMES, [str(frame) for frame in _FRAMES])
    axes.set_xlabel("bytes a frame, 32 KB of frames")
    axes.set_ylabel("misses")
    axes.legend(fontsize=7)


@experiment(
    "F2",
    claim="misses against the size of a frame",
    published="shape",
    unit="",
    where="section 2.2, figure 2",
    setup="published: 32 KB of caches, LRU, sizes of caches along the axis; (a) misses, (b) the "
    "time of the reads, estimated from these as a constant and so much a byte: so both are one "
    "claim. Ours: "
    + on_board.SIZES
    + "; frames of 128 to 2,048 B, 8 MB of virtual memory; "
    + on_board.CALLS
    + ", but 8 buffers; a miss is a page that no frame holds, pages never written "
    "too; a read of the parallel NAND 25 us and 0.1 us a byte, 7 bytes of command and address",
)
def frame_sizes(quick: bool) -> Report:
    """Each program with frames of 128 to 2,048 bytes; a miss is a page that no frame held."""
    rows = [
        _sizes_row(program, frame, on_board.measured(program, quick, frame=frame, **_BUFFERS))
        for program in on_board.PROGRAMS
        for frame in ((_SMALL, _LARGE) if quick else _FRAMES)
    ]
    answers = []
    for program in on_board.PROGRAMS:
        mine = [row for row in rows if row[0] == program]
        small, large = (next(row for row in mine if row[1] == frame) for frame in (_SMALL, _LARGE))
        answers.append(_shape(program, small, large))
    return Report(
        answers=answers,
        columns=(
            "program",
            "frame B",
            "misses",
            "of them zero pages",
            "write-backs",
            "estimated read ms",
            "bus and chip ms",
        ),
        rows=rows,
        draw=lambda axes: _draw_sizes(rows, axes),
    )


# F10 ----------------------------------------------------------------------------------------------

_RAMS = (8, 16, 32, 64)
_SETS = (1, 4, 8, 16, 32)
_MOST_WAYS = 16
_PUBLISHED_RATE = 0.28
_RATE_PERCENT, _SETS_PERCENT = 50, 10


def _rate(quick: bool, frame: int, kilobytes: int, sets: int) -> float | None:
    """Misses in a hundred accesses; None: sets of more frames than a policy has."""
    refs = on_board.references("jpeg", quick, frame)
    frames = (kilobytes << 10) // frame
    if sets == 1:
        return 100 * refs.lru_curve(frames)[0][frames - 1] / refs.accesses
    ways = frames // sets
    if not 1 <= ways <= _MOST_WAYS:
        return None
    return 100 * refs.run(f"ways-{ways}", frames, 1, 1)[0] / refs.accesses


def _draw_sets(rows: Sequence[Sequence[Value]], axes: "Axes") -> None:
    for place, sets in enumerate(_SETS):
        points = [(float(row[1]), float(row[2 + place])) for row in rows if row[2 + place] != ""]
        name = "fully associative" if sets == 1 else f"{sets} sets"
        axes.plot([x for x, _ in points], [y for _, y in points], label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(_RAMS, [str(size) for size in _RAMS])
    axes.set_xlabel("KB of frames of 512 B")
    axes.set_ylabel("misses, % of accesses")
    axes.legend(fontsize=7)


@experiment(
    "F10",
    claim="miss rate of the JPEG decoder",
    published=_PUBLISHED_RATE,
    unit="%",
    where="section 7.2.1, figure 10",
    setup="published: one recorded run of JPEG to BMP, not gray, on an emulator of caches, RAM and "
    "number of sets along the axes; LRU, size of a cache not told. Ours: JPEG to BMP, too: "
    f"{traffic.PHOTO}; loads and stores to globals and heap, each an access, recorded natively on "
    "the Cortex-M3, clang -O2; frames of 512 B (256 beside), 8 to 64 KB, 1 to 32 sets of at most "
    "16 frames, a page's set by its number",
)
def associativity(quick: bool) -> Report:
    """Its accesses on the Cortex-M3, recorded, on LRU caches of one set and more."""
    found = {
        (frame, size, sets): _rate(quick, frame, size, sets)
        for frame in (512, 256)
        for size in _RAMS
        for sets in _SETS
    }
    whole = found[512, 32, 1]
    assert whole is not None
    lowest = [
        size
        for size in _RAMS
        if found[512, size, 1]
        == min(rate for sets in _SETS if (rate := found[512, size, sets]) is not None)
    ]
    eight = found[512, 32, 8]
    assert eight is not None
    rows: list[list[Value]] = [
        [
            frame,
            size,
            *(
                "" if (rate := found[frame, size, sets]) is None else round(rate, 4)
                for sets in _SETS
            ),
        ]
        for frame in (512, 256)
        for size in _RAMS
    ]
    return Report(
        answers=[
            Answer(
                round(whole, 3),
                holds=near(whole, _PUBLISHED_RATE, percent=_RATE_PERCENT),
                tolerance=f"{_RATE_PERCENT} % either way: picture, decoder and size of a cache of "
                "the paper are lost to us",
                why="another decoder and another picture: rows of blocks, one behind the other",
                part="rate",
                claim="misses in 32 KB of frames of 512 B, fully associative",
            ),
            Answer(
                round(eight / whole, 2),
                holds=near(eight, whole, percent=_SETS_PERCENT),
                tolerance=f"{_SETS_PERCENT} % either way: the same rate on the axis",
                why="the decoder's few places at a time fall into different sets",
                part="sets",
                claim="32 KB in 8 sets over fully associative",
                published="about 1",
                unit="x",
            ),
            Answer(
                len(lowest),
                holds=len(lowest) == len(_RAMS),
                tolerance="a claim of order, at each amount of RAM",
                why="sets win where LRU gives away what a loop needs again",
                part="lowest",
                claim="amounts of RAM at which fully associative misses least",
                published=len(_RAMS),
                unit=f"of {len(_RAMS)}",
            ),
        ],
        columns=("frame B", "RAM KB", *("1 set" if n == 1 else f"{n} sets" for n in _SETS)),
        rows=rows,
        draw=lambda axes: _draw_sets([row for row in rows if row[0] == 512], axes),
    )


# T5 -----------------------------------------------------------------------------------------------

#: Hits that the paper reports, % of accesses.
_PUBLISHED_HITS = {"jpeg": 90, "gray": 99, "fft": 80, "huffman": 90, "red-black": 80}
_GUARDS: dict[str, dict[str, Any]] = {
    "16 buffers": figures.CALLS,
    "and 64 look-aside entries": {**figures.CALLS, "lookaside": 64},
}
_NOT_THEIRS = (
    "which accesses share a buffer there is lost to us (table 2), and theirs pin no page; here "
    "those do whose addresses have one base once the program is optimised; "
)


def _hits(program: str, quick: bool, guards: dict[str, Any]) -> tuple[int, float]:
    """Accesses, and how many of a hundred need no call."""
    vm = on_board.measured(program, quick, count=True, **guards)["vm"]
    return int(vm["accesses"]), 100 * (1 - vm["slot_misses"] / vm["accesses"])


def _draw_hits(rows: Sequence[Sequence[Value]], axes: "Axes") -> None:
    series: dict[str, list[float | None]] = {
        "published, more than": [_PUBLISHED_HITS[str(row[0])] for row in rows]
    }
    for place, name in enumerate(_GUARDS):
        series[name] = [float(row[2 + place]) for row in rows]
    plots.grouped(axes, [str(row[0]) for row in rows], series)
    axes.set_ylabel("hits, % of accesses")
    axes.set_ylim(0, 135)  # room for the legend
    axes.set_yticks(range(0, 101, 20))
    axes.legend(fontsize=7)


@experiment(
    "T5",
    claim="hits of last-cache buffers",
    published="80 to 99",
    unit="%",
    where="section 7.2.3, table 5",
    setup="published: a last-cache buffer for each lvalue base; 32 KB of caches of 512 B, 16 MB of "
    "virtual memory, LRU; hits of all accesses. Ours: " + on_board.SIZES + "; 32 KB of frames of "
    "512 B, 8 MB of virtual memory; " + on_board.CALLS + " (64 look-aside entries beside); each "
    "access counts, and hits where no guard goes the slow way for it",
)
def buffer_hits(quick: bool) -> Report:
    """Accesses whose guard finds the page in a buffer, of all that have one or share one."""
    rows: list[list[Value]] = []
    answers = []
    for program in on_board.PROGRAMS:
        published = _PUBLISHED_HITS[program]
        found = [_hits(program, quick, guards) for guards in _GUARDS.values()]
        alone, beside = (share for _, share in found)
        rows.append([program, found[0][0], round(alone, 2), round(beside, 2)])
        answers.append(
            Answer(
                round(alone, 2),
                verdict=NOT_JUDGED,
                why=_NOT_THEIRS + f"{beside:.2f} % with the 64 look-aside entries that boards have "
                "beside them; " + _OURS,
                part=program,
                claim=f"{program}: accesses that hit a last-cache buffer",
                published=f"> {published}",
            )
        )
    return Report(
        answers=answers,
        columns=("program", "accesses", *(f"hits %, {name}" for name in _GUARDS)),
        rows=rows,
        draw=lambda axes: _draw_hits(rows, axes),
    )
