"""What the cause of a change must be, checked against the reference by leaving rows out.

A row *revises* at a query time when it arrives after the last one and is about a time of which that one has spoken. The
cause of a change is `time` exactly when the change does not need the rows that revise. Otherwise it is one of them, and
those that come after it in the order of their numbers have no part in it: the change is there without them, or they
change nothing of its pair by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from thalweg.language.program import Program
from thalweg.reference.events import Row
from thalweg.reference.intervals import Interval
from thalweg.reference.windowed import Answer, Change, due_to_revision, replay, revises, spoken
from thalweg.testing.engines import MakeReasoner, to_batch
from thalweg.testing.streams import Scenario

TIME = "time"


def assert_causes(make: MakeReasoner, scenario: Scenario, seed: int = 0) -> None:
    """Fails where a reasoner tells a wrong cause of a change or of a derived event, at any query time. Of the rows that
    are named at a query time one, chosen by the seed, is examined by leaving out those that come after it."""
    rows = [row for row in scenario.rows if row.arrival <= scenario.end]
    run = {"window": scenario.window, "step": scenario.step, "start": scenario.start}
    reasoner, asked = make(scenario.program, **run), Random(seed)
    reasoner.accept(to_batch(rows))
    events: frozenset[tuple[str, int]] = frozenset()
    for at, answer in enumerate(_replayed(scenario, rows, scenario.end)):
        q = answer.query_time
        revision = reasoner.advance(q)
        told = {_key(c): c["cause"] for c in revision["changes"].to_pylist()}
        happened = {(c["event"], c["time"]): c["cause"] for c in revision["events"].to_pylist()}
        new = [row for row in rows if revises(row, q, scenario.step)]
        calm = _replayed(scenario, _without(rows, new), q)[at] if new else answer
        wrong = {r.row for r in answer.rejected}
        revising = [row for row in new if row.number not in wrong]
        _assert_named([*told.values(), *happened.values()], revising, q)
        _assert_changes(told, answer, calm, q - scenario.step, loose=judges_whole_intervals(scenario.program))
        _assert_events(happened, events, answer, calm, q - scenario.step)
        events = answer.events
        named = [change for change in answer.changes if told[_of(change)] != TIME]
        if named:
            change = asked.choice(named)
            later = _after(_number(told[_of(change)]), revising)
            fewer = _replayed(scenario, _without(rows, later), q)[at] if later else answer
            stands = spoken(change, fewer.timeline, q - scenario.step) == (change.op == "insert")
            if not stands:
                others = [row for row in revising if row not in later]
                alone = _replayed(scenario, _without(rows, others), q)[at]
                without, with_them = (_past(change, some, q - scenario.step) for some in (calm, alone))
                stands = without == with_them
            assert stands, f"at {q}: later rows than {told[_of(change)]} have a part in {change}"


def _assert_named(causes: Sequence[str], revising: Sequence[Row], q: int) -> None:
    """Only rows that revise are named."""
    known = {row.number for row in revising}
    for cause in causes:
        assert cause == TIME or _number(cause) in known, f"at {q}: {cause} revises nothing"


def _assert_changes(
    told: dict[tuple[object, ...], str], answer: Answer, calm: Answer, last: int, *, loose: bool
) -> None:
    """Exactly; but the effects of the last query time itself, which show one point later, may be told either way."""
    for change in answer.changes:
        cause = told[_of(change)]
        due, early = (due_to_revision(change, answer.timeline, calm.timeline, at) for at in (last, last - 1))
        free = due != early or _at_the_edge(change, answer, last) or (loose and not due)
        assert free or (cause != TIME) == due, f"{cause} is told, but it is {'a row' if due else 'time'}: {change}"


def _at_the_edge(change: Change, answer: Answer, last: int) -> bool:
    """Does its interval begin or end, before or after the change, one point after the last query time?"""
    found = answer.timeline.get((change.fluent, change.value), [])
    return last + 1 in (change.start, change.end, *(end for start, end in found if start == change.start))


def _past(change: Change, answer: Answer, last: int) -> list[Interval]:
    """The intervals of a change's pair up to one point after the last query time."""
    found = answer.timeline.get((change.fluent, change.value), [])
    return [(start, None if end is None or end > last + 1 else end) for start, end in found if start <= last + 1]


def _assert_events(
    told: dict[tuple[str, int], str],
    before: frozenset[tuple[str, int]],
    answer: Answer,
    calm: Answer,
    last: int,
) -> None:
    for event in answer.events ^ before:
        due = event[1] <= last and (event in answer.events) != (event in calm.events)
        cause = told[event]
        assert (cause != TIME) == due or event[1] == last, f"{cause} is told of {event} at {answer.query_time}"


def judges_whole_intervals(program: Program) -> bool:
    """Does the program filter by duration or by Allen relations? Then what was said may change by time alone, and a row
    that touches the same instance at that moment is named for it."""
    return any(word in str(program) for word in ("intDur", "allen", "duration"))


def _replayed(scenario: Scenario, rows: Sequence[Row], end: int) -> list[Answer]:
    return replay(
        scenario.program, rows, window=scenario.window, step=scenario.step, start=scenario.start, end=end
    )


def _without(rows: Sequence[Row], some: Sequence[Row]) -> list[Row]:
    numbers = {row.number for row in some}
    return [row for row in rows if row.number not in numbers]


def _after(number: int, revising: Sequence[Row]) -> list[Row]:
    """The rows about facts of which a later row than this one speaks."""
    facts = {row.fact for row in revising if row.number > number}
    return [row for row in revising if row.fact in facts]


def _number(cause: str) -> int:
    return int(cause.removeprefix("row "))


def _of(change: Change) -> tuple[object, ...]:
    return (change.op, change.fluent, change.value, change.start, change.end)


def _key(change: dict[str, object]) -> tuple[object, ...]:
    return tuple(change[name] for name in ("op", "fluent", "value", "start", "end"))
