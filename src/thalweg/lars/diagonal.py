"""Heads without a point, with the point at which they stand: the tick of evaluation."""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.columns.symbols import as_floats
from thalweg.lars.labels import HI, LO, NEXT
from thalweg.lars.operators import Moment, every_tick
from thalweg.lars.store import Store
from thalweg.protocol import Ints

_SOON = 1024
"""Labels that end within so many ticks are followed to their end."""
_AHEAD = 64
"""Others are followed for at least so many ticks, at most twice as many."""


@njit(cache=True)
def _diagonal(
    keys: Ints, lab: Ints, nodes: Ints, ids: Ints, first: int, last: int, edge: int, rows: Ints, out: Ints
) -> int:
    """For each tuple and each tick of its label in [first, last]: the tuple with that point; of intervals that end
    after `last` only up to `edge`. Counts beyond the room."""
    n = 0
    width = keys.shape[1]
    for k in range(len(ids)):
        i = ids[k]
        lo = lab[i, LO]
        hi = lab[i, HI]
        at = lab[i, NEXT]
        while True:
            for t in range(max(lo, first), (hi if hi <= last else min(edge, last)) + 1):
                if n < len(out):
                    for c in range(width):
                        rows[n, c] = keys[i, c]
                    rows[n, width] = np.float64(t).view(np.int64)
                    out[n, 0] = n
                    out[n, 1] = t
                    out[n, 2] = t
                n += 1
            if at < 0:
                break
            lo = nodes[at, 0]
            hi = nodes[at, 1]
            at = nodes[at, 2]
    return n


class Diagonal:
    """What a rule derives at the tick of evaluation stands at that point: (x, t) at tick t. Labels that end soon are
    followed to their end, others some way ahead."""

    def __init__(self, plain: Store, writes: Store) -> None:
        self.reads: tuple[Store, ...] = (plain,)
        self.writes = writes
        self._columns = np.arange(plain.width + 1)
        self._done: int | None = None

    @property
    def done(self) -> int | None:
        """The last tick of which all points are known."""
        return self._done

    def update(self, moment: Moment) -> None:
        plain = self.reads[0]
        done = moment.start - 1 if self._done is None else self._done
        came, gone = [], []
        if len(plain.minus):
            gone.append(self._strike(moment))
        touched = np.concatenate([plain.plus[:, 0], plain.minus[:, 0]])
        edge = done if moment.target + _AHEAD <= done else moment.target + 2 * _AHEAD
        if len(touched):
            last = max(moment.target + _SOON, edge)
            came.append(self._absorb(np.unique(touched), moment.horizon, last, edge, moment))
        if edge > done:
            came.append(self._absorb(np.arange(len(plain)), done + 1, edge, edge, moment))
            self._done = edge
        if came or gone:
            self.writes.settle(came, gone)

    def _strike(self, moment: Moment) -> Ints:
        """Take away the points of what is no more."""
        plain, found = self.reads[0], []
        for i, first, last in plain.minus.tolist():
            ids = self.writes.ids_with(plain.keys[i : i + 1], plain.width)
            points = as_floats(self.writes.keys[ids, -1]).astype(np.int64)
            found.append(ids[(points >= max(first, moment.horizon)) & (points <= last)])
        ids = np.unique(np.concatenate(found))
        pieces = every_tick(len(ids))
        pieces[:, 0] = ids
        return self.writes.strike(self.writes.keys, pieces, self._columns)

    def _absorb(self, ids: Ints, first: int, last: int, edge: int, moment: Moment) -> Ints:
        """Add the points of tuples in [first, last]; of labels that go on after `last` only those up to the edge."""
        plain = self.reads[0]
        room = 2 * len(ids) + 64
        while True:
            rows, out = np.empty((room, plain.width + 1), np.int64), np.empty((room, 3), np.int64)
            n = _diagonal(plain.keys, plain.lab, plain.nodes, ids, first, last, edge, rows, out)
            if n <= room:
                return self.writes.absorb(rows[:n], out[:n], self._columns, moment.horizon)
            room = n

    def state(self) -> dict[str, Ints]:
        return {"done": np.array([] if self._done is None else [self._done], np.int64)}

    def restore(self, state: dict[str, Ints]) -> None:
        self._done = int(state["done"][0]) if len(state["done"]) else None
