"""The brute-force rendering of inertia agrees with the stepping reference."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from thalweg import parse
from thalweg.reference.broken_between import BrokenBetween, CircularQuestion, OutOfScope
from thalweg.reference.events import run
from thalweg.testing.comparison import assert_same_timeline
from thalweg.testing.programs import Features
from thalweg.testing.streams import TIDY, Scenario, scenarios
from thalweg.testing.tables import stream, timeline

CYCLIC_AND_DELAYED = Features.only(
    "negation",
    "joins",
    "multivalued",
    "background",
    "arithmetic",
    "cycles",
    "delays",
    "initially",
    "findall",
    fluents=3,
    delay=4,
)


@settings(max_examples=40, deadline=None)
@given(scenario=scenarios(CYCLIC_AND_DELAYED, TIDY, size=12, times=9))
def test_asking_every_question_and_stepping_through_time_give_one_result(scenario: Scenario) -> None:
    try:
        asked = BrokenBetween(scenario.program, scenario.rows, start=0).timeline(11)
    except (OutOfScope, CircularQuestion):
        assume(False)
    stepped = run(scenario.program, scenario.rows, until=11, start=0).timeline()
    assert_same_timeline(asked, stepped, names=("asked", "stepped"))


def test_the_published_narrative_of_a_vote_is_answered_by_questions() -> None:
    rules = """
        initially(status(m)=proposed).
        initiatedAt(status(M)=proposed, T) :- happensAt(propose(P, M), T), holdsAt(status(M)=null, T).
        initiatedAt(status(M)=voting, T) :- happensAt(second(S, M), T), holdsAt(status(M)=proposed, T).
        initiatedAt(status(M)=voted, T) :- happensAt(close_ballot(C, M), T), holdsAt(status(M)=voting, T).
        initiatedAt(status(M)=null, T) :- happensAt(declare(C, M, R), T), holdsAt(status(M)=voted, T).
    """
    rows = stream("second(s,m) 1\nclose_ballot(c,m) 2\ndeclare(c,m,not_carried) 3\npropose(p,m) 4 5")
    expected = timeline("""
        status(m)=proposed   [0,2) [5,..)
        status(m)=voting     [2,3)
        status(m)=voted      [3,4)
        status(m)=null       [4,5)
    """)
    assert_same_timeline(BrokenBetween(parse(rules), rows, start=0).timeline(7), expected)


def test_the_worked_example_of_delayed_effects_is_answered_by_questions() -> None:
    rules = """
        initiatedAt(f(X)=true, T) :- happensAt(e(X), T).
        terminatedAt(f(X)=true, T) :- happensAt(g(X), T).
        fi(f(X)=true, f(X)=false, 5).
    """
    expected = timeline("""
        f(a)=true    [3,8) [12,14) [15,20) [31,36) [39,44)
        f(a)=false   [8,12) [20,31) [36,39) [44,..)
    """)
    rows = stream("e(a) 2 4 11 14 18 30 38\ng(a) 13 35")
    assert_same_timeline(BrokenBetween(parse(rules), rows, start=0).timeline(50), expected)


def test_what_is_not_covered_is_refused() -> None:
    with pytest.raises(OutOfScope):
        BrokenBetween(parse("happensAt(d(X), T) :- happensAt(e(X), T)."), [], start=0)
    with pytest.raises(OutOfScope):
        BrokenBetween(
            parse("initiatedAt(f=true, T) :- happensAt(e, T)."), stream("near(a)=true 3..8"), start=0
        )
