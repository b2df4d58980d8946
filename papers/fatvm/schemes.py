# SPDX-License-Identifier: Apache-2.0
"""F11: what to do about frames smaller than a flash page, against the RAM for frames (Lin et al.
2013, section 5 and figure 11)."""

from typing import TYPE_CHECKING

from lab.experiments import Answer, Report, experiment
from papers.fatvm import traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZES_KB = (8, 12, 16, 20, 24, 32, 48, 64)
_QUICK_KB = (8, 16, 32)
#: Name: scheme and frame size.
_WAYS = {
    "multi-cache": ("multi-cache", 512),
    "sector-shrink": ("sector-shrink", 512),
    "frame = sector": ("direct", 2048),
}


def _storage(quick: bool, way: str, kilobytes: int) -> float | None:
    """Chip time of one JPEG, ms; None where so little RAM holds no frame beside the slots."""
    scheme, frame = _WAYS[way]
    slots = min(8, kilobytes * 1024 // frame - 4)  # beside two pins and two frames to work with
    if slots < 1:
        return None
    recording = traffic.record(
        "jpeg", quick, ram=kilobytes << 10, frame=frame, scheme=scheme, slots=slots
    )
    return recording.storage_ms


def _crossing(times: dict[str, dict[int, float | None]]) -> int | None:
    """The least RAM from which on multi-cache is never slower than sector-shrink, KB."""
    found = None
    for size in sorted(times["multi-cache"], reverse=True):
        multi, shrink = times["multi-cache"][size], times["sector-shrink"][size]
        if multi is None or shrink is None or multi > shrink:
            break
        found = size
    return found


def _draw(times: dict[str, dict[int, float | None]], axes: "Axes") -> None:
    for way, line in times.items():
        points = [(size, value) for size, value in line.items() if value is not None]
        axes.plot([size for size, _ in points], [value for _, value in points], label=way)
    axes.set_xlabel("RAM for frames, KB")
    axes.set_ylabel("chip time of one JPEG, ms")
    axes.set_yscale("log")
    axes.legend()


@experiment(
    "F11",
    claim="multi-cache and sector-shrink cross at 16 KB of frames",
    published=16,
    unit="KB",
)
def schemes(quick: bool) -> Report:
    """One JPEG, lavish below, for each scheme and amount of RAM."""
    sizes = _QUICK_KB if quick else _SIZES_KB
    times = {way: {size: _storage(quick, way, size) for size in sizes} for way in _WAYS}
    crossing = _crossing(times)
    multi, direct = times["multi-cache"][32], times["frame = sector"][32]
    assert multi is not None
    assert direct is not None
    return Report(
        answers=[
            Answer(
                "never" if crossing is None else crossing,
                holds=crossing == 16,
                why="the sector buffer of multi-cache mirrors the last sector moved, so that a "
                "neighbouring page is not read again: it wins with less RAM than the paper's",
                part="crossing",
            ),
            Answer(
                round(multi),
                holds=500 <= multi <= 2000,
                why="another picture and decoder",
                part="time",
                claim="JPEG with 32 KB of frames, multi-cache: chip time",
                published=1000,
                unit="ms",
            ),
            Answer(
                round(direct / multi, 2),
                holds=direct / multi >= 16,
                why="our decoder (stb_image) walks the picture in rows of blocks: few places at a "
                "time, which 16 frames of a sector hold nearly as well as 64 small ones",
                part="gain",
                claim="small frames against frame = sector, 32 KB",
                published=16,
                unit="x",
            ),
        ],
        columns=("RAM KB", *_WAYS),
        rows=[
            [
                size,
                *(
                    ("" if (value := times[way][size]) is None else round(value, 1))
                    for way in _WAYS
                ),
            ]
            for size in sizes
        ],
        draw=lambda axes: _draw(times, axes),
    )
