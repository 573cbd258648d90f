"""The pipeline on Spark against Spark itself: the same files, the same shuffle, an identity instead of a reasoner.

    python bench/spark.py [--events 1000000] [--vessels 10000] [--rounds 3]

Everything is measured in one session, by turns, and compared as ratios of the best of the rounds, so that a busy
machine disturbs both sides alike. The program is the maritime one for single vessels.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent))

from thalweg import parse
from thalweg import spark as ts
from thalweg.spark.keying import Route, key_column, place_column
from workloads.catalogue import Workload, vessels
from workloads.files import headed


def identity(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The floor: rows go to Python and come back."""
    yield from batches


def one_table(workload: Workload) -> pa.Table:
    """The whole stream as one table, in the order of arrival."""
    parts = []
    for name, rows in workload.stream.items():
        part = headed(name, rows)
        plain = [
            pa.field(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in part.schema
        ]
        parts.append(part.cast(pa.schema(plain)))
    return pa.concat_tables(parts, promote_options="default").sort_by("arrival")


def best(run: Callable[[], Any], rounds: int) -> float:
    """The shortest time of some rounds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


class Bench:
    """The measurements on one workload."""

    def __init__(self, spark: Any, folder: Path, events: int, entities: int, rounds: int) -> None:
        self.spark, self.folder, self.rounds = spark, folder, rounds
        self.workload = vessels(events=events, vessels=entities)
        self.program = parse(self.workload.source())
        self.options = {"window": self.workload.window, "step": self.workload.step, "start": 0}
        self.events = events
        table = one_table(self.workload)
        (folder / "in").mkdir(parents=True)
        size = -(-table.num_rows // 8)
        for part in range(8):
            file = folder / "in" / f"part-{part}.parquet"
            pq.write_table(table.slice(part * size, size), file)
        self.df = spark.read.parquet(str(folder / "in"))

    def shuffled(self, df: Any, shards: int) -> Any:
        """The shuffle of the pipeline."""
        key = key_column(df["vessel"], df.schema["vessel"].dataType)
        return df.repartitionById(shards, place_column((shards,), Route(((0,),), (0,)), [key]))

    def floor(self, df: Any, shards: int) -> None:
        """The same read, the same shuffle, an identity."""
        rows = self.shuffled(df, shards)
        rows.mapInArrow(identity, df.schema).write.format("noop").mode("overwrite").save()

    def recognise(self, shards: int) -> None:
        ts.recognise(self.df, self.program, shards=shards, out=self.folder / "out", **self.options)

    # ------------------------------------------------------------------ streams

    def stream(self, files: int, *, floor: bool, shards: int = 2) -> list[float]:
        """Seconds per batch of a stream that takes so many files at a time."""
        place = Path(tempfile.mkdtemp(dir=self.folder))
        reader = self.spark.readStream.schema(self.df.schema).option("maxFilesPerTrigger", files)
        sdf = reader.parquet(str(self.folder / "in"))
        times: list[float] = []
        if floor:

            def batch(df: Any, _: int) -> None:
                began = time.perf_counter()
                self.floor(df, shards)
                times.append(time.perf_counter() - began)

            writer = sdf.writeStream.foreachBatch(batch).trigger(availableNow=True)
            writer.option("checkpointLocation", str(place / "spark")).start().awaitTermination()
        else:
            running = ts.stream(
                sdf, self.program, checkpoint=place, trigger="available", shards=shards, **self.options
            )
            running.wait()
            times = [
                sum(r.seconds.get(k, 0) for k in ("survey", "reason", "commit")) for r in running.reports
            ]
            times = times[: -(-8 // files)]
        shutil.rmtree(place, ignore_errors=True)
        return times


def table(title: str, rows: list[tuple[str, str]]) -> None:
    print(f"\n{title}")
    for name, value in rows:
        print(f"  {name:<58}{value:>14}")


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--events", type=int, default=1_000_000)
    given.add_argument("--vessels", type=int, default=10_000)
    given.add_argument("--rounds", type=int, default=3)
    options = given.parse_args()
    spark = ts.session("local[2]", shards=2)
    with tempfile.TemporaryDirectory(prefix="thalweg-bench-") as name:
        folder = Path(name)
        bench = Bench(spark, folder / "a", options.events, options.vessels, options.rounds)
        measure(bench, spark, folder, options)
    spark.stop()


def measure(bench: Bench, spark: Any, folder: Path, options: argparse.Namespace) -> None:
    cold = best(lambda: bench.recognise(2), 1)
    bench.floor(bench.df, 2)
    pairs = [
        (best(lambda: bench.floor(bench.df, 2), 1), best(lambda: bench.recognise(2), 1))
        for _ in range(options.rounds)
    ]
    floor, ours = min(p[0] for p in pairs), min(p[1] for p in pairs)
    table(
        f"batch, {bench.events:,} rows, {options.vessels:,} vessels, 2 shards",
        [
            ("read, shuffle, identity (s)", f"{floor:.2f}"),
            ("recognise (s)", f"{ours:.2f}"),
            ("the first time, workers and kernels cold (s)", f"{cold:.2f}"),
            ("share of Spark's throughput (goal 80 %)", f"{100 * floor / ours:.0f} %"),
            ("rows per second", f"{bench.events / ours:,.0f}"),
        ],
    )
    one = best(lambda: bench.recognise(1), options.rounds)
    table("one shard and two", [("2 shards against 1 (goal 1.6)", f"{one / ours:.2f}")])
    floors, times = [], []
    for _ in range(max(1, options.rounds - 1)):
        floors += bench.stream(8, floor=True)
        times += bench.stream(8, floor=False)
    table(
        f"stream, one micro-batch of {bench.events:,} rows",
        [
            ("read, shuffle, identity (s)", f"{min(floors):.2f}"),
            ("reason and commit (s)", f"{min(times):.2f}"),
            ("share of Spark's throughput (goal 70 %)", f"{100 * min(floors) / min(times):.0f} %"),
        ],
    )
    small = bench.stream(1, floor=False)[1:]
    table(
        f"stream, micro-batches of {bench.events // 8:,} rows",
        [
            ("p50 (s)", f"{statistics.median(small):.2f}"),
            ("longest (s)", f"{max(small):.2f}"),
        ],
    )
    many = Bench(spark, folder / "b", options.events, 10 * options.vessels, options.rounds)
    wide = best(lambda: many.recognise(2), options.rounds)
    table("ten times the vessels", [("cost per row (goal at most 1.5 times)", f"{wide / ours:.2f}")])


if __name__ == "__main__":
    main()
