"""Delayed effects of a component: evaluated once per instance, and which of their countdowns run.

An effect that is the same for all instances of its fluent is evaluated once and repeated. One for every value
(``fi(f(X)=V, f(X)=off, 5)`` with V open) is evaluated for each value that an instance may ever be given: by a rule,
by a chain, or as the target of another delayed effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.columns.cells import NONE, CellTable, Delays
from thalweg.columns.keys import KeyTable
from thalweg.columns.ragged import distinct
from thalweg.columns.timelines import INITIATE, OPEN
from thalweg.events.frames import Reader, Slot, Step, run_steps
from thalweg.events.stores import FluentStore
from thalweg.events.units import instance_frame
from thalweg.protocol import Ints, Mask

WIDTH = 5
"""Value, target (NONE: the value ends), length, postponable, cell."""


@dataclass(slots=True)
class DelayPlan:
    """One delayed effect of a fluent of the component."""

    fluent: int
    value: int | None  # None: whichever value is initiated
    target: Slot | None
    delay: Slot
    postponable: Sequence[Step] | None
    steps: Sequence[Step]
    slots: tuple[Slot, ...]
    uniform: bool
    """The same for every instance."""


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


class Countdowns:
    """The delayed effects of every cell; `since` and `carry_since` say when the running countdowns were started."""

    def __init__(self, plans: Sequence[DelayPlan], stores: Sequence[FluentStore]) -> None:
        self.plans = list(plans)
        self.stores = list(stores)
        self.table = CellTable(WIDTH)
        self.since = np.full(8, NONE)
        self.carry_since = np.full(8, NONE)
        self.pairs = KeyTable(2)  # cell and value, where a plan is for every value
        self._open = [p for p in self.plans if p.value is None]
        self.known = [0 for _ in stores]
        self._templates: dict[int, Ints] = {}

    def view(self) -> Delays:
        """What the kernels read and write."""
        return Delays(self.table.first, self.table.last, self.table.rows, self.carry_since, self.since)

    def grow(self, cells: int, effects: Sequence[tuple[Ints, Ints, Ints]]) -> None:
        """Take in new instances, and new (cell, kind, value) of effects."""
        self.table.ensure(cells)
        new = [self._of_fluent(at) for at in range(len(self.stores))]
        self.known = [store.instances.count for store in self.stores]
        if self._open:
            new += self._of_values(new, effects)
        added = np.concatenate(new)
        if len(added):
            self._add(added, in_runs=not self._open)

    def _of_fluent(self, at: int) -> Ints:
        """Effects with a known value, of a fluent's new instances, in runs of equal cells."""
        store = self.stores[at]
        ids = np.arange(self.known[at], store.instances.count)
        if not len(ids):
            return np.empty((0, WIDTH), np.int64)
        numbered = [(k, p) for k, p in enumerate(self.plans) if p.fluent == at and p.value is not None]
        same = [self._template(k, p) for k, p in numbered if p.uniform]
        one = np.concatenate([np.empty((0, WIDTH), np.int64), *same])
        rows = np.tile(one, (len(ids), 1))
        rows[:, 4] = np.repeat(self._cells(at, ids), len(one))
        varied = [self._evaluate(p, ids, np.full(len(ids), p.value)) for _, p in numbered if not p.uniform]
        if not varied:
            return rows
        rows = np.concatenate([rows, *varied])
        return rows[np.argsort(rows[:, 4], kind="stable")]

    def _template(self, number: int, plan: DelayPlan) -> Ints:
        """The rows of any one instance."""
        found = self._templates.get(number)
        if found is None:
            found = self._templates[number] = self._evaluate(plan, np.zeros(1, np.int64), np.full(1, plan.value))
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
                self.pairs.intern([sets[:, 4], sets[:, 1]], len(sets))
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
        """A plan's rows for some instances and the values that start the countdown."""
        store = self.stores[plan.fluent]
        frame = instance_frame(store, plan.slots, ids)
        reader = Reader(before=False)
        frame = run_steps(plan.steps, frame, reader)
        postponable = np.zeros(len(ids), np.int64)
        if plan.postponable is not None:
            postponable[run_steps(plan.postponable, frame, reader).origin] = 1
        lengths = plan.delay.column(frame).view(np.float64)
        rows = np.empty((len(frame), WIDTH), np.int64)
        rows[:, 0] = values[frame.origin]
        rows[:, 1] = NONE if plan.target is None else plan.target.column(frame)
        rows[:, 2] = lengths.astype(np.int64)
        if ((rows[:, 2] < 1) | (rows[:, 2] != lengths)).any():
            raise ValueError(f"a delayed effect of {store.name} has a delay that is no positive whole number")
        rows[:, 3] = postponable[frame.origin]
        rows[:, 4] = self._cells(plan.fluent, ids[frame.origin])
        rows = rows[rows[:, 0] != rows[:, 1]]
        once = KeyTable(WIDTH, len(rows))
        once.intern([rows[:, c] for c in range(WIDTH)], len(rows))
        return once.keys

    def _cells(self, fluent: int, ids: Ints) -> Ints:
        return ids * len(self.stores) + fluent

    def _add(self, rows: Ints, *, in_runs: bool) -> None:
        """Append rows. Those that a cell already has are moved behind them, with their countdowns."""
        since = carried = np.full(len(rows), NONE)
        if not in_runs:
            table = self.table
            again = distinct(np.sort(rows[:, 4]))
            again = again[table.last[again] > table.first[again]]
            if len(again):
                old = np.concatenate([np.arange(table.first[c], table.last[c]) for c in again.tolist()])
                rows = np.concatenate([table.rows[old], rows])
                since = np.concatenate([self.since[old], since])
                carried = np.concatenate([self.carry_since[old], carried])
                self.since[old] = self.carry_since[old] = NONE
            order = np.argsort(rows[:, 4], kind="stable")
            rows, since, carried = rows[order], since[order], carried[order]
        start = self.table.count
        self.table.append(np.ascontiguousarray(rows[:, 4]), rows)
        room, end = len(self.table.rows), self.table.count
        if room > len(self.since):
            more = np.full(room - len(self.since), NONE)
            self.since = np.concatenate([self.since, more])
            self.carry_since = np.concatenate([self.carry_since, more])
        self.since[start:end], self.carry_since[start:end] = since, carried

    def pending(self) -> Pending:
        """Countdowns that run. Of those of one pair only the next one due: when it fires, the others are cancelled."""
        running = np.flatnonzero(self.since[: self.table.count] != NONE)
        rows, since = self.table.rows[running], self.since[running]
        due = since + rows[:, 2]
        pairs = KeyTable(2, len(rows))
        ids = pairs.intern([rows[:, 4], rows[:, 0]], len(rows))
        if pairs.count < len(rows):
            first = np.full(pairs.count, OPEN)
            np.minimum.at(first, ids, due)
            keep = due == first[ids]
            rows, since, due = rows[keep], since[keep], due[keep]
        k = len(self.stores)
        return Pending(rows[:, 4] % k, rows[:, 4] // k, rows[:, 0], rows[:, 1], due, since, rows[:, 3] == 1)

    def state(self) -> dict[str, Ints]:
        """What a snapshot needs."""
        end = self.table.count
        return {
            **{f"table.{name}": part for name, part in self.table.state().items()},
            "since": self.since[:end],
            "carry_since": self.carry_since[:end],
            "pairs": self.pairs.state(),
            "known": np.array(self.known),
        }

    def restore(self, state: dict[str, Ints]) -> None:
        """Put a snapshot in."""
        self.table = CellTable.of({name: state[f"table.{name}"] for name in ("rows", "first", "last")})
        self.since, self.carry_since = state["since"], state["carry_since"]
        self.pairs = KeyTable.of(state["pairs"])
        self.known = state["known"].tolist()
        self._templates = {}
