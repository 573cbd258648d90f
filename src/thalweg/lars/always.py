"""`always` over a time window: by runs of points where that is enough, else by a sweep over the points of a tuple."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.columns.symbols import as_floats
from thalweg.language.rules import Window
from thalweg.lars.labels import FOREVER, HI, LO, NEXT, add
from thalweg.lars.operators import Moment, every_tick
from thalweg.lars.rule import Reads, Rule
from thalweg.lars.store import NOTHING, Store
from thalweg.lars.tuples import Links, enter, hash_row, slot_from
from thalweg.lars.windows import inside
from thalweg.protocol import Ints


@njit(cache=True)
def _extend_runs(
    keys: Ints, lab: Ints, nodes: Ints, table: Links, meta: Ints, chain: Links, heads: Links, wanted: Ints,
    source: Ints, pieces: Ints, past: int, start: int, horizon: int, ordered: bool, points: Ints, rows: Ints, out: Ints,
) -> int:  # fmt: skip
    """Add the points of new occurrences to the runs of their tuples. A run [a, b] makes `always` over the last `past`
    points true on [a + past, b] (from the start on, where the run begins there); the ticks that a point adds are
    written as (row, from, to). In `ordered` input a gap is never filled, so earlier runs need not be kept."""
    n = 0
    width = source.shape[1] - 1
    row = np.empty(width, np.int64)
    mask = len(table) - 1
    for k in range(len(pieces)):
        i = pieces[k, 0]
        u = int(np.int64(source[i, width]).view(np.float64))
        for c in range(width):
            row[c] = source[i, c]
        t = table[slot_from(keys, table, row, hash_row(row) & mask)] - 1
        if t < 0:
            t = enter(keys, lab, table, meta, chain, heads, wanted, row)
        a = lab[t, LO]
        b = lab[t, HI]
        if a <= u <= b:
            continue
        if lab[t, NEXT] < 0 and u > b and (a > b or u == b + 1 or ordered or b < horizon - 1):
            a = a if a <= b and u == b + 1 else u
            b = u
            lab[t, LO] = a
            lab[t, HI] = b
        else:
            if add(lab, nodes, meta, t, u, u, horizon - past - 1, points, 0) == 0:
                continue
            a = lab[t, LO]
            b = lab[t, HI]
            at = lab[t, NEXT]
            while b < u:
                a = nodes[at, 0]
                b = nodes[at, 1]
                at = nodes[at, 2]
        first = u if a <= start else max(u, a + past)
        last = min(b, u + past)
        if first <= last:
            for c in range(width):
                rows[n, c] = row[c]
            out[n, 0] = n
            out[n, 1] = first
            out[n, 2] = last
            n += 1
    return n


@njit(cache=True)
def _sweep(
    rows: Ints, count: int, past: int, future: int, hop: int, start: int, horizon: int, out: Ints
) -> int:
    """Ticks at which every point of the window has the tuple. `rows` (tuple, point, from, to) are its occurrences,
    sorted; between them points are missing. Writes (tuple, from, to), sorted and maximal."""
    n = 0
    at = 0
    nowhere = -((future - start) // hop) * hop
    for k in range(count):
        end = at
        while end < len(rows) and rows[end, 0] == k:
            end += 1
        bad = np.empty((3 * (end - at) + 8, 2), np.int64)
        m = 0
        bad[m, 0] = -FOREVER
        bad[m, 1] = nowhere - 1
        m += 1
        point = start
        q = at
        while True:
            u = rows[q, 1] if q < end else FOREVER
            if u > point:
                bad[m, 0] = -((future - point) // hop) * hop
                bad[m, 1] = FOREVER if u == FOREVER else (u - 1 + past) // hop * hop + hop - 1
                m += 1
            if q >= end:
                break
            s = -((future - u) // hop) * hop
            e = (u + past) // hop * hop + hop - 1
            while q < end and rows[q, 1] == u:
                if rows[q, 2] > s:
                    bad[m, 0] = s
                    bad[m, 1] = min(e, rows[q, 2] - 1)
                    m += 1
                s = max(s, rows[q, 3] + 1)
                q += 1
            if s <= e:
                bad[m, 0] = s
                bad[m, 1] = e
                m += 1
            point = u + 1
        order = np.argsort(bad[:m, 0])
        free = max(start, horizon)
        for p in range(m):
            s = bad[order[p], 0]
            if s > free:
                out[n, 0] = k
                out[n, 1] = free
                out[n, 2] = s - 1
                n += 1
            if bad[order[p], 1] == FOREVER:
                free = FOREVER
                break
            free = max(free, bad[order[p], 1] + 1)
        at = end
    return n


class Always:
    """`always` over a time window.

    While every occurrence lasts as long as its window and none is taken back, a past window is true where the points
    of a tuple form a run that is long enough: constant cost per occurrence. Otherwise (`runs` is false) the tuples
    that something happened to are swept: cost by their occurrences in the window.
    """

    def __init__(self, sources: tuple[Store, ...], window: Window, writes: Store, *, runs: bool) -> None:
        self.reads = sources
        self.writes = writes
        self.window = window
        self.runs = runs
        self._runs = Store(f"runs of {writes.name}", writes.width)
        self._groups = Store(f"groups of {writes.name}", writes.width)
        slots = tuple(range(writes.width + 1))
        self._collect = [
            Rule(
                self._groups,
                range(writes.width),
                [Reads(s, slots, inside(window, writes.width))],
                slots=len(slots),
            )
            for s in sources
        ]
        self._columns = np.arange(writes.width)
        self._points = np.empty((64, 3), np.int64)

    def update(self, moment: Moment) -> None:
        if all(s.plus is NOTHING and s.minus is NOTHING for s in self.reads):
            return
        if self.runs and not self._add_to_runs(moment):
            self.runs = False
            self._take(((s, s.live(moment.horizon)) for s in self.reads), moment)
            self._give(moment, everything=True)
        elif not self.runs:
            self._take(((s, p) for s in self.reads for p in (s.plus, s.minus)), moment)
            self._give(moment, everything=False)

    def _add_to_runs(self, moment: Moment) -> bool:
        """False where runs are not enough; nothing is changed then."""
        past = self.window.past
        for source in self.reads:
            if source.minus is not NOTHING:
                return False
            if source.delta_rows is None and not _lasting(source.keys, source.plus, past):
                return False
        self._runs.compact(moment.horizon - past - 1)
        came = [
            self.writes.absorb(*self._extend(s, moment), self._columns, moment.horizon)
            for s in self.reads
            if len(s.plus)
        ]
        self.writes.settle(came, [])
        return True

    def _extend(self, source: Store, moment: Moment) -> tuple[Ints, Ints]:
        runs, pieces = self._runs, source.plus
        runs.reserve(len(pieces))
        rows = np.empty((len(pieces), runs.width), np.int64)
        out = np.empty((len(pieces), 3), np.int64)
        if len(self._points) < runs.meta[1] + 2:
            self._points = np.empty((2 * int(runs.meta[1]) + 64, 3), np.int64)
        n = _extend_runs(
            runs.keys, runs.lab, runs.nodes, runs.table, runs.meta, runs.chain, runs.heads, runs.wanted,
            source.changed_keys, pieces, self.window.past, moment.start, moment.horizon, source.delta_rows is not None,
            self._points, rows, out,
        )  # fmt: skip
        return rows[:n], out[:n]

    def _take(self, changes: Iterable[tuple[Store, Ints]], moment: Moment) -> None:
        """Note the tuples that something happened to."""
        self._groups.forget()
        for source, pieces in changes:
            if len(pieces):
                rows = source.changed_keys[pieces[:, 0]]
                self._groups.absorb(rows, every_tick(len(rows)), self._columns, moment.horizon)

    def _give(self, moment: Moment, *, everything: bool) -> None:
        if everything:
            self._groups.ids(self.writes.keys[: len(self.writes)])
        count = len(self._groups)
        if not count:
            return
        span = every_tick(count)
        span[:, 1] = moment.horizon
        found = [f for f in (collect.from_head(span) for collect in self._collect) if len(f[1])]
        none = np.empty((0, self.writes.width + 1), np.int64)
        values = np.concatenate([none, *(rows[pieces[:, 0]] for rows, pieces in found)])
        pieces = np.concatenate([NOTHING, *(pieces for _, pieces in found)])
        group = self._groups.find(np.ascontiguousarray(values[:, :-1]))
        points = as_floats(values[:, -1]).astype(np.int64)
        order = np.lexsort((pieces[:, 1], points, group))
        table = np.stack([group, points, pieces[:, 1], pieces[:, 2]], axis=1)[order]
        out = np.empty((3 * len(table) + 4 * count + 8, 3), np.int64)
        w = self.window
        n = _sweep(table, count, w.past, w.future, w.hop, moment.start, moment.horizon, out)
        ids = self.writes.ids(self._groups.keys[:count])
        self.writes.change(*self.writes.replace(ids, out[:n], moment.horizon))

    def state(self) -> dict[str, Ints]:
        return {"runs": np.array([self.runs]), **{f"run {k}": v for k, v in self._runs.state().items()}}

    def restore(self, state: dict[str, Ints]) -> None:
        self.runs = bool(state["runs"][0])
        self._runs.restore({k[4:]: v for k, v in state.items() if k.startswith("run ")})


@njit(cache=True)
def _lasting(keys: Ints, pieces: Ints, past: int) -> bool:
    """Do all new occurrences last from their point to the end of their window?"""
    last = keys.shape[1] - 1
    for k in range(len(pieces)):
        point = int(np.int64(keys[pieces[k, 0], last]).view(np.float64))
        if pieces[k, 1] > point or pieces[k, 2] < point + past:
            return False
    return True
