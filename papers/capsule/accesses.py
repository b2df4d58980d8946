# SPDX-License-Identifier: Apache-2.0
"""C6, C7 and C8: what accesses to the objects cost (Mathur et al., SenSys 2006, evaluation)."""

import random
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, NOT_REACHABLE, Answer, Report, Value, experiment, near
from nandwich import plots
from papers.capsule._rig import PERCENT, TOLERANCE, Rig, card

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _answer(part: str, claim: str, measured: float, published: float, why: str) -> Answer:
    """A printed ratio and ours, by the rule for all of them."""
    return Answer(
        round(measured, 3),
        holds=near(measured, published, percent=PERCENT),
        why=why,
        part=part,
        claim=claim,
        published=published,
        unit="x",
        tolerance=TOLERANCE,
    )


def _write_uj(buffer: int) -> float:
    """uJ a byte of a stream made durable as often as a buffer of that size is full."""
    rig = Rig()
    stream = rig.store.create("data", "stream", unit_bytes=1)
    pieces, payload = 32768 // buffer, buffer - 14

    def write() -> None:
        for _ in range(pieces):
            rig.store.append(stream, bytes(payload))
            if buffer < 512:
                rig.store.sync()
        rig.store.sync()

    return rig.cost(write)[0] / (pieces * payload)


def _read_uj(size: int) -> float:
    """uJ a byte of elements of `size` bytes read one after the other."""
    rig = Rig()
    stream = rig.store.create("data", "stream")
    for _ in range(200):
        rig.store.append(stream, bytes(size))
    rig.flush()
    cursor = rig.store.first(stream)

    def read() -> None:
        for _ in range(200):
            rig.store.next(cursor)

    return rig.cost(read)[0] / (200 * size)


@experiment(
    "C6",
    claim="energy a byte against the size of the buffer",
    published="",
    unit="",
    judges_quick=True,
    where="figure 6",
    setup=card(
        "buffers of 512, 256 and 128 B, elements from 8 B on",
        "a stream of 32,768 B written in chunks of 512, 256 or 128 B, headers of 14 B in them, "
        "durable after each; 200 elements of 8 to 256 B of a stream read forward, the page buffer "
        "holding other things before",
    ),
)
def buffers(quick: bool) -> Report:  # noqa: ARG001
    """Writing made durable each 512, 256 or 128 bytes; reading elements of 8 to 256 bytes."""
    writes = {size: _write_uj(size) for size in (512, 256, 128)}
    reads = {size: _read_uj(size) for size in (8, 16, 32, 64, 128, 256)}
    pieces = (
        "a header of 14 bytes is paid by each piece (the paper's has 3); the paper's measured "
        "costs alone give 1.33 and 2.00"
    )
    claims = (
        (
            "write-256",
            "a byte written with 256 B against 512 B: 40 % more",
            writes[256] / writes[512],
            1.40,
            pieces,
        ),
        (
            "write-128",
            "a byte written with 128 B against 512 B: 118 % more",
            writes[128] / writes[512],
            2.18,
            pieces,
        ),
        (
            "read",
            "a byte read in elements of 64 B against 8 B: 72 % less",
            reads[64] / reads[8],
            0.28,
            "header and payload are two reads for elements of any size, and a header has 14 bytes; "
            "the paper's measured costs alone give 0.27, header and payload being one read",
        ),
    )
    full = Answer(
        round(writes[512], 3),
        verdict=NOT_JUDGED,
        why="true by construction: a full page at the document's costs, which are ours, takes "
        "(24.54 + 512 x 0.0962) / 512 = 0.144 uJ a byte; headers of 14 bytes and our index are the "
        "rest",
        part="write",
        claim="a byte written with a buffer of 512 B",
        published=0.144,
        unit="uJ",
    )
    answers = [full, *(_answer(*one) for one in claims)]
    rows: list[list[Value]] = [["write", size, round(cost, 4)] for size, cost in writes.items()]
    rows += [["read", size, round(cost, 4)] for size, cost in reads.items()]

    draw = partial(_draw_buffers, writes, reads)
    return Report(answers, ["access", "bytes", "uJ a byte"], rows, draw)


def _draw_buffers(writes: dict[int, float], reads: dict[int, float], axes: "Axes") -> None:
    """Ours, and what is printed of writes; of reads only a ratio is."""
    axes.plot(list(writes), list(writes.values()), label="write, by buffer")
    axes.plot(list(reads), list(reads.values()), label="read, by element")
    printed = {512: 0.144, 256: 1.40 * 0.144, 128: 2.18 * 0.144}
    plots.printed(axes, list(printed), list(printed.values()), "write, printed")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    plots.plain_ticks(axes.xaxis, [*reads, 512])
    plots.plain_ticks(axes.yaxis, (0.1, 0.2, 0.5, 1, 2))
    axes.set_xlabel("bytes of the buffer, or of the element")
    axes.set_ylabel("uJ a byte")
    axes.legend(fontsize=7)


def _one_round(number: int) -> dict[str, float]:
    """uJ of each access, 5 elements of 64 bytes an object, read when the buffer holds others."""
    rig = Rig()
    store = rig.store
    element = bytes(range(64))
    stack, queue = store.create("stack", "stack"), store.create("queue", "queue")
    stream = store.create("stream", "stream")
    index = store.create("index", "array", unit_bytes=64, count=64)
    puts: dict[str, Callable[[int], None]] = {
        "push": lambda _: store.push(stack, element),
        "enqueue": lambda _: store.push(queue, element),
        "append": lambda _: store.append(stream, element),
        "set": lambda key: store.set(index, key, element),
    }
    costs = {}
    for name, put in puts.items():
        rig.flush(8 * number)
        calls = [partial(put, key) for key in range(5)]
        costs[name] = rig.cost(*calls, store.sync)[0] / 5
    rig.flush()
    cursor = store.first(stream)
    dequeues = [rig.cost(lambda: store.dequeue(queue))[0] for _ in range(5)]
    costs["pop"] = rig.cost(*[lambda: store.pop(stack)] * 5)[0] / 5
    costs["dequeue, first"], costs["dequeue, fifth"] = dequeues[0], dequeues[4]
    costs["next"] = rig.cost(*[lambda: store.next(cursor)] * 5)[0] / 5
    costs["get"] = rig.cost(*[partial(store.get, index, key) for key in range(5)])[0] / 5
    return costs


#: What the paper's own chunk of 3 + 64 bytes takes at the paper's own table of costs. A read is one
#: operation, header and payload in one pass: so the document says, and so its figure 6 comes out.
WRITE = "a write takes (24.54 + 5 x 67 x 0.0962) / 5 = 11.4 uJ"
READ = "a read, header and payload in one operation, 4.07 + 67 x 0.105 = 11.1 uJ"
WALK = "a header alone 4.07 + 3 x 0.105 = 4.4 uJ"


def _beyond(
    part: str, claim: str, measured: float, published: float, unit: str, sum_: str
) -> Answer:
    """A figure that holds more than the table of costs: nothing we charge may reach it."""
    return Answer(
        round(measured, 3),
        verdict=NOT_REACHABLE,
        why=f"the paper's own chunk of 64 B at its own costs: {sum_}; the printed figure holds "
        "more than these costs, which are all that the twin charges",
        part=part,
        claim=claim,
        published=published,
        unit=unit,
    )


def _object_costs() -> dict[str, float]:
    """The mean of rounds that begin at different places of a page."""
    rounds = [_one_round(number) for number in range(64)]
    return {name: sum(costs[name] for costs in rounds) / len(rounds) for name in rounds[0]}


@experiment(
    "C7",
    claim="energy of an access to each object",
    published="",
    unit="",
    judges_quick=True,
    where="figure 7",
    setup=card(
        "5 elements of 64 B in each object, durable after the fifth",
        "5 elements to a stack, a queue, a stream and an array of 64 keys, durable after the "
        "fifth; then, the page buffer holding other things, 5 pops, 5 dequeues, 5 reads forward of "
        "the stream, and keys 0 to 4; the mean of 64 such rounds, whose writes begin 8 B apart",
    ),
)
def objects(quick: bool) -> Report:  # noqa: ARG001
    """5 elements of 64 bytes, a buffer of 512 bytes made durable after the fifth."""
    costs = _object_costs()
    push, pop = costs["push"], costs["pop"]
    both = f"{WRITE}, {READ}"
    answers = [
        _beyond(
            "push",
            "push against pop: 34 % less",
            push / pop,
            0.66,
            "of a pop",
            f"{both}: 1.02 (0.75 were a read two operations)",
        ),
        Answer(
            round(costs["dequeue, first"] / costs["enqueue"], 3),
            verdict=NOT_JUDGED,
            why="ours walks over no element, for an index leads to the oldest one; with the "
            f"document's walk, {both}, {WALK}: four headers and a read are 2.5 writes (2.9 were a "
            "read two operations)",
            part="dequeue",
            claim="the first dequeue against an enqueue",
            published=3.7,
            unit="enqueues",
        ),
        Answer(
            round(costs["dequeue, fifth"] / pop, 3),
            verdict=NOT_JUDGED,
            why="true by construction: an index leads to any element, so each dequeue is a pop",
            part="fifth",
            claim="the fifth dequeue against a pop",
            published=1.0,
            unit="pops",
        ),
        _beyond(
            "get",
            "get against set",
            costs["get"] / costs["set"],
            1.52,
            "sets",
            f"{both}: 0.98, for as many levels are read as written (1.34 were a read two "
            "operations)",
        ),
        _beyond("append", "append to a stream", costs["append"] / 1000, 0.028, "mJ", WRITE),
        _beyond("next", "read from a stream", costs["next"] / 1000, 0.043, "mJ", READ),
    ]

    def draw(axes: "Axes") -> None:
        axes.barh(list(costs), list(costs.values()), label="ours")
        places = [list(costs).index(name) for name in ("append", "next")]
        plots.printed(axes, (28, 43), places, "printed")
        axes.invert_yaxis()
        axes.set_xlabel("uJ an element of 64 B")
        axes.legend(fontsize=7)

    rows: list[list[Value]] = [[name, round(cost, 3)] for name, cost in costs.items()]
    return Report(answers, ["access", "uJ"], rows, draw)


def _index_costs(fan: int, count: int) -> dict[str, float]:
    """uJ of an access to an array of 32,768 keys of 4 bytes, in sequence and at random: the same
    keys for each size."""
    costs = {}
    dice = random.Random(8)
    orders = {
        "sequential": list(range(count)),
        "random": [dice.randrange(32768) for _ in range(count)],
    }
    for name, keys in orders.items():
        rig = Rig(blocks=1024, fan=fan, frames=8)
        array = rig.store.create("index", "array", unit_bytes=4, count=32768)
        sets = [partial(rig.store.set, array, key, bytes(4)) for key in keys]
        costs[f"{name} insert"] = rig.cost(*sets, rig.store.sync)[0] / count
        rig.flush()
        gets = [partial(rig.store.get, array, key) for key in keys]
        costs[f"{name} lookup"] = rig.cost(*gets)[0] / count
    return costs


def _best(name: str, costs: dict[int, float]) -> Answer:
    """The cheapest size of nodes, by what an access takes with each."""
    best = min(costs, key=lambda size: costs[size])
    upwards = name.startswith("sequential")
    return Answer(
        best,
        holds=not upwards and near(costs[64], costs[best], percent=PERCENT),
        verdict=NOT_JUDGED if upwards else "",
        why=f"ours end at {max(costs)} B, where the claim begins: a node of 512 B and its 14 B of "
        "header do not fit a page of 512 B"
        if upwards
        else f"with 64 B an access takes {100 * (costs[64] / costs[best] - 1):.0f} % more than "
        "that; ours has as many levels as it needs, not two, and frames hold the upper ones",
        part=name.replace(" ", "-"),
        claim=f"{name} is cheapest with nodes of",
        published=">= 256" if upwards else 64,
        tolerance=""
        if upwards
        else f"an access with 64 B takes at most {PERCENT} % more than the cheapest: what the "
        "document's own costs are off, and which keys the dice choose",
    )


@experiment(
    "C8",
    claim="index of 32,768 keys: the best size of its nodes",
    published="",
    unit="B",
    where="figure 8",
    setup=card(
        "32,768 keys in an index of two levels, a node's buffer a level",
        "4,000 keys of 4 B, from 0 on or any, set in an empty array of 32,768, then made durable; "
        "the same read, the page buffer holding other things before; nodes of 8, 16, 32 and 64 "
        "entries (32 to 256 B) in as many levels as that takes",
        blocks=1024,
        frames="8 of 8 to 64 entries",
    ),
)
def nodes(quick: bool) -> Report:
    """Nodes of 8 to 64 entries of 4 bytes and 14 bytes of header; frames for 8 nodes."""
    fans = (8, 16, 32, 64)
    table = {4 * fan: _index_costs(fan, 500 if quick else 4000) for fan in fans}
    names = list(table[32])
    answers = [_best(name, {size: table[size][name] for size in table}) for name in names]
    rows: list[list[Value]] = [
        [size, *(round(table[size][name], 2) for name in names)] for size in table
    ]

    def draw(axes: "Axes") -> None:
        for name in names:
            axes.plot(list(table), [table[size][name] for size in table], label=name)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("bytes of entries in a node")
        axes.set_ylabel("uJ an access")
        axes.legend()

    return Report(answers, ["node B", *(f"{name} uJ" for name in names)], rows, draw)
