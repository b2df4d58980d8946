# SPDX-License-Identifier: Apache-2.0
"""Layer order: a file includes only what stands below its layer in core/layers.toml."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tidy.tree import Finding, Source

_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
LIST = "core/layers.toml"


@dataclass(frozen=True)
class Layer:
    """One layer, with everything it may include."""

    name: str
    files: tuple[str, ...]
    headers: tuple[str, ...]
    below: frozenset[str]

    def holds(self, path: str) -> bool:
        return any(fnmatchcase(path, glob) for glob in (*self.headers, *self.files))


def read_layers(root: Path) -> list[Layer]:
    """The layers of core/layers.toml, bottom first; ValueError where the list breaks its order."""
    table = tomllib.loads((root / LIST).read_text(encoding="utf-8"))
    layers: dict[str, Layer] = {}
    for entry in table["layer"]:
        below: set[str] = set()
        for used in entry["uses"]:
            if used not in layers:
                raise ValueError(f"{LIST}: layer {entry['name']} uses {used}, not named above it")
            below |= {used} | layers[used].below
        layers[entry["name"]] = Layer(
            entry["name"], tuple(entry["files"]), tuple(entry["headers"]), frozenset(below)
        )
    return list(layers.values())


def includes(source: Source) -> Iterator[tuple[int, str]]:
    """Line and name of every #include of a file."""
    for match in _INCLUDE.finditer(source.text):
        yield source.text.count("\n", 0, match.start()) + 1, match.group(1)


def _layer_of(path: str, layers: Iterable[Layer]) -> Layer | None:
    return next((layer for layer in layers if layer.holds(path)), None)


def _resolve(source: Source, name: str, by_path: dict[str, Source]) -> str | None:
    """The file of ours that an include means, None for a header of the system."""
    beside = Path(source.path).parent.joinpath(name).as_posix()
    if beside in by_path:
        return beside
    return next((path for path in by_path if path.endswith("/include/" + name)), None)


def order(sources: list[Source], root: Path) -> Iterator[Finding]:
    """Every include points downward, every file of a layer's folders belongs to a layer."""
    if not (root / LIST).exists():
        return
    layers = read_layers(root)
    c_like = [source for source in sources if source.is_c_like]
    by_path = {source.path: source for source in c_like}
    graph: dict[str, list[str]] = {}
    for source in c_like:
        own = _layer_of(source.path, layers)
        if own is None and source.path.startswith(("core/", "models/", "twin/", "replay/")):
            text = f"belongs to no layer: name it in {LIST}"
            yield Finding(source.path, 1, "layer", text)
        for line, name in includes(source):
            target = _resolve(source, name, by_path)
            if target is None:
                continue
            graph.setdefault(source.path, []).append(target)
            other = _layer_of(target, layers)
            if own is None or other is None or other is own or other.name in own.below:
                continue
            text = f"layer {own.name} may not include {name} of layer {other.name}"
            yield Finding(source.path, line, "layer", text)
    for circle in circles(graph):
        text = "headers include each other: " + " -> ".join((*circle, circle[0]))
        yield Finding(circle[0], 1, "include-circle", text)


def circles(graph: dict[str, list[str]]) -> list[list[str]]:
    """Circles of a directed graph, each from its smallest member, one for each way back found."""
    found: dict[tuple[str, ...], list[str]] = {}
    done: set[str] = set()

    def visit(node: str, trail: list[str]) -> None:
        if node in trail:
            circle = trail[trail.index(node) :]
            smallest = circle.index(min(circle))
            circle = circle[smallest:] + circle[:smallest]
            found[tuple(circle)] = circle
            return
        if node in done:
            return
        for target in graph.get(node, []):
            visit(target, [*trail, node])
        done.add(node)

    for node in sorted(graph):
        visit(node, [])
    return list(found.values())
