"""Explanations of random programs: leaves are rows of the input, and a minimal set is enough and needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import given, settings

import thalweg
from thalweg.explain.tree import Node, Part
from thalweg.reference import events as reference
from thalweg.reference.events import Row
from thalweg.reference.intervals import contains
from thalweg.reference.terms import text
from thalweg.result import Result
from thalweg.testing.streams import TIDY, Mess, Scenario, scenarios

MOST = 5
"""How many intervals of each scenario are asked about."""


def tables(rows: Iterable[Row]) -> dict[str, pa.Table]:
    """Reference rows as one table per name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        columns: dict[str, Any] = {"arrival": row.arrival, "op": "insert" if row.op > 0 else "retract"}
        columns |= {f"a{i}": str(argument) for i, argument in enumerate(row.args)}
        if row.shape == "interval":
            columns |= {"start": row.time, "end": row.end, "value": str(row.value)}
        else:
            columns |= {"time": row.time} | ({"value": str(row.value)} if row.shape == "point" else {})
        found.setdefault(row.name, []).append(columns)
    return {name: pa.Table.from_pylist(columns) for name, columns in found.items()}


def ran(scenario: Scenario) -> Result:
    return thalweg.run(
        scenario.text,
        tables(scenario.rows),
        window=scenario.window,
        step=scenario.step,
        start=scenario.start,
        end=scenario.end,
    )


def asked(result: Result) -> list[str]:
    """Questions about some of what holds: at the start of an interval, and where it has been holding for a while."""
    rows = result.arrow["timeline"].to_pylist()
    chosen = rows[:: max(1, len(rows) // MOST)][:MOST]
    times = [(row, row["start"] if i % 2 else _middle(row)) for i, row in enumerate(chosen)]
    return [f"{row['fluent']}={row['value']} @ {time}" for row, time in times]


def _middle(row: dict[str, Any]) -> int:
    return int((row["start"] + (row["end"] or row["start"] + 1) - 1) // 2)


def facts(rows: Iterable[Row]) -> set[tuple[str, int]]:
    return {
        (text(row.term) + ("" if row.value is None else f"={text(row.value)}"), row.time)
        for row in rows
        if row.op > 0
    }


def unexplained(tree: Node) -> list[str]:
    return [node.text for node in tree if node.part is Part.UNEXPLAINED]


def check_leaves(scenario: Scenario, *, complete: bool) -> None:
    if not scenario.rows:
        return
    result = ran(scenario)
    for question in asked(result):
        tree = result.why(question)
        assert not (complete and unexplained(tree)), f"{question}\n{tree}\n{scenario}"
        assert {(leaf.fact, leaf.time) for leaf in tree.leaves()} <= facts(scenario.rows), f"{question}\n{scenario}"


@settings(max_examples=25, deadline=None)
@given(scenario=scenarios(mess=TIDY, size=25))
def test_every_leaf_of_an_explanation_is_in_the_input(scenario: Scenario) -> None:
    check_leaves(scenario, complete=True)


@settings(max_examples=20, deadline=None)
@given(scenario=scenarios(mess=Mess(), size=25))
def test_every_leaf_is_in_the_input_of_an_untidy_stream(scenario: Scenario) -> None:
    check_leaves(scenario, complete=False)


@settings(max_examples=20, deadline=None)
@given(scenario=scenarios(mess=Mess(), size=25))
def test_everything_is_explained_where_the_window_makes_nothing_final(scenario: Scenario) -> None:
    check_leaves(replace(scenario, window=100), complete=True)


@settings(max_examples=20, deadline=None)
@given(scenario=scenarios(mess=Mess(), size=15))
def test_a_minimal_set_is_enough_and_none_of_it_can_go(scenario: Scenario) -> None:
    """Late, doubled and retracted rows too; in a window that makes nothing final."""
    if not scenario.rows:
        return
    wide = Scenario(scenario.text, scenario.rows, 100, scenario.step, scenario.start, scenario.end)
    result = ran(wide)
    for question in asked(result)[:3]:
        leaves = {(leaf.fact, leaf.time, leaf.end) for leaf in result.why(question, minimal=True).leaves()}
        rows = {said(row): row for row in wide.rows if row.op > 0 and said(row) in leaves}
        assert set(rows) == leaves, f"{question}\n{leaves}\n{wide}"
        assert follows(wide, [*rows.values()], question), f"{question}\n{leaves}\n{wide}"
        for gone in rows:
            others = [row for fact, row in rows.items() if fact != gone]
            assert not follows(wide, others, question), f"{question} without {gone}\n{wide}"


def said(row: Row) -> tuple[str, int, int | None]:
    """What a row says, as leaves do."""
    ((fact, time),) = facts([row])
    return fact, time, row.time + 1 if row.shape == "point" else row.end


def follows(scenario: Scenario, rows: list[Row], question: str) -> bool:
    """By the definition: from these rows alone."""
    pair, _, time = question.rpartition(" @ ")
    prompt = [replace(row, arrival=row.time) for row in rows]
    trace = reference.run(scenario.program, prompt, until=scenario.end + 10, start=scenario.start)
    found = [i for (fluent, value), i in trace.timeline().items() if f"{fluent}={value}" == pair]
    return any(contains(intervals, int(time)) for intervals in found)
