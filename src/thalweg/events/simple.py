"""A simple fluent: the points that its rules bring, and what inertia makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.columns import fresh
from thalweg.columns.compiled import owned
from thalweg.columns.gathering import TIME, cause_by_id
from thalweg.columns.journal import REMOVED, Noted
from thalweg.columns.points import Bench, Thinner
from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.slabs import LENGTH, OFFSET
from thalweg.columns.sorting import group_starts
from thalweg.columns.timelines import GREET, rebuild
from thalweg.events.frames import Frame, Reader
from thalweg.events.stores import FluentStore, Writer
from thalweg.events.units import Clock, FluentUnit, Head, effect_moves, given, read_by
from thalweg.protocol import Ints


@dataclass(slots=True)
class Found:
    """Points of one rule: one kind, added (sign 1) or taken away (-1); one value for each, or one for all."""

    ids: Ints
    times: Ints
    kind: int
    values: Ints
    sign: int
    causes: Ints | None


class SimpleUnit(FluentUnit):
    """A simple fluent that neither depends on itself (or is evaluated in a loop) nor has delayed effects."""

    def __init__(self, store: FluentStore, heads: Sequence[Head], bench: Bench) -> None:
        super().__init__([store], read_by(heads))
        store.keeps_points = True
        store.points.ensure(store.instances.count)
        self.store = store
        self.heads = list(heads)
        self._found: list[Found] = []
        self._thin = Thinner(bench)

    def seed(self, store: FluentStore, ids: Ints, times: Ints, values: Ints) -> None:
        """Initiations that are there before the stream."""
        self._found.append(Found(ids, times, GREET, values, 1, np.full(len(ids), TIME)))

    def due(self, clock: Clock) -> bool:
        return bool(self._found)

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        for head in self.heads:
            for frame, sign in head.changes(before, after, clock):
                cause = frame.cause if clock.causes else None
                self._found.append(Found(*head_points(frame, head), sign, cause))
        return bool(self._found)

    def apply(self, clock: Clock, *, round: bool) -> bool:
        store = self.store
        if not self._found:
            if round:
                self.announce_nothing(clock)
            return False
        found, self._found = self._found, []
        if clock.once and not round and not store.reads_points and all(f.sign > 0 for f in found):
            once = self._once(found, clock)
            if once is not None:
                return self.renew(clock, [once])
        if self._notes(clock, round=round):
            return self._noted(found, clock)
        came = gone = None
        ids = np.concatenate([f.ids for f in found])
        rows = np.concatenate([point_rows(f.times, f.kind, f.values, f.sign) for f in found])
        causes = np.concatenate([given(f.causes) for f in found]) if clock.causes else None
        if store.reads_points:
            gone, came = store.points.merge(ids, rows)
            touched, first, last = _touched(gone, came)
            starts, sizes = (store.points.table[touched, c].astype(np.int64) for c in (OFFSET, LENGTH))
            ends = starts + sizes
        else:
            if clock.tumbling:  # earlier windows left only the points of their very end
                store.points.expiry = max(store.points.expiry, clock.final - 1)
            touched, starts, ends, first, last = store.points.insert(ids.copy() if clock.causes else ids, rows)
        points = Noted(touched, starts, ends, first, last, last[:0], store.points.pool)
        touched = self._rebuild(points, clock)
        why = cause_by_id(touched, ids, causes)
        self.note(0, touched, why)
        if gone is not None and came is not None and store.reads_points:
            self.keep_effects(store, effect_moves(store, gone, came, touched, why, clock.previous))
        return self.announce(clock, Version.LAST, [(touched, why)]) or bool(store.effects)

    def _notes(self, clock: Clock, *, round: bool) -> bool:
        """Do points go to a journal?"""
        points = self.store.points
        again = round or clock.tumbling or clock.recompute or self.store.reads_points
        return not again and points.count >= points.MANY

    def _noted(self, found: Sequence[Found], clock: Clock) -> bool:
        """`apply`, where points are noted and only those are looked at that change something."""
        parts = [(f.ids, f.times, f.kind if f.sign > 0 else f.kind - REMOVED, f.values) for f in found]
        touched = self._rebuild(self.store.points.note(parts, self.store.lists, clock.tick), clock)
        why = np.full(len(touched), TIME)
        if clock.causes:
            ids, causes = (np.concatenate(x) for x in zip(*((f.ids, given(f.causes)) for f in found), strict=True))
            why = cause_by_id(touched, ids, causes)
        self.note(0, touched, why)
        return self.announce(clock, Version.LAST, [(touched, why)])

    def _rebuild(self, noted: Noted, clock: Clock) -> Ints:
        """New timelines of instances whose points changed; returns which these are."""
        lists, points = self.store.lists, (noted.starts, noted.ends, noted.points)
        times = noted.first, noted.last, noted.until
        new = rebuild(*points, lists.table, lists.pool, noted.ids, *times, clock.tick)
        lists.replace(*new, clock.final)
        return new[0]

    def _once(self, found: Sequence[Found], clock: Clock) -> tuple[Ints, Writer] | None:
        """Points that no later query needs: thinned, sorted, used, and forgotten, but for those of the query time
        itself. None where one would revise what is final."""
        parts = [(f.ids, f.times, f.kind, f.values) for f in found]
        lists = self.store.lists
        touched, starts, rows, low, last = self._thin(parts, self.store.instances.count, lists.table, lists.pool)
        final = clock.final
        if low <= final:
            return None
        if last >= clock.needed_from:
            self._keep_last(found, clock.needed_from)
        tick = clock.tick

        def write(lists: Ragged, first: int) -> tuple[int, int, int]:
            return fresh.replay(
                starts, rows, lists.table, lists.past, lists.pool, lists.used, touched, first, tick, final
            )

        self.store.lists.reserve(len(rows) + 2 * len(touched))
        return touched, write

    def _keep_last(self, found: Sequence[Found], needed_from: int) -> None:
        """Keep the points that concern the next query too."""
        ids, rows = [], []
        for f in found:
            last = (f.times >= needed_from).nonzero()[0]
            if len(last):
                values = f.values if len(f.values) == 1 else f.values[last]
                ids.append(f.ids[last])
                rows.append(point_rows(f.times[last], f.kind, values, 1))
        self.store.points.merge(np.concatenate(ids), np.concatenate(rows))


def head_points(frame: Frame, head: Head) -> tuple[Ints, Ints, int, Ints]:
    """Instance ids, times, kind and values of a frame's solutions: one value for each, or one for all."""
    store = head.store
    assert isinstance(store, FluentStore)
    ids = store.intern([s.column(frame) for s in head.slots], frame.length)
    times = frame.time
    times = times + head.shift if head.shift else owned(times)
    value = head.value
    if value is None or value.name is None:
        return ids, times, head.kind, head.one_value
    return ids, times, head.kind, owned(value.column(frame))


def point_rows(times: Ints, kinds: Ints | int, values: Ints, sign: int) -> Ints:
    """Counted points (time, kind, value, count)."""
    rows = np.empty((len(times), 4), np.int64)
    rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = times, kinds, values, sign
    return rows


def extents(ids: Ints, times: Ints) -> tuple[Ints, Ints, Ints]:
    """Each id once, with its first and last time."""
    if len(ids) > 1 and (ids[1:] < ids[:-1]).any():
        order = np.argsort(ids, kind="stable")
        ids, times = ids[order], times[order]
    starts = group_starts(ids)[:-1]
    return ids[starts], np.minimum.reduceat(times, starts), np.maximum.reduceat(times, starts)


def _touched(gone: tuple[Ints, Ints], came: tuple[Ints, Ints]) -> tuple[Ints, Ints, Ints]:
    ids = np.concatenate([gone[0], came[0]])
    if not len(ids):
        return ids, ids, ids
    return extents(ids, np.concatenate([gone[1][:, 0], came[1][:, 0]]))
