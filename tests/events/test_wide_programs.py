"""Programs that say things in many ways: the reasoner is what the reference says, and what is said in another way means
the same.

Reasoner and reference share the reader of programs. So the second half of these tests does without the reference: it
writes a program differently, or says a thing by what it means, and asks the reasoner twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from thalweg import parse
from thalweg.analysis.checker import check
from thalweg.analysis.farthest import farthest
from thalweg.events.reasoner import Reasoner
from thalweg.language.diagnostics import Severity
from thalweg.language.printer import to_text
from thalweg.language.program import Program
from thalweg.reference.snapshot import SameTimeCycle
from thalweg.testing.comparison import assert_same_rows, assert_same_timeline
from thalweg.testing.engines import Fold, Result, replay_with, to_batch
from thalweg.testing.fuzz import difference
from thalweg.testing.shrink import shrunk
from thalweg.testing.streams import Scenario
from thalweg.testing.tables import stream
from thalweg.testing.wide import wide_scenario


def drawn(percent: int) -> Callable[[Any], Any]:
    """So many scenarios, as a share of what the profile draws."""
    count = max(1, settings.default.max_examples * percent // 100)  # type: ignore[union-attr]
    with_seed = given(seed=st.integers(0, 2**40))
    limits = settings(max_examples=count, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    return lambda test: limits(with_seed(test))


def scenario_of(seed: int) -> Scenario:
    return wide_scenario(Random(seed), size=25, times=24)


def results(scenario: Scenario, program: Program | None = None, *, recompute: bool = False) -> list[Result]:
    make = partial(Reasoner, recompute=recompute)
    return replay_with(make, program or scenario.program, scenario.rows, **scenario.settings)


def assert_same_results(one: list[Result], other: list[Result], scenario: Scenario) -> None:
    for mine, yours in zip(one, other, strict=True):
        context = f"at {mine.query_time}\n{scenario}"
        assert_same_timeline(mine.timeline, yours.timeline, context=context)
        assert_same_rows(mine.events, yours.events, context=context)
        assert_same_rows(mine.open, yours.open, context=context)
        assert_same_rows(mine.rejected, yours.rejected, context=context)


def kind_of(scenario: Scenario) -> str:
    """The kind of difference; empty for none and for programs that are refused."""
    if any(diagnostic.severity is Severity.ERROR for diagnostic in check(scenario.program)):
        return ""
    return difference(scenario, Reasoner).partition(":")[0]


@drawn(10)
def test_where_time_begins_makes_no_difference(seed: int) -> None:
    """In nanoseconds since 1970, or as far as numbers are exact where the rules compute with times."""
    scenario = scenario_of(seed)
    by = min(17 * 10**17, farthest(scenario.program) - 1000) // scenario.tick * scenario.tick
    rows = [
        replace(r, time=r.time + by, arrival=r.arrival + by, end=None if r.end is None else r.end + by)
        for r in scenario.rows
    ]
    moved = replace(scenario, rows=tuple(rows), start=scenario.start + by, end=scenario.end + by)
    try:
        assert not difference(moved, Reasoner, seed)
    except SameTimeCycle:
        assume(False)


@drawn(25)
def test_a_wide_program_agrees_at_every_query_time(seed: int) -> None:
    scenario = scenario_of(seed)
    try:
        found = difference(scenario, Reasoner, seed)
    except SameTimeCycle:
        assume(False)
    if found:
        kind = found.partition(":")[0]
        small = shrunk(scenario, lambda s: kind_of(s) == kind)
        pytest.fail(f"{difference(small, Reasoner) or found}\n\n{small}")


# --------------------------------------------------------------------------- the same in other words


@drawn(8)
def test_a_program_that_was_printed_gives_the_same_results(seed: int) -> None:
    scenario = scenario_of(seed)
    printed = parse(to_text(scenario.program))
    assert printed.statements == scenario.program.statements
    assert_same_results(results(scenario), results(scenario, printed), scenario)


@drawn(8)
def test_the_order_of_rules_plays_no_part(seed: int) -> None:
    scenario = scenario_of(seed)
    lines = scenario.text.splitlines()
    Random(seed).shuffle(lines)
    assert_same_results(results(scenario), results(scenario, parse("\n".join(lines))), scenario)


@drawn(8)
def test_every_window_from_scratch_gives_the_same_results(seed: int) -> None:
    scenario = scenario_of(seed)
    assert_same_results(results(scenario), results(scenario, recompute=True), scenario)


@drawn(8)
def test_rows_as_they_arrive_and_a_restored_reasoner_now_and_then_give_the_same_results(seed: int) -> None:
    scenario, rng = scenario_of(seed), Random(seed)
    expected, fold, found = results(scenario), Fold(), list[Result]()
    how = {name: value for name, value in scenario.settings.items() if name != "end"}
    reasoner = Reasoner(scenario.program, **how)
    waiting = [row for row in scenario.rows if row.arrival <= scenario.end]
    for answer in expected:
        q = answer.query_time
        reasoner.accept(to_batch(row for row in waiting if row.arrival <= q))
        waiting = [row for row in waiting if row.arrival > q]
        if rng.randrange(2):
            state = reasoner.snapshot()
            reasoner = Reasoner(scenario.program, **how)
            reasoner.restore(state)
        found.append(fold.add(q, reasoner.advance(q)))
    assert_same_results(expected, found, scenario)


COMMON = """
good(a). good(7). linked(a, b). linked(b, 7). linked(7, 7).
initiatedAt(near(X, Y)=true, T) :- happensAt(meet(X, Y), T).
terminatedAt(near(X, Y)=true, T) :- happensAt(part(X, Y), T).
initiatedAt(speed(X)=N, T) :- happensAt(v(X, N), T).
"""
ROWS = """
e(a) 2
e(b) 3
e(7) 4
meet(a,b) 3
meet(b,7) 5
v(a,3) 4
v(b,4.5) 6
v(7,-2) 6
e(a) 7
e(b) 7
part(a,b) 9
e(a) 11
e(7) 12
v(a,8) 13
e(b) 15
meet(7,a) 16
meet(b,b) 17
e(b) 18
"""
SAME = {
    "nobody, and none of all": (
        "f(X) :- happensAt(e(X), T), \\+ holdsAt(near(X, _)=true, T).",
        "f(X) :- happensAt(e(X), T), "
        "\\+ (holdsAt(near(X, a)=true, T) ; holdsAt(near(X, b)=true, T) ; holdsAt(near(X, 7)=true, T)).",
    ),
    "a disjunction, and two rules": (
        "f(X) :- happensAt(e(X), T), (holdsAt(near(X, Y)=true, T), good(Y) ; linked(X, X)).",
        "f(X) :- happensAt(e(X), T), holdsAt(near(X, Y)=true, T), good(Y). f(X) :- happensAt(e(X), T), linked(X, X).",
    ),
    "a negated conjunction, and a disjunction of negations": (
        "f(X) :- happensAt(e(X), T), \\+ (good(X), linked(X, b)).",
        "f(X) :- happensAt(e(X), T), (\\+ good(X) ; \\+ linked(X, b)).",
    ),
    "not not": ("f(X) :- happensAt(e(X), T), \\+ \\+ good(X).", "f(X) :- happensAt(e(X), T), good(X)."),
    "a background rule, and its facts": (
        "f(X) :- happensAt(e(X), T), friend(X, Y), holdsAt(near(Y, _)=true, T). "
        "friend(X, Y) :- linked(X, Y) ; linked(Y, X).",
        "f(X) :- happensAt(e(X), T), friend(X, Y), holdsAt(near(Y, _)=true, T). "
        "friend(a, b). friend(b, a). friend(b, 7). friend(7, b). friend(7, 7).",
    ),
    "a negated background rule, and its facts": (
        "f(X) :- happensAt(e(X), T), \\+ hub(X). hub(X) :- linked(X, Y), linked(Y, Z), Z \\= X.",
        "f(X) :- happensAt(e(X), T), \\+ hub(X). hub(a). hub(b).",
    ),
    "a computation in a rule, and in place": (
        "f(X) :- happensAt(e(X), T), holdsAt(speed(X)=N, T), fast(N). fast(N) :- M is abs(N - 1) * 2, M >= 6.",
        "f(X) :- happensAt(e(X), T), holdsAt(speed(X)=N, T), (N >= 4 ; N =< -2).",
    ),
    "members of a list, and equations": (
        "f(X) :- happensAt(e(X), T), member(X, [b, 7]).",
        "f(X) :- happensAt(e(X), T), (X = b ; X = 7).",
    ),
    "nothing is found, and nothing is there": (
        "f(X) :- happensAt(e(X), T), findall(Y, holdsAt(near(X, Y)=true, T), []).",
        "f(X) :- happensAt(e(X), T), \\+ holdsAt(near(X, _)=true, T).",
    ),
    "at least one, and one": (
        "f(X) :- happensAt(e(X), T), findall(Y, holdsAt(near(X, Y)=true, T), L), length(L, N), N >= 1.",
        "f(X) :- happensAt(e(X), T), holdsAt(near(X, _)=true, T).",
    ),
    "one event of a name, and the same variable twice": (
        "f(X) :- happensAt(meet(X, Y), T), X = Y.",
        "f(X) :- happensAt(meet(X, X), T).",
    ),
    "the order of conditions": (
        "f(X) :- N > 2, \\+ good(Y), holdsAt(near(X, Y)=true, T), holdsAt(speed(X)=N, T), happensAt(e(X), T).",
        "f(X) :- happensAt(e(X), T), holdsAt(speed(X)=N, T), N > 2, holdsAt(near(X, Y)=true, T), \\+ good(Y).",
    ),
}
"""Two ways to say when `f(X)` begins."""


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize(("window", "step"), [(5, 5), (9, 2)])
def test_a_condition_means_what_it_stands_for(name: str, window: int, step: int) -> None:
    found = []
    for text in SAME[name]:
        rules = text.replace("f(X) :-", "initiatedAt(f(X)=true, T) :-")
        program = parse(f"{COMMON}\n{rules}\nft(f(X)=true, 3).")
        found.append(replay_with(Reasoner, program, stream(ROWS), window=window, step=step, start=0, end=20))
    assert [r.timeline for r in found[0]] == [r.timeline for r in found[1]]
    assert any(fluent.startswith("f(") for fluent, _ in found[0][-1].timeline)


EXPRESSIONS = {
    "a union of one after the other": (
        "union_all([A, B], D), union_all([D, C], I)",
        "union_all([A, B, C], I)",
    ),
    "an intersection in another order": (
        "intersect_all([C, A], D), intersect_all([B, D], I)",
        "intersect_all([A, B, C], I)",
    ),
    "a difference, and an intersection with what is not": (
        "relative_complement_all(A, [B, C], I)",
        "complement_all([B, C], D), intersect_all([A, D], I)",
    ),
    "not one of them, and none of each": (
        "complement_all([A, B], I)",
        "complement_all([A], D), complement_all([B], E), intersect_all([D, E], I)",
    ),
    "short or long": (
        "union_all([A], I)",
        "intDurLess(A, 4, D), intDurAtLeast(A, 4, E), union_all([D, E], I)",
    ),
    "equal to itself": ("intersect_all([A], I)", "allen(equal, A, A, source, I)"),
}
"""Two ways to say when `g(X)` holds."""


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize(("window", "step"), [(5, 5), (9, 2)])
def test_an_expression_means_what_it_stands_for(name: str, window: int, step: int) -> None:
    leaves = "holdsFor(near(X, b)=true, A), holdsFor(near(b, X)=true, B), holdsFor(speed(X)=3, C)"
    found = []
    for text in EXPRESSIONS[name]:
        program = parse(f"{COMMON}\nholdsFor(g(X)=true, I) :- {leaves}, {text}.")
        found.append(replay_with(Reasoner, program, stream(ROWS), window=window, step=step, start=0, end=20))
    assert [r.timeline for r in found[0]] == [r.timeline for r in found[1]]


@drawn(8)
def test_a_copy_of_a_fluent_is_the_fluent(seed: int) -> None:
    scenario = scenario_of(seed)
    names = [f"f{rank}" for rank in range(4) if f"f{rank}(" in scenario.text]
    assume(bool(names))
    name = Random(seed).choice(names)
    heads = [line for line in scenario.text.splitlines() if f"At({name}(" in line or f"For({name}(" in line]
    sizes = {heads[0].partition(f"{name}(")[2].partition(")")[0].count(",") + 1} if heads else set()
    assume(len(sizes) == 1)
    arguments = ", ".join(f"C{i}" for i in range(sizes.pop()))
    copy = f"holdsFor(copy({arguments})=V, I) :- holdsFor({name}({arguments})=V, I).\n"
    assume("grounding(" not in scenario.text)
    for answer in results(scenario, parse(scenario.text + copy)):
        own = {pair: told for pair, told in answer.timeline.items() if pair[0].startswith(f"{name}(")}
        copied = {
            (pair[0].replace("copy(", f"{name}("), pair[1]): told
            for pair, told in answer.timeline.items()
            if pair[0].startswith("copy(")
        }
        assert_same_timeline(own, copied, context=f"at {answer.query_time}\n{scenario}")
