# SPDX-License-Identifier: Apache-2.0
"""What the tree costs on a part with a RAM under one source of requests, models beside it.

Each layer is formatted on a metadata-only twin, written full once, and played with the source until
it is at rest: until two windows in a row, each of as many writes as the device has sectors, take
the same programs a write. Then the source is played again and counted, the device asked for reads
at random, saved and mounted again, where it can be. Its RAM is what the C code asks for. The chip
has as many bad blocks as the part may have when new: with fewer a write takes less.
"""

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nandwich import _native, quantities
from nandwich.errors import InputError, RunError
from nandwich.replay import outcome, play, room, traffic
from nandwich.replay.options import LAYERS, Options
from nandwich.twin import parts

#: What a device takes for its sectors. Lavish forgets with power: it is swap, not a disk.
LAYER = "tree"
#: All others: there to compare with.
MODELS = tuple(name for name in LAYERS if name not in (LAYER, "lavish"))
#: Code and constants on Cortex-M3 at -Os, as `nandwich bench size` has them, and its test.
CODE_BYTES = 13094
#: The same of the filters below it.
BELOW_CODE_BYTES = {"oob": 1284, "ecc": 2136}
_READS = 20_000
#: Two windows are alike that differ by no more than this share, and so many are played at the most.
_ALIKE = 0.01
_WINDOWS = 16
_MOST_REQUESTS = 64  # for each write
_ENDLESS = 2**31
#: Room beside each page, in a layer's refusal.
_SPARE = re.compile(
    r"does not work on (?P<chip>\S+) .*?(?P<have>\d+) B of spare a page"
    r".*?(?P<need>\d+) B of spare\b"
)
_STEP = 1 << 16


@dataclass(frozen=True)
class Question:
    """A part, how much RAM the layer may take, and what will be asked of the device."""

    chip: str
    ram_bytes: int
    source: str  # as `nandwich replay` takes it
    requests: int = 100_000  # counted, at most; 0: all that the source has
    blocks: int = 0
    seed: int = 1
    models: bool = False
    reading: dict[str, Any] = field(default_factory=dict)  # of Options, for a trace

    @property
    def layers(self) -> tuple[str, ...]:
        """Those that are asked."""
        return (LAYER, *MODELS) if self.models else (LAYER,)

    @property
    def options(self) -> Options:
        """The replay that is asked of each layer."""
        return Options(
            self.source,
            chip=self.chip,
            blocks=self.blocks,
            arrivals=False,
            limit=self.requests,
            precondition=1000,
            most_bad=True,
            seed=self.seed,
            **self.reading,
        )


def answer(question: Question, advance: Callable[[int], None]) -> dict[str, Any]:
    """The rows of all layers, the cheapest writes first and then those that do not fit; the tree
    with the least RAM and with twice as much; and the RAM of an object store, which has no map."""
    part = parts.resolve(question.chip)
    if part.text("kind") not in parts.FLASH:
        raise InputError(f"{part.name} is no raw flash: no translation layer is needed there")
    _check_source(question, part.bytes)
    rows = []
    for layer in question.layers:
        rows.append(_row(question, layer))
        advance(1)
    beside = _beside(question, rows[0])
    advance(1)
    below = _below(question, rows[0]["config"]) if rows[0]["fits"] else None
    rows.sort(key=lambda row: (not row["fits"], row["programs_a_write"] or 0.0))
    return {
        "layers": rows,
        LAYER: beside,
        "below": below,
        "untold": _untold(part),
        "store_ram_bytes": _store_ram_bytes(question),
    }


def _untold(part: _native.Part) -> list[str]:
    """What the part tells nothing of: times, energies, endurance."""
    verbs = ("read", "program", "erase")
    told = {
        "times": any(part.number(f"{verb}.time") for verb in verbs),
        "energies": any(part.number(f"{verb}.energy") for verb in verbs),
        "endurance": part.number("endurance") != 0,
    }
    return [name for name, is_told in told.items() if not is_told]


def _below(question: Question, config: dict[str, int]) -> dict[str, Any] | None:
    """The filter that the part needs below the tree, and what that one makes of the part."""
    device = _open(question, LAYER, config, question.blocks)
    return next(
        (
            {
                "filter": name,
                "ram_bytes": ram_bytes,
                "code_bytes": BELOW_CODE_BYTES[name],
                "page_bytes": device.sector_bytes,
                "joined_blocks": device.joined,
            }
            for name, ram_bytes in device.below().items()
        ),
        None,
    )


def _beside(question: Question, row: dict[str, Any]) -> dict[str, dict[str, Any] | None]:
    """The tree with the least RAM that it works with, and with twice what there is; None: it does
    not fit, or that is what it has."""
    if not row["fits"]:
        return {"least": None, "twice": None}
    least = room.ram_bytes(play.prepare(replace(question.options, ftl=LAYER, layer={})).device)
    rows = {
        name: _row(replace(question, ram_bytes=ram_bytes), LAYER)
        for name, ram_bytes in (("least", least), ("twice", 2 * question.ram_bytes))
    }
    return {name: one if one["config"] != row["config"] else None for name, one in rows.items()}


def _check_source(question: Question, device_bytes: int) -> None:
    """InputError for a source that is bad on any layer: it would be said of each."""
    options = question.options
    source = traffic.open_source(options, device_bytes)
    facts = traffic.survey(source, limit=options.limit)
    if traffic.is_generated(options.source) and facts["extent_bytes"] > device_bytes:
        size = quantities.format_size(device_bytes)
        raise InputError(
            f"{options.source} asks for {quantities.format_size(facts['extent_bytes'])}, and all "
            f"of {options.chip} is {size}: give a smaller footprint"
        )


def _row(question: Question, layer: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "layer": layer,
        "fits": False,
        "config": {},
        "ram_bytes": None,
        "code_bytes": CODE_BYTES if layer == LAYER else None,
        "sectors": None,
        "device_bytes": None,
        "at_rest": None,
        "programs_a_write": None,
        "erases_a_write": None,
        "energy_pj_a_write": None,
        "time_ns_a_write": None,
        "reads_a_read": None,
        "longest_call_ns": None,
        "longest_change": None,
        "longest_mount": None,
        "mount_reads": None,
        "mount_ns": None,
        "life_bytes": None,
        "why": "",
    }
    needs: list[int] = []

    def opened(config: room.Config) -> _native.ReplayDevice:
        return _open(question, layer, config, question.blocks)

    for config in room.configs(layer, question.ram_bytes, opened):
        options = replace(question.options, ftl=layer, layer=config)
        try:
            played = play.prepare(options)
        except InputError as error:
            row["why"] = row["why"] or _in_short(error.message)
            continue
        needs.append(room.ram_bytes(played.device))
        if needs[-1] <= question.ram_bytes:
            return row | _measured(question, played) | {"fits": True, "config": config, "why": ""}
    if needs:
        row["ram_bytes"] = min(needs)
        blocks = played.device.blocks * played.device.joined
        row["why"] = _too_little(question, layer, min(needs), blocks)
    return row


def _in_short(refusal: str) -> str:
    """A layer's refusal: where pages have too little spare, that alone, alike for all layers."""
    found = _SPARE.search(refusal)
    if found is None or int(found["have"]) >= int(found["need"]):
        return refusal
    return f"{found['need']} B of spare a page are needed; {found['chip']} has {found['have']} B"


def _too_little(question: Question, layer: str, need: int, blocks: int) -> str:
    text = (
        f"needs {quantities.format_size(need)} of RAM for {blocks} blocks; "
        f"{quantities.format_size(question.ram_bytes)} "
    )
    most = _most_blocks(question, layer, blocks)
    return text + (f"are enough for {most} (--blocks {most})" if most else "are too few for any")


def _most_blocks(question: Question, layer: str, blocks: int) -> int:
    """Most blocks of the chip that the layer can look after with this RAM; 0: none."""
    config = room.least(layer)
    fewest, too_many = 0, blocks
    while too_many - fewest > 1:
        middle = (fewest + too_many) // 2
        try:
            device = _open(question, layer, config, max(1, middle))
        except InputError:  # so few that the layer cannot work; it may with more
            need = 0
        else:
            need = room.ram_bytes(device)
        if need <= question.ram_bytes:
            fewest = middle
        else:
            too_many = middle
    try:
        return fewest if _open(question, layer, config, max(1, fewest)) else 0
    except InputError:
        return 0


def _open(
    question: Question, layer: str, config: dict[str, int], blocks: int
) -> _native.ReplayDevice:
    try:
        return _native.ReplayDevice(
            parts.resolve(question.chip), layer, config=config, blocks=blocks, seed=question.seed
        )
    except ValueError as error:
        raise InputError(str(error)) from error


def _store_ram_bytes(question: Question) -> int | None:
    """Of an object store with the defaults of store.h; None: it does not work on this part, or no
    such part can be (too many blocks)."""
    try:
        nand = _native.Nand.open(parts.resolve(question.chip), blocks=question.blocks)
        return int(_native.Store(nand).ram_bytes)
    except ValueError:
        return None


def _measured(question: Question, played: play.Play) -> dict[str, Any]:
    """What one layer took for the source, for reads at random, and for a mount behind them."""
    at_rest = _settle(played)
    played.run(lambda _: None)
    value = outcome.as_json(played)
    result, derived = value["result"], value["derived"]
    if result["ended"] < 0:
        raise RunError(
            f"{played.options.ftl}: the device refused sector {result['ended_sector']}: "
            f"{result['ended_text']}"
        )
    writes = result["layer"]["host_writes"]
    mean = derived["erases_mean"]
    life = int(result["bytes_written"] * played.device.endurance / mean) if mean else None
    longest: dict[str, dict[str, Any]] = dict(played.device.longest())
    reads = _reads(question, played)
    mount = _mount(played) if played.options.ftl == LAYER else None
    untold = _untold(parts.resolve(question.chip))

    def told(what: str, figure: int | None) -> int | None:
        return None if what in untold else figure

    if "times" in untold:
        longest = {call: most | {"time_ns": None} for call, most in longest.items()}
    return {
        "ram_bytes": room.ram_bytes(played.device),
        "sectors": played.device.sectors,
        "device_bytes": played.device_bytes,
        "at_rest": at_rest,
        "programs_a_write": derived["write_amplification"],
        "erases_a_write": round(result["layer"]["erases"] / writes, 5) if writes else None,
        "energy_pj_a_write": told("energies", result["energy_pj"] // writes if writes else None),
        "time_ns_a_write": told("times", result["busy_ns"] // writes if writes else None),
        "longest_call_ns": told("times", result["worst_call_ns"]),
        "longest_change": longest.get("change"),
        "longest_mount": longest.get("mount"),
        "life_bytes": told("endurance", life),
        **reads,
        **({} if mount is None else {**mount, "mount_ns": told("times", mount["mount_ns"])}),
    }


def _settle(played: play.Play) -> bool:
    """Plays the source, as often as it takes, on a device written full until it is at rest.
    Whether it is: not where the source writes nothing, or goes on to change what it takes."""
    options, device = played.options, played.device
    source = traffic.endless(options, played.device_bytes) or played.source
    extent = max(1, played.facts["extent_bytes"])
    windows = _native.Replay(
        device, source, repeat=_ENDLESS, precondition=options.precondition, extent=extent,
        fit=options.fit, seed=options.seed,
    )  # fmt: skip
    while windows.precondition(_STEP):
        pass
    if not played.facts["writes"]["count"]:
        return True
    windows.run(0)  # counting begins
    before = 0.0
    for _ in range(_WINDOWS):
        programs = _window(windows, device.sectors)
        if programs is None:
            return False
        if abs(programs - before) <= _ALIKE * programs:
            return True
        before = programs
    return False


def _window(windows: _native.Replay, writes: int) -> float | None:
    """Programs a write of so many sectors written, or a few more; None: that cannot be, or nearly
    all that the source does is something else."""
    begun = now = windows.result()["layer"]
    most = _MOST_REQUESTS * writes
    while (left := begun["host_writes"] + writes - now["host_writes"]) > 0:
        requests = max(1, min(_STEP, left // 8))
        most -= requests
        if not windows.run(requests) or most < 0:
            return None
        now = windows.result()["layer"]
    programs, written = (now[key] - begun[key] for key in ("programs", "host_writes"))
    return float(programs / written)


def _reads(question: Question, played: play.Play) -> dict[str, Any]:
    device = played.device
    text = f"uniform,writes=0%,requests={_READS},size={device.sector_bytes}"
    source = traffic.workload(text, device.sectors * device.sector_bytes, question.seed)
    reading = _native.Replay(device, source, extent=device.sectors * device.sector_bytes)
    while reading.run(_STEP):
        pass
    layer = reading.result()["layer"]
    return {"reads_a_read": round(layer["reads"] / layer["host_reads"], 4)}


def _mount(played: play.Play) -> dict[str, Any]:
    options = played.options
    with tempfile.TemporaryDirectory() as folder:
        image = str(Path(folder) / "chip")
        played.device.save(image)
        device = _native.ReplayDevice(
            parts.resolve(options.chip), options.ftl, config=options.layer, image=image
        )
    opening = device.opening
    return {"mount_reads": opening["reads"], "mount_ns": opening["time_ns"]}
