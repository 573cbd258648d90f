"""Units of evaluation: a derived event, a simple fluent, or a whole cyclic or delayed component.

A unit is asked twice in each round of a query: `collect` evaluates its rules on the changes of what they read, before
and after, without touching anything; `apply` takes the difference in, rebuilds the timelines that it touches, and
leaves the unit's own changes for the units that read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from thalweg.columns.keys import KeyTable
from thalweg.columns.ragged import Ragged, Version, distinct, group_starts, order_by
from thalweg.columns.sweep import ANY, NONE, members, sweep, trim, unite, write_lists
from thalweg.columns.timelines import GREET, INITIATE, OPEN, rebuild, rebuild_need
from thalweg.events.compile import Body, EdgeDriver
from thalweg.events.frames import Frame, Reader, Slot, Step, run_steps
from thalweg.events.stores import NEVER, TIME, Difference, EventStore, FluentStore, Moves, Stretches
from thalweg.protocol import Ints

NOW = np.int64(2**62)
"""A time at which a timeline shows its latest state; used where no rule time exists."""


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
    """Windows do not overlap: no point of an earlier query is needed again."""


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
    filters: tuple[Step, ...] = ()

    def frame(self, reader: Reader, clock: Clock) -> Frame:
        high = clock.query
        if reader.first_round:
            high = clock.final - 1 if clock.recompute else clock.previous
        frame = self.body.run(reader, clock.final - 1, high, clock.causes)
        return run_steps(self.filters, frame, reader)


class Unit(Protocol):
    """What the engine needs of a unit."""

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        """Evaluate the rules on the current changes; True when something may change."""

    def apply(self, clock: Clock, *, round: bool) -> bool:
        """Take the collected difference in; True when the unit itself changed."""

    def finish(self, clock: Clock) -> None:
        """After the last round: leave the changes of the whole query."""

    def clear(self) -> None:
        """Forget the changes; units above have seen them."""

    def commit_memories(self, final: int) -> None:
        """At the end of the query: what the unit remembers apart from its stores."""

    def forget(self, clock: Clock) -> None:
        """Go back to the state at the clock's final point, to evaluate the window from scratch."""


def _rows(frame: Frame, head: Head, sign: int, width: int) -> tuple[Ints, Ints]:
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


def extents(ids: Ints, times: Ints) -> tuple[Ints, Ints, Ints]:
    """Each id once, with its first and last time."""
    if len(ids) > 1 and (ids[1:] < ids[:-1]).any():
        order = np.argsort(ids, kind="stable")
        ids, times = ids[order], times[order]
    starts = group_starts(ids)[:-1]
    return ids[starts], np.minimum.reduceat(times, starts), np.maximum.reduceat(times, starts)


def cause_by_id(wanted: Ints, ids: Ints, causes: Ints | None) -> Ints:
    """The largest cause of each wanted id."""
    if causes is None:
        return np.full(len(wanted), TIME)
    order = np.argsort(ids, kind="stable")
    starts = group_starts(ids[order])[:-1]
    found = np.maximum.reduceat(causes[order], starts)
    return found[np.searchsorted(ids[order][starts], wanted)]


class EventUnit:
    """A derived event."""

    def __init__(self, store: EventStore, heads: Sequence[Head]) -> None:
        self.store = store
        self.heads = list(heads)
        self._found: list[tuple[Ints, int, Ints | None]] = []
        self._total: list[Moves] = []
        self.moves = Moves.none(store.arity + 1)

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        for head in self.heads:
            if not head.body.affected(after):
                continue
            for reader, sign in ((before, -1), (after, 1)):
                frame = head.frame(reader, clock)
                if len(frame):
                    rows = np.column_stack([frame.time + head.shift, *(s.column(frame) for s in head.slots)])
                    self._found.append((rows, sign, frame.cause))
        return bool(self._found)

    def apply(self, clock: Clock, *, round: bool) -> bool:
        self.store.moves = Moves.none(self.store.arity + 1)
        if self._found:
            rows = np.concatenate([f[0] for f in self._found])
            counts = np.concatenate([np.full(len(f[0]), f[1]) for f in self._found])
            causes = np.concatenate([f[2] for f in self._found]) if clock.causes else None
            self._found = []
            needed_from = clock.query if clock.tumbling and not round else NEVER
            self.store.apply(rows, counts, causes, needed_from=needed_from)
        if self.store.moves:
            self._total.append(self.store.moves)
        return bool(self.store.moves)

    def finish(self, clock: Clock) -> None:
        self.store.moves = self.moves = _net(self._total, self.store.arity + 1)
        self._total = []

    def clear(self) -> None:
        self.moves = Moves.none(self.store.arity + 1)

    def commit_memories(self, final: int) -> None:
        """Nothing apart from the store."""

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

    def __init__(self, stores: Sequence[FluentStore]) -> None:
        self.stores = list(stores)
        self.edge_drivers: list[EdgeDriver] = []
        self._touched: list[list[tuple[Ints, Ints]]] = [[] for _ in stores]
        self._rounds = 0
        self._effects: dict[int, list[Moves]] = {}
        self.differences: list[Difference | None] = [None for _ in stores]

    def announce(self, clock: Clock, version: Version, touched: Sequence[tuple[Ints, Ints]]) -> bool:
        """Compare the touched instances with a version; leave stretches and edges. True when anything differs."""
        changed = False
        self._rounds += 1
        for at, (store, (ids, causes)) in enumerate(zip(self.stores, touched, strict=True)):
            store.stretches = Stretches.none()
            self.differences[at] = None
            if len(ids):
                difference = store.compare(ids, causes, version, clock.final)
                store.stretches = difference.stretches
                if len(difference.removed_ids) or len(difference.added_ids):
                    self.differences[at] = difference
                    changed = True
        for driver in self.edge_drivers:
            at = next(i for i, s in enumerate(self.stores) if s is driver.store)
            found = self.differences[at]
            low = NEVER if driver.from_before else max(clock.start, clock.final)
            driver.edges = None if found is None else driver.store.edge_moves(found, driver.edge, clock.tick, low)
        return changed

    def note(self, at: int, ids: Ints, causes: Ints) -> None:
        """Remember what was touched, for `finish`."""
        self._touched[at].append((ids, causes))

    def finish(self, clock: Clock) -> None:
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
            low = NEVER if driver.from_before else max(clock.start, clock.final)
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
        self.differences = [None for _ in self.stores]
        for store in self.stores:
            store.stretches = Stretches.none()
            store.effects = Moves.none(store.arity + 3)
        for driver in self.edge_drivers:
            driver.edges = None

    def commit_memories(self, final: int) -> None:
        """Nothing apart from the stores."""

    def forget(self, clock: Clock) -> None:
        for store in self.stores:
            store.forget(clock.final)

    def reported(self, at: int, clock: Clock) -> Difference | None:
        """The changes of the whole query in one of the stores."""
        if not clock.recompute:
            return self.differences[at]
        store = self.stores[at]
        ids = np.arange(store.instances.count)
        return store.compare(ids, np.full(len(ids), TIME), Version.BASE, clock.final)


class SimpleUnit(FluentUnit):
    """A simple fluent that neither depends on itself (or is evaluated in a loop) nor has delayed effects."""

    def __init__(self, store: FluentStore, heads: Sequence[Head]) -> None:
        super().__init__([store])
        self.store = store
        self.heads = list(heads)
        self._found: list[tuple[Ints, Ints, Ints | None]] = []

    def seed(self, store: FluentStore, ids: Ints, times: Ints, values: Ints) -> None:
        """Initiations that are there before the stream."""
        rows = np.column_stack([times, np.full(len(ids), GREET), values, np.ones(len(ids), np.int64)])
        self._found.append((ids, rows, np.full(len(ids), TIME)))

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        for head in self.heads:
            if not head.body.affected(after):
                continue
            for reader, sign in ((before, -1), (after, 1)):
                frame = head.frame(reader, clock)
                if len(frame):
                    self._found.append((*_rows(frame, head, sign, 4), frame.cause))
        return bool(self._found)

    def apply(self, clock: Clock, *, round: bool) -> bool:
        store = self.store
        if not self._found:
            self.announce(clock, Version.LAST, [(np.empty(0, np.int64), np.empty(0, np.int64))])
            store.effects = Moves.none(store.arity + 3)
            return False
        ids = np.concatenate([f[0] for f in self._found])
        rows = np.concatenate([f[1] for f in self._found])
        causes = np.concatenate([f[2] for f in self._found]) if clock.causes else None
        self._found = []
        if clock.tumbling and not round and not store.reads_points and _fresh(rows, clock.final):
            touched, first, last, points = self._once(ids, rows, clock)
            came = gone = None
        else:
            add = store.points.merge if store.reads_points else store.points.insert
            gone, came = add(ids, rows)
            touched, first, last = _touched(gone, came)
            points = store.points.offsets[2], store.points.lengths[2], store.points.pool
        why = cause_by_id(touched, ids, causes)
        lists = store.lists
        lists.reserve(rebuild_need(points[1], lists.lengths[2], touched))
        lists.used = rebuild(
            *points,
            lists.offsets,
            lists.lengths,
            lists.rooms,
            lists.pool,
            lists.used,
            touched,
            first,
            last,
            clock.final,
            clock.tick,
        )
        lists.touch(touched)
        self.note(0, touched, why)
        if gone is not None and came is not None and store.reads_points:
            self.keep_effects(store, _effect_moves(store, gone, came, touched, why))
        return self.announce(clock, Version.LAST, [(touched, why)]) or bool(store.effects)

    def _once(self, ids: Ints, rows: Ints, clock: Clock) -> tuple[Ints, Ints, Ints, tuple[Ints, Ints, Ints]]:
        """Points that no later query needs: sorted, used, and forgotten, but for those of the query time itself."""
        order = order_by(ids, np.ascontiguousarray(rows[:, 0]))
        ids, rows = ids[order], rows[order]
        starts = group_starts(ids)
        touched = ids[starts[:-1]]
        offsets = np.zeros(self.store.instances.count, np.int64)
        lengths = np.zeros(self.store.instances.count, np.int64)
        offsets[touched], lengths[touched] = starts[:-1], np.diff(starts)
        edge = rows[:, 0] >= clock.query
        if edge.any():
            self.store.points.merge(ids[edge], rows[edge])
        return touched, rows[starts[:-1], 0], rows[starts[1:] - 1, 0], (offsets, lengths, rows)


def _fresh(rows: Ints, final: int) -> bool:
    """Only additions, all after what is final."""
    return bool((rows[:, -1] > 0).all() and (rows[:, 0] > final).all())


def _touched(gone: tuple[Ints, Ints], came: tuple[Ints, Ints]) -> tuple[Ints, Ints, Ints]:
    ids = np.concatenate([gone[0], came[0]])
    if not len(ids):
        return ids, ids, ids
    return extents(ids, np.concatenate([gone[1][:, 0], came[1][:, 0]]))


def _effect_moves(
    store: FluentStore, gone: tuple[Ints, Ints], came: tuple[Ints, Ints], touched: Ints, why: Ints
) -> Moves:
    """Points that went and came, as rows (time, kind, arguments, value)."""

    def rows(ids: Ints, points: Ints) -> tuple[Ints, Ints]:
        keys = store.instances.keys[ids]
        table = np.hstack([points[:, :2], keys, points[:, 2:3]])
        return table, why[np.searchsorted(touched, ids)]

    gone_rows, gone_cause = rows(*gone)
    came_rows, came_cause = rows(*came)
    return Moves(store.arity + 3, gone_rows, came_rows, gone_cause, came_cause)


@dataclass(slots=True)
class DelayPlan:
    """Delayed effects of one fluent: evaluated once per instance."""

    fluent: int
    value: int | None  # None: whichever value is initiated
    target: Slot | None
    delay: Slot
    postponable: Sequence[Step] | None
    steps: Sequence[Step]
    slots: tuple[Slot, ...]
    wanted: Sequence[Step] = ()


@dataclass(slots=True)
class Pending:
    """Countdowns that have not fired: store index, instance, value, target (NONE: the value ends), due, since."""

    fluent: Ints
    instance: Ints
    value: Ints
    target: Ints
    due: Ints
    since: Ints


class SweepUnit(FluentUnit):
    """Simple fluents that depend on each other in a cycle or have delayed effects, swept in time order."""

    def __init__(
        self,
        stores: Sequence[FluentStore],
        heads: Sequence[Head],
        delays: Sequence[DelayPlan],
        width: int,
        *,
        linked: bool,
    ) -> None:
        super().__init__(stores)
        self.heads = list(heads)
        self.plans = list(delays)
        self.width = width
        self.linked = linked
        self.candidates = Ragged(width)
        self._found: list[tuple[Ints, Ints, Ints | None]] = []
        self.cells = 0
        self.carry = np.zeros((8, 3), np.int64)
        self.carry_time = np.full(8, -(2**62))
        self.parents = np.arange(8)
        self.rings = np.arange(8)
        self.due = np.full(8, OPEN)
        self._marks = np.zeros(8, np.int64)
        self._stamp = 0
        self._state = np.zeros((8, 3), np.int64)
        self._rank = np.zeros(8, np.int64)
        self._all = False
        self.first_delay = np.zeros(8, np.int64)
        self.last_delay = np.zeros(8, np.int64)
        self.n_delays = 0
        self.delays = np.empty((8, 5), np.int64)
        self.carry_since = np.full(8, NONE)
        self.since = np.full(8, NONE)
        self._delayed_upto = [0 for _ in stores]
        self.pairs = KeyTable(2)  # cell and value, of fluents with a delay for every value
        self._open_plans = [p for p in self.plans if p.value is None]

    # ----------------------------------------------------------------- cells

    def _cells(self, fluent: int, ids: Ints) -> Ints:
        return ids * len(self.stores) + fluent

    def _grow(self) -> None:
        """Room for all instances, and the delays of new ones."""
        cells = max(s.instances.count for s in self.stores) * len(self.stores)
        if cells > self.cells:
            room = len(self.carry_time)
            if cells > room:
                size = max(cells, 2 * room)
                self.carry = np.vstack([self.carry, np.zeros((size - room, 3), np.int64)])
                self.carry_time = np.concatenate([self.carry_time, np.full(size - room, -(2**62))])
                self.parents = np.concatenate([self.parents, np.arange(room, size)])
                self.rings = np.concatenate([self.rings, np.arange(room, size)])
                self.due = np.concatenate([self.due, np.full(size - room, OPEN)])
                self._marks = np.concatenate([self._marks, np.zeros(size - room, np.int64)])
                self._state = np.zeros((size, 3), np.int64)
                self._rank = np.zeros(size, np.int64)
                self.first_delay = np.concatenate([self.first_delay, np.zeros(size - room, np.int64)])
                self.last_delay = np.concatenate([self.last_delay, np.zeros(size - room, np.int64)])
            self.cells = cells
            self.candidates.ensure(cells)
        if self.plans:
            self._grow_delays()

    def _grow_delays(self) -> None:
        """Evaluate the delayed effects of instances that are new; those of one cell stand together."""
        new: list[Ints] = []
        for plan in self.plans:
            store = self.stores[plan.fluent]
            ids = np.arange(self._delayed_upto[plan.fluent], store.instances.count)
            if plan.value is not None and len(ids):
                new.append(self._delay_rows(plan, store, ids, np.full(len(ids), plan.value)))
        if self._open_plans:
            new += self._new_pairs()
        for at, store in enumerate(self.stores):
            self._delayed_upto[at] = store.instances.count
        added = np.concatenate([np.empty((0, 5), np.int64), *new])
        if not len(added):
            return
        since = carried = np.full(len(added), NONE)
        again = distinct(np.sort(added[:, 4]))
        again = again[self.last_delay[again] > self.first_delay[again]]
        if len(again):
            old = np.concatenate([np.arange(self.first_delay[c], self.last_delay[c]) for c in again.tolist()])
            added = np.concatenate([self.delays[old], added])
            since = np.concatenate([self.since[old], since])
            carried = np.concatenate([self.carry_since[old], carried])
            self.since[old] = self.carry_since[old] = NONE
        order = np.argsort(added[:, 4], kind="stable")
        self._append_delays(added[order], since[order], carried[order])

    def _append_delays(self, rows: Ints, since: Ints, carried: Ints) -> None:
        """Put delay rows, ordered by cell, at the end of the table."""
        start, end = self.n_delays, self.n_delays + len(rows)
        if end > len(self.delays):
            room = max(end, 2 * len(self.delays))
            table = np.empty((room, 5), np.int64)
            table[:start] = self.delays[:start]
            self.delays = table
            for name in ("since", "carry_since"):
                column = np.full(room, NONE)
                column[:start] = getattr(self, name)[:start]
                setattr(self, name, column)
        self.delays[start:end], self.since[start:end], self.carry_since[start:end] = rows, since, carried
        starts = group_starts(np.ascontiguousarray(rows[:, 4]))
        cells = rows[starts[:-1], 4]
        self.first_delay[cells], self.last_delay[cells] = start + starts[:-1], start + starts[1:]
        self.n_delays = end

    def _new_pairs(self) -> list[Ints]:
        """Delays for every value: of pairs that are about to be initiated for the first time."""
        known = self.pairs.count
        for cells, rows, _ in self._found:
            begun = rows[:, 1] <= INITIATE
            self.pairs.intern([cells[begun], np.ascontiguousarray(rows[begun, 2])], int(begun.sum()))
        pairs = self.pairs.keys[known:]
        k = len(self.stores)
        new = []
        for plan in self._open_plans:
            mine = pairs[pairs[:, 0] % k == plan.fluent]
            if len(mine):
                new.append(self._delay_rows(plan, self.stores[plan.fluent], mine[:, 0] // k, mine[:, 1]))
        return new

    def _delay_rows(self, plan: DelayPlan, store: FluentStore, ids: Ints, values: Ints) -> Ints:
        keys = store.instances.keys[ids]
        columns = {s.name: keys[:, i] for i, s in enumerate(plan.slots) if s.name is not None}
        keep = np.ones(len(ids), np.bool_)
        for i, s in enumerate(plan.slots):
            if s.name is None:
                keep &= keys[:, i] == s.code
        frame = Frame(np.full(len(ids), NOW), columns, np.arange(len(ids))).take(keep)
        reader = Reader(before=False)
        frame = run_steps(plan.steps, frame, reader)
        postponable = np.zeros(len(ids), np.int64)
        if plan.postponable is not None:
            postponable[run_steps(plan.postponable, frame, reader).origin] = 1
        lengths = plan.delay.column(frame).view(np.float64)
        rows = np.empty((len(frame), 5), np.int64)
        rows[:, 0] = values[frame.origin]
        rows[:, 1] = NONE if plan.target is None else plan.target.column(frame)
        rows[:, 2] = lengths.astype(np.int64)
        if ((rows[:, 2] < 1) | (rows[:, 2] != lengths)).any():
            raise ValueError(f"a delayed effect of {store.name} has a delay that is no positive whole number")
        rows[:, 3] = postponable[frame.origin]
        rows[:, 4] = self._cells(plan.fluent, ids[frame.origin])
        rows = rows[rows[:, 0] != rows[:, 1]]
        once = KeyTable(5)
        once.intern([np.ascontiguousarray(rows[:, c]) for c in range(5)], len(rows))
        return once.keys

    # ----------------------------------------------------------------- evaluation

    def seed(self, store: FluentStore, ids: Ints, times: Ints, values: Ints) -> None:
        """Initiations that are there before the stream."""
        rows = np.full((len(ids), self.width), -1)
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, -1] = times, GREET, values, 1
        fluent = next(i for i, s in enumerate(self.stores) if s is store)
        self._found.append((self._cells(fluent, ids), rows, np.full(len(ids), TIME)))

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        for head in self.heads:
            if not head.body.affected(after):
                continue
            for reader, sign in ((before, -1), (after, 1)):
                frame = head.frame(reader, clock)
                if len(frame):
                    self._found.append((*self._candidates(frame, head, sign), frame.cause))
        return bool(self._found) or (self.plans != [] and bool((self.due[: self.cells] <= clock.query).any()))

    def _candidates(self, frame: Frame, head: Head, sign: int) -> tuple[Ints, Ints]:
        ids, rows = _rows(frame, head, sign, self.width)
        rows[:, 3:-1] = -1
        for c, condition in enumerate(head.conditions):
            store = self.stores[condition.fluent]
            known = store.intern([s.column(frame) for s in condition.slots], len(frame))
            rows[:, 3 + 2 * c] = 2 * self._cells(condition.fluent, known) + condition.negated
            rows[:, 4 + 2 * c] = ANY if condition.value is None else condition.value.column(frame)
        fluent = next(i for i, s in enumerate(self.stores) if s is head.store)
        return self._cells(fluent, ids), rows

    def apply(self, clock: Clock, *, round: bool) -> bool:
        self._grow()
        causes: Ints | None = None
        cells = np.empty(0, np.int64)
        rows = np.empty((0, self.width), np.int64)
        touched = cells
        once = False
        if self._found:
            cells = np.concatenate([f[0] for f in self._found])
            rows = np.concatenate([f[1] for f in self._found])
            causes = np.concatenate([f[2] for f in self._found]) if clock.causes else None
            self._found = []
            if self.linked:
                unite(self.parents, self.rings, cells, rows)
            once = clock.tumbling and not round and _fresh(rows, clock.final)
            if once:
                touched = distinct(cells)
            else:
                gone, came = self.candidates.merge(cells, rows)
                touched = distinct(np.concatenate([gone[0], came[0]]))
        late = np.flatnonzero(self.due[: self.cells] <= clock.query) if self.plans else np.empty(0, np.int64)
        wanted = np.union1d(touched, late) if len(late) else touched
        if self._all:
            wanted, self._all = np.arange(self.cells), False
        if not len(wanted):
            for store in self.stores:
                store.effects = Moves.none(store.arity + 3)
            nothing = np.empty(0, np.int64)
            self.announce(clock, Version.LAST, [(nothing, nothing)] * len(self.stores))
            return False
        settled = (clock.query if clock.tumbling and not round else clock.final) - 1
        changed = self._sweep(clock, settled, wanted, cells, rows if once else rows[:0], causes)
        if once:
            edge = rows[:, 0] >= clock.query
            if edge.any():
                self.candidates.merge(cells[edge], rows[edge])
        return changed

    def _sweep(
        self, clock: Clock, settled: int, wanted: Ints, changed: Ints, fresh: Ints, causes: Ints | None
    ) -> bool:
        """Sweep the groups of the wanted cells, and keep what is found."""
        cells, out, logged = self._run(wanted, changed, fresh, settled, clock.query, clock.tick)
        log = any(s.reads_points for s in self.stores)
        trim(
            self.candidates.offsets,
            self.candidates.lengths,
            self.candidates.rooms,
            self.candidates.pool,
            cells,
            self.carry_time,
        )
        self.candidates.touch(cells)
        cells = np.sort(cells)
        why = np.full(len(cells), TIME)
        if causes is not None and len(changed):
            best = np.full(self.cells, TIME)
            np.maximum.at(best, changed, causes)
            if self.linked:
                self._spread(best, changed)
            why = best[cells]
        touched = self._write(out, cells, why, clock)
        if log:
            self._log(logged, cells, clock)
        return self.announce(clock, Version.LAST, touched) or any(bool(s.effects) for s in self.stores)

    def _run(
        self, wanted: Ints, changed: Ints, fresh: Ints, settled: int, until: int, tick: int
    ) -> tuple[Ints, Ints, Ints]:
        """Sweep the groups of the wanted cells over their stored candidates and the fresh ones (of the cells
        `changed`), up to `until`; move the carry up to `settled`. Returns the cells, their intervals and effects."""
        if self.linked:
            self._stamp += 1
            cells, starts = members(self.parents, self.rings, wanted, self._marks, self._stamp)
        else:
            cells, starts = wanted, np.arange(len(wanted) + 1)
        rows, sizes = self.candidates.gather(cells, Version.NOW)
        row_cells = np.repeat(cells, sizes)
        if len(fresh):
            rows, row_cells = np.concatenate([rows, fresh]), np.concatenate([row_cells, changed])
        row_starts = np.zeros(len(starts), np.int64)
        if len(rows):
            self._rank[cells] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            group = self._rank[row_cells]
            if self.linked or len(fresh):
                order = order_by(group, np.ascontiguousarray(rows[:, 0]))
                rows, row_cells, group = rows[order], row_cells[order], group[order]
            row_starts = np.searchsorted(group, np.arange(len(starts)))
        log = any(s.reads_points for s in self.stores)
        out, n, logged, n_log = sweep(
            cells,
            starts,
            rows,
            row_cells,
            row_starts,
            self.carry,
            self.carry_time,
            self.first_delay,
            self.last_delay,
            self.delays,
            self.carry_since,
            self._state,
            self.since,
            self.due,
            settled,
            until,
            tick,
            log,
        )
        return cells, out[:n], logged[:n_log]

    def _spread(self, best: Ints, changed: Ints) -> None:
        """Give every member of a group the group's largest cause."""
        self._stamp += 1
        cells, starts = members(self.parents, self.rings, changed, self._marks, self._stamp)
        if len(cells):
            group = np.maximum.reduceat(best[cells], starts[:-1])
            best[cells] = np.repeat(group, np.diff(starts))

    def _write(self, out: Ints, cells: Ints, why: Ints, clock: Clock) -> list[tuple[Ints, Ints]]:
        """Store the swept timelines, fluent by fluent."""
        k = len(self.stores)
        order = np.argsort(out[:, 0], kind="stable")
        out = out[order]
        touched = []
        for at, store in enumerate(self.stores):
            mine = cells % k == at
            ids = cells[mine] // k
            known = ids < store.instances.count
            ids, causes = ids[known], why[mine][known]
            part = out[out[:, 0] % k == at] if k > 1 else out
            starts = np.searchsorted(part[:, 0] // k, np.append(ids, OPEN))
            lists = store.lists
            lists.reserve(len(part))
            lists.used = write_lists(
                lists.offsets,
                lists.lengths,
                lists.rooms,
                lists.pool,
                lists.used,
                ids,
                part[:, 1:],
                starts,
                clock.final,
            )
            lists.touch(ids)
            self.note(at, ids, causes)
            touched.append((ids, causes))
        return touched

    def _log(self, logged: Ints, cells: Ints, clock: Clock) -> None:
        """Keep the effects that took place as points, for rules that read initiatedAt and terminatedAt."""
        k = len(self.stores)
        for at, store in enumerate(self.stores):
            if not store.reads_points:
                continue
            ids = cells[cells % k == at] // k
            ids = ids[ids < store.instances.count]
            old, sizes = store.points.gather(ids, Version.NOW)
            old_ids = np.repeat(ids, sizes)
            mine = logged[logged[:, 0] % k == at]
            new = np.empty((len(mine), 4), np.int64)
            new[:, :3] = mine[:, 1:]
            new[:, 3] = 1
            live = old[:, 0] >= clock.final
            old, old_ids = old[live], old_ids[live]
            old[:, 3] = -1
            new = np.unique(np.column_stack([mine[:, 0] // k, new]), axis=0)
            new = new[new[:, 1] >= clock.final]
            gone, came = store.points.merge(np.concatenate([old_ids, new[:, 0]]), np.concatenate([old, new[:, 1:]]))
            touched = distinct(np.concatenate([gone[0], came[0]]))
            self.keep_effects(store, _effect_moves(store, gone, came, touched, np.full(len(touched), TIME)))

    def forget(self, clock: Clock) -> None:
        """Move the carry up to the final point, and drop the candidates."""
        self._grow()
        every = np.arange(self.cells)
        if self.cells:
            early = clock.final - 1
            self._run(every, np.empty(0, np.int64), np.empty((0, self.width), np.int64), early, early, clock.tick)
        self.candidates.clear()
        self._all = True
        super().forget(clock)

    def commit_memories(self, final: int) -> None:
        self.candidates.commit()

    def resize(self) -> None:
        """After a snapshot was put in: scratch space to match."""
        self.cells = max(s.instances.count for s in self.stores) * len(self.stores)
        self.candidates.ensure(self.cells)
        self._marks = np.zeros(len(self.carry_time), np.int64)
        self._state = np.zeros((len(self.carry_time), 3), np.int64)
        self._rank = np.zeros(len(self.carry_time), np.int64)

    # ----------------------------------------------------------------- pending countdowns

    def pending(self) -> Pending:
        """Countdowns that run."""
        running = np.flatnonzero(self.since[: self.n_delays] != NONE)
        rows = self.delays[running]
        k = len(self.stores)
        return Pending(
            rows[:, 4] % k,
            rows[:, 4] // k,
            rows[:, 0],
            rows[:, 1],
            self.since[running] + rows[:, 2],
            self.since[running],
        )
