# SPDX-License-Identifier: Apache-2.0
"""An object store's streams as files of a folder, through FUSE.

Streams of bytes (what `put` makes) are files that ordinary programs read and write; streams of
other units are files to read. What a program closes or syncs is durable in the store and the image
saved. Bytes added at a file's end are appended to its stream; a change inside it writes the stream
anew.
"""

import errno
import functools
import os
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import mfusepy

from nandwich import _native
from nandwich.errors import RunError
from nandwich.store_image import Image, error_of

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")

#: What a program is told for an error of the store; EIO for all others.
_ERRNO = {
    -15: errno.ENOSPC,
    -18: errno.ENOENT,
    -21: errno.EACCES,
    -22: errno.EEXIST,
    -23: errno.ENAMETOOLONG,
}


def _told(
    verb: Callable[Concatenate["Files", _Arguments], _Answer],
) -> Callable[Concatenate["Files", _Arguments], _Answer]:
    """Errors of the store as those of the operating system."""

    @functools.wraps(verb)
    def wrapper(self: "Files", /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        try:
            return verb(self, *args, **kwargs)
        except _native.StoreError as error:
            raise mfusepy.FuseOSError(_ERRNO.get(error_of(error), errno.EIO)) from error
        except RunError as error:
            raise mfusepy.FuseOSError(errno.EIO) from error

    return wrapper


class _File:
    """One stream's content in RAM, and how much of it the store has."""

    def __init__(self, content: bytes, is_plain: bool) -> None:
        self.content = bytearray(content)
        self.is_plain = is_plain  # a stream of bytes: may be written
        self.stored = len(content)  # so many bytes from the start are as the stream has them
        self.is_new = False  # the stream has to be written anew
        self.changed_ns = time.time_ns()

    @property
    def is_dirty(self) -> bool:
        return self.is_new or self.stored != len(self.content)

    def cut(self, length: int) -> None:
        self.is_new = self.is_new or length < self.stored
        self.content[length:] = bytes(max(0, length - len(self.content)))
        self.changed_ns = time.time_ns()

    def write(self, data: bytes, offset: int) -> None:
        self.is_new = self.is_new or offset < self.stored
        if offset > len(self.content):
            self.cut(offset)
        self.content[offset : offset + len(data)] = data
        self.changed_ns = time.time_ns()


class Files(mfusepy.Operations):  # type: ignore[misc]
    """What FUSE asks for."""

    use_ns = True

    def __init__(self, image: Image) -> None:
        self._image = image
        self._files: dict[str, _File] = {}
        for about in image.store.objects():
            if about["type"] == "stream":
                content = b"".join(image.read(about))
                self._files[about["name"]] = _File(content, about["unit_bytes"] == 1)

    def _file(self, path: str) -> _File:
        try:
            return self._files[path[1:]]
        except KeyError:
            raise mfusepy.FuseOSError(errno.ENOENT) from None

    def _writable(self, path: str) -> _File:
        file = self._file(path)
        if not file.is_plain:
            raise mfusepy.FuseOSError(errno.EACCES)
        return file

    def _keep(self, path: str) -> None:
        """Makes a file durable: its new bytes appended, or the stream written anew."""
        file = self._file(path)
        if not file.is_dirty:
            return
        store, name = self._image.store, path[1:]
        if file.is_new:
            store.delete(store.find(name))
            handle = store.create(name, "stream", unit_bytes=1)
            file.stored = 0
        else:
            handle = store.find(name)
        file.is_new = True  # should the store get full half way
        self._image.write(handle, bytes(file.content[file.stored :]))
        store.sync()
        file.is_new = False
        file.stored = len(file.content)
        self._image.save()

    @_told
    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2, **self._owner()}
        file = self._file(path)
        return {
            "st_mode": stat.S_IFREG | (0o644 if file.is_plain else 0o444),
            "st_nlink": 1,
            "st_size": len(file.content),
            "st_mtime": file.changed_ns,
            "st_ctime": file.changed_ns,
            **self._owner(),
        }

    @staticmethod
    def _owner() -> dict[str, int]:
        return {"st_uid": os.getuid(), "st_gid": os.getgid()}

    def readdir(self, path: str, fh: int) -> Iterable[str]:
        return [".", "..", *self._files]

    @_told
    def open(self, path: str, flags: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            self._writable(path)
        else:
            self._file(path)
        return 0

    @_told
    def create(self, path: str, mode: int, fi: Any = None) -> int:
        self._image.store.create(path[1:], "stream", unit_bytes=1)
        self._files[path[1:]] = _File(b"", True)
        return 0

    @_told
    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return bytes(self._file(path).content[offset : offset + size])

    @_told
    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        self._writable(path).write(data, offset)
        return len(data)

    @_told
    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        self._writable(path).cut(length)
        return 0

    @_told
    def flush(self, path: str, fh: int) -> int:
        self._keep(path)  # on close: the last moment an error reaches the program
        return 0

    @_told
    def fsync(self, path: str, datasync: int, fh: int) -> int:
        self._keep(path)
        return 0

    @_told
    def unlink(self, path: str) -> int:
        self._file(path)
        self._image.store.delete(self._image.store.find(path[1:]))
        del self._files[path[1:]]
        self._image.save()
        return 0

    @_told
    def rename(self, old: str, new: str) -> int:
        """The store knows no other name for an object: the stream is written anew."""
        moved = self._writable(old)
        if new[1:] in self._files:
            self._writable(new)
        else:
            self.create(new, 0)
        self._files[new[1:]] = file = _File(bytes(moved.content), True)
        file.stored, file.is_new = 0, True
        self._keep(new)
        self.unlink(old)
        return 0

    def statfs(self, path: str) -> dict[str, int]:
        space, block = self._image.store.space, 512
        free = (space["limit_bytes"] - space["used_bytes"]) // block
        return {
            "f_bsize": block,
            "f_frsize": block,
            "f_blocks": space["limit_bytes"] // block,
            "f_bfree": free,
            "f_bavail": free,
            "f_namemax": 32,
        }

    def chmod(self, path: str, mode: int) -> int:
        return 0  # modes, owners and times are not kept, which programs take

    def chown(self, path: str, uid: int, gid: int) -> int:
        return 0

    def utimens(self, path: str, times: Any = None) -> int:
        return 0

    @_told
    def destroy(self, path: str) -> None:
        for name in list(self._files):
            self._keep("/" + name)


def serve(image: Image, folder: Path, *, foreground: bool) -> None:
    """Mounts until `fusermount3 -u FOLDER`; in the background the call returns at once there."""
    try:
        mfusepy.FUSE(
            Files(image),
            str(folder),
            foreground=foreground,
            nothreads=True,
            fsname=str(image.path),
            subtype="nandwich",
        )
    except RuntimeError as error:
        raise RunError(f"cannot mount on {folder}: fuse error {error}") from error
