"""Deciding negated premises: is the atom certain, still open, or impossible?

An atom is certain when a row for it has all its premises, impossible when no row for it is left, open otherwise. A
negated premise kills its row when the atom is certain and is discharged when the atom is impossible.

Of rows with a star (`stars`), constants about which the deciding query says something else get a row of their own.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from thalweg.answers.blocks import CERTAIN, DEAD, IMPOSSIBLE, OPEN, Block, advance, concatenated, start_block
from thalweg.answers.codec import STAR
from thalweg.answers.kernels import Index, Statuses, best, distinct, first, index, pairs
from thalweg.answers.shapes import Negative, Shape
from thalweg.answers.stars import is_fixed, mentions, shape_position, slot_column, starred_rows, tied_places
from thalweg.columns.keys import matrix
from thalweg.protocol import Ints

if TYPE_CHECKING:
    from thalweg.answers.engine import Engine

Keys = list[Ints]
"""One column per variable of the query asked; STAR asks about a constant never heard of."""


class Decisions:
    """Reads the cells of an engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.starts = {s: start_block(s) for shapes in engine.shapes for s in shapes}
        self.deferring = [any(s.positives and s.negatives for s in shapes) for shapes in engine.shapes]

    # -- status of atoms

    def status(self, query: int, time: int, keys: Keys, length: int) -> Statuses:
        """What is known about the query's atoms at a time, for a column of keys."""
        out = np.zeros(length, np.int8)
        cell = self.engine.cells[query].get(time)
        for shape in self.engine.shapes[query]:
            if not self.engine.exists(shape, time):
                continue
            if cell is not None:
                for (number, mask), block in cell.blocks.items():
                    if number == shape.number:
                        np.maximum(out, self._in_block(shape, time, mask, block, keys, length), out=out)
            if self._unbegun(shape, time):
                block = self.start(shape, time)
                np.maximum(out, self._in_block(shape, time, 0, block, keys, length), out=out)
        return out

    def start(self, shape: Shape, time: int) -> Block:
        """The row that has met nothing, or none where the background or a test on the time rules it out."""
        if not shape.closure(0)[0]:
            return self.starts[shape]
        return advance(shape, -1, 0, start_block(shape), time, self.engine.codec)

    def _unbegun(self, shape: Shape, time: int) -> bool:
        """True when the row that has met nothing is possible but not stored."""
        if shape.first is None:
            return time > self.engine.clock
        if shape in self.engine.seeded and time <= self.engine.clock:
            return False
        return time + shape.first > self.engine.closed

    def signature(self, query: int, time: int) -> object:
        """Changes whenever a status can have changed."""
        cell = self.engine.cells[query].get(time)
        begun = tuple(self._unbegun(s, time) for s in self.engine.shapes[query])
        return (
            cell.version if cell is not None else -1,
            begun,
            self.engine.clock if self.deferring[query] else 0,
        )

    def _in_block(
        self, shape: Shape, time: int, mask: int, block: Block, keys: Keys, length: int
    ) -> Statuses:
        fits = np.ones(length, np.bool_)
        joined: list[int] = []
        loose: dict[int, int] = {}
        for k, slot in enumerate(shape.head):
            if slot.column < 0:
                fits &= keys[k] == slot.code
            elif block.columns[slot.column] is not None:
                joined.append(k)
                earlier = [i for i in joined[:-1] if shape.head[i].column == slot.column]
                if earlier and slot.column in shape.open:
                    fits &= keys[k] == keys[earlier[0]]
            elif slot.column in loose:
                fits &= keys[k] == keys[loose[slot.column]]
            else:
                loose[slot.column] = k
        if not fits.any() or not block.length:
            return np.zeros(length, np.int8)
        statuses = block.statuses(shape, mask)
        if shape.open:
            found = self._with_stars(shape, time, mask, block, statuses, keys, joined, loose, length)
        elif loose:
            found = self._loosely(shape, time, mask, block, statuses, keys, joined, loose, length)
        elif joined:
            found = best(self._index(shape, block, joined), statuses, _matrix(keys, joined, length))
        else:
            found = np.full(length, statuses.max(initial=0), np.int8)
        return np.where(fits, found, np.int8(0))

    def _index(self, shape: Shape, block: Block, joined: list[int]) -> Index:
        if block.index is None:
            block.index = index(_matrix_of(block, [shape.head[k].column for k in joined]))
        return block.index

    def _loosely(
        self,
        shape: Shape,
        time: int,
        mask: int,
        block: Block,
        statuses: Statuses,
        keys: Keys,
        joined: list[int],
        loose: dict[int, int],
        length: int,
    ) -> Statuses:
        """Rows that do not have all variables of the head yet: they may still come to speak about the key."""
        if joined:
            asked, rows = pairs(self._index(shape, block, joined), _matrix(keys, joined, length))
        elif block.length == 1:
            asked, rows = np.arange(length), np.zeros(length, np.int64)
        else:
            return np.full(length, statuses.max(initial=0), np.int8)
        found = self._deferred(shape, time, mask, block, statuses[rows], keys, asked, rows, loose)
        out = np.zeros(length, np.int8)
        np.maximum.at(out, asked, found)
        return out

    def _with_stars(
        self,
        shape: Shape,
        time: int,
        mask: int,
        block: Block,
        statuses: Statuses,
        keys: Keys,
        joined: list[int],
        loose: dict[int, int],
        length: int,
    ) -> Statuses:
        """A row of its own speaks for a constant; the row with the star for all others."""
        starred = starred_rows(shape, block)
        fixed = [k for k in joined if shape.head[k].column not in shape.open]
        row = np.full(length, -1, np.int64)
        for part, on in ((np.flatnonzero(starred), fixed), (np.flatnonzero(~starred), joined)):
            if len(part):
                built = index(_matrix_of(block, [shape.head[k].column for k in on])[part])
                hit = first(built, _matrix(keys, on, length)) if on else np.zeros(length, np.int64)
                row = np.where(hit >= 0, part[np.maximum(hit, 0)], row)
        asked = np.flatnonzero(row >= 0)
        out = np.zeros(length, np.int8)
        rows = row[asked]
        out[asked] = self._deferred(shape, time, mask, block, statuses[rows], keys, asked, rows, loose)
        return out

    def _deferred(
        self,
        shape: Shape,
        time: int,
        mask: int,
        block: Block,
        statuses: Statuses,
        keys: Keys,
        asked: Ints,
        rows: Ints,
        loose: dict[int, int],
    ) -> Statuses:
        """A row cannot come to speak about a key for which one of its negated premises is certainly false. What is
        certain of a star is certain of all constants only where none is named: the row with the star that asks stands
        for those too."""
        bound = shape.bound(mask) | shape.open
        for negative in shape.negatives:
            if negative.variables <= bound or not negative.variables <= bound | loose.keys():
                continue
            columns = []
            for slot in negative.key:
                if slot.column in loose:
                    columns.append(keys[loose[slot.column]][asked])
                else:
                    columns.append(slot_column(block, slot, rows))
            at = time + negative.offset
            refuted = self.status(negative.query, at, columns, len(asked)) == CERTAIN
            if refuted.any() and self._names_constants(negative.query, at):
                refuted &= ~np.any([column == STAR for column in columns], axis=0)
            statuses = np.where(refuted, np.int8(IMPOSSIBLE), statuses)
        return statuses

    def _names_constants(self, query: int, time: int) -> bool:
        """True when some rows of a query at a time are about single constants."""
        cell = self.engine.cells[query].get(time)
        columns = [c for block in cell.blocks.values() for c in block.columns] if cell is not None else []
        fixed = any(slot.column < 0 for shape in self.engine.shapes[query] for slot in shape.head)
        return fixed or any(c is not None and bool((c != STAR).any()) for c in columns)

    # -- judging rows

    def judge(self, shape: Shape, time: int, mask: int, block: Block) -> Block:
        """The block after its negated premises have been looked at; the same object if nothing changed."""
        for j, negative in enumerate(shape.negatives):
            at = time + negative.offset
            now = self.signature(negative.query, at)
            if not block.length or block.seen.get(j) == now:
                continue
            if negative.variables & shape.open and negative.variables <= shape.bound(mask) | shape.open:
                block = self._split_off(shape, block, j, negative, at)
            if j in block.witness:
                block = block.with_bits(block.bits)
                block.witness = {**block.witness, j: self._deciding(negative, at)}
            block = self._judge(shape, mask, block, j, negative, at)
            block.seen[j] = now
        return block

    def _judge(self, shape: Shape, mask: int, block: Block, j: int, negative: Negative, at: int) -> Block:
        rows = _waiting_rows(block, j)
        if not len(rows):
            return block
        keys = [slot_column(block, slot, rows) for slot in negative.key]
        found = self.status(negative.query, at, keys, len(rows))
        if len(shape.open) > 1 and self._half_known(shape, block, negative, at):
            found = np.where(starred_rows(shape, block)[rows], np.maximum(found, np.int8(OPEN)), found)
        discharged = rows[found == IMPOSSIBLE]
        is_ground = negative.variables <= shape.bound(mask) | shape.open
        killed = rows[found == CERTAIN] if is_ground else rows[:0]
        if not len(discharged) and not len(killed):
            return block
        bits = block.bits.copy()
        bits[discharged] |= np.int64(1 << j)
        if len(killed) and shape.open:
            bits[killed] |= np.int64(DEAD)
        block = block.with_bits(bits)
        if not is_ground:
            block.witness = {**block.witness, j: self._deciding(negative, at)}
        if len(killed) and not shape.open:
            keep = np.ones(block.length, np.bool_)
            keep[killed] = False
            seen = block.seen
            block = block.take(keep)
            block.seen = seen
        return block

    def _deciding(self, negative: Negative, at: int) -> list[tuple[Shape, int, Block]]:
        """Everything that says something about the query's atoms at a time, rows that have not begun included."""
        cell = self.engine.cells[negative.query].get(at)
        shapes = self.engine.shapes[negative.query]
        found = (
            [(shapes[number], mask, b) for (number, mask), b in cell.blocks.items()]
            if cell is not None
            else []
        )
        for shape in shapes:
            if self.engine.exists(shape, at) and self._unbegun(shape, at):
                found.append((shape, 0, self.start(shape, at)))
        return found

    def is_waiting(self, shape: Shape, mask: int, block: Block) -> bool:
        """True when a row still has a negated premise to be judged, or one was judged with exceptions that are not
        settled yet."""
        if not block.length:
            return False
        deciding = itertools.chain.from_iterable(block.witness.values())
        if any((b.statuses(other, at) == OPEN).any() for other, at, b in deciding):
            return True
        alive = (block.bits & DEAD) == 0
        return bool((alive & ((block.bits & shape.discharged) != shape.discharged)).any())

    def recall(self) -> None:
        """After a snapshot: find again what decided the negations that were judged before their variables were
        bound."""
        for query, cells in enumerate(self.engine.cells):
            for time, cell in cells.items():
                for (number, mask), block in cell.blocks.items():
                    shape = self.engine.shapes[query][number]
                    early = np.bitwise_or.reduce(block.bits) & shape.discharged & ~shape.ground_negatives(mask)
                    for j, negative in enumerate(shape.negatives):
                        if int(early) >> j & 1:
                            block.witness[j] = self._deciding(negative, time + negative.offset)

    # -- exceptions to stars

    def _split_off(self, shape: Shape, block: Block, j: int, negative: Negative, at: int) -> Block:
        """Give constants a row of their own where the deciding query says something else about them than about
        the rest."""
        rows = _waiting_rows(block, j)
        stars = rows[starred_rows(shape, block)[rows]]
        if not len(stars):
            return block
        found = self._mentioned(shape, block, stars, negative, at)
        if found is None:
            return block
        origin, named = found
        asked = [
            named[:, shape_position(shape, slot.column)]
            if slot.column in shape.open
            else slot_column(block, slot, origin)
            for slot in negative.key
        ]
        own = self.status(negative.query, at, asked, len(origin))
        rest = self.status(negative.query, at, [slot_column(block, s, stars) for s in negative.key], len(stars))
        if len(shape.open) > 1 and self._half_known(shape, block, negative, at):
            rest = np.maximum(rest, np.int8(OPEN))
        of_star = np.zeros(block.length, np.int8)
        of_star[stars] = rest
        differs = own != of_star[origin]
        if not differs.any():
            return block
        origin, named = origin[differs], named[differs]
        split = block.take(origin)
        for i, column in enumerate(sorted(shape.open)):
            split.columns[column] = np.ascontiguousarray(named[:, i])
        seen = {k: v for k, v in block.seen.items() if k != j}
        merged = concatenated([block, split])
        merged.seen = seen
        return merged

    def _mentioned(
        self, shape: Shape, block: Block, stars: Ints, negative: Negative, at: int
    ) -> tuple[Ints, Ints] | None:
        """Pairs of a star row and constants for its open columns that the deciding query mentions, not split yet."""
        origins: list[Ints] = []
        tuples: list[Ints] = []
        for other_shape, _, other in self._deciding(negative, at):
            for origin, named in mentions(shape, block, stars, negative, other_shape, other):
                origins.append(origin)
                tuples.append(named)
        if not origins:
            return None
        origin, named = np.concatenate(origins), np.concatenate(tuples)
        fixed = [i for i in range(len(shape.names)) if i not in shape.open]
        known = [c for c in (block.columns[i] for i in fixed) if c is not None]
        keys = matrix([*(c[origin] for c in known), *named.T], len(origin))
        explicit = np.flatnonzero(~starred_rows(shape, block))
        fresh = distinct(keys)
        if len(explicit):
            opened = [c for c in (block.columns[i] for i in sorted(shape.open)) if c is not None]
            held = matrix([*(c[explicit] for c in known), *(c[explicit] for c in opened)], len(explicit))
            fresh &= first(index(held), keys) < 0
        return (origin[fresh], named[fresh]) if fresh.any() else None

    def _half_known(self, shape: Shape, block: Block, negative: Negative, at: int) -> bool:
        """True when the deciding query has rows that fix some of the open variables but not all."""
        for other_shape, _, other in self._deciding(negative, at):
            starred = starred_rows(other_shape, other)
            for present, loose in ((not starred.all(), frozenset[int]()), (starred.any(), other_shape.open)):
                fixed = {
                    slot.column
                    for slot, head in zip(negative.key, other_shape.head, strict=True)
                    if slot.column in shape.open and is_fixed(other, head, loose)
                }
                fixed |= {s.column for s, _ in tied_places(shape, block, negative, other_shape, other, loose)}
                if present and fixed and fixed != shape.open:
                    return True
        return False


def _waiting_rows(block: Block, j: int) -> Ints:
    return np.flatnonzero((block.bits & np.int64(DEAD | 1 << j)) == 0)


def _matrix(keys: Keys, chosen: list[int], length: int) -> Ints:
    return matrix([keys[k] for k in chosen], length)


def _matrix_of(block: Block, columns: list[int]) -> Ints:
    parts = [c for c in (block.columns[i] for i in columns) if c is not None]
    return matrix(parts, block.length) if parts else np.empty((block.length, 0), np.int64)
