"""Constants as int64 codes of one space: numbers are the bits of their float64, symbols are boxed in its NaNs.

So columns of any mixture join and hash on plain integers, a number given as text equals the number, and arithmetic
sees a NaN where a symbol stands.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.answers.datalog import text
from thalweg.columns.pieces import whole
from thalweg.columns.symbols import (
    RAW,
    SymbolTable,
    as_floats,
    constant_text,
    number,
    number_text,
    numbers,
)
from thalweg.language.terms import EXACT, Number, Term
from thalweg.protocol import Ints

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SYMBOL = 0x7FF8_0000_0000_0001
"""The code of symbol 0: the first quiet NaN that arithmetic does not produce."""
_WIDE = (pa.int64(), pa.uint64())
"""Types whose numbers may be too large for a float64."""
STAR = -1
"""Stands for any constant that is not mentioned otherwise. No constant has this code."""


class Codec:
    """Constants to codes and back."""

    def __init__(self, symbols: SymbolTable | None = None) -> None:
        self.symbols = SymbolTable() if symbols is None else symbols
        self._raw: dict[str, int] = {}
        self._seen: list[tuple[pa.Array, Ints]] = []
        self._written: pa.Array = pa.array([], pa.string())
        self._arrived = 0

    def term(self, term: Term) -> int:
        """The code of a constant of the program."""
        if isinstance(term, Number):
            return number(float(term.value))
        return SYMBOL + self.symbols.add(text(term))

    def raw(self, value: str) -> int:
        """The code of a constant given as text."""
        found = self._raw.get(value)
        if found is None:
            canonical = constant_text(value)
            if canonical[0] in "+-.0123456789" and not _is_far(canonical):
                found = number(float(canonical))
            else:
                found = SYMBOL + self.symbols.add(canonical)
            if len(self._raw) >= RAW:
                self._raw.clear()
            self._raw[value] = found
        return found

    def encode(self, column: pa.Array | pa.ChunkedArray) -> Ints:
        """Codes of an Arrow column without nulls."""
        column = whole(column)
        if not isinstance(column, pa.DictionaryArray):
            kind = column.type
            if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
                return numbers(pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False))
            if pa.types.is_boolean(kind):
                column = pc.cast(column, pa.string())
            column = column.dictionary_encode()
        codes = self._dictionary(column.dictionary)
        indices = column.indices.to_numpy(zero_copy_only=False)
        return codes[indices] if len(codes) else np.empty(0, np.int64)

    def _dictionary(self, names: pa.Array) -> Ints:
        """Codes of a dictionary; batches tend to bring the same few again and again."""
        for known, codes in self._seen:
            if len(known) == len(names) and known.equals(names):
                return codes
        if not (pa.types.is_string(names.type) or pa.types.is_large_string(names.type)):
            codes = self.encode(names)
        else:
            codes = np.fromiter(map(self.raw, names.to_pylist()), np.int64, len(names))
        self._seen = [(names, codes), *self._seen[:7]]
        return codes

    def inexact(self, column: pa.Array) -> Bools | None:
        """Where a whole number is too large to be told from its neighbours; None: nowhere."""
        if isinstance(column, pa.DictionaryArray) or column.type not in _WIDE:
            return None
        column = whole(column)
        values = column.to_numpy(zero_copy_only=False)
        found = np.asarray((values >= EXACT) | (values <= -EXACT))
        return found if found.any() else None

    def texts(self, codes: Ints) -> pa.Array:
        """The constants as canonical text."""
        if len(codes) and codes.min() >= SYMBOL:
            if self._arrived != self.symbols.arrived:
                self._written = pa.array(self.symbols.texts, pa.string())
                self._arrived = self.symbols.arrived
            return self._written.take(pa.array(codes - SYMBOL))
        distinct, places = np.unique(codes, return_inverse=True)
        return pa.array([self.one(int(c)) for c in distinct], pa.string()).take(pa.array(places))

    def one(self, code: int) -> str:
        """One constant as text; the star is written ``_``."""
        if code == STAR:
            return "_"
        if code >= SYMBOL:
            return self.symbols.texts[code - SYMBOL]
        return number_text(float(as_floats(np.array([code], np.int64))[0]))


def _is_far(canonical: str) -> bool:
    """Is it an integer that cannot be told from its neighbours, or a number that is not finite?"""
    value = float(canonical)
    return not math.isfinite(value) or (abs(value) >= EXACT and canonical.lstrip("+-").isdecimal())


def values(codes: Ints) -> Floats:
    """The numbers behind codes, NaN for symbols."""
    return np.asarray(as_floats(codes))
