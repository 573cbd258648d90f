"""The tables that the reasoner gives.

changes    query_time, op, atom, at, from, to, until: at `query_time` the atom (at the point `at`, for heads
           ``at(u) a``) began (insert) or ceased (delete) to be in the answer stream, from the tick `from` on (through
           `to`, where a late row revises the past). `until`: the last tick for which that lasts without further
           input; null for ever. `exact`: false where it lasts at least until then, and nobody knows how much longer
           (with `until` null: where nothing is known of the end).
answers    atom, at, from, to, exact: the answer stream at the end of the call, with the ticks of each atom's
           current interval; `to` and `exact` as `until` and `exact` above.
models     query_time, model, atom, at: several answer streams at one tick, numbered from 1; one that derives nothing
           has a row without an atom.
no_answer  query_time, op, loop, from, to, until, exact: from when to when there is no answer stream (the ticks as in
           `changes`), and the atoms of the loop to blame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.columns.compiled import njit
from thalweg.lars.calendar import Calendar
from thalweg.lars.ends import Bools, Ends
from thalweg.lars.extended import View
from thalweg.lars.labels import FOREVER, HI, LO, NEXT
from thalweg.lars.store import NOTHING, Store
from thalweg.lars.stratify import Predicate
from thalweg.lars.texts import Texts
from thalweg.protocol import Ints

CHANGES = pa.schema(
    [
        ("query_time", pa.int64()),
        ("op", pa.dictionary(pa.int8(), pa.string())),
        ("atom", pa.string()),
        ("at", pa.int64()),
        ("from", pa.int64()),
        ("to", pa.int64()),
        ("until", pa.int64()),
        ("exact", pa.bool_()),
    ]
)
ANSWERS = pa.schema(
    [("atom", pa.string()), ("at", pa.int64()), ("from", pa.int64()), ("to", pa.int64()), ("exact", pa.bool_())]
)
NO_ANSWER = pa.schema(
    [
        ("query_time", pa.int64()),
        ("op", pa.dictionary(pa.int8(), pa.string())),
        ("loop", pa.string()),
        ("from", pa.int64()),
        ("to", pa.int64()),
        ("until", pa.int64()),
        ("exact", pa.bool_()),
    ]
)
MODELS = pa.schema(
    [("query_time", pa.int64()), ("model", pa.int64()), ("atom", pa.string()), ("at", pa.int64())]
)
OPS = pa.array(["insert", "delete"])
_TICK = pa.int64()
_ALL_ANSWERED = NO_ANSWER.empty_table()


@dataclass(slots=True)
class Output:
    """A store of heads that is reported, with its calendar."""

    predicate: Predicate
    pointed: bool
    store: Store
    calendar: Calendar

    @property
    def view(self) -> View:
        """The heads as extended atoms."""
        return View(self.store, "", self.predicate, self.pointed)


@dataclass(slots=True)
class Found:
    """Changes of one output at one step: tuples, rows (id, op, query time, from, to, until), and whether the ends are
    exact (None: all are)."""

    output: Output
    keys: Ints
    rows: Ints
    exact: Bools | None = None


Kinds = dict[Predicate, tuple[str, ...]]
Blank = tuple[Ints, Bools | None]
"""Rows (number of the loop's text, op, query time, from, to, until), and whether the ends are exact (None: all are)."""


def atoms(texts: Texts, kinds: Kinds, found: Found) -> pa.Array:
    """The texts of the changed tuples of an output."""
    name, _ = predicate = found.output.predicate
    return texts.atoms(name, kinds[predicate], found.keys)


def _exactness(parts: list[tuple[Bools | None, int]], *, known_ends: bool) -> pa.Array:
    """Which ends are exact, for parts of given lengths."""
    if known_ends and any(exact is not None for exact, _ in parts):
        return pa.array(np.concatenate([np.ones(n, np.bool_) if e is None else e for e, n in parts]))
    n = sum(n for _, n in parts)
    bits = np.full(n // 8 + 1, 255 if known_ends else 0, np.uint8)
    return pa.Array.from_buffers(pa.bool_(), n, [None, pa.py_buffer(bits)])


def _points(found: list[Found], n: int) -> pa.Array:
    """The points of all heads that have one."""
    if not any(f.output.pointed for f in found):
        return pa.nulls(n, _TICK)
    points, valid = np.zeros(n, np.int64), np.zeros(n // 8 + 1, np.uint8)
    first = 0
    for f in found:
        if f.output.pointed:
            _fill_points(f.keys, first, points, valid)
        first += len(f.keys)
    return pa.Array.from_buffers(_TICK, n, [pa.py_buffer(valid), pa.py_buffer(points)])


@njit(cache=True)
def _fill_points(keys: Ints, first: int, points: Ints, valid: npt.NDArray[np.uint8]) -> None:
    """The last columns of the keys as points from a place on, with bits that say that they are there."""
    last = keys.shape[1] - 1
    for k in range(len(keys)):
        at = first + k
        points[at] = int(np.int64(keys[k, last]).view(np.float64))
        valid[at >> 3] |= np.uint8(1 << (at & 7))


def answers_table(outputs: list[Output], now: int, texts: Texts, kinds: Kinds, ends: Ends | None) -> pa.Table:
    """What is in at a tick, with the ticks of each atom's current interval (without `ends` as the stores know)."""
    parts = []
    for output in outputs:
        pieces = output.store.live(now)
        pieces = pieces[pieces[:, 1] <= now]
        found = Found(output, output.store.keys[pieces[:, 0]], NOTHING)
        here = np.full(len(pieces), now)
        until, exact = pieces[:, 2], None
        if ends is not None:
            until, exact = ends.exact(output.view, found.keys, here, here >= now, until)
        spans = pa.array(pieces[:, 1]), open_ends(until), _exactness([(exact, len(pieces))], known_ends=True)
        columns = [atoms(texts, kinds, found), _points([found], len(pieces)), *spans]
        parts.append(pa.table(columns, schema=ANSWERS))
    return pa.concat_tables(parts) if parts else ANSWERS.empty_table()


def derived(answers: pa.Table) -> list[tuple[str, int, int]]:
    """What an answer stream says, as something that can be put in order: each atom, and the point at which it holds."""
    rows = zip(answers.column("atom").to_pylist(), answers.column("at").to_pylist(), strict=True)
    return sorted((atom, at is not None, at or 0) for atom, at in rows)


def model_table(now: int, number: int, answers: pa.Table) -> pa.Table:
    """One of several answer streams; where it derives nothing, a row without an atom."""
    if not answers.num_rows:
        answers = pa.table([[None]] * len(ANSWERS), schema=ANSWERS)
    columns = [pa.array(np.full(answers.num_rows, v)) for v in (now, number)]
    return pa.table([*columns, answers.column("atom"), answers.column("at")], schema=MODELS)


def no_answer_table(blank: list[Blank], loops: list[str], *, known_ends: bool) -> pa.Table:
    """Where answer streams begin or cease to be missing, as a table."""
    if not blank:
        return _ALL_ANSWERED
    rows = np.concatenate([rows for rows, _ in blank])
    order = np.argsort(rows[:, 2], kind="stable")
    rows, exact = rows[order], _exactness([(e, len(r)) for r, e in blank], known_ends=known_ends).take(order)
    op = pa.DictionaryArray.from_arrays(pa.array((rows[:, 1] < 0).astype(np.int8)), OPS)
    named = pa.array([loops[i] for i in rows[:, 0].tolist()], pa.string())
    until = open_ends(rows[:, 5]) if known_ends else pa.nulls(len(rows), pa.int64())
    span = pa.array(rows[:, 3]), open_ends(rows[:, 4])
    return pa.table([pa.array(rows[:, 2]), op, named, *span, until, exact], schema=NO_ANSWER)


def revisions(store: Store, last: int) -> Ints:
    """What a round, at the tick after `last`, says anew about ticks up to it: rows (tuple, op, query time, from, to,
    until)."""
    found = []
    for op, pieces in ((-1, store.minus), (1, store.plus)):
        past = pieces[pieces[:, 1] <= last]
        rows = np.empty((len(past), 6), np.int64)
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = past[:, 0], op, last + 1, past[:, 1]
        rows[:, 4] = np.where(past[:, 2] >= last, FOREVER, past[:, 2])
        _standing(store.lab, store.nodes, last, rows)
        found.append(rows)
    return np.concatenate(found)


def standing(store: Store, last: int, rows: Ints) -> Ints:
    """Rows (tuple, op, query time, from, to, until) with the ends of those that go on after `last`."""
    _standing(store.lab, store.nodes, last, rows)
    return rows


@njit(cache=True)
def _standing(lab: Ints, nodes: Ints, last: int, rows: Ints) -> None:
    """Fill in until when rows (tuple, op, query time, from, to, until) last: those that go on after `last` as long as
    the labels of their tuples say."""
    for k in range(len(rows)):
        rows[k, 5] = rows[k, 4]
        i = rows[k, 0]
        if rows[k, 4] < FOREVER or lab[i, LO] > lab[i, HI]:
            continue
        lo = lab[i, LO]
        hi = lab[i, HI]
        at = lab[i, NEXT]
        while hi < last and at >= 0:
            lo = nodes[at, 0]
            hi = nodes[at, 1]
            at = nodes[at, 2]
        if hi >= last:
            rows[k, 5] = hi if rows[k, 1] > 0 else lo - 1


def open_ends(ends: Ints) -> pa.Array:
    """Ends of intervals, null where there is none."""
    return pa.array(ends, mask=ends >= FOREVER)
