# SPDX-License-Identifier: Apache-2.0
"""`nandwich tune`: finds the best chip, layer, RAM, spare blocks and NVM for a workload."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from nandwich import files, locks, names
from nandwich.cli import output, signals
from nandwich.cli.command import Command
from nandwich.cli.options import SIZE, TIME, Number, json_option, writable
from nandwich.cli.sweep import export
from nandwich.cli.sweep.engine import Engine
from nandwich.cli.sweep.kept import Kept, Store
from nandwich.cli.tune import answer, goals, search, space
from nandwich.cli.tune.goals import Limits
from nandwich.cli.tune.need import Needs
from nandwich.cli.tune.search import Candidate, Found, Search
from nandwich.cli.tune.space import Space
from nandwich.errors import InputError, not_written
from nandwich.quantities import format_size
from nandwich.replay import play, pool
from nandwich.replay.life import DAY_NS
from nandwich.twin import parts

_STORE = Path("tune.sqlite")
#: Options that do not change the answer, each with a value.
_NO_QUESTION = frozenset({"--jobs", "--store", "--out", "--export", "--json"})
_EPILOG = """\b
Examples:
  nandwich tune examples/traces/camera.csv --chips K9F1G08U0A,W25N01GV
  nandwich tune swap.csv --chips W25N01GV --swap --max-ram 24K --out choice.toml
  nandwich tune gen:sensor,footprint=32M --chips W25N01GV,TLC8G --min-life 5y --best cost
  nandwich tune gen:zipf,footprint=32M --chips W25N01GV --show-space > space.toml
  nandwich tune gen:zipf,footprint=32M --space space.toml --evaluations 300 --json tuned.json
  nandwich replay gen:zipf,footprint=32M --config choice.toml
"""


def _export(ctx: click.Context, param: click.Parameter, target: str | None) -> str | None:
    if target is None:
        return None
    export.check(target)
    return writable(ctx, param, target)


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("source", metavar="TRACE|gen:NAME|access:FILE")
@click.option("--chips", default="", metavar="A,B,...", help="Parts, or files of your own.")
@click.option(
    "--space",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="SPACE.toml",
    help="Where to search: a spec as of nandwich sweep. [default: what --show-space prints]",
)
@click.option("--show-space", is_flag=True, help="Prints the default space, and plays nothing.")
@click.option("--swap", is_flag=True, help="Layers too that forget with power: for swap space.")
@click.option(
    "--evaluations",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Replays at most.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Of the search."
)
@click.option("--jobs", type=click.IntRange(1, 256), help="Replays at a time. [default: all cores]")
@click.option("--max-ram", type=SIZE, default=0, metavar="SIZE", help="Of the layer, say 24K.")
@click.option("--max-flash", type=SIZE, default=0, metavar="SIZE", help="Say 64M.")
@click.option("--min-life", type=TIME, default=0, metavar="TIME", help="Say 5y, or 400d.")
@click.option(
    "--daily", type=SIZE, default=0, metavar="SIZE", help="Written a day; as the trace does."
)
@click.option(
    "--ram-price",
    type=Number(0, 1e9),
    default=goals.PRICE,
    show_default=True,
    help="Of a byte of RAM or NVM, in bytes of flash.",
)
@click.option(
    "--best",
    type=click.Choice(answer.BESTS),
    default="balanced",
    show_default=True,
    help="What is chosen of the front.",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    default=_STORE,
    show_default=True,
    metavar="FILE",
    help="Where results are kept and found again.",
)
@click.option("--out", metavar="CHOICE.toml", callback=writable, help="The choice, for --config.")
@click.option(
    "--export",
    "table",
    metavar="FILE",
    callback=_export,
    help="A row for each replay: FILE.csv, .json or .parquet.",
)
@json_option
def command(
    source: str,
    chips: str,
    file: Path | None,
    show_space: bool,
    swap: bool,
    jobs: int | None,
    store: Path,
    out: str | None,
    table: str | None,
    json_target: str | None,
    **choices: Any,
) -> None:
    """Find the best configuration for a workload: chip, layer, RAM, spare blocks, NVM.

    Time and energy a host byte, life and cost are four goals at once; cost is bytes of flash, with
    RAM and NVM at --ram-price. A sampler that learns asks for configurations, and each is replayed.
    Shown is the front: what no other beats in all goals. Results are kept: the same line goes on
    after Ctrl-C or a kill, and plays nothing twice. The same seed gives the same answer, whatever
    --jobs is.
    """
    names_of_parts = _chips(chips)
    if file is None and not names_of_parts:
        raise InputError("which chips? Give --chips A,B (nandwich chips lists them), or --space")
    asked = _Asked(**choices)
    text = space.default_text(source, names_of_parts, swap=swap, ram_most=asked.max_ram)
    if show_space:
        click.echo(text, nl=False)
        return
    if file is None:
        searched = space.default(text, source)
    elif swap:
        raise InputError("--swap is of the default space: in yours name the layers, ftl = [...]")
    else:
        searched = space.read(file, source, names_of_parts)
    space.refuse_empty(searched)
    inputs = [
        *play.inputs(space.parsed(searched.point(searched.first()))),
        *([file] if file else []),
    ]
    output.check_apart(inputs, (store, out, table, json_target))
    to = _Targets(store, out, table, json_target)
    _tune(searched, source, inputs, asked, to, jobs or pool.processors())


def _chips(text: str) -> list[str]:
    found = [word.strip() for word in text.split(",")] if text else []
    for one in found:
        if not one or found.count(one) > 1:
            raise InputError(f"--chips {text}: {one or 'a name'} is {'twice' if one else 'empty'}")
        parts.resolve(one)
    return found


@dataclass(frozen=True)
class _Asked:
    """What the line asks for beside source and space."""

    evaluations: int
    seed: int
    max_ram: int
    max_flash: int
    min_life: int
    daily: int
    ram_price: float
    best: str

    def limits(self, daily: int) -> Limits:
        return Limits(self.max_ram, self.max_flash, self.min_life * daily // DAY_NS)

    def as_json(self, source: str, daily: int) -> dict[str, Any]:
        return {
            "source": source,
            "evaluations": self.evaluations,
            "best": self.best,
            "max_ram_bytes": self.max_ram,
            "max_flash_bytes": self.max_flash,
            "min_life_days": self.min_life / DAY_NS,
            "daily_bytes": daily,
            "ram_price": self.ram_price,
        }


@dataclass(frozen=True)
class _Targets:
    """What is written."""

    store: Path
    out: str | None
    table: str | None
    json_target: str | None


def _tune(
    searched: Space, source: str, inputs: Sequence[Path], asked: _Asked, to: _Targets, jobs: int
) -> None:
    """The whole of it."""
    needs = Needs(space.parsed(searched.point(searched.first())))
    daily = asked.daily or goals.rate(needs.facts)
    if not needs.facts["duration_ns"]:
        searched.without("idle")
    if asked.min_life and not daily:
        raise InputError(f"--min-life: {source} has no times: --daily SIZE says what is written")
    judge = _Judge(searched, needs, asked.limits(daily), asked.ram_price, daily)
    lock = locks.Lock(to.store)
    try:
        with signals.unwinding(), Store(to.store) as results:
            found = judge.search(Engine(results, jobs, lock), asked)
    finally:
        lock.release()
    told = answer.of(found, asked.best, daily)
    value = {
        "question": asked.as_json(source, daily),
        "space": [{"key": one.key, "values": list(one.values)} for one in searched.axes],
        "combinations": searched.size,
        "repeated": found.repeated,
        "impossible": dict(found.impossible.most_common()),
        "choice": told.chosen + 1,
        "reasons": answer.reasons(told),
        "rows": answer.rows(told),
    }
    _write(value, answer.choice_toml(told, searched, source, _line()), inputs, asked.seed, to)
    if to.json_target != "-":
        _show(found, told, searched.size)


def _line() -> str:
    """This line without what does not change the answer."""
    kept = []
    words = iter(sys.argv[1:])
    for word in words:
        name, has_value, _ = word.partition("=")
        if name not in _NO_QUESTION:
            kept.append(word)
        elif not has_value:
            next(words, None)
    return shlex.join(("nandwich", *kept))


def _write(
    value: dict[str, Any], choice: bytes, inputs: Sequence[Path], seed: int, to: _Targets
) -> None:
    """The files that were asked for."""
    document = output.document("tune", 1, value, seed=seed, inputs=inputs, command=_line())
    for target in (to.json_target, to.table):
        if target is not None and (target == to.json_target or target.endswith(".json")):
            output.write_json(target, document)
        elif target is not None:
            made = export.as_csv if target.endswith(".csv") else export.as_parquet
            _replace(target, made(answer.columns(value["rows"])))
    if to.out is not None:
        _replace(to.out, choice)


def _replace(target: str, data: bytes) -> None:
    try:
        files.replace(Path(target), data)
    except OSError as error:
        raise not_written(f"cannot write {target}: {error.strerror}", error) from error


class _Judge:
    """What the search asks: whether a combination can be, and what becomes of it."""

    def __init__(
        self, searched: Space, needs: Needs, limits: Limits, price: float, daily: int
    ) -> None:
        self._space = searched
        self._needs = needs
        self._limits = limits
        self._price = price
        self._daily = daily

    def search(self, engine: Engine, asked: _Asked) -> Search:
        """Searches, with a bar."""
        total = min(asked.evaluations, self._space.size or asked.evaluations)
        with output.progress("replays", total, rate="replays") as bar:

            def played(batch: Sequence[Candidate]) -> list[Found]:
                kept = engine.play([one.point for one in batch], bar)
                return [self._judged(*pair) for pair in zip(batch, kept, strict=True)]

            found = Search(self._space, self._look, played)
            found.run(asked.evaluations, asked.seed)
        new = engine.played
        output.talk(f"{output.counted(new, 'replay')} played, {len(found.found) - new} known")
        return found

    def _look(self, chosen: dict[str, Any]) -> Candidate:
        point = self._space.point(chosen)
        options = space.parsed(point)
        need = self._needs.of(options)
        why, over = need.why, 0.0
        if not why and (over := self._limits.over(need)) > 0:
            sizes = (
                f"{format_size(need.ram_bytes)} of RAM, {format_size(need.flash_bytes)} of flash"
            )
            why = f"over --max-ram or --max-flash, such as {sizes}"
        elif not why and 0 < need.most_bytes < self._limits.life_bytes and not options.nvm:
            over = self._limits.short(need.most_bytes)
            why = f"a life of {answer.life(need.most_bytes, self._daily)} at most"
        cost = goals.cost(need, options.nvm, self._price)
        return Candidate(chosen, point, need, why, over, cost)

    def _judged(self, candidate: Candidate, kept: Kept) -> Found:
        if kept.state != "done":
            return Found(candidate, None, kept.why or kept.state, search.NO_ROOM)
        found = goals.of(kept, candidate.need, self._price)
        over = self._limits.short(found.life_bytes)
        short = f"a life of {answer.life(found.life_bytes, self._daily)}"
        return Found(candidate, found, short if over > 0 else "", over)


def _show(found: Search, told: answer.Answer, size: int | None) -> None:
    for line in answer.summary(found, told, size):
        click.echo(names.shown(line))
    click.echo()
    output.print_table(*answer.table(told))
    click.echo()
    for sentence in answer.reasons(told):
        click.echo(names.shown(sentence))
    for note in (answer.forgets(told), answer.worn(told)):
        if note:
            output.talk(note)
    output.talk("time and energy are of a host byte; cost: flash, and RAM and NVM at --ram-price")
