# SPDX-License-Identifier: Apache-2.0
"""The seal of a store as docs/spec-store.md says it, without the store's own code: for looking at
what lies on a chip, and for checking that code.
"""

import hashlib
from pathlib import Path

from nandwich import files
from nandwich.errors import InputError

KEY_BYTES, TAG_BYTES, _STREAM_BYTES = 32, 16, 64
_KEY, _PAYLOAD, _CHUNK, _BLOCK = (bytes([what]) for what in (1, 2, 3, 4))
_CONSTANTS = tuple(int.from_bytes(word, "little") for word in (b"expa", b"nd 3", b"2-by", b"te k"))
_MASK = 0xFFFFFFFF

#: Rows of the state that a double round mixes: columns, then diagonals.
_QUARTERS = tuple((i, 4 + (i + d) % 4, 8 + (i + 2 * d) % 4, 12 + (i + 3 * d) % 4)
                  for d in (0, 1) for i in range(4))  # fmt: skip


def read_key(file: Path) -> bytes:
    """A key: 32 bytes, or as many in hexadecimal digits."""
    try:
        data = files.read(file, 2 * KEY_BYTES + 2)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error
    if len(data) != KEY_BYTES:
        try:
            data = bytes.fromhex(data.decode("ascii"))
        except ValueError:
            data = b""
    if len(data) != KEY_BYTES:
        raise InputError(f"{file}: a key has {KEY_BYTES} bytes, or {2 * KEY_BYTES} hex digits")
    return data


def _hash(key: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, key=key, digest_size=TAG_BYTES).digest()


def _words(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


def _rounds(state: list[int]) -> list[int]:
    """Twenty rounds of ChaCha (RFC 8439, section 2.1)."""
    x = state.copy()
    for _ in range(10):
        for a, b, c, d in _QUARTERS:
            for to, other, by, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[to] = (x[to] + x[other]) & _MASK
                mixed = x[by] ^ x[to]
                x[by] = (mixed << turn | mixed >> (32 - turn)) & _MASK
    return x


def _bytes(words: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in words)


def keystream(key: bytes, nonce: bytes, length: int) -> bytes:
    """XChaCha20 with a nonce of 24 bytes (draft-irtf-cfrg-xchacha, section 2.3)."""
    mixed = _rounds([*_CONSTANTS, *_words(key), *_words(nonce[:16])])
    start = [*_CONSTANTS, *mixed[:4], *mixed[12:]]
    stream = b""
    for block in range(-(-length // _STREAM_BYTES)):
        state = [*start, block, 0, *_words(nonce[16:])]
        stream += _bytes([(x + y) & _MASK for x, y in zip(_rounds(state), state, strict=True)])
    return stream[:length]


class Seal:
    """Two keys made of one, and what they do."""

    def __init__(self, key: bytes) -> None:
        halves = [_hash(key, _KEY + bytes([number])) for number in range(4)]
        self._hash_key, self._text_key = halves[0] + halves[1], halves[2] + halves[3]

    def hash(self, data: bytes) -> bytes:
        """The keyed hash of all tags."""
        return _hash(self._hash_key, data)

    def block_tag(self, head: bytes, block: int) -> bytes:
        """The tag of a block's header, given its first 24 bytes."""
        return self.hash(_BLOCK + head + block.to_bytes(4, "little"))

    def chunk_tag(self, head: bytes, position: int, payload: bytes) -> bytes:
        """The tag of a chunk, given the first nine bytes of its header and its plain payload."""
        digest = self.hash(_PAYLOAD + payload)
        return self.hash(_CHUNK + head + position.to_bytes(4, "little") + digest)

    def mix(self, tag: bytes, payload: bytes) -> bytes:
        """Encrypts a payload, or decrypts it."""
        stream = keystream(self._text_key, tag + bytes(8), len(payload))
        return bytes(x ^ y for x, y in zip(payload, stream, strict=True))
