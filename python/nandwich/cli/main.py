# SPDX-License-Identifier: Apache-2.0
"""Entry point: finds the verbs and loads only the one that was asked for."""

import codecs
import errno
import importlib
import io
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from nandwich import names, paths
from nandwich._version import __version__
from nandwich.cli import loudness
from nandwich.errors import InputError, RunError

#: Verbs that work without (or before) a build.
_NEEDS_NO_BUILD = frozenset({"doctor"})


#: Verbs that measure this project: they lie in the folder `lab` of a checkout, as `lab.verb_X`.
_OF_THE_LAB = frozenset({"bench", "papers"})


class VerbGroup(click.Group):
    """A group whose commands are the files `verb_*.py` beside this one and those of the lab,
    imported when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        folder = Path(__file__).parent
        stems = (path.stem for path in folder.glob("verb_*.py"))
        verbs = {stem.removeprefix("verb_").replace("_", "-") for stem in stems}
        return sorted(verbs | _OF_THE_LAB)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        if _is_absent(cmd_name):
            return _absent(cmd_name)
        package = "lab" if cmd_name in _OF_THE_LAB else "nandwich.cli"
        module = importlib.import_module(f"{package}.verb_" + cmd_name.replace("-", "_"))
        command = module.command
        assert isinstance(command, click.Command), f"{module.__name__}.command is not a command"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with what their files say of them: importing all takes a second."""
        told = [click.Command(verb, help=promise(verb)) for verb in self.list_commands(ctx)]
        click.Group(commands=told).format_commands(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # By name alone: importing a verb takes the build, whose absence is told below.
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            raise names.unknown(
                "verb", args[0], self.list_commands(ctx), list_with="nandwich --help"
            )
        asks_help = any(argument in ("-h", "--help") for argument in args)
        if not asks_help and args and args[0] not in _NEEDS_NO_BUILD:
            paths.check_fresh()
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """The verb; whatever it did not expect ends in one sentence too."""
        if sys.stdout is None:
            raise RunError("stdout is closed: give it a file, a pipe or /dev/null")
        try:
            result = super().invoke(ctx)
            _tell_effort()
            sys.stdout.flush()
        except KeyboardInterrupt:
            click.echo("nandwich: interrupted", err=True)
            raise click.exceptions.Exit(130) from None
        except (click.exceptions.Exit, click.Abort, click.ClickException):
            raise
        except OSError as error:
            if error.errno == errno.EPIPE:
                _leave()
            where = "" if error.filename is None else f"{error.filename}: "
            _fail(f"{where}{error.strerror or error}", error)
        except (MemoryError, RecursionError) as error:
            _fail("out of memory: the request is too large for this machine", error)
        except Exception as error:
            what = f"{type(error).__name__}: {error}".partition("\n")[0]
            _fail(f"internal error: {what} (a defect of nandwich: please report it)", error)
        return result

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        try:
            return super().make_context(*args, **more)
        except OSError as error:  # the help is written here
            if error.errno == errno.EPIPE:
                _leave()
            raise

    def main(self, args: Sequence[str] | None = None, *more: Any, **options: Any) -> Any:
        _open_standard_files()
        try:
            return super().main(args, *more, **options)
        except OSError as error:  # help and version are written before a verb begins
            failure = RunError(error.strerror or str(error))
            failure.show()
            sys.exit(failure.exit_code)


#: The first paragraph of what `command` of a verb's file says of itself.
_PROMISE = re.compile(r'^def command\(.*?^    """(.*?)(?:\n\n|""")', re.DOTALL | re.MULTILINE)
_ABSENT = "Measures a checkout of Nandwich; an installed package does not have it."


def promise(verb: str) -> str:
    """The first paragraph of a verb's help, from its source."""
    if _is_absent(verb):
        return _ABSENT
    folder = Path(__file__).parent
    if verb in _OF_THE_LAB and paths.CHECKOUT is not None:
        folder = paths.CHECKOUT / "lab"
    found = _PROMISE.search((folder / f"verb_{verb.replace('-', '_')}.py").read_text("utf-8"))
    return found.group(1) if found else ""


def _is_absent(verb: str) -> bool:
    return verb in _OF_THE_LAB and paths.CHECKOUT is None


def _absent(verb: str) -> click.Command:
    """A verb of the lab where there is no lab."""

    def refuse() -> None:
        raise InputError(
            f"{verb} measures a checkout of Nandwich, and this is an installed package: get the "
            "sources and run it there"
        )

    return click.Command(
        verb,
        callback=refuse,
        help=_ABSENT,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


def _leave() -> NoReturn:
    """Whoever read what is printed has seen enough: the command ends as SIGPIPE would end it, and
    what is still in its buffers goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    raise click.exceptions.Exit(128 + signal.SIGPIPE)


def _tell_effort() -> None:
    """With --verbose: what the verb took, its children included."""
    if not loudness.is_verbose():
        return
    import resource

    taken = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in taken)
    most = max(one.ru_maxrss for one in taken)
    click.echo(f"{seconds:.2f} s of processor, {most // 1024} MiB of memory at most", err=True)


def _fail(text: str, cause: BaseException) -> NoReturn:
    """The verb failed. NANDWICH_TRACEBACK=1 in the environment, or --verbose, shows where."""
    if os.environ.get("NANDWICH_TRACEBACK") or loudness.is_verbose():
        raise cause
    raise RunError(text) from cause


def _open_standard_files() -> None:
    """Files 0 to 2 are open: otherwise the next one opened takes such a number, and what a child
    says on stderr lands in it."""
    while (lowest := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(lowest, True)
    os.close(lowest)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - as long as the command
    codecs.register_error("nandwich-escape", _escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="nandwich-escape")  # paths need not be UTF-8


def _escape(error: UnicodeError) -> tuple[str, int]:
    """What stdout and stderr do with characters they have no word for."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return names.escaped(error.object[error.start : error.end]), error.end


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nandwich")
def main() -> None:
    """Layers between your code and raw flash, and a twin of the device to try them on.

    Data goes to stdout, talk to stderr. Exit codes: 0 ok, 1 the run failed or a claim did not hold,
    2 bad input, 130 interrupted by Ctrl-C. A verb that has results when Ctrl-C comes prints them,
    and ends with 0.
    """
