"""What changed in a query: rows that came and went, intervals that came and went, stretches in which values differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.columns.gathering import TIME
from thalweg.columns.keys import KeyTable
from thalweg.protocol import Ints, Mask

NEVER = -(2**62)


_BY_TIME: Ints = np.broadcast_to(np.int64(TIME), 2**40)


def by_time(length: int) -> Ints:
    """Causes of so many changes that only time brought, which take no room."""
    return _BY_TIME[:length]


def told(causes: Ints) -> bool:
    """May there be another cause than time?"""
    return len(causes) > 0 and causes.strides != (0,)


def empty(width: int) -> Ints:
    return np.empty((0, width), np.int64)


class Block:
    """Rows of a relation, as columns or as a matrix; either is laid out when first asked for and then shared."""

    __slots__ = ("_columns", "_fetch", "_matrix", "length", "width")
    length: int
    width: int

    def __init__(self, matrix: Ints) -> None:
        self._matrix: Ints | None = matrix
        self._columns: dict[int, Ints] = {}
        self._fetch: Callable[[int], Ints] | None = None
        self.length, self.width = matrix.shape

    @classmethod
    def of_columns(cls, columns: Sequence[Ints]) -> Block:
        """Rows given as columns: the time, then the arguments."""
        block = cls.__new__(cls)
        block._matrix, block._columns, block._fetch = None, dict(enumerate(columns)), None
        block.length, block.width = len(columns[0]), len(columns)
        return block

    @classmethod
    def lazily(cls, length: int, width: int, fetch: Callable[[int], Ints]) -> Block:
        """Rows whose columns are fetched when they are first asked for."""
        block = cls.__new__(cls)
        block._matrix, block._columns, block._fetch = None, {}, fetch
        block.length, block.width = length, width
        return block

    def __len__(self) -> int:
        return self.length

    @property
    def matrix(self) -> Ints:
        """A row per tuple."""
        if self._matrix is None:
            self._matrix = np.empty((self.length, self.width), np.int64)
            for position in range(self.width):
                self._matrix[:, position] = self.column(position)
        return self._matrix

    def rows(self, which: Ints) -> Ints:
        """Some of the rows, as a matrix."""
        if self._matrix is None:
            return Block.of_columns([self.column(p)[which] for p in range(self.width)]).matrix
        return self._matrix[which]

    def column(self, position: int) -> Ints:
        found = self._columns.get(position)
        if found is None:
            if self._fetch is not None:
                found = self._fetch(position)
            else:
                assert self._matrix is not None
                found = np.ascontiguousarray(self._matrix[:, position])
            self._columns[position] = found
        return found


class Moves:
    """Rows of an event-like relation that went and came, each with its cause. Columns: time, arguments."""

    __slots__ = ("_first", "came_block", "came_cause", "gone_block", "gone_cause", "width")
    _none: ClassVar[dict[int, Moves]] = {}

    def __init__(self, width: int, gone: Ints, came: Ints, gone_cause: Ints, came_cause: Ints) -> None:
        self.width = width
        self.gone_block, self.came_block = Block(gone), Block(came)
        self.gone_cause, self.came_cause = gone_cause, came_cause
        self._first: int | None = None

    @classmethod
    def none(cls, width: int) -> Moves:
        """Nothing: the same object every time."""
        found = cls._none.get(width)
        if found is None:
            nothing = np.empty(0, np.int64)
            found = cls._none[width] = cls(width, empty(width), empty(width), nothing, nothing)
        return found

    @classmethod
    def arrivals(cls, columns: Sequence[Ints]) -> Moves:
        """Rows that came, given as columns, because of nothing but time."""
        none = cls.none(len(columns))
        return cls.of_blocks(none.gone_block, Block.of_columns(columns), none.gone_cause, by_time(len(columns[0])))

    @classmethod
    def of_blocks(cls, gone: Block, came: Block, gone_cause: Ints, came_cause: Ints) -> Moves:
        """Rows that went and came."""
        moves = cls.__new__(cls)
        moves.width, moves.gone_block, moves.came_block = came.width, gone, came
        moves.gone_cause, moves.came_cause = gone_cause, came_cause
        moves._first = None
        return moves

    @property
    def first(self) -> int:
        """The first time of a row, where there are rows."""
        if self._first is None:
            blocks = (block for block in (self.gone_block, self.came_block) if len(block))
            self._first = min(int(block.column(0).min()) for block in blocks)
        return self._first

    @property
    def gone(self) -> Ints:
        return self.gone_block.matrix

    @property
    def came(self) -> Ints:
        return self.came_block.matrix

    def __bool__(self) -> bool:
        return self.came_block.length > 0 or self.gone_block.length > 0


@dataclass(slots=True)
class Stretches:
    """Where timelines differ: instance, from, to (exclusive), cause."""

    ids: Ints
    froms: Ints
    tos: Ints
    causes: Ints
    first: int
    """No stretch starts earlier."""
    single: bool = False
    """Each instance is there once, ascending."""
    pairs: Pairs | None = None
    """The same value by value, where there are values and other causes than time: what changes one value is no cause of
    what reads another."""

    @classmethod
    def none(cls) -> Stretches:
        """Nothing: the same object every time."""
        return _NO_STRETCHES

    def __bool__(self) -> bool:
        return len(self.ids) > 0


_NOTHING: Ints = np.empty(0, np.int64)
_NO_STRETCHES = Stretches(_NOTHING, _NOTHING, _NOTHING, _NOTHING, NEVER)


@dataclass(slots=True)
class Pairs:
    """Where the timelines of pairs differ, in order: instance, value, from, to (exclusive), cause."""

    ids: Ints
    values: Ints
    froms: Ints
    tos: Ints
    causes: Ints

    @classmethod
    def of(cls, removed: Spans, added: Spans, where: Stretches, spoken: int) -> Pairs:
        """What lies in intervals that went or in intervals that came, and not in both; `where`, whatever the value.
        What begins after the point `spoken` is because of time."""
        some = (removed if len(removed) else added).values[0]
        if (removed.values == some).all() and (added.values == some).all():
            return cls(where.ids, np.full(len(where.ids), some), where.froms, where.tos, where.causes)
        ids, values, causes = (
            np.concatenate([getattr(side, name) for side in (removed, removed, added, added)])
            for name in ("ids", "values", "causes")
        )
        edges = np.concatenate([removed.starts, removed.ends, added.starts, added.ends])
        order = np.lexsort([edges, values, ids])
        ids, values, edges, causes = ids[order], values[order], edges[order], causes[order]
        same = (ids[1:] == ids[:-1]) & (values[1:] == values[:-1]) & (edges[1:] == edges[:-1])
        alone = np.ones(len(ids), np.bool_)
        alone[1:] &= ~same
        alone[:-1] &= ~same
        left = np.flatnonzero(alone)
        begins, ends = left[::2], left[1::2]
        froms = edges[begins]
        return cls(ids[begins], values[begins], froms, edges[ends], np.where(froms <= spoken, causes[begins], TIME))

    def cause_of(self, ids: Ints, values: Ints) -> Ints:
        """The largest cause of each of some pairs, `TIME` for those that did not change."""
        table = KeyTable(2)
        known = table.intern([self.ids, self.values], len(self.ids))
        best = np.full(table.count + 1, TIME)  # the last one is for what is not found
        np.maximum.at(best, known, self.causes)
        found: Ints = best[table.find([ids, values], len(ids))]
        return found


@dataclass(slots=True)
class Spans:
    """Intervals of instances, by id and time, with their causes. Where the value is part of the key, `values` is
    empty."""

    ids: Ints
    starts: Ints
    ends: Ints
    values: Ints
    causes: Ints

    @classmethod
    def of_columns(cls, found: Ints, n: int) -> Spans:
        """The first `n` of columns id, start, end and, unless it is part of the key, value; because of time."""
        if not n:
            return _NO_SPANS
        ids, starts, ends = found[0, :n], found[1, :n], found[2, :n]
        return cls(ids, starts, ends, found[3, :n] if len(found) > 3 else _NOTHING, by_time(n))

    def __len__(self) -> int:
        return len(self.ids)

    def copy(self) -> Spans:
        """The same in arrays of its own."""
        causes = self.causes.copy() if told(self.causes) else self.causes
        return Spans(self.ids.copy(), self.starts.copy(), self.ends.copy(), self.values.copy(), causes)


_NO_SPANS = Spans(_NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING)


@dataclass(slots=True)
class Hindsight:
    """Where several query times are evaluated in one go: instances and points right after one of these query times that
    it saw otherwise than they turned out, by id and time."""

    ids: Ints
    points: Ints

    @classmethod
    def none(cls) -> Hindsight:
        """Nothing: the same object every time."""
        return _NO_HINDSIGHT

    @classmethod
    def of(cls, ids: Ints, points: Ints) -> Hindsight:
        """In whatever order, and more than once."""
        if not len(ids):
            return cls.none()
        pairs = np.unique(np.column_stack([ids, points]), axis=0)
        return cls(np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]))

    def __bool__(self) -> bool:
        return len(self.ids) > 0

    def has(self, ids: Ints, points: Ints) -> Mask:
        """Which of some instances and points are among them."""
        if not self:
            return np.zeros(len(ids), np.bool_)
        times = np.unique(np.concatenate([self.points, points]))
        mine, asked = (
            some * len(times) + times.searchsorted(at) for some, at in ((self.ids, self.points), (ids, points))
        )
        return np.isin(asked, mine)


_NO_HINDSIGHT = Hindsight(_NOTHING, _NOTHING)


@dataclass(slots=True)
class Difference:
    """Intervals that went and came, and where values differ."""

    removed: Spans
    added: Spans
    stretches: Stretches

    def __bool__(self) -> bool:
        return len(self.added.ids) > 0 or len(self.removed.ids) > 0
