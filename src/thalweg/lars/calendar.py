"""When answers change: a timing wheel over the labels of a store.

Every tuple has at most one valid entry, at the tick where its truth next changes by itself. Turning the
wheel looks at the entries that are due and at what the round changed, never at a window.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.lars.labels import FOREVER, HI, LO, NEXT
from thalweg.lars.store import NOTHING, Store
from thalweg.protocol import Ints

_SPOKES = 1024
_SEEN = -FOREVER
"""Instead of the tick at which a tuple next changes, while it has been looked at: before every tick."""
_NO_FLIPS = np.empty((0, 6), np.int64)


@njit(cache=True)
def _collect(waits: Ints, wheel: Ints, entries: Ints, free: Ints, last: int, target: int, out: Ints) -> int:
    """Take the entries due in (last, target] off the wheel; the tuples they are valid for go to `out`."""
    n = 0
    spokes = len(wheel)
    first = max(last + 1, target - spokes + 1)
    for tick in range(first, target + 1):
        spoke = tick % spokes
        at = wheel[spoke]
        wheel[spoke] = -1
        while at >= 0:
            following = entries[at, 2]
            due = entries[at, 1]
            if due > target:
                entries[at, 2] = wheel[spoke]
                wheel[spoke] = at
            else:
                i = entries[at, 0]
                if waits[i] == due:
                    waits[i] = FOREVER
                    out[n] = i
                    n += 1
                entries[at, 2] = free[0]
                free[0] = at
            at = following
    return n


@njit(cache=True)
def _flips(
    lab: Ints, nodes: Ints, waits: Ints, wheel: Ints, entries: Ints, free: Ints, changed: Ints, due: Ints, last: int,
    target: int, out: Ints,
) -> int:  # fmt: skip
    """Rows (tuple, +1 or -1, tick, tick, FOREVER, until) for every change of truth in (last, target]. `until` is the
    last tick for which that lasts without further input. Rows beyond the room of `out` are counted only, and then
    nothing else is touched. Otherwise the next change of every tuple looked at is entered on the wheel."""
    n = 0
    seen = np.empty(len(changed) + len(due), np.int64)
    old = np.empty(len(seen), np.int64)
    m = 0
    for k in range(len(seen)):
        i = due[k] if k < len(due) else changed[k - len(due), 0]
        if waits[i] == _SEEN:
            continue
        seen[m] = i
        old[m] = waits[i]
        waits[i] = _SEEN
        m += 1
        lo = lab[i, LO]
        hi = lab[i, HI]
        at = lab[i, NEXT]
        while lo <= hi and lo <= target:
            following = nodes[at, 0] if at >= 0 else FOREVER
            if lo > last:
                if n < len(out):
                    out[n, 0] = i
                    out[n, 1] = 1
                    out[n, 2] = lo
                    out[n, 3] = lo
                    out[n, 4] = FOREVER
                    out[n, 5] = hi
                n += 1
            if hi >= last and hi < target:
                if n < len(out):
                    out[n, 0] = i
                    out[n, 1] = -1
                    out[n, 2] = hi + 1
                    out[n, 3] = hi + 1
                    out[n, 4] = FOREVER
                    out[n, 5] = following - (following < FOREVER)
                n += 1
            if at < 0:
                break
            lo = nodes[at, 0]
            hi = nodes[at, 1]
            at = nodes[at, 2]
    spokes = len(wheel)
    for k in range(m):
        i = seen[k]
        waits[i] = old[k]
        if n > len(out):
            continue
        following = FOREVER
        lo = lab[i, LO]
        hi = lab[i, HI]
        at = lab[i, NEXT]
        while lo <= hi:
            if lo > target:
                following = lo
                break
            if hi >= target:
                following = hi + 1 if hi < FOREVER else FOREVER
                break
            if at < 0:
                break
            lo = nodes[at, 0]
            hi = nodes[at, 1]
            at = nodes[at, 2]
        if following != old[k]:
            waits[i] = following
            if following < FOREVER:
                at = free[0]
                if at >= 0:
                    free[0] = entries[at, 2]
                else:
                    at = free[1]
                    free[1] += 1
                entries[at, 0] = i
                entries[at, 1] = following
                entries[at, 2] = wheel[following % spokes]
                wheel[following % spokes] = at
    return n


@njit(cache=True)
def _turn(
    lab: Ints, nodes: Ints, waits: Ints, wheel: Ints, entries: Ints, free: Ints, changed: Ints, due: Ints, last: int,
    target: int, out: Ints,
) -> tuple[int, int]:  # fmt: skip
    """`_collect` into `due`, then `_flips`; how many were due, and how many rows there are."""
    d = _collect(waits, wheel, entries, free, last, target, due)
    return d, _flips(lab, nodes, waits, wheel, entries, free, changed, due[:d], last, target, out)


@njit(cache=True)
def _rename(wheel: Ints, entries: Ints, free: Ints, renamed: Ints) -> None:
    """Give the entries the new ids of their tuples; entries of tuples that are gone stay, for nobody."""
    for spoke in range(len(wheel)):
        at = wheel[spoke]
        kept = -1
        while at >= 0:
            following = entries[at, 2]
            i = renamed[entries[at, 0]]
            if i >= 0:
                entries[at, 0] = i
                entries[at, 2] = kept
                kept = at
            else:
                entries[at, 2] = free[0]
                free[0] = at
            at = following
        wheel[spoke] = kept


class Calendar:
    """The wheel of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._wheel = np.full(_SPOKES, -1, np.int64)
        self._entries = np.empty((64, 3), np.int64)
        self._free = np.array([-1, 0], np.int64)
        self._out = np.empty((256, 6), np.int64)
        self._due = np.empty(64, np.int64)

    def turn(self, last: int, target: int) -> Ints:
        """Changes of truth in (last, target] as rows (tuple, +1 or -1, query time, from, to, until)."""
        store = self.store
        changed = store.plus
        if store.minus is not NOTHING:
            changed = np.concatenate([changed, store.minus])
        elif changed is NOTHING and target - last == 1 and self._wheel[target % _SPOKES] < 0:
            return _NO_FLIPS
        self._make_room(len(changed))
        d, n = _turn(
            store.lab, store.nodes, store.due, self._wheel, self._entries, self._free, changed, self._due, last,
            target, self._out,
        )  # fmt: skip
        if n > len(self._out):
            self._out = np.empty((2 * n, 6), np.int64)
            n = _flips(
                store.lab, store.nodes, store.due, self._wheel, self._entries, self._free, changed, self._due[:d],
                last, target, self._out,
            )  # fmt: skip
        return self._out[:n].copy() if n else _NO_FLIPS

    def _make_room(self, changed: int) -> None:
        """For an entry of each changed tuple, besides those that are used."""
        used = int(self._free[1])
        if used + changed > len(self._entries):
            entries = np.empty((2 * (used + changed), 3), np.int64)
            entries[:used] = self._entries[:used]
            self._entries = entries
        if len(self._due) < used:
            self._due = np.empty(len(self._entries), np.int64)

    def rename(self, renamed: Ints) -> None:
        """After the store was compacted."""
        _rename(self._wheel, self._entries, self._free, renamed)

    def rebuild(self) -> None:
        """After the store was restored: enter what its tuples wait for."""
        ids = np.flatnonzero(self.store.due[: len(self.store)] < FOREVER)
        dues = self.store.due[ids]
        self._wheel[:] = -1
        self._free[:] = (-1, len(ids))
        self._entries = np.empty((2 * len(ids) + 64, 3), np.int64)
        for k, (i, due) in enumerate(zip(ids.tolist(), dues.tolist(), strict=True)):
            self._entries[k] = (i, due, self._wheel[due % _SPOKES])
            self._wheel[due % _SPOKES] = k

    def renew(self, now: int) -> None:
        """Enter anew when each tuple changes next after a tick: labels have changed, and nobody was told."""
        store = self.store
        every = np.arange(len(store)).reshape(-1, 1)
        self._make_room(len(every))
        _flips(
            store.lab, store.nodes, store.due, self._wheel, self._entries, self._free, every, self._due[:0], now, now,
            self._out,
        )  # fmt: skip
