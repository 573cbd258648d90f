"""Random programs and streams through the pipeline: the tables of an embedded run, whatever the shards and batches."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from inprocess import made, pieces
from staged import staged_scenario
from stories import Story, assert_same

from thalweg.analysis.checker import check
from thalweg.events.reasoner import Reasoner
from thalweg.language.diagnostics import ProgramError, Severity
from thalweg.reference.events import Row
from thalweg.testing.streams import Scenario, random_scenario
from thalweg.testing.tables import stream
from thalweg.testing.wide import wide_scenario

ARGUMENTS = 4
COLUMNS = pa.schema(
    [
        ("name", pa.string()),
        *((name, pa.int64()) for name in ("time", "start", "end", "arrival")),
        ("value", pa.string()),
        ("op", pa.string()),
        *((f"arg{i + 1}", pa.string()) for i in range(ARGUMENTS)),
        ("nr", pa.int64()),
    ]
)


def story_of(scenario: Scenario) -> Story:
    """A scenario as a table and options; its rows in the order of arrival."""
    rows = sorted(scenario.rows, key=lambda row: (row.arrival, row.number))
    told = [_told(row) | {"nr": number} for number, row in enumerate(rows, start=1)]
    options = {name: getattr(scenario, name) for name in ("window", "step", "start", "end", "tick")}
    if scenario.window < scenario.step:
        options["allow_gaps"] = True
    return Story(scenario.text, pa.Table.from_pylist(told, COLUMNS), options)


def _told(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {f"arg{i + 1}": str(arg) for i, arg in enumerate(row.args)}
    found |= {"name": row.name, "arrival": row.arrival, "op": "insert" if row.op > 0 else "retract"}
    if row.shape == "interval":
        found |= {"start": row.time, "end": row.end}
    else:
        found |= {"time": row.time}
    return found if row.value is None else found | {"value": str(row.value)}


def assert_agrees(scenario: Scenario, shards: int, batches: int, *, forgets: bool) -> None:
    """The pipeline and an embedded run agree on a scenario."""
    story = story_of(scenario)
    expected = story.embedded()
    with TemporaryDirectory() as folder:
        run = made(story, Path(folder, "checkpoint"), out=Path(folder, "out"), shards=shards, forgets=forgets)
        for number, rows in enumerate(pieces(story.rows, batches)):
            run.pipeline.batch(rows, number)
        run.pipeline.close()
        assert_same(expected, run.tables())


SHARE = max(1, settings.default.max_examples // 2)  # type: ignore[union-attr]


@settings(max_examples=SHARE)
@given(st.integers(0, 2**40))
def test_random_programs_give_the_tables_of_an_embedded_run(seed: int) -> None:
    rng = Random(seed)
    scenario = (random_scenario if rng.randrange(2) else wide_scenario)(rng)
    assume(scenario.rows and all(len(row.args) <= ARGUMENTS for row in scenario.rows))
    assume(all(found.severity is not Severity.ERROR for found in check(scenario.program)))
    try:
        Reasoner(scenario.program, window=scenario.step, step=scenario.step)
    except ProgramError:
        assume(False)
    assert_agrees(scenario, rng.choice((2, 3, 5)), rng.choice((1, 2, 5)), forgets=rng.randrange(2) == 0)


@settings(max_examples=max(1, SHARE // 5))
@given(st.integers(0, 2**40))
def test_causes_go_from_stage_to_stage_as_they_do_in_one_reasoner(seed: int) -> None:
    rng = Random(seed)
    assert_agrees(staged_scenario(rng), rng.choice((2, 3, 5)), rng.choice((1, 2, 5)), forgets=rng.randrange(2) == 0)


SET = "event set(x: symbol, v: symbol).\nevent meet(x: symbol, y: symbol).\n"
SET += "initiatedAt(f(X)=V, T) :- happensAt(set(X, V), T).\n"
OTHER_VALUE = r"initiatedAt(g(X, Y)=true, T) :- happensAt(meet(X, Y), T), \+ holdsAt(f(X)=a, T), holdsAt(f(Y)=a, T)."
BEGINS = r"""
holdsFor(same(X, Y)=true, I) :- holdsFor(met(X, Y)=true, I1), holdsFor(f(X)=a, I2), intersect_all([I1, I2], I).
initiatedAt(met(X, Y)=true, T) :- happensAt(meet(X, Y), T).
initiatedAt(g(X, Y)=true, T) :- happensAt(start(same(X, Y)=true), T).
"""


@pytest.mark.parametrize(
    ("rules", "rows", "cause"),
    [
        (OTHER_VALUE, ["set(x,b) 1", "meet(x,y) 5", "set(y,a) 2@12", "set(x,c) 3@13"], "input:3"),
        (BEGINS, ["set(x,b) 1", "meet(x,y) 5", "set(x,a) 10@12"], "input:3"),
    ],
    ids=["a row that changes only another value", "effects of the last query time itself"],
)
def test_a_row_is_named_for_what_it_reaches_and_for_nothing_else(rules: str, rows: list[str], cause: str) -> None:
    scenario = Scenario(SET + rules, tuple(stream("\n".join(rows))), 20, 10, end=20)
    assert_agrees(scenario, 3, 1, forgets=False)
    changes = story_of(scenario).embedded()["changes"].to_pylist()
    assert [c["cause"] for c in changes if c["fluent"] == "g(x,y)"] == [cause]


LATE_START = """
fluent on(x).
happensAt(begins(X), T) :- happensAt(start(on(X)=true), T).
initiatedAt(told(b, X)=true, T) :- happensAt(begins(X), T).
terminatedAt(told(Y, X)=true, T) :- happensAt(begins(X), T), happensAt(begins(Y), T).
"""


@pytest.mark.parametrize(("window", "arrival"), [(7, 31), (7, 36), (14, 31), (14, 40)])
def test_what_a_stage_derives_where_the_window_begins_counts_in_the_next(window: int, arrival: int) -> None:
    row = Row(name="on", args=("a",), time=28, end=60, arrival=arrival, number=1, shape="interval", value="true")
    scenario = Scenario(LATE_START, (row,), window, 7, end=49)
    assert_agrees(scenario, 2, 1, forgets=False)
