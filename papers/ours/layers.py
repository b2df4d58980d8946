# SPDX-License-Identifier: Apache-2.0
"""layers: page and four models under the same workloads, each on the whole of the same chip.

Behind docs/models.md. The device is filled once in order before counting, so that every layer
has to clean; requests come back to back and no idle time is given.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, Answer, Report, Value, experiment
from nandwich import plots
from nandwich.replay import outcome
from nandwich.replay import play as replay
from nandwich.replay.options import Options

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LAYERS = ("page", "superblock", "fast", "log", "nftl")
_WORKLOADS = ("sequential", "sensorlog", "zipf", "hotcold", "tpc", "uniform")
_CHIP, _BLOCKS = "K9F1G08U0A", 256


def _one(layer: str, workload: str, requests: int) -> list[Value]:
    played = replay.prepare(
        Options(
            f"gen:{workload},requests={requests}",
            chip=_CHIP,
            ftl=layer,
            blocks=_BLOCKS,
            arrivals=False,
            precondition=1000,
            factory_bad=False,
        )
    )
    played.precondition(lambda _: None)
    played.run(lambda _: None)
    value = outcome.as_json(played)
    result, derived = value["result"], value["derived"]
    if any(not law["holds"] for law in value["laws"]):
        raise AssertionError(f"{layer} under {workload}: the books do not balance")
    return [
        workload,
        layer,
        value["device"]["sectors"],
        value["device"]["ram_bytes"],
        round(derived["write_amplification"], 3),
        round(derived["erases_per_1000_writes"], 2),
        round(result["writes"]["mean_ns"] / 1e6, 3),
        round(result["worst_call_ns"] / 1e6, 2),
        round(derived["energy_pj_per_host_byte"] / 1000, 2),
    ]


def _draw(rows: Sequence[Sequence[Value]], axes: "Axes") -> None:
    series = {layer: [float(row[4]) for row in rows if row[1] == layer] for layer in _LAYERS}
    plots.grouped(axes, list(_WORKLOADS), series, log=True)
    plots.plain_ticks(axes.yaxis, (1, 2, 5, 10, 20, 30))
    axes.set_ylabel("programs for a write")
    axes.legend(fontsize=7)


@experiment(
    "layers",
    claim="workloads under which page amplifies writes least of page and the models",
    unit="of 6",
    where="docs/models.md",
    setup="K9F1G08U0A of 256 blocks, each layer's default spare blocks, filled "
    "once in order, then 300,000 requests of each workload back to back, no idle time",
)
def layers(quick: bool) -> Report:
    """Write amplification, erases, times and energy of five layers under six workloads."""
    requests = 20_000 if quick else 300_000
    rows = [_one(layer, workload, requests) for workload in _WORKLOADS for layer in _LAYERS]
    least = [
        workload
        for workload in _WORKLOADS
        if min((row for row in rows if row[0] == workload), key=lambda row: float(row[4]))[1]
        == "page"
    ]
    return Report(
        answers=[
            Answer(
                len(least),
                verdict=NOT_JUDGED,
                why="no document says this; not under "
                + ", ".join(sorted(set(_WORKLOADS) - set(least))),
            )
        ],
        columns=(
            "workload",
            "layer",
            "sectors",
            "RAM B",
            "programs a write",
            "erases for 1000 writes",
            "mean write ms",
            "longest call ms",
            "nJ a host byte",
        ),
        rows=rows,
        draw=lambda axes: _draw(rows, axes),
    )
