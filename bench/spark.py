"""The pipeline on Spark against Spark itself: the same files, a shuffle, an identity instead of a reasoner.

    python bench/spark.py [--events 1000000] [--vessels 10000] [--rounds 3] [--wide] [--long] [--only batch]

Everything is measured in one session, by turns, and compared as ratios of the best of the rounds. On a machine that
does other things too, CPU time (of the driver, Java and all workers) is steadier than the clock; both are shown. The
program is the maritime one for single vessels. Files as they are, the shards read themselves; `batch` and `stream` also
show what it costs where Spark has to read the rows first, because it computes a column.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent))

from thalweg import parse
from thalweg import spark as ts
from thalweg.spark.keying import Route, key_column, place_column
from thalweg.spark.streaming import Stream
from workloads.catalogue import Workload, vessels
from workloads.files import headed

TURNS = 9
"""Rounds, at least, for what is compared by ratios of half seconds, which other work on a machine disturbs easily."""
LONGER = (4, 16)
"""How many times as many rows one shard and two are also given: what a batch costs whatever its size counts less."""
WARM = 20
"""Rounds before one shard and two are compared: Java's compilers take a core from two shards until they are done."""
LATER = 3
"""Micro-batches after the first, with ten times the vessels."""
LONG = 60
"""Micro-batches of a stream whose memory is watched."""


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


@dataclass(frozen=True, slots=True)
class Cost:
    """What something took: seconds on the clock, and CPU seconds of all processes."""

    wall: float
    cpu: float


def cpu_seconds() -> float:
    """Of this process and all that it has started, those included that have ended: Spark ends idle workers."""
    me = psutil.Process()
    total = 0.0
    for process in (me, *me.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def so_far() -> Cost:
    return Cost(time.perf_counter(), cpu_seconds())


def between(first: Cost, then: Cost) -> Cost:
    return Cost(then.wall - first.wall, then.cpu - first.cpu)


def cost(run: Callable[[], Any]) -> Cost:
    began = so_far()
    run()
    return between(began, so_far())


def best(costs: list[Cost]) -> Cost:
    """The least of some rounds."""
    return Cost(min(c.wall for c in costs), min(c.cpu for c in costs))


def middle(costs: list[Cost]) -> Cost:
    """The median of some rounds."""
    return Cost(statistics.median(c.wall for c in costs), statistics.median(c.cpu for c in costs))


def times(one: list[Cost], other: list[Cost]) -> Cost:
    """How many times as much the first cost as the second, the median of what each turn gives by itself: the machine is
    faster in some than in others."""
    return middle([Cost(a.wall / b.wall, a.cpu / b.cpu) for a, b in zip(one, other, strict=True)])


def mean(costs: list[Cost], of: int) -> Cost:
    """All costs together, divided among so many."""
    return Cost(*(sum(part) / of for part in zip(*map(astuple, costs), strict=True)))


class Bench:
    """The measurements on one workload: `in` holds so many events in eight files, `all` so many times as many."""

    def __init__(
        self, spark: Any, folder: Path, events: int, entities: int, rounds: int, batches: int = 1
    ) -> None:
        self.spark, self.folder, self.rounds, self.batches = spark, folder, rounds, batches
        self.workload = vessels(events=events * batches, vessels=entities)
        self.program = parse(self.workload.source())
        self.options = {"window": self.workload.window, "step": self.workload.step, "start": 0}
        self.events = events
        table = one_table(self.workload)
        for name in ("in", "all"):
            (folder / name).mkdir(parents=True)
        size = -(-table.num_rows // (8 * batches))
        for part in range(8 * batches):
            file = folder / "all" / f"part-{part:03d}.parquet"
            pq.write_table(table.slice(part * size, size), file)
            if part < 8:
                (folder / "in" / file.name).hardlink_to(file)
        self.df, self.all = (spark.read.parquet(str(folder / name)) for name in ("in", "all"))

    def shuffled(self, df: Any, shards: int) -> Any:
        """The shuffle of the pipeline."""
        key = key_column(df["vessel"], df.schema["vessel"].dataType)
        return df.repartitionById(shards, place_column((shards,), Route(((0,),), (0,)), [key]))

    def floor(self, df: Any, shards: int) -> None:
        """The same read, the same shuffle, an identity."""
        rows = self.shuffled(df, shards)
        rows.mapInArrow(identity, df.schema).write.format("noop").mode("overwrite").save()

    def recognise(self, shards: int, df: Any = None) -> None:
        given = self.df if df is None else df
        ts.recognise(given, self.program, shards=shards, out=self.folder / "out", **self.options)

    # ------------------------------------------------------------------ streams

    def stream(
        self,
        files: int,
        *,
        floor: bool,
        shards: int = 2,
        of: str = "in",
        computed: bool = False,
        mark: Callable[[], None] = lambda: None,
    ) -> list[Any]:
        """A stream that takes so many files at a time, as they are or with a computed column; returns what its batches
        report. `mark` is called at its start and after each batch."""
        place = Path(tempfile.mkdtemp(dir=self.folder))
        reader = self.spark.readStream.schema(self.df.schema).option("maxFilesPerTrigger", files)
        sdf = reader.parquet(str(self.folder / of))
        sdf = with_computed_time(sdf) if computed else sdf
        reports: list[Any] = []
        if floor:

            def batch(df: Any, _: int) -> None:
                self.floor(df, shards)

            writer = sdf.writeStream.foreachBatch(batch).trigger(availableNow=True)
            writer.option("checkpointLocation", str(place / "spark")).start().awaitTermination()
        else:
            with marked(mark):
                running = ts.stream(
                    sdf, self.program, checkpoint=place, trigger="available", shards=shards, **self.options
                )
                running.wait()
            reports = list(running.reports)
        shutil.rmtree(place, ignore_errors=True)
        return reports


@contextlib.contextmanager
def marked(mark: Callable[[], None]) -> Iterator[None]:
    """Do something now and after every batch of a stream."""
    take = Stream._batch

    def taken(self: Stream, df: Any, batch: int) -> None:
        take(self, df, batch)
        mark()

    mark()
    Stream._batch = taken  # type: ignore[method-assign]
    try:
        yield
    finally:
        Stream._batch = take  # type: ignore[method-assign]


def table(title: str, rows: list[tuple[str, str]]) -> None:
    print(f"\n{title}")
    for name, value in rows:
        print(f"  {name:<58}{value:>22}")


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--events", type=int, default=1_000_000)
    given.add_argument("--vessels", type=int, default=10_000)
    given.add_argument("--rounds", type=int, default=3)
    given.add_argument("--wide", action="store_true", help="also with ten times the vessels")
    given.add_argument("--long", action="store_true", help=f"also the memory of a stream of {LONG} micro-batches")
    parts = ["batch", "shards", "stream", "small", "wide", "long"]
    given.add_argument("--only", choices=parts, help="one part of it")
    options = given.parse_args()
    spark = ts.session("local[2]", shards=2)
    with tempfile.TemporaryDirectory(prefix="thalweg-bench-") as name:
        folder = Path(name)
        bench = Bench(spark, folder / "a", options.events, options.vessels, options.rounds)
        measure(bench, spark, folder, options)
    spark.stop()


def compared(title: str, floor: Cost, ours: Cost, goal: int, rows: int) -> None:
    table(
        title,
        [
            ("read, shuffle, identity (s; CPU s)", f"{floor.wall:.2f}; {floor.cpu:.2f}"),
            ("the same with reasoning (s; CPU s)", f"{ours.wall:.2f}; {ours.cpu:.2f}"),
            (f"share of Spark's throughput (goal {goal} %)", f"{100 * floor.wall / ours.wall:.0f} %"),
            ("the same by CPU time", f"{100 * floor.cpu / ours.cpu:.0f} %"),
            ("rows per second", f"{rows / ours.wall:,.0f}"),
        ],
    )


def measure(bench: Bench, spark: Any, folder: Path, options: argparse.Namespace) -> None:
    def asked(part: str) -> bool:
        wanted = {"wide": options.wide, "long": options.long}.get(part, True)
        return options.only == part or (options.only is None and wanted)

    cold = cost(lambda: bench.recognise(2))
    table("the first time", [("workers and kernels cold (s)", f"{cold.wall:.1f}")])
    for _ in range(2 if options.only != "small" else 0):  # Java compiles what it runs often
        bench.floor(bench.df, 2)
        bench.recognise(2)
    if asked("batch"):
        batch(bench, options)
    if asked("shards"):
        for _ in range(WARM):
            bench.recognise(1)
            bench.recognise(2)
        shards(bench, options.rounds)
        for longer in LONGER:
            events = longer * options.events
            shards(Bench(spark, folder / f"long-{longer}", events, options.vessels, options.rounds), options.rounds)
    if asked("stream"):
        stream(bench, options.rounds)
    if asked("small"):
        latencies(bench, folder)
    if asked("long"):
        memory(Bench(spark, folder / "long", options.events // 2, options.vessels, options.rounds, LONG))
    if asked("wide"):
        wide(
            *(
                Bench(spark, folder / f"wide-{count}", options.events, count, options.rounds, LATER + 1)
                for count in (options.vessels, 10 * options.vessels)
            )
        )


def by_turns(rounds: int, *runs: Callable[[], Any]) -> list[Cost]:
    """The best of each, measured by turns."""
    turns = [[cost(run) for run in runs] for _ in range(rounds)]
    return [best(list(costs)) for costs in zip(*turns, strict=True)]


def with_computed_time(df: Any) -> Any:
    """The rows with a column that has to be computed: the files as they are will not do."""
    from pyspark.sql.functions import abs as magnitude

    return df.withColumn("time", magnitude(df.time))


def batch(bench: Bench, options: argparse.Namespace) -> None:
    computed = with_computed_time(bench.df)
    bench.recognise(2, computed)
    floor, ours, rows = by_turns(
        options.rounds,
        lambda: bench.floor(bench.df, 2),
        lambda: bench.recognise(2),
        lambda: bench.recognise(2, computed),
    )
    title = f"{bench.events:,} rows, {options.vessels:,} vessels, 2 shards"
    compared(f"batch, {title}", floor, ours, 80, bench.events)
    compared(f"the same with a computed column, {title}", floor, rows, 80, bench.events)


def busy(_: int) -> None:
    """Half a second of NumPy, much of it in memory: what a second core can do for something that shares nothing."""
    numbers = np.random.default_rng(1).integers(0, 1 << 40, 1_000_000)
    for _ in range(3):
        order = np.argsort(numbers, kind="stable")
        numbers = numbers[order[::-1]] ^ 1


def shards(bench: Bench, rounds: int) -> None:
    """One shard and two; and, by turns with them, one plain process and two, which is as much as the machine gives."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        runs: list[Callable[[], Any]] = [lambda: bench.recognise(1), lambda: bench.recognise(2)]
        runs += [lambda: list(pool.map(busy, range(1))), lambda: list(pool.map(busy, range(2)))]
        for run in runs:
            run()
        turns = [[cost(run) for run in runs] for _ in range(max(rounds, TURNS))]
    one, two, alone, both = (list(costs) for costs in zip(*turns, strict=True))
    for how, of, ratio, ceiling in (
        ("best", best, best(one).wall / best(two).wall, 2 * best(alone).wall / best(both).wall),
        ("median", middle, times(one, two).wall, 2 * times(alone, both).wall),
    ):
        table(
            f"one shard and two, {bench.events:,} rows, {how} of {len(turns)} turns",
            [
                ("seconds of one and of two", f"{of(one).wall:.2f}, {of(two).wall:.2f}"),
                ("2 shards against 1, by the clock (goal 1.6)", f"{ratio:.2f}"),
                ("two plain processes side by side against one, same turns", f"{ceiling:.2f}"),
            ],
        )
    spent = f"{middle(one).cpu:.2f}, {middle(two).cpu:.2f}"
    table("CPU seconds of one shard and of two, median", [("", spent)])


def stream(bench: Bench, rounds: int) -> None:
    floor, ours, rows = by_turns(
        rounds,
        lambda: bench.stream(8, floor=True),
        lambda: bench.stream(8, floor=False),
        lambda: bench.stream(8, floor=False, computed=True),
    )
    title = f"one micro-batch of {bench.events:,} rows, start and end of the stream included"
    compared(f"stream, {title}", floor, ours, 70, bench.events)
    compared(f"the same with a computed column, {title}", floor, rows, 70, bench.events)


def wide(bench: Bench, many: Bench) -> None:
    """Ten times the vessels: in batch mode, over the first rows and over all, in the first micro-batch of a stream,
    which sees every vessel for the first time, and in those that follow, each from the end of the one before to its
    own."""
    runs = [partial(of.recognise, 2, getattr(of, rows)) for rows in ("df", "all") for of in (bench, many)]
    for run in runs:
        run()
    streams = [of.stream(8, floor=False, of="all") for of in (bench, many)]
    changes = [[report.tables.get("changes", 0) for report in reports if report.rows] for reports in streams]
    turns = max(bench.rounds, TURNS)
    costs = [list(costs) for costs in zip(*([cost(run) for run in runs] for _ in range(turns)), strict=True)]
    taken: list[list[list[Cost]]] = [[], []]
    for _ in range(turns):
        for of, found in zip((bench, many), taken, strict=True):
            marks: list[Cost] = []
            of.stream(8, floor=False, of="all", mark=lambda to=marks: to.append(so_far()))
            found.append([between(a, b) for a, b in pairwise(marks)][: LATER + 1])
    parts = (
        ("batch", costs[:2]),
        (f"batch, {LATER + 1} times the rows", costs[2:]),
        (f"a stream of {LATER + 1} micro-batches", [[mean(steps, 1) for steps in found] for found in taken]),
        ("its first micro-batch", [[steps[0] for steps in found] for found in taken]),
        ("later ones, each", [[mean(steps[1:], LATER) for steps in found] for found in taken]),
    )
    for title, (some, more) in parts:
        few, many_ = best(some), best(more)
        shown = f"{few.wall:.2f}, {many_.wall:.2f}; {few.cpu:.2f}, {many_.cpu:.2f}"
        typical = times(more, some)
        table(
            f"ten times the vessels, {title}, {turns} turns",
            [
                ("best seconds by the clock; CPU", shown),
                ("cost per row, best, by clock; CPU", f"{many_.wall / few.wall:.2f}; {many_.cpu / few.cpu:.2f}"),
                ("the same, median of turns (goal at most 1.5)", f"{typical.wall:.2f}; {typical.cpu:.2f}"),
            ],
        )
    table("changes written per micro-batch", [("", str(counts)) for counts in changes])


def memory(bench: Bench) -> None:
    """What the processes of a long stream hold: the Python workers and Java, a fifth of the way and at its end."""
    marks: list[dict[str, float]] = []
    bench.stream(8, floor=False, of="all", mark=lambda: marks.append(resident()))
    fifth, end = marks[len(marks) // 5], marks[-1]
    rows = [(f"{name} (MiB)", f"{fifth[name]:,.0f}, {end[name]:,.0f}") for name in fifth]
    table(f"a stream of {LONG} micro-batches of {bench.events:,} rows, after a fifth and at the end", rows)


def resident() -> dict[str, float]:
    """Memory of the processes that this one has started."""
    found = {"Python workers": 0.0, "Java": 0.0}
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            kind = "Java" if "java" in process.name() else "Python workers"
            found[kind] += process.memory_info().rss / 2**20
    return found


def latencies(bench: Bench, folder: Path) -> None:
    """A small live stream: many batches of a thousand rows; and batches without any."""
    small = folder / "small"
    small.mkdir()
    rows = pq.read_table(folder / "a" / "in" / "part-000.parquet").slice(0, 40_000)
    for part in range(40):
        pq.write_table(rows.slice(part * 1000, 1000), small / f"part-{part:02d}.parquet")
    reader = bench.spark.readStream.schema(bench.df.schema).option("maxFilesPerTrigger", 1)
    checkpoint = folder / "small-checkpoint"
    running = ts.stream(
        reader.parquet(str(small)), bench.program, checkpoint=checkpoint, trigger="available", shards=2, **bench.options
    )
    running.wait()
    spent = sorted(
        sum(r.seconds.get(k, 0) for k in ("survey", "reason", "commit")) for r in list(running.reports)[5:-1]
    )
    nothing = bench.df.limit(0)
    empty = [cost(lambda n=n: running.pipeline.batch(nothing, 1000 + n)).wall for n in range(5)]
    table(
        "stream, micro-batches of 1,000 rows",
        [
            ("p50 (s)", f"{statistics.median(spent):.2f}"),
            ("p99 (s)", f"{spent[int(len(spent) * 0.99)]:.2f}"),
            ("a batch without rows (s)", f"{statistics.median(empty):.2f}"),
        ],
    )


if __name__ == "__main__":
    main()
