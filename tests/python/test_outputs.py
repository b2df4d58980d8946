# SPDX-License-Identifier: Apache-2.0
"""Goal: no verb writes over what it reads, or over what it writes itself; and what cannot be
written is refused before work is done for it.

A rig from outside lost its C source to `nandwich run hello.c --record hello.c`, its scenario to
`sched --scenario s --json s`, its chip to `run --image im --json im`: all with exit code 0. And
`store im put g im` made an image that holds itself as it was.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from nandwich import _native
from nandwich.cli.main import main

pytestmark = pytest.mark.quick

#: The line, and which file it would have overwritten.
LINES = (
    ("run hello.c --once -q --record hello.c", "hello.c"),
    ("run hello.c --once -q --json hello.c", "hello.c"),
    ("run hello.c --once -q --json link", "hello.c"),
    ("run hello.c --once -q --json ./folder/../hello.c", "hello.c"),
    ("run hello.c --once -q --chip chip.toml --image chip.toml", "chip.toml"),
    ("run hello.c --once -q --image image --json image", "image"),
    ("run hello.c --once -q --json new --record folder/../new", "new"),
    # The compiler knows which headers it reads; only the sources were asked about.
    ("run more.c --once -q --json more.h", "more.h"),
    ("run more.c --once -q --record more.h", "more.h"),
    ("run more.c --once -q --json folder/../more.h", "more.h"),
    ("run hello.c --once -q --json other.h -include other.h", "other.h"),
    # A file that the program was given, or that it changes by itself: its bytes were lost.
    ("run hello.c --once -q --json data -- data", "data"),
    ("run more.c --once -q --json log", "log"),
    ("run more.c --once -q --json hard", "log"),
    ("run more.c --once -q --record log", "log"),
    ("run more.c --once -q --no-native --json log", "log"),
    ("run more.c --once -q --no-native --record made", "made"),
    ("run more.c --once -q --json made", "made"),
    ("sched --scenario sched.toml --json sched.toml --runs 1", "sched.toml"),
    ("sched --scenario sched.toml --admit --json sched.toml", "sched.toml"),
    ("sched --scenario sched.toml --arrivals arrivals.csv --json arrivals.csv", "arrivals.csv"),
    ("replay trace.fio --wrap --json trace.fio", "trace.fio"),
    ("replay gen:sensor,requests=9 --chip chip.toml --json chip.toml", "chip.toml"),
    ("replay gen:sensor,requests=9 --snapshot image --json image", "image"),
    ("replay gen:sensor,requests=9 --snapshot new --json new", "new"),
    ("trace info trace.fio --json trace.fio", "trace.fio"),
    ("report result.json -o result.json", "result.json"),
    ("report result.json -o result.json --force", "result.json"),
    ("vmtrace trace.acc --json trace.acc", "trace.acc"),
    ("vmtrace trace.acc --plot trace.acc", "trace.acc"),
    ("layout trace.acc -o trace.acc", "trace.acc"),
    ("layout trace.acc --play app.layout --json app.layout", "app.layout"),
    ("run hello.c --once --record-accesses hello.c", "hello.c"),
    ("trace convert trace.fio trace.fio --to spc", "trace.fio"),
    ("chips chip.toml --json chip.toml", "chip.toml"),
    ("energy node.toml --json node.toml", "node.toml"),
    ("energy node.toml --plot node.toml", "node.toml"),
    ("store image ls --json image", "image"),
    ("store image info --json image", "image"),
    ("store image fsck --json image", "image"),
    ("store image put note image", "image"),
    ("store image put note link-to-image", "image"),
    ("store image append note image", "image"),
    ("store image push jobs ./image", "image"),
    ("store image set table 0 image", "image"),
    ("store image get note image", "image"),
    ("store image pop jobs image", "image"),
    ("store --key-file key chip.toml format --chip chip.toml --force", "chip.toml"),
    ("store --key-file key key format --force", "key"),
    ("store --key-file key sealed ls --json key", "key"),
    ("bench --list --json new --page new", "new"),
)


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One file of each kind that a verb reads."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("hello.c").write_text("int main(void) { return 0; }\n")
    Path("link").symlink_to("hello.c")
    Path("link-to-image").symlink_to("image")
    Path("more.h").write_text("#include <stdio.h>\n")
    Path("other.h").write_text("int other;\n")
    Path("data").write_text("data\n")
    Path("log").write_text("first\n")
    Path("hard").hardlink_to("log")
    Path("more.c").write_text(
        '#include "more.h"\nint main(void) { fputs("more", fopen("log", "a")); '
        'return fopen("made", "w") == 0; }\n'
    )
    Path("chip.toml").write_text('name = "MINE"\nbased_on = "K9F1G08U0A"\n')
    Path("trace.fio").write_text("fio version 2 iolog\nx add\nx open\nx write 0 4096\nx close\n")
    Path("node.toml").write_text(
        '[node]\nplatform = "MICA2"\n[job]\nevery = "1 min"\nawake = "1 s"\n'
    )
    Path("sched.toml").write_text(
        'duration = "1 s"\n[flow.a]\nperiod = "100 ms"\ndeadline = "90 ms"\n'
    )
    writer = _native.AccessWriter("trace.acc", 0, 4096)
    writer.put(0, 4, False)
    writer.finish()
    Path("app.layout").write_text("{}")
    Path("result.json").write_text('{"schema": "nandwich.vmtrace/1"}')
    Path("arrivals.csv").write_text("time_ms,flow\n0,a\n")
    Path("key").write_text("7" * 64)
    Path("key").chmod(0o600)
    for line in (
        "image format --chip K9F1G08U0A --blocks 32",
        "image put note hello.c",
        "image create jobs queue",
        "image create table array --unit 4 --count 9",
        "image push jobs --text first",
        "--key-file key sealed format --chip K9F1G08U0A --blocks 32",
    ):
        assert CliRunner().invoke(main, ["store", *line.split()]).exit_code == 0, line
    return tmp_path


@pytest.mark.parametrize(("line", "lost"), LINES)
def test_what_is_read_is_not_written_over(ground: Path, line: str, lost: str) -> None:
    before = {path.name: path.read_bytes() for path in ground.iterdir() if path.is_file()}
    result = CliRunner().invoke(main, line.split())
    after = {path.name: path.read_bytes() for path in ground.iterdir() if path.is_file()}
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    assert result.stderr.count("\n") == 1
    assert "would overwrite" in result.stderr
    assert any(name in result.stderr for name in (Path(lost).name, "link", "hard"))
    assert after == before


def test_an_image_is_not_its_own_stdin(ground: Path) -> None:
    command, before = Path(sys.executable).with_name("nandwich"), Path("image").read_bytes()
    with Path("image").open("rb") as stdin:
        words = [str(command), "store", "image", "put", "note"]
        done = subprocess.run(words, stdin=stdin, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "would overwrite" in done.stderr
    assert Path("image").read_bytes() == before


def test_devices_take_any_number_of_outputs(ground: Path) -> None:
    words = "replay gen:sensor,requests=9 --json /dev/null --chip chip.toml"
    assert CliRunner().invoke(main, words.split()).exit_code == 0
    words = "run hello.c --once -q --record /dev/null --json /dev/null"
    assert CliRunner().invoke(main, words.split()).exit_code == 0


#: Lines that write to OUT.
WRITING = (
    "replay gen:sensor,requests=5000000 --snapshot OUT",
    "replay gen:sensor,requests=5000000 --json OUT",
    "replay trace.fio --wrap --json OUT",
    "sched --runs 9999 --json OUT",
    "sched --admit --json OUT",
    "report result.json -o OUT",
    "trace info trace.fio --json OUT",
    "trace convert trace.fio OUT --to spc",
    "vmtrace trace.acc --json OUT",
    "vmtrace trace.acc --plot OUT",
    "layout trace.acc -o OUT",
    "layout trace.acc --json OUT",
    "run hello.c --once -q --record-accesses OUT",
    "chips --json OUT",
    "doctor --json OUT",
    "bench --json OUT",
    "bench --page OUT",
    "papers --json OUT",
    "run hello.c --once -q --json OUT",
    "store image ls --json OUT",
    "store image info --json OUT",
    "store image fsck --json OUT",
    "store image get note OUT",
    "store image pop jobs OUT",
)
FORMAT = "store OUT format --chip K9F1G08U0A --blocks 32 --force"
NOWHERE = ("loop", "hello.c/new", "x" * 256)


@pytest.mark.parametrize("line", [*WRITING, FORMAT])
def test_what_cannot_be_written_is_told_first(ground: Path, line: str) -> None:
    """It was told when the work was done, some of it after minutes."""
    Path("loop").symlink_to("loop")
    folders = () if line == FORMAT else ("folder", "folder/", "new/")
    for out in (*folders, *NOWHERE):
        before = {path: path.lstat().st_mtime_ns for path in (ground, *ground.iterdir())}
        started = time.monotonic()
        result = CliRunner().invoke(main, line.replace("OUT", out).split())
        took = time.monotonic() - started
        after = {path: path.lstat().st_mtime_ns for path in (ground, *ground.iterdir())}
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert result.stderr.startswith(f"nandwich: error: cannot write {out}")
        assert (after, took < 2) == (before, True), out


@pytest.mark.parametrize(
    "line",
    [
        "replay gen:sensor,requests=5000000 --json folder/new",
        "trace convert trace.fio folder/new --to spc",
        "papers --out folder",
        "store image pop jobs folder/new",
        "store folder/image put note --text new",
        "store folder/image checkpoint",
    ],
)
def test_a_folder_that_nobody_may_write_to(ground: Path, line: str) -> None:
    folder = Path("folder")
    (folder / "image").write_bytes(Path("image").read_bytes())
    folder.chmod(0o555)
    command = Path(sys.executable).with_name("nandwich")
    # The rights of a folder do not hold for root unless told so.
    prefix = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    words = [*prefix, str(command), *line.split()]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    folder.chmod(0o755)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert f"nothing may be written to the folder {folder.resolve()}" in done.stderr
    assert [path.name for path in folder.iterdir()] == ["image"]
    assert (folder / "image").read_bytes() == Path("image").read_bytes()


@pytest.mark.parametrize(
    "line",
    [
        "replay gen:sensor,requests=5000000 --snapshot nodir/new",
        "replay gen:sensor,requests=9 --json nodir/new",
        "store nodir/new format --chip K9F1G08U0A --blocks 32",
        "run hello.c --record nodir/new",
        "run hello.c --image nodir/new",
    ],
)
def test_a_folder_that_is_not_there(ground: Path, line: str) -> None:
    """`replay --snapshot` played everything first, and `store format` called it a failure."""
    result = CliRunner().invoke(main, line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "nodir" in result.stderr


UNWRITABLE = ("/proc/x.json", "/sys/x.json", "missing/x.json", "folder")


@pytest.mark.parametrize("target", UNWRITABLE)
@pytest.mark.parametrize(
    "line",
    ["run hello.c --once -q", "replay gen:sensor", "fit --ram 64K", "chips", "energy node.toml"],
)
def test_what_nobody_can_write_is_refused_before_the_work(
    ground: Path, monkeypatch: pytest.MonkeyPatch, line: str, target: str
) -> None:
    """Goal: all verbs alike. `run --json /proc/x.json` failed behind the run only: root may write
    to /proc by its mode, and no file can be made there."""

    def too_late(*_: object, **__: object) -> None:
        raise AssertionError("work was begun")

    monkeypatch.setattr("nandwich.cli.output.check_apart", too_late)
    done = CliRunner().invoke(main, [*line.split(), "--json", target])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"nandwich: error: cannot write {target}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
def test_a_full_disk_and_a_read_only_one_are_refused_before(ground: Path) -> None:
    """Goal: a disk without room ends in exit code 1 before the work, as it does behind it."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", "folder"]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        Path("folder/filler").write_bytes(bytes(64 << 10))
        full = CliRunner().invoke(main, ["chips", "--json", "folder/x.json"])
        subprocess.run(["mount", "-o", "remount,ro", "folder"], check=True)
        fixed = CliRunner().invoke(main, ["chips", "--json", "folder/x.json"])
    finally:
        subprocess.run(["umount", "folder"], check=True)
    assert (full.exit_code, full.stdout) == (1, "")
    assert "No space left" in full.stderr
    assert (fixed.exit_code, fixed.stdout) == (2, "")
    assert "nothing may be written" in fixed.stderr
