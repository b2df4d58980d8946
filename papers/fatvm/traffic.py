# SPDX-License-Identifier: Apache-2.0
"""The five programs of Lin et al. 2013 in virtual memory, and what they ask of a layer.

Each runs once on the host; its page traffic is recorded and then played on every layer, over and
over, as a node does the same work in each duty cycle.
"""

import atexit
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lab import ROOT
from lab.photo import photo
from nandwich.errors import RunError
from nandwich.replay import outcome
from nandwich.replay import play as replay
from nandwich.replay.options import Options
from nandwich.run import measure, recipe
from nandwich.twin import config
from nandwich.twin.config import Device

CHIP = str(Path(__file__).with_name("node_nand.toml"))  # 2 GB of SLC, as on the paper's node
PAGE_BYTES = 2048
BLOCK_PAGES = 64
BLOCK_BYTES = BLOCK_PAGES * PAGE_BYTES
_PROGRAMS = Path(__file__).with_name("programs")

#: Program: source, arguments in full, arguments for a quick run.
PROGRAMS: dict[str, tuple[Path, tuple[str, ...], tuple[str, ...]]] = {
    "jpeg": (Path("examples/jpeg2bmp.c"), ("PHOTO", "OUT"), ("PHOTO", "OUT")),
    "gray": (_PROGRAMS / "gray.c", ("640", "480"), ("400", "300")),
    "fft": (_PROGRAMS / "fft.c", ("16",), ("13",)),
    "huffman": (_PROGRAMS / "huffman.c", ("1000000",), ("400000",)),
    "red-black": (_PROGRAMS / "redblack.c", ("20000",), ("2000",)),
}

#: What each line of the tables is: a layer, its settings, and the blocks it may fill beside one
#: for each of data.
LAYERS: dict[str, tuple[str, dict[str, int], float]] = {
    "lavish": ("lavish", {"degree": 8}, 15),
    "superblock": ("superblock", {"degree": 8, "log_blocks": 4}, 0.5),
    "superblock (space)": ("superblock", {"degree": 8, "log_blocks": 56}, 7),
    "log": ("log", {}, 0.5),
    "fast": ("fast", {}, 0.5),
    "nftl": ("nftl", {}, 0.5),
    "page": ("page", {}, 0.5),
}
_SPARE = 32  # blocks beside these, for merges and the layer's own books
#: What a set-up says of these.
PHOTO = "JPEG (matplotlib's grace_hopper.jpg, 512 x 600, 61,306 B; decoder stb_image)"
GRAY = "640 x 480 pixels made up, turned gray and smoothed"
SIZES = (
    f"{PHOTO} to BMP, {GRAY}, FFT of 2^16 points of 8 B, Huffman of a log of 1,000,000 B and back, "
    "red-black tree of 20,000 nodes of 56 B and a search of each; on the host, clang -O2"
)
NODE_NAND = (
    "K9WAG08U1A (25 us a read, 200 us a program, 1.5 ms an erase) at 0.1 us a byte on its bus"
)


@dataclass(frozen=True)
class Recording:
    """One run of a program: what it asked for, and the chip's time it took on `lavish`."""

    path: Path
    report: dict[str, Any]

    @property
    def without_trims(self) -> "Recording":
        """As the paper's virtual memory would ask: it never told a layer what was freed."""
        path = self.path.with_suffix(".plain")
        if not path.exists():
            lines = self.path.read_text().splitlines(keepends=True)
            path.write_text("".join(line for line in lines if line.split()[1] != "trim"))
        return Recording(path, self.report)

    @property
    def storage_ms(self) -> float:
        return float(self.report["time_ns"]["storage"]) / 1e6


@cache
def kept() -> Path:
    """Folder of what is recorded, until the command ends."""
    folder = tempfile.TemporaryDirectory(prefix="nandwich-fatvm-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


@cache
def record(program: str, quick: bool, **changes: Any) -> Recording:
    """Runs a program in virtual memory; `changes` are fields of the Device."""
    source, full, short = PROGRAMS[program]
    name = "-".join([program, str(quick), *(f"{key}={changes[key]}" for key in sorted(changes))])
    log = kept() / f"{name.replace('/', '_')}.log"
    words = {"PHOTO": str(photo()), "OUT": str(kept() / "out.bmp")}
    arguments = tuple(words.get(word, word) for word in (short if quick else full))
    device = config.with_part(Device(**{"chip": CHIP, "slots": 8, "record": str(log), **changes}))
    config.check(device)
    job = recipe.job((ROOT / source,), ("-O2",), device, arguments, compare=False)
    with measure.scratch() as folder:
        outcome = measure.measure(job, b"", Path(folder)).virtual
    if outcome.signal is not None or outcome.status != 0 or not outcome.report:
        raise RunError(f"{program} failed: status {outcome.status}, signal {outcome.signal}")
    return Recording(log, outcome.report)


def blocks(layer: str, vm_bytes: int) -> int:
    """Blocks of the chip a layer may fill."""
    data = vm_bytes // BLOCK_BYTES
    return round((1 + LAYERS[layer][2]) * data) + _SPARE


def play(layer: str, recording: Recording, *, vm_bytes: int, repeat: int) -> dict[str, Any]:
    """A recording, `repeat` times, on a fresh chip under a layer: the JSON of `nandwich replay`."""
    kind, settings, _ = LAYERS[layer]
    given = blocks(layer, vm_bytes)
    spare = given - vm_bytes // BLOCK_BYTES
    own = {"sectors": vm_bytes // PAGE_BYTES} if kind == "lavish" else {"spare_blocks": spare}
    options = Options(
        str(recording.path),
        chip=CHIP,
        ftl=kind,
        layer={**settings, **own},
        blocks=given,
        arrivals=False,
        repeat=repeat,
        factory_bad=False,
    )
    played = replay.prepare(options)
    played.run(lambda _: None)
    broken = outcome.broken_laws(played)
    if broken:
        raise RunError(f"{layer}: {broken[0]}")
    return outcome.as_json(played)
