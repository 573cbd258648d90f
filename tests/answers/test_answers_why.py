"""Why an answer is certain or open, and why not: trees down to rows of the input."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from answers_random import Arrival, Rich, constant_of, in_the_end, instances, sampled
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import thalweg
from thalweg.cli.main import app
from thalweg.explain.tree import Node, Part
from thalweg.io.errors import InputError
from thalweg.result import Result

HOT = """
query malf(X, T).
flag(X, T) :- temp(X, D, T), D >= 80.
malf(X, T) :- flag(X, T), flag(X, T+1), not serviced(X, T).
serviced(X, T) :- visit(X, T), done(X, T).
"""


def hot(*rows: tuple[Any, ...], **options: Any) -> Result:
    events = [
        {"name": name, "time": time, **{f"a{i}": a for i, a in enumerate(args)}} for name, *args, time in rows
    ]
    return thalweg.run(HOT, events, **options)


def parts(node: Node, part: Part) -> list[str]:
    return [n.text for n in node if n.part is part]


def test_no_such_atom_is_explained_without_a_rule_of_its_own() -> None:
    rules = "query q(X, T). q(X, T) :- room(X, T), not noise(X, _, T)."
    rows = [{"name": "room", "time": 1, "x": "a"}, {"name": "room", "time": 2, "x": "a"}]
    result = thalweg.run(rules, {"room": rows, "noise": [{"name": "noise", "time": 2, "x": "a", "y": "drum"}]})
    assert str(result.why("q(a, 1)")).splitlines()[3:] == [
        "   └─ not noise(a, _, 1): nothing can make it true any more",
        "      └─ noise(a, B1, 1): no such row, and none can come any more",
    ]
    assert str(result.why_not("q(a, 2)")).splitlines()[3:] == [
        "   └─ not noise(a, _, 2): it is true",
        "      └─ noise(a,drum) at 2  [noise:1]",
    ]
    with pytest.raises(InputError, match="the program has no nose/2") as raised:
        result.why("nose(a, 2)")
    assert "it has noise/3, q/2, room/2" in str(raised.value)


def test_a_certain_answer_rests_on_rules_rows_and_absences() -> None:
    tree = hot(("temp", "a", 85, 3), ("temp", "a", 90, 4), ("visit", "a", 3)).why("malf(a, 3)")
    assert tree.text == "malf(a, 3) is certain at 4"
    assert {(p.fact, p.time) for p in tree.leaves()} == {("temp(a,85)", 3), ("visit(a)", 3), ("temp(a,90)", 4)}
    assert parts(tree, Part.TEST) == ["85 >= 80", "90 >= 80"]
    (absent,) = [n for n in tree if n.part is Part.NEGATION]
    assert absent.text == "not serviced(a, 3): nothing can make it true any more"
    assert parts(absent, Part.FAILS) == ["done(a, 3): no such row, and none can come any more"]


def test_an_open_answer_shows_what_must_still_come_and_when() -> None:
    tree = hot(("temp", "a", 85, 3)).why("malf(a, 3)")
    assert tree.part is Part.OPEN
    assert [p.fact for p in tree.leaves()] == ["temp(a,85)"]
    assert parts(tree, Part.NEEDED) == ["temp(a, D, 4) may still come, by 4", "D >= 80, not known yet"]


def test_what_nothing_has_come_of_is_possible_and_not_open() -> None:
    rules = "query q(X, T). q(X, T) :- a(X, T), not b(X, T). q(X, T) :- c(X, T-1), not b(X, T), d(X, T), e(X, T)."
    rows = [{"name": n, "time": 12, "x": "x"} for n in "ac"]
    result = thalweg.run(rules, rows)
    said = "q(y, 100) is possible at 12, nothing of it has come: 2 conditions still needed"
    assert result.why("q(y, 100)").text == said
    assert result.why("q(x, 13)").text == "q(x, 13) is open at 12: 3 conditions still needed"
    assert result.why("a(x, 13)").text == "a(x, 13) may still come, by 13"
    absent = thalweg.run("query q(X, T). q(X, T) :- not b(X, T), a(X, T+2).", rows)
    assert absent.why("q(y, 11)").text == "q(y, 11) is open at 12: 1 condition still needed"
    with pytest.raises(InputError, match="is certain or possible at 12"):
        result.why_not("q(y, 100)")


def test_what_comparisons_exclude_is_neither_open_nor_possible() -> None:
    rules = "query q(X, T). q(X, T) :- a(X, T), b(X, U), U < T. q(X, T) :- a(X, T), c(X, U), U > T, U =< T+3."
    result = thalweg.run(rules, [{"name": "a", "time": t, "x": "x"} for t in (5, 9)], horizon=10)
    assert parts(result.why("q(x, 5) @ 6"), Part.NEEDED)[0] == "c(x, U) may still come"
    assert result.why_not("q(x, 5) @ 9").text.startswith("q(x, 5) is not true at 9")


def test_a_question_as_of_an_earlier_clock_time_knows_only_what_had_arrived() -> None:
    result = hot(("temp", "a", 85, 3), ("temp", "a", 90, 4))
    assert result.why("malf(a, 3) @ 3").part is Part.OPEN
    assert result.why("malf(a, 3) @ 4").part is Part.ATOM


def test_why_not_shows_the_conditions_that_fail() -> None:
    result = hot(("temp", "a", 85, 3), ("temp", "a", 70, 4), ("visit", "b", 1), ("done", "b", 1), ("temp", "b", 81, 1),
                 ("temp", "b", 82, 2))  # fmt: skip
    assert "70 >= 80: it is false" in parts(result.why_not("malf(a, 3)"), Part.FAILS)
    tree = result.why_not("malf(b, 1)")
    assert "not serviced(b, 1): it is true" in parts(tree, Part.FAILS)
    assert {"visit(b)", "done(b)"} <= {p.fact for p in tree.leaves()}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("malf(X, 3)", "variables"),
        ("melf(a, 3)", "no melf/2"),
        ("malf(a, b)", "is a time"),
        ("malf(a, 3) @ 99", "after the end"),
        ("malf(a", "cannot read"),
        ("", "'' is not one atom"),
        ("malf(a,1). done(a,1)", "is not one atom"),
        ("malf(a,1) @ noon", "the clock time noon is neither"),
        ("mlf(a,1)", "did you mean malf/2"),
        ("malf(a, 0)", "neither certain nor possible"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(question: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        hot(("temp", "a", 85, 3)).why(question)


def test_a_long_past_of_negations_is_no_problem() -> None:
    text = "query st(X, T). st(X, T+1) :- patient(X, T), not st(X, T). "
    events = [{"name": "patient", "time": t, "x": "john"} for t in range(3000)]
    result = thalweg.run(text, events)
    assert result.why("st(john, 2999)").part is Part.ATOM
    assert result.why_not("st(john, 3000)").part is Part.NEGATION


def test_no_such_atom_is_asked_about_earlier_times_too() -> None:
    text = "query p(T). p(T) :- g(Y, T), not r(_, T). r(X, T+1) :- p(T), g(X, T)."
    result = thalweg.run(text, [{"name": "g", "time": t, "x": "a"} for t in range(4)])
    assert [row["time"] for row in result.arrow["answers"].to_pylist()] == [0, 2]
    assert result.why("p(2)").part is Part.ATOM
    assert result.why_not("p(3)").part is Part.NEGATION


def test_rules_that_look_ahead_without_end_are_explained() -> None:
    text = "query q(T). q(T) :- g(X, T-1), (g(X, T+1) ; h(X, T)). q(T) :- q(T+2), e(Y, T+1), p(T+2). p(T+1) :- p(T)."
    result = thalweg.run(text, [{"name": n, "time": 3, "x": "a"} for n in ("g", "e")])
    assert result.why("q(4)").text == "q(4) is open at 3: 1 condition still needed"


def test_unrelated_times_are_explained_too() -> None:
    text = "query defect(X, T). defect(X, 0) :- temp(X, high, T1), temp(X, 'n/a', T2)."
    events = [{"name": "temp", "time": 2, "x": "a", "y": "high"}, {"name": "temp", "time": 9, "x": "a", "y": "n/a"}]
    result = thalweg.run(text, events, horizon=20)
    assert [p.time for p in result.why("defect(a, 0)").leaves()] == [2, 9]


def test_the_command_explains_in_all_formats() -> None:
    folder = Path(__file__).resolve().parents[2] / "examples" / "turbines"
    command = ["explain", str(folder / "turbines.tdl"), "malf(wt25, 2)", "--background", str(folder / "background.tdl")]
    command += ["--input", str(folder / "sample" / "temps.csv")]
    said = {f: CliRunner().invoke(app, [*command, "--format", f]).stdout for f in ("text", "html", "json")}
    assert "temp(wt25,87.9) at 2  [temps.csv:11]" in said["text"]
    assert "<li class=\"input\">" in said["html"]
    assert json.loads(said["json"])["text"] == "malf(wt25, 2) is certain at 29"


# --------------------------------------------------------------------------- random programs


def events_of(stream: list[Arrival]) -> list[dict[str, Any]]:
    return [
        {
            "name": a.fact.name,
            "time": a.fact.time,
            "arrival": a.at,
            "op": "insert" if a.op > 0 else "retract",
            **{f"a{i}": v for i, v in enumerate(a.fact.args)},
        }
        for a in stream
    ]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 30), st.integers(0, 1))
def test_every_answer_has_a_tree_whose_leaves_are_in_the_input(seed: int, lateness: int) -> None:
    """Certain answers have nothing needed; open ones have something; all leaves are rows that count."""
    made = sampled(Rich(seed), lateness, random.Random(seed))
    assume(made is not None and made[1])
    assert made is not None
    world, stream = made
    result = thalweg.run(world.text, events_of(stream), lateness=lateness)
    there = {(f.name, f.args, f.time) for f in in_the_end(stream, lateness)}
    withdrawn = {r["answer"] for r in result.arrow["changes"].to_pylist() if r["change"] == "withdrawn"}
    for table in ("answers", "open"):
        for row in result.arrow[table].to_pylist():
            if row["answer"] in withdrawn or any(c.isupper() for c in row["answer"] + str(row.get("needed"))):
                continue
            for goal, _ in instances(row, world.constants):
                tree = result.why(str(goal))
                certain = tree.part is not Part.OPEN
                assert certain or table == "open"
                assert certain or parts(tree, Part.NEEDED)
                assert certain or bool(tree.leaves()) <= (" is open at " in tree.text)
                for leaf in tree.leaves():
                    name, _, inside = leaf.fact.rstrip(")").partition("(")
                    assert (name, tuple(constant_of(a) for a in inside.split(",") if a), leaf.time) in there
