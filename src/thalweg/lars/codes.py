"""Constants as int64, so that joins and hashes do not ask what they are.

A *number* position holds the bits of a float64. A *symbol* position holds twice an integer, or twice the id of a text
plus one: integers are never interned, so a stream of ever new keys does not fill the symbol table. Ever new texts do
not fill it either: those that nothing refers to are forgotten.
"""

from __future__ import annotations

import math
import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.types import INFINITE, NUMBER, SYMBOL
from thalweg.columns.pieces import whole
from thalweg.columns.symbols import (
    SymbolTable,
    as_floats,
    number,
    number_text,
    numbers,
)
from thalweg.columns.texts import Numbers
from thalweg.language.instances import NUMERAL, quoted, standard_order
from thalweg.language.terms import EXACT, Atom, Compound, Number, Sequence, Term
from thalweg.protocol import Ints

Bools = npt.NDArray[np.bool_]
_INTEGER = re.compile(r"-?\d{1,18}\Z")


def term_text(term: Term) -> str:
    """Canonical text of a ground term."""
    match term:
        case Number(value):
            return number_text(value)
        case Atom(name):
            return quoted(name)
        case Compound(functor, args):
            return f"{quoted(functor)}({','.join(map(term_text, args))})"
        case Sequence(items):
            return f"[{','.join(map(term_text, items))}]"
        case _:
            raise TypeError(f"{term!r} is not ground")


class Codes:
    """Encodes constants and columns, and writes them back as text."""

    def __init__(self) -> None:
        self.symbols = SymbolTable()
        self.forget_tags()

    def constant(self, term: Term, kind: str) -> int:
        """The code of a constant of a program in a position of that kind."""
        if kind == NUMBER:
            if term == Atom(INFINITE):
                return number(math.inf)
            if not isinstance(term, Number):
                raise TypeError(f"{term!r} stands where numbers are compared")
            return number(term.value)
        text = term_text(term)
        return 2 * int(text) if _INTEGER.match(text) else 2 * self.symbols.add(text) + 1

    def column(self, values: pa.Array, kind: str) -> Ints:
        """Codes of an Arrow column without nulls."""
        values = whole(values)
        if kind == NUMBER:
            if pa.types.is_string(values.type) or pa.types.is_dictionary(values.type):
                values = values.cast(pa.string()).cast(pa.float64())
            return numbers(values.to_numpy(zero_copy_only=False))
        if pa.types.is_integer(values.type):
            return 2 * np.asarray(values.to_numpy(zero_copy_only=False), np.int64)
        ids = self.symbols.encode(values)
        return self._tagged()[ids]

    def forget_tags(self) -> None:
        """After symbols were forgotten or replaced."""
        self._tags, self._arrived = Numbers(), 0

    def _tagged(self) -> Ints:
        if self._arrived < self.symbols.arrived:
            texts, ids = self.symbols.texts, self.symbols.since(self._arrived)
            new = [2 * int(t) if _INTEGER.match(t := texts[i]) else 2 * i + 1 for i in ids.tolist()]
            self._tags.ensure(len(texts))
            self._tags.known[ids] = new
            self._arrived = self.symbols.arrived
        return self._tags.known

    def texts(self, codes: Ints, kind: str) -> pa.Array:
        """The texts of a column of codes."""
        if kind == NUMBER:
            values = as_floats(codes)
            if (np.abs(values) < EXACT).all() and np.array_equal(whole := values.astype(np.int64), values):
                return pc.cast(pa.array(whole), pa.string())
            return pa.array([number_text(v) for v in values.tolist()], pa.string())
        odd = codes & 1
        if not odd.any():
            return pc.cast(pa.array(codes >> 1), pa.string())
        texts = self.symbols.texts
        return pa.array([texts[c >> 1] if c & 1 else str(c >> 1) for c in codes.tolist()], pa.string())

    def recoded(self, column: Ints, kind: str, codes: Codes, other: str) -> tuple[Ints, Bools]:
        """A column of codes as other codes have it, perhaps in a position of another kind; and where that can be."""
        distinct, places = np.unique(column, return_inverse=True)
        found, good = np.zeros(len(distinct), np.int64), np.ones(len(distinct), np.bool_)
        for i, text in enumerate(self.texts(distinct, kind).to_pylist()):
            if other != NUMBER:
                found[i] = 2 * int(text) if _INTEGER.match(text) else 2 * codes.symbols.add(text) + 1
            elif kind == NUMBER:
                found[i] = distinct[i]
            else:
                try:
                    found[i] = number(float(text))
                except ValueError:
                    good[i] = False
        return found[places.reshape(-1)], good[places.reshape(-1)]

    def text(self, code: int, kind: str) -> str:
        """The text of one code."""
        written: str = self.texts(np.array([code], np.int64), kind)[0].as_py()
        return written

    def ranks(self, left: Ints, right: Ints, kinds: tuple[str, str] = (SYMBOL, SYMBOL)) -> tuple[Ints, Ints]:
        """The places of the codes of two columns in the standard order of terms."""
        texts = [*self.texts(left, kinds[0]).to_pylist(), *self.texts(right, kinds[1]).to_pylist()]
        place = {t: i for i, t in enumerate(sorted(set(texts), key=standard_order))}
        found = np.array([place[t] for t in texts], np.int64)
        return found[: len(left)], found[len(left) :]

    def value(self, code: int) -> float | None:
        """The number that a symbol code stands for, if it is one."""
        text = self.text(code, SYMBOL)
        return float(text) if NUMERAL.match(text) else None
