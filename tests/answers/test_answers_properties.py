"""Random programs and streams against every possible evolution (Theorem 7) and the completed stream."""

from __future__ import annotations

import os
import random

from answers_random import Rich, arrivals, final, programs, reordered, run, sampled, told_from, universe
from answers_support import facts
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from thalweg import parse
from thalweg.analysis.farthest import FARTHEST
from thalweg.answers.reasoner import Reasoner
from thalweg.reference.answers import Evolutions

SETTINGS = settings(
    max_examples=1500 if os.environ.get("THALWEG_HYPOTHESIS") == "fuzz" else 20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@SETTINGS
@given(programs(), st.data())
def test_rows_are_sound_and_complete_at_every_time_point(text: str, data: st.DataObject) -> None:
    world = universe(text)
    assume(world is not None)
    assert world is not None
    run(world, data.draw(arrivals(world.evolutions.atoms, 0)), 0)


@SETTINGS
@given(programs(), st.integers(1, 2), st.data())
def test_late_and_retracted_rows_revise_the_answers(text: str, lateness: int, data: st.DataObject) -> None:
    world = universe(text)
    assume(world is not None)
    assert world is not None
    run(world, data.draw(arrivals(world.evolutions.atoms, lateness)), lateness)


@SETTINGS
@given(st.integers(0, 1 << 30), st.integers(0, 2))
def test_joins_constants_background_and_tests_are_sound_and_complete(seed: int, lateness: int) -> None:
    made = sampled(Rich(seed), lateness, random.Random(seed))
    assume(made is not None)
    assert made is not None
    run(*made, lateness)


@SETTINGS
@given(st.integers(0, 1 << 30), st.integers(1, 2))
def test_any_order_of_arrival_ends_in_the_same_answers(seed: int, lateness: int) -> None:
    """Also in any stride of the clock, and with a stop after every stride."""
    rng = random.Random(seed)
    made = sampled(Rich(seed), lateness, rng)
    assume(made is not None)
    assert made is not None
    world, stream = made
    one = final(world, stream, lateness, rng.choice((1, 2, 9)))
    assert final(world, reordered(stream, lateness, rng), lateness, rng.choice((1, 3, 9))) == one


MONOTONE = (
    "query p(X, T). p(X, T) :- e(X, T), e(X, T+1).",
    "query p(X, T). p(X, T) :- e(X, T+1), f(X, T). p(X, T-1) :- f(X, T+1).",
    "query p(X, T). q(X, T+1) :- e(X, T), f(X, T). p(X, T) :- q(X, T), e(X, T+2). p(X, T) :- f(X, T-1), e(X, T).",
)


@SETTINGS
@given(st.sampled_from(MONOTONE), st.data())
def test_without_negation_the_open_answers_are_the_supported_answers(text: str, data: st.DataObject) -> None:
    """Definition 6 itself: the same hypotheses for the same substitution, where some are left; certain otherwise."""
    program = parse(text)
    world = Evolutions(program, ["a"], 3)
    stream = data.draw(st.sets(st.sampled_from(world.atoms)))
    reasoner = Reasoner(program)
    for now in range(2):
        reasoner.accept(facts(*((f.name, *f.args, f.time) for f in stream if f.time == now)))
        standing = {(r["answer"], frozenset(r["needed"])) for r in reasoner.advance(now)["open"].to_pylist()}
        expected = set()
        for goal in world.goals(reasoner.plan.queries[0].goal):
            history = [f for f in stream if f.time <= now]
            hypotheses = {h for h, _ in world.supported(goal, history, now)}
            if goal.time <= 1 and hypotheses and frozenset() not in hypotheses:
                expected |= {(str(goal), frozenset(map(str, h))) for h in hypotheses}
        assert {s for s in standing if int(s[0].rstrip(")").split(", ")[1]) <= 1} == expected


@SETTINGS
@given(st.integers(0, 1 << 30), st.integers(0, 2), st.sampled_from([-9, 1000, 17 * 10**8, 17 * 10**17 + 1, -FARTHEST]))
def test_where_time_begins_makes_no_difference(seed: int, lateness: int, start: int) -> None:
    one = told_from(Rich(seed), 0, lateness, random.Random(seed))
    assume(one is not None)
    assert told_from(Rich(seed), start, lateness, random.Random(seed)) == one
