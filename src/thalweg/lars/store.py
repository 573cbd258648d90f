"""A store: tuples of int64 with labels, found by hash on all columns or through chains on some of them.

Tuples get dense ids in order of first sight. Ids stay valid for a round; `compact` drops the tuples whose labels have
ended and gives new ids to the others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from thalweg.lars.labels import (
    COUNT,
    FOREVER,
    FREE,
    HI,
    LO,
    NEXT,
    USED,
    add,
    gather,
    subtract,
    take,
    write,
)
from thalweg.lars.windows import NO_CLIP, clip
from thalweg.protocol import Ints

_NO_GHOST = np.array([[FOREVER, -FOREVER]], np.int64)
_CROWD = 4096
"""Smaller stores are not worth packing."""
NOTHING = np.empty((0, 3), np.int64)
"""A change of no tuple."""


@njit(cache=True)
def hash_row(row: Ints) -> int:
    """A spread of all columns."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for c in range(len(row)):
        h ^= np.uint64(row[c])
        h *= np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
    return np.int64(h >> np.uint64(1))


@njit(cache=True)
def hash_some(row: Ints, wanted: Ints, j: int) -> int:
    """A spread of the columns whose flag in row j of `wanted` is 1."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for c in range(len(row)):
        if wanted[j, c] == 1:
            h ^= np.uint64(row[c])
            h *= np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(32)
    return np.int64(h >> np.uint64(1))


@njit(cache=True)
def slot_of(keys: Ints, table: Ints, row: Ints) -> int:
    """Where the row stands in the table, or the free slot where it would."""
    mask = len(table) - 1
    at = hash_row(row) & mask
    while table[at] != 0:
        held = table[at] - 1
        same = True
        for c in range(len(row)):
            if keys[held, c] != row[c]:
                same = False
                break
        if same:
            break
        at = (at + 1) & mask
    return at


@njit(cache=True)
def enter(
    keys: Ints, lab: Ints, table: Ints, meta: Ints, chain: Ints, heads: Ints, wanted: Ints, row: Ints
) -> int:
    """The id of a tuple, new where it was unknown. The caller has made room."""
    at = slot_of(keys, table, row)
    if table[at] != 0:
        return table[at] - 1
    i = meta[COUNT]
    meta[COUNT] += 1
    table[at] = i + 1
    for c in range(len(row)):
        keys[i, c] = row[c]
    lab[i, LO] = 1
    lab[i, HI] = 0
    lab[i, NEXT] = -1
    for j in range(len(wanted)):
        bucket = hash_some(row, wanted, j) & (heads.shape[1] - 1)
        chain[i, j] = heads[j, bucket]
        heads[j, bucket] = i + 1
    return i


@njit(cache=True)
def _absorb(
    keys: Ints,
    lab: Ints,
    nodes: Ints,
    table: Ints,
    meta: Ints,
    chain: Ints,
    heads: Ints,
    wanted: Ints,
    source: Ints,
    pieces: Ints,
    columns: Ints,
    window: Ints,
    horizon: int,
    out: Ints,
) -> int:
    """Unite tuples taken from columns of `source` with pieces (row of source, from, to); new parts go to `out`.

    This is `enter` and `add`, written out: calls that pass many arrays cost more than they do.
    """
    n = 0
    width = len(columns)
    row = np.empty(width, np.int64)
    buckets = heads.shape[1] - 1
    for k in range(len(pieces)):
        i = pieces[k, 0]
        s = pieces[k, 1]
        e = pieces[k, 2]
        if window[0] != 0:
            s, e = clip(window, source[i, window[1]], s, e)
        if s > e or e < horizon:
            continue
        for c in range(width):
            row[c] = source[i, columns[c]]
        at = slot_of(keys, table, row)
        t = table[at] - 1
        if t < 0:
            t = meta[COUNT]
            meta[COUNT] = t + 1
            table[at] = t + 1
            for c in range(width):
                keys[t, c] = row[c]
            lab[t, NEXT] = -1
            for j in range(len(wanted)):
                bucket = hash_some(row, wanted, j) & buckets
                chain[t, j] = heads[j, bucket]
                heads[j, bucket] = t + 1
        elif lab[t, LO] <= lab[t, HI]:
            n = add(lab, nodes, meta, t, s, e, horizon, out, n)
            continue
        lab[t, LO] = s
        lab[t, HI] = e
        out[n, 0] = t
        out[n, 1] = s
        out[n, 2] = e
        n += 1
    return n


@njit(cache=True)
def _strike(
    keys: Ints,
    lab: Ints,
    nodes: Ints,
    table: Ints,
    meta: Ints,
    ghosts: Ints,
    source: Ints,
    pieces: Ints,
    columns: Ints,
    window: Ints,
    out: Ints,
) -> int:
    """Take pieces (row of source, from, to) out of the labels of their tuples; what was in goes to `out`."""
    n = 0
    width = len(columns)
    row = np.empty(width, np.int64)
    for k in range(len(pieces)):
        i = pieces[k, 0]
        s = pieces[k, 1]
        e = pieces[k, 2]
        if window[0] != 0:
            s, e = clip(window, source[i, window[1]], s, e)
        if s > e:
            continue
        for c in range(width):
            row[c] = source[i, columns[c]]
        t = table[slot_of(keys, table, row)] - 1
        if t < 0:
            continue
        before = n
        n = take(lab, nodes, meta, t, s, e, out, n)
        for q in range(before, n):
            ghosts[t, 0] = min(ghosts[t, 0], out[q, 1])
            ghosts[t, 1] = max(ghosts[t, 1], out[q, 2])
    return n


@njit(cache=True)
def _replace(
    lab: Ints, nodes: Ints, meta: Ints, ids: Ints, rows: Ints, horizon: int, came: Ints, gone: Ints
) -> tuple[int, int]:
    """Give each tuple of `ids` the label in `rows` (position in ids, from, to; sorted, maximal), from the horizon on.

    What is new goes to `came`, what is no more to `gone`.
    """
    a = 0
    b = 0
    at = 0
    for k in range(len(ids)):
        t = ids[k]
        old = gather(lab, nodes, t)
        end = at
        while end < len(rows) and rows[end, 0] == k:
            end += 1
        kept = np.empty((len(old) + end - at + 1, 2), np.int64)
        m = 0
        for q in range(len(old)):
            if old[q, 0] < horizon:
                kept[m, 0] = old[q, 0]
                kept[m, 1] = min(old[q, 1], horizon - 1)
                m += 1
        for q in range(at, end):
            s = max(rows[q, 1], horizon)
            if s > rows[q, 2]:
                continue
            if m > 0 and kept[m - 1, 1] + 1 >= s:
                kept[m - 1, 1] = rows[q, 2]
            else:
                kept[m, 0] = s
                kept[m, 1] = rows[q, 2]
                m += 1
        a = _difference(t, kept[:m], old, came, a)
        b = _difference(t, old, kept[:m], gone, b)
        write(lab, nodes, meta, t, kept, m)
        at = end
    return a, b


@njit(cache=True)
def _difference(t: int, left: Ints, right: Ints, out: Ints, n: int) -> int:
    """The parts of the sorted intervals `left` that `right` does not cover, appended to `out` as (t, from, to)."""
    q = 0
    for k in range(len(left)):
        s = left[k, 0]
        e = left[k, 1]
        while q < len(right) and right[q, 1] < s:
            q += 1
        p = q
        while p < len(right) and right[p, 0] <= e:
            if right[p, 0] > s:
                out[n, 0] = t
                out[n, 1] = s
                out[n, 2] = right[p, 0] - 1
                n += 1
            s = max(s, right[p, 1] + 1)
            p += 1
        if s <= e:
            out[n, 0] = t
            out[n, 1] = s
            out[n, 2] = e
            n += 1
    return n


@njit(cache=True)
def _settle(lab: Ints, nodes: Ints, came: Ints, gone: Ints, plus: Ints, minus: Ints) -> tuple[int, int]:
    """Net change of a round: what came and had not gone before, and what had gone and is not in again.

    `came` and `gone` are sorted by tuple.
    """
    a = 0
    b = 0
    size = len(gone) + 1
    pieces = np.empty((size + len(came) + 8, 2), np.int64)
    at = 0
    for k in range(len(came)):
        t = came[k, 0]
        while at < len(gone) and gone[at, 0] < t:
            at += 1
        pieces[0, 0] = came[k, 1]
        pieces[0, 1] = came[k, 2]
        m = 1
        q = at
        while q < len(gone) and gone[q, 0] == t:
            m = subtract(pieces, m, gone[q, 1], gone[q, 2])
            q += 1
        for p in range(m):
            plus[a, 0] = t
            plus[a, 1] = pieces[p, 0]
            plus[a, 2] = pieces[p, 1]
            a += 1
    for k in range(len(gone)):
        t = gone[k, 0]
        rows = gather(lab, nodes, t)
        left = np.empty((1, 2), np.int64)
        left[0, 0] = gone[k, 1]
        left[0, 1] = gone[k, 2]
        b = _difference(t, left, rows, minus, b)
    return a, b


@njit(cache=True)
def _united(rows: Ints, out: Ints) -> int:
    """Rows (id, from, to), sorted, with overlapping and touching ones made one."""
    n = 0
    for k in range(len(rows)):
        if n > 0 and out[n - 1, 0] == rows[k, 0] and rows[k, 1] <= out[n - 1, 2] + 1:
            out[n - 1, 2] = max(out[n - 1, 2], rows[k, 2])
        else:
            out[n] = rows[k]
            n += 1
    return n


@njit(cache=True)
def _compact(
    keys: Ints, lab: Ints, nodes: Ints, table: Ints, meta: Ints, chain: Ints, heads: Ints, wanted: Ints, due: Ints,
    horizon: int,
) -> Ints:  # fmt: skip
    """Drop tuples whose labels ended before the horizon, in place; returns the new id of every old one, or -1."""
    count = meta[COUNT]
    renamed = np.full(count, -1, np.int64)
    row = np.empty(keys.shape[1], np.int64)
    table[:] = 0
    heads[:] = 0
    meta[COUNT] = 0
    for i in range(count):
        end = lab[i, HI]
        at = lab[i, NEXT]
        while at >= 0:
            end = nodes[at, 1]
            at = nodes[at, 2]
        if lab[i, LO] > lab[i, HI] or end < horizon - 1:
            at = lab[i, NEXT]
            while at >= 0:
                following = nodes[at, 2]
                nodes[at, 2] = meta[FREE]
                meta[FREE] = at
                at = following
            continue
        for c in range(len(row)):
            row[c] = keys[i, c]
        lo = lab[i, LO]
        hi = lab[i, HI]
        at = lab[i, NEXT]
        waits = due[i]
        t = enter(keys, lab, table, meta, chain, heads, wanted, row)
        lab[t, LO] = lo
        lab[t, HI] = hi
        lab[t, NEXT] = at
        due[t] = waits
        renamed[i] = t
    due[meta[COUNT] : count] = FOREVER
    return renamed


@njit(cache=True)
def _rehash(keys: Ints, table: Ints, meta: Ints, chain: Ints, heads: Ints, wanted: Ints) -> None:
    """Fill an empty table and empty buckets with the tuples that are there."""
    for i in range(meta[COUNT]):
        table[slot_of(keys, table, keys[i])] = i + 1
        for j in range(len(wanted)):
            bucket = hash_some(keys[i], wanted, j) & (heads.shape[1] - 1)
            chain[i, j] = heads[j, bucket]
            heads[j, bucket] = i + 1


@njit(cache=True)
def _live(lab: Ints, nodes: Ints, meta: Ints, horizon: int, out: Ints) -> int:
    n = 0
    for i in range(meta[COUNT]):
        lo = lab[i, LO]
        hi = lab[i, HI]
        at = lab[i, NEXT]
        while True:
            if lo <= hi and hi >= horizon:
                out[n, 0] = i
                out[n, 1] = lo
                out[n, 2] = hi
                n += 1
            if at < 0:
                break
            lo = nodes[at, 0]
            hi = nodes[at, 1]
            at = nodes[at, 2]
    return n


@njit(cache=True)
def _find(keys: Ints, table: Ints, rows: Ints, out: Ints) -> None:
    for k in range(len(rows)):
        out[k] = table[slot_of(keys, table, rows[k])] - 1


@njit(cache=True)
def _enter_all(
    keys: Ints, lab: Ints, table: Ints, meta: Ints, chain: Ints, heads: Ints, wanted: Ints, rows: Ints, out: Ints
) -> None:
    for k in range(len(rows)):
        out[k] = enter(keys, lab, table, meta, chain, heads, wanted, rows[k])


@njit(cache=True)
def _with_prefix(keys: Ints, chain: Ints, heads: Ints, wanted: Ints, j: int, rows: Ints, out: Ints) -> int:
    n = 0
    width = rows.shape[1]
    full = np.zeros(keys.shape[1], np.int64)
    for k in range(len(rows)):
        full[:width] = rows[k]
        i = heads[j, hash_some(full, wanted, j) & (heads.shape[1] - 1)] - 1
        while i >= 0:
            same = True
            for c in range(width):
                if keys[i, c] != rows[k, c]:
                    same = False
                    break
            if same:
                out[n] = i
                n += 1
            i = chain[i, j] - 1
    return n


class Store:
    """Labelled tuples of one width, with the changes of the current round."""

    def __init__(self, name: str, width: int) -> None:
        self.name = name
        self.width = width
        self.indexes: list[tuple[int, ...]] = []
        self.plus: Ints = NOTHING
        self.minus: Ints = NOTHING
        self.delta_rows: Ints | None = None
        self.haunted: list[Ints] = []
        self._crowded = _CROWD
        self._out = np.empty((64, 3), np.int64)
        self.meta = np.array([0, 0, -1], np.int64)
        self._allocate(16, 16)

    def _allocate(self, room: int, nodes: int) -> None:
        self.keys = np.empty((room, self.width), np.int64)
        self.lab = np.empty((room, 3), np.int64)
        self.nodes = np.empty((nodes, 3), np.int64)
        self.ghosts = np.tile(_NO_GHOST, (room, 1))
        self.due = np.full(room, FOREVER)
        self._index_arrays(room)

    def _index_arrays(self, room: int) -> None:
        size = 32
        while size < 2 * room:
            size *= 2
        self.table = np.zeros(size, np.int32)
        self.chain = np.zeros((room, len(self.indexes)), np.int32)
        self.heads = np.zeros((len(self.indexes), size), np.int32)
        self.wanted = np.zeros((len(self.indexes), self.width), np.int64)
        for j, columns in enumerate(self.indexes):
            self.wanted[j, list(columns)] = 1
        _rehash(self.keys, self.table, self.meta, self.chain, self.heads, self.wanted)

    # ------------------------------------------------------------------ shape

    def __len__(self) -> int:
        return int(self.meta[COUNT])

    @property
    def changed_keys(self) -> Ints:
        """The tuples that the ids of a change mean: those of the store, or the rows of an input that is not kept."""
        return self.keys if self.delta_rows is None else self.delta_rows

    def index(self, columns: tuple[int, ...]) -> int:
        """The number of the chains on these columns, made where there are none."""
        if columns not in self.indexes:
            self.indexes.append(columns)
            self._index_arrays(len(self.keys))
        return self.indexes.index(columns)

    def reserve(self, more: int) -> None:
        """Room for more tuples and nodes."""
        need = int(self.meta[COUNT]) + more
        if need > len(self.keys):
            room = max(need, 2 * len(self.keys))
            keys, lab = np.empty((room, self.width), np.int64), np.empty((room, 3), np.int64)
            ghosts, due = np.tile(_NO_GHOST, (room, 1)), np.full(room, FOREVER)
            n = len(self)
            keys[:n], lab[:n], ghosts[:n], due[:n] = self.keys[:n], self.lab[:n], self.ghosts[:n], self.due[:n]
            self.keys, self.lab, self.ghosts, self.due = keys, lab, ghosts, due
            self._index_arrays(room)
        need = int(self.meta[USED]) + more
        if need > len(self.nodes):
            nodes = np.empty((max(need, 2 * len(self.nodes)), 3), np.int64)
            nodes[: self.meta[USED]] = self.nodes[: self.meta[USED]]
            self.nodes = nodes

    def _scratch(self, size: int) -> Ints:
        if size > len(self._out):
            self._out = np.empty((2 * size, 3), np.int64)
        return self._out

    # ------------------------------------------------------------------ change

    def absorb(
        self, source: Ints, pieces: Ints, columns: Ints, horizon: int, window: Ints = NO_CLIP
    ) -> Ints:
        """Unite with tuples from columns of `source` over pieces (row, from, to); returns what is new."""
        self.reserve(len(pieces))
        out = self._scratch(2 * len(pieces) + int(self.meta[USED]))
        n = _absorb(
            self.keys, self.lab, self.nodes, self.table, self.meta, self.chain, self.heads, self.wanted,
            source, pieces, columns, window, horizon, out,
        )  # fmt: skip
        return out[:n].copy()

    def strike(self, source: Ints, pieces: Ints, columns: Ints, window: Ints = NO_CLIP) -> Ints:
        """Take pieces out of the labels; returns what was in, and remembers it as ghosts until the round ends."""
        self.reserve(len(pieces))
        out = self._scratch(4 * len(pieces) + int(self.meta[USED]) + 8)
        n = _strike(
            self.keys, self.lab, self.nodes, self.table, self.meta, self.ghosts, source, pieces, columns, window, out
        )
        gone = out[:n].copy()
        if n:
            self.haunted.append(gone[:, 0])
        return gone

    def replace(self, ids: Ints, rows: Ints, horizon: int) -> tuple[Ints, Ints]:
        """Give tuples new labels from the horizon on: rows (position in ids, from, to), sorted and maximal."""
        self.reserve(len(rows) + len(ids))
        size = 2 * len(rows) + 2 * int(self.meta[USED]) + 4 * len(ids)
        came, gone = np.empty((size, 3), np.int64), np.empty((size, 3), np.int64)
        a, b = _replace(self.lab, self.nodes, self.meta, ids, rows, horizon, came, gone)
        self.haunt(gone[:b])
        return came[:a].copy(), gone[:b].copy()

    def assign(self, ids: Ints, starts: Ints, ends: Ints, first: int) -> None:
        """Make the given labels (of ids, in any order, some perhaps empty) the whole content from a tick on, and set
        the change."""
        every = np.unique(np.concatenate([self.live(first)[:, 0], ids]))
        if not len(every):
            self.change(NOTHING, NOTHING)
            return
        real = starts <= ends
        place = np.searchsorted(every, ids[real])
        order = np.lexsort((starts[real], place))
        rows = np.stack([place, starts[real], ends[real]], axis=1)[order]
        out = np.empty_like(rows)
        self.change(*self.replace(every, out[: _united(rows, out)], first))

    def haunt(self, gone: Ints) -> None:
        """Remember what went away, for rules that had used it."""
        if len(gone):
            ids = gone[:, 0]
            np.minimum.at(self.ghosts[:, 0], ids, gone[:, 1])
            np.maximum.at(self.ghosts[:, 1], ids, gone[:, 2])
            self.haunted.append(ids)

    def settle(self, came: list[Ints], gone: list[Ints]) -> None:
        """Set the change of the round from all that was added and taken on the way."""
        plus = came[0] if len(came) == 1 else np.concatenate(came) if came else NOTHING
        if not gone:
            self.change(plus, NOTHING)
            return
        lost = np.concatenate(gone)
        plus = plus[np.argsort(plus[:, 0], kind="stable")]
        lost = lost[np.argsort(lost[:, 0], kind="stable")]
        size = 2 * (len(plus) + len(lost)) + int(self.meta[USED]) + 8
        up, down = np.empty((size, 3), np.int64), np.empty((size, 3), np.int64)
        a, b = _settle(self.lab, self.nodes, plus, lost, up, down)
        self.change(up[:a].copy(), down[:b].copy())

    def change(self, plus: Ints, minus: Ints) -> None:
        """Set the change of the round; a part that is empty is `NOTHING` itself."""
        self.plus = plus if len(plus) else NOTHING
        self.minus = minus if len(minus) else NOTHING

    def end_round(self) -> None:
        """Forget the change and the ghosts of the round."""
        self.plus = self.minus = NOTHING
        for ids in self.haunted:
            self.ghosts[ids] = _NO_GHOST
        self.haunted.clear()

    def compact(self, horizon: int) -> Ints | None:
        """Between rounds: drop what ended before the horizon, when that is likely to be half of the store."""
        if len(self) < self._crowded:
            return None
        renamed = _compact(
            self.keys, self.lab, self.nodes, self.table, self.meta, self.chain, self.heads, self.wanted,
            self.due, horizon,
        )  # fmt: skip
        self._crowded = max(_CROWD, 4 * len(self))
        return renamed

    def forget(self) -> None:
        """Drop everything."""
        if len(self):
            self.due[: len(self)] = FOREVER
            self.meta[:] = (0, 0, -1)
            self.table[:] = 0
            self.heads[:] = 0

    # ------------------------------------------------------------------ questions

    def ids(self, rows: Ints) -> Ints:
        """Ids of tuples, with empty labels where they are new."""
        self.reserve(len(rows))
        out = np.empty(len(rows), np.int64)
        _enter_all(
            self.keys, self.lab, self.table, self.meta, self.chain, self.heads, self.wanted, rows, out
        )
        return out

    def ids_with(self, rows: Ints, width: int) -> Ints:
        """Ids of all tuples that begin with one of the rows of that width."""
        if width == 0:
            return np.arange(len(self)) if len(rows) else np.empty(0, np.int64)
        j = self.index(tuple(range(width)))
        out = np.empty(len(self) + 1, np.int64)
        n = _with_prefix(self.keys, self.chain, self.heads, self.wanted, j, rows, out)
        return out[:n].copy()

    def find(self, rows: Ints) -> Ints:
        """Ids of tuples, -1 where unknown."""
        out = np.empty(len(rows), np.int64)
        _find(self.keys, self.table, rows, out)
        return out

    def holds(self, rows: Ints) -> npt.NDArray[np.bool_]:
        """Which of the tuples are in at some tick."""
        ids = self.find(rows)
        return (ids >= 0) & (self.lab[ids, LO] <= self.lab[ids, HI])

    def label(self, i: int) -> Ints:
        """The intervals of one tuple, a row each."""
        found: Ints = gather(self.lab, self.nodes, i)
        return found

    def adopt(self, other: Store) -> None:
        """Take over the content of a store of the same shape."""
        self.keys, self.lab, self.nodes, self.meta = other.keys, other.lab, other.nodes, other.meta
        self.ghosts, self.due = other.ghosts, other.due
        self._index_arrays(len(self.keys))

    def live(self, horizon: int) -> Ints:
        """Everything that is in at or after the horizon, as (id, from, to)."""
        out = np.empty((len(self) + int(self.meta[USED]), 3), np.int64)
        n = _live(self.lab, self.nodes, self.meta, horizon, out)
        return out[:n].copy()

    def state(self) -> dict[str, Ints]:
        """For a snapshot: tuples, first intervals with calendar, and the other intervals by tuple."""
        n = len(self)
        rows = self.live(-FOREVER)
        nodes = rows[1:][rows[1:, 0] == rows[:-1, 0]]
        lab = np.column_stack([self.lab[:n, LO], self.lab[:n, HI], self.due[:n]])
        return {"keys": self.keys[:n].copy(), "lab": lab, "nodes": nodes}

    def restore(self, state: dict[str, Ints]) -> None:
        """Take back what `state` gave."""
        self.forget()
        n = len(state["keys"])
        self.reserve(n + len(state["nodes"]))
        self.ids(state["keys"])
        self.lab[:n, LO], self.lab[:n, HI], self.due[:n] = state["lab"].T
        out = np.empty((1 + 2 * len(state["nodes"]), 3), np.int64)
        for i, s, e in state["nodes"].tolist():
            add(self.lab, self.nodes, self.meta, i, s, e, -FOREVER, out, 0)
