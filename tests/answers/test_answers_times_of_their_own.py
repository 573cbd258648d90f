"""Queries whose answers have no time of their own, or one that their premises are not tied to."""

from __future__ import annotations

import itertools
import os
import random
import re
from collections.abc import Iterable
from typing import Any

import pytest
from answers_support import facts
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import parse
from thalweg.answers.background import decide
from thalweg.answers.bounds import order
from thalweg.answers.datalog import Test as Comparison
from thalweg.answers.datalog import read
from thalweg.answers.describe import describe
from thalweg.answers.offline import check
from thalweg.answers.reasoner import Reasoner
from thalweg.reference.answers import Assumption, Evolutions, Fact, _holds

SETTINGS = settings(max_examples=1000 if os.environ.get("THALWEG_HYPOTHESIS") == "fuzz" else 25, deadline=None)
Told = list[tuple[int, str, str, tuple[str, ...], tuple[str, ...], int | None]]


def told(text: str, rows: Iterable[tuple[Any, ...]], to: int, **settings: Any) -> tuple[Told, Reasoner]:
    """What `changes` says at which clock time: the change, the answer, its evidence, what it needs, the deadline."""
    reasoner = Reasoner(parse(text), **settings)
    found: Told = []
    given = list(rows)
    for clock in range(to + 1):
        reasoner.accept(facts(*(row for row in given if row[-1] == clock)))
        for r in reasoner.advance(clock)["changes"].to_pylist():
            found.append((clock, r["change"], r["answer"], tuple(r["evidence"]), tuple(r["needed"]), r["decided_by"]))
    return found, reasoner


def opened(found: Told) -> Told:
    return [f for f in found if f[1] == "opened"]


# --------------------------------------------------------------------------- one time, not the answer's


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("query q(X). q(X) :- a(X, T), b(X, T+1).", "q(x)"),
        ("query q(X, 0). q(X, 0) :- a(X, T), b(X, T+1).", "q(x, 0)"),
        ("query q(X, T). q(X, 0) :- a(X, T), b(X, T+1).", "q(x, 0)"),
        ("query q(X, 7). q(X, 7) :- a(X, T), b(X, T+1).", "q(x, 7)"),
        ("query q. q :- a(X, T), b(X, T+1).", "q"),
        ("query q(X). q(X) :- p(X, T+2). p(X, T) :- a(X, T-2), b(X, T-1).", "q(x)"),
    ],
)
def test_an_answer_without_the_premises_time_is_open_until_they_are_decided(text: str, answer: str) -> None:
    found, _ = told(text, [("a", "x", 5), ("b", "x", 6)], 9)
    assert found == [
        (5, "opened", answer, ("a(x, 5)",), ("b(x, 6)",), 6),
        (6, "met", answer, ("a(x, 5)",), ("b(x, 6)",), 6),
        (6, "certain", answer, ("a(x, 5)", "b(x, 6)"), (), None),
    ]


def test_an_answer_without_a_time_is_dropped_when_its_premise_does_not_come() -> None:
    found, _ = told("query q(X). q(X) :- a(X, T), b(X, T+1).", [("a", "x", 5)], 9)
    assert [f[:2] for f in found] == [(5, "opened"), (6, "dropped")]


def test_an_answer_without_a_time_needs_what_must_not_come() -> None:
    found, _ = told("query q(X). q(X) :- a(X, T), not b(X, T+2).", [("a", "x", 5), ("a", "y", 5), ("b", "y", 7)], 9)
    assert found == [
        (5, "opened", "q(x)", ("a(x, 5)",), ("not b(x, 7)",), 7),
        (5, "opened", "q(y)", ("a(y, 5)",), ("not b(y, 7)",), 7),
        (7, "met", "q(x)", ("a(x, 5)",), ("not b(x, 7)",), 7),
        (7, "certain", "q(x)", ("a(x, 5)", "not b(x, 7)"), (), None),
        (7, "dropped", "q(y)", ("a(y, 5)",), ("not b(y, 7)",), 7),
    ]


def test_what_was_answered_is_not_opened_nor_told_again() -> None:
    rows = [("a", "x", 5), ("b", "x", 6), ("a", "x", 6), ("a", "x", 20), ("b", "x", 21)]
    found, _ = told("query q(X). q(X) :- a(X, T), b(X, T+1).", rows, 22)
    assert [f[:2] for f in found if f[1] != "met"] == [(5, "opened"), (6, "certain")]


def test_one_answer_is_told_once_whichever_alternative_gives_it() -> None:
    text = "query q(X, T). q(X, T) :- c(X, T). q(X, 5) :- a(X, T), b(X, T+1). q(X, T) :- c(X, T), d(X, S)."
    rows = [("c", "x", 5), ("d", "x", 6), ("a", "x", 7), ("b", "x", 8), ("a", "y", 7), ("c", "z", 8), ("b", "y", 8)]
    found, _ = told(text, rows, 9, horizon=5)
    assert [f[:3] for f in found if f[1] == "certain"] == [
        (5, "certain", "q(x, 5)"),
        (8, "certain", "q(y, 5)"),
        (8, "certain", "q(z, 8)"),
    ]


def test_a_subset_of_the_premises_drops_the_others_at_another_time_too() -> None:
    text = "query q(X). q(X) :- a(X, T), b(X, T+1). q(X) :- c(X, T), b(X, T+2), d(X, T+3)."
    found, _ = told(text, [("c", "x", 4), ("c", "y", 4), ("a", "x", 5)], 5)
    assert found[-2:] == [
        (5, "dropped", "q(x)", ("c(x, 4)",), ("b(x, 6)", "d(x, 7)"), 7),
        (5, "opened", "q(x)", ("a(x, 5)",), ("b(x, 6)",), 6),
    ]


def test_of_answers_without_a_time_only_the_substitution_is_remembered() -> None:
    """Memory follows the delay, and the answers there are, not the stream."""
    reasoner = Reasoner(parse("query q(X). q(X) :- a(X, T), b(X, T+1), not c(X, T+3)."), 1)
    sizes = []
    for clock in range(200):
        reasoner.accept(facts(("a", f"x{clock % 7}", clock), ("b", f"x{(clock - 1) % 7}", clock)))
        reasoner.advance(clock)
        sizes.append((sum(map(len, reasoner.engine.cells)), len(reasoner.engine.facts), len(reasoner.snapshot())))
    assert [s[:2] for s in sizes[50:]] == [sizes[50][:2]] * 150
    assert sizes[-1][2] <= sizes[110][2] + 8


def test_a_query_about_one_time_is_about_no_other() -> None:
    text = "query q(X, 7). q(X, 0) :- a(X, T), b(X, T+1). q(X, T) :- a(X, T), b(X, S), S =< T+1, S >= T."
    found, _ = told(text, [("a", "x", 5), ("b", "x", 6), ("a", "x", 7), ("b", "x", 8)], 9)
    assert [f[:3] for f in found] == [(7, "opened", "q(x, 7)"), (8, "met", "q(x, 7)"), (8, "certain", "q(x, 7)")]


def test_a_query_that_the_stream_has_no_part_in_is_answered_without_rows() -> None:
    found, _ = told("query q(X). q(X) :- s(X). q(X) :- a(X, T). s(m).", [], 1)
    assert [f[:3] for f in found] == [(0, "certain", "q(m)")]


def test_the_check_tells_when_answers_without_a_time_are_decided() -> None:
    said = describe(parse("query q(X). q(X) :- a(X, T), b(X, T+3)."))
    assert "q(X): can come true at any time, an open answer is decided within 3 time-points, input kept for 3" in said
    assert "q(X): can come true at any time, decided at once" in describe(parse("query q(X). q(X) :- a(X, T)."))
    assert "q(X): decided at once" in describe(parse("query q(X). q(X) :- s(X). s(m)."))


def test_a_state_with_answers_that_have_no_time_is_resumed() -> None:
    text = "query q(X). q(X) :- a(X, T), b(X, T+1), not c(X, T+2). q(X) :- a(X, T), d(X, S), S > T, S =< T+2."
    rows = [("a", n, t) for n, t in (("x", 1), ("y", 3), ("x", 4), ("z", 5), ("w", 6))]
    rows += [("b", "x", 2), ("b", "y", 4), ("c", "y", 5), ("d", "z", 7), ("d", "x", 6), ("b", "w", 7)]

    def run(stop: int | None) -> Told:
        reasoner, found = Reasoner(parse(text), 1), []
        for clock in range(12):
            reasoner.accept(facts(*(row for row in rows if row[-1] == clock)))
            for r in reasoner.advance(clock)["changes"].to_pylist():
                found.append((clock, r["change"], r["answer"], tuple(r["evidence"]), tuple(r["needed"]), None))
            if clock == stop:
                state = reasoner.snapshot()
                reasoner = Reasoner(parse(text), 1)
                reasoner.restore(state)
                assert reasoner.snapshot() == state
        return found

    whole = run(None)
    assert {f[2] for f in whole if f[1] == "certain"} == {"q(x)", "q(z)", "q(w)"}
    for stop in range(11):
        assert run(stop) == whole


# --------------------------------------------------------------------------- bounds


def test_what_would_have_to_lie_in_the_past_is_not_open() -> None:
    found, _ = told("query q(X, T). q(X, T) :- a(X, T), b(X, U), U < T.", [("a", "x", 5)], 9, horizon=10)
    assert found == []
    text = "query q(X, T). q(X, T) :- a(X, T), b(X, U), U > T."
    found, _ = told(text, [("b", "w", 17)], 19, horizon=10)
    assert found == []


def test_comparisons_of_times_are_deadlines() -> None:
    found, _ = told("query q(X, T). q(X, T) :- a(X, T), b(X, U), U > T, U =< T+2.", [("a", "x", 5)], 9)
    assert found == [
        (5, "opened", "q(x, 5)", ("a(x, 5)",), ("b(x, U)", "U > 5", "U =< 5+2"), 7),
        (7, "dropped", "q(x, 5)", ("a(x, 5)",), ("b(x, U)", "U > 5", "U =< 5+2"), 7),
    ]


@pytest.mark.parametrize("bound", ["U - T =< 2", "U < T + 3", "T >= U - 2", "not U > T+2", "U =< 7", "U < S + 2"])
def test_a_bound_may_be_written_in_any_way(bound: str) -> None:
    text = f"query q(X, T). q(X, T) :- a(X, T), b(X, U), c(X, S), U > T, S < 9, {bound}."
    found, _ = told(text, [("a", "x", 5), ("c", "x", 6)], 9, horizon=50)
    assert [f[0] for f in found if f[1] == "dropped" and f[3] == ("a(x, 5)", "c(x, 6)")] == [7]
    assert {f[5] for f in found if f[3] == ("a(x, 5)", "c(x, 6)")} == {7}


def test_a_value_of_the_input_bounds_a_time() -> None:
    text = "query q(X, T). q(X, T) :- a(X, D, T), b(X, U), U < T + 20, U =< D."
    found, _ = told(text, [("a", "x", 7.5, 5), ("a", "y", "high", 5)], 30, horizon=50)
    assert [f[:3] for f in found] == [(5, "opened", "q(x, 5)"), (7, "dropped", "q(x, 5)")]


def test_a_premise_at_a_given_time_has_that_deadline() -> None:
    found, _ = told("query q(X, T). q(X, T) :- a(X, T), b(X, 7).", [("a", "x", 5), ("a", "y", 8)], 9)
    assert [(f[0], f[1], f[2], f[5]) for f in found] == [(5, "opened", "q(x, 5)", 7), (7, "dropped", "q(x, 5)", 7)]


def test_no_value_between_two_that_are_known_makes_no_open_answer() -> None:
    text = "query q(X, T). q(X, T) :- a(X, D, T), b(X, E, T+1), E > D, E < 5."
    found, _ = told(text, [("a", "x", 7, 5), ("a", "y", 3, 5), ("a", "z", "high", 5)], 5)
    assert [f[2] for f in found] == ["q(y, 5)"]
    assert "never" in describe(parse("query q(X, T). q(X, T) :- b(X, E, T), E > 7, E < 5."))


def test_bounded_times_need_no_horizon_and_the_check_says_so() -> None:
    bounded = parse("query q(X, T). q(X, T) :- a(X, T), b(X, U), U > T, U =< T+2.")
    assert check(bounded) == []
    assert "q(X, T): decided by T+2, input kept for 2 time-points" in describe(bounded)
    assert [d.code for d in check(parse("query q(X, T). q(X, T) :- a(X, T), b(X, U), U > T."))] == ["TW308"]


def test_a_retraction_of_a_premise_at_a_given_time_opens_the_answer_again() -> None:
    reasoner = Reasoner(parse("query q(X, T). q(X, T) :- a(X, T), b(X, 7)."), 3)
    reasoner.accept(facts(("a", "x", 5), ("b", "x", 7)))
    reasoner.advance(7)
    reasoner.accept(facts(("b", "x", 7), arrival=8, op=-1))
    (standing,) = reasoner.advance(8)["open"].to_pylist()
    assert (standing["answer"], standing["needed"], standing["decided_by"]) == ("q(x, 5)", ["b(x, 7)"], 10)
    reasoner.accept(facts(("b", "x", 7), arrival=9))
    assert [r["answer"] for r in reasoner.advance(9)["answers"].to_pylist()] == ["q(x, 5)"]


# --------------------------------------------------------------------------- by definition

END = 3


def supported(world: Evolutions, stream: set[Fact], now: int) -> set[tuple[str, frozenset[str]]]:
    """The open answers of Definitions 6 and 20: goal and hypotheses, where some are left and none is certain."""
    history = [f for f in stream if f.time <= now]
    found = set()
    for goal in world.goals(world.datalog.queries[0]):
        hypotheses = {h for h, _ in world.supported(goal, history, now)}
        if frozenset() not in hypotheses:
            found |= {(shown(goal), frozenset(map(str, h))) for h in hypotheses}
    return found


def shown(goal: Fact) -> str:
    return str(goal).removesuffix("()")


def assumption(needed: str) -> Assumption:
    name, *args, time = re.split(r"[(, ]+", needed.removeprefix("not ").rstrip(")"))
    return Assumption(Fact(name, tuple(args), int(time)), not needed.startswith("not "))


def compared(
    text: str, stream: set[Fact], world: Evolutions, upto: int, *, exact: bool = True, **settings: Any
) -> None:
    """At every clock time the open answers are the supported ones, the certain ones those of every evolution. Where
    that is not `exact`, what is open follows all the same."""
    reasoner = Reasoner(parse(text), **settings)
    certain: set[str] = set()
    for now in range(upto + 1):
        reasoner.accept(facts(*((f.name, *f.args, f.time) for f in stream if f.time == now)))
        revision = reasoner.advance(now)
        for row in revision["changes"].to_pylist():
            if row["status"] == "certain":
                assert row["op"] == "insert" and row["answer"] not in certain
                certain.add(row["answer"])
        history = [f for f in stream if f.time <= now]
        everywhere = {shown(g) for g in world.certain(world.datalog.queries[0], history, now)}
        assert certain == everywhere if "not" not in text else certain <= everywhere  # one of several is known later
        expected, found = supported(world, stream, now), set()
        for row in revision["open"].to_pylist():
            instances = list(expanded(row, now))
            assert instances, f"{row} is open at {now}, and cannot come true"
            found |= {i for i in instances if max(times(i[1])) <= END and i[0] not in certain}
        if exact:
            assert found == expected, f"at {now}: {text}"
        for answer, needed in found:
            goal = next(g for g in world.goals(world.datalog.queries[0]) if shown(g) == answer)
            assert world.entails(map(assumption, needed), goal, world.compatible(history, now)), (answer, needed)


_NAME = re.compile(r"\b[A-Z]\w*")
_ATOM = re.compile(r"(?:not )?\w+\([^()]*\)")


def times(needed: frozenset[str]) -> list[int]:
    return [int(re.split(r"[(, ]", n.rstrip(")"))[-1]) for n in needed]


def expanded(row: dict[str, Any], now: int) -> Iterable[tuple[str, frozenset[str]]]:
    """A row with all values of its unknown times from now on to some after the end, that its comparisons admit."""
    texts = [row["answer"], *row["needed"]]
    names = sorted({n for t in texts for n in _NAME.findall(t)})
    for values in itertools.product(*(["a"] if n in "XY" else range(now + 1, END + 9) for n in names)):
        known = dict(zip(names, map(str, values), strict=True))
        answer, *needed = (_NAME.sub(lambda m: known[m[0]], t) for t in texts)  # noqa: B023
        atoms = frozenset(computed(n) for n in needed if _ATOM.fullmatch(n))
        if all(holds(n) for n in needed if not _ATOM.fullmatch(n)) and min(times(atoms)) > now:
            yield answer, atoms


def computed(atom: str) -> str:
    return re.sub(r"(\d+)([+-]\d+)", lambda m: str(int(m[1]) + int(m[2])), atom)


def holds(comparison: str) -> bool:
    datalog, _ = read(parse(f"query p(T). p(T) :- e(T), {comparison}."))
    (rule,) = datalog.rules["p", 1]
    return decide(rule.body[1])


def world_of(text: str) -> Evolutions:
    return Evolutions(parse(text), ["a"], END)


def random_rule(rng: random.Random, head: str) -> str:
    names = rng.sample(("e", "f"), 2)
    first = rng.choice((-1, 0, 0))
    body = [f"{names[0]}(X, T{first:+d})" if first else f"{names[0]}(X, T)"]
    for _ in range(rng.randint(1, 2)):
        offset = first + rng.randint(0, 2)
        negated = "not " if rng.random() < 0.25 and offset > first else ""
        body.append(f"{negated}{rng.choice(('e', 'f'))}(X, T{offset:+d})" if offset else f"{negated}f(X, T)")
    return f"{head} :- {', '.join(dict.fromkeys(body))}."


@SETTINGS
@given(st.integers(0, 1 << 30), st.data())
def test_answers_without_the_time_of_their_premises_are_those_of_the_definition(seed: int, data: st.DataObject) -> None:
    rng = random.Random(seed)
    query, heads = rng.choice(
        (
            ("q(X)", ["q(X)"]),
            ("q", ["q"]),
            ("q(X, 1)", ["q(X, 1)", "q(X, 0)"]),
            ("q(X, S)", ["q(X, 2)", "q(X, 0)"]),
            ("q(X, S)", ["q(X, 2)", "q(X, T)"]),
        )
    )
    text = f"query {query}. " + " ".join(random_rule(rng, rng.choice(heads)) for _ in range(rng.randint(1, 3)))
    if check(parse(text)):
        return
    world = world_of(text)
    exact = "not" not in text and "q(X, T)" not in text
    compared(text, data.draw(st.sets(st.sampled_from(world.atoms))), world, 1, exact=exact)


BOUNDED = (
    "U > T, U =< T+2",
    "U >= T, U < T+2",
    "U < T, U >= T-2",
    "U - T =< 1, T - U =< 1",
    "U =:= T+1",
    "U > T+1, U < T+3",
    "not U =< T, U < 3",
    "U =< 2, T =< 1",
    "U > T, U =< 2",
    "U =\\= T, U =< T+2",
    "U mod 2 =:= T mod 2, U > T, U =< T+2",
)


@SETTINGS
@given(
    st.sampled_from(["q(X, T)", "q(X)", "q"]),
    st.sampled_from(["e(X, T), f(X, U)", "e(X, T), f(Y, U)"]),
    st.sampled_from(BOUNDED),
    st.data(),
)
def test_unrelated_times_are_open_as_long_as_the_comparisons_allow(
    head: str, body: str, bound: str, data: st.DataObject
) -> None:
    """Rows that wait for a time that only comparisons bound, against the definition."""
    text = f"query {head}. {head} :- {body}, {bound}."
    world = world_of(text)
    compared(text, data.draw(st.sets(st.sampled_from(world.atoms))), world, 1, horizon=END + 9)


@SETTINGS
@given(
    st.lists(
        st.tuples(
            st.sampled_from("UTDE0235"),
            st.sampled_from(["<", "=<", ">", ">=", "=:="]),
            st.sampled_from("UTDE0235"),
            st.integers(-2, 2),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_what_follows_from_comparisons_is_true_wherever_they_are(said: list[tuple[str, str, str, int]]) -> None:
    """And comparisons that exclude each other have no solution; U and T are times."""
    tests = []
    for left, op, right, far in said:
        number = f"{far:+d}" if far and right in "UT" else ""
        tests.append(f"{left} {op} {right}{number}")
    datalog, _ = read(parse(f"query p(T). p(T) :- e(D, E, T), f(U), {', '.join(tests)}."))
    (rule,) = datalog.rules["p", 1]
    given = [c for c in rule.body if isinstance(c, Comparison)]
    found = order(given, {"T", "U"})
    implied = list(found.implied())
    for t, u in itertools.product(range(-1, 6), repeat=2):
        for d, e in itertools.product((-1, 0, 1, 1.5, 2, 2.5, 3, 5, 5.5), repeat=2):
            binding = {"T": t, "U": u, "D": d, "E": e}
            if all(_holds(test, binding) for test in given):
                assert found.is_possible
                assert all(_holds(test, binding) for test in implied), (given, implied, binding)


# --------------------------------------------------------------------------- late and retracted rows


def folded(text: str, batches: dict[int, list[Any]], to: int, rng: random.Random, **settings: Any) -> set[str]:
    """The certain answers in the end. The changes add up to the open answers at every clock time, also where the state
    is put into another reasoner."""
    reasoner = Reasoner(parse(text), **settings)
    standing: dict[tuple[Any, ...], int] = {}
    for clock in range(to + 1):
        for batch in batches.get(clock, []):
            reasoner.accept(batch)
        revision = reasoner.advance(clock)
        for r in revision["changes"].to_pylist():
            rests_on = () if r["status"] == "certain" else (tuple(r["evidence"]), tuple(r["needed"]))
            key = (r["status"], r["answer"], *rests_on)
            standing[key] = standing.get(key, 0) + (1 if r["op"] == "insert" else -1)
            assert standing[key] in (0, 1), (clock, r)
        found = sorted((r["answer"], tuple(r["evidence"]), tuple(r["needed"])) for r in revision["open"].to_pylist())
        assert found == sorted(key[1:] for key, n in standing.items() if n and key[0] == "open")
        assert all(r["decided_by"] is None or r["decided_by"] > clock for r in revision["open"].to_pylist())
        if rng.random() < 0.3:
            state = reasoner.snapshot()
            reasoner = Reasoner(parse(text), **settings)
            reasoner.restore(state)
    return {key[1] for key, n in standing.items() if n and key[0] == "certain"}


@SETTINGS
@given(st.integers(0, 1 << 30))
def test_late_and_retracted_rows_end_in_the_same_answers(seed: int) -> None:
    rng = random.Random(seed)
    heads = rng.choice((["q(X)"], ["q(X, 1)", "q(X, T)"], ["q"]))
    text = f"query {heads[0].replace('1', 'S')}. " + " ".join(random_rule(rng, rng.choice(heads)) for _ in range(2))
    text += f" {rng.choice(heads)} :- e(X, T), {rng.choice(('g(X, U)', 'g(Y, U)', 'not f(X, T+1), g(X, U)'))}, "
    text += f"{rng.choice(BOUNDED)}. {rng.choice(heads)} :- g(X, T), f(X, {rng.randint(2, 5)})."
    if any(d.code != "TW308" for d in check(parse(text))):
        return
    lateness = rng.randint(1, 3)
    late: dict[int, list[Any]] = {}
    plain: dict[int, list[Any]] = {}
    for name, x, time in itertools.product("efg", "ab", range(7)):
        if rng.random() < 0.35:
            came = rng.randint(time, time + lateness)
            late.setdefault(came, []).append(facts((name, x, time), arrival=came))
            went = rng.randint(came + 1, came + 3) if rng.random() < 0.4 else None
            if went is not None and went <= time + lateness:
                late.setdefault(went, []).append(facts((name, x, time), arrival=went, op=-1))
                if went == time + lateness or rng.random() < 0.5:
                    continue
                late.setdefault(time + lateness, []).append(facts((name, x, time), arrival=time + lateness))
            plain.setdefault(time, []).append(facts((name, x, time)))
    assert folded(text, late, 16, rng, lateness=lateness, horizon=5) == folded(text, plain, 16, rng, horizon=5), text


def test_an_answer_two_of_whose_premises_are_the_same_is_open() -> None:
    """With X the second, what is needed is a part of itself in the variables of the rule, but not in values."""
    rules = "query p(X, T). p(X, T) :- e(X, T), X \\= 1. p(1, 2) :- e(1, T), e(2, T), e(X, T), e(X, T-1), X \\= 1."
    reasoner = Reasoner(parse(rules))
    reasoner.accept(facts(("e", "2", 1)))
    revision = reasoner.advance(1)
    assert [row["answer"] for row in revision["open"].to_pylist()] == ["p(1, 2)"]
    assert {(row["change"], row["answer"]) for row in revision["changes"].to_pylist()} == {
        ("opened", "p(1, 2)"),
        ("certain", "p(2, 1)"),
    }
