"""P_Q, bounds and refusals: what is known about a program before the stream begins."""

from __future__ import annotations

import itertools
import random
import re

import pytest
from answers_random import Rich
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import ProgramError, parse
from thalweg.analysis.checker import check as check_all
from thalweg.answers.datalog import read
from thalweg.answers.describe import describe
from thalweg.answers.offline import check, plan
from thalweg.answers.stratify import ANY_TIME, Dependency, dependencies, negative_walk
from thalweg.language.diagnostics import CODES, has_errors


def templates(text: str) -> list[str]:
    return [str(t) for t in plan(parse(text)).queries[0].templates]


def codes(text: str) -> list[str]:
    return [d.code for d in check(parse(text))]


# --------------------------------------------------------------------------- P_Q


def test_every_use_of_a_predicate_has_variables_of_its_own() -> None:
    text = "query p(X, T). hot(X, T) :- temp(X, D, T), D > 80. p(X, T) :- hot(X, T), hot(X, T+1)."
    assert templates(text) == ["{temp(X, D, T), temp(X, D1, T+1), D > 80, D1 > 80}"]


def test_a_premise_that_another_one_implies_is_dropped() -> None:
    assert templates("query p(X, T). p(X, T) :- q(X, T), r(X, Y, T), r(X, a, T).") == [
        "{q(X, T), r(X, a, T)}"
    ]


def test_a_rule_that_asks_for_more_than_another_is_dropped() -> None:
    assert templates("query p(X, T). p(X, T) :- q(X, T), r(X, T). p(Y, T) :- q(Y, T).") == ["{q(X, T)}"]


def test_a_recursion_that_only_renames_ends() -> None:
    text = "query p(X, Y, T). p(X, Y, T) :- p(Y, X, T). p(X, Y, T) :- e(X, Y, T)."
    assert templates(text) == ["{e(X, Y, T)}", "{e(Y, X, T)}"]


def test_a_recursion_without_a_beginning_gives_nothing() -> None:
    assert templates("query p(X, T). p(X, T+1) :- p(X, T), q(X, T).") == []


def test_a_premise_and_its_negation_exclude_each_other() -> None:
    assert templates("query p(X, T). p(X, T) :- q(X, T), not q(X, T).") == []


def test_a_negation_of_what_no_rule_can_derive_is_dropped() -> None:
    text = "query p(X, T). p(X, T) :- q(X, T), not r(X, T). r(X, T+1) :- r(X, T)."
    assert templates(text) == ["{q(X, T)}"]


def test_equations_are_solved_before_the_stream() -> None:
    text = "query p(X, T). p(X, T) :- q(X, Y, T), Y = a, S = T + 2, r(X, S), N is 3 * 4, s(N, T)."
    assert templates(text) == ["{q(X, a, T), r(X, T+2), s(12, T)}"]


def test_background_with_one_way_to_hold_is_joined_before_the_stream() -> None:
    text = "query p(X, T). p(X, T) :- q(X, V, T), limit(L), V > L. limit(30)."
    assert templates(text) == ["{q(X, V, T), V > 30}"]


def test_rules_over_background_are_evaluated_before_the_stream() -> None:
    text = """
    query p(X, T). p(X, T) :- q(X, T), reach(X, c).
    reach(X, Y) :- road(X, Y). reach(X, Y) :- road(X, Z), reach(Z, Y).
    road(a, b). road(b, c). road(d, e).
    """
    made = plan(parse(text))
    rows = {tuple(str(t.name) for t in row) for row in made.background["reach", 2]}  # type: ignore[union-attr]
    assert rows == {("a", "b"), ("b", "c"), ("a", "c"), ("d", "e")}


def test_alternatives_in_a_body_are_alternative_templates() -> None:
    text = "query p(X, T). p(X, T) :- q(X, T), (r(X, T+1) ; s(X, T-1), not r(X, T))."
    assert templates(text) == ["{q(X, T), r(X, T+1)}", "{q(X, T), s(X, T-1), not r(X, T)}"]


def test_facts_of_the_program_about_input_need_no_input() -> None:
    text = "query p(X, T). p(X, T) :- q(X, T), r(X, T). q(a, T)."
    assert set(templates(text)) == {"{q(X, T), r(X, T)}", "{r(a, T)}"}


# --------------------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    ("text", "delay", "horizon"),
    [
        ("query p(X, T). p(X, T) :- q(X, T).", 0, 0),
        ("query p(X, T). p(X, T) :- q(X, T-3), r(X, T+2).", 2, 5),
        ("query p(X, T). p(X, T-2) :- q(X, T).", 2, 0),
        ("query p(X, T). p(X, T) :- q(X, T), not r(X, T+1). r(X, T) :- s(X, T+4).", 5, 5),
        ("query p(X, T). p(X, T) :- q(X, T), not p(X, T-1).", 0, 1),
    ],
)
def test_delay_and_horizon_follow_from_the_templates(text: str, delay: int, horizon: int) -> None:
    query = plan(parse(text)).queries[0]
    assert (query.delay, query.horizon) == (delay, horizon)


def test_the_plan_is_shown_readably() -> None:
    text = "query r(X, T). r(a, T) :- p(X, T). r(X, T) :- p(X, T+1), not q(X, T). q(c, T)."
    assert describe(parse(text)).splitlines() == [
        "Open answers",
        "  r(X, T): decided by T+1, input kept for 1 time-point",
        "    if p(X1, T) with X = a",
        "    if p(X, T+1), not q(X, T)",
        "  q(X, T), to decide its negation: decided by T, input kept for 0 time-points",
        "    if q(X, T)",
        "    always with X = c",
    ]


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("query s(X, T). s(X, T+1) :- s(X, T). s(X, T) :- r(X, T).", "TW309"),
        ("query s(X, T). s(X, T) :- s(X, T+1). s(X, T) :- r(X, T).", "TW309"),
        ("query p(X, Y, T). p(X, Y, T) :- e(X, Y, T). p(X, Y, T) :- e(X, Z, T), p(Z, Y, T).", "TW309"),
        ("query p(T). p(T) :- q(T), not p(T).", "TW305"),
        ("query p(T). p(T) :- q(T), not p(T+1).", "TW305"),
        ("query p(T). p(T) :- q(T), not r(T+2). r(T) :- p(T-2).", "TW305"),
        ("query p(T). p(T) :- q(T), not d. d :- p(T1).", "TW305"),
        ("query p(X, T). p(X, T) :- q(X, T), V > 3.", "TW306"),
        ("query p(X, Y, T). p(X, Y, T) :- not q(X, T), not r(Y, T).", "TW306"),
        ("query p(X, T). p(X, T) :- q(X, T1).", "TW306"),
        ("query p(X, Y, T). p(X, Y, T) :- not q(X, Y, T). q(Z, Z, T) :- not e(Z, T).", "TW306"),
        ("query p(X, T). p(X, T) :- q(X, T), far(X). far(X) :- X > 3.", "TW306"),
        ("query p(X, T). p(X, T) :- q(X, T), far(X). far(X) :- n(Y), X is Z + Y. n(1).", "TW306"),
        ("query p(X, T). p(X, T) :- q(X, T), far(X, Y). far(X, Y) :- n(X), not m(Y). n(a). m(b).", "TW306"),
        ("query p(X, T). p(X, T) :- q(X, T), r(X, Y). r(X, Y).", "TW306"),
        ("query p(X, T). p(X, T) :- q(X, T), s(X, T). s(X, 3).", "TW306"),
        ("query p(X, T). p(X, T) :- q(X, T), not d(X). d(X) :- e(X, T1).", "TW307"),
        ("query p(X, T). p(X, T) :- q(X, T), X @< b.", "TW311"),
        ("query p(X, T). p(X, T) :- q(X, T), not (r(X, T), s(X, T)).", "TW302"),
        ("query p(X, T). p(X, T) :- q(f(X), T).", "TW303"),
        ("query p(X, T). p(X, T) :- q(X, T), X \\= f(a).", "TW303"),
        ("query p(X, T). p(X, T) :- q(X, T), X == f(X).", "TW303"),
        ("query p(X, T). p(X, T) :- q(X, T), X = [a].", "TW303"),
        ("query p(X, T). q(X, T) :- r(X, T).", "TW304"),
        ("query p(X, T). p(X, T) :- q(X, T), r(T, X, T).", "TW301"),
    ],
)
def test_what_cannot_run_is_refused_with_a_code_and_a_place(text: str, code: str) -> None:
    found = [d for d in check(parse(text)) if d.severity == "error"]
    assert {d.code for d in found} == {code}
    assert found[0].span.line == 1
    assert code in CODES
    with pytest.raises(ProgramError, match=code):
        plan(parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "query p(X, T). p(X, T) :- q(X, T), s(c, T). s(c, T).",
        "query p(X, T). p(X, T) :- q(X, T), Y = Z.",
        "query p(X, T). p(X, T) :- q(X, T), Y == X.",
        "query p(X, T). p(X, T) :- not q(X, T).",
        "query p(X, T). p(X, T) :- q(X, T1), T = T1 + 1.",
        "query p(X, T). p(X, T) :- q(X, T). r(X, T) :- q(X, T), V > 3.",
        "query p(T). p(T) :- q(T), r(X, T1), T1 < T.",
        "query p(X, T). p(X, T) :- q(X, T), r(X, Y). r(X, Y) :- n(X), X = Y. n(a).",
    ],
)
def test_what_the_reasoner_can_run_passes_the_check(text: str) -> None:
    plan(parse(text))
    assert not has_errors(check_all(parse(text)))


@given(st.integers(0, 1 << 30))
def test_check_and_reasoner_refuse_the_same_programs(seed: int) -> None:
    """Programs from which conditions were taken: often something is then bound by nothing."""
    rng = random.Random(seed)
    program = parse("\n".join(_shorter(rng, rule) for rule in Rich(seed).text().split("\n")))
    wrong = {d.code for d in check_all(program) if d.severity == "error"}
    try:
        plan(program)
    except ProgramError:
        assert wrong
    else:
        assert not wrong


def _shorter(rng: random.Random, rule: str) -> str:
    head, arrow, body = rule.rstrip(".").partition(" :- ")
    conditions = re.split(r", (?![^(]*\))", body)
    if len(conditions) > 1 and rng.random() < 0.5:
        conditions.remove(rng.choice(conditions))
    return f"{head}{arrow}{', '.join(conditions)}."


def test_a_program_without_a_query_is_refused() -> None:
    assert codes("program answers. p(X, T) :- q(X, T), r(X, T+1).") == ["TW304"]


def test_a_query_about_input_is_told_how_to_ask() -> None:
    (found,) = check(parse("query a(X, T)."))
    assert found.suggestion == "define what you ask about by a rule: `found(X, T) :- a(X, T).`"
    (found,) = check(parse("query a(X, T). b(X, T) :- a(X, T)."))
    assert found.suggestion == "ask about b/2"


def test_a_time_that_is_computed_is_told_how_to_compare() -> None:
    (found,) = check(parse("query late(O, T). late(O, T) :- due(O, K, T), shipped(O, T+K)."))
    assert found.suggestion is not None
    assert "only a number, `T`, or `T` with a number" in found.suggestion
    assert found.suggestion.endswith("`shipped(O, U), U =:= T+K`")
    written = "query late(O, T). late(O, T) :- due(O, K, T), shipped(O, U), U =:= T+K."
    assert [d.severity for d in check(parse(written))] == ["warning"]


def test_the_refusal_of_a_negative_circle_names_its_steps() -> None:
    (found,) = check(parse("query p(T). p(T) :- q(T), not r(T+2). r(T) :- s(T), p(T-1)."))
    assert found.notes == ("p needs not r +2", "r needs p -1")


def test_unrelated_times_are_a_warning() -> None:
    (found,) = check(parse("query d(X). d(X) :- b(X, T1), c(X, T2)."))
    assert (found.code, found.severity) == ("TW308", "warning")
    assert "T1, T2" in found.message


# --------------------------------------------------------------------------- T-stratification by unfolding


def unfolded_has_negative_circle(edges: list[Dependency], reach: int) -> bool:
    """Walk the temporal dependency graph itself over `reach` time-points: a path that comes back to a predicate, not
    earlier and through a negative edge, can be repeated for ever."""
    for start in {e.source for e in edges}:
        seen = {(start, 0, False)}
        waiting = list(seen)
        while waiting:
            node, at, negative = waiting.pop()
            for e in edges:
                if e.source == node and abs(at + e.step) <= reach:
                    there = (e.target, at + e.step, negative or e.negative)
                    if there[0] == start and there[1] >= 0 and there[2]:
                        return True
                    if there not in seen:
                        seen.add(there)
                        waiting.append(there)
    return False


NODES = [("p", 1), ("q", 1), ("r", 1)]
RULE = read(parse("query p(T). p(T) :- q(T)."))[0].rules["p", 1][0]
edges = st.lists(
    st.builds(
        lambda s, t, step, negative: Dependency(s, t, step, negative, RULE),
        st.sampled_from(NODES),
        st.sampled_from(NODES),
        st.integers(-2, 2),
        st.booleans(),
    ),
    max_size=6,
)


@settings(max_examples=300, deadline=None)
@given(edges)
def test_the_folded_graph_decides_what_the_unfolded_one_says(given_: list[Dependency]) -> None:
    walk = negative_walk(given_)
    assert (walk is not None) == unfolded_has_negative_circle(given_, 24)
    if walk is not None:
        assert any(e.negative for e in walk)
        assert all(a.target == b.source for a, b in itertools.pairwise([*walk, walk[0]]))


def test_a_step_to_an_unrelated_time_counts_as_any_distance() -> None:
    datalog, _ = read(parse("query p(T). p(T) :- q(T), d. d :- e(T1)."))
    steps = {(e.source[0], e.target[0]): e.step for e in dependencies(datalog)}
    assert steps["d", "e"] == ANY_TIME
