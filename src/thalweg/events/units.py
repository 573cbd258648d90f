"""Units of evaluation: a derived event, a simple fluent, or a whole cyclic or delayed component.

A unit is asked twice in each round of a query: `collect` evaluates its rules on the changes of what they read, before
and after, without touching anything; `apply` takes the difference in, rebuilds the timelines that it touches, and
leaves the unit's own changes for the units that read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from thalweg.columns.gathering import TIME, cause_by_id
from thalweg.columns.keys import KeyTable
from thalweg.columns.ragged import Version
from thalweg.columns.sorting import distinct
from thalweg.columns.timelines import INITIATE, OPEN
from thalweg.events.drivers import Body, EdgeDriver
from thalweg.events.frames import Frame, Reader, Slot
from thalweg.events.moves import NEVER, Difference, Hindsight, Moves, Stretches
from thalweg.events.stores import EventStore, FluentStore, Writer, renew, until
from thalweg.language.rules import Edge
from thalweg.protocol import Ints, Mask


@dataclass(slots=True)
class Clock:
    """The query that is being evaluated: points at or before `final` are not revised (but the effects of `final` itself
    show one point later, so they are)."""

    final: int = 0
    previous: int = 0
    query: int = 0
    tick: int = 1
    start: int = 0
    causes: bool = False
    recompute: bool = False
    """The window is evaluated from scratch: everything in it is new."""
    tumbling: bool = False
    """Windows do not overlap: no point of an earlier query is needed again, but for those of its very end."""
    step: int = 0
    """The distance of query times, where several are evaluated in one go (`strides`)."""

    @property
    def first(self) -> int:
        """The first point that can be revised."""
        return self.final - self.final % self.tick + self.tick

    @property
    def spoken(self) -> int:
        """The last point of which the last query has spoken: its effects show one point after it."""
        return self.previous - self.previous % self.tick + self.tick

    def told_at(self, times: Ints) -> Ints:
        """The first query time at or after each time, where several are evaluated in one go."""
        found: Ints = self.start - (self.start - times) // self.step * self.step
        return found

    @property
    def once(self) -> bool:
        """Is each row of the window looked at by this query only, and caused by nothing but time?"""
        return self.tumbling and not self.causes

    @property
    def last(self) -> int:
        """The last time-point of the query, which may lie between two."""
        return self.query - self.query % self.tick

    @property
    def needed_from(self) -> int:
        """In windows that do not overlap, the points from here on concern the next query too."""
        return self.last


@dataclass(slots=True)
class Condition:
    """A sweep condition: the cell's fluent within the component, its arguments, the value (None: any)."""

    fluent: int
    slots: tuple[Slot, ...]
    value: Slot | None
    negated: bool


@dataclass(slots=True)
class Head:
    """A rule of a unit: its body, and what it does to which instance."""

    body: Body
    store: FluentStore | EventStore
    slots: tuple[Slot, ...]
    kind: int = INITIATE
    value: Slot | None = None
    shift: int = 0
    conditions: tuple[Condition, ...] = ()
    one_value: Ints = field(init=False)
    """The value, where it is the same for all solutions."""

    def __post_init__(self) -> None:
        self.one_value = np.full(1, 0 if self.value is None else self.value.code)

    def changes(self, before: Reader, after: Reader, clock: Clock) -> list[tuple[Frame, int]]:
        """Solutions of the body that may have ceased (-1) or begun (1) to be, in frames that have rows."""
        high = clock.query
        if after.first_round:
            high = clock.final - 1 if clock.recompute else clock.previous
        return self.body.changes(before, after, clock.final - 1, high, clock.causes)


class Unit(Protocol):
    """What the engine needs of a unit. In a query in which nothing changed that it reads, and nothing of its own is
    due, a unit is not asked at all."""

    @property
    def stores(self) -> Sequence[FluentStore | EventStore]:
        """What it writes."""

    @property
    def reads(self) -> frozenset[int]:
        """The identities of the stores for whose changes it is evaluated."""

    def due(self, clock: Clock) -> bool:
        """Is there something to do whether or not anything changed?"""

    def changed(self) -> set[int]:
        """The identities of the stores that are different now."""

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        """Evaluate the rules on the current changes; True when something may change."""

    def apply(self, clock: Clock, *, round: bool) -> bool:
        """Take the collected difference in; True when the unit itself changed."""

    def finish(self, clock: Clock) -> None:
        """After the last round: leave the changes of the whole query."""

    def clear(self) -> None:
        """Forget the changes; units above have seen them."""

    def expire(self, final: int) -> None:
        """At the end of every query: what was over at the final point is not asked for again."""

    def commit(self) -> None:
        """At the end of a query in which the unit was asked: keep its fluents, and what it remembers besides."""

    def forget(self, clock: Clock) -> None:
        """Go back to the state at the clock's final point, to evaluate the window from scratch."""


def read_by(heads: Iterable[Head]) -> frozenset[int]:
    """The identities of the stores whose changes concern some rules."""
    return frozenset(id(store) for head in heads for store in head.body.stores())


def head_rows(frame: Frame, head: Head, sign: int, width: int) -> tuple[Ints, Ints]:
    """Instance ids and counted rows of a frame's solutions."""
    store = head.store
    assert isinstance(store, FluentStore)
    n = len(frame)
    ids = store.intern([s.column(frame) for s in head.slots], n)
    rows = np.empty((n, width), np.int64)
    rows[:, 0] = frame.time + head.shift if head.shift else frame.time
    rows[:, 1] = head.kind
    rows[:, 2] = 0 if head.value is None else head.value.column(frame)
    rows[:, width - 1] = sign
    return ids, rows


def instance_frame(store: FluentStore, slots: Sequence[Slot], ids: Ints) -> Frame:
    """Instances that fit a pattern, as bindings of its variables at no particular time; `origin` counts the ids."""
    columns: dict[str, Ints] = {}
    keep: Mask | None = None
    for i, slot in enumerate(slots):
        column = store.instances.column(i, ids)
        if slot.name is not None and slot.name not in columns:
            columns[slot.name] = column
            continue
        fits = column == (slot.code if slot.name is None else columns[slot.name])
        keep = fits if keep is None else keep & fits
    frame = Frame.timeless(np.arange(len(ids)), columns)
    return frame if keep is None else frame.take(keep)


class EventUnit:
    """A derived event."""

    def __init__(self, store: EventStore, heads: Sequence[Head]) -> None:
        self.store = store
        self.stores = [store]
        self.heads = list(heads)
        self.reads = read_by(heads)
        self._found: list[tuple[Ints, int, Ints | None]] = []
        self._total: list[Moves] = []
        self.moves = Moves.none(store.arity + 1)

    def due(self, clock: Clock) -> bool:
        return False

    def changed(self) -> set[int]:
        return {id(self.store)} if self.store.moves else set()

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        for head in self.heads:
            for frame, sign in head.changes(before, after, clock):
                rows = np.column_stack([frame.time + head.shift, *(s.column(frame) for s in head.slots)])
                self._found.append((rows, sign, frame.cause))
        return bool(self._found)

    def apply(self, clock: Clock, *, round: bool) -> bool:
        self.store.moves = Moves.none(self.store.arity + 1)
        if self._found:
            rows = np.concatenate([f[0] for f in self._found])
            counts = np.concatenate([np.full(len(f[0]), f[1]) for f in self._found])
            causes = None
            if clock.causes:
                causes = until(clock.previous, rows[:, 0], np.concatenate([given(f[2]) for f in self._found]))
            self._found = []
            needed_from = clock.needed_from if clock.tumbling and not round else NEVER
            self.store.apply(rows, counts, causes, needed_from=needed_from)
        if self.store.moves:
            self._total.append(self.store.moves)
        return bool(self.store.moves)

    def finish(self, clock: Clock) -> None:
        self.store.moves = self.moves = _net(self._total, self.store.arity + 1)
        self._total = []

    def clear(self) -> None:
        self.moves = Moves.none(self.store.arity + 1)

    def expire(self, final: int) -> None:
        """Events see to that themselves, derived or not."""

    def commit(self) -> None:
        """The same."""

    def forget(self, clock: Clock) -> None:
        self.store.forget()

    def reported(self, clock: Clock) -> Moves:
        """The changes of the whole query."""
        return self.store.since_base(clock.final) if clock.recompute else self.moves


def _net(moves: list[Moves], width: int) -> Moves:
    """Several rounds as one: what went and came back is no change."""
    if len(moves) <= 1:
        return moves[0] if moves else Moves.none(width)
    rows = np.concatenate([m.gone for m in moves] + [m.came for m in moves])
    causes = np.concatenate([m.gone_cause for m in moves] + [m.came_cause for m in moves])
    n_gone = sum(len(m.gone) for m in moves)
    table = KeyTable(width)
    ids = table.intern([rows[:, c] for c in range(width)], len(rows))
    net = np.bincount(ids[n_gone:], minlength=table.count) - np.bincount(ids[:n_gone], minlength=table.count)
    best = np.full(table.count, TIME)
    np.maximum.at(best, ids, causes)
    gone, came = net < 0, net > 0
    return Moves(width, table.keys[gone], table.keys[came], best[gone], best[came])


class FluentUnit:
    """What simple fluents and components share: timelines to compare and edges to announce."""

    stores: list[FluentStore]

    def __init__(self, stores: Sequence[FluentStore], reads: frozenset[int] = frozenset()) -> None:
        self.stores = list(stores)
        self.reads = reads
        self.edge_drivers: list[EdgeDriver] = []
        self._touched: list[list[tuple[Ints, Ints]]] = [[] for _ in stores]
        self._rounds = 0
        self._effects: dict[int, list[Moves]] = {}
        self.differences: list[Difference | None] = [None for _ in stores]

    def changed(self) -> set[int]:
        return {
            id(store)
            for store, found in zip(self.stores, self.differences, strict=True)
            if found is not None or store.stretches or store.effects or store.hindsight
        }

    def announce(self, clock: Clock, version: Version, touched: Sequence[tuple[Ints, Ints]]) -> bool:
        """Compare the touched instances with a version; leave stretches and edges. True when anything differs."""
        differences = [
            store.compare(ids, causes, version, clock.final, clock.spoken) if len(ids) else None
            for store, (ids, causes) in zip(self.stores, touched, strict=True)
        ]
        return self._announce(clock, differences)

    def renew(self, clock: Clock, writers: Sequence[tuple[Ints, Writer] | None]) -> bool:
        """In windows that do not overlap: write the lists of some instances of each store anew, and announce what
        changed. Nothing is noted: such a unit is not evaluated in rounds."""
        differences: list[Difference | None] = []
        for store, writer in zip(self.stores, writers, strict=True):
            if writer is None or not len(writer[0]):
                differences.append(None)
                continue
            start = store.lists.used
            before = renew(store.lists, *writer)
            differences.append(store.compare_fresh(writer[0], before, start, clock.final))
        return self._announce(clock, differences)

    def announce_nothing(self, clock: Clock) -> None:
        """In a round: what the last one changed has been seen."""
        self._announce(clock, [None for _ in self.stores])
        for store in self.stores:
            store.effects = Moves.none(store.arity + 3)

    def _announce(self, clock: Clock, differences: Sequence[Difference | None]) -> bool:
        self._rounds += 1
        for at, (store, difference) in enumerate(zip(self.stores, differences, strict=True)):
            store.stretches = Stretches.none() if difference is None else difference.stretches
            self.differences[at] = difference or None
        if self.edge_drivers:
            self._announce_edges(clock)
        return any(self.differences)

    def _announce_edges(self, clock: Clock) -> None:
        """Leave the edges that went and came to the rules that wait for them."""
        by_store = {id(s): found for s, found in zip(self.stores, self.differences, strict=True)}
        known: dict[tuple[int, Edge, int], Moves] = {}
        for driver in self.edge_drivers:
            found = by_store[id(driver.store)]
            driver.edges = None
            if found is not None:
                low = driver.earliest(clock.final)
                key = id(driver.store), driver.edge, low
                if key not in known:
                    known[key] = driver.store.edge_moves(found, driver.edge, clock.tick, low, clock.previous)
                driver.edges = known[key]

    def note(self, at: int, ids: Ints, causes: Ints) -> None:
        """Remember what was touched, for `finish`."""
        self._touched[at].append((ids, causes))

    def finish(self, clock: Clock) -> None:
        if not self._rounds:
            return
        if self._rounds > 1:
            merged = []
            for parts in self._touched:
                ids = np.concatenate([np.empty(0, np.int64), *(p[0] for p in parts)])
                causes = np.concatenate([np.empty(0, np.int64), *(p[1] for p in parts)])
                once = distinct(ids)
                merged.append((once, cause_by_id(once, ids, causes) if len(once) else once))
            self.announce(clock, Version.BASE, merged)
            if clock.recompute:
                self._all_edges(clock)
            for store in self.stores:
                store.effects = _net(self._effects.get(id(store), []), store.arity + 3)
        self._touched = [[] for _ in self.stores]
        self._rounds = 0
        self._effects = {}

    def _all_edges(self, clock: Clock) -> None:
        """From scratch, every edge in the window is new."""
        for driver in self.edge_drivers:
            store = driver.store
            low = driver.earliest(clock.final)
            ids = np.arange(store.instances.count)
            rows, _ = store.edge_rows(
                ids, np.full(len(ids), low), np.full(len(ids), OPEN), driver.edge, clock.tick, Version.NOW
            )
            nothing = np.empty(0, np.int64)
            driver.edges = Moves(rows.shape[1], rows[:0], rows, nothing, np.full(len(rows), TIME))

    def keep_effects(self, store: FluentStore, moves: Moves) -> None:
        """Set the round's effects, and remember them for `finish`."""
        store.effects = moves
        self._effects.setdefault(id(store), []).append(moves)

    def clear(self) -> None:
        for at, store in enumerate(self.stores):
            if self.differences[at] is not None or store.stretches:
                self.differences[at], store.stretches = None, Stretches.none()
            if store.effects:
                store.effects = Moves.none(store.arity + 3)
            store.hindsight = Hindsight.none()
        for driver in self.edge_drivers:
            driver.edges = None

    def expire(self, final: int) -> None:
        for store in self.stores:
            store.expire(final)

    def commit(self) -> None:
        for store in self.stores:
            store.commit()

    def forget(self, clock: Clock) -> None:
        for store in self.stores:
            store.forget(clock.final)

    def reported(self, at: int, clock: Clock) -> Difference | None:
        """The changes of the whole query in one of the stores."""
        if not clock.recompute:
            return self.differences[at]
        store = self.stores[at]
        ids = np.arange(store.instances.count)
        return store.compare(ids, np.full(len(ids), TIME), Version.BASE, clock.final, clock.spoken)


def given(causes: Ints | None) -> Ints:
    """Causes that are there because they were asked for."""
    assert causes is not None
    return causes


def fresh_only(rows: Ints, final: int) -> bool:
    """Only additions, all after what is final."""
    return bool((rows[:, -1] > 0).all() and (rows[:, 0] > final).all())


def effect_moves(
    store: FluentStore,
    gone: tuple[Ints, Ints],
    came: tuple[Ints, Ints],
    touched: Ints,
    why: Ints,
    previous: int,
) -> Moves:
    """Points that went and came, as rows (time, kind, arguments, value); those after the last query because of time."""

    def rows(ids: Ints, points: Ints) -> tuple[Ints, Ints]:
        keys = store.instances.keys[ids]
        table = np.hstack([points[:, :2], keys, points[:, 2:3]])
        return table, until(previous, points[:, 0], why[np.searchsorted(touched, ids)])

    gone_rows, gone_cause = rows(*gone)
    came_rows, came_cause = rows(*came)
    return Moves(store.arity + 3, gone_rows, came_rows, gone_cause, came_cause)
