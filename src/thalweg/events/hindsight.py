"""Where several query times are evaluated in one go: the points right after one of them that it saw otherwise.

A query time does not see the start, right after it, of an interval that a later one finds long enough. What such a
fluent says there, and the fluents that read it, was seen otherwise; unless other inputs make up for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.columns.ragged import Version
from thalweg.events.evaluation import SpanPlan
from thalweg.events.expressions import Leaf
from thalweg.events.moves import Hindsight, Spans
from thalweg.events.pointwise import Judged, Pointwise
from thalweg.events.stores import FluentStore
from thalweg.events.units import Clock
from thalweg.protocol import Ints, Mask

_ANY = np.empty(0, np.int64)


def hindsight(
    store: FluentStore,
    plans: Sequence[SpanPlan],
    pointwise: Pointwise | None,
    judged: Judged | None,
    added: Spans | None,
    clock: Clock,
) -> Hindsight:
    """Of a determined fluent whose lists have just been written; `added` are the intervals that came."""
    doubted = [plan.doubted(store) for plan in plans]
    asked = Hindsight.of(*(np.concatenate(column) for column in zip(*doubted, strict=True)))
    if judged is None:
        assert pointwise is not None
        seen, held = _seen(pointwise, asked)
        late = seen != held
        return Hindsight.of(asked.ids[late], asked.points[late])
    late = _seen_of_long(judged, asked, store, clock) != _held(store, asked.ids, asked.points)
    heads, points = asked.ids[late], asked.points[late]
    if added is not None:
        starts = added.starts
        unseen = (starts > clock.first) & (_query(starts - clock.tick, clock) < _query(starts, clock))
        unseen &= ~_any_length(judged, added.ids)
        heads, points = np.concatenate([heads, added.ids[unseen]]), np.concatenate([points, starts[unseen]])
    return Hindsight.of(heads, points)


def _query(times: Ints, clock: Clock) -> Ints:
    return (times - clock.start - 1) // clock.step


def _held(store: FluentStore, ids: Ints, points: Ints, wanted: Ints = _ANY) -> Mask:
    found = np.zeros(len(ids), np.bool_)
    found[store.holding(ids, points, wanted, Version.NOW)[0]] = True
    return found


def _seen(table: Pointwise, asked: Hindsight) -> tuple[Mask, Mask]:
    """Whether the query time before each point saw the expression hold there, and whether it did."""
    held, otherwise = np.zeros((2, len(asked.ids)), np.int64)
    n = 0
    for plan, some in table.inputs:
        bindings = plan.binding_of(asked.ids)
        assert bindings is not None
        bound = (bindings >= 0).nonzero()[0]
        frame, points = plan.frame(bindings[bound]), asked.points[bound]
        for leaf in some:
            ids = leaf.ids(frame)
            wanted = _ANY if leaf.value is None else np.ascontiguousarray(leaf.value.column(frame))
            held[bound] |= _held(leaf.store, ids, points, wanted).astype(np.int64) << n
            otherwise[bound] |= leaf.store.hindsight.has(ids, points).astype(np.int64) << n
            n += 1
    return table.truth[held ^ otherwise], table.truth[held]


def _seen_of_long(rule: Judged, asked: Hindsight, store: FluentStore, clock: Clock) -> Mask:
    """Whether the query time before each point saw a long interval there: one that goes on, or of any length."""
    table = rule.inner
    if table is None:
        assert isinstance(rule.test.node, Leaf)
        table = Pointwise([(rule.plan, [rule.test.node])], np.array([False, True]))
    seen, _ = _seen(table, asked)
    return seen & (_held(store, asked.ids, asked.points - clock.tick) | _any_length(rule, asked.ids))


def _any_length(rule: Judged, heads: Ints) -> Mask:
    """Is any interval long enough?"""
    bindings = rule.plan.binding_of(heads)
    assert bindings is not None
    bounds = rule.test.bounds(rule.plan.frame(bindings))
    found: Mask = bounds < 0 if rule.test.op == 0 else bounds <= 0
    return found
