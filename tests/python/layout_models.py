# SPDX-License-Identifier: Apache-2.0
"""The layout heuristic and the small node of Lachenmann et al. (EuroSys 2007), written down plainly
from sections 3.3.2 and 4: what the fast ones are tested against."""

from collections.abc import Sequence
from fractions import Fraction

Access = tuple[int, bool]


class Graph:
    """Section 4.2: f counts accesses, g how often two elements were recent together."""

    def __init__(self, sizes: Sequence[int], bound: int) -> None:
        self.sizes, self.bound = sizes, bound
        self.f = [0] * len(sizes)
        self.writes = [0] * len(sizes)
        self.g: dict[frozenset[int], int] = {}
        self.recent: list[int] = []

    def begin(self) -> None:
        self.recent = []

    def access(self, element: int, write: bool) -> None:
        if element in self.recent:
            self.recent.remove(element)
        self.recent.insert(0, element)
        while sum(self.sizes[one] for one in self.recent) > self.bound and len(self.recent) > 1:
            self.recent.pop()
        self.f[element] += 1
        self.writes[element] += write
        for other in self.recent[1:]:
            pair = frozenset((element, other))
            self.g[pair] = self.g.get(pair, 0) + 1


def grouped(
    graph: Graph, page: int, limit: int, *, share: int = 1000, freeze: bool = False
) -> list[int]:
    """The lowest element of each one's group."""
    groups = {element: [element] for element, count in enumerate(graph.f) if count > 0}
    edges = dict(graph.g)

    def bytes_of(name: int) -> int:
        return sum(graph.sizes[one] for one in groups[name])

    def mean(name: int) -> Fraction:
        return Fraction(sum(graph.f[one] for one in groups[name]), len(groups[name]))

    def allowed(a: int, b: int) -> bool:
        if bytes_of(a) + bytes_of(b) > page:
            return False
        if freeze:
            return bytes_of(a) <= limit and bytes_of(b) <= limit
        return bytes_of(a) + bytes_of(b) <= limit

    while True:
        together = sum(len(one) for one in groups.values() if len(one) > 1)
        accessed = sum(count > 0 for count in graph.f)
        if together * 1000 >= accessed * share:
            break
        pairs = [
            (-Fraction(g) / (mean(min(pair)) + mean(max(pair))), min(pair), max(pair))
            for pair, g in edges.items()
            if allowed(*pair)
        ]
        if not pairs:
            break
        _, into, gone = min(pairs)
        groups[into] += groups.pop(gone)
        merged: dict[frozenset[int], int] = {}
        for pair, g in edges.items():
            renamed = frozenset(into if one == gone else one for one in pair)
            if len(renamed) == 2:
                merged[renamed] = max(merged.get(renamed, 0), g)
        edges = merged
    found = list(range(len(graph.f)))
    for name, members in groups.items():
        for one in members:
            found[one] = name
    return found


def placed(graph: Graph, group: Sequence[int], page: int, threshold: int) -> list[int]:
    """Section 4.3: first fit by decreasing mean accesses on two sets of pages; then the pages are
    numbered by their accesses."""
    items: dict[int, list[int]] = {}
    for element, name in enumerate(group):
        items.setdefault(name, []).append(element)
    order = sorted(
        items, key=lambda name: (-Fraction(_sum(graph.f, items[name]), len(items[name])), name)
    )
    shelves: list[tuple[bool, list[int]]] = []
    for name in order:
        size = _sum(graph.sizes, items[name])
        written = _sum(graph.writes, items[name]) > threshold * len(items[name])
        for kind, members in shelves:
            if kind == written and _sum(graph.sizes, members) + size <= page:
                members += items[name]
                break
        else:
            shelves.append((written, list(items[name])))
    return _numbered(graph, [members for _, members in shelves])


def first_fit(graph: Graph, page: int) -> list[int]:
    """In the order of declaration; pages keep their order."""
    shelves: list[list[int]] = []
    for element, size in enumerate(graph.sizes):
        for members in shelves:
            if _sum(graph.sizes, members) + size <= page:
                members.append(element)
                break
        else:
            shelves.append([element])
    return _pages(len(graph.f), shelves)


def _sum(values: Sequence[int], members: Sequence[int]) -> int:
    return sum(values[one] for one in members)


def _numbered(graph: Graph, shelves: list[list[int]]) -> list[int]:
    ranked = sorted(range(len(shelves)), key=lambda at: (-_sum(graph.f, shelves[at]), at))
    return _pages(len(graph.f), [shelves[at] for at in ranked])


def _pages(count: int, shelves: list[list[int]]) -> list[int]:
    page_of = [0] * count
    for number, members in enumerate(shelves):
        for one in members:
            page_of[one] = number
    return page_of


class Node:
    """Section 3.3.2: enhanced second chance over a few frames, and two buffers in the chip."""

    def __init__(self, pages: int, frames: int) -> None:
        self.held: list[int | None] = [at if at < pages else None for at in range(frames)]
        self.used = [False] * frames
        self.dirty = [False] * frames
        self.hand = 0
        self.buffers: list[tuple[int | None, bool, int]] = [(None, True, 0), (None, True, 1)]
        self.now = 2
        self.counts = dict.fromkeys(("faults", "buffer_reads", "to_buffer", "flash_writes"), 0)

    def _victim(self) -> int:
        turn = [(self.hand + step) % len(self.held) for step in range(len(self.held))]
        while True:
            for wanted in (False, True):
                for frame in turn:
                    if not self.used[frame] and self.dirty[frame] == wanted:
                        self.hand = (frame + 1) % len(self.held)
                        return frame
                    if wanted:
                        self.used[frame] = False

    def _send(self, page: int) -> None:
        """Its own buffer; one that is in flash already; the least recently used."""
        ranked = sorted(
            range(2),
            key=lambda at: (
                self.buffers[at][0] != page,
                not self.buffers[at][1],
                self.buffers[at][2],
            ),
        )
        old, in_flash, _ = self.buffers[ranked[0]]
        self.counts["flash_writes"] += old != page and not in_flash
        self.counts["to_buffer"] += 1
        self.buffers[ranked[0]] = (page, False, self.now)
        self.now += 1

    def access(self, page: int, write: bool) -> None:
        if page not in self.held:
            frame = self._victim()
            old = self.held[frame]
            if old is not None and self.dirty[frame]:
                self._send(old)
            self.dirty[frame] = False
            self.counts["faults"] += 1
            for at, (held, in_flash, _) in enumerate(self.buffers):
                if held == page:
                    self.counts["buffer_reads"] += 1
                    self.buffers[at] = (held, in_flash, self.now)
                    self.now += 1
            self.held[frame] = page
        frame = self.held.index(page)
        self.used[frame] = True
        self.dirty[frame] = self.dirty[frame] or write
