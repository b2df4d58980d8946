# SPDX-License-Identifier: Apache-2.0
"""Goal: what a verb writes is there whole or not at all, and nothing else on the host changes.

Rigs from outside found `--json FILE` replacing device nodes and links by plain files, following a
file planted under the name of the partial one, and opening private files to everybody; and a full
disk that no exit code told of.
"""

import contextlib
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nandwich import files, paths

pytestmark = pytest.mark.quick
COMMAND = Path(sys.executable).with_name("nandwich")
HELLO = 'int printf(const char *, ...);\nint main(void) { printf("hello\\n"); return 0; }\n'


def test_content_mode_and_nothing_left_over(tmp_path: Path) -> None:
    target = tmp_path / "private"
    target.write_text("old")
    target.chmod(0o600)
    files.replace(target, b"new")
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with contextlib.suppress(InterruptedError), files.replacing(target) as stream:
        stream.write(b"half")
        raise InterruptedError
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_nothing_is_left_of_a_program_that_is_killed(tmp_path: Path) -> None:
    target = tmp_path / "kept"
    target.write_text("old")
    words = (
        "import os, signal, sys; from pathlib import Path; from nandwich import files\n"
        "with files.replacing(Path(sys.argv[1])) as stream:\n"
        "    stream.write(b'half'); stream.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", words, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (target.read_text(), list(tmp_path.iterdir())) == ("old", [target])


def test_links_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to("real")
    files.replace(link, b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_planted_partial_file_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep me")
    (tmp_path / "out.json.partial").symlink_to(victim)
    files.replace(tmp_path / "out.json", b"new")
    assert victim.read_text() == "keep me"


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.replace(pipe, b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(OSError, match="neither a file nor a pipe"):
        files.replace(tmp_path, b"new")


def _full_disk() -> None:
    """In a child: no file may be longer than 20,000 bytes, and a write says so."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def _nandwich(*arguments: object, disk_full: bool = False) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_full_disk if disk_full else None,
        restore_signals=False,
    )


def test_json_to_a_device_and_through_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    assert _nandwich("chips", "--json", link).returncode == 0
    assert link.is_symlink()
    assert '"schema"' in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    done = _nandwich("chips", "--json", "/dev/full")
    assert done.returncode != 0
    assert "cannot write /dev/full: No space left on device" in done.stderr
    done = _nandwich("chips", "--json", real, disk_full=True)
    assert done.returncode != 0
    assert "File too large" in done.stderr
    assert '"schema"' in real.read_text()  # the old one


def test_a_full_disk_fails_the_run(tmp_path: Path) -> None:
    """The run said that the recording or the chip could not be saved, and ended with 0."""
    source, target, program = tmp_path / "hello.c", tmp_path / "target", tmp_path / "program"
    source.write_text(HELLO)
    target.symlink_to("/dev/full")
    done = _nandwich("run", source, "-q", "--record", target)
    assert "the recording cannot be written: No space left on device" in done.stderr
    assert "was not saved" in done.stderr
    assert (done.returncode, done.stdout) == (1, "hello\n")

    assert _nandwich("cc", source, "-o", program).returncode == 0
    image = tmp_path / "image"
    environment = {**os.environ, "NANDWICH": f"image={image}"}
    subprocess.run([program], env=environment, check=True, capture_output=True)
    before = image.read_bytes()
    alone = subprocess.run(
        [program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_full_disk,
        restore_signals=False,
    )
    assert "the chip cannot be saved: File too large" in alone.stderr
    assert (alone.returncode, alone.stdout) == (1, "hello\n")
    assert image.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ("hello.c", "image", "program", "target")
    )


def test_a_report_over_another_file(tmp_path: Path) -> None:
    """`stats=` over the program, its image or its recording replaced them in silence."""
    source, program, image = tmp_path / "hello.c", tmp_path / "program", tmp_path / "image"
    source.write_text(HELLO)
    assert _nandwich("cc", source, "-o", program).returncode == 0
    before = program.read_bytes()
    for words, says in (
        (f"stats={program}", f"stats={program} would overwrite the program"),
        (f"image={image} stats={image}", f"stats={image} would overwrite the image"),
    ):
        environment = {**os.environ, "NANDWICH": words}
        done = subprocess.run(
            [program], env=environment, capture_output=True, text=True, check=False
        )
        assert says in done.stderr
        assert done.returncode == 2
    assert program.read_bytes() == before


def test_a_trace_that_cannot_be_read_leaves_the_target(tmp_path: Path) -> None:
    source, target = tmp_path / "bad.fio", tmp_path / "out.csv"
    shutil.copy(paths.CHECKOUT / "examples/traces/camera.csv", source)  # type: ignore[operator]
    with source.open("a") as stream:
        stream.write("no request\n")
    target.write_text("keep me")
    done = _nandwich("trace", "convert", source, target, "--to", "fio")
    assert done.returncode == 2
    assert target.read_text() == "keep me"
    done = _nandwich("trace", "convert", source, "/dev/full", "--to", "fio", "--skip-bad", 1)
    assert done.returncode == 1  # was 2
    assert "cannot write /dev/full: No space left on device" in done.stderr
    done = _nandwich("trace", "convert", source, "/dev/nosuch/x", "--to", "fio", "--skip-bad", 1)
    assert done.returncode == 2
