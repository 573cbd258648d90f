"""The words of wide programs: individuals, input, background knowledge, values; what rules are put together from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.reference.terms import Ground

Individuals = tuple[tuple[str, Ground], ...]
"""Three individuals, as rules write them and as data has them."""
INDIVIDUALS: tuple[Individuals, ...] = (
    (("a", "a"), ("b", "b"), ("c", "c")),
    (("'North Sea'", "North Sea"), ("a", "a"), ("'it''s'", "it's")),
    (("1", 1), ("2", 2), ("10", 10)),
    (("-3", -3), ("0.5", 0.5), ("a", "a")),
    (("'B'", "B"), ("aB_1", "aB_1"), ("7", 7)),
    (("'x(y)'", "x(y)"), ("'in'", "in"), ("''", "")),
    (("'über'", "über"), ("'a\\nb'", "a\nb"), ("'if'", "if")),
)
NUMBERS = (1, 3, 4.5, 7, -2, 0, 10)
PLACES = ("home", "work")
EVENTS = {"e": "x", "g": "x", "h": "xx", "v": "xn", "go": "xp", "k": "", "w": "nn", "m": "xxn", "'Go!'": "x"}
"""Input events and the sorts of their arguments: individual, number, place."""
INPUTS: dict[str, tuple[str, tuple[Ground, ...]]] = {
    "near": ("xx", ("true",)),
    "mode": ("x", ("on", "off")),
    "walk": ("x", ("true",)),
    "level": ("x", (1, 3, 4.5, -2)),
    "alarm": ("", ("true",)),
}
"""Input fluents: the sorts of their arguments, and their values; `walk` arrives as points."""
DECLARATIONS = (
    "collectIntervals(mode(_)=on).",
    "collectIntervals(mode(_)=off).",
    "fluent level(a).",
    "fluent alarm.",
)
BACKGROUND = """
good({0}). good({2}). linked({0}, {1}). linked({1}, {2}). linked({2}, {2}).
weight({0}, 3). weight({1}, 4.5). weight({1}, -2). wait({0}, 3). wait({1}, 5).
limit(4). limit(2.5). next(true, off, 2). next(off, true, 4). next(low, mid, 2). next(mid, high, 3). next(low, high, 5).
at_home({0}, home). at_home({1}, work). zone(home, 0, 3). zone(work, 3.5, 8). box(in({0}), {1}). box(in({1}), {2}).
big(X) :- weight(X, W), W > 3.
apart(X, Y, D) :- D is abs(X - Y).
turn(A, B, C) :- D is abs(A - B) mod 360, C is min(D, 360 - D).
class(S, low) :- S < 3.
class(S, high) :- S >= 3, S < 7.
class(S, top) :- \\+ S < 7.
friend(X, Y) :- linked(X, Y) ; linked(Y, X).
ally(X, Y) :- linked(X, Y).
ally(X, Y) :- linked(Y, X), good(Y).
lonely(X) :- good(X), \\+ linked(X, _).
same(X, X).
equal(X, Y) :- X = Y.
either(X) :- (good(X) ; big(X)).
half(X, R) :- R is floor(X / 2).
root(X, R) :- X >= 0, R is sqrt(X * X).
where(S, P) :- zone(P, Lo, Hi), S >= Lo, S =< Hi.
nowhere(S) :- \\+ where(S, _).
two(X, Y) :- linked(X, Z), linked(Z, Y).
self(X) :- linked(X, X).
never(X) :- good(X), fail.
""".strip()
VALUES = (("true",), ("true", "off"), ("low", "mid", "high"), ("true", "false"), ("1", "2"), ("'On'", "-1"))
ALLEN = ("before", "meets", "overlaps", "starts", "finishes", "during", "equal")
DURATIONS = ("intDurGreater", "intDurLess", "intDurAtLeast", "intDurAtMost")


@dataclass(frozen=True)
class Fluent:
    """A fluent; `kind` is simple, determined or input; `open` is the sort of values that come from the data."""

    name: str
    sorts: str
    values: tuple[str, ...]
    kind: str
    rank: int
    open: str = ""


def term_text(name: str, arguments: Sequence[str]) -> str:
    return f"{name}({', '.join(arguments)})" if arguments else name


def rule_text(head: str, conditions: Sequence[str], neck: str = ":-") -> str:
    return f"{head} {neck} {', '.join(conditions)}." if conditions else f"{head}."
