"""Rows with a star in a column: they speak about every constant that has no row of its own next to them.

A row with a star is never multiplied over a domain. Constants that are excluded are its exceptions; which constants
the rows of another query mention says which may have to become exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thalweg.answers.blocks import Block
from thalweg.answers.codec import STAR, Bools
from thalweg.answers.kernels import first, index, pairs
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


def head_keys(shape: Shape, rows: Block) -> Ints:
    """The substitution of every row; a star where it says nothing."""
    columns = []
    for slot in shape.head:
        column = rows.columns[slot.column] if slot.column >= 0 else np.full(rows.length, slot.code, np.int64)
        columns.append(np.full(rows.length, STAR, np.int64) if column is None else column)
    return matrix(columns, rows.length) if columns else np.empty((rows.length, 0), np.int64)


def spoken_for(shape: Shape, rows: Block, other: Shape, others: Block, block: Block) -> Bools:
    """Rows of one shape about somebody of whom a row with a star, of another shape, speaks too: in its head stands the
    same but for what it leaves open, and there nobody whom it excepts. `block` is what the others are from. Who is not
    known yet may be anybody: then nobody may be excepted."""
    places = [k for k, slot in enumerate(other.head) if slot.column in other.open]
    stars = starred_rows(other, others)
    if not stars.any() or other.open != set(open_places(other)):
        return np.zeros(rows.length, np.bool_)
    fixed = [k for k in range(len(other.head)) if k not in places]
    mine, theirs = head_keys(shape, rows), head_keys(other, others)[stars]
    excepted = head_keys(other, block.take(~starred_rows(other, block)))
    unknown = (mine[:, places] == STAR).any(axis=1)
    meant = np.where(unknown, not len(excepted), ~among(mine, excepted))
    return meant & among(mine[:, fixed], theirs[:, fixed]) & _alike(shape, mine, other, places)


def _alike(shape: Shape, keys: Ints, other: Shape, places: list[int]) -> Bools:
    """Rows in whose head the same stands wherever the other head has the same open variable."""
    found = np.ones(len(keys), np.bool_)
    before: dict[int, int] = {}
    for k in places:
        at = before.setdefault(other.head[k].column, k)
        found &= keys[:, k] == keys[:, at]
        if shape.head[k].column != shape.head[at].column:
            found &= keys[:, k] != STAR
    return found


def among(keys: Ints, known: Ints) -> Bools:
    """Which of the keys are among the known ones."""
    if not keys.shape[1]:
        return np.full(len(keys), len(known) > 0)
    return np.asarray(first(index(np.ascontiguousarray(known)), np.ascontiguousarray(keys)) >= 0)


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
