"""DataFrames of any shape as rows of events: columns renamed, JSON taken apart, RTEC-style lines split.

Each function gives the columns of docs/input.md. `together` puts several such DataFrames into one stream. The columns
of a change data feed (`_change_type`) go through as they are: deletions and the old side of updates retract.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.io.errors import InputError
from thalweg.io.shapes import Layout, Shapes, shapes
from thalweg.language.program import Program
from thalweg.plans import as_program

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CHANGE_TYPE = "_change_type"


def from_columns(
    df: DataFrame,
    *,
    arguments: Sequence[str | Column],
    time: str | Column | None = None,
    event: str | None = None,
    name: str | Column | None = None,
    arrival: str | Column | None = None,
    start: str | Column | None = None,
    end: str | Column | None = None,
    value: str | Column | None = None,
    op: str | Column | None = None,
    keep: Sequence[str] = (),
) -> DataFrame:
    """Events from the columns of a DataFrame, each given by its name or as an expression.

    `event` is the name of all rows, or `name` the column that has it. `time` is when they happen, or `start` (and
    `end`, and `value`) for intervals. `arguments` become ``arg1, arg2, ...``. A column `_change_type` is taken for
    `op`. `keep` are further columns to keep, such as one with row numbers.

    >>> from_columns(ais, event="velocity", time="BaseDateTime", arguments=["MMSI", "SOG"])  # doctest: +SKIP
    """
    from pyspark.sql import functions as F

    if (event is None) == (name is None):
        raise InputError("name", "give either the event that all rows are, or the column with their names")
    if (time is None) == (start is None):
        raise InputError("time", "give either the column with times, or the one with starts of intervals")
    if op is None and CHANGE_TYPE in df.columns:
        op = CHANGE_TYPE
    chosen: dict[str, str | Column | None] = {
        "name": F.lit(event) if event is not None else name,
        "time": time,
        "arrival": arrival,
        "start": start,
        "end": end,
        "value": value,
        "op": op,
        **{f"arg{i}": argument for i, argument in enumerate(arguments, start=1)},
        **dict(zip(keep, keep, strict=True)),
    }
    return df.select(*(_column(c).alias(n) for n, c in chosen.items() if c is not None))


def _column(given: str | Column) -> Column:
    from pyspark.sql import functions as F

    return F.col(f"`{given}`") if isinstance(given, str) else given


def from_json(df: DataFrame, schema: str, *, column: str = "value") -> DataFrame:
    """The objects in a column of JSON text (as Kafka gives it, binary or text) as columns. `schema` has their types:
    ``"name string, time bigint, vessel string, speed double"``. Text that is no such object gives a row without a time,
    which is rejected as that."""
    from pyspark.sql import functions as F

    parsed = F.from_json(F.col(f"`{column}`").cast("string"), schema)
    return df.select(parsed.alias("_parsed")).select("_parsed.*")


def from_rtec(
    df: DataFrame, program: Program | str | Path, *, column: str = "value", separator: str = "|"
) -> DataFrame:
    """RTEC-style lines, ``velocity|1445079365|1445079365|227574020|0.0121``, as columns. `df` has one line per row, as
    `spark.read.text` gives it. Which fields are times, values and arguments depends on what the program says of a
    name."""
    from pyspark.sql import functions as F

    known = shapes(as_program(program))
    fields = F.split(F.col(f"`{column}`"), f"\\Q{separator}\\E", -1)
    signed = F.trim(fields[0]).isin("+", "-")
    plain = F.when(signed, F.slice(fields, 2, F.size(fields))).otherwise(fields)
    rows = df.select(F.when(signed, F.trim(fields[0])).otherwise("+").alias("op"), plain.alias("_f"))

    def field(place: int) -> Column:
        return F.trim(F.get(F.col("_f"), F.lit(place)))

    name = field(0)
    intervals, points = (_of(known, layout) for layout in (Layout.INTERVAL, Layout.POINT))
    most = max((shape.arity for shape in known), default=0)
    arguments = [
        F.when(name.isin(intervals), field(5 + i))
        .when(name.isin(points), field(4 + i))
        .otherwise(field(3 + i))
        for i in range(most + 1)
    ]
    columns = {
        "name": name,
        "arrival": field(1),
        "time": field(2),
        "end": F.when(name.isin(intervals), field(3)) if intervals else None,
        "value": F.when(name.isin(intervals), field(4)).when(name.isin(points), field(3))
        if intervals or points
        else None,
        "op": F.col("op"),
        **{f"arg{i}": argument for i, argument in enumerate(arguments, start=1)},
    }
    return rows.select(*(c.alias(n) for n, c in columns.items() if c is not None))


def _of(known: Shapes, layout: Layout) -> list[str]:
    return sorted({shape.name for shape in known if shape.layout is layout})


def together(*frames: DataFrame) -> DataFrame:
    """Several DataFrames of events as one. Columns of one name that have different types become text. Where only some
    say when their rows arrive, the rows of the others arrive when they happen."""
    from pyspark.sql import functions as F

    types: dict[str, set[str]] = {}
    for frame in frames:
        for field in frame.schema.fields:
            types.setdefault(field.name, set()).add(field.dataType.simpleString())

    def alike(frame: DataFrame) -> DataFrame:
        if "arrival" in types and "arrival" not in frame.columns:
            frame = frame.withColumn("arrival", F.col("time" if "time" in frame.columns else "start"))
        return frame.select(
            *(
                F.col(f"`{n}`").cast("string").alias(n) if len(types[n]) > 1 else F.col(f"`{n}`")
                for n in frame.columns
            )
        )

    return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), map(alike, frames))
