"""The inbox: rows as they are accepted, checked and coded, until the clock reaches them.

A row takes effect at its arrival, but not before its own time; a row that arrives more than the lateness after its
time is too late. Of rows about one fact that take effect together the last to arrive counts; of those that arrive
together retractions come first, so the order of rows does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.farthest import too_large
from thalweg.analysis.temporal import Signature
from thalweg.answers.blocks import Facts, distinct_facts
from thalweg.answers.codec import Bools, Codec
from thalweg.answers.datalog import Datalog
from thalweg.answers.engine import Place
from thalweg.answers.kernels import Extent, clock_steps, extent
from thalweg.columns.keys import matrix
from thalweg.language.wording import counted
from thalweg.protocol import NOTHING_TO_RETRACT, REJECTED, Ints, Rows
from thalweg.reasons import (
    BEFORE_START,
    MISSING,
    OUT_OF_RANGE,
    TOO_LATE,
    UNKNOWN_NAME,
    UNKNOWN_RETRACTION,
    WRONG_ARITY,
)

NONE_REJECTED = REJECTED.empty_table()


class Rejections:
    """Rows that count for nothing, until they are reported: clock time, row and which of `reasons`."""

    def __init__(self) -> None:
        self.rows: Ints = np.empty((0, 3), np.int64)
        self.reasons: list[tuple[str, str]] = []

    def add(self, at: Ints, rows: Ints, reason: str, detail: str) -> None:
        if len(rows):
            if (reason, detail) not in self.reasons:
                self.reasons.append((reason, detail))
            code = np.full(len(rows), self.reasons.index((reason, detail)))
            self.rows = np.concatenate([self.rows, np.column_stack([at, rows, code])])

    def take(self, to: int) -> pa.Table:
        """What is to be said up to a clock time, in order of time and row."""
        if not len(self.rows):
            return NONE_REJECTED
        said = self.rows[:, 0] <= to
        out, self.rows = self.rows[said], self.rows[~said]
        out = out[np.lexsort([out[:, 1], out[:, 0]])]
        texts = [
            pa.array([part[i] for part in self.reasons], pa.string()).take(pa.array(out[:, 2]))
            for i in (0, 1)
        ]
        if not len(self.rows):
            self.reasons = []
        return pa.table([pa.array(out[:, 0].copy()), pa.array(out[:, 1].copy()), *texts], schema=REJECTED)


@dataclass(slots=True)
class Coded:
    """Rows of one predicate: clock step, time, arrival, insertion (above 0) or retraction (below), number,
    arguments."""

    step: Ints
    time: Ints
    arrival: Ints
    op: Ints
    row: Ints
    args: list[Ints]
    _extent: Extent | None = None

    def __len__(self) -> int:
        return len(self.step)

    @property
    def extent(self) -> Extent:
        """Over which steps and times the rows go, and whether they retract anything; there is at least one."""
        if self._extent is None:
            self._extent = extent(self.step, self.time, self.op)
        return self._extent

    def take(self, rows: Ints | Bools | slice) -> Coded:
        return _of_columns([column[rows] for column in self.columns])

    @property
    def columns(self) -> list[Ints]:
        """All columns, those of the arguments last."""
        return [self.step, self.time, self.arrival, self.op, self.row, *self.args]


@dataclass(slots=True)
class Arrivals:
    """What one clock step brings."""

    inserted: dict[Place, Facts] = field(default_factory=dict)
    retracted: dict[Place, Facts] = field(default_factory=dict)


class Inbox:
    """Pending rows by predicate."""

    def __init__(self, datalog: Datalog, codec: Codec, lateness: int, start: int, farthest: int) -> None:
        self.datalog = datalog
        self.codec = codec
        self.lateness = lateness
        self.start = start
        self.farthest = farthest
        self.pending: dict[Signature, list[Coded]] = {}
        self.rejected = Rejections()

    # -- accepting

    def accept(self, rows: Rows, clock: int) -> None:
        """Check and code rows of one name."""
        predicate = (rows.name, len(rows.args) + 1)
        step = np.empty(len(rows), np.int64)
        in_time = clock_steps(rows.arrival, rows.time, clock, self.start, self.lateness, step)
        if predicate not in self.datalog.inputs:
            self.rejected.add(step, rows.row, *self._unknown(predicate))
            return
        op = rows.op.astype(np.int64)
        columns, coded = rows.args, Coded(step, rows.time, rows.arrival, op, rows.row, [])
        far = self._far(rows, step, clock)
        faults = [*far, *([] if in_time else self._untimely(rows, step)), *self._unusable(rows)]
        if faults:
            good = np.ones(len(rows), np.bool_)
            for reason, detail, bad in faults:
                bad = bad & good
                self.rejected.add(step[bad], rows.row[bad], reason, detail)
                good &= ~bad
            columns, coded = tuple(pc.filter(a, pa.array(good)) for a in rows.args), coded.take(good)
        if len(coded):
            coded.args = [self.codec.encode(column) for column in columns]
            self.pending.setdefault(predicate, []).append(coded)

    def _unknown(self, predicate: Signature) -> tuple[str, str]:
        name, arity = predicate
        if predicate in self.datalog.rules:
            return UNKNOWN_NAME, f"{name}/{arity} is derived by rules, it cannot be input"
        others = sorted(a for n, a in self.datalog.inputs if n == name)
        if others:
            return (
                WRONG_ARITY,
                f"{name} has {counted(others[0] - 1, 'argument')} before its time, the row has {arity - 1}",
            )
        return UNKNOWN_NAME, f"no rule reads {name}/{arity}"

    def _far(self, rows: Rows, step: Ints, clock: int) -> list[tuple[str, str, Bools]]:
        """Rows about times that the clock never comes to; that is said at once."""
        if not len(rows) or rows.time.max() <= self.farthest:
            return []
        far = rows.time > self.farthest
        step[far] = clock + 1
        return [(OUT_OF_RANGE, f"its time is {too_large(self.farthest)}", far)]

    def _untimely(self, rows: Rows, step: Ints) -> list[tuple[str, str, Bools]]:
        return [
            (BEFORE_START, f"the stream starts at {self.start}", rows.time < self.start),
            (
                TOO_LATE,
                f"it arrived more than {self.lateness} after its time",
                step > rows.time + self.lateness,
            ),
        ]

    def _unusable(self, rows: Rows) -> Iterator[tuple[str, str, Bools]]:
        for position, column in enumerate(rows.args, 1):
            if column.null_count:
                missing = pc.is_null(column).to_numpy(zero_copy_only=False)
                yield MISSING, f"argument {position} is missing", missing
            elif (inexact := self.codec.inexact(column)) is not None:
                yield OUT_OF_RANGE, f"argument {position} is too large for an exact number", inexact

    # -- handing out

    def due(self, to: int) -> dict[Signature, Coded]:
        """Rows whose step is at or before `to`, by predicate, in the order of their numbers: of several facts that
        an answer may rest on the first one is told."""
        found: dict[Signature, Coded] = {}
        for predicate in sorted(self.pending):
            coded = joined(self.pending[predicate])
            self.pending[predicate] = [coded]
            if coded.extent.first > to:
                continue
            if coded.extent.last <= to:
                del self.pending[predicate]
            else:
                now = coded.step <= to
                self.pending[predicate] = [coded.take(~now)]
                coded = coded.take(now)
            found[predicate] = coded if _is_sorted(coded.row) else coded.take(np.argsort(coded.row, kind="stable"))
        return found

    def stamped(self, due: dict[Signature, Coded]) -> dict[Signature, tuple[Facts, Ints]]:
        """Facts with their times, where nothing known can be retracted: without lateness."""
        found = {}
        for predicate, coded in due.items():
            if coded.extent.retracts:
                nothing = np.zeros(len(coded), np.bool_)
                there, _, orphans = _outcome(coded, [*coded.args, coded.time], nothing)
                self.rejected.add(coded.step[orphans], coded.row[orphans], UNKNOWN_RETRACTION, NOTHING_TO_RETRACT)
                coded = coded.take(there)
            facts = distinct_facts([*coded.args, coded.time], len(coded))
            if facts.length:
                found[predicate] = (Facts(facts.args[:-1], facts.length), facts.args[-1])
        return found

    def arrivals(
        self, clock: int, parts: list[tuple[Signature, Coded]], known: Mapping[Place, Facts]
    ) -> Arrivals:
        """The facts that a step adds to the known ones and takes from them."""
        found = Arrivals()
        for predicate, coded in parts:
            for time, part in _by_time(coded):
                self._settle(clock, (predicate, time), part, known.get((predicate, time)), found)
        return found

    def _settle(self, clock: int, place: Place, coded: Coded, known: Facts | None, found: Arrivals) -> None:
        """Of rows about one fact the last to arrive counts."""
        if not coded.extent.retracts:
            inserted = distinct_facts(coded.args, len(coded))
        else:
            facts = Facts(coded.args, len(coded))
            held = known.contains(facts) if known is not None else np.zeros(len(coded), np.bool_)
            there, gone, orphans = _outcome(coded, coded.args, held)
            lost = coded.row[orphans]
            self.rejected.add(np.full(len(lost), clock), lost, UNKNOWN_RETRACTION, NOTHING_TO_RETRACT)
            inserted = facts.take(there)
            if (gone & held).any():
                found.retracted[place] = facts.take(gone & held)
        if known is not None and inserted.length:
            inserted = inserted.take(~known.contains(inserted))
        if inserted.length:
            found.inserted[place] = inserted


def _outcome(coded: Coded, facts: list[Ints], held: Bools) -> tuple[Bools, Bools, Bools]:
    """Of rows that take effect together: the one of each fact that is there in the end, the one of each that is not,
    and the retractions of what was not there at their turn. `held`: which facts are there before."""
    order = np.lexsort((coded.op, coded.arrival, *facts))
    same = np.ones(len(order) - 1, np.bool_)
    for column in facts:
        same &= column[order][1:] == column[order][:-1]
    comes = coded.op[order] > 0
    before = np.where(np.concatenate([[True], ~same]), held[order], np.concatenate([[False], comes[:-1]]))
    last = np.concatenate([~same, [True]])
    found = np.zeros((3, len(order)), np.bool_)
    found[0, order], found[1, order], found[2, order] = last & comes, last & ~comes, ~comes & ~before
    return found[0], found[1], found[2]


def joined(parts: list[Coded]) -> Coded:
    """Rows of one predicate together."""
    if len(parts) == 1:
        return parts[0]
    return _of_columns([np.concatenate(columns) for columns in zip(*(p.columns for p in parts), strict=True)])


def _of_columns(columns: list[Ints]) -> Coded:
    step, time, arrival, op, row, *args = columns
    return Coded(step, time, arrival, op, row, args)


def by_step(due: dict[Signature, Coded]) -> dict[int, list[tuple[Signature, Coded]]]:
    """Rows by the clock step at which they take effect."""
    agenda: dict[int, list[tuple[Signature, Coded]]] = {}
    for predicate, coded in due.items():
        same = coded.extent.first == coded.extent.last
        for step, part in [(coded.extent.first, coded)] if same else _runs(coded, coded.step):
            agenda.setdefault(step, []).append((predicate, part))
    return agenda


def chunks(due: dict[Signature, Coded], size: int, to: int) -> Iterator[tuple[int, dict[Signature, Coded]]]:
    """The rows in portions of about this size, cut between steps, each with the step it goes up to."""
    steps = np.sort(np.concatenate([c.step for c in due.values()]))
    cuts = sorted({int(steps[i]) for i in range(size, len(steps), size)} - {to})
    before = -(1 << 62)
    for cut in [*cuts, to]:
        part = {p: c.take((c.step > before) & (c.step <= cut)) for p, c in due.items()} if cuts else due
        yield cut, {p: c for p, c in part.items() if len(c)}
        before = cut


def density(due: dict[Signature, Coded]) -> tuple[int, int]:
    """How many rows there are, and over how many steps."""
    rows = sum(map(len, due.values()))
    if not due or min(c.extent.first for c in due.values()) == max(c.extent.last for c in due.values()):
        return rows, min(rows, 1)
    return rows, len(np.unique(np.concatenate([np.unique(c.step) for c in due.values()])))


def _by_time(coded: Coded) -> list[tuple[int, Coded]]:
    if coded.extent.earliest == coded.extent.latest:
        return [(coded.extent.earliest, coded)]
    return _runs(coded, coded.time)


def _is_sorted(column: Ints) -> bool:
    return not (column[1:] < column[:-1]).any()


def _runs(coded: Coded, key: Ints) -> list[tuple[int, Coded]]:
    """The rows in runs of one key, sorted by it."""
    if not _is_sorted(key):
        order = np.argsort(key, kind="stable")
        coded, key = coded.take(order), key[order]
    edges = [0, *(np.flatnonzero(key[1:] != key[:-1]) + 1).tolist(), len(key)]
    return [(int(key[a]), coded.take(slice(a, b))) for a, b in zip(edges, edges[1:], strict=False) if b > a]


def coded_matrix(coded: Coded) -> Ints:
    """All columns of pending rows, for a snapshot."""
    return matrix(coded.columns, len(coded))


def coded_from(rows: Ints) -> Coded:
    """Pending rows from a snapshot."""
    return _of_columns([np.ascontiguousarray(rows[:, i]) for i in range(rows.shape[1])])
