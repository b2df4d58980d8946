# SPDX-License-Identifier: Apache-2.0
"""An object store as a folder, through FUSE: its files to read and write, its streams to read.

What a program closes or syncs is durable in the store, and the image is saved. What a folder could
do and a store cannot is refused with one error each (docs/store-command.md).
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
from nandwich.store.image import Image, error_of

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")

#: What a program is told for an error of the store; EIO for all others.
_ERRNO = {
    -3: errno.EFBIG,
    -15: errno.ENOSPC,
    -18: errno.ENOENT,
    -21: errno.EROFS,
    -22: errno.EEXIST,
    -23: errno.ENAMETOOLONG,
}

#: renameat2(2): not when the new name is taken.
_NOREPLACE = 1

#: utimensat(2), as mfusepy adds seconds and nanoseconds up.
_TIME_NOW, _TIME_OMIT = (1 << 30) - 1, (1 << 30) - 2

#: So libfuse renames a file that is removed while a program has it open.
_REMOVED = "/.fuse_hidden"

#: libfuse's answer when Ctrl-C or a kill ended the mount, in good order.
_ENDED_BY_SIGNAL = 8

_PIECE = 16384
_SECTOR = 512


def _error(number: int) -> OSError:
    error: OSError = mfusepy.FuseOSError(number)
    return error


def _told(
    verb: Callable[Concatenate["Files", _Arguments], _Answer],
) -> Callable[Concatenate["Files", _Arguments], _Answer]:
    """Errors of the store as those of the operating system."""

    @functools.wraps(verb)
    def wrapper(self: "Files", /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        try:
            return verb(self, *args, **kwargs)
        except _native.StoreError as error:
            raise _error(_ERRNO.get(error_of(error), errno.EIO)) from error
        except RunError as error:
            raise _error(errno.EIO) from error

    return wrapper


class _File:
    """A file of the store; or a stream, which is only read; or a file that was removed while a
    program had it open, which lives in memory."""

    def __init__(self, handle: int, length: int, *, is_stream: bool = False) -> None:
        self.handle = handle
        self.length = length
        self.content: bytearray | None = None  # of a stream, and of what was removed
        self.is_stream = is_stream
        self.is_dirty = False
        self.changed_ns = time.time_ns()


def _stream(image: Image, about: dict[str, Any]) -> _File:
    """A stream, read. One that is damaged seems a byte longer than what can be read of it."""
    file = _File(about["handle"], 0, is_stream=True)
    file.content = bytearray()
    try:
        for piece in image.read(about):
            file.content += piece
        file.length = len(file.content)
    except _native.StoreError:
        file.length = len(file.content) + 1
    return file


class Files(mfusepy.Operations):  # type: ignore[misc]
    """What FUSE asks for."""

    use_ns = True

    def __init__(self, image: Image) -> None:
        self._image = image
        self._root_changed_ns = time.time_ns()
        self.failure = ""  # why the end of the mount went wrong
        self._files: dict[str, _File] = {}
        for about in image.objects():
            name = about["name"]
            if "/" in name or name in (".", ".."):
                continue  # no folder can show it
            if about["type"] == "file":
                self._files[name] = _File(about["handle"], about["length"])
            elif about["type"] == "stream":
                self._files[name] = _stream(image, about)

    def _file(self, path: str) -> _File:
        try:
            return self._files[path[1:]]
        except KeyError:
            raise _error(errno.ENOENT) from None

    def _writable(self, path: str) -> _File:
        file = self._file(path)
        if file.is_stream:
            raise _error(errno.EROFS)
        return file

    def _save(self) -> None:
        """Everything written so far is durable, and in the image."""
        self._image.store.sync()
        self._image.save()
        for file in self._files.values():
            file.is_dirty = False

    def _free_bytes(self) -> int:
        """About half of what is left to the limit: the index and cleaning need room, too."""
        return int(self._image.store.space["put_bytes"])

    def _put(self, file: _File, offset: int, data: bytes) -> None:
        """Writes where the file has bytes, or at its end; it may get full half way."""
        file.changed_ns = time.time_ns()
        if file.content is not None:
            file.content[offset : offset + len(data)] = data
            file.length = len(file.content)
            return
        file.is_dirty = True
        try:
            self._image.write(file.handle, offset, data)
        finally:
            file.length = self._image.store.length(file.handle)

    def _resize(self, file: _File, length: int) -> None:
        """To this length, with zeros where it grows; not at all when these have no room."""
        if length > self._image.store.space["limit_bytes"]:
            raise _error(errno.EFBIG)
        if length - file.length > self._free_bytes():
            raise _error(errno.ENOSPC)
        if length < file.length:
            file.changed_ns = time.time_ns()
            file.length = length
            if file.content is not None:
                del file.content[length:]
            else:
                file.is_dirty = True
                self._image.store.truncate(file.handle, length)
        while file.length < length:
            self._put(file, file.length, bytes(min(_PIECE, length - file.length)))

    @_told
    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        owner = {"st_uid": os.getuid(), "st_gid": os.getgid()}
        if path == "/":
            times = dict.fromkeys(("st_atime", "st_mtime", "st_ctime"), self._root_changed_ns)
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2, **times, **owner}
        file = self._file(path)
        return {
            "st_mode": stat.S_IFREG | (0o444 if file.is_stream else 0o644),
            "st_nlink": 1,
            "st_size": file.length,
            "st_blocks": -(-file.length // _SECTOR),
            "st_atime": file.changed_ns,
            "st_mtime": file.changed_ns,
            "st_ctime": file.changed_ns,
            **owner,
        }

    def readdir(self, path: str, fh: int) -> Iterable[str]:
        shown = (name for name in self._files if not f"/{name}".startswith(_REMOVED))
        return [".", "..", *shown]

    @_told
    def open(self, path: str, flags: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_TRUNC):
            file = self._writable(path)
            if flags & os.O_TRUNC:
                self._resize(file, 0)
        else:
            self._file(path)
        return 0

    @_told
    def create(self, path: str, mode: int, fi: Any = None) -> int:
        file = _File(self._image.create_file(path[1:]), 0)
        file.is_dirty = True  # an empty file is saved when it is closed, too
        self._files[path[1:]] = file
        return 0

    def _read(self, file: _File, offset: int, size: int) -> bytes:
        if file.content is not None:
            if min(offset + size, file.length) > len(file.content):
                raise _error(errno.EIO)  # into the damage of a stream
            return bytes(file.content[offset : offset + size])
        found = b""
        while len(found) < size and offset + len(found) < file.length:
            found += self._image.store.read(
                file.handle, offset + len(found), min(_PIECE, size - len(found))
            )
        return found

    @_told
    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return self._read(self._file(path), offset, size)

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
        """On close: the last moment an error reaches the program."""
        if self._file(path).is_dirty:
            self._save()
        return 0

    @_told
    def fsync(self, path: str, datasync: int, fh: int) -> int:
        self._save()
        return 0

    @_told
    def fsyncdir(self, path: str, datasync: int, fh: int) -> int:
        self._save()
        return 0

    @_told
    def unlink(self, path: str) -> int:
        file = self._writable(path)
        if file.content is None:
            self._image.store.delete(file.handle)
        del self._files[path[1:]]
        self._save()
        return 0

    @_told
    def rename(self, old: str, new: str, flags: int = 0) -> int:
        """A file under the new name gives way at once, in the store and in the image."""
        file = self._writable(old)
        if flags & ~_NOREPLACE:
            raise _error(errno.EINVAL)
        if new.startswith(_REMOVED):
            # Saved with what comes next: the end of a removal, or a file that takes the name.
            content = bytearray(self._read(file, 0, file.length))
            self._image.store.delete(file.handle)
            file.content = content
            self._files[new[1:]] = self._files.pop(old[1:])
            return 0
        if new[1:] in self._files:
            if flags:
                raise _error(errno.EEXIST)
            self._writable(new)
        elif any(about["name"] == new[1:] for about in self._image.store.objects()):
            raise _error(errno.EEXIST)  # an object that no folder shows
        self._image.store.rename(file.handle, new[1:])
        self._files[new[1:]] = self._files.pop(old[1:])
        self._save()
        return 0

    def statfs(self, path: str) -> dict[str, int]:
        free = self._free_bytes() // _SECTOR
        layout = self._image.layout
        return {
            "f_bsize": _SECTOR,
            "f_frsize": _SECTOR,
            "f_blocks": self._image.store.space["limit_bytes"] // _SECTOR,
            "f_bfree": free,
            "f_bavail": free,
            "f_files": layout.objects,
            "f_ffree": layout.objects - len(self._image.store.objects()),
            "f_namemax": layout.name_bytes,
        }

    @_told
    def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
        """Kept until unmounted; of the folder itself too."""
        file = None if path == "/" else self._file(path)
        changed = _TIME_NOW if times is None else times[1]
        if changed != _TIME_OMIT:
            changed = time.time_ns() if changed == _TIME_NOW else changed
            if file is None:
                self._root_changed_ns = changed
            else:
                file.changed_ns = changed
        return 0

    def chmod(self, path: str, mode: int) -> int:
        return 0  # modes and owners are not kept; programs that copy them go on

    def chown(self, path: str, uid: int, gid: int) -> int:
        return 0

    def mkdir(self, path: str, mode: int) -> int:
        raise _error(errno.EPERM)  # what the manual pages say of file systems that have no such

    def mknod(self, path: str, mode: int, dev: int) -> int:
        raise _error(errno.EPERM)

    def link(self, target: str, source: str) -> int:
        raise _error(errno.EPERM)

    def symlink(self, target: str, source: str) -> int:
        raise _error(errno.EPERM)

    def destroy(self, path: str) -> None:
        try:
            if any(file.is_dirty for file in self._files.values()):
                self._save()
        except (_native.StoreError, RunError) as error:
            self.failure = f"what was open is not saved: {error.args[-1]}"


class _Fuse(mfusepy.FUSE):  # type: ignore[misc]
    """mfusepy forgets how a rename is meant."""

    def rename_fuse_3(self, old: bytes, new: bytes, flags: int) -> int:
        names = (name.decode(self.encoding, self.errors) for name in (old, new))
        answer: int = self.operations.rename(*names, flags)
        return answer


def serve(image: Image, folder: Path, *, foreground: bool) -> None:
    """Mounts until `fusermount3 -u FOLDER`; in the background the call returns at once there."""
    files = Files(image)
    try:
        _Fuse(
            files,
            str(folder),
            foreground=foreground,
            nothreads=True,
            fsname=str(image.path),
            subtype="nandwich",
        )
    except RuntimeError as error:
        if error.args[0] != _ENDED_BY_SIGNAL:
            raise RunError(f"cannot mount on {folder}: fuse error {error}") from error
    if files.failure:
        raise RunError(f"{image.path}: {files.failure}")
