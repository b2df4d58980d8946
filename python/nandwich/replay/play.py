# SPDX-License-Identifier: Apache-2.0
"""Block traces and generated workloads played on a translation layer over a twin.

A source is the path of a trace; or `gen:NAME[,KEY=VALUE...]`: a workload by name with figures of
its row changed; or `access:FILE,KEY=VALUE...`: what a paging policy makes of recorded accesses.
"""

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from nandwich import _native, names, quantities
from nandwich.errors import InputError, RunError
from nandwich.replay import accesses, classes, life, room
from nandwich.twin import parts, timelines

LAYERS = tuple(name for name, *_ in _native.layers())
#: Of these: not for a device, there to compare with.
MODELS = tuple(name for name, _, _, is_model in _native.layers() if is_model)
TIER_NEEDS = {name: frozenset(needs) for name, _, needs in _native.tier_policies()}
TIERS = tuple(TIER_NEEDS)
WEARS = ("none", *(name for name, _ in _native.wear_policies()))
GENERATED = "gen:"
STEP = 1 << 16  # requests between two signs of progress
_NVM_MOST = 2**31  # bytes
_BLOCKS_MOST = 2**16  # of a chip on which a layer works
_THETA_MOST = 4000  # thousandths

#: What a workload's figures count: "count", "share" (of thousand), "theta", "size" or "time".
FIGURES = {
    "requests": "count",
    "footprint": "size",
    "size": "size",
    "align": "size",
    "gap": "time",
    "burst": "count",
    "pause": "time",
    "writes": "share",
    "run": "share",
    "hot_share": "share",
    "hot_space": "share",
    "meta": "share",
    "theta": "theta",
}

#: Columns of a csv of one's own: numbers of enum nw_iotrace_column.
COLUMNS = {"-": 0, "time": 1, "op": 2, "offset": 3, "size": 4, "sector": 5, "sectors": 6}
#: A time of 1 in ns: so many zeros.
TIME_PLACES = {"ns": 0, "us": 3, "ms": 6, "s": 9}
_PASSED_OVER = "-"
_MOST_COLUMNS = 32
_CSV = "csv"
_HINT = "of another csv name the columns, say --columns time,op,offset,size --unit us"

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Options:
    """What to play on what, and how; the defaults are those of the command."""

    source: str
    chip: str = "K9F1G08U0A"
    ftl: str = "tree"
    layer: dict[str, int] = field(default_factory=dict)  # figures of nw_layer_config
    ram: int = 0  # bytes that the layer may take; 0: as many as it chooses
    wear: str = "none"
    wear_figures: dict[str, int] = field(default_factory=dict)  # of nw_wear_choice
    nvm: int = 0  # bytes of NVM before the layer; 0: none
    nvm_part: str = "PCM-16M"
    tier: str = "lru"
    half_life: int = 1000  # lrfu: references after which one counts half
    nvm_reads: bool = False
    classes: str = ""  # an image of the disk that the trace was recorded on
    blocks: int = 0
    arrivals: bool = True
    idle: bool = False
    repeat: int = 1  # 0: until the device refuses
    limit: int = 0
    precondition: int = 0  # permille
    fit: str = "refuse"
    format: str = ""
    unit: int | None = None
    skip_bad: int = 0
    columns: str = ""  # of a csv in no known format, like "time,op,offset,size"
    time_unit: str = "s"  # of its times
    header: bool = False  # its first line is a heading
    verify: bool = False
    wear_out: bool = False
    lives: tuple[int, ...] = ()  # erases that each block bears, 0: bad when new; empty: drawn
    factory_bad: bool = True
    most_bad: bool = False  # as many of these as the part may have
    seed: int = 1
    config: str = ""  # the file that some of these came from
    snapshot: str = ""
    timeline: str = ""  # a trace for ui.perfetto.dev
    window: timelines.Window = timelines.FIRST  # of the requests that it shows whole


def _fraction(key: str, text: str) -> Fraction:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(%?)", text)
    if match is None:
        raise InputError(f"{key}={text}: wanted a share like 0.7 or 70%")
    return Fraction(match.group(1)) / (100 if match.group(2) else 1)


def _figure(key: str, text: str) -> int:
    kind = FIGURES[key]
    try:
        if kind == "size":
            return quantities.within(quantities.parse(text, "size", bare=True))
        if kind == "time":
            return quantities.within(quantities.parse(text, "time"))
        if kind == "count":
            return quantities.count(text)
    except ValueError as error:
        raise InputError(f"{key}={text}: {error}") from error
    value = _fraction(key, text) * 1000
    if kind == "share" and value > 1000:
        raise InputError(f"{key}={text}: a share is at most 1")
    if kind == "theta" and value > _THETA_MOST:
        raise InputError(f"{key}={text}: at most {_THETA_MOST // 1000}")
    return round(value)


def _changes(text: str) -> tuple[str, dict[str, int]]:
    """`NAME,KEY=VALUE...` taken apart."""
    name, *pairs = text.split(",")
    known = [row["name"] for row in _native.workloads()]
    if name not in known:
        raise names.unknown("workload", name, known, list_with="nandwich replay --help")
    changes: dict[str, int] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or key not in FIGURES:
            raise names.unknown("figure of a workload", key, FIGURES)
        changes[f"{key}_ns" if FIGURES[key] == "time" else key] = _figure(key, value)
    return name, changes


def workload(text: str, device_bytes: int, seed: int) -> _native.Workload:
    """The generator of `NAME[,KEY=VALUE...]`; it covers the device unless it says otherwise."""
    name, changes = _changes(text)
    row = next(row for row in _native.workloads() if row["name"] == name)
    size = changes.get("size", row["size"])
    if "align" not in changes and 0 < size < row["align"]:
        changes["align"] = size & -size  # the largest power of two that divides it
    align = changes.get("align", row["align"])
    changes.setdefault("footprint", device_bytes // max(1, align) * align)
    try:
        return _native.Workload(name, changes, seed)
    except ValueError as error:
        raise InputError(f"{GENERATED}{text}: {error}") from error


def endless(options: Options, device_bytes: int) -> _native.Workload | None:
    """A workload that goes on and on; None for a recording, which can only be repeated."""
    if not is_generated(options.source):
        return None
    text = f"{options.source.removeprefix(GENERATED)},requests={quantities.MOST}"
    return workload(text, device_bytes, options.seed)


def is_generated(source: str) -> bool:
    """Whether a source is made up rather than recorded."""
    return source.startswith(GENERATED)


def is_block_trace(source: str) -> bool:
    """Whether a source is the path of a block trace."""
    return not is_generated(source) and not accesses.is_asked(source)


def path_of(source: str) -> str:
    """The file that a source is read from, "" for none."""
    if is_generated(source):
        return ""
    return accesses.path_of(source) if accesses.is_asked(source) else source


def inputs(options: Options) -> list[Path]:
    """The files that a replay reads, parts apart."""
    named = (path_of(options.source), options.classes, options.config)
    return [Path(path) for path in named if path]


def _check_no_trace(options: Options) -> None:
    """InputError for options that say how to read a block trace, where none is read."""
    given = {
        "--format": bool(options.format),
        "--unit": options.unit is not None,
        "--skip-bad": options.skip_bad != 0,
        "--columns": bool(options.columns),
        "--header": options.header,
    }
    for name in (name for name, is_given in given.items() if is_given):
        what = "made up" if is_generated(options.source) else "no block trace"
        raise InputError(f"{name} is for recorded traces; {options.source} is {what}")


def reading(
    *,
    trace_format: str = "",
    unit: int | str | None = None,
    skip_bad: int = 0,
    columns: str = "",
    header: bool = False,
) -> dict[str, Any]:
    """The fields of Options that say how a trace is read, from the command line; InputError."""
    if columns and trace_format not in ("", _CSV):
        raise InputError(f"--columns is for a csv of one's own, not for --format {trace_format}")
    if trace_format == _CSV and not columns:
        raise InputError("--format csv: name its columns, say --columns time,op,offset,size")
    if columns and isinstance(unit, int):
        raise InputError(f"--unit {unit}: with --columns it is that of times: ns, us, ms or s")
    if not columns and isinstance(unit, str):
        raise InputError(f"--unit {unit}: times have one with --columns; a device is a number")
    if header and not columns:
        raise InputError("--header is for a csv whose columns are named: --columns")
    csv_columns(columns)
    return {
        "format": trace_format,
        "unit": unit if isinstance(unit, int) else None,
        "skip_bad": skip_bad,
        "columns": columns,
        "time_unit": unit if isinstance(unit, str) else "s",
        "header": header,
    }


def csv_columns(text: str) -> list[int]:
    """What `time,op,offset,size` is for the reader; InputError. Nothing for nothing."""
    if not text:
        return []
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in COLUMNS:
            raise names.unknown("column", word, COLUMNS)
        if word != _PASSED_OVER and words.count(word) > 1:
            raise InputError(f"--columns {text}: {word} is there twice")
    for either in (("op",), ("offset", "sector"), ("size", "sectors")):
        if len([word for word in words if word in either]) != 1:
            raise InputError(f"--columns {text}: wanted one column {' or '.join(either)}")
    if len(words) > _MOST_COLUMNS:
        raise InputError(f"--columns: {_MOST_COLUMNS} at most")
    return [COLUMNS[word] for word in words]


def open_trace(path: str, options: Options) -> _native.Trace:
    """A trace with the options' format, unit and patience; InputError."""
    known = [name for name, _ in _native.trace_formats()]
    if options.format and options.format not in known:
        raise names.unknown("trace format", options.format, known)
    try:
        return _native.Trace(
            path,
            format=options.format,
            skip_bad=options.skip_bad,
            unit=options.unit,
            columns=csv_columns(options.columns),
            time_places=TIME_PLACES[options.time_unit],
            header=options.header,
        )
    except ValueError as error:
        hint = ""
        if "of no known format" in str(error):
            hint = f"\nknown: {', '.join(known)}; {_HINT}"
        raise InputError(str(error) + hint) from error


def open_source(
    options: Options, device_bytes: int, advance: Advance | None = None
) -> _native.Source:
    """Where the requests come from; a workload covers so large a device. InputError."""
    if is_block_trace(options.source):
        return open_trace(options.source, options)
    _check_no_trace(options)
    if accesses.is_asked(options.source):
        return accesses.traffic(options.source, advance)
    return workload(options.source.removeprefix(GENERATED), device_bytes, options.seed)


def check_source(options: Options) -> None:
    """InputError for a recording that cannot be opened; most of it is not read."""
    if is_block_trace(options.source):
        open_trace(options.source, options)
    elif accesses.is_asked(options.source):
        accesses.begin(accesses.parse(options.source))


def survey(
    source: _native.Source, advance: Advance | None = None, *, limit: int = 0
) -> dict[str, Any]:
    """What a source asks for; InputError for a bad line.

    With a `limit` it ends at the first multiple of STEP that reaches it: 0 looks at everything.
    """
    looked = _native.Survey(source)
    seen = 0
    try:
        while looked.run(STEP):
            seen += STEP
            if 0 < limit <= seen:
                break
            if advance is not None:
                advance(STEP)
    except ValueError as error:
        raise InputError(str(error)) from error
    return dict(looked.result())


def models_among(layers: Container[str]) -> str:
    """A line that says which of these layers are models; "" where none is."""
    found = [name for name in MODELS if name in layers]
    if not found:
        return ""
    are = "is a model of a published layer" if len(found) == 1 else "are models of published layers"
    return f"{', '.join(found)} {are}: not for a device"


class NoRoomError(InputError):
    """A layer and the room it was given, in RAM or on the chip, do not fit: an answer, where it is
    compared with others."""


def check_names(options: Options) -> None:
    """Refuse a workload, a part, a layer or a policy that nobody knows; InputError."""
    if is_generated(options.source):
        _changes(options.source.removeprefix(GENERATED))
    elif accesses.is_asked(options.source):
        accesses.parse(options.source)
    parts.resolve(options.chip)
    if options.ftl not in LAYERS:
        raise names.unknown("translation layer", options.ftl, LAYERS)
    if options.wear not in WEARS:
        raise names.unknown("wear policy", options.wear, WEARS)
    if options.tier not in TIERS:
        raise names.unknown("placement policy", options.tier, TIERS)


def opened(options: Options) -> tuple[Options, _native.ReplayDevice]:
    """The device as `prepare` opens it, and the options with what was chosen for its RAM;
    InputError."""
    return _device_in_ram(options, None)


def _device_in_ram(
    options: Options, line: _native.Timeline | None
) -> tuple[Options, _native.ReplayDevice]:
    """The device that takes most of the RAM it may take, and the options that say how."""
    if not options.ram:
        return options, _device(options, line)
    least: int | None = None
    refusal: InputError | None = None

    def with_figures(config: room.Config) -> Options:
        return replace(options, layer={**options.layer, **config})

    for config in room.configs(
        options.ftl, options.ram, lambda config: _device(with_figures(config), None)
    ):
        if config.keys() & options.layer.keys():
            continue  # the user has chosen that figure
        tried = with_figures(config)
        try:
            device = _device(tried, line)
        except InputError as error:
            refusal = refusal or error
            continue
        needs = room.ram_bytes(device)
        if needs <= options.ram:
            return tried, device
        least = needs if least is None else min(least, needs)
    if least is None:
        assert refusal is not None
        raise refusal
    raise NoRoomError(
        f"{options.ftl} over {options.chip} needs {quantities.format_size(least)} of RAM, and may "
        f"take {quantities.format_size(options.ram)}"
    )


def _device(options: Options, line: _native.Timeline | None) -> _native.ReplayDevice:
    check_names(options)
    part = parts.resolve(options.chip)
    image = options.snapshot if options.snapshot and Path(options.snapshot).exists() else ""
    if image and options.verify:
        raise InputError(f"--verify: the tokens of what {image} holds are not known; start anew")
    if image and options.lives:
        raise InputError(f"--lives: the blocks of {image} have theirs; start anew")
    if options.nvm > _NVM_MOST:
        raise InputError(f"--nvm: at most {quantities.format_size(_NVM_MOST)}")
    if options.nvm and options.snapshot:
        raise InputError(
            "--nvm: a snapshot holds the chip alone, without what the NVM has; omit one"
        )
    try:
        device = _native.ReplayDevice(
            part,
            options.ftl,
            config=options.layer,
            blocks=options.blocks,
            seed=options.seed,
            wear_out=options.wear_out or options.repeat == 0,
            factory_bad=options.factory_bad,
            most_bad=options.most_bad,
            verify=options.verify,
            image=image,
            wear=options.wear,
            wear_config=options.wear_figures,
            timeline=line,
            lives=options.lives,
        )
    except ValueError as error:
        enough = None if image else _enough_blocks(options)
        if enough is None:
            raise InputError(str(error)) from error
        raise NoRoomError(
            f"{options.ftl} over {options.chip} needs {enough} blocks or more, and may take "
            f"{options.blocks}"
        ) from error
    return device


def _enough_blocks(options: Options) -> int | None:
    """Fewest blocks with which the layer works as it is asked to, where it does not with those of
    `options`; None: more of them do not help."""
    too_few = options.blocks
    if not 0 < too_few <= _BLOCKS_MOST or _opens(options, too_few):
        return None
    enough = 2 * too_few
    while not _opens(options, enough):
        too_few, enough = enough, 2 * enough
        if too_few > _BLOCKS_MOST:
            return None
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if _opens(options, middle) else (middle, enough)
    return enough


def _opens(options: Options, blocks: int) -> bool:
    try:
        _native.ReplayDevice(
            parts.resolve(options.chip),
            options.ftl,
            config=options.layer,
            blocks=blocks,
            seed=options.seed,
            factory_bad=options.factory_bad,
        )
    except ValueError:
        return False
    return True


def _put_tier(device: _native.ReplayDevice, options: Options, apps: int) -> None:
    """The NVM that was asked for, before the layer; InputError."""
    if not options.nvm:
        return
    needs = TIER_NEEDS[options.tier]
    if "apps" in needs and apps == 0:
        raise InputError(
            f"--tier {options.tier} tells applications apart, and {options.source} names none; "
            "traces of android, blkparse, fiu and wiscsee do"
        )
    if "content" in needs and not options.classes:
        raise InputError(
            f"--tier {options.tier} goes by what sectors hold: give --classes IMAGE, the disk that "
            "the trace was recorded on"
        )
    try:
        device.put_tier(
            parts.resolve(options.nvm_part),
            options.tier,
            bytes=options.nvm,
            lambda_=max(1, 65536 // options.half_life),
            reads=options.nvm_reads,
            apps=apps,
            seed=options.seed,
        )
    except ValueError as error:
        raise InputError(str(error)) from error


def _contents(options: Options, facts: dict[str, Any], device: _native.ReplayDevice) -> bytes:
    """What each sector holds; nothing when nobody asked. InputError."""
    if not options.classes:
        return b""
    if int(facts["extent_bytes"]) > device.sectors * device.sector_bytes:
        raise InputError(
            "--classes: sectors that --wrap or --scale moved have no class; take a larger --chip"
        )
    return classes.of_image(Path(options.classes), device.sector_bytes, device.sectors)


@dataclass
class Play:
    """A source about to be played on a device; `run` does it, then everything can be asked."""

    options: Options
    chip: str
    device: _native.ReplayDevice
    source: _native.Source
    facts: dict[str, Any]  # of the source
    replay: _native.Replay
    arrivals: bool  # as played: a source without times goes back to back
    apps: list[str]  # that the source names
    line: _native.Timeline | None = None

    @property
    def total(self) -> int:
        """Requests to come; until the device is worn: a guess from its rating, for progress."""
        passes = self.options.repeat
        if passes == 0:
            device = self.device
            cells = device.blocks * device.block_pages * max(1, device.endurance)
            passes = cells * device.sector_bytes // max(1, self.facts["writes"]["bytes"]) + 1
        requests = int(self.facts["requests"]) * passes
        return min(requests, self.options.limit) if self.options.limit else requests

    def precondition(self, advance: Advance) -> None:
        """Makes the device an old one."""
        try:
            while self.replay.precondition(STEP):
                advance(STEP)
        except RuntimeError as error:
            raise RunError(str(error)) from error

    def run(self, advance: Advance) -> None:
        """Plays to the end."""
        try:
            while self.replay.run(STEP):
                advance(STEP)
        except ValueError as error:
            raise InputError(str(error)) from error

    def read_back(self, advance: Advance) -> dict[str, int]:
        """With `verify`: every sector is compared, and what that found is answered.

        The chip counts these reads: everything else of the result is taken before.
        """
        try:
            while self.replay.read_back(STEP):
                advance(STEP)
        except RuntimeError as error:
            raise RunError(str(error)) from error
        result = self.replay.result()
        keys = ("read_back", "violations", "violation_request", "violation_sector")
        return {key: result[key] for key in keys}

    def save_timeline(self) -> str:
        """The trace, if one was asked for, and what it holds, in lines."""
        if self.line is None:
            return ""
        options = self.options
        title = f"{options.source} on {options.ftl}"
        return timelines.save(self.line, Path(options.timeline), title, f"chip {self.chip}")

    def save(self) -> None:
        """The chip into the snapshot, if one was asked for."""
        if self.options.snapshot:
            try:
                self.device.save(self.options.snapshot)
            except ValueError as error:
                raise RunError(str(error)) from error

    @property
    def device_bytes(self) -> int:
        return self.device.sectors * self.device.sector_bytes


_SMALLER = "give a smaller footprint, or a larger --chip"
_FITTED = "give --wrap or --scale, or a larger --chip"


def _fits(options: Options, facts: dict[str, Any], device: _native.ReplayDevice) -> None:
    have = device.sectors * device.sector_bytes
    need = int(facts["extent_bytes"])
    if need > have and options.fit == "refuse":
        raise NoRoomError(
            f"{options.source} reaches {need} B ({quantities.format_size(need)}), but "
            f"{options.ftl} over {options.chip} has {have} B ({quantities.format_size(have)}): "
            + (_SMALLER if is_generated(options.source) else _FITTED)
        )


def prepare(options: Options, advance: Advance | None = None) -> Play:
    """Opens device and source, looks the source over, and puts the two together; InputError."""
    if not is_block_trace(options.source):
        _check_no_trace(options)
    line = timelines.begin(options.window) if options.timeline else None
    options, device = _device_in_ram(options, line)
    apps: list[str] = []
    if not is_block_trace(options.source):
        _put_tier(device, options, 0)
    source = open_source(options, device.sectors * device.sector_bytes, advance)
    # The scale hangs on how far the whole source reaches.
    facts = survey(source, advance, limit=0 if options.fit == "scale" else options.limit)
    if isinstance(source, _native.Trace):
        apps = source.apps
        _put_tier(device, options, len(apps))
    _fits(options, facts, device)
    arrivals = options.arrivals and facts["duration_ns"] > 0
    replay = _native.Replay(
        device,
        source,
        repeat=options.repeat,
        limit=options.limit,
        precondition=options.precondition,
        extent=max(1, facts["extent_bytes"]),
        fit=options.fit,
        seed=options.seed,
        arrivals=arrivals,
        idle=options.idle,
        content=_contents(options, facts, device),
        apps=len(apps),
        bound=options.nvm > 0,
    )
    chip = parts.resolve(options.chip).name
    return Play(options, chip, device, source, facts, replay, arrivals, apps, line)


def broken_laws(play: Play) -> list[str]:
    """The laws of the books that do not hold, with their two sides."""
    return [
        f"{name}: {left} against {right}"
        for name, left, right, slack in play.replay.laws()
        if not left <= right <= left + slack
    ]


def faults(result: dict[str, Any], broken: list[str], *, until_worn: bool) -> list[str]:
    """Why a replay that ended counts as failed, a sentence each; `broken` are laws."""
    found = [f"the books do not balance: {law}" for law in broken]
    if result["violations"]:
        request = result["violation_request"]
        when = "when read back" if request == result["requests"] else f"at request {request}"
        found.append(
            f"{result['violations']} sectors read wrong, the first is sector "
            f"{result['violation_sector']} {when}"
        )
    if result["ended"] < 0 and not until_worn:
        found.append(
            f"the device refused request {result['requests'] - 1} at sector "
            f"{result['ended_sector']}: {result['ended_text']}"
        )
    return found


def derived(play: Play, result: dict[str, Any]) -> dict[str, Any]:
    """Figures that follow from counts: amplification, energy a byte, wear, lifetime."""
    layer = result["layer"]
    wear = play.replay.wear()
    host_bytes = result["bytes_read"] + result["bytes_written"]
    elapsed = result["end_ns"]
    most, total = max(wear), sum(wear)
    # A rating says nothing about blocks that are healed.
    rated = 0 if play.options.wear_figures.get("heal") else play.device.endurance

    def years(erases: Fraction) -> float | None:
        if not rated or not erases or not elapsed:
            return None
        return float(f"{float(elapsed * rated / erases / life.YEAR_NS):.4g}")

    writes = result["sectors_written"] if play.options.nvm else layer["host_writes"]
    kinds = [result[way] for way in ("reads", "writes", "others")]
    responses = sum(kind["mean_ns"] * kind["count"] for kind in kinds)
    return {
        "write_amplification": round(layer["programs"] / writes, 4) if writes else None,
        "erases_per_1000_writes": round(1000 * layer["erases"] / writes, 4) if writes else None,
        "energy_pj_per_host_byte": result["energy_pj"] // host_bytes if host_bytes else None,
        "queue_mean": round(responses / elapsed, 4) if elapsed else None,
        "erases_max": most,
        "erases_mean": round(total / len(wear), 4),
        "erases_min": min(wear),
        "lifetime_years": years(Fraction(most)),
        "lifetime_years_if_even": years(Fraction(total, len(wear))),
        "life": life.extrapolated(
            life.Worn(rated, play.device.block_pages, wear, layer["programs"], int(writes), elapsed)
        ),
    }


def _tier(play: Play) -> dict[str, Any] | None:
    """What the NVM before the layer did, and how long it lives at this rate."""
    options = play.options
    if not options.nvm:
        return None
    work = play.device.tier()
    elapsed = play.replay.result()["end_ns"]
    most = work["line_writes_max"]
    years = None
    if most and work["endurance"] and elapsed:
        years = float(f"{elapsed * work['endurance'] / most / life.YEAR_NS:.4g}")
    return {
        "nvm": parts.resolve(options.nvm_part).name,
        "policy": options.tier,
        "half_life": options.half_life if "lambda" in TIER_NEEDS[options.tier] else None,
        "reads": options.nvm_reads,
        **work,
        "lifetime_years": years,
        "bound": play.replay.bound(),
    }


def _shares(play: Play, by: str) -> list[dict[str, Any]]:
    """The books by application, class or hour of the day, with MB/s and mean slots held."""
    unit = play.device.sector_bytes
    shares: list[dict[str, Any]] = []
    for share in play.replay.shares(by):
        requests, served = share["requests"], share["served_ns"]
        sectors = share["read"] + share["written"]
        held = share.pop("held")
        shares.append(
            {
                **share,
                "mb_per_s": round(sectors * unit * 1000 / served, 3) if served else None,
                "held_mean": round(held / requests, 1) if requests and play.options.nvm else None,
            }
        )
    return shares


def _applications(play: Play) -> list[dict[str, Any]]:
    """Of each application that asked for something; empty when the source names none."""
    if not play.apps:
        return []
    names = [None, *play.apps]
    shares = zip(names, _shares(play, "app"), strict=True)
    return [{"name": name, **share} for name, share in shares if share["requests"]]


def _classes(play: Play) -> list[dict[str, Any]]:
    """Of each class of sectors that something was asked of; empty when nobody tells classes."""
    if not play.options.classes:
        return []
    return [
        {"name": classes.NAMES[i % classes.GUEST], "guest": i >= classes.GUEST, **share}
        for i, share in enumerate(_shares(play, "content"))
        if share["requests"]
    ]


def _read(name: str, source: _native.Source) -> dict[str, Any]:
    """What a source is, and how well it could be read."""
    trace = source if isinstance(source, _native.Trace) else None
    paged = accesses.as_json(name, source) if isinstance(source, _native.PageTraffic) else None
    made = "accesses" if paged is not None else "generated"
    return {
        "format": made if trace is None else trace.format,
        "skipped_lines": 0 if trace is None else trace.skipped,
        "empty_lines": 0 if trace is None else trace.empty,
        "paging": paged,
    }


def as_json(play: Play) -> dict[str, Any]:
    """All of a replay that ended, as docs/schemas/replay-1.json has it."""
    options = play.options
    result = dict(play.replay.result())
    layer = result.pop("layer")
    result["layer"] = layer
    recorded = not is_generated(options.source)
    return {
        "device": {
            "chip": play.chip,
            "ftl": options.ftl,
            "layer": dict(options.layer),
            "wear": options.wear,
            "wear_figures": dict(options.wear_figures),
            "blocks": play.device.blocks,
            "block_pages": play.device.block_pages,
            "sectors": play.device.sectors,
            "sector_bytes": play.device.sector_bytes,
            "ram_bytes": room.ram_bytes(play.device),
            "endurance": play.device.endurance,
        },
        "tier": _tier(play),
        "applications": _applications(play),
        "classes": _classes(play),
        "hours": _shares(play, "hour") if play.apps or play.options.nvm else [],
        "source": {
            "name": options.source,
            **_read(options.source, play.source),
            **play.facts,
        },
        "options": {
            "arrivals": play.arrivals,
            "idle": options.idle,
            "repeat": options.repeat,
            "limit": options.limit,
            "precondition_permille": options.precondition,
            "fit": options.fit if recorded else "refuse",
            "verify": options.verify,
            "classes": options.classes or None,
            "ram_bytes": options.ram or None,
        },
        "result": result,
        "derived": derived(play, result),
        "laws": [
            {"name": name, "left": left, "right": right, "holds": left <= right <= left + slack}
            for name, left, right, slack in play.replay.laws()
        ],
        "samples": play.replay.samples(),
        "wear": play.replay.wear(),
        "policy": play.replay.wear_stats() or None,
    }
