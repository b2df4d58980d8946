# SPDX-License-Identifier: Apache-2.0
"""An object store as a folder, through FUSE: its files to read and write, its streams to read.

What a program closes or syncs is durable in the store, and the image is saved.
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
    """A file of the store, or a stream, which is only read."""

    def __init__(self, handle: int, length: int, content: bytes | None = None) -> None:
        self.handle = handle
        self.length = length
        self.content = content  # of a stream
        self.is_dirty = False
        self.changed_ns = time.time_ns()


class Files(mfusepy.Operations):  # type: ignore[misc]
    """What FUSE asks for."""

    use_ns = True

    def __init__(self, image: Image) -> None:
        self._image = image
        self._files: dict[str, _File] = {}
        for about in image.objects():
            if about["type"] == "file":
                self._files[about["name"]] = _File(about["handle"], about["length"])
            elif about["type"] == "stream":
                content = b"".join(image.read(about))
                self._files[about["name"]] = _File(about["handle"], len(content), content)

    def _file(self, path: str) -> _File:
        try:
            return self._files[path[1:]]
        except KeyError:
            raise mfusepy.FuseOSError(errno.ENOENT) from None

    def _writable(self, path: str) -> _File:
        file = self._file(path)
        if file.content is not None:
            raise mfusepy.FuseOSError(errno.EACCES)
        return file

    def _keep(self, file: _File) -> None:
        """Makes a file durable."""
        if file.is_dirty:
            self._image.store.sync()
            self._image.save()
            file.is_dirty = False

    def _put(self, file: _File, offset: int, data: bytes) -> None:
        """Writes where the file has bytes, or at its end; it may get full half way."""
        file.is_dirty = True
        file.changed_ns = time.time_ns()
        try:
            self._image.write(file.handle, offset, data)
        finally:
            file.length = self._image.store.length(file.handle)

    def _resize(self, file: _File, length: int) -> None:
        """To this length, with zeros where it grows."""
        if length < file.length:
            file.is_dirty = True
            file.changed_ns = time.time_ns()
            self._image.store.truncate(file.handle, length)
            file.length = length
        while file.length < length:
            self._put(file, file.length, bytes(min(16384, length - file.length)))

    @_told
    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2, **self._owner()}
        file = self._file(path)
        return {
            "st_mode": stat.S_IFREG | (0o644 if file.content is None else 0o444),
            "st_nlink": 1,
            "st_size": file.length,
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
        self._files[path[1:]] = _File(self._image.create_file(path[1:]), 0)
        return 0

    @_told
    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        file = self._file(path)
        if file.content is not None:
            return file.content[offset : offset + size]
        found = b""
        while len(found) < size and offset + len(found) < file.length:
            found += self._image.store.read(
                file.handle, offset + len(found), min(16384, size - len(found))
            )
        return found

    @_told
    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        file = self._writable(path)
        if offset > file.length:
            self._resize(file, offset)
        self._put(file, offset, data)
        return len(data)

    @_told
    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        self._resize(self._writable(path), length)
        return 0

    @_told
    def flush(self, path: str, fh: int) -> int:
        self._keep(self._file(path))  # on close: the last moment an error reaches the program
        return 0

    @_told
    def fsync(self, path: str, datasync: int, fh: int) -> int:
        self._keep(self._file(path))
        return 0

    @_told
    def unlink(self, path: str) -> int:
        self._image.store.delete(self._file(path).handle)
        del self._files[path[1:]]
        self._image.save()
        return 0

    @_told
    def rename(self, old: str, new: str) -> int:
        """The store knows no other name for an object: the file is written anew."""
        moved = self._writable(old)
        if new[1:] in self._files:
            self._resize(self._writable(new), 0)
        else:
            self.create(new, 0)
        copy = self._files[new[1:]]
        for at in range(0, moved.length, 16384):
            self._put(copy, at, self._image.store.read(moved.handle, at, 16384))
        copy.is_dirty = True
        self._keep(copy)
        return self.unlink(old)

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
        for file in self._files.values():
            self._keep(file)


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
