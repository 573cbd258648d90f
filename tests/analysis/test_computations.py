"""Functions: what the check lets pass is computed, alike in all kinds of programs; the rest is refused with a place."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg
from thalweg.analysis.types import COMPUTED, FUNCTIONS
from thalweg.answers.datalog import read
from thalweg.language.diagnostics import ProgramError
from thalweg.language.program import Program
from thalweg.language.rules import Clause, Kind
from thalweg.language.terms import Atom, Compound, Number, Term
from thalweg.plans import Options, prepare
from thalweg.reference.answers import Fact, ground
from thalweg.reference.arithmetic import evaluate
from thalweg.reference.lars_streams import Stream
from thalweg.reference.lars_truth import instances
from thalweg.reference.terms import Reader, text
from thalweg.reference.windowed import WindowedReference
from thalweg.verification import reference_rows, verify

RULES = {
    Kind.EVENTS: "initiatedAt(v(X)=V, T) :- happensAt(e(X, D), T), V is {}.",
    Kind.ANSWERS: "query v(X, V, T). v(X, V, T) :- e(X, D, T), V is {}.",
    Kind.LARS: "program lars. v(X, V) if e(X, D), V is {}.",
}
ROUNDING = {
    "D / 2": -2.5, "D // 2": -2, "D div 2": -3, "D mod 2": 1, "round(D / 2)": -3, "floor(D / 2)": -3,
    "ceiling(D / 2)": -2, "abs(D)": 5, "D ** 2": 25, "1 // 0.1": 9, "1 div 0.1": 9,
    "round(4503599627370497)": 2**52 + 1, "e": math.e, "pi": math.pi, "D + e": math.e - 5, "min(D, inf)": -5,
}  # fmt: skip
CONDITIONS = {
    "D < inf": True, "inf < D": False, "D < pi": True, "e > pi": False, "D + 1 = -4": True, "D + 1 \\= -4": False,
    "D + 1 == -5": False, "\\+ D + 1 = -5": True, "D / 0 > 3": False, "\\+ D / 0 > 3": True, "D / 0 =\\= 3": False,
    "D / 0 \\= 3": False, "\\+ D / 0 \\= 3": True, "\\+ D \\= -5": True,
    "pi = pi + 0 * D": True, "D / 0 = D / 0": False, "\\+ D / 0 =:= 1": True, "D is D / 0": False, "-4 is D + 1": True,
    "2 ** 5000 > 3": False, "2 ** 5000 =\\= 3": False, "1 / 2 ** 5000 < 3": False, "-1.0e300 * 1.0e300 < 3": False,
    "\\+ 2 ** 5000 < 3": True, "min(2 ** 5000, 3) =:= 3": False, "2 ** 53 + 1 =:= 2 ** 53": True,
}  # fmt: skip
"""What holds of D = -5, in every kind of program and by every definition."""
FAR = {"2 ** 60": "1.152921504606847e+18", "2 ** 53 + 1": "9007199254740992.0", "2 ** 53 - 1": "9007199254740991"}
"""Whole numbers that are written like floats, since their neighbours would be written alike, and one that is not."""


ROWS = [{"name": "e", "time": 1, "x": "a", "d": -5}]
WINDOWS: dict[Kind, dict[str, int]] = {Kind.EVENTS: {"window": 10, "step": 10}, Kind.ANSWERS: {}, Kind.LARS: {}}


def run(kind: Kind, expression: str) -> Any:
    return thalweg.run(RULES[kind].format(expression), ROWS, **WINDOWS[kind], end=2)


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
    for rules in (RULES[kind], RULES[kind].replace("V is", "V =")):
        with pytest.raises(ProgramError, match="`abs/2` is not computed"):
            thalweg.run(rules.format("abs(D, 2)"), ROWS, **WINDOWS[kind])


@pytest.mark.parametrize(
    "rule", ["v(X, D rem 2) if e(X, D)", "at(D rem 2) v(X) if e(X, D)", "v(X) if e(X, D), [5] at(sin(D)) e(X, D)"]
)
def test_what_lars_does_not_compute_is_refused_wherever_it_stands(rule: str) -> None:
    with pytest.raises(ProgramError, match=r"is not computed in a program of kind `lars`"):
        thalweg.run(f"program lars. {rule}.", ROWS)


@pytest.mark.parametrize(
    "expression",
    ["sqrt(D)", "0 ** D", "D ** 0.5", "D / 0", "D // 0", "D mod 0", "2 ** 5000", "1.0e300 * 1.0e300", "(D / 0) ** 0"],
)
def test_what_has_no_value_gives_no_answer(expression: str) -> None:
    for kind in Kind:
        assert run(kind, expression)["timeline" if kind is Kind.EVENTS else "answers"].num_rows == 0


def test_the_definition_rounds_as_the_reasoner_does() -> None:
    rows = [{"name": "e", "time": 1, "x": "a", "d": -5}]
    for expression in (*ROUNDING, "integer(D / 2)", "D rem 2"):
        program = thalweg.parse(RULES[Kind.EVENTS].format(expression))
        assert verify(prepare(program, rows, Options(window=10, step=10))).difference is None


def holds(kind: Kind, condition: str) -> bool:
    result = thalweg.run(asking(kind, condition), ROWS, **WINDOWS[kind], end=2)
    return bool(result["timeline" if kind is Kind.EVENTS else "answers"].num_rows)


def asking(kind: Kind, condition: str) -> Program:
    rule = RULES[kind].replace("V is {}", condition)
    return thalweg.parse(rule.replace("=V", "=true").replace("X, V", "X"))


def holds_by_definition(kind: Kind, condition: str) -> bool:
    program = asking(kind, condition)
    match kind:
        case Kind.EVENTS:
            plan = prepare(program, ROWS, Options(window=10, step=10))
            reference = WindowedReference(program, window=10, step=10, start=0)
            reference.accept(row for piece in plan.feed for rows in piece.chunk.rows for row in reference_rows(rows))
            return bool(reference.advance(10)[0].timeline)
        case Kind.ANSWERS:
            bound = Fact("e", ("a", -5), 1)
            return any(rule.positive == (bound,) for rule in ground(read(program)[0], ["a", -5], 2))
    (rule,) = program.statements
    assert isinstance(rule, Clause)
    stream = Stream(0, frozenset({(1, Compound("e", (Atom("a"), Number(-5))))}), frozenset(), frozenset())
    return next(instances(rule, stream, 1), None) is not None


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_are_judged_alike_by_all_reasoners_and_definitions(kind: Kind, condition: str) -> None:
    assert holds(kind, condition) == holds_by_definition(kind, condition) == CONDITIONS[condition]


def expression(rng: Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice("D D 0 1 2 3 0.1 -2.5 7 500 1.0e200 pi e".split())
    function = rng.choice("+ - * / // div mod ** min max abs floor ceiling round sqrt".split())
    one, other = expression(rng, depth - 1), expression(rng, depth - 1)
    if function in ("min", "max"):
        return f"{function}({one}, {other})"
    if function.isalpha() and function not in ("div", "mod"):
        return f"{function}({one})"
    return f"({one} {function} {other})"


@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(st.integers(0, 2**32))
def test_any_condition_is_judged_alike_by_all_reasoners_and_definitions(seed: int) -> None:
    rng = Random(seed)
    op = rng.choice("< > =< >= =:= =\\= = \\= == \\==".split())
    condition = f"{rng.choice(['', 'not '])}{expression(rng, 3)} + 0 * D {op} {expression(rng, 2)}"
    judged = {(judge, kind): judge(kind, condition) for judge in (holds, holds_by_definition) for kind in Kind}
    assert len(set(judged.values())) == 1, (condition, judged)


@pytest.mark.parametrize("expression", FAR)
def test_whole_numbers_that_have_no_float_of_their_own_are_written_as_floats(expression: str) -> None:
    written = {
        run(Kind.EVENTS, expression)["timeline"].column("value")[0].as_py(),
        run(Kind.ANSWERS, expression)["answers"].column("V")[0].as_py(),
        run(Kind.LARS, expression)["answers"].column("atom")[0].as_py().removeprefix("v(a,").removesuffix(")"),
        text(evaluate(Reader().term(argument(f"x({expression})")))),
    }
    assert written == {FAR[expression]}


def argument(term: str) -> Term:
    (statement,) = thalweg.parse(f"{term}.").statements
    assert isinstance(statement, Clause) and isinstance(statement.head, Compound)
    return statement.head.args[0]


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize(
    "expression", ["9007199254740993", "D + 9007199254740992", "D - -9007199254740993", "inf", "D + inf"]
)
def test_numbers_that_cannot_be_computed_with_are_refused_with_their_place(kind: Kind, expression: str) -> None:
    with pytest.raises(ProgramError, match="TW120"):
        run(kind, expression)


def test_a_large_integer_that_is_only_a_name_is_kept_digit_by_digit() -> None:
    names = ["9007199254740993", "9007199254740992", "-12345678901234567890", "0009007199254740993"]
    rows = [{"name": "e", "time": 1, "x": name} for name in names]
    rules = "initiatedAt(seen(X)=true, T) :- happensAt(e(X), T)."
    found = thalweg.run(rules, rows, window=10, step=10)["timeline"].column("fluent").to_pylist()
    assert set(found) == {f"seen({name})" for name in names[:3]}
    program = thalweg.parse(rules)
    assert verify(prepare(program, rows, Options(window=10, step=10))).difference is None


def test_a_field_that_looks_like_a_term_is_a_name() -> None:
    names = ["per(a)", "per( a )", "f(x", "[a]", "'q'", "a:b"]
    rows = [{"name": "e", "time": 1, "x": name} for name in names]
    written = {f"'{name}'" for name in names[:4]} | {"'\\'q\\''", "'a:b'"}
    result = thalweg.run("query p(X, T). p(X, T) :- e(X, T).", rows, end=2)
    assert set(result["answers"].column("X").to_pylist()) == written
    result = thalweg.run("program lars. p(X) if e(X).", rows, end=2)
    assert set(result["answers"].column("atom").to_pylist()) == {f"p({name})" for name in written}
    for condition in ("true", "X = per(a)", "X = 'per(a)'", "ok(X)"):
        program = thalweg.parse(
            f"initiatedAt(v(X)=X, T) :- happensAt(e(X), T), {condition}. ok(per(a)). ok('per(a)'). ok('f(x')."
        )
        plan = prepare(program, rows, Options(window=10, step=10))
        assert verify(plan).difference is None


@pytest.mark.parametrize("kind", Kind)
def test_data_has_floats_of_any_size_and_integers_that_floats_can_tell_apart(kind: Kind) -> None:
    def read(d: object) -> int:
        rows = [{"name": "e", "time": 1, "x": "a", "d": d}]
        result = thalweg.run(asking(kind, "D > 0"), rows, **WINDOWS[kind], end=2)
        return result["timeline" if kind is Kind.EVENTS else "answers"].num_rows

    assert [read(d) for d in (2**53 - 1, 2**53, "9007199254740991", "9007199254740993")] == [1, 0, 1, 0]
    assert [read(d) for d in (1e17, "1e17", "1e300", "1e400")] == [1, 1, 1, 0]


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
