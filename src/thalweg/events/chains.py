"""Chains: rules of a component that are driven by an edge inside it, such as a suspension that follows from a contract
which is broken at this very point. They are evaluated once per instance of the edge's fluent, as delayed effects are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.columns.cells import (
    ANY,
    FIRST_CHAIN,
    LAST_CHAIN,
    CellArrays,
    GrowingRows,
    renumber,
    unite,
    unite_pairs,
)
from thalweg.columns.gathering import runs
from thalweg.columns.sorting import group_starts
from thalweg.events.frames import Frame, Reader, Slot, Step, run_steps
from thalweg.events.stores import FluentStore
from thalweg.events.units import Condition, instance_frame
from thalweg.protocol import Ints

CONDITIONS = 5
"""The column of the first condition, after edge, value, cell, kind and value of the effect."""


@dataclass(slots=True)
class ChainPlan:
    """One rule: the edge of a fluent of the component, its pattern, and the effect on another fluent."""

    fluent: int
    edge: int
    value: int
    slots: tuple[Slot, ...]
    steps: Sequence[Step]
    target: int
    target_slots: tuple[Slot, ...]
    kind: int
    target_value: Slot | None
    conditions: tuple[Condition, ...]


class ChainRules:
    """The chains of every cell."""

    def __init__(self, plans: Sequence[ChainPlan], stores: Sequence[FluentStore], ranks: Sequence[int]) -> None:
        self.plans = list(plans)
        self.stores = list(stores)
        self.ranks = np.array(ranks, np.int64)
        self.width = CONDITIONS + 1 + 2 * max((len(p.conditions) for p in plans), default=0)
        self.table = GrowingRows(self.width)
        self.known = [0 for _ in stores]
        self.most = 0  # chains of one cell
        self.heard = np.array([(p.fluent, p.edge, p.value) for p in plans], np.int64).reshape(-1, 3)

    def grow(self) -> tuple[Ints, Ints]:
        """Take in new instances, and those that their chains mention. Returns the new chains: cells and rows."""
        cells, rows = [np.empty(0, np.int64)], [np.empty((0, self.width), np.int64)]
        while self.plans and any(s.instances.count > known for s, known in zip(self.stores, self.known, strict=True)):
            ids = [np.arange(known, s.instances.count) for s, known in zip(self.stores, self.known, strict=True)]
            self.known = [s.instances.count for s in self.stores]
            for plan in self.plans:
                if len(ids[plan.fluent]):
                    found = self._evaluate(plan, ids[plan.fluent])
                    cells.append(found[0])
                    rows.append(found[1])
        return np.concatenate(cells), np.concatenate(rows)

    def add(self, cells: Ints, rows: Ints, arrays: CellArrays) -> None:
        """Keep new chains, and join the cells that they tie together."""
        if not len(cells):
            return
        order = np.argsort(cells, kind="stable")
        cells, rows = cells[order], rows[order]
        start = self.table.append(rows)
        borders = group_starts(cells)
        self.most = max(self.most, int(np.diff(borders).max()))
        arrays.cells[cells[borders[:-1]], FIRST_CHAIN] = start + borders[:-1]
        arrays.cells[cells[borders[:-1]], LAST_CHAIN] = start + borders[1:]
        unite_pairs(arrays.parents, cells, np.ascontiguousarray(rows[:, 2]))
        unite(arrays.parents, cells, rows, CONDITIONS)

    def spread(self) -> int:
        """To how many effects one can lead at one time-point, itself included."""
        return int((1 + self.most) ** int(self.ranks.max()))

    def _evaluate(self, plan: ChainPlan, ids: Ints) -> tuple[Ints, Ints]:
        store = self.stores[plan.fluent]
        frame = instance_frame(store, plan.slots, ids)
        frame = run_steps(plan.steps, frame, Reader(before=False))
        rows = np.full((len(frame), self.width), -1)
        rows[:, 0], rows[:, 1] = plan.edge, plan.value
        rows[:, 2] = self._cells(plan.target, plan.target_slots, frame)
        rows[:, 3] = plan.kind
        rows[:, 4] = 0 if plan.target_value is None else plan.target_value.column(frame)
        for c, condition in enumerate(plan.conditions):
            at = CONDITIONS + 2 * c
            rows[:, at] = 2 * self._cells(condition.fluent, condition.slots, frame) + condition.negated
            rows[:, at + 1] = ANY if condition.value is None else condition.value.column(frame)
        return ids[frame.origin] * len(self.stores) + plan.fluent, rows

    def _cells(self, fluent: int, slots: Sequence[Slot], frame: Frame) -> Ints:
        """Cells of the instances, known or new."""
        ids = self.stores[fluent].intern([s.column(frame) for s in slots], len(frame))
        return ids * len(self.stores) + fluent

    def keep(self, stay: Sequence[Ints], new_of: Ints, arrays: CellArrays) -> None:
        """After cells were forgotten, and the others put where `new_of` says: their chains, and the groups that these
        make. Of each store these instances `stay`."""
        table = arrays.cells[: arrays.count]
        sizes = table[:, LAST_CHAIN] - table[:, FIRST_CHAIN]
        sources, at = runs(table[:, FIRST_CHAIN], sizes)
        self.table.keep(at)
        rows = self.table.filled()
        rows[:, 2] = new_of[rows[:, 2]]
        renumber(rows, CONDITIONS, new_of)
        table[:, LAST_CHAIN] = np.cumsum(sizes)
        table[:, FIRST_CHAIN] = table[:, LAST_CHAIN] - sizes
        unite_pairs(arrays.parents, sources, np.ascontiguousarray(rows[:, 2]))
        unite(arrays.parents, sources, rows, CONDITIONS)
        self.known = [int(np.searchsorted(ids, n)) for ids, n in zip(stay, self.known, strict=True)]

    def state(self) -> dict[str, Ints]:
        """What a snapshot needs apart from the cells."""
        return {"rows": self.table.filled(), "known": np.array(self.known), "most": np.array([self.most])}

    def restore(self, state: dict[str, Ints]) -> None:
        """Put a snapshot in."""
        self.table = GrowingRows(self.width, state["rows"])
        self.known = state["known"].tolist()
        self.most = int(state["most"][0])
