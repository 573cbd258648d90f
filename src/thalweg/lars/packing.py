"""Snapshots as bytes: a header in JSON and arrays, in a fixed order; the same state gives the same bytes."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import numpy as np

from thalweg.protocol import Ints

_MAGIC = b"thalweg-lars"


def pack(header: dict[str, Any], arrays: dict[str, Ints]) -> bytes:
    """One byte string for a header and named arrays."""
    names = sorted(arrays)
    shapes = [[name, arrays[name].dtype.str, list(arrays[name].shape)] for name in names]
    head = json.dumps({**header, "arrays": shapes}, sort_keys=True).encode()
    body = b"".join(np.ascontiguousarray(arrays[name]).tobytes() for name in names)
    return _MAGIC + struct.pack("<qq", header["version"], len(head)) + zlib.compress(head + body, 1)


def unpack(data: bytes, version: int) -> tuple[dict[str, Any], dict[str, Ints]]:
    """What `pack` was given; refuses what is no snapshot, and snapshots of another version."""
    if not data.startswith(_MAGIC):
        raise ValueError("this is not a snapshot of a LARS reasoner")
    at = len(_MAGIC)
    found, size = struct.unpack_from("<qq", data, at)
    if found != version:
        raise ValueError(f"the snapshot has version {found}; this reasoner reads version {version}")
    raw = zlib.decompress(data[at + 16 :])
    header = json.loads(raw[:size])
    arrays: dict[str, Ints] = {}
    place = size
    for name, kind, shape in header["arrays"]:
        dtype = np.dtype(kind)
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(raw, dtype, count, place).reshape(shape).copy()
        place += count * dtype.itemsize
    return header, arrays
