# SPDX-License-Identifier: Apache-2.0
"""F14 and F15: energy of a duty cycle against Intel Mote 2, and of a picture against radioing it
(Lin et al. 2013, section 7.6).

Of the paper's currents only those asleep survived in our copy, its formula and the sizes and times
of its pictures did not: docs/energy.md tells how we read them, and each current has its source in
the table of platforms and in on_board.py. The programs run as firmware on the emulated Cortex-M3
with a serial NAND, where the paper's node has a parallel one.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.experiments import Answer, Report, Value, experiment, meets, span
from nandwich.energy import model
from nandwich.energy.model import BreakEven
from nandwich.errors import RunError
from nandwich.twin import platforms
from papers.fatvm import on_board, traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MINUTE_NS = 60 * 10**9
_PUBLISHED_MINUTES = (5, 20)
_PUBLISHED_TIMES = 3
_PUBLISHED_SENT = (2.0, 4.0)
_RULE = "holds where the two ranges meet, a published digit standing for half a one either way; "
_VM = 8 << 20

#: Width, height and quality of a JPEG: about 8, 32 and 128 KB. Quick runs leave the last one out.
_PICTURES = ((176, 206, 75), (368, 432, 80), (736, 862, 88))
_RADIOS = ("CC1000", "CC2420")

_WHERE = "programs and their sizes are ours, the NAND is a serial one"


def _run(program: str, quick: bool) -> on_board.Run:
    with on_board.invocation(program, quick) as (source, arguments):
        return on_board.run(source, arguments, _VM)


def _digit(value: float) -> tuple[float, float]:
    """What a figure published with one digit may have been."""
    return value - 0.5, value + 0.5


# F14 ----------------------------------------------------------------------------------------------


def _minutes(even: BreakEven, shortest_ns: int) -> float:
    """Minutes from which on the first of two takes less: no cycle is shorter than its work."""
    if even.cheaper == "always":
        return float(shortest_ns) / _MINUTE_NS
    if even.cheaper != "above" or even.cycle_ns is None:
        raise RunError(f"a node that is cheaper {even.cheaper} was not foreseen")
    return float(even.cycle_ns) / _MINUTE_NS


def _against_mote(run: on_board.Run, cycles: float) -> tuple[float, float, float]:
    """Seconds awake, break-even in minutes, and how many times more the mote takes at an hour."""
    ours, mote = on_board.node("STM32F103ZE"), on_board.node("IMOTE2")
    job = run.job(cycles)
    here = model.here(ours, on_board.STORAGE, job)
    there = model.there(mote, model.other_time_ns(job, ours, mote))
    hour = 60 * _MINUTE_NS
    shortest = max(here.shortest_ns, there.shortest_ns)
    ratio = float(there.energy_pj(hour) / here.energy_pj(hour))
    return job.awake_ns / 1e9, _minutes(model.break_even(here, there), shortest), ratio


def _draw_cycles(rows: Sequence[Sequence[Value]], axes: "Axes") -> None:
    """A line a program from the band's lower to its upper end, over the published range."""
    axes.axvspan(*_PUBLISHED_MINUTES, color="#dddddd", label="published")
    for place, row in enumerate(rows):
        low, high = float(row[5]), float(row[6])
        axes.plot((low, high), (place, place), color="C0", linewidth=2, linestyle="-", marker="|")
    axes.set_yticks(range(len(rows)), [str(row[0]) for row in rows])
    axes.set_xscale("log")
    shortest = min(float(row[5]) for row in rows)
    decades = (0.01, 0.1, 1, 10)
    ticks = [
        tick * times for tick in decades for times in (1, 2, 5) if tick * times > shortest / 5
    ] + [100]
    axes.set_xlim(ticks[0], ticks[-1])
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("break-even with Intel Mote 2, minutes of duty cycle")
    axes.legend(fontsize=7)


@experiment(
    "F14",
    claim="a duty cycle against Intel Mote 2",
    published="5 to 20",
    unit="min",
)
def duty_cycle(quick: bool) -> Report:
    """One run a duty cycle, the band of cycles an instruction as a range."""
    rows: list[Sequence[Value]] = []
    answers = []
    for program in traffic.PROGRAMS:
        run = _run(program, quick)
        (least, first, most_times), (most, last, least_times) = (
            _against_mote(run, cycles) for cycles in on_board.BAND
        )
        shown = (least, most, first, last, least_times, most_times)
        rows.append([program, run.native, run.instructions, *(round(one, 2) for one in shown)])
        answers += [
            Answer(
                span(first, last),
                holds=meets((first, last), _PUBLISHED_MINUTES),
                why=_RULE
                + f"{run.instructions / run.native:.1f} times the native instructions and "
                f"{run.storage_ns / 1e9:.1f} s of storage; " + _WHERE,
                part=program,
                claim=f"{program}: duty cycle from which our node takes less than Intel Mote 2",
            ),
            Answer(
                span(least_times, most_times),
                holds=meets((least_times, most_times), _digit(_PUBLISHED_TIMES)),
                why=_RULE + "the longer a job, the less is won back asleep; " + _WHERE,
                part=f"{program}-hour",
                claim=f"{program}: times less energy than Intel Mote 2 at an hour",
                published=_PUBLISHED_TIMES,
                unit="x",
            ),
        ]
    return Report(
        answers=answers,
        columns=(
            "program",
            "instructions natively",
            "in virtual memory",
            "awake s, least",
            "awake s, most",
            "break-even min, least",
            "break-even min, most",
            "times less at 1 h, least",
            "times less at 1 h, most",
        ),
        rows=rows,
        draw=lambda axes: _draw_cycles(rows, axes),
    )


# F15 ----------------------------------------------------------------------------------------------


def _radios() -> dict[str, model.Radio]:
    keys = ("send.byte_energy", "receive.byte_energy")
    return {
        name: model.Radio(name, *(platforms.number(name, key) for key in keys)) for name in _RADIOS
    }


def _pictures(quick: bool) -> list[tuple[str, int, on_board.Run]]:
    source = traffic.PROGRAMS["jpeg"][0]
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shape in _PICTURES[: 2 if quick else 3]:
            picture = on_board.picture(folder, *shape)
            outputs = (str(folder / "out.bmp"), str(folder / "gray.bmp"))
            run = on_board.run(source, (str(picture), *outputs), _VM)
            found.append((f"{shape[0]} x {shape[1]}", picture.stat().st_size, run))
    return found


def _draw_pictures(rows: Sequence[Sequence[Value]], axes: "Axes") -> None:
    """Times that sending takes more, a line a radio and end of the band."""
    for radio in _RADIOS:
        chosen = [row for row in rows if row[2] == radio]
        sizes = [float(row[1]) / 1024 for row in chosen]
        for column, end in ((6, "least"), (7, "most")):
            times = [float(row[column]) for row in chosen]
            axes.plot(sizes, times, label=f"{radio}, {end}")
    axes.axhspan(*_PUBLISHED_SENT, color="#dddddd", label="published, > 4 for the smallest")
    axes.axhline(1, linestyle=":", color="black", label="the same")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("JPEG, KB")
    axes.set_ylabel("energy sent and received / processed")
    axes.legend(fontsize=7)


@experiment(
    "F15",
    claim="a picture processed against radioed",
    published="2 to 4",
    unit="x",
)
def radioing(quick: bool) -> Report:
    """JPEG to bitmap to gray on the node; one hop counts sending and receiving, sleep nothing."""
    node, radios = on_board.node("STM32F103ZE"), _radios()
    rows: list[Sequence[Value]] = []
    for name, size, run in _pictures(quick):
        spent = [
            float(model.job_pj(node, on_board.STORAGE, run.job(cycles))) / 1e9
            for cycles in on_board.BAND
        ]
        for radio in radios.values():
            sent = model.hop_pj(radio) * size / 1e9
            alone = model.hop_pj(radio, receiving=False) * size / 1e9
            times = [sent / end for end in spent]
            rows.append(
                [
                    name,
                    size,
                    radio.name,
                    round(min(spent), 1),
                    round(max(spent), 1),
                    round(sent, 1),
                    round(min(times), 2),
                    round(max(times), 2),
                    round(min(alone / end for end in spent), 2),
                ]
            )
    answers = []
    sizes = sorted({int(row[1]) for row in rows})
    for _, length, radio_name, least, _, _, low, high, _ in rows:
        size = int(length)
        text, published = {
            sizes[0]: ("> 4", (4.0, None)),
            sizes[-1]: ("2", _digit(2)),
        }.get(size, ("2 to 4", _PUBLISHED_SENT))
        answers.append(
            Answer(
                span(float(low), float(high)),
                holds=meets((float(low), float(high)), published),
                why=_RULE + f"a byte of the picture takes {float(least) * 1000 / size:.0f} uJ and "
                f"more here, {model.hop_pj(radios[str(radio_name)]) / 1e6:g} uJ sent and received; "
                + _WHERE,
                part=f"{radio_name}-{size / 1024:.0f}K",
                claim=f"times that radioing takes more: JPEG of {size} B, {radio_name}",
                published=text,
            )
        )
    return Report(
        answers=answers,
        columns=(
            "picture",
            "JPEG bytes",
            "radio",
            "processed mJ, least",
            "processed mJ, most",
            "sent and received mJ",
            "times, least",
            "times, most",
            "sending alone, least",
        ),
        rows=rows,
        draw=lambda axes: _draw_pictures(rows, axes),
    )
