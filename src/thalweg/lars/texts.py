"""Atoms as text, a column at a time: bytes written by a kernel, handed to Arrow as they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.types import NUMBER
from thalweg.columns.compiled import njit
from thalweg.columns.texts import Numbers
from thalweg.lars.codes import Codes
from thalweg.protocol import Ints

_TEXT = pa.string()
Bytes = npt.NDArray[np.uint8]
Parts = Sequence[tuple[str, tuple[str, ...], Ints]]
"""Names, kinds of arguments, and rows of codes."""
FRACTION = -1
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
    ends: Ints,
    out: Bytes,
    n: int,
    offsets: npt.NDArray[np.int32],
    first: int,
) -> int:
    """Write ``name(a,b)`` for each row of codes after the first n bytes; the offsets begin at `first`. Returns the
    number of bytes; `FRACTION` where a number is not whole; where the room may not do, that minus a room that will."""
    width = len(numeric)
    for k in range(len(rows)):
        need = len(name) + 24 * (width + 1)
        for c in range(width):
            if numeric[c] == 0 and rows[k, c] & 1 == 1:
                s = rows[k, c] >> 1
                need += ends[s] - starts[s]
        if n + need > len(out):
            return FRACTION - 2 * (n + need * (len(rows) - k))
        offsets[first + k] = n
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
                    return FRACTION
                n = _digits(int(value), out, n)
            elif code & 1 == 0:
                n = _digits(code >> 1, out, n)
            else:
                for q in range(starts[code >> 1], ends[code >> 1]):
                    out[n] = pool[q]
                    n += 1
        if width > 0:
            out[n] = _CLOSE
            n += 1
    offsets[first + len(rows)] = n
    return n


class Texts:
    """Writes the atoms of a program; keeps the bytes of its symbols."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self.forget()
        self._out: Bytes = np.empty(4096, np.uint8)
        self._heads: dict[tuple[str, tuple[str, ...]], tuple[Ints, Bytes]] = {}

    def forget(self) -> None:
        """After symbols were forgotten or replaced."""
        self._pool: Bytes = np.empty(0, np.uint8)
        self._starts, self._ends, self._arrived = Numbers(), Numbers(), 0

    def atoms(self, name: str, kinds: tuple[str, ...], rows: Ints) -> pa.Array:
        """The texts of atoms, one per row of argument codes; further columns are not looked at."""
        return self.column([(name, kinds, rows)])

    def column(self, parts: Parts) -> pa.Array:
        """The texts of atoms of some predicates, one after the other, as one column."""
        count = sum([len(rows) for _, _, rows in parts])
        offsets = np.empty(count + 1, np.int32)
        end = self.write(parts, self._out, 0, offsets, 0)
        while end < FRACTION:
            self._out = np.empty(FRACTION - end, np.uint8)
            end = self.write(parts, self._out, 0, offsets, 0)
        if end == FRACTION:
            return _joined(parts, self.codes)
        written = pa.py_buffer(self._out[:end].tobytes())
        return pa.Array.from_buffers(_TEXT, count, [None, pa.py_buffer(offsets), written])

    def write(self, parts: Parts, out: Bytes, n: int, offsets: npt.NDArray[np.int32], first: int) -> int:
        """The same, written after the first n bytes, with offsets from `first` on. Returns the number of bytes, or
        `FRACTION` where a number is not whole, or that minus the room that will do."""
        self._grow()
        for name, kinds, rows in parts:
            numeric, letters = self._head(name, kinds)
            borders = self._starts.known, self._ends.known
            n = _write(rows, numeric, letters, self._pool, *borders, out, n, offsets, first)
            if n < 0:
                break
            first += len(rows)
        return n

    def _head(self, name: str, kinds: tuple[str, ...]) -> tuple[Ints, Bytes]:
        if (name, kinds) not in self._heads:
            numeric = np.array([k == NUMBER for k in kinds], np.int64)
            self._heads[name, kinds] = numeric, np.frombuffer(name.encode(), np.uint8)
        return self._heads[name, kinds]

    def _grow(self) -> None:
        """Take in symbols that are new."""
        symbols = self.codes.symbols
        if self._arrived < symbols.arrived:
            ids = symbols.since(self._arrived)
            more = [symbols.texts[i].encode() for i in ids.tolist()]
            borders = len(self._pool) + np.cumsum([0, *map(len, more)])
            self._pool = np.concatenate([self._pool, np.frombuffer(b"".join(more), np.uint8)])
            for places, where in ((self._starts, borders[:-1]), (self._ends, borders[1:])):
                places.ensure(len(symbols))
                places.known[ids] = where
            self._arrived = symbols.arrived


def _joined(parts: Parts, codes: Codes) -> pa.Array:
    """The same, for arguments that are not whole numbers."""
    columns = []
    for name, kinds, rows in parts:
        pieces: list[object] = [f"{name}("]
        for i, kind in enumerate(kinds):
            pieces += [codes.texts(np.ascontiguousarray(rows[:, i]), kind), ","]
        columns.append(
            pc.binary_join_element_wise(*pieces[:-1], ")", "") if kinds else pa.array([name] * len(rows))
        )
    return pa.concat_arrays(columns)
