"""Snapshots as bytes: a header in JSON and arrays, in a fixed order; the same state gives the same bytes."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np

from thalweg.columns.sealing import opened, sealed
from thalweg.protocol import Ints

KIND = b"thalweg-lars-%d"


def pack(header: dict[str, Any], arrays: dict[str, Ints]) -> bytes:
    """One byte string for a header and named arrays."""
    names = sorted(arrays)
    shapes = [[name, arrays[name].dtype.str, list(arrays[name].shape)] for name in names]
    head = json.dumps({**header, "arrays": shapes}, sort_keys=True).encode()
    body = b"".join(np.ascontiguousarray(arrays[name]).tobytes() for name in names)
    return sealed(KIND % header["version"], (len(head).to_bytes(8, "little"), zlib.compress(head + body, 1)))


def unpack(data: bytes, version: int) -> tuple[dict[str, Any], dict[str, Ints]]:
    """What `pack` was given; refuses what is no snapshot, and snapshots of another version."""
    view = opened(KIND % version, data, "a LARS reasoner")
    size, raw = int.from_bytes(view[:8], "little"), zlib.decompress(view[8:])
    header = json.loads(raw[:size])
    arrays: dict[str, Ints] = {}
    place = size
    for name, kind, shape in header["arrays"]:
        dtype = np.dtype(kind)
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(raw, dtype, count, place).reshape(shape).copy()
        place += count * dtype.itemsize
    return header, arrays
