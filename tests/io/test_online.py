"""Reasoners of all kinds in a service: what they take, what they refuse, how they are kept."""

from __future__ import annotations

import copy
import pickle
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

import thalweg
from thalweg.answers.reasoner import Reasoner as AnswerReasoner
from thalweg.lars import Reasoner as LarsReasoner
from thalweg.protocol import Reasoner

EVENTS = """tick 1m.
initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminatedAt(on(X)=true, T) :- happensAt(release(X), T).
"""
LARS = "tick 1m.\non(X) if [3] sometime press(X).\n"
ANSWERS = "tick 1m.\nquery both(X, T).\nboth(X, T) :- press(X, T), release(X, T+2).\n"


def events(start: Any = 0) -> Reasoner:
    return thalweg.Reasoner(thalweg.parse(EVENTS), window=20, step=5, start=start)


def lars(start: Any = 0) -> Reasoner:
    return LarsReasoner(thalweg.parse(LARS), start=start)


def answers(start: Any = 0) -> Reasoner:
    return AnswerReasoner(thalweg.parse(ANSWERS), start=start)


every_kind = pytest.mark.parametrize("make", [events, lars, answers])


@pytest.mark.parametrize("text", [EVENTS, LARS, ANSWERS])
def test_a_program_can_be_pickled_and_copied(text: str) -> None:
    program = thalweg.parse(text)
    program.check()
    for other in (pickle.loads(pickle.dumps(program)), copy.deepcopy(program), copy.copy(program)):
        assert other == program and other.sources == program.sources and str(other) == str(program)


@every_kind
def test_a_reasoner_says_that_it_is_kept_as_a_snapshot(make: Callable[[], Reasoner]) -> None:
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="snapshot"):
            attempt(make())


@every_kind
def test_the_clock_may_be_moved_to_a_date(make: Callable[[Any], Reasoner]) -> None:
    moment = datetime(2026, 3, 2, 8, 10, 30, tzinfo=timezone(timedelta(hours=2)))
    one, other = make(date(2026, 3, 2)), make(datetime(2026, 3, 2, tzinfo=UTC))
    for reasoner in (one, other):
        batch, _ = thalweg.rows(reasoner.program, [{"name": "press", "time": "2026-03-02T06:01Z", "x": "a"}])  # type: ignore[attr-defined]
        reasoner.accept(batch)
    there = 29_540_530  # minutes since 1970
    assert one.advance(moment)["changes"].to_pylist() == other.advance(there)["changes"].to_pylist() != []
    assert one.snapshot() == other.snapshot()


@every_kind
def test_a_time_that_no_clock_reaches_is_refused(make: Callable[[], Reasoner]) -> None:
    with pytest.raises(ValueError, match=r"more than 2\*\*62"):
        make().advance(2**70)


@every_kind
def test_a_clock_does_not_go_back_and_stays_where_it_is(make: Callable[[], Reasoner]) -> None:
    reasoner, undisturbed = make(), make()
    for each in (reasoner, undisturbed):
        batch, _ = thalweg.rows(each.program, [{"name": "press", "time": 3, "x": "a"}])  # type: ignore[attr-defined]
        each.accept(batch)
        each.advance(10)
    for to in (9, -5, datetime(1970, 1, 1)):
        with pytest.raises(ValueError, match="the clock is at 10 and does not go back to"):
            reasoner.advance(to)
    assert reasoner.snapshot() == undisturbed.snapshot()
    assert reasoner.advance(25)["changes"].equals(undisturbed.advance(25)["changes"])


@every_kind
def test_a_clock_may_be_told_the_present_time_again(make: Callable[[], Reasoner]) -> None:
    reasoner = make()
    reasoner.advance(10)
    revision = reasoner.advance(10)
    assert not revision["changes"].num_rows and not revision["rejected"].num_rows


@every_kind
def test_a_clock_does_not_go_back_before_the_start(make: Callable[[int], Reasoner]) -> None:
    with pytest.raises(ValueError, match="does not go back to 50"):
        make(100).advance(50)


@every_kind
def test_a_table_that_a_revision_does_not_have_is_an_error_that_names_the_others(
    make: Callable[[], Reasoner],
) -> None:
    with pytest.raises(KeyError, match=r"no table 'timelines'; it has .*changes"):
        make().advance(10)["timelines"]


def test_a_date_without_a_tick_is_refused() -> None:
    reasoner = thalweg.Reasoner(thalweg.parse(EVENTS.removeprefix("tick 1m.")), window=20, step=5)
    with pytest.raises(ValueError, match="declare a tick"):
        reasoner.advance(date(2026, 3, 2))


def test_options_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="models is 'all'"):
        LarsReasoner(thalweg.parse(LARS), models="all")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="horizon"):
        AnswerReasoner(thalweg.parse(ANSWERS), horizon=-1)


def test_query_times_before_the_first_row_cost_nothing() -> None:
    """Rows with dates, and a reasoner that begins in 1970."""
    program = thalweg.parse(EVENTS)
    first = 1_767_225_601
    batch, _ = thalweg.rows(program, [{"name": "press", "time": first, "x": "a"}])
    reasoner = thalweg.Reasoner(program, window=20, step=5)
    reasoner.accept(batch)
    began = time.perf_counter()
    (change,) = reasoner.advance(first + 10)["changes"].to_pylist()
    assert time.perf_counter() - began < 30
    assert (change["query_time"], change["start"]) == (first + 4, first + 1)


@pytest.mark.parametrize("late", [0, 7])
def test_leaping_to_the_first_row_changes_nothing(late: int) -> None:
    """The same as with an instance that is known from the start and keeps the reasoner from leaping."""
    program, known = thalweg.parse(EVENTS), thalweg.parse(EVENTS + "initially(on(k)=true).")
    rows = [
        {"name": "press", "time": 103, "arrival": 103 + late, "x": "a"},
        {"name": "release", "time": 101, "arrival": 140, "x": "a"},
        {"name": "release", "time": 109, "arrival": 112, "x": "a"},
    ]
    found = []
    for each in (program, known):
        reasoner = thalweg.Reasoner(each, window=20, step=5)
        reasoner.accept(thalweg.rows(each, rows)[0])
        revisions = [reasoner.advance(to) for to in (4, 62, 104, 106, 150)]
        changes = [row for revision in revisions for row in revision["changes"].to_pylist()]
        rejected = [row for revision in revisions for row in revision["rejected"].to_pylist()]
        found.append(([row for row in changes if row["fluent"] != "on(k)"], rejected))
    assert found[0] == found[1] and found[0][0] and found[0][1]


def test_more_query_times_than_anybody_can_mean_are_refused() -> None:
    program = thalweg.parse(EVENTS)
    reasoner = thalweg.Reasoner(program, window=20, step=5)
    reasoner.accept(thalweg.rows(program, [{"name": "press", "time": 3, "x": "a"}])[0])
    with pytest.raises(ValueError, match="`start=`"):
        reasoner.advance(1_767_225_600_000)
