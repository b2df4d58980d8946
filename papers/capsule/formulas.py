# SPDX-License-Identifier: Apache-2.0
"""C-T4: what an access takes, by the document's formulas and counted (Mathur et al., SenSys
2006)."""

import random
from collections.abc import Callable
from functools import partial

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment
from papers.capsule._pointers import Chain, Index, Log
from papers.capsule._rig import NAND, Rig

N, K, LEVELS = 5, 5, 3
ELEMENT = bytes(range(64))
#: Elements of an object that is compacted, and keys that are set one after the other.
MANY = 1000
#: Keys at random: of as many as the index of three levels has.
KEYS = K ** (LEVELS - 1)
COUNTED = ("header reads", "reads", "writes")


def _spent(log: Log, *calls: Callable[[], object]) -> tuple[int, int, int]:
    """Header reads, reads and writes of some calls."""
    counts = log.counts
    before = counts.headers, counts.reads, counts.writes
    for call in calls:
        call()
    now = counts.headers, counts.reads, counts.writes
    return now[0] - before[0], now[1] - before[1], now[2] - before[2]


def _chains() -> dict[str, tuple[int, int, int]]:
    """Of a stack, a queue and a stream."""
    log = Log()
    stack, queue = Chain(log), Chain(log)
    spent = {"push": _spent(log, partial(stack.push, ELEMENT))}
    for chain, count in ((stack, N - 1), (queue, N)):
        for _ in range(count):
            chain.push(ELEMENT)
    spent["pop"] = _spent(log, stack.pop)
    spent["dequeue"] = _spent(log, queue.dequeue)
    stream = Chain(log)
    for _ in range(MANY):
        stream.push(ELEMENT)
    spent["compact"] = _spent(log, partial(stream.compact, K))
    return spent


def _indices() -> dict[str, tuple[int, int, int]]:
    """Of an index: one value made durable, one found, and many set in order and at random."""
    log = Log()
    index = Index(log, levels=LEVELS, fan=K)
    spent = {"set": _spent(log, partial(index.set, 0, ELEMENT), index.flush)}
    index.forget()
    spent["get"] = _spent(log, partial(index.get, 0))
    dice = random.Random(4)
    orders = {
        "sequential": [key % KEYS for key in range(MANY)],
        "random": [dice.randrange(KEYS) for _ in range(MANY)],
    }
    for name, keys in orders.items():
        index = Index(log, levels=LEVELS, fan=K)
        calls = [partial(index.set, key, ELEMENT) for key in keys]
        spent[name] = _spent(log, *calls, index.flush)
    return spent


#: By the document's table: header reads, reads and writes.
FORMULAS = {
    "push": ("a push, an append, an enqueue: 1 write", (0, 0, 1)),
    "pop": ("a pop, a previous: 1 read", (0, 1, 0)),
    "dequeue": ("the first dequeue of N = 5: N - 1 header reads and a read", (N - 1, 1, 0)),
    "compact": (
        "compacting N = 1,000 elements, k = 5: N header reads, N + N / k reads and writes",
        (MANY, MANY + MANY // K, MANY + MANY // K),
    ),
    "set": ("a set, H = 3: H writes", (0, 0, LEVELS)),
    "get": ("a get, H = 3: H reads", (0, LEVELS, 0)),
    "sequential": (
        "1,000 sets in order, H = 3, k = 5: H / k reads and writes each",
        (0, MANY * LEVELS // K, MANY * LEVELS // K),
    ),
    "random": (
        "1,000 sets at random, H = 3: H reads and writes each",
        (0, MANY * LEVELS, MANY * LEVELS),
    ),
}
#: Why nothing is judged: the peer was written by the document's text, and what it takes is told
#: there. Of two formulas it is not exact in any reading of H.
DESIGN = "a check of the document, not of us: the design is built by its text to take just that"
LOOSE = {
    "sequential": "whether the values are one of the H levels is not told. They are here: a value "
    "takes a write each, a node of level i one in k to the power of i, and the top node stays in "
    "its buffer; without them H = 2, and the formula is above what is counted",
    "random": "a bound rather than a count: the top node stays in its buffer, a value is not read "
    "before it is written, and a key may lie in the node that is there already",
}


def _text(counts: tuple[int, int, int]) -> str:
    named = zip(counts, COUNTED, strict=True)
    return ", ".join(
        f"{count:,} {name[: -1 if count == 1 else None]}" for count, name in named if count
    )


def _answer(name: str, counted: tuple[int, int, int]) -> Answer:
    claim, formula = FORMULAS[name]
    return Answer(
        _text(counted),
        holds=counted == formula,
        verdict=NOT_JUDGED,
        why=LOOSE.get(name, DESIGN),
        part=name,
        claim=claim,
        published=_text(formula),
    )


def _dequeue_reads(elements: int) -> int:
    """Chip reads of the first dequeue of our queue, when the page buffer holds other things."""
    rig = Rig()
    queue = rig.store.create("queue", "queue")
    for _ in range(elements):
        rig.store.push(queue, ELEMENT)
    rig.flush()
    before = rig.store.stats["reads"]
    rig.store.dequeue(queue)
    return rig.store.stats["reads"] - before


def _walk(elements: int) -> int:
    """Chunks and headers that the document's first dequeue reads."""
    log = Log()
    queue = Chain(log)
    for _ in range(elements):
        queue.push(ELEMENT)
    return sum(_spent(log, queue.dequeue))


@experiment(
    "C-T4",
    claim="operations of an access",
    published="",
    unit="",
    judges_quick=True,
    where="table 4",
    setup="published: formulas for N elements, k pointers in a chunk and H levels. Ours: the "
    f"document's design built on a twin of its {NAND} (papers/capsule/_pointers.py), counted: "
    f"chunks with a header of 3 B, elements of 64 B behind a pointer of 4 B; N = {N}, k = {K}, "
    f"for what is compacted N = {MANY:,}; an index of {LEVELS} levels, the values' among them, "
    f"nodes of {K} positions and a buffer for one node a level. Beside it the first dequeue of "
    "our own queue, in reads of the chip",
)
def formulas(quick: bool) -> Report:  # noqa: ARG001
    """The document's design, counted, against its table; and our queue, whose index leads to the
    oldest element."""
    counted = {**_chains(), **_indices()}
    walks = {count: (_walk(count), _dequeue_reads(count)) for count in (5, 50, 500)}
    answers = [_answer(name, counts) for name, counts in counted.items()]
    answers.append(
        Answer(
            ", ".join(f"{ours}" for _, ours in walks.values()),
            holds=walks[500][1] <= walks[5][1] + 6,
            why="an index leads to the oldest element: header and payload of its chunk are two "
            "reads, and so is each node on the way",
            part="ours",
            claim="reads of the chip for the first of 5, 50 and 500 elements of our queue; the "
            f"document's design: {', '.join(str(theirs) for theirs, _ in walks.values())}",
            unit="reads",
            where=OURS,
            tolerance="on the way to 500 elements lie three levels of the index, two reads each",
            must_hold=True,
        )
    )
    rows: list[list[Value]] = [
        [name, *FORMULAS[name][1], *counts] for name, counts in counted.items()
    ]
    heads = [f"{head}, {by}" for by in ("formula", "counted") for head in COUNTED]
    return Report(answers, ["access", *heads], rows)
