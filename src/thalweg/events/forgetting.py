"""Forgetting: instances to which nothing has happened for a window lose their numbers, so that memory follows the
window and not the stream.

An instance is kept while it has intervals or points that have not expired, while something runs for it (a countdown,
an interval given ahead), or while a rule that is kept refers to it. One that is forgotten gets a new number when it is
seen again; it looks no different from one that was never seen. The work is done on the arrays of a snapshot, when the
numbers have more than doubled since the last time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.columns.cells import (
    CARRY,
    COUNTS,
    DELAYS,
    FIRST_CHAIN,
    LAST_CHAIN,
    CellArrays,
    unite,
    unite_pairs,
)
from thalweg.columns.sorting import distinct
from thalweg.columns.timelines import OPEN
from thalweg.events import chains, sweeping
from thalweg.events.determined import InputUnit, SpanUnit
from thalweg.events.expressions import SpanPlan, leaves, required
from thalweg.events.state import memory, put_memory
from thalweg.events.stores import FluentStore
from thalweg.events.sweeping import SweepUnit
from thalweg.events.units import Clock
from thalweg.protocol import Ints, Mask

if TYPE_CHECKING:
    from thalweg.events.reasoner import Reasoner

Arrays = dict[str, Any]
FEW = 20_000
"""So many numbers are not worth the trouble."""


def numbers(reasoner: Reasoner) -> int:
    """How many instances, event keys and bindings have a number."""
    plan = reasoner._plan
    fluents = (*plan.catalogue.simple.values(), *plan.catalogue.determined.values())
    indexes = (index for event in plan.catalogue.events.values() for index in event.indexes.values())
    bound = (p.bindings.count for unit in plan.units() if isinstance(unit, SpanUnit) for p in unit.plans)
    return sum(s.instances.count for s in fluents) + sum(i.keys.count for i in indexes) + sum(bound)


def is_due(reasoner: Reasoner) -> bool:
    """Is it time? It is when the numbers have more than doubled."""
    return numbers(reasoner) > 2 * reasoner.kept + FEW


def forget_idle(reasoner: Reasoner) -> None:
    """Forget what is idle; only between queries, when all changes have been told."""
    query = reasoner.query_time
    previous = query - reasoner.step
    clock = Clock(reasoner.final(query, previous), previous, query, reasoner.tick, reasoner.start)
    for unit in reasoner._plan.units():
        if isinstance(unit, SweepUnit):
            unit.tidy(clock)
    arrays = memory(reasoner)
    _Forgetting(reasoner, arrays).run()
    put_memory(reasoner, arrays)
    reasoner._output.forget()
    reasoner.kept = numbers(reasoner)


class _Forgetting:
    """One pass over the arrays, which it changes in place."""

    def __init__(self, reasoner: Reasoner, arrays: Arrays) -> None:
        self.plan = reasoner._plan
        self.arrays = arrays
        self.names: dict[int, str] = {}
        self.holding: dict[int, Mask] = {}
        """Which instances of each store have intervals."""
        self.alive: dict[int, Mask] = {}
        """Which instances of each store are kept."""
        self.numbers: dict[int, Ints] = {}
        """Their new numbers, -1 for the others."""

    def run(self) -> None:
        for name, event in self.plan.catalogue.events.items():
            for positions in event.indexes:
                self._keys(f"event {name} {positions}")
        for kind, stores in (
            ("simple", self.plan.catalogue.simple),
            ("determined", self.plan.catalogue.determined),
        ):
            for name, store in stores.items():
                self._look_at(f"{kind} {name}", store)
        units = list(enumerate(self.plan.units()))
        bound = []
        for number, unit in units:
            match unit:
                case SweepUnit():
                    self._keep_cells(f"unit {number}", unit)
                case InputUnit():
                    self._keep_given(f"unit {number}", unit)
                case SpanUnit():
                    for k, plan in enumerate(unit.plans):
                        name = f"unit {number}.{k}"
                        bound.append((name, plan, unit.store, self._keep_heads(name, plan, unit.store)))
        for key, alive in self.alive.items():
            self.numbers[key] = np.where(alive, np.cumsum(alive) - 1, -1)
            self._renumber_store(self.names[key], np.flatnonzero(alive))
        for name, plan, store, kept in bound:
            self._renumber_bindings(name, plan, kept, self.numbers[id(store)])
        for number, unit in units:
            match unit:
                case SweepUnit():
                    self._renumber_cells(f"unit {number}", unit)
                case InputUnit():
                    self._renumber_given(f"unit {number}", unit.store)
                case _:
                    pass

    # ----------------------------------------------------------------- lists

    def _trim(self, name: str, clock: int, count: int) -> Ints:
        """Drop expired rows; returns the size of each of `count` lists."""
        rows, sizes = self.arrays[f"{name}.rows"], self.arrays[f"{name}.sizes"]
        live = rows[:, clock] > self.arrays[f"{name}.expiry"][0]
        owners = np.repeat(np.arange(len(sizes)), sizes)
        sizes = np.bincount(owners[live], minlength=count)
        self.arrays[f"{name}.rows"], self.arrays[f"{name}.sizes"] = rows[live], sizes
        return sizes

    def _choose(self, name: str, chosen: Ints) -> None:
        """Lists in this order; -1 is an empty one."""
        rows, sizes = self.arrays[f"{name}.rows"], self.arrays[f"{name}.sizes"]
        sizes = np.append(sizes, 0)
        starts = np.cumsum(sizes) - sizes
        new = sizes[chosen]
        within = np.arange(int(new.sum())) - np.repeat(np.cumsum(new) - new, new)
        self.arrays[f"{name}.rows"] = rows[np.repeat(starts[chosen], new) + within]
        self.arrays[f"{name}.sizes"] = new

    def _keys(self, name: str) -> None:
        """The keys of an index of events that lead anywhere."""
        keys = self.arrays[f"{name}.keys"]
        kept = np.flatnonzero(self._trim(name, 0, len(keys)))
        self.arrays[f"{name}.keys"] = keys[kept]
        self._choose(name, kept)

    # ----------------------------------------------------------------- instances

    def _look_at(self, name: str, store: FluentStore) -> None:
        count = store.instances.count
        intervals, points = self._trim(f"{name}.lists", 1, count), self._trim(f"{name}.points", 0, count)
        self.names[id(store)] = name
        self.holding[id(store)] = intervals > 0
        self.alive[id(store)] = (intervals > 0) | (points > 0)

    def _renumber_store(self, name: str, kept: Ints) -> None:
        self.arrays[f"{name}.keys"] = self.arrays[f"{name}.keys"][kept]
        self._choose(f"{name}.lists", kept)
        self._choose(f"{name}.points", kept)

    # ----------------------------------------------------------------- input fluents

    def _keep_given(self, name: str, unit: InputUnit) -> None:
        alive = self.alive[id(unit.store)]
        alive |= self._trim(name, 1, len(alive)) > 0
        alive[self.arrays[f"{name}.ahead"][:, 1]] = True

    def _renumber_given(self, name: str, store: FluentStore) -> None:
        self._choose(name, np.flatnonzero(self.alive[id(store)]))
        ahead = self.arrays[f"{name}.ahead"].copy()
        ahead[:, 1] = self.numbers[id(store)][ahead[:, 1]]
        self.arrays[f"{name}.ahead"] = ahead

    # ----------------------------------------------------------------- determined fluents

    def _keep_heads(self, name: str, plan: SpanPlan, store: FluentStore) -> Ints:
        """The bindings whose head has intervals, or may get some without a change of an input that it needs, or that
        remember any; their heads are kept."""
        count = plan.bindings.count
        self.arrays[f"{name}.flips"] = self.arrays[f"{name}.flips"][:count]
        heads = self.arrays[f"{name}.heads"]
        kept = self.holding[id(store)][heads] | (self.arrays[f"{name}.flips"] != OPEN)
        frame = plan.frame(np.arange(count))
        needed = [*required(plan.node), *plan.gates]
        inputs = [np.append(self.holding[id(x.store)], False)[x.ids(frame)] for x in needed or leaves(plan.node)]
        if inputs:
            kept |= np.all(inputs, axis=0) if needed else np.any(inputs, axis=0)
        for m in range(len(plan.memories())):
            kept |= self._trim(f"{name}.{m}", 1, count) > 0
        if not plan.variables:
            kept[:] = True
        self.alive[id(store)][heads[kept]] = True
        return np.flatnonzero(kept)

    def _renumber_bindings(self, name: str, plan: SpanPlan, kept: Ints, heads: Ints) -> None:
        arrays = self.arrays
        arrays[f"{name}.bindings"] = arrays[f"{name}.bindings"][kept]
        arrays[f"{name}.flips"] = arrays[f"{name}.flips"][kept]
        arrays[f"{name}.heads"] = heads[arrays[f"{name}.heads"][kept]]
        for m in range(len(plan.memories())):
            self._choose(f"{name}.{m}", kept)

    # ----------------------------------------------------------------- components

    def _keep_cells(self, name: str, unit: SweepUnit) -> None:
        """Cells in which something is or may happen, and those that they refer to."""
        arrays = self.arrays
        table = arrays[f"{name}.cells.cells"]
        carried, first, last = (np.ascontiguousarray(c) for c in table[:, [CARRY, FIRST_CHAIN, LAST_CHAIN]].T)
        lively = (carried != 0) | (self._trim(name, 0, len(table)) > 0)
        for part in ("due", "alert"):
            lively |= arrays[f"{name}.cells.{part}"] != OPEN
        for fluent, store in enumerate(unit.stores):
            lively[np.flatnonzero(self.alive[id(store)]) * len(unit.stores) + fluent] = True
        lively[_conditions(arrays[f"{name}.rows"], sweeping.CONDITIONS)] = True
        rules = arrays[f"{name}.chains.rows"]
        new = np.flatnonzero(lively)
        while len(new):
            _, at = _runs(first[new], last[new] - first[new])
            named = np.concatenate([rules[at, 2], _conditions(rules[at], chains.CONDITIONS)])
            new = distinct(named[~lively[named]])
            lively[new] = True
        for fluent, store in enumerate(unit.stores):
            alive = self.alive[id(store)]
            alive |= lively[fluent :: len(unit.stores)][: len(alive)]

    def _renumber_cells(self, name: str, unit: SweepUnit) -> None:
        arrays, k = self.arrays, len(unit.stores)
        old = arrays[f"{name}.cells.cells"]
        new_of = np.full(len(old), -1)
        counts = []
        for fluent, store in enumerate(unit.stores):
            new = self.numbers[id(store)]
            kept = np.flatnonzero(new >= 0)
            new_of[kept * k + fluent] = new[kept] * k + fluent
            counts.append(len(kept))
        kept = np.flatnonzero(new_of >= 0)
        cells = CellArrays()
        cells.ensure(max(counts) * k)
        places = new_of[kept]
        cells.cells[places] = old[kept]
        cells.due[places], cells.alert[places] = (arrays[f"{name}.cells.{part}"][kept] for part in ("due", "alert"))
        self._renumber_delays(f"{name}.delays", unit, cells, new_of)
        self._renumber_chains(f"{name}.chains", unit, cells, new_of)
        came_from = np.full(cells.count, -1)
        came_from[places] = kept
        self._choose(name, came_from)
        rows = arrays[f"{name}.rows"]
        _renumber_conditions(rows, sweeping.CONDITIONS, new_of)
        unite(cells.parents, np.repeat(np.arange(cells.count), arrays[f"{name}.sizes"]), rows, sweeping.CONDITIONS)
        arrays.update({f"{name}.cells.{part}": array for part, array in cells.state().items()})

    def _renumber_delays(self, name: str, unit: SweepUnit, cells: CellArrays, new_of: Ints) -> None:
        arrays, table = self.arrays, cells.cells[: cells.count]
        _, at = _runs(table[:, COUNTS], table[:, DELAYS])
        arrays[f"{name}.counts"] = arrays[f"{name}.counts"][at]
        table[:, COUNTS] = np.cumsum(table[:, DELAYS]) - table[:, DELAYS]
        pairs = arrays[f"{name}.pairs"].copy()
        pairs[:, 0] = new_of[pairs[:, 0]]
        arrays[f"{name}.pairs"] = pairs[pairs[:, 0] >= 0]
        arrays[f"{name}.known"] = self._known(unit, arrays[f"{name}.known"])

    def _renumber_chains(self, name: str, unit: SweepUnit, cells: CellArrays, new_of: Ints) -> None:
        arrays, table = self.arrays, cells.cells[: cells.count]
        sizes = table[:, LAST_CHAIN] - table[:, FIRST_CHAIN]
        sources, at = _runs(table[:, FIRST_CHAIN], sizes)
        rows = np.ascontiguousarray(arrays[f"{name}.rows"][at])
        rows[:, 2] = new_of[rows[:, 2]]
        _renumber_conditions(rows, chains.CONDITIONS, new_of)
        table[:, LAST_CHAIN] = np.cumsum(sizes)
        table[:, FIRST_CHAIN] = table[:, LAST_CHAIN] - sizes
        unite_pairs(cells.parents, sources, np.ascontiguousarray(rows[:, 2]))
        unite(cells.parents, sources, rows, chains.CONDITIONS)
        arrays[f"{name}.rows"] = rows
        arrays[f"{name}.known"] = self._known(unit, arrays[f"{name}.known"])

    def _known(self, unit: SweepUnit, known: Ints) -> Ints:
        """Of each store, how many of the instances that were known are kept."""
        kept = [int((self.numbers[id(s)][:n] >= 0).sum()) for s, n in zip(unit.stores, known.tolist(), strict=True)]
        return np.array(kept, np.int64)


def _runs(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Positions starts[i] .. starts[i] + sizes[i] - 1 for every i, and the i of each."""
    owners = np.repeat(np.arange(len(starts)), sizes)
    within = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return owners, starts[owners] + within


def _conditions(rows: Ints, first: int) -> Ints:
    """The cells that conditions name."""
    found = rows[:, first:-1:2]
    return found[found >= 0] >> 1


def _renumber_conditions(rows: Ints, first: int, new_of: Ints) -> None:
    for column in range(first, rows.shape[1] - 1, 2):
        named = rows[:, column] >= 0
        cell = rows[named, column]
        rows[named, column] = 2 * new_of[cell >> 1] + (cell & 1)
