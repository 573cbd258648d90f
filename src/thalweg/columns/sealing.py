"""Snapshots under a seal: what they are of, in which version, and a checksum, so that nobody goes on from another or
from a damaged one."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

SIZE = 4
"""Bytes of the checksum."""


class ForeignState(ValueError):
    """A snapshot to go on from which would be wrong: of another program, with other settings, of another version, or
    damaged."""


def sealed(kind: bytes, pieces: Sequence[bytes]) -> bytes:
    """The pieces as one snapshot of a kind and version.

    >>> bytes(opened(b"toys 1", sealed(b"toys 1", [b"state"]), "toys"))
    b'state'
    """
    checksum = 0
    for piece in pieces:
        checksum = crc32(piece, checksum)
    return b"".join((kind, b"\n", checksum.to_bytes(SIZE, "little"), *pieces))


def opened(kind: bytes, state: bytes, whose: str) -> memoryview:
    """What was sealed.

    >>> opened(b"toys 2", sealed(b"toys 1", [b"state"]), "toys")
    Traceback (most recent call last):
    thalweg.columns.sealing.ForeignState: this is no snapshot of toys of this version
    >>> opened(b"toys 1", sealed(b"toys 1", [b"state"])[:-1], "toys")
    Traceback (most recent call last):
    thalweg.columns.sealing.ForeignState: the snapshot is damaged: it was cut off or changed after it was taken
    """
    if not isinstance(state, bytes | bytearray | memoryview):
        raise ForeignState(f"a snapshot is a number of bytes, not {type(state).__name__}")
    view = memoryview(state)
    head = len(kind) + 1
    if view[:head] != kind + b"\n":
        raise ForeignState(f"this is no snapshot of {whose} of this version")
    content = view[head + SIZE :]
    if crc32(content) != int.from_bytes(view[head : head + SIZE], "little"):
        raise ForeignState("the snapshot is damaged: it was cut off or changed after it was taken")
    return content
