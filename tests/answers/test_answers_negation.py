"""Negation over what is not listed: exceptions, what was judged early, what was killed and comes back."""

from __future__ import annotations

import time

from answers_support import facts

from thalweg import parse
from thalweg.answers.offline import check
from thalweg.answers.reasoner import Reasoner


def resumed(reasoner: Reasoner) -> Reasoner:
    """The same reasoner after a stop."""
    made = Reasoner(reasoner.program, reasoner.lateness)
    made.restore(reasoner.snapshot())
    return made


def test_a_rule_about_equal_arguments_makes_the_constant_next_to_a_variable_an_exception() -> None:
    """not p(X, b, 1) fails for b alone: p holds at 1 for all pairs of equals."""
    reasoner = Reasoner(parse("query p(X, Y, T). p(X, X, T+1) :- not p(X, b, T). p(X, X, T) :- e(X, T)."))
    reasoner.advance(1)
    found = {(r["answer"], r["where"]) for r in reasoner.advance(2)["answers"].to_pylist()}
    assert found == {("p(Y, Y, 2)", "Y != b")}


def test_what_an_event_killed_comes_back_by_its_retraction_after_a_stop() -> None:
    reasoner = Reasoner(parse("query p(T). p(T) :- not g(b, Y, T-1)."), 2)
    reasoner.accept(facts(("g", "b", "b", 2), arrival=3))
    reasoner.advance(3)
    reasoner = resumed(reasoner)
    reasoner.accept(facts(("g", "b", "b", 2), arrival=4, op=-1))
    assert [r["answer"] for r in reasoner.advance(4)["answers"].to_pylist()] == ["p(3)"]


def test_an_exception_that_is_retracted_revises_the_answer_about_everybody() -> None:
    reasoner = Reasoner(parse("query r(X, T). r(X, T) :- not q(X, T). q(X, T) :- e(X, T-3), f(X, T)."), 2)
    reasoner.accept(facts(("e", "bob", 0), ("f", "bob", 3)))
    reasoner.accept(facts(("f", "bob", 3), arrival=5, op=-1))
    told = [
        (r["at"], r["op"], r["answer"], r["where"])
        for clock in range(6)
        for r in reasoner.advance(clock)["changes"].to_pylist()
        if r["time"] == 3 and r["status"] == "certain"
    ]
    assert told == [
        (3, "insert", "r(X, 3)", "X != bob"),
        (5, "delete", "r(X, 3)", "X != bob"),
        (5, "insert", "r(X, 3)", None),
    ]


def test_an_exception_to_one_alternative_is_answered_by_another() -> None:
    """bob is not idle at 0, and idle enough at 2."""
    reasoner = Reasoner(parse("query q(X, T). q(X, T) :- not e(X, T). q(X, T) :- not e(X, T+2)."))
    reasoner.accept(facts(("e", "bob", 0), ("e", "ann", 1), ("e", "ann", 3)))
    told = [
        (r["time_known"], r["answer"], r["where"])
        for clock in range(4)
        for r in reasoner.advance(clock)["answers"].to_pylist()
        if r["time"] < 2
    ]
    assert told == [(0, "q(X, 0)", "X != bob"), (1, "q(X, 1)", "X != ann"), (2, "q(X, 0)", None)]


def test_an_exception_to_what_is_certain_may_be_open() -> None:
    reasoner = Reasoner(parse("query q(X, T). q(X, T) :- not e(X, T). q(X, T) :- not e(X, T+1), not e(X, T+2)."))
    reasoner.accept(facts(("e", "bob", 0)))
    reasoner.advance(0)
    assert [r["answer"] for r in reasoner.advance(1)["open"].to_pylist() if r["time"] == 0] == ["q(X, 0)"]


def test_answers_about_equals_do_not_stand_for_answers_about_all_pairs() -> None:
    reasoner = Reasoner(parse("query q(X, Y, T). q(X, X, T) :- not e(X, T). q(X, Y, T) :- not f(X, Y, T)."))
    answers = {r["answer"] for r in reasoner.advance(0)["answers"].to_pylist()}
    assert "q(X, Y, 0)" in answers


def test_an_exception_for_one_value_of_another_variable_is_none_for_the_others() -> None:
    program = parse("query q(X, Y, T). q(X, Y, T) :- not g(Y, X, T), site(X, north). site(a, north). site(b, north).")
    reasoner = Reasoner(program)
    reasoner.accept(facts(("g", "c", "b", 0)))
    found = [(r["answer"], r["where"]) for r in reasoner.advance(0)["answers"].to_pylist()]
    assert found == [("q(a, Y, 0)", None), ("q(b, Y, 0)", "Y != c")]


EARLY = "query r(X, T). r(X, T) :- not g(X, T), e(X, T+2)."


def test_exceptions_of_a_negation_judged_before_its_variable_is_bound_survive_a_stop() -> None:
    reasoner = Reasoner(parse(EARLY))
    reasoner.accept(facts(("g", "b", 0)))
    (before,) = reasoner.advance(0)["open"].to_pylist()
    assert (before["answer"], before["where"], before["evidence"]) == ("r(X, 0)", "X != b", ["not g(X, 0)"])
    assert resumed(reasoner).advance(0)["open"].to_pylist() == [before]


def test_an_exception_agrees_with_every_place_of_its_variable() -> None:
    """Of all q(X, X, 1) only q(b, b, 1) can be."""
    reasoner = Reasoner(parse("query q(X, Y, T). q(X, b, T) :- not q(X, X, T-1), h(X, X, T), not h(a, X, T+1)."), 2)
    reasoner.accept(facts(("h", "a", "a", 1)))
    reasoner.advance(1)
    found = {(r["answer"], r["where"]) for r in reasoner.advance(2)["open"].to_pylist()}
    assert ("q(X, b, 2)", "X != b") in found


def test_exceptions_are_listed_where_one_variable_is_open_and_the_other_not_bound_yet() -> None:
    reasoner = Reasoner(parse("query q(X, Y, T). q(X, Y, T) :- not h(X, Y, T), g(Y, T+1)."))
    reasoner.accept(facts(("h", "a", "b", 0)))
    (row,) = reasoner.advance(0)["open"].to_pylist()
    assert (row["answer"], row["where"]) == ("q(X, Y, 0)", "(X, Y) != (a, b)")


def test_an_exception_that_follows_from_equal_arguments_is_listed_too() -> None:
    """p holds at 1 for all equals, so not p(a, Y, 1) is known of everybody but a."""
    reasoner = Reasoner(parse("query r(Y, T). r(Y, T) :- not p(a, Y, T), e(Y, T+1). p(X, X, T) :- not p(a, X, T-1)."))
    reasoner.advance(0)
    (row,) = [r for r in reasoner.advance(1)["open"].to_pylist() if r["time"] == 1]
    assert (row["answer"], row["where"]) == ("r(Y, 1)", "Y != a")


def test_an_exception_that_is_known_in_part_excludes_whatever_has_that_part() -> None:
    text = "query r(X, Y, T). r(X, Y, T) :- not q(X, Y, T), e(X, Y, T+2). q(X, Y, T) :- g(X, T), h(Y, T+1)."
    reasoner = Reasoner(parse(text))
    reasoner.accept(facts(("g", "a", 0)))
    (row,) = reasoner.advance(0)["open"].to_pylist()
    assert (row["answer"], row["where"]) == ("r(X, Y, 0)", "X != a")


def test_an_exception_that_was_open_is_none_when_the_atom_has_become_impossible() -> None:
    reasoner = Reasoner(parse("query r(X, T). r(X, T) :- not g(X, T), e(X, T+3). g(X, T) :- f(X, T), f(X, T+1)."))
    reasoner.accept(facts(("f", "b", 0)))
    (first,) = [r for r in reasoner.advance(0)["open"].to_pylist() if r["time"] == 0]
    (then,) = [r for r in reasoner.advance(1)["open"].to_pylist() if r["time"] == 0]
    assert (first["where"], then["where"]) == ("X != b", None)


def test_background_that_is_not_joined_yet_is_shown_as_a_condition() -> None:
    text = "query r(X, T). r(X, T) :- not q(X, T), h(Y, T+1), site(X, K). site(a, north). site(b, south)."
    (row,) = Reasoner(parse(text)).advance(0)["open"].to_pylist()
    assert (row["evidence"], row["needed"]) == (["not q(X, 0)"], ["h(Y, 1)", "site(X, K)"])


def test_a_recursion_that_doubles_its_premises_is_refused_in_time() -> None:
    text = """
    query q(T).
    q(T) :- not g(X, X, T-1), p(X, T+2), X =< X.
    p(X, T) :- not g(X, X, T), q(T), q(T), X \\= 2.
    p(Y, T) :- not h(Y, _, T), Y * 2 >= Y + T.
    """
    began = time.process_time()
    assert {d.code for d in check(parse(text))} == {"TW309"}
    assert time.process_time() - began < 3


def test_a_recursion_whose_comparisons_multiply_is_refused_in_time_and_named() -> None:
    text = """query p(Y, T).
    p(Y, T) :- e(Y, T).
    p(Y, T) :- p(X, T), p(X, T), p(Z, T), p(Y, T-1), Y * 2 >= X + Z.
    """
    began = time.process_time()
    (found,) = check(parse(text))
    assert (found.code, found.span.line) == ("TW309", 3)
    assert time.process_time() - began < 3


# --------------------------------------------------------------------------- no such atom


def test_no_such_atom_is_written_as_in_the_rule() -> None:
    reasoner = Reasoner(parse("query quiet(X, T). quiet(X, T) :- room(X, T), not noise(X, _, T+1)."))
    reasoner.accept(facts(("room", "a", 0)))
    (row,) = reasoner.advance(0)["open"].to_pylist()
    assert row["needed"] == ["not noise(a, _, 1)"]
    (row,) = reasoner.advance(1)["answers"].to_pylist()
    assert row["evidence"] == ["room(a, 0)", "not noise(a, _, 1)"]


def test_names_that_are_no_plain_words_are_quoted() -> None:
    reasoner = Reasoner(parse("query 'is quiet'(X, T). 'is quiet'(X, T) :- room(X, T), not 'a noise'(X, _, T)."))
    reasoner.accept(facts(("room", "a", 0)))
    (row,) = reasoner.advance(0)["answers"].to_pylist()
    assert (row["answer"], row["evidence"][1]) == ("'is quiet'(a, 0)", "not 'a noise'(a, _, 0)")


def test_no_such_atom_has_no_name_that_a_rule_could_have() -> None:
    rules = "query quiet(X, T). quiet(X, T) :- room(X, T), not noise(X, _, T). some_noise_1(X, T) :- other(X, T)."
    reasoner = Reasoner(parse(rules))
    reasoner.accept(facts(("room", "a", 0), ("other", "a", 0)))
    assert reasoner.advance(0)["answers"].column("answer").to_pylist() == ["quiet(a, 0)"]


def test_no_such_atom_of_two_predicates_of_one_name_are_two() -> None:
    rules = "query quiet(X, T). quiet(X, T) :- room(X, T), not noise(X, _, T), not noise(X, _, loud, T)."
    reasoner = Reasoner(parse(rules))
    reasoner.accept(facts(("room", "a", 0), ("room", "b", 0), ("noise", "b", "drum", "loud", 0)))
    assert reasoner.advance(0)["answers"].column("answer").to_pylist() == ["quiet(a, 0)"]


def test_no_such_atom_with_a_variable_twice_means_equal_arguments() -> None:
    reasoner = Reasoner(parse("query fair(X, T). fair(X, T) :- game(X, T), not plays(X, Y, Y, T)."))
    reasoner.accept(facts(("game", "chess", 0), ("game", "go", 0)))
    reasoner.accept(facts(("plays", "chess", "ann", "bob", 0), ("plays", "go", "ann", "ann", 0)))
    (row,) = reasoner.advance(0)["answers"].to_pylist()
    assert (row["answer"], row["evidence"][1]) == ("fair(chess, 0)", "not plays(chess, V1, V1, 0)")


def test_what_is_certain_of_all_but_one_decides_nothing_about_that_one() -> None:
    """At 2, e(a, 2) may still come, and with it q(a, 1), as p(a, 0) is false and p(X, 0) is true of all others."""
    rules = "query p(X, T). p(X, T) :- not q(X, T-1). p(X, T) :- not e(X, T+1). q(X, T) :- not p(X, T-1), e(X, T+1)."
    reasoner = Reasoner(parse(rules), lateness=1)
    reasoner.accept(facts(("e", "a", 1)))
    certain = [row["answer"] for row in reasoner.advance(2)["answers"].to_pylist()]
    assert not any(answer.endswith(" 2)") for answer in certain)
    assert any(row["answer"].endswith(" 2)") for row in reasoner.advance(3)["answers"].to_pylist())


def standing(rules: str, *rows: tuple[object, ...], at: int) -> list[tuple[str, str | None]]:
    """The open answers at a clock time, with who is excepted."""
    reasoner = Reasoner(parse(rules))
    reasoner.accept(facts(*rows))
    return [(row["answer"], row["where"]) for row in reasoner.advance(at)["open"].to_pylist()]


def test_what_is_certain_of_everybody_is_not_open_for_anybody() -> None:
    rules = "query q(X, T). q(X, T) :- not e(X, T). q(X, T) :- h(X, T), g(X, T+1)."
    assert standing(rules, ("h", "ann", 0), at=0) == []
    assert standing(rules, ("h", "ann", 0), ("h", "bob", 0), ("e", "bob", 0), at=0) == [("q(bob, 0)", None)]


def test_what_is_certain_of_everybody_is_not_open_for_somebody_to_come() -> None:
    rules = "query q(X, T). q(X, T) :- not e(X, T). q(X, T) :- not f(X, T), g(X, T+1)."
    assert standing(rules, at=0) == []
    assert standing(rules, ("e", "bob", 0), at=0) == [("q(X, 0)", None)]


def test_what_is_certain_of_all_pairs_of_equals_is_open_for_the_others_alone() -> None:
    rules = "query q(X, Y, T). q(X, X, T) :- not e(X, T). q(X, Y, T) :- h(X, Y, T), g(T+1)."
    rows = ("h", "ann", "ann", 0), ("h", "bob", "bob", 0), ("h", "ann", "bob", 0), ("e", "bob", 0)
    assert standing(rules, *rows, at=0) == [("q(ann, bob, 0)", None), ("q(bob, bob, 0)", None)]


def test_what_everybody_needs_is_enough_for_anybody() -> None:
    rules = "query q(X, T). q(X, T) :- a(T), not e(X, T+1). q(X, T) :- a(T), h(X, T), not e(X, T+1), g(T+2)."
    assert standing(rules, ("a", 0), ("h", "ann", 0), at=0) == [("q(X, 0)", None)]


def certainly(rules: str, *rows: tuple[object, ...], to: int, lateness: int = 0) -> list[tuple[object, ...]]:
    """What changes say of the certain answers about time 0, step by step."""
    reasoner = Reasoner(parse(rules), lateness)
    reasoner.accept(facts(*rows))
    return [
        (row["at"], row["change"], row["answer"], row["where"])
        for clock in range(to + 1)
        for row in reasoner.advance(clock)["changes"].to_pylist()
        if row["status"] == "certain" and row["time"] == 0
    ]


def test_what_is_certain_of_everybody_is_not_told_again_of_somebody() -> None:
    later = "query q(X, T). q(X, T) :- not e(X, T). q(X, T) :- h(X, T), g(X, T+1)."
    rows = ("h", "ann", 0), ("g", "ann", 1), ("h", "bob", 0), ("g", "bob", 1), ("e", "bob", 0)
    assert certainly(later, *rows, to=1) == [(0, "certain", "q(X, 0)", "X != bob"), (1, "certain", "q(bob, 0)", None)]
    at_once = "query q(X, T). q(X, T) :- h(X, T). q(X, T) :- not e(X, T)."
    assert certainly(at_once, ("h", "ann", 0), to=0) == [(0, "certain", "q(X, 0)", None)]


def test_what_is_certain_of_equals_is_not_told_where_it_is_certain_of_all_pairs() -> None:
    rules = "query q(X, Y, T). q(X, X, T) :- not e(X, T+1). q(X, Y, T) :- not f(X, Y, T)."
    assert certainly(rules, to=1) == [(0, "certain", "q(X, Y, 0)", None)]
    assert certainly(rules, ("f", "ann", "ann", 0), to=1)[1:] == [(1, "certain", "q(Y, Y, 0)", None)]


def test_what_is_certain_of_somebody_stays_when_it_becomes_certain_of_everybody() -> None:
    rules = "query q(X, T). q(X, T) :- h(X, T). q(X, T) :- not e(X, T+1)."
    told = certainly(rules, ("h", "ann", 0), to=1)
    assert told == [(0, "certain", "q(ann, 0)", None), (1, "certain", "q(X, 0)", None)]


def test_what_was_certain_of_somebody_is_met_by_what_late_absence_makes_certain_of_everybody() -> None:
    """It is no longer told of ann alone, but was never withdrawn."""
    rules = "query q(X, T). q(X, T) :- not e(X, T). q(X, T) :- h(X, T)."
    assert certainly(rules, ("h", "ann", 0), to=1, lateness=1) == [
        (0, "certain", "q(ann, 0)", None),
        (1, "certain", "q(X, 0)", None),
        (1, "met", "q(ann, 0)", None),
    ]
