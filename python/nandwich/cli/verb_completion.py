# SPDX-License-Identifier: Apache-2.0
"""`nandwich completion`: what has a shell complete verbs, options and names."""

import click

from nandwich import _native
from nandwich.cli import completion, verb_trace
from nandwich.cli.command import Command
from nandwich.replay import traffic
from nandwich.replay.options import LAYERS, TIERS, WEARS
from nandwich.twin import parts


def _names() -> dict[str, tuple[str, ...]]:
    """Names that fill a parameter, by what verbs call it; those of the lab say so themselves."""
    found: dict[str, tuple[str, ...]] = {
        "chip": tuple(parts.known_names()),
        "nvm_part": tuple(parts.known_names()),
        "ftl": LAYERS,
        "wear": WEARS,
        "tier": TIERS,
        "trace_format": tuple(name for name, _ in _native.trace_formats()),
        "wanted": verb_trace.WRITTEN,
        "columns": tuple(traffic.COLUMNS),
        "unit": tuple(traffic.TIME_PLACES),
        "workload": tuple(row["name"] for row in _native.workloads()),
        "source": tuple(f"{traffic.GENERATED}{row['name']}" for row in _native.workloads()),
        "subject": tuple(name for name, _ in _native.torture_subjects()),
    }
    found["sources"] = found["source"]
    found["trace"] = found["source"]
    return found


def _own() -> dict[str, completion.Names]:
    """Where a verb means something else by a name."""
    policies = tuple(name for name, *_ in _native.paging_policies())
    return {
        "chips": {"name": tuple(parts.known_names())},
        "report": {"sources": ()},
        "run": {"sources": ()},
        "store": {"unit": ()},
        "vmtrace": {"policy": ("all", *policies)},
    }


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(tuple(completion.SHELLS)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print what has a shell complete verbs, options and the names of parts, layers, workloads.

    The script holds all words itself, so Tab answers at once. In a checkout experiments and benches
    are among them. Print the script again after an update.

    \b
    Examples:
      source <(nandwich completion bash)
      nandwich completion zsh > ~/.zfunc/_nandwich
      nandwich completion fish > ~/.config/fish/completions/nandwich.fish
    """
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    click.echo(completion.SHELLS[shell](completion.verbs(group, _names(), _own())))
