"""Rows by name: one group for each distinct name of a column, in the order of first sight."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from thalweg.protocol import Ints


class Group(NamedTuple):
    """A name and the rows that have it, in order; no name where the column has none."""

    name: str
    where: Ints


def by_code(names: pa.DictionaryArray) -> Iterator[Group]:
    """The groups of a dictionary-encoded column; rows without a name form one group with an empty name."""
    codes = names.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    words = names.dictionary.to_pylist()
    if len(words) == 1 and names.null_count == 0:
        yield Group(words[0] or "", np.arange(len(codes)))
        return
    narrow = codes.astype(np.int16) if len(words) < 2**15 else codes
    order = np.argsort(narrow, kind="stable")
    bounds = np.searchsorted(narrow[order], np.arange(-1, len(words) + 1))
    for code, (start, stop) in enumerate(pairwise(bounds), start=-1):
        if stop > start:
            yield Group((words[code] or "") if code >= 0 else "", order[start:stop])
