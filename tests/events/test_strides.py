"""Several query times in one go: each says what it says by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from test_against_the_reference import SUBSETS, drawn, made, query_times, scenario_of

from thalweg import parse
from thalweg.events import strides
from thalweg.events.reasoner import Reasoner
from thalweg.protocol import Revision
from thalweg.reference.events import Row
from thalweg.testing.engines import to_batch
from thalweg.testing.programs import Features
from thalweg.testing.streams import TIDY, Mess, Scenario

SUBSETS = SUBSETS | {
    "durations": Features.only("determined", "whole", "negation", "joins"),
    "durations of many": Features.only("determined", "whole", "negation", "joins", "multivalued", "background"),
}
NEARLY_TIDY = Mess(late=4, duplicate=10, retract=3, early=1)
Table = list[tuple[Any, ...]]


def rows(table: str, revisions: Iterable[Revision]) -> Table:
    """All rows of a table, by query time."""
    found = [tuple(row.values()) for revision in revisions for row in revision[table].to_pylist()]
    return sorted(found, key=repr)


def assert_same(one_by_one: list[Revision], together: list[Revision], about: object) -> None:
    for table in ("changes", "events", "rejected"):
        assert rows(table, together) == rows(table, one_by_one), f"{table}\n{about}"
    assert rows("open", together[-1:]) == rows("open", one_by_one[-1:]), about


def assert_strides_agree(scenario: Scenario, rng: Random) -> None:
    one, other = made(scenario), made(scenario)
    for reasoner in (one, other):
        reasoner.accept(to_batch(row for row in scenario.rows if row.arrival <= scenario.end))
    queries = list(query_times(scenario))
    stops = sorted({*rng.sample(queries, min(len(queries), rng.choice((0, 0, 1, 3)))), queries[-1]})
    together = []
    with patch.object(strides, "ROWS", rng.choice((2, 5, strides.ROWS))):
        for query in stops:
            together.append(other.advance(query))
            if rng.randrange(2):
                state, other = other.snapshot(), made(scenario)
                other.restore(state)
    assert_same([one.advance(q) for q in queries], together, scenario)


def small_steps(scenario: Scenario, rng: Random) -> Scenario:
    """With many query times, perhaps between ticks, and windows that overlap or do not."""
    tick = rng.choice((1, 1, 1, 2, 5))
    step = rng.choice((1, 2, 3, 4, 7))
    moved = tuple(
        replace(row, time=tick * row.time, arrival=tick * row.arrival, end=row.end and tick * row.end)
        for row in scenario.rows
    )
    window = step * rng.choice((1, 1, 2, 3)) + rng.choice((0, 0, 1))
    return replace(scenario, rows=moved, window=window, step=step, end=tick * scenario.end, tick=tick, start=0)


@pytest.mark.parametrize("subset", [*SUBSETS, None], ids=str)
@drawn(15)
def test_what_is_said_at_several_query_times_in_one_go_is_what_each_says(subset: str | None, seed: int) -> None:
    rng = Random(seed)
    features = SUBSETS[subset] if subset else None
    if features is not None and rng.randrange(2):
        features = features.without("input_fluents")
    mess = rng.choice((TIDY, TIDY, NEARLY_TIDY, Mess()))
    assert_strides_agree(small_steps(scenario_of(seed, features, mess), rng), rng)


LAYERS = """
initiatedAt(a(X)=true, T) :- happensAt(a_on(X), T).
terminatedAt(a(X)=true, T) :- happensAt(a_off(X), T).
initiatedAt(b(X)=true, T) :- happensAt(b_on(X), T).
terminatedAt(b(X)=true, T) :- happensAt(b_off(X), T).
holdsFor(long(X)=true, I) :- holdsFor(a(X)=true, I1), intDurAtLeast(I1, 3, I).
holdsFor(longer(X)=true, I) :- holdsFor(a(X)=true, I1), intDurGreater(I1, 5, I).
holdsFor(either(X)=true, I) :- holdsFor(long(X)=true, I1), holdsFor(b(X)=true, I2), union_all([I1, I2], I).
holdsFor(between(X)=true, I) :-
    holdsFor(long(X)=true, I1), holdsFor(longer(X)=true, I2), relative_complement_all(I1, [I2], I).
holdsFor(both(X)=true, I) :-
    holdsFor(either(X)=true, I1), holdsFor(between(X)=true, I2), holdsFor(b(X)=true, I3),
    union_all([I2, I3], I4), intersect_all([I1, I4], I).
holdsFor(neither(X)=true, I) :-
    holdsFor(b(X)=true, I1), holdsFor(long(X)=true, I2), relative_complement_all(I1, [I2], I3), intDurGreater(I3, 2, I).
holdsFor(alone(X)=true, I) :-
    holdsFor(b(X)=true, I1), holdsFor(long(X)=true, I2), relative_complement_all(I1, [I2], I).
holdsFor(at_last(X)=true, I) :- holdsFor(either(X)=true, I1), intDurGreater(I1, 6, I).
holdsFor(any(X)=true, I) :- holdsFor(a(X)=true, I1), intDurGreater(I1, 2, I).
holdsFor(any(X)=true, I) :-
    holdsFor(b(X)=true, I1), holdsFor(near(X)=true, I2), intersect_all([I1, I2], I3), intDurGreater(I3, 3, I).
holdsFor(somebody=true, I) :- holdsFor(b(X)=true, I1), intDurGreater(I1, 4, I).
holdsFor(nested(X)=true, I) :-
    holdsFor(a(X)=true, I1), intDurAtLeast(I1, 4, I2), holdsFor(near(X)=true, I3), union_all([I2, I3], I4),
    holdsFor(b(X)=true, I5), relative_complement_all(I4, [I5], I).
holdsFor(away(X)=true, I) :- holdsFor(b(X)=true, I1), holdsFor(near(X)=true, I2), relative_complement_all(I1, [I2], I).
initiatedAt(heard(X)=true, T) :- happensAt(ask(X), T), holdsAt(either(X)=true, T).
terminatedAt(heard(X)=true, T) :- happensAt(ask(X), T), \\+ holdsAt(at_last(X)=true, T).
"""


def switched(rng: Random, times: int) -> tuple[Row, ...]:
    """Events and intervals of two individuals at random times."""
    names = ("a_on", "a_off", "b_on", "b_off", "ask")
    drawn = {(rng.randint(1, times), rng.choice(names), rng.choice("xy")) for _ in range(times)}
    events = [Row(name=name, args=(who,), time=time, arrival=time) for time, name, who in sorted(drawn)]
    near = [
        replace(row, name="near", shape="interval", value="true", end=row.time + rng.choice((1, 1, 2, 5)))
        for row in rng.sample(events, times // 4)
    ]
    return tuple(replace(row, number=number) for number, row in enumerate(events + near, start=1))


POINTWISE = """
initiatedAt(b(X)=true, T) :- happensAt(b_on(X), T).
terminatedAt(b(X)=true, T) :- happensAt(b_off(X), T).
initiatedAt(heard(X)=Who, T) :- happensAt(ask(X), T), holdsAt(near(Who)=true, T).
holdsFor(either(X)=true, I) :- holdsFor(near(X)=true, I1), holdsFor(b(X)=true, I2), union_all([I1, I2], I).
holdsFor(away(X)=true, I) :- holdsFor(b(X)=true, I1), holdsFor(near(X)=true, I2), relative_complement_all(I1, [I2], I).
holdsFor(alone(X)=true, I) :-
    holdsFor(either(X)=true, I1), holdsFor(away(X)=true, I2), relative_complement_all(I1, [I2], I).
holdsFor(somebody=true, I) :- holdsFor(alone(X)=true, I).
"""


@drawn(40)
def test_a_query_time_does_not_know_of_input_right_after_it(seed: int) -> None:
    rng = Random(seed)
    times = rng.choice((12, 30))
    scenario = small_steps(Scenario(POINTWISE, switched(rng, times), window=1, step=1, end=times + 8), rng)
    assert made(scenario)._strides
    assert_strides_agree(scenario, rng)


@drawn(80)
def test_what_a_query_time_does_not_know_to_be_long_yet_it_does_not_tell(seed: int) -> None:
    rng = Random(seed)
    times = rng.choice((12, 30))
    scenario = Scenario(LAYERS, switched(rng, times), window=1, step=1, end=times + 8)
    scenario = small_steps(scenario, rng)
    scenario = replace(scenario, window=scenario.step)
    assert made(scenario)._strides
    assert_strides_agree(scenario, rng)


def test_query_times_are_counted_until_a_row_that_is_late() -> None:
    program = parse("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).")
    reasoner = Reasoner(program, window=20, step=10)
    rows = [(5, 5), (15, 15), (33, 33), (48, 52), (61, 61), (75, 75)]
    reasoner.accept(to_batch(Row(name="press", args=("x",), time=time, arrival=at) for time, at in rows))
    assert reasoner.advance(10).tables["changes"].num_rows == 1
    admission = reasoner._admission
    assert admission.together(10, 9, 100) == 4  # 20 to 50; at 60 the row of 48 is late
    assert admission.together(10, 9, 1) == 2  # 20 and 30: the row of 33 would be the second
    assert admission.together(10, 3, 100) == 3
    reasoner.advance(60)
    assert admission.together(60, 9, 100) == 9
