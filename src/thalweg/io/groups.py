"""Rows by name: one group for each known name of a column, in the order of first sight."""

from __future__ import annotations

from collections.abc import Container
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from thalweg.columns.wording import divided, word_numbers
from thalweg.io.decoding import readable
from thalweg.protocol import Ints


class Group(NamedTuple):
    """A name and the rows that have it, in order."""

    name: str
    where: Ints


def by_name(
    names: pa.DictionaryArray, known: Container[str], among: Ints | None = None
) -> tuple[list[Group], Ints]:
    """The groups of the known names of a dictionary-encoded column, and the rows of all others or of none. `among`: the
    rows to look at, in order, where they are not all."""
    words = readable(names.dictionary).to_pylist()
    codes = word_numbers(names, len(words))
    kept = [code for code, word in enumerate(words) if word is not None and word in known]
    if len(words) == 1 and kept and names.null_count == 0:
        return [Group(words[0], np.arange(len(codes)) if among is None else among)], np.empty(0, np.int64)
    group = np.full(len(words) + 1, len(kept), np.int32)
    group[kept] = np.arange(len(kept))
    order, bounds = divided(codes, group, len(kept) + 1, among)
    *known_ones, (first, _) = pairwise(bounds)
    groups = [Group(words[c], order[a:b]) for c, (a, b) in zip(kept, known_ones, strict=True) if b > a]
    return groups, order[first:]
