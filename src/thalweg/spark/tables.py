"""The tables of a pipeline as DataFrames, and the fold of changes to timelines in Spark."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from thalweg.io.errors import InputError, did_you_mean
from thalweg.language.rules import Kind
from thalweg.spark.files import Directory
from thalweg.spark.outputs import ABOUT, empty, present
from thalweg.spark.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

class Tables:
    """The tables in a directory of a pipeline: `tables.timeline`, `tables.changes`, `tables.open`, `tables.rejected`;
    of derived events `tables.events` and `tables.event_changes`, of other kinds of program `tables.answers`. Each is
    read anew when asked for. docs/tables.md says what the columns mean."""

    def __init__(
        self, spark: SparkSession, directory: Directory, kind: str, schemas: Mapping[str, pa.Schema]
    ) -> None:
        self.spark = spark
        self.directory = directory
        self.kind = Kind(kind)
        self._schemas = schemas

    @property
    def names(self) -> list[str]:
        """The tables that there are, be they empty."""
        return list(dict.fromkeys([*self._schemas, *present(self.directory)]))

    def __getattr__(self, name: str) -> DataFrame:
        if name.startswith("_") or name not in self.names:
            raise AttributeError(f"there is no table {name}{did_you_mean(name, self.names)}")
        return self[name]

    def __getitem__(self, name: str) -> DataFrame:
        if self.kind in FOLDS and name in FOLDS[self.kind]:
            changes, fold = FOLDS[self.kind][name]
            return fold(self[changes])
        if self.directory.names(name):
            reader = self.spark.read.option("mergeSchema", self.kind is Kind.ANSWERS)  # queries may have been changed
            return reader.parquet(self.directory.readable(name)).drop("batch")
        if name not in self._schemas:
            raise KeyError(name)
        return empty(self.spark, self._schemas[name])


def read(spark: SparkSession, out: str) -> Tables:
    """The tables that a pipeline has written to a directory."""
    directory = Directory(str(out))
    if not directory.exists(ABOUT):
        raise InputError("out", f"{out} holds no tables of a pipeline")
    told = directory.read_json(ABOUT)
    schemas = {n: pa.ipc.read_schema(pa.py_buffer(b64decode(s))) for n, s in told["schemas"].items()}
    return Tables(spark, directory, told["kind"], schemas)


def refuse_hidden(spark: SparkSession, settings: Settings) -> None:
    """Refuse a program whose tables Spark could not read: it does not tell upper from lower case, and answers have a
    column for each variable beside those that all have."""
    if spark.conf.get("spark.sql.caseSensitive") == "true":
        return
    for schema in settings.schemas().values():
        seen = {"batch": "batch"}
        for name in schema.names:
            other = seen.setdefault(name.lower(), name)
            if other != name:
                variable, column = (name, other) if name[:1].isupper() else (other, name)
                raise InputError(
                    "query",
                    f"the variable {variable} would be a column beside `{column}`, and Spark does not tell them apart",
                    "give it another name, or set spark.sql.caseSensitive to true",
                )


def refuse_sinks(sinks: Mapping[str, object], settings: Settings) -> None:
    """Refuse sinks that would never be called, or cannot be."""
    if not isinstance(sinks, Mapping):
        raise InputError("sinks", f"sinks is {type(sinks).__name__}, and no mapping from tables to functions")
    known = settings.schemas()
    folds = FOLDS.get(Kind(settings.kind), {})
    for name, sink in sinks.items():
        if name in folds:
            source = folds[name][0]
            raise InputError("sinks", f"{name} is the fold of {source}, and is not written", f"take {source}")
        if name not in known:
            raise InputError("sinks", f"there is no table {name}{did_you_mean(name, known)}")
        if not callable(sink):
            told = f"the sink of {name} is {type(sink).__name__}, and no function of (DataFrame, batch)"
            raise InputError("sinks", told, "thalweg.spark.sinks has some: files, jdbc")


def tables_of(spark: SparkSession, directory: Directory, settings: Settings, *, stream: bool) -> Tables:
    """The tables of a pipeline; the directory says what lies in it."""
    schemas = settings.schemas()
    told = {name: b64encode(schema.serialize().to_pybytes()).decode() for name, schema in schemas.items()}
    directory.write_json({"kind": settings.kind, "schemas": told, "stream": stream}, ABOUT)
    return Tables(spark, directory, settings.kind, schemas)


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


def fold_atoms(changes: DataFrame) -> DataFrame:
    """`answers(atom, at, from, to)` of the changes of a LARS program: an insertion adds the ticks from `from` through
    `to`, a deletion takes them away; so an atom is in between a step up and the next step, which is down."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    sign = F.when(F.col("op") == "insert", 1).otherwise(-1)
    ends = F.struct((F.col("to") + 1).alias("tick"), (-sign).alias("step"))
    steps = F.array(F.struct(F.col("from").alias("tick"), sign.alias("step")), ends)
    turns = changes.select("atom", "at", F.explode(steps).alias("turn")).select("atom", "at", "turn.*")
    net = turns.where("tick is not null").groupBy("atom", "at", "tick").agg(F.sum("step").alias("net"))
    net = net.where("net != 0")
    following = F.lead("tick").over(Window.partitionBy("atom", "at").orderBy("tick")) - 1
    return (
        net.withColumn("to", following)
        .where("net > 0")
        .select("atom", "at", F.col("tick").alias("from"), "to")
    )


FOLDS: dict[Kind, dict[str, tuple[str, Callable[[DataFrame], DataFrame]]]] = {
    Kind.EVENTS: {"timeline": ("changes", fold_intervals), "events": ("event_changes", fold_events)},
    Kind.LARS: {"answers": ("changes", fold_atoms)},
}
"""Tables that are not stored but folded from changes."""
