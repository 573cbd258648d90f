"""Rows that wait for their query time, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from thalweg.columns.compiled import owned
from thalweg.columns.keys import ascends
from thalweg.protocol import OPEN_END, Ints, Mask

ARRIVAL, OP, ROW, COUNTS, FACT = range(5)
"""Columns of a coded row: when it arrives, what it does, its number, from when on it counts, and then the fact."""

MANY = 64
"""Parts of a queue beyond which they are put together."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Coded rows of one relation. Columns: as above, the fact being time, arguments; for fluents start, end, arguments,
    value. `plain` rows are insertions that count from their own time on."""

    columns: tuple[Ints, ...]
    plain: bool

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, position: int) -> Ints:
        return self.columns[position]

    @property
    def fact(self) -> tuple[Ints, ...]:
        return self.columns[FACT:]

    @property
    def derived(self) -> Mask:
        """Which rows another stage has computed: they count a tick before they show."""
        return self[COUNTS] < self[FACT]

    def take(self, which: slice | Ints | Mask) -> Coded:
        return Coded(tuple([column[which] for column in self.columns]), self.plain)

    def matrix(self) -> Ints:
        """The columns as one array, for snapshots."""
        return np.stack(self.columns).astype(np.int64, copy=False)

    @classmethod
    def of_matrix(cls, columns: Ints) -> Coded:
        plain = bool((columns[OP] > 0).all() and (columns[COUNTS] == columns[FACT]).all())
        return cls(tuple(columns), plain)


def joined(parts: Sequence[Coded]) -> Coded:
    """Rows one part after the other."""
    if len(parts) == 1:
        return parts[0]
    columns = tuple(np.concatenate(column) for column in zip(*(p.columns for p in parts), strict=True))
    return Coded(columns, all(p.plain for p in parts))


def by_arrival(rows: Coded) -> Coded:
    """Rows in the order of arrival, those that arrive together as they are."""
    if ascends(owned(rows[ARRIVAL])):
        return rows
    return rows.take(np.argsort(rows[ARRIVAL], kind="stable"))


@dataclass(slots=True)
class Waiting:
    """Rows of one relation that have not had their query time: not arrived, or (`early`) arrived before their own time.
    Each part is in the order of arrival."""

    parts: list[Coded] = field(default_factory=list)
    early: Coded | None = None

    def add(self, rows: Coded) -> None:
        self.parts.append(by_arrival(rows))
        if len(self.parts) > MANY:
            self.parts = [by_arrival(joined(self.parts))]

    def next_arrival(self) -> int:
        """The first arrival of all that wait; `OPEN_END`: nothing does."""
        early = [] if self.early is None else [self.early]
        return min((int(part[ARRIVAL][0]) for part in (*self.parts, *early)), default=OPEN_END)

    def take(self, query: int) -> Coded | None:
        """Rows that have arrived by the query time, and those that came early."""
        if self.next_arrival() > query:
            return None
        early, rest = self.early, []
        found = [] if early is None else [early]
        for part in self.parts:
            at = int(part[ARRIVAL].searchsorted(query, side="right"))
            if at:
                found.append(part.take(slice(0, at)))
            if at < len(part):
                rest.append(part.take(slice(at, None)) if at else part)
        self.parts, self.early = rest, None
        if early is None and len(found) < 2:
            return found[0] if found else None
        return by_arrival(joined(found))
