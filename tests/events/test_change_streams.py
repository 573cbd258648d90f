"""Insertions, late insertions, retractions, re-insertions and duplicates: redoing what changed is redoing everything.

Every kind of program runs over very untidy streams three times: incrementally, recomputing every window, and by the
reference. Snapshots of the first two are exchanged half-way.
"""

from __future__ import annotations

from functools import partial
from random import Random
from unittest.mock import patch

import pytest
from test_against_the_reference import SUBSETS, UNTIDY, drawn, query_times, scenario_of

from thalweg import parse
from thalweg.columns.ragged import Ragged
from thalweg.events.reasoner import Reasoner
from thalweg.reference.windowed import replay
from thalweg.testing.causes import assert_causes
from thalweg.testing.engines import Fold, Result, replay_with, to_batch
from thalweg.testing.fuzz import assert_same_answers
from thalweg.testing.streams import TIDY, Scenario
from thalweg.testing.stress import PROGRAM, stress
from thalweg.testing.tables import stream

Recomputing = partial(Reasoner, recompute=True)


def made(scenario: Scenario, *, recompute: bool) -> Reasoner:
    return Reasoner(
        scenario.program,
        window=scenario.window,
        step=scenario.step,
        start=scenario.start,
        recompute=recompute,
    )


@pytest.mark.parametrize("subset", [*SUBSETS, None], ids=str)
@drawn(12)
def test_after_every_query_both_paths_say_what_the_reference_says(subset: str | None, seed: int) -> None:
    scenario = scenario_of(seed, SUBSETS[subset] if subset else None, UNTIDY)
    run = {"window": scenario.window, "step": scenario.step, "start": scenario.start, "end": scenario.end}
    expected = replay(scenario.program, scenario.rows, **run)
    for make in (Reasoner, Recomputing):
        assert_same_answers(expected, replay_with(make, scenario.program, scenario.rows, **run))


@drawn(20)
def test_points_that_are_noted_are_points_like_others(seed: int) -> None:
    scenario = scenario_of(seed, mess=UNTIDY)
    run = {"window": scenario.window, "step": scenario.step, "start": scenario.start, "end": scenario.end}
    expected = replay(scenario.program, scenario.rows, **run)
    with patch.object(Ragged, "MANY", 0):
        assert_same_answers(expected, replay_with(Reasoner, scenario.program, scenario.rows, **run))


@pytest.mark.parametrize("first", [False, True], ids=["incremental", "recomputing"])
@drawn(15)
def test_a_snapshot_of_one_path_has_the_same_future_on_the_other(first: bool, seed: int) -> None:
    scenario = scenario_of(seed, mess=UNTIDY)
    stop = Random(seed).choice(query_times(scenario))
    one, other = made(scenario, recompute=first), made(scenario, recompute=not first)
    one.accept(to_batch(row for row in scenario.rows if row.arrival <= scenario.end))
    fold, copy = Fold(), Fold()
    revision = one.advance(stop)
    fold.add(stop, revision), copy.add(stop, revision)
    other.restore(one.snapshot())
    for q in query_times(scenario):
        if q > stop:
            assert said(fold, one, q) == said(copy, other, q), f"at {q}, exchanged at {stop}\n{scenario}"


def said(fold: Fold, reasoner: Reasoner, q: int) -> Result:
    return fold.add(q, reasoner.advance(q))


@drawn(15)
def test_one_can_change_the_path_at_any_query(seed: int) -> None:
    scenario = scenario_of(seed, mess=TIDY if seed % 2 else UNTIDY)
    rng = Random(seed)
    steady, changing = made(scenario, recompute=False), made(scenario, recompute=False)
    folds = Fold(), Fold()
    for reasoner in (steady, changing):
        reasoner.accept(to_batch(row for row in scenario.rows if row.arrival <= scenario.end))
    for q in query_times(scenario):
        changing.recompute = rng.random() < 0.5
        assert said(folds[0], steady, q) == said(folds[1], changing, q), f"at {q}\n{scenario}"


def test_thousands_of_change_steps_lose_nothing() -> None:
    found = stress(steps=6000, seed=1, per_query=300)
    assert found.steps >= 6000
    assert found.rejected > 0
    assert found.changes > 0


# --------------------------------------------------------------------------- causes


@pytest.mark.parametrize("subset", [*SUBSETS, None], ids=str)
@drawn(8)
def test_a_cause_is_time_exactly_where_the_change_does_not_need_the_rows_that_revise(
    subset: str | None, seed: int
) -> None:
    assert_causes(Reasoner, scenario_of(seed, SUBSETS[subset] if subset else None, UNTIDY), seed)


ON_OFF = """
initiatedAt(f(X)=true, T) :- happensAt(e(X), T).
terminatedAt(f(X)=true, T) :- happensAt(g(X), T).
holdsFor(h(X)=true, I) :- holdsFor(f(X)=true, I).
"""


def causes(rules: str, rows: str, *, window: int = 20, step: int = 10, end: int = 20) -> dict[tuple, str]:
    """The cause of every change at the last query time."""
    reasoner = Reasoner(parse(rules), window=window, step=step)
    reasoner.accept(to_batch(stream(rows)))
    reasoner.advance(end - step)
    found = reasoner.advance(end)["changes"].to_pylist()
    return {(c["op"], c["fluent"], c["start"], c["end"]): c["cause"] for c in found}


def test_a_change_by_a_late_row_names_it_through_all_layers() -> None:
    assert causes(ON_OFF, "e(a) 3\ng(a) 7@15") == {
        (op, fluent, 4, end): "row 2"
        for fluent in ("f(a)", "h(a)")
        for op, end in (("delete", None), ("insert", 8))
    }


def test_a_change_by_a_retraction_names_the_retraction() -> None:
    found = causes(ON_OFF, "e(a) 3\ne(b) 4\n- e(a) 3@15")
    assert found == {("delete", "f(a)", 4, None): "row 3", ("delete", "h(a)", 4, None): "row 3"}


def test_a_change_by_a_row_in_time_has_the_cause_time() -> None:
    found = causes(ON_OFF, "e(a) 3\ng(b) 2@15\ng(a) 15")
    assert set(found.values()) == {"time"}
    assert ("insert", "f(a)", 4, 16) in found


def test_what_a_late_row_does_not_reach_has_the_cause_time_in_its_own_instance_too() -> None:
    found = causes(ON_OFF, "e(a) 2\ng(a) 4@15\ne(a) 7\ng(a) 14")
    assert found[("delete", "f(a)", 3, None)] == found[("insert", "f(a)", 3, 5)] == "row 2"
    assert found[("insert", "f(a)", 8, 15)] == "row 2"
    found = causes(ON_OFF, "e(a) 2\ng(a) 4\ne(a) 3@15\ne(a) 7\ng(a) 14")
    assert {found[("delete", "f(a)", 8, None)], found[("insert", "f(a)", 8, 15)]} == {"time"}


def test_two_late_rows_that_need_each_other_name_the_later_one() -> None:
    both = "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), happensAt(g(X), T)."
    assert causes(both, "g(a) 3@15\ne(a) 3@16") == {("insert", "f(a)", 4, None): "row 2"}
    assert causes(both, "e(a) 3@15\ng(a) 3@16") == {("insert", "f(a)", 4, None): "row 2"}


def test_a_countdown_that_fires_has_the_cause_time() -> None:
    assert set(causes(ON_OFF + "ft(f(X)=true, 12).", "e(a) 3\ng(b) 2@15").values()) == {"time"}


def test_the_stress_program_is_made_of_all_kinds() -> None:
    for word in ("fi(", "holdsFor(", "intDurGreater", "happensAt(spark", "not holdsAt", "union_all"):
        assert word in PROGRAM


def test_the_cause_in_a_cycle_is_the_last_row_that_had_a_part() -> None:
    program = parse(
        """
        initiatedAt(f(X)=mid, T) :- happensAt(g(X), T).
        initiatedAt(f(X)=high, T) :- happensAt(e(X), T), not holdsAt(f(X)=mid, T).
        terminatedAt(f(X)=mid, T) :- happensAt(k, T), holdsAt(f(X)=high, T).
        """
    )
    rows = stream("g(a) 1@2\n- g(a) 1@10\ne(a) 5@7")
    reasoner = Reasoner(program, window=13, step=5, start=0)
    reasoner.accept(to_batch(rows))
    reasoner.advance(5)
    changes = reasoner.advance(10)["changes"].to_pylist()
    assert [(c["op"], c["value"], c["start"], c["cause"]) for c in changes] == [
        ("delete", "mid", 2, "row 3"),
        ("insert", "high", 6, "row 3"),
    ]
