"""The texts of instances, values and causes, for the tables that a query gives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns.gathering import TIME
from thalweg.columns.keys import KeyTable
from thalweg.columns.symbols import FEW, as_floats, number_text
from thalweg.columns.texts import Indices, Numbers, TextPool
from thalweg.events.moves import told
from thalweg.events.sorts import Coder
from thalweg.events.stores import FluentStore
from thalweg.language.instances import around_holes
from thalweg.protocol import Ints

_INDEX = pa.int32()
_parts = cache(around_holes)


class Words:
    """Texts of symbols and numbers, written once; those of instances are put together from them when asked for."""

    def __init__(self, coder: Coder) -> None:
        self._coder = coder
        self._pool = TextPool()
        self._symbols = Numbers()
        self._arrived = 0
        self._codes = KeyTable(1)
        self._numbers = Numbers()
        self._numeric: dict[tuple[str, str, int], bool] = {}
        self._every: tuple[tuple[tuple[int, int, int], ...], pa.Array] | None = None

    def symbol_numbers(self) -> Ints:
        """The numbers of the texts of all symbols."""
        symbols = self._coder.symbols
        if self._arrived < symbols.arrived:
            self._symbols.ensure(len(symbols))
            self._symbols.known[symbols.since(self._arrived)] = self._pool.add(symbols.array(self._arrived))
            self._arrived = symbols.arrived
        return self._symbols.known

    def is_crowded(self) -> bool:
        """Are there many texts of numbers, which may never come again?"""
        return self._codes.count > len(self._coder.symbols) + FEW

    def is_number(self, node: tuple[str, str, int]) -> bool:
        """Are the constants in a position numbers?"""
        found = self._numeric.get(node)
        if found is None:
            found = self._numeric[node] = self._coder.sorts.numeric(node)
        return found

    def text_numbers(self, node: tuple[str, str, int], codes: Ints) -> Ints:
        """The numbers of the texts of constants in a position."""
        if not self.is_number(node):
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

    def events(self, name: str, columns: Sequence[Ints], length: int) -> pa.Array:
        """The texts of events."""
        return self._pool.compose([self._filled("event", name, columns, length)])

    def fluents(self, some: Sequence[tuple[FluentStore, Ints]]) -> pa.Array:
        """The texts of fluent instances, one store after the other."""
        filled = []
        for store, ids in some:
            columns = [store.instances.column(p, ids) for p in range(store.arity)]
            filled.append(self._filled("fluent", store.name, columns, len(ids)))
        return self._pool.compose(filled)

    def _filled(self, kind: str, name: str, columns: Sequence[Ints], length: int) -> tuple[tuple[str, ...], Ints]:
        """A relation's name around its holes, and the numbers of the texts in these."""
        parts = _parts(name)
        numbers = np.empty((len(parts) - 1, length), np.int64)
        for i, column in enumerate(columns):
            numbers[i] = self.text_numbers((kind, name, i), column)
        return parts, numbers

    def all_fluents(self, stores: Sequence[FluentStore]) -> pa.Array:
        """The texts of all instances of the stores, one store after the other; the same array as before where nothing
        is new."""
        state = tuple((id(store), store.numbering, store.instances.count) for store in stores)
        if self._every is None or self._every[0] != state:
            self._every = state, self.fluents([(store, np.arange(store.instances.count)) for store in stores])
        return self._every[1]

    def values(self, store: FluentStore, values: Ints) -> pa.Array:
        """The texts of values."""
        return self.take(self.text_numbers(("value", store.name, 0), values))


_TIME = pa.array(["time"])


def cause_texts(causes: Ints) -> pa.DictionaryArray:
    """``time``, or the input row."""
    if not told(causes) or (causes == TIME).all():
        return dictionary(np.zeros(len(causes), np.int32), _TIME)
    numbered = pa.array(causes).dictionary_encode()
    rows = pc.binary_join_element_wise("row", numbered.dictionary.cast(pa.string()), " ")
    texts = pc.if_else(pc.equal(numbered.dictionary, TIME), "time", rows)
    return pa.DictionaryArray.from_arrays(numbered.indices, texts, safe=False)


def dictionary(indices: Indices, texts: pa.Array) -> pa.DictionaryArray:
    """Texts by number; the numbers are known to be right."""
    return pa.DictionaryArray.from_arrays(as_arrow(indices, _INDEX), texts, safe=False)


def as_arrow(column: npt.NDArray[Any], kind: pa.DataType) -> pa.Array:
    """An array without gaps as it is. (`pyarrow.array` first finds out what it is given.)"""
    return pa.Array.from_buffers(kind, len(column), [None, pa.py_buffer(column)], 0)
