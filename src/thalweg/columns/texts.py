"""Texts by number, and texts made of others: written straight into the buffers of an Arrow array.

An Arrow array of texts cannot grow; here the bytes of all texts lie in one buffer that doubles when it is full.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.columns.compiled import kernel, part
from thalweg.protocol import Ints

Bytes = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.int32]


@part
def _copy(data: Bytes, start: int, end: int, out: Bytes, at: int) -> int:
    for k in range(start, end):
        out[at] = data[k]
        at += 1
    return at


@kernel
def _sizes(ends: Ints, numbers: Ints, literals: Ints, total: int, offsets: Indices) -> int:
    """Where texts that are made of literals with others between them start, from `total` on; returns where the last one
    ends."""
    fixed = literals[len(literals) - 1] - literals[0]
    for k in range(numbers.shape[1]):
        offsets[k] = total
        total += fixed
        for c in range(numbers.shape[0]):
            total += ends[numbers[c, k] + 1] - ends[numbers[c, k]]
    offsets[numbers.shape[1]] = total
    return total


@kernel
def _compose(ends: Ints, data: Bytes, numbers: Ints, literals: Ints, letters: Bytes, at: int, out: Bytes) -> int:
    """Write texts that are made of literals with others between them, from `at` on; returns where the last one ends."""
    for k in range(numbers.shape[1]):
        at = _copy(letters, literals[0], literals[1], out, at)
        for c in range(numbers.shape[0]):
            at = _copy(data, ends[numbers[c, k]], ends[numbers[c, k] + 1], out, at)
            at = _copy(letters, literals[c + 1], literals[c + 2], out, at)
    return at


@kernel
def number_anew(codes: Ints | Indices, places: Indices, first: Ints, known: int, out: Indices) -> int:
    """Number codes in the order of first sight, the first `known` of which are in `first`; returns how many there are.
    `places` holds -1 for codes that have no number. `out` may be the codes. Linear."""
    for k in range(len(codes)):
        place = places[codes[k]]
        if place < 0:
            place = places[codes[k]] = known
            first[known] = codes[k]
            known += 1
        out[k] = place
    return known


@kernel
def borders(numbers: Ints, bases: Ints, out: Ints) -> None:
    """Where numbers stand that are at least bases[n]. The bases ascend, and so do the numbers from one base to the
    next, though not between two."""
    k = 0
    for n in range(len(bases)):
        while k < len(numbers) and numbers[k] < bases[n]:
            k += 1
        out[n] = k


@kernel
def unnumber(places: Indices, first: Ints) -> None:
    """Take the numbers away again."""
    for k in range(len(first)):
        places[first[k]] = -1


class Marks:
    """Room for numbers of codes, of which all are -1 between two uses."""

    def __init__(self) -> None:
        self._room = np.full(1024, -1, np.int32)

    def of(self, count: int) -> Indices:
        """Room for codes below `count`."""
        if count > len(self._room):
            self._room = np.full(max(count, 2 * len(self._room)), -1, np.int32)
        return self._room


class TextPool:
    """Texts, numbered from 0 in the order in which they were added."""

    def __init__(self) -> None:
        self.count = 0
        self._ends = np.zeros(1024, np.int64)
        self._data = np.empty(1 << 14, np.uint8)
        self._letters: dict[tuple[str, ...], tuple[Ints, Bytes]] = {}

    def add(self, texts: pa.Array) -> Ints:
        """The numbers of new texts; equal texts get numbers of their own."""
        texts = texts.cast(pa.string())
        n, start = len(texts), self.count
        _, offsets, data = texts.buffers()
        if n:
            ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + n + 1].astype(np.int64)
            used = int(self._ends[start])
            size = int(ends[-1] - ends[0])
            self._reserve(start + n, used + size)
            self._ends[start + 1 : start + n + 1] = ends[1:] - ends[0] + used
            if size:
                self._data[used : used + size] = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
            self.count += n
        return np.arange(start, self.count)

    def _reserve(self, count: int, size: int) -> None:
        if count >= len(self._ends):
            room = max(count + 1, 2 * len(self._ends))
            self._ends = np.concatenate([self._ends, np.zeros(room - len(self._ends), np.int64)])
        if size > len(self._data):
            data = np.empty(max(size, 2 * len(self._data)), np.uint8)
            data[: len(self._data)] = self._data
            self._data = data

    def take(self, codes: Ints) -> pa.Array:
        """The texts with these numbers."""
        return self.compose([(("", ""), np.ascontiguousarray(codes).reshape(1, -1))])

    def compose(self, parts: Sequence[tuple[tuple[str, ...], Ints]]) -> pa.Array:
        """Texts, part after part, made of a part's literals and, between them, the texts of numbers[c] (a row per
        gap)."""
        count = sum([numbers.shape[1] for _, numbers in parts])
        offsets = np.zeros(count + 1, np.int32)
        known = [(numbers, *self._literals(literals)) for literals, numbers in parts]
        at = total = 0
        for numbers, borders, _ in known:
            total = _sizes(self._ends, numbers, borders, total, offsets[at:])
            at += numbers.shape[1]
        out = np.empty(total, np.uint8)
        at = 0
        for numbers, borders, letters in known:
            at = _compose(self._ends, self._data, numbers, borders, letters, at, out)
        return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(out))

    def _literals(self, literals: tuple[str, ...]) -> tuple[Ints, Bytes]:
        """Where literals start and end among their letters, and these."""
        found = self._letters.get(literals)
        if found is None:
            encoded = [text.encode() for text in literals]
            letters = np.frombuffer(b"".join(encoded) or b" ", np.uint8).copy()
            found = self._letters[literals] = np.cumsum([0, *map(len, encoded)]), letters
        return found


class Numbers:
    """A growing list of numbers."""

    def __init__(self) -> None:
        self.count = 0
        self._room = np.empty(64, np.int64)

    @property
    def known(self) -> Ints:
        return self._room[: self.count]

    def extend(self, more: Ints) -> None:
        start = self.count
        self.ensure(start + len(more))
        self._room[start : self.count] = more

    def ensure(self, count: int) -> None:
        """At least so many, to be set where they are new."""
        if count > len(self._room):
            room = np.empty(max(count, 2 * len(self._room)), np.int64)
            room[: self.count] = self.known
            self._room = room
        self.count = max(self.count, count)
