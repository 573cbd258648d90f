"""Streams with a program, and ways to compare what the engines make of them."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from thalweg.runs import run

CARS = """
event speed(vehicle: symbol, kmh: float).
event halt(vehicle: symbol).
event tow(lorry: symbol, load: symbol).

initiatedAt(moving(V)=true, T) :- happensAt(speed(V, K), T), K > 5.
terminatedAt(moving(V)=true, T) :- happensAt(halt(V), T).
ft(moving(V)=true, 40).

% a cycle: a warning follows a warning
initiatedAt(level(V)=warned, T) :- happensAt(speed(V, K), T), K > 90, \\+ holdsAt(level(V)=warned, T).
initiatedAt(level(V)=fined, T) :- happensAt(speed(V, K), T), K > 90, holdsAt(level(V)=warned, T).
fi(level(V)=fined, level(V)=clear, 60).

holdsFor(racing(V)=true, I) :-
    holdsFor(moving(V)=true, I1), holdsFor(level(V)=fined, I2), intersect_all([I1, I2], I).

initiatedAt(busy(L)=true, T) :- happensAt(tow(L, _), T).
terminatedAt(busy(L)=true, T) :- happensAt(halt(L), T).
"""
"""Late rows, retractions, a cycle, delayed effects; all of it by vehicle."""

TRAFFIC = (
    CARS
    + """
% relations
initiatedAt(towing(L, V)=true, T) :- happensAt(tow(L, V), T), \\+ holdsAt(moving(V)=true, T).
terminatedAt(towing(L, V)=true, T) :- happensAt(tow(L, V), T), holdsAt(moving(V)=true, T).
terminatedAt(towing(L, V)=true, T) :- happensAt(tow(L, V), T), happensAt(halt(L), T).

holdsFor(convoy(L, V)=true, I) :-
    holdsFor(towing(L, V)=true, I1), holdsFor(moving(L)=true, I2), intersect_all([I1, I2], I).

% what has no key
initiatedAt(busy=true, T) :- happensAt(start(towing(_, _)=true), T).
terminatedAt(busy=true, T) :- happensAt(end(towing(_, _)=true), T).
"""
)
"""And relations, and something that has no key."""

COLUMNS = pa.schema(
    [
        ("name", pa.string()),
        ("time", pa.int64()),
        ("arrival", pa.int64()),
        ("op", pa.string()),
        ("arg1", pa.string()),
        ("arg2", pa.string()),
        ("nr", pa.int64()),
    ]
)


@dataclass(frozen=True)
class Story:
    """A program, rows in the order of arrival, and how to run them."""

    program: str
    rows: pa.Table
    options: dict[str, Any] = field(default_factory=dict)

    def embedded(self) -> dict[str, pa.Table]:
        return run(self.program, self.rows.drop_columns(["nr"]), **self.options).arrow

    def write(self, directory: Path, files: int) -> Path:
        """The rows as Parquet files, in the order of arrival. None of them is empty."""
        directory.mkdir(parents=True)
        ends = [i * self.rows.num_rows // files for i in range(files + 1)]
        for i, (first, last) in enumerate(pairwise(ends)):
            assert first < last, "there are more files than rows"
            file = directory / f"part-{i:03d}.parquet"
            pq.write_table(self.rows.slice(first, last - first), file)
            os.utime(file, (1_000_000 + i, 1_000_000 + i))  # Spark takes files by age
        return directory


def traffic(seed: int = 7, size: int = 1500, program: str = TRAFFIC) -> Story:
    """Cars and lorries for an hour or so; some rows are late, taken back, repeated, or bad."""
    rng = Random(seed)
    cars = [f"v{i}" for i in range(25)] + ["0012", "12", "12.0", "North Sea"]
    rows: list[dict[str, Any]] = []
    for _ in range(size):
        time = rng.randint(1, 1500)
        arrival = time + (rng.randint(1, 130) if rng.random() < 0.15 else 0)
        kind = rng.random()
        if kind < 0.6:
            row = {"name": "speed", "arg1": rng.choice(cars), "arg2": str(rng.randint(0, 120))}
        elif kind < 0.75:
            row = {"name": "halt", "arg1": rng.choice(cars), "arg2": None}
        else:
            row = {"name": "tow", "arg1": rng.choice(cars), "arg2": rng.choice(cars)}
        row |= {"time": time, "arrival": arrival, "op": "insert"}
        rows.append(row)
        if rng.random() < 0.05:
            rows.append(row | {"op": "retract", "arrival": arrival + rng.randint(0, 150)})
    rows += [
        {"name": "nosuch", "arg1": "v1", "arg2": None, "time": 10, "arrival": 10, "op": "insert"},
        {"name": "speed", "arg1": "v1", "arg2": "fast", "time": 11, "arrival": 11, "op": "insert"},
        {"name": "speed", "arg1": None, "arg2": "10", "time": 12, "arrival": 12, "op": "insert"},
        {"name": "halt", "arg1": "v1", "arg2": "v2", "time": 13, "arrival": 13, "op": "insert"},
        {"name": "halt", "arg1": "v1", "arg2": None, "time": 14, "arrival": 14, "op": "upsert"},
    ]
    rows.sort(key=lambda row: row["arrival"])
    numbered = [row | {"nr": number} for number, row in enumerate(rows, start=1)]
    return Story(program, pa.Table.from_pylist(numbered, COLUMNS), {"window": 120, "step": 30, "start": 0})


def sparse(story: Story) -> Story:
    """The same, but most rows that arrive in time do not say so."""
    arrivals, times = (story.rows.column(name).to_pylist() for name in ("arrival", "time"))
    said = [None if a == t and n % 4 else a for n, (a, t) in enumerate(zip(arrivals, times, strict=True))]
    at = story.rows.column_names.index("arrival")
    return replace(story, rows=story.rows.set_column(at, "arrival", pa.array(said, pa.int64())))


def short_traffic() -> Story:
    """Less of it."""
    return traffic(seed=3, size=250)


def cars() -> Story:
    """Only what can be told by vehicle: one stage, for tests that start it often."""
    return traffic(seed=3, size=250, program=CARS)


def followed(spark: Any, story: Story, folder: Path, *, computed: bool = False) -> Any:
    """The stream of a story, a file at a time until there are no more: from `in` to `out` in a folder. `computed`:
    Spark has to compute its rows, else the shards read the files as they are."""
    from thalweg import spark as ts

    schema = spark.createDataFrame(story.rows.slice(0, 1)).schema
    sdf = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    sdf = sdf.withColumn("time", sdf.time + 0) if computed else sdf
    places = {"checkpoint": folder / "checkpoint", "out": folder / "out"}
    return ts.stream(sdf, story.program, trigger="available", row="nr", shards=2, **places, **story.options)


def rows_of(table: pa.Table, columns: list[str]) -> Counter[tuple[str, ...]]:
    """The rows as text, each with how often it occurs."""
    return Counter(tuple(str(value) for value in row.values()) for row in table.select(columns).to_pylist())


def assert_same(expected: dict[str, pa.Table], found: dict[str, pa.Table]) -> None:
    """Fails with some rows that only one side has."""
    for name, table in expected.items():
        mine, yours = (rows_of(t, table.column_names) for t in (table, found[name]))
        assert mine == yours, (
            f"{name}: only embedded {list(mine - yours)[:3]}, only here {list(yours - mine)[:3]}"
        )


def assert_same_tables(
    expected: dict[str, pa.Table],
    found: Any,
    names: tuple[str, ...] = ("timeline", "changes", "events", "event_changes", "open", "rejected"),
) -> None:
    """Fails with the rows that only one side has."""
    for name in names:
        columns = expected[name].column_names
        mine, yours = rows_of(expected[name], columns), rows_of(found[name].toArrow(), columns)
        lines = [f"  only embedded: {row}" for row in sorted(mine - yours)[:5]]
        lines += [f"  only on Spark: {row}" for row in sorted(yours - mine)[:5]]
        assert not lines, f"the table {name} differs:\n" + "\n".join(lines)
        assert mine or name in ("events", "event_changes", "open"), f"the table {name} is empty"
