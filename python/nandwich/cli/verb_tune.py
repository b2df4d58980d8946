# SPDX-License-Identifier: Apache-2.0
"""`nandwich tune`: finds the best chip, layer, RAM, spare blocks and NVM for a workload, and page
frames for a program."""

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from nandwich import files, names
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import (
    SIZE,
    Number,
    Quantity,
    json_option,
    scheduler_option,
    writable,
)
from nandwich.cli.sweep import export
from nandwich.cli.sweep.engine import Engine, opened, places
from nandwich.cli.sweep.kept import Kept
from nandwich.cli.tune import answer, goals, program, search, space
from nandwich.cli.tune.goals import Limits
from nandwich.cli.tune.need import Need, Needs
from nandwich.cli.tune.search import Candidate, Found, Search
from nandwich.cli.tune.space import Space
from nandwich.errors import InputError, not_written
from nandwich.replay import accesses, traffic
from nandwich.replay.life import DAY_NS

_STORE = Path("tune.sqlite")
#: Options that do not change the answer, each with a value.
_NO_QUESTION = frozenset({"--jobs", "--scheduler", "--store", "--out", "--export", "--json"})
_EPILOG = """\b
Examples:
  nandwich tune examples/traces/camera.csv --chips K9F1G08U0A,W25N01GV
  nandwich tune swap.csv --chips W25N01GV --swap --max-ram 24K --out choice.toml
  nandwich tune gen:sensor,footprint=32M --chips W25N01GV,TLC8G --min-life 5y --best cost
  nandwich tune gen:zipf,footprint=32M --chips W25N01GV --show-space > space.toml
  nandwich tune gen:zipf,footprint=32M --space space.toml --evaluations 300 --json tuned.json
  nandwich replay gen:zipf,footprint=32M --config choice.toml
  nandwich tune sort.acc --chips W25N01GV --max-ram 48K
  nandwich tune examples/sort.c --chips W25N01GV --out choice.toml -- heap 2000
  nandwich run examples/sort.c --config choice.toml -- heap 2000
"""


def _choice(ctx: click.Context, param: click.Parameter, target: str | None) -> str | None:
    """As writable(); a file that tune did not write, such as a space, stays as it is."""
    if target is None:
        return None
    writable(ctx, param, target)
    if Path(target).exists():
        with Path(target).open("rb") as file:
            if file.read(len(answer.BEGINNING)) != answer.BEGINNING:
                raise InputError(f"--out {target}: not written by nandwich tune: name another file")
    return target


class _Tune(Command):
    """Everything after `--` belongs to the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        split = args.index("--") if "--" in args else len(args)
        ctx.params["arguments"] = tuple(args[split + 1 :])
        return super().parse_args(ctx, args[:split])


@click.command(cls=_Tune, epilog=_EPILOG)
@click.argument("sources", nargs=-1, required=True, metavar="TRACE|gen:NAME|access:FILE|FILE.c...")
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
@scheduler_option
@click.option(
    "--max-ram", type=SIZE, default=0, metavar="SIZE", help="Of layer and page frames, say 24K."
)
@click.option("--max-flash", type=SIZE, default=0, metavar="SIZE", help="Say 64M.")
@click.option(
    "--min-life",
    type=Quantity("time", bare=False),
    default=0,
    metavar="TIME",
    help="Say 5y, or 400d.",
)
@click.option(
    "--daily", type=SIZE, default=0, metavar="SIZE", help="Written a day; as the trace does."
)
@click.option("--runs", type=Number(0, 1e9), default=0, help="Of a program a day, for its life.")
@click.option("--vm", type=SIZE, help="Virtual memory of a program.  [default: 8M]")
@click.option(
    "--cflags", multiple=True, metavar="'FLAGS'", help="A program's, for the compiler; or several."
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
@click.option("--out", metavar="CHOICE.toml", callback=_choice, help="The choice, for --config.")
@click.option(
    "--export",
    "table",
    metavar="FILE",
    callback=export.asked,
    help="A row for each replay: FILE.csv, .json or .parquet.",
)
@json_option
def command(
    sources: tuple[str, ...],
    arguments: tuple[str, ...],
    chips: str,
    file: Path | None,
    show_space: bool,
    swap: bool,
    jobs: int | None,
    scheduler: str,
    vm: int | None,
    cflags: tuple[str, ...],
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
    --jobs and --scheduler are.

    Of a program's recorded accesses the page frames are chosen too: their size, how many, and which
    page leaves; goals are by the access then. A C program is run once, to record them.
    """
    names_of_parts = _chips(chips)
    if file is None and not names_of_parts:
        raise InputError("which chips? Give --chips A,B (nandwich chips lists them), or --space")
    if file is not None and swap:
        raise InputError("--swap is of the default space: in yours name the layers, ftl = [...]")
    asked = _Asked(**choices)
    written = program.of(sources, arguments, cflags, vm)
    source = _source(sources)
    if traffic.is_block_trace(source) and not Path(source).exists():
        raise InputError(f"{source}: no such file; gen:NAME is a workload")
    to = _Targets(store, out, table, json_target)

    def searched(source: str) -> Space:
        if file is not None:
            return space.read(file, source, names_of_parts)
        return space.default(_text(source, names_of_parts, asked, swap), source)

    if show_space:
        text = _text(source, names_of_parts, asked, swap)
        click.echo(text.replace(json.dumps(source), json.dumps(sources[0])), nl=False)
        return
    if written is not None:
        most = searched(source).most_bytes("frame")
        output.check_apart(written.inputs, to.written)
        made = written.recorded(most, store, to.written)
        source = accesses.source_of(str(made), {})
    found = searched(source)
    space.refuse_empty(found)
    inputs = [
        *traffic.inputs(space.parsed(found.point(found.first()))),
        *(written.inputs if written is not None else ()),
        *([file] if file else []),
    ]
    output.check_apart(inputs, to.written)
    engine = partial(opened, jobs=places(jobs, scheduler), scheduler=scheduler)
    _tune(found, source, inputs, asked, to, engine)


def _source(sources: tuple[str, ...]) -> str:
    """The source of replay that stands for what the line names."""
    if program.is_one(sources[0]):
        return accesses.source_of(sources[0], {})
    if len(sources) > 1:
        raise InputError(f"{sources[1]}: one workload at a time; a program may be several FILE.c")
    if traffic.is_block_trace(sources[0]) and accesses.is_trace(sources[0]):
        return accesses.source_of(sources[0], {})
    return sources[0]


def _text(source: str, chips: list[str], asked: "_Asked", swap: bool) -> str:
    """The default space."""
    if not accesses.is_asked(source):
        return space.default_text(source, chips, swap=swap, ram_most=asked.max_ram)
    if swap:
        raise InputError("--swap is of block traces: virtual memory is swap space anyway")
    return space.default_text_of_accesses(source, chips, ram_most=asked.max_ram)


def _chips(text: str) -> list[str]:
    found = [word.strip() for word in text.split(",")] if text else []
    for one in found:
        if not one or found.count(one) > 1:
            raise InputError(f"--chips {text}: {one or 'a name'} is {'twice' if one else 'empty'}")
        space.refuse_other_than_flash(one)
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
    runs: float
    ram_price: float
    best: str

    def limits(self, daily: int) -> Limits:
        return Limits(self.max_ram, self.max_flash, self.min_life * daily // DAY_NS)

    def done_daily(self, source: str, needs: Needs) -> int:
        """Bytes written, or accesses, a day; 0: not known. InputError for what does not fit the
        source."""
        if needs.accesses:
            if self.daily:
                raise InputError("--daily: a program writes what its memory asks for: give --runs")
            if self.min_life and not self.runs:
                raise InputError("--min-life: --runs N says how often the program runs a day")
            return round(self.runs * needs.accesses)
        if self.runs:
            raise InputError(f"--runs is of a program's accesses; {source} has none")
        daily = self.daily or goals.rate(needs.facts)
        if self.min_life and not daily:
            raise InputError(
                f"--min-life: {source} has no times: --daily SIZE says what is written"
            )
        return daily

    def as_json(self, source: str, needs: Needs, daily: int) -> dict[str, Any]:
        return {
            "source": source,
            "unit": "access" if needs.accesses else "byte",
            "accesses": needs.accesses or None,
            "evaluations": self.evaluations,
            "best": self.best,
            "max_ram_bytes": self.max_ram,
            "max_flash_bytes": self.max_flash,
            "min_life_days": self.min_life / DAY_NS,
            "daily": daily,
            "ram_price": self.ram_price,
        }


@dataclass(frozen=True)
class _Targets:
    """What is written."""

    store: Path
    out: str | None
    table: str | None
    json_target: str | None

    @property
    def written(self) -> tuple[Path | str | None, ...]:
        return self.store, self.out, self.table, self.json_target


def _tune(
    searched: Space,
    source: str,
    inputs: Sequence[Path],
    asked: _Asked,
    to: _Targets,
    opened: Callable[[Path], AbstractContextManager[Engine]],
) -> None:
    """The whole of it."""
    needs = _needs(searched)
    daily = asked.done_daily(source, needs)
    if not needs.facts["duration_ns"]:
        searched.without("idle")
    judge = _Judge(searched, needs, asked.limits(daily), asked.ram_price, daily)
    with opened(to.store) as engine:
        found = judge.search(engine, asked)
    told = answer.of(found, asked.best, daily, needs.accesses)
    value = {
        "question": asked.as_json(source, needs, daily),
        "space": [{"key": one.key, "values": list(one.values)} for one in searched.axes],
        "combinations": searched.size,
        "repeated": found.repeated,
        "impossible": dict(found.impossible.most_common()),
        "choice": told.chosen + 1,
        "reasons": answer.reasons(told),
        "rows": answer.rows(told),
    }
    _write(value, answer.choice_toml(told, searched, _line()), inputs, asked.seed, to)
    if to.json_target != "-":
        _show(found, told, searched.size)


def _needs(searched: Space) -> Needs:
    """What configurations take; InputError for a source that cannot be read."""
    try:
        return Needs(space.parsed(searched.point(searched.first())))
    except InputError as error:
        said = error.message
        if traffic.HINT not in said:
            raise
        said = said.replace(traffic.HINT, "of another csv name the columns in [base] of --space")
        example = 'columns = "time,op,offset,size" and unit = "us"'
        raise InputError(f"{said}, say {example}; --show-space prints a space") from error


def _line() -> str:
    """This line without what does not change the answer."""
    kept = []
    words = iter(sys.argv[1:])
    for word in words:
        if word == "--":
            kept += [word, *words]
            break
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
            export.write(target, answer.columns(value["rows"]))
    if to.out is not None:
        try:
            files.replace(Path(to.out), choice)
        except OSError as error:
            raise not_written(f"cannot write {to.out}: {error.strerror}", error) from error


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
        try:
            options = space.parsed(point)
        except InputError as error:  # a memory that has no whole frames, say
            return Candidate(chosen, point, Need(error.message), error.message)
        need = self._needs.of(options)
        why, over = need.why, 0.0
        if not why and (over := self._limits.over(need)) > 0:
            why = "over --max-ram or --max-flash"
        elif not why and 0 < need.most_bytes < self._limits.life and not options.nvm:
            over = self._limits.short(need.most_bytes)
            why = f"a life of {self._life(need.most_bytes)} at most"
        cost = goals.cost(need, options.nvm, self._price)
        return Candidate(chosen, point, need, why, over, cost)

    def _judged(self, candidate: Candidate, kept: Kept) -> Found:
        if kept.state != "done":
            return Found(candidate, None, kept.why or kept.state, search.NO_ROOM)
        found = goals.of(kept, candidate.need, self._price)
        over = self._limits.short(found.life)
        short = f"a life of {self._life(found.life)}"
        return Found(candidate, found, short if over > 0 else "", over)

    def _life(self, life: int) -> str:
        return answer.life(life, self._daily, self._needs.accesses)


def _show(found: Search, told: answer.Answer, size: int | None) -> None:
    for line in answer.summary(found, told, size):
        click.echo(names.shown(line))
    click.echo()
    output.print_table(*answer.table(told))
    click.echo()
    for sentence in answer.reasons(told):
        click.echo(names.shown(sentence))
    for note in filter(None, (answer.legend(told), *answer.notes(told))):
        output.talk(note)
    what = "an access, and of the device alone" if told.accesses else "a host byte"
    output.talk(f"time and energy are of {what}; cost: flash, and RAM and NVM at --ram-price")
