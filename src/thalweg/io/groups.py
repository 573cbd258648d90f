"""Rows by name: one group for each known name of a column, in the order of first sight."""

from __future__ import annotations

from collections.abc import Container
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from thalweg.columns.wording import word_numbers
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
    words = names.dictionary.to_pylist()
    codes = word_numbers(names, len(words))
    kept = [code for code, word in enumerate(words) if word is not None and word in known]
    if len(words) == 1 and kept and names.null_count == 0:
        return [Group(words[0], np.arange(len(codes)) if among is None else among)], np.empty(0, np.int64)
    few = np.uint8 if len(kept) < 256 else np.uint16  # a sort of bytes passes over them once
    rank = np.full(len(words) + 1, len(kept), few)
    rank[kept] = np.arange(len(kept))
    ranks = rank[codes if among is None else codes[among]]
    order = np.argsort(ranks, kind="stable")
    bounds = np.searchsorted(ranks[order], np.arange(len(kept) + 1))
    order = order if among is None else among[order]
    groups = [Group(words[c], order[a:b]) for c, (a, b) in zip(kept, pairwise(bounds), strict=True) if b > a]
    return groups, order[bounds[-1] :]
