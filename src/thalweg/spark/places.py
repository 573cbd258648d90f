"""Where a row stands: row numbers of the reasoners, told as places in sources.

The number of a row is that of its source, shifted, plus its place there. A single source has the number 0, so that a
row's number is its place. Reasoners get twice the number. When a row that several shards read is rejected, one of them
tells of it; for the others it is a copy, and its number is odd.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.times import as_mask
from thalweg.protocol import Ints, Mask, Rows

SHIFT = 39
"""Bits for the place in a source; what is above them is the source, where there are several."""
LARGEST = 2**62 - 1
"""The largest number of a row."""


def offset_of(source: int) -> int:
    """What to add to the places of a source."""
    return source << SHIFT


def numbered(rows: Rows) -> Rows:
    """The rows under the numbers that reasoners get."""
    return replace(rows, row=2 * rows.row)


def marked(rows: Rows, copies: Mask | bool) -> Rows:
    """The rows, of which these are copies."""
    return replace(rows, row=rows.row + copies)


def originals(rows: Ints) -> Mask:
    """Which rows, by their numbers, are no copies."""
    found: Mask = rows & 1 == 0
    return found


@dataclass(frozen=True, slots=True)
class Sources:
    """The names of the sources, by number. Of many the first ones may be forgotten: `forgotten` says how many.
    `offset` is added to the row numbers of a batch."""

    labels: tuple[str, ...]
    forgotten: int = 0
    several: bool = False
    offset: int = 0

    def locate(self, rows: Ints) -> tuple[pa.Array, pa.Array]:
        """The sources of rows, by the numbers that reasoners have, and the places there."""
        rows = rows >> 1
        if not self.several:
            return pa.repeat(pa.scalar(self.labels[0], pa.string()), len(rows)), pa.array(rows)
        which = (rows >> SHIFT) - self.forgotten
        names = pa.array(["?", *self.labels], pa.string())
        return names.take(pa.array(np.maximum(which + 1, 0))), pa.array(rows & (2**SHIFT - 1))

    def with_causes(self, table: pa.Table) -> pa.Table:
        """The table with its causes, ``row 812``, as places in the sources, ``events.csv:812``."""
        if "cause" not in table.column_names or not table.num_rows:
            return table
        column = table.column("cause")
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        pieces = [pa.DictionaryArray.from_arrays(p.indices, self._told(p.dictionary)) for p in column.chunks]
        return table.set_column(table.column_names.index("cause"), "cause", pa.chunked_array(pieces))

    def _told(self, causes: pa.Array) -> pa.Array:
        rows = as_mask(pc.starts_with(causes, "row ").fill_null(False))
        if not rows.any():
            return causes
        numbers = pc.utf8_slice_codeunits(causes.filter(pa.array(rows)), 4).cast(pa.int64()).to_numpy()
        source, place = self.locate(numbers)
        told = pc.binary_join_element_wise(source, place.cast(pa.string()), ":")
        return pc.replace_with_mask(causes, pa.array(rows), told)
