# SPDX-License-Identifier: Apache-2.0
"""Entry point: finds the verbs and loads only the one that was asked for."""

import importlib
from pathlib import Path

import click

from nandwich import names, paths
from nandwich._version import __version__

#: Verbs that work without (or before) a build.
_NEEDS_NO_BUILD = frozenset({"doctor"})


class VerbGroup(click.Group):
    """A group whose commands are the files `verb_*.py` beside this one, imported when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        folder = Path(__file__).parent
        stems = (path.stem for path in folder.glob("verb_*.py"))
        return sorted(stem.removeprefix("verb_").replace("_", "-") for stem in stems)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module("nandwich.cli.verb_" + cmd_name.replace("-", "_"))
        command = module.command
        assert isinstance(command, click.Command), f"{module.__name__}.command is not a command"
        return command

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


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nandwich")
def main() -> None:
    """Layers between your code and raw flash, and a twin of the device to try them on.

    Data goes to stdout, talk to stderr. Exit codes: 0 ok, 1 the run failed or a claim did not hold,
    2 bad input.
    """
