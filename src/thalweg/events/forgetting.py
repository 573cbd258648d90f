"""Forgetting: instances to which nothing has happened for a window lose their numbers, so that memory follows the
window and not the stream.

An instance is kept while it has intervals or points that have not expired, while something runs for it (a countdown,
an interval given ahead), or while a rule that is kept refers to it. One that is forgotten gets a new number when it is
seen again; it looks no different from one that was never seen. The work is done when the numbers have more than
doubled since the last time: first all is looked at, then every store and unit keeps its share. A store of which most
is alive stays as it is.

So it is with texts: when they have more than doubled, those are forgotten whose ids stand nowhere in the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thalweg.columns.timelines import OPEN
from thalweg.events.determined import InputUnit, SpanUnit
from thalweg.events.evaluation import SpanPlan
from thalweg.events.expressions import leaves, required
from thalweg.events.state import arrays
from thalweg.events.stores import FluentStore
from thalweg.events.sweeping import SweepUnit
from thalweg.events.units import Clock
from thalweg.protocol import Ints, Mask

if TYPE_CHECKING:
    from thalweg.events.reasoner import Reasoner

FEW = 20_000
"""So many numbers are not worth the trouble."""
MOST = 0.75
"""The share of a store's instances that must be alive for the idle ones to keep their numbers too."""


def numbers(reasoner: Reasoner) -> int:
    """How many instances, event keys and bindings have a number."""
    plan = reasoner._plan
    indexes = (index for event in plan.catalogue.events.values() for index in event.indexes.values())
    bound = (p.bindings.count for unit in plan.units() if isinstance(unit, SpanUnit) for p in unit.plans)
    return sum(s.instances.count for s in _fluents(reasoner)) + sum(i.keys.count for i in indexes) + sum(bound)


def is_blank(reasoner: Reasoner) -> bool:
    """True where no instance, event or binding is known, as before the first row."""
    catalogue = reasoner._plan.catalogue
    return (
        not any(store.instances.count for store in _fluents(reasoner))
        and not any(index.keys.count for event in catalogue.events.values() for index in event.indexes.values())
        and not numbers(reasoner)
    )


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
    _Forgetting(reasoner).run()
    reasoner.kept = numbers(reasoner)


def forget_texts(reasoner: Reasoner) -> None:
    """Forget texts that nothing refers to, and those that were written out; only between queries, like the above."""
    reasoner._plan.symbols.forget(arrays(reasoner).values())
    reasoner._output.forget_texts()


def _fluents(reasoner: Reasoner) -> list[FluentStore]:
    catalogue = reasoner._plan.catalogue
    return [*catalogue.simple.values(), *catalogue.determined.values()]


class _Forgetting:
    """One pass over all stores and units."""

    def __init__(self, reasoner: Reasoner) -> None:
        self.plan = reasoner._plan
        self.stores = _fluents(reasoner)
        self.holding: dict[int, Mask] = {id(s): s.lists.live() > 0 for s in self.stores}
        """Which instances of each store have intervals."""
        self.alive = {key: mask.copy() for key, mask in self.holding.items()}
        """Which instances of each store are kept."""

    def run(self) -> None:
        for event in self.plan.catalogue.events.values():
            for index in event.indexes.values():
                kept = np.flatnonzero(index.lists.live())
                index.keys.keep(kept)
                index.lists.keep(kept)
        for store in self.stores:
            points = store.points.live() > 0
            self.alive[id(store)][: len(points)] |= points
        bound = self._look_at_units()
        stay = {key: _staying(alive) for key, alive in self.alive.items()}
        new_of = {key: _numbered(ids, len(self.alive[key])) for key, ids in stay.items()}
        for store in self.stores:
            if len(stay[id(store)]) < store.instances.count:
                store.keep(stay[id(store)])
        for plan, owner, kept in bound:
            plan.keep(kept, new_of[id(owner)])
        for unit in self.plan.units():
            match unit:
                case SweepUnit():
                    unit.keep([new_of[id(s)] for s in unit.stores])
                case InputUnit():
                    unit.keep(stay[id(unit.store)], new_of[id(unit.store)])
                case _:
                    pass

    def _look_at_units(self) -> list[tuple[SpanPlan, FluentStore, Ints]]:
        """Mark the instances that units need; returns the bindings that rules of determined fluents keep."""
        bound = []
        for unit in self.plan.units():
            match unit:
                case SweepUnit():
                    alive = unit.alive([self.alive[id(s)] for s in unit.stores])
                    for fluent, store in enumerate(unit.stores):
                        mask = self.alive[id(store)]
                        mask |= alive[fluent :: len(unit.stores)][: len(mask)]
                case InputUnit():
                    mask = self.alive[id(unit.store)]
                    unit.given.ensure(len(mask))
                    mask |= unit.given.live() > 0
                    mask[unit.ahead[:, 1]] = True
                case SpanUnit():
                    bound += [(plan, unit.store, self._bindings(plan, unit.store)) for plan in unit.plans]
                case _:
                    pass
        return bound

    def _bindings(self, plan: SpanPlan, store: FluentStore) -> Ints:
        """The bindings whose head has intervals, or may get some without a change of an input that it needs, or that
        remember any; their heads are kept."""
        count = plan.bindings.count
        kept = self.holding[id(store)][plan.heads] | (plan.flips[:count] != OPEN)
        frame = plan.frame(np.arange(count))
        needed = [*required(plan.node), *plan.gates]
        inputs = [np.append(self.holding[id(x.store)], False)[x.ids(frame)] for x in needed or leaves(plan.node)]
        if inputs:
            kept |= np.all(inputs, axis=0) if needed else np.any(inputs, axis=0)
        for memory in plan.memories:
            memory.ensure(count)
            kept |= memory.live() > 0
        if plan.alone is not None:
            kept[:] = True
        self.alive[id(store)][plan.heads[kept]] = True
        return np.flatnonzero(kept)


def _staying(alive: Mask) -> Ints:
    """The instances of a store that keep a number: those that are alive, or all where few of them are idle."""
    kept = np.flatnonzero(alive)
    return kept if len(kept) <= MOST * len(alive) else np.arange(len(alive))


def _numbered(stay: Ints, count: int) -> Ints:
    """The new numbers of `count` instances, -1 for those that do not stay."""
    new = np.full(count, -1)
    new[stay] = np.arange(len(stay))
    return new
