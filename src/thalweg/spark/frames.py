"""DataFrames of any shape as rows of events: columns renamed, JSON taken apart, RTEC-style lines split.

Each function gives the columns of docs/input.md. `together` puts several such DataFrames into one stream. The columns
of a change data feed (`_change_type`) go through as they are: deletions and the old side of updates retract.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.delimited import Lines, clean, split
from thalweg.io.errors import InputError
from thalweg.io.rejects import Rejects
from thalweg.io.rtec import ARGUMENTS_AT, by_shape, read_lines, without_signs
from thalweg.io.shapes import Layout, Shapes, shapes
from thalweg.io.tabular import REFUSED
from thalweg.io.times import Clock, Mask, read_times
from thalweg.language.program import Program
from thalweg.plans import as_program, clock_of
from thalweg.protocol import Ints
from thalweg.spark.given import column_of, existing, plain, refuse_foreign

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
    _refuse_kept(keep, made, "from_columns")
    chosen |= dict(zip(keep, keep, strict=True))
    return df.select(*(column(c).alias(n) for n, c in chosen.items() if c is not None))


def _refuse_kept(keep: Sequence[str], made: Iterable[str], maker: str) -> None:
    """Refuse to keep a column beside one of the same name."""
    for other in keep:
        if other.lower() in made:
            told = f"the column `{other}` is kept, and is the name of what `{maker}` makes"
            raise InputError("keep", told, "rename it before")


def from_json(df: DataFrame, schema: str, *, column: str = "value") -> DataFrame:
    """The objects in a column of JSON text (as Kafka gives it, binary or text) as columns. `schema` has their types:
    ``"name string, time bigint, vessel string, speed double"``. Text that is no such object gives a row of nothing,
    which is rejected."""
    from pyspark.sql import functions as F

    refuse_foreign(df)
    parsed = F.from_json(existing(df, column).cast("string"), schema)
    return df.select(parsed.alias("_parsed")).select("_parsed.*")


def from_rtec(
    df: DataFrame,
    program: Program | str | Path,
    *,
    column: str = "value",
    separator: str = "|",
    keep: Sequence[str] = (),
) -> DataFrame:
    """RTEC-style lines, ``velocity|1445079365|1445079365|227574020|0.0121``, as columns. `df` has one line per row, as
    `spark.read.text` gives it, or several. Which fields are times, values and arguments depends on what the program
    that is to be run says of a name; lines mean what they mean in files, and are rejected as they are there. `keep`
    are further columns to keep, such as one with row numbers."""
    from pyspark.sql.types import StringType, StructField, StructType

    refuse_foreign(df)
    if len(separator.encode()) != 1 or separator in "\n\"'":
        raise InputError("separator", f"{separator!r} does not separate fields", "give one character, such as | or ;")
    program = as_program(program)
    fields = RtecFields(separator, shapes(program), clock_of(program, None), tuple(keep))
    _refuse_kept(keep, fields.columns, "from_rtec")
    lines = df.select(existing(df, column).cast("binary"), *(existing(df, name) for name in keep))
    made = [StructField(name, StringType()) for name in fields.columns]
    kept = [StructField(name, field.dataType) for name, field in zip(keep, lines.schema.fields[1:], strict=True)]
    places = lines.toDF(*map(str, range(len(lines.columns))))  # Spark takes some names for something else
    return places.mapInArrow(fields.read, StructType([*made, *kept]))


@dataclass(frozen=True, slots=True)
class RtecFields:
    """Takes RTEC-style lines apart, in the workers, as an embedded run does. A line that such a run rejects becomes a
    row that says why, with the earlier of its times: also this one counts for where a stream starts."""

    separator: str
    shapes: Shapes
    clock: Clock
    keep: tuple[str, ...] = ()

    @property
    def most(self) -> int:
        """How many arguments a name has at most."""
        return max((shape.arity for shape in self.shapes), default=0) or 1

    @property
    def columns(self) -> tuple[str, ...]:
        layouts = {shape.layout for shape in self.shapes}
        ends = ("end",) if Layout.INTERVAL in layouts else ()
        values = ("value",) if layouts - {Layout.EVENT} else ()
        arguments = (f"arg{i + 1}" for i in range(self.most))
        return ("name", "arrival", "time", *ends, *values, "op", *arguments, *REFUSED)

    def read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The columns of lines, which stand as bytes in the first column, and beside them the columns to keep."""
        for batch in batches:
            batch = batch.filter(batch.column(0).is_valid())
            lines = split(clean(_block(batch.column(0))), self.separator)
            said = np.flatnonzero(~lines.blank())
            columns = self._taken_apart(lines, said)
            if self.keep:
                sizes = pc.count_substring(batch.column(0), "\n").to_numpy() + 1
                place = pa.array(np.repeat(np.arange(len(sizes)), sizes)[said])
                columns += [column.take(place) for column in batch.columns[1:]]
            yield pa.record_batch(columns, names=[*self.columns, *self.keep])

    def _taken_apart(self, lines: Lines, said: Ints) -> list[pa.Array]:
        refused = self._refused(lines)
        bad = np.zeros(len(lines), np.bool_)
        bad[refused.column("row").to_numpy()] = True
        bad, good = bad[said], ~bad[said]
        unsigned, signed = without_signs(lines)
        first = np.full(len(lines), ARGUMENTS_AT[Layout.EVENT])
        for shape, where in by_shape(unsigned, self.shapes)[0]:
            first[where] = ARGUMENTS_AT[shape.layout]
        first = first[said]
        interval, point = (first == ARGUMENTS_AT[layout] for layout in (Layout.INTERVAL, Layout.POINT))
        begin, count = unsigned.first[said], unsigned.count[said]

        def field(place: Ints | int, there: Mask) -> pa.Array:
            return unsigned.values.take(pa.array(begin + place, mask=~(there & (place < count))))

        marks = None if signed is None else pc.if_else(pa.array(signed[said]), lines.field(said, 0), "+")
        found = {
            "name": field(0, good),
            "arrival": field(1, good),
            "time": field(2, good),
            "end": field(3, good & interval),
            "value": field(first - 1, good & (interval | point)),
            "op": pa.repeat("+", len(said)) if marks is None else marks,
            **{f"arg{i + 1}": field(first + i, good) for i in range(self.most)},
        }
        if bad.any():
            timed = bad & (count >= ARGUMENTS_AT[Layout.EVENT])
            found["time"] = pc.coalesce(found["time"], self._earlier(field(1, timed), field(2, timed)))
        which = pa.array(np.cumsum(bad) - 1, mask=good)
        told = (refused.column(name).combine_chunks().take(which) for name in ("reason", "detail", "text"))
        found |= dict(zip(REFUSED, told, strict=True))
        return [found[column] for column in self.columns]

    def _refused(self, lines: Lines) -> pa.Table:
        """The lines that an embedded run would reject, in order."""
        rejects = Rejects("")
        read_lines(lines, self.shapes, self.clock, line=0, offset=0, rejected=rejects)
        return rejects.table()

    def _earlier(self, arrival: pa.Array, time: pa.Array) -> pa.Array:
        """The earlier of two times, as far as they can be read."""
        one, other = (read_times(column, self.clock) for column in (arrival, time))
        unread, unread_too = (times.missing | times.unreadable | times.overflow for times in (one, other))
        return pc.if_else(pa.array(~unread & (unread_too | (one.values < other.values))), arrival, time)


def _block(texts: pa.Array) -> bytes:
    """Texts of one or several lines in one piece. A text of several lines may be a whole file, which may begin with a
    byte order mark."""
    found: list[bytes] = texts.to_pylist()
    block = b"\n".join(found) + b"\n" if found else b""
    if codecs.BOM_UTF8 not in block:
        return block
    return b"\n".join(text.removeprefix(codecs.BOM_UTF8) if b"\n" in text else text for text in found) + b"\n"


def together(*frames: DataFrame) -> DataFrame:
    """Several DataFrames of events as one. Columns of one name that have different types become text. Where only some
    say when their rows arrive, the rows of the others arrive when they happen; `_change_type` is `op`."""
    if not frames:
        raise InputError("input", "there is no DataFrame to put together")
    for frame in frames:
        refuse_foreign(frame)
    frames = tuple(map(_with_op, frames))
    types: dict[str, set[str]] = {}
    for frame in frames:
        for field in frame.schema.fields:
            types.setdefault(field.name.lower(), set()).add(field.dataType.simpleString())

    def alike(frame: DataFrame) -> DataFrame:
        return frame.select(
            *(
                plain(column_of(field.name), field.dataType).cast("string").alias(field.name)
                if len(types[field.name.lower()]) > 1
                else column_of(field.name)
                for field in frame.schema
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
