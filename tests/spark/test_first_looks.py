"""The first look at a batch: what the footers of Parquet files say is what Spark finds in the rows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thalweg.plans import Options, as_program
from thalweg.spark import stream
from thalweg.spark.footers import _parquet, read_footers
from thalweg.spark.settings import Settings, settings_of
from thalweg.spark.survey import survey

pytestmark = pytest.mark.spark

RULES = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
SCHEMA = pa.schema([("name", pa.string()), ("time", pa.int64()), ("arrival", pa.int32()), ("x", pa.string())])
COLUMNS = SCHEMA.names


def settings(columns: list[str], start: int | None = None, **more: Any) -> Settings:
    return settings_of(as_program(RULES), Options(window=10, step=10, start=start), columns, shards=2, **more)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two files of several row groups; some times are not known, one row group has none at all."""
    times = [[7, 5, None, None, 30, 31], [12, None, 90]]
    arrivals = [[9, 9, 11, 12, 30, 77], [13, 14, 91]]
    for number, (time, arrival) in enumerate(zip(times, arrivals, strict=True)):
        columns = {"name": ["press"] * len(time), "time": time, "arrival": arrival, "x": ["a"] * len(time)}
        table = pa.table(columns, SCHEMA)
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=2)
    return tmp_path


def test_footers_say_what_the_rows_say(spark: Any, files: Path) -> None:
    df = spark.read.parquet(str(files))
    renamed = df.select("name", df.arrival.alias("time"), df.x.alias("y"))
    for frame in (df, df.drop("arrival"), df.select("x", "time", "name"), renamed):
        known = settings(frame.columns)
        found = read_footers(frame, known, None)
        assert found is not None
        assert found.survey == survey(frame, known, None)


@pytest.mark.parametrize(
    ("rules", "times", "first", "latest"),
    [
        (RULES, [17 * 10**17 + 1, 17 * 10**17 + 9], 17 * 10**17 + 1, 17 * 10**17 + 9),
        (RULES, [5, 4 * 10**18, 4 * 10**18 + 1], 5, 4 * 10**18),
        (RULES.replace("T).", "T), T > 3."), [-(2**53), 5, 2**53 - 1, 2**53], 5, 2**53 - 1),
    ],
)
def test_times_that_are_not_taken_say_nothing(
    spark: Any, tmp_path: Path, rules: str, times: list[int], first: int, latest: int
) -> None:
    columns = {"name": ["press"] * len(times), "time": times, "x": ["a"] * len(times)}
    pq.write_table(pa.table(columns), tmp_path / "0.parquet")
    df = spark.read.parquet(str(tmp_path))
    options = Options(window=10, step=10)
    known = settings_of(as_program(rules), options, list(columns), shards=2)
    rows, footers = survey(df, known, None), read_footers(df, known, None)
    assert (rows.first, rows.latest) == (first, latest)
    assert footers is None if max(times) > latest else footers is not None and footers.survey == rows


def test_where_some_rows_say_no_arrival_the_rows_are_looked_at(spark: Any, files: Path) -> None:
    for start, arrival, latest in ((None, [5, 9, None], 95), (0, [None, 9, 6], 91), (0, [None] * 3, 95)):
        table = pa.table({"name": ["press"] * 3, "time": [4, 8, 95], "arrival": arrival, "x": ["a"] * 3}, SCHEMA)
        pq.write_table(table, files / "2.parquet")
        df = spark.read.parquet(str(files))
        known = settings(COLUMNS, start=start)
        assert read_footers(df, known, None) is None
        found = survey(df, known, None)
        assert (found.first, found.latest) == (4, latest)
        texts = df.selectExpr("name", "string(time)", "coalesce(string(arrival), ' ') as arrival", "x")
        assert survey(texts, known, None) == found


def test_with_a_start_the_times_of_arrival_are_enough(spark: Any, files: Path) -> None:
    df = spark.read.parquet(str(files))
    computed = df.withColumn("time", df.time + 1)
    known = settings(COLUMNS, start=0)
    found, rows = read_footers(computed, known, None), survey(computed, known, None)
    assert found is not None and found.files is None
    assert (found.survey.rows, found.survey.latest) == (rows.rows, rows.latest)
    assert read_footers(df.withColumn("arrival", df.arrival + 1), known, None) is None
    assert read_footers(computed.drop("arrival"), settings(["name", "time", "x"], start=0), None) is None
    never = pa.table({"name": ["press"], "time": [4], "arrival": [None], "x": ["a"]}, SCHEMA)
    for file in files.iterdir():
        pq.write_table(never, file)
    unseen = spark.read.parquet(str(files)).selectExpr("name", "time + 1 as time", "arrival", "x")
    assert read_footers(unseen, known, None) is None


def test_where_footers_say_nothing_the_rows_are_looked_at(spark: Any, files: Path) -> None:
    df = spark.read.parquet(str(files))
    some, known = df.where("time > 6"), settings(COLUMNS)
    assert read_footers(some, known, None) is None
    assert read_footers(df.limit(2), known, None) is None
    assert read_footers(df.union(df), known, None) is None
    assert read_footers(df.withColumn("time", df.time + 1), known, None) is None
    assert read_footers(df.withColumn("time", df.time.cast("string")), known, None) is None
    assert read_footers(df, settings(COLUMNS, max_ahead=5), None) is None
    pq.write_table(pq.read_table(files / "0.parquet"), files / "2.parquet", write_statistics=False)
    assert read_footers(spark.read.parquet(str(files)), known, None) is None


def test_a_batch_that_spark_knows_to_be_empty_changes_nothing(spark: Any, files: Path, tmp_path: Path) -> None:
    df = spark.read.parquet(str(files))
    sdf = spark.readStream.schema(df.schema).parquet(str(files))
    run = stream(
        sdf.where("time > 0"),
        RULES,
        window=10,
        step=10,
        start=0,
        shards=2,
        trigger="available",
        checkpoint=tmp_path / "checkpoint",
    )
    run.wait()
    reached = run.pipeline.last
    assert reached is not None
    assert run.pipeline.batch(df.limit(0), reached.batch + 1) is None
    assert run.pipeline.last == reached


def test_a_format_that_is_only_derived_from_parquet_is_left_to_spark() -> None:
    """Its files may hold rows that are deleted: only its own reader knows."""

    def plan(format: str) -> Any:
        schema = SimpleNamespace(length=lambda: 0)
        relation = SimpleNamespace(
            getClass=lambda: SimpleNamespace(getSimpleName=lambda: "HadoopFsRelation"),
            location=lambda: SimpleNamespace(inputFiles=lambda: ["file:///a.parquet"]),
            fileFormat=lambda: SimpleNamespace(
                getClass=lambda: SimpleNamespace(getName=lambda: format), toString=lambda: "Parquet"
            ),
            partitionSchema=lambda: schema,
        )
        return SimpleNamespace(
            nodeName=lambda: "LogicalRelation", relation=lambda: relation, toJSON=lambda: '[{"output": []}]'
        )

    assert _parquet(plan("org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat")) is not None
    assert _parquet(plan("org.apache.spark.sql.delta.DeltaParquetFileFormat")) is None
