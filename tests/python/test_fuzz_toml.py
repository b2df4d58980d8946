# SPDX-License-Identifier: Apache-2.0
"""Goal: a part, a scenario or a recording of arrivals is read or refused in a sentence that names
the file. Inputs are changed copies of tests/fuzz/corpus/toml, the same ones for the same seed.
"""

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nandwich.errors import InputError
from nandwich.sched import scenario
from nandwich.sched.play import Flow
from nandwich.twin import parts

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus" / "toml"
INPUTS, SOAK_S, LONGEST_S = 1_500, 3600, 5

#: What a mutation puts in: syntax, limits, and bytes that are no text.
PIECES = tuple(
    text.encode("utf-8", "surrogateescape")
    for text in (
        *(
            "[",
            "]",
            "[[",
            "]]",
            "=",
            ".",
            ",",
            "#",
            '"',
            "'",
            '"""',
            "{",
            "}",
            "\n",
            "\r",
            " " * 99,
        ),
        *("0", "-1", "1e400", "nan", "inf", "0x_", "9" * 30, "9" * 5000, "1979-05-27T07:32:00Z"),
        *('"0 ns"', '"1 y"', '"99999999 TiB"', '"-5 ms"', "true", "[]", "{}", "[" * 200, "µ", "\0"),
        *(
            "name",
            "based_on",
            "kind",
            "blocks",
            "page_bytes",
            "errors",
            "[read]",
            "flow.x",
            "\udcff",
        ),
        *('period = "1 ns"', 'deadline = "0 s"', 'size = "0 B"', "slots = 0", "burst_every = 0"),
    )
)


def _mutate(rng: random.Random, seeds: list[bytes]) -> bytes:
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 4, 9))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0:
                data[at:at] = rng.choice(PIECES)
            case 1:
                data[at : at + rng.randrange(12)] = rng.choice(PIECES)
            case 2:
                del data[at : at + rng.randrange(40)]
            case 3:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case _:
                other = rng.choice(seeds)
                start = rng.randrange(len(other))
                data[at:at] = other[start : start + rng.randrange(80)]
    return bytes(data)


def _arrivals(path: Path) -> object:
    flow = Flow("temperature", 1_000_000, 1_000_000, 64)
    return scenario.read_arrivals(path, (flow,))


READERS: dict[str, Callable[[Path], object]] = {
    "part": parts.load,
    "figures": parts.file_figures,
    "scenario": scenario.read_scenario,
    "arrivals": _arrivals,
}


def _try(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    for name, read in READERS.items():
        started = time.monotonic()
        try:
            read(path)
        except InputError as error:
            for line in error.message.splitlines():
                assert path.name in line, f"{name}: {data!r}: {line}"
        except Exception as error:
            raise AssertionError(f"{name}: {data!r}: {error!r}") from error
        assert time.monotonic() - started < LONGEST_S, f"{name}: {data!r}"


def _seeds() -> list[bytes]:
    return [path.read_bytes() for path in sorted(CORPUS.iterdir())]


def test_changed_files_are_read_or_refused(tmp_path: Path) -> None:
    rng = random.Random(1)
    for seed in _seeds():
        _try(tmp_path / "input.toml", seed)
    for _ in range(INPUTS):
        _try(tmp_path / "input.toml", _mutate(rng, _seeds()))


@pytest.mark.soak
def test_changed_files_for_an_hour(tmp_path: Path) -> None:
    rng, ends = random.Random(2), time.monotonic() + SOAK_S
    while time.monotonic() < ends:
        _try(tmp_path / "input.toml", _mutate(rng, _seeds()))
