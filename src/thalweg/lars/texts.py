"""Atoms as text, a column at a time: bytes written by a kernel, handed to Arrow as they are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from thalweg.analysis.types import NUMBER
from thalweg.lars.codes import Codes
from thalweg.protocol import Ints

_TEXT = pa.string()
Bytes = npt.NDArray[np.uint8]
_OPEN, _CLOSE, _COMMA, _MINUS, _ZERO = (ord(c) for c in "(),-0")


@njit(cache=True)
def _digits(value: int, out: Bytes, n: int) -> int:
    """Write an integer; returns the place after it."""
    if value < 0:
        out[n] = _MINUS
        n += 1
        value = -value
    size = 1
    rest = value
    while rest >= 10:
        rest //= 10
        size += 1
    for k in range(size):
        out[n + size - 1 - k] = _ZERO + value % 10
        value //= 10
    return n + size


@njit(cache=True)
def _write(
    rows: Ints,
    numeric: Ints,
    name: Bytes,
    pool: Bytes,
    starts: Ints,
    out: Bytes,
    offsets: npt.NDArray[np.int32],
) -> int:
    """Write ``name(a,b)`` for each row of codes. Returns the number of bytes; -1 where a number is not whole; where
    the room may not do, -2 minus the room that will."""
    n = 0
    width = len(numeric)
    for k in range(len(rows)):
        need = len(name) + 24 * (width + 1)
        for c in range(width):
            if numeric[c] == 0 and rows[k, c] & 1 == 1:
                s = rows[k, c] >> 1
                need += starts[s + 1] - starts[s]
        if n + need > len(out):
            return -2 - (n + need) * (len(rows) // (k + 1) + 2)
        offsets[k] = n
        for b in name:
            out[n] = b
            n += 1
        for c in range(width):
            out[n] = _OPEN if c == 0 else _COMMA
            n += 1
            code = rows[k, c]
            if numeric[c] == 1:
                value = np.int64(code).view(np.float64)
                if value != np.floor(value) or abs(value) > 9e15:
                    return -1
                n = _digits(int(value), out, n)
            elif code & 1 == 0:
                n = _digits(code >> 1, out, n)
            else:
                for q in range(starts[code >> 1], starts[(code >> 1) + 1]):
                    out[n] = pool[q]
                    n += 1
        if width > 0:
            out[n] = _CLOSE
            n += 1
    offsets[len(rows)] = n
    return n


class Texts:
    """Writes the atoms of a program; keeps the bytes of its symbols."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self._pool: Bytes = np.empty(0, np.uint8)
        self._starts: Ints = np.zeros(1, np.int64)
        self._room = 4096
        self._heads: dict[tuple[str, tuple[str, ...]], tuple[Ints, Bytes]] = {}

    def atoms(self, name: str, kinds: tuple[str, ...], rows: Ints) -> pa.Array:
        """The texts of atoms, one per row of argument codes; further columns are not looked at."""
        self._grow()
        if (name, kinds) not in self._heads:
            numeric = np.array([k == NUMBER for k in kinds], np.int64)
            self._heads[name, kinds] = numeric, np.frombuffer(name.encode(), np.uint8)
        numeric, letters = self._heads[name, kinds]
        offsets = np.empty(len(rows) + 1, np.int32)
        while True:
            out = np.empty(self._room, np.uint8)
            n = _write(rows, numeric, letters, self._pool, self._starts, out, offsets)
            if n >= -1:
                break
            self._room = -2 - n
        if n == -1:
            return _joined(name, kinds, rows, self.codes)
        return pa.Array.from_buffers(_TEXT, len(rows), [None, pa.py_buffer(offsets), pa.py_buffer(out[:n])])

    def _grow(self) -> None:
        """Take in symbols that are new."""
        known = len(self._starts) - 1
        texts = self.codes.symbols.texts
        if known > len(texts):
            self._pool, self._starts, known = self._pool[:0], self._starts[:1], 0
        if known < len(texts):
            more = [t.encode() for t in texts[known:]]
            ends = self._starts[-1] + np.cumsum([len(b) for b in more])
            self._pool = np.concatenate([self._pool, np.frombuffer(b"".join(more), np.uint8)])
            self._starts = np.concatenate([self._starts, ends])


def _joined(name: str, kinds: tuple[str, ...], rows: Ints, codes: Codes) -> pa.Array:
    """The same, for arguments that are not whole numbers."""
    parts: list[object] = [f"{name}("]
    for i, kind in enumerate(kinds):
        parts += [codes.texts(np.ascontiguousarray(rows[:, i]), kind), ","]
    return pc.binary_join_element_wise(*parts[:-1], ")", "")
