"""The `changes` of a call, written into a page: columns that Arrow knows before they are filled.

A tick changes few atoms, and then making Arrow's objects would cost more than finding the changes. So the objects are
made once for a page of rows, and a call gets a slice of it: rows that nobody has seen are filled in, those that were
given away stay as they are. A call with more rows than are left on the page gets a new one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.columns.compiled import njit
from thalweg.lars.ends import Bools
from thalweg.lars.labels import FOREVER
from thalweg.lars.tables import CHANGES, OPS, Found, Kinds
from thalweg.lars.texts import FRACTION, Texts
from thalweg.protocol import Ints

_ROWS, _LETTERS = 8192, 256 * 1024
_ALL = np.empty(0, np.bool_)
_QUERY, _AT, _FROM, _TO, _UNTIL = range(5)
_HAS_POINT, _HAS_END, _HAS_UNTIL, _EXACT = range(4)
_NO_CHANGES = CHANGES.empty_table()


class Page:
    """Columns of `changes` with room for so many rows and letters; the first `used` and `filled` of them are taken.

    Two rows in front are for nobody: the first has no nulls and the second has nulls only. Arrow may count the nulls of
    a column at any time, and takes a column that has none, or nothing else, to be so in every slice.
    """

    def __init__(self, rows: int, letters: int) -> None:
        rows += 2
        self.room = rows
        self.used, self.filled = 2, 0
        self.ticks = np.empty((5, rows), np.int64)
        self.bits = np.zeros((4, rows // 8 + 1), np.uint8)
        self.bits[:, 0] = 1
        self.ops = np.zeros(rows, np.int8)
        self.offsets = np.zeros(rows + 1, np.int32)
        self.letters = np.empty(letters, np.uint8)
        query, at, start, end, until = (pa.py_buffer(column) for column in self.ticks)
        pointed, ended, lasting, exact = (pa.py_buffer(bits) for bits in self.bits)
        text = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.letters)]
        tick, op, boolean = pa.int64(), CHANGES.field("op").type, pa.bool_()
        columns = [
            pa.Array.from_buffers(tick, rows, [None, query]),
            pa.DictionaryArray.from_buffers(op, rows, [None, pa.py_buffer(self.ops)], OPS),
            pa.Array.from_buffers(pa.string(), rows, text),
            pa.Array.from_buffers(tick, rows, [pointed, at]),
            pa.Array.from_buffers(tick, rows, [None, start]),
            pa.Array.from_buffers(tick, rows, [ended, end]),
            pa.Array.from_buffers(tick, rows, [lasting, until]),
            pa.Array.from_buffers(boolean, rows, [None, exact]),
        ]
        self.table = pa.Table.from_arrays(columns, schema=CHANGES)


class Pages:
    """Writes the `changes` of one call after the other; without `known_ends`, `until` is null."""

    def __init__(self, texts: Texts, *, known_ends: bool) -> None:
        self._texts = texts
        self._known_ends = known_ends
        self._page = Page(_ROWS, _LETTERS)

    def changes(self, found: list[Found], kinds: Kinds) -> pa.Table:
        """The changes, in order of query times."""
        if not found:
            return _NO_CHANGES
        count = sum([len(f.rows) for f in found])
        parts = [(f.output.predicate[0], kinds[f.output.predicate], f.keys) for f in found]
        page = self._page
        if page.used + count > page.room:
            page = self._page = Page(max(_ROWS, count), _LETTERS)
        end = self._texts.write(parts, page.letters, page.filled, page.offsets, page.used)
        while end < FRACTION:
            page = self._page = Page(max(_ROWS, count), max(_LETTERS, FRACTION - end))
            end = self._texts.write(parts, page.letters, page.filled, page.offsets, page.used)
        first = at = page.used
        in_order = True
        for f in found:
            exact = _ALL if f.exact is None else f.exact
            in_order &= _fill(
                f.rows, f.keys, exact, f.output.pointed, self._known_ends, first, at, page.ticks, page.ops, page.bits
            )
            at += len(f.rows)
        page.used, page.filled = at, max(end, page.filled)
        table = page.table.slice(first, count)
        if end == FRACTION:
            table = table.set_column(2, CHANGES.field("atom"), self._texts.column(parts))
        return table if in_order else table.take(pa.array(np.argsort(page.ticks[_QUERY, first:at], kind="stable")))


@njit(cache=True)
def _fill(
    rows: Ints, keys: Ints, exact: Bools, pointed: bool, known_ends: bool, first: int, at: int, ticks: Ints,
    ops: npt.NDArray[np.int8], bits: npt.NDArray[np.uint8],
) -> bool:  # fmt: skip
    """Write rows (tuple, op, query time, from, to, until) of one output at a place; `exact` may be empty: all are.
    Are the query times from `first` on in order?"""
    in_order = True
    last = keys.shape[1] - 1
    for k in range(len(rows)):
        p = at + k
        bit = np.uint8(1 << (p & 7))
        in_order = in_order and (p == first or ticks[_QUERY, p - 1] <= rows[k, 2])
        ops[p] = 0 if rows[k, 1] > 0 else 1
        ticks[_QUERY, p] = rows[k, 2]
        ticks[_FROM, p] = rows[k, 3]
        ticks[_TO, p] = rows[k, 4]
        ticks[_UNTIL, p] = rows[k, 5]
        if rows[k, 4] < FOREVER:
            bits[_HAS_END, p >> 3] |= bit
        if pointed:
            ticks[_AT, p] = int(np.int64(keys[k, last]).view(np.float64))
            bits[_HAS_POINT, p >> 3] |= bit
        if known_ends:
            if rows[k, 5] < FOREVER:
                bits[_HAS_UNTIL, p >> 3] |= bit
            if len(exact) == 0 or exact[k]:
                bits[_EXACT, p >> 3] |= bit
    return in_order
