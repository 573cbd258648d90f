"""LARS in use: choices and clingo, no answer stream, pushed changes and pulled answers."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest
from lars_programs import Fact, Timeline, batch, current, lasting

import thalweg
from thalweg.lars.reasoner import Reasoner
from thalweg.lars.solving import SolverMissing

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ONE_OF_MANY = """program lars.
pick(X) if [5] sometime p(X), not skip(X).
skip(X) if [5] sometime p(X), pick(Y), X \\= Y.
some if pick(_).
"""
"""Exactly one of all that are there: every pair of them excludes each other, so that they are one group."""
ODD = "program lars. a if [2] sometime p, not b. b if [2] sometime q. a if b, not a.\n"
PLENTY: list[Fact] = [(1, "p", (x,)) for x in range(12)]


def chosen(reasoner: Reasoner) -> set[str]:
    return {atom for _, atom in current(reasoner) if atom.startswith("pick(")}


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
