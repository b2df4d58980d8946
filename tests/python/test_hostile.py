# SPDX-License-Identifier: Apache-2.0
"""Goal: whatever stands on the command line, the command ends in a sentence and a promised exit
code. A rig from outside got 61 tracebacks from 1,095 lines.

The lines are drawn from every verb, its options and a list of absurd values; all run in this
process. A seed repeats a campaign, and a failing test shows its line.
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from nandwich.cli.main import main

LINES, LINES_SOAK = 1_000, 20_000
LONGEST_S = 20

#: Verbs that would work for minutes, hand everything to a compiler, or stay until unmounted.
LEFT_OUT = {"papers", "bench", "doctor", "cc", "mount"}

#: Verbs that by themselves, or with a large number, go on for a minute.
SHORTENED = {
    "torture": ("--seeds", "2"),
    "replay": ("--limit", "1000"),
    "compare": ("--limit", "1000"),
}

VALUES = (
    *("", " ", "-", "--", "-1", "0", "1", "2", "65536", "4294967295", "4294967296"),
    *("18446744073709551615", "18446744073709551616", "9" * 400, "1e400", "nan", "inf", "-inf"),
    *("0x10", "1.5", "1/0", "é", "\udcff", "\u202e", "a" * 5000, "%s%n", "$(x)", "[]", "{}"),
    *("../..", "/", ".", "/dev/null", "/dev/full", "/nonexistent/x", "folder"),
    *("gen:", "gen:zipf,", "gen:zipf,theta=1e999", "gen:zipf,requests=0", "gen:uniform,size=0"),
    *("gen:zipf,requests=" + "9" * 60, "gen:sensor,=,", "K9F1G08U0A", "page", "lavish", "fast"),
    *("32K", "1T", "99999999T", "0K", "1 ns", "9" * 30 + " y", "100%", "1000000%", "0.0001"),
    *(
        "photo",
        "a",
        "deep.toml",
        "long.toml",
        "spaces.toml",
        "newlines",
        "bytes",
        "empty.c",
        "empty",
        "image",
        "folder/",
        "loop",
        "\udcff/x",
    ),
)


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files nobody should give."""
    monkeypatch.chdir(tmp_path)
    Path("deep.toml").write_text("a = " + "[" * 3000 + "]" * 3000)
    Path("long.toml").write_text('name = "x"\npage_bytes = ' + "9" * 5000 + "\n")
    Path("spaces.toml").write_text(" " * 200_000 + "\n[" + " " * 200_000 + "\n")
    Path("newlines").write_text("\n" * 200_000)
    Path("bytes").write_bytes(bytes(range(256)) * 40)
    Path("empty.c").write_text("int main(void) { return 0; }\n")
    Path("empty").touch()
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    for words in (
        "format --chip K9F1G08U0A --blocks 32",
        "put photo empty.c",
        "create a array --unit 4 --count 9",
    ):
        CliRunner().invoke(main, ["store", "image", *words.split()])
    return tmp_path


def _commands() -> list[tuple[list[str], click.Command]]:
    """Every verb and every part of one, with the words that lead to it."""
    found: list[tuple[list[str], click.Command]] = []
    for verb in main.list_commands(click.Context(main)):
        command = main.get_command(click.Context(main), verb)
        assert command is not None
        if verb in LEFT_OUT:
            continue
        if isinstance(command, click.Group):
            front = [verb, *("image" for one in command.params if isinstance(one, click.Argument))]
            parts = ((name, part) for name, part in command.commands.items())
            found += [([*front, name], part) for name, part in parts if name not in LEFT_OUT]
        else:
            found.append(([verb, *SHORTENED.get(verb, ())], command))
    return found


def _line(rng: random.Random, commands: list[tuple[list[str], click.Command]]) -> list[str]:
    words, command = rng.choice(commands)
    line = list(words)
    for one in command.params:
        if isinstance(one, click.Argument) and rng.random() < 0.9:
            line.append(rng.choice(("gen:zipf,requests=20", "empty.c", *rng.choices(VALUES, k=2))))
    options = [one for one in command.params if isinstance(one, click.Option)]
    for one in rng.sample(options, min(len(options), rng.choice((0, 1, 1, 2, 3)))):
        line.append(rng.choice(one.opts))
        if not one.is_flag:
            line.append(rng.choice(VALUES))
    return line


def _campaign(seed: int, lines: int) -> None:
    rng = random.Random(seed)
    commands = _commands()
    here = Path.cwd()
    kept = Path("image").read_bytes()
    for number in range(lines):
        Path("image").write_bytes(kept)
        line = _line(rng, commands)
        started = time.monotonic()
        result = CliRunner().invoke(main, line, input=b"")
        took = time.monotonic() - started
        shown = f"line {number} of seed {seed}: {[word[:60] for word in line]}"
        said = ascii(result.stderr[-600:])
        assert result.exception is None or isinstance(result.exception, SystemExit), shown
        assert result.exit_code in (0, 1, 2), shown
        assert "internal error" not in result.stderr, f"{shown}: {said}"
        assert result.exit_code == 0 or result.output.strip(), f"{shown}: ends without a word"
        assert took < LONGEST_S, f"{shown}: {took:.1f} s"
        assert Path.cwd() == here, shown


def test_absurd_lines_end_in_a_sentence(ground: Path) -> None:
    _campaign(1, LINES)


#: Arguments that are right, where a part of a verb wants some.
ARGUMENTS = {
    "replay": ["gen:zipf,requests=20"],
    "run": ["empty.c", "--once"],
    "info": ["trace.fio"],
    "convert": ["trace.fio", "out", "--to", "msr"],
    "create": ["new", "queue"],
    "seek": ["s", "0:0"],
    "set": ["a", "0", "four"],
    "mv": ["photo", "other"],
    "drop": ["1"],
    "put": ["photo"],
    "get": ["photo"],
    "append": ["photo"],
    "push": ["q"],
    "pop": ["q"],
    "rm": ["s"],
    "tag": ["s"],
}


ODD_VALUES = ("", "\udcff", "\udcff/x", "folder", "image", "\n", "\x1b[2J")


def test_each_option_takes_odd_values(ground: Path) -> None:
    """The lines above are drawn: `store put --text` with a byte that is no UTF-8 was not among
    them, and an empty value counted as none."""
    Path("trace.fio").write_text("fio version 2 iolog\nx add\nx open\nx write 0 4096\n")
    for first in ("create s stream", "create q queue", "push q --text x", "checkpoint"):
        assert CliRunner().invoke(main, ["store", "image", *first.split()]).exit_code == 0
    kept = Path("image").read_bytes()
    for words, command in _commands():
        arguments = ARGUMENTS.get(words[-1], []) if words != ["store", "image", "info"] else []
        options = [one for one in command.params if isinstance(one, click.Option)]
        given = {*words, *arguments}
        for one in (one for one in options if not one.is_flag and one.opts[0] not in given):
            for value in ODD_VALUES if words != ["run"] else ("",):
                Path("image").write_bytes(kept)
                line = [*words, *arguments, one.opts[0], value]
                result = CliRunner().invoke(main, line, input=b"")
                shown = f"{line}: {result.stderr[-300:]!a}"
                assert result.exit_code in (0, 1, 2), shown
                assert "internal error" not in result.stderr, shown
                if not value and one.name not in ("text", "cflags"):
                    assert result.stderr == (
                        f"nandwich: error: {one.opts[0]} is empty: give it a value, or leave it "
                        "out\n"
                    ), shown


@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "name"),
    [
        (["replay", ""], "TRACE|gen:NAME|access:FILE"),
        (["store", "", "ls"], "IMAGE"),
        (["store", "image", "put", "photo", ""], "FILE"),
        (["trace", "convert", "trace", "", "--to", "fio"], "FILE[.gz]"),
        (["bench", "size", ""], "[NAME]..."),
        (["run", ""], "FILE.c..."),
    ],
)
def test_an_argument_is_not_empty(ground: Path, line: list[str], name: str) -> None:
    """`nandwich replay "$unset"` told of a file without a name."""
    result = CliRunner().invoke(main, line)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"nandwich: error: {name} is empty: give it a value, or leave it out\n"


@pytest.mark.quick
@pytest.mark.parametrize("words", [["--format", "fio"], ["--unit", "0"], ["--skip-bad", "1"]])
def test_nothing_is_read_of_what_is_made_up(ground: Path, words: list[str]) -> None:
    """The options were passed by without a word."""
    source = "gen:zipf,requests=9,footprint=8M"
    for line in (["replay", source], ["trace", "convert", source, "out", "--to", "msr"]):
        result = CliRunner().invoke(main, [*line, *words])
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert f"{words[0]} is for recorded traces" in result.stderr
    assert not Path("out").exists()


def test_data_may_be_empty(ground: Path) -> None:
    for line in (
        ["store", "image", "put", "photo", "--text", ""],
        ["run", "empty.c", "--cflags", ""],
    ):
        assert CliRunner().invoke(main, line).exit_code == 0


@pytest.mark.soak
def test_many_absurd_lines(ground: Path) -> None:
    _campaign(2, LINES_SOAK)


@pytest.mark.quick
def test_an_option_is_given_once() -> None:
    """The last one won without a word."""
    result = CliRunner().invoke(main, ["replay", "gen:zipf", "--chip", "A", "--chip", "B"])
    assert result.exit_code == 2
    assert "--chip is given 2 times: once is enough" in result.stderr
    result = CliRunner().invoke(main, ["replay", "gen:zipf", "--wrap", "--scale"])
    assert result.exit_code == 2
    assert "either --scale or --wrap, not both" in result.stderr


def _shell(line: str, cwd: Path) -> "subprocess.CompletedProcess[bytes]":
    command = Path(sys.executable).with_name("nandwich")
    return subprocess.run(
        ["sh", "-c", line.replace("nandwich", str(command), 1)],
        capture_output=True,
        check=False,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "XDG_CACHE_HOME": str(cwd / "cache")},
    )


@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        ("nandwich chips >&-", 1, b"stdout is closed"),
        ("nandwich chips --json - >&-", 1, b"stdout is closed"),
        ("nandwich chips >/dev/full", 1, b"No space left on device"),
        ("nandwich chips --json - >/dev/full", 1, b"No space left on device"),
        ("nandwich --help >/dev/full", 1, b"error: No space left on device"),  # was a traceback
        ("nandwich --version >/dev/full", 1, b"error: No space left on device"),  # and this
        ("nandwich chips --json /dev/full", 1, b"No space left on device"),  # was 2
        ("nandwich chips --json /dev/nosuch/x", 2, b"there is no folder"),
        ("nandwich nosuch 2>&-", 2, b""),
        ("nandwich run empty.c -q 2>&-", 0, b""),  # compiled: a child got a closed stderr
        ("nandwich run empty.c -q <&-", 0, b""),
        ("nandwich store image put photo <&-", 2, b"stdin is closed"),  # was an internal error
        ("nandwich store image push a - <&-", 2, b"stdin is closed"),
        ("nandwich replay '\udcff.csv'", 2, b"No such file"),
        ("cp empty.c '\udcff.c'; nandwich run '\udcff.c' -q", 0, b""),
        ("nandwich store '\udcff' format --chip K9F1G08U0A; ls -d '\udcff'", 0, b""),
        ("mkfifo pipe; nandwich replay pipe", 2, b"not a regular file"),
        ("mkfifo pipe; nandwich store pipe ls", 2, b"not a regular file"),
        ("nandwich replay /dev/zero", 2, b"not a regular file"),
        ("nandwich chips /dev/zero", 2, b"more than 16777216 bytes"),
    ],
)
def test_odd_surroundings(ground: Path, line: str, status: int, says: bytes) -> None:
    done = _shell(line, ground)
    assert (done.returncode, b"Traceback" in done.stderr) == (status, False), done.stderr
    assert says in done.stderr
    if status:
        assert done.stderr.count(b"\n") == (1 if says else 0)


def test_names_that_are_no_utf8_give_valid_json(ground: Path) -> None:
    done = _shell("cp empty.c '\udcff.c'; nandwich run '\udcff.c' --json -", ground)
    assert done.returncode == 0, done.stderr
    assert b"\\udcff.c" in done.stdout
    done.stdout.decode("utf-8")


#: Ctrl-C comes while a module is loaded.
INTERRUPTED = """
import os, runpy, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

module, sys.argv = sys.argv[1], ["nandwich", "chips"]
sys.meta_path.insert(0, Finder())
runpy.run_module("nandwich", run_name="__main__")
"""


@pytest.mark.quick
@pytest.mark.parametrize("module", ["click", "nandwich.cli.main", "nandwich.cli.verb_chips"])
def test_ctrl_c_while_it_is_loaded(module: str) -> None:
    """11 of 20 that came in the first third of a second ended in a traceback."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr in ("", "nandwich: interrupted\n")


@pytest.mark.parametrize(("verb", "name"), [("replay", "a\udcff.csv"), ("chips", "\udcff.toml")])
def test_a_name_that_is_no_utf8_is_printed_by_its_bytes(verb: str, name: str) -> None:
    r"""It came as \\udcff, which no one finds in a folder."""
    command = Path(sys.executable).with_name("nandwich")
    done = subprocess.run([command, verb, name], capture_output=True, check=False)
    assert done.returncode == 2
    assert name.replace("\udcff", r"\xff").encode() in done.stderr


@pytest.mark.quick
@pytest.mark.parametrize(
    "words",
    [
        ["replay", "gen:zipf", "--chip", "\udcff"],
        ["replay", "gen:zipf", "--ftl", "\udcff"],
        ["replay", "gen:\udcff"],
        ["replay", "gen:zipf,\udcff=1"],
        ["run", "empty.c", "--chip", "\udcff"],
        ["store", "new", "format", "--chip", "\udcff"],
        ["chips", "\udcff"],
    ],
)
def test_no_name_of_ours_need_be_utf8(ground: Path, words: list[str]) -> None:
    """A chip whose name is no UTF-8 was an internal error (TypeError)."""
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "unknown" in result.stderr


@pytest.mark.quick
def test_the_package_itself_is_light() -> None:
    """It is loaded before anything can catch Ctrl-C."""
    code = "import sys, nandwich; sys.exit('click' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
