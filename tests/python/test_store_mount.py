# SPDX-License-Identifier: Apache-2.0
"""`nandwich store IMAGE mount`: ordinary programs on the files of a store."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nandwich import store_image

pytestmark = pytest.mark.skipif(
    not os.access("/dev/fuse", os.R_OK | os.W_OK) or shutil.which("fusermount3") is None,
    reason="no /dev/fuse that may be used, or no fusermount3",
)


class Mounted:
    """A store and the process that shows it."""

    def __init__(self, folder: Path) -> None:
        self.image = folder / "mote.nand"
        self.folder = folder / "files"
        self.folder.mkdir()
        store_image.format_image(self.image, "TC58DVG02A1FT00", 128, None)
        self.server: subprocess.Popen[bytes] | None = None

    def mount(self) -> None:
        words = ["store", str(self.image), "mount", "--foreground", str(self.folder)]
        code = "from nandwich.cli.main import main; main()"
        self.server = subprocess.Popen([sys.executable, "-c", code, *words])
        end = time.monotonic() + 30
        while not os.path.ismount(self.folder):
            if self.server.poll() is not None:
                pytest.skip("FUSE refuses to mount here")
            assert time.monotonic() < end, "not mounted after 30 s"
            time.sleep(0.02)

    def unmount(self) -> None:
        subprocess.run(["fusermount3", "-u", str(self.folder)], check=True)
        assert self.server is not None
        assert self.server.wait(30) == 0
        self.server = None

    def kill(self) -> None:
        """What kill -9 does; the dead mount is taken away."""
        assert self.server is not None
        self.server.kill()
        self.server.wait()
        self.server = None
        subprocess.run(["fusermount3", "-u", "-z", str(self.folder)], check=True)

    def close(self) -> None:
        if self.server is not None:
            self.kill()


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Mounted]:
    store = Mounted(tmp_path)
    store.mount()
    yield store
    store.close()


def shell(script: str, folder: Path) -> str:
    done = subprocess.run(["sh", "-ec", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cp_tar_and_cmp_find_what_they_wrote(mounted: Mounted, tmp_path: Path) -> None:
    """Goal: copies, an archive and its content, appends, changes inside, renames and removals by
    ordinary programs, before and after another mount."""
    (tmp_path / "big").write_bytes(bytes(i * 13 % 253 for i in range(100_000)))
    shell(
        """
        cp ../big big
        cmp ../big big
        tar cf ../copies.tar big
        cp ../copies.tar copies
        tar xf copies -O | cmp - ../big
        echo one > log
        echo two >> log
        printf XX | dd of=log bs=1 seek=1 conv=notrunc 2>/dev/null
        mv log log.1
        echo gone > gone
        rm gone
        """,
        mounted.folder,
    )
    mounted.unmount()
    mounted.mount()
    assert shell("ls; cat log.1; cmp ../big big; cmp ../copies.tar copies", mounted.folder) == (
        "big\ncopies\nlog.1\noXX\ntwo\n"
    )


def test_what_was_closed_survives_kill_9(mounted: Mounted) -> None:
    """Goal: closed files are there after the server was killed; an open one as its last fsync."""
    shell("echo kept > closed", mounted.folder)
    stream = os.open(mounted.folder / "open", os.O_WRONLY | os.O_CREAT)
    os.write(stream, b"synced")
    os.fsync(stream)
    os.write(stream, b" and not")
    mounted.kill()
    with pytest.raises(OSError, match="not connected"):
        os.close(stream)
    mounted.mount()
    assert (mounted.folder / "closed").read_bytes() == b"kept\n"
    assert (mounted.folder / "open").read_bytes() == b"synced"


def test_mistakes_are_told_as_programs_know_them(mounted: Mounted) -> None:
    """Goal: no folder, a name too long, a full store, and streams that are only to be read."""
    with pytest.raises(OSError, match=r"Function not implemented|not permitted|not supported"):
        (mounted.folder / "folder").mkdir()
    with pytest.raises(OSError, match="File name too long"):
        (mounted.folder / ("n" * 33)).write_bytes(b"")
    with pytest.raises(OSError, match="No space left"):
        (mounted.folder / "big").write_bytes(bytes(2_000_000))
    (mounted.folder / "big").unlink()
    mounted.unmount()
    with store_image.opened(mounted.image) as image:
        stream = image.store.create("readings", "stream", unit_bytes=4)
        image.store.create("jobs", "queue")
        image.store.append(stream, b"12345678")
        image.store.sync()
        image.save()
    mounted.mount()
    assert (mounted.folder / "readings").read_bytes() == b"12345678"
    assert not (mounted.folder / "jobs").exists()
    with pytest.raises(PermissionError):
        (mounted.folder / "readings").open("ab")
