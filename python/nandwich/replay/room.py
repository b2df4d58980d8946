# SPDX-License-Identifier: Apache-2.0
"""How a layer is made to take the RAM there is: its configurations, the one that takes most first.

Models have few choices. The tree takes what it is given, up to its whole map: so many nodes of it
in a cache.
"""

import math
from collections.abc import Callable, Iterator

from nandwich import _native
from nandwich.errors import InputError

#: Numbers of log blocks tried when a layer's own choice takes too much RAM.
_LOG_BLOCKS = (32, 16, 8, 4, 2, 1)
_LESS = {"log": "log_blocks", "superblock": "log_blocks", "fast": "log_blocks"}
_LEAST_NODES, _MOST_NODES = 3, 2**16 - 1  # of a cache: tree.c
_NODE_FIGURES = 4  # bytes beside a node in the cache

Config = dict[str, int]


def configs(
    layer: str, ram_bytes: int, opened: Callable[[Config], _native.ReplayDevice]
) -> Iterator[Config]:
    """Figures of nw_layer_config to try in this order, until one fits into so much RAM. `opened`
    is the layer with such figures, or InputError."""
    if layer == "tree":
        try:
            nodes = _nodes(opened({}), ram_bytes)
        except InputError:  # with more nodes too
            nodes = 0
        if nodes > 0:
            yield {"maps": nodes}
    yield {}
    if layer in _LESS:
        yield from ({_LESS[layer]: number} for number in _LOG_BLOCKS)


def least(layer: str) -> Config:
    """The figures with which a layer takes least."""
    return {_LESS[layer]: _LOG_BLOCKS[-1]} if layer in _LESS else {}


def ram_bytes(device: _native.ReplayDevice) -> int:
    """What the layer takes with its struct. A processor of 32 bits takes a little less."""
    return device.ram_bytes + device.state_bytes


def _nodes(device: _native.ReplayDevice, most_bytes: int) -> int:
    """Nodes for which there is room beside this tree, which has none; no more than it can use."""
    there = (most_bytes - ram_bytes(device)) // (device.sector_bytes + _NODE_FIGURES)
    return 0 if there < _LEAST_NODES else min(there, _whole_map(device), _MOST_NODES)


def _whole_map(device: _native.ReplayDevice) -> int:
    """Nodes of a tree's map, and as many more as hold what else it has use for: a bit for each page
    and a longer list of changes."""
    pages = device.blocks * device.block_pages
    width = 2 if pages <= 1 << 16 else 3 if pages <= 1 << 24 else 4  # bytes of a place: tree.c
    leaves = math.ceil(device.sectors / (device.sector_bytes // width))
    inner = math.ceil(leaves / (math.isqrt(max(0, leaves - 1)) + 1))
    return leaves + inner + 2 + math.ceil(pages / 8 / device.sector_bytes)
