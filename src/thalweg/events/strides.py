"""Several query times, evaluated in one go.

Where every row arrives by the first query time at or after its own time, and none is taken back, nothing that was said
at a query time is revised later. So the timelines after some query times are those of one long step, and what each of
them would have said follows: an interval is told as a running one at the query time that sees its start, and with its
end at the one that sees that (`columns.telling`). A query that few events concern costs a millisecond of calls, and so
do a hundred in one go.

Two things hang on query times: how long a running interval has lasted, and that input is seen from its own time on.
What starts right after a query time may be something that this query time did not see (`hindsight`). Where rules look
at the start or end of such a fluent, where intervals are to be short or stand in an Allen relation, and where windows
overlap and anything is judged by length, query times are evaluated one by one.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from thalweg.columns.lengths import LONGER
from thalweg.columns.telling import by_query, tell
from thalweg.events.bounds import hidden
from thalweg.events.determined import InputUnit, SpanUnit, ViewUnit
from thalweg.events.evaluation import SpanPlan
from thalweg.events.expressions import Lasting, Related, within
from thalweg.events.forms import EdgeAt, EffectAt, HoldsAt, Normal, literals
from thalweg.events.moves import Difference, Spans
from thalweg.events.plan import Plan
from thalweg.events.stores import FluentStore
from thalweg.events.units import Clock
from thalweg.protocol import Ints

ROWS = 1 << 19
"""So many rows, and no more, are looked at in one go, where one query time does not bring more."""
QUERIES = 1 << 12
"""So many query times are evaluated in one go."""
_NONE = Spans.of_columns(np.empty((3, 0), np.int64), 0)


def possible(plan: Plan, *, overlapping: bool) -> bool:
    """Can query times be evaluated in one go, of windows that overlap or do not? Tells the units for which hindsight
    matters."""
    lagging = {rule.relation for rule in plan.normal.points if rule.lag}
    late: set[int] = set()  # fluents of which a query time may see the point after it otherwise
    for stage in plan.stages:
        for unit in stage.units:
            if any(store.name in lagging and not hidden(store.name) for store in unit.stores):
                return False
            match unit:
                case InputUnit():
                    late.add(id(unit.store))
                case SpanUnit():
                    if any(leaf.store.name in lagging for plan in unit.plans for leaf, _, _ in plan.joins):
                        return False
                    if unit.store.keeps_past or not all(map(_can_look_back, unit.plans)):
                        return False
                    judges = any(plan.judges_lengths for plan in unit.plans)
                    if judges or not unit.reads.isdisjoint(late):
                        if stage.loop or (judges and overlapping):
                            return False
                        unit.looks_back = True
                        late.add(id(unit.store))
                case ViewUnit():
                    if unit.source.name in lagging:
                        return False
                case _:
                    pass
    names = {store.name for store in plan.catalogue.determined.values() if id(store) in late}
    return _read_after(plan.normal).isdisjoint(names | lagging)


def _read_after(normal: Normal) -> set[str]:
    """The fluents of which rules about points read what holds right after a point: starts, ends and effects."""
    bodies = [rule.body for rules in (normal.points, normal.delays, normal.postpones) for rule in rules]
    return {
        x.fluent
        for x in literals(chain.from_iterable(bodies))
        if isinstance(x, EdgeAt | EffectAt) or (isinstance(x, HoldsAt) and x.next)
    }


def _can_look_back(plan: SpanPlan) -> bool:
    """Does a rule look no further than a point, but to see whether an interval is long enough?"""
    judges = [node for node in within(plan.node) if isinstance(node, Related | Lasting)]
    return not plan.gates and all(
        isinstance(node, Lasting) and node.op in LONGER and not isinstance(node.node, Lasting) for node in judges
    )


def told(difference: Difference | None, store: FluentStore, clock: Clock) -> Ints:
    """The changes of a fluent at each of the query times, in their order, as columns of `columns.telling`."""
    late, lists = store.hindsight, store.lists
    gone, came = (_NONE, _NONE) if difference is None else (difference.removed, difference.added)
    most = len(gone) + 3 * len(came) + 4 * len(late.ids)
    rows = np.empty((6, most), np.int64)
    if not most:
        return rows
    old, new = ((some.ids, some.starts, some.ends, some.values) for some in (gone, came))
    seen = late.ids, late.points, lists.table, lists.pool
    n = tell(*old, *new, *seen, clock.start, clock.step, clock.tick, clock.spoken, rows)
    ordered = np.empty((6, n), np.int64)
    counts = np.zeros(2 * ((clock.query - clock.previous) // clock.step) + 1, np.int64)
    by_query(rows, n, clock.previous + clock.step, clock.step, counts, ordered)
    return ordered
