"""Expressions that are decided point by point: a truth table over the pairs that they read.

Union, intersection, difference and complement, however nested, say for each time-point whether the result holds from
which of their inputs hold. In windows that do not overlap such an expression is evaluated in one pass over all inputs
(`columns.fresh`), whatever its form; and so is a filter by duration over it, in a second pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.columns import fresh
from thalweg.columns.ragged import Ragged
from thalweg.columns.spans import INTERSECTION, UNION
from thalweg.events.evaluation import SpanPlan
from thalweg.events.expressions import Apply, Complement, Lasting, Leaf, Node, Whole, leaves
from thalweg.events.moves import NEVER
from thalweg.events.stores import Writer, renew
from thalweg.events.units import Clock
from thalweg.protocol import Ints, Mask

_NO_TABLE = np.zeros((1, 4), np.int32)
_NO_POOL = np.zeros((1, 3), np.int64)


@dataclass(slots=True)
class Pointwise:
    """What the expressions of some rules read, and for each set of inputs that hold whether the result of any does."""

    inputs: list[tuple[SpanPlan, list[Leaf]]]
    truth: Mask

    @property
    def repeats(self) -> bool:
        """Is the result its only input?"""
        return len(self.truth) == 2 and not self.truth[0] and bool(self.truth[1])


def pointwise(plans: Sequence[SpanPlan]) -> Pointwise | None:
    """The union of expressions as a truth table; None where one judges whole intervals, or they read too much. Where
    there are several, none may hold without its inputs: a head need not have them all."""
    inputs = [(plan, leaves(plan.node)) for plan in plans]
    every = [leaf for _, some in inputs for leaf in some]
    if len(every) > fresh.MOST or any(plan.gates for plan in plans):
        return None
    truths = [_truth(plan.node, _sets(every)) for plan in plans]
    if any(truth is None or (len(plans) > 1 and truth[0]) for truth in truths):
        return None
    return Pointwise(inputs, _any([truth for truth in truths if truth is not None]))


def _sets(every: list[Leaf]) -> dict[int, Mask]:
    """For each leaf, in which of the sets of inputs it is. One that is read twice is two inputs that hold together."""
    sets = np.arange(1 << len(every))
    return {id(leaf): (sets >> n) & 1 == 1 for n, leaf in enumerate(every)}


def _truth(node: Node, known: dict[int, Mask]) -> Mask | None:
    match node:
        case Leaf():
            return known[id(node)]
        case Apply(_, inputs) | Complement(inputs):
            parts = [_truth(child, known) for child in inputs]
            if not parts or any(part is None for part in parts):
                return None
            first, *rest = (part for part in parts if part is not None)
            if isinstance(node, Complement):
                return ~_any([first, *rest])
            if node.op == UNION:
                return _any([first, *rest])
            if node.op == INTERSECTION:
                return ~_any([~part for part in (first, *rest)])
            return first & ~_any([np.zeros_like(first), *rest])
        case _:
            return None


def _any(parts: list[Mask]) -> Mask:
    found: Mask = np.logical_or.reduce(parts)
    return found


def writer(table: Pointwise, heads: Ints, lows: Ints, expiry: int) -> Writer | None:
    """Writes the lists of the heads from `lows` on; None where one may have several bindings of one rule."""
    bindings = []
    for plan, _ in table.inputs:
        mine = plan.binding_of(heads)
        if mine is None:
            return None
        bindings.append(mine)
    return _writer(table, bindings, heads, lows, expiry)


def _writer(table: Pointwise, every_binding: Sequence[Ints], heads: Ints, lows: Ints, expiry: int) -> Writer:
    """`writer`, given the binding of each rule that each head has, -1 where there is none."""
    every = [leaf for _, some in table.inputs for leaf in some]
    inputs = np.full((max(len(every), fresh.FEW), len(heads)), -1)
    values = np.zeros_like(inputs)
    n = 0
    for (plan, some), bindings in zip(table.inputs, every_binding, strict=True):
        bound = (bindings >= 0).nonzero()[0]
        there = bound if len(bound) < len(bindings) else slice(None)
        frame = plan.frame(bindings[there])
        for leaf in some:
            inputs[n, there] = leaf.ids(frame)
            if leaf.value is not None:
                values[n, there] = leaf.value.code if leaf.value.name is None else leaf.value.column(frame)
            n += 1
    lists = [leaf.store.lists for leaf in every]
    if table.repeats:
        return _repeater(lists[0], inputs[0], values[0], heads, lows, expiry)
    if len(lists) <= fresh.FEW:
        return _few(lists, inputs, values, table.truth, heads, lows, expiry)
    spare = fresh.MOST - len(lists)
    tables = (*(x.table for x in lists), *(_NO_TABLE for _ in range(spare)))
    pools = (*(x.pool for x in lists), *(_NO_POOL for _ in range(spare)))
    scratch = np.empty((3, fresh.MOST), np.int64)

    def write(made: Ragged, first: int) -> tuple[int, int, int]:
        place = made.table, made.past, made.pool, made.used
        return fresh.evaluate(
            tables, pools, inputs, values, table.truth, *place, heads, lows, first, expiry, scratch
        )

    return write


def _few(
    lists: Sequence[Ragged], inputs: Ints, values: Ints, truth: Mask, heads: Ints, lows: Ints, expiry: int
) -> Writer:
    """`writer` for what has few inputs."""
    first, second, third = ([(x.table, x.pool) for x in lists] + [(_NO_TABLE, _NO_POOL)] * fresh.FEW)[: fresh.FEW]

    def write(made: Ragged, done: int) -> tuple[int, int, int]:
        place = made.table, made.past, made.pool, made.used
        read = *first, *second, *third, inputs, values, truth
        return fresh.evaluate_few(*read, *place, heads, lows, done, expiry)

    return write


def _repeater(source: Ragged, inputs: Ints, values: Ints, heads: Ints, lows: Ints, expiry: int) -> Writer:
    """`writer` for what has one input and holds when that does."""

    def write(made: Ragged, first: int) -> tuple[int, int, int]:
        place = made.table, made.past, made.pool, made.used
        return fresh.repeat(source.table, source.pool, inputs, values, *place, heads, lows, first, expiry)

    return write


# --------------------------------------------------------------------------- durations


@dataclass(slots=True)
class Judged:
    """A rule that judges the durations of the whole intervals of a pair, or of an expression that is decided point by
    point and remembered."""

    plan: SpanPlan
    test: Lasting
    inner: Pointwise | None


def judged(plans: Sequence[SpanPlan]) -> Judged | None:
    """The only rule of a fluent as such a one, if it is. What is remembered may not hold without its inputs: of new
    bindings all is remembered, and that would have no beginning."""
    if len(plans) != 1 or plans[0].gates:
        return None
    plan = plans[0]
    match plan.node:
        case Lasting(_, Leaf()) as test:
            return Judged(plan, test, None)
        case Lasting(_, Whole(child)) as test:
            every = leaves(child)
            truth = _truth(child, _sets(every)) if len(every) <= fresh.MOST else None
            if truth is not None and not truth[0]:
                return Judged(plan, test, Pointwise([(plan, every)], truth))
    return None


def judge(rule: Judged, heads: Ints, lows: Ints, clock: Clock) -> Writer | None:
    """Renews what the rule remembers from `lows` on; then writes the lists of the heads, all of which have a binding.
    None where one may have several."""
    plan, test = rule.plan, rule.test
    bindings = plan.binding_of(heads)
    if bindings is None:
        return None
    frame = plan.frame(bindings)
    if rule.inner is None:
        assert isinstance(test.node, Leaf)
        source, inputs, values = test.node.of(frame)
    else:
        assert isinstance(test.node, Whole)
        source, inputs, values = test.node.memory, bindings, np.zeros(len(heads), np.int64)
        froms = np.where(bindings >= source.count, NEVER, lows)
        source.ensure(plan.bindings.count)
        renew(source, bindings, _writer(rule.inner, [bindings], bindings, froms, clock.final))
    bounds = test.bounds(frame) if test.same is None else test.same
    until, flips = clock.last + plan.tick, np.empty(len(heads), np.int64)

    def write(made: Ragged, first: int) -> tuple[int, int, int]:
        read = test.op, bounds, until, source.table, source.pool, inputs, values, flips
        place = made.table, made.past, made.pool, made.used
        queries = clock.start, clock.step, clock.tick
        found = fresh.lasting(*read, *place, heads, lows, clock.first, first, clock.final, *queries)
        plan.flips[bindings] = flips
        return found

    return write
