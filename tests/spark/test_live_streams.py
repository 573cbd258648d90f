"""A live stream on Spark: its numbers, wrong clocks, silence, bad rows."""

from __future__ import annotations

import shutil
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from thalweg import spark as ts

pytestmark = pytest.mark.spark

RULES = """
event press(x: symbol).
event release(x: symbol).
initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminatedAt(on(X)=true, T) :- happensAt(release(X), T).
ft(on(X)=true, 12).
"""
SCHEMA = "name string, time bigint, x string"


def until(holds: Any, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)


def put(folder: Path, number: int, rows: list[tuple[Any, ...]]) -> None:
    import pyarrow as pa

    table = pa.table({n: list(c) for n, c in zip(("name", "time", "x"), zip(*rows, strict=True), strict=True)})
    pq.write_table(table, folder / f".{number}.parquet")
    (folder / f".{number}.parquet").rename(folder / f"{number}.parquet")


def test_a_silent_stream_goes_on_by_itself_and_tells_its_numbers(spark: Any, tmp_path: Path) -> None:
    """A wrong clock, a bad row and a silence: the pending end comes all the same, and Prometheus hears of it."""
    folder = tmp_path / "in"
    folder.mkdir()
    good = [("press", 5, "a"), ("release", 8, "c")]
    put(folder, 0, [*good, ("press", 10**9, "b"), ("nosuch", 6, "a"), ("press", 7, None)])
    running = ts.stream(
        spark.readStream.schema(SCHEMA).parquet(str(folder)),
        RULES,
        checkpoint=tmp_path / "checkpoint",
        window=20,
        step=5,
        start=0,
        shards=2,
        tick="100ms",  # twelve points of silence are little more than a second
        max_ahead=1000,
        idle_timeout=1,
        metrics_port=0,
    )
    try:
        until(lambda: running.metrics is not None and running.metrics.query_time >= 20)
        assert running.endpoint is not None
        with urllib.request.urlopen(f"http://127.0.0.1:{running.endpoint.port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        until(lambda: running._rate > 0)
    finally:
        running.stop()
    assert "thalweg_rows_total 5" in lines
    assert 'thalweg_rejected_total{reason="too-far-ahead"} 1' in lines
    assert 'thalweg_rejected_total{reason="unknown-name"} 1' in lines
    assert [tuple(row) for row in running.tables.timeline.collect()] == [("on(a)", "true", 6, 18)]
    assert running.tables.rejected.count() == 3
    assert not running.active


def test_a_stream_can_be_broken_off_in_a_batch_and_taken_up_again(spark: Any, tmp_path: Path) -> None:
    """The batch under way would take minutes. It does not count, and comes first at the next start."""
    from pyspark.sql import functions as F

    folder, waits = tmp_path / "in", tmp_path / "waits"
    folder.mkdir()
    waits.mkdir()
    put(folder, 0, [("press", 5, "a"), ("release", 8, "a")])

    def wait(time_: int) -> int:
        if time_ > 100 and waits.is_dir():
            (waits / "begun").touch()
            end = time.monotonic() + 300
            while (waits / "begun").exists() and time.monotonic() < end:
                time.sleep(0.1)
        return time_

    slow = F.udf(lambda given: wait(given), "bigint")

    def begun(trigger: str | None) -> Any:
        rows = spark.readStream.schema(SCHEMA).parquet(str(folder)).withColumn("time", slow("time"))
        return ts.stream(
            rows, RULES, checkpoint=tmp_path / "c", trigger=trigger, window=20, step=5, start=0, shards=2
        )

    running = begun(None)
    until(lambda: running.reports)
    put(folder, 1, [("press", 102, "b"), ("release", 120, "b")])
    until(lambda: (waits / "begun").exists())
    stopping = threading.Thread(target=running.stop)
    stopping.start()
    stopping.join(3)
    assert stopping.is_alive() and running.active, "the batch is to be done first"
    began = time.monotonic()
    running.break_off()
    stopping.join(30)
    assert not stopping.is_alive() and not running.active and time.monotonic() - began < 30
    assert running.wait(1) and len(running.reports) == 1
    shutil.rmtree(waits)  # no more waiting
    again = begun("available")
    assert again.wait()
    assert [tuple(row) for row in again.tables.timeline.orderBy("start").collect()] == [
        ("on(a)", "true", 6, 9),
        ("on(b)", "true", 103, 115),
    ]


def listeners(spark: Any) -> int:
    return len(spark.streams._jsqm.listListeners())


def test_a_stream_that_ends_by_itself_leaves_no_listener_and_no_port(spark: Any, tmp_path: Path) -> None:
    """A service takes what is available every night: each of its streams would hear of all that follow."""
    folder = tmp_path / "in"
    folder.mkdir()
    put(folder, 0, [("press", 5, "a"), ("release", 8, "a")])
    before = listeners(spark)
    running = ts.stream(
        spark.readStream.schema(SCHEMA).parquet(str(folder)), RULES, checkpoint=tmp_path / "c", trigger="available",
        window=20, step=5, start=0, shards=2, metrics_port=0,
    )  # fmt: skip
    assert running.wait() and running.endpoint is None
    until(lambda: listeners(spark) == before)
    assert running.metrics is not None and running.metrics.rows_per_second > 0, "its last batch was heard of"


def test_a_stream_that_fails_leaves_no_listener_and_no_port(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    folder = tmp_path / "in"
    folder.mkdir()
    put(folder, 0, [("press", 5, "a")])
    before = listeners(spark)
    rows = spark.readStream.schema(SCHEMA).parquet(str(folder))
    running = ts.stream(
        rows.withColumn("time", F.raise_error(F.lit("the source is gone")).cast("bigint")), RULES,
        checkpoint=tmp_path / "c", window=20, step=5, start=0, shards=2, metrics_port=0,
    )  # fmt: skip
    with pytest.raises(Exception, match="the source is gone"):
        running.wait()
    until(lambda: running.endpoint is None and listeners(spark) == before)


def test_a_stream_that_is_listened_to_late_tells_its_rate_all_the_same(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine may have done all batches before the thread that started them goes on."""
    from thalweg.spark import streaming

    listener = streaming.listener

    def late(run_id: str, told: Any, ended: Any) -> Any:
        told.__self__.query.awaitTermination()
        return listener(run_id, told, ended)

    monkeypatch.setattr(streaming, "listener", late)
    folder = tmp_path / "in"
    folder.mkdir()
    put(folder, 0, [("press", 5, "a"), ("release", 8, "a")])
    before = listeners(spark)
    running = ts.stream(
        spark.readStream.schema(SCHEMA).parquet(str(folder)), RULES, checkpoint=tmp_path / "c", trigger="available",
        window=20, step=5, start=0, shards=2,
    )  # fmt: skip
    assert running.wait() and listeners(spark) == before
    assert running.metrics is not None and running.metrics.rows_per_second > 0
