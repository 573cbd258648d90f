"""The columns of a DataFrame that somebody brings: which of them can hold events, and how Spark is told their names.

Spark takes dots, stars and backticks in a name for signs of its own, and may not tell upper from lower case.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from thalweg.io.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    from thalweg.spark.settings import Settings


def quoted(name: str) -> str:
    """A name as Spark takes it literally.

    >>> quoted("a.b"), quoted("`")
    ('`a.b`', '````')
    """
    return f"`{name.replace('`', '``')}`"


def column_of(name: str) -> Column:
    """The column of that name, whatever its letters."""
    from pyspark.sql import functions as F

    return F.col(quoted(name))


def plain(column: Column, kind: DataType) -> Column:
    """A column whose values mean the same wherever they are written down: timestamps as text in UTC, whatever the time
    zone of the session, and stretches of time in microseconds. Others are as they are."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DayTimeIntervalType, TimestampNTZType, TimestampType

    digits = "yyyy-MM-dd HH:mm:ss.SSSSSS"
    match kind:
        case TimestampType():
            there = F.timestamp_add("MICROSECOND", F.unix_micros(column), epoch())
            return F.concat(F.date_format(there, digits), F.lit("Z"))
        case TimestampNTZType():
            return F.date_format(column, digits)
        case DayTimeIntervalType():
            return F.timestamp_diff("MICROSECOND", epoch(), epoch() + column)
    return column


def epoch() -> Column:
    """The start of 1970, in whatever time zone."""
    from pyspark.sql import functions as F

    return F.lit("1970-01-01").cast("timestamp_ntz")


def existing(df: DataFrame, name: str) -> Column:
    """The same, where the DataFrame has it."""
    if not any(_same(name, other) for other in df.columns):
        near = did_you_mean(name, df.columns)
        raise InputError("columns", f"there is no column `{name}`{near}", f"its columns are {', '.join(df.columns)}")
    return column_of(name)


def _same(one: str, other: str) -> bool:
    return one == other or one.lower() == other.lower()


def given_columns(df: DataFrame, row: str | None) -> list[str]:
    """The columns that can hold times, constants or numbers: not lists, structures or maps, nothing that Arrow does not
    know, and not `row`, the one with row numbers."""
    from pyspark.sql.types import (
        ArrayType,
        CalendarIntervalType,
        IntegralType,
        MapType,
        StructType,
        VariantType,
        YearMonthIntervalType,
    )

    if row is not None:
        if not isinstance(row, str):
            raise InputError("row", f"row is {row!r}, and no name of a column")
        if row not in df.columns:
            existing(df, row)
            raise InputError("row", f"there is no column `{row}`, but for upper and lower case")
        if not isinstance(df.schema[row].dataType, IntegralType):
            kind = df.schema[row].dataType.simpleString()
            raise InputError("row", f"the column `{row}` is to number the rows, and holds no whole numbers but {kind}")
    others = (ArrayType, CalendarIntervalType, MapType, StructType, VariantType, YearMonthIntervalType)
    return [field.name for field in df.schema if field.name != row and not isinstance(field.dataType, others)]


def told_apart(df: DataFrame, settings: Settings, row: str | None) -> None:
    """Refuse columns that Spark cannot tell apart, where they are read."""
    if df.sparkSession.conf.get("spark.sql.caseSensitive") == "true":
        return
    read = [*settings.header.needed(settings.shapes), *([row] if row is not None else [])]
    _refuse_alike(df.columns, read)


def _refuse_alike(columns: Iterable[str], read: Iterable[str]) -> None:
    for name in read:
        alike = [other for other in columns if other.lower() == name.lower()]
        if len(alike) > 1:
            raise InputError(
                "columns",
                f"the columns {' and '.join(alike)} differ only in case, which Spark does not tell apart",
                "rename or drop one of them",
            )


def refuse_foreign(df: object) -> None:
    """Refuse what is no DataFrame of Spark."""
    if not hasattr(df, "sparkSession"):
        raise InputError(
            "input",
            f"this is no DataFrame of Spark but {type(df).__name__}",
            "use thalweg.run, or make one with spark.createDataFrame",
        )
