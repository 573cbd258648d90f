"""LARS in use: choices and clingo, no answer stream, pushed changes and pulled answers."""

from __future__ import annotations

import sys
from datetime import timedelta
from itertools import permutations
from pathlib import Path

import pytest
from lars_programs import Fact, Timeline, batch, current, heads, lasting, term

import thalweg
from thalweg.analysis.checker import check
from thalweg.language.diagnostics import ProgramError, Severity
from thalweg.language.terms import Atom, Term
from thalweg.lars.reasoner import Reasoner
from thalweg.lars.solving import SolverMissing
from thalweg.reference.lars import answer_streams

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ONE_OF_MANY = """program lars.
pick(X) if [5] sometime p(X), not skip(X).
skip(X) if [5] sometime p(X), pick(Y), X \\= Y.
some if pick(_).
"""
"""Exactly one of all that are there: every pair of them excludes each other, so that they are one group."""
ODD = "program lars. a if [2] sometime p, not b. b if [2] sometime q. a if b, not a.\n"
PLENTY: list[Fact] = [(1, "p", (x,)) for x in range(12)]


WORDS = """program lars.
hop(X) if over(X).
at(T+2) at(X) if [3] at(T) in(X).
sometime(X) if [2] sometime at(X), N = count(X) over [3] in(X), N >= 1.
always(X) if [1] sometime over(X), not [3] sometime 'sometime'(X).
over if hop(X), in(X).
some(N) if over, N = count(X) over [5] over(X).
"""


def given(data: list[Fact], t: int) -> list[tuple[int, Term]]:
    """What the definition is told at a tick."""
    return [(fact[0], term(fact)) for fact in data if fact[0] <= t]


def test_predicates_may_be_called_like_the_words_of_windows() -> None:
    program = thalweg.parse(WORDS)
    data: list[Fact] = [(4, "over", ("a",)), (5, "over", ("a",)), (5, "in", ("a",)), (5, "over", ("b",))]
    reasoner = Reasoner(program)
    reasoner.accept(batch(data))
    seen = set()
    for t in range(4, 10):
        reasoner.advance(t)
        (wanted,) = answer_streams(program, given(data, t), t)
        assert current(reasoner) == heads(wanted.heads)
        seen |= {atom.split("(")[0] for _, atom in current(reasoner)}
    assert seen == {"hop", "at", "sometime", "always", "over", "some"}


def test_two_aggregates_that_share_a_variable_are_made_for_each_of_its_values() -> None:
    rule = "M = sum(D) over [2] temp(D), C = count({0}) over [2] temp({0}), A = M / C"
    data: list[Fact] = [(10, "temp", (35,)), (11, "temp", (36,))]
    for other, wanted, codes in (("D", {"mean(35)", "mean(36)"}, ["TW212"]), ("E", {"mean(35.5)"}, [])):
        program = thalweg.parse(f"program lars. mean(A) if {rule.format(other)}.")
        (answer,) = answer_streams(program, given(data, 11), 11)
        reasoner = Reasoner(program)
        reasoner.accept(batch(data))
        reasoner.advance(11)
        assert {atom for _, atom in current(reasoner)} == {atom for _, atom in heads(answer.heads)} == wanted
        assert [d.code for d in check(program)] == codes


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (("S = sum(D) over [2] temp(M, D)", "C = count(E) over [2] hum(M, E)"), set()),
        (("S = sum(D) over [2] temp(M, D)", "C = count(E) over [2] hum(M, E)", "r(M)"), {"h(m,0)", "h(k,1)"}),
        (("C = count(E) over [2] hum(M, E)", "r(M)"), {"h(m,0)", "h(k,1)"}),
        (("q(Q)", "S = max(D) over [2] temp(_, D)", "C = count(E) over [2] hum(M, E)", "p(M, S*2)"), {"h(z,0)"}),
    ],
)
def test_the_order_of_a_body_does_not_say_whether_a_group_may_be_empty(body: tuple[str, ...], wanted: set[str]) -> None:
    data: list[Fact] = [(1, "temp", ("m", 3)), (1, "hum", ("k", 3)), (1, "q", (3,)), (1, "p", ("z", 6))]
    data += [(1, "r", ("m",)), (1, "r", ("k",))]
    for order in permutations(body):
        program = thalweg.parse(f"program lars. h(M, C) if {', '.join(order)}.")
        (answer,) = answer_streams(program, given(data, 1), 1)
        reasoner = Reasoner(program)
        reasoner.accept(batch(data))
        reasoner.advance(1)
        assert {atom for _, atom in current(reasoner)} == {atom for _, atom in heads(answer.heads)} == wanted, order


def test_variables_that_something_else_binds_may_be_shared_by_aggregates() -> None:
    for body in (
        "d(D), S = sum(D) over [2] p(M, D), C = count(D) over [2] p(M, D)",
        "S = sum(D) over [2] p(M, D), C = count(E) over [2] p(M, E)",
        "S = sum(D) over [2] p(M, D), C = count(M) over [2] p(M, _)",
        "S = sum(D) over [2] p(M, D)",
        "S = count(1) over [2] p(M, D), C = count(1) over [2] q(M, D)",
    ):
        found = check(thalweg.parse(f"program lars. h(M) if at(T) e(M), {body}, {'C' if 'C =' in body else 'S'} > 1."))
        assert "TW212" not in {d.code for d in found}, body


def test_windows_that_count_count_input_only_and_cut_nothing_that_is_derived() -> None:
    program = thalweg.parse("p(X) if s(X). last(X) if [1 #] sometime p(X). at(5) p(c) if s(b).")
    data: list[Fact] = [(1, "s", ("a",)), (2, "s", ("b",))]
    for t, wanted in ((1, {"p(a)", "last(a)"}), (2, {"p(b)", "last(b)", "p(c)"}), (3, set())):
        reasoner = Reasoner(program)
        reasoner.accept(batch([row for row in data if row[0] <= t]))
        reasoner.advance(t)
        (answer,) = answer_streams(program, given(data, t), t)
        assert {atom for _, atom in current(reasoner)} == {atom for _, atom in heads(answer.heads)} == wanted


def chosen(reasoner: Reasoner) -> set[str]:
    return {atom for _, atom in current(reasoner) if atom.startswith("pick(")}


BESIDE = """program lars.
p(1). unread(1).
q(X) if p(X).
gone(X) if [3] sometime p(X), not p(X).
last(X) if [1 #] sometime p(X).
same(X) if [2] always p(X).
"""


def test_rows_beside_the_facts_of_the_program_are_facts_at_their_point() -> None:
    program = thalweg.parse(BESIDE)
    data: list[Fact] = [(5, "p", (2,)), (6, "p", (1,)), (7, "p", (2,)), (7, "p", (3,))]
    reasoner, seen = Reasoner(program), set()
    for t in range(12):
        reasoner.accept(batch([fact for fact in data if fact[0] == t]))
        reasoner.advance(t)
        (wanted,) = answer_streams(program, given(data, t), t)
        assert current(reasoner) == heads(wanted.heads)
        seen |= {atom for _, atom in current(reasoner)}
    assert {"q(2)", "gone(2)", "last(3)", "same(1)"} <= seen


@pytest.mark.parametrize("place", ["X + Y", "Y * 2", "2 - Y"])
def test_a_computation_does_not_say_at_which_point_background_is_meant(place: str) -> None:
    program = thalweg.parse(f"program lars. q(1). d(X) if [4] at(Y) q(X), e(X, {place}).")
    assert "TW404" in {problem.code for problem in check(program)}
    Reasoner(thalweg.parse(f"program lars. q(1). d(X) if [4] at(Y) q(X), e(X, {place}), s(Y)."))
    Reasoner(thalweg.parse("program lars. q(1). d(X) if [4] at(Y) q(X), e(X, Y + 1)."))


def test_a_run_takes_rows_beside_facts_and_refuses_those_that_no_rule_reads() -> None:
    rows = [{"name": name, "time": 5, "arg1": arg} for name, arg in (("p", 2), ("p", 1), ("unread", 2))]
    found = thalweg.run(BESIDE, rows, end=9)
    (refused,) = found["rejected"].to_pylist()
    assert (refused["row"], refused["reason"], refused["detail"]) == (3, "unknown-name", "no rule reads unread")
    told = {(row["atom"], row["from"], row["to"]) for row in found["answers"].to_pylist()}
    assert {("q(2)", 5, 5), ("gone(2)", 6, 8), ("q(1)", 0, None)} <= told


def test_a_choice_among_many_is_made_by_clingo_and_kept() -> None:
    reasoner = Reasoner(thalweg.parse(ONE_OF_MANY))
    reasoner.accept(batch([*PLENTY, (4, "p", (11,)), (4, "p", (3,))]))
    reasoner.advance(1)
    first = chosen(reasoner)
    assert len(first) == 1
    reasoner.advance(6)
    assert chosen(reasoner) == first
    reasoner.advance(9)
    assert chosen(reasoner) <= {"pick(3)", "pick(11)"} and len(chosen(reasoner)) == 1


def test_a_choice_that_is_still_valid_when_others_leave_is_kept() -> None:
    reasoner = Reasoner(thalweg.parse(ONE_OF_MANY))
    reasoner.accept(batch([(1, "p", (2,))]))
    reasoner.advance(1)
    assert chosen(reasoner) == {"pick(2)"}
    reasoner.accept(batch([(2, "p", (1,)), (3, "p", (0,))]))
    for t in range(2, 7):
        reasoner.advance(t)
        assert chosen(reasoner) == {"pick(2)"}
    reasoner.advance(7)
    assert len(chosen(reasoner)) == 1 and chosen(reasoner) < {"pick(0)", "pick(1)"}


def test_all_of_many_answer_streams_can_be_counted() -> None:
    reasoner = Reasoner(thalweg.parse(ONE_OF_MANY))
    reasoner.accept(batch(PLENTY))
    reasoner.advance(1)
    rows = reasoner.models().to_pylist()
    assert {r["model"] for r in rows} == set(range(1, 13))
    assert {r["model"] for r in reasoner.models(5).to_pylist()} == set(range(1, 6))


def test_answer_streams_are_numbered_by_what_they_derive_whatever_was_chosen_before() -> None:
    program = "program lars. day(X) :- on(X), not night(X), not [3] sometime dark. night(X) :- on(X), not day(X)."
    rows = [(9, "on", ("b",)), (9, "on", ("a",))]
    fresh, used = Reasoner(thalweg.parse(program)), Reasoner(thalweg.parse(program))
    used.accept(batch([(1, "dark", ()), *((t, "on", (x,)) for t in (1, 2, 3) for x in "ab")]))
    for reasoner in (fresh, used):
        reasoner.accept(batch(rows))
        reasoner.advance(9)
    for reasoner in (fresh, used):
        assert sorted((row["model"], row["atom"]) for row in reasoner.models().to_pylist()) == [
            *((1, "day(a)"), (1, "day(b)")),
            *((2, "day(a)"), (2, "night(b)")),
            *((3, "day(b)"), (3, "night(a)")),
            *((4, "night(a)"), (4, "night(b)")),
        ]


@pytest.mark.parametrize("stops", [[9], [2, 3, 9], list(range(10))], ids=str)
def test_answer_streams_are_listed_where_they_may_change_and_not_where_somebody_asks(stops: list[int]) -> None:
    program = "program lars. day(X) :- [2] sometime on(X), not night(X). night(X) :- [2] sometime on(X), not day(X)."
    reasoner = Reasoner(thalweg.parse(program), models=0)
    reasoner.accept(batch([(1, "on", ("a",)), (6, "on", ("a",))]))
    found = [row for to in stops for row in reasoner.advance(to)["models"].to_pylist()]
    assert {(row["query_time"], row["model"], row["atom"]) for row in found} == {
        *((time, number, atom) for time in (1, 6) for number, atom in ((1, "day(a)"), (2, "night(a)"))),
        *((time, 1, None) for time in (4, 9)),
    }


@pytest.mark.parametrize("stops", [[9], [7, 9], list(range(10))], ids=str)
def test_a_derived_atom_that_gets_its_first_input_is_looked_at_point_by_point(stops: list[int]) -> None:
    """It held until then, as far as was known; what was said to follow goes with it."""
    reasoner = Reasoner(thalweg.parse("program lars. e :- not at(T) c. g :- at(S) e."))
    reasoner.accept(batch([(0, "c", ()), (8, "e", ())]))
    found = [row for to in stops for row in reasoner.advance(to)["changes"].to_pylist()]
    assert [(row["atom"], row["from"], row["to"]) for row in found] == [("g", 8, None)]


def test_without_clingo_a_large_choice_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clingo", None)
    reasoner = Reasoner(thalweg.parse(ONE_OF_MANY))
    reasoner.accept(batch(PLENTY))
    with pytest.raises(SolverMissing, match=r"needs the answer-set solver clingo.*pip install thalweg\[lars\]"):
        reasoner.advance(1)


def test_without_clingo_small_choices_are_made_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clingo", None)
    reasoner = Reasoner(thalweg.parse(ONE_OF_MANY))
    reasoner.accept(batch(PLENTY[:3]))
    reasoner.advance(1)
    assert len(chosen(reasoner)) == 1


def test_no_answer_stream_is_told_with_its_loop_and_its_end() -> None:
    reasoner = Reasoner(thalweg.parse(ODD))
    reasoner.accept(batch([(3, "q", ())]))
    rows = reasoner.advance(9)["no_answer"].to_pylist()
    assert [(r["query_time"], r["op"], r["loop"], r["until"]) for r in rows] == [
        (3, "insert", "a", 5),
        (6, "delete", "a", None),
    ]


def test_late_rows_revise_where_there_is_no_answer_stream() -> None:
    reasoner = Reasoner(thalweg.parse("program lars. broken if [4] sometime s, not broken."), lateness=5)
    reasoner.accept(batch([(5, "s", ())]))
    reasoner.advance(5)
    reasoner.accept(batch([(3, "s", ())], [6]))
    earlier = reasoner.advance(6)["no_answer"].to_pylist()
    assert [(r["op"], r["from"], r["to"]) for r in earlier] == [("insert", 3, 4)]
    reasoner.accept(batch([(3, "s", ()), (5, "s", ())], [7, 7], [-1, -1]))
    gone = reasoner.advance(7)["no_answer"].to_pylist()
    assert [(r["op"], r["from"], r["to"], r["until"]) for r in gone] == [("delete", 3, None, None)]


def test_pulled_answers_are_the_pushed_changes_folded() -> None:
    program = thalweg.load(EXAMPLES / "bus_and_tram" / "bus.lars")
    facts: list[Fact] = [(372, "busG", ()), (391, "tramB", ()), (397, "request", ()), (400, "jam", ())]
    push, pull, timeline = Reasoner(program), Reasoner(program, blocks=True), Timeline()
    push.accept(batch(facts))
    pull.accept(batch(facts))
    for t in range(420):
        timeline.apply(push.advance(t)["changes"], t)
    for t in (396, 401, 404, 410):
        pull.advance(t)
        assert current(pull) == timeline.at(t)


def test_answers_and_labels_come_with_every_call_on_request() -> None:
    program = thalweg.load(EXAMPLES / "bus_and_tram" / "bus.lars")
    reasoner = Reasoner(program, answers=True, labels=True)
    reasoner.accept(batch([(397, "request", ())]))
    revision = reasoner.advance(397)
    assert revision["answers"].to_pylist() == [{"atom": "on", "at": None, "from": 397, "to": 407, "exact": True}]
    assert {"atom": "on", "status": "in", "from": 397, "to": 407, "exact": True} in revision["labels"].to_pylist()


LASTING = "program lars. f(1). f(2). p(X) if f(X), not [5] sometime stop. "
"""p(1) and p(2) last until further input."""


@pytest.mark.parametrize(
    "rest, atom, until",
    [
        ("r(N) if N = count(X) over [3] p(X).", "r(2)", None),
        ("s(X) if f(X), not [5] sometime other. r(X) if [3] at(T) p(X), [2] at(T) s(X).", "r(1)", None),
        ("at(T+2) q(X) if [3] at(T) p(X). r(X) if [+5] sometime q(X).", "r(1)", None),
        ("s if [3000] sometime a. at(T) q if [1] at(T) s. r if [9] sometime q.", "r", 3000),
        ("r(X) if [3 hop 200] sometime p(X).", "r(1)", 0),
    ],
)
def test_labels_of_what_rests_on_long_heads_end_with_them(rest: str, atom: str, until: int | None) -> None:
    reasoner = Reasoner(thalweg.parse(LASTING + rest))
    reasoner.accept(batch([(0, "a", ())]))
    reasoner.advance(0)
    assert lasting(reasoner)[None, atom] == until


def test_the_next_turn_of_a_long_hop_is_known() -> None:
    reasoner = Reasoner(thalweg.parse(LASTING + "r(X) if [3 hop 200] sometime p(X)."))
    reasoner.advance(0)
    assert {r["until"] for r in reasoner.advance(1)["changes"].to_pylist() if r["op"] == "delete"} == {199}


def test_a_program_of_another_kind_is_told_which_reasoner_takes_it() -> None:
    with pytest.raises(ValueError, match=r"takes a LARS program, and this is .*: use thalweg\.Reasoner,"):
        Reasoner(thalweg.parse("initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."))
    with pytest.raises(ValueError, match=r"takes a LARS program \(thalweg.load, thalweg.parse\), not str"):
        Reasoner("program lars. tick 1m. a if b.")  # type: ignore[arg-type]


def test_lateness_may_be_a_timedelta_where_the_program_has_a_tick() -> None:
    assert Reasoner(thalweg.parse("program lars. tick 1m. a if b."), lateness=timedelta(minutes=3)).lateness == 3


def test_what_is_no_batch_and_no_time_is_refused() -> None:
    reasoner = Reasoner(thalweg.parse("program lars. tick 1m. a if b."))
    with pytest.raises(TypeError, match=r"thalweg\.rows"):
        reasoner.accept([{"name": "b"}])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"whole numbers of time-points here, or timedeltas, not 2\.5"):
        reasoner.advance(2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("negated", "ticks"),
    [
        ("[1] at(T+1) b", {0, 1, 2, 5, 6}),
        ("at(T+1) b", {0, 1, 2}),
        ("at(1 + T) b", {0, 1, 2}),
        ("[1] at(T-1) b, not [1] at(T-1) z", {0, 1, 2, 5, 6}),
        ("p(X + 1)", {0, 1, 2, 3, 5, 6}),
        ("[1] at(T+1) p(X - 2)", {0, 1, 2, 3, 6}),
    ],
)
def test_a_computed_place_under_a_negation_is_any_place_where_nothing_else_says_which(
    negated: str, ticks: set[int]
) -> None:
    reasoner, timeline = Reasoner(thalweg.parse(f"program lars. c if a, not {negated}.")), Timeline()
    reasoner.accept(batch([*((t, "a", ()) for t in range(7)), (3, "b", ()), (4, "p", (7,))]))
    timeline.apply(reasoner.advance(6)["changes"], 6)
    assert {t for t in range(7) if timeline.at(t)} == ticks


@pytest.mark.parametrize("body", ["[2] at(2 * T) b", "p(Y), not r(X, X + Y)", "not p(X * 2)"])
def test_a_computation_in_an_atom_whose_variables_nothing_binds_is_refused(body: str) -> None:
    program = thalweg.parse(f"program lars. c if a, {body}.")
    (found,) = (d for d in check(program) if d.severity is Severity.ERROR)
    assert found.code == "TW110"
    assert found.message.endswith("is needed in an argument or a point that is computed and nothing binds it")
    with pytest.raises(thalweg.ProgramError, match="TW110"):
        Reasoner(program)


@pytest.mark.parametrize(
    ("body", "ticks"),
    [
        ("not r(X, X + 1)", {0, 1, 2, 4, 5, 6}),
        ("not r(X, X * 2)", {0, 1, 2, 3, 4, 6}),
        ("not r(X * 2 - 3, X)", {0, 1, 2, 3, 5, 6}),
        ("not [1] sometime r(X - 1, X)", {0, 1, 2, 5, 6}),
        ("not [1] at(T) r(T, T + 1)", {0, 1, 2, 5, 6}),
        ("not [2] at(T+1) r(T, _)", {0, 1, 2, 3, 4}),
        ("p(Y), not [0] sometime r(X, X + 1, Y)", {5, 6}),
        ("p(Y), not [1] sometime r(X, X + 1, Y)", {6}),
    ],
)
def test_a_negated_atom_may_compute_with_variables_of_its_own(body: str, ticks: set[int]) -> None:
    """There is no such atom, whatever their values are."""
    program, timeline = thalweg.parse(f"program lars. c if a, {body}."), Timeline()
    facts: list[Fact] = [*((t, "a", ()) for t in range(7)), (3, "r", (3, 4)), (4, "r", (7, 5)), (5, "r", (4, 8))]
    facts += [(4, "r", (3, 4, 7)), (4, "p", (7,)), (5, "p", (7,)), (6, "p", (8,))]
    facts = [f for f in facts if f"{f[1]}(" in body or f[1] == "a"]
    facts = [f for f in facts if f[1] != "r" or len(f[2]) == (3 if "Y" in body else 2)]
    reasoner = Reasoner(program)
    reasoner.accept(batch(facts))
    timeline.apply(reasoner.advance(6)["changes"], 6)
    assert {t for t in range(7) if timeline.at(t)} == ticks
    for t in range(7):
        (answer,) = answer_streams(program, [(f[0], term(f)) for f in facts], t)
        assert bool(answer.heads) == (t in ticks)


@pytest.mark.parametrize(
    ("test", "holds"),
    [("X @< ann", True), ("X @=< 'C'", True), ("X @> ann", False), ("ann @> X", True), ("ann @< X", False),
     ("not X @< ann", False), ("X @< pi", True), ("T @< ann", True), ("T @>= pi", False),
     ("W @> X", True), ("T @< W", True), ("W @=< T", False), ("N @< T", True), ("N @> X", False),
     ("not N @< X", False), ("T + 1 @> X", False), ("X @< 10 + T * 10", True), ("N @< pi - 4", True),
     ("X @< T / 0", False), ("X @< f(a)", True), ("W @< f(a)", True), ("zz @< f(a)", True), ("W @>= 'A'(a)", False),
     ("T @< f(a)", True), ("f(a) @=< N", False), ("not T @>= f(a)", True), ("f(b) @< g(a)", True),
     ("g(a) @< f(a, b)", True), ("f(10) @> f(9)", True), ("f(f(a)) @> f(z)", True), ("f(a) @=< f(a)", True)],
)  # fmt: skip
def test_numbers_come_before_texts_and_these_before_terms_in_the_standard_order(test: str, holds: bool) -> None:
    seen = "[9] sometime q(X), [9] sometime w(W), [9] sometime n(N)"
    rules = f"p if [9] sometime q(X), X > 1. c if {seen}, [0] at(T) p, {test}."
    program = thalweg.parse(f"program lars. {rules}")
    reasoner = Reasoner(program)
    facts = [(1, "q", (20,)), (1, "w", ("'Bob B'",)), (1, "n", (-1.5,))]
    reasoner.accept(batch(facts))
    reasoner.advance(4)
    assert ((None, "c") in current(reasoner)) == holds
    assert lasting(reasoner).get((None, "c"), 10) == 10
    (answer,) = answer_streams(program, [(f[0], term(f)) for f in facts], 4)
    assert ((None, Atom("c")) in {head for _, head in answer.heads}) == holds


@pytest.mark.parametrize("test", ["f(X) @< f(n)", "f(X) = f(m)", "X \\= f(X)", "X @< f(g(X))", "X = [X]"])
def test_terms_with_variables_are_not_compared(test: str) -> None:
    with pytest.raises(ProgramError, match=r"TW406.*is compared as a whole"):
        thalweg.run(f"program lars. p(X) if [5] sometime q(X), {test}.", [{"name": "q", "time": 1, "x": "m"}])


def test_texts_are_compared_without_their_quotes() -> None:
    reasoner = Reasoner(thalweg.parse("program lars. c(X) if p(X), X @< itA."))
    reasoner.accept(batch([(1, "p", ("it's",)), (1, "p", ("it_s",))]))
    reasoner.advance(1)
    assert current(reasoner) == {(None, "c('it\\'s')")}


@pytest.mark.parametrize("mode", ["sometime", "always"])
def test_before_the_first_hop_a_window_that_lies_before_the_timeline_sees_no_background(mode: str) -> None:
    program = thalweg.parse(f"program lars. p(2). c(X) if [2 hop 4] {mode} p(X).")
    reasoner, timeline = Reasoner(program, start=3), Timeline()
    timeline.now = 2
    timeline.apply(reasoner.advance(6)["changes"], 6)
    assert [t for t in range(3, 7) if timeline.at(t)] == [4, 5, 6]
    assert lasting(reasoner) == {(None, "c(2)"): None}


@pytest.mark.parametrize("start", [-9, 0])
def test_changes_before_tick_zero_are_told_like_others(start: int) -> None:
    program = thalweg.parse("program lars. on if [4] sometime p, not [0] sometime q.")
    reasoner = Reasoner(program, start=start)
    reasoner.accept(batch([(start, "p", ()), (start + 1, "q", ())]))
    told = [(row["op"], row["from"] - start) for row in reasoner.advance(start + 8)["changes"].to_pylist()]
    assert told == [("insert", 0), ("delete", 1), ("insert", 2), ("delete", 5)]


@pytest.mark.parametrize("body", ["p(Y)", "[3] sometime p(Y)", "[+2] sometime p(Y), a", "[2 #] sometime p(Y)"])
def test_a_value_that_is_no_point_of_the_timeline_is_no_point_of_a_head(body: str) -> None:
    reasoner = Reasoner(thalweg.parse(f"program lars. at(Y) e if {body}."))
    reasoner.accept(batch([(1, "a", ()), (1, "p", (1.5,)), (1, "p", (-3,)), (1, "p", (4,))]))
    reasoner.advance(1)
    assert current(reasoner) <= {(4, "e")}
    assert current(reasoner) or "#" in body


def test_a_computed_argument_binds_no_group_of_an_aggregate() -> None:
    reasoner = Reasoner(thalweg.parse("program lars. s(X, M) if c(X * 2), M = sum(N) over [3] r(X, N)."))
    reasoner.accept(batch([(1, "c", (4,)), (1, "c", (6,)), (1, "r", (2, 7)), (1, "r", (1, 5))]))
    reasoner.advance(1)
    assert current(reasoner) == {(None, "s(2,7)")}


@pytest.mark.parametrize("predict", [True, False])
def test_a_choice_that_gets_its_first_input_ends_when_its_reasons_do(predict: bool) -> None:
    """Also where a reason was taken back just before."""
    program = thalweg.parse("program lars. d(X) if [2] sometime p(X), not c. c if [2] sometime p(X), not d(X).")
    reasoner, timeline = Reasoner(program, lateness=1, predict=predict), Timeline()
    rows: list[tuple[Fact, int, int]] = [
        ((8, "p", (2,)), 8, 1), ((9, "p", (2,)), 9, 1), ((9, "p", (3,)), 9, 1), ((9, "p", (2,)), 10, -1),
        ((11, "d", (7,)), 11, 1),
    ]  # fmt: skip
    for tick in range(8, 12):
        reasoner.accept(batch(*([row[i] for row in rows if row[1] == tick] for i in range(3))))
        timeline.apply(reasoner.advance(tick)["changes"], tick)
        assert timeline.at(tick) == current(reasoner)
    assert timeline.at(11) == {(None, "d(3)")}


def test_a_computation_inside_an_aggregate_that_rests_on_others_is_refused_with_what_to_write() -> None:
    rule = "c(M) if q(X), {}M = count(N) over [3] r({}, N)."
    (found,) = (d for d in check(thalweg.parse(f"program lars. {rule.format('', 'X * 2')}")) if d.code == "TW406")
    assert found.message == "`X*2` in `r(X*2, N)` does not follow from its other arguments"
    reasoner = Reasoner(thalweg.parse(f"program lars. {rule.format('V = X * 2, ', 'V')}"))
    reasoner.accept(batch([(1, "q", (2,)), (1, "r", (4, 5)), (1, "r", (3, 5))]))
    reasoner.advance(1)
    assert current(reasoner) == {(None, "c(1)")}


@pytest.mark.parametrize(("counted", "total"), [("r(N * 2, N)", 5), ("r(N - 3, N)", 7), ("r(_, N)", 13)])
def test_an_aggregate_may_compute_with_the_arguments_of_its_atom(counted: str, total: int) -> None:
    program = thalweg.parse(f"program lars. s(M) if a, M = sum(N) over [3] {counted}.")
    facts: list[Fact] = [(1, "r", (2, 1)), (2, "r", (8, 4)), (2, "r", (5, 1)), (3, "r", (4, 7)), (3, "a", ())]
    reasoner = Reasoner(program)
    reasoner.accept(batch(facts))
    reasoner.advance(3)
    assert current(reasoner) == {(None, f"s({total})")}
    (answer,) = answer_streams(program, [(f[0], term(f)) for f in facts], 3)
    assert heads(answer.heads) == current(reasoner)
