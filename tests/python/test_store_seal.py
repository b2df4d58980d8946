# SPDX-License-Identifier: Apache-2.0
"""Sealed stores: by the command, by the binding, and read again by an implementation of its own."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import third_party
from click.testing import CliRunner, Result
from schemas import validate

from lab import cross
from nandwich import _native, paths
from nandwich.cli.main import main
from nandwich.store import dump
from nandwich.store import image as store_image
from nandwich.store.seal import Seal
from nandwich.twin import parts

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))

Run = Callable[..., Result]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return tmp_path / "sealed.nand"


@pytest.fixture
def run(image: Path, tmp_path: Path) -> Run:
    (tmp_path / "key").write_bytes(KEY)
    (tmp_path / "other").write_text(OTHER.hex() + "\n")

    def call(*words: str, key: str = "key") -> Result:
        option = ["--key-file", str(tmp_path / key)] if key else []
        return CliRunner().invoke(main, ["store", *option, str(image), *words])

    assert call("format", "--blocks", "64").exit_code == 0
    return call


@pytest.mark.quick
@pytest.mark.asan
def test_every_verb_takes_the_key(run: Run, image: Path) -> None:
    """Goal: what is put is got, dumped and checked with the key, and cannot be found without."""
    assert run("put", "notes", "--text", "a plain text to look for").exit_code == 0
    assert run("create", "jobs", "queue").exit_code == 0
    assert run("push", "jobs", "--text", "first").exit_code == 0
    assert run("checkpoint").stdout == "1\n"
    assert run("get", "notes").stdout == "a plain text to look for"
    assert run("pop", "jobs").stdout == "first"
    dumped = run("dump").stdout
    assert "of notes" in dumped
    assert "61 20 70 6c 61 69 6e" in dumped
    assert "DAMAGED" not in dumped
    checked = run("fsck", "--json", "-")
    found = json.loads(checked.stdout)
    validate("store-1", found)
    assert (checked.exit_code, found["damages"], found["tampered"]) == (0, [], 0)
    validate("store-1", json.loads(run("info", "--json", "-").stdout))
    nand = _native.Nand.load(str(image))
    written = [page for page, count in enumerate(nand.page_programs) if count]
    raw = b"".join(nand.fork().read(page, 0, 512)[1] for page in written)
    assert b"plain text" not in raw
    assert b"notes" not in raw


@pytest.mark.quick
def test_another_key_or_none_is_refused(run: Run, image: Path, tmp_path: Path) -> None:
    run("put", "notes", "--text", "x")
    before = image.read_bytes()
    for key, said in (("other", "not sealed with this key"), ("", "give its key")):
        refused = run("ls", key=key)
        assert refused.exit_code == 2
        assert said in refused.stderr
    (tmp_path / "short").write_bytes(b"too short")
    assert "32 bytes" in run("ls", key="short").stderr
    assert run("ls", key="missing").exit_code == 2
    assert image.read_bytes() == before
    image.unlink()
    assert run("format", "--blocks", "64", key="").exit_code == 0
    assert "not sealed; leave --key-file out" in run("ls").stderr


def flip_element(image: Path, start: bytes) -> list[tuple[int, int]]:
    """One bit of the elements that begin so, copies that mounts left behind too: their places."""
    nand = _native.Nand.load(str(image))
    reader = dump.Reader(nand, KEY)
    hit = [
        (chunk.page, chunk.offset)
        for block in reader.blocks
        for chunk in reader.chunks(block)
        if chunk.payload.startswith(start)
    ]
    assert hit
    for page, offset in hit:  # copies that mounts left behind too
        nand.flip(page, (offset + 30) * 8)
    nand.save(str(image))
    return hit


@pytest.mark.quick
def test_fsck_names_what_was_tampered_with(run: Run, image: Path) -> None:
    run("create", "log", "stream")
    for i in range(8):
        run("append", "log", "--text", f"element {i} " * 40)
    hit = flip_element(image, b"element 5")
    found = run("fsck", "--json", "-")
    (damage,) = json.loads(found.stdout)["damages"]
    assert found.exit_code == 1
    assert (damage["name"], damage["element"]) == ("log", 5)
    assert damage["why"] == "stored data was tampered with"
    assert damage["page"] in {page for page, _ in hit}
    assert "DAMAGED" in run("dump").stdout


@pytest.mark.quick
def test_compact_tells_of_tampering(run: Run, image: Path) -> None:
    """Goal: a compaction that met what the key does not prove changes nothing and says so; once it
    exited 0, and copied what it had met."""
    run("create", "log", "stream")
    for i in range(8):
        run("append", "log", "--text", f"element {i} " * 40)
    assert run("compact", "log").exit_code == 0
    flip_element(image, b"element 3")
    before = image.read_bytes()
    refused = run("compact", "log")
    assert refused.exit_code == 1
    assert "not written there with this key; nothing was changed" in refused.stderr
    assert image.read_bytes() == before
    assert run("fsck").exit_code == 1


@pytest.mark.quick
@pytest.mark.asan
def test_the_binding_takes_a_key(image: Path) -> None:
    """Goal: the errors of a wrong key and none, and the number that tells old images."""
    nand = _native.Nand.open(parts.resolve("TC58DVG02A1FT00"), blocks=64)
    store = _native.Store(nand, key=KEY)
    store.format()
    stack = store.create("stack", "stack")
    store.push(stack, b"element")
    store.sync()
    sequence = store.space["sequence"]
    for key in (OTHER, None):
        with pytest.raises(_native.StoreError) as error:
            _native.Store(nand, key=key).mount()
        assert error.value.args[0] == -25
    again = _native.Store(nand, key=KEY)
    again.mount()
    assert again.space["sequence"] > sequence
    assert again.pop(again.find("stack")) == b"element"
    assert again.stats["tampered"] == 0
    with pytest.raises(ValueError, match="32 bytes"):
        _native.Store(nand, key=b"short")


def test_all_of_a_worked_store_is_as_specified(image: Path) -> None:
    """Goal: after compaction, checkpoints, growing chunks and mounts, an implementation of its own
    finds every chunk of every block as docs/spec-store.md says."""
    nand = _native.Nand.open(parts.resolve("TC58DVG02A1FT00"), blocks=40)
    store = store_image.Layout(8, 12, 1, 16, key=KEY).store(nand)
    store.format()
    array = store.create("array", "array", unit_bytes=24, count=40)
    packed = store.create("packed", "stream", unit_bytes=4, count=200)
    file = store.create("file", "file", unit_bytes=100)
    for i in range(1600):
        store.set(array, i * 7 % 40, bytes([i % 251]) * 24)
        store.append(packed, i.to_bytes(4, "little"))
        store.write(file, min(i % 700, store.length(file)), bytes([i % 256]) * 3)
        if i % 37 == 0:
            store.sync()
        if i % 500 == 0:
            store.checkpoint()
            store.mount()
            array, packed, file = (store.find(name) for name in ("array", "packed", "file"))
    assert store.compact(array, 0, 40) == (40, 40)
    store.sync()
    reader = dump.Reader(nand, KEY)
    chunks = [chunk for block in reader.blocks for chunk in reader.chunks(block)]
    assert {chunk.kind for chunk in chunks} >= {1, 2, 4, 5}
    assert [chunk for chunk in chunks if not chunk.is_whole] == []
    assert reader.foreign == 0


#: monocypher 4.0.2, as the crate carries its source.
MONOCYPHER = third_party.Crate(
    "monocypher-sys", "4.0.2", "dc11b58afcc9e7b8dc05ae2a2050b5a7a368ba1155bc0f9b1ad81ccedf5f1c96"
)

_COMPARE = r"""
#include <stdio.h>
#include <string.h>
#include "nandwich-seal/seal_monocypher.h"

static struct nw_seal_monocypher sealing;

int main(void)
{
    uint8_t data[300];
    uint8_t key[NW_SEAL_KEY_BYTES];
    uint8_t nonce[24] = {0};

    for (unsigned i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)i;
    }
    nw_seal_monocypher_open(&sealing, key);
    for (unsigned i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 7U);
    }
    const struct nw_seal_library *library = sealing.seal.library;
    library->hash_begin(&sealing.hash, sealing.seal.hash_key);
    library->hash_add(&sealing.hash, data, 1);
    library->hash_add(&sealing.hash, data + 1, sizeof data - 1U);
    library->hash_end(&sealing.hash, nonce);
    for (unsigned block = 0; block < 3U; block++) {
        library->stream(sealing.seal.text_key, nonce, block, data + 64U * block);
    }
    for (unsigned i = 0; i < 16U + 192U; i++) {
        printf("%02x", i < 16U ? nonce[i] : data[i - 16U]);
    }
    return 0;
}
"""


def test_monocypher_seals_alike(tmp_path: Path) -> None:
    """Goal: firmware with monocypher makes the tags and keystream that the command reads; its
    adapter compiles for the small processors."""
    assert paths.CHECKOUT is not None
    folder = third_party.fetch(MONOCYPHER)
    (source,) = folder.rglob("src/monocypher.c")
    ports = paths.CHECKOUT / "ports" / "seal"
    includes = [
        f"-I{one}"
        for one in (ports / "include", paths.CHECKOUT / "core" / "include", source.parent)
    ]
    program = tmp_path / "compare.c"
    program.write_text(_COMPARE)
    core = [*(paths.CHECKOUT / "core" / "store").glob("*.c"),
            *(paths.CHECKOUT / "core" / "base").glob("*.c"),
            *(paths.CHECKOUT / "core" / "chip").glob("*.c")]  # fmt: skip
    out = tmp_path / "compare"
    sources = [program, ports / "seal_monocypher.c", source, *core]
    subprocess.run(["cc", "-std=c11", "-O1", *includes, *sources, "-o", out], check=True)
    told = bytes.fromhex(subprocess.run([out], capture_output=True, check=True).stdout.decode())
    seal = Seal(KEY)
    data = bytes(i * 7 % 256 for i in range(300))
    tag = seal.hash(data)
    assert told[:16] == tag
    assert told[16:] == seal.mix(tag, bytes(192))
    for target in (cross.CORTEX_M3, cross.ATMEGA128, cross.RV32):
        if target.present:
            build = [target.compiler, *target.options, *includes, "-c"]
            adapter = str(ports / "seal_monocypher.c")
            subprocess.run([*build, adapter, "-o", str(tmp_path / "adapter.o")], check=True)
