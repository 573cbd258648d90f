"""A store: tuples of int64 with labels, found by hash on all columns or through chains on some of them.

Tuples get dense ids in order of first sight. Ids stay valid for a round; `compact` drops the tuples whose labels have
ended and gives new ids to the others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.lars import relabel, tuples
from thalweg.lars.labels import COUNT, FOREVER, HI, LO, USED, add, gather
from thalweg.lars.windows import NO_CLIP
from thalweg.protocol import Ints

_NO_GHOST = np.array([[FOREVER, -FOREVER]], np.int64)
_CROWD = 4096
"""Smaller stores are not worth packing; others are packed when they have twice what was left the last time."""
NOTHING = np.empty((0, 3), np.int64)
"""A change of no tuple."""


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
        tuples.rehash(self.keys, self.table, self.meta, self.chain, self.heads, self.wanted)

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
            keys[:n], lab[:n], ghosts[:n], due[:n] = (
                self.keys[:n],
                self.lab[:n],
                self.ghosts[:n],
                self.due[:n],
            )
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

    def absorb(self, source: Ints, pieces: Ints, columns: Ints, horizon: int, window: Ints = NO_CLIP) -> Ints:
        """Unite with tuples from columns of `source` over pieces (row, from, to); returns what is new."""
        self.reserve(len(pieces))
        out = self._scratch(2 * len(pieces) + int(self.meta[USED]))
        n = relabel.absorb(
            self.keys, self.lab, self.nodes, self.table, self.meta, self.chain, self.heads, self.wanted,
            source, pieces, columns, window, horizon, out,
        )  # fmt: skip
        return out[:n].copy()

    def strike(self, source: Ints, pieces: Ints, columns: Ints, window: Ints = NO_CLIP) -> Ints:
        """Take pieces out of the labels; returns what was in, and remembers it as ghosts until the round ends."""
        self.reserve(len(pieces))
        out = self._scratch(4 * len(pieces) + int(self.meta[USED]) + 8)
        n = relabel.strike(
            self.keys,
            self.lab,
            self.nodes,
            self.table,
            self.meta,
            self.ghosts,
            source,
            pieces,
            columns,
            window,
            out,
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
        a, b = relabel.replace(self.lab, self.nodes, self.meta, ids, rows, horizon, came, gone)
        self.haunt(gone[:b])
        return came[:a].copy(), gone[:b].copy()

    def assign(self, ids: Ints, starts: Ints, ends: Ints, first: int, among: Ints | None = None) -> None:
        """Make the given labels (of ids, in any order, some perhaps empty) the whole content from a tick on, or all
        that there is of some tuples, and set the change."""
        every = np.unique(np.concatenate([self.live(first)[:, 0] if among is None else among, ids]))
        if not len(every):
            self.change(NOTHING, NOTHING)
            return
        real = starts <= ends
        place = np.searchsorted(every, ids[real])
        order = np.lexsort((starts[real], place))
        rows = np.stack([place, starts[real], ends[real]], axis=1)[order]
        out = np.empty_like(rows)
        self.change(*self.replace(every, out[: relabel.united(rows, out)], first))

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
        a, b = relabel.settle(self.lab, self.nodes, plus, lost, up, down)
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

    def compact(self, horizon: int, *, always: bool = False) -> Ints | None:
        """Between rounds: drop what ended before the horizon, when that is likely to be half of the store."""
        if not always and len(self) < self._crowded:
            return None
        renamed: Ints = tuples.drop_ended(self.keys, self.lab, self.nodes, self.meta, self.due, horizon)
        self.table[:] = 0
        self.heads[:] = 0
        tuples.rehash(self.keys, self.table, self.meta, self.chain, self.heads, self.wanted)
        self._crowded = max(_CROWD, 2 * len(self))
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
        tuples.enter_all(
            self.keys, self.lab, self.table, self.meta, self.chain, self.heads, self.wanted, rows, out
        )
        return out

    def ids_with(self, rows: Ints, width: int) -> Ints:
        """Ids of all tuples that begin with one of the rows of that width."""
        if width == 0:
            return np.arange(len(self)) if len(rows) else np.empty(0, np.int64)
        j = self.index(tuple(range(width)))
        out = np.empty(len(self) + 1, np.int64)
        n = tuples.with_prefix(self.keys, self.chain, self.heads, self.wanted, j, rows, out)
        return out[:n].copy()

    def find(self, rows: Ints) -> Ints:
        """Ids of tuples, -1 where unknown."""
        out = np.empty(len(rows), np.int64)
        tuples.find(self.keys, self.table, rows, out)
        return out

    def holds(self, rows: Ints) -> npt.NDArray[np.bool_]:
        """Which of the tuples are in at some tick."""
        ids = self.find(rows)
        found: npt.NDArray[np.bool_] = (ids >= 0) & (self.lab[ids, LO] <= self.lab[ids, HI])
        return found

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
        n = relabel.live(self.lab, self.nodes, self.meta, horizon, out)
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
