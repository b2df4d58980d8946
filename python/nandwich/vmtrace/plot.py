# SPDX-License-Identifier: Apache-2.0
"""Miss curves as an SVG picture, without a plotting library: a package of users has none."""

import math
from collections.abc import Sequence
from html import escape

from nandwich import quantities
from nandwich.vmtrace.play import Played

_COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8d5a97", "#c98a1b", "#5c6b73")
_DASHES = ("", "6 3", "2 2")
_WIDE, _HIGH = 420, 260  # of one panel's axes
_LEFT, _TOP, _BELOW, _LEGEND = 70, 36, 44, 130


def _scale(values: Sequence[float], length: float) -> tuple[float, float]:
    """Offset and factor that put the logarithms of the values on a length."""
    low, high = math.log(min(values)), math.log(max(values))
    return low, length / (high - low if high > low else 1)


class _Panel:
    def __init__(self, played: Played, left: int) -> None:
        self.played = played
        self.left = left
        self.rams = sorted({one.ram for one in played.outcomes})
        self.counts = sorted({max(one.faults, 1) for one in played.outcomes})

    def _x(self, ram: int) -> float:
        low, factor = _scale(self.rams, _WIDE)
        return self.left + (math.log(ram) - low) * factor

    def _y(self, faults: int) -> float:
        low, factor = _scale(self.counts, _HIGH)
        return _TOP + _HIGH - (math.log(max(faults, 1)) - low) * factor

    def _text(self, x: float, y: float, text: str, anchor: str = "middle") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'

    def axes(self) -> list[str]:
        frame = quantities.format_size(self.played.frame)
        found = [self._text(self.left, _TOP - 14, f"faults, frames of {frame}", "start")]
        for ram in self.rams:
            x = self._x(ram)
            found.append(f'<path class="g" d="M{x:.1f} {_TOP}v{_HIGH}"/>')
            found.append(self._text(x, _TOP + _HIGH + 18, quantities.format_size(ram)))
        for faults in self._ticks():
            y = self._y(faults)
            found.append(f'<path class="g" d="M{self.left} {y:.1f}h{_WIDE}"/>')
            found.append(self._text(self.left - 6, y + 4, f"{faults:,}", "end"))
        return found

    def _ticks(self) -> list[int]:
        low, high = self.counts[0], self.counts[-1]
        inside = [
            step * 10**power
            for power in range(len(str(high)))
            for step in (1, 2, 5)
            if low < step * 10**power < high
        ]
        return [low, *inside, high] if len(inside) < 2 else inside

    def lines(self, policies: Sequence[str]) -> list[str]:
        found = []
        for number, policy in enumerate(policies):
            points = " ".join(
                f"{self._x(one.ram):.1f},{self._y(one.faults):.1f}"
                for one in self.played.outcomes
                if one.policy == policy
            )
            found.append(f'<polyline points="{points}" {_style(number)}/>')
        return found


def _style(number: int) -> str:
    dash = _DASHES[number // len(_COLOURS) % len(_DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{_COLOURS[number % len(_COLOURS)]}"{dashed}'


def svg(all_played: Sequence[Played], title: str) -> bytes:
    """A panel for each size of frames, side by side; both axes logarithmic."""
    policies = list(dict.fromkeys(one.policy for part in all_played for one in part.outcomes))
    step = _LEFT + _WIDE + 20
    width = step * len(all_played) + _LEGEND
    height = max(_TOP + _HIGH + _BELOW, 60 + 16 * len(policies))
    found = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11" fill="#222222">',
        "<style>path.g{stroke:#dddddd}polyline{fill:none;stroke-width:1.6}</style>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f"<title>{escape(title)}</title>",
    ]
    for number, played in enumerate(all_played):
        panel = _Panel(played, step * number + _LEFT)
        found += panel.axes() + panel.lines(policies)
    at = step * len(all_played)
    for number, policy in enumerate(policies):
        y = _TOP + 16 * number
        found.append(f'<polyline points="{at},{y} {at + 26},{y}" {_style(number)}/>')
        found.append(f'<text x="{at + 32}" y="{y + 4}">{escape(policy)}</text>')
    return ("\n".join([*found, "</svg>"]) + "\n").encode()
