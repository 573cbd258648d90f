"""Which programs take times only as far as numbers are exact: those that compute with them."""

from __future__ import annotations

import pytest

from thalweg import parse
from thalweg.analysis.farthest import FARTHEST, farthest
from thalweg.language.terms import EXACT

ANSWERS = "query q(X, T).\n"


@pytest.mark.parametrize(
    "text",
    [
        "initiatedAt(on(X)=true, T) :- happensAt(e(X, N), T), N > 1, \\+ holdsAt(off(X)=true, T).",
        "initiatedAt(on(X)=true, _) :- happensAt(e(X, _), _).",
        "happensAt(on(X), T) :- happensAt(start(in(X)=true), T), findall(Y, happensAt(e(Y), T), L), length(L, 2).",
        "initiatedAt(on(X)=true, 5) :- happensAt(e(X), 5).",
        "initiatedAt(on(X)=true, T) :- happensAt(e(X), T). fi(on(X)=true, on(X)=false, 5).",
        ANSWERS + "q(X, T) :- e(X, T), not f(X, T+1), X \\= a.",
        ANSWERS + "q(X, T+2) :- (e(X, T) ; f(X, T-1)), good(X). good(a).",
        ANSWERS + "q(X, T) :- e(X, T), X > 3. q(a, 5).",
    ],
)
def test_times_that_only_say_when_may_be_nanoseconds(text: str) -> None:
    assert farthest(parse(text)) == FARTHEST


@pytest.mark.parametrize(
    "text",
    [
        "initiatedAt(on(X)=true, T) :- happensAt(e(X), T), T mod 10 =:= 3.",
        "initiatedAt(on(X)=true, T) :- happensAt(e(X, U), T), U = T.",
        "initiatedAt(at(X)=T, T) :- happensAt(e(X), T).",
        "initiatedAt(at(X, T)=true, T) :- happensAt(e(X), T).",
        "happensAt(seen(X, T), T) :- happensAt(e(X), T).",
        "happensAt(seen(X), T) :- happensAt(e(X, T), T).",
        "terminatedAt(on(X)=true, T) :- happensAt(e(X), T), \\+ (happensAt(f(X, Y), T), Y < T).",
        "initiatedAt(on(X)=true, T) :- happensAt(e(X), T), (happensAt(f(X), T) ; busy(T)). busy(5).",
        "initiatedAt(on(X)=N, T) :- happensAt(e(X), T), findall(T, happensAt(f(X), T), L), sum_list(L, N).",
        ANSWERS + "q(X, T) :- e(X, T), T mod 10 = 3.",
        ANSWERS + "q(X, T) :- e(X, T), not T > 5.",
        ANSWERS + "q(X, T) :- e(X, T), f(X, S).",
        ANSWERS + "q(X, T) :- e(X, T), p(X, T). p(X, T) :- f(X, T), f(X, 0).",
        ANSWERS + "q(X, T) :- e(X, T), not f(X, _).",
        "program lars.\nnow(X) if s(X).",
    ],
)
def test_times_that_are_numbers_to_the_rules_stay_exact(text: str) -> None:
    assert farthest(parse(text)) == EXACT - 1
