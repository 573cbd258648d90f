"""Terms as arguments of events, fluents and facts: they mean what the definition says, or are refused in a sentence."""

from __future__ import annotations

import pytest

import thalweg
from thalweg.analysis.checker import check
from thalweg.language.diagnostics import ProgramError
from thalweg.plans import Options, prepare
from thalweg.verification import verify

PER = "initiatedAt(p(per(X))=true, T) :- happensAt(e(X), T). "
BOTH = PER + "initiatedAt(p(X)=true, T) :- happensAt(e(X), T). "
WHOLE = "a term with variables is compared as a whole"
ROWS = [{"name": "e", "time": i + 1, "x": x} for i, x in enumerate(["3", "North Sea", "per(a)", "x"])]


@pytest.mark.parametrize(
    "program",
    [
        PER + "initiatedAt(v(X)=true, T) :- happensAt(start(p(per(X))=true), T).",
        BOTH + "initiatedAt(v(X)=true, T) :- happensAt(start(p(per(X))=true), T).",
        BOTH + "initiatedAt(v(X)=true, T) :- happensAt(e(X), T), \\+ holdsAt(p(X)=true, T).",
        BOTH + "initiatedAt(v(X)=true, T) :- happensAt(e(_), T), k(X), \\+ holdsAt(p(X)=true, T). k(b). k(3).",
        BOTH + "terminatedAt(p(X)=true, T) :- happensAt(e(X), T), holdsAt(p(per(3))=true, T).",
        BOTH + "initiatedAt(v=true, T) :- happensAt(start(p(x)=true), T).",
        "happensAt(q(per(X)), T) :- happensAt(e(X), T). initiatedAt(v(X)=true, T) :- happensAt(q(per(X)), T).",
        PER + "holdsFor(q(vote(X, k))=true, I) :- holdsFor(p(per(X))=true, I). "
        "initiatedAt(v(X)=true, T) :- happensAt(start(q(vote(X, _))=true), T).",
        "initiatedAt(v(Y)=true, T) :- happensAt(e(X), T), k(per(X), Y). k(per(3), b). k(per('per(a)'), c). k(x, d).",
        "initiatedAt(v(X)=true, T) :- happensAt(e(X), T), k(X). k(per(a)). k(x).",
        "initiatedAt(v(X)=true, T) :- happensAt(e(_), T), X = per(a).",
        "initiatedAt(v(Y)=true, T) :- happensAt(e(_), T), k(Y). k(a-b). k(1-2). k(c).",
    ],
)
def test_terms_as_arguments_mean_what_the_definition_says(program: str) -> None:
    assert verify(prepare(thalweg.parse(program), ROWS, Options(window=10, step=10))).difference is None


@pytest.mark.parametrize(
    "test",
    [
        *("X @< f(a)", "f(a) @< X", "\\+ X @< f(a)", "X @>= 'North Sea'(a)", "k(Y), X @< Y", "k(Y), X \\= Y"),
        *("f(b) @< f(a)", "f(b) @< g(a)", "g(a) @< f(a, a)", "f(9) @< f(10)", "f(z) @< f(f(a))", "f(a) @=< f(a)"),
        *("3 @< f(a)", "zz @< f(a)", "3 \\= f(a)", "f(a) == f(a)", "\\+ f(a) = f(b)", "T @< f(a)", "T @>= b"),
        *("n(X, Y), Y > 1, Y @< X", "n(X, Y), Y > 1, X @=< Y", "n(X, Y), Y > 1, \\+ Y @< X"),
        *("n(_, Y), Y > 1, Y @< f(a)", "n(_, Y), Y > 1, Y @< b", "n(_, Y), Y > 1, pi @>= Y", "n(_, Y), Y @< 10 - 2"),
        *("T @< 10 / 4", "T @< 1 / 0"),
    ],
)
def test_terms_are_compared_in_the_standard_order(test: str) -> None:
    """Numbers, names, terms by the number of their arguments, by name, by arguments; expressions are computed."""
    program = f"initiatedAt(v(X)=true, T) :- happensAt(e(X), T), {test}. k(a-b). n(x, 3). n(3, 7). n('North Sea', 9)."
    assert verify(prepare(thalweg.parse(program), ROWS, Options(window=10, step=10))).difference is None


@pytest.mark.parametrize(
    ("program", "refusal"),
    [
        ("initiatedAt(v(X)=true, T) :- happensAt(e(per(X)), T).", "the input event `e(per(_))` never comes"),
        (
            "initiatedAt(v(X)=true, T) :- happensAt(e(X), T). initiatedAt(v(X)=false, T) :- happensAt(e(per(X)), T).",
            "the input event `e(per(_))` never comes",
        ),
        (
            "initiatedAt(v(X)=true, T) :- happensAt(e(X), T), \\+ happensAt(e(per(a)), T).",
            "the input event `e(per(_))` never comes",
        ),
        (
            "initiatedAt(v(X)=true, T) :- happensAt(e(X), T). grounding(e(per(X))) :- k(X). k(a).",
            "the input event `e(per(_))` never comes",
        ),
        (
            "fluent f(x: symbol). holdsFor(v(X)=true, I) :- holdsFor(f(per(X, Y))=true, I).",
            "the input fluent `f(per(_,_))` never comes",
        ),
        (PER + "initiatedAt(v(X)=true, T) :- happensAt(start(p(X)=true), T).", "no rule gives `p(_)`"),
        (PER + "initiatedAt(v(X)=true, T) :- happensAt(start(p(far(X))=true), T).", "no rule gives `p(far(_))`"),
        (
            "happensAt(q(per(X)), T) :- happensAt(e(X), T). initiatedAt(v(X)=true, T) :- happensAt(q(X), T).",
            "no rule gives `q(_)`; there is `q(per(_))`",
        ),
        (
            PER + "holdsFor(q(per(X))=true, I) :- holdsFor(p(per(X))=true, I). "
            "holdsFor(v(X)=true, I) :- holdsFor(q(X)=true, I).",
            "no rule gives `q(_)`",
        ),
        (BOTH + "initiatedAt(v(X)=true, T) :- happensAt(start(p(X)=true), T).", "a variable of `p(_)` may be a term"),
        (BOTH + "terminatedAt(p(_)=true, T) :- happensAt(e(x), T).", "a variable of `p(_)` may be a term"),
        (
            "initiatedAt(v(X)=true, T) :- happensAt(e(_), T), k(X). k(per(a)). k(b).",
            "a variable of `k(_)` may be a term here, as there is `k(per(_))` too",
        ),
        ("initiatedAt(v(a)=true, T) :- happensAt(e([X]), T).", "not a list"),
        ("initiatedAt(v(X)=true, T) :- happensAt(e(X), T), f(X) @< f(a).", WHOLE),
        ("initiatedAt(v(X)=true, T) :- happensAt(e(X), T), f(X) = f(x).", WHOLE),
        ("initiatedAt(v(X)=true, T) :- happensAt(e(Y), T), X = f(Y).", WHOLE),
        ("initiatedAt(v(X)=true, T) :- happensAt(e(X), T), X @< a - 1.", "`a` is a symbol, and a number is needed"),
        ("initiatedAt(v(X)=true, T) :- happensAt(e(X), T), happensAt(e(X + 0), T).", "an argument is not computed"),
        ("initiatedAt(v(X + 1)=true, T) :- happensAt(e(X), T).", "an argument is not computed"),
    ],
)
def test_what_terms_cannot_mean_is_refused_by_check_and_run(program: str, refusal: str) -> None:
    assert any(refusal in found.message for found in check(thalweg.parse(program)))
    with pytest.raises(ProgramError) as raised:
        thalweg.run(program, ROWS, window=10, step=10)
    assert refusal in str(raised.value)
