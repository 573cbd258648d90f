"""A table that several shards have written, gathered query time by query time, so that it need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from thalweg.io.fold import concatenate
from thalweg.spark.files import Directory

ENOUGH = 256 * 1024
"""Rows that are looked through together."""


@dataclass(frozen=True, slots=True)
class _Group:
    """A row group of a file, and the earliest time in it, where the file tells."""

    file: tuple[str, ...]
    footer: pq.FileMetaData
    number: int
    earliest: int | None

    def read(self, place: Directory) -> pa.Table:
        with place.parquet(*self.file, footer=self.footer) as file:
            return file.read_row_group(self.number)


def by_time(place: Directory, name: str, column: str) -> Iterator[pa.Table]:
    """The rows of a table, all of those in a piece at earlier times than those in the next. `column` has the times; a
    shard's rows follow each other by them, though not row by row. Memory follows the number of shards: what is held
    are row groups that others overlap, and rows without a time, which come last."""
    groups = sorted(_groups(place, name, column), key=lambda g: (g.earliest is not None, g.earliest or 0))
    held: list[pa.Table] = []
    size, limit = 0, ENOUGH
    for group, following in zip_longest(groups, groups[1:]):
        held.append(group.read(place))
        size += held[-1].num_rows
        if following is None or following.earliest is None or size < limit:
            continue
        rows = concatenate(held)
        over = pc.fill_null(pc.less(rows.column(column), following.earliest), False)
        held = [rows.filter(pc.invert(over))]
        size = held[0].num_rows
        limit = max(ENOUGH, 2 * size)
        if size < rows.num_rows:
            yield rows.filter(over)
    if held:
        yield concatenate(held)


def as_written(place: Directory, name: str) -> Iterator[pa.Table]:
    """The rows of a table, row group by row group."""
    for file in place.parts(name):
        with place.parquet(*file) as found:
            for number in range(found.num_row_groups):
                yield found.read_row_group(number)


def _groups(place: Directory, name: str, column: str) -> Iterator[_Group]:
    for file in place.parts(name):
        with place.parquet(*file) as found:
            footer = found.metadata
        at = [footer.schema.column(leaf).path for leaf in range(footer.num_columns)].index(column)
        for number in range(footer.num_row_groups):
            told = footer.row_group(number).column(at).statistics
            yield _Group(file, footer, number, told.min if told is not None and told.has_min_max else None)
