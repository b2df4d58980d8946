# SPDX-License-Identifier: Apache-2.0
"""F1 and T1: time of a flash operation by its bytes, and energy of a byte (Lin et al. 2013, section
2.2), from the table of parts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, NOT_REACHABLE, Answer, Report, Value, experiment
from nandwich import plots
from nandwich.twin import parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# F1 -----------------------------------------------------------------------------------------------

_CHIP = "K9F1G08U0A"
_SIZES = (16, 64, 128, 256, 512, 1024, 2048)
#: Two commands and five bytes of address go over the bus, too.
_COMMAND_BYTES = 7
#: Nanoseconds a byte: the part's least, and the least that goes with figure 1 (node_nand.toml).
_NODE_BYTE_NS = 100
_OPERATIONS = ("read", "program")


def chip(part: str) -> dict[str, int]:
    """A part's figures by their keys: times in ns, of a byte in ps, energies in pJ."""
    return {one.field.key: one.number or 0 for one in parts.figures(part)}


def bus_us(size: int, byte_ns: float) -> float:
    """Command, address and data of one operation."""
    return (_COMMAND_BYTES + size) * byte_ns / 1000


def smallest(array_us: float, byte_ns: float) -> float:
    """Bytes from which on the bus takes longer than the array."""
    return array_us * 1000 / byte_ns - _COMMAND_BYTES


def _times(facts: dict[str, int]) -> tuple[list[list[Value]], dict[str, float]]:
    array = {kind: facts[f"{kind}.time"] / 1000 for kind in _OPERATIONS}
    rows: list[list[Value]] = []
    for byte_ns in (facts["read.byte_time"] / 1000, _NODE_BYTE_NS):
        for size in _SIZES:
            bus = bus_us(size, byte_ns)
            shares = [bus / (bus + array[kind]) for kind in _OPERATIONS]
            rows.append(
                [
                    byte_ns,
                    size,
                    round(bus, 1),
                    *(round(bus + array[kind], 1) for kind in _OPERATIONS),
                    *(round(100 * share, 1) for share in shares),
                ]
            )
    return rows, array


def time_answers(facts: dict[str, int]) -> list[Answer]:
    """Figure 1, by a part's figures."""
    rows, array = _times(facts)
    byte_ns, page = facts["read.byte_time"] / 1000, facts["page_bytes"]
    full = next(row for row in rows if row[:2] == [byte_ns, page])
    from_bytes = {kind: smallest(array[kind], byte_ns) for kind in _OPERATIONS}
    needed = {kind: array[kind] * 1000 / (page + _COMMAND_BYTES) for kind in _OPERATIONS}
    answers = [
        Answer(
            full[5 + place],
            verdict=NOT_JUDGED,
            why=f"at the part's {byte_ns:g} ns a byte the bus takes longer than the array's "
            f"{array[kind]:g} us from {from_bytes[kind]:.0f} B on; a whole page does from "
            f"{needed[kind]:.0f} ns a byte on. The speed of the document's bus is not told",
            part=f"bus-{kind}",
            claim=f"{kind}: command and transfer are the larger part, a whole page",
            published="> 50",
            unit="% of the time",
        )
        for place, kind in enumerate(_OPERATIONS)
    ]
    lead = array["program"] - array["read"]
    answers.append(
        Answer(
            round(lead, 1),
            holds=lead <= 0,
            verdict=NOT_REACHABLE if lead > 0 else "",
            why="by the part's figures the array reads faster than it programs, and the bus takes "
            "both ways the same: a read of as many bytes is faster at any speed of the bus, unless "
            "nobody waits for the end of a program",
            part="order",
            claim="reads are not always faster than writes: a program less a read of as many bytes",
            published="<= 0 for some",
            unit="us",
            tolerance="" if lead > 0 else "a claim of order; the part is the document's",
        )
    )
    return answers


def _draw_times(axes: "Axes", rows: Sequence[Sequence[Value]]) -> None:
    for byte_ns in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == byte_ns]
        for place, kind in enumerate(_OPERATIONS):
            axes.plot(
                [float(row[1]) for row in mine],
                [float(row[3 + place]) for row in mine],
                label=f"{kind}, {byte_ns:g} ns a byte",
            )
    axes.set_xlabel("bytes of an operation")
    axes.set_ylabel("us")
    axes.set_ylim(0, None)
    axes.legend(fontsize=7)


@experiment(
    "F1",
    claim="time of an operation on a NAND page by its bytes",
    published="shape",
    unit="",
    judges_quick=True,
    where="section 2.2, figure 1",
    setup="published: K9F1G08X0A on the node, 16,000 reads and writes of each size; the time grows "
    "with the size, command and transfer are the larger part, reads not always faster. Ours: "
    f"{_CHIP} by the table of parts, 16 to 2,048 B and {_COMMAND_BYTES} bytes of command and "
    f"address; the bus at the part's speed, and at {_NODE_BYTE_NS} ns a byte, the slowness of "
    "node_nand.toml, which was chosen by this figure and so judges nothing",
)
def page_time(quick: bool) -> Report:  # noqa: ARG001 - as quick as it can be
    """The array's time and the bus's."""
    facts = chip(_CHIP)
    rows, _ = _times(facts)
    return Report(
        time_answers(facts),
        columns=(
            "bus ns/B",
            "bytes",
            "bus us",
            "read us",
            "program us",
            "bus of a read, %",
            "bus of a program, %",
        ),
        rows=rows,
        draw=lambda axes: _draw_times(axes, rows),
    )


# T1 -----------------------------------------------------------------------------------------------

#: Of the table's source (Mathur et al., IPSN 2006), as its authors' slides have it: uJ a byte read,
#: written and erased.
_PUBLISHED = {"NOR": (0.26, 4.3, 2.36), "NAND": (0.004, 0.009, 0.004)}
#: Ours: what a kind is by its data sheet, and as measured with a node's processor and bus.
_ALONE = {"NOR": "AT45DB041B", "NAND": "K9F1G08U0A"}
_WITH_NODE = {"NOR": "AT45DB041B", "NAND": "TC58DVG02A1FT00"}
_VERBS = {"read": "read", "written": "program", "erased": "erase"}


def energy_uj(facts: dict[str, int], verb: str, *, node: bool = False) -> float:
    """Energy a byte of one operation on a whole page, or on a block to erase."""
    kind = f"{'node.' if node else ''}{_VERBS[verb]}"
    size = facts["page_bytes"]
    if verb == "erased":
        return facts[f"{kind}.energy"] / (size * facts["block_pages"]) / 1e6
    return (facts[f"{kind}.energy"] / size + facts[f"{kind}.byte_energy"]) / 1e6


def _energies() -> dict[str, dict[str, list[float]]]:
    """By source and kind: a byte read, written and erased."""
    return {
        "published": {kind: list(of) for kind, of in _PUBLISHED.items()},
        "data sheets": {
            kind: [energy_uj(chip(part), verb) for verb in _VERBS] for kind, part in _ALONE.items()
        },
        "with a node": {
            kind: [energy_uj(chip(part), verb, node=True) for verb in _VERBS]
            for kind, part in _WITH_NODE.items()
        },
    }


def energy_answers(energies: dict[str, dict[str, list[float]]]) -> list[Answer]:
    """Table 1: how many times the energy of a byte of NAND one of NOR takes."""
    answers = []
    for place, verb in enumerate(_VERBS):
        times = {name: of["NOR"][place] / of["NAND"][place] for name, of in energies.items()}
        published = times.pop("published")
        told = "; ".join(
            f"{name} {of['NOR'][place]:.2g} and {of['NAND'][place]:.2g}"
            for name, of in energies.items()
        )
        answers.append(
            Answer(
                f"{min(times.values()):.1f} to {max(times.values()):.0f}",
                holds=min(times.values()) > 1,
                why=f"uJ a byte of NOR and NAND: {told}. The slides come to {published:.0f} x",
                part=verb,
                claim=f"a byte {verb} takes less of parallel NAND than of NOR: NOR over NAND",
                tolerance="a claim of order, by data sheets and with a node: how much of bus and "
                "processor the source counts is not told",
            )
        )
    return answers


def _draw_energies(axes: "Axes", energies: dict[str, dict[str, list[float]]]) -> None:
    series: dict[str, list[float | None]] = {
        f"{kind}, {name}": list(values)
        for name, of in energies.items()
        for kind, values in of.items()
    }
    plots.grouped(axes, list(_VERBS), series, log=True)
    axes.set_ylabel("uJ a byte")
    axes.legend(fontsize=6)


@experiment(
    "T1",
    claim="energy a byte of kinds of flash",
    published="> 1",
    unit="x",
    judges_quick=True,
    where="section 2.2, table 1",
    setup="published: from Mathur et al., IPSN 2006; the table is lost in our copy, so the figures "
    "are those of that source's authors' slides: NOR of a Mica2, parallel NAND. Ours, by the table "
    "of parts: AT45DB041B, the Mica2's flash, and K9F1G08U0A, the NAND of figure 1, by data sheet; "
    "beside them AT45DB041B and TC58DVG02A1FT00 as measured with a node's processor. Whole pages, "
    "blocks to erase. The NOR of a TelosB, which the source has too, is not in our table of parts",
)
def energy_a_byte(quick: bool) -> Report:  # noqa: ARG001 - as quick as it can be
    """A page read and programmed, a block erased."""
    energies = _energies()
    return Report(
        energy_answers(energies),
        columns=("figures", "kind", *(f"{verb}, uJ/B" for verb in _VERBS)),
        rows=[
            [name, kind, *(round(value, 5) for value in values)]
            for name, of in energies.items()
            for kind, values in of.items()
        ],
        draw=lambda axes: _draw_energies(axes, energies),
    )
