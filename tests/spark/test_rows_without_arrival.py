"""Where some rows say when they arrive and others do not, these arrive when they happen: as in an embedded run, however
the rows come to their shards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from inprocess import made, pieces
from stories import Story, assert_same, assert_same_tables, followed, short_traffic, sparse

from thalweg import spark as ts
from thalweg.plans import Options, as_program
from thalweg.runs import run
from thalweg.spark import orders, reading
from thalweg.spark.settings import settings_of
from thalweg.spark.survey import earliest_arrival


@pytest.fixture(scope="module")
def told() -> Story:
    return sparse(short_traffic())


@pytest.fixture(scope="module")
def expected(told: Story) -> dict[str, pa.Table]:
    found, complete = told.embedded(), short_traffic().embedded()
    told_apart = {name: table for name, table in complete.items() if name != "rejected"}
    assert_same(told_apart, found)
    assert found["rejected"].num_rows == complete["rejected"].num_rows
    return found


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("batches", [1, 9])
def test_batches_and_shards_play_no_part(
    told: Story, expected: dict[str, pa.Table], tmp_path: Path, shards: int, batches: int
) -> None:
    found = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=shards, forgets=True)
    for number, rows in enumerate(pieces(told.rows, batches)):
        found.pipeline.batch(rows, number)
    found.pipeline.close()
    assert_same(expected, found.tables())


LAST = "initiatedAt(quiet=true, T) :- happensAt(halt(V), T), \\+ holdsAt(busy=true, T), \\+ happensAt(tow(_, V), T).\n"
"""A rule whose stage gets messages of others and rows of its own."""


@pytest.mark.parametrize("more", ["", LAST], ids=["messages", "messages and rows"])
def test_a_shard_does_not_go_ahead_of_rows_that_say_no_arrival(
    more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a large batch rows come in the order of their arrival, and the clock follows them."""
    told = sparse(short_traffic())
    told = replace(told, program=told.program + more)
    expected = told.embedded()
    monkeypatch.setattr(orders, "SORTED_ABOVE", 0)
    monkeypatch.setattr(reading, "CHUNK_ROWS", 20)
    found = made(told, None, out=tmp_path / "out")
    stages = found.pipeline.settings.stages
    assert any(stage.inputs and stage.foreign for stage in stages) == bool(more)
    found.pipeline.whole(told.rows.take(list(reversed(range(told.rows.num_rows)))))
    assert all(order.ordered for order in found.engine.orders)
    assert_same(expected, found.tables())


@pytest.mark.spark
def test_spark_gives_the_tables_of_an_embedded_run(
    spark: Any, told: Story, expected: dict[str, pa.Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a DataFrame, rows in Parquet files, rows that are sorted, micro-batches, and times as text."""
    df = spark.createDataFrame(told.rows).repartition(3)
    texts = df.selectExpr("name", "time", "nvl(string(arrival), '') as arrival", "op", "arg1", "arg2", "nr")
    files = spark.read.parquet(str(told.write(tmp_path / "in", 6)))
    for frame, shards, above in ((df, 3, 10**9), (files, 1, 10**9), (df, 2, 0), (texts, 2, 0)):
        monkeypatch.setattr(orders, "SORTED_ABOVE", above)
        found = ts.recognise(frame, told.program, row="nr", shards=shards, **told.options)
        names = [name for name in expected if name != "rejected" or frame is not texts]
        assert_same_tables(expected, found, tuple(names))
    streamed = followed(spark, told, tmp_path)
    assert streamed.wait()
    assert_same_tables(expected, streamed.tables)


RULES = """
fluent near(v).
initiatedAt(on(V)=true, T) :- happensAt(e(V), T), holdsAt(near(V)=true, T).
"""
MIXED: list[dict[str, Any]] = [
    {"name": "e", "time": 5, "v": "a"},
    {"name": "near", "start": 3, "end": 9, "v": "a"},
    {"name": "near", "time": 13, "end": 19, "value": "true", "v": "b"},
    {"name": "e", "start": 14, "arrival": 31, "op": "insert", "v": "b"},
    {"name": "e", "time": 2, "start": 40, "v": "a"},
    {"name": "near", "time": 2, "start": 40, "v": "c"},
    {"name": "e", "v": "b"},
]


@pytest.mark.spark
def test_intervals_and_events_in_one_dataframe_may_lack_whatever_need_not_be_told(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run(RULES, MIXED, window=50, step=10).arrow
    assert [row["fluent"] for row in expected["timeline"].to_pylist()] == ["on(a)", "on(b)"]
    assert expected["rejected"].column("reason").to_pylist() == ["no-time"]
    schema = "name string, time bigint, start bigint, end bigint, arrival bigint, value string, op string, v string"
    rows = [tuple(row.get(part.split()[0]) for part in schema.split(", ")) for row in MIXED]
    df = spark.createDataFrame(rows, schema)
    words = df.selectExpr("name", "string(time)", "start", "end", "string(arrival)", "value", "op", "v")
    for frame, above in ((df, 10**9), (df, 0), (words, 0)):
        monkeypatch.setattr(orders, "SORTED_ABOVE", above)
        found = ts.recognise(frame, RULES, window=50, step=10, shards=2)
        assert_same({n: expected[n] for n in ("timeline",)}, {"timeline": found.timeline.toArrow()})
        assert [row.reason for row in found.rejected.collect()] == ["no-time"]
    settings = settings_of(as_program(RULES), Options(window=50, step=10), df.columns, shards=1)
    for frame in (df, words):
        known = [row[0] for row in frame.select(earliest_arrival(frame, settings)).collect()]
        assert known == [5, 3, 13, 31, 2, 2, None]
    parts = ts.together(df.where("name = 'e'").drop("end", "value"), df.where("name = 'near'").drop("arrival", "op"))
    found = ts.recognise(parts, RULES, window=50, step=10, shards=2)
    assert_same({"timeline": expected["timeline"]}, {"timeline": found.timeline.toArrow()})
