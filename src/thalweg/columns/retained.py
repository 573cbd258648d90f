"""Input that was used and is kept, because a changed program may look at it again: blocks of rows by what they are
about, until there are so many that it pays to drop those that matter no more."""

from __future__ import annotations

from collections.abc import Hashable, Sized
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
R = TypeVar("R", bound=Sized)

_ROOM = 4096
"""So many rows are not worth looking through."""


class Retained(Generic[K, R]):
    """Blocks of rows by key. `begin`: the time from which on everything has been kept, but for keys for which `since`
    tells a later one."""

    def __init__(self, begin: int) -> None:
        self.begin = begin
        self.since: dict[K, int] = {}
        self.rows: dict[K, list[R]] = {}
        self._size, self._room = 0, _ROOM

    def complete_from(self, key: K) -> int:
        """The time from which on all rows of a key are here."""
        return self.since.get(key, self.begin)

    def add(self, key: K, rows: R) -> None:
        """Rows that were used."""
        self.rows.setdefault(key, []).append(rows)
        self._size += len(rows)

    @property
    def crowded(self) -> bool:
        """Is it time to look for rows that matter no more?"""
        return self._size > self._room

    def replace(self, kept: dict[K, R]) -> None:
        """Go on with the rows that still matter."""
        self.rows, self._size = {}, 0
        for key, rows in kept.items():
            if len(rows):
                self.add(key, rows)
        self._room = max(_ROOM, 2 * self._size)
