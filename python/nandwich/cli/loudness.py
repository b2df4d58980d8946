# SPDX-License-Identifier: Apache-2.0
"""How much a verb says on stderr: `--quiet` and `--verbose` of every verb.

Quiet leaves errors only. Verbose adds the files that were written, the time and memory taken, and
the traceback of a defect. The choice lies in the context of the command, which its parts share.
"""

from typing import Any

import click

from nandwich.errors import InputError

_KEY = "nandwich.loudness"


def choose(ctx: click.Context, param: click.Parameter, given: Any) -> Any:
    """Callback of the two options."""
    if given:
        before = ctx.meta.setdefault(_KEY, param.name)
        if before != param.name:
            raise InputError("either --quiet or --verbose, not both")
    return given


def is_quiet() -> bool:
    """Whether people want to hear of errors only."""
    return _chosen("quiet")


def is_verbose() -> bool:
    """Whether people want to hear more."""
    return _chosen("verbose")


def _chosen(name: str) -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(_KEY) == name


OPTIONS = tuple(
    click.Option([name], is_flag=True, expose_value=False, callback=choose, help=text)
    for name, text in (
        ("--quiet", "Only errors on stderr: no progress, no remarks."),
        ("--verbose", "More on stderr: files written, time and memory taken."),
    )
)
