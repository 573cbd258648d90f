"""Times and numbers as large as they come: nanoseconds since 1970, and what lies beyond."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import thalweg
from thalweg.analysis.farthest import FARTHEST
from thalweg.answers.reasoner import Reasoner as AnswerReasoner
from thalweg.events.reasoner import Reasoner
from thalweg.io.errors import InputError
from thalweg.language.parser import parse
from thalweg.language.terms import EXACT
from thalweg.lars import Reasoner as LarsReasoner
from thalweg.protocol import CannotGoOn
from thalweg.runs import rows

NANOSECONDS = 1_700_000_000_000_000_000
EVENTS = """
event press(lamp: symbol).
initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
fi(on(X)=true, on(X)=false, 3).
"""
COMPUTES = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T), T mod 10 =:= 3."
ANSWERS = "query q(X, T). q(X, T) :- press(X, T), press(X, T+1)."
LARS = "program lars.\nbusy(X) if [2] sometime press(X).\nnow(X) if press(X)."
HOW: dict[str, Any] = {EVENTS: {"window": 20, "step": 10}, COMPUTES: {"window": 20, "step": 10}}


def presses(*times: int) -> list[dict[str, Any]]:
    return [{"name": "press", "time": time, "x": f"n{i}"} for i, time in enumerate(times, 1)]


def reasons(result: Any) -> list[tuple[int, str]]:
    return [(row["row"], row["reason"]) for row in result.arrow["rejected"].to_pylist()]


@pytest.mark.parametrize("begin", [NANOSECONDS, -NANOSECONDS, FARTHEST - 10, 10 - FARTHEST])
@pytest.mark.parametrize("program", [EVENTS, ANSWERS])
def test_times_may_be_nanoseconds(program: str, begin: int) -> None:
    how = HOW.get(program, {})
    times = (3, 4, 5, 9)
    near, far = (
        thalweg.run(
            program, [{"name": "press", "time": t + at, "x": "a"} for t in times], start=at, end=at + 9, **how
        )
        for at in (0, begin)
    )
    moments = {"query_time", "start", "end", "time", "time_known", "at", "as_of", "decided_by", "due", "since"}
    for name, table in near.arrow.items():
        if name == "rejected":
            continue
        for one, other in zip(table.to_pylist(), far.arrow[name].to_pylist(), strict=True):
            for column in moments & one.keys():
                moved = None if one[column] is None else one[column] + begin
                assert moved == other[column], f"{column} of {name}"
    assert far.arrow["changes"].num_rows


@pytest.mark.parametrize("program", [COMPUTES, LARS, ANSWERS.replace("+1)", "+1), T mod 10 = 3")])
def test_where_rules_compute_with_times_only_those_are_taken_that_are_exact(program: str) -> None:
    times = (EXACT - 1, EXACT, NANOSECONDS + 3)
    result = thalweg.run(program, presses(*times), start=EXACT - 21, **HOW.get(program, {}))
    assert reasons(result) == [(2, "out-of-range"), (3, "out-of-range")]
    (detail, _) = result.arrow["rejected"].column("detail").to_pylist()
    assert detail.startswith(f"time '{EXACT}' is too large: the program computes with times")
    assert result.summary().last_query_time <= EXACT + 9


@pytest.mark.parametrize("program", [COMPUTES, LARS])
@pytest.mark.parametrize("name", ["start", "end"])
def test_a_run_is_not_asked_for_times_that_are_not_exact(program: str, name: str) -> None:
    with pytest.raises(InputError, match=f"{name} {NANOSECONDS} is too large: the program computes"):
        thalweg.run(program, presses(5), **{name: NANOSECONDS}, **HOW.get(program, {}))


MAKERS: dict[str, Callable[..., Any]] = {
    COMPUTES: lambda p, **start: Reasoner(p, window=20, step=10, **start),
    ANSWERS.replace("+1)", "+1), T > 3"): AnswerReasoner,
    LARS: LarsReasoner,
}


@pytest.mark.parametrize("text", MAKERS)
def test_a_reasoner_that_is_used_directly_says_the_same(text: str) -> None:
    batch, _ = rows(EVENTS, presses(EXACT - 4, EXACT, NANOSECONDS))
    reasoner = MAKERS[text](parse(text), start=EXACT - 24)
    reasoner.accept(batch)
    rejected = reasoner.advance(EXACT - 1)["rejected"].to_pylist()
    assert [(row["row"], row["reason"]) for row in rejected] == [(2, "out-of-range"), (3, "out-of-range")]
    with pytest.raises(ValueError, match="is too large: the program computes with times"):
        reasoner.advance(NANOSECONDS)
    with pytest.raises(ValueError, match="is too large: the program computes with times"):
        MAKERS[text](parse(text), start=NANOSECONDS)


@pytest.mark.parametrize("program", [EVENTS, COMPUTES, ANSWERS, LARS])
@pytest.mark.parametrize("time", [2**62, 2**62 - 1, FARTHEST + 1, -(2**62), -FARTHEST - 1, 2**63 - 1])
def test_a_row_from_beyond_all_times_is_rejected_and_moves_no_clock(tmp_path: Path, program: str, time: int) -> None:
    path = tmp_path / "events.csv"
    path.write_text(f"press|4|4|a\npress|{time}|{time}|b\npress|5|{time}|b\n")
    result = thalweg.run(program, path, **HOW.get(program, {}))
    assert reasons(result) == [(2, "out-of-range"), (3, "out-of-range")]
    assert result.summary().last_query_time in (4, 10)


def test_a_query_time_beyond_all_times_is_an_error() -> None:
    with pytest.raises(InputError, match=r"a query time at \d+, beyond 2\*\*62"):
        thalweg.run(EVENTS, presses(FARTHEST), window=3 * 10**18, step=3 * 10**18)
    with pytest.raises(InputError, match=r"a query time at -\d+, beyond 2\*\*62"):
        thalweg.run(EVENTS, presses(-FARTHEST), window=3 * 10**18, step=3 * 10**18)
    assert thalweg.run(EVENTS, presses(5), window=10**18, step=10**18).summary().query_times == 1


@pytest.mark.parametrize("number", ["1e30", "9.3e18", "-1e30", "3.0e30", "1e999"])
@pytest.mark.parametrize("suffix", ["csv", "headed", "jsonl", "table"])
def test_a_number_that_is_too_large_spoils_its_own_row_only(tmp_path: Path, number: str, suffix: str) -> None:
    given: Any = tmp_path / f"events.{suffix.replace('headed', 'csv')}"
    if suffix == "csv":
        given.write_text(f"count|1|1|a|3\ncount|1|1|b|{number}\ncount|2|2|c|4.0\n")
    elif suffix == "headed":
        given.write_text(f"name,time,vessel,n\ncount,1,a,3\ncount,1,b,{number}\ncount,2,c,4.0\n")
    elif suffix == "jsonl":
        lines = [f'{{"name": "count", "time": 1, "vessel": "{v}", "n": "{n}"}}' for v, n in (("a", 3), ("b", number))]
        given.write_text("\n".join([*lines, lines[0].replace('"a"', '"c"'), ""]))
    else:
        columns = {"name": ["count"] * 3, "time": [1, 1, 2], "vessel": ["a", "b", "c"], "n": ["3", number, "4"]}
        given = pa.table(columns)
    program = """
        event count(vessel: symbol, n: int).
        initiatedAt(many(V)=true, T) :- happensAt(count(V, N), T), N > 2.
    """
    result = thalweg.run(program, given, window=10, step=10)
    assert [(row[0] - (suffix == "headed"), row[1]) for row in reasons(result)] == [(2, "out-of-range")]
    assert result.arrow["timeline"].column("fluent").to_pylist() == ["many(a)", "many(c)"]


def test_a_reasoner_at_nanoseconds_is_not_handed_over_to_rules_that_compute_with_times() -> None:
    reasoners = (
        (Reasoner(parse(EVENTS), window=20, step=10, start=NANOSECONDS), COMPUTES),
        (AnswerReasoner(parse(ANSWERS), start=NANOSECONDS, retain=True), ANSWERS.replace("+1)", "+1), T > 3")),
    )
    for reasoner, rules in reasoners:
        reasoner.advance(NANOSECONDS + 20)
        with pytest.raises(CannotGoOn, match=f"the clock is at {NANOSECONDS + 20}, which is too large"):
            reasoner.changed(parse(rules))


def test_times_that_are_no_dates_are_not_given_as_dates() -> None:
    result = thalweg.run("tick 1s." + EVENTS, presses(NANOSECONDS), window=20, step=10)
    with pytest.raises(InputError, match="a time in the column start is no date that a timestamp can hold"):
        result.dated("timeline")
