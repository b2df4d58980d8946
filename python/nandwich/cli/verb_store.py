# SPDX-License-Identifier: Apache-2.0
"""`nandwich store`: typed, durable objects in an image of an emulated chip."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from nandwich import _native, files, locks, parts, store_dump, store_image
from nandwich.cli import output
from nandwich.cli.command import Group
from nandwich.cli.options import check_output, json_option, writable
from nandwich.errors import InputError, RunError
from nandwich.names import shown
from nandwich.quantities import format_size
from nandwich.store_image import Image, Layout
from nandwich.store_seal import read_key

#: Errors of the store that are the caller's mistake, not the store's failure.
_MISTAKES = frozenset({-1, -3, -18, -21, -22, -23, -24})

#: What a place in a stream looks like.
_PLACE = "CHUNK:OFFSET"

#: More than any store holds: its positions number bytes with 31 bits.
_MOST_BYTES = 1 << 31


#: Of a layout: what may stand in each place (core/include/nandwich/store.h).
_LAYOUT = (range(1, 61), range(1, 33), range(4), (8, 16, 32, 64))


class _LayoutType(click.ParamType[Layout]):
    name = "layout"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Layout:
        if isinstance(value, Layout):
            return value
        words = str(value).split(",")
        numbers = [int(word) for word in words if word.isdecimal()]
        if len(words) != 4 or len(numbers) != 4:
            self.fail(f"'{value}' is not like 8,12,0,16", param, ctx)
        if any(number not in may for number, may in zip(numbers, _LAYOUT, strict=True)):
            may = "1-60 objects, names of 1-32 bytes, 0-3 checkpoints, fan 8, 16, 32 or 64"
            self.fail(f"'{value}' cannot be: {may}", param, ctx)
        objects, name_bytes, checkpoints, fan = numbers
        return Layout(objects, name_bytes, checkpoints, fan)


def _why(image: Image, error: _native.StoreError) -> str:
    """An error of the store in one line, with what the store knows beside the number."""
    number = store_image.error_of(error)
    if number == store_image.ERR_NAME:
        return f"a name has 1 to {image.layout.name_bytes} bytes"
    if number == store_image.ERR_FULL:
        space, count = image.store.space, len(image.store.objects())
        if count >= image.layout.objects:
            return (
                f"full: all {count} names are in use; nothing was changed (rm frees one; a store "
                "formatted with --layout has up to 60)"
            )
        return (
            f"full: {space['used_bytes']} of {space['limit_bytes']} B and {count} of "
            f"{image.layout.objects} objects in use; nothing was changed"
        )
    told = {
        store_image.ERR_CONFIG: "this chip cannot hold such an object: unit or count too large",
        store_image.ERR_EXISTS: "an object of this name exists already",
    }
    text: str = error.args[1]
    return told.get(number, text)


class _Session:
    """What all commands of the verb are given: the image's path and how to open it."""

    def __init__(self, path: Path, key_file: Path | None) -> None:
        self.path = path
        self.key_file = key_file
        self.key = read_key(key_file) if key_file is not None else None

    @property
    def inputs(self) -> list[Path]:
        """The files that every command reads."""
        return [self.path, *([self.key_file] if self.key_file is not None else [])]

    @contextlib.contextmanager
    def image(self, *, save: bool = False) -> Iterator[Image]:
        """The image opened; with `save`, synced and written when all went well."""
        if save:
            check_output(self.path)
        with store_image.opened(self.path, self.key) as image:
            try:
                yield image
                if save:
                    image.store.sync()
            except _native.StoreError as error:
                kind = InputError if store_image.error_of(error) in _MISTAKES else RunError
                raise kind(f"{self.path}: {_why(image, error)}") from error
            if save:
                image.save()


_pass = click.make_pass_decorator(_Session)
_name = click.argument("name")


def _warn_of_readers(key_file: Path) -> None:
    """A key that everybody can read seals nothing on this machine."""
    with contextlib.suppress(OSError):
        mode = key_file.stat().st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            output.talk(f"{key_file}: others may read this key; chmod 600 {key_file}")


def _source(session: _Session, file: str | None, text: str | None) -> bytes:
    """What to store: a text, a file, or stdin."""
    if text is not None:
        if file is not None:
            raise InputError("either FILE or --text, not both")
        return os.fsencode(text)  # its bytes as they were typed, UTF-8 or not
    output.check_apart(("/dev/stdin" if file in (None, "-") else str(file),), (session.path,))
    try:
        if file is None or file == "-":
            if sys.stdin is None:
                raise InputError("stdin is closed: give a FILE or --text")
            return files.drain(sys.stdin.buffer, _MOST_BYTES)
        return files.read(Path(file), _MOST_BYTES)
    except OSError as error:
        raise InputError(f"{file or 'stdin'}: {error.strerror}") from error


def _give(session: _Session, pieces: Iterator[bytes], file: str | None) -> None:
    """Data to a file, or to stdout."""
    output.check_apart(session.inputs, (file,))
    if file is None or file == "-":
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    try:
        with files.replacing(Path(file)) as stream:
            stream.writelines(pieces)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error


def _needs(about: dict[str, Any], *types: str) -> int:
    """The handle of an object that has one of these types."""
    if about["type"] not in types:
        raise InputError(
            f"{shown(about['name'])} is of type {about['type']}, not {' or '.join(types)}"
        )
    handle: int = about["handle"]
    return handle


def _key_of(about: dict[str, Any], key: int) -> tuple[int, int]:
    """Handle and key of an array's value; InputError when it has no such key."""
    handle = _needs(about, "array")
    if key >= about["count"]:
        raise InputError(
            f"{shown(about['name'])} has no key {key}: they are 0 to {about['count'] - 1}"
        )
    return handle, key


def _check_element(image: Image, about: dict[str, Any], data: bytes) -> None:
    """InputError when the data cannot be one element of a list."""
    most = image.longest_element
    if not 1 <= len(data) <= most:
        raise InputError(f"an element of {shown(about['name'])} has 1 to {most} B, not {len(data)}")


_to_file = click.argument("file", required=False, callback=writable)
_text = click.option("--text", help="The data itself, instead of a file.")


@click.group(cls=Group)
@click.argument("image", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Of a sealed store: its key, 32 bytes or 64 hex digits. `format` seals with it.",
)
@click.pass_context
def command(ctx: click.Context, image: Path, key_file: Path | None) -> None:
    """Durable typed objects in IMAGE, a file that holds an emulated chip with all its state.

    Objects are files, stacks, queues, streams and arrays. Reading leaves the image as it is; every
    change is durable, and saved as a whole, when the command returns.

    \b
    Examples:
      nandwich store mote.nand format --chip TC58DVG02A1FT00 --blocks 128
      nandwich store mote.nand put notes README.md
      nandwich store mote.nand get notes | head -1
      nandwich store mote.nand create jobs queue
      nandwich store mote.nand push jobs --text 'first'
      nandwich store mote.nand pop jobs
      nandwich store mote.nand checkpoint
      nandwich store mote.nand rollback
      nandwich store mote.nand info
      nandwich store --key-file mote.key sealed.nand format
    """
    if key_file is not None:
        _warn_of_readers(key_file)
    ctx.obj = _Session(image, key_file)


@command.command("format")
@click.option("--chip", default="TC58DVG02A1FT00", show_default=True, help="A part, or FILE.toml.")
@click.option("--blocks", type=click.IntRange(16, 2**32 - 1), help="Fewer than the part has.")
@click.option(
    "--layout",
    type=_LayoutType(),
    metavar="OBJECTS,NAMES,KEPT,FAN",
    help="As a device is set up: objects, bytes of a name, checkpoints, fan "
    "(core/include/nandwich/store.h); else as many as fit.",
)
@click.option("--ecc", is_flag=True, help="Over a code that repairs flipped bits (nandwich/ecc.h).")
@click.option("--force", is_flag=True, help="Replace the image if it exists.")
@_pass
def format_(
    session: _Session,
    chip: str,
    blocks: int | None,
    layout: Layout | None,
    ecc: bool,
    force: bool,
) -> None:
    """Make IMAGE: a new chip with an empty store."""
    check_output(session.path)
    output.check_apart((*session.inputs[1:], *parts.files(chip)), (session.path,))
    with locks.held(str(session.path)):
        if session.path.exists() and not force:
            raise InputError(f"{session.path} exists; --force replaces it")
        store_image.format_image(session.path, chip, blocks or 0, layout, ecc=ecc, key=session.key)


def _object(about: dict[str, Any]) -> dict[str, Any]:
    """An object for JSON."""
    return {key: value for key, value in about.items() if key != "handle"}


def _elements(about: dict[str, Any]) -> str:
    if about["type"] == "array":
        return f"{about['count']} keys"
    if about["type"] == "file":
        return f"{about['length']} B"
    return f"{about['tail'] - about['head']}"


def _tell(session: _Session, payload: dict[str, Any], json_target: str | None) -> bool:
    """Writes JSON when asked for; answers whether a table is wanted too."""
    output.check_apart(session.inputs, (json_target,))
    if json_target is not None:
        document = output.document("store", 1, payload, inputs=[session.path])
        output.write_json(json_target, document)
    return json_target != "-"


@command.command()
@json_option
@_pass
def ls(session: _Session, json_target: str | None) -> None:
    """List the objects. A stream of small units packs many of them into an element."""
    with session.image() as image:
        every = image.objects()
    if _tell(session, {"objects": [_object(about) for about in every]}, json_target):
        rows = [
            (
                shown(about["name"]),
                about["type"],
                about["unit_bytes"] or "any",
                _elements(about),
                about["bytes"],
                "expendable" if about["expendable"] else "",
            )
            for about in every
        ]
        headers = ("name", "type", "unit", "elements", "bytes on flash", "")
        output.print_table(headers, rows)


def _info(image: Image) -> dict[str, Any]:
    shape, stats = image.nand.geometry, image.nand.stats
    erases = image.nand.block_erases
    return {
        "chip": {name: shape[name] for name in ("page_bytes", "block_pages", "blocks")},
        "space": dict(image.store.space),
        "wear": {
            "erases": sum(erases),
            "most": max(erases),
            "least": min(erases),
            "bad_blocks": len(image.nand.bad_blocks),
        },
        "spent": {
            "energy_pj": image.nand.energy_pj,
            "time_ns": image.nand.time_ns,
            "reads": stats["reads"],
            "programs": stats["programs"],
        },
        "checkpoints": image.store.kept(),
        "objects": [_object(about) for about in image.objects()],
    }


@command.command()
@json_option
@_pass
def info(session: _Session, json_target: str | None) -> None:
    """Show space, wear, energy spent since the chip was new, and checkpoints."""
    with session.image() as image:
        found = _info(image)
    if not _tell(session, found, json_target):
        return
    chip, space, wear, spent = found["chip"], found["space"], found["wear"], found["spent"]
    block = chip["page_bytes"] * chip["block_pages"]
    kept = ", ".join(map(str, found["checkpoints"])) or "none"
    output.print_table(
        ("what", "value"),
        [
            ("chip", f"{format_size(chip['blocks'] * block)}, pages of {chip['page_bytes']} B"),
            ("in use", f"{space['used_bytes']} B of {space['limit_bytes']} B"),
            ("next put", f"up to {space['put_bytes']} B fit"),
            ("free blocks", f"{space['free_blocks']} of {space['good_blocks']}"),
            ("sequence number", f"{space['sequence']}; after a mount higher than ever before"),
            ("bad blocks", str(wear["bad_blocks"])),
            ("erases", f"{wear['erases']}; a block {wear['least']} to {wear['most']}"),
            ("programs, reads", f"{spent['programs']}, {spent['reads']}"),
            ("energy spent", f"{spent['energy_pj'] / 1e9:.3f} mJ"),
            ("time spent", f"{spent['time_ns'] / 1e6:.3f} ms"),
            ("objects", str(len(found["objects"]))),
            ("checkpoints", kept),
        ],
    )


@command.command()
@_name
@click.argument("kind", type=click.Choice(["stack", "queue", "stream", "array", "tags", "file"]))
@click.option(
    "--unit", type=click.IntRange(1, 65000), help="Bytes of each element, value or block."
)
@click.option(
    "--count",
    type=click.IntRange(1, 0xFFFFFFFF),
    help="Keys of an array; how many tags; most elements a stream keeps (a ring).",
)
@click.option("--expendable", is_flag=True, help="Stream: lives only as long as there is room.")
@_pass
def create(
    session: _Session, name: str, kind: str, unit: int | None, count: int | None, expendable: bool
) -> None:
    """Make an empty object. Tags are an array of places in a stream, for `tag` and `seek`."""
    if kind == "tags":
        if unit is not None:
            raise InputError("tags have a unit of their own; --count says how many there are")
        if count is None:
            raise InputError("tags need --count, how many there are")
        kind, unit = "array", _native.STORE_TAG_BYTES
    if kind == "array" and (unit is None or count is None):
        raise InputError("an array needs --unit, the bytes of a value, and --count, its keys")
    if kind not in ("array", "stream") and count is not None:
        raise InputError(f"--count is for arrays, tags and streams, not for a {kind}")
    if kind != "stream" and expendable:
        raise InputError(f"--expendable is for streams, not for a {kind}")
    if kind in ("stack", "queue") and unit is not None:
        raise InputError(f"--unit is not for a {kind}: its elements have any length")
    with session.image(save=True) as image:
        image.store.create(
            name, kind, unit_bytes=unit or 0, count=count or 0, expendable=expendable
        )


@command.command()
@_name
@_pass
def rm(session: _Session, name: str) -> None:
    """Delete an object and all it holds."""
    with session.image(save=True) as image:
        image.store.delete(image.find(name)["handle"])


@command.command()
@click.argument("old")
@click.argument("new")
@_pass
def mv(session: _Session, old: str, new: str) -> None:
    """Give an object another name. An object that has this name gives way."""
    with session.image(save=True) as image:
        image.store.rename(image.find(old)["handle"], new)


@command.command()
@_name
@click.argument("file", required=False)
@_text
@_pass
def put(session: _Session, name: str, file: str | None, text: str | None) -> None:
    """Store FILE (or stdin) as the file NAME; what it held before is replaced."""
    data = _source(session, file, text)
    with session.image(save=True) as image:
        old = [about for about in image.objects() if about["name"] == name]
        for about in old:
            image.store.delete(_needs(about, "file"))
        image.write(image.create_file(name), 0, data)


@command.command()
@_name
@_to_file
@click.option("--key", type=click.IntRange(0, 2**32 - 1), help="Of an array: which value.")
@_pass
def get(session: _Session, name: str, file: str | None, key: int | None) -> None:
    """Copy a file, a stream, or a value of an array, to FILE or stdout."""
    with session.image() as image:
        about = image.find(name)
        if key is not None:
            place = _key_of(about, key)
            try:
                _give(session, iter([image.store.get(*place)]), file)
            except _native.StoreError as error:
                if store_image.error_of(error) != store_image.ERR_NOT_FOUND:
                    raise
                raise InputError(f"{shown(name)} has no value under key {key}") from error
        else:
            _needs(about, "file", "stream")
            _give(session, image.read(about), file)


@command.command("set")
@_name
@click.argument("key", type=click.IntRange(0, 2**32 - 1))
@click.argument("file", required=False)
@_text
@_pass
def set_(session: _Session, name: str, key: int, file: str | None, text: str | None) -> None:
    """Store a value of an array; it has to have the array's unit."""
    data = _source(session, file, text)
    with session.image(save=True) as image:
        about = image.find(name)
        place = _key_of(about, key)
        if len(data) != about["unit_bytes"]:
            raise InputError(
                f"{shown(name)} takes values of {about['unit_bytes']} B, not {len(data)}"
            )
        image.store.set(*place, data)


@command.command()
@_name
@click.argument("file", required=False)
@_text
@_pass
def append(session: _Session, name: str, file: str | None, text: str | None) -> None:
    """Add FILE (or stdin) at the end of a file or a stream: one element, or many of its unit."""
    data = _source(session, file, text)
    with session.image(save=True) as image:
        about = image.find(name)
        handle, unit = _needs(about, "file", "stream"), about["unit_bytes"]
        if about["type"] == "file":
            image.write(handle, image.store.length(handle), data)
        elif unit == 0:
            _check_element(image, about, data)
            image.store.append(handle, data)
        elif len(data) % unit:
            raise InputError(
                f"{shown(name)} takes units of {unit} B; {len(data)} B are not whole ones"
            )
        else:
            piece = max(1, min(4096, image.longest_element) // unit) * unit
            for at in range(0, len(data), piece):
                image.store.append(handle, data[at : at + piece])


@command.command()
@_name
@click.argument("file", required=False)
@_text
@_pass
def push(session: _Session, name: str, file: str | None, text: str | None) -> None:
    """Add FILE (or stdin) as one element to a stack or a queue."""
    data = _source(session, file, text)
    with session.image(save=True) as image:
        about = image.find(name)
        handle = _needs(about, "stack", "queue")
        _check_element(image, about, data)
        image.store.push(handle, data)


@command.command()
@_name
@_to_file
@click.option("--unread", is_flag=True, help="Give it up without reading it, if it is damaged.")
@_pass
def pop(session: _Session, name: str, file: str | None, unread: bool) -> None:
    """Take an element: the newest of a stack, the oldest of a queue."""
    with session.image(save=True) as image:
        about = image.find(name)
        handle = _needs(about, "stack", "queue")
        if about["head"] == about["tail"]:
            raise RunError(f"{shown(name)} is empty")
        take = image.store.pop if about["type"] == "stack" else image.store.dequeue
        data = take(handle, unread)
        if not unread:
            _give(session, iter([data]), file)


def _tag_of(image: Image, index: str, number: str) -> tuple[int, int]:
    """Handle and key of a tag; InputError when INDEX holds no tags, or none of this number."""
    about = image.find(index)
    if about["type"] != "array" or about["unit_bytes"] != _native.STORE_TAG_BYTES:
        raise InputError(
            f"{shown(index)} holds no tags; `create NAME tags --count N` makes what does"
        )
    if not number.isdecimal() or int(number) >= about["count"]:
        raise InputError(f"{shown(index)} has no tag {number}: they are 0 to {about['count'] - 1}")
    return about["handle"], int(number)


_index = click.option("--in", "index", metavar="TAGS", help="The object that keeps the tags.")


@command.command()
@_name
@click.argument("number", required=False)
@_index
@_pass
def tag(session: _Session, name: str, number: str | None, index: str | None) -> None:
    """Keep the place of a stream's end as tag NUMBER in TAGS; or print it, for `seek` later.

    \b
    Examples:
      nandwich store mote.nand create hours tags --count 24
      nandwich store mote.nand tag light 6 --in hours
      nandwich store mote.nand seek light 6 --in hours
    """
    if (number is None) != (index is None):
        raise InputError("a tag is a NUMBER --in TAGS; without both the place is printed")
    with session.image(save=index is not None) as image:
        cursor = image.store.last(_needs(image.find(name), "stream"))
        if index is None or number is None:
            click.echo(f"{cursor.chunk}:{cursor.offset}")
        else:
            image.store.tag(*_tag_of(image, index, number), cursor)


def _place(image: Image, about: dict[str, Any], place: str) -> _native.StoreCursor:
    """The place in a stream that `tag` printed."""
    words = place.split(":")
    if len(words) != 2 or not all(word.isdecimal() for word in words):
        raise InputError(f"'{place}' is no place; `tag` prints one like 12:0")
    chunk, offset = map(int, words)
    try:
        if offset % (about["unit_bytes"] or 1) == 0:
            return image.store.seek(about["handle"], chunk, offset)
    except (TypeError, _native.StoreError):
        pass  # a number out of all range; a place that never was, or was dropped
    raise InputError(f"{shown(about['name'])} has no place {place}, or has dropped it")


@command.command()
@_name
@click.argument("place", metavar=f"[{_PLACE}|NUMBER]")
@_to_file
@_index
@_pass
def seek(session: _Session, name: str, place: str, file: str | None, index: str | None) -> None:
    """Copy a stream from a place on that `tag` printed, or from tag NUMBER --in TAGS."""
    with session.image() as image:
        about = image.find(name)
        stream = _needs(about, "stream")
        if index is None:
            cursor = _place(image, about, place)
        else:
            try:
                cursor = image.store.tagged(*_tag_of(image, index, place), stream)
            except _native.StoreError as error:
                if store_image.error_of(error) != store_image.ERR_NOT_FOUND:
                    raise
                raise InputError(
                    f"tag {place} in {shown(index)} was never set, or {shown(name)} has dropped "
                    "its place"
                ) from error
        _give(session, image.read_from(cursor), file)


@command.command()
@_pass
def checkpoint(session: _Session) -> None:
    """Keep the state of all objects; prints its number. The oldest gives way when all are taken."""
    with session.image(save=True) as image:
        if image.layout.checkpoints == 0:
            raise InputError("this store was formatted to keep no checkpoints")
        number = image.store.checkpoint()
    click.echo(number)


def _check_kept(image: Image, number: int) -> None:
    """InputError when no checkpoint of this number is kept."""
    kept = image.store.kept()
    if number not in kept:
        raise InputError(f"no checkpoint {number} (kept: {', '.join(map(str, kept)) or 'none'})")


@command.command()
@click.argument("number", type=click.IntRange(1, 2**32 - 1), required=False)
@_pass
def rollback(session: _Session, number: int | None) -> None:
    """Bring all objects back to checkpoint NUMBER, or to the newest one."""
    with session.image(save=True) as image:
        if number is not None:
            _check_kept(image, number)
        elif not image.store.kept():
            raise InputError("no checkpoint is kept; `checkpoint` makes one")
        image.store.rollback(number or 0)


@command.command()
@click.argument("number", type=click.IntRange(1, 2**32 - 1))
@_pass
def drop(session: _Session, number: int) -> None:
    """Give checkpoint NUMBER up, and the room that only it needs."""
    with session.image(save=True) as image:
        _check_kept(image, number)
        image.store.drop(number)


@command.command()
@click.argument("name", required=False)
@click.option(
    "--pieces",
    type=click.IntRange(1, 65535),
    default=65535,
    show_default=True,
    help="At most so many: each looks at a chunk, writes a node or erases a block.",
)
@_pass
def compact(session: _Session, name: str | None, pieces: int) -> None:
    """Clean ahead of time, as a device does when it is idle.

    With NAME all of that object moves to the end of the log first, so that the blocks it lies in
    become free as soon as their turn comes.
    """
    moved = 0
    with session.image(save=True) as image:
        if name is not None:
            moved = image.compact(image.find(name))
        done = image.store.idle(pieces)
        tampered = image.store.stats["tampered"]
        if tampered:
            raise RunError(
                f"{session.path}: {tampered} times met bytes that were not written there with this "
                "key; nothing was changed, and fsck tells which elements they are of"
            )
    if name is not None:
        output.talk(f"{moved} chunks of {shown(name)} moved")
    output.talk(f"{done} pieces of work done" + ("" if done == pieces else "; nothing left"))


@command.command()
@json_option
@_pass
def fsck(session: _Session, json_target: str | None) -> None:
    """Read every element of every object; each damaged one is told with its place (exit 1).

    So is what the mount could not read: what it hit may be shown as it was before.
    """
    with session.image() as image:
        every = image.store.objects()
        lost = image.store.stats["lost"]
        damages = [
            {"name": about["name"], "element": number, "why": why, "page": page}
            for about, number, why, page in image.damages()
        ]
        corrected, tampered = (image.store.stats[what] for what in ("corrected", "tampered"))
    payload = {
        "objects_read": len(every),
        "bits_corrected": corrected,
        "damages": damages,
        "lost_in_mount": lost,
    }
    if session.key is not None:
        payload["tampered"] = tampered
    if _tell(session, payload, json_target) and damages:
        rows = [tuple(one.values()) for one in damages]
        output.print_table(("object", "element lost", "why", "page"), rows)
    output.talk(
        f"{len(every)} objects read, {len(damages)} elements lost, {corrected} bits repaired"
    )
    if lost:
        output.talk(f"{lost} pages or chunks could not be read when the image was mounted")
    if tampered:
        output.talk(f"{tampered} times met bytes that were not written there with this key")
    if damages or tampered or lost:
        raise SystemExit(1)


@command.command()
@_pass
def dump(session: _Session) -> None:
    """Show what lies on the chip, chunk by chunk, the oldest block first.

    Places are page+offset. It is read as docs/spec-store.md says, without the store's own code.
    """
    with session.image() as image:
        # The image as it was saved: mounting has begun a block of its own.
        nand = _native.Nand.load(str(session.path))
        names = {
            ((about["handle"] & 127) - 1, about["handle"] >> 7): about["name"]
            for about in image.store.objects()
        }
        for line in store_dump.lines(nand, names, session.key):
            click.echo(line)


@command.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--foreground", is_flag=True, help="Stay until unmounted; Ctrl-C unmounts.")
@_pass
def mount(session: _Session, folder: Path, foreground: bool) -> None:
    """Show the store as files of FOLDER, until `fusermount3 -u FOLDER`.

    Its files are read and written by any program, its streams are read. What a program has closed
    or synced is durable and saved. Modes, owners, times and folders are not kept.
    """
    try:
        if not stat.S_ISDIR(folder.stat().st_mode):
            raise InputError(f"{folder}: not a folder")
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            raise InputError(f"{folder}: {error.strerror}") from error
        dead = f"a mount whose server has died; end it with: fusermount3 -u -z {folder}"
        raise InputError(f"{folder}: {dead}") from error
    session.path = session.path.resolve()
    if session.path.is_relative_to(folder.resolve()):  # a save would wait for the mount itself
        raise InputError(f"{folder}: it holds the image itself; choose another folder")
    try:
        from nandwich import store_mount
    except (ImportError, OSError) as error:
        raise InputError(f"mounting needs libfuse (package fuse3): {error}") from error
    if not Path("/dev/fuse").exists():
        raise InputError("mounting needs /dev/fuse, which this system does not have")
    with session.image() as image:
        if not foreground:
            output.talk(f"unmount with: fusermount3 -u {folder}")
        store_mount.serve(image, folder.resolve(), foreground=foreground)
