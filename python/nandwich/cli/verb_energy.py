# SPDX-License-Identifier: Apache-2.0
"""`nandwich energy`: what a node takes from its battery, beside other ways to do its job."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nandwich import quantities
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import TIME, json_option, picture
from nandwich.energy import model, node, report
from nandwich.energy.node import Given
from nandwich.energy.report import Way
from nandwich.errors import InputError, RunError, not_written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNITS = (("d", 86_400 * 10**9), ("h", 3600 * 10**9), ("min", 60 * 10**9), ("s", 10**9))
_LONG = (("y", model.YEAR_NS), *_UNITS)


def _time(time_ns: float) -> str:
    """A time for people who count in minutes and years: three digits."""
    for unit, factor in _LONG:
        if time_ns >= factor:
            return f"{time_ns / factor:.3g} {unit}"
    return quantities.format_time(round(time_ns))


def _length(cycle_ns: int) -> str:
    """The length of a cycle, exactly where it is a whole number of some unit."""
    for unit, factor in _UNITS:
        if cycle_ns % factor == 0:
            return f"{cycle_ns // factor} {unit}"
    return quantities.format_time(cycle_ns)


def _verdict(way: Way) -> str:
    even = way.break_even
    if even is None:
        return ""
    if even.cycle_ns is None:
        return even.cheaper
    return f"{'from' if even.cheaper == 'above' else 'up to'} {_time(float(even.cycle_ns))}"


def _print_ways(given: Given, shown_ns: Sequence[int]) -> None:
    ways = report.ways(given)
    here = ways[0].line
    rows = []
    for cycle in shown_ns:
        row: list[object] = [_length(cycle)]
        for way in ways:
            energy = way.line.energy_pj(cycle)
            times = "" if way.line is here else f" ({float(energy / here.energy_pj(cycle)):.2f}x)"
            row.append(quantities.format_energy(round(energy)) + times)
        rows.append(row)
    output.print_table(("a cycle of", *(way.name for way in ways)), rows)
    facts: list[tuple[object, ...]] = []
    if len(ways) > 1:
        facts.append(("here is cheaper", *map(_verdict, ways)))
    if given.battery is not None:
        lives = (report.lives_ns(given, way) for way in ways)
        shown = ("for ever" if life is None else _time(float(life)) for life in lives)
        facts.append((f"battery at {_length(given.every_ns)}", *shown))
    if facts:
        click.echo("")
        output.print_table(("", *(way.name for way in ways)), facts)


def _print_sending(given: Given) -> None:
    found = report.sendings(given)
    if not found:
        return
    click.echo("")
    rows = [
        (
            one.radio,
            one.hops,
            quantities.format_energy(round(one.here_pj)),
            quantities.format_energy(round(one.raw_pj)),
            quantities.format_energy(round(one.raw_sent_pj)),
            "" if one.ratio is None else f"{one.ratio:.2f}x",
            "" if one.bytes_even is None else quantities.format_size(round(one.bytes_even)),
        )
        for one in found
    ]
    heads = ("radio", "hops", "job here", "raw", "sending alone", "raw takes", "even at")
    output.print_table(heads, rows)


def _draw(given: Given, axes: "Axes") -> None:
    """Mean power over the length of the cycle."""
    ways = report.ways(given)
    first = max(1, *(way.line.shortest_ns for way in ways))
    lengths = [first * 10 ** (step / 20) for step in range(81)]
    mark: str | None = "break-even with here"
    for way in ways:
        power = [float(way.line.energy_pj(round(length))) / length for length in lengths]
        axes.plot([length / 60e9 for length in lengths], power, label=way.name, markevery=10)
        even = way.break_even
        if even is not None and even.cycle_ns is not None:
            axes.axvline(float(even.cycle_ns) / 60e9, linestyle=":", color="#888888", label=mark)
            mark = None  # one line of the legend serves them all
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("duty cycle, minutes")
    axes.set_ylabel("mean power, mW")
    axes.legend(fontsize=7)


def _plot(given: Given, target: Path) -> None:
    try:
        from nandwich import plots

        plots.write_svg(
            target, lambda axes: _draw(given, axes), title=f"{given.name}: power of a duty cycle"
        )
    except ModuleNotFoundError as error:
        raise RunError("--plot needs matplotlib: pip install 'nandwich[plot]'") from error
    except OSError as error:
        raise not_written(f"cannot write {target}: {error.strerror}", error) from error


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="NODE.toml")
@click.option(
    "--cycle",
    "cycles_ns",
    multiple=True,
    type=TIME,
    help="Length of the duty cycle to show, say '20 min'; several times for several.  "
    "[default: 1 min to 1 d, and the file's]",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=picture,
    help="Draw mean power over the duty cycle (SVG; needs the extra 'plot').",
)
@json_option
def command(
    file: Path, cycles_ns: tuple[int, ...], plot: Path | None, json_target: str | None
) -> None:
    """Energy of a node that does its job in each duty cycle and sleeps, beside a node with more RAM
    and beside sending its raw data; break-evens and battery life.

    \b
    Examples:
      nandwich energy examples/nodes/camera.toml
      nandwich energy node.toml --cycle '30 min' --cycle '2 h' --plot node.svg
      nandwich energy node.toml --json -
    """
    output.check_apart((file,), (plot, json_target))
    given = node.read(file)
    output.check_apart(given.inputs, (plot, json_target))
    shown_ns = report.cycles(given, cycles_ns)
    if 0 in cycles_ns or not shown_ns:
        least = quantities.format_time(report.shortest_ns(given))
        raise InputError(f"--cycle: somebody is awake for {least} of each, so none is shorter")
    for cycle in sorted(set(cycles_ns) - set(shown_ns)):
        output.talk(f"a cycle of {_length(cycle)} is shorter than somebody is awake: left out")
    if plot is not None:
        _plot(given, plot)
    if json_target is not None:
        payload = report.payload(given, shown_ns)
        output.write_json(json_target, output.document("energy", 1, payload, inputs=given.inputs))
    if json_target != "-":
        rows = [(one.key, one.text, one.source) for one in given.figures]
        output.print_table(("figure", "value", "source"), rows)
        click.echo("")
        _print_ways(given, shown_ns)
        _print_sending(given)
