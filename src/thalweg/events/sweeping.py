"""The sweep unit: a component of simple fluents that depend on each other in a cycle or have delayed effects.

Rules are first joined and filtered set-at-a-time; what is left per candidate row is the time, the cell (one fluent
instance of the component), the effect, and the conditions on other cells. `columns.sweep` runs over them in time order.
The state just before the window (the carry) is kept per cell; only groups of cells in which something changed are
swept again, and of those only the cells to which something happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from thalweg.columns.cells import (
    ANY,
    CARRY,
    CARRY_TIME,
    FIRST_CHAIN,
    LAST_CHAIN,
    LIVELY,
    Board,
    CellArrays,
    Stretch,
    active,
    beginning,
    named,
    renumber,
    roots,
    shares,
    trim,
    unite,
)
from thalweg.columns.fresh import take_over
from thalweg.columns.gathering import TIME, runs
from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.slabs import LENGTH, OFFSET
from thalweg.columns.sorting import distinct, order_by
from thalweg.columns.sweep import sweep
from thalweg.columns.timelines import GREET, OPEN
from thalweg.events import chains
from thalweg.events.chains import ChainPlan, ChainRules
from thalweg.events.countdowns import Countdowns, DelayPlan
from thalweg.events.frames import Frame, Reader
from thalweg.events.stores import FluentStore, Writer
from thalweg.events.units import Clock, FluentUnit, Head, effect_moves, fresh_only, head_rows, read_by
from thalweg.protocol import Ints, Mask

CONDITIONS = 3
"""The column of a candidate's first condition."""


class SweepUnit(FluentUnit):
    """Simple fluents that depend on each other in a cycle or have delayed effects, swept in time order."""

    def __init__(
        self,
        stores: Sequence[FluentStore],
        heads: Sequence[Head],
        delays: Sequence[DelayPlan],
        chains: Sequence[ChainPlan] = (),
        ranks: Sequence[int] = (0,),
        *,
        linked: bool,
    ) -> None:
        super().__init__(stores, read_by(heads))
        self.heads = list(heads)
        self.width = CONDITIONS + 1 + 2 * max((len(h.conditions) for h in heads), default=0)
        self.linked = linked
        self.candidates = Ragged(self.width)
        self.cells = 0
        self.arrays = CellArrays()
        self.countdowns = Countdowns(delays, stores, self.arrays)
        self.chains = ChainRules(chains, stores, ranks)
        self._found: list[tuple[Ints, Ints, Ints | None]] = []
        self._stamp = 0
        self._rank = np.zeros(8, np.int64)
        self._all = False

    # ----------------------------------------------------------------- cells

    def _cells(self, fluent: int, ids: Ints) -> Ints:
        return ids * len(self.stores) + fluent

    def _grow(self) -> None:
        """Room for all instances, and the chains and delays of new ones."""
        tied, more = self.chains.grow()
        self.cover()
        self.chains.add(tied, more, self.arrays)
        if self.countdowns.plans:
            found = [(cells, rows[:, 1], rows[:, 2]) for cells, rows, _ in self._found]
            found.append((more[:, 2], more[:, 3], more[:, 4]))
            self.countdowns.grow(found)

    def _make_room(self) -> None:
        self.arrays.ensure(self.cells)
        self.candidates.ensure(self.cells)
        if self.cells > len(self._rank):
            self._rank = np.zeros(2 * self.cells, np.int64)

    # ----------------------------------------------------------------- evaluation

    def seed(self, store: FluentStore, ids: Ints, times: Ints, values: Ints, kind: int = GREET) -> None:
        """Initiations that are there before the stream, or before the window."""
        rows = np.full((len(ids), self.width), -1)
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, -1] = times, kind, values, 1
        fluent = next(i for i, s in enumerate(self.stores) if s is store)
        self._found.append((self._cells(fluent, ids), rows, np.full(len(ids), TIME)))

    def begin(self) -> None:
        """Take the seeds in at once, so that they count in all that follows."""
        self._grow()
        for cells, rows, _ in self._found:
            self.candidates.merge(cells, rows)
        self._found = []

    def due(self, clock: Clock) -> bool:
        return bool(self._found) or self._all or bool(len(self._late(clock)))

    def collect(self, before: Reader, after: Reader, clock: Clock) -> bool:
        for head in self.heads:
            for frame, sign in head.changes(before, after, clock):
                self._found.append((*self._candidates(frame, head, sign), frame.cause))
        return bool(self._found) or bool(len(self._late(clock)))

    def _late(self, clock: Clock) -> Ints:
        """Cells with a countdown that comes due."""
        if not self.countdowns.plans:
            return np.empty(0, np.int64)
        return np.flatnonzero(self.arrays.due[: self.cells] <= clock.query)

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
                unite(self.arrays.parents, cells, rows, CONDITIONS)
            once = clock.tumbling and not round and fresh_only(rows, clock.final)
            if once:
                touched = distinct(cells)
            else:
                gone, came = self.candidates.merge(cells, rows)
                touched = distinct(np.concatenate([gone[0], came[0]]))
        late = self._late(clock)
        wanted = distinct(np.concatenate([touched, late])) if len(late) else touched
        if self._all:
            wanted, self._all = np.arange(self.cells), False
        if not len(wanted):
            if round:
                self.announce_nothing(clock)
            return False
        settled = (clock.needed_from if clock.tumbling and not round else clock.final) - 1
        changed = self._sweep(clock, settled, wanted, cells, rows if once else rows[:0], causes, round=round)
        if once:
            edge = rows[:, 0] >= clock.needed_from
            if edge.any():
                self.candidates.merge(cells[edge], rows[edge])
        return changed

    def _sweep(
        self,
        clock: Clock,
        settled: int,
        wanted: Ints,
        changed: Ints,
        fresh: Ints,
        causes: Ints | None,
        *,
        round: bool,
    ) -> bool:
        """Sweep the groups of the wanted cells, and keep what is found."""
        cells, out, logged = self._run(wanted, changed, fresh, settled, clock.query, clock)
        self._trim(cells)
        cells = distinct(cells) if self.linked else cells
        if clock.once and not round and not self._logs():
            return self.renew(clock, self._writers(out, cells, clock))
        why = self._causes(cells, changed, causes)
        touched = self._write(out, cells, why, clock)
        if self._logs():
            self._log(logged, cells, why, clock)
        return self.announce(clock, Version.LAST, touched) or any(bool(s.effects) for s in self.stores)

    def _trim(self, cells: Ints) -> None:
        """Drop the candidates that the carry has taken in."""
        lists = self.candidates
        trim(lists.table, lists.pool, cells, self.arrays.cells)
        lists.touch(cells)

    def tidy(self, clock: Clock) -> None:
        """After a query: the carry takes in all that is final, also of cells that nothing has happened to since."""
        settled = clock.final - 1
        rows, owners = self.candidates.everything(Version.NOW)
        cells = self.arrays.cells[: self.cells]
        lively = np.flatnonzero((cells[:, LIVELY] != 0) & (cells[:, CARRY_TIME] < settled))
        stale = distinct(np.concatenate([owners[rows[:, 0] <= settled], lively]))
        if len(stale):
            nothing = np.empty(0, np.int64)
            cells, _, _ = self._run(stale, nothing, rows[:0], settled, clock.query, clock)
            self._trim(cells)
            self.candidates.commit()

    def _logs(self) -> bool:
        return any(s.reads_points for s in self.stores)

    def _causes(self, cells: Ints, changed: Ints, causes: Ints | None) -> Ints:
        """The largest cause among the changes of each cell's group."""
        if causes is None or not len(changed):
            return np.full(len(cells), TIME)
        best = np.full(self.cells, TIME)
        if self.linked:
            cells, changed = roots(self.arrays.parents, cells), roots(self.arrays.parents, changed)
        np.maximum.at(best, changed, causes)
        return best[cells]

    def _run(
        self, wanted: Ints, changed: Ints, fresh: Ints, settled: int, until: int, clock: Clock
    ) -> tuple[Ints, Ints, Ints]:
        """Sweep the groups of the wanted cells over their stored candidates and the fresh ones (of the cells
        `changed`), up to `until`; move the carry up to `settled`. Returns the cells, their intervals and effects."""
        self._stamp += 1
        stretch = Stretch(settled, until, clock.tick, clock.start, self._stamp)
        parents, arrays = self.arrays.parents, self.arrays
        if self.linked:
            lists = self.candidates.table
            cells, starts = active(parents, wanted, arrays.alert, lists, self.cells, until, self._rank)
        else:
            cells, starts = wanted, np.arange(len(wanted) + 1)
            self._rank[wanted] = starts[:-1]
        rows, sizes = self.candidates.gather(cells, Version.NOW)
        row_cells = np.repeat(cells, sizes)
        if len(fresh):
            rows, row_cells = np.concatenate([rows, fresh]), np.concatenate([row_cells, changed])
        group = self._rank[roots(parents, row_cells) if self.linked else row_cells]
        order = order_by(group, np.ascontiguousarray(rows[:, 0])) if len(rows) else group
        row_starts = np.append(0, np.cumsum(np.bincount(group, minlength=len(starts) - 1)))
        board = Board(
            arrays.cells,
            arrays.due,
            arrays.alert,
            self.countdowns.counts.rows,
            self.countdowns.templates.rows.rows,
            self.chains.table.rows,
            self.chains.ranks,
            self.chains.heard,
            int(self.chains.ranks.max()) + 1,
            self.chains.spread(),
            self.countdowns.templates.longest(),
        )
        return sweep(cells, starts, rows, row_cells, order, row_starts, board, stretch, log=self._logs())

    def _shares(self, out: Ints, cells: Ints) -> tuple[Ints, list[tuple[Ints, Ints, Ints, Ints]]]:
        """The swept intervals, and for each fluent its instances, their places, and from where to where their intervals
        go."""
        owners = np.ascontiguousarray(out[:, 0])
        if self.linked and len(out):
            order = order_by(owners, np.ascontiguousarray(out[:, 1]))
            owners, out = owners[order], out[order]
        fluents = len(self.stores)
        found = [shares(cells, owners, at, fluents, s.instances.count) for at, s in enumerate(self.stores)]
        return np.ascontiguousarray(out[:, 1:]), found

    def _writers(self, out: Ints, cells: Ints, clock: Clock) -> list[tuple[Ints, Writer] | None]:
        """What writes the swept timelines of each fluent."""
        intervals, found = self._shares(out, cells)
        writers: list[tuple[Ints, Writer] | None] = []
        for store, (ids, _, starts, stops) in zip(self.stores, found, strict=True):
            store.lists.reserve(int((stops - starts).sum()))
            writers.append((ids, partial(_take_over, starts, stops, intervals, ids, clock.final)))
        return writers

    def _write(self, out: Ints, cells: Ints, why: Ints, clock: Clock) -> list[tuple[Ints, Ints]]:
        """Store the swept timelines, fluent by fluent."""
        intervals, found = self._shares(out, cells)
        touched = []
        for at, (store, (ids, places, starts, stops)) in enumerate(zip(self.stores, found, strict=True)):
            lists = store.lists
            kept, froms = beginning(lists.table, lists.pool, ids, intervals, starts, stops, clock.final)
            lists.replace(ids, kept, froms, stops, intervals, clock.final)
            self.note(at, ids, why[places])
            touched.append((ids, why[places]))
        return touched

    def _log(self, logged: Ints, cells: Ints, why: Ints, clock: Clock) -> None:
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
            causes = why[np.searchsorted(cells, touched * k + at)]
            self.keep_effects(store, effect_moves(store, gone, came, touched, causes, clock.previous))

    def forget(self, clock: Clock) -> None:
        """Move the carry up to the final point, and drop the candidates."""
        self._grow()
        every = np.arange(self.cells)
        if self.cells:
            early = clock.final - 1
            self._run(every, np.empty(0, np.int64), np.empty((0, self.width), np.int64), early, early, clock)
        self.candidates.clear()
        self._all = True
        super().forget(clock)

    def commit(self) -> None:
        super().commit()
        self.candidates.commit()

    # ----------------------------------------------------------------- forgetting

    def alive(self, kept: Sequence[Mask]) -> Mask:
        """Cells in which something is or may happen, those of instances that are `kept` of each store, and all that
        they refer to."""
        self.cover()
        table = self.arrays.cells[: self.cells]
        found: Mask = (table[:, CARRY] != 0) | (self.candidates.live() > 0)
        for part in (self.arrays.due, self.arrays.alert):
            found |= part[: self.cells] != OPEN
        for fluent, mask in enumerate(kept):
            found[fluent :: len(self.stores)][: len(mask)] |= mask
        found[named(self.candidates.everything(Version.NOW)[0], CONDITIONS)] = True
        new = np.flatnonzero(found)
        while len(new):
            first, last = table[new, FIRST_CHAIN], table[new, LAST_CHAIN]
            rows = self.chains.table.rows[runs(first, last - first)[1]]
            mentioned = np.concatenate([rows[:, 2], named(rows, chains.CONDITIONS)])
            new = distinct(mentioned[~found[mentioned]])
            found[new] = True
        return found

    def keep(self, numbers: Sequence[Ints]) -> None:
        """Forget the cells of instances that have no new number in their store; the stores have done so."""
        new_of = np.full(self.cells, -1)
        stay = [np.flatnonzero(new >= 0) for new in numbers]
        for fluent, (new, ids) in enumerate(zip(numbers, stay, strict=True)):
            new_of[self._cells(fluent, ids)] = self._cells(fluent, new[ids])
        kept = np.flatnonzero(new_of >= 0)
        places = new_of[kept]
        count = max(s.instances.count for s in self.stores) * len(self.stores)
        came_from = np.full(count, -1)
        came_from[places] = kept
        self.arrays.keep(kept, places, count)
        self.countdowns.keep(stay, new_of)
        self.chains.keep(stay, new_of, self.arrays)
        self.candidates.keep(came_from)
        self.cells = count
        lists = self.candidates
        owners, at = runs(*(lists.places[:, c].astype(np.int64) for c in (OFFSET, LENGTH)))
        rows = lists.pool[at]
        renumber(rows, CONDITIONS, new_of)
        lists.pool[at] = rows
        unite(self.arrays.parents, owners, rows, CONDITIONS)

    # ----------------------------------------------------------------- snapshots

    def cover(self) -> None:
        """Have a cell for every instance."""
        self.cells = max(s.instances.count for s in self.stores) * len(self.stores)
        self._make_room()

    def state(self) -> dict[str, Ints]:
        """What a snapshot needs apart from the stores and the candidates."""
        self.cover()
        parts = {"cells": self.arrays.state(), "delays": self.countdowns.state(), "chains": self.chains.state()}
        return {f"{part}.{name}": array for part, found in parts.items() for name, array in found.items()}

    def restore(self, candidates: Ragged, state: dict[str, Ints]) -> None:
        """Put a snapshot in."""

        def part(prefix: str) -> dict[str, Ints]:
            return {n.removeprefix(prefix): array for n, array in state.items() if n.startswith(prefix)}

        self.candidates = candidates
        self.arrays = CellArrays.of(part("cells."))
        self.countdowns.restore(self.arrays, part("delays."))
        self.chains.restore(part("chains."))
        self.cover()


def _take_over(
    starts: Ints, stops: Ints, intervals: Ints, ids: Ints, expiry: int, lists: Ragged, first: int
) -> tuple[int, int, int]:
    place = lists.table, lists.past, lists.pool, lists.used
    return take_over(starts, stops, intervals, *place, ids, first, expiry)
