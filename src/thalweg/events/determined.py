"""Units of determined fluents and of input fluents: timelines renewed where their inputs changed.

The heads that a change touches are evaluated in the stretch that it touches; what lies outside it, and what lies
before the window, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.columns import spans
from thalweg.columns.gathering import TIME, cause_by_id, hulls
from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.sorting import distinct, group_starts
from thalweg.columns.timelines import OPEN
from thalweg.events.evaluation import SpanPlan, Touched, replace_stretches
from thalweg.events.frames import Reader
from thalweg.events.hindsight import hindsight, unseen_starts
from thalweg.events.moves import NEVER
from thalweg.events.pointwise import judge, judged, pointwise, writer
from thalweg.events.stores import FluentStore, Writer
from thalweg.events.units import Clock, FluentUnit
from thalweg.protocol import Ints, Mask

_NOBODY = np.empty(0, np.int64)


class SpanUnit(FluentUnit):
    """A determined fluent: the union of its rules."""

    def __init__(self, store: FluentStore, plans: Sequence[SpanPlan]) -> None:
        super().__init__([store], frozenset(id(s) for plan in plans for s in plan.stores()))
        self.store = store
        self.plans = list(plans)
        self._found: list[Touched] = []
        self._pointwise, self._judged = pointwise(plans), judged(plans)
        self.looks_back = False
        """May query times see a point after them otherwise, where several are evaluated in one go?"""

    def _one_pass(self, heads: Ints, lows: Ints, clock: Clock) -> Writer | None:
        """Writes all lists in one pass over their inputs, where that can be. Complements have nothing before the
        start."""
        if not clock.once or clock.first < clock.start or self.store.keeps_past:
            return None
        if self._judged is not None:
            return judge(self._judged, heads, lows, clock)
        return None if self._pointwise is None else writer(self._pointwise, heads, lows, clock.final)

    def due(self, clock: Clock) -> bool:
        return any(plan.due(clock.last) for plan in self.plans)

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        for plan in self.plans:
            touched = plan.touched(self.store, clock.last)
            if clock.recompute and after.first_round:
                touched = Touched.everywhere(np.arange(plan.bindings.count))
            if len(touched.ids):
                heads = plan.heads[touched.ids]
                self._found.append(Touched(heads, touched.causes, touched.lows, touched.highs))
        return bool(self._found)

    def apply(self, clock: Clock, *, round: bool) -> bool:
        changed, touched = False, _NOBODY
        if self._found:
            found = Touched.together(self._found)
            self._found = []
            changed, touched = self._write(found, clock, round=round), found.ids
        elif round:
            self.announce_nothing(clock)
        if clock.step and self.looks_back:
            self.store.hindsight = hindsight(self.store, self.plans, distinct(touched), clock)
        return changed

    def _write(self, found: Touched, clock: Clock, *, round: bool) -> bool:
        heads, lows, highs, causes = hulls(found.ids, found.lows, found.highs, found.causes)
        lows = np.maximum(lows, clock.first)
        write = None if round else self._one_pass(heads, lows, clock)
        if write is not None:
            return self.renew(clock, [(heads, write)])
        self._renew(heads, lows, np.maximum(lows, highs), clock)
        self.note(0, heads, causes)
        return self.announce(clock, Version.LAST, [(heads, causes)])

    def _renew(self, heads: Ints, lows: Ints, highs: Ints, clock: Clock) -> None:
        """The lists of the heads: every rule's, united, where they may have changed."""
        places = []
        for plan in self.plans:
            bindings = distinct(plan.of_heads(heads))
            at = np.searchsorted(heads, plan.heads[bindings])
            where = plan.where(bindings, lows[at], highs[at])
            plan.prepare(where, clock)
            places.append((plan, where, at))
        for _, where, at in places:
            np.minimum.at(lows, at, where.lows)
            np.maximum.at(highs, at, where.highs)
        owners: list[Ints] = []
        batches: list[spans.Batch] = []
        for plan, where, at in places:
            where.lows, where.highs = lows[at], highs[at]
            owners.append(at)
            batches.append(plan.evaluate(where, clock))
        new = _united(len(heads), owners, batches)
        expiry = NEVER if self.store.keeps_past else clock.final
        replace_stretches(self.store.lists, heads, lows, highs, new, expiry)

    def commit(self) -> None:
        super().commit()
        for plan in self.plans:
            for memory in plan.memories:
                memory.commit()


def _united(n: int, owners: Sequence[Ints], batches: Sequence[spans.Batch]) -> spans.Batch:
    """The union of the lists of each owner 0 .. n-1."""
    if len(batches) == 1 and len(owners[0]) == n:
        order = np.argsort(owners[0], kind="stable")
        offsets, lengths, pool = batches[0]
        return offsets[order], lengths[order], pool
    shifts = np.cumsum([0, *(len(b[2]) for b in batches[:-1])])
    owner = np.concatenate(owners)
    offsets = np.concatenate([b[0] + s for b, s in zip(batches, shifts, strict=True)])
    lengths = np.concatenate([b[1] for b in batches])
    pool = np.concatenate([b[2][:, :2] for b in batches])
    order = np.argsort(owner, kind="stable")
    starts = group_starts(owner[order])
    return spans.unite_groups(starts, offsets[order], lengths[order], pool)


class ViewUnit(FluentUnit):
    """A simple fluent by value: each pair an instance of its own, for rules that ask for every value's intervals."""

    def __init__(self, store: FluentStore, source: FluentStore) -> None:
        super().__init__([store], frozenset({id(source)}))
        self.store = store
        self.source = source
        self._found: tuple[Ints, Ints] | None = None

    def due(self, clock: Clock) -> bool:
        return False

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        stretches = self.source.stretches
        if clock.recompute and after.first_round:
            ids = np.arange(self.source.instances.count)
            self._found = ids, np.full(len(ids), TIME)
        elif stretches and after.sees(self.source):
            ids = distinct(stretches.ids)
            self._found = ids, cause_by_id(ids, stretches.ids, stretches.causes)
        return self._found is not None

    def apply(self, clock: Clock, *, round: bool) -> bool:
        if self._found is None:
            if round:
                self.announce_nothing(clock)
            return False
        (ids, causes), self._found = self._found, None
        rows, sizes = self.source.lists.gather(ids, Version.NOW)
        keys = self.source.instances.keys
        owner = np.repeat(np.arange(len(ids)), sizes)
        columns = [keys[ids[owner], c] for c in range(keys.shape[1])]
        pairs = self.store.intern([*columns, np.ascontiguousarray(rows[:, 2])], len(rows))
        arity = self.store.arity
        known, which = self.store.match(tuple(range(arity)), [keys[ids, c] for c in range(arity)], len(ids))
        order = np.argsort(pairs, kind="stable")
        touched, first = np.unique(known, return_index=True)
        starts = np.searchsorted(pairs[order], np.append(touched, OPEN))
        new = spans.unite_sorted(starts, rows[order])
        lows, highs = np.full(len(touched), clock.first), np.full(len(touched), OPEN)
        replace_stretches(self.store.lists, touched, lows, highs, new, clock.final)
        why = causes[which[first]]
        self.note(0, touched, why)
        return self.announce(clock, Version.LAST, [(touched, why)])


class InputUnit(FluentUnit):
    """An input fluent: intervals as they arrive, united per pair. An end that lies ahead shows when it is reached."""

    def __init__(self, store: FluentStore) -> None:
        super().__init__([store])
        self.store = store
        self.given = Ragged(3, clock=1, ordered=False)
        self._found: list[Touched] = []
        self.ahead = np.empty((0, 2), np.int64)  # last point, instance
        self._longest = np.zeros(0, np.int64)
        self._measured: Ragged | None = None

    def feed(self, ids: Ints, intervals: Ints, there: Ints, causes: Ints | None) -> None:
        """Intervals (start, end) that are there (1) or not (0) from this query on."""
        self.given.ensure(self.store.instances.count)
        self.given.merge(ids, np.column_stack([intervals, there]), assign=True)
        self._measure(ids, intervals)
        why = np.full(len(ids), TIME) if causes is None else causes
        self._found.append(Touched(ids, why, intervals[:, 0].copy(), intervals[:, 1].copy()))

    def _measure(self, ids: Ints, intervals: Ints) -> None:
        """Keep the length of the longest interval of each instance; an open one is longer than any."""
        if self._measured is not self.given:
            self._longest = np.zeros(self.given.count, np.int64)
            self._measured = self.given
            rows, owners = self.given.everything(Version.NOW)
            ids, intervals = np.concatenate([owners, ids]), np.concatenate([rows[:, :2], intervals])
        if len(self._longest) < self.given.count:
            room = np.zeros(max(self.given.count, 2 * len(self._longest)), np.int64)
            room[: len(self._longest)] = self._longest
            self._longest = room
        sizes = np.where(intervals[:, 1] == OPEN, -NEVER, intervals[:, 1] - intervals[:, 0])
        np.maximum.at(self._longest, ids, sizes)

    def present(self, ids: Ints, intervals: Ints) -> Mask:
        """Which intervals are there now."""
        self.given.ensure(self.store.instances.count)
        at, which = self.given.ranges(ids, intervals[:, 0], intervals[:, 0] + 1, Version.NOW)
        found = np.zeros(len(ids), np.bool_)
        found[which[self.given.pool[at, 1] == intervals[which, 1]]] = True
        return found

    def due(self, clock: Clock) -> bool:
        return bool(self._found) or (len(self.ahead) > 0 and bool(self.ahead[:, 0].min() <= clock.query))

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        reached = self.ahead[:, 0] <= clock.query
        if reached.any():
            ids, ends = self.ahead[reached, 1], self.ahead[reached, 0] + clock.tick
            self._found.append(Touched(ids, np.full(len(ids), TIME), ends, np.full(len(ids), OPEN)))
            self.ahead = self.ahead[~reached]
        return bool(self._found)

    def apply(self, clock: Clock, *, round: bool) -> bool:
        if not self._found:
            if round:
                self.announce_nothing(clock)
            return False
        found = Touched.together(self._found)
        self._found = []
        if clock.step:
            self.store.hindsight = unseen_starts(self.given, found.ids, found.lows, clock)
        horizon = clock.query + clock.tick
        ahead = (found.highs > horizon) & (found.highs != OPEN)
        if ahead.any():
            more = np.column_stack([found.highs[ahead] - clock.tick, found.ids[ahead]])
            self.ahead = np.unique(np.concatenate([self.ahead, more]), axis=0)
            found.highs[ahead] = OPEN
        touched, lows, highs, why = hulls(found.ids, found.lows, found.highs, found.causes)
        lows = np.maximum(lows, clock.first)
        highs = np.maximum(lows, highs)
        self._measure(np.empty(0, np.int64), np.empty((0, 2), np.int64))
        new = spans.given_in(self.given.table, self.given.pool, touched, self._longest, lows, highs, horizon)
        replace_stretches(self.store.lists, touched, lows, highs, new, clock.final)
        self.note(0, touched, why)
        return self.announce(clock, Version.LAST, [(touched, why)])

    def forget(self, clock: Clock) -> None:
        super().forget(clock)
        self.given.ensure(self.store.instances.count)
        self._found.append(Touched.everywhere(np.arange(self.store.instances.count)))

    def expire(self, final: int) -> None:
        super().expire(final)
        self.given.expiry = final

    def commit(self) -> None:
        super().commit()
        self.given.commit()

    def keep(self, ids: Ints, new_of: Ints) -> None:
        """Forget all instances but these, whose new numbers are in `new_of`."""
        self.given.keep(ids)
        self.ahead[:, 1] = new_of[self.ahead[:, 1]]
        self._measured = None
