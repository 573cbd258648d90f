"""Why and why not: supports of labels down to rows of the input, on bus and tram and on generated programs."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lars_programs import Choose, Draw, program_of, stream_of

import thalweg
from thalweg.explain.tree import Node, Part
from thalweg.io.errors import InputError
from thalweg.lars.stratify import stratify
from thalweg.result import Result

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bus_and_tram"
JAM = [("busG", 372), ("tramB", 391), ("request", 397), ("jam", 400)]


def asked(rows: list[tuple[str, int]] = JAM) -> Result:
    return thalweg.run(EXAMPLE / "bus.lars", [{"name": n, "time": t} for n, t in rows], end=420)


def texts(node: Node, part: Part) -> list[str]:
    return [n.text for n in node if n.part is part]


def test_what_is_in_rests_on_a_rule_and_at_the_leaves_on_rows() -> None:
    tree = asked().why("takeTrM @ 402")
    assert tree.text == "takeTrM is in the answer stream from 400 to 407"
    assert [(p.fact, p.time) for p in tree.leaves()] == [("tramB", 391), ("request", 397)]
    assert "not takeBusM: nothing says so at 402" in texts(tree, Part.NEGATION)


def test_example_7_a_head_is_supported_by_its_window_atom_and_by_on() -> None:
    tree = asked().why("at(402) expBusM @ 398")
    assert tree.text == "at(402) expBusM is in the answer stream from 397 to 402"
    (rule,) = tree.children
    assert [n.text for n in rule.children] == [
        "[3m] at(372) busG, through 402",
        "on is in the answer stream from 397 to 407",
    ]


def test_a_window_atom_lasts_as_long_as_what_it_holds() -> None:
    assert asked().why("[+5m] sometime expTrM @ 401").text == "[+5m] sometime expTrM, through 407"


def test_what_is_out_has_a_failing_literal_in_every_rule() -> None:
    tree = asked().why_not("takeBusM @ 401")
    assert texts(tree, Part.FAILS) == ["not takeTrM: it is true"]
    assert asked().why_not("[3m] sometime jam @ 399").text.endswith("none from 369 to 399")


def test_questions_that_say_no_tick_or_no_atom_are_refused() -> None:
    for written, message in (
        ("takeBusM", "says no tick"),
        ("takeBusM, on @ 400", "is not one atom"),
        ("takeBusM. on @ 400", "is not one atom"),
        ("", "'' says no tick"),
        ("takeBusM @ 500", "lies after the end"),
        ("takeTrM @ 398", "is not in at 398"),
    ):
        with pytest.raises(InputError, match=message):
            asked().why(written)


def test_questions_about_predicates_called_like_words_of_windows() -> None:
    rules = "program lars. hop(X) if over(X). at(T+1) at(X) if [2] at(T) hop(X). n if [2] sometime over(X)."
    result = thalweg.run(rules, [{"name": "over", "time": 4, "x": "a"}], end=6)
    windows = ("[2] sometime over(a) @ 5", "[2] at(4) over(a) @ 5")
    for written in ("hop(a) @ 4", "'hop'(a) @ 4", "at(5) at(a) @ 4", *windows):
        assert [p.fact for p in result.why(written).leaves()] == ["over(a)"], written


def test_an_always_over_any_atom_names_one_that_was_there_all_the_time() -> None:
    rows = [{"name": "p", "time": t, "x": x} for t, x in ((1, "a"), (2, "a"), (2, "b"), (3, "a"), (3, "b"))]
    result = thalweg.run("program lars. steady if [2] always p(_).", rows, end=5)
    assert [p.fact for p in result.why("steady @ 3").leaves()] == ["p(a)", "p(a)", "p(a)"]


COUNTED = """program lars.
busy if N = count(X) over [5] p(X, V), N >= 4.
few if N = count(X) over [5] p(X, V), 3 > N.
heavy if S = sum(V) over [5] p(X, V), S > 20.
top(M) if M = max(V) over [1] p(X, V).
exact if 5 = count(X) over [5] p(X, V).
each(X) if q(X), N = count(V) over [5] p(X, V), N > 2.
other if N = count(V) over [5] p(_, V), N \\= 3, q(_).
"""


def counted() -> Result:
    rows: list[dict[str, object]] = [
        {"name": "p", "time": t, "x": x, "v": v} for t, x, v in ((1, "a", 3), (2, "b", 4), (3, "a", 5))
    ]
    rows += [{"name": "q", "time": 3, "x": "a"}, {"name": "q", "time": 2, "x": "c"}]
    return thalweg.run(COUNTED, rows, end=9)


@pytest.mark.parametrize(
    ("written", "failing", "over"),
    [
        ("busy @ 3", "3 >= 4: it is false, 1 more is needed", ["p(a,3)", "p(b,4)", "p(a,5)"]),
        ("few @ 3", "3 > 3: it is false, 1 too many", ["p(a,3)", "p(b,4)", "p(a,5)"]),
        ("heavy @ 3", "12 > 20: it is false, 8 too little", ["p(a,3)", "p(b,4)", "p(a,5)"]),
        ("top(9) @ 3", "9 = max(V) over [1] p(X, V): it is 5, 4 too little", ["p(b,4)", "p(a,5)"]),
        ("top(9) @ 6", "9 = max(V) over [1] p(X, V): none from 5 to 6", []),
        ("exact @ 3", "5 = count(X) over [5] p(X, V): it is 3, 2 more are needed", ["p(a,3)", "p(b,4)", "p(a,5)"]),
        ("each(c) @ 2", "0 > 2: it is false, 3 more are needed", ["q(c)"]),
        ("each(X) @ 3", "2 > 2: it is false, 1 more is needed", ["p(a,3)", "q(a)", "p(a,5)"]),
        ("other @ 3", "3 \\= 3: it is false", ["p(a,3)", "p(b,4)", "q(a)", "p(a,5)"]),
    ],
)
def test_a_failing_aggregate_says_over_what_and_what_is_missing(written: str, failing: str, over: list[str]) -> None:
    tree = counted().why_not(written)
    assert texts(tree, Part.FAILS) == [failing]
    assert sorted(leaf.fact for leaf in tree.leaves()) == sorted(over)


def test_an_aggregate_over_nothing_says_where_there_is_nothing() -> None:
    tree = counted().why_not("each(c) @ 2")
    assert texts(tree, Part.COLLECTED) == ["0 = count(V) over [5] p(c, V): none from 0 to 2"]


@settings(max_examples=settings.default.max_examples // 8, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_every_answer_is_explained_from_rows_that_derive_it(seed: int) -> None:
    choose = Choose(Random(seed))
    program = program_of(choose, Draw(loops=seed % 2 == 0))
    read = {f"{n}/{k}" for n, k in (e.atom for e in stratify(program).edges)}
    facts = [f for f in stream_of(choose, most=12) if f"{f[1]}/{len(f[2])}" in read]
    rows = [{"name": n, "time": t, **{f"a{i}": a for i, a in enumerate(args)}} for t, n, args in facts]
    if not rows:
        return
    result = thalweg.run(program, rows, end=8)
    for row in result.arrow["answers"].to_pylist()[:6]:
        head = row["atom"] if row["at"] is None else f"at({row['at']}) {row['atom']}"
        tree = result.why(f"{head} @ {row['from']}")
        assert not texts(tree, Part.UNEXPLAINED)
        assert all(place.time <= row["from"] for place in tree.leaves())
        assert result.holds(f"{head} @ {row['from']}")
        if row["from"] > 0 and row["at"] is None:
            assert not result.holds(f"{head} @ {row['from'] - 1}")


ARITHMETIC = """program lars.
big(X, V) if [5] sometime temp(X, D), V is {}.
"""


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("floor(D / 2)", -43), ("ceiling(D / 2)", -42), ("round(D / 2)", -43), ("truncate(D / 2)", -42),
        ("D div 2", -43), ("D // 2", -42), ("D mod 2", 1), ("sqrt(abs(D) - 4)", 9), ("D ^ 2", 7225),
        ("integer(D / 2)", -43),
    ],
)  # fmt: skip
def test_what_is_computed_is_explained(expression: str, value: int) -> None:
    result = thalweg.run(ARITHMETIC.format(expression), [{"name": "temp", "time": 1, "x": "a", "d": -85}], end=2)
    assert result["answers"].column("atom").to_pylist() == [f"big(a,{value})"]
    assert Part.UNEXPLAINED not in {n.part for n in result.why(f"big(a, {value}) @ 1")}


def test_the_standard_order_is_explained() -> None:
    rows = [{"name": "p", "time": 1, "x": x} for x in ("inf", "b", "10", "9")]
    result = thalweg.run("program lars. q(X, Y) if [5] sometime p(X), [5] sometime p(Y), X @< Y.", rows, end=1)
    found = set(result["answers"].column("atom").to_pylist())
    assert found == {"q(9,10)", "q(9,b)", "q(9,inf)", "q(10,b)", "q(10,inf)", "q(b,inf)"}
    assert all(Part.UNEXPLAINED not in {n.part for n in result.why(f"{atom} @ 1")} for atom in found)


def test_a_question_about_what_the_program_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="the program has no takeBusN/0; did you mean takeBusM/0"):
        asked().why_not("takeBusN @ 401")
