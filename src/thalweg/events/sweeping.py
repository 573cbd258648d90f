"""The sweep unit: a component of simple fluents that depend on each other in a cycle or have delayed effects.

Rules are first joined and filtered set-at-a-time; what is left per candidate row is the time, the cell (one fluent
instance of the component), the effect, and the conditions on other cells. `columns.sweep` runs over them in time order.
The state just before the window (the carry) is kept per cell; only cells of groups that changed are swept again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.columns.keys import KeyTable
from thalweg.columns.ragged import Ragged, Version, distinct, group_starts, order_by
from thalweg.columns.sweep import ANY, NONE, members, sweep, trim, unite, write_lists
from thalweg.columns.timelines import GREET, INITIATE, OPEN
from thalweg.events.frames import Frame, Reader, Slot, Step, run_steps
from thalweg.events.stores import TIME, FluentStore, Moves
from thalweg.events.units import NOW, Clock, FluentUnit, Head, effect_moves, fresh_only, head_rows
from thalweg.protocol import Ints


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
        ids, rows = head_rows(frame, head, sign, self.width)
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
            once = clock.tumbling and not round and fresh_only(rows, clock.final)
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
            self.keep_effects(store, effect_moves(store, gone, came, touched, np.full(len(touched), TIME)))

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
