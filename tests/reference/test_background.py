"""Background knowledge of the reference: resolution, arithmetic, comparison, lists; and the documented examples."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from thalweg import parse
from thalweg.language import rules as language
from thalweg.reference.arithmetic import NoNumber, Unbound, evaluate
from thalweg.reference.background import Knowledge
from thalweg.reference.bodies import Fact
from thalweg.reference.terms import EMPTY, Reader, Var, constant, order_key, resolve, text, unify

RULES = """
    initiatedAt(f=true, T) :- happensAt(e, T).
    parent(a, b). parent(b, c). parent(c, d).
    age(a, 70). age(b, 45). age(c, 20).
    grandparent(X, Z) :- parent(X, Y), parent(Y, Z).
    older(X, Y, D) :- D is A - B, A > B, age(X, A), age(Y, B).
    childless(X) :- age(X, _), \\+ parent(X, _).
    young(X) :- age(X, A), (A < 30 ; X = b).
    total(S) :- findall(A, age(_, A), L), sum_list(L, S).
    angle(A, B, D) :- E is abs(A - B), D is min(E, 360 - E).
    any(_).
"""


def knowledge() -> Knowledge:
    clauses = [s for s in parse(RULES).statements if isinstance(s, language.Clause)]
    return Knowledge(clauses, Reader())


def answers(*goal: object) -> set[str]:
    """The true instances of a goal; strings in upper case are variables."""
    term = tuple(Var(g) if isinstance(g, str) and g[0].isupper() else g for g in goal)
    return {text(resolve(term, answer)) for answer in knowledge().answers(Fact("call", (term,)), EMPTY)}


def test_rules_are_resolved_in_whatever_order_their_conditions_stand() -> None:
    assert answers("grandparent", "X", "Y") == {"grandparent(a,c)", "grandparent(b,d)"}
    assert answers("older", "a", "X", "D") == {"older(a,b,25)", "older(a,c,50)"}


def test_negation_disjunction_and_findall_work_in_rules() -> None:
    assert answers("childless", "X") == set()
    assert answers("young", "X") == {"young(b)", "young(c)"}
    assert answers("total", "S") == {"total(135)"}


def test_a_variable_of_a_fact_matches_everything() -> None:
    assert answers("any", "b") == {"any(b)"}


def test_a_rule_that_computes_waits_for_its_arguments() -> None:
    assert answers("angle", 350, 10, "D") == {"angle(350,10,20)"}
    with pytest.raises(Unbound):
        answers("angle", "A", 10, "D")


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (("length", ("[]", "a", "b"), "N"), {"length([a,b],2)"}),
        (("sum_list", ("[]",), "S"), {"sum_list([],0)"}),
        (("max_list", ("[]", 3, 7), "M"), {"max_list([3,7],7)"}),
        (("min_list", ("[]",), "M"), set()),
        (("member", "X", ("[]", "a", "b")), {"member(a,[a,b])", "member(b,[a,b])"}),
        (("unheard_of", "X"), set()),
    ],
)
def test_lists_are_measured_and_searched(goal: tuple[object, ...], expected: set[str]) -> None:
    assert answers(*goal) == expected


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (("/", 7, 2), 3.5),
        (("/", 6, 2), 3),
        (("//", -7, 2), -3),
        (("mod", -7, 5), 3),
        (("rem", -7, 5), -2),
        (("round", 2.5), 3),
        (("sqrt", 16), 4),
        (("**", 2, 3), 8),
        (("floor", -0.5), -1),
        (("max", 3, ("abs", -4)), 4),
    ],
)
def test_arithmetic_has_one_form_of_each_number(term: tuple[object, ...], value: float) -> None:
    assert evaluate(term) == value
    assert type(evaluate(term)) is type(value)


@pytest.mark.parametrize("term", [("/", 1, 0), ("+", "a", 1), ("sqrt", -1), ("unknown", 1), "a"])
def test_what_has_no_value_is_no_number(term: object) -> None:
    with pytest.raises(NoNumber):
        evaluate(term)


def test_terms_are_ordered_numbers_first_then_atoms_then_compounds() -> None:
    terms = [("f", "a"), "b", 3, "a", 2.5, ("a", 1, 2), ("e", "z")]
    assert sorted(terms, key=order_key) == [2.5, 3, "a", "b", ("e", "z"), ("f", "a"), ("a", 1, 2)]


def test_numbers_in_text_fields_are_numbers_and_the_rest_are_atoms() -> None:
    assert [constant(t) for t in ("12", "0012", "12.0", "-3", "1e3", "1_0", "inf", "0x1", "")] == [
        *[12, 12, 12, -3, 1000],
        *["1_0", "inf", "0x1", ""],
    ]


def test_unification_binds_on_both_sides() -> None:
    found = unify(("f", Var("X"), "b"), ("f", "a", Var("Y")), EMPTY)
    assert found == {Var("X"): "a", Var("Y"): "b"}
    assert unify(("f", Var("X"), Var("X")), ("f", "a", "b"), EMPTY) is None


@pytest.mark.parametrize(
    "name",
    [
        "thalweg.reference.terms",
        "thalweg.reference.intervals",
        "thalweg.reference.arithmetic",
        "thalweg.testing.tables",
        "thalweg.testing.comparison",
    ],
)
def test_the_documented_examples_are_true(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert tried
    assert not failed
