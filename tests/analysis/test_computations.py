"""Functions: what the check lets pass is computed, alike in all kinds of programs; the rest is refused with a place."""

from __future__ import annotations

from typing import Any

import pytest

import thalweg
from thalweg.analysis.types import COMPUTED, FUNCTIONS
from thalweg.language.diagnostics import ProgramError
from thalweg.language.rules import Kind
from thalweg.runs import Options, prepare
from thalweg.verification import verify

RULES = {
    Kind.EVENTS: "initiatedAt(v(X)=V, T) :- happensAt(e(X, D), T), V is {}.",
    Kind.ANSWERS: "query v(X, V, T). v(X, V, T) :- e(X, D, T), V is {}.",
    Kind.LARS: "program lars. v(X, V) if e(X, D), V is {}.",
}
ROUNDING = {
    "D / 2": -2.5, "D // 2": -2, "D div 2": -3, "D mod 2": 1, "round(D / 2)": -3, "floor(D / 2)": -3,
    "ceiling(D / 2)": -2, "abs(D)": 5, "D ** 2": 25,
}  # fmt: skip


def run(kind: Kind, expression: str) -> Any:
    rows = [{"name": "e", "time": 1, "x": "a", "d": -5}]
    window = {"window": 10, "step": 10} if kind is Kind.EVENTS else {}
    return thalweg.run(RULES[kind].format(expression), rows, **window, end=2)


def value(kind: Kind, expression: str) -> float:
    result = run(kind, expression)
    match kind:
        case Kind.EVENTS:
            return float(result["timeline"].column("value")[0].as_py())
        case Kind.ANSWERS:
            return float(result["answers"].column("V")[0].as_py())
    return float(result["answers"].column("atom")[0].as_py().removeprefix("v(a,").removesuffix(")"))


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("expression", ROUNDING)
def test_numbers_are_rounded_alike_in_all_kinds_of_programs(kind: Kind, expression: str) -> None:
    assert value(kind, expression) == ROUNDING[expression]


@pytest.mark.parametrize("kind", Kind)
def test_whatever_is_said_to_be_computed_is(kind: Kind) -> None:
    for name, arity in COMPUTED[kind]:
        run(kind, f"'{name}'({', '.join(['D', '2'][:arity])})")


@pytest.mark.parametrize("kind", Kind)
def test_what_a_kind_does_not_compute_is_refused_with_what_it_does(kind: Kind) -> None:
    for name in sorted(FUNCTIONS - {name for name, _ in COMPUTED[kind]}):
        with pytest.raises(ProgramError, match=r"is not computed in a program of kind(.|\n)*known are"):
            run(kind, f"'{name}'(D)")
    with pytest.raises(ProgramError, match="`abs/2` is not computed"):
        run(kind, "abs(D, 2)")


@pytest.mark.parametrize("expression", ["sqrt(D)", "0 ** D", "D ** 0.5", "D / 0", "D // 0", "D mod 0"])
def test_what_has_no_value_gives_no_answer(expression: str) -> None:
    for kind in Kind:
        assert run(kind, expression)["timeline" if kind is Kind.EVENTS else "answers"].num_rows == 0


def test_the_definition_rounds_as_the_reasoner_does() -> None:
    rows = [{"name": "e", "time": 1, "x": "a", "d": -5}]
    for expression in (*ROUNDING, "integer(D / 2)", "D rem 2"):
        program = thalweg.parse(RULES[Kind.EVENTS].format(expression))
        assert verify(prepare(program, rows, Options(window=10, step=10))).difference is None


@pytest.mark.parametrize(
    "rules",
    [
        "program lars. a(X) if [5] sometime b(Y).",
        "program lars. a(X) if b(X), not c(Y), Y > 3.",
        "program lars. a(X) if b(X), X > foo.",
        "query a(X, T). a(X, T) :- b(X, T), X > foo.",
    ],
)
def test_what_the_check_refuses_is_not_run(rules: str) -> None:
    with pytest.raises(ProgramError):
        thalweg.run(rules, [{"name": "b", "time": 1, "x": "z"}], end=3)
