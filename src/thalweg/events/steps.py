"""Steps that look something up: events, fluents, effects, facts; and those that run a body of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thalweg.columns.symbols import numbers
from thalweg.events.arithmetic import value_of
from thalweg.events.frames import (
    ORIGIN,
    Asked,
    Fixed,
    Frame,
    Held,
    Match,
    Matched,
    Reader,
    Slot,
    Step,
    concat,
    constant,
    is_constant,
    run_steps,
)
from thalweg.events.stores import EventStore, FactStore, FluentStore
from thalweg.language.rules import Edge, Effect
from thalweg.language.terms import Term
from thalweg.protocol import Ints


@dataclass(slots=True)
class EventStep:
    """``[not] happensAt``: rows of an index at the frame's time."""

    store: EventStore
    match: Match
    negated: bool

    def moved(self) -> bool:
        return bool(self.store.moves)

    def run(self, frame: Frame, reader: Reader) -> Frame:
        index = self.store.index(self.match.positions)
        keys = self.match.keys(frame)
        if self.negated and self.match.binds_once:
            rows = index.absent(keys, frame.time, reader.version(self.store))
            return frame.take(rows) if len(rows) < len(frame) else frame
        ids = index.keys.find(keys, len(frame))
        at, which = index.lists.ranges(ids, frame.time, frame.time + 1, reader.version(self.store))
        pool = index.lists.pool
        if self.negated:
            which = self.match.extend(_numbered(frame), which, lambda p: pool[:, 1 + p][at]).origin
            keep = np.ones(len(frame), np.bool_)
            keep[which] = False
            return frame.take(keep)
        return self.match.extend(frame, which, lambda p: pool[:, 1 + p][at])


def _numbered(frame: Frame) -> Frame:
    """The frame with its own row numbers as origin."""
    return frame.extend({ORIGIN: np.arange(len(frame))})


@dataclass(slots=True)
class HoldsStep:
    """``[not] holdsAt``, and ``start``/``end`` where `edge` is given. `value` is None when it is part of the key."""

    store: FluentStore
    match: Match
    value: Slot | None
    negated: bool
    tick: int
    edge: Edge | None = None
    shift: int = 0
    _asked: Asked = field(init=False)
    _wanted: Ints = field(init=False)
    """The value that is asked for, if it is a constant; otherwise nothing."""

    def __post_init__(self) -> None:
        self._asked = Asked(self.store, self.match.slots)
        given = self.value is not None and self.value.name is None
        self._wanted = np.full(int(given), self.value.code if self.value is not None else 0)

    def moved(self) -> bool:
        return bool(self.store.stretches)

    def run(self, frame: Frame, reader: Reader) -> Frame:
        store = self.store
        if self.match.complete:
            times = frame.time + self.shift if self.shift else frame.time
            rows, values = self._hits(frame, None, self._asked.ids(frame), times, reader, negated=self.negated)
            out = frame.take(rows) if len(rows) < len(frame) else frame
            if self._binds and not self.negated:
                assert self.value is not None and self.value.name is not None
                return out.bind(self.value.name, values)
            return out
        ids, which, values = self._among(frame, reader)
        last = len(self.match.slots)
        pair = self.match if self.value is None else Match((*self.match.slots, self.value))
        found = pair.extend(
            _numbered(frame) if self.negated else frame,
            which,
            lambda p: values if p == last else store.instances.column(p, ids),
        )
        if not self.negated:
            return found
        keep = np.ones(len(frame), np.bool_)
        keep[found.origin] = False
        return frame.take(keep)

    def _among(self, frame: Frame, reader: Reader) -> tuple[Ints, Ints, Ints]:
        """The instances for which the literal is true, the row of each, and the values."""
        if self.edge is not None:
            ids, which = self.store.match(self.match.positions, self.match.keys(frame), len(frame))
            rows, values = self._hits(frame, which, ids, frame.time[which] + self.shift, reader, negated=False)
            return ids[rows], which[rows], values
        held = self._held(frame, reader)
        if self.value is None or self.value.binds:
            return held.ids[held.rows], held.which[held.rows], held.values
        wanted = self.value.code if self.value.name is None else frame[self.value.name][held.which[held.rows]]
        here = np.flatnonzero(held.values == wanted)
        rows = held.rows[here]
        return held.ids[rows], held.which[rows], held.values[here]

    def _held(self, frame: Frame, reader: Reader) -> Held:
        """What the instances hold that agree with the frame's rows; what another literal has found is used again."""
        columns = [frame.time, *self.match.keys(frame)]
        bound = [self.match.slots[p] for p in self.match.positions]
        same = [s.code if s.name is None else id(c) for s, c in zip(bound, columns[1:], strict=True)]
        key = id(self.store), self.match.positions, self.shift, len(frame), id(frame.time), *same
        found = reader.held.get(key)
        if found is None:
            ids, which = self.store.match(self.match.positions, columns[1:], len(frame))
            times, none = frame.time[which] + self.shift, np.empty(0, np.int64)
            rows, values = self.store.holding(ids, times, none, reader.version(self.store), values=True)
            found = reader.held[key] = Held(columns, ids, which, rows, values)
        return found

    @property
    def _binds(self) -> bool:
        return self.value is not None and self.value.binds

    def _hits(
        self, frame: Frame, which: Ints | None, ids: Ints, times: Ints, reader: Reader, *, negated: bool
    ) -> tuple[Ints, Ints]:
        """Positions of the instances for which the literal is true (or is not), and the values there."""
        wanted = self._wanted
        if self.value is not None and self.value.name is not None and not self.value.binds:
            wanted = frame[self.value.name] if which is None else frame[self.value.name][which]
            wanted = np.full(1, wanted[0]) if is_constant(wanted) else np.ascontiguousarray(wanted)
        version = reader.version(self.store)
        if self.edge is None:
            return self.store.holding(ids, times, wanted, version, negated=negated, values=self._binds)
        at = self.store.edge_at(ids, times, self.edge, self.tick, version)
        pool = self.store.lists.pool
        hit = at >= 0
        if len(wanted):
            hit &= pool[:, 2][at] == wanted
        rows = np.flatnonzero(hit != negated)
        return rows, pool[:, 2][at[rows]]


@dataclass(slots=True)
class EffectStep:
    """``[not] initiatedAt/terminatedAt`` as a body literal: the points of another pair at the frame's time."""

    store: FluentStore
    match: Match
    value: Slot
    effect: Effect
    negated: bool
    every: bool = False

    def moved(self) -> bool:
        return bool(self.store.effects)

    def run(self, frame: Frame, reader: Reader) -> Frame:
        store, n = self.store, len(frame)
        if self.match.complete:
            ids, which = store.find(self.match.keys(frame), n), np.arange(n)
        else:
            ids, which = store.match(self.match.positions, self.match.keys(frame), n)
        times = frame.time[which]
        at, nth = store.points.ranges(ids, times, times + 1, reader.version(store))
        rows = store.points.pool[at]
        ids, which = ids[nth], which[nth]
        keep = rows[:, 1] == (0 if self.effect is Effect.INITIATES else 2 if self.every else 1)
        if not self.value.binds:
            keep &= rows[:, 2] == self.value.column(frame)[which]
        ids, which, values = ids[keep], which[keep], rows[keep, 2]
        slots = (*self.match.slots, self.value)
        last = len(slots) - 1
        found = Match(slots).extend(
            _numbered(frame) if self.negated else frame,
            which,
            lambda p: values if p == last else store.instances.column(p, ids),
        )
        if not self.negated:
            if self.match.complete and not self.value.binds:
                mask = np.zeros(n, np.bool_)
                mask[which] = True
                return frame.take(mask)
            return found
        mask = np.ones(n, np.bool_)
        mask[found.origin] = False
        return frame.take(mask)


@dataclass(slots=True)
class FactStep(Fixed):
    """``[not]`` a background fact."""

    store: FactStore
    match: Match
    negated: bool

    alone: Ints | None = None
    """Where only constants are given: the facts that agree with them, the same for every row."""

    def run(self, frame: Frame, reader: Reader) -> Frame:
        slots = [self.match.slots[p] for p in self.match.positions]
        if all(slot.name is None for slot in slots):
            if self.alone is None:
                self.alone = self.store.match(self.match.positions, [np.full(1, s.code) for s in slots], 1)[0]()
            alone = self.alone
            if not len(alone):
                return frame if self.negated else self.match.extend(frame, alone, lambda p: alone)
            if len(self.alone) == 1 and not self.negated:
                keys = self.store.rows.keys[self.alone[0]]
                return self.match.extend(frame, None, lambda p: constant(keys[p], len(frame)))
        found = self._matched(slots, frame, reader)
        if self.negated:
            rows = self.match.extend(_numbered(frame), found.which, found.column)
            keep = np.ones(len(frame), np.bool_)
            keep[rows.origin] = False
            return frame.take(keep)
        return self.match.extend(frame, found.which, found.column)

    def _matched(self, slots: list[Slot], frame: Frame, reader: Reader) -> Matched:
        """The facts for the frame's rows; what another rule has found for the same columns is used again."""
        columns = self.match.keys(frame)
        same = [(s.name is None, s.code if s.name is None else id(c)) for s, c in zip(slots, columns, strict=True)]
        key = (id(self.store), len(frame), self.match.positions, *same)
        found = reader.matches.get(key)
        if found is None:
            found = reader.matches[key] = Matched(self.store, self.match.positions, columns, len(frame))
        return found


# --------------------------------------------------------------------------- inner bodies


@dataclass(slots=True)
class MissingStep:
    """``\\+ (body)``, or with `negated` false "some solution"."""

    bodies: list[list[Step]]
    negated: bool

    def moved(self) -> bool:
        return any(step.moved() for steps in self.bodies for step in steps)

    def run(self, frame: Frame, reader: Reader) -> Frame:
        found = np.zeros(len(frame), np.bool_)
        for steps in self.bodies:
            found[run_steps(steps, _numbered(frame), reader).origin] = True
        return frame.take(~found if self.negated else found)


@dataclass(slots=True)
class TotalStep:
    """findall with length, sum_list, min_list or max_list."""

    function: str
    steps: list[Step]
    template: Term
    name: str | None
    wanted: Term

    def moved(self) -> bool:
        return any(step.moved() for step in self.steps)

    def run(self, frame: Frame, reader: Reader) -> Frame:
        inner = run_steps(self.steps, _numbered(frame), reader)
        n = len(frame)
        counts = np.bincount(inner.origin, minlength=n).astype(np.float64)
        if self.function == "count":
            totals = counts
        else:
            values = value_of(self.template, inner)
            if self.function == "sum":
                totals = np.bincount(inner.origin, weights=values, minlength=n).astype(np.float64)
            else:
                totals = np.full(n, np.inf if self.function == "min" else -np.inf)
                ufunc = np.minimum if self.function == "min" else np.maximum
                ufunc.at(totals, inner.origin, values)
                frame, totals = frame.take(counts > 0), totals[counts > 0]
        if self.name is not None:
            return frame.bind(self.name, numbers(totals))
        return frame.take(totals == value_of(self.wanted, frame))


@dataclass(slots=True)
class EitherStep:
    """One of several ways to run a literal (a fluent that is kept in two stores)."""

    ways: list[Step]

    def moved(self) -> bool:
        return any(way.moved() for way in self.ways)

    def run(self, frame: Frame, reader: Reader) -> Frame:
        return concat([way.run(frame, reader) for way in self.ways])
