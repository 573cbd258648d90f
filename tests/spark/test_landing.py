"""Rows that Spark has to compute are put down in files, which the shards read: the tables are the same, and the files
are gone when the batch is done."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stories import CARS, assert_same_tables, cars

from thalweg import spark as ts
from thalweg.io.errors import InputError
from thalweg.runs import run
from thalweg.spark import engine, orders
from thalweg.spark.files import Directory
from thalweg.spark.landing import FILES_PER_CORE, Landing
from thalweg.spark.orders import LANDING, Order
from thalweg.spark.parquet import Files, Piece
from thalweg.spark.routing import numbered

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminatedAt(on(X)=true, T) :- happensAt(cut(X), T).
"""
OPTIONS: dict[str, Any] = {"window": 50, "step": 10, "start": 0, "shards": 2}


@pytest.fixture
def orders_seen(monkeypatch: pytest.MonkeyPatch) -> list[Order]:
    """The orders of batches with files that the shards read."""
    seen: list[Order] = []
    real = engine.woken

    def spy(spark: Any, order: Order) -> list[Any]:
        if order.files is not None:
            seen.append(order)
        return real(spark, order)

    monkeypatch.setattr(engine, "woken", spy)
    return seen


def pressed(spark: Any, **columns: str) -> Any:
    """Forty rows, some columns made by an expression."""
    made = {"name": "if(id % 2 = 0, 'press', 'cut')", "time": "id + 1", "x": "concat('x', id % 7)", **columns}
    return spark.range(0, 40, 1, 3).selectExpr(*(f"{how} as {name}" for name, how in made.items()))


@pytest.mark.spark
def test_computed_rows_are_read_from_files_that_are_gone_afterwards(
    spark: Any, tmp_path: Path, orders_seen: list[Order]
) -> None:
    found = ts.recognise(pressed(spark), RULES, out=tmp_path, **OPTIONS)
    (order,) = orders_seen
    assert order.files is not None
    assert sum(piece.size for piece in order.files.pieces) == 40
    assert found.changes.count() > 0
    assert not (tmp_path / LANDING).exists()


@pytest.mark.spark
def test_a_path_with_signs_of_patterns_and_addresses_is_a_place_for_files(
    spark: Any, tmp_path: Path, orders_seen: list[Order]
) -> None:
    out = tmp_path / "50%[a] {b}#c d"
    found = ts.recognise(pressed(spark), RULES, out=out, **OPTIONS)
    assert len(orders_seen) == 1
    known = ts.recognise(pressed(spark), RULES, **OPTIONS)
    assert_same_tables({"changes": known.changes.toArrow()}, found, ("changes",))


@pytest.mark.spark
def test_the_files_are_gone_when_a_batch_fails(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        assert len(list((tmp_path / LANDING).glob("*/*.parquet"))) > 0
        raise RuntimeError("no luck today")

    monkeypatch.setattr(engine, "woken", fail)
    with pytest.raises(RuntimeError, match="no luck today"):
        ts.recognise(pressed(spark), RULES, out=tmp_path, **OPTIONS)
    assert not (tmp_path / LANDING).exists()


@pytest.mark.spark
def test_what_a_killed_run_left_there_goes(spark: Any, tmp_path: Path) -> None:
    left = tmp_path / LANDING / "of another run" / "part-00000-left.parquet"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half a file")
    found = ts.recognise(pressed(spark), RULES, out=tmp_path, **OPTIONS)
    assert found.changes.count() > 0
    assert not (tmp_path / LANDING).exists()


@pytest.mark.spark
def test_another_run_with_the_same_tables_leaves_alone_what_landed(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream that goes on with them while the one before has a batch under way."""
    expected = tables(ts.recognise(pressed(spark), RULES, **OPTIONS))
    real = engine.woken
    others = [Landing.beside(Directory(str(tmp_path))) for _ in range(2)]

    def meanwhile(session: Any, order: Order) -> list[Any]:
        for other in others:
            assert other is not None
            other.land(numbered(pressed(spark, time="id + 100"), order.settings, None), order.settings)
        others[0].clear()  # type: ignore[union-attr]  # the other one is killed
        return real(session, order)

    monkeypatch.setattr(engine, "woken", meanwhile)
    assert tables(ts.recognise(pressed(spark), RULES, out=tmp_path, **OPTIONS)) == expected
    monkeypatch.setattr(engine, "woken", real)
    assert (tmp_path / LANDING).exists()
    ts.recognise(pressed(spark), RULES, out=tmp_path, **OPTIONS)
    assert not (tmp_path / LANDING).exists()


@pytest.mark.spark
def test_rows_that_land_where_the_driver_does_not_see_them_are_not_taken_for_none(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a cluster whose machines have each a directory of that name."""
    real = Directory.names

    def names(self: Directory, *parts: str, passing: bool = False) -> list[str]:
        return [] if LANDING in parts else real(self, *parts, passing=passing)

    monkeypatch.setattr(Directory, "names", names)
    with pytest.raises(InputError, match=r"where the driver and all workers see the same files"):
        ts.recognise(pressed(spark), RULES, out=tmp_path, **OPTIONS)


@pytest.mark.spark
def test_files_that_only_spark_can_read_are_read_by_spark(
    spark: Any, orders_seen: list[Order], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where its settings have all Parquet files encrypted, say."""
    known = tables(ts.recognise(pressed(spark), RULES, **OPTIONS))
    orders_seen.clear()

    def unreadable(*_: Any, **__: Any) -> Any:
        raise pa.ArrowInvalid("this footer is encrypted")

    monkeypatch.setattr(pq, "read_metadata", unreadable)
    assert tables(ts.recognise(pressed(spark), RULES, **OPTIONS)) == known
    assert not orders_seen


@pytest.mark.spark
def test_rows_are_computed_once(spark: Any) -> None:
    """The first look and the reasoners see the same ones, whatever their columns hang on."""
    from pyspark.sql import functions as F

    computed = spark.sparkContext.accumulator(0)

    @F.udf("bigint")
    def later(time: int) -> int:
        computed.add(1)
        return time + 1

    df = pressed(spark)
    df = df.withColumn("time", later.asNondeterministic()(df.time))
    assert ts.recognise(df, RULES, **{**OPTIONS, "start": None}).changes.count() > 0
    assert computed.value == 40


@pytest.mark.spark
def test_many_partitions_are_put_down_in_few_files(
    spark: Any, orders_seen: list[Order], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {"name": "if(id % 9 = 0, null, if(id % 2 = 0, 'press', 'cut'))", "time": "id + 1", "x": "'x'"}
    df = spark.range(0, 90, 1, 45).selectExpr(*(f"{how} as {name}" for name, how in made.items()))
    landed = tables(ts.recognise(df, RULES, **OPTIONS))
    (order,) = orders_seen
    assert order.files is not None
    assert len(order.files.pieces) <= FILES_PER_CORE * spark.sparkContext.defaultParallelism
    monkeypatch.setattr(Landing, "land", lambda *_: None)
    assert landed == tables(ts.recognise(df, RULES, **OPTIONS))  # rows have the same numbers
    assert len(landed["rejected"]) == 10


@pytest.mark.spark
@pytest.mark.parametrize(
    ("columns", "more"),
    [
        ({"time": "string(id + 1)"}, {}),
        ({"x": "decimal(id % 7)"}, {}),
        ({}, {"max_ahead": 1000}),
        ({}, {"shards": 9}),
    ],
    ids=["times in text", "decimals", "max_ahead", "many shards"],
)
def test_other_rows_come_through_a_shuffle(
    spark: Any, orders_seen: list[Order], columns: dict[str, str], more: dict[str, Any]
) -> None:
    found = ts.recognise(pressed(spark, **columns), RULES, **OPTIONS | more)
    assert found.changes.count() > 0
    assert not orders_seen


STAMPS = {
    "zoned": "timestamp_micros(1500000 * id - 500000)",
    "unzoned": "timestamp_ntz '1970-01-01' + make_dt_interval(0, 0, 0, 1.5 * id - 0.5)",
}


@pytest.mark.spark
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("kind", STAMPS)
def test_timestamps_are_the_same_points_and_the_same_texts(
    spark: Any, kind: str, zone: str, orders_seen: list[Order], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first lies before the start; a row that cannot be used is shown as it came."""
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        df = pressed(spark, time=STAMPS[kind], name="if(id = 7, null, if(id % 2 = 0, 'press', 'cut'))")
        landed = tables(ts.recognise(df, RULES, **OPTIONS, tick="1s"))
        assert len(orders_seen) == 1
        monkeypatch.setattr(Landing, "land", lambda *_: None)
        shuffled = tables(ts.recognise(df, RULES, **OPTIONS, tick="1s"))
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert len(orders_seen) == 1
    assert landed == shuffled
    assert len(landed["changes"]) > 20
    assert len(landed["rejected"]) == 2


def tables(found: ts.Tables) -> dict[str, Counter[str]]:
    return {name: Counter(map(str, getattr(found, name).collect())) for name in ("changes", "timeline", "rejected")}


@pytest.mark.spark
def test_rows_that_turn_out_to_say_no_arrival_are_looked_at_where_they_landed(
    spark: Any, orders_seen: list[Order], way: str
) -> None:
    df = pressed(spark, arrival="if(id % 3 = 0, null, id + 4)")
    rows = [{key: value for key, value in row.asDict().items() if value is not None} for row in df.collect()]
    expected = run(RULES, rows, window=50, step=10, start=0).arrow["timeline"]
    assert_same_tables({"timeline": expected}, ts.recognise(df, RULES, **OPTIONS), ("timeline",))
    assert not orders_seen


@pytest.mark.spark
def test_no_rows_at_all_are_no_files(spark: Any, way: str) -> None:
    assert ts.recognise(pressed(spark).where("time < 0"), RULES, **OPTIONS).changes.count() == 0


def test_tables_in_a_remote_store_are_no_place_for_rows() -> None:
    assert Landing.beside(Directory("s3://bucket/tables")) is None
    assert Landing.beside(Directory("/data/tables")) is not None


# --------------------------------------------------------------------------- in which order


@pytest.mark.spark
def test_many_rows_in_no_order_are_sorted_by_spark(
    spark: Any, orders_seen: list[Order], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Else each shard would hold all of them. Those in the order of arrival are read from files, however many."""
    story = cars()
    expected = story.embedded()
    monkeypatch.setattr(orders, "SORTED_ABOVE", 60)
    shuffled = spark.createDataFrame(story.rows).repartition(4)
    in_order = spark.read.parquet(str(story.write(tmp_path / "in", 16)))
    for df, read in ((shuffled, 0), (in_order, 1), (in_order.withColumn("time", in_order.time + 0), 1)):
        orders_seen.clear()
        found = ts.recognise(df, CARS, row="nr", **{**story.options, "shards": 2})
        assert_same_tables(expected, found)
        assert len(orders_seen) == read


def pieces(*spans: tuple[int | None, int | None]) -> Files:
    found = [Piece("f", n, 10 * n, 10, low, high) for n, (low, high) in enumerate(spans)]
    return Files(tuple(found), {}, None)


@pytest.mark.parametrize(
    ("files", "held"),
    [
        (pieces(), 0),
        (pieces((1, 5), (6, 9), (10, 12)), 10),
        (pieces((1, 6), (6, 9), (10, 12)), 20),
        (pieces((1, 99), (2, 3), (10, 12)), 20),
        (pieces((1, 99), (2, 98), (3, 97)), 30),
        (pieces((None, None), (2, 3), (10, 12)), 20),
    ],
)
def test_rows_are_held_until_no_earlier_ones_can_come(files: Files, held: int) -> None:
    assert files.most_held() == held
