# SPDX-License-Identifier: Apache-2.0
"""Block traces and generated workloads played on a translation layer over a twin."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nandwich import _native, names, quantities
from nandwich.errors import InputError, NoRoomError, RunError
from nandwich.replay import classes, room, traffic
from nandwich.replay.options import LAYERS, TIER_NEEDS, TIERS, WEARS, Options
from nandwich.replay.traffic import STEP, Advance
from nandwich.twin import parts, timelines

_NVM_MOST = 2**31  # bytes
_BLOCKS_MOST = 2**16  # of a chip on which a layer works


def check_names(options: Options) -> None:
    """Refuse a workload, a part, a layer or a policy that nobody knows; InputError."""
    traffic.check_name(options.source)
    parts.resolve(options.chip)
    if options.ftl not in LAYERS:
        raise names.unknown("translation layer", options.ftl, LAYERS)
    if options.wear not in WEARS:
        raise names.unknown("wear policy", options.wear, WEARS)
    if options.tier not in TIERS:
        raise names.unknown(
            "placement policy", options.tier, TIERS, list_with="nandwich replay --help"
        )


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


def _contents(
    options: Options, facts: dict[str, Any], device: _native.ReplayDevice
) -> classes.Sectors:
    """What each sector holds; nothing when nobody asked. InputError."""
    if not options.classes:
        return classes.Sectors()
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
    class_notes: list[str]  # what sectors' classes leave out
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
            + (_SMALLER if traffic.is_generated(options.source) else _FITTED)
        )


def prepare(options: Options, advance: Advance | None = None) -> Play:
    """Opens device and source, looks the source over, and puts the two together; InputError."""
    if not traffic.is_block_trace(options.source):
        traffic.check_no_trace(options)
    line = timelines.begin(options.window) if options.timeline else None
    options, device = _device_in_ram(options, line)
    apps: list[str] = []
    if not traffic.is_block_trace(options.source):
        _put_tier(device, options, 0)
    source = traffic.open_source(options, device.sectors * device.sector_bytes, advance)
    # The scale hangs on how far the whole source reaches.
    facts = traffic.survey(source, advance, limit=0 if options.fit == "scale" else options.limit)
    if isinstance(source, _native.Trace):
        apps = source.apps
        _put_tier(device, options, len(apps))
    _fits(options, facts, device)
    arrivals = options.arrivals and facts["duration_ns"] > 0
    sectors = _contents(options, facts, device)
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
        content=sectors.classes,
        apps=len(apps),
        bound=options.nvm > 0,
    )
    chip = parts.resolve(options.chip).name
    return Play(options, chip, device, source, facts, replay, arrivals, apps, sectors.notes, line)
