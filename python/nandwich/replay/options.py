# SPDX-License-Identifier: Apache-2.0
"""What is to be played on what, and how; and what there is to choose from."""

from collections.abc import Container
from dataclasses import dataclass, field

from nandwich import _native
from nandwich.twin import timelines

LAYERS = tuple(name for name, *_ in _native.layers())
#: Of these: not for a device, there to compare with.
MODELS = tuple(name for name, _, _, is_model in _native.layers() if is_model)
TIER_NEEDS = {name: frozenset(needs) for name, _, needs in _native.tier_policies()}
TIERS = tuple(TIER_NEEDS)
WEARS = ("none", *(name for name, _ in _native.wear_policies()))


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


def models_among(layers: Container[str]) -> str:
    """A line that says which of these layers are models; "" where none is."""
    found = [name for name in MODELS if name in layers]
    if not found:
        return ""
    are = "is a model of a published layer" if len(found) == 1 else "are models of published layers"
    return f"{', '.join(found)} {are}: not for a device"
