"""Expressions that are decided point by point: a truth table over the pairs that they read.

Union, intersection, difference and complement, however nested, say for each time-point whether the result holds from
which of their inputs hold. In windows that do not overlap such an expression is evaluated in one pass over all inputs
(`columns.fresh`), whatever its form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.columns import fresh
from thalweg.columns.ragged import Ragged
from thalweg.columns.spans import INTERSECTION, UNION
from thalweg.events.expressions import Apply, Complement, Leaf, Node, SpanPlan, leaves
from thalweg.events.stores import Writer
from thalweg.protocol import Ints, Mask

_NO_TABLE = np.zeros((1, 4), np.int32)
_NO_POOL = np.zeros((1, 3), np.int64)


@dataclass(slots=True)
class Pointwise:
    """What an expression reads, and for each set of inputs that hold whether the result does."""

    inputs: list[Leaf]
    truth: Mask


def pointwise(node: Node) -> Pointwise | None:
    """The expression as a truth table; None where it judges whole intervals, or reads too much."""
    inputs = leaves(node)
    if len(inputs) > fresh.MOST:
        return None
    sets = np.arange(1 << len(inputs))
    truth = _truth(node, {id(leaf): (sets >> n) & 1 == 1 for n, leaf in enumerate(inputs)})
    return None if truth is None else Pointwise(inputs, truth)


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


def writer(plan: SpanPlan, table: Pointwise, heads: Ints, lows: Ints, expiry: int) -> Writer:
    """Writes the lists of the heads, each of which has the one binding of the same number, from `lows` on."""
    frame = plan.frame(heads)
    inputs = np.empty((len(table.inputs), len(heads)), np.int64)
    values = np.zeros_like(inputs)
    for n, leaf in enumerate(table.inputs):
        inputs[n] = leaf.ids(frame)
        if leaf.value is not None:
            values[n] = leaf.value.column(frame)
    lists = [leaf.store.lists for leaf in table.inputs]
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
