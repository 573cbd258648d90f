"""Sliding windows, late arrivals and retractions by definition: SEMANTICS 1.6 and 1.7.

At a query time `q` the run starts again from its record at `q - window`, with every row that is known and not retracted
at `q`. Records at or before `q - window` are final. Two consequences are written out here because they are easy to get
wrong: the *effects* of the point `q - window` itself are seen one point later, inside the window, so they are computed
again (only `start` and `end` of an input interval that begins or ends there can make a difference); and an input
interval that reaches into the window counts from the window on, whatever it says about the past.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from thalweg.language.program import Program
from thalweg.reasons import (
    BEFORE_START,
    END_BEFORE_START,
    OFF_TICK,
    TOO_LATE,
    UNKNOWN_NAME,
    UNKNOWN_RETRACTION,
    WRONG_ARITY,
)
from thalweg.reference.description import Description
from thalweg.reference.events import OpenCountdown, Record, Row, Timeline, Trace, given, step_through
from thalweg.reference.state import Domains


@dataclass(frozen=True, slots=True)
class Rejection:
    """A row that counts for nothing, and why."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """An interval that is new (`insert`) or withdrawn (`delete`) at a query time."""

    query_time: int
    op: str
    fluent: str
    value: str
    start: int
    end: int | None


@dataclass(frozen=True)
class Answer:
    """Everything that is known at one query time; `timeline` and `events` reach back to the start of the stream."""

    query_time: int
    timeline: Timeline
    events: frozenset[tuple[str, int]]
    open: frozenset[OpenCountdown]
    changes: tuple[Change, ...]
    rejected: tuple[Rejection, ...]


class WindowedReference:
    """A reasoner by definition: accepts rows in any order, answers at `start + step`, `start + 2 step`, ..."""

    def __init__(
        self,
        program: Program,
        *,
        window: int,
        step: int,
        start: int = 0,
        tick: int = 1,
        allow_gaps: bool = False,
    ) -> None:
        if step < 1 or window < 1:
            raise ValueError("window and step are positive")
        if window < step and not allow_gaps:
            raise ValueError("the window is smaller than the step: rows would fall between windows")
        self.description = Description(program)
        self._domains = Domains(self.description, tick)
        self.window, self.step, self.start, self.tick = window, step, start, tick
        self.query_time = start
        self._waiting: list[Row] = []
        self._known: dict[object, Row] = {}
        self._trace = Trace(self.description, tick)
        self._timeline: Timeline = {}

    def accept(self, rows: Iterable[Row]) -> None:
        """Take rows; each counts from the first query time at or after its arrival."""
        self._waiting.extend(rows)

    def advance(self, to: int) -> list[Answer]:
        """The answers of every query time up to and including `to`."""
        answers = []
        while self.query_time + self.step <= to:
            self.query_time += self.step
            answers.append(self._answer(self.query_time))
        return answers

    def _answer(self, q: int) -> Answer:
        rejected = self._admit(q)
        self._trace = self._run(q)
        timeline = self._trace.timeline()
        changes = tuple(differences(q, self._timeline, timeline))
        self._timeline = timeline
        events, pending = frozenset(self._trace.events()), frozenset(self._trace.open())
        return Answer(q, timeline, events, pending, changes, tuple(rejected))

    def _run(self, q: int) -> Trace:
        """The run up to `q`, from what is final."""
        last = self._grid(q - self.step)
        final = min(self._horizon(q), last)
        past: list[Record] = [r for r in self._trace.records if r.time <= final]
        stops = [max(self.start, self._horizon(q + self.step))]
        return step_through(
            self._domains,
            given(self._known.values(), self.tick, q),
            start=self.start,
            until=self._grid(q),
            past=past,
            stops=stops,
        )

    def _grid(self, time: int) -> int:
        return time - time % self.tick

    def _horizon(self, q: int) -> int:
        """The last time-point that is final at `q`."""
        return max(self.start, self._grid(q - self.window))

    # ------------------------------------------------------------------- rows

    def _admit(self, q: int) -> list[Rejection]:
        """Take in what has arrived by `q`, in the order of arrival; at one arrival time retractions come first, so
        that the order in which rows are accepted does not matter."""
        arrived = sorted((r for r in self._waiting if r.arrival <= q), key=lambda r: (r.arrival, r.op, r.number))
        self._waiting = [r for r in self._waiting if r.arrival > q]
        rejected = [Rejection(row.number, reason) for row in arrived if (reason := self._reason(row, q))]
        for fact, row in list(self._known.items()):
            if row.time > q - self.step and self._is_past(row, q - self.window):
                rejected.append(Rejection(row.number, TOO_LATE))
                del self._known[fact]
        return sorted(rejected, key=lambda r: (r.row, r.reason))

    def _reason(self, row: Row, q: int) -> str | None:
        """Why a row is rejected; None after it has had its effect on what is known."""
        reason = unreadable(self.description, row, self.tick)
        if reason is not None:
            return reason
        if row.arrival <= self.start or self._is_past(row, self.start):
            return BEFORE_START
        if self._is_past(row, q - self.window):
            return TOO_LATE
        if row.op > 0:
            self._known.setdefault(row.fact, row)
            return None
        return None if self._known.pop(row.fact, None) is not None else UNKNOWN_RETRACTION

    def _is_past(self, row: Row, horizon: int) -> bool:
        """True when nothing the row says lies after the horizon."""
        last = row.time
        if row.shape == "interval":
            if row.end is None:
                return False
            last = row.end - self.tick
        return last <= horizon


def unreadable(description: Description, row: Row, tick: int = 1) -> str | None:
    """Why a row cannot be used, whenever it arrives."""
    key = (row.name, len(row.args))
    names = description.input_events if row.shape == "event" else description.input_fluents
    if key not in names:
        return WRONG_ARITY if any(name == row.name for name, _ in names) else UNKNOWN_NAME
    if row.shape == "interval" and row.end is not None and row.end <= row.time:
        return END_BEFORE_START
    if row.time % tick or (row.end or 0) % tick:
        return OFF_TICK
    return None


def differences(q: int, before: Timeline, after: Timeline) -> list[Change]:
    """The changes that turn one timeline into the other: withdrawn intervals first."""
    old, new = _intervals(before), _intervals(after)
    deleted = [Change(q, "delete", *row) for row in sorted(old - new, key=_order)]
    return deleted + [Change(q, "insert", *row) for row in sorted(new - old, key=_order)]


def _intervals(timeline: Timeline) -> set[tuple[str, str, int, int | None]]:
    return {(*pair, *interval) for pair, intervals in timeline.items() for interval in intervals}


def _order(row: tuple[str, str, int, int | None]) -> tuple[str, str, int]:
    return row[:3]


def revises(row: Row, q: int, step: int) -> bool:
    """Does the row revise at `q` what was said before: does it arrive after the last query time, and is it about a time
    that this one has already spoken of?"""
    return q - step < row.arrival <= q and row.time <= q - step


def spoken(change: Change, timeline: Timeline, last: int) -> bool:
    """Is the interval of a change in the timeline, as far as a query at `last` can tell? Up to one point after it, that
    is: there its effects show."""
    return any(
        start == change.start and (end == change.end or (_beyond(end, last) and _beyond(change.end, last)))
        for start, end in timeline.get((change.fluent, change.value), [])
    )


def _beyond(end: int | None, last: int) -> bool:
    return end is None or end > last + 1


def due_to_revision(change: Change, timeline: Timeline, unrevised: Timeline, last: int) -> bool:
    """Is a change due to the rows that revise what the query at `last` has spoken of? That is so when its interval, as
    far as that query could tell, is in only one of the timelines with and without these rows. Otherwise the cause is
    that time moved on."""
    if change.start > last + 1 or (change.op == "delete" and spoken(change, timeline, last)):
        return False
    return spoken(change, unrevised, last) == (change.op == "delete")


def replay(
    program: Program,
    rows: Iterable[Row],
    *,
    window: int,
    step: int,
    end: int,
    start: int | None = None,
    tick: int = 1,
    allow_gaps: bool = False,
) -> list[Answer]:
    """The answers at every query time up to the first at or after `end`; rows that arrive after `end` take no part."""
    rows = [row for row in rows if row.arrival <= end]
    if start is None:
        start = default_start(rows, step, end)
    reference = WindowedReference(
        program, window=window, step=step, start=start, tick=tick, allow_gaps=allow_gaps
    )
    reference.accept(rows)
    return reference.advance(start - step * ((start - end) // step))


def default_start(rows: Iterable[Row], step: int, end: int) -> int:
    """Where a stream starts that is not told: the last multiple of the step before every time in it."""
    first = min((min(row.time, row.arrival) for row in rows), default=end)
    return (first - 1) // step * step
