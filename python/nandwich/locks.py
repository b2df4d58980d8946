# SPDX-License-Identifier: Apache-2.0
"""An image of a chip is worked on by one command at a time: the second ends with a sentence.

The name of the image is taken, as an abstract Unix socket: it need not be there yet, and nothing is
left of the lock when the command ends, in whatever way. A file that is there is locked too (flock),
so that all its names count. Both hold off only other commands of ours, on this machine.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from nandwich.errors import InputError, RunError


class Lock:
    """The right to load an image and to replace it. RunError when another command has it,
    InputError when there is no such folder, or the file cannot be opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = _take_name(path)
        self._file: int | None = None
        try:
            self._file = _take_file(path)
        except BaseException:
            self._name.close()
            raise

    def renew(self) -> None:
        """Goes over to the file that has replaced the old one under this name."""
        old, self._file = self._file, _take_file(self._path)
        if old is not None:
            os.close(old)

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._name.close()


@contextlib.contextmanager
def held(image: str) -> Iterator[None]:
    """Holds the lock of an image while inside; "" is no image."""
    lock = Lock(Path(image)) if image else None
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def _take_name(path: Path) -> socket.socket:
    target = Path(os.path.realpath(path))
    try:
        folder = target.parent.stat()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    place = os.fsencode(f"{folder.st_dev}:{folder.st_ino}:{target.name}")
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(b"\0nandwich-" + hashlib.sha256(place).hexdigest().encode())
    except OSError as error:
        name.close()
        raise _refusal(path, error) from error
    return name


def _take_file(path: Path) -> int | None:
    """The lock of the file that has this name now, while others may replace it; None: no file."""
    while True:
        opened = _lock_once(path)
        if opened is None:
            return None
        with contextlib.suppress(FileNotFoundError):
            if path.samefile(f"/proc/self/fd/{opened}"):
                return opened
        os.close(opened)


def _lock_once(path: Path) -> int | None:
    try:
        # A pipe that nobody writes to would block here; loading it will say what it is.
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', error)}") from error
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(opened)
        raise _refusal(path, error) from error
    return opened


def _refusal(path: Path, error: OSError) -> RunError:
    busy = error.errno in (errno.EWOULDBLOCK, errno.EADDRINUSE)
    return RunError(f"{path}: {'in use by another command or a mount' if busy else error.strerror}")
