# SPDX-License-Identifier: Apache-2.0
"""Layouts of a program by what is known of it, and what they cost the node of the paper."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import mean

from nandwich import _native
from nandwich.vmtrace import layout
from papers.vimem._programs import PAGE, WHOLE, Access, Variables

#: Table 2 of the paper, us: an access in RAM, a page read from a buffer and from flash, and what a
#: write to a buffer and to flash adds.
RESIDENT_US, BUFFER_US, FLASH_US = 18.72, 3660.0, 3720.0
TO_BUFFER_US, FLASH_WRITE_US = 7580.0 - 3720.0, 19830.0 - 7580.0

Pages = list[int]


@dataclass(frozen=True)
class Cost:
    """Of one run, or the means of many."""

    accesses: float
    faults: float
    buffer_reads: float
    to_buffer: float
    flash_writes: float

    @property
    def share(self) -> float:
        """Faults, % of accesses."""
        return 100 * self.faults / self.accesses

    @property
    def latency_us(self) -> float:
        """Of an access in the mean, by the paper's own latencies."""
        flash_reads = self.faults - self.buffer_reads
        return (
            RESIDENT_US
            + (
                self.buffer_reads * BUFFER_US
                + flash_reads * FLASH_US
                + self.to_buffer * TO_BUFFER_US
                + self.flash_writes * FLASH_WRITE_US
            )
            / self.accesses
        )


def packed(accesses: Iterable[Access]) -> list[int]:
    """As the node takes them."""
    return [element << 1 | write for element, write in accesses]


def run(accesses: list[int], pages: Pages, frames: int, repeat: int = 1) -> Cost:
    return Cost(**_native.node_run(accesses, repeat, pages, frames))


def average(costs: Sequence[Cost]) -> Cost:
    return Cost(
        *(
            mean(getattr(one, name) for one in costs)
            for name in ("accesses", "faults", "buffer_reads", "to_buffer", "flash_writes")
        )
    )


def learn(
    variables: Variables, known: Iterable[Sequence[Access]], frames: int = 1
) -> layout.Program:
    """What is known: traces of nodes, or references of functions."""
    parameters = layout.Parameters(page=PAGE, group=PAGE // 8, whole=WHOLE, list=PAGE)
    graph = variables.layouter()
    for sequence in known:
        graph.begin()
        for element, write in sequence:
            graph.access(element, write)
    return layout.Program(variables.objects, graph, replace(parameters, frames=frames), [])


def published(program: layout.Program) -> Pages:
    """The heuristic as published. The paper gives no threshold of writes: the best of three on what
    is known, so that the heuristic is not judged by our choice."""
    graph, parameters = program.graph, program.parameters
    usual = sum(graph.writes) // program.elements
    found = [
        layout.published(replace_writes(program, writes)) for writes in (usual, 4 * usual, 1 << 40)
    ]
    return min(found, key=lambda pages: graph.play(pages, parameters.frames)["faults"])


def replace_writes(program: layout.Program, writes: int) -> layout.Program:
    return replace(program, parameters=replace(program.parameters, writes=writes))


def fewer(now: float, before: float) -> float:
    """How many fewer, %."""
    return 100 * (1 - now / before) if before else 0.0
