"""Open answers and LARS programs go through the same pipeline: the tables of an embedded run, whatever the splits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from atoms import LAMPS, SILENT, STORIES, TURBINES, story
from inprocess import made, pieces
from stories import rows_of

from thalweg import spark as ts
from thalweg.spark.shard import Shard


def shown(expected: Any, found: Any) -> dict[str, list[Any]]:
    """What only one side has, by table."""
    different = {}
    for name, table in expected.items():
        mine, yours = (rows_of(t, table.column_names) for t in (table, found(name)))
        if mine != yours:
            different[name] = [list(mine - yours)[:3], list(yours - mine)[:3]]
    return different


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize(("batches", "shards", "forgets"), [(1, 3, False), (6, 2, True), (20, 5, False)])
def test_splits_shards_and_restored_states_play_no_part(
    tmp_path: Path, name: str, batches: int, shards: int, forgets: bool
) -> None:
    told = story(*STORIES[name])
    expected = told.embedded()
    assert all(expected[table].num_rows for table in ("answers", "changes", "rejected"))
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=shards, forgets=forgets)
    assert len(run.pipeline.settings.stages) == 1
    assert run.pipeline.settings.stages[0].shards == (1 if "one shard" in name else shards)
    for number, rows in enumerate(pieces(told.rows, batches)):
        run.pipeline.batch(rows, number)
    run.pipeline.close()
    found = run.tables()
    assert shown(expected, found.__getitem__) == {}


@pytest.mark.parametrize("name", STORIES)
def test_a_batch_that_begins_with_older_rows_leaves_the_clock_where_it_is(tmp_path: Path, name: str) -> None:
    """The rows of files are read in the order of arrival, and the clock follows them: also before the last batch."""
    told = story(*STORIES[name])
    settings = made(told, None, out=tmp_path / "out", shards=1, start=0).pipeline.settings
    shard = Shard(settings, 0, 0)
    for to in (-3, 20, 15):
        shard.advance(to)
    assert shard.query_time == 20


ALWAYS_ON = """
on(X) :- [10] sometime press(X), not [3] sometime cut(X), not [9] sometime rest(X).
on(w77).
"""
WITHOUT_ROWS = {
    "a negation about somebody nobody heard of": SILENT,
    "a fact about a derived predicate": ALWAYS_ON,
    "an answer that is a fact": TURBINES + "malf(w77, 3).\n",
    "an answer from the background": TURBINES + "malf(X, 3) :- site(X).\nsite(w77). site(w78).\n",
}


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_what_follows_without_rows_is_told_once(tmp_path: Path, name: str) -> None:
    """Every shard finds it; that of its key tells it, and knows the rows that speak against it."""
    told = story(WITHOUT_ROWS[name], {"lateness": 4})
    expected = told.embedded()
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    assert run.pipeline.settings.stages[0].shards == 3
    for number, rows in enumerate(pieces(told.rows, 3)):
        run.pipeline.batch(rows, number)
    run.pipeline.close()
    assert expected["changes"].num_rows
    assert shown(expected, run.tables().__getitem__) == {}


def test_a_query_about_facts_is_answered_once(tmp_path: Path) -> None:
    told = story(TURBINES + "query site(X, T).\nsite(w77, 3).\n", {"lateness": 4})
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    assert run.pipeline.settings.stages[0].key == "one shard: a query asks about facts"
    run.pipeline.batch(told.rows, 0)
    run.pipeline.close()
    assert shown(told.embedded(), run.tables().__getitem__) == {}


@pytest.mark.parametrize("option", [{"models": "all"}, {"labels": True}], ids=str)
@pytest.mark.parametrize("batches", [1, 7])
def test_answer_streams_and_labels_are_told_as_a_whole(tmp_path: Path, option: dict[str, Any], batches: int) -> None:
    told = story(LAMPS, {"lateness": 4, **option}, size=60)
    run = made(told, tmp_path / "checkpoint", out=tmp_path / "out", shards=3)
    assert run.pipeline.settings.stages[0].key == "one shard: answer streams and labels are told as a whole"
    for number, rows in enumerate(pieces(told.rows, batches)):
        run.pipeline.batch(rows, number)
    run.pipeline.close()
    assert shown(told.embedded(), run.tables().__getitem__) == {}


@pytest.mark.spark
@pytest.mark.parametrize("name", ["answers by turbine", "windows by lamp"])
def test_a_stream_on_spark_gives_the_tables_of_an_embedded_run(spark: Any, tmp_path: Path, name: str) -> None:
    told = story(*STORIES[name])
    schema = spark.createDataFrame(told.rows.slice(0, 1)).schema
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 2)
    sdf = reader.parquet(str(told.write(tmp_path / "in", 5)))
    running = ts.stream(
        sdf, told.program, checkpoint=tmp_path / "c", trigger="available", row="nr", shards=2, **told.options
    )
    assert running.wait()
    assert shown(told.embedded(), lambda table: running.tables[table].toArrow()) == {}


@pytest.mark.spark
def test_tables_without_rows_have_their_columns(spark: Any) -> None:
    told = story(*STORIES["answers by turbine"])
    cold = spark.createDataFrame(told.rows.slice(0, 1))
    found = ts.recognise(cold, told.program, row="nr", shards=2, **told.options)
    for name, table in told.embedded().items():
        assert found[name].columns == table.column_names
