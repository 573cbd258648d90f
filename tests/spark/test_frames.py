"""DataFrames of other shapes become rows of events."""

from __future__ import annotations

from typing import Any

import pytest

from thalweg import spark as ts
from thalweg.io.errors import InputError
from thalweg.runs import run

pytestmark = pytest.mark.spark

RULES = """
event speed(vehicle: symbol, kmh: float).
event halt(vehicle: symbol).
fluent near(one: symbol, other: symbol).
initiatedAt(moving(V)=true, T) :- happensAt(speed(V, K), T), K > 5.
terminatedAt(moving(V)=true, T) :- happensAt(halt(V), T).
holdsFor(close(A, B)=true, I) :- holdsFor(near(A, B)=true, I).
"""
OPTIONS: dict[str, Any] = {"window": 100, "step": 50, "start": 0, "shards": 2}


def timeline(df: Any, **more: Any) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in ts.recognise(df, RULES, **OPTIONS, **more).timeline.collect()}


def test_columns_are_named_or_computed(spark: Any) -> None:
    from pyspark.sql import functions as F

    fast = spark.createDataFrame([(3, 7, 10), (5, 8, 1)], "at int, car int, metres int")
    moves = ts.from_columns(
        fast, event="speed", time="at", arguments=[F.concat(F.lit("v"), F.col("car")), F.col("metres") * 3.6]
    )
    halts = ts.from_columns(
        spark.createDataFrame([("halt", 20, "v7")], "what string, at int, car string"),
        name="what",
        time="at",
        arguments=["car"],
    )
    together = spark.createDataFrame([("v7", "v8", 4, 9)], "a string, b string, since int, until int")
    near = ts.from_columns(
        together,
        event="near",
        start="since",
        end="until",
        arrival="until",
        value=F.lit("true"),
        arguments=["a", "b"],
    )
    assert timeline(ts.together(moves, halts, near)) == {
        ("moving(v7)", "true", 4, 21),
        ("close(v7,v8)", "true", 4, 9),
    }
    with pytest.raises(InputError, match="either the event that all rows are"):
        ts.from_columns(fast, time="at", arguments=["car"])
    with pytest.raises(InputError, match="either the column with times"):
        ts.from_columns(fast, event="speed", arguments=["car"])


def test_a_change_data_feed_retracts_what_was_deleted(spark: Any) -> None:
    feed = spark.createDataFrame(
        [
            ("speed", 3, 3, "v1", 50.0, "insert"),
            ("speed", 3, 60, "v1", 50.0, "update_preimage"),
            ("speed", 3, 60, "v1", 2.0, "update_postimage"),
            ("speed", 4, 4, "v2", 50.0, "insert"),
            ("speed", 4, 70, "v2", 50.0, "delete"),
            ("speed", 4, 4, "v3", 50.0, "insert"),
        ],
        "name string, time int, arrival int, vehicle string, kmh double, _change_type string",
    )
    events = ts.from_columns(feed, name="name", time="time", arrival="arrival", arguments=["vehicle", "kmh"])
    assert timeline(events) == {("moving(v3)", "true", 5, None)}
    assert timeline(feed) == {("moving(v3)", "true", 5, None)}


def test_json_text_is_taken_apart_and_what_is_none_is_rejected(spark: Any) -> None:
    lines = ['{"name": "speed", "time": 3, "vehicle": "v1", "kmh": 50}', "no json"]
    df = spark.createDataFrame([(line.encode(),) for line in lines], "value binary")
    events = ts.from_json(df, "name string, time bigint, vehicle string, kmh double")
    found = ts.recognise(events, RULES, **OPTIONS)
    assert [tuple(row) for row in found.timeline.collect()] == [("moving(v1)", "true", 4, None)]
    assert found.rejected.count() == 1


def test_rtec_lines_are_read_and_rejected_as_an_embedded_run_reads_and_rejects_them(spark: Any, tmp_path: Any) -> None:
    from pyspark.sql import functions as F

    lines = [
        "\ufeffspeed|3|3|v1|50", "near|9|4|9|true|v1|v2", "", "halt|21|20|v1\r", "speed|22|22|0012|9",
        "-|speed|60|22|0012|9", "bogus|1|1|x", "speed|23|23|v9", "speed|7", "halt|x|5|v1", "speed|24|24|v9|fast",
        "-|halt|30|29|nobody", "near|9|9|4|true|v1|v2", "speed|8|8|a\rb|9", "bogus|99999999999|-70|x",
    ]  # fmt: skip
    (tmp_path / "events.csv").write_bytes("".join(f"{line}\n" for line in lines).encode())
    expected = run(RULES, str(tmp_path / "events.csv"), window=100, step=50)
    text = spark.read.text(str(tmp_path / "events.csv"), lineSep="\n")
    numbered = text.withColumn("line", F.monotonically_increasing_id() + 1)
    events = ts.from_rtec(numbered, RULES, keep=["line"])
    found = ts.recognise(events, RULES, window=100, step=50, shards=2, row="line")
    for name in ("timeline", "changes", "rejected"):
        told = expected.arrow[name].to_pylist()
        for row in told:
            row |= {"source": "input"} if name == "rejected" else {}
            row |= {"cause": row["cause"].replace("events.csv", "input")} if name == "changes" else {}
        assert sorted(map(str, told)) == sorted(str(row.asDict()) for row in found[name].collect()), name
    assert expected.arrow["rejected"].num_rows == 8
