"""Types, safety, horizon, roles and suggestions, asked of programs as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.analysis.delays import largest_delay
from thalweg.analysis.dependencies import dependencies
from thalweg.analysis.horizon import horizon, time_offset
from thalweg.analysis.modes import Modes
from thalweg.analysis.nearest import Names, distance, near
from thalweg.analysis.roles import Part, entities
from thalweg.analysis.safety import safety
from thalweg.analysis.types import infer
from thalweg.language.parser import parse
from thalweg.language.terms import Compound, Number, Variable


def unsafe(text: str) -> set[str]:
    return {found.variable.name for found in safety(parse(text)).unsafe}


def modes(text: str) -> Modes:
    return safety(parse(text)).modes


# --------------------------------------------------------------------------- safety


@pytest.mark.parametrize(
    "rule",
    [
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T).",
        "terminatedAt(f(X, Y)=true, T) :- happensAt(e(X), T).",
        "terminatedAt(f(X)=_, T) :- happensAt(e(X), T).",
        "initiatedAt(f(X)=N, T) :- happensAt(e(X, M), T), N is M * 2.",
        "initiatedAt(f(X)=N, T) :- N is M * 2, M is K + 1, happensAt(e(X, K), T).",
        "initiatedAt(f(X)=Y, T) :- happensAt(e(p(X, Z)), T), Y = Z.",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), \\+ holdsAt(g(X, Y)=true, T).",
        "initiatedAt(f(X)=N, T) :- happensAt(e(X), T), findall(Y, holdsAt(g(Y)=true, T), L), length(L, N).",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X, S), T), (S > 3 ; k(X, L), S > L).\nk(a, 1).",
        "initially(f(_)=true).",
        "initially(f(X)=V) :- start(X, V).\nstart(a, b).",
        "fi(f(X)=true, f(X)=false, D) :- d(X, D).\nd(a, 3).",
        "holdsFor(f(X)=true, I) :- holdsFor(g(X)=true, I1), intDurGreater(I1, D, I), d(D).\nd(3).",
        "grounding(g(X, Y)=true) :- d(X), d(Y).\nd(a).\n"
        "initiatedAt(g(X, Y)=true, T) :- happensAt(e(X), T), \\+ happensAt(h(Y), T).",
    ],
)
def test_a_safe_rule_is_left_alone(rule: str) -> None:
    assert unsafe(rule) == set()


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("initiatedAt(f(X)=true, T) :- happensAt(e(X), T), Y > 3.", {"Y"}),
        ("initiatedAt(f(X)=V, T) :- happensAt(e(X), T).", {"V"}),
        ("initiatedAt(f(X, Y)=true, T) :- happensAt(e(X), T), \\+ happensAt(g(Y), T).", {"Y"}),
        ("initiatedAt(f(X)=true, T) :- happensAt(e(X), T), \\+ Y > 3.", {"Y"}),
        ("initiatedAt(f(X)=true, T) :- happensAt(e(X), T), _ > 3.", {"_"}),
        ("initiatedAt(f(X)=A, T) :- happensAt(e(X), T), A = B.", {"A", "B"}),
        ("happensAt(f(X, Y), T) :- happensAt(e(X), T).", {"Y"}),
        ("initiatedAt(f(X)=true, T) :- happensAt(e(X), T), (k(X, L) ; h(X)), L > 3.\nk(a, 1). h(a).", {"L"}),
        ("initiatedAt(f(X)=true, T) :- happensAt(e(X), T), findall(Z, k(Y), L), length(L, 2).\nk(a).", {"Z"}),
        ("malf(X, Y, T) :- shdn(X, T).\nquery malf(X, Y, T).", {"Y"}),
        ("a(X) :- [5] sometime b(X), not [3] sometime c(Y), Y > 2.", {"Y"}),
    ],
)
def test_an_unsafe_variable_is_found(rule: str, names: set[str]) -> None:
    assert unsafe(rule) == names


def test_a_rule_that_computes_needs_its_inputs_and_gives_its_result() -> None:
    found = modes(
        "angle(A, B, D) :- X is abs(A - B), X > 180, D is 360 - X.\n"
        "angle(A, B, D) :- D is abs(A - B), D =< 180.\n"
        "turned(V, A) :- course(V, C), angle(C, A, D), D > 15.\ncourse(v, 20)."
    )
    assert found.needs["angle", 3] == {0, 1}
    assert found.needs["turned", 2] == {1}


def test_what_equals_a_computed_variable_is_given_too() -> None:
    found = modes("angle(A, B, D) :- X is abs(A - B), X =< 180, E = X, D = E.")
    assert found.needs["angle", 3] == {0, 1}
    assert unsafe(
        "initiatedAt(f(X)=D, T) :- happensAt(e(X, A, B), T), angle(A, B, D).\n"
        "angle(A, B, D) :- X is abs(A - B), X =< 180, D = X.\n"
        "angle(A, B, D) :- X is abs(A - B), X > 180, D is 360 - X."
    ) == set()


def test_rules_over_a_dynamic_domain_give_their_arguments() -> None:
    found = modes("dynamicDomain(person(_)).\nrole_of(A, chair) :- person(A), X is A mod 10, X = 0.")
    assert ("role_of", 2) not in found.needs


def test_background_rules_that_call_each_other_are_found() -> None:
    (group,) = modes("a(X) :- b(X), d(X).\nb(X) :- a(X).\nd(1).").recursive
    assert set(group) == {("a", 1), ("b", 1)}


# --------------------------------------------------------------------------- types


def test_types_travel_through_rules_facts_and_values() -> None:
    types = infer(
        parse(
            "initiatedAt(load(V)=L, T) :- happensAt(take(V, N), T), L is N + 1.\n"
            "initiatedAt(last(V)=L, T) :- happensAt(ask(V), T), holdsAt(load(V)=L, T), limit(V, L).\n"
            "limit(a, 3)."
        )
    )
    assert types.argument("event", "take", 2, 1) == "number"
    assert types.value("load", 1) == types.value("last", 1) == "number"
    assert types.background("limit", 2, 1) == "number"
    assert types.background("limit", 2, 0) == types.argument("event", "take", 2, 0) == "symbol"


def test_numbers_that_are_only_names_stay_symbols() -> None:
    types = infer(parse("initiatedAt(f(X)=true, T) :- happensAt(e(X, 511), T), kind(X, 7).\nkind(1, 7)."))
    assert types.argument("event", "e", 2, 1) == "symbol"
    assert types.background("kind", 2, 0) == "symbol"


def test_counts_and_times_are_numbers() -> None:
    types = infer(
        parse(
            "initiatedAt(n=N, T) :- happensAt(tick, T), findall(X, holdsAt(f(X)=true, T), L), length(L, N)."
        )
    )
    assert types.value("n", 0) == "number"
    assert types.variable(0, "T") == "number"


def test_a_declared_type_is_shown() -> None:
    types = infer(
        parse("event v(a: symbol, s: float).\ninitiatedAt(f(A)=true, T) :- happensAt(v(A, S), T), S > 1.")
    )
    assert [types.shown("event", "v", 2, i) for i in range(2)] == ["symbol", "float"]


def test_infinity_is_a_number() -> None:
    types = infer(
        parse(
            "initiatedAt(f(A)=true, T) :- happensAt(v(A, S), T), range(S, 3, inf).\nrange(S, L, H) :- S > L, S < H."
        )
    )
    assert not types.clashes


# --------------------------------------------------------------------------- roles and layers


def test_points_and_intervals_are_told_apart() -> None:
    known = entities(
        parse(
            "points(walk(_)=true).\ncollectIntervals(near(_, _)=true).\n"
            "initiatedAt(f(X)=true, T) :- happensAt(start(walk(X)=true), T), holdsAt(near(X, _)=true, T).\n"
            "dynamicDomain(person(_)).\nterminatedAt(f(X)=true, T) :- happensAt(end(walk(X)=true), T), person(X)."
        )
    )
    parts = {entity.name: entity.part for entity in known}
    assert parts["walk"] is Part.POINTS_FLUENT
    assert parts["near"] is Part.INPUT_FLUENT
    assert parts["person"] is Part.DOMAIN
    assert parts["f"] is Part.SIMPLE


def test_what_a_grounding_names_and_no_rule_defines_is_input() -> None:
    known = entities(parse("grounding(e(X)) :- d(X).\ngrounding(w(X)=true) :- d(X).\nd(a)."))
    parts = {(str(entity.key.kind), entity.name): entity.part for entity in known}
    assert parts["event", "e"] is Part.INPUT_EVENT
    assert parts["fluent", "w"] is Part.INPUT_FLUENT


def test_determined_values_of_one_fluent_may_build_on_each_other() -> None:
    found = dependencies(
        parse(
            "initiatedAt(s(X)=true, T) :- happensAt(e(X), T).\nterminatedAt(s(X)=true, T) :- happensAt(g(X), T).\n"
            "holdsFor(f(X)=a, I) :- holdsFor(s(X)=true, I).\n"
            "holdsFor(f(X)=b, I) :- holdsFor(f(X)=a, I1), complement_all([I1], I)."
        )
    )
    assert not found.cycles
    assert [component.layer for component in found.components] == [1, 2, 3]


# --------------------------------------------------------------------------- horizon


def test_the_longest_countdown_comes_from_rules_and_matching_facts() -> None:
    text = (
        "initiatedAt(f(X)=a, T) :- happensAt(e(X), T).\nfi(f(X)=a, f(X)=b, 7).\n"
        "ft(f(_)=b, D) :- limit(long, D).\nlimit(long, 90).\nlimit(speed, 4000.5)."
    )
    assert largest_delay(parse(text)) == 90
    assert horizon(parse(text)).window


def test_a_computed_delay_is_not_known_before() -> None:
    assert largest_delay(parse("ft(f(X)=a, D) :- d(X, H), D is H * 2.\nd(a, 3).")) is None


def test_open_answers_wait_for_their_latest_premise() -> None:
    found = horizon(
        parse(
            "warn(X, T) :- temp(X, T), temp(X, T+2).\nmalf(X, T) :- warn(X, T), shdn(X, T+5).\nquery malf(X, T)."
        )
    )
    assert {kept.node.name: kept.ticks for kept in found.inputs} == {"temp": 5, "shdn": 5}
    assert found.bounded


def test_premises_all_later_than_the_answer_wait_only_for_each_other() -> None:
    found = horizon(parse("malf(X, T-2) :- shdn(X, T), temp(X, T+1).\nquery malf(X, T)."))
    assert {kept.ticks for kept in found.inputs} == {1}


def test_a_rule_that_feeds_itself_over_time_is_not_bounded() -> None:
    found = horizon(parse("s(X, T+1) :- s(X, T).\ns(X, T) :- e(X, T).\nquery s(X, T)."))
    assert found.unbounded == (0,)


def test_lars_input_is_kept_as_far_as_windows_reach() -> None:
    found = horizon(parse("a(X) :- [5] sometime b(X), [9] always c(X).\nd(X) :- [20 #] sometime e(X)."))
    assert {kept.node.name: kept.ticks for kept in found.inputs} == {"b": 5, "c": 9, "e": None}


def test_time_terms() -> None:
    t = Variable("T")
    assert time_offset(t) == 0
    assert time_offset(Compound("+", (t, Number(3)))) == 3
    assert time_offset(Compound("-", (t, Number(3)))) == -3
    assert time_offset(Number(3)) is None


# --------------------------------------------------------------------------- suggestions


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("gap_start", "gap_strat", True),
        ("gapStart", "gap_start", True),
        ("withinArea", "withinarea", True),
        ("velocity", "velocty", True),
        ("rendezVous", "rendevous", True),
        ("zone1_enter", "zone2_enter", False),
        ("gap_start", "gap_end", False),
        ("on", "of", False),
        ("same", "same", False),
    ],
)
def test_slips_are_near_and_other_names_are_not(left: str, right: str, expected: bool) -> None:
    assert near(left, right) is expected
    assert near(right, left) is expected


def _slow_distance(left: str, right: str) -> int:
    """The same by its definition."""
    if not left or not right:
        return len(left) + len(right)
    best = min(
        _slow_distance(left[1:], right) + 1,
        _slow_distance(left, right[1:]) + 1,
        _slow_distance(left[1:], right[1:]) + (left[0] != right[0]),
    )
    if len(left) > 1 and len(right) > 1 and left[0] == right[1] and left[1] == right[0]:
        best = min(best, _slow_distance(left[2:], right[2:]) + 1)
    return best


@given(st.text("ab_", max_size=5), st.text("ab_", max_size=5))
def test_the_distance_is_the_number_of_slips(left: str, right: str) -> None:
    assert distance(left, right, 4) == min(_slow_distance(left, right), 4)


@given(
    st.lists(st.text("abcd_1", min_size=5, max_size=12), max_size=12),
    st.text("abcd_1", min_size=5, max_size=12),
)
def test_the_index_finds_what_comparing_with_all_finds(names: list[str], name: str) -> None:
    found = Names(names).nearest(name)
    expected = {other for other in names if near(name, other)}
    assert (found is None) == (not expected)
    assert found is None or found in expected
