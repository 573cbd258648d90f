"""Intervals of instances as rows of a table, all columns in one pass."""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import kernel
from thalweg.columns.texts import Bytes, Indices
from thalweg.columns.timelines import OPEN
from thalweg.protocol import Ints


@kernel
def tabulate(
    ids: Ints,
    starts: Ints,
    ends: Ints,
    values: Ints,
    keys: Ints,
    column: int,
    base: int,
    at: int,
    instances: Indices,
    symbols: Indices,
    firsts: Ints,
    lasts: Ints,
    there: Bytes,
) -> None:
    """Rows from `at` on: the number of the instance counted from `base`, the value (which is in a column of the keys,
    if one is given, and is left out if it is no symbol), start and end. Of the ends that are none the bits in `there`,
    which are all set, are taken away."""
    if column >= 0:
        for k in range(len(ids)):
            symbols[at + k] = keys[ids[k], column]
    else:
        for k in range(len(values)):
            symbols[at + k] = values[k]
    for k in range(len(ids)):
        instances[at + k], firsts[at + k], lasts[at + k] = base + ids[k], starts[k], ends[k]
        if ends[k] == OPEN:
            there[(at + k) >> 3] &= np.uint8(255 - (1 << ((at + k) & 7)))
