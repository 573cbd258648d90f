"""DataFrames as people bring them: columns of any name and type, rows that nobody can read, requests that make no
sense. What comes out is what an embedded run says, or one sentence."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from stories import rows_of

from thalweg import spark as ts
from thalweg.io.errors import InputError
from thalweg.runs import run
from thalweg.spark.pipeline import Pipeline

pytestmark = pytest.mark.spark

RULES = """
event press(k: symbol, v: float).
event cut(k: symbol).
initiatedAt(on(K)=true, T) :- happensAt(press(K, V), T), V > 5.
terminatedAt(on(K)=true, T) :- happensAt(cut(K), T).
"""
UNDECLARED = """
initiatedAt(on(K)=true, T) :- happensAt(press(K, V), T), V > 5.
terminatedAt(on(K)=true, T) :- happensAt(press(K, V), T), V =< 5.
"""
SCHEMA = "name string, time bigint, k string, v double"
WINDOW: dict[str, Any] = {"window": 20, "step": 10}
OPTIONS: dict[str, Any] = {**WINDOW, "shards": 2}
ROWS = [("press", 5, "a", 9.0), ("press", 15, "a", 2.0), ("press", 17, "b", 12.0)]


def same(df: Any, program: str = RULES, *, without: tuple[str, ...] = ("row", "cause"), **more: Any) -> dict[str, int]:
    """Both ways give the same tables; their sizes."""
    expected = run(program, df.toArrow(), **WINDOW, **more).arrow
    return agree(expected, ts.recognise(df, program, **OPTIONS, **more), without)


def agree(
    expected: dict[str, pa.Table], found: Any, without: tuple[str, ...] = ("row", "source", "cause")
) -> dict[str, int]:
    for name, table in expected.items():
        columns = [column for column in table.column_names if column not in without]
        assert rows_of(found[name].toArrow(), columns) == rows_of(table, columns), name
    return {name: table.num_rows for name, table in expected.items() if table.num_rows}


# --------------------------------------------------------------------------- large times

NANOSECONDS = 1_700_000_000_000_000_000
COMPUTES = "initiatedAt(on(K)=true, T) :- happensAt(press(K, V), T), V > 5, T mod 2 =:= 1."
ANSWERS = "query on(K, T). on(K, T) :- press(K, V, T), press(K, W, T+1)."
LARS = "program lars.\non(K) if [2] sometime press(K, V)."


@pytest.mark.parametrize("kind", ["bigint", "string", "decimal(20,0)"])
@pytest.mark.parametrize(
    ("program", "begin", "rejected"),
    [(UNDECLARED, NANOSECONDS, 1), (ANSWERS, NANOSECONDS, 1), (COMPUTES, 2**53 - 16, 3), (LARS, 2**53 - 16, 3)],
)
def test_large_times_are_exact_or_rejected(spark: Any, program: str, begin: int, rejected: int, kind: str) -> None:
    """What lies beyond neither counts nor moves the clock."""
    times = [*(begin + t for t in (3, 4, 5, 15, 16, 17)), 4 * 10**18 + 1]
    df = spark.createDataFrame([("press", time, "a", 9.0) for time in times], SCHEMA)
    df = df.withColumn("time", df.time.cast(kind))
    window = WINDOW if program in (UNDECLARED, COMPUTES) else {}
    expected = run(program, df.toArrow(), **window).arrow
    sizes = agree(expected, ts.recognise(df, program, **window, shards=2), ("row", "source", "cause"))
    assert sizes["rejected"] == rejected
    assert sizes["changes"]


def test_the_clock_tells_gaps_of_nanoseconds_apart(spark: Any) -> None:
    times = [NANOSECONDS + t for t in (1, 9, 12, 200)]
    df = spark.createDataFrame([("press", time, "a", 9.0) for time in times], SCHEMA)
    found = ts.recognise(df, UNDECLARED, **OPTIONS, start=NANOSECONDS, max_ahead=10)
    assert found.rejected.toArrow().column("reason").to_pylist() == ["too-far-ahead"]


# --------------------------------------------------------------------------- columns


@pytest.mark.parametrize("names", [("a.b", "c`d"), ("*", "K 2")])
def test_columns_may_have_any_name(spark: Any, names: tuple[str, str]) -> None:
    df = spark.createDataFrame(ROWS, SCHEMA).toDF("name", "time", *names)
    assert same(df, UNDECLARED) == {"timeline": 2, "changes": 4}
    chosen = ts.from_columns(df, name="name", time="time", arguments=names, keep=names)
    assert ts.recognise(chosen, RULES, **OPTIONS).timeline.count() == 2
    numbered = spark.createDataFrame([(*row, n) for n, row in enumerate(ROWS)]).toDF("name", "time", "k", "v", names[0])
    assert ts.recognise(numbered, RULES, row=names[0], **OPTIONS).timeline.count() == 2


def test_columns_of_lists_structures_and_maps_are_no_arguments(spark: Any) -> None:
    schema = f"l array<int>, {SCHEMA}, s struct<a:int,b:int>, m map<string,int>"
    df = spark.createDataFrame([([1], *row, (1, 2), {"x": 1}) for row in ROWS], schema)
    assert same(df, UNDECLARED) == {"timeline": 2, "changes": 4}
    years = df.selectExpr("name", "time", "k", "v", "interval '1' year as y")
    assert ts.recognise(years, UNDECLARED, **OPTIONS).timeline.count() == 2


def test_bytes_are_read_as_text_and_what_is_none_stays_different(spark: Any) -> None:
    rows = [("press", 5, b"a", 9.0), ("press", 6, b"\xff", 9.0), ("press", 7, b"\xfe", 9.0), ("cut", 9, b"a", None)]
    df = spark.createDataFrame(rows, SCHEMA.replace("k string", "k binary"))
    assert same(df) == {"timeline": 3, "changes": 3}
    assert {row.fluent for row in ts.recognise(df, RULES, **OPTIONS).timeline.collect()} == {
        "on(a)", r"on('\\xfe')", r"on('\\xff')",
    }  # fmt: skip
    number = spark.createDataFrame([("press", 5, "a", b"\xff")], SCHEMA.replace("v double", "v binary"))
    assert same(number) == {"rejected": 1}


def test_a_large_decimal_and_the_same_text_are_one_key(spark: Any) -> None:
    large = 12345678901234567890
    rows = [("press", 5, Decimal(large), None, 9.0), ("cut", 9, None, str(large), None)]
    df = spark.createDataFrame(rows, "name string, time bigint, k decimal(22,2), j string, v double")
    program = RULES.replace("cut(k: symbol)", "cut(j: symbol)")
    for shards in (2, 5):
        assert [row.end for row in ts.recognise(df, program, **WINDOW, shards=shards).timeline.collect()] == [10]


def test_columns_that_spark_does_not_tell_apart_are_named(spark: Any) -> None:
    df = spark.createDataFrame([(*row, "x") for row in ROWS]).toDF("name", "time", "k", "v", "K")
    with pytest.raises(InputError, match="columns k and K differ only in case"):
        ts.recognise(df, RULES, **OPTIONS)


@pytest.mark.parametrize("name", ["Time", "Batch"])
def test_a_variable_that_would_hide_a_column_is_named(spark: Any, name: str) -> None:
    program = f"query hot({name}, T).\nhot({name}, T) :- temp({name}, D, T), D > 80.\n"
    df = spark.createDataFrame([("temp", 5, "w", 85)], "name string, time bigint, arg1 string, arg2 int")
    with pytest.raises(InputError, match=f"variable {name} .* `{name.lower()}`"):
        ts.recognise(df, program)


MEETINGS = """
event speed(vehicle, kmh: float).
event near(a, b).
initiatedAt(fast(V)=true, T) :- happensAt(speed(V, K), T), K > 90.
terminatedAt(fast(V)=true, T) :- happensAt(speed(V, K), T), K =< 90.
initiatedAt(meet(A,B)=true, T) :- happensAt(near(A,B), T), holdsAt(fast(A)=true,T), holdsAt(fast(B)=true,T).
terminatedAt(meet(A,B)=true, T) :- happensAt(end(fast(A)=true), T).
"""
"""In two stages."""


def meetings(spark: Any, kind: str) -> Any:
    """Their individuals are of a type of SQL; numbers stand for them here."""
    rows = [("speed", time, 9 * time, 120.0, None, None) for time in range(1, 9)]
    rows += [("near", 10 + time, None, None, 9 * time, 9 * time + 9) for time in range(1, 8)]
    rows += [("speed", 25, 18, 6.0, None, None), ("speed", 31, 27, 7.0, None, None)]
    df = spark.createDataFrame(rows, "name string, time bigint, vehicle bigint, kmh double, a bigint, b bigint")
    made = (f"{kind.format(column)} as {column}" for column in ("vehicle", "a", "b"))
    found: dict[str, Any] = dict(zip(("vehicle", "a", "b"), made, strict=True))
    return df.selectExpr(*(found.get(name, name) for name in ("name", "time", "vehicle", "kmh", "a", "b")))


@pytest.mark.parametrize(
    "kind",
    ["timestamp_seconds({} * 10000000)", "cast(timestamp_seconds({} * 10000000) as timestamp_ntz)",
     "make_dt_interval({}, 0, 0, 0)"],
)  # fmt: skip
def test_individuals_of_any_type_are_the_same_ones_in_every_stage(spark: Any, kind: str) -> None:
    """Wherever the session is at home: their text is that of an embedded run."""
    df = meetings(spark, kind)
    expected = run(MEETINGS, df.toArrow(), **WINDOW).arrow
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        sizes = agree(expected, ts.recognise(df, MEETINGS, **WINDOW, shards=4))
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert sizes["timeline"] == 15


def test_times_that_become_text_are_the_same_times(spark: Any) -> None:
    told = spark.createDataFrame([("press", "2020-09-13 12:26:46Z", "a", 9.0)], SCHEMA.replace("bigint", "string"))
    stamped = told.selectExpr("name", "timestamp_seconds(1600000000) as time", "k", "v")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        found = ts.together(stamped, told).select("time").collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert [row.time for row in found] == ["2020-09-13 12:26:40.000000Z", "2020-09-13 12:26:46Z"]


@pytest.mark.parametrize("name", ["1", "true", "date'2020-01-01'"])
def test_names_of_any_type_are_rejected_in_programs_of_several_stages(spark: Any, name: str) -> None:
    df = meetings(spark, "cast({} as string)").selectExpr(f"{name} as name", "time", "vehicle", "kmh", "a", "b")
    assert same(df, MEETINGS) == {"rejected": 17}


# --------------------------------------------------------------------------- rows that cannot be read


@pytest.mark.parametrize("kind", ["bigint", "boolean"])
def test_where_no_row_has_a_time_all_are_rejected(spark: Any, kind: str) -> None:
    df = spark.createDataFrame([(n, None, k, v) for n, _, k, v in ROWS], SCHEMA.replace("bigint", kind))
    assert same(df) == {"rejected": 3}


@pytest.mark.parametrize("wrong", [2**63 - 1, -(2**63)])
def test_times_beyond_all_bounds_are_rejected_and_stop_nothing(spark: Any, tmp_path: Path, wrong: int) -> None:
    """Neither where Spark looks at the rows nor where the footers of files tell."""
    df = spark.createDataFrame([*ROWS, ("press", wrong, "c", 9.0)], SCHEMA)
    expected = {"timeline": 2, "changes": 2, "rejected": 1}
    assert same(df) == expected
    df.coalesce(1).write.parquet(str(tmp_path / "files"))
    assert same(spark.read.parquet(str(tmp_path / "files"))) == expected


def written(folder: Path, number: int, rows: list[dict[str, Any]]) -> None:
    """A file of the stream, later than those before."""
    file = folder / f"{number}.json"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(file, (1_000_000 + number,) * 2)


def press(time: int | None, k: str = "a", **more: Any) -> dict[str, Any]:
    return {"name": "press", "time": time, "k": k, "v": 9.0, **more}


@pytest.fixture
def follow(spark: Any, tmp_path: Path) -> Callable[..., Any]:
    """Takes what is there in `in`, file by file; the same checkpoint every time."""
    (tmp_path / "in").mkdir()

    def start(schema: str = SCHEMA, **more: Any) -> Any:
        sdf = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
        options = {**OPTIONS, "checkpoint": tmp_path / "checkpoint", "trigger": "available", **more}
        return ts.stream(sdf, RULES, **options)

    return start


def test_rows_before_any_that_has_a_time_are_rejected_and_the_stream_starts_after_them(
    follow: Callable[..., Any], tmp_path: Path
) -> None:
    rows = [[press(None), press(None, "b")], [press(15)], [press(35)]]
    for number, batch in enumerate(rows[:1]):
        written(tmp_path / "in", number, batch)
    first = follow()
    first.wait()
    assert first.tables.rejected.count() == 2
    assert first.metrics.rejected == {"no-time": 2}
    for number, batch in enumerate(rows[1:], start=1):
        written(tmp_path / "in", number, batch)
    then = follow()
    then.wait()
    assert agree(run(RULES, [r for b in rows for r in b], **WINDOW).arrow, then.tables) == {
        "timeline": 1, "changes": 1, "rejected": 2,
    }  # fmt: skip
    assert then.pipeline.settings.plan.schedule.start == 10


def test_a_batch_of_nothing_but_rows_too_far_ahead_is_rejected(follow: Callable[..., Any], tmp_path: Path) -> None:
    for number, batch in enumerate([[press(5)], [press(9_000, "late")], [press(25, "b")]]):
        written(tmp_path / "in", number, batch)
    running = follow(max_ahead=100)
    running.wait()
    assert [(r.reason, r.row is not None) for r in running.tables.rejected.collect()] == [("too-far-ahead", True)]
    assert {row.fluent for row in running.tables.timeline.collect()} == {"on(a)", "on(b)"}
    assert running.metrics.query_time == 30


def test_rows_before_the_start_do_not_make_all_others_too_far_ahead(spark: Any) -> None:
    df = spark.createDataFrame([("press", 5, "old", 9.0), ("press", 1005, "a", 9.0), ("press", 1030, "b", 9.0)], SCHEMA)
    found = ts.recognise(df, RULES, start=1000, max_ahead=100, **OPTIONS)
    assert [row.reason for row in found.rejected.collect()] == ["before-the-start"]
    assert found.timeline.count() == 2


def test_numbers_are_those_of_all_batches_after_the_end_and_after_a_restart(
    follow: Callable[..., Any], tmp_path: Path
) -> None:
    """The row that comes too late is found out by the last query times, which are provisional."""
    schema = f"{SCHEMA}, arrival bigint"
    nobody = {"name": "nobody", "time": 8, "arrival": 8}
    first = [press(5, arrival=5), nobody]
    then = [press(15, arrival=15), press(16, "late", arrival=57), press(55, arrival=58)]
    written(tmp_path / "in", 0, first)
    written(tmp_path / "in", 1, then)
    running = follow(schema=schema)
    running.wait()
    assert running.metrics.rejected == {"too-late": 1, "unknown-name": 1}
    assert (running.metrics.rows, running.metrics.late, running.metrics.query_time) == (5, 1, 60)
    assert running.tables.rejected.count() == 2
    assert running.metrics.state_bytes > 0
    written(tmp_path / "in", 2, [press(95, arrival=95)])
    again = follow(schema=schema)
    again.wait()
    assert again.metrics.rejected == {"too-late": 1, "unknown-name": 1}
    assert (again.metrics.rows, again.metrics.query_time, again.tables.rejected.count()) == (6, 100, 2)


# --------------------------------------------------------------------------- places


def test_a_checkpoint_goes_on_with_its_own_tables_only(follow: Callable[..., Any], tmp_path: Path) -> None:
    written(tmp_path / "in", 0, [press(5), press(25)])
    follow(out=tmp_path / "one").wait()
    written(tmp_path / "in", 1, [press(45, "b")])
    with pytest.raises(InputError, match=r"its tables are in .*one, not in .*two"):
        follow(out=tmp_path / "two")
    (tmp_path / "one").rename(tmp_path / "two")
    running = follow(out=tmp_path / "two")  # the same tables in another place
    running.wait()
    assert running.tables.timeline.count() == 2
    shutil.rmtree(tmp_path / "two")
    with pytest.raises(InputError, match=r"are not in .*two any more"):
        follow(out=tmp_path / "two")


def test_a_source_with_other_times_is_refused(follow: Callable[..., Any], tmp_path: Path) -> None:
    """Without a column `arrival` rows arrive at their own times, and the clock of the checkpoint would mean another."""
    written(tmp_path / "in", 0, [press(5, arrival=7), press(25, arrival=29)])
    schema = f"{SCHEMA}, arrival bigint"
    follow(schema=schema).wait()
    with pytest.raises(InputError, match=r"belongs to rows with a column `arrival`, and these have none"):
        follow()
    follow(schema=f"{schema}, another string").wait()
    follow(checkpoint=tmp_path / "other").wait()
    with pytest.raises(InputError, match=r"belongs to rows without a column `arrival`, and these have one"):
        follow(schema=schema, checkpoint=tmp_path / "other")


def test_tables_of_another_run_are_not_added_to(spark: Any, follow: Callable[..., Any], tmp_path: Path) -> None:
    written(tmp_path / "in", 0, [press(5), press(25)])
    follow(out=tmp_path / "out").wait()
    with pytest.raises(InputError, match="holds the tables of another run"):
        follow(out=tmp_path / "out", checkpoint=tmp_path / "other")
    df = spark.createDataFrame(ROWS, SCHEMA)
    with pytest.raises(InputError, match="holds the tables of a stream"):
        ts.recognise(df, RULES, out=tmp_path / "out", **OPTIONS)


def test_a_run_over_everything_replaces_the_one_before(spark: Any, tmp_path: Path) -> None:
    out = tmp_path / "o[u]t {1}?"
    out.mkdir()
    (out / "mine.txt").write_text("kept")
    before = spark.createDataFrame([*ROWS, ("nosuch", 3, "z", 1.0)], SCHEMA)
    assert ts.recognise(before, RULES, out=out, **OPTIONS).timeline.count() == 2
    quiet = spark.createDataFrame([("cut", 3, "z", 1.0)], SCHEMA)
    found = ts.recognise(quiet, RULES, out=out.as_uri(), **OPTIONS)  # its address, with %20 and the like
    assert [found[name].count() for name in ("changes", "timeline", "rejected")] == [0, 0, 0]
    assert (out / "mine.txt").read_text() == "kept"


def test_a_file_where_a_directory_should_be_is_named(spark: Any, follow: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    written(tmp_path / "in", 0, [press(5)])
    for name, wrong in (("checkpoint", "file"), ("checkpoint", "file/c"), ("out", "file")):
        with pytest.raises(InputError, match=r"file.* cannot be written to"):
            follow(**{name: tmp_path / wrong})
    with pytest.raises(InputError, match="file cannot be written to"):
        ts.recognise(spark.createDataFrame(ROWS, SCHEMA), RULES, out=tmp_path / "file", **OPTIONS)


# --------------------------------------------------------------------------- requests


def test_a_request_that_makes_no_sense_is_refused_before_anything_runs(
    spark: Any, follow: Callable[..., Any], tmp_path: Path
) -> None:
    df = spark.createDataFrame(ROWS, SCHEMA)
    live = spark.readStream.schema(SCHEMA).json(str(tmp_path / "in"))
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: ts.recognise(df, RULES, row="nr", **OPTIONS), "no column `nr`"),
        (lambda: ts.recognise(df, RULES, row="k", **OPTIONS), "column `k` .* no whole numbers"),
        (lambda: ts.recognise(live, RULES, **OPTIONS), "is a streaming one"),
        (lambda: ts.recognise(df.toPandas(), RULES, **OPTIONS), "no DataFrame of Spark"),
        (lambda: ts.recognise(df, RULES, **{**OPTIONS, "shards": 0}), "0 is no number of shards"),
        (lambda: follow(shards=0), "0 is no number of shards"),
        (lambda: follow(disorder=-1), "disorder -1 is negative"),
        (lambda: follow(trigger="1 second", idle_timeout=0), "idle_timeout 0 is not positive"),
        (lambda: follow(trigger="1 second", idle_timeout="soon"), "idle_timeout soon is no number of seconds"),
        (lambda: ts.recognise(df, RULES, row=3, **OPTIONS), "row is 3, and no name of a column"),
        (lambda: follow(sinks=["changes"]), "sinks is list, and no mapping"),
        (lambda: follow(metrics_port="9000"), "port 9000 cannot be used"),
        (lambda: follow(sinks={"chnges": print}), "no table chnges.* did you mean changes"),
        (lambda: follow(sinks={"timeline": print}), "timeline is the fold of changes"),
        (lambda: follow(sinks={"changes": "/data/changes"}), "the sink of changes is str, and no function"),
        (lambda: ts.from_columns(df, event="press", time="tim", arguments=["k"]), "`tim`.* did you mean time"),
        (lambda: ts.from_json(df, SCHEMA), "no column `value`"),
        (lambda: ts.from_rtec(df, RULES), "no column `value`"),
        (lambda: ts.together(), "no DataFrame"),
    ]
    for ask, told in wrong:
        with pytest.raises(InputError, match=told):
            ask()
    assert not spark.streams.active


def test_a_port_that_is_taken_stops_the_stream_before_it_begins(
    spark: Any, follow: Callable[..., Any], tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for port in (taken.getsockname()[1], 1_000_000):
            with pytest.raises(InputError, match=f"port {port}"):
                follow(trigger="1 second", metrics_port=port)
    assert not spark.streams.active


def test_a_sink_may_stop_the_stream(follow: Callable[..., Any], tmp_path: Path) -> None:
    """Its batch is done first, and a look at whether the stream has ended takes no time."""
    written(tmp_path / "in", 0, [press(5), press(25)])
    there: list[Any] = []
    go = threading.Event()

    def sink(_: Any, batch: int) -> None:
        assert go.wait(60)
        there[0].stop()

    there.append(follow(trigger=None, sinks={"changes": sink}))
    assert not there[0].wait(0)
    go.set()
    assert there[0].wait(60) and not there[0].active
    assert there[0].tables.changes.count() == 1


def test_a_stream_is_stopped_after_the_batch_that_is_under_way(
    follow: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, take = threading.Event(), Pipeline.batch

    def slowly(self: Pipeline, df: Any, batch: int, **more: Any) -> Any:
        begun.set()
        time.sleep(2)
        return take(self, df, batch, **more)

    monkeypatch.setattr(Pipeline, "batch", slowly)
    for number in range(3):
        written(tmp_path / "in", number, [press(5 + 20 * number)])
    running = follow(trigger="1 second")
    assert begun.wait(60)
    running.stop()
    assert running.wait() and not running.active
    assert [report.batch for report in running.reports] == [0]
    monkeypatch.undo()
    then = follow()
    then.wait()
    assert [report.batch for report in then.reports] == [1, 2, 3]
    assert then.metrics.rows == 3


def test_the_disorder_may_be_another_one_after_a_restart(follow: Callable[..., Any], tmp_path: Path) -> None:
    written(tmp_path / "in", 0, [press(5), press(25)])
    follow().wait()
    written(tmp_path / "in", 1, [press(45, "b")])
    running = follow(disorder=15)
    running.wait()
    assert [report.moment.query_time for report in running.reports] == [20, 50]


# --------------------------------------------------------------------------- other shapes


def test_a_deletion_stays_one_when_put_together_with_rows_that_say_op(spark: Any) -> None:
    feed = spark.createDataFrame([("press", 5, 5, "a", 9.0, "insert"), ("press", 5, 15, "a", 9.0, "delete")]).toDF(
        "name", "time", "arrival", "k", "v", "_change_type"
    )
    others = spark.createDataFrame([("press", 6, "b", 9.0, "insert")], f"{SCHEMA}, op string")
    found = ts.recognise(ts.together(feed, others), RULES, **OPTIONS)
    assert {row.fluent for row in found.timeline.collect()} == {"on(b)"}


def test_the_column_of_a_change_data_feed_may_be_written_in_capitals(spark: Any) -> None:
    feed = spark.createDataFrame([("press", 5, 5, "a", 9.0, "insert"), ("press", 5, 15, "a", 9.0, "delete")]).toDF(
        "name", "time", "arrival", "k", "v", "_CHANGE_TYPE"
    )
    others = spark.createDataFrame([("press", 6, "b", 9.0, "insert")], f"{SCHEMA}, op string")
    picked = ts.from_columns(feed, name="name", time="time", arrival="arrival", arguments=["k", "v"])
    for retracted in (picked, ts.together(feed, others)):
        found = ts.recognise(retracted, RULES, **OPTIONS)
        assert "on(a)" not in {row.fluent for row in found.timeline.collect()}


def test_a_column_that_is_kept_does_not_take_the_place_of_another(spark: Any) -> None:
    df = spark.createDataFrame([(5, 7, "a", 9.0)], "at bigint, time bigint, k string, v double")
    with pytest.raises(InputError, match="`time` is kept, and is the name of what `from_columns` makes"):
        ts.from_columns(df, event="press", time="at", arguments=["k", "v"], keep=["time"])


def test_what_is_no_dataframe_of_spark_is_named(spark: Any) -> None:
    df = spark.createDataFrame(ROWS, SCHEMA)
    table = df.toArrow()
    for wrong in (
        lambda: ts.together(df, table),
        lambda: ts.from_json(table, SCHEMA),
        lambda: ts.from_rtec(table, RULES),
        lambda: ts.from_columns(table, event="press", time="time", arguments=["k"]),
    ):
        with pytest.raises(InputError, match="this is no DataFrame of Spark but Table"):
            wrong()


def test_dates_as_text_go_together_with_arrivals_that_are_numbers(spark: Any) -> None:
    dates = spark.createDataFrame([("press", "1970-01-01T00:00:05Z", "a", 9.0)], SCHEMA.replace("bigint", "string"))
    numbers = spark.createDataFrame([("press", 6, "b", 9.0, 7)], f"{SCHEMA}, arrival bigint")
    found = ts.recognise(ts.together(dates, numbers), RULES, **OPTIONS)
    assert {row.fluent for row in found.timeline.collect()} == {"on(a)", "on(b)"}


def test_rtec_lines_have_quotes_and_blanks_as_in_files(spark: Any, tmp_path: Path) -> None:
    lines = [
        "press|5|5|a|9", "", "   ", '"press"|6|6|"b|c"|9', "press | 7 | 7 | d | 9", 'press|8|8|"q""x"|9',
        "press|9|9|' s '|9", "+|press|10|10|e|9", " - |press|13|10|e|9", "press|11", "-",
        "press|12|12|f|9|more|and more", 'cut|14|14|"a',
    ]  # fmt: skip
    (tmp_path / "events.csv").write_text("\n".join(lines) + "\n")
    expected = run(RULES, str(tmp_path / "events.csv"), **WINDOW, start=0).arrow
    known = {name: expected[name] for name in ("timeline", "changes")}
    events = ts.from_rtec(spark.read.text(str(tmp_path / "events.csv")), RULES)
    found = ts.recognise(events, RULES, **OPTIONS, start=0)
    assert agree(known, found) == {"timeline": 5, "changes": 7}
    assert found.rejected.count() == expected["rejected"].num_rows
    whole = spark.createDataFrame([("\n".join(lines).encode(),), (None,)], "value binary")  # as Kafka gives it
    assert agree(known, ts.recognise(ts.from_rtec(whole, RULES), RULES, **OPTIONS, start=0))
