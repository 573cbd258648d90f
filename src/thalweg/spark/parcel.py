"""Rows in transit: between stages and in the log of a shard, `Rows` are bytes, and bytes become `Rows`.

Also here: changes of one stage as rows of the next. An interval that a stage inserts or deletes at a query time is
an input interval that is inserted or retracted, arriving at that query time; its row number is the
row that caused the change, so that causes go through. Its constants are written as results have them, with their
quotes, so that a name that looks like a term stays a name.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns.pieces import whole
from thalweg.columns.wording import renumbered, word_numbers
from thalweg.io.assemble import filtered
from thalweg.io.fold import coded
from thalweg.io.times import as_mask
from thalweg.language.instances import apart, unquoted
from thalweg.protocol import OPEN_END, Ints, Mask, Rows
from thalweg.spark.keying import Grid, Route, elsewhere, key_hashes, shards_of, strides
from thalweg.spark.places import marked
from thalweg.spark.stages import Name

NO_ROW = -1
"""The row number of a change that no single row caused."""
_FIXED = ("op", "arrival", "time", "row")


# --------------------------------------------------------------------------- bytes


def packed(batch: Iterable[Rows]) -> bytes:
    """The rows as bytes; equal rows give equal bytes."""
    out = io.BytesIO()
    for rows in batch:
        part = pa.BufferOutputStream()
        with pa.ipc.new_stream(part, (record := _record(rows)).schema, options=_OPTIONS) as writer:
            writer.write_batch(record)
        content = part.getvalue()
        out.write(content.size.to_bytes(8, "little"))
        out.write(content)
    return out.getvalue()


_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4", emit_dictionary_deltas=False)


def alone(rows: Rows) -> Rows:
    """The rows as they are when they have been bytes: with words of their own."""
    value = None if rows.value is None else _flat(rows.value)
    return replace(rows, args=tuple(map(_flat, rows.args)), value=value)


def _record(rows: Rows) -> pa.RecordBatch:
    columns: dict[str, pa.Array] = {name: pa.array(getattr(rows, name)) for name in _FIXED}
    rows = alone(rows)
    if rows.end is not None:
        columns["end"] = pa.array(rows.end)
    if rows.value is not None:
        columns["value"] = rows.value
    for position, argument in enumerate(rows.args):
        columns[f"arg{position}"] = argument
    about = json.dumps({"name": rows.name, "arity": len(rows.args), "derived": rows.derived})
    schema = pa.schema([(name, c.type) for name, c in columns.items()], metadata={"rows": about})
    return pa.record_batch(list(columns.values()), schema=schema)


def _flat(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece; rows that share their words with many others take none along that they do not use."""
    flat = whole(column)
    if pa.types.is_dictionary(flat.type) and len(flat.dictionary) > len(flat):
        return with_own_words(flat)
    return flat


def with_own_words(column: pa.DictionaryArray, among: Ints | None = None) -> pa.DictionaryArray:
    """The same column; it knows no words but those that stand in it. `among`: in these rows, and the others may say
    anything."""
    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    if not len(column.dictionary):
        return column
    numbers, words = renumbered(word_numbers(column, 0), len(column.dictionary), among)
    words = words if len(words) else np.zeros(1, np.int32)  # others may still name a word
    return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=missing), column.dictionary.take(pa.array(words)))


def unpacked(content: bytes | memoryview) -> list[Rows]:
    """The rows behind the bytes."""
    found, at, view = [], 0, memoryview(content)
    while at < len(view):
        size = int.from_bytes(view[at : at + 8], "little")
        record = pa.ipc.open_stream(pa.py_buffer(view[at + 8 : at + 8 + size])).read_next_batch()
        found.append(_rows(record))
        at += 8 + size
    return found


def _rows(record: pa.RecordBatch) -> Rows:
    about = json.loads(record.schema.metadata[b"rows"])

    def ints(name: str) -> Ints:
        found: Ints = record.column(name).to_numpy()
        return found

    has = set(record.schema.names)
    return Rows(
        about["name"],
        record.column("op").to_numpy(),
        ints("arrival"),
        ints("time"),
        ints("row"),
        tuple(record.column(f"arg{i}") for i in range(about["arity"])),
        ints("end") if "end" in has else None,
        record.column("value") if "value" in has else None,
        derived=about["derived"],
    )


# --------------------------------------------------------------------------- instances


def at_path(arguments: Sequence[str], path: tuple[int, ...]) -> str:
    """The constant at a path; empty where there is none.

    >>> at_path(["close(c,m)"], (0, 1))
    'm'
    """
    for place, index in enumerate(path):
        if index >= len(arguments):
            return ""
        if place == len(path) - 1:
            return unquoted(arguments[index])
        arguments = apart(arguments[index])[1]
    return ""


KEPT_INSTANCES = 100_000
"""Instances whose shards are remembered."""


class Sorter:
    """Knows of every instance where it goes, and remembers the last ones. `timed`: the last argument is a time, which
    rows have in a column of its own."""

    def __init__(
        self, grid: Grid, kind: str, routes: Mapping[Name, Sequence[Route]], *, timed: bool = False
    ) -> None:
        self.grid = grid
        self.kind = kind
        self.routes = routes
        self.timed = timed
        self._shards: dict[str, tuple[int, ...]] = {}

    def shards(self, instance: str) -> tuple[int, ...]:
        """The shards of an instance; none where nobody asks for it."""
        found = self._shards.get(instance)
        if found is None:
            if len(self._shards) >= KEPT_INSTANCES:
                self._shards.clear()
            found = self._shards[instance] = self._find(instance)
        return found

    def _find(self, instance: str) -> tuple[int, ...]:
        name, arguments = apart(instance)
        routes = self.routes.get(Name(self.kind, unquoted(name), len(arguments) - self.timed), ())
        return tuple(
            sorted(
                {
                    shard
                    for route in routes
                    for shard in shards_of(
                        self.grid, route, [at_path(arguments, path) for path in route.positions]
                    )
                }
            )
        )


# --------------------------------------------------------------------------- changes as rows


def causes_of(column: pa.ChunkedArray) -> Ints:
    """Row numbers from causes: ``row 17``; `NO_ROW` for ``time``."""
    words = coded(column)
    rows = np.array(
        [int(word[4:]) if word.startswith("row ") else NO_ROW for word in words.words.to_pylist()], np.int64
    )
    return rows[words.ranks] if len(rows) else np.empty(0, np.int64)


def forwarded(table: pa.Table, sorter: Sorter) -> dict[int, list[Rows]]:
    """The changes of a stage (or its changes of derived events) as rows for the shards of another."""
    if not table.num_rows:
        return {}
    instances = coded(table.column(sorter.kind))
    words = instances.words.to_pylist()
    targets = [sorter.shards(word) for word in words]
    named: dict[tuple[str, int], list[int]] = {}
    parts = [apart(word) for word in words]
    for place, (name, arguments) in enumerate(parts):
        if targets[place]:
            named.setdefault((unquoted(name), len(arguments)), []).append(place)
    found: dict[int, list[Rows]] = {}
    for (name, arity), places in sorted(named.items()):
        constants = [[parts[place][1][i] for place in places] for i in range(arity)]
        local = np.full(len(words), -1, np.int64)
        local[places] = np.arange(len(places))
        for shard in sorted({shard for place in places for shard in targets[place]}):
            wanted = np.zeros(len(words), np.bool_)
            wanted[[place for place in places if shard in targets[place]]] = True
            where = np.flatnonzero(wanted[instances.ranks])
            if len(where):
                which = pa.array(local[instances.ranks[where]].astype(np.int32))
                args = tuple(
                    pa.DictionaryArray.from_arrays(which, pa.array(c, pa.string())) for c in constants
                )
                found.setdefault(shard, []).append(_derived(name, args, table.take(pa.array(where))))
    return found


def _derived(name: str, args: tuple[pa.Array, ...], table: pa.Table) -> Rows:
    inserted = as_mask(pc.equal(table.column("op").cast(pa.string()), "insert").combine_chunks())
    op = np.where(inserted, np.int8(1), np.int8(-1))
    arrival = table.column("query_time").to_numpy()
    row = causes_of(table.column("cause"))
    if "time" in table.column_names:
        return Rows(name, op, arrival, table.column("time").to_numpy(), row, args, derived=True)
    end = table.column("end").fill_null(OPEN_END).to_numpy()
    values = coded(table.column("value"))
    value = pa.DictionaryArray.from_arrays(pa.array(values.ranks.astype(np.int32)), values.words.cast(pa.string()))
    return Rows(name, op, arrival, table.column("start").to_numpy(), row, args, end, value, derived=True)


def split(rows: Rows, grid: Grid, routes: Sequence[Route], *, told: bool) -> dict[int, Rows]:
    """The rows of the stream by shard. `told`: this stage tells of them, and the first shard of each that has it."""
    if math.prod(grid) == 1 or not routes:
        return {0: rows if told else marked(rows, copies=True)}
    goes = targets(rows, grid, routes)
    first = goes.argmax(axis=0)
    parts = {s: filtered(marked(rows, first != s if told else True), here) for s, here in enumerate(goes)}
    return {shard: part for shard, part in parts.items() if part is not None}


def targets(rows: Rows, grid: Grid, routes: Sequence[Route]) -> Mask:
    """For each shard which rows of the stream it reads."""
    goes = np.zeros((math.prod(grid), len(rows)), np.bool_)
    for route in routes:
        place = np.zeros(len(rows), np.int64)
        for (position,), part in zip(route.positions, route.parts, strict=True):
            place += places(rows.args[position], grid[part]) * strides(grid)[part]
        for further in elsewhere(grid, route.parts):
            goes[place + further, np.arange(len(rows))] = True
    return goes


def places(column: pa.Array, size: int) -> Ints:
    """Where constants lie along a side of a grid."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    found = key_hashes(column.dictionary) % size if len(column.dictionary) else np.zeros(1, np.int64)
    at: Ints = found[column.indices.to_numpy(zero_copy_only=False)]
    return at


def kept(table: pa.Table, column: str, sorter: Sorter, shard: int) -> pa.Table:
    """The rows whose instance belongs to the shard."""
    if not table.num_rows:
        return table
    instances = coded(table.column(column))
    mine = np.array([shard in sorter.shards(word) for word in instances.words.to_pylist()], np.bool_)
    return table.filter(pa.array(mine[instances.ranks]))
