"""Folding changes: the timeline that a stream of insertions and deletions leaves.

At any moment a pair has at most one interval that starts at a given point. So the changes of one (fluent,
value, start) cancel out, or leave exactly one interval: its end is the sum of the inserted ends minus the sum
of the deleted ones. No order is needed, and changes may be folded piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.columns import recycling
from thalweg.columns.pieces import whole
from thalweg.io.netting import Codes, fill_missing, net_rows
from thalweg.io.numbering import Numbering, joined, one_after_the_other, sealed
from thalweg.protocol import OPEN_END, Ints, Ops

TEXT = pa.dictionary(pa.int32(), pa.string())
TIMELINE = pa.schema([("fluent", TEXT), ("value", TEXT), ("start", pa.int64()), ("end", pa.int64())])
EVENTS = pa.schema([("event", TEXT), ("time", pa.int64())])
_QUERY_TIME = pa.field("query_time", pa.int64())
ATOMS = pa.schema([("atom", TEXT), ("at", pa.int64()), ("from", pa.int64()), ("to", pa.int64())])


class FoldError(AssertionError):
    """The changes withdraw what was never there, or add what is there already: the reasoner is at fault."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A dictionary-encoded text column: the words in order, and for each row the place of its word."""

    words: pa.Array
    ranks: Ints

    def take(self, where: Ints) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(self.ranks[where], pa.int32()), self.words)


def coded(column: pa.ChunkedArray) -> Coded:
    """A text column with its words sorted, so that order by rank is order by text."""
    numbered = Numbering()
    codes, ranks = numbered(column)
    return Coded(numbered.words, ranks[codes].astype(np.int64))


def fold_intervals(changes: pa.Table) -> pa.Table:
    """`timeline(fluent, value, start, end)`, sorted, of `changes(op, fluent, value, start, end)`."""
    timeline = IntervalSplit()(changes, OPEN_END)[0]
    columns = timeline.columns
    for place in (0, 1):
        part = whole(columns[place])
        columns[place] = shortened(part.indices.to_numpy(), part.dictionary, most=1.0)
    return pa.table(columns, schema=TIMELINE)


class IntervalSplit:
    """The timeline in two parts, each sorted: what ends by a point, and the rest. Not all of their words occur."""

    def __init__(self) -> None:
        self._fluents, self._values = Numbering(), Numbering()

    def __call__(self, changes: pa.Table, before: int) -> tuple[pa.Table, pa.Table]:
        if not changes.num_rows:
            return TIMELINE.empty_table(), TIMELINE.empty_table()
        columns = *self._fluents(changes.column("fluent")), *self._values(changes.column("value"))
        start = sealed(joined([chunk.to_numpy() for chunk in changes.column("start").chunks], np.int64))
        end = sealed(_closed(changes.column("end")))
        left = net_rows(*columns, start, end, *_operations(changes), before)
        if left.wrong:
            raise FoldError(f"changes do not fold: a net count of {left.wrong}")

        parts = []
        for where in (slice(left.final), slice(-1, left.rest - len(start) - 1, -1)):
            fluents, values = (
                pa.DictionaryArray.from_arrays(pa.array(np.ascontiguousarray(ranks[where])), words, safe=False)
                for ranks, words in ((left.major, self._fluents.words), (left.minor, self._values.words))
            )
            starts, ends = (np.ascontiguousarray(column[where]) for column in (left.start, left.end))
            parts.append(pa.table([fluents, values, pa.array(starts), _open(ends)], schema=TIMELINE))
        return parts[0], parts[1]


def shortened(codes: Codes, words: pa.Array, most: float = 0.5) -> pa.DictionaryArray:
    """Dictionary-encoded text with the words that occur, in their order, and no others, where these are less than such
    a part of the words."""
    used = np.zeros(len(words), np.bool_)
    used[codes] = True
    if np.count_nonzero(used) < most * len(words):
        codes = (np.cumsum(used, dtype=np.int32) - np.int32(1))[codes]
        words = words.filter(pa.array(used))
    return pa.DictionaryArray.from_arrays(pa.array(codes), words, safe=False)


def fold_events(changes: pa.Table) -> pa.Table:
    """`events(event, time)`, sorted, of `changes(op, event, time)`."""
    if not changes.num_rows:
        return EVENTS.empty_table()
    event, time = coded(changes.column("event")), changes.column("time").to_numpy()
    order, first = _grouped(event.ranks, np.zeros(len(time), np.int64), time)
    net = np.add.reduceat(_signs(changes)[order], first)
    where = order[first[_survivors(net)]]
    return pa.table([event.take(where), pa.array(time[where])], schema=EVENTS)


def _operations(changes: pa.Table) -> tuple[Codes, Ops]:
    """The operation of each row by number, and of each number the sign: +1 for insertions, -1 for deletions."""
    codes, dictionaries = one_after_the_other(changes.column("op"))
    words = [word for dictionary in dictionaries for word in dictionary.to_pylist()]
    return codes, np.array([1 if word == "insert" else -1 for word in words], np.int8)


def _signs(changes: pa.Table) -> Ints:
    ops, signs = _operations(changes)
    return signs.astype(np.int64)[ops]


def _survivors(net: Ints) -> npt.NDArray[np.bool_]:
    if len(net) and (net.min() < 0 or net.max() > 1):
        raise FoldError(f"changes do not fold: net counts from {net.min()} to {net.max()}")
    kept: npt.NDArray[np.bool_] = net == 1
    return kept


def _grouped(major: Ints, minor: Ints, time: Ints) -> tuple[Ints, Ints]:
    """The order by (major, minor, time), and where each distinct triple begins in it."""
    low = int(time.min())
    sizes = [int(major.max()) + 1, int(minor.max()) + 1, int(time.max()) - low + 1]
    if sizes[0] * sizes[1] * sizes[2] < 2**62:
        key = (major * sizes[1] + minor) * sizes[2] + (time - low)
        order = np.argsort(key)
        changed = np.diff(key[order]) != 0
    else:
        order = np.lexsort((time, minor, major))
        columns = (major[order], minor[order], time[order])
        changed = np.logical_or.reduce([np.diff(column) != 0 for column in columns])
    return order, np.concatenate([[0], np.flatnonzero(changed) + 1])


def _closed(ends: pa.ChunkedArray) -> Ints:
    """Ends as numbers, the last of all where there is none."""
    found = recycling.empty(len(ends), np.int64)
    at = 0
    for chunk in ends.chunks:
        here = found[at : at + len(chunk)]
        valid, values = chunk.buffers()
        here[:] = np.frombuffer(values, np.int64)[chunk.offset : chunk.offset + len(chunk)]
        if chunk.null_count:
            fill_missing(np.frombuffer(valid, np.uint8), chunk.offset, OPEN_END, here)
        at += len(chunk)
    return found


def _open(ends: Ints) -> pa.Array:
    """Ends as they are shown: none where the interval is still running. Takes the array over."""
    bits = np.packbits(ends != OPEN_END, bitorder="little")
    return pa.Array.from_buffers(pa.int64(), len(ends), [pa.py_buffer(bits), pa.py_buffer(ends)])


def fold_atoms(changes: pa.Table) -> pa.Table:
    """`answers(atom, at, from, to)`, sorted, of LARS `changes(op, atom, at, from, to)`: the ticks, both ends
    included, at which an atom is in the answer stream. An insertion adds the ticks from `from` through `to` (none: from
    there on), a deletion takes them away; so where the sum is one, the atom is in."""
    if not changes.num_rows:
        return ATOMS.empty_table()
    atom = coded(changes.column("atom"))
    at = changes.column("at").fill_null(OPEN_END).to_numpy()
    last = changes.column("to").fill_null(OPEN_END).to_numpy()
    signs = _signs(changes)
    closed = np.flatnonzero(last != OPEN_END)
    rows = np.concatenate([np.arange(len(at)), closed])
    ticks = np.concatenate([changes.column("from").to_numpy(), last[closed] + 1])
    steps = np.concatenate([signs, -signs[closed]])
    points = np.unique(at, return_inverse=True)[1]
    order, first = _grouped(atom.ranks[rows], points[rows], ticks)
    net = np.add.reduceat(steps[order], first)
    where, moved = order[first[net != 0]], net[net != 0]
    row = rows[where]
    same = (np.diff(atom.ranks[row]) == 0) & (np.diff(points[row]) == 0)
    _check_turns(moved, same)
    begins = np.flatnonzero(moved > 0)
    ends = np.full(len(moved), OPEN_END)
    ends[:-1][same] = ticks[where][1:][same] - 1
    row, ends = row[begins], ends[begins]
    columns = [atom.take(row), _open(at[row]), pa.array(ticks[where[begins]]), _open(ends)]
    return pa.table(columns, schema=ATOMS)


def _check_turns(moved: Ints, same: npt.NDArray[np.bool_]) -> None:
    """An atom comes in before it goes out, and so on by turns; `same`: the next move is of the same atom."""
    first = np.concatenate([[True], ~same])[: len(moved)]
    turns = np.where(first, moved == 1, np.concatenate([[True], moved[1:] == -moved[:-1]])[: len(moved)])
    if not turns.all():
        raise FoldError(
            "changes of atoms do not fold: one that is not there goes, or one that is there comes"
        )


def _split_at(table: pa.Table, until: str, last: int) -> tuple[pa.Table, pa.Table]:
    """The rows of which the time in the column `until` is not after `last`, and the others."""
    final = pa.compute.less_equal(table.column(until), last).fill_null(False)
    return table.filter(final), table.filter(pa.compute.invert(final))


def split_events(changes: pa.Table, before: int) -> tuple[pa.Table, pa.Table]:
    """The events before a point, which boundary effects may still touch, and the others."""
    return _split_at(fold_events(changes), "time", before - 1)


def split_atoms(changes: pa.Table, before: int) -> tuple[pa.Table, pa.Table]:
    """What atoms were in by a tick, and the rest."""
    return _split_at(fold_atoms(changes), "to", before)


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of changes: how they fold, how in two parts (what is final, and the rest), and to which columns."""

    fold: Callable[[pa.Table], pa.Table]
    splitter: Callable[[], Callable[[pa.Table, int], tuple[pa.Table, pa.Table]]]
    schema: pa.Schema


INTERVAL_CHANGES = Sort(fold_intervals, IntervalSplit, TIMELINE)
EVENT_CHANGES = Sort(fold_events, lambda: split_events, EVENTS)
ATOM_CHANGES = Sort(fold_atoms, lambda: split_atoms, ATOMS)


class Folding:
    """Folds changes piece by piece and hands over what can no longer change, so that memory follows the window.

    What lies at or before a window's start is final; of an interval that includes the point after its end, of an
    event its own point, which boundary effects may still touch at the start itself.
    """

    def __init__(self, sort: Sort, room: int = 1_000_000) -> None:
        self._sort = sort
        self._split = sort.splitter()
        self._room = self._limit = room
        self._held: list[pa.Table] = []
        self._size = 0

    def add(self, changes: pa.Table) -> None:
        """Take changes, in the order of their query times."""
        if changes.num_rows:
            schema = pa.schema([_QUERY_TIME, ("op", TEXT), *self._sort.schema])
            self._held.append(changes.select(schema.names).cast(schema))
            self._size += changes.num_rows

    def settled(self, reach: int) -> Iterator[pa.Table]:
        """What is final, piece by piece; it is forgotten here. A query time at which there is enough to hand over ends
        a piece, which has what lies as far as `reach` before it: so it does not matter how many query times come
        together."""
        while self._size >= self._limit:
            held = concatenate(self._held)
            times = held.column(_QUERY_TIME.name).to_numpy()
            last = int(times[self._limit - 1])
            count = int(np.searchsorted(times, last, "right"))
            final, kept = self._split(held.slice(0, count), last - reach)
            self._limit = max(self._room, 2 * kept.num_rows)
            self._held, self._size = [], 0
            again = {_QUERY_TIME.name: pa.scalar(last), "op": pa.scalar("insert")}
            for name, value in again.items():
                kept = kept.append_column(name, pa.repeat(value, kept.num_rows))
            self.add(kept)
            self.add(held.slice(count))
            yield final

    def rest(self) -> pa.Table:
        """The fold of everything that was not handed over."""
        return self._sort.fold(concatenate(self._held)) if self._held else self._sort.schema.empty_table()


def concatenate(tables: list[pa.Table]) -> pa.Table:
    """Tables of one kind, some with dictionary-encoded text, as one."""
    return pa.concat_tables(tables, promote_options="permissive")
