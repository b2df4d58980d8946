# SPDX-License-Identifier: Apache-2.0
"""`nandwich store IMAGE ls, info, fsck, dump`: what is in an image."""

from typing import Any

import click

from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import json_option
from nandwich.cli.store.session import Session, as_json, pass_session, wants_table
from nandwich.names import shown
from nandwich.quantities import format_size
from nandwich.store import dump as store_dump
from nandwich.store.image import Image


def _elements(about: dict[str, Any]) -> str:
    if about["type"] == "array":
        return f"{about['count']} keys"
    if about["type"] == "file":
        return f"{about['length']} B"
    return f"{about['tail'] - about['head']}"


@click.command(cls=Command)
@json_option
@pass_session
def ls(session: Session, json_target: str | None) -> None:
    """List the objects. A stream of small units packs many of them into an element."""
    with session.image() as image:
        every = image.objects()
    if wants_table(session, {"objects": [as_json(about) for about in every]}, json_target):
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
        "objects": [as_json(about) for about in image.objects()],
    }


@click.command(cls=Command)
@json_option
@pass_session
def info(session: Session, json_target: str | None) -> None:
    """Show space, wear, energy spent since the chip was new, and checkpoints."""
    with session.image() as image:
        found = _info(image)
    if not wants_table(session, found, json_target):
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


def _inside(fault: dict[str, Any]) -> str:
    """What the store's own check found, in checkpoints too, which nobody reads here."""
    where = f"object {fault['slot']}"
    if fault["key"] is not None:
        where += f", element {fault['key']}"
    if fault["checkpoint"]:
        where += f", as the checkpoint in place {fault['checkpoint']} has it"
    return f"the index and what it leads to differ at {where}: {fault['why']}"


@click.command(cls=Command)
@json_option
@pass_session
def fsck(session: Session, json_target: str | None) -> None:
    """Read every element of every object; each damaged one is told with its place (exit 1).

    So is what the mount could not read: what it hit may be shown as it was before.
    """
    with session.image(warns=False) as image:
        every = image.store.objects()
        lost = image.store.stats["lost"]
        damages = [
            {"name": about["name"], "element": number, "why": why, "page": page}
            for about, number, why, page in image.damages()
        ]
        inside = image.store.check() if not damages else None  # which it would name again
        corrected, tampered = (image.store.stats[what] for what in ("corrected", "tampered"))
    payload = {
        "objects_read": len(every),
        "bits_corrected": corrected,
        "damages": damages,
        "inside": inside,
        "lost_in_mount": lost,
    }
    if session.key is not None:
        payload["tampered"] = tampered
    if wants_table(session, payload, json_target) and damages:
        rows = [tuple(one.values()) for one in damages]
        output.print_table(("object", "element lost", "why", "page"), rows)
    output.talk(
        f"{len(every)} objects read, {len(damages)} elements lost, {corrected} bits repaired"
    )
    if inside is not None:
        output.talk(_inside(inside))
    if lost:
        output.talk(f"{lost} pages or chunks could not be read when the image was mounted")
    if tampered:
        output.talk(f"{tampered} times met bytes that were not written there with this key")
    if damages or inside or tampered or lost:
        raise SystemExit(1)


@click.command(cls=Command)
@pass_session
def dump(session: Session) -> None:
    """Show what lies on the chip, chunk by chunk, the oldest block first.

    Places are page+offset. It is read as docs/spec-store.md says, without the store's own code.
    """
    with session.image() as image:
        names = {
            ((about["handle"] & 127) - 1, about["handle"] >> 7): about["name"]
            for about in image.store.objects()
        }
        for line in store_dump.lines(image.nand, names, session.key):
            click.echo(line)
