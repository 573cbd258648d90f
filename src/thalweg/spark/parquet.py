"""Parquet files that the shards read themselves: every shard reads all of them and keeps its own rows, or they share
the work where they run on one machine (`exchange`).

Where a batch is columns of Parquet files and nothing else, rows need not go through Java one by one, nor through a
shuffle. Decoding a column costs little, so this pays as long as the shards are not many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from thalweg.columns.wording import worded
from thalweg.protocol import Ints, Mask
from thalweg.spark.exchange import Exchange
from thalweg.spark.keying import Route, key_hashes, strides
from thalweg.spark.parcel import with_own_words
from thalweg.spark.routing import ROW, key_names, names_elsewhere, routes_of
from thalweg.spark.settings import Settings

MOST_SHARDS = 8
"""Of more shards, each would mostly read rows of others."""
READ_ROWS = 1024 * 1024
"""Rows that are read together, before a shard picks its own."""
FEW_WORDS = 1024
"""A column with so many different texts at most is left as it is, though some of them stand in rows of others."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A row group: its file and its number there, how many rows of the batch stand before it, and the earliest arrival
    in it and in all pieces that are read after it."""

    file: str
    group: int
    before: int
    size: int
    earliest: int | None


@dataclass(frozen=True, slots=True)
class Files:
    """The row groups of a batch, by arrival, and under which names its columns stand in the files. `row` is the column
    with row numbers; without one, rows are numbered as they stand in the files. `worded` are the columns of texts that
    are read as words and numbers for them. `exchange` is a directory in which shards hand rows to one another."""

    pieces: tuple[Piece, ...]
    columns: Mapping[str, str]
    row: str | None
    worded: tuple[str, ...] = ()
    exchange: str | None = None

    @property
    def size(self) -> int:
        return sum(piece.size for piece in self.pieces)


def own_rows(
    files: Files, settings: Settings, stage: int, shard: int
) -> Iterator[tuple[pa.Table, int | None]]:
    """The rows of a shard; with each table the arrival up to which there are no further ones (None: not known)."""
    how = _exchanged if files.exchange is not None and settings.stages[stage].shards > 1 else _picked
    taken = how(files, settings, stage, shard)
    for pieces in _portions(files.pieces):
        last = pieces.stop == len(files.pieces)
        following = None if last else files.pieces[pieces.stop].earliest
        yield taken(pieces), None if following is None else following - 1


def _portions(pieces: Sequence[Piece]) -> Iterator[range]:
    """The places of row groups that are read together."""
    first, size = 0, 0
    for place, piece in enumerate(pieces, start=1):
        size += piece.size
        if size >= READ_ROWS or place == len(pieces):
            yield range(first, place)
            first, size = place, 0


def _picked(files: Files, settings: Settings, stage: int, shard: int) -> Callable[[range], pa.Table]:
    """Reads row groups and picks the rows of a shard."""
    reader = _Pieces(files)

    def taken(pieces: range) -> pa.Table:
        table = pa.concat_tables([reader.read(files.pieces[place]) for place in pieces]).unify_dictionaries()
        if not _reads_all(settings, stage):
            table = _own(table, Belonging(table, settings, stage), shard)
        return _in_words(table)

    return taken


def _exchanged(files: Files, settings: Settings, stage: int, shard: int) -> Callable[[range], pa.Table]:
    """Gets row groups from other shards, or reads them and hands them over."""
    reader, shards = _Pieces(files), settings.stages[stage].shards
    assert files.exchange is not None

    def divide(place: int) -> dict[int, pa.Table]:
        table = reader.read(files.pieces[place])
        places = Belonging(table, settings, stage)
        return {number: _own(table, places, number) for number in range(shards)}

    def read(place: int) -> pa.Table:
        table = reader.read(files.pieces[place])
        return _own(table, Belonging(table, settings, stage), shard)

    exchange = Exchange(files.exchange, stage, shard, divide=divide, read=read)

    def taken(pieces: range) -> pa.Table:
        following = range(pieces.stop, min(pieces.stop + shards, len(files.pieces)))
        return _in_words(pa.concat_tables(exchange.rows(pieces, following)).unify_dictionaries())

    return taken


def _own(table: pa.Table, places: Belonging, shard: int) -> pa.Table:
    """The rows of a shard. Of columns in one piece, places are taken in half the time that a mask takes."""
    mask = places.of(shard)
    whole = all(column.num_chunks == 1 for column in table.columns)
    return table.take(pa.array(np.flatnonzero(mask))) if whole else table.filter(pa.array(mask))


def _in_words(table: pa.Table) -> pa.Table:
    """The same table with texts as words and numbers for them; columns know no words but those that stand in them."""
    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            table = table.set_column(at, field.name, worded(table.column(at).combine_chunks().cast(pa.string())))
        elif pa.types.is_dictionary(field.type):
            column = table.column(at).combine_chunks()
            if len(column.dictionary) > FEW_WORDS:
                table = table.set_column(at, field, with_own_words(column))
    return table


class _Pieces:
    """Reads row groups; a file stays open as long as they are of it."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._name = ""
        self._open: pq.ParquetFile | None = None

    def read(self, piece: Piece) -> pa.Table:
        files = self.files
        if self._open is None or self._name != piece.file:
            store, path = fs.FileSystem.from_uri(piece.file)
            self._open = pq.ParquetFile(path, filesystem=store, read_dictionary=list(files.worded))
            self._name = piece.file
        wanted = [*files.columns.values(), *([files.row] if files.row is not None else [])]
        found = self._open.read_row_group(piece.group, columns=list(dict.fromkeys(wanted)), use_threads=False)
        numbers = (
            found.column(files.row).cast(pa.int64())
            if files.row is not None
            else pa.array(np.arange(piece.before + 1, piece.before + 1 + piece.size))
        )
        columns = {name: found.column(place) for name, place in files.columns.items()}
        return pa.table({**columns, ROW: numbers})


# --------------------------------------------------------------------------- which rows are a shard's own


def belonging(table: pa.Table, settings: Settings, stage: int, shard: int) -> Mask | None:
    """True for the rows that a shard of a stage reads; None: it reads all of them. The same rows as those that
    `routing` brings to it."""
    return None if _reads_all(settings, stage) else Belonging(table, settings, stage).of(shard)


def _reads_all(settings: Settings, stage: int) -> bool:
    return len(settings.stages) == 1 and settings.stages[stage].shards == 1


Keys = tuple[tuple[tuple[str, int], ...], ...]
"""Ways to a shard: each says which columns are which parts of the key."""
_FIRST: Keys | None = ()
"""Rows for the first shard."""
_ELSEWHERE: Keys | None = None
"""Rows that the stage does not read."""


class Belonging:
    """Tells which rows of a table the shards of a stage read."""

    def __init__(self, table: pa.Table, settings: Settings, stage: int) -> None:
        self.table, self.settings, self.stage = table, settings, stage
        self.grid = settings.stages[stage].grid
        self.routes = routes_of(settings, stage)
        self.elsewhere = names_elsewhere(settings, stage)
        self._places: dict[tuple[str, int], Ints] = {}
        self._of_row: Ints | None = None
        """For each row the number of its ways among `_ways`; None: all rows have the same."""
        self._ways = self._find_ways()

    def _find_ways(self) -> list[Keys | None]:
        column = self.settings.header.name
        if column is None:
            assert self.settings.event is not None
            return [self._keys_of(self.settings.event)]
        names = self.table.column(column).combine_chunks()
        if not pa.types.is_dictionary(names.type):
            names = names.dictionary_encode()
        words: list[str | None] = [*names.dictionary.to_pylist(), None]
        kinds = [self._keys_of(word) for word in words]
        distinct = list(dict.fromkeys(kinds))
        if len(distinct) > 1:
            codes = names.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)
            self._of_row = np.array([distinct.index(kind) for kind in kinds], np.int64)[codes]
        return distinct

    def _keys_of(self, name: str | None) -> Keys | None:
        """The ways of the rows of a name."""
        if name is None or name not in self.routes:
            return _ELSEWHERE if self.stage or name in self.elsewhere else _FIRST
        found: list[tuple[tuple[str, int], ...]] = []
        for route in self.routes[name]:
            columns = key_names(self.settings, name, route)
            if columns is None:
                return _FIRST
            found.append(_parts(columns, route))
        return tuple(found)

    def of(self, shard: int) -> Mask:
        """True for the rows that a shard reads."""
        if self._of_row is None:
            return self._agreeing(self._ways[0], shard)
        found = np.zeros(self.table.num_rows, np.bool_)
        for number, keys in enumerate(self._ways):
            found |= (self._of_row == number) & self._agreeing(keys, shard)
        return found

    def _agreeing(self, keys: Keys | None, shard: int) -> Mask:
        size = self.table.num_rows
        if not keys:
            return np.full(size, keys is not None and shard == 0)
        at = [shard // step % side for side, step in zip(self.grid, strides(self.grid), strict=True)]
        found = np.zeros(size, np.bool_)
        for way in keys:
            agree = np.ones(size, np.bool_)
            for column, part in way:
                agree &= self._place(column, part) == at[part]
            found |= agree
        return found

    def _place(self, column: str, part: int) -> Ints:
        """Where the constants of a column lie along a part of the key."""
        if (column, part) not in self._places:
            values = self.table.column(column).combine_chunks()
            if pa.types.is_string(values.type):
                self._places[column, part] = (key_hashes(values) % self.grid[part]).astype(np.int32)
                return self._places[column, part]
            if not pa.types.is_dictionary(values.type):
                values = values.dictionary_encode()
            nothing = key_hashes(pa.nulls(1, values.dictionary.type))
            places: Ints = np.concatenate([key_hashes(values.dictionary), nothing]) % self.grid[part]
            codes = values.indices.fill_null(len(places) - 1).to_numpy(zero_copy_only=False)
            self._places[column, part] = places.astype(np.int32)[codes]
        return self._places[column, part]


def _parts(columns: tuple[str, ...], route: Route) -> tuple[tuple[str, int], ...]:
    return tuple(zip(columns, route.parts, strict=True))
