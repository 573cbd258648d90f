"""The texts of instances, values and causes, for the tables that a query gives."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pyarrow as pa

from thalweg.columns.gathering import TIME
from thalweg.columns.keys import KeyTable
from thalweg.columns.symbols import as_floats, number_text
from thalweg.columns.texts import Numbers, TextPool
from thalweg.events.moves import told
from thalweg.events.sorts import Coder
from thalweg.events.stores import FluentStore
from thalweg.protocol import Ints

_HOLE = re.compile(r"(?<=[(,])_(?=[,)])")


@cache
def _parts(name: str) -> tuple[str, ...]:
    """What stands before, between and behind the holes of a relation's name."""
    return tuple(_HOLE.split(name))


class Words:
    """Texts of symbols and numbers, written once; those of instances are put together from them when asked for."""

    def __init__(self, coder: Coder) -> None:
        self._coder = coder
        self._pool = TextPool()
        self._symbols = Numbers()
        self._codes = KeyTable(1)
        self._numbers = Numbers()

    def symbol_numbers(self) -> Ints:
        """The numbers of the texts of all symbols."""
        texts = self._coder.symbols.texts
        if self._symbols.count < len(texts):
            self._symbols.extend(self._pool.add(pa.array(texts[self._symbols.count :], pa.string())))
        return self._symbols.known

    def text_numbers(self, node: tuple[str, str, int], codes: Ints) -> Ints:
        """The numbers of the texts of constants in a position."""
        if not self._coder.sorts.numeric(node):
            return self.symbol_numbers()[codes]
        ids = self._codes.intern([codes], len(codes))
        if self._numbers.count < self._codes.count:
            new = np.ascontiguousarray(self._codes.keys[self._numbers.count :, 0])
            texts = [number_text(value) for value in as_floats(new).tolist()]
            self._numbers.extend(self._pool.add(pa.array(texts, pa.string())))
        return self._numbers.known[ids]

    def take(self, numbers: Ints) -> pa.Array:
        """The texts with these numbers."""
        return self._pool.take(numbers)

    def written(self, kind: str, name: str, keys: Ints) -> pa.Array:
        """The texts of ground instances: the relation's name with its holes filled from the columns of the keys."""
        parts = _parts(name)
        numbers = np.empty((len(parts) - 1, len(keys)), np.int64)
        for i in range(len(parts) - 1):
            numbers[i] = self.text_numbers((kind, name, i), np.ascontiguousarray(keys[:, i]))
        return self._pool.compose(parts, numbers)

    def fluents(self, store: FluentStore, ids: Ints) -> pa.Array:
        """The texts of fluent instances."""
        return self.written("fluent", store.name, store.instances.keys[ids, : store.arity])

    def values(self, store: FluentStore, values: Ints) -> pa.Array:
        """The texts of values."""
        return self.take(self.text_numbers(("value", store.name, 0), values))


def cause_texts(causes: Ints) -> pa.DictionaryArray:
    """``time``, or the input row."""
    if not told(causes) or (causes == TIME).all():
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(causes), np.int32)), pa.array(["time"]))
    codes, inverse = np.unique(causes, return_inverse=True)
    texts = ["time" if c == TIME else f"row {c}" for c in codes.tolist()]
    return pa.DictionaryArray.from_arrays(pa.array(inverse.astype(np.int32)), pa.array(texts))
