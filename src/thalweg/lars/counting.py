"""Windows that count atoms: tuple windows over all input, partition windows over one predicate by some arguments.

Input atoms stand in the order of (time, text). The last n at a tick are inside, so an atom leaves when the n-th after
it comes: its label needs no further look until then. Derived atoms are not counted and not cut; they are
inside while their point is not before the first atom inside.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.columns.compiled import njit
from thalweg.columns.symbols import as_floats
from thalweg.language.rules import Window
from thalweg.language.terms import Number
from thalweg.lars.labels import FOREVER
from thalweg.lars.operators import Moment
from thalweg.lars.store import Store
from thalweg.lars.texts import Texts as Writer
from thalweg.protocol import Ints

Texts = npt.NDArray[np.str_]


class TupleWindow:
    """Occurrences of one predicate inside a window that counts atoms, with their point."""

    def __init__(
        self,
        window: Window,
        every: list[Store],
        names: list[tuple[str, tuple[str, ...]]],
        mine: Store | None,
        ahead: Store | None,
        writes: Store,
        texts: Writer,
    ) -> None:
        self.window = window
        self.every, self.names, self.mine, self.ahead = every, names, mine, ahead
        self.reads = (*every, *([ahead] if ahead is not None else []))
        self.writes = writes
        self.writer = texts
        self.by = [int(v.value) for v in window.by if isinstance(v, Number)]
        self.times: Ints = np.empty(0, np.int64)
        self.texts: Texts = np.empty(0, "U1")
        self.rows: Ints = np.empty((0, writes.width), np.int64)
        self.own: npt.NDArray[np.bool_] = np.empty(0, np.bool_)
        self.groups: Ints = np.empty(0, np.int64)
        self.dropped: dict[int, int] = {}
        self._group_ids = Store(f"groups of {writes.name}", max(len(self.by), 1))

    def copy(self, ahead: Store, writes: Store) -> TupleWindow:
        """The same window over other derived atoms."""
        return TupleWindow(self.window, self.every, self.names, self.mine, ahead, writes, self.writer)

    # ------------------------------------------------------------------ the order of atoms

    def update(self, moment: Moment) -> None:
        if not any(len(s.plus) or len(s.minus) for s in self.reads):
            return
        for store, (name, kinds) in zip(self.every, self.names, strict=True):
            if len(store.minus):
                self._remove(self._described(store, name, kinds, store.minus))
            if len(store.plus):
                self._insert(store, self._described(store, name, kinds, store.plus))
        self.relabel(moment)

    def relabel(self, moment: Moment) -> None:
        """Give all that is inside its label."""
        self._trim(moment)
        self._label(moment)

    def _described(
        self, store: Store, name: str, kinds: tuple[str, ...], pieces: Ints
    ) -> tuple[Ints, Texts, Ints]:
        rows = store.changed_keys[pieces[:, 0]]
        texts = self.writer.atoms(name, kinds, rows).to_numpy(zero_copy_only=False).astype(np.str_)
        return as_floats(rows[:, -1]).astype(np.int64), texts, rows

    def _remove(self, gone: tuple[Ints, Texts, Ints]) -> None:
        lost = set(zip(gone[0].tolist(), gone[1].tolist(), strict=True))
        known = zip(self.times.tolist(), self.texts.tolist(), strict=True)
        self._keep(np.array([atom not in lost for atom in known], np.bool_))

    def _keep(self, which: npt.NDArray[np.bool_] | Ints) -> None:
        self.times, self.texts, self.own = self.times[which], self.texts[which], self.own[which]
        self.rows, self.groups = self.rows[which], self.groups[which]

    def _insert(self, store: Store, came: tuple[Ints, Texts, Ints]) -> None:
        times, texts, rows = came
        mine = store is self.mine
        width = self.writes.width
        full = rows if mine else np.zeros((len(rows), width), np.int64)
        self.times = np.concatenate([self.times, times])
        self.texts = np.concatenate([self.texts, texts])
        self.rows = np.concatenate([self.rows, full])
        self.own = np.concatenate([self.own, np.full(len(times), mine)])
        self.groups = np.concatenate([self.groups, self._grouped(rows)])
        order = np.lexsort((self.texts, self.times))
        same = (np.diff(self.times[order]) == 0) & (self.texts[order][1:] == self.texts[order][:-1])
        self._keep(order[np.concatenate([[True], ~same])])

    def _grouped(self, rows: Ints) -> Ints:
        if not self.by:
            return np.zeros(len(rows), np.int64)
        return self._group_ids.ids(np.ascontiguousarray(rows[:, self.by]))

    def _trim(self, moment: Moment) -> None:
        """Forget atoms whose points left every window before the horizon; count them by group."""
        gone = self._until(self.times, self.groups) < moment.horizon
        if gone.any():
            for group, count in zip(*np.unique(self.groups[gone], return_counts=True), strict=True):
                self.dropped[int(group)] = self.dropped.get(int(group), 0) + int(count)
            self._keep(~gone)

    def _leaving(self) -> Ints:
        """The tick at which each atom is pushed out by the n-th atom of its group after it."""
        n = self.window.past
        order = np.argsort(self.groups, kind="stable")
        out = np.full(len(order), FOREVER, np.int64)
        if n == 0:
            return self.times.copy()
        if len(order) > n:
            pushing = order[n:]
            same = self.groups[pushing] == self.groups[order[:-n]]
            out[order[:-n][same]] = self.times[pushing[same]]
        return out

    # ------------------------------------------------------------------ labels

    def inside(self) -> tuple[Ints, Ints, Ints]:
        """The input atoms with their points, and from when to when they are inside without further input."""
        leaving = self._leaving()[self.own]
        return np.ascontiguousarray(self.rows[self.own]), self.times[self.own], leaving - (leaving < FOREVER)

    def _label(self, moment: Moment) -> None:
        rows, starts, ends = self.inside()
        ids = self.writes.ids(rows)
        if self.ahead is not None:
            pieces = self._of_rules_alone(self.ahead, self.ahead.live(moment.horizon))
            rows = self.ahead.keys[pieces[:, 0]]
            points = as_floats(rows[:, -1]).astype(np.int64)
            last = self._until(points, self._grouped(rows))
            first = points if self.window.future == 0 else pieces[:, 1]
            ids = np.concatenate([ids, self.writes.ids(np.ascontiguousarray(rows))])
            starts = np.concatenate([starts, np.maximum(pieces[:, 1], first)])
            ends = np.concatenate([ends, np.minimum(pieces[:, 2], last)])
        self.writes.assign(ids, starts, ends, moment.horizon)

    def _of_rules_alone(self, ahead: Store, pieces: Ints) -> Ints:
        """Derived atoms that are no input: those that are count like any other input."""
        known = set(map(tuple, self.rows[self.own].tolist()))
        if not known or not len(pieces):
            return pieces
        rows = ahead.keys[pieces[:, 0]].tolist()
        return pieces[[tuple(row) not in known for row in rows]]

    def cut(self) -> tuple[Ints, Ints, Ints]:
        """The input atoms that are cut off at the first point of the window, and from when to when."""
        rows, times, last = self.inside()
        until = self._until(times, self.groups[self.own])
        return rows, np.maximum(times, last + 1), until

    def _until(self, points: Ints, groups: Ints) -> Ints:
        """The last tick at which a derived atom at a point is inside."""
        n = self.window.past
        if n == 0:
            return points
        out = np.full(len(points), FOREVER, np.int64)
        for group in np.unique(groups).tolist():
            times = self.times[self.groups == group]
            here = groups == group
            at = np.searchsorted(times, points[here], "right") + n - 1
            found = np.full(len(at), FOREVER, np.int64)
            found[at < len(times)] = times[at[at < len(times)]] - 1
            out[here] = found
        return out

    def low(self, ticks: Ints, start: int) -> Ints:
        """The first point of the window at each tick."""
        n = self.window.past
        known = sorted(set(self.groups.tolist()) | set(self.dropped))
        if not known:
            return np.full(len(ticks), start, np.int64) if n else ticks
        if n == 0:
            return ticks
        low = np.full(len(ticks), FOREVER, np.int64)
        for group in known:
            times = self.times[self.groups == group]
            at = np.searchsorted(times, ticks, "right") - n
            mine = np.full(len(ticks), start, np.int64)
            mine[at >= 0] = times[at[at >= 0]]
            seen = (np.searchsorted(times, ticks, "right") > 0) | (group in self.dropped)
            low = np.where(seen, np.minimum(low, mine), low)
        return np.where(low == FOREVER, start, low)

    def lows(self, start: int) -> list[tuple[list[int], int]]:
        """The first point of the window from the last atom on, for each group of counted atoms (by its values)."""
        found = []
        for group in sorted(set(self.groups.tolist()) | set(self.dropped)):
            times = self.times[self.groups == group]
            low = int(times[-self.window.past]) if 0 < self.window.past <= len(times) else start
            found.append((self._group_ids.keys[group].tolist() if self.by else [], low))
        return found

    def state(self) -> dict[str, Ints]:
        return {
            "times": self.times,
            "texts": self.texts,  # type: ignore[dict-item]
            "rows": self.rows,
            "own": self.own.astype(np.int64),
            "groups": self.groups,
            "dropped": np.array(sorted(self.dropped.items()), np.int64).reshape(-1, 2),
            "names": self._group_ids.keys[: len(self._group_ids)].copy(),
        }

    def restore(self, state: dict[str, Ints]) -> None:
        self.times, self.rows, self.groups = state["times"], state["rows"], state["groups"]
        self.texts = state["texts"].astype(np.str_)
        self.own = state["own"].astype(np.bool_)
        self.dropped = dict(state["dropped"].tolist())
        self._group_ids.forget()
        self._group_ids.ids(state["names"])


class Cut:
    """Input atoms that a window which counts atoms cuts off although their point is inside, with the point: they are
    not in the window even where rules derive them too."""

    def __init__(self, window: TupleWindow, writes: Store) -> None:
        self.reads: tuple[Store, ...] = (*window.reads, window.writes)
        self.writes = writes
        self._window = window

    def update(self, moment: Moment) -> None:
        if any(len(s.plus) or len(s.minus) for s in self.reads):
            rows, first, last = self._window.cut()
            self.writes.assign(self.writes.ids(rows), first, last, moment.horizon)

    def state(self) -> dict[str, Ints]:
        return {}

    def restore(self, state: dict[str, Ints]) -> None:
        pass


@njit(cache=True)
def _covered(rows: Ints, lows: Ints, out: Ints) -> int:
    """Ticks t at which the points from lows[k] to t = the point of row k are all there. Rows (tuple, point, from, to)
    are sorted. Writes (tuple, t, t)."""
    n = 0
    for k in range(len(rows)):
        t = rows[k, 1]
        if rows[k, 2] > t or rows[k, 3] < t:
            continue
        point = t - 1
        q = k - 1
        while point >= lows[k] and q >= 0 and rows[q, 0] == rows[k, 0] and rows[q, 1] >= point:
            if rows[q, 1] == point and rows[q, 2] <= t and rows[q, 3] >= t:
                point -= 1
            q -= 1
        if point < lows[k]:
            out[n, 0] = rows[k, 0]
            out[n, 1] = t
            out[n, 2] = t
            n += 1
    return n


class TupleAlways:
    """`always` over a window that counts atoms: every point from the first atom inside to now."""

    def __init__(self, window: TupleWindow, occurrences: Store, writes: Store) -> None:
        self.reads = (*window.reads, window.writes, occurrences)
        self.writes = writes
        self.window, self.occurrences = window, occurrences

    def update(self, moment: Moment) -> None:
        if self.window.window.future or not any(len(s.plus) or len(s.minus) for s in self.reads):
            return
        pieces = self.occurrences.live(moment.horizon)
        keys = self.occurrences.keys[pieces[:, 0]]
        ids = self.writes.ids(np.ascontiguousarray(keys[:, :-1]))
        points = as_floats(keys[:, -1]).astype(np.int64)
        order = np.lexsort((pieces[:, 1], points, ids))
        rows = np.stack([ids, points, pieces[:, 1], pieces[:, 2]], axis=1)[order]
        out = np.empty((len(rows), 3), np.int64)
        n = _covered(rows, self.window.low(rows[:, 1], moment.start), out)
        found = out[:n]
        self.writes.assign(found[:, 0], found[:, 1], found[:, 2], moment.horizon)

    def state(self) -> dict[str, Ints]:
        return {}

    def restore(self, state: dict[str, Ints]) -> None:
        pass
