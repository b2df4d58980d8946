# SPDX-License-Identifier: Apache-2.0
"""Timelines: what is recorded of a run, for a trace that ui.perfetto.dev opens."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nandwich import _native, quantities
from nandwich.errors import InputError, RunError, not_written

MOST = int(_native.TIMELINE_REQUESTS)  # requests of a window
LONGEST = int(_native.TIMELINE_LONGEST)
_THOUSANDS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_LIKE = "write it like 5000:15000 (requests, from 0) or 2s:3s (emulated time)"
_LAST = 2**64 - 1
#: What is shown where the window held nothing; True: of waves.
_OUTSIDE = {False: f"only the longest are shown, {LONGEST} at most", True: "no wave is shown"}


@dataclass(frozen=True)
class Window:
    """Requests that are shown whole: those from `first` up to `end`, by number or by ns."""

    first: int = 0
    end: int = 10_000
    by_time: bool = False


FIRST = Window()


def window(text: str) -> Window:
    """`5000:15000` or `2s:3s` read; InputError."""
    first, colon, end = text.partition(":")
    if not colon:
        raise InputError(f"--timeline-window {text}: {_LIKE}")
    numbers = [_number(part) for part in (first, end)]
    by_time = None in numbers
    try:
        low, high = (
            quantities.parse(part, "time") if by_time else number or 0
            for part, number in zip((first, end), numbers, strict=True)
        )
    except ValueError as error:
        raise InputError(f"--timeline-window {text}: {error}; {_LIKE}") from error
    if low >= high:
        raise InputError(f"--timeline-window {text}: nothing lies between; {_LIKE}")
    if high > _LAST:
        raise InputError(f"--timeline-window {text}: at most {_LAST}; {_LIKE}")
    if not by_time and high - low > MOST:
        raise InputError(f"--timeline-window {text}: at most {MOST} requests; {_LIKE}")
    return Window(low, high, by_time)


def _number(text: str) -> int | None:
    """A count like 5000 or 20K; None for what is none."""
    match = re.fullmatch(r"\s*([0-9]{1,20})([KMG]?)\s*", text)
    return int(match.group(1)) * _THOUSANDS[match.group(2)] if match else None


def begin(chosen: Window) -> _native.Timeline:
    """A recorder, for one device."""
    return _native.Timeline(chosen.first, chosen.end, chosen.by_time)


def save(
    timeline: _native.Timeline, path: Path, title: str, chip: str, flows: Sequence[str] = ()
) -> str:
    """Writes the trace, of requests with deadlines if there are flows; what it holds, in lines.
    RunError, InputError."""
    try:
        if flows:
            timeline.write_flows(str(path), title, chip, flows)
        else:
            timeline.write(str(path), title, chip)
    except OSError as error:
        raise not_written(f"cannot write {path}: {error.strerror}", error) from error
    except MemoryError as error:
        raise RunError(f"{path}: this host has no memory left for the timeline") from error
    return told(path, timeline.counts())


def is_waves(path: str) -> bool:
    """Does a file get the waves of the chip's bus, by its name?"""
    return path.endswith(".vcd")


def told(path: Path, counts: Mapping[str, int]) -> str:
    """What a trace holds, and what there was no room for, in lines."""
    size = quantities.format_size(counts["bytes"])
    waves = is_waves(str(path))
    viewer = "GTKWave" if waves else "https://ui.perfetto.dev"
    lines = [
        f"{path}: {counts['shown']} of {counts['requests']} requests, {size}; open it in {viewer}"
    ]
    if not counts["requests"]:
        lines.append(f"{path}: empty: nothing was asked of the device")
    elif not counts["inside"]:
        lines.append(f"{path}: no request lies in the --timeline-window: {_OUTSIDE[waves]}")
    if counts["left_out"]:
        lines.append(
            f"{path}: {counts['left_out']} requests of the window left out: {MOST} are the most"
        )
    if counts["cut"]:
        lines.append(
            f"{path}: {counts['cut']} chip operations left out, to keep it below "
            f"{_native.TIMELINE_BYTES // 1_000_000} MB; a shorter --timeline-window shows more"
        )
    return "\n".join(lines)
