"""Parquet files that the shards read themselves: every shard reads all of them and keeps its own rows.

Where a batch is columns of Parquet files and nothing else, rows need not go through Java one by one, nor through a
shuffle. Decoding a column costs little, so this pays as long as the shards are not many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from thalweg.protocol import Ints, Mask
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
    with row numbers; without one, rows are numbered as they stand in the files."""

    pieces: tuple[Piece, ...]
    columns: Mapping[str, str]
    row: str | None


def own_rows(
    files: Files, settings: Settings, stage: int, shard: int
) -> Iterator[tuple[pa.Table, int | None]]:
    """The rows of a shard; with each table the arrival up to which there are no further ones (None: not known)."""
    reader = _Pieces(files)
    held: list[pa.Table] = []
    size = 0
    for place, piece in enumerate(files.pieces, start=1):
        held.append(reader.read(piece))
        size += piece.size
        last = place == len(files.pieces)
        if size >= READ_ROWS or last:
            table = pa.concat_tables(held).unify_dictionaries()
            mask = belonging(table, settings, stage, shard)
            following = None if last else files.pieces[place].earliest
            own = table if mask is None else _own_words(table.filter(pa.array(mask)))
            yield own, None if following is None else following - 1
            held, size = [], 0


def _own_words(table: pa.Table) -> pa.Table:
    """The same table; columns know no words but those that stand in them."""
    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
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
            schema = pq.read_schema(path, filesystem=store)
            texts = [name for name in files.columns.values() if _is_text(schema.field(name).type)]
            self._name, self._open = piece.file, pq.ParquetFile(path, filesystem=store, read_dictionary=texts)
        wanted = [*files.columns.values(), *([files.row] if files.row is not None else [])]
        found = self._open.read_row_group(piece.group, columns=list(dict.fromkeys(wanted)), use_threads=False)
        numbers = (
            found.column(files.row).cast(pa.int64())
            if files.row is not None
            else pa.array(np.arange(piece.before + 1, piece.before + 1 + piece.size))
        )
        columns = {name: found.column(place) for name, place in files.columns.items()}
        return pa.table({**columns, ROW: numbers})


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


# --------------------------------------------------------------------------- which rows are a shard's own


def belonging(table: pa.Table, settings: Settings, stage: int, shard: int) -> Mask | None:
    """True for the rows that a shard of a stage reads; None: it reads all of them. The same rows as those that
    `routing` brings to it."""
    plan = settings.stages[stage]
    if len(settings.stages) == 1 and plan.shards == 1:
        return None
    places = _Places(table, settings, stage, shard)
    column = settings.header.name
    if column is None:
        assert settings.event is not None
        return places.agreeing(places.keys_of(settings.event))
    names = table.column(column).combine_chunks()
    if not pa.types.is_dictionary(names.type):
        names = names.dictionary_encode()
    words: list[str | None] = [*names.dictionary.to_pylist(), None]
    codes = names.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)
    kinds = [places.keys_of(word) for word in words]
    distinct = list(dict.fromkeys(kinds))
    if len(distinct) == 1:
        return places.agreeing(distinct[0])
    of_row = np.array([distinct.index(kind) for kind in kinds], np.int64)[codes]
    found = np.zeros(len(codes), np.bool_)
    for number, kind in enumerate(distinct):
        found |= (of_row == number) & places.agreeing(kind)
    return found


Keys = tuple[tuple[tuple[str, int], ...], ...]
"""Ways to a shard: each says which columns are which parts of the key."""
_FIRST: Keys | None = ()
"""Rows for the first shard."""
_ELSEWHERE: Keys | None = None
"""Rows that the stage does not read."""


class _Places:
    """Compares where rows lie with where a shard lies."""

    def __init__(self, table: pa.Table, settings: Settings, stage: int, shard: int) -> None:
        self.table, self.settings, self.stage, self.shard = table, settings, stage, shard
        self.grid = settings.stages[stage].grid
        self.routes = routes_of(settings, stage)
        self.elsewhere = names_elsewhere(settings, stage)
        self._at = [shard // step % side for side, step in zip(self.grid, strides(self.grid), strict=True)]
        self._known: dict[tuple[str, int], Mask] = {}

    def keys_of(self, name: str | None) -> Keys | None:
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

    def agreeing(self, keys: Keys | None) -> Mask:
        size = self.table.num_rows
        if not keys:
            return np.full(size, keys is not None and self.shard == 0)
        found = np.zeros(size, np.bool_)
        for way in keys:
            agree = np.ones(size, np.bool_)
            for column, part in way:
                agree &= self._here(column, part)
            found |= agree
        return found

    def _here(self, column: str, part: int) -> Mask:
        """True for the rows whose constant in a column lies where the shard does, along a part of the key."""
        if (column, part) not in self._known:
            values = self.table.column(column).combine_chunks()
            if not pa.types.is_dictionary(values.type):
                values = values.dictionary_encode()
            nothing = key_hashes(pa.nulls(1, values.dictionary.type))
            places: Ints = np.concatenate([key_hashes(values.dictionary), nothing]) % self.grid[part]
            codes = values.indices.fill_null(len(places) - 1).to_numpy(zero_copy_only=False)
            self._known[column, part] = (places == self._at[part])[codes]
        return self._known[column, part]


def _parts(columns: tuple[str, ...], route: Route) -> tuple[tuple[str, int], ...]:
    return tuple(zip(columns, route.parts, strict=True))
