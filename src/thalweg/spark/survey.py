"""A first look at a batch: how many rows, the first of all times, the last arrival.

Where times are integers, timestamps or dates, Spark aggregates them itself and reads no other column. Times in text
are read by the same code that reads the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from thalweg.io.tabular import Header
from thalweg.io.times import Clock, read_times
from thalweg.spark.given import column_of, epoch
from thalweg.spark.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_FIRST, _ARRIVAL = "first", "arrival"


@dataclass(frozen=True, slots=True)
class Survey:
    """What a batch holds. `latest` is the last arrival that counts: with a limit on how far the clock may jump,
    the last one that can be reached from the clock without a larger gap."""

    rows: int
    first: int | None
    latest: int | None


def survey(df: DataFrame, settings: Settings, clock: int | None) -> Survey:
    """Look at a batch; `clock` is the last arrival before it."""
    from pyspark.sql import functions as F

    points = _points(df, settings)
    ahead = settings.max_ahead
    groups = points.groupBy(*([] if ahead is None else [_divided(F.col(_ARRIVAL), ahead).alias("bucket")]))
    start = settings.known_start if ahead is not None else None
    counts = F.col(_ARRIVAL) if start is None else F.when(F.col(_ARRIVAL) > start, F.col(_ARRIVAL))
    found = groups.agg(
        F.count(F.lit(1)).alias("rows"),
        F.min(_FIRST).alias("first"),
        F.min(counts).alias("low"),
        F.max(counts).alias("high"),
    ).collect()
    firsts = [row["first"] for row in found if row["first"] is not None]
    spans = sorted((row["low"], row["high"]) for row in found if row["low"] is not None)
    rows = sum(row["rows"] for row in found)
    return Survey(rows, min(firsts, default=None), reachable(spans, clock, ahead))


def reachable(spans: Iterable[tuple[int, int]], clock: int | None, ahead: int | None) -> int | None:
    """The last arrival that no gap larger than `ahead` separates from the clock.

    >>> reachable([(1, 4), (6, 9), (100, 100)], 3, 10)
    9
    """
    last: int | None = None
    for low, high in spans:
        before = clock if last is None else max(last, clock if clock is not None else last)
        if ahead is not None and before is not None and low - before > ahead:
            break
        last = high if last is None else max(last, high)
    return last


def _points(df: DataFrame, settings: Settings) -> DataFrame:
    """The first time and the arrival of each row, as time-points."""

    header = settings.header
    times = [name for name in (header.time, header.start) if name is not None]
    columns = list(dict.fromkeys(header.when))
    clock = settings.plan.clock
    known = {name: point_column(column_of(name), df.schema[name].dataType, clock) for name in columns}
    if any(column is None for column in known.values()):
        read = _reader(columns, times, header.arrival, clock)
        places = [column_of(name).alias(str(place)) for place, name in enumerate(columns)]
        return df.select(*places).mapInArrow(read, f"{_FIRST} bigint, {_ARRIVAL} bigint")
    every = [known[name] for name in columns]
    arrival = _or_times(known[header.arrival] if header.arrival else None, _largest([known[n] for n in times]), header)
    return df.select(_smallest(every).alias(_FIRST), arrival.alias(_ARRIVAL))


def _or_times(arrival: Column | None, times: Column, header: Header) -> Column:
    """The arrival of each row; that of one that says none is one of its times."""
    from pyspark.sql import functions as F

    if header.arrival is None:
        return times
    return F.when(column_of(header.arrival).isNull(), times).otherwise(arrival)


def earliest_arrival(df: DataFrame, settings: Settings) -> Column:
    """The time-point before which a row does not arrive; nothing where it cannot be read or Spark cannot tell."""
    from pyspark.sql import functions as F

    header = settings.header
    clock = settings.plan.clock
    known = {name: _told(column_of(name), df.schema[name].dataType, clock) for name in header.when}
    times = [name for name in (header.time, header.start) if name is not None]
    untold = [column_of(name).isNotNull() & known[name].isNull() for name in times]
    first = F.when(~reduce(or_, untold), _smallest([known[name] for name in times]))
    return _or_times(known[header.arrival] if header.arrival else None, first, header)


def _told(column: Column, kind: DataType, clock: Clock) -> Column:
    """Time-points of a column, those that Spark can tell."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    if isinstance(kind, StringType):
        return F.when(column.rlike("^[+-]?[0-9]{1,18}$"), column.try_cast("bigint"))
    found = point_column(column, kind, clock)
    return F.lit(None).cast("bigint") if found is None else found


def _largest(columns: list[Column | None]) -> Column:
    from pyspark.sql import functions as F

    return F.greatest(*columns) if len(columns) > 1 else columns[0]  # type: ignore[arg-type,return-value]


def _smallest(columns: list[Column | None]) -> Column:
    from pyspark.sql import functions as F

    return F.least(*columns) if len(columns) > 1 else columns[0]  # type: ignore[arg-type,return-value]


def point_column(column: Column, kind: DataType, clock: Clock) -> Column | None:
    """Time-points of a column; None where Spark cannot tell them."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import IntegralType

    if isinstance(kind, IntegralType):
        point = column.cast("bigint")
    else:
        micros = micros_column(column, kind)
        if micros is None:
            return None
        point = _divided(micros, clock.micros)
    return F.when(point.between(-clock.farthest, clock.farthest), point)  # what is beyond the bounds is no time


def micros_column(column: Column, kind: DataType) -> Column | None:
    """Microseconds since 1970 of timestamps and dates; None for other types."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DateType, TimestampNTZType, TimestampType

    match kind:
        case TimestampType():
            return F.unix_micros(column)
        case TimestampNTZType():
            return F.timestamp_diff("MICROSECOND", epoch(), column)
        case DateType():
            return F.unix_date(column).cast("bigint") * 86_400_000_000
    return None


def _divided(column: Column, by: int) -> Column:
    """Whole numbers divided and rounded down; `/` would make floats of them."""
    from pyspark.sql import functions as F

    return F.call_function("div", column - F.pmod(column, F.lit(by)), F.lit(by))


def _reader(columns: list[str], times: list[str], arrival: str | None, clock: Clock):  # type: ignore[no-untyped-def]
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            known = {name: _readable(batch.column(i), clock) for i, name in enumerate(columns)}
            every = np.ma.stack(list(known.values()))
            arrived = latest = np.ma.stack([known[name] for name in times]).max(axis=0)
            if arrival is not None:
                missing = read_times(batch.column(columns.index(arrival)), clock).missing
                arrived = known[arrival].copy()
                arrived[missing] = latest[missing]
            first = every.min(axis=0)
            yield pa.record_batch([_masked(first), _masked(arrived)], names=[_FIRST, _ARRIVAL])

    return read


def _readable(column: pa.Array, clock: Clock) -> np.ma.MaskedArray:
    times = read_times(column, clock)
    return np.ma.masked_array(times.values, times.missing | times.unreadable | times.overflow)


def _masked(values: np.ma.MaskedArray) -> pa.Array:
    return pa.array(np.ma.getdata(values), pa.int64(), mask=np.ma.getmaskarray(values))
