# SPDX-License-Identifier: Apache-2.0
"""How a layer is made to take less RAM: its configurations, the one that takes most first."""

from collections.abc import Iterator

from nandwich import _native

#: Numbers of log blocks tried when a layer's own choice takes too much RAM.
_LOG_BLOCKS = (32, 16, 8, 4, 2, 1)
#: The tree layer takes what it is given: so many nodes of its map in a cache, the most first.
_NODES = (255, 128, 64, 48, 32, 24, 16, 12, 8, 6, 5, 4, 3)
_LESS = {"log": "log_blocks", "superblock": "log_blocks", "fast": "log_blocks"}


def configs(layer: str) -> Iterator[dict[str, int]]:
    """Figures of nw_layer_config to try in this order, until one fits."""
    if layer == "tree":
        yield from ({"maps": number} for number in _NODES)
    yield {}
    if layer in _LESS:
        yield from ({_LESS[layer]: number} for number in _LOG_BLOCKS)


def ram_bytes(device: _native.ReplayDevice) -> int:
    """What the layer takes with its struct. A processor of 32 bits takes a little less."""
    return device.ram_bytes + device.state_bytes
