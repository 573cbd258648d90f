"""Constants as int64 codes.

A *symbol* column holds ids into a table of canonical texts; a *number* column holds the bits of a float64.
Both are int64 arrays, so joins, sorting and hashing do not ask which is which.

Texts that nothing refers to any more are forgotten and their ids given to new ones, so that memory follows what is
remembered and not all that was ever seen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns.pieces import whole
from thalweg.columns.wording import Wordbook
from thalweg.language.instances import NUMERAL, standard_order
from thalweg.language.terms import EXACT
from thalweg.protocol import Ints

_PLAIN = re.compile(r"[a-z][A-Za-z0-9_]*\Z|[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\Z", re.ASCII)
_CANONICAL = r"\A(?:[a-z][A-Za-z0-9_]*|0|-?[1-9][0-9]{0,14})\z"
"""Names and integers that are their own canonical texts, for Arrow."""
_WHOLE = re.compile(r"[-+]?\d+\Z", re.ASCII)
RECENT = 8
"""Dictionaries whose ids are remembered."""
MANY = 1024
"""Texts that are looked up together."""
FEW = 20_000
"""So many new texts are not worth looking for those that can be forgotten."""
FREE = ""
"""Stands in the place of a text that was forgotten; no constant is written so."""
RAW = 1 << 16
"""So many texts are remembered with their canonical texts."""


def number_text(value: float) -> str:
    """Canonical text of a number: integral values have no point, where every integer has a float of its own.

    >>> number_text(12.0), number_text(0.5), number_text(2.0**60)
    ('12', '0.5', '1.152921504606847e+18')
    """
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if abs(value) < EXACT and value == int(value) else repr(float(value))


def constant_text(raw: str) -> str:
    """Canonical text of a constant given as data: numbers lose leading zeros, other texts are names, quoted where
    needed, whatever they look like.

    >>> constant_text("0012"), constant_text("m1"), constant_text("North Sea"), constant_text("f(x)")
    ('12', 'm1', "'North Sea'", "'f(x)'")
    """
    if NUMERAL.match(raw):
        value = float(raw)
        return number_text(value) if abs(value) < EXACT else _far_text(raw, value)
    if _PLAIN.match(raw):
        return raw
    return "'" + raw.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _far_text(raw: str, value: float) -> str:
    """Canonical text of a large number given as data: an integer digit by digit, others as floats."""
    if _WHOLE.match(raw):
        return ("-" if raw[0] == "-" else "") + raw.lstrip("+-0")
    return number_text(value) if math.isfinite(value) else raw


class _Recent:
    """A dictionary and the ids of its texts."""

    def __init__(self, names: pa.Array, ids: Ints) -> None:
        self.names, self.ids = names, ids

    @cached_property
    def _book(self) -> Wordbook:
        return Wordbook(self.names)

    def look_up(self, names: pa.Array) -> Ints:
        """Ids of texts, -1 where they are not in the dictionary."""
        places = self._book.look_up(names)
        return np.where(places < 0, -1, self.ids[places])


class SymbolTable:
    """Texts and their ids: free ones, the smallest first, then new ones, in order of first sight."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts: list[str] = list(texts)
        self.fixed = 0
        """The texts with ids below this are never forgotten."""
        self._fixed: pa.Array | None = None
        self.kept = 0
        """How many texts were left when some were last forgotten."""
        self._array: pa.Array = pa.array([], pa.string())
        self._recent: list[_Recent] = []
        self._count_anew()

    def _count_anew(self) -> None:
        """After texts were replaced: nobody has asked for any of them yet."""
        self._ids: dict[str, int] = {text: i for i, text in enumerate(self.texts)}
        self._ids.pop(FREE, None)
        self._free: list[int] = []
        if len(self._ids) < len(self.texts):
            self._free = [i for i, text in enumerate(self.texts) if text == FREE]
        self._reused, self._first = 0, len(self.texts)
        self._raw: dict[str, str] = {}
        self._ranks: Ints = np.empty(0, np.int64)
        self._ranked = 0

    def __len__(self) -> int:
        return len(self.texts)

    def copy(self) -> SymbolTable:
        """A table that knows the same texts, by the same ids."""
        found = SymbolTable()
        found.__dict__.update(self.__dict__, texts=self.texts.copy(), _ids=self._ids.copy(), _raw={})
        found._recent = self._recent.copy()
        return found

    # ----------------------------------------------------------------- forgetting

    @property
    def count(self) -> int:
        """How many texts there are."""
        return len(self._ids)

    def fix(self) -> None:
        """What is known by now is never forgotten."""
        self.fixed = len(self.texts)
        self._fixed = None

    def fixed_texts(self) -> pa.Array:
        """The texts that are never forgotten, of which a program may have a hundred thousand."""
        if self._fixed is None:
            known = self._array[: self.fixed]
            more = pa.array(self.texts[len(known) : self.fixed], pa.string())
            self._fixed = pa.concat_arrays([known, more])
        return self._fixed

    def is_due(self) -> bool:
        """Is it time to forget? It is when the texts have more than doubled."""
        return self.count > 2 * max(self.kept, self.fixed) + FEW

    def forget(self, used: Iterable[Ints]) -> None:
        """Forget all texts but the fixed ones and those whose ids occur in some arrays. Other numbers may occur there
        too: at worst a text is kept that nobody needs."""
        stay = np.zeros(len(self.texts), np.bool_)
        stay[: self.fixed] = True
        for some in used:
            if some.dtype.kind == "i":
                stay[some[(some >= 0) & (some < len(stay))]] = True
        for i in np.flatnonzero(~stay).tolist():
            self.texts[i] = FREE
        while self.texts and self.texts[-1] == FREE:
            self.texts.pop()
        self._recent = [recent for recent in self._recent if recent.ids.max(initial=-1) < self.fixed]
        self._count_anew()
        self.kept = self.count

    def state(self) -> dict[str, Any]:
        """For a snapshot."""
        return {"texts": self.texts, "fixed": self.fixed, "kept": self.kept}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` gave."""
        self.texts[:], self.fixed, self.kept = state["texts"], state["fixed"], state["kept"]
        self._fixed = None
        self._array, self._recent = self._array[:0], []
        self._count_anew()

    # ----------------------------------------------------------------- what is new

    @property
    def arrived(self) -> int:
        """How many places have got a text since some were last forgotten, with all that there were then."""
        return len(self.texts) + self._reused

    def since(self, arrived: int) -> Ints:
        """The ids of the texts that came after the first `arrived`, in order."""
        first, free = self._first, self._free
        if not self._reused:
            return np.arange(arrived, len(self.texts))
        again = np.array(free[max(arrived - first, 0) : self._reused], np.int64)
        new = np.arange(max(first, arrived - len(free)), len(self.texts))
        return np.concatenate([np.arange(arrived, first), again, new])

    def array(self, arrived: int) -> pa.Array:
        """The texts that came after the first `arrived`, in order."""
        known = self._array.slice(arrived)
        first = arrived + len(known)
        more = [self.texts[i] for i in self.since(first).tolist()] if self._reused else self.texts[first:]
        return pa.concat_arrays([known, pa.array(more, pa.string())]) if more else known

    # ----------------------------------------------------------------- coding

    def expect_all(self) -> None:
        """Be ready for columns of the texts that are known so far."""
        texts = self._array = pa.array(self.texts, pa.string())
        own = np.flatnonzero(pc.match_substring_regex(texts, _CANONICAL).to_numpy(zero_copy_only=False))
        if len(own) >= MANY:
            self._recent = [_Recent(texts.take(pa.array(own)), own)]

    def add(self, text: str) -> int:
        """The id of a canonical text."""
        found = self._ids.get(text)
        if found is None:
            if self._reused < len(self._free):
                found = self._free[self._reused]
                self.texts[found] = text
                self._reused += 1
            else:
                found = len(self.texts)
                self.texts.append(text)
            self._ids[text] = found
        return found

    def add_all(self, texts: Sequence[str]) -> Ints:
        """The ids of canonical texts."""
        known = list(map(self._ids.get, texts))
        if known.count(None) == len(known) == len(set(texts)):
            return self._add_new(texts)
        ids = [self.add(text) if found is None else found for text, found in zip(texts, known, strict=True)]
        return np.array(ids, np.int64)

    def _add_new(self, texts: Sequence[str]) -> Ints:
        """Ids for texts that are new and all different."""
        first, known = len(self.texts), self._reused
        again = self._free[known : known + len(texts)]
        for i, text in zip(again, texts, strict=False):
            self.texts[i] = text
        self._reused += len(again)
        self.texts.extend(texts[len(again) :])
        new = range(first, len(self.texts))
        self._ids.update(zip(texts, (*again, *new) if again else new, strict=True))
        return np.array([*again, *new], np.int64) if again else np.arange(first, len(self.texts))

    def _canonical(self, raw: str) -> str:
        """The canonical text of a constant given as data."""
        found = self._raw.get(raw)
        if found is None:
            if len(self._raw) >= RAW:
                self._raw.clear()
            found = self._raw[raw] = constant_text(raw)
        return found

    def encode(self, column: pa.Array, *, written: bool = False) -> Ints:
        """Ids of an Arrow column without nulls: strings (plain or dictionary-encoded) or numbers. `written`: the texts
        are canonical, as a reasoner has written them; some may be terms with arguments."""
        column = whole(column)
        if not pa.types.is_dictionary(column.type):
            if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
                column = pc.cast(column, pa.string())
            column = column.dictionary_encode()
        names = column.dictionary
        if not pa.types.is_string(names.type) and not pa.types.is_large_string(names.type):
            names = pc.cast(names, pa.string())
        ids = self.add_all(names.to_pylist()) if written else self._encode_names(names)
        indices = column.indices.to_numpy(zero_copy_only=False)
        return ids[indices] if len(ids) else np.empty(0, np.int64)

    def _encode_names(self, names: pa.Array) -> Ints:
        """Ids of distinct texts; columns that follow one another often bring the same ones."""
        for recent in self._recent:
            if len(recent.names) == len(names) and recent.names.equals(names):
                return recent.ids
        ids = self._remembered(names)
        left = np.flatnonzero(ids < 0)
        if len(left):
            new = names.take(pa.array(left)) if len(left) < len(names) else names
            texts = new.to_pylist()
            canonical = pc.match_substring_regex(new, _CANONICAL).to_numpy(zero_copy_only=False)
            for place in np.flatnonzero(~canonical).tolist():
                texts[place] = self._canonical(texts[place])
            ids[left] = self.add_all(texts)
        self._remember(_Recent(names, ids))
        return ids

    def _remember(self, new: _Recent) -> None:
        """Keep a dictionary in place of the one that was met longest ago; the longest of all stays, others are looked
        up there."""
        kept = [new, *self._recent]
        if len(kept) > RECENT:
            oldest = kept.pop()
            if all(len(other.names) < len(oldest.names) for other in kept):
                kept[-1] = oldest
        self._recent = kept

    def _remembered(self, names: pa.Array) -> Ints:
        """Ids of texts that stand in the longest dictionary that is remembered, -1 for others; many of them are found
        sooner so than by Python."""
        if len(names) >= MANY and self._recent:
            recent = max(self._recent, key=lambda recent: len(recent.names))
            if len(recent.names) >= MANY and recent.names.type == names.type == pa.string():
                return recent.look_up(names)
        return np.full(len(names), -1, np.int64)

    def values(self, ids: Ints) -> npt.NDArray[np.float64]:
        """The numbers that the texts of ids are, NaN where they are none."""
        texts = [self.texts[i] for i in ids.tolist()]
        return np.array([float(text) if NUMERAL.match(text) else math.nan for text in texts], np.float64)

    def ranks(self) -> Ints:
        """Position of every id in the standard order of terms."""
        if self._ranked != self.arrived:
            order = sorted(range(len(self.texts)), key=lambda i: standard_order(self.texts[i]))
            self._ranks = np.empty(len(order), np.int64)
            self._ranks[order] = np.arange(len(order))
            self._ranked = self.arrived
        return self._ranks


def numbers(values: npt.NDArray[np.float64]) -> Ints:
    """Codes of numbers; minus zero is zero."""
    return (np.ascontiguousarray(values, np.float64) + 0.0).view(np.int64)


def number(value: float) -> int:
    """Code of one number."""
    return int(numbers(np.array([value]))[0])


def as_floats(codes: Ints) -> npt.NDArray[np.float64]:
    """The numbers behind codes."""
    return np.ascontiguousarray(codes).view(np.float64)
