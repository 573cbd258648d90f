"""How the open answers stood after an advance, for a table that may be read later or never.

Nothing is copied when the clock moves on. Whoever changes a cell first leaves what it was with the tables that are
still waiting to be read, so that answers which nothing touches cost nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from thalweg.answers.blocks import Block

Blocks = Mapping[tuple[int, ...], Block]
"""The blocks of a cell by shape and mask."""
Present = Callable[[], Iterator[tuple[int, int, Blocks]]]
"""The cells as they are now: query, time and blocks."""


@dataclass(slots=True, weakref_slot=True)
class Standing:
    """The cells as they were; `earlier` are those that have changed since (None: there was none)."""

    present: Present
    earlier: dict[tuple[int, int], Blocks | None] = field(default_factory=dict)

    def cells(self) -> Iterator[tuple[int, int, Blocks]]:
        """Query, time and blocks of every cell."""
        for query, time, blocks in self.present():
            if (query, time) not in self.earlier:
                yield query, time, blocks
        for (query, time), before in self.earlier.items():
            if before is not None:
                yield query, time, before


class Waiting:
    """The tables that may still be read."""

    def __init__(self) -> None:
        self._refs: list[weakref.ref[Standing]] = []

    def add(self, standing: Standing) -> None:
        self._refs = [ref for ref in self._refs if ref() is not None]
        self._refs.append(weakref.ref(standing))

    def leave(self, query: int, time: int, blocks: Blocks | None) -> None:
        """Before a cell changes: what it is, for those who do not have it yet."""
        for ref in self._refs:
            standing = ref()
            if standing is not None and (query, time) not in standing.earlier:
                standing.earlier[query, time] = None if blocks is None else dict(blocks)
