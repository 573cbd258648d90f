"""Parquet files that the shards read themselves: every shard reads all of them and looks at its own rows.

Where a batch is columns of Parquet files and nothing else, rows need not go through Java one by one, nor through a
shuffle. Decoding a column costs little, so this pays as long as the shards are not many.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from thalweg.columns.compiled import kernel
from thalweg.columns.pieces import whole
from thalweg.columns.texts import Indices
from thalweg.columns.wording import word_numbers, worded
from thalweg.io.decoding import as_text
from thalweg.protocol import Ints, Mask
from thalweg.spark.keying import Route, key_hashes, strides
from thalweg.spark.parcel import with_own_words
from thalweg.spark.routing import ROW, key_names, names_elsewhere, routes_of
from thalweg.spark.settings import Settings

MOST_SHARDS = 8
"""Of more shards, each would mostly read rows of others."""
READ_ROWS = 256 * 1024
"""Row groups are read together, before a shard picks its own, as long as they have fewer rows than that: putting large
ones together costs more than it saves, and memory."""
WORTH_A_GO = 400_000
"""A shard waits for so many rows of its own before it goes on to the next query times: each go costs the same."""
FEW_WORDS = 1024
"""A column with so many different texts at most is left as it is, though some of them stand in rows of others."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A row group: its file and its number there, how many rows of the batch stand before it, the earliest arrival in
    it and in all pieces that are read after it, and the latest in it."""

    file: str
    group: int
    before: int
    size: int
    earliest: int | None
    latest: int | None


@dataclass(frozen=True, slots=True)
class Files:
    """The row groups of a batch, by arrival, and under which names its columns stand in the files. `row` is the column
    with row numbers; without one, rows are numbered as they stand in the files. `worded` are the columns of texts that
    are read as words and numbers for them; `stamps` those that stand there as microseconds, and of which type they
    are."""

    pieces: tuple[Piece, ...]
    columns: Mapping[str, str]
    row: str | None
    worded: tuple[str, ...] = ()
    stamps: tuple[tuple[str, pa.DataType], ...] = ()

    def most_held(self) -> int:
        """How many rows at most have been read when not all that arrived before them have."""
        waiting: list[tuple[int, int]] = []
        held = most = 0
        for piece in self.pieces:
            if piece.earliest is not None and piece.latest is not None:
                while waiting and waiting[0][0] < piece.earliest:
                    held -= heapq.heappop(waiting)[1]
                heapq.heappush(waiting, (piece.latest, piece.size))
            held += piece.size
            most = max(most, held)
        return most


class Portion(NamedTuple):
    """Some rows of a batch: a table, which of its rows are the shard's own (None: all of them), and the arrival up to
    which there are no further ones (None: not known)."""

    table: pa.Table
    own: Ints | None
    complete: int | None


def own_rows(files: Files, settings: Settings, stage: int, shard: int) -> Iterator[Portion]:
    """The rows of a shard, portion by portion. Those of others stay where they are: taking them out would cost as much
    as reading them."""
    reader = _Pieces(files)
    waiting = 0
    for pieces in _portions(files.pieces):
        parts = [reader.read(files.pieces[place]) for place in pieces]
        table, own = _own(_in_words(_together(parts)), settings, stage, shard)
        waiting += table.num_rows if own is None else len(own)
        last = pieces.stop == len(files.pieces)
        following = None if last or waiting < WORTH_A_GO else files.pieces[pieces.stop].earliest
        if following is not None:
            waiting = 0
        yield Portion(table, own, None if following is None else following - 1)


def _portions(pieces: Sequence[Piece]) -> Iterator[range]:
    """The places of row groups that are read together."""
    first, size = 0, 0
    for place, piece in enumerate(pieces, start=1):
        size += piece.size
        if size >= READ_ROWS or place == len(pieces):
            yield range(first, place)
            first, size = place, 0


def _together(parts: Sequence[pa.Table]) -> pa.Table:
    """Row groups as one table. Files may have stored the same texts as words, as texts or as large ones."""
    kinds = [{part.schema.field(at).type for part in parts} for at in range(parts[0].num_columns)]
    for at in [at for at, found in enumerate(kinds) if len(found) > 1]:
        name = parts[0].column_names[at]
        parts = [part.set_column(at, name, part.column(at).cast(pa.string())) for part in parts]
    return pa.concat_tables(parts).unify_dictionaries().combine_chunks()


def _in_words(table: pa.Table) -> pa.Table:
    """The same table with texts as words and numbers for them."""
    for at, field in enumerate(table.schema):
        column = whole(table.column(at))
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column = worded(column.cast(pa.string()))
        if pa.types.is_dictionary(column.type):
            table = table.set_column(at, field.name, as_text(column))
    return table


def _own(table: pa.Table, settings: Settings, stage: int, shard: int) -> tuple[pa.Table, Ints | None]:
    """Which rows are a shard's own, and the table with columns that know no words but theirs."""
    own = belonging(table, settings, stage, shard)
    if own is None:
        return table, None
    for at, field in enumerate(table.schema):
        column = whole(table.column(at))
        if pa.types.is_dictionary(field.type) and len(column.dictionary) > FEW_WORDS:
            table = table.set_column(at, field, with_own_words(column, own))
    return table, own


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
        columns |= {name: columns[name].cast(kind) for name, kind in files.stamps}
        return pa.table({**columns, ROW: numbers})


# --------------------------------------------------------------------------- which rows are a shard's own


def belonging(table: pa.Table, settings: Settings, stage: int, shard: int) -> Ints | None:
    """The rows that a shard of a stage reads; None: it reads all of them. The same rows as those that `routing` brings
    to it."""
    return None if _reads_all(settings, stage) else Belonging(table, settings, stage).of(shard)


def _reads_all(settings: Settings, stage: int) -> bool:
    return len(settings.stages) == 1 and settings.stages[stage].shards == 1


Shorts = npt.NDArray[np.int16]
"""Numbers of shards, or of ways to them: there are few."""
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
        self._places: dict[tuple[str, int], Shorts] = {}
        self._words: tuple[Indices, Shorts] | None = None
        """For each row the number of its name, and for each name that of its ways among `_ways`; None: all rows have
        the same."""
        self._ways = self._find_ways()

    def _find_ways(self) -> list[Keys | None]:
        column = self.settings.header.name
        if column is None:
            assert self.settings.event is not None
            return [self._keys_of(self.settings.event)]
        names = whole(self.table.column(column))
        if not pa.types.is_dictionary(names.type):
            names = names.dictionary_encode()
        words: list[str | None] = [*names.dictionary.to_pylist(), None]
        kinds = [self._keys_of(word) for word in words]
        distinct = list(dict.fromkeys(kinds))
        if len(distinct) > 1:
            numbers = np.array([distinct.index(kind) for kind in kinds], np.int16)
            self._words = word_numbers(names, len(words) - 1), numbers
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

    def of(self, shard: int) -> Ints:
        """The rows that a shard reads."""
        if self._words is None:
            return np.flatnonzero(self._agreeing(self._ways[0], shard))
        names, ways = self._words
        key = self._only_key()
        if key is not None:
            column, part = key
            told = np.array([2 if keys else keys is not None and shard == 0 for keys in self._ways], np.int16)
            rows = np.empty(self.table.num_rows, np.int64)
            words = self._placed_words(column, part)
            return rows[: _pick(names, told[ways], *words, self._lies(shard, part), rows)]
        found = np.zeros(self.table.num_rows, np.bool_)
        of_row = ways[names]
        for number, keys in enumerate(self._ways):
            found |= (of_row == number) & self._agreeing(keys, shard)
        return np.flatnonzero(found)

    def _only_key(self) -> tuple[str, int] | None:
        """The column and the part of the key by which all rows go that have one, where that is a single one."""
        keyed = [keys for keys in self._ways if keys]
        if len(keyed) != 1 or len(keyed[0]) != 1 or len(keyed[0][0]) != 1:
            return None
        return keyed[0][0][0]

    def _agreeing(self, keys: Keys | None, shard: int) -> Mask:
        size = self.table.num_rows
        if not keys:
            return np.full(size, keys is not None and shard == 0)
        found = np.zeros(size, np.bool_)
        for way in keys:
            agree = np.ones(size, np.bool_)
            for column, part in way:
                agree &= self._place(column, part) == self._lies(shard, part)
            found |= agree
        return found

    def _lies(self, shard: int, part: int) -> int:
        """Where a shard lies along a part of the key."""
        return shard // strides(self.grid)[part] % self.grid[part]

    def _place(self, column: str, part: int) -> Shorts:
        """Where the constants of a column lie along a part of the key."""
        if (column, part) not in self._places:
            numbers, places = self._placed_words(column, part)
            self._places[column, part] = places[numbers]
        return self._places[column, part]

    def _placed_words(self, column: str, part: int) -> tuple[Indices, Shorts]:
        """For each row the number of its word, and for each word where it lies along a part of the key."""
        values = whole(self.table.column(column))
        if not pa.types.is_dictionary(values.type):
            values = worded(values) if pa.types.is_string(values.type) else values.dictionary_encode()
        nothing = key_hashes(pa.nulls(1, values.dictionary.type))
        places = np.concatenate([key_hashes(values.dictionary), nothing]) % self.grid[part]
        return word_numbers(values, len(places) - 1), places.astype(np.int16)


@kernel
def _pick(names: Indices, told: Shorts, words: Indices, places: Shorts, at: int, out: Ints) -> int:
    """The rows whose name is told of all (1) or whose word has its place there (2); how many there are."""
    count = 0
    for row in range(len(names)):
        asked = told[np.uintp(names[row])]
        out[np.uintp(count)] = row
        count += asked == 1 or (asked == 2 and places[np.uintp(words[row])] == at)
    return count


def _parts(columns: tuple[str, ...], route: Route) -> tuple[tuple[str, int], ...]:
    return tuple(zip(columns, route.parts, strict=True))
