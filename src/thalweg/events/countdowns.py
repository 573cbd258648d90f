"""Delayed effects of a component: evaluated once per instance, and which of their countdowns run.

An effect that is the same for all instances of its fluent is evaluated once and repeated. One for every value
(``fi(f(X)=V, f(X)=off, 5)``, whether or not a body says more about V) is evaluated for each value that an instance may
ever be given: by a rule, by a chain, or as the target of another delayed effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.columns.cells import COUNTS, DELAYS, NONE, TEMPLATE, CellArrays, GrowingRows
from thalweg.columns.gathering import runs
from thalweg.columns.keys import KeyTable
from thalweg.columns.sorting import distinct, group_starts
from thalweg.columns.timelines import INITIATE, OPEN
from thalweg.events.frames import Frame, Reader, Slot, Step, run_steps
from thalweg.events.stores import FluentStore
from thalweg.events.units import instance_frame
from thalweg.protocol import Ints, Mask

ROW = 4
"""Columns of a delay: value, target (NONE: the value ends), length, postponable. While it is assigned, its cell too."""


@dataclass(slots=True)
class DelayPlan:
    """One delayed effect of a fluent of the component."""

    fluent: int
    source: Slot
    """The value that starts the countdown; a variable: whichever value is initiated and lets the steps be true."""
    target: Slot | None
    delay: Slot
    tick: int
    postponable: Sequence[Step] | None
    steps: Sequence[Step]
    slots: tuple[Slot, ...]
    uniform: bool
    """The same for every instance."""

    @property
    def value(self) -> int | None:
        """The value, where it is a constant."""
        return self.source.code if self.source.name is None else None


@dataclass(slots=True)
class Pending:
    """Countdowns that have not fired: store index, instance, value, target (NONE: the value ends), due, since, and
    whether another initiation of the value puts them off."""

    fluent: Ints
    instance: Ints
    value: Ints
    target: Ints
    due: Ints
    since: Ints
    postponable: Mask


def _with_value(frame: Frame, source: Slot, values: Ints) -> Frame:
    """Instances with the variable of their value, which may be one of the arguments as well."""
    if source.name is None:
        return frame
    mine = values[frame.origin]
    return frame.take(frame[source.name] == mine) if source.name in frame else frame.bind(source.name, mine)


class Templates:
    """The delays that cells have in common: lists of rows, each kept once."""

    def __init__(self) -> None:
        self.rows = GrowingRows(ROW)
        self._known: dict[int, KeyTable] = {}
        self._starts: dict[int, list[int]] = {}

    def starts(self, lists: Ints) -> Ints:
        """Where the rows of each list stand; all lists (the first axis) have the same length (the second)."""
        count, size = lists.shape[:2]
        known = self._known.setdefault(size, KeyTable(ROW * size))
        starts = self._starts.setdefault(size, [])
        flat = lists.reshape(count, ROW * size)
        ids = known.intern([flat[:, c] for c in range(ROW * size)], count)
        for new in known.keys[len(starts) :]:
            starts.append(self.rows.append(new.reshape(size, ROW)))
        return np.array(starts)[ids]

    def longest(self) -> int:
        """The length of the longest list."""
        return max(self._known, default=0)

    @classmethod
    def of(cls, rows: Ints, lists: Ints) -> Templates:
        """From a snapshot: the rows, and where lists that are in use start and how long they are."""
        self = cls()
        self.rows = GrowingRows(ROW, rows)
        for start, size in lists.tolist():
            known = self._known.setdefault(size, KeyTable(ROW * size))
            known.intern(list(rows[start : start + size].reshape(ROW * size, 1)), 1)
            self._starts.setdefault(size, []).append(start)
        return self


class Countdowns:
    """The delayed effects of every cell, and since when their countdowns run."""

    def __init__(self, plans: Sequence[DelayPlan], stores: Sequence[FluentStore], arrays: CellArrays) -> None:
        self.plans = list(plans)
        self.stores = list(stores)
        self.arrays = arrays
        self.counts = GrowingRows(2)
        self.templates = Templates()
        self.pairs = KeyTable(2)  # cell and value, where a plan is for every value
        self.known = [0 for _ in stores]
        self._open = [p for p in self.plans if p.value is None]
        self._same: dict[int, Ints] = {}

    # ----------------------------------------------------------------- new instances

    def grow(self, effects: Sequence[tuple[Ints, Ints, Ints]]) -> None:
        """Take in new instances, and new (cell, kind, value) of effects."""
        new: list[Ints] = []
        for at, store in enumerate(self.stores):
            ids = np.arange(self.known[at], store.instances.count)
            self.known[at] = store.instances.count
            plans = [p for p in self.plans if p.fluent == at and p.value is not None]
            if not len(ids) or not plans:
                continue
            if all(p.uniform for p in plans) and not self._open:
                self._assign_all(self._cells(at, ids), self._common(at, plans))
            else:
                new += [self._evaluate(p, ids, np.full(len(ids), p.value)) for p in plans]
        if self._open:
            new += self._of_values(new, effects)
        added = np.concatenate([np.empty((0, ROW + 1), np.int64), *new])
        if len(added):
            self._assign(added)

    def _common(self, at: int, plans: Sequence[DelayPlan]) -> Ints:
        """The rows that every instance of a fluent has."""
        found = self._same.get(at)
        if found is None:
            one = np.zeros(1, np.int64)
            rows = np.concatenate([self._evaluate(p, one, np.full(1, p.value)) for p in plans])
            found = self._same[at] = np.ascontiguousarray(rows[:, :ROW])
        return found

    def _of_values(self, new: list[Ints], effects: Sequence[tuple[Ints, Ints, Ints]]) -> list[Ints]:
        """Effects for every value: of pairs that may be initiated for the first time."""
        done = self.pairs.count
        for cells, kinds, values in effects:
            begun = kinds <= INITIATE
            self.pairs.intern([cells[begun], values[begun]], int(begun.sum()))
        k = len(self.stores)
        found: list[Ints] = []
        targets = new
        while True:
            for rows in targets:
                sets = rows[rows[:, 1] != NONE]
                self.pairs.intern([sets[:, ROW], sets[:, 1]], len(sets))
            pairs = self.pairs.keys[done:]
            done = self.pairs.count
            if not len(pairs):
                return found
            targets = []
            for plan in self._open:
                mine = pairs[pairs[:, 0] % k == plan.fluent]
                if len(mine):
                    targets.append(self._evaluate(plan, mine[:, 0] // k, mine[:, 1]))
            found += targets

    def _evaluate(self, plan: DelayPlan, ids: Ints, values: Ints) -> Ints:
        """A plan's rows for some instances and the values that start the countdown, each with its cell."""
        store = self.stores[plan.fluent]
        frame = _with_value(instance_frame(store, plan.slots, ids), plan.source, values)
        reader = Reader(before=False)
        frame = run_steps(plan.steps, frame, reader)
        postponable = np.zeros(len(ids), np.int64)
        if plan.postponable is not None:
            postponable[run_steps(plan.postponable, frame, reader).origin] = 1
        if plan.target is not None:  # a target is another value
            frame = frame.take(values[frame.origin] != plan.target.column(frame))
        lengths = plan.delay.column(frame).view(np.float64)
        rows = np.empty((len(frame), ROW + 1), np.int64)
        rows[:, 0] = values[frame.origin]
        rows[:, 1] = NONE if plan.target is None else plan.target.column(frame)
        rows[:, 2] = lengths.astype(np.int64)
        if ((rows[:, 2] < 1) | (rows[:, 2] != lengths)).any():
            raise ValueError(f"a delayed effect of {store.name} has a delay that is no positive whole number")
        rows[:, 2] += -rows[:, 2] % plan.tick
        rows[:, 3] = postponable[frame.origin]
        rows[:, ROW] = self._cells(plan.fluent, ids[frame.origin])
        once = KeyTable(ROW + 1, len(rows))
        once.intern([rows[:, c] for c in range(ROW + 1)], len(rows))
        return once.keys

    def _cells(self, fluent: int, ids: Ints) -> Ints:
        return ids * len(self.stores) + fluent

    # ----------------------------------------------------------------- the rows of cells

    def _assign_all(self, cells: Ints, rows: Ints) -> None:
        """Give new cells the same rows."""
        size = len(rows)
        start = self.counts.append(np.full((len(cells) * size, 2), NONE))
        self._put(cells, self.templates.starts(rows.reshape(1, size, ROW)), start + size * np.arange(len(cells)), size)

    def _assign(self, rows: Ints) -> None:
        """Give cells rows, in addition to those that they have, whose countdowns go on."""
        old, since = self._of_cells(distinct(np.sort(rows[:, ROW])))
        since = np.concatenate([since, np.full((len(rows), 2), NONE)])
        rows = np.concatenate([old, rows])
        order = np.argsort(rows[:, ROW], kind="stable")
        rows, since = rows[order], since[order]
        borders = group_starts(np.ascontiguousarray(rows[:, ROW]))
        sizes = np.diff(borders)
        for size in distinct(np.sort(sizes)).tolist():
            first = borders[:-1][sizes == size]
            at = first[:, None] + np.arange(size)
            start = self.counts.append(since[at.ravel()])
            starts = self.templates.starts(np.ascontiguousarray(rows[at][:, :, :ROW]))
            self._put(rows[first, ROW], starts, start + size * np.arange(len(first)), size)

    def _put(self, cells: Ints, templates: Ints, counts: Ints, size: int) -> None:
        table = self.arrays.cells
        table[cells, TEMPLATE], table[cells, COUNTS], table[cells, DELAYS] = templates, counts, size

    def _of_cells(self, cells: Ints) -> tuple[Ints, Ints]:
        """The rows of cells, each with its cell, and since when their countdowns run."""
        table = self.arrays.cells
        sizes = table[cells, DELAYS]
        which, at = runs(table[cells, TEMPLATE], sizes)
        rows = np.empty((len(which), ROW + 1), np.int64)
        rows[:, :ROW] = self.templates.rows.rows[at]
        rows[:, ROW] = cells[which]
        return rows, self.counts.rows[runs(table[cells, COUNTS], sizes)[1]]

    def pending(self) -> Pending:
        """Countdowns that run. Of those of one pair only the next one due: when it fires, the others are cancelled."""
        rows, counts = self._of_cells(np.flatnonzero(self.arrays.due[: self.arrays.count] != OPEN))
        running = counts[:, 0] != NONE
        rows, since = rows[running], counts[running, 0]
        due = since + rows[:, 2]
        pairs = KeyTable(2, len(rows))
        ids = pairs.intern([rows[:, ROW], rows[:, 0]], len(rows))
        if pairs.count < len(rows):
            first = np.full(pairs.count, OPEN)
            np.minimum.at(first, ids, due)
            keep = due == first[ids]
            rows, since, due = rows[keep], since[keep], due[keep]
        k = len(self.stores)
        return Pending(rows[:, ROW] % k, rows[:, ROW] // k, rows[:, 0], rows[:, 1], due, since, rows[:, 3] == 1)

    # ----------------------------------------------------------------- forgetting, snapshots

    def keep(self, stay: Sequence[Ints], new_of: Ints) -> None:
        """After cells were forgotten, and the others put where `new_of` says: their countdowns. Of each store these
        instances `stay`."""
        table = self.arrays.cells[: self.arrays.count]
        sizes = table[:, DELAYS].copy()
        self.counts.keep(runs(table[:, COUNTS], sizes)[1])
        table[:, COUNTS] = np.cumsum(sizes) - sizes
        pairs = self.pairs.keys.copy()
        pairs[:, 0] = new_of[pairs[:, 0]]
        self.pairs = KeyTable.of(pairs[pairs[:, 0] >= 0])
        self.known = [int(np.searchsorted(ids, n)) for ids, n in zip(stay, self.known, strict=True)]

    def state(self) -> dict[str, Ints]:
        """What a snapshot needs apart from the cells."""
        return {
            "counts": self.counts.filled(),
            "templates": self.templates.rows.filled(),
            "pairs": self.pairs.state(),
            "known": np.array(self.known),
        }

    def restore(self, arrays: CellArrays, state: dict[str, Ints]) -> None:
        """Put a snapshot in."""
        self.arrays = arrays
        self.counts = GrowingRows(2, state["counts"])
        once = KeyTable(2)  # few lists for many cells
        once.intern([arrays.cells[: arrays.count, c] for c in (TEMPLATE, DELAYS)], arrays.count)
        lists = np.unique(once.keys, axis=0)
        self.templates = Templates.of(state["templates"], lists[lists[:, 1] > 0])
        self.pairs = KeyTable.of(state["pairs"])
        self.known = state["known"].tolist()
        self._same = {}
