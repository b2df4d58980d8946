# SPDX-License-Identifier: Apache-2.0
"""The bound kernels of virtual memory."""

import pytest

from lab import _native

pytestmark = pytest.mark.quick


def test_kernels_repeat_to_the_count() -> None:
    """Goal: the figures of `nandwich bench vm-policy` do not depend on the run."""
    first = _native.vm_kernel("tree", "lru", 512, 64, 2048)
    again = _native.vm_kernel("tree", "lru", 512, 64, 2048)
    del first["seconds"], again["seconds"]
    assert first == again
    assert first["faults"] > 100_000


def test_more_frames_fault_less() -> None:
    """Goal: LRU keeps its inclusion property: more frames never mean more faults."""
    faults = [
        _native.vm_kernel("quicksort", "lru", 512, frames, 512)["faults"]
        for frames in (32, 64, 128, 600)
    ]
    assert faults == sorted(faults, reverse=True)
    assert faults[-1] == 65536 * 4 // 512


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("sort", "lru", 512, 64, 512), "no kernel sort"),
        (("fft", "fifo", 512, 64, 512), "clock or lru"),
        (("fft", "lru", 500, 64, 512), "configuration"),
        (("fft", "lru", 512, 17, 512), "configuration"),
        (("fft", "lru", 512, 64, 0), "configuration"),
        (("fft", "lru", 512, 70_000, 512), "out of range"),
    ],
)
def test_wrong_arguments_are_told(arguments: tuple[str, str, int, int, int], what: str) -> None:
    """Goal: a configuration the run time refuses is an error here too, never a crash."""
    with pytest.raises(ValueError, match=what):
        _native.vm_kernel(*arguments)
