# SPDX-License-Identifier: Apache-2.0
"""`nandwich cc`: a C compiler driver for programs in virtual memory, drop-in for clang."""

import os
import sys

import click

from nandwich.compiler import driver, tagged


class _Driver(click.Command):
    """Takes its arguments as they are: they are clang's, not click's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args in (["--help"], ["-h"], []):
            click.echo(self.get_help(ctx))
            ctx.exit()
        ctx.params["arguments"] = tuple(args)
        return []


@click.command(
    cls=_Driver,
    add_help_option=False,
    options_metavar="[CLANG OPTIONS] [--nw-KEY=VALUE]...",
    epilog="""Examples:

    \b
      nandwich cc -O2 -c part.c -o part.o
      nandwich cc part.o main.o -o program -lm
      make CC="nandwich cc"
      NANDWICH_CC="frame=256 ram=16K" make CC="nandwich cc"
      NANDWICH="chip=W25N01GV ram=64K stats=report.json" ./program
      nandwich cc --trace app.c -o app && ./app
      nandwich cc --layout app.layout app.c -o app
    """,
)
def command(arguments: tuple[str, ...]) -> None:
    """Compile and link C programs that run in virtual memory.

    Every option of clang-19 works as it does there (-c, -o, -MD, -E, -S, several files, static
    libraries). Globals and heap of what is compiled live in virtual memory; a program so built runs
    by itself on an emulated chip and prints nothing of its own. NANDWICH=key=value... or the file
    named by NANDWICH_CONFIG changes the device; stats=FILE in it asks for a report.

    Objects are LLVM bitcode: the program is optimised as a whole, and gets its guards, at the link,
    by lld. With --separate a file gets its guards when it is compiled, for another linker or to
    link faster; both kinds link together. Archives are made by ar or llvm-ar-19 as usual.

    --profile FILE at the link puts guards where they pay, by the counts of a native run: nandwich
    run --profile FILE makes it. Functions that have changed since are built without it.

    \b
    --nw-KEY=VALUE, or KEY=VALUE in NANDWICH_CC, chooses at build time:
      frame   bytes of a page frame (512); all files of a program must agree
      slots   last-cache buffers (16); all files must agree
      lookaside
              look-aside entries (64), 0 or a power of two up to 256; all files must agree
      guards  inline, outline or hybrid: speed against code size
      statics RAM for the hottest globals, out of ram (0); all files must agree
      chip, ftl, degree, maps, ecc, vm, ram, scheme, policy, seed ...
              the device the program runs on unless told otherwise (at the link)

    \b
    For small nodes, where only variables marked NW_VM are virtual (docs/tagged.md):
      --trace        a program that records its accesses to them, to NANDWICH_TRACE or nandwich.acc
      --layout FILE  a program whose variables lie where `nandwich layout` put them;
                     --nw-frames=N pages in RAM instead of the layout's
    Both on an emulated node: nandwich run --target atmega128 --record-accesses FILE, --layout FILE.
    """
    plan = driver.plan(list(arguments), os.environ.get("NANDWICH_CC", ""), _placement)
    sys.exit(driver.execute(plan))


def _placement(path: str) -> tagged.Placement:
    """A layout file, as far as a build needs it."""
    from nandwich.vmtrace import layout  # its checks take long to load, and most calls have none

    return layout.placement(path)
