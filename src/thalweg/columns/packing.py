"""Kernels that pack a pool: what has expired goes, and lists get as much room as they will need."""

from __future__ import annotations

from thalweg.columns.compiled import kernel, part
from thalweg.columns.inserting import expired_rows, slab
from thalweg.columns.slabs import LENGTH, OFFSET, PAST, ROOM, Places, drop_front, first_from, move, present
from thalweg.protocol import Ints


@part
def _first_live(pool: Ints, start: int, end: int, clock: int, expiry: int, ordered: bool) -> int:
    """The first row of a list that is not expired."""
    if ordered:
        return first_from(pool, clock, start, end, expiry + 1)
    return start + expired_rows(pool, start, end - start, clock, expiry)


@part
def _spacious(length: int, i: int, slides: bool) -> int:
    """Room for a list in a fresh pool: for lists that go on where they stand, as much as they would take elsewhere."""
    return slab(length, i) if slides and length else length + (length >> 2)


@kernel
def live_rows(table: Places, pool: Ints, count: int, clock: int, expiry: int, ordered: bool, slides: bool) -> int:
    """Drop the expired rows at the beginning of all lists; returns how much room is needed for what is left. Linear in
    the lists, where rows are `ordered` by their clock."""
    total = 0
    for i in range(count):
        start, end = present(table, i)
        drop_front(table, i, _first_live(pool, start, end, clock, expiry, ordered) - start)
        total += _spacious(int(table[i, LENGTH]), i, slides)
    return total


@kernel
def pack(table: Places, pool: Ints, count: int, target: Ints, slides: bool) -> int:
    """Copy all lists to a fresh pool."""
    used = 0
    for i in range(count):
        start, length = int(table[i, OFFSET]), int(table[i, LENGTH])
        move(target, used, pool, start, length)
        room = _spacious(length, i, slides)
        table[i, OFFSET], table[i, LENGTH], table[i, ROOM], table[i, PAST] = used, length, room, 0
        used += room
    return used
