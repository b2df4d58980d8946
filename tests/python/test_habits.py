# SPDX-License-Identifier: Apache-2.0
"""Goal: the command behaves as people expect of one in a shell: `| head` ends it quietly, --quiet
and --verbose hold for each verb, NO_COLOR is heeded, and Tab completes what there is."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from nandwich.cli.main import main

pytestmark = pytest.mark.quick

LAUNCHER = Path(sys.prefix) / "bin" / "nandwich"
REPLAY = ("replay", "gen:sensor", "--limit", "1000")


@pytest.mark.parametrize(
    "line", ["--help", "replay --help", "chips", "chips --json -", "replay gen:sensor --limit 99"]
)
def test_a_reader_that_leaves_ends_it_quietly(line: str) -> None:
    """Goal: as SIGPIPE ends other tools, 141 in a shell, and nothing on stderr but talk."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [LAUNCHER, *line.split()], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "rror" not in done.stderr


def test_every_verb_takes_quiet_and_verbose() -> None:
    """Goal: all but cc, whose options are clang's."""
    context = click.Context(main)
    for verb in main.list_commands(context):
        if verb != "cc":
            command = main.get_command(context, verb)
            assert command is not None
            names = {one.name for one in command.get_params(click.Context(command))}
            assert {"quiet", "verbose"} <= names, verb


def test_quiet_leaves_errors_only() -> None:
    assert "a second" in CliRunner().invoke(main, REPLAY).stderr
    quiet = CliRunner().invoke(main, [*REPLAY, "--quiet"])
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    assert quiet.stdout == CliRunner().invoke(main, REPLAY).stdout
    wrong = CliRunner().invoke(main, ["replay", "gen:nothing", "--quiet"])
    assert wrong.exit_code == 2
    assert "unknown workload" in wrong.stderr


def test_a_part_of_a_verb_takes_them_too() -> None:
    words = ["trace", "info", "examples/traces/camera.csv", "--quiet"]
    assert CliRunner().invoke(main, words).stderr == ""


def test_verbose_tells_what_was_written_and_taken(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = CliRunner().invoke(main, [*REPLAY, "--verbose", "--json", str(target)])
    assert done.exit_code == 0
    assert f"{target}: {target.stat().st_size} bytes written" in done.stderr
    assert "s of processor" in done.stderr
    assert json.loads(target.read_text())["schema"] == "nandwich.replay/1"


def test_not_both() -> None:
    done = CliRunner().invoke(main, [*REPLAY, "--verbose", "--quiet"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "not both" in done.stderr


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color_on_a_terminal(variables: dict[str, str], coloured: bool) -> None:
    """Goal: only the progress bar has colours, and NO_COLOR takes them away."""
    script = (
        "import time\n"
        "from nandwich.cli import output\n"
        "with output.progress('work', 3) as bar:\n"
        "    bar.advance()\n"
        "    time.sleep(0.3)\n"
    )
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"TERM": "xterm-256color", **variables}
    subprocess.run([sys.executable, "-c", script], stderr=theirs, env=environment, check=True)
    os.close(theirs)
    shown = os.read(ours, 1 << 16)
    os.close(ours)
    assert b"work" in shown
    assert (b"\x1b[38;" in shown or b"\x1b[3" in shown) == coloured


def test_a_terminal_is_told_what_is_done() -> None:
    """Goal: a stage stands there with its time and is gone afterwards; one in which a program may
    write on stderr is a line that stays, so that nothing moves under what it writes."""
    script = (
        "import time\n"
        "from nandwich.cli import output\n"
        "with output.stage('building'):\n"
        "    time.sleep(0.3)\n"
        "with output.stage('running', shared=True):\n"
        "    pass\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"}
    subprocess.run([sys.executable, "-c", script], stderr=theirs, env=environment, check=True)
    os.close(theirs)
    shown = os.read(ours, 1 << 16)
    os.close(ours)
    assert re.search(rb"building.* 0:00:0", shown)
    assert shown.endswith(b"\x1b[2Krunning\r\n")


def _tab(line: str) -> set[str]:
    """What bash offers where this line ends."""
    script = (
        'eval "$1"; COMP_LINE="$2"; COMP_POINT=${#2}; _nandwich; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    printed = CliRunner().invoke(main, ["completion", "bash"]).stdout
    done = subprocess.run(
        ["bash", "-c", script, "bash", printed, line], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_tab_in_bash() -> None:
    """Goal: verbs, options, and the names of parts, layers, experiments and workloads."""
    assert _tab("nandwich comp") == {"compare", "completion"}
    assert _tab("nandwich replay --fo") == {"--format"}
    assert _tab("nandwich replay gen:zipf --ftl tr") == {"tree"}
    assert _tab("nandwich replay --ftl=tr") == {"tree"}
    assert _tab("nandwich replay gen:zi") == {"zipf"}
    assert _tab("nandwich fit --chip W25N") >= {"W25N01GV"}
    assert _tab("nandwich chips K9F1G08U0A") == {"K9F1G08U0A"}
    assert _tab("nandwich papers layer") == {"layers"}
    assert _tab("nandwich torture tr") == {"tree"}
    assert _tab("nandwich trace con") == {"convert"}
    assert _tab("nandwich run gen") == set()
    assert _tab("nandwich vmtrace x.acc --policy belady-") == {"belady-cost"}


def test_tab_behind_commas_and_parts() -> None:
    """Goal: lists go on behind a comma; a part of a verb has its own options and their values."""
    assert _tab("nandwich compare gen:zipf --ftl page,tr") == {"page,tree"}
    assert _tab("nandwich compare gen:zipf --ftl=page,tree,la") == {"page,tree,lavish"}
    assert _tab("nandwich replay x.csv --columns time,op,off") == {"time,op,offset"}
    assert _tab("nandwich replay x.csv --unit m") == {"ms"}
    assert _tab("nandwich trace convert x.csv y --to pa") == {"packed"}
    assert _tab("nandwich trace info x.csv --format pa") == {"packed"}
    assert _tab("nandwich trace convert x.csv y --t") == {"--to"}
    assert _tab("nandwich trace info x.csv --t") == set()
    assert _tab("nandwich store x.image format --ec") == {"--ecc"}
    assert _tab("nandwich store x.image ls --ec") == set()
    assert _tab("nandwich fit --json /no/such") == set()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_their_script(shell: str, tmp_path: Path) -> None:
    """Goal: the shell itself parses the script, where there is one."""
    printed = CliRunner().invoke(main, ["completion", shell]).stdout
    for word in ("replay", "W25N01GV", "tree", "wear-policies"):
        assert word in printed
    program = shutil.which(shell)
    if program is not None:
        script = tmp_path / "script"
        script.write_text(printed)
        subprocess.run([program, "-n", script], check=True)


def test_an_unknown_shell_is_refused() -> None:
    done = CliRunner().invoke(main, ["completion", "tcsh"])
    assert done.exit_code == 2
    assert "zsh" in done.stderr


def test_a_page_for_man_of_each_verb(tmp_path: Path) -> None:
    """Goal: every option of every verb and part is in its page, and groff has nothing to say."""
    done = CliRunner().invoke(main, ["manual", str(tmp_path)])
    assert done.exit_code == 0, done.stderr
    context = click.Context(main)
    verbs = main.list_commands(context)
    pages = {path.stem: path for path in (tmp_path / "man1").iterdir()}
    assert set(pages) == {"nandwich", *(f"nandwich-{verb}" for verb in verbs)}
    for verb in verbs:
        command = main.get_command(context, verb)
        assert command is not None
        text = pages[f"nandwich-{verb}"].read_text().replace("\\-", "-")
        assert f"\n.B nandwich {verb}\n" in text
        commands = [command]
        if isinstance(command, click.Group):
            inner = click.Context(command)
            parts = [command.get_command(inner, name) for name in command.list_commands(inner)]
            commands += [part for part in parts if part is not None]
        for one in commands:
            for option in one.get_params(click.Context(one)):
                if isinstance(option, click.Option) and not option.hidden:
                    assert option.opts[0] in text
    groff = shutil.which("groff")
    for path in pages.values() if groff else ():
        command_line = [str(groff), "-man", "-ww", "-z", "-Tutf8", str(path)]
        checked = subprocess.run(command_line, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, ""), path


def test_pages_for_man_where_nobody_may_write(tmp_path: Path) -> None:
    (tmp_path / "man1").write_text("a file")
    done = CliRunner().invoke(main, ["manual", str(tmp_path)])
    assert done.exit_code == 2
    assert "cannot write" in done.stderr
