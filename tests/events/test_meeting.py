"""Instances that effects make known: the same ones, whether the rules are read or the effects themselves."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from test_against_the_reference import UNTIDY, drawn

from thalweg import parse
from thalweg.events.forms import EffectAt
from thalweg.events.outline import outline
from thalweg.events.reasoner import Reasoner
from thalweg.reference.events import Row
from thalweg.testing.fuzz import difference
from thalweg.testing.streams import Scenario, histories

AREAS = "kind(p, port). kind(q, port). kind(q, fishing). kind(s, fishing)."
INSIDE = """
initiatedAt(inside(X, K)=true, T) :- happensAt(enters(X, A), T), kind(A, K).
terminatedAt(inside(X, K)=true, T) :- happensAt(leaves(X, A), T), kind(A, K).
terminatedAt(inside(X, _)=true, T) :- happensAt(silent(X), T).
"""
READ = {
    "facts bind what a rule leaves open": INSIDE,
    "a condition does not hang on who is known": INSIDE
    + r"""
initiatedAt(awake(X)=true, T) :- happensAt(wakes(X), T).
terminatedAt(awake(X)=true, T) :- happensAt(silent(X), T).
initiatedAt(inside(X, K)=late, T) :- happensAt(enters(X, A), T), kind(A, K), \+ holdsAt(awake(X)=true, T).
""",
    "rules read starts and derived events": INSIDE
    + """
initiatedAt(awake(X)=true, T) :- happensAt(wakes(X), T).
happensAt(roused(X, A), T) :- happensAt(start(awake(X)=true), T), kind(A, port).
initiatedAt(inside(X, K)=roused, T) :- happensAt(roused(X, A), T), kind(A, K).
terminatedAt(awake(X)=_, T) :- happensAt(silent(X), T).
""",
    "a fluent that it is initially": INSIDE + "initially(inside(X, K)=perhaps).",
    "some are known from the start": INSIDE + "initially(inside(a, K)=true) :- kind(s, K).",
    "another fluent is made of it": INSIDE
    + """
holdsFor(quiet(X, K)=true, I) :- holdsFor(inside(X, K)=true, I1), complement_all([I1], I).
happensAt(left(X, K), T) :- happensAt(end(inside(X, K)=true), T).
""",
}
WATCHED = {
    "a rule hangs on who is known": INSIDE
    + """
initiatedAt(inside(X, K)=twice, T) :- happensAt(wakes(X), T), holdsAt(inside(X, port)=true, T), kind(s, K).
""",
    "an effect comes later": INSIDE + "fi(inside(X, K)=true, inside(X, K)=long, 4).\n" + "p(inside(X, K)=true).",
    "a start begins it": INSIDE
    + """
initially(awake(X)=true) :- early(X).
early(a).
initiatedAt(awake(X)=true, T) :- happensAt(wakes(X), T).
terminatedAt(awake(X)=true, T) :- happensAt(silent(X), T).
initiatedAt(inside(X, K)=roused, T) :- happensAt(start(awake(X)=true), T), kind(p, K).
initiatedAt(inside(X, K)=lost, T) :- happensAt(wakes(_), T).
""",
    "a fluent above it begins it": INSIDE
    + """
initiatedAt(alone(X)=true, T) :- happensAt(start(inside(X, fishing)=true), T).
initiatedAt(inside(X, K)=alone, T) :- happensAt(wakes(X), T), holdsAt(alone(X)=true, T), kind(s, K).
terminatedAt(alone(X)=true, T) :- happensAt(silent(X), T).
""",
}
EVENTS = {"enters": 2, "leaves": 2, "silent": 1, "wakes": 1}


def scenario(program: str, seed: int) -> Scenario:
    rng = Random(seed)
    rows: list[Row] = []
    for _ in range(rng.randint(3, 25)):
        name, time = rng.choice([*EVENTS]), rng.randint(1, 24)
        args = (rng.choice("ab"), rng.choice("pqsz"))[: EVENTS[name]]
        rows += histories(rng, Row(name=name, args=args, time=time, arrival=time), UNTIDY)
    numbered = tuple(replace(row, number=number) for number, row in enumerate(rows, start=1))
    step = rng.choice((2, 3, 5, 10))
    return Scenario(f"{program}\n{AREAS}", numbered, rng.choice((1, 1, 2, 4)) * step, step, end=30)


def watches(program: str) -> bool:
    """Does a hidden fluent read effects?"""
    points = outline(parse(f"{program}\n{AREAS}")).normal.points
    return any(isinstance(x, EffectAt) for p in points if p.relation.startswith("known ") for x in p.body)


@pytest.mark.parametrize("about", READ)
def test_rules_that_do_not_hang_on_who_is_known_are_read(about: str) -> None:
    assert not watches(READ[about])


@pytest.mark.parametrize("about", WATCHED)
def test_effects_are_watched_where_they_hang_on_who_is_known(about: str) -> None:
    assert watches(WATCHED[about])


@pytest.mark.parametrize("about", [*READ, *WATCHED])
@drawn(10)
def test_the_same_instances_are_known_as_by_definition(about: str, seed: int) -> None:
    given = scenario((READ | WATCHED)[about], seed)
    assert difference(given, Reasoner, batches=seed) == "", given


def test_a_fluent_and_those_of_it_that_are_known_are_evaluated_one_after_the_other() -> None:
    reasoner = Reasoner(parse(INSIDE + AREAS), window=10, step=10)
    assert not any(stage.loop for stage in reasoner._plan.stages)
