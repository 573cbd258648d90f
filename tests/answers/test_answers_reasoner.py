"""The reasoner as a citizen of the protocol: splits, snapshots, rejections, lateness, values, forgetting."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest
from answers_support import facts
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import parse
from thalweg.answers.reasoner import Reasoner
from thalweg.columns.sealing import ForeignState
from thalweg.protocol import Rows

WARM = "query warm(X, T). warm(X, T) :- temp(X, high, T), temp(X, high, T+1), temp(X, high, T+3)."
NOTED = "query odd(X, T). odd(X, T) :- call(X, T), not noted(X, T+1)."
NOBODY = "query free(X, T). free(X, T) :- not busy(X, T)."
RATED = """
query steep(X, A, B, S, T).
steep(X, A, B, S, T) :- rate(X, A, T), rate(X, B, T+2), scale(X, S), B > A * S, T mod 2 =:= 0.
scale(a, 2). scale(b, 1).
"""


def shown(revision: object, *tables: str) -> list[object]:
    """Tables as sorted plain rows."""
    return [sorted(map(repr, revision[name].to_pylist())) for name in tables]  # type: ignore[index]


def everything(reasoner: Reasoner, to: int) -> list[object]:
    return shown(reasoner.advance(to), "answers", "open", "changes", "rejected")


# --------------------------------------------------------------------------- order and splits

readings = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["high", "low"]), st.integers(0, 12)),
    max_size=30,
)


@settings(max_examples=40, deadline=None)
@given(readings, st.data())
def test_the_result_does_not_depend_on_how_the_input_was_split(given_: list, data: st.DataObject) -> None:  # type: ignore[type-arg]
    rows = [("temp", *r) for r in given_]
    whole = Reasoner(parse(WARM))
    whole.accept(facts(*rows))
    whole.in_bulk = False
    once = everything(whole, 16)
    shuffled = data.draw(st.permutations(rows))
    parts = Reasoner(parse(WARM))
    cut = data.draw(st.integers(0, len(rows)))
    parts.accept(facts(*shuffled[:cut]))
    parts.accept(facts(*shuffled[cut:]))
    parts.in_bulk = False
    assert everything(parts, 16) == once


@settings(max_examples=60, deadline=None)
@given(readings, st.integers(0, 12))
def test_many_steps_at_once_give_what_single_steps_give(given_: list, pause: int) -> None:  # type: ignore[type-arg]
    single, bulk = Reasoner(parse(WARM)), Reasoner(parse(WARM))
    assert bulk.in_bulk
    single.in_bulk = False
    for reasoner in (single, bulk):
        reasoner.accept(facts(*(("temp", *r) for r in given_)))
    assert everything(bulk, pause) == everything(single, pause)
    assert bulk.snapshot() == single.snapshot()
    assert everything(bulk, 20) == everything(single, 20)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 14)), max_size=30),
    st.integers(0, 9),
)
def test_many_steps_at_once_compute_and_compare_like_single_steps(given_: list, pause: int) -> None:  # type: ignore[type-arg]
    single, bulk = Reasoner(parse(RATED)), Reasoner(parse(RATED))
    assert bulk.in_bulk
    single.in_bulk = False
    for reasoner in (single, bulk):
        reasoner.accept(facts(*(("rate", *r) for r in given_)))
    assert everything(bulk, pause) == everything(single, pause)
    assert everything(bulk, 20) == everything(single, 20)


@pytest.mark.parametrize("lateness", [0, 2])
@pytest.mark.parametrize("stride", [1, 7])
def test_open_answers_that_are_read_late_are_those_of_their_time(lateness: int, stride: int) -> None:
    """What the clock does later must not show; in strides of seven many steps are taken at once."""
    rows = [("temp", x, "high", t) for x in "abc" for t in range(21) if (t * 7 + ord(x)) % 5]
    early, late = Reasoner(parse(WARM), lateness), Reasoner(parse(WARM), lateness)
    read, kept = [], []
    for reasoner in (early, late):
        reasoner.accept(facts(*rows))
    for clock in range(stride - 1, 25, stride):
        read.append(early.advance(clock)["open"])
        kept.append(late.advance(clock))
    assert [revision["open"] for revision in kept] == read
    assert any(len(table) for table in read)


@pytest.mark.parametrize("numbers", [(0, 1), (1, 0)])
def test_of_several_facts_the_one_with_the_lowest_number_is_the_evidence(numbers: tuple[int, int]) -> None:
    reasoner = Reasoner(parse("query seen(X, T). seen(X, T) :- at(X, _, T)."))
    at = np.array([3])
    for place in numbers:
        columns = pa.array(["a"]), pa.array([["here", "there"][place]])
        reasoner.accept([Rows("at", np.array([1], np.int8), at, at, np.array([place]), columns)])
    assert reasoner.advance(3)["answers"].column("evidence").to_pylist() == [["at(a, here, 3)"]]


def test_a_row_takes_effect_at_its_arrival_but_not_before_its_time() -> None:
    reasoner = Reasoner(parse(WARM), 2)
    reasoner.accept(facts(("temp", "a", "high", 5), arrival=3))
    reasoner.accept(facts(("temp", "b", "high", 2), arrival=4))
    assert not len(reasoner.advance(3)["changes"])
    assert reasoner.advance(4)["changes"].column("X").to_pylist() == ["b"]
    assert "a" in reasoner.advance(5)["changes"].column("X").to_pylist()


@pytest.mark.parametrize("name", ["X", "_0", "_1", "_2"])
def test_an_anonymous_variable_is_none_that_somebody_has_named(name: str) -> None:
    text = f"query late({name}, T). late({name}, T) :- paid({name}, _, T), due({name}, _, T)."
    reasoner = Reasoner(parse(text))
    reasoner.accept(facts(("paid", "a", "k", 3), ("due", "a", "m", 3)))
    assert reasoner.advance(3)["answers"].column("answer").to_pylist() == ["late(a, 3)"]


def test_an_exact_duplicate_changes_nothing() -> None:
    once, twice = Reasoner(parse(WARM), 1), Reasoner(parse(WARM), 1)
    rows = [("temp", "a", "high", t) for t in (0, 1, 3)]
    once.accept(facts(*rows))
    twice.accept(facts(*rows, *rows))
    twice.accept(facts(*rows))
    assert everything(once, 5) == everything(twice, 5)


# --------------------------------------------------------------------------- lateness and retraction


def test_a_late_row_inside_the_lateness_completes_an_answer() -> None:
    reasoner = Reasoner(parse(WARM), 3)
    reasoner.accept(facts(("temp", "a", "high", 0), ("temp", "a", "high", 3)))
    reasoner.accept(facts(("temp", "a", "high", 1), arrival=4))
    assert not len(reasoner.advance(3)["answers"])
    (answer,) = reasoner.advance(4)["answers"].to_pylist()
    assert (answer["X"], answer["time"], answer["time_known"]) == ("a", 0, 4)


def test_a_retraction_withdraws_an_answer_and_opens_it_again() -> None:
    reasoner = Reasoner(parse(WARM), 2)
    reasoner.accept(facts(*(("temp", "a", "high", t) for t in (0, 1, 3))))
    assert len(reasoner.advance(3)["answers"]) == 1
    reasoner.accept(facts(("temp", "a", "high", 3), arrival=4, op=-1))
    rows = reasoner.advance(4)["changes"].to_pylist()
    assert [(r["change"], r["op"]) for r in rows if r["time"] == 0] == [
        ("withdrawn", "delete"),
        ("opened", "insert"),
    ]
    assert [r["change"] for r in reasoner.advance(5)["changes"].to_pylist() if r["time"] == 0] == ["dropped"]


def test_a_retracted_cause_takes_back_what_it_had_excluded() -> None:
    reasoner = Reasoner(parse(NOTED), 2)
    reasoner.accept(facts(("call", "a", 0), ("noted", "a", 1)))
    reasoner.accept(facts(("noted", "a", 1), arrival=2, op=-1))
    reasoner.advance(1)
    assert not len(reasoner.advance(2)["answers"])
    (answer,) = reasoner.advance(3)["answers"].to_pylist()
    assert (answer["X"], answer["evidence"]) == ("a", ["call(a, 0)", "not noted(a, 1)"])


def test_a_row_that_is_retracted_and_inserted_at_once_stays() -> None:
    reasoner = Reasoner(parse(WARM), 3)
    reasoner.accept(facts(("temp", "a", "high", 0)))
    reasoner.advance(0)
    reasoner.accept(facts(("temp", "a", "high", 0), arrival=1, op=-1))
    reasoner.accept(facts(("temp", "a", "high", 0), arrival=1))
    assert not len(reasoner.advance(1)["changes"])


def test_bad_rows_are_rejected_with_a_reason() -> None:
    reasoner = Reasoner(parse(WARM), 1, start=10)
    reasoner.accept(facts(("temp", "a", "high", 9), arrival=10))
    reasoner.accept(facts(("temp", "a", "high", 10), arrival=12))
    reasoner.accept(facts(("temp", "a", 11)))
    reasoner.accept(facts(("warm", "a", 11)))
    reasoner.accept(facts(("wind", "a", 11)))
    reasoner.accept(facts(("temp", "a", "high", 11), op=-1))
    number = pa.array([2**60])
    stamp = np.array([11])
    reasoner.accept([Rows("temp", np.array([1], np.int8), stamp, stamp, np.array([7]), (number, number))])
    nothing = pa.array([None], pa.string())
    reasoner.accept([Rows("temp", np.array([1], np.int8), stamp, stamp, np.array([8]), (nothing, nothing))])
    table = reasoner.advance(12)["rejected"]
    assert sorted(table.column("reason").to_pylist()) == [
        "before-the-start",
        "missing-value",
        "out-of-range",
        "too-late",
        "unknown-name",
        "unknown-name",
        "unknown-retraction",
        "wrong-arity",
    ]
    assert table.schema == reasoner.schemas()["rejected"]


# --------------------------------------------------------------------------- values


def test_numbers_are_compared_and_computed_with() -> None:
    text = """
    query jump(X, D, T).
    jump(X, D, T) :- level(X, A, T), level(X, B, T+1), D is B - A, D > limit_of_none, limit(X, L), D >= L.
    """.replace("D > limit_of_none, ", "")
    reasoner = Reasoner(parse(text + "limit(a, 2). limit(b, 0.5)."))
    reasoner.accept(
        facts(("level", "a", 1, 0), ("level", "a", 3.5, 1), ("level", "b", 2, 0), ("level", "b", 2.25, 1))
    )
    reasoner.advance(0)
    (answer,) = reasoner.advance(1)["answers"].to_pylist()
    assert (answer["X"], answer["D"], answer["answer"]) == ("a", "2.5", "jump(a, 2.5, 0)")


def test_a_number_as_text_is_the_number() -> None:
    reasoner = Reasoner(parse("query same(X, T). same(X, T) :- p(X, T), q(X, T), r(12, T)."))
    reasoner.accept(facts(("p", "0012", 0), ("q", 12.0, 0), ("r", 12, 0)))
    assert reasoner.advance(0)["answers"].column("X").to_pylist() == ["12"]


def test_what_is_not_a_number_fails_a_comparison_of_order() -> None:
    reasoner = Reasoner(parse("query big(X, T). big(X, T) :- p(X, T), X > 3."))
    reasoner.accept(facts(("p", "inf", 0), ("p", "nan", 0), ("p", "x", 0), ("p", 4, 0)))
    assert reasoner.advance(0)["answers"].column("X").to_pylist() == ["4"]


def test_several_queries_share_a_run() -> None:
    text = (
        "query warm(X, T). query cold(Y, T). warm(X, T) :- temp(X, high, T). cold(Y, T) :- temp(Y, low, T)."
    )
    reasoner = Reasoner(parse(text))
    reasoner.accept(facts(("temp", "a", "high", 0), ("temp", "b", "low", 0)))
    rows = reasoner.advance(0)["answers"].to_pylist()
    assert [(r["query"], r["X"], r["Y"]) for r in rows] == [
        ("cold(Y, T)", None, "b"),
        ("warm(X, T)", "a", None),
    ]


def test_a_query_for_one_time_answers_for_that_time_only() -> None:
    reasoner = Reasoner(parse("query warm(X, 3). warm(X, T) :- temp(X, high, T)."))
    reasoner.accept(facts(*(("temp", "a", "high", t) for t in range(6))))
    assert reasoner.advance(9)["answers"].column("answer").to_pylist() == ["warm(a, 3)"]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("query p(T). p(3). p(T) :- q(X, T), X = b.", ["p(3)", "p(5)"]),
        ("query p(3). p(3). p(T) :- q(X, T).", ["p(3)"]),
        ("query p(X, T). p(z, 3). p(X, T) :- q(X, T).", ["p(a, 1)", "p(z, 3)", "p(b, 5)", "p(c, 9)"]),
        ("query p(T). p(T) :- q(X, T), not s(T). s(5). s(T) :- never(T).", ["p(1)", "p(9)"]),
        ("query p(X, T). p(X, T) :- q(X, T), not s(X, T+1). s(b, 2). s(b, 6).", ["p(a, 1)", "p(c, 9)"]),
        ("query p(T). p(7) :- q(b, 5).", ["p(7)"]),
        ("query p(T). p(3) :- q(b, 5), q(X, T).", ["p(3)"]),
        ("query p(T). p(T) :- q(X, T), not r(T). r(9) :- q(b, 5). r(1) :- q(c, 5).", ["p(1)", "p(5)"]),
        ("query seen(X). seen(z). seen(X) :- q(X, T).", ["seen(a)", "seen(z)", "seen(b)", "seen(c)"]),
    ],
)
def test_what_is_said_of_a_given_time_holds_then_and_what_needs_no_time_from_the_beginning(
    rules: str, expected: list[str]
) -> None:
    reasoner = Reasoner(parse(rules))
    reasoner.accept(facts(("q", "a", 1), ("q", "b", 5), ("q", "c", 9)))
    answers = [row["answer"] for row in reasoner.advance(12)["answers"].to_pylist()]
    assert sorted(answers) == sorted(expected)


def test_atoms_before_the_start_do_not_exist() -> None:
    reasoner = Reasoner(parse("query p(T). p(T) :- not q(T-2)."), start=5)
    assert reasoner.advance(8)["answers"].column("time").to_pylist() == [7, 8]


# --------------------------------------------------------------------------- negation by constraints


def test_an_answer_for_everybody_lists_its_exceptions() -> None:
    reasoner = Reasoner(parse(NOBODY))
    reasoner.accept(facts(("busy", "a", 0), ("busy", "b", 0)))
    (answer,) = reasoner.advance(0)["answers"].to_pylist()
    assert (answer["answer"], answer["X"], answer["where"]) == ("free(X, 0)", None, "X != a, X != b")


def test_a_large_domain_is_not_enumerated() -> None:
    reasoner = Reasoner(parse(NOBODY), 2)
    names = [f"n{i}" for i in range(500)]
    reasoner.accept(facts(*(("busy", name, 0) for name in names[:3])))
    reasoner.accept(facts(*(("busy", name, 1) for name in names[:200])))
    reasoner.accept(facts(*(("busy", name, 2) for name in names)))
    reasoner.advance(1)
    assert (
        max(b.length for c in reasoner.engine.cells for cell in c.values() for b in cell.blocks.values())
        <= 201
    )
    assert reasoner.advance(3)["answers"].column("answer").to_pylist() == ["free(X, 0)", "free(X, 1)"]


def test_an_anonymous_variable_under_a_negation_means_nothing_at_all() -> None:
    reasoner = Reasoner(parse("query quiet(X, T). quiet(X, T) :- room(X, T), not noise(X, _, T)."))
    reasoner.accept(facts(("room", "a", 0), ("room", "b", 0), ("noise", "b", "loud", 0)))
    assert reasoner.advance(0)["answers"].column("X").to_pylist() == ["a"]


def test_background_binds_what_only_negations_speak_about() -> None:
    reasoner = Reasoner(
        parse("query free(X, T). free(X, T) :- person(X), not busy(X, T). person(a). person(b). person(c).")
    )
    reasoner.accept(facts(("busy", "b", 0)))
    assert reasoner.advance(0)["answers"].column("X").to_pylist() == ["a", "c"]


# --------------------------------------------------------------------------- snapshots


@pytest.mark.parametrize("text", [WARM, NOTED, NOBODY, RATED])
@pytest.mark.parametrize("lateness", [0, 2])
def test_a_restored_reasoner_goes_on_as_if_nothing_had_happened(text: str, lateness: int) -> None:
    name = {WARM: "temp", NOTED: "call", NOBODY: "busy", RATED: "rate"}[text]
    width = {"temp": ("high",), "rate": (3,)}.get(name, ())

    def feed(reasoner: Reasoner, times: range) -> None:
        for t in times:
            reasoner.accept(facts(*((name, x, *width, t) for x in "ab" if (t + ord(x)) % 4)))

    straight, first = Reasoner(parse(text), lateness), Reasoner(parse(text), lateness)
    for reasoner in (straight, first):
        feed(reasoner, range(9))
        reasoner.advance(5)
    second = Reasoner(parse(text), lateness)
    second.restore(first.snapshot())
    assert second.snapshot() == first.snapshot()
    feed(straight, range(9, 12))
    feed(second, range(9, 12))
    assert everything(second, 14) == everything(straight, 14)


def test_the_state_of_another_program_or_lateness_is_refused() -> None:
    state = Reasoner(parse(WARM)).snapshot()
    with pytest.raises(ForeignState):
        Reasoner(parse(NOTED)).restore(state)
    with pytest.raises(ForeignState):
        Reasoner(parse(WARM), 1).restore(state)
    with pytest.raises(ForeignState):
        Reasoner(parse(WARM)).restore(b"something else")


# --------------------------------------------------------------------------- memory and cost


def stored(reasoner: Reasoner) -> int:
    return sum(b.length for cells in reasoner.engine.cells for c in cells.values() for b in c.blocks.values())


@pytest.mark.parametrize("lateness", [0, 3])
def test_memory_follows_the_horizon_not_the_stream(lateness: int) -> None:
    text = "query alone(X, T). alone(X, T) :- call(X, T), not answer(X, T+1), not answer(X, T+2)."
    reasoner = Reasoner(parse(text), lateness)
    sizes = []
    for t in range(200):
        reasoner.accept(facts(*(("call", x, t) for x in "abcde")))
        if t % 3:
            reasoner.accept(facts(("answer", "a", t)))
        reasoner.advance(t)
        sizes.append(
            (stored(reasoner), sum(len(c) for c in reasoner.engine.cells), len(reasoner.engine.facts))
        )
    assert max(sizes[100:]) <= max(sizes[:100])


def test_partial_answers_that_wait_are_not_touched() -> None:
    reasoner = Reasoner(parse("query late(X, T). late(X, T) :- order(X, T), bill(X, T+1000), paid(X, T+1)."))
    reasoner.accept(facts(("order", "a", 0), ("paid", "a", 1)))
    reasoner.advance(1)
    (block,) = reasoner.engine.cells[0][0].blocks.values()
    for t in range(2, 50):
        reasoner.accept(facts(("order", "b", t)))
        reasoner.advance(t)
    assert next(iter(reasoner.engine.cells[0][0].blocks.values())) is block


def test_steps_without_anything_to_do_are_skipped() -> None:
    reasoner = Reasoner(parse(WARM))
    reasoner.accept(facts(("temp", "a", "high", 10**9)))
    assert len(reasoner.advance(2 * 10**9)["changes"]) == 2


# --------------------------------------------------------------------------- found by random programs


def test_an_answer_for_everybody_is_an_exception_to_another_where_a_constant_fixes_it() -> None:
    reasoner = Reasoner(parse("query r(X, Y, T). r(a, X, T+1) :- not r(X, X, T), not e(X, T)."))
    answers = reasoner.advance(2)["answers"].to_pylist()
    assert [(r["answer"], r["where"]) for r in answers] == [("r(a, Y, 1)", None), ("r(a, Y, 2)", "Y != a")]


def test_two_alternatives_that_say_the_same_are_one_open_answer() -> None:
    text = "query p(X, Y, T). p(X, Y, T) :- e(X, Y, T), f(X, T+1). p(X, Y, T) :- e(Y, X, T), f(Y, T+1)."
    reasoner = Reasoner(parse(text))
    reasoner.accept(facts(("e", "a", "a", 0), ("e", "a", "b", 0)))
    assert sorted(reasoner.advance(0)["open"].column("answer").to_pylist()) == [
        "p(a, a, 0)",
        "p(a, b, 0)",
        "p(b, a, 0)",
    ]


def test_a_program_of_another_kind_is_told_which_reasoner_takes_it() -> None:
    with pytest.raises(ValueError, match=r"takes a Temporal Datalog program.* use thalweg\.lars\.Reasoner,"):
        Reasoner(parse("program lars. a if b."))
    with pytest.raises(ValueError, match=r"takes a Temporal Datalog program \(thalweg.load, thalweg.parse\), not str"):
        Reasoner("tick 1m. query p(T). p(T) :- s(T), s(T+1).")  # type: ignore[arg-type]


def test_lateness_may_be_a_timedelta_where_the_program_has_a_tick() -> None:
    assert Reasoner(parse("tick 1m. query p(T). p(T) :- s(T), s(T+1)."), lateness=timedelta(minutes=3)).lateness == 3


def test_what_is_no_batch_and_no_time_is_refused() -> None:
    reasoner = Reasoner(parse("tick 1m. query p(T). p(T) :- s(T), s(T+1)."))
    with pytest.raises(TypeError, match=r"thalweg\.rows"):
        reasoner.accept([{"name": "b"}])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"whole numbers of time-points here, or timedeltas, not 2\.5"):
        reasoner.advance(2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("lateness", [0, 2])
@pytest.mark.parametrize("stop", [0, 2, 4])
def test_what_is_taken_back_before_its_time_never_counts(lateness: int, stop: int) -> None:
    """Of rows that wait for their time the last to arrive counts, however they are handed over."""
    reasoner = Reasoner(parse("query both(X, T). both(X, T) :- e(X, T), e(X, T+1)."), lateness)
    rows = [(1, 1, 5), (3, -1, 5), (5, 1, 6), (2, -1, 7), (3, 1, 7)]
    rejected = []
    for first, last in ((-1, stop), (stop, 9)):
        for arrival, op, time in reversed(rows):
            if first < arrival <= last:
                reasoner.accept(facts(("e", "a", time), arrival=arrival, op=op))
        revision = reasoner.advance(last)
        rejected += [(r["query_time"], r["reason"]) for r in revision["rejected"].to_pylist()]
    assert [row["answer"] for row in revision["answers"].to_pylist()] == ["both(a, 6)"]
    assert rejected == [(7, "unknown-retraction")]


def test_what_needs_a_row_and_its_absence_is_not_open() -> None:
    reasoner = Reasoner(parse("query q(X, T). q(X, T) :- g(X, T), h(X, b, T+2), not h(X, X, T+2)."))
    reasoner.accept(facts(("g", "b", 1), ("g", "c", 1)))
    assert [r["answer"] for r in reasoner.advance(1)["open"].to_pylist()] == ["q(c, 1)"]


def test_what_waits_for_a_comparison_too_is_not_open_beside_what_needs_less() -> None:
    rules = "query p(X, T). p(X, T) :- e(X, T), s(T+1). p(X, T) :- f(X, T), s(T+1), e(Y, T+2), Y > X."
    reasoner = Reasoner(parse(rules))
    reasoner.accept(facts(("e", "1", 0), ("f", "1", 0), ("f", "2", 0)))
    needed = {(row["answer"], tuple(row["needed"])) for row in reasoner.advance(0)["open"].to_pylist()}
    assert needed == {("p(1, 0)", ("s(1)",)), ("p(2, 0)", ("s(1)", "e(Y, 2)", "Y > 2"))}


def test_what_needs_a_part_of_it_whatever_its_value_makes_an_open_answer_superfluous() -> None:
    rules = "query p(X, T). p(X, T) :- e(X, T), f(Z, T+1). p(X, T) :- h(X, T), f(Z, T+1), g(Y, T), g(Y, T+1)."
    reasoner = Reasoner(parse(rules))
    reasoner.accept(facts(("e", "a", 0), ("h", "a", 0), ("h", "b", 0), ("g", "c", 0)))
    needed = {(row["answer"], tuple(row["needed"])) for row in reasoner.advance(0)["open"].to_pylist()}
    assert needed == {("p(a, 0)", ("f(Z, 1)",)), ("p(b, 0)", ("f(Z, 1)", "g(c, 1)"))}


def test_what_needs_something_at_another_time_makes_no_open_answer_superfluous() -> None:
    rules = "query p(X, T). p(X, T) :- e(X, T), f(Z, T+1). p(X, T) :- h(X, T), f(Z, T+2), g(T+3)."
    reasoner = Reasoner(parse(rules))
    reasoner.accept(facts(("e", "a", 0), ("h", "a", 0)))
    needed = {(row["answer"], tuple(row["needed"])) for row in reasoner.advance(0)["open"].to_pylist()}
    assert needed == {("p(a, 0)", ("f(Z, 1)",)), ("p(a, 0)", ("f(Z, 2)", "g(3)"))}


# --------------------------------------------------------------------------- what values make the same

ALIKE = {
    "a constant": "q(X, T) :- e(X, T), f(X, T+2), f(a, T+2). q(X, T) :- e(X, T), f(a, T+2), g(X, T+2).",
    "fewer premises": "q(X, T) :- e(X, T), f(a, T+2), g(b, T+2). q(X, T) :- e(X, T), f(X, T+2).",
    "two variables": "q(X, T) :- e(X, T), f(X, T+2), f(Y, T+2), e(Y, T).",
    "several ways": "q(X, T) :- e(X, T), e(Y, T), f(X, T+2), f(Y, T+2), f(a, T+2), g(Y, T+3)."
    " q(X, T) :- e(X, T), g(b, T+3).",
    "evidence": "q(X, T) :- e(X, T), e(Y, T), e(a, T), g(Y, T+2).",
    "no time": "r(X) :- e(X, T), f(X, T+2), f(a, T+2). r(X) :- e(X, T), f(X, T+1), f(a, T+2).",
    "no time, evidence": "r(X) :- e(X, T), e(Y, T), f(X, T+2), f(Y, T+2), f(a, T+2).",
}


@pytest.mark.parametrize("rules", ALIKE.values(), ids=ALIKE.keys())
def test_premises_that_values_make_the_same_are_one(rules: str) -> None:
    """Each is listed once, and of the rows of one answer none needs all that another one does and more."""
    rows = [("e", x, t) for t in (1, 2) for x in ("a", "b", "c")]
    reasoner = Reasoner(parse(f"query {'q(X, T)' if 'q(X' in rules else 'r(X)'}. {rules}"))
    reasoner.accept(facts(*rows))
    seen = 0
    for clock in (1, 2):
        found = reasoner.advance(clock)["open"].to_pylist()
        needed = [(row["answer"], frozenset(row["needed"])) for row in found]
        assert all(len(set(row[side])) == len(row[side]) for row in found for side in ("needed", "evidence"))
        assert not any(one[0] == other[0] and one[1] < other[1] for one in needed for other in needed)
        seen += len(found)
    assert seen
