"""Time-points as dates: in tables, and where they are read by people.

Results count in time-points. Where a program says how long one lasts (`tick 1m.`) and the stream lies in our days,
they can be written as dates, in UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.errors import InputError
from thalweg.io.times import Clock

DATED = 10**8
"""Time-points of a declared length are read as dates from this many seconds after 1970 on."""
COLUMNS = frozenset("query_time start end time due since at time_known as_of decided_by from to until".split())
"""The columns of result tables that are time-points."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE, _SECOND = 60_000_000, 1_000_000


def is_dated(seconds: float | None, first: int | None) -> bool:
    """True when time-points of that length, the first of them here, are dates to people."""
    return seconds is not None and first is not None and first * seconds >= DATED


def written(point: int, clock: Clock) -> str:
    """A time-point as a date, as exactly as the clock goes.

    >>> written(29540640, Clock(60_000_000))
    '2026-03-02T08:00Z'
    """
    try:
        moment = _EPOCH + timedelta(microseconds=point * clock.micros)
    except OverflowError:
        return str(point)
    exactness = "minutes" if clock.micros % _MINUTE == 0 else "seconds" if clock.micros % _SECOND == 0 else "auto"
    return moment.isoformat(timespec=exactness).replace("+00:00", "Z")


def dated(table: pa.Table, clock: Clock) -> pa.Table:
    """The table with its time-points as timestamps."""
    for i, name in enumerate(table.column_names):
        column = table.column(i)
        if name in COLUMNS and pa.types.is_int64(column.type):
            try:
                micros = pc.multiply_checked(column, clock.micros)
            except pa.ArrowInvalid:
                message = f"a time in the column {name} is no date that a timestamp can hold"
                raise InputError("dates", message, "take the table with its time-points") from None
            table = table.set_column(i, name, micros.cast(pa.timestamp("us", "UTC")))
    return table


def dated_text(table: pa.Table, clock: Clock) -> pa.Table:
    """The table with its time-points as text."""
    for i, name in enumerate(table.column_names):
        column = table.column(i)
        if name in COLUMNS and pa.types.is_int64(column.type):
            texts = [None if point is None else written(point, clock) for point in column.to_pylist()]
            table = table.set_column(i, name, pa.array(texts, pa.string()))
    return table
