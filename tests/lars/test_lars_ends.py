"""Until when labels last where rules compute with the point of a head: exactly, however far away that is."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lars_points import case
from lars_programs import Fact, batch, heads, lasting, term

import thalweg
from thalweg.lars import diagonal
from thalweg.lars.conditions import (
    NOW,
    Condition,
    Expression,
    Recurring,
    Within,
    compared,
    computed,
    every,
    no,
    picked,
    some,
    sure,
    truths,
    values,
)
from thalweg.lars.labels import FOREVER
from thalweg.lars.reasoner import Reasoner
from thalweg.lars.turning import Course, next_change, repeating
from thalweg.reference.lars import answer_streams
from thalweg.reference.lars_search import candidates

FAR = 3000
quickly = settings(
    max_examples=settings.default.max_examples // 8, deadline=None, suppress_health_check=list(HealthCheck)
)

# --------------------------------------------------------------------------- by hand


def until(rules: str, facts: list[Fact], tick: int) -> dict[str, int | None]:
    """The ends that the changes up to a tick say, of each atom the last one."""
    reasoner = Reasoner(thalweg.parse(f"program lars. {rules}"))
    reasoner.accept(batch(facts))
    return {row["atom"]: row["until"] for row in reasoner.advance(tick)["changes"].to_pylist()}


A_AT_1: list[Fact] = [(1, "a", ())]


@pytest.mark.parametrize(
    ("rules", "tick", "expected"),
    [
        ("p if not b. ok if [3] at(T) p, T mod 7 = 0.", 8, {"p": None, "ok": 13}),
        ("p if not b. ok if [3] at(T) p, T mod 1000003 = 5.", 6, {"ok": 1000007}),
        ("p if not b. ok if [3] at(T) p, T mod 1000003 > 5.", 6, {"ok": 1000002}),
        ("p if not b. ok if [3] at(T) p, (T // 3600) mod 24 = 8.", 30_000, {"ok": 32_399}),
        ("p if not b. ok if [3] at(T) p, T < 2000000000000.", 6, {"ok": 1_999_999_999_999}),
        ("p if not b. ok if [3] at(T) p, X = T * T, X < 1000000.", 6, {"ok": 999}),
        ("p if not b. ok if [3] at(T) p, 2 ** T > 100.", 9, {"ok": 1023}),
        ("p if not b. ok if [3] at(T) p, not 2 ** T > 100.", 5, {"ok": 6}),
        ("p if not b. ok if [0] at(T) p, T div 2.5 < 4.", 5, {"ok": 9}),
        ("p if not b. ok if [3] at(T) p, T * T - T * T < 5.", 6, {"ok": None}),
        ("p if not b. ok if [3] at(T) p, T mod 7 = 3, T mod 7 = 4. ok if [9] sometime a.", 11, {"ok": None}),
        ("p if not b. ok if [3] at(T) p, T mod 2 = 0. ok if [3] at(T) p, T mod 2 = 1.", 6, {"ok": None}),
        ("p if not b. q(T) if [3] at(T) p.", 6, {"q(5)": None, "q(6)": 6}),
        ("p if not b. q(T // 1000) if [3] at(T) p.", 1000, {"q(0)": None, "q(1)": 1999}),
        ("p if not b. q(T mod 5000) if [3] at(T) p.", 6, {"q(5)": 5004, "q(6)": 6}),
        ("p if not b. q(T) if [3] at(T) p. r if q(X), X >= 4000.", 6, {"q(6)": 6}),
        ("p if not b. q(T) if [3] at(T) p. r if q(X), X < 4000.", 6, {"r": 3999}),
        ("p if not b. q(T) if [3] at(T) p. r if [9] sometime a, not q(4000). r if q(4001).", 6, {"r": 10}),
        ("p if not b. q(T) if [3] at(T) p. r if p, not q(4000).", 6, {"r": 3999}),
        ("p if not b. q(T) if [3] at(T) p. r if p, not q(4000).", 4001, {"r": None}),
        ("p if not b. at(T+2) q if [3] at(T) p, T mod 5000 < 9.", 6, {"q": 6}),
        ("p if [5000] sometime a. ok if [3] at(T) p, T > 3.", 6, {"p": 5001, "ok": 5001}),
        ("p if [5000] sometime a. ok if [3 hop 4000] sometime p.", 6, {"ok": None}),
        ("p if [9000] sometime a. ok if [3 hop 4000] sometime p.", 1, {"p": 9001}),
        ("p if not b. limit(X) if [5000] sometime a, X = 3000. ok(X) if [3] at(T) p, limit(X), T =< X.", 6,
         {"ok(3000)": 3000}),
    ],
)  # fmt: skip
def test_ends_are_where_the_next_change_is(rules: str, tick: int, expected: dict[str, int | None]) -> None:
    said = until(rules, A_AT_1, tick)
    assert {atom: said.get(atom) for atom in expected} == expected


def test_a_window_that_hops_far_finds_a_head_that_began_between_two_hops() -> None:
    reasoner = Reasoner(thalweg.parse("program lars. p if [9000] sometime a. ok if [3 hop 4000] sometime p."))
    reasoner.accept(batch([(100, "a", ())]))
    reasoner.advance(100)
    rows = [r for r in reasoner.advance(8100)["changes"].to_pylist() if r["atom"] == "ok"]
    assert [(r["op"], r["query_time"], r["until"]) for r in rows] == [
        ("insert", 4000, 4000), ("delete", 4001, 7999), ("insert", 8000, 8000), ("delete", 8001, None)
    ]  # fmt: skip


def test_an_atom_that_is_out_says_when_it_comes_back() -> None:
    reasoner = Reasoner(thalweg.parse("program lars. p if not b. ok if [3] at(T) p, T mod 5000 = 2."))
    reasoner.advance(6)
    rows = {row["atom"]: (row["status"], row["to"]) for row in reasoner.labels().to_pylist()}
    assert rows["ok"] == ("out", 5001)
    assert rows["[3] at(6) p"] == ("in", 6)
    assert "[3] at(7) p" not in rows


def test_two_large_periods_are_no_matter_of_trying_every_tick() -> None:
    both = every([compared("=:=", computed("mod", NOW, m), r) for m, r in ((1000003.0, 4.0), (1000033.0, 3.0))])
    found, known = next_change(both, 6, False)
    assert known and (found % 1000003, found % 1000033) == (4, 3) and found < 1000003 * 1000033


def test_a_head_that_lasts_for_ever_costs_no_memory_and_little_time() -> None:
    reasoner = Reasoner(thalweg.parse("program lars. p if not b. ok if [3] at(T) p, T mod 1000003 = 7."))
    sizes = []
    for tick in (1_000, 900_000, 1_000_100, 1_999_000):
        reasoner.advance(tick)
        sizes.append(len(reasoner.snapshot()))
    assert max(sizes) < 10**6


DAY = "p if not b. day if [0] at(T) p, T mod 2000 < 1000."
CHOICE = f"{DAY} x if day, not y. y if day, not x."
EDGES = "e(2, 3) if p. t(X, Y) if e(X, Y). t(X, Z) if t(X, Y), e(Y, Z)."


@pytest.mark.parametrize(
    ("rules", "tick", "expected"),
    [
        (CHOICE, 6, {"x": 999}),
        (f"{CHOICE} z if p, not x.", 1500, {"z": 1999}),
        (f"{CHOICE} z if p, not y.", 6, {"z": None}),
        (f"{CHOICE} z if [0] at(T) x, T mod 700 < 500.", 6, {"x": 999, "z": 499}),
        (f"{DAY} x if day, not y. y if [0] at(T) p, T >= 4500, not x. z if p, not y.", 6, {"z": 4999}),
        (f"{CHOICE} x if day, [0] at(T) p, T mod 3 = 0, not y. z if p, not y.", 6, {"x": 999, "z": None}),
        ("p if not b. x(T // 1000) if [0] at(T) p, not y. y if p, not x(0). ", 6, {"x(0)": 999}),
        ("p if not b. x if p, not y. y if [0] at(T) p, T < 70000, not x. z if p, not x.", 6, {"x": None}),
        (f"p if not b. e(1, 2) if [0] at(T) p, T mod 90000 < 50000. {EDGES}", 6, {"t(1,3)": 49_999, "t(2,3)": None}),
        (f"p if not b. e(1, 2) if [0] at(T) p, T mod 9 < 5. e(1, 2) if [0] at(T) p, T mod 9 > 4. {EDGES}", 6,
         {"t(1,3)": None}),
        ("p if not b. day(T // 1000) if [0] at(T) p. x if N = sum(D) over [0] day(D), N mod 2 =:= 0.", 6, {"x": 999}),
        ("p if not b. q(T) if [0] at(T) p. x if N = sum(D) over [0] q(D), N < 1000000.", 6, {"x": 999_999}),
        ("p if not b. q(T mod 7) if [0] at(T) p. m(N) if N = count(X) over [5] q(X).", 6, {"m(1)": None}),
        ("p if not b. q(T) if [0] at(T) p. q(500) if p. m(N) if N = min(X) over [5] q(X).", 503,
         {"m(499)": None, "m(500)": None}),
        ("p if not b. q(T) if [0] at(T) p. q(5000) if p. m(N) if N = max(X) over [5] q(X).", 6, {"m(5000)": 5000}),
        ("p if not b. q(1) if [0] at(T) p, T < 3000. q(2) if [0] at(T) p, T > 2000. "
         "m(N) if N = count(X) over [0] q(X).", 2500, {"m(2)": 2999, "m(1)": 2999}),
        ("p if not b. at(T+3) q if [0] at(T) p, T mod 5000 < 3000. s if [2 #, +1 #] sometime q.", 6, {"s": 2999}),
        ("p if not b. at(T) q if [0] at(T) p, T < 3000. s if [1 #] sometime q.", 6, {"s": 2999}),
    ],
)  # fmt: skip
def test_choices_recursions_and_aggregates_over_points_end_exactly(
    rules: str, tick: int, expected: dict[str, int | None]
) -> None:
    reasoner = Reasoner(thalweg.parse(f"program lars. {rules}"))
    reasoner.accept(batch(A_AT_1))
    said = {row["atom"]: (row["until"], row["exact"]) for row in reasoner.advance(tick)["changes"].to_pylist()}
    assert {atom: said.get(atom) for atom in expected} == {atom: (end, True) for atom, end in expected.items()}


@pytest.mark.parametrize(
    "rules",
    [
        "p if not b. ok if [3] at(T) p, T * T * T mod 1000003 = 5. z if p, not ok.",
        "p if not b. x(T) if [0] at(T) p, not y(T). y(T) if [0] at(T) p, not x(T). ok if x(N), N > 9000. "
        "z if p, not ok.",
    ],
)
def test_an_end_that_is_not_known_is_said_not_to_be(rules: str) -> None:
    reasoner = Reasoner(thalweg.parse(f"program lars. {rules}"))
    (row,) = (row for row in reasoner.advance(6)["changes"].to_pylist() if row["atom"] == "z")
    assert not row["exact"] and row["until"] > 200
    (row,) = (row for row in reasoner.answers().to_pylist() if row["atom"] == "z")
    assert not row["exact"] and row["to"] > 200
    rows = {row["atom"]: row for row in reasoner.labels().to_pylist()}
    assert not rows["z"]["exact"] and not rows["ok"]["exact"] and rows["p"]["exact"]


def test_a_choice_that_is_not_made_ahead_says_that_its_end_is_not_exact() -> None:
    rules = "x if [9] sometime a, not y. y if [9] sometime a, not x. z if [20] sometime a, not [4] sometime b."
    facts: list[Fact] = [(1, "a", ()), (3, "a", ())]
    reasoner = Reasoner(thalweg.parse(f"program lars. {rules}"), predict=False)
    reasoner.accept(batch(facts))
    said = {row["atom"]: (row["until"], row["exact"]) for row in reasoner.advance(3)["changes"].to_pylist()}
    assert said == {"x": (10, False), "z": (21, True)}


def test_where_ticks_are_handled_in_blocks_no_end_is_known() -> None:
    reasoner = Reasoner(thalweg.parse("program lars. x if [9] sometime a."), blocks=True)
    reasoner.accept(batch(A_AT_1))
    assert [(row["until"], row["exact"]) for row in reasoner.advance(3)["changes"].to_pylist()] == [(None, False)]


def test_a_loop_without_answer_that_rests_on_a_point_says_exactly_until_when() -> None:
    reasoner = Reasoner(thalweg.parse(f"program lars. {DAY} x if day, not x."))
    rows = reasoner.advance(1500)["no_answer"].to_pylist()
    found = [(r["op"], r["query_time"], r["until"], r["exact"]) for r in rows]
    assert found == [("insert", 0, 999, True), ("delete", 1000, 1999, True)]


def test_a_choice_ends_where_a_loop_tied_to_it_has_no_answer() -> None:
    rules = "p if not b. x if p, not y. y if p, not x. z if [0] at(T) p, T mod 5000 = 4000, x, not z."
    reasoner = Reasoner(thalweg.parse(f"program lars. {rules}"))
    rows = {row["atom"]: (row["until"], row["exact"]) for row in reasoner.advance(6)["changes"].to_pylist()}
    assert rows["x"] == (3999, True)


# --------------------------------------------------------------------------- generated programs


@pytest.fixture(params=["far", "near"])
def sight(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many ticks ahead the stores know: some, or hardly any, so that everything must be found out otherwise."""
    if request.param == "near":
        monkeypatch.setattr(diagonal, "_AHEAD", 1)
        monkeypatch.setattr(diagonal, "_SOON", 1)


@pytest.mark.usefixtures("sight")
@pytest.mark.parametrize("loops", [False, True])
@quickly
@given(seed=st.integers(0, 2**32))
def test_without_input_nothing_changes_before_an_end_and_something_does_after(loops: bool, seed: int) -> None:
    program, facts, tick = case(seed, loops=loops)
    reasoner = Reasoner(program)
    reasoner.accept(batch(facts))
    said: dict[tuple[int | None, str], tuple[int, int | None, bool]] = {}
    for t in range(tick + 1):
        for row in reasoner.advance(t)["changes"].to_pylist():
            said[row["at"], row["atom"]] = t, row["until"], row["exact"]
    ends = {(r["at"], r["atom"]): (r["to"], r["exact"]) for r in reasoner.answers().to_pylist()}
    input_ended = max((f[0] for f in facts), default=0)
    for atom, (t, end, exact) in said.items():
        if t >= input_ended and (end is None or end >= tick):
            ends[atom] = end, exact
    onward = Reasoner(program, blocks=True)
    onward.accept(batch(facts))
    onward.advance(tick)
    first: dict[tuple[int | None, str], int] = {}
    for row in onward.advance(tick + FAR)["changes"].to_pylist():
        first.setdefault((row["at"], row["atom"]), row["query_time"])
    for atom, (end, exact) in ends.items():
        if atom not in first:
            assert end is None or end >= tick + FAR or not exact, atom
        elif exact:
            assert end == first[atom] - 1, atom
        else:
            assert end is not None and end < first[atom], atom


@quickly
@given(seed=st.integers(0, 2**32))
def test_ends_far_away_are_those_of_the_definition(seed: int) -> None:
    program, facts, tick = case(seed, background=False)
    data, random = [(f[0], term(f)) for f in facts], Random(seed)
    reasoner = Reasoner(program)
    reasoner.accept(batch(facts))
    reasoner.advance(tick)
    for atom, end in lasting(reasoner).items():
        last = tick + 10**6 if end is None else end
        asked = {tick, last, *(random.randint(tick, last) for _ in range(6))}
        for t in sorted(asked | (set() if end is None else {end + 1})):
            if len(candidates(program, data, t)) > 6:
                continue
            (answer,) = answer_streams(program, data, t)
            assert (atom in heads(answer.heads)) == (t <= last), (atom, end, t)


# --------------------------------------------------------------------------- conditions


def expression(random: Random, depth: int) -> Expression:
    if depth == 0 or random.random() < 0.2:
        return random.choice([NOW, NOW, float(random.randint(-5, 60))])
    op = random.choice("+ - * mod // abs min max / floor sqrt -1 ** pick 2**".split())
    left = expression(random, depth - 1)
    if op == "2**":
        return computed("**", 2.0, left)
    if op == "pick":
        return picked(condition(random, 0), left, expression(random, depth - 1))
    if op in ("abs", "floor", "sqrt"):
        return computed(op, left)
    if op == "-1":
        return computed("-", left)
    if op in ("mod", "//", "/"):
        return computed(op, left, float(random.choice([-3, 2, 3, 7, 40, 400])))
    return computed(op, left, float(random.randint(0, 2)) if op == "**" else expression(random, depth - 1))


def condition(random: Random, depth: int) -> Condition:
    kind = random.randint(0, 5) if depth else random.randint(0, 3)
    if kind == 0 and random.random() < 0.4:
        begin, period = random.randint(0, 300), random.choice([1, 7, 100])
        ends = sorted(random.sample(range(begin + period + 9), 4))
        pairs = [(a, min(b, begin + period - 1)) for a, b in (ends[:2], ends[2:]) if a < begin + period]
        return Recurring(tuple(pairs[: 1 if ends[2] < ends[1] + 2 else 2]), begin, period) if pairs else False
    if kind == 0:
        first = random.randint(0, 400)
        return Within(((first, first + random.choice([0, 20, 900])), (3000, random.choice([3500, FOREVER]))))
    if kind <= 3:
        op = random.choice(["<", ">=", "=:=", "=\\=", ">"])
        return compared(op, expression(random, 3), expression(random, 1))
    parts = [condition(random, depth - 1) for _ in range(random.randint(1, 3))]
    found = every(parts) if kind == 4 else some(parts)
    return no(found) if random.random() < 0.3 else found


def each(asked: Condition, first: int, last: int) -> list[bool]:
    with np.errstate(all="ignore"):
        return [bool(x) for x in truths(asked, np.arange(first, last + 1).astype(np.float64))]


@given(seed=st.integers(0, 2**32))
def test_what_is_sure_of_an_interval_is_so_at_each_of_its_ticks(seed: int) -> None:
    random = Random(seed)
    asked, first = condition(random, 2), random.randint(0, 3000)
    last = first + random.choice([0, 1, 5, 100, 1000, FOREVER])
    known = sure(asked, first, last)
    if known is not None:
        assert set(each(asked, first, min(last, first + 2000))) == {known}


@given(seed=st.integers(0, 2**32))
def test_a_condition_that_repeats_itself_does(seed: int) -> None:
    asked = condition(Random(seed), 2)
    found = repeating(asked)
    if found is not None and found.begin < 10**6 and found.period < 10**5:
        ticks = each(asked, found.begin, found.begin + 2 * found.period + 100)
        assert ticks[found.period :] == ticks[: -found.period]


@given(seed=st.integers(0, 2**32))
def test_the_next_change_is_the_first_tick_that_differs(seed: int) -> None:
    random = Random(seed)
    asked, tick = condition(random, 2), random.randint(0, 500)
    here, *later = each(asked, tick, tick + 20_000)
    found, known = next_change(asked, tick, here)
    real = next((tick + 1 + i for i, truth in enumerate(later) if truth != here), None)
    if known:
        assert found == real if real is not None else found > tick + 20_000
    else:
        assert real is None or found <= real


@given(seed=st.integers(0, 2**32))
def test_a_course_is_made_of_the_ticks_at_which_a_condition_is_true(seed: int) -> None:
    random = Random(seed)
    asked, value, first = condition(random, 2), expression(random, 2), random.randint(0, 500)
    course = Course(first, first + 5000, blocks=8, runs=2000)
    runs = course.follow(asked, [value])
    ticks = np.arange(first, course.end + 1).astype(np.float64)
    with np.errstate(all="ignore"):
        expected = {int(t): v for t, there, v in zip(ticks, truths(asked, ticks), values(value, ticks), strict=True)
                    if there and v == v}  # fmt: skip
    assert {t: v for a, b, (v,) in runs for t in range(a, min(b, course.end) + 1)} == expected


# --------------------------------------------------------------------------- late rows


@pytest.mark.parametrize(
    ("rules", "early", "late", "expected"),
    [
        ("c if [5] sometime a.", [(3, "a", ())], [((3, "a", ()), -1)], [("delete", 3, None)]),
        ("c if [5] sometime a.", [(3, "a", ()), (9, "a", ())], [((3, "a", ()), -1)], [("delete", 3, None)]),
        ("c if [3] sometime a. at(T+5) d if [9] at(T) a. c if d.", [(3, "a", ())], [((3, "a", ()), -1)],
         [("delete", 3, None)]),
        ("c if [3] sometime a. c if [0, +3] sometime d. at(8) d if [6] sometime b.", [(3, "b", ())],
         [((3, "a", ()), 1)], [("insert", 3, 4)]),
        ("c if [2] sometime a. c if [+1] sometime d. at(7) d if [6] sometime b.", [(3, "b", ())],
         [((3, "a", ()), 1)], [("insert", 3, 7)]),
        ("c if [9] sometime b, not [4] sometime a.", [(3, "b", ())], [((3, "a", ()), 1)], [("delete", 3, 7)]),
    ],
)  # fmt: skip
def test_a_late_row_says_until_when_the_revised_answer_lasts(
    rules: str, early: list[Fact], late: list[tuple[Fact, int]], expected: list[tuple[str, int, int | None]]
) -> None:
    reasoner = Reasoner(thalweg.parse(f"program lars. {rules}"), lateness=5)
    reasoner.accept(batch([f for f in early if f[0] <= 5]))
    reasoner.advance(5)
    reasoner.accept(batch([f for f, _ in late], [6] * len(late), [op for _, op in late]))
    rows = [r for r in reasoner.advance(6)["changes"].to_pylist() if r["atom"] == "c"]
    assert [(r["op"], r["from"], r["until"]) for r in rows] == expected
