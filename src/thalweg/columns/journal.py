"""A journal of points: what queries bring to many lists, query by query.

Most points change nothing: a vessel that is fast and is initiated to be fast stays so, whether the point is late or
not. That is seen in its timeline, without the points around it. So points are not put into the list of their
instance, one here and one there in memory, but noted in the *chunk* of their query, by list and time, one behind the
other. Only for lists that do change the points from the first change on are collected from the chunks that have some.
A chunk goes as a whole when all its points have expired.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.columns.compiled import kernel, njit, part
from thalweg.columns.prefetch import ask
from thalweg.columns.slabs import LENGTH, OFFSET, Places, present, widened
from thalweg.columns.slabs import WIDTH as PLACE
from thalweg.columns.timelines import INITIATE, OPEN, TERMINATE, rows_before
from thalweg.protocol import Ints

WIDTH = 3
"""Columns of a note: time, kind, value."""
REMOVED = 16
"""Taken from the kind of a point that is no longer there."""
FIRST_KEY, LAST_KEY, FIRST_ROW, LATEST = range(4)
"""Columns of a chunk: its keys, the last of which only says where its rows end, where these start, and the last time
of its points and of those of all chunks before it."""
END = np.int64(2**62)
"""The list of the last key of a chunk."""
FAR, NEAR = 16, 8
"""So many lists ahead memory is asked for: where the timeline is, and then its end."""
CHUNKS = 64
"""So many from which on it is better to have lists."""
SHORT = 32
"""Points that are put in order one by one."""


@part
def _before(a: Ints, i: int, b: Ints, j: int) -> bool:
    """Does row i of `a` stand before row j of `b`, by time, kind and value?"""
    if a[i, 0] != b[j, 0]:
        return bool(a[i, 0] < b[j, 0])
    if a[i, 1] != b[j, 1]:
        return bool(a[i, 1] < b[j, 1])
    return bool(a[i, 2] < b[j, 2])


@part
def _sort(rows: Ints, lo: int, hi: int) -> None:
    """Put rows in the order of time, kind and value: one by one, where there are many by large steps first."""
    gap = 1
    while SHORT * gap < hi - lo:
        gap = 3 * gap + 1
    while gap:
        for k in range(lo + gap, hi):
            to = k
            while to - gap >= lo and _before(rows, to, rows, to - gap):
                for c in range(rows.shape[1]):
                    rows[to, c], rows[to - gap, c] = rows[to - gap, c], rows[to, c]
                to -= gap
        gap //= 3


@njit(cache=True)
def laid_out(
    ids: Ints, times: Ints, values: Ints, starts: Ints, kinds: Ints, counts: Ints, notes: Ints
) -> tuple[Ints, Ints, int]:
    """Write points, those between two `starts` being of one kind, as notes by list and time. Each list once, ascending,
    where its notes begin and the last ones end; and the last time of all. `counts` has a zero for each list, before and
    after. Linear, but for the order of lists that are few of many, and of points that are not in the order of time."""
    seen = np.empty(min(len(ids), len(counts)), np.int64)
    n = 0
    for k in range(len(ids)):
        if counts[ids[k]] == 0:
            seen[n] = ids[k]
            n += 1
        counts[ids[k]] += 1
    seen = seen[:n]
    if 8 * n < len(counts):
        seen.sort()
    else:
        n = 0
        for i in range(len(counts)):
            if counts[i]:
                seen[n] = i
                n += 1
    begins = np.empty(n + 1, np.int64)
    total = 0
    for k in range(n):
        begins[k] = total
        total += counts[seen[k]]
        counts[seen[k]] = begins[k]
    begins[n] = total
    latest = times[0]
    for nth in range(len(kinds)):
        for k in range(starts[nth], starts[nth + 1]):
            to = counts[ids[k]]
            counts[ids[k]] = to + 1
            notes[to, 0], notes[to, 1], notes[to, 2] = times[k], kinds[nth], values[k]
            latest = max(latest, times[k])
    for k in range(n):
        counts[seen[k]] = 0
        _sort(notes, begins[k], begins[k + 1])
    return seen, begins, int(latest)


@part
def _changes(kind: int, value: int, holds: bool, held: int, before: bool) -> bool:
    """May a point change what is true behind it? `holds` and `held` say what that is now, and `before` whether it was
    so at the point already. A point that says what is so changes nothing; nor does it when it goes, if all was so
    before."""
    same = holds and held == value
    if kind < -REMOVED // 2:
        return not (kind + REMOVED <= INITIATE and same and before)
    if kind <= INITIATE:
        return not same
    return same if kind == TERMINATE else holds


@kernel
def changing(
    ids: Ints, begins: Ints, notes: Ints, table: Places, pool: Ints, tick: int, out: Ints
) -> int:
    """Of lists ids[k] that get notes[begins[k]:begins[k + 1]], in the order of time, the changes that they may make:
    `out` receives the list, the first and the last time of a point that changes something, and the first time after it
    at which the timeline comes to a value: it does so whatever held before, so that what follows stays as it is, up to
    the next change. Returns how many. `table` and `pool` are the timelines so far."""
    n = 0
    for k in range(len(ids)):
        if k + FAR < len(ids):
            ask(table, PLACE * ids[k + FAR])
        if k + NEAR < len(ids):
            i = ids[k + NEAR]
            ask(pool, 3 * (int(table[i, OFFSET]) + int(table[i, LENGTH])) - 3)
        start = int(table[ids[k], OFFSET])
        at = last = start + int(table[ids[k], LENGTH]) - 1
        begin = n
        for r in range(begins[k + 1] - 1, begins[k] - 1, -1):
            t = notes[r, 0] + tick
            while at >= start and pool[at, 0] > t:
                at -= 1
            holds = at >= start and pool[at, 1] > t
            held = pool[max(at, 0), 2]
            if _changes(notes[r, 1], notes[r, 2], holds, held, holds and pool[max(at, 0), 0] < t):
                until = pool[at + 1, 0] - tick if at < last else OPEN
                if n == begin or until < out[1, n - 1]:
                    out[0, n], out[2, n], out[3, n] = ids[k], notes[r, 0], until
                    n += 1
                out[1, n - 1] = notes[r, 0]
        for r in range((n - begin) // 2):  # they were found from behind
            for c in range(1, 4):
                out[c, begin + r], out[c, n - 1 - r] = out[c, n - 1 - r], out[c, begin + r]
    return n


@part
def _net(rows: Ints, lo: int, hi: int) -> int:
    """Add up equal points, which are adjacent, and leave out what comes to nothing; returns where they end."""
    to = lo
    k = lo
    while k < hi:
        first = k
        count = rows[k, 3]
        k += 1
        while k < hi and not _before(rows, first, rows, k):
            count += rows[k, 3]
            k += 1
        if count > 0:
            rows[to, 0], rows[to, 1], rows[to, 2], rows[to, 3] = rows[first, 0], rows[first, 1], rows[first, 2], count
            to += 1
    return to


@part
def _note(row: Ints, k: int, out: Ints, n: int) -> None:
    """A note as a counted point."""
    there = row[k, 1] > -REMOVED // 2
    out[n, 0], out[n, 1], out[n, 2] = row[k, 0], row[k, 1] if there else row[k, 1] + REMOVED, row[k, 2]
    out[n, 3] = 1 if there else -1


@part
def _forward(keys: Ints, at: int, end: int, wanted: int) -> int:
    """The first of some keys that is not before a list: a search that widens from the front."""
    reach = 1
    while at + reach < end and keys[at + reach, 0] < wanted:
        at += reach
        reach *= 2
    return at + rows_before(keys, at, min(reach, end - at), wanted)


@part
def _pieces(
    keys: Ints, notes: Ints, chunks: Ints, cursors: Ints, i: int, time: int, out: Ints, side: int
) -> int:
    """Where the notes of a list stand in the chunks that have points from a time on, the last chunk first; returns in
    how many. Their memory is asked for. `cursors` say where each chunk was last looked at, for a list up to this."""
    n = 0
    for c in range(len(chunks) - 1, -1, -1):
        if chunks[c, LATEST] < time:
            break
        at = _forward(keys, cursors[c], chunks[c, LAST_KEY], i)
        cursors[c] = at
        if keys[at, 0] == i:
            out[side, n, 0], out[side, n, 1] = keys[at, 1], keys[at + 1, 1]
            ask(notes, WIDTH * keys[at, 1])
            n += 1
    return n


@kernel
def _collect(
    keys: Ints,
    notes: Ints,
    chunks: Ints,
    table: Places,
    pool: Ints,
    ids: Ints,
    first: Ints,
    until: Ints,
    cursors: Ints,
    pieces: Ints,
    starts: Ints,
    ends: Ints,
    out: Ints,
    done: tuple[int, int],
) -> tuple[int, int]:
    """`Journal.points`, into `out`. `done` says how many lists are dealt with, and how many points were found. Returns
    the same again: where there is no room for those of a list, it is not dealt with yet. Linear in these points and the
    chunks, but for a search in each chunk, and for the order of points that came late."""
    begin, n = done
    count = more = 0
    for k in range(begin, len(ids)):
        if k == begin:
            more = _pieces(keys, notes, chunks, cursors, ids[k], first[k], pieces, k & 1)
        count = more
        if k + 1 < len(ids):
            more = _pieces(keys, notes, chunks, cursors, ids[k + 1], first[k + 1], pieces, (k + 1) & 1)
        size = 0
        for c in range(count):
            size += pieces[k & 1, c, 1] - pieces[k & 1, c, 0]
        start, end = present(table, ids[k])
        p = start + rows_before(pool, start, end - start, first[k])
        if n + size + end - p > len(out):
            return k, n
        starts[k] = n
        while p < end and pool[p, 0] <= until[k]:
            for c in range(4):
                out[n, c] = pool[p, c]
            n += 1
            p += 1
        for nth in range(count - 1, -1, -1):
            for r in range(pieces[k & 1, nth, 0], pieces[k & 1, nth, 1]):
                if notes[r, 0] > until[k]:
                    break
                if notes[r, 0] >= first[k]:
                    _note(notes, r, out, n)
                    n += 1
        _sort(out, starts[k], n)
        n = ends[k] = _net(out, starts[k], n)
    return len(ids), n


@kernel
def _all(keys: Ints, notes: Ints, chunks: Ints, ids: Ints, out: Ints) -> None:
    """All notes as counted points, and the list of each."""
    n = 0
    for c in range(len(chunks)):
        for k in range(chunks[c, FIRST_KEY], chunks[c, LAST_KEY]):
            for r in range(keys[k, 1], keys[k + 1, 1]):
                ids[n] = keys[k, 0]
                _note(notes, r, out, n)
                n += 1


class Noted(NamedTuple):
    """Changes: the list, ascending and several times where changes are far apart, where the points that are to be
    looked at start and end, the first and the last time of the change, the time up to which there are points; and the
    points."""

    ids: Ints
    starts: Ints
    ends: Ints
    first: Ints
    last: Ints
    until: Ints
    points: Ints


class Journal:
    """Notes, keys (a list, and where its notes start) and chunks."""

    def __init__(self) -> None:
        self.notes = np.empty((64, WIDTH), np.int64)
        self.keys = np.empty((64, 2), np.int64)
        self.chunks = np.empty((0, 4), np.int64)
        self._found = np.empty((64, 4), np.int64)

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def _used(self) -> tuple[int, int]:
        """Where keys and notes end."""
        if not len(self.chunks):
            return 0, 0
        last = int(self.chunks[-1, LAST_KEY])
        return last + 1, int(self.keys[last, 1])

    def room(self, lists: int, points: int) -> Ints:
        """Where the notes of a new chunk go, for so many points of so many lists at most."""
        keys, notes = self._used
        if keys + lists + 1 > len(self.keys) or notes + points > len(self.notes):
            self._move(lists + 1, points)
            notes = self._used[1]
        return self.notes[notes : notes + points]

    def _move(self, lists: int, points: int) -> None:
        """Move what there is to the front of its room, or where that is less than half empty, to a larger one."""
        old_keys, old_notes = self.keys, self.notes
        (k_end, n_end), k, n = self._used, 0, 0
        if len(self.chunks):
            k, n = int(self.chunks[0, FIRST_KEY]), int(self.chunks[0, FIRST_ROW])
        if 2 * (k_end - k) + lists > len(old_keys):
            self.keys = np.empty((2 * (k_end - k) + 2 * lists, 2), np.int64)
        if 2 * (n_end - n) + points > len(old_notes):
            self.notes = np.empty((2 * (n_end - n) + 2 * points, WIDTH), np.int64)
        self.keys[: k_end - k] = old_keys[k:k_end]
        self.keys[: k_end - k, 1] -= n
        self.notes[: n_end - n] = old_notes[n:n_end]
        self.chunks[:, :FIRST_ROW] -= k
        self.chunks[:, FIRST_ROW] -= n

    def add(self, ids: Ints, begins: Ints, latest: int) -> None:
        """A chunk, whose notes are there: each of its lists once, ascending, where its notes begin, from the first one
        on, and where the last ones end; and the last time of all."""
        first, notes = self._used
        last = first + len(ids)
        self.keys[first:last, 0] = ids
        self.keys[last, 0] = END
        self.keys[first : last + 1, 1] = begins
        self.keys[first : last + 1, 1] += notes
        if len(self.chunks):
            latest = max(latest, int(self.chunks[-1, LATEST]))
        self.chunks = np.concatenate([self.chunks, np.array([[first, last, notes, latest]])])

    def expire(self, expiry: int) -> None:
        """Forget the first chunks, where all is at or before the expiry."""
        if len(self.chunks) and self.chunks[0, LATEST] <= expiry:
            self.chunks = self.chunks[int(self.chunks[:, LATEST].searchsorted(expiry, side="right")) :]

    def clear(self) -> None:
        """Forget everything."""
        self.chunks = self.chunks[:0]

    def points(self, lists: tuple[Places, Ints], ids: Ints, first: Ints, until: Ints) -> tuple[Ints, Ints, Ints]:
        """The points of lists `ids`, ascending, from first[k] to until[k]: those that stand in `lists` and those that
        are noted. Where those of each start and end, and the points, counted, by time, kind and value, which are
        valid until this is called again."""
        starts, ends = np.empty((2, len(ids)), np.int64)
        pieces = np.empty((2, len(self.chunks), 2), np.int64)
        done = 0, 0
        while True:
            noted = self.keys, self.notes, self.chunks
            wanted = ids, first, until, self.chunks[:, FIRST_KEY].copy()
            done = _collect(*noted, *lists, *wanted, pieces, starts, ends, self._found, done)
            if done[0] == len(ids):
                return starts, ends, self._found
            self._found = widened(self._found, 2 * len(self._found))

    def everything(self) -> tuple[Ints, Ints]:
        """All that is noted, as lists and counted points."""
        n = self._used[1] - int(self.chunks[0, FIRST_ROW]) if len(self.chunks) else 0
        ids, rows = np.empty(n, np.int64), np.empty((n, 4), np.int64)
        _all(self.keys, self.notes, self.chunks, ids, rows)
        return ids, rows
