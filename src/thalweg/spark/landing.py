"""Rows that have to be computed, put down in Parquet files first: the shards read these like any others.

Writing files and reading them costs Spark less than a shuffle and the way through Java to Python, and what is computed
is computed once: the first look at the batch, and every job on it, sees the same rows.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from thalweg.spark.failures import told_plainly
from thalweg.spark.files import Directory, UnseenFile
from thalweg.spark.footers import Footers, are_simple, footers_of, may_tell
from thalweg.spark.given import column_of, epoch
from thalweg.spark.orders import LANDING
from thalweg.spark.routing import ROW
from thalweg.spark.settings import Settings
from thalweg.spark.survey import micros_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GROUP_BYTES = 16 * 1024 * 1024
"""Size of row groups: a shard holds one, or those that overlap in time."""
FILES_PER_CORE = 4
"""Partitions of rows are put together until there are so many files: Spark has a task for each, every shard a look."""
_FORMAT = {
    "compression": "lz4_raw",
    "parquet.block.size": str(GROUP_BYTES),
    "mapreduce.fileoutputcommitter.algorithm.version": "2",  # at once: what a failed job leaves is not read
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}

Stamps = Mapping[str, pa.DataType]
"""The columns of timestamps, and what Arrow makes of them. They are put down as microseconds, whose least and greatest
values the footers tell."""


@dataclass(frozen=True, slots=True)
class Landing:
    """Where the rows of a run land: in the directory of the tables, which driver and workers see, and apart from those
    of a run that had these tables before, or has them by now."""

    directory: Directory
    place: tuple[str, str]

    @classmethod
    def beside(cls, tables: Directory) -> Landing | None:
        """None where the tables lie in a remote store, to which a batch is not worth sending."""
        return None if "://" in tables.address else cls(tables, (LANDING, uuid.uuid4().hex))

    def land(self, rows: DataFrame, settings: Settings) -> Landed | None:
        """Put down numbered rows; what lay there goes. None where the shards cannot read them from files, or get them
        through a shuffle as soon."""
        stamps = _stamps(rows, settings)
        stored = _stored(rows, stamps)
        if not may_tell(stored, settings) or not are_simple(stored, stored.columns, settings):
            return None
        most = FILES_PER_CORE * rows.sparkSession.sparkContext.defaultParallelism
        with told_plainly():
            stored.coalesce(most).write.options(**_FORMAT).mode("overwrite").parquet(self.directory.url(*self.place))
        files = self._files()
        names = {name: name for name in rows.columns}
        return Landed(self, stored, stamps, footers_of(files, stored, names, settings, ROW, stamps))

    def _files(self) -> list[str]:
        """What was written. Of no rows there is a file too."""
        found = [name for name in self.directory.names(*self.place) if name.endswith(".parquet")]
        if not found:
            raise UnseenFile("a batch", self.directory.address)
        return ["/".join((self.directory.address, *self.place, name)) for name in found]

    def clear(self) -> None:
        """The batch is done, or will come again."""
        self.directory.delete(*self.place)
        if not self.directory.names(LANDING):
            self.directory.delete(LANDING)


@dataclass(frozen=True, slots=True)
class Landed:
    """Rows in files, and what the footers of these tell."""

    landing: Landing
    stored: DataFrame
    stamps: Stamps
    footers: Footers | None

    def rows(self) -> DataFrame:
        """The rows as they were, from the files."""
        from pyspark.sql import functions as F

        reader = self.stored.sparkSession.read.schema(self.stored.schema)
        landed = reader.parquet(self.landing.directory.readable(*self.landing.place))
        for name, kind in self.stamps.items():
            zoned, plain = F.timestamp_micros(column_of(name)), F.timestamp_add("MICROSECOND", column_of(name), epoch())
            landed = landed.withColumn(name, plain if kind.tz is None else zoned)
        return landed


def _stamps(rows: DataFrame, settings: Settings) -> Stamps:
    from pyspark.sql.types import TimestampNTZType, TimestampType

    found: dict[str, pa.DataType] = {}
    for name in settings.header.when:
        match rows.schema[name].dataType:
            case TimestampType():
                found[name] = pa.timestamp("us", rows.sparkSession.conf.get("spark.sql.session.timeZone"))
            case TimestampNTZType():
                found[name] = pa.timestamp("us")
    return found


def _stored(rows: DataFrame, stamps: Stamps) -> DataFrame:
    """The rows as they are put down."""
    if not stamps:
        return rows
    micros = {name: micros_column(column_of(name), rows.schema[name].dataType) for name in stamps}
    return rows.select(*(micros[n].alias(n) if n in stamps else column_of(n) for n in rows.columns))  # type: ignore[union-attr]
