"""The bindings of a rule that instances of a fluent take part in, and those of its heads."""

from __future__ import annotations

import numpy as np

from thalweg.columns.cells import GrowingRows
from thalweg.columns.gathering import runs
from thalweg.protocol import Ints


class Known:
    """The bindings of instances, found once for each, as long as other fluents have no more instances."""

    def __init__(self) -> None:
        self._places = np.empty(0, np.int64)
        self._sizes = np.empty(0, np.int64)
        self._bindings = GrowingRows(1)
        self._since = 0
        """What was found is valid from here on."""
        self._others = 0

    def renew(self, others: int) -> None:
        """Forget what was found when the other fluents had another number of instances."""
        if others == self._others:
            return
        if self._bindings.count > 2 * len(self._places):
            self._places[:] = -1
            self._bindings.count = 0
        self._others = others
        self._since = 1 + self._bindings.append(np.zeros((1, 1), np.int64))  # also after instances without bindings

    def unknown(self, ids: Ints, count: int) -> Ints:
        """Those of the instances, all below `count`, whose bindings have not been found."""
        if count > len(self._places):
            places, sizes = np.full(2 * count, -1), np.zeros(2 * count, np.int64)
            places[: len(self._places)], sizes[: len(self._sizes)] = self._places, self._sizes
            self._places, self._sizes = places, sizes
        return ids[self._places[ids] < self._since]

    def add(self, ids: Ints, sizes: Ints, bindings: Ints) -> None:
        """The bindings of instances one after the other, so many of each."""
        start = self._bindings.append(bindings.reshape(-1, 1))
        self._places[ids] = start + np.cumsum(sizes) - sizes
        self._sizes[ids] = sizes

    def of(self, ids: Ints) -> tuple[Ints | None, Ints]:
        """All bindings of the instances, and which of these has each (None: each has one)."""
        sizes = self._sizes[ids]
        if len(sizes) and sizes.min() == sizes.max() == 1:
            return None, self._bindings.rows[:, 0][self._places[ids]]
        which, at = runs(self._places[ids], sizes)
        return which, self._bindings.rows[:, 0][at]


class Owners:
    """The binding of each head of a rule, as long as no head has two."""

    def __init__(self) -> None:
        self._bindings = np.empty(0, np.int64)
        self._seen = 0
        self._single = True

    def of(self, heads: Ints, head_of: Ints) -> Ints | None:
        """The binding of each head, -1 where there is none, or None; `head_of` has the head of every binding."""
        if self._single and self._seen < len(head_of):
            self._take(head_of)
        if not self._single:
            return None
        known = heads < len(self._bindings)
        return np.where(known, self._bindings[np.where(known, heads, 0)], -1)

    def _take(self, head_of: Ints) -> None:
        """Take in bindings that are new since the last time."""
        new, mine = np.arange(self._seen, len(head_of)), head_of[self._seen :]
        most = int(mine.max()) + 1
        if most > len(self._bindings):
            self._bindings = np.concatenate([self._bindings, np.full(most, -1)])
        free = bool((self._bindings[mine] < 0).all())
        self._bindings[mine] = new
        self._single = free and bool((self._bindings[mine] == new).all())
        self._seen = len(head_of)
