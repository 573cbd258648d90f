"""count, sum, min and max over a window, as step functions of now."""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.lars.labels import FOREVER
from thalweg.lars.operators import Moment
from thalweg.lars.rule import Rule
from thalweg.lars.store import Store
from thalweg.protocol import Ints

_FUNCTIONS = ("count", "sum", "min", "max")


@njit(cache=True)
def _aggregate(rows: Ints, function: int, count: int, out: Ints) -> int:
    """Step functions of groups. `rows` (group, value code, from, to), sorted by group; writes (group, value code,
    from, to). Quadratic in the occurrences of a group for min and max, else n log n."""
    n = 0
    at = 0
    for k in range(count):
        end = at
        while end < len(rows) and rows[end, 0] == k:
            end += 1
        m = end - at
        ticks = np.empty(2 * m, np.int64)
        for q in range(m):
            ticks[2 * q] = rows[at + q, 2]
            ticks[2 * q + 1] = rows[at + q, 3] + 1
        ticks = np.unique(ticks)
        first = n
        for p in range(len(ticks) - 1):
            size = 0
            total = 0.0
            for q in range(at, end):
                if rows[q, 2] <= ticks[p] and rows[q, 3] >= ticks[p]:
                    value = np.int64(rows[q, 1]).view(np.float64)
                    if size == 0:
                        total = value
                    elif function == 1:
                        total += value
                    elif function == 2:
                        total = min(total, value)
                    else:
                        total = max(total, value)
                    size += 1
            if size == 0:
                continue
            if function == 0:
                total = np.float64(size)
            code = np.float64(total + 0.0).view(np.int64)
            if n > first and out[n - 1, 1] == code and out[n - 1, 3] == ticks[p] - 1:
                out[n - 1, 3] = ticks[p + 1] - 1
            else:
                out[n, 0] = k
                out[n, 1] = code
                out[n, 2] = ticks[p]
                out[n, 3] = ticks[p + 1] - 1
                n += 1
        at = end
    return n


class Aggregated:
    """count, sum, min or max over the occurrences of a pattern in a window, by group.

    `pattern` is a rule from the occurrences to their groups, with the value to aggregate in the slot `value`.
    """

    def __init__(
        self, function: str, occurrences: Store, groups: Store, pattern: Rule, value: int, writes: Store
    ) -> None:
        self.reads: tuple[Store, ...] = (occurrences,)
        self.writes = writes
        self.function, self.pattern, self.value = function, pattern, value
        self._groups = groups

    def update(self, moment: Moment) -> None:
        source, groups = self.reads[0], self._groups
        groups.forget()
        for pieces in (source.plus, source.minus):
            if len(pieces):
                rows, span = self.pattern.from_literal(0, pieces, ghosts=False)
                span = np.column_stack(
                    [span[:, 0], np.full(len(span), -FOREVER), np.full(len(span), FOREVER)]
                )
                groups.absorb(rows, span, self.pattern.head_slots, moment.horizon)
        if not len(groups):
            return
        ids = np.arange(len(groups))
        self._give(ids, moment)

    def _give(self, ids: Ints, moment: Moment) -> None:
        groups, pattern = self._groups, self.pattern
        span = np.stack([ids, np.full(len(ids), moment.horizon), np.full(len(ids), FOREVER)], axis=1)
        rows, pieces = pattern.from_head(span)
        values = rows[pieces[:, 0]] if len(pieces) else np.empty((0, len(pattern.base)), np.int64)
        group = groups.find(np.ascontiguousarray(values[:, pattern.head_slots]))
        order = np.argsort(group, kind="stable")
        table = np.stack([group, values[:, self.value], pieces[:, 1], pieces[:, 2]], axis=1)[order]
        out = np.empty((2 * len(table) + 2, 4), np.int64)
        n = _aggregate(table, _FUNCTIONS.index(self.function), len(ids), out)
        self._write(ids, out[:n], moment)

    def _write(self, ids: Ints, found: Ints, moment: Moment) -> None:
        """Old values of the groups lose their labels, new ones get theirs."""
        store, groups = self.writes, self._groups
        width = groups.width
        old = store.ids_with(np.ascontiguousarray(groups.keys[ids]), width)
        keys = np.empty((len(found), width + 1), np.int64)
        keys[:, :width] = groups.keys[found[:, 0]]
        keys[:, width] = found[:, 1]
        new = store.ids(keys)
        every = np.unique(np.concatenate([old, new]))
        place = np.searchsorted(every, new)
        order = np.lexsort((found[:, 2], place))
        rows = np.stack([place, found[:, 2], found[:, 3]], axis=1)[order]
        store.change(*store.replace(every, rows, moment.horizon))

    def state(self) -> dict[str, Ints]:
        return {}

    def restore(self, state: dict[str, Ints]) -> None:
        pass
