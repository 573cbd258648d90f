"""DataFrames of any shape as rows of events: columns renamed, JSON taken apart, RTEC-style lines split.

Each function gives the columns of docs/input.md. `together` puts several such DataFrames into one stream. The columns
of a change data feed (`_change_type`) go through as they are: deletions and the old side of updates retract.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.delimited import clean, split
from thalweg.io.errors import InputError
from thalweg.io.rtec import without_signs
from thalweg.io.shapes import Layout, Shapes, shapes
from thalweg.io.times import as_mask
from thalweg.language.program import Program
from thalweg.plans import as_program
from thalweg.protocol import Ints
from thalweg.spark.given import column_of, existing, refuse_foreign

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

    refuse_foreign(df)
    if (event is None) == (name is None):
        raise InputError("name", "give either the event that all rows are, or the column with their names")
    if (time is None) == (start is None):
        raise InputError("time", "give either the column with times, or the one with starts of intervals")
    if op is None:
        op = _change_type(df)

    def column(given: str | Column) -> Column:
        return existing(df, given) if isinstance(given, str) else given

    chosen: dict[str, str | Column | None] = {
        "name": F.lit(event) if event is not None else name,
        "time": time,
        "arrival": arrival,
        "start": start,
        "end": end,
        "value": value,
        "op": op,
        **{f"arg{i}": argument for i, argument in enumerate(arguments, start=1)},
    }
    made = {name.lower() for name, given in chosen.items() if given is not None}
    for other in keep:
        if other.lower() in made:
            told = f"the column `{other}` is kept, and is the name of what `from_columns` makes"
            raise InputError("keep", told, "rename it before")
    chosen |= dict(zip(keep, keep, strict=True))
    return df.select(*(column(c).alias(n) for n, c in chosen.items() if c is not None))


def from_json(df: DataFrame, schema: str, *, column: str = "value") -> DataFrame:
    """The objects in a column of JSON text (as Kafka gives it, binary or text) as columns. `schema` has their types:
    ``"name string, time bigint, vessel string, speed double"``. Text that is no such object gives a row of nothing,
    which is rejected."""
    from pyspark.sql import functions as F

    refuse_foreign(df)
    parsed = F.from_json(existing(df, column).cast("string"), schema)
    return df.select(parsed.alias("_parsed")).select("_parsed.*")


def from_rtec(
    df: DataFrame, program: Program | str | Path, *, column: str = "value", separator: str = "|"
) -> DataFrame:
    """RTEC-style lines, ``velocity|1445079365|1445079365|227574020|0.0121``, as columns. `df` has one line per row, as
    `spark.read.text` gives it, or several. Which fields are times, values and arguments depends on what the program
    says of a name; quotes and blanks mean what they mean in files."""
    refuse_foreign(df)
    known = shapes(as_program(program))
    lines = df.select(existing(df, column).cast("binary").alias("line"))
    fields = RtecFields(
        separator,
        tuple(_of(known, Layout.INTERVAL)),
        tuple(_of(known, Layout.POINT)),
        max((shape.arity for shape in known), default=0) + 1,
    )
    return lines.mapInArrow(fields.read, ", ".join(f"{name} string" for name in fields.columns))


@dataclass(frozen=True, slots=True)
class RtecFields:
    """Takes RTEC-style lines apart, in the workers, as an embedded run does. `most` is how many arguments are looked
    at: one more than any name has."""

    separator: str
    intervals: tuple[str, ...]
    points: tuple[str, ...]
    most: int

    @property
    def columns(self) -> tuple[str, ...]:
        ends = ("end",) if self.intervals else ()
        values = ("value",) if self.intervals or self.points else ()
        return ("name", "arrival", "time", *ends, *values, "op", *(f"arg{i + 1}" for i in range(self.most)))

    def read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            texts = [text for text in batch.column(0).to_pylist() if text is not None]
            if texts:
                yield self._taken_apart(b"\n".join(texts) + b"\n")

    def _taken_apart(self, block: bytes) -> pa.RecordBatch:
        lines = split(clean(block), self.separator)
        said = np.flatnonzero(~lines.blank())
        unsigned, signed = without_signs(lines)
        op = pa.repeat(pa.scalar("+"), len(said))
        if signed is not None:
            op = pc.if_else(pa.array(signed[said]), lines.field(said, 0), op)

        def field(place: Ints) -> pa.Array:
            there = place < unsigned.count[said]
            return unsigned.values.take(pa.array(unsigned.first[said] + place, mask=~there))

        name = field(np.zeros(len(said), np.int64))
        interval, point = (as_mask(pc.is_in(name, pa.array(n, pa.string()))) for n in (self.intervals, self.points))
        first = 3 + 2 * interval + point
        nothing = 2**40
        found = {
            "name": name,
            "arrival": field(np.full(len(said), 1)),
            "time": field(np.full(len(said), 2)),
            "end": field(np.where(interval, 3, nothing)),
            "value": field(np.where(interval | point, first - 1, nothing)),
            "op": op,
            **{f"arg{i + 1}": field(first + i) for i in range(self.most)},
        }
        return pa.record_batch([found[column] for column in self.columns], names=list(self.columns))


def _of(known: Shapes, layout: Layout) -> list[str]:
    return sorted({shape.name for shape in known if shape.layout is layout})


def together(*frames: DataFrame) -> DataFrame:
    """Several DataFrames of events as one. Columns of one name that have different types become text. Where only some
    say when their rows arrive, the rows of the others arrive when they happen; `_change_type` is `op`."""
    if not frames:
        raise InputError("input", "there is no DataFrame to put together")
    for frame in frames:
        refuse_foreign(frame)
    frames = _with_arrivals([_with_op(frame) for frame in frames])
    types: dict[str, set[str]] = {}
    for frame in frames:
        for field in frame.schema.fields:
            types.setdefault(field.name.lower(), set()).add(field.dataType.simpleString())

    def alike(frame: DataFrame) -> DataFrame:
        return frame.select(
            *(
                column_of(n).cast("string").alias(n) if len(types[n.lower()]) > 1 else column_of(n)
                for n in frame.columns
            )
        )

    return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), map(alike, frames))


def _change_type(frame: DataFrame) -> str | None:
    """The column of a change data feed, as it is written; None where there is none."""
    return next((name for name in frame.columns if name.lower() == CHANGE_TYPE), None)


def _with_op(frame: DataFrame) -> DataFrame:
    told = _change_type(frame)
    if told is None or "op" in map(str.lower, frame.columns):
        return frame
    return frame.withColumnRenamed(told, "op")


def _with_arrivals(frames: Sequence[DataFrame]) -> tuple[DataFrame, ...]:
    """Where some say when their rows arrive, all do."""
    plain = [{name.lower(): name for name in frame.columns} for frame in frames]
    if not any("arrival" in names for names in plain):
        return tuple(frames)
    found = []
    for frame, names in zip(frames, plain, strict=True):
        when = names.get("time") or names.get("start")
        arrives = "arrival" in names or when is None
        found.append(frame if arrives else frame.withColumn("arrival", column_of(str(when))))
    return tuple(found)
