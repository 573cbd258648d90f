"""Drivers and triggers: which rows a rule body has to be evaluated for.

A driver is the literal that brings rows (time, arguments) to a body. A trigger is another literal whose change affects
driver rows: because all literals are read at one time-point, exactly those at the changed times that agree with it (or
a few more, where it shares no variable with the driver).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from thalweg.columns.gathering import TIME
from thalweg.columns.keys import same_as
from thalweg.columns.ragged import Version
from thalweg.events.frames import CAUSE, Frame, Others, Reader, Slot, Step
from thalweg.events.moves import NEVER, Block, Moves, Pairs, empty
from thalweg.events.stores import EventStore, FactStore, FluentStore
from thalweg.language.rules import Edge
from thalweg.protocol import Ints, Mask


@dataclass(slots=True)
class Driver(ABC):
    """The literal that brings rows (time, arguments) to a body, and how its rows become a frame."""

    slots: tuple[Slot, ...]
    store: EventStore | FluentStore
    used: frozenset[str] = field(default=frozenset(), init=False)
    """The variables that somebody reads."""

    def frame(self, block: Block, causes: Ints | None) -> Frame:
        """The rows that fit the pattern, with its variables bound."""
        keep: Mask | None = None
        columns: dict[str, Ints] = {}
        for i, slot in enumerate(self.slots):
            if slot.name is not None and slot.name not in columns:
                if slot.name in self.used:
                    columns[slot.name] = block.column(1 + i)
                continue
            column = block.column(1 + i)
            fits = column == (slot.code if slot.name is None else columns[slot.name])
            keep = fits if keep is None else keep & fits
        frame = Frame(block.column(0), columns, None, causes)
        return frame if keep is None else frame.take(keep)

    @property
    def variables(self) -> dict[str, int]:
        """The first position of each variable."""
        found: dict[str, int] = {}
        for i, slot in enumerate(self.slots):
            if slot.name is not None:
                found.setdefault(slot.name, i)
        return found

    @property
    def key(self) -> tuple[int, str]:
        """Drivers with the same key select the same rows."""
        return id(self.store), type(self).__name__

    def prepare(self, positions: tuple[int, ...]) -> None:
        """Make the index that `select` will use, where one is needed."""
        return

    def reaches(self, positions: tuple[int, ...], low: int) -> bool:
        """Can `select` find rows after `low`? True where that is not known without looking."""
        return True

    @abstractmethod
    def moves(self) -> Moves:
        """What changed in the relation."""

    @abstractmethod
    def select(
        self, positions: tuple[int, ...], columns: list[Ints], froms: Ints, tos: Ints, version: Version
    ) -> tuple[Ints, Ints]:
        """Rows that agree with the columns on the positions in the time ranges, and the range of each."""


@dataclass(slots=True)
class EventDriver(Driver):
    store: EventStore

    def prepare(self, positions: tuple[int, ...]) -> None:
        self.store.index(positions)

    def reaches(self, positions: tuple[int, ...], low: int) -> bool:
        return self.store.index(positions).lists.latest > low

    def moves(self) -> Moves:
        return self.store.moves

    def select(
        self, positions: tuple[int, ...], columns: list[Ints], froms: Ints, tos: Ints, version: Version
    ) -> tuple[Ints, Ints]:
        index = self.store.index(positions)
        ids = index.keys.find(columns, len(froms))
        at, which = index.lists.ranges(ids, froms, tos, version)
        return index.lists.pool[at, :-1], which


@dataclass(slots=True)
class EdgeDriver(Driver):
    store: FluentStore
    edge: Edge
    tick: int
    start: int
    edges: Moves | None = None
    from_before: bool = False
    """Also edges from before the stream's start (for hidden rules)."""

    def earliest(self, final: int) -> int:
        """No edge before this point counts, where nothing up to `final` is revised."""
        return NEVER if self.from_before else max(self.start, final)

    @property
    def key(self) -> tuple[int, str]:
        return id(self.store), f"edge {self.edge}"

    def moves(self) -> Moves:
        return self.edges if self.edges is not None else Moves.none(len(self.slots) + 1)

    def select(
        self, positions: tuple[int, ...], columns: list[Ints], froms: Ints, tos: Ints, version: Version
    ) -> tuple[Ints, Ints]:
        keys = tuple(p for p in positions if p < self.store.arity + self.store.by_value)
        ids, which = self.store.match(keys, [columns[positions.index(p)] for p in keys], len(froms))
        lows = np.maximum(froms[which], self.earliest(NEVER))
        rows, nth = self.store.edge_rows(ids, lows, tos[which], self.edge, self.tick, version)
        which = which[nth]
        if len(keys) < len(positions):
            same = rows[:, -1] == columns[-1][which]
            rows, which = rows[same], which[same]
        return rows, which


@dataclass(slots=True)
class EffectDriver(Driver):
    store: FluentStore
    kind: int
    start: int
    _seen: Moves | None = None
    _mine: Moves | None = None
    """Of the effects that were last seen, those of this kind."""

    @property
    def key(self) -> tuple[int, str]:
        return id(self.store), f"effect {self.kind}"

    def moves(self) -> Moves:
        moves = self.store.effects
        if not moves:
            return Moves.none(len(self.slots) + 1)
        if self._seen is not moves or self._mine is None:
            self._seen, self._mine = moves, self._of_kind(moves)
        return self._mine

    def _of_kind(self, moves: Moves) -> Moves:
        none = Moves.none(len(self.slots) + 1)

        def part(block: Block, causes: Ints) -> tuple[Block, Ints]:
            rows = block.matrix
            keep = ((rows[:, 1] == self.kind) & (rows[:, 0] >= self.start)).nonzero()[0]
            if not len(keep):
                return none.came_block, none.came_cause
            found = np.empty((len(keep), rows.shape[1] - 1), np.int64)
            found[:, 0], found[:, 1:] = rows[keep, 0], rows[keep, 2:]
            return Block(found), causes[keep]

        gone, gone_cause = part(moves.gone_block, moves.gone_cause)
        came, came_cause = part(moves.came_block, moves.came_cause)
        return Moves.of_blocks(gone, came, gone_cause, came_cause) if gone.length or came.length else none

    def select(
        self, positions: tuple[int, ...], columns: list[Ints], froms: Ints, tos: Ints, version: Version
    ) -> tuple[Ints, Ints]:
        keys = tuple(p for p in positions if p < self.store.arity)
        ids, which = self.store.match(keys, [columns[positions.index(p)] for p in keys], len(froms))
        at, nth = self.store.points.ranges(ids, froms[which], tos[which], version)
        points = self.store.points.pool[at]
        ids, which = ids[nth], which[nth]
        keep = points[:, 1] == self.kind
        if len(keys) < len(positions):
            keep &= points[:, 2] == columns[-1][which]
        points, ids, which = points[keep], ids[keep], which[keep]
        return np.hstack([points[:, :1], self.store.instances.keys[ids], points[:, 2:3]]), which


# --------------------------------------------------------------------------- triggers


class Value(NamedTuple):
    """A value: a constant, or what the driver has at a position."""

    constant: int
    position: int = -1


@dataclass(slots=True)
class Trigger:
    """A literal that can change the result of driver rows. `shared` pairs its positions with the driver's."""

    store: EventStore | FluentStore | FactStore
    kind: str  # event, holds, next, edge, effect, fact
    constants: tuple[tuple[int, int], ...]
    shared: tuple[tuple[int, int], ...]
    tick: int
    value: Value | None = None
    """The value that it reads, where that is no part of the store's key and known from the driver."""
    positions: tuple[int, ...] = field(init=False)
    """The driver's positions that are shared."""

    def __post_init__(self) -> None:
        self.positions = tuple(d for _, d in self.shared)

    @property
    def key(self) -> tuple[object, ...]:
        """Triggers with the same key touch the same rows of a driver."""
        return id(self.store), self.kind, self.constants, self.shared, self.value if self.by_value else Value(0)

    @property
    def by_value(self) -> bool:
        """Does it matter in which of its values a fluent changed?"""
        return self.value is not None and isinstance(self.store, FluentStore) and self.store.stretches.pairs is not None

    def changed(self) -> bool:
        """Is anything different?"""
        store = self.store
        if isinstance(store, EventStore):
            return bool(store.moves)
        if isinstance(store, FluentStore):
            return bool(store.effects) if self.kind == "effect" else bool(store.stretches)
        return False

    def changed_by(self, high: int) -> bool:
        """May anything be different up to the point `high`?"""
        store = self.store
        if isinstance(store, FluentStore) and self.kind != "effect":
            return bool(store.stretches) and store.stretches.first - self.tick <= high
        if isinstance(store, FactStore):
            return False
        moves = store.effects if isinstance(store, FluentStore) else store.moves
        return bool(moves) and moves.first <= high

    def ranges(self, low: int, high: int) -> tuple[Ints, Ints, Ints, Ints]:
        """Changes in (low, high] as (argument rows, from, to, cause), the value last where it matters."""
        store = self.store
        match store:
            case EventStore():
                return _points(store.moves, 1, low, high)
            case FluentStore() if self.kind == "effect":
                return _points(store.effects, 2, low, high)
            case FluentStore():
                s = store.stretches
                back = self.tick if self.kind in ("edge", "next") else 0
                if s.first - back > high:
                    nothing = np.empty(0, np.int64)
                    return empty(store.instances.width + self.by_value), nothing, nothing, nothing
                changed = s.pairs if self.by_value and s.pairs is not None else s
                near = ((changed.froms - back <= high) & (changed.tos > low + 1)).nonzero()[0]
                froms, tos = changed.froms[near] - back, changed.tos[near]
                rows = store.instances.keys[changed.ids[near]]
                if isinstance(changed, Pairs):
                    rows = np.column_stack([rows, changed.values[near]])
                return rows, np.maximum(froms, low + 1), np.minimum(tos, high + 1), changed.causes[near]
            case _:
                raise TypeError(store)

    def select(
        self, driver: Driver, low: int, high: int, version: Version, *, caused: bool = False
    ) -> tuple[Ints, Ints]:
        """Driver rows in (low, high] that the changes touch, with their causes; `caused`: those with a row as cause."""
        rows, froms, tos, causes = self.ranges(low, high)
        value = self.value if self.by_value else None
        constants = self.constants
        if value is not None and value.position < 0:
            constants += ((rows.shape[1] - 1, value.constant),)
        if constants or caused:
            keep = causes != TIME if caused else np.ones(len(rows), np.bool_)
            for position, code in constants:
                keep &= rows[:, position] == code
            rows, froms, tos, causes = rows[keep], froms[keep], tos[keep], causes[keep]
        columns = [np.ascontiguousarray(rows[:, p]) for p, _ in self.shared]
        found, which = driver.select(self.positions, columns, froms, tos, version)
        if value is not None and value.position >= 0:
            same = found[:, 1 + value.position] == rows[which, -1]
            found, which = found[same], which[same]
        return found, causes[which]


def _points(moves: Moves, skip: int, low: int, high: int) -> tuple[Ints, Ints, Ints, Ints]:
    parts = []
    for block, cause in ((moves.gone_block, moves.gone_cause), (moves.came_block, moves.came_cause)):
        times = block.column(0)
        near = ((times > low) & (times <= high)).nonzero()[0]
        parts.append((block.rows(near), cause[near]))
    rows, causes = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return rows[:, skip:], rows[:, 0], rows[:, 0] + 1, causes


# --------------------------------------------------------------------------- rules


@dataclass(slots=True)
class Body:
    """A compiled rule body: evaluate it for changed driver rows, before and after."""

    driver: Driver
    steps: list[Step]
    triggers: list[Trigger]
    keys: list[str]
    """What the driver and the steps up to each position do, in words that are equal for equal work."""
    shared: dict[int, str] = field(default_factory=dict)
    """Positions, ascending, before which the work is shared with another rule."""

    def stores(self) -> Iterator[EventStore | FluentStore | FactStore]:
        """What the body is evaluated for when it changes."""
        yield self.driver.store
        for trigger in self.triggers:
            yield trigger.store

    def changes(
        self, before: Reader, after: Reader, low: int, high: int, causes: bool
    ) -> list[tuple[Frame, int]]:
        """Solutions for the driver rows that are affected by the current changes, on the state before (-1) and after
        (1), in frames that have rows: for the rows that came or went, and for those up to `high` that a changed
        literal touches."""
        driver = self.driver
        moves = driver.moves() if after.sees(driver.store) else Moves.none(len(driver.slots) + 1)
        touching = self.triggers and [
            t
            for t in self.triggers
            if t.changed_by(high) and after.sees(t.store) and driver.reaches(t.positions, low)
        ]
        unseen = self._unseen(after, low, high) if causes and not after.first_round else []
        if not touching and not (unseen and moves):
            return self._moved(moves, before, after, causes) if moves else []
        sides = (
            (before, -1, moves.gone_block, moves.gone_cause),
            (after, 1, moves.came_block, moves.came_cause),
        )
        found: list[tuple[Frame, int]] = []
        beside: list[Others] = []
        for reader, sign, block, cause in reversed(sides):
            if beside and not block.length and isinstance(driver, EventDriver):
                beside.append(beside[0])  # what neither came nor went is the same before and after
            else:
                beside.append(self._beside(touching, unseen, reader, block, cause, low, high))
            raised = beside[-1].raised
            if block.length:
                frame = self._run(block, cause if causes else None, reader)
                if causes and raised is not None and frame.length:
                    frame = frame.extend({CAUSE: raised[frame.origin]})
                found.append((frame, sign))
        found += self._touched(beside[1], beside[0], before, after, causes)
        return [(frame, sign) for frame, sign in found if frame.length]

    def _moved(self, moves: Moves, before: Reader, after: Reader, causes: bool) -> list[tuple[Frame, int]]:
        """Solutions for the driver rows that came or went, where no other literal changed."""
        found: list[tuple[Frame, int]] = []
        if moves.came_block.length:
            frame = self._run(moves.came_block, moves.came_cause if causes else None, after)
            if frame.length:
                found.append((frame, 1))
        if moves.gone_block.length:
            frame = self._run(moves.gone_block, moves.gone_cause if causes else None, before)
            if frame.length:
                found.append((frame, -1))
        return found

    def _unseen(self, after: Reader, low: int, high: int) -> list[Trigger]:
        """In a later round of a loop: the literals that changed before it began, which have a part in what it finds."""
        return [
            t
            for t in self.triggers
            if t.changed_by(high) and not after.sees(t.store) and self.driver.reaches(t.positions, low)
        ]

    def _beside(
        self,
        touching: list[Trigger],
        unseen: list[Trigger],
        reader: Reader,
        block: Block,
        cause: Ints,
        low: int,
        high: int,
    ) -> Others:
        """The rows, as `reader` sees them, that a changed literal touches beside those of the block."""
        key = (id(block), self.driver.key, *sorted(t.key for t in touching), None, *sorted(t.key for t in unseen))
        known = reader.touched.get(key)
        if known is None:
            version = reader.version(self.driver.store)
            more = [t.select(self.driver, low, high, version) for t in touching]
            also = [t.select(self.driver, low, high, version, caused=True) for t in unseen]
            if not reader.sees(self.driver.store):
                came = self.driver.moves()
                late = np.flatnonzero(came.came_cause != TIME)
                also.append((came.came_block.rows(late), came.came_cause[late]))
            more, also = ([m for m in some if len(m[0])] for some in (more, also))
            known = reader.touched[key] = _others(block, cause, high, more, also)
        return known

    def _touched(
        self, old: Others, new: Others, before: Reader, after: Reader, causes: bool
    ) -> list[tuple[Frame, int]]:
        """Solutions for rows that were there before and are there after. What the first steps say that read nothing
        that changed is found once."""
        at, frame = 0, None
        if old.block is new.block:
            if not new.block.length:
                return []
            at = next((n for n, step in enumerate(self.steps) if step.moved()), len(self.steps))
            frame = self._run(new.block, new.causes if causes else None, after, upto=at)
            if not frame.length:
                return []
        return [
            (self._run(others.block, others.causes if causes else None, reader, at, frame), sign)
            for others, reader, sign in ((old, before, -1), (new, after, 1))
            if others.block.length
        ]

    def _run(
        self,
        block: Block,
        cause: Ints | None,
        reader: Reader,
        at: int = 0,
        frame: Frame | None = None,
        upto: int | None = None,
    ) -> Frame:
        """All steps, or those `upto` a position, from the frame before the position `at` on, or after a longer prefix
        that another rule has already run on the same rows. A frame without rows may lack columns."""
        end = len(self.steps) if upto is None else upto
        for n, key in reversed(self.shared.items()):
            if n <= end and (n > at or frame is None):
                known = reader.memo.get((id(block), key))
                if known is not None:
                    at, frame = n, known[1]
                    break
        if frame is None:
            frame = self.driver.frame(block, cause)
            if 0 in self.shared:
                reader.memo[id(block), self.shared[0]] = block, frame
        for n in range(at, end):
            if n in self.shared and n != at:
                reader.memo[id(block), self.shared[n]] = block, frame
            frame = self.steps[n].run(frame, reader)
            if not frame.length:
                break
        return frame


def _others(
    block: Block, cause: Ints, high: int, more: list[tuple[Ints, Ints]], also: list[tuple[Ints, Ints]]
) -> Others:
    """Each of the rows, of times up to `high`, that is not in the block, with its largest cause; `also` are rows that
    give causes and nothing else."""
    none = Moves.none(block.width)
    if not more and not (also and block.length):
        return Others(block, none.came_block, none.came_cause, None)
    rows, causes = (np.concatenate([m[i] for m in (*more, *also)]) for i in (0, 1))
    at = np.flatnonzero(block.column(0) <= high)
    known, size = len(at), sum(len(m[0]) for m in more)
    if known:
        rows = np.concatenate([block.rows(at), rows])
    first = same_as(rows)
    best = np.full(len(rows), TIME)
    np.maximum.at(best, first[known:], causes)
    raised = None
    if (best[:known] != TIME).any():
        raised = np.array(cause)
        raised[at] = np.maximum(raised[at], best[first[:known]])
    new = known + np.flatnonzero(first[known : known + size] == np.arange(known, known + size))
    return Others(block, Block(rows[new]), best[new], raised)
