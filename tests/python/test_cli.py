# SPDX-License-Identifier: Apache-2.0
"""The command as a whole: it starts, its verbs have help, it ends with the promised exit codes."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from nandwich import paths
from nandwich.cli.main import main, promise
from nandwich.errors import InputError

pytestmark = pytest.mark.quick


def verbs() -> list[str]:
    return main.list_commands(click.Context(main))


def test_version_is_printed() -> None:
    """Goal: the installed launcher starts the checkout's own sources."""
    launcher = Path(sys.prefix) / "bin" / "nandwich"
    done = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=True)
    from nandwich import __version__

    assert done.stdout.strip() == f"nandwich, version {__version__}"


def test_every_verb_has_help() -> None:
    """Goal: a verb without a help text, or an option without one, is not let in."""
    for verb in verbs():
        command = main.get_command(click.Context(main), verb)
        assert command is not None
        assert command.help, f"verb {verb} has no help text"
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{verb} {parameter.opts[0]} has no help text"


def test_the_list_of_verbs_is_read_and_not_imported() -> None:
    """Goal: `nandwich --help` shows for each verb what click would, and loads none of them. It
    imported all verbs and pydantic for one line each: 0.32 s of processor."""
    context = click.Context(main)
    shown = CliRunner().invoke(main, ["--help"]).stdout
    for verb in verbs():
        command = main.get_command(context, verb)
        assert command is not None
        told = click.Command(verb, help=promise(verb)).get_short_help_str(200)
        assert told == command.get_short_help_str(200)
        assert f"\n  {verb} " in shown
    script = (
        "import sys; sys.argv = ['nandwich', '--help']\n"
        "from nandwich.cli.start import main\n"
        "try: main()\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stderr.split())
    assert "nandwich.cli.main" in loaded
    assert not {name for name in loaded if ".verb_" in name}
    assert not loaded & {"pydantic", "rich", "nandwich._native", "json", "subprocess"}


def test_unknown_verb_names_the_nearest_and_exits_2() -> None:
    """Goal: a mistyped verb is answered with the one that was meant."""
    result = CliRunner().invoke(main, ["docter"])
    assert result.exit_code == 2
    assert "did you mean doctor?" in result.stderr
    assert result.stdout == ""


def test_without_a_build_the_verb_is_not_even_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: before the first build a user reads what to run, not a failed import."""

    def nothing_built() -> None:
        raise InputError("nothing built")

    def no_import(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(paths, "check_fresh", nothing_built)
    monkeypatch.setattr(importlib, "import_module", no_import)
    result = CliRunner().invoke(main, ["sched"])
    assert result.exit_code == 2
    assert result.stderr == "nandwich: error: nothing built\n"


@pytest.mark.asan
def test_native_module_loads_and_was_built_for_release() -> None:
    """Goal: the binding that runs is the one in the build folder, not some stray copy."""
    native = importlib.import_module("nandwich._native")
    assert native.__file__ is not None
    assert Path(native.__file__).is_relative_to(paths.build_dir())
    if "NANDWICH_BUILD" not in os.environ:
        assert native.build_type() == "Release"


def test_a_build_older_than_a_source_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: after editing C code, nobody measures yesterday's binary by accident."""
    source = tmp_path / "core" / "chip" / "slice.c"
    source.parent.mkdir(parents=True)
    source.write_text("int x;\n")
    stamp = tmp_path / "build" / "release" / ".built"
    stamp.parent.mkdir(parents=True)
    stamp.touch()
    monkeypatch.setattr(paths, "CHECKOUT", tmp_path)
    monkeypatch.delenv("NANDWICH_BUILD", raising=False)
    os.utime(source, ns=(1, 1))
    paths.check_fresh()
    newer = stamp.stat().st_mtime_ns + 1
    os.utime(source, ns=(newer, newer))
    with pytest.raises(
        click.ClickException, match=r"core/chip/slice\.c changed.*make build"
    ) as info:
        paths.check_fresh()
    assert info.value.exit_code == 2


def test_verbs_check_the_build_first_but_doctor_and_help_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Goal: a stale build stops a measurement, not the verb that tells what is wrong."""

    def stale() -> None:
        raise InputError("stale")

    monkeypatch.setattr(paths, "check_fresh", stale)
    assert CliRunner().invoke(main, ["bench", "--list"]).exit_code == 2
    assert CliRunner().invoke(main, ["bench", "--help"]).exit_code == 0
    assert CliRunner().invoke(main, ["doctor"]).exit_code == 0
