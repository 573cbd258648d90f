"""The tables of a pipeline as DataFrames, and the fold of changes to timelines in Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from thalweg.io.errors import InputError, did_you_mean
from thalweg.io.sinks import TABLES
from thalweg.language.rules import Kind
from thalweg.spark.files import Directory
from thalweg.spark.outputs import empty
from thalweg.spark.settings import Settings, parsed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FOLDED = {"timeline": "changes", "events": "event_changes"}


class Tables:
    """The tables in a directory of a pipeline: `tables.timeline`, `tables.changes`, `tables.open`, `tables.rejected`;
    of derived events `tables.events` and `tables.event_changes`, of other kinds of program `tables.answers`. Each is
    read anew when asked for. docs/tables.md says what the columns mean."""

    def __init__(self, spark: SparkSession, directory: Directory, kind: str, text: str) -> None:
        self.spark = spark
        self.directory = directory
        self.kind = Kind(kind)
        self._text = text

    @property
    def names(self) -> list[str]:
        """The tables that there are, be they empty."""
        found = [name for name in self.directory.names() if not name.startswith(("_", "."))]
        return list(dict.fromkeys([*TABLES[self.kind], *found]))

    def __getattr__(self, name: str) -> DataFrame:
        if name.startswith("_") or name not in self.names:
            raise AttributeError(f"there is no table {name}{did_you_mean(name, self.names)}")
        return self[name]

    def __getitem__(self, name: str) -> DataFrame:
        if self.kind is Kind.EVENTS and name in FOLDED:
            changes = self[FOLDED[name]]
            return fold_intervals(changes) if name == "timeline" else fold_events(changes)
        if self.directory.names(name):
            return self.spark.read.parquet(self.directory.url(name)).drop("batch")
        return empty(self.spark, self._schema(name))

    def _schema(self, name: str) -> pa.Schema:
        known = TABLES[self.kind].get(name)
        if known is None:
            raise KeyError(name)
        return known


def read(spark: SparkSession, out: str) -> Tables:
    """The tables that a pipeline has written to a directory."""
    directory = Directory(str(out))
    if not directory.exists("_tables.json"):
        raise InputError("out", f"{out} holds no tables of a pipeline")
    told = directory.read_json("_tables.json")
    return Tables(spark, directory, told["kind"], told["program"])


def tables_of(spark: SparkSession, directory: Directory, settings: Settings) -> Tables:
    directory.write_json({"kind": settings.kind, "program": settings.text}, "_tables.json")
    return Tables(spark, directory, settings.kind, settings.text)


# --------------------------------------------------------------------------- folding


def fold_intervals(changes: DataFrame) -> DataFrame:
    """`timeline(fluent, value, start, end)` of `changes`: at any moment a pair has at most one interval that starts
    at a point, so what is inserted and deleted there cancels out or leaves one."""
    from pyspark.sql import functions as F

    sign = F.when(F.col("op") == "insert", 1).otherwise(-1)
    is_open = F.col("end").isNull()
    folded = changes.groupBy("fluent", "value", "start").agg(
        F.sum(sign).alias("net"),
        F.sum(F.when(is_open, sign).otherwise(0)).alias("running"),
        F.sum(F.when(is_open, 0).otherwise(sign * F.col("end"))).alias("end"),
    )
    left = folded.where("net > 0")
    return left.select("fluent", "value", "start", F.when(F.col("running") == 0, F.col("end")).alias("end"))


def fold_events(changes: DataFrame) -> DataFrame:
    """`events(event, time)` of `event_changes`."""
    from pyspark.sql import functions as F

    sign = F.when(F.col("op") == "insert", 1).otherwise(-1)
    net = changes.groupBy("event", "time").agg(F.sum(sign).alias("net"))
    return net.where("net > 0").select("event", "time")


def program_of(tables: Tables) -> object:
    """The program whose tables these are."""
    return parsed(tables._text)
