# SPDX-License-Identifier: Apache-2.0
"""What the tree costs on a part with a RAM under one source of requests, models beside it.

Each layer is formatted on a metadata-only twin, written full once, played with the source, asked
for reads at random, saved and mounted again, where it can be. Its RAM is what the C code asks for.
"""

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nandwich import _native, quantities
from nandwich.errors import InputError, RunError
from nandwich.replay import play, room
from nandwich.twin import parts

#: What a device takes for its sectors. Lavish forgets with power: it is swap, not a disk.
LAYER = "tree"
#: All others: there to compare with.
MODELS = tuple(name for name in play.LAYERS if name not in (LAYER, "lavish"))
#: Code and constants on Cortex-M3 at -Os with all it uses: format, mount and every verb.
CODE_BYTES = 13306
_READS = 20_000
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
    requests: int = 100_000  # at most; 0: all that the source has
    blocks: int = 0
    seed: int = 1
    models: bool = False
    reading: dict[str, Any] = field(default_factory=dict)  # of play.Options, for a trace

    @property
    def layers(self) -> tuple[str, ...]:
        """Those that are asked."""
        return (LAYER, *MODELS) if self.models else (LAYER,)

    @property
    def options(self) -> play.Options:
        """The replay that is asked of each layer."""
        return play.Options(
            self.source,
            chip=self.chip,
            blocks=self.blocks,
            arrivals=False,
            limit=self.requests,
            precondition=1000,
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
    rows.sort(key=lambda row: (not row["fits"], row["programs_a_write"] or 0.0))
    return {"layers": rows, LAYER: beside, "store_ram_bytes": _store_ram_bytes(question)}


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
    source = play.open_source(options, device_bytes)
    if not play.is_generated(options.source):
        play.survey(source, limit=options.limit)


def _row(question: Question, layer: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "layer": layer,
        "fits": False,
        "config": {},
        "ram_bytes": None,
        "code_bytes": CODE_BYTES if layer == LAYER else None,
        "sectors": None,
        "device_bytes": None,
        "programs_a_write": None,
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
    for config in room.configs(layer):
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
    *_, config = room.configs(layer)
    fewest, too_many = 0, blocks
    while too_many - fewest > 1:
        middle = (fewest + too_many) // 2
        try:
            device = _open(question, layer, config, middle)
        except InputError:  # so few that the layer cannot work; it may with more
            need = 0
        else:
            need = room.ram_bytes(device)
        if need <= question.ram_bytes:
            fewest = middle
        else:
            too_many = middle
    try:
        return fewest if _open(question, layer, config, fewest) else 0
    except InputError:
        return 0


def _open(
    question: Question, layer: str, config: dict[str, int], blocks: int
) -> _native.ReplayDevice:
    try:
        return _native.ReplayDevice(
            parts.resolve(question.chip), layer, config=config, blocks=max(1, blocks)
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
    played.precondition(lambda _: None)
    played.run(lambda _: None)
    value = play.as_json(played)
    result, derived = value["result"], value["derived"]
    if result["ended"] < 0:
        raise RunError(
            f"{played.options.ftl}: the device refused sector {result['ended_sector']}: "
            f"{result['ended_text']}"
        )
    writes = result["layer"]["host_writes"]
    mean = derived["erases_mean"]
    life = int(result["bytes_written"] * played.device.endurance / mean) if mean else None
    longest = played.device.longest()
    return {
        "ram_bytes": room.ram_bytes(played.device),
        "sectors": played.device.sectors,
        "device_bytes": played.device_bytes,
        "programs_a_write": derived["write_amplification"],
        "energy_pj_a_write": result["energy_pj"] // writes if writes else None,
        "time_ns_a_write": result["busy_ns"] // writes if writes else None,
        "longest_call_ns": result["worst_call_ns"],
        "longest_change": longest.get("change"),
        "longest_mount": longest.get("mount"),
        "life_bytes": life,
        **_reads(question, played),
        **(_mount(played) if played.options.ftl == LAYER else {}),
    }


def _reads(question: Question, played: play.Play) -> dict[str, Any]:
    device = played.device
    text = f"uniform,writes=0%,requests={_READS},size={device.sector_bytes}"
    source = play.workload(text, device.sectors * device.sector_bytes, question.seed)
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
