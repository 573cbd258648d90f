"""Replaying a stream against the reference: does the fast reasoner say what the definition says?

Both get the same rows and answer at the same query times. Compared at each of them: the timeline so far, the
derived events, the pending effects, and which rows were rejected. The reference steps through time, so long
streams are sampled: a sample of the rows is a stream like any other, and both must agree on it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.assemble import filtered
from thalweg.io.errors import InputError
from thalweg.language.program import Program
from thalweg.language.rules import Kind
from thalweg.plans import Plan
from thalweg.protocol import OPEN_END, Revision, Rows
from thalweg.reference.events import Row
from thalweg.reference.terms import constant, number
from thalweg.reference.windowed import Answer, WindowedReference

Fact = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the two part: at which query time, in which table, what only the definition says, and what only the fast
    reasoner says."""

    query_time: int
    table: str
    missing: tuple[Fact, ...]
    extra: tuple[Fact, ...]

    def __str__(self) -> str:
        lines = [f"first difference at query time {self.query_time}, in {self.table}"]
        lines += [f"  missing: {_shown(fact)}" for fact in self.missing[:10]]
        lines += [f"  extra:   {_shown(fact)}" for fact in self.extra[:10]]
        hidden = max(0, len(self.missing) - 10) + max(0, len(self.extra) - 10)
        return "\n".join(lines + ([f"  ... {hidden} more"] if hidden else []))


def _shown(fact: Fact) -> str:
    return " ".join("-" if part is None else str(part) for part in fact)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How much was compared, and the first difference if there is one."""

    rows: int
    entities: int | None
    query_times: int
    intervals: int
    difference: Difference | None


def refuse_other_kinds(program: Program) -> None:
    """Raise `InputError` where there is no replaying a program."""
    if program.kind is not Kind.EVENTS:
        raise InputError("verify", f"only event descriptions are verified, and this program is of kind {program.kind}")


def verify(
    plan: Plan,
    *,
    sample: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Compare at every query time; stops at the first difference. `sample` keeps the rows of that many entities, where
    an entity is a first argument."""
    refuse_other_kinds(plan.program)
    rows = [part for piece in plan.feed for part in piece.chunk.rows]
    entities = None
    if sample is not None:
        chosen = _chosen(rows, sample, seed)
        entities = len(chosen)
        rows = [kept for part in rows if (kept := _of_entities(part, chosen)) is not None]
    end = plan.schedule.end
    if end is not None:
        rows = [kept for part in rows if (kept := filtered(part, part.arrival <= end)) is not None]
    last = end if end is not None else max((int(part.arrival.max()) for part in rows), default=None)
    size = sum(map(len, rows))
    if last is None:
        return Verdict(size, entities, 0, 0, None)
    return _compare(
        plan, rows, plan.schedule.at_or_after(last), Verdict(size, entities, 0, 0, None), progress
    )


def _compare(
    plan: Plan, rows: list[Rows], last: int, verdict: Verdict, progress: Callable[[int, int], None] | None
) -> Verdict:
    assert plan.window is not None
    schedule = plan.schedule
    reference = WindowedReference(
        plan.program,
        window=plan.window,
        step=schedule.step,
        start=schedule.start,
        tick=plan.spacing,
        allow_gaps=True,
    )
    reference.accept(row for part in rows for row in reference_rows(part))
    reasoner = plan.make()
    reasoner.accept(rows)
    found = Found()
    for query_time in range(schedule.start + schedule.step, last + 1, schedule.step):
        (answer,) = reference.advance(query_time)
        found.take(reasoner.advance(query_time), query_time)
        difference = _difference(query_time, found, answer)
        count = schedule.count(query_time)
        if difference is not None:
            return Verdict(verdict.rows, verdict.entities, count, len(found.timeline), difference)
        if progress is not None:
            progress(count, schedule.count(last))
    return Verdict(verdict.rows, verdict.entities, schedule.count(last), len(found.timeline), None)


class Found:
    """What the fast reasoner has said so far, as plain sets."""

    def __init__(self) -> None:
        self.timeline: set[Fact] = set()
        self.events: set[Fact] = set()
        self.open: set[Fact] = set()
        self.rejected: set[Fact] = set()
        self.impossible: list[Fact] = []

    def take(self, revision: Revision, query_time: int) -> None:
        """Apply the changes of one query time."""
        self.rejected = set()
        self.open = set()
        for name, table in revision.tables.items():
            match name:
                case "changes":
                    self._apply(self.timeline, table, ("fluent", "value", "start", "end"))
                case "events":
                    self._apply(self.events, table, ("event", "time"))
                case "open":
                    now = table.filter(pc.equal(table.column("query_time"), query_time))
                    self.open = set(_facts(now, ("fluent", "value", "due", "since")))
                case "rejected":
                    self.rejected = set(_facts(table, ("row",)))
                case _:
                    pass

    def _apply(self, facts: set[Fact], table: pa.Table, columns: tuple[str, ...]) -> None:
        deleted = pc.equal(table.column("op").cast(pa.string()), "delete")
        for fact in _facts(table.filter(deleted), columns):
            if fact not in facts:
                self.impossible.append(fact)
            facts.discard(fact)
        for fact in _facts(table.filter(pc.invert(deleted)), columns):
            if fact in facts:
                self.impossible.append(fact)
            facts.add(fact)


def _facts(table: pa.Table, columns: Iterable[str]) -> Iterator[Fact]:
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)


def _difference(query_time: int, found: Found, answer: Answer) -> Difference | None:
    """The first table in which the two differ."""
    timeline: set[Fact] = {
        (*pair, *interval) for pair, intervals in answer.timeline.items() for interval in intervals
    }
    pending: set[Fact] = {(c.fluent, c.value, c.due, c.since) for c in answer.open}
    rejected: set[Fact] = {(rejection.row,) for rejection in answer.rejected}
    pairs: tuple[tuple[str, set[Fact], set[Fact]], ...] = (
        ("changes", set(found.impossible), set()),
        ("timeline", found.timeline, timeline),
        ("events", found.events, set(answer.events)),
        ("open", found.open, pending),
        ("rejected", found.rejected, rejected),
    )
    for table, fast, slow in pairs:
        if fast != slow:
            return Difference(query_time, table, _ordered(slow - fast), _ordered(fast - slow))
    return None


def _ordered(facts: set[Fact]) -> tuple[Fact, ...]:
    return tuple(sorted(facts, key=lambda fact: [str(part) for part in fact]))


# --------------------------------------------------------------------------- rows


def reference_rows(rows: Rows) -> Iterator[Row]:
    """The rows as the reference takes them."""
    args = [[_ground(value) for value in column.to_pylist()] for column in rows.args]
    shape = "event" if rows.value is None else "point" if rows.end is None else "interval"
    values = [None] * len(rows) if rows.value is None else rows.value.to_pylist()
    ends = [OPEN_END] * len(rows) if rows.end is None else rows.end.tolist()
    columns = zip(
        rows.op.tolist(),
        rows.arrival.tolist(),
        rows.time.tolist(),
        rows.row.tolist(),
        values,
        ends,
        strict=True,
    )
    for place, (op, arrival, time, row, value, end) in enumerate(columns):
        yield Row(
            name=rows.name,
            args=tuple(column[place] for column in args),
            time=time,
            arrival=arrival,
            op=op,
            number=row,
            shape=shape,
            value=None if value is None else _ground(value),
            end=None if end == OPEN_END else end,
        )


def _ground(value: str | float) -> object:
    """A constant of a column as a ground term."""
    ground: object = constant(value) if isinstance(value, str) else number(value)
    return ground


def _chosen(rows: list[Rows], sample: int, seed: int) -> set[str]:
    """Some of the entities, the same ones for the same seed."""
    known = {str(word) for part in rows if part.args for word in pc.unique(part.args[0]).to_pylist()}
    return set(random.Random(seed).sample(sorted(known), min(sample, len(known))))


def _of_entities(rows: Rows, chosen: set[str]) -> Rows | None:
    """The rows whose first argument is one of the chosen; rows without arguments stay."""
    if not rows.args:
        return rows
    words = np.array([str(word) in chosen for word in rows.args[0].to_pylist()], np.bool_)
    return filtered(rows, words)
