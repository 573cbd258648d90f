"""Rows with a star in a column: they speak about every constant that has no row of its own next to them.

A row with a star is never multiplied over a domain. Constants that are excluded are its exceptions; which constants
the rows of another query mention says which may have to become exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thalweg.answers.blocks import Block
from thalweg.answers.codec import STAR, Bools
from thalweg.answers.kernels import index, pairs
from thalweg.answers.shapes import Negative, Shape, Slot
from thalweg.columns.keys import matrix
from thalweg.protocol import Ints


def shape_position(shape: Shape, column: int) -> int:
    """Where an open column stands among the open columns."""
    return sorted(shape.open).index(column)


def starred_rows(shape: Shape, block: Block) -> Bools:
    """Rows that speak about every constant without a row of its own."""
    column = block.columns[min(shape.open)] if shape.open else None
    return np.zeros(block.length, np.bool_) if column is None else np.asarray(column == STAR)


def open_places(shape: Shape) -> list[int]:
    """The open columns, in the order of the head."""
    return list(dict.fromkeys(slot.column for slot in shape.head if slot.column in shape.open))


def exceptions(shape: Shape, block: Block, rows: Block) -> list[frozenset[tuple[int, ...]]]:
    """For each of some rows of a block the constants that it does not speak about, for the open places of the head:
    those that have a row of their own next to it, with the same values elsewhere."""
    fixed = [i for i, c in enumerate(block.columns) if c is not None and i not in shape.open]
    own = block.take(~starred_rows(shape, block))
    found: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for at, named in zip(_tuples(own, fixed), _tuples(own, open_places(shape)), strict=True):
        found.setdefault(at, set()).add(named)
    return [frozenset(found.get(at, ())) for at in _tuples(rows, fixed)]


def _tuples(block: Block, columns: list[int]) -> list[tuple[int, ...]]:
    known = [c.tolist() for c in (block.columns[i] for i in columns) if c is not None]
    return list(zip(*known, strict=True)) if known else [()] * block.length


def slot_column(block: Block, slot: Slot, rows: Ints) -> Ints:
    if slot.column < 0:
        return np.full(len(rows), slot.code, np.int64)
    column = block.columns[slot.column]
    return np.full(len(rows), STAR, np.int64) if column is None else column[rows]


def mentions(
    shape: Shape, block: Block, stars: Ints, negative: Negative, other_shape: Shape, other: Block
) -> Iterator[tuple[Ints, Ints]]:
    """Star rows joined with the rows of one deciding block, on what both have bound. A place that the deciding row
    leaves open agrees with anything; a constant it names must fix all open columns to be an exception."""
    starred = starred_rows(other_shape, other)
    for rows, loose in (
        (np.flatnonzero(~starred), frozenset[int]()),
        (np.flatnonzero(starred), other_shape.open),
    ):
        if len(rows):
            found = _mentions_by(shape, block, stars, negative, other_shape, other, rows, loose)
            if found is not None:
                yield found


def is_fixed(other: Block, head: Slot, loose: frozenset[int]) -> bool:
    """True when a deciding row says which constant stands at a place of its head."""
    return head.column < 0 or (head.column not in loose and other.columns[head.column] is not None)


def tied_places(
    shape: Shape, block: Block, negative: Negative, other_shape: Shape, other: Block, loose: frozenset[int]
) -> Iterator[tuple[Slot, Slot]]:
    """Open places of the key that a deciding row ties to other places of it: its head has one variable, not fixed yet,
    at both."""
    places: dict[int, list[Slot]] = {}
    for slot, head in zip(negative.key, other_shape.head, strict=True):
        if not is_fixed(other, head, loose):
            places.setdefault(head.column, []).append(slot)
    for slots in places.values():
        known = [
            s
            for s in slots
            if s.column < 0 or (s.column not in shape.open and block.columns[s.column] is not None)
        ]
        for slot in slots:
            if known and slot.column in shape.open:
                yield slot, known[0]


def _mentions_by(
    shape: Shape,
    block: Block,
    stars: Ints,
    negative: Negative,
    other_shape: Shape,
    other: Block,
    rows: Ints,
    loose: frozenset[int],
) -> tuple[Ints, Ints] | None:
    said: dict[int, list[Ints]] = {}
    shared: list[tuple[Ints, Ints]] = []
    keep = np.ones(len(rows), np.bool_)
    for slot, head in zip(negative.key, other_shape.head, strict=True):
        if not is_fixed(other, head, loose):
            continue
        value = slot_column(other, head, rows)
        if slot.column in shape.open:
            said.setdefault(slot.column, []).append(value)
        elif slot.column < 0:
            keep &= value == slot.code
        elif (column := block.columns[slot.column]) is not None:
            shared.append((value, column[stars]))
    tied: dict[int, list[Ints]] = {}
    for slot, known in tied_places(shape, block, negative, other_shape, other, loose):
        tied.setdefault(slot.column, []).append(slot_column(block, known, stars))
    if said.keys() | tied.keys() != shape.open:
        return None
    chosen = np.flatnonzero(keep)
    if shared:
        built = index(matrix([s for _, s in shared], len(stars)))
        right, left = pairs(built, matrix([v[chosen] for v, _ in shared], len(chosen)))
    else:
        left = np.repeat(np.arange(len(stars)), len(chosen))
        right = np.tile(np.arange(len(chosen)), len(stars))
    named, agree = [], np.ones(len(left), np.bool_)
    for place in sorted(shape.open):
        values = [v[chosen][right] for v in said.get(place, ())] + [v[left] for v in tied.get(place, ())]
        named.append(values[0])
        for value in values[1:]:
            agree &= value == values[0]
    return stars[left[agree]], matrix([v[agree] for v in named], int(agree.sum()))
