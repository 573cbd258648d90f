"""The definitions of SEMANTICS section 3 against its own tables, the seed's examples and the edges of windows."""

from __future__ import annotations

import pytest

import thalweg
from thalweg.language.rules import Window
from thalweg.language.terms import Atom, Compound, Number, Term, Variable
from thalweg.reference.lars import answer_streams, prefer
from thalweg.reference.lars_streams import Stream, pick
from thalweg.reference.lars_terms import text

BUS = """
program lars.
tick 6s.
at(T+3m) expBusM if [3m] at(T) busG, on.
at(T+5m) expTrM if [5m] at(T) tramB, on.
on if [1m] sometime request.
takeBusM if [+5m] sometime expBusM, not takeTrM, not [3m] sometime jam.
takeTrM if [+5m] sometime expTrM, not takeBusM.
"""
A, B, C, X = Atom("a"), Atom("b"), Atom("c"), Variable("X")
INPUT: list[tuple[int, Term]] = [(372, Atom("busG")), (391, Atom("tramB")), (397, Atom("request"))]
JAM: list[tuple[int, Term]] = [*INPUT, (400, Atom("jam"))]
BOTH = "expBusM@402 expTrM@441 on@{t}"


def derived(rules: str, data: list[tuple[int, Term]], t: int, start: int = 0) -> list[str]:
    """Each answer stream as sorted text."""
    found = answer_streams(thalweg.parse(rules), data, t, start)
    return sorted(" ".join(sorted(f"{text(a)}@{u}" for u, a in answer.derived)) for answer in found)


@pytest.mark.parametrize("t", [372, 380, 391])
@pytest.mark.parametrize("data", [INPUT, JAM])
def test_nothing_is_derived_before_the_request(data: list[tuple[int, Term]], t: int) -> None:
    assert derived(BUS, data, t) == [""]


@pytest.mark.parametrize(("data", "t"), [(INPUT, 397), (INPUT, 400), (INPUT, 402), (JAM, 397)])
def test_bus_or_tram_while_both_are_expected(data: list[tuple[int, Term]], t: int) -> None:
    base = BOTH.format(t=t)
    assert derived(BUS, data, t) == [f"{base} takeBusM@{t}", f"{base} takeTrM@{t}"]


@pytest.mark.parametrize("t", [400, 402])
def test_a_jam_leaves_only_the_tram(t: int) -> None:
    assert derived(BUS, JAM, t) == [f"{BOTH.format(t=t)} takeTrM@{t}"]


@pytest.mark.parametrize("t", [403, 405, 407])
@pytest.mark.parametrize("data", [INPUT, JAM])
def test_after_the_bus_only_the_tram_is_left(data: list[tuple[int, Term]], t: int) -> None:
    assert derived(BUS, data, t) == [f"expTrM@441 on@{t} takeTrM@{t}"]


@pytest.mark.parametrize("t", [408, 441, 500])
def test_nothing_is_derived_once_the_request_has_left_its_window(t: int) -> None:
    assert derived(BUS, INPUT, t) == [""]


def test_the_previous_choice_is_preferred_and_else_the_earlier_rule() -> None:
    answers = answer_streams(thalweg.parse(BUS), INPUT, 397)
    choices = frozenset({("takeBusM", 0), ("takeTrM", 0)})
    first = prefer(answers, frozenset(), choices)
    assert (397, Atom("takeBusM")) in first.derived
    kept = prefer(answers, frozenset({(None, Atom("takeTrM"))}), choices)
    assert (397, Atom("takeTrM")) in kept.derived


def picked(
    window: Window, facts: list[tuple[int, Term]], t: int, start: int = 0
) -> tuple[int, int | None, str]:
    known = frozenset(facts)
    found = pick(Stream(start, known, known), window, t, Compound("p", (X,)))
    return (
        found.low,
        found.high,
        " ".join(f"{text(a)}@{u}" for u, a in sorted(found.facts, key=lambda f: (f[0], text(f[1])))),
    )


def test_a_time_window_of_the_seed_is_cut_at_the_start_of_the_timeline() -> None:
    assert picked(Window("time", 5), [(3, A)], 6) == (1, 6, "a@3")
    assert picked(Window("time", 5), [(3, A)], 2) == (0, 2, "")


def test_a_future_window_begins_now() -> None:
    assert picked(Window("time", 0, 2), [(3, A), (5, B), (6, C)], 4) == (4, 6, "b@5 c@6")


def test_a_hopping_window_stands_still_between_hops() -> None:
    facts: list[tuple[int, Term]] = [(3, A), (5, B), (7, C)]
    assert picked(Window("time", 3, 0, 4), facts, 7) == (1, 4, "a@3")
    assert picked(Window("time", 3, 0, 4), facts, 8) == (5, 8, "b@5 c@7")


def test_a_tuple_window_cuts_within_a_point_in_the_order_of_texts() -> None:
    facts: list[tuple[int, Term]] = [(1, C), (2, A), (2, B), (4, A)]
    assert picked(Window("tuple", 2), facts, 4) == (2, 4, "b@2 a@4")
    assert picked(Window("tuple", 3), facts, 4) == (2, 4, "a@2 b@2 a@4")
    assert picked(Window("tuple", 9), facts, 4) == (0, 4, "c@1 a@2 b@2 a@4")


def test_a_partition_window_counts_for_each_value() -> None:
    def p(n: int) -> Term:
        return Compound("p", (Number(n),))

    facts = [(1, p(1)), (2, p(1)), (3, p(2)), (4, p(1))]
    assert picked(Window("partition", 1, by=(X,)), facts, 5) == (3, 5, "p(2)@3 p(1)@4")


def test_a_window_of_no_atoms_sees_derived_atoms_of_now_alone() -> None:
    derived: frozenset[tuple[int, Term]] = frozenset({(3, Compound("p", (Number(1),)))})
    for window in (Window("tuple", 0), Window("partition", 0, by=(X,))):
        for t in (3, 4):
            found = pick(Stream(0, derived, frozenset()), window, t, Compound("p", (X,)))
            assert (found.low, len(found.facts)) == (t, 4 - t)


@pytest.mark.parametrize(
    ("window", "mode", "held"),
    [
        ("[2]", "sometime", [3, 4, 5, 6, 7, 8]),
        ("[2]", "always", [5, 6]),
        ("[+2]", "sometime", [3, 4, 5, 6]),
        ("[0]", "always", [3, 4, 5, 6]),
        ("[4 hop 4]", "sometime", [4, 5, 6, 7, 8, 9, 10, 11]),
    ],
)
def test_windows_over_a_run_of_input(window: str, mode: str, held: list[int]) -> None:
    data: list[tuple[int, Term]] = [(u, A) for u in (3, 4, 5, 6)]
    assert [
        t for t in range(15) if derived(f"program lars. r if {window} {mode} a.", data, t) != [""]
    ] == held


def test_always_may_hold_on_a_first_partial_window() -> None:
    data: list[tuple[int, Term]] = [(3, A), (4, A), (6, A)]
    assert [t for t in range(3, 9) if derived("r if [5] always a.", data, t, 3) != [""]] == [3, 4]


def test_what_was_derived_before_does_not_count_later() -> None:
    assert derived("r if [5] sometime d. d if a.", [(1, A)], 1) == ["d@1 r@1"]
    assert derived("r if [5] sometime d. d if a.", [(1, A)], 2) == [""]


def test_background_holds_at_every_point() -> None:
    assert derived("a. r if [5] always a.", [], 9) == ["r@9"]


def test_an_odd_loop_has_no_answer_stream() -> None:
    assert derived("r if [1] sometime a, not r.", [(4, A)], 5) == []
    assert derived("r if [1] sometime a, not r.", [(4, A)], 6) == [""]


def test_a_positive_loop_does_not_support_itself() -> None:
    assert derived("program lars. p if q. q if p. r if [1] sometime a, not p.", [(0, A)], 0) == ["r@0"]


def test_aggregates_range_over_occurrences_in_the_window() -> None:
    def v(who: str, n: int) -> Term:
        return Compound("v", (Atom(who), Number(n)))

    data = [(1, v("x", 5)), (2, v("x", 5)), (2, v("y", 1)), (3, v("x", 2))]
    rules = """
    n(W, N) if N = count(V) over [2] v(W, V).
    s(N) if N = sum(V) over [2] v(_, V).
    m(N) if N = min(V) over [9] v(x, V).
    """
    assert derived(rules, data, 3) == ["m(2)@3 n(x,3)@3 n(y,1)@3 s(13)@3"]
    assert derived(rules, data, 9) == ["m(2)@9 s(0)@9"]


def unary(name: str, argument: Term) -> Term:
    return Compound(name, (argument,))


@pytest.mark.parametrize("equation", ["X = Y", "Y = X"])
def test_a_variable_may_stand_on_either_side_of_the_equation_that_gives_its_value(equation: str) -> None:
    data = [(1, unary("p", Atom("Bob B")))]
    assert derived(f"program lars. d(Y) if p(X), {equation}.", data, 1) == ["d('Bob B')@1"]


def test_a_tuple_window_cuts_quoted_texts_where_their_quotes_put_them() -> None:
    data = [(1, unary("p", Number(9))), (1, unary("p", Atom("Bob B")))]
    assert derived("program lars. d(X) if [1 #] sometime p(X).", data, 1) == ["d(9)@1"]


@pytest.mark.parametrize("body", ["q(X), p(X * 2)", "p(X * 2), q(X)", "q(X), p(2 + X)", "p(2 + X)"])
def test_a_computed_argument_of_an_atom_is_its_value(body: str) -> None:
    data = [(1, unary("p", Number(4))), (1, unary("q", Number(2)))]
    assert derived(f"program lars. d(X) if {body}.", data, 1) == ["d(2)@1"]


def test_a_head_between_two_points_is_nowhere() -> None:
    assert derived("program lars. at(X) c if p(X).", [(1, unary("p", Number(1.5)))], 1) == [""]
    assert derived("program lars. at(X) c if p(X).", [(1, unary("p", Number(3.0)))], 1) == ["c@3"]
