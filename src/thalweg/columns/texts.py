"""Texts by number: added at the end, taken in any order, never copied as a whole.

An Arrow array of texts cannot grow; here the bytes of all texts lie in one buffer that doubles when it is full.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from thalweg.protocol import Ints

Bytes = npt.NDArray[np.uint8]


@njit(cache=True)
def _sizes(ends: Ints, codes: Ints, offsets: npt.NDArray[np.int32]) -> int:
    total = 0
    for k in range(len(codes)):
        offsets[k] = total
        total += ends[codes[k] + 1] - ends[codes[k]]
    offsets[len(codes)] = total
    return total


@njit(cache=True)
def _copy(ends: Ints, data: Bytes, codes: Ints, out: Bytes) -> None:
    n = 0
    for k in range(len(codes)):
        for at in range(ends[codes[k]], ends[codes[k] + 1]):
            out[n] = data[at]
            n += 1


@njit(cache=True)
def _compact(codes: Ints, places: npt.NDArray[np.int32], first: Ints, out: npt.NDArray[np.int32]) -> int:
    """Number the codes in order of first sight; `places` holds -1 everywhere before and after. Linear."""
    n = 0
    for k in range(len(codes)):
        place = places[codes[k]]
        if place < 0:
            place = places[codes[k]] = n
            first[n] = codes[k]
            n += 1
        out[k] = place
    for k in range(n):
        places[first[k]] = -1
    return n


class TextPool:
    """Texts, numbered from 0 in the order in which they were added."""

    def __init__(self) -> None:
        self.count = 0
        self._ends = np.zeros(1024, np.int64)
        self._data = np.empty(1 << 14, np.uint8)
        self._places = np.full(1024, -1, np.int32)

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
            self._places = np.full(room, -1, np.int32)
        if size > len(self._data):
            data = np.empty(max(size, 2 * len(self._data)), np.uint8)
            data[: len(self._data)] = self._data
            self._data = data

    def take(self, codes: Ints) -> pa.Array:
        """The texts with these numbers."""
        offsets = np.empty(len(codes) + 1, np.int32)
        out = np.empty(_sizes(self._ends, codes, offsets), np.uint8)
        _copy(self._ends, self._data, codes, out)
        return pa.StringArray.from_buffers(len(codes), pa.py_buffer(offsets), pa.py_buffer(out))

    def encode(self, codes: Ints) -> pa.DictionaryArray:
        """The texts with these numbers as a dictionary column with each of them once."""
        first = np.empty(min(len(codes), self.count), np.int64)
        indices = np.empty(len(codes), np.int32)
        n = _compact(codes, self._places, first, indices)
        return pa.DictionaryArray.from_arrays(pa.array(indices), self.take(first[:n]))


class Numbers:
    """A growing list of numbers."""

    def __init__(self) -> None:
        self.count = 0
        self._room = np.empty(64, np.int64)

    @property
    def known(self) -> Ints:
        return self._room[: self.count]

    def extend(self, more: Ints) -> None:
        end = self.count + len(more)
        if end > len(self._room):
            room = np.empty(max(end, 2 * len(self._room)), np.int64)
            room[: self.count] = self.known
            self._room = room
        self._room[self.count : end] = more
        self.count = end
