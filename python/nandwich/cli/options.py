# SPDX-License-Identifier: Apache-2.0
"""Options and parameter types the verbs share."""

import errno
import importlib.util
import math
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from nandwich import files, quantities
from nandwich.errors import InputError, RunError, not_written
from nandwich.twin import timelines

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])
_Target = TypeVar("_Target", str, Path, None)


class Quantity(click.ParamType[int]):
    """A number with a unit (see `nandwich.quantities`); bare numbers count in the base unit, or are
    refused. `most` 0: as much as anybody likes."""

    def __init__(self, kind: quantities.Kind, most: int = 0, *, bare: bool = True) -> None:
        self.kind: quantities.Kind = kind
        self._bare = bare
        self.name = kind
        self._most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            found = quantities.parse(str(value), self.kind, bare=self._bare)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if 0 < self._most < found:
            self.fail(f"{value!r}: at most {self._most}", param, ctx)
        return found


class Unit(click.ParamType[int | str]):
    """A device of a trace, or the unit of a csv's times."""

    name = "device|unit"
    _device = click.IntRange(0, 2**64 - 2)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        if value in ("ns", "us", "ms", "s"):
            return str(value)
        try:
            return int(self._device.convert(value, param, ctx))
        except click.BadParameter:
            self.fail(
                f"{value!r} is neither the number of a device nor ns, us, ms or s", param, ctx
            )


class Number(click.FloatRange):
    """A number in a range. Python reads "nan" too, which lies in every range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no number.", param, ctx)
        return number


class Address(click.ParamType[int]):
    """An address, as C writes it: 0x60000000."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            address = int(str(value), 0)
        except ValueError:
            address = -1
        if not 0 <= address < 1 << 32:
            self.fail(f"{value!r} is no address below 4 GB, say 0x60000000.", param, ctx)
        return address


class Count(click.ParamType[int]):
    """A count like 5000, 200K or 1.5M, not below the least."""

    name = "count"

    def __init__(self, least: int) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = value if isinstance(value, int) else quantities.count(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if number < self._least:
            self.fail(f"{value!r} is too few: {self._least} at least", param, ctx)
        return int(number)


#: `type=ADDRESS` makes an option take "0x60000000".
ADDRESS = Address()
#: `type=SIZE` makes an option take "32K", "8M", "16 MiB" or plain bytes.
SIZE = Quantity("size")
#: `type=TIME` makes an option take "45 ms"; the value is in ns.
TIME = Quantity("time")


def check_output(target: str | Path) -> None:
    """Refuse a file that could not be written, before work is done for it: `not_written`."""
    try:
        if str(target).endswith("/"):
            raise OSError(errno.EISDIR, "it is the name of a folder")
        files.check(Path(target))
    except OSError as error:
        raise not_written(f"cannot write {target}: {error.strerror}", error) from error


def writable(_ctx: click.Context, _param: click.Parameter, target: _Target) -> _Target:
    """Callback of an option or argument that names a file to write; "-" is stdout."""
    if target is not None and str(target) not in ("", "-"):
        check_output(target)
    return target


#: Endings that promise another kind of picture.
_PICTURES = (".png", ".pdf", ".jpg", ".jpeg", ".gif", ".webp", ".eps", ".ps", ".tif", ".tiff")


def picture(ctx: click.Context, param: click.Parameter, target: _Target) -> _Target:
    """As writable(), of a plot: all of them are SVG."""
    if target is not None and str(target).lower().endswith(_PICTURES):
        raise InputError(f"--plot {target}: plots are SVG; give a name that ends in .svg")
    return writable(ctx, param, target)


_LAYER_OPTIONS = (
    ("--spare-blocks", 65535, "Kept back."),
    ("--log-blocks", 65535, "log, superblock, fast."),
    ("--degree", 255, "lavish, superblock; nftl: blocks of a chain."),
    ("--maps", 255, "lavish: maps in RAM; tree: pages of its cache."),
)
_TREE_OPTIONS = (
    ("--scrub-bits", 255, "tree: bits corrected in a page, to clean its block; 0: never."),
)
#: What these options tell a layer.
LAYER_FIGURES = tuple(
    name.removeprefix("--").replace("-", "_") for name, *_ in _LAYER_OPTIONS + _TREE_OPTIONS
)
#: The layers that take such a figure; what is not here all of them take.
TAKEN_BY = {
    "log_blocks": ("log", "superblock", "fast"),
    "degree": ("lavish", "superblock", "nftl"),
    "maps": ("lavish", "tree"),
    "scrub_bits": ("tree",),
}


def layer_options(function: _Decorated) -> _Decorated:
    """Adds what a translation layer may be told; 0 is its own default."""
    return _numbers(function, _LAYER_OPTIONS + _TREE_OPTIONS)


def device_layer_options(function: _Decorated) -> _Decorated:
    """Adds what one for a device may be told."""
    return _numbers(function, tuple(row for row in _LAYER_OPTIONS if row[0] != "--log-blocks"))


def _numbers(function: _Decorated, rows: tuple[tuple[str, int, str], ...]) -> _Decorated:
    for name, most, text in reversed(rows):
        function = click.option(name, type=click.IntRange(0, most), default=0, help=text)(function)
    return function


_TRACE_OPTIONS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("--format", "trace_format"), {"default": "", "help": "Of the trace, if not found out."}),
    (
        ("--unit",),
        {
            "type": Unit(),
            "metavar": "NUMBER|ns|us|ms|s",
            "help": "Only this device of the trace; with --columns the unit of times, else s.",
        },
    ),
    (
        ("--skip-bad",),
        {"type": click.IntRange(0, 2**64 - 1), "default": 0, "help": "Bad lines to bear with."},
    ),
    (
        ("--columns",),
        {
            "default": "",
            "metavar": "NAMES",
            "help": "Of a csv of your own: time, op, offset and size in bytes, sector and sectors "
            "in 512 bytes, - for others; like time,op,offset,size.",
        },
    ),
    (("--header",), {"is_flag": True, "help": "The first line of that csv is a heading."}),
)


def trace_options(function: _Decorated) -> _Decorated:
    """Adds how a recorded trace is read, for `nandwich.replay.play.reading`."""
    for names, more in reversed(_TRACE_OPTIONS):
        function = click.option(*names, **more)(function)
    return function


def _timeline_file(_ctx: click.Context, _param: click.Parameter, target: str) -> str:
    if target == "-":
        raise InputError("--timeline -: a trace is no text: give the name of a file")
    if target:
        check_output(target)
    return target


def timeline_options(function: _Decorated) -> _Decorated:
    """Adds `--timeline FILE` and its window, None when not given, as the arguments `timeline` and
    `timeline_window`."""
    function = click.option(
        "--timeline-window",
        default=None,
        metavar="FIRST:END",
        help="Of which every request is shown: by number, like 5000:15000, or by emulated time, "
        "like 2s:3s.  [default: 0:10K]",
    )(function)
    return click.option(
        "--timeline",
        default="",
        metavar="FILE",
        callback=_timeline_file,
        help="What happened when, as a trace for https://ui.perfetto.dev: the requests of a window "
        "and the longest of all, with what the chip did for them. FILE.vcd: the chip's bus in that "
        "window, for GTKWave.",
    )(function)


def window_of(target: str, text: str | None) -> timelines.Window:
    """The window that --timeline-window names, for the --timeline `target`; InputError."""
    if text is None:
        return timelines.FIRST
    if not target:
        raise InputError("--timeline-window: of which timeline? Give --timeline FILE")
    return timelines.window(text)


def overlong_options(function: _Decorated) -> _Decorated:
    """Adds what becomes of a trace that reaches behind the device, as the argument `fit`."""
    for name, text in (
        ("--scale", "A larger trace's offsets shrink."),
        ("--wrap", "A larger trace goes round the device."),
    ):
        value = name.removeprefix("--")
        function = click.option(name, "fit", flag_value=value, help=text)(function)
    return function


def json_option(function: _Decorated) -> _Decorated:
    """Adds `--json FILE|-` as the argument `json_target` (None when not asked for)."""
    return click.option(
        "--json",
        "json_target",
        metavar="FILE|-",
        callback=writable,
        help="Write the result as JSON to FILE, or to stdout with '-' (then no table).",
    )(function)


def _scheduler(_ctx: click.Context, _param: click.Parameter, address: str) -> str:
    kind, _, rest = address.partition(":")
    if kind == "local":
        if not rest.isdecimal() or not 1 <= int(rest) <= 256:
            raise InputError(f"--scheduler {address}: how many workers? Say local:4, 256 at most")
    elif address and not rest.startswith("//"):
        raise InputError(f"--scheduler {address}: wanted tcp://HOST:PORT, or local:4")
    if address and importlib.util.find_spec("distributed") is None:
        raise RunError("--scheduler needs dask.distributed: pip install 'nandwich[scale]'")
    return address


def scheduler_option(function: _Decorated) -> _Decorated:
    """Adds `--scheduler ADDRESS` as the argument `scheduler` ("" when not asked for)."""
    return click.option(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        callback=_scheduler,
        help="Who plays instead of --jobs: the workers of dask.distributed at tcp://HOST:PORT; "
        "local:4 starts four here.",
    )(function)


def words(given: Sequence[str]) -> list[str]:
    """--cflags as a shell would split it."""
    try:
        return [word for text in given for word in shlex.split(text)]
    except ValueError as error:
        raise InputError(f"--cflags: {error}") from error
