# SPDX-License-Identifier: Apache-2.0
"""How every verb writes a file: whole or not at all. And how it reads one that may be anything.

The C side does the same for images, recordings and traces (twin/include/nandwich-twin/file.h);
the rules are told there.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LEAST_ROOM = 4096  # bytes that a disk with room takes
_NO_FILE = "neither a file nor a pipe"


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose content replaces the file when the block ends well; else nothing changes.

    Links are followed and stay, the mode stays. A device or a pipe is written to as it is. OSError.
    """
    old = _status(path)
    if old is not None and not stat.S_ISREG(old.st_mode):
        if not _takes_bytes(old):
            raise OSError(errno.EINVAL, _NO_FILE)
        with path.open("wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".nandwich-{secrets.token_hex(8)}")
    # Nobody else may read what replaces a private file, not even meanwhile.
    handle, named = _begin(partial, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            if old is not None:
                _take_over(handle, old)
            yield stream
            stream.flush()
            os.fsync(handle)
            if not named:
                # Only with a folder, whichever, does Python follow the link that this path is.
                os.link(f"/proc/self/fd/{handle}", partial, src_dir_fd=handle)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def check(path: Path) -> None:
    """OSError when `replacing` could not do it, as far as that shows before. Leaves nothing.

    A file is begun beside it: no status says what root may do in /proc, or that a disk is full.
    """
    old = _status(path)
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise OSError(errno.EISDIR, "it is a folder")
    if old is not None and not stat.S_ISREG(old.st_mode):
        if not _takes_bytes(old):
            raise OSError(errno.EINVAL, _NO_FILE)
        if not os.access(path, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise OSError(errno.ENOENT, f"there is no folder {folder}")
    try:
        _try_room(folder)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise OSError(error.errno, f"nothing may be written to the folder {folder}") from error


def _try_room(folder: Path) -> None:
    """OSError when no file can be begun there, or the disk has no room for one."""
    partial = folder / f".nandwich-{secrets.token_hex(8)}"
    handle, named = _begin(partial, 0o600)
    try:
        os.write(handle, bytes(_LEAST_ROOM))
    finally:
        os.close(handle)
        if named:
            partial.unlink()


def _takes_bytes(status: os.stat_result) -> bool:
    """Whether something that is no file is written to as it is."""
    return stat.S_ISCHR(status.st_mode) or stat.S_ISFIFO(status.st_mode)


def read(path: Path, most_bytes: int) -> bytes:
    """What a file, a pipe or a device holds. OSError, also when that is more: some never end."""
    with path.open("rb") as stream:
        return drain(stream, most_bytes)


def drain(stream: BinaryIO, most_bytes: int) -> bytes:
    """The rest of a stream; OSError as for `read`."""
    data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"more than {most_bytes} bytes")
    return data


def replace(path: Path, data: bytes) -> None:
    """Give a file this content, whole or not at all. OSError."""
    with replacing(path) as stream:
        stream.write(data)


def _begin(partial: Path, mode: int) -> tuple[int, bool]:
    """A file to write to, and whether it has its name yet. Without one nothing is left of it when
    this program is killed, but not every file system can do that."""
    try:
        return os.open(partial.parent, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, mode), False
    except OSError:
        return os.open(partial, _NEW, mode), True


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _take_over(handle: int, old: os.stat_result) -> None:
    """Owner and mode of the file that is replaced."""
    with contextlib.suppress(PermissionError):  # only root gives files away: then it is ours
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))
