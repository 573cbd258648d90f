"""Large arrays in memory that was used before.

Memory that the system hands out for the first time costs more than writing it a second time, several times over. Large
arrays that are made for every query and soon forgotten would get such memory each time. Those made here leave theirs to
the next ones, when nothing refers to them any more: no view, and no Arrow array over them.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

SMALLEST = 1 << 18
"""Bytes below which an array is an ordinary one."""
KEPT = 1 << 27
"""Bytes that wait to be used again, at most."""

Block = npt.NDArray[np.uint8]
_waiting: dict[int, Block] = {}
_lent: dict[int, tuple[weakref.ref[npt.NDArray[Any]], Block]] = {}


def _returned(loan: weakref.ref[npt.NDArray[Any]]) -> None:
    """The last reference to an array is gone; of too many blocks the oldest go. This may happen at any moment, in any
    thread, so blocks are taken out of what is known one by one."""
    _, block = _lent.pop(id(loan))
    _waiting[id(block)] = block
    sizes = [(key, waiting.nbytes) for key, waiting in list(_waiting.items())]
    total = sum(size for _, size in sizes)
    for key, size in sizes:
        if total <= KEPT:
            break
        _waiting.pop(key, None)
        total -= size


def _block(size: int) -> Block:
    """The smallest of the blocks that wait, if there is one that is not far too large; or a new one."""
    fits = [(block.nbytes, key) for key, block in list(_waiting.items()) if size <= block.nbytes <= 4 * size]
    found = _waiting.pop(min(fits)[1], None) if fits else None
    return np.empty(size + (size >> 2), np.uint8) if found is None else found


def empty(length: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """`numpy.empty` for one dimension."""
    size = length * np.dtype(kind).itemsize
    if size < SMALLEST:
        return np.empty(length, kind)
    block = _block(size)
    # Views of an array over something that is no array refer to that array itself, so it lives as long as they do.
    found = np.frombuffer(block.data, kind, length)
    loan = weakref.ref(found, _returned)
    _lent[id(loan)] = loan, block
    return found
