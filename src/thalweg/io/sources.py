"""Sources: files and tables, read chunk by chunk, each surveyed first.

The survey is one cheap pass over the arrival times alone. It says, for each chunk, the earliest arrival in
it; so a run knows at any moment which query times can still get rows, and rows need not be sorted by arrival.
Memory follows the disorder: of a sorted source one chunk at a time is held.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from thalweg.columns.pieces import whole
from thalweg.io import rtec
from thalweg.io.decoding import as_text
from thalweg.io.delimited import Lines, blocks, none_if_empty, split
from thalweg.io.errors import InputError, did_you_mean
from thalweg.io.jsonl import JsonLines
from thalweg.io.keyed import Keys, any_fits, columns_by_key, rows_by_column, special_keys
from thalweg.io.rejects import Rejects
from thalweg.io.shapes import Shapes
from thalweg.io.tabular import Header, Table, keyed_header, read_table, rows_as_text, survey_columns
from thalweg.io.times import Clock, Extent
from thalweg.language.wording import counted
from thalweg.protocol import Ints, Rows
from thalweg.reasons import MALFORMED, WRONG_ARITY

CHUNK_ROWS = 512 * 1024
FEWEST_ROWS = 64 * 1024


def chunk_rows(rows: int) -> int:
    """In how many rows at a time to read a file with so many. Of files that cover the same time one with few rows is
    read in small chunks, or a chunk of it would last for many windows of the others."""
    return min(CHUNK_ROWS, max(FEWEST_ROWS, rows // 32))


@dataclass(frozen=True, slots=True)
class Reading:
    """What every source needs to know: the rows that are expected, and how long a time-point lasts."""

    shapes: Shapes
    clock: Clock


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows of a source; `size` counts all of them, the rejected ones too."""

    rows: tuple[Rows, ...]
    rejected: pa.Table
    size: int


@dataclass(frozen=True, slots=True)
class Survey:
    """The extent of each chunk."""

    chunks: tuple[Extent, ...]

    @property
    def size(self) -> int:
        return sum(chunk.size for chunk in self.chunks)


class Source(Protocol):
    """Something to read rows from, more than once. The rows of two passes are the same, in the same
    chunks."""

    @property
    def label(self) -> str:
        """What messages and the rejected table call it."""

    def survey(self) -> Survey:
        """One cheap pass over the arrival times."""

    def chunks(self, offset: int) -> Iterator[Chunk]:
        """The rows, numbered from `offset` on: row 1 of the source gets the number ``offset + 1``."""


@dataclass(frozen=True, slots=True)
class RtecFile:
    """RTEC-style CSV."""

    path: Path
    label: str
    separator: str
    reading: Reading

    def survey(self) -> Survey:
        clock = self.reading.clock
        return Survey(tuple(rtec.survey_block(block, self.separator, clock) for block in blocks(self.path)))

    def chunks(self, offset: int) -> Iterator[Chunk]:
        line = 1
        for block in blocks(self.path):
            rejected, size = Rejects(self.label), block.count(b"\n")
            shapes, clock = self.reading.shapes, self.reading.clock
            rows = rtec.read_block(
                block, self.separator, shapes, clock, line=line, offset=offset, rejected=rejected
            )
            yield Chunk(tuple(rows), rejected.table(), size)
            line += size


@dataclass(frozen=True, slots=True)
class HeadedFile:
    """CSV or TSV with a header line."""

    path: Path
    label: str
    separator: str
    header: Header
    event: str | None
    reading: Reading

    def survey(self) -> Survey:
        places = {name: self.header.columns.index(name) for name in self.header.when}
        last = max(places.values())
        found = []
        for first, block in self._blocks():
            lines = split(block, self.separator)
            where = np.flatnonzero(lines.count > last)
            where = where[where >= first]
            columns = {name: lines.field(where, place) for name, place in places.items()}
            found.append(survey_columns(columns, self.header, len(lines) - first, self.reading.clock))
        return Survey(tuple(found))

    def chunks(self, offset: int) -> Iterator[Chunk]:
        line = 1
        for first, block in self._blocks():
            lines = split(block, self.separator)
            rejected = Rejects(self.label)
            where = np.arange(first, len(lines))
            where = where[~lines.blank()[where]]
            full = lines.count[where] == len(self.header.columns)
            short = where[~full]
            detail = (
                f"the header has {counted(len(self.header.columns), 'field')}, the row has another number"
            )
            rejected.add(short + line, WRONG_ARITY, detail, lines.text(short))
            where = where[full]
            columns = {
                name: none_if_empty(lines.field(where, place))
                for place, name in enumerate(self.header.columns)
                if name in self.header.needed(self.reading.shapes)
            }
            table = Table(columns, where + line, partial(_texts, lines, where))
            yield _chunk(table, self.header, self.event, self.reading, offset, rejected, len(lines) - first)
            line += len(lines)

    def _blocks(self) -> Iterator[tuple[int, bytes]]:
        """The blocks, each with the number of lines to leave out at its start: the header."""
        first = 1
        for block in blocks(self.path):
            yield first, block
            first = 0


def _texts(lines: Lines, where: Ints, bad: Ints) -> pa.Array:
    return lines.text(where[bad])


def _chunk(
    table: Table,
    header: Header,
    event: str | None,
    reading: Reading,
    offset: int,
    rejected: Rejects,
    size: int,
) -> Chunk:
    rows = read_table(table, header, event, reading.shapes, reading.clock, offset=offset, rejected=rejected)
    return Chunk(tuple(rows), rejected.table(), size)


@dataclass(frozen=True, slots=True)
class JsonLinesFile:
    """One JSON object per line."""

    path: Path
    label: str
    event: str | None
    reading: Reading

    def survey(self) -> Survey:
        reader = JsonLines(self.label, self.reading.shapes)
        found = []
        for block in blocks(self.path):
            table = reader.read(block, 1, Rejects(self.label))
            found.append(survey_columns(table.columns, reader.header, block.count(b"\n"), self.reading.clock))
        return Survey(tuple(found))

    def chunks(self, offset: int) -> Iterator[Chunk]:
        reader = JsonLines(self.label, self.reading.shapes)
        line = 1
        for block in blocks(self.path):
            rejected, size = Rejects(self.label), block.count(b"\n")
            table = reader.read(block, line, rejected)
            yield _chunk(table, reader.header, self.event, self.reading, offset, rejected, size)
            line += size


@dataclass(frozen=True, slots=True)
class Told:
    """Some dictionaries of Python as a table, and those that are none of its rows: which, why, and as text."""

    table: Table
    size: int
    wrong: Ints
    complaints: pa.Array
    texts: pa.Array


def told_rows(rows: Sequence[Mapping[Any, Any]], shapes: Shapes) -> tuple[Told, ...]:
    """Dictionaries of Python in pieces."""
    starts = range(0, len(rows), CHUNK_ROWS)
    return tuple(_told(rows[start : start + CHUNK_ROWS], start + 1, special_keys(shapes)) for start in starts)


def _told(rows: Sequence[Mapping[Any, Any]], number: int, special: Sequence[str]) -> Told:
    """Dictionaries, the first of which is row `number` of its source."""
    found = rows_by_column(rows, special)
    bad = [place for place, row in enumerate(found) if isinstance(row, str)]
    said, keys = columns_by_key([row for row in found if not isinstance(row, str)])
    said = {name: as_text(column) for name, column in said.items()}
    numbers = np.delete(np.arange(number, number + len(rows)), bad)
    columns = {name: pa.nulls(len(numbers)) for name in special} | said
    return Told(
        Table(columns, numbers, lambda where: rows_as_text(said, where), keys=keys),
        len(rows),
        np.array(bad, np.int64) + number,
        pa.array([found[place] for place in bad], pa.string()),
        pa.array([" ".join(f"{k}={v}" for k, v in rows[place].items()) for place in bad], pa.string()),
    )


@dataclass(frozen=True, slots=True)
class RowsSource:
    """Dictionaries of Python."""

    pieces: tuple[Told, ...]
    label: str
    event: str | None
    reading: Reading

    def survey(self) -> Survey:
        header, clock = keyed_header(self.reading.shapes), self.reading.clock
        return Survey(tuple(survey_columns(told.table.columns, header, told.size, clock) for told in self.pieces))

    def chunks(self, offset: int) -> Iterator[Chunk]:
        header = keyed_header(self.reading.shapes)
        for told in self.pieces:
            rejected = Rejects(self.label)
            rejected.add(told.wrong, MALFORMED, told.complaints, told.texts)
            yield _chunk(told.table, header, self.event, self.reading, offset, rejected, told.size)


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """A Parquet file. Only the columns that are needed are read."""

    path: Path
    label: str
    header: Header
    event: str | None
    reading: Reading

    def survey(self) -> Survey:
        return _survey(self._pieces(self.header.when), self.header, self.reading)

    def chunks(self, offset: int) -> Iterator[Chunk]:
        pieces = self._pieces(self.header.needed(self.reading.shapes))
        return _table_chunks(pieces, self.label, self.header, self.event, self.reading, offset)

    def _pieces(self, columns: tuple[str, ...]) -> Iterator[pa.Table]:
        """The columns in pieces that are cut at the same rows whichever columns are asked for."""
        schema = pq.read_schema(self.path)
        texts = [name for name in columns if pa.types.is_string(schema.field(name).type)]
        with pq.ParquetFile(self.path, read_dictionary=texts) as file:
            held: list[pa.RecordBatch] = []
            room = most = chunk_rows(file.metadata.num_rows)
            for batch in file.iter_batches(most, columns=list(columns)):
                while batch.num_rows:
                    held.append(batch.slice(0, room))
                    room -= held[-1].num_rows
                    batch = batch.slice(held[-1].num_rows)
                    if room == 0:
                        yield pa.Table.from_batches(held)
                        held, room = [], most
            if held:
                yield pa.Table.from_batches(held)


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table in memory, or mapped into it."""

    table: pa.Table
    label: str
    header: Header
    event: str | None
    reading: Reading

    def survey(self) -> Survey:
        return _survey(self._pieces(), self.header, self.reading)

    def chunks(self, offset: int) -> Iterator[Chunk]:
        return _table_chunks(self._pieces(), self.label, self.header, self.event, self.reading, offset)

    def _pieces(self) -> Iterator[pa.Table]:
        for start in range(0, self.table.num_rows, CHUNK_ROWS):
            yield self.table.slice(start, CHUNK_ROWS)


def _survey(pieces: Iterator[pa.Table], header: Header, reading: Reading) -> Survey:
    """The extents of the pieces of a typed table."""
    return Survey(
        tuple(
            survey_columns(
                {name: as_text(whole(piece.column(name))) for name in header.when},
                header,
                piece.num_rows,
                reading.clock,
            )
            for piece in pieces
        )
    )


def _table_chunks(
    pieces: Iterator[pa.Table], label: str, header: Header, event: str | None, reading: Reading, offset: int
) -> Iterator[Chunk]:
    """The rows of the pieces of a typed table."""
    row = 1
    needed = header.needed(reading.shapes)
    for piece in pieces:
        columns = {name: as_text(whole(piece.column(name))) for name in needed}
        rejected = Rejects(label)
        yield _chunk(as_table(columns, row), header, event, reading, offset, rejected, piece.num_rows)
        row += piece.num_rows


def as_table(columns: dict[str, pa.Array], row: int) -> Table:
    """A piece of a typed table whose first row is number `row` of its source."""
    size = len(next(iter(columns.values())))
    return Table(columns, np.arange(row, row + size), lambda where: rows_as_text(columns, where))


def _own_name(candidates: list[str], label: str) -> str:
    """How the name is called that a table without a `name` column has, where that is not the one it is shown by."""
    return "its own name" if len(candidates) != 1 or label == candidates[0] else f"its key `{candidates[0]}`"


def event_of(
    candidates: list[str], header: Header, shapes: Shapes, label: str, keys: Keys | None = None
) -> str | None:
    """The name of all rows of a table without a `name` column: the first candidate that the program reads. `keys`:
    those of the first rows, where they say by themselves which columns they have; then it is that of single rows
    without a name, too."""
    if header.name is not None:
        return None if keys is None else next((name for name in candidates if name in shapes), None)
    for candidate in candidates:
        if candidate in shapes:
            arities = shapes.by_name[candidate]
            fits = len(header.free) in arities or any(
                header.arguments(shape) is not None for shape in arities.values()
            )
            if keys is not None:
                fits = any_fits(keys, candidate, shapes)
            if fits:
                return candidate
            found = ", ".join(header.free) or "none"
            raise InputError(
                "columns",
                f"the columns of {label} do not fit: {shapes.wrong_arity(candidate)}, it has {found}",
                "name them arg1, arg2, ..., or declare the arguments: event "
                f"{candidate}(vessel: symbol, speed: float).",
            )
    known = ", ".join(sorted(shapes.by_name)) or "none"
    first = min(shapes.by_name, default=None)
    example = f"; add the column, or give a table for each: {first}.csv, or {{'{first}': table}}" if first else ""
    meant = next((found for name in candidates if (found := did_you_mean(name, shapes.by_name))), "")
    raise InputError(
        "columns",
        f"{label} has no column `name`, and {_own_name(candidates, label)} is none that the program reads{meant}",
        f"the program reads {known}{example}",
    )
