"""The `changes` of call after call: what was given stays as it was, however many rows follow."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lars_programs import Fact, batch

import thalweg
from thalweg.lars import pages
from thalweg.lars.reasoner import Reasoner

RULES = """program lars.
seen(X) if [3] sometime p(X).
at(T + 4) due(X) if [3] at(T) p(X).
half(Y) if [2] sometime p(X), Y is X / 2.
"""
Row = dict[str, object]


def tick_by_tick(facts: list[Fact], ticks: int) -> tuple[list[pa.Table], list[list[Row]]]:
    """The tables of all calls, and what was in them when they were given."""
    reasoner = Reasoner(thalweg.parse(RULES))
    tables, then = [], []
    for t in range(ticks):
        reasoner.accept(batch([f for f in facts if f[0] == t]))
        tables.append(reasoner.advance(t)["changes"])
        then.append(tables[-1].to_pylist())
    return tables, then


def by_time(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda r: (r["query_time"], str(r["atom"]), str(r["at"]), str(r["op"])))


FACTS: list[Fact] = [(t, "p", (x,)) for t in range(0, 40, 2) for x in range(t % 7 * 3)]


@pytest.mark.parametrize(("rows", "letters"), [(8192, 262144), (64, 4096), (8, 128), (1, 1)])
def test_what_was_given_stays_as_it_was(rows: int, letters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_ROWS", rows)
    monkeypatch.setattr(pages, "_LETTERS", letters)
    tables, then = tick_by_tick(FACTS, 48)
    for table in tables:
        table.validate(full=True)
    assert [t.to_pylist() for t in tables] == then
    whole = Reasoner(thalweg.parse(RULES))
    whole.accept(batch(FACTS))
    at_once = whole.advance(47)["changes"].to_pylist()
    assert by_time([r for part in then for r in part]) == by_time(at_once)
    assert [r["query_time"] for r in at_once] == sorted(r["query_time"] for r in at_once)


def test_a_call_with_more_rows_than_a_page_gives_all_of_them() -> None:
    reasoner = Reasoner(thalweg.parse("program lars. seen(X) if [3] sometime p(X).\n"))
    reasoner.accept(batch([(0, "p", (x,)) for x in range(20000)]))
    first = reasoner.advance(0)["changes"]
    second = reasoner.advance(9)["changes"]
    assert first["atom"].to_pylist() == [f"seen({x})" for x in range(20000)]
    assert sorted(second["atom"].to_pylist()) == sorted(first["atom"].to_pylist())
    assert set(first["op"].to_pylist()) == {"insert"} and set(second["op"].to_pylist()) == {"delete"}
