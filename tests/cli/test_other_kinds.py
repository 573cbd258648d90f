"""`thalweg run` on Temporal Datalog and LARS programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thalweg import run
from thalweg.io.errors import InputError

TURBINES = """
query malf(X, T).
malf(X, T) :- temp(X, high, T), temp(X, high, T+1), temp(X, high, T+2).
other(X, T) :- temp(X, low, T).
"""
TEMPS = "temp|1|1|wt1|high\ntemp|2|2|wt1|high\ntemp|2|2|wt2|high\ntemp|3|3|wt1|high\ntemp|4|4|wt3|high\n"
LAMP = "on(X) :- [10] sometime press(X), not [3] sometime cut.\n"


def test_open_answers_are_told_step_by_step(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "turbines.tdl").write_text(TURBINES)
    (here / "temps.csv").write_text(TEMPS)
    lines = [line.split("\t") for line in thalweg("run turbines.tdl --input temps.csv").stdout.splitlines()]
    assert lines[0] == ["at", "change", "answer", "evidence", "needed", "decided_by"]
    told = {(int(line[0]), line[1], line[2].replace(" ", "")) for line in lines[1:]}
    assert (1, "opened", "malf(wt1,1)") in told
    assert (3, "certain", "malf(wt1,1)") in told
    assert (3, "dropped", "malf(wt2,2)") in told


def test_a_query_may_be_given_with_the_command(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "turbines.tdl").write_text(TURBINES)
    (here / "temps.csv").write_text(TEMPS.replace("wt3|high", "wt3|low"))
    found = json.loads(thalweg("run turbines.tdl --input temps.csv --query other(X,T) --json").stdout)
    assert [answer["X"] for answer in found["answers"]] == ["wt3"]


def test_a_question_may_bring_the_query_that_its_program_lacks(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "hot.tdl").write_text("hot(X, T) :- temp(X, T).")
    (here / "temps.csv").write_text("temp|1|1|a\n")
    result = thalweg("explain hot.tdl hot(a,1) --input temps.csv --query hot(X,T)")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "hot(a, 1) is certain at 1")


def test_open_answers_have_the_same_columns_where_there_are_none(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "hot.tdl").write_text("query hot(X, T). hot(X, T) :- temp(X, T), vent(X, T).")
    (here / "temps.csv").write_text("temp|1|1|a\n")
    result = thalweg("run hot.tdl --input temps.csv --quiet")
    assert result.stdout == "at\tchange\tanswer\tevidence\tneeded\tdecided_by\n"


def test_what_is_still_open_at_the_end_is_written_once(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "turbines.tdl").write_text(TURBINES)
    (here / "temps.csv").write_text(TEMPS)
    thalweg("run turbines.tdl --input temps.csv --out result --format jsonl")
    still = [json.loads(line) for line in (here / "result" / "open.jsonl").read_text().splitlines()]
    assert [(answer["X"], answer["time"]) for answer in still] == [("wt3", 4)]


def test_an_unreadable_query_is_exit_code_2(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "turbines.tdl").write_text(TURBINES)
    (here / "temps.csv").write_text(TEMPS)
    result = thalweg("run turbines.tdl --input temps.csv --query malf(X,")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: cannot read the query malf(X,")


def test_lars_answers_are_intervals_of_ticks(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "lamp.lars").write_text(LAMP)
    (here / "presses.csv").write_text("press|5|5|a\ncut|9|9\npress|40|40|b\n")
    result = thalweg("run lamp.lars --input presses.csv --end 60")
    rows = [tuple(line.split("\t")) for line in result.stdout.splitlines()[1:]]
    assert rows == [
        ("on(a)", "", "5", "8"),
        ("on(a)", "", "13", "15"),
        ("on(b)", "", "40", "50"),
    ]


def test_options_of_another_kind_are_refused(thalweg: Callable[..., Any], here: Path) -> None:
    (here / "lamp.lars").write_text(LAMP)
    (here / "presses.csv").write_text("press|5|5|a\n")
    result = thalweg("run lamp.lars --input presses.csv --window 5")
    assert result.exit_code == 2
    assert result.stderr == "error: window has no meaning for a program of kind lars\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("verify lamp.lars --input presses.csv --window 10 --step 10", "only event descriptions are verified"),
        ("run lamp.lars --input presses.csv --chart", "there are no timelines to draw for a program of kind lars"),
        ("run lamp.lars --input presses.csv --html a.html", "there are no timelines to draw"),
        ("run lamp.lars --input presses.csv --per-fluent --out tables", "there are no fluents"),
        ("run lamp.lars --input presses.csv --tick 40", "a distance of points has no meaning"),
        ("explain lamp.lars on(a)@3 --input presses.csv --minimal", "which rows suffice"),
        ("explain lamp.lars on(a)@3 --input presses.csv --changed", "why something changed"),
        ("explain lamp.lars on(a)@3 --input presses.csv --retract press(a)@2", "what would be different"),
    ],
)
def test_what_only_event_descriptions_have_is_refused_for_others(
    line: str, message: str, thalweg: Callable[..., Any], here: Path
) -> None:
    (here / "lamp.lars").write_text(LAMP)
    (here / "presses.csv").write_text("press|2|2|a\n")
    result = thalweg(line)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr and "of kind lars" in result.stderr


def test_a_result_of_another_kind_has_no_timelines() -> None:
    result = run(f"program lars. {LAMP}", [{"name": "press", "time": 2, "x": "a"}])
    with pytest.raises(InputError, match="there are no timelines to draw"):
        result.timeline()
