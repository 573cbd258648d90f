"""Text columns as numbers: the words of dictionaries, ranked in the order of texts.

Tables of one run name the same instances again and again, with the very same dictionary: its words are sorted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns import recycling
from thalweg.io.netting import Codes
from thalweg.protocol import Ints

AnyInts = TypeVar("AnyInts", Codes, Ints)


def sealed(column: AnyInts) -> AnyInts:
    """The column, read-only whether it is Arrow's memory or a copy: kernels are compiled for one of the two."""
    column = column.view()
    column.flags.writeable = False
    return column


def one_after_the_other(column: pa.ChunkedArray) -> tuple[Codes, list[pa.Array]]:
    """For each row of a text column the place of its word in the dictionaries that are returned, taken as one."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes, dictionaries, base = [], [], 0
    for chunk in column.chunks:
        mine = chunk.indices.cast(pa.int32()).to_numpy()
        codes.append(mine + np.int32(base) if base else mine)
        dictionaries.append(chunk.dictionary)
        base += len(chunk.dictionary)
    return sealed(joined(codes, np.int32)), dictionaries


def joined(parts: list[AnyInts], kind: type[np.int32] | type[np.int64]) -> AnyInts:
    """Arrays one after the other; one alone as it is."""
    if len(parts) == 1:
        return parts[0]
    found: AnyInts = recycling.empty(sum(map(len, parts)), kind)
    return np.concatenate(parts, out=found) if parts else found


class Numbering:
    """Numbers the words of columns. `words` are those of the dictionaries that came last, each once and in order."""

    def __init__(self) -> None:
        self.words = pa.array([], pa.string())
        self._known: dict[tuple[int, ...], tuple[pa.Array, Codes]] = {}
        """Of dictionaries, by where they are in memory, which is kept: the ranks of their words."""

    def __call__(self, column: pa.ChunkedArray) -> tuple[Codes, Codes]:
        """For each row the number of its word, and for each number the rank of that word among the words. Equal words
        of different dictionaries have different numbers, and one rank."""
        codes, dictionaries = one_after_the_other(column)
        keys = [_place(dictionary) for dictionary in dictionaries]
        if any(key not in self._known for key in keys):
            self._rank(keys, dictionaries)
        return codes, np.concatenate([np.empty(0, np.int32), *(self._known[key][1] for key in keys)])

    def _rank(self, keys: Sequence[tuple[int, ...]], dictionaries: Sequence[pa.Array]) -> None:
        every = pa.concat_arrays([dictionary.cast(pa.string()) for dictionary in dictionaries])
        order = pc.sort_indices(every)
        ordered = every.take(order)
        new = np.ones(len(ordered), np.bool_)
        if len(ordered) > 1:
            differs = pc.not_equal(ordered.slice(1), ordered.slice(0, len(ordered) - 1))
            new[1:] = differs.to_numpy(zero_copy_only=False)
        ranks = np.empty(len(ordered), np.int32)
        ranks[order.to_numpy()] = np.cumsum(new, dtype=np.int32) - np.int32(1)
        self.words = ordered if new.all() else ordered.filter(pa.array(new))
        borders = np.cumsum([len(dictionary) for dictionary in dictionaries])[:-1]
        parts = np.split(ranks, borders)
        self._known = {key: (d, mine) for key, d, mine in zip(keys, dictionaries, parts, strict=True)}
        own = np.arange(len(self.words), dtype=np.int32)
        self._known[_place(self.words)] = self.words, own


def _place(dictionary: pa.Array) -> tuple[int, ...]:
    """Where an array is in memory: one that is there at the same time at the same place is the same."""
    buffers = (0 if buffer is None else buffer.address for buffer in dictionary.buffers())
    return (len(dictionary), dictionary.offset, *buffers)
