"""The windowed reference: late rows, retractions, rejections, changes, and independence of the window."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import parse
from thalweg.reference.events import Row, Timeline, run
from thalweg.reference.intervals import Interval, clip
from thalweg.reference.windowed import Answer, Change, WindowedReference, default_start, replay
from thalweg.testing.comparison import assert_same_rows, assert_same_timeline
from thalweg.testing.programs import Features
from thalweg.testing.streams import TIDY, Scenario, scenarios, splits
from thalweg.testing.tables import stream, timeline

ON_OFF = """
    initiatedAt(f(X)=true, T) :- happensAt(e(X), T).
    terminatedAt(f(X)=true, T) :- happensAt(g(X), T).
"""


def answers(rules: str, rows: str, *, window: int, step: int, end: int, start: int = 0) -> list[Answer]:
    return replay(parse(rules), stream(rows), window=window, step=step, start=start, end=end)


def rejected(found: list[Answer]) -> set[tuple[int, str]]:
    return {(r.row, r.reason) for answer in found for r in answer.rejected}


# --------------------------------------------------------------------------- late rows and retractions


def test_a_late_event_inside_the_window_revises_the_result() -> None:
    first, second = answers(ON_OFF, "e(a) 3\ng(a) 7@15", window=20, step=10, end=20)
    assert_same_timeline(first.timeline, timeline("f(a)=true [4,..)"))
    assert_same_timeline(second.timeline, timeline("f(a)=true [4,8)"))


def test_a_late_event_before_the_window_is_rejected_and_changes_nothing() -> None:
    found = answers(ON_OFF, "e(a) 3\ng(a) 7@15", window=10, step=10, end=20)
    assert rejected(found) == {(2, "too-late")}
    assert_same_timeline(found[-1].timeline, timeline("f(a)=true [4,..)"))


def test_the_point_at_the_edge_of_the_window_is_too_late() -> None:
    assert rejected(answers(ON_OFF, "e(a) 10@12", window=10, step=10, end=20)) == {(1, "too-late")}
    assert rejected(answers(ON_OFF, "e(a) 11@12", window=10, step=10, end=20)) == set()


def test_a_retraction_inside_the_window_takes_an_event_back() -> None:
    found = answers(ON_OFF, "e(a) 3\n- e(a) 3@12", window=20, step=10, end=20)
    assert_same_timeline(found[-1].timeline, {})


def test_an_event_can_be_inserted_again_after_its_retraction() -> None:
    found = answers(ON_OFF, "e(a) 3\n- e(a) 3@12\ne(a) 3@14", window=20, step=10, end=20)
    assert_same_timeline(found[-1].timeline, timeline("f(a)=true [4,..)"))


def test_a_retraction_of_something_unknown_is_rejected() -> None:
    found = answers(ON_OFF, "- e(a) 3@5\n- e(b) 4@5\ne(b) 4@6", window=20, step=10, end=20)
    assert rejected(found) == {(1, "unknown-retraction"), (2, "unknown-retraction")}


def test_a_duplicate_changes_nothing_and_one_retraction_removes_it() -> None:
    found = answers(ON_OFF, "e(a) 3 3 3@8\n- e(a) 3@15", window=20, step=10, end=20)
    assert rejected(found) == set()
    assert_same_timeline(found[0].timeline, timeline("f(a)=true [4,..)"))
    assert_same_timeline(found[1].timeline, {})


def test_at_one_arrival_retractions_come_before_insertions() -> None:
    rows = stream("e(a) 3\n- e(a) 3@8\ne(a) 3@8")
    for order in (rows, rows[::-1]):
        (found,) = replay(parse(ON_OFF), order, window=10, step=10, start=0, end=10)
        assert_same_timeline(found.timeline, timeline("f(a)=true [4,..)"))
        assert not found.rejected


def test_an_event_that_arrives_early_waits_for_its_time() -> None:
    first, second = answers(ON_OFF, "e(a) 14@3", window=10, step=10, end=20)
    assert_same_timeline(first.timeline, {})
    assert_same_timeline(second.timeline, timeline("f(a)=true [15,..)"))


def test_what_is_final_is_not_revised_by_what_comes_later() -> None:
    found = answers(ON_OFF, "e(a) 3\ng(a) 12@22\ng(a) 18", window=10, step=10, end=30)
    assert rejected(found) == set() | {(2, "too-late")}
    assert_same_timeline(found[-1].timeline, timeline("f(a)=true [4,19)"))


def test_a_long_input_interval_can_be_closed_after_its_start_is_final() -> None:
    rules = "holdsFor(f(X)=true, I) :- holdsFor(near(X)=true, I)."
    rows = "near(a)=true 3..\n- near(a)=true 3..@42\nnear(a)=true 3..38@42"
    found = answers(rules, rows, window=10, step=10, end=50)
    assert_same_timeline(found[3].timeline, timeline("f(a)=true [3,..)"))
    assert_same_timeline(found[4].timeline, timeline("f(a)=true [3,41)"))
    found = answers(rules, rows, window=20, step=10, end=50)
    assert_same_timeline(found[4].timeline, timeline("f(a)=true [3,38)"))


def test_a_late_interval_counts_for_its_points_in_the_window() -> None:
    rules = "holdsFor(f(X)=true, I) :- holdsFor(near(X)=true, I)."
    found = answers(rules, "near(a)=true 3..25@26", window=10, step=10, end=30)
    assert_same_timeline(found[-1].timeline, timeline("f(a)=true [21,25)"))
    assert rejected(answers(rules, "near(a)=true 3..21@26", window=10, step=10, end=30)) == {(1, "too-late")}


def test_rows_before_an_explicit_start_are_rejected() -> None:
    found = answers(ON_OFF, "e(a) 5\ne(b) 3@7\ne(c) 6", window=10, step=10, end=15, start=5)
    assert rejected(found) == {(1, "before-the-start"), (2, "before-the-start")}


def test_without_a_start_no_row_is_before_it() -> None:
    rows = stream("e(a) 20\ng(a) 27@31")
    assert default_start(rows, step=10, end=40) == 10
    found = replay(parse(ON_OFF), rows, window=20, step=10, end=40)
    assert [a.query_time for a in found] == [20, 30, 40]
    assert_same_timeline(found[-1].timeline, timeline("f(a)=true [21,28)"))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("bogus(a) 3", "unknown-name"),
        ("e(a,b) 3", "wrong-arity"),
        ("near(a)=true 5..5", "end-before-start"),
    ],
)
def test_rows_that_cannot_be_used_are_rejected_with_a_reason(rows: str, reason: str) -> None:
    rules = ON_OFF + "holdsFor(k(X)=true, I) :- holdsFor(near(X)=true, I)."
    assert rejected(answers(rules, rows, window=10, step=10, end=10)) == {(1, reason)}


# --------------------------------------------------------------------------- carried over windows


def test_a_countdown_is_carried_over_any_number_of_windows() -> None:
    rules = ON_OFF + "fi(f(X)=true, f(X)=false, 33)."
    found = answers(rules, "e(a) 3", window=5, step=5, end=40)
    assert_same_timeline(found[-1].timeline, timeline("f(a)=true [4,37)\nf(a)=false [37,..)"))
    pending = [{(c.fluent, c.value, c.due, c.since) for c in answer.open} for answer in found]
    assert pending[:7] == [{("f(a)", "false", 36, 3)}] * 7
    assert pending[7] == set()


def test_a_late_event_cancels_a_countdown_retroactively() -> None:
    rules = ON_OFF + "fi(f(X)=true, f(X)=false, 5)."
    first, second = answers(rules, "e(a) 3\ng(a) 6@12", window=20, step=10, end=20)
    assert_same_timeline(first.timeline, timeline("f(a)=true [4,9)\nf(a)=false [9,..)"))
    assert_same_timeline(second.timeline, timeline("f(a)=true [4,7)"))


def test_an_input_interval_that_begins_right_after_a_query_time_has_its_start_there() -> None:
    rules = "initiatedAt(f(X)=true, T) :- happensAt(start(near(X)=true), T)."
    found = answers(rules, "near(a)=true 11..15", window=10, step=10, end=20)
    assert_same_timeline(found[-1].timeline, timeline("f(a)=true [11,..)"))


def test_a_duration_filter_sees_an_interval_that_began_before_the_window() -> None:
    rules = ON_OFF + "holdsFor(long(X)=true, I) :- holdsFor(f(X)=true, I1), intDurGreater(I1, 12, I)."
    found = answers(rules, "e(a) 3\ng(a) 18", window=10, step=10, end=20)
    assert_same_timeline(found[-1].timeline, timeline("f(a)=true [4,19)\nlong(a)=true [11,19)"))


# --------------------------------------------------------------------------- changes


def test_changes_name_what_is_new_and_what_is_withdrawn() -> None:
    first, second = answers(ON_OFF, "e(a) 3\ng(a) 7@15", window=20, step=10, end=20)
    assert [(c.op, c.start, c.end) for c in first.changes] == [("insert", 4, None)]
    assert [(c.op, c.start, c.end) for c in second.changes] == [("delete", 4, None), ("insert", 4, 8)]


def folded(changes: list[Change]) -> Timeline:
    """The timeline that a stream of changes adds up to."""
    timeline: dict[tuple[str, str], list[Interval]] = {}
    for change in changes:
        intervals = timeline.setdefault((change.fluent, change.value), [])
        if change.op == "insert":
            intervals.append((change.start, change.end))
        else:
            intervals.remove((change.start, change.end))
    return {pair: sorted(intervals, key=lambda i: i[0]) for pair, intervals in timeline.items() if intervals}


@settings(max_examples=40, deadline=None)
@given(scenario=scenarios())
def test_folding_the_changes_gives_the_timeline(scenario: Scenario) -> None:
    found = replay_of(scenario)
    changes = []
    for answer in found:
        changes += answer.changes
        assert_same_timeline(folded(changes), answer.timeline)


# --------------------------------------------------------------------------- independence


def replay_of(scenario: Scenario, rows: tuple[Row, ...] | None = None) -> list[Answer]:
    return replay(
        scenario.program,
        scenario.rows if rows is None else rows,
        window=scenario.window,
        step=scenario.step,
        start=scenario.start,
        end=scenario.end,
    )


@settings(max_examples=60, deadline=None)
@given(scenario=scenarios(Features().without("whole"), TIDY))
def test_without_late_rows_every_window_gives_the_result_without_windows(scenario: Scenario) -> None:
    answer = replay_of(scenario)[-1]
    whole = run(scenario.program, scenario.rows, until=answer.query_time, start=scenario.start)
    assert_same_timeline(whole.timeline(), answer.timeline)
    assert_same_rows(whole.events(), answer.events)
    assert_same_rows(whole.open(), answer.open)


@settings(max_examples=60, deadline=None)
@given(scenario=scenarios())
def test_a_window_that_holds_everything_gives_the_result_without_windows(scenario: Scenario) -> None:
    program, end = scenario.program, scenario.end
    rows = [
        r for r in scenario.rows if r.op > 0 and not any(o.op < 0 and o.fact == r.fact for o in scenario.rows)
    ]
    answer = replay(program, rows, window=1000, step=end, start=0, end=end)[-1]
    whole = run(program, [r for r in rows if r.arrival > 0 and r.arrival <= end], until=end, start=0)
    assert_same_timeline(whole.timeline(), answer.timeline)
    assert_same_rows(whole.events(), answer.events)


@settings(max_examples=30, deadline=None)
@given(scenario=scenarios(), rng=st.randoms(use_true_random=False))
def test_neither_batches_nor_their_order_matter(scenario: Scenario, rng: Random) -> None:
    reference = WindowedReference(
        scenario.program, window=scenario.window, step=scenario.step, start=scenario.start
    )
    for batch in splits(rng, scenario.rows):
        reference.accept(row for row in batch if row.arrival <= scenario.end)
    found = replay_of(scenario)
    assert reference.advance(found[-1].query_time) == found


@settings(max_examples=40, deadline=None)
@given(scenario=scenarios())
def test_nothing_at_or_before_the_window_is_ever_revised(scenario: Scenario) -> None:
    for earlier, later in pairwise(replay_of(scenario)):
        final = later.query_time - scenario.window + 1
        before = {p: c for p, i in earlier.timeline.items() if (c := clip(i, 0, final))}
        after = {p: c for p, i in later.timeline.items() if (c := clip(i, 0, final))}
        assert_same_timeline(before, after, names=("earlier", "later"), context=f"before {final}")


def test_an_instance_is_known_one_point_after_the_first_effect_on_it() -> None:
    rules = """
        initiatedAt(f(X)=low, T) :- happensAt(start(near(X)=true), T).
        initiatedAt(f(X)=high, T) :- happensAt(start(near(X)=true), T).
        holdsFor(idle(X)=true, I) :- holdsFor(f(X)=low, I1), complement_all([I1], I).
        happensAt(rests(X), T) :- happensAt(start(idle(X)=true), T).
    """
    for end in (10, 20):
        found = answers(rules, "near(a)=true 9..", window=10, step=5, end=end)[-1]
        assert_same_timeline(found.timeline, timeline("idle(a)=true [9,..)"))
        assert found.events == {("rests(a)", 8)}
