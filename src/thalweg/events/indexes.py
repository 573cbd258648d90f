"""The events of a relation by some of their arguments.

In windows that do not overlap most events that rules may look up are never asked for. So they wait as the columns that
came in, and are put into lists only when more is asked than a few questions: few are answered from the columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.columns.compiled import kernel, owned
from thalweg.columns.keys import KeyTable, extent, longest_run
from thalweg.columns.ragged import Ragged, Version
from thalweg.events.moves import Block, Moves
from thalweg.protocol import Ints


@kernel
def _not_among(
    times: Ints, columns: tuple[Ints, ...], asked: Ints, keys: tuple[Ints, ...], out: Ints
) -> int:
    """The k for which no row, in the order of time, has the keys[..][k] at asked[k]; returns how many. Binary search
    for each, and linear in the rows of that time."""
    n = 0
    for k in range(len(asked)):
        lo, hi = 0, len(times)
        while lo < hi:
            mid = (lo + hi) >> 1
            if times[mid] < asked[k]:
                lo = mid + 1
            else:
                hi = mid
        there = False
        while lo < len(times) and times[lo] == asked[k] and not there:
            there = True
            for c in range(len(columns)):
                there &= columns[c][lo] == keys[c][k]
            lo += 1
        out[n] = k
        n += int(not there)
    return n


class EventIndex:
    """The events of one relation by some of their arguments, each list in time order."""

    def __init__(self, positions: tuple[int, ...], arity: int) -> None:
        self.positions = positions
        self.probed = False
        """Do rules look events up here, or is it only asked which old rows a change touches?"""
        self._keys = KeyTable(len(positions))
        self._lists = Ragged(arity + 2)
        self._waiting: tuple[Sequence[Ints], int] | None = None
        """Columns of rows that are not in the lists yet, and from which of them on later queries will ask."""
        self._together = 0
        """How many of these at most have the same time."""

    @property
    def keys(self) -> KeyTable:
        """The arguments, numbered as the lists are."""
        self._put_in()
        return self._keys

    @keys.setter
    def keys(self, keys: KeyTable) -> None:
        self._keys = keys

    @property
    def lists(self) -> Ragged:
        """The rows (time, arguments, count)."""
        self._put_in()
        return self._lists

    @lists.setter
    def lists(self, lists: Ragged) -> None:
        self._lists = lists

    def ids(self, rows: Ints) -> Ints:
        """List ids of rows (time, arguments), known or new."""
        found = self.keys.intern([rows[:, 1 + p] for p in self.positions], len(rows))
        self.lists.ensure(self.keys.count)
        return found

    def merge(self, rows: Ints, counts: Ints, causes: Ints | None = None, *, assign: bool = False) -> Moves:
        """Add counted rows; returns the rows that ceased and that began to be there."""
        gone, came = self.lists.merge_caused(
            self.ids(rows), np.column_stack([rows, counts]), causes, assign=assign
        )
        return Moves(rows.shape[1], gone[0][:, :-1], came[0][:, :-1], gone[1], came[1])

    def arrive(self, columns: Sequence[Ints], later: int) -> None:
        """Take rows in the order of time that are all different and later than any that is there; after this query only
        those from `later` on will be asked for."""
        self._put_in()
        if self.probed:
            self._waiting, self._together = (columns, later), longest_run(columns[0])
        else:
            self._append([column[later:] for column in columns])

    def absent(self, keys: Sequence[Ints], times: Ints, version: Version) -> Ints:
        """The k for which no row has the keys at times[k]."""
        if self._waiting is None or version is not Version.NOW or not self.positions:
            return self._not_in_lists(keys, times, version)
        columns = self._waiting[0]
        if not len(times) or len(times) * self._together > 8 * len(columns[0]):
            return self._not_in_lists(keys, times, version)
        out = np.empty(len(times), np.int64)
        mine = tuple([owned(columns[1 + p]) for p in self.positions])
        theirs = tuple([owned(key) for key in keys])
        found = out[: _not_among(columns[0], mine, times, theirs, out)]
        if len(found) and self._lists.latest >= extent(times)[0]:
            ids = self._keys.find([key[found] for key in keys], len(found))
            found = found[self._lists.absent(ids, times[found], version)]
        return found

    def _not_in_lists(self, keys: Sequence[Ints], times: Ints, version: Version) -> Ints:
        return self.lists.absent(self.keys.find(keys, len(times)), times, version)

    def _append(self, columns: Sequence[Ints]) -> None:
        n = len(columns[0])
        if n:
            ids = self._keys.intern([columns[1 + p] for p in self.positions], n)
            self._lists.ensure(self._keys.count)
            self._lists.append(ids, Block.of_columns([*columns, np.broadcast_to(np.int64(1), n)]).matrix)

    def _put_in(self) -> None:
        """Put the rows that wait into the lists."""
        if self._waiting is not None:
            columns, self._waiting = self._waiting[0], None
            self._append(columns)

    def expire(self, expiry: int) -> None:
        """Nobody will ask for events up to the expiry."""
        self._lists.expire(expiry)

    def commit(self) -> None:
        """End of a query that brought events."""
        if self._waiting is not None:
            (columns, later), self._waiting = self._waiting, None
            self._append([column[later:] for column in columns])
        self._lists.commit()
