"""Where several query times are evaluated in one go: the points right after one of them that it saw otherwise.

A query time does not see the start, right after it, of an interval that a later one finds long enough, nor of one that
is part of the input. What such a fluent says there, and the fluents that read it, was seen otherwise; unless other
inputs make up for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.columns.lengths import long_at, long_starts
from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.spans import INTERSECTION, UNION
from thalweg.events.evaluation import SpanPlan
from thalweg.events.expressions import Apply, Complement, Lasting, Leaf, Node, Whole, within
from thalweg.events.frames import Frame
from thalweg.events.moves import Hindsight
from thalweg.events.stores import FluentStore
from thalweg.events.units import Clock
from thalweg.protocol import Ints, Mask


def hindsight(store: FluentStore, plans: Sequence[SpanPlan], touched: Ints, clock: Clock) -> Hindsight:
    """Of a determined fluent whose lists have just been written, those of the heads `touched`."""
    doubted = [plan.doubted(store) for plan in plans]
    doubted += [_turned_long(plan, touched, clock) for plan in plans if plan.judges_lengths]
    asked = Hindsight.of(*(np.concatenate(column) for column in zip(*doubted, strict=True)))
    if not asked:
        return asked
    seen, held = np.zeros((2, len(asked.ids)), np.bool_)
    for plan in plans:
        which, bindings = plan.bindings_of(asked.ids)
        now, then = _seen(plan.node, plan.frame(bindings), asked.points[which], clock)
        seen[which[now]], held[which[then]] = True, True
    late = seen != held
    return Hindsight.of(asked.ids[late], asked.points[late])


def unseen_starts(given: Ragged, ids: Ints, starts: Ints, clock: Clock) -> Hindsight:
    """Of an input fluent: a query time does not know of an interval that starts right after it. Unless one that started
    before goes on, it sees none there. `starts`: of all that may, and other times."""
    border = _follow_queries(starts, clock)
    ids, starts = ids[border], starts[border]
    rows, sizes = given.gather(ids, Version.NOW)
    which = np.repeat(np.arange(len(ids)), sizes)
    begins, goes_on = np.zeros((2, len(ids)), np.bool_)
    begins[which[rows[:, 0] == starts[which]]] = True
    goes_on[which[(rows[:, 0] < starts[which]) & (rows[:, 1] > starts[which])]] = True
    unseen = begins & ~goes_on
    return Hindsight.of(ids[unseen], starts[unseen])


def _follow_queries(times: Ints, clock: Clock) -> Mask:
    """Which times are the first that the query time before did not know, of those evaluated in one go."""
    found: Mask = (times > clock.spoken) & (clock.told_at(times - clock.tick) < clock.told_at(times))
    return found


def _turned_long(plan: SpanPlan, heads: Ints, clock: Clock) -> tuple[Ints, Ints]:
    """Heads for which an interval counts as long enough from right after a query time on, and when."""
    bindings = plan.of_heads(heads)
    frame = plan.frame(bindings)
    found, points = [bindings[:0]], [bindings[:0]]
    for node in within(plan.node):
        if not isinstance(node, Lasting):
            continue
        source, ids, values = _lists(node, frame)
        judged = source.table, source.pool, ids, values, node.bounds(frame)
        which = starts = bindings[:0]
        for _ in range(2):  # first how many there are
            n = long_starts(node.op, *judged, *_measures(clock), clock.spoken, which, starts)
            which, starts = (which, starts) if len(which) else np.empty((2, n), np.int64)
        border = _follow_queries(starts, clock)
        found.append(plan.heads[bindings[which[border]]])
        points.append(starts[border])
    return np.concatenate(found), np.concatenate(points)


def _measures(clock: Clock) -> tuple[int, int, int, int]:
    """Up to when running intervals are measured; how query times lie."""
    return clock.last + clock.tick, clock.start, clock.step, clock.tick


def _lists(node: Lasting, frame: Frame) -> tuple[Ragged, Ints, Ints]:
    """Whose lists are judged, which of them for each binding, and with which value."""
    if isinstance(node.node, Leaf):
        return node.node.of(frame)
    assert isinstance(node.node, Whole)
    return node.node.memory, frame.origin, np.zeros(len(frame), np.int64)


def _seen(node: Node, frame: Frame, points: Ints, clock: Clock) -> tuple[Mask, Mask]:
    """Whether the query time before each point saw an expression hold there, and whether it did."""
    match node:
        case Leaf():
            _, ids, values = node.of(frame)
            held = np.zeros(len(points), np.bool_)
            held[node.store.holding(ids, points, values, Version.NOW)[0]] = True
            return held ^ node.store.hindsight.has(ids, points), held
        case Whole(child):
            return _seen(child, frame, points, clock)
        case Apply(op, inputs):
            parts = [_seen(child, frame, points, clock) for child in inputs]
            first, second = (_combined(op, [part[side] for part in parts]) for side in range(2))
            return first, second
        case Complement(inputs):
            parts = [_seen(child, frame, points, clock) for child in inputs]
            first, second = (~_combined(UNION, [part[side] for part in parts]) for side in range(2))
            return first, second
        case Lasting(op, child):
            source, ids, values = _lists(node, frame)
            bounds = node.bounds(frame)
            goes_on, held = np.empty((2, len(points)), np.bool_)
            for times, found in ((points - clock.tick, goes_on), (points, held)):
                long_at(op, source.table, source.pool, ids, values, bounds, times, *_measures(clock), found)
            any_length = bounds < 0 if op == 0 else bounds <= 0
            return _seen(child, frame, points, clock)[0] & (goes_on | any_length), held
        case _:
            raise TypeError(node)


def _combined(op: int, parts: Sequence[Mask]) -> Mask:
    found: Mask
    if op == UNION:
        found = np.logical_or.reduce(parts)
    elif op == INTERSECTION:
        found = np.logical_and.reduce(parts)
    else:
        found = parts[0] & ~np.logical_or.reduce([np.zeros_like(parts[0]), *parts[1:]])
    return found
