# SPDX-License-Identifier: Apache-2.0
"""`nandwich torture`: looks for a history that makes a layer break its promises."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from nandwich import _native, files
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import Number, device_layer_options, json_option, writable
from nandwich.errors import InputError, RunError
from nandwich.torture import play as torture
from nandwich.torture.play import Options, Result
from nandwich.twin import parts


def _subjects() -> str:
    lines = (f"  {name:<11} {what}" for name, what in _native.torture_subjects())
    return "\b\nSubjects:\n" + "\n".join(lines)


_EPILOG = f"""{_subjects()}

\b
Examples:
  nandwich torture tree --chip W25N01GV --minutes 10
  nandwich torture tree --seeds 2000 --spare-blocks 12
  nandwich torture tree --chip mine.toml --out found.txt
  nandwich torture --replay found.txt
"""


@click.command(cls=Command, epilog=_EPILOG)
@click.argument("subject", required=False)
@click.option(
    "--chip",
    default="",
    metavar="NAME|FILE.toml",
    help="The part, its pages as they are; else small variants of several parts.",
)
@click.option(
    "--blocks", type=click.IntRange(0, 2**32 - 1), default=0, help="Of the chip; else few."
)
@device_layer_options
@click.option(
    "--minutes",
    type=Number(0, 100_000, min_open=True),
    default=None,
    help="How long, for one run at least; 1. Not with --seeds.",
)
@click.option(
    "--seeds", type=click.IntRange(1, 2**31), default=None, help="So many runs, however long."
)
@click.option("--seed", type=click.IntRange(0, 2**31), default=1, help="The first.")
@click.option(
    "--steps", type=click.IntRange(1, 10**6), default=None, help="Of a run, at most, all told."
)
@click.option(
    "--stable", is_flag=True, help="What a cut leaves reads the same until power comes back again."
)
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="Runs at a time.")
@click.option(
    "--out", default="", metavar="FILE", callback=writable, help="Where a history that fails goes."
)
@click.option("--replay", "replayed", default="", metavar="FILE", help="Plays that history.")
@json_option
def command(
    subject: str | None,
    out: str,
    replayed: str,
    json_target: str | None,
    seed: int,
    minutes: float | None,
    seeds: int | None,
    **choices: Any,
) -> None:
    """Look for a history that makes a layer lose data or break another promise.

    Histories drawn from seeds write, trim, sync and idle, cut power anywhere, also in mounts, let
    requests to the chip fail and blocks wear out, on new devices and on full ones. What a cut
    leaves is drawn anew at each read, as real pages have it, unless --stable. Judged are what
    may be read, errors without a reason, mounts, promised costs and misuse of the chip. What fails
    is shrunk and printed as a text that `--replay` plays again; then the exit code is 1.
    """
    if replayed:
        _refuse_choices()
    elif subject is None:
        raise InputError("name one subject, or --replay FILE: see nandwich torture --help")
    if minutes is not None and seeds is not None:
        raise InputError("--minutes or --seeds, not both")
    if replayed:
        _replay(replayed, json_target)
        return
    assert subject is not None
    if subject not in torture.SUBJECTS:
        known = ", ".join(torture.SUBJECTS)
        raise InputError(f"there is no subject '{subject}': one of {known}")
    options = _options(subject, seed, minutes, seeds, choices)
    output.check_apart(parts.files(options.chip), (out, json_target))
    result = _run(options)
    _tell(options, result, out, json_target)


def _refuse_choices() -> None:
    """A history names its subject, its chip and all that was chosen."""
    context = click.get_current_context()
    for param in context.command.params:
        source = context.get_parameter_source(str(param.name))
        of_replay = param.name in ("replayed", "json_target", "quiet", "verbose")
        if source is ParameterSource.COMMANDLINE and not of_replay:
            name = context.params["subject"] if param.name == "subject" else param.opts[0]
            raise InputError(f"--replay plays a history as it was drawn: leave out {name}")


def _options(
    subject: str, seed: int, minutes: float | None, seeds: int | None, choices: dict[str, Any]
) -> Options:
    settings = {name: choices[name] for name in ("spare_blocks", "degree", "maps")}
    return Options(
        subject,
        chip=choices["chip"],
        blocks=choices["blocks"],
        settings={name: value for name, value in settings.items() if value},
        steps=choices["steps"] or 0,
        stable=choices["stable"],
        first=seed,
        seeds=seeds or 0,
        seconds=60.0 * (minutes if minutes is not None else 1.0),
        jobs=choices["jobs"] or 0,
    )


def _run(options: Options) -> Result:
    result = Result()
    try:
        with output.progress("runs", options.seeds or 0) as bar:
            torture.run(options, bar.advance, result)
    except KeyboardInterrupt:
        output.talk("interrupted: what follows is of the runs so far")
    return result


def _counts(result: Result) -> list[tuple[str, int, str]]:
    return [
        ("runs", result.seeds, "that went well"),
        ("steps", result.steps, "of all runs"),
        ("mounts", result.mounts, ""),
        ("power cuts", result.cuts, "in the midst of a call or a mount"),
        ("changes", result.changes, "programs, erases and the like"),
        ("beyond", result.beyond, "runs that need only end, and spare a damaged device"),
    ]


def _document(options: dict[str, Any], result: dict[str, Any], seed: int | None) -> dict[str, Any]:
    return output.document("torture", 1, {"options": options, "result": result}, seed=seed)


def _tell(options: Options, result: Result, out: str, json_target: str | None) -> None:
    found = None
    if result.run is not None:
        found = {"seed": result.seed, **_finding(result.run)}
    if json_target != "-":
        output.print_table(("what", "how much", "meaning"), _counts(result))
    if json_target is not None:
        asked = {
            "subject": options.subject,
            "chip": options.chip,
            "blocks": options.blocks,
            "settings": options.settings,
            "steps": options.steps,
            "stable": options.stable,
            "seeds": options.seeds,
        }
        counts = {
            "runs": result.seeds,
            "steps": result.steps,
            "mounts": result.mounts,
            "cuts": result.cuts,
            "changes": result.changes,
            "beyond": result.beyond,
            "found": found,
        }
        output.write_json(json_target, _document(asked, counts, options.first))
    if result.run is None:
        return
    text = torture.as_text(result.run)
    if out:
        files.replace(Path(out), text.encode())
    elif json_target != "-":
        click.echo(text, nl=False)
    where = out or "FILE"
    raise RunError(
        f"{options.subject}: seed {result.seed} broke a promise ({result.run['judge']}): "
        f"{result.run['what']}; save the history and play it with nandwich torture --replay {where}"
    )


def _finding(run: dict[str, Any]) -> dict[str, Any]:
    return {name: run[name] for name in ("judge", "failed_step", "what", "history")}


def _replay(path: str, json_target: str | None) -> None:
    output.check_apart((path,), (json_target,))
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    run = torture.replay(text, path)
    fails = run["judge"] != torture.FINE
    if json_target is not None:
        counts = {name: run[name] for name in ("steps", "mounts", "cuts", "changes")}
        found = {"seed": None, **_finding(run)} if fails else None
        result = {"runs": 0 if fails else 1, **counts, "found": found}
        result["beyond"] = int(run["beyond"] != 0)
        output.write_json(json_target, _document({"replay": path}, result, None))
    if fails:
        raise RunError(f"{path}: {run['judge']} at step {run['failed_step']}: {run['what']}")
    if json_target != "-":
        click.echo(f"{path}: {run['steps']} steps, {run['cuts']} cuts: no promise is broken")
