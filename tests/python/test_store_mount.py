# SPDX-License-Identifier: Apache-2.0
"""`nandwich store IMAGE mount`: ordinary programs on the files of a store."""

import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from nandwich import _native
from nandwich.store import image as store_image

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


def answers(action: Callable[[], object]) -> int:
    """The error number that a program gets; 0 for none."""
    try:
        action()
    except OSError as error:
        return error.errno or -1
    return 0


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fill_with_a_stream_and_a_queue(image: Path) -> None:
    with store_image.opened(image, writes=True) as opened:
        stream = opened.store.create("readings", "stream", unit_bytes=4)
        opened.store.create("jobs", "queue")
        opened.store.append(stream, b"12345678")
        opened.store.sync()
        opened.save()


def rename_without_replacing(old: Path, new: Path) -> None:
    done = ctypes.CDLL(None, use_errno=True).renameat2(-100, bytes(old), -100, bytes(new), 1)
    if done != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def fallocate(path: Path) -> None:
    """fallocate(2) itself: os.posix_fallocate writes zeros where a file system cannot."""
    with path.open("rb+") as file:
        size = ctypes.c_long(100)
        if ctypes.CDLL(None, use_errno=True).fallocate(file.fileno(), 0, ctypes.c_long(0), size):
            raise OSError(ctypes.get_errno(), "fallocate")


def test_each_mistake_has_one_error(mounted: Mounted) -> None:
    """Goal: whatever a folder could do and a store cannot has a fixed error, and nothing of it is
    done; streams cannot be changed, names of what is not shown are taken."""
    mounted.unmount()
    fill_with_a_stream_and_a_queue(mounted.image)
    mounted.mount()
    folder = mounted.folder
    (folder / "file").write_bytes(b"here")
    (folder / "other").write_bytes(b"there")
    room = os.statvfs(folder).f_blocks * 512
    for name, action, number in (
        ("mkdir", lambda: (folder / "x").mkdir(), errno.EPERM),
        ("fifo", lambda: os.mkfifo(folder / "x"), errno.EPERM),
        ("link", lambda: os.link(folder / "file", folder / "x"), errno.EPERM),
        ("symlink", lambda: (folder / "x").symlink_to("file"), errno.EPERM),
        ("in no folder", lambda: (folder / "x" / "y").write_bytes(b""), errno.ENOENT),
        ("in a file", lambda: (folder / "file" / "y").write_bytes(b""), errno.ENOTDIR),
        ("long", lambda: (folder / ("n" * 33)).write_bytes(b""), errno.ENAMETOOLONG),
        ("long, new", lambda: (folder / "file").rename(folder / ("n" * 33)), errno.ENAMETOOLONG),
        ("huge", lambda: os.truncate(folder / "file", 1 << 40), errno.EFBIG),
        ("big", lambda: os.truncate(folder / "file", room), errno.ENOSPC),
        ("xattr", lambda: os.setxattr(folder / "file", "user.x", b""), errno.ENOTSUP),
        ("room", lambda: fallocate(folder / "file"), errno.EOPNOTSUPP),
        ("stream", lambda: (folder / "readings").open("ab"), errno.EROFS),
        ("stream, cut", lambda: os.truncate(folder / "readings", 0), errno.EROFS),
        ("stream, rm", lambda: (folder / "readings").unlink(), errno.EROFS),
        ("stream, mv", lambda: (folder / "readings").rename(folder / "x"), errno.EROFS),
        ("over a stream", lambda: (folder / "file").rename(folder / "readings"), errno.EROFS),
        ("queue", lambda: (folder / "jobs").write_bytes(b""), errno.EEXIST),
        ("over a queue", lambda: (folder / "file").rename(folder / "jobs"), errno.EEXIST),
        (
            "mv -n",
            lambda: rename_without_replacing(folder / "file", folder / "other"),
            errno.EEXIST,
        ),
        ("chmod", lambda: (folder / "file").chmod(0o700), 0),
        ("chown", lambda: os.chown(folder / "file", 0, 0), 0),
        ("times", lambda: os.utime(folder / "file", (1, 2)), 0),
        ("times of the folder", lambda: os.utime(folder, (3, 4)), 0),  # once ENOENT: tar sets them
    ):
        assert (name, answers(action)) == (name, number)
    assert (folder.stat().st_mtime, (folder / "file").stat().st_mtime) == (4, 2)
    assert names(folder) == ["file", "other", "readings"]
    assert (folder / "file").read_bytes() == b"here"
    assert (folder / "other").read_bytes() == b"there"
    assert (folder / "readings").read_bytes() == b"12345678"


def test_a_full_store_can_be_emptied_again(mounted: Mounted) -> None:
    folder = mounted.folder
    (folder / "kept").write_bytes(b"kept")
    before = os.statvfs(folder)
    (folder / "fits").write_bytes(bytes(before.f_bavail * before.f_frsize))  # all that df tells of
    (folder / "fits").unlink()
    assert answers(lambda: (folder / "big").write_bytes(bytes(2_000_000))) == errno.ENOSPC
    full = os.statvfs(folder)
    assert full.f_bavail * full.f_frsize < 40_000
    assert (folder / "kept").read_bytes() == b"kept"
    (folder / "big").unlink()
    after = os.statvfs(folder)
    assert before.f_bavail - after.f_bavail < 20
    assert (after.f_files, after.f_ffree, after.f_namemax) == (40, 39, 32)
    (folder / "again").write_bytes(bytes(500_000))
    assert "500000" in shell("ls -l again; df . | tail -1; du -b again", folder)


def test_a_file_replaced_by_rename_is_old_or_new(mounted: Mounted) -> None:
    """Goal: write beside, fsync, rename over - as editors and rsync do - while a reader has the old
    one open: it goes on reading that; kill -9 at once leaves the new one, and nothing else."""
    folder = mounted.folder
    (folder / "config").write_bytes(b"old" * 1000)
    with (folder / "config").open("rb") as reader:
        assert reader.read(3) == b"old"
        with (folder / ".config.tmp").open("wb") as writer:
            writer.write(b"new" * 500)
            writer.flush()
            os.fsync(writer.fileno())
        (folder / ".config.tmp").rename(folder / "config")
        assert reader.read() == b"old" * 999
        assert names(folder) == ["config"]
    scratch = os.open(folder / "gone", os.O_RDWR | os.O_CREAT)
    os.write(scratch, b"before")
    (folder / "gone").unlink()
    os.write(scratch, b" and after")
    assert os.pread(scratch, 100, 0) == b"before and after"
    mounted.kill()
    assert answers(lambda: os.close(scratch)) == errno.ENOTCONN
    mounted.mount()
    assert names(folder) == ["config"]
    assert (folder / "config").read_bytes() == b"new" * 500


def test_sizes_times_and_two_writers(mounted: Mounted) -> None:
    """Goal: truncating down and up (with zeros), writing beyond the end, times while mounted, an
    empty file over kill -9, and two processes that append at once: no line is torn or lost."""
    folder = mounted.folder
    (folder / "file").write_bytes(b"0123456789")
    os.truncate(folder / "file", 4)
    os.truncate(folder / "file", 6)
    with (folder / "file").open("r+b") as file:
        file.seek(8)
        file.write(b"x")
    assert (folder / "file").read_bytes() == b"0123\0\0\0\0x"
    assert shell("echo longer > f; echo s > f; cat f; : > f; cat f", folder) == "s\n"
    assert shell("touch -d @1000000000 f; stat -c %Y f; cp -p f g; stat -c %Y g", folder) == (
        "1000000000\n1000000000\n"
    )
    shell(
        """
        for word in one two; do
            for i in $(seq 100); do echo $word $i; done >> log &
        done
        wait
        touch empty
        """,
        folder,
    )
    lines = (folder / "log").read_text().splitlines()
    for word in ("one", "two"):
        assert [line for line in lines if word in line] == [f"{word} {i + 1}" for i in range(100)]
    mounted.kill()
    mounted.mount()
    assert (folder / "empty").read_bytes() == b""
    assert len((folder / "log").read_text().splitlines()) == 200


def act(random: Random, folder: Path) -> str:
    """A random thing that a program does to a file; what came of it."""
    path, other = (folder / random.choice("abcdef") for _ in range(2))
    what = random.choice(("new", "over", "append", "cut", "move", "remove", "hole", "read"))
    data = random.randbytes(random.choice((1, 473, 474, 475, 3000, 9000)))
    place = random.randrange(12_000)
    try:
        if what == "new":
            path.write_bytes(data)
        elif what == "append":
            with path.open("ab") as file:
                file.write(data)
        elif what in ("over", "hole"):
            with path.open("r+b") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(min(place, size) if what == "over" else place)
                file.write(data)
        elif what == "cut":
            os.truncate(path, place)
        elif what == "move":
            path.rename(other)
        elif what == "remove":
            path.unlink()
        else:
            return f"{path.read_bytes()!r}"
    except OSError as error:
        return f"{what}: {error.errno}"
    return what


def test_random_work_is_as_in_any_folder(mounted: Mounted, tmp_path: Path) -> None:
    """Goal: 600 random operations on six files answer and leave what they do in a folder of the
    system, over remounts and kills of the server too (all files were closed before)."""
    plain = tmp_path / "plain"
    plain.mkdir()
    for step in range(600):
        told = [act(Random(step), folder) for folder in (mounted.folder, plain)]
        assert told[0] == told[1], f"step {step}"
        if step % 60 == 59:
            assert names(mounted.folder) == names(plain)
            if step % 120 == 119:
                mounted.kill()
            else:
                mounted.unmount()
            mounted.mount()
            for name in names(plain):
                assert (mounted.folder / name).read_bytes() == (plain / name).read_bytes(), step
    mounted.unmount()
    with store_image.opened(mounted.image) as image:
        assert list(image.damages()) == []


def test_ctrl_c_saves_what_is_open(mounted: Mounted) -> None:
    stream = os.open(mounted.folder / "open", os.O_WRONLY | os.O_CREAT)
    os.write(stream, b"not closed yet")
    assert mounted.server is not None
    mounted.server.send_signal(signal.SIGINT)
    assert mounted.server.wait(30) == 0
    assert answers(lambda: os.close(stream)) == errno.ENOTCONN
    mounted.mount()
    assert (mounted.folder / "open").read_bytes() == b"not closed yet"


def test_damage_is_an_input_output_error(mounted: Mounted) -> None:
    """Goal: a stream or a file with a damaged chunk is shown, read up to the damage, and then is
    EIO; all else is read."""
    mounted.unmount()
    with store_image.opened(mounted.image, writes=True) as image:
        stream = image.store.create("log", "stream")
        for i in range(8):
            image.store.append(stream, b"element %d " % i * 120)
        image.write(image.create_file("file"), 0, b"content " * 200)
        image.write(image.create_file("whole"), 0, b"whole")
        image.store.sync()
        image.save()
    nand = _native.Nand.load(str(mounted.image))
    for page in range(128 * 32):
        if nand.page_programs[page]:
            data = nand.fork().read(page, 0, 512)[1]
            for mark in (b"element 5 element 5", b"content content"):
                if mark in data:
                    nand.flip(page, data.index(mark) * 8)
    nand.save(str(mounted.image))
    mounted.mount()
    with (mounted.folder / "log").open("rb", buffering=0) as log:
        whole = b"".join(b"element %d " % i * 120 for i in range(5))
        assert os.pread(log.fileno(), 4096, 0) == whole[:4096]  # the kernel asks for whole pages
        assert answers(lambda: os.pread(log.fileno(), 100, 4096)) == errno.EIO
    assert answers((mounted.folder / "file").read_bytes) == errno.EIO
    assert (mounted.folder / "whole").read_bytes() == b"whole"
