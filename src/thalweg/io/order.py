"""The order of rows in tables: one and the same whatever the engine, the chunks of the input or the shards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns.pieces import taken, whole
from thalweg.io.fold import coded, concatenate
from thalweg.io.rejects import REJECTED
from thalweg.io.times import as_mask
from thalweg.language.rules import Kind
from thalweg.protocol import Ints

OTHERS = "..."
"""All columns that are not named, from left to right."""
_REJECTED = ("source", "row", "reason")
KEYS: dict[Kind, dict[str, tuple[str, ...]]] = {
    Kind.EVENTS: {
        "changes": ("query_time", "op", "fluent", "value", "start"),
        "event_changes": ("query_time", "op", "event", "time"),
        "rejected": _REJECTED,
    },
    Kind.ANSWERS: {
        "answers": ("time_known", "query", "time", "answer", OTHERS),
        "changes": ("at", "query", "time", "answer", "op", OTHERS),
        "open": ("share", "query", "time", "answer", OTHERS),
        "rejected": _REJECTED,
    },
    Kind.LARS: {"rejected": _REJECTED},
}
"""The columns that tables are sorted by; those that are not listed, by all of theirs from left to right."""
_QUERY_TIME = "query_time"
_DESCENDING = "share"
ENOUGH = 64 * 1024
"""Rows that are worth being sorted by themselves."""
_MOST = 2**62


def time_column(name: str, kind: Kind) -> str:
    """The column with the times by which the rows of a table come, which is the first that they are sorted by."""
    return KEYS[kind].get(name, (_QUERY_TIME,))[0]


def in_order(name: str, table: pa.Table, kind: Kind) -> pa.Table:
    """The rows of a table in their order."""
    if table.num_rows < 2:
        return table
    rows = _order(name, table, kind)
    table = table.unify_dictionaries()
    return pa.table([taken(whole(column), rows) for column in table.columns], schema=table.schema)


def _order(name: str, table: pa.Table, kind: Kind) -> Ints:
    """The order of the rows of a table, by number. As many columns as fit into one integer are sorted as one."""
    names = KEYS[kind].get(name, (OTHERS,))
    others = [column for column in table.column_names if column not in names]
    keys: list[Ints] = []
    room = 0
    for column in (n for key in names for n in (others if key == OTHERS else [key])):
        numbers = _numbers(table.column(column))
        if column == _DESCENDING:
            numbers = -numbers
        low = int(numbers.min())
        size = int(numbers.max()) - low + 1
        if size <= room:
            keys[-1] = keys[-1] * size + (numbers - low)
            room //= size
        else:
            keys.append(numbers - low)
            room = _MOST // size
    order: Ints = np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0], kind="stable")
    return order


def _numbers(column: pa.ChunkedArray) -> Ints:
    """A column as numbers that are ordered as its values are; the largest of all where there is none."""
    missing = as_mask(pc.is_null(column)) if column.null_count else None
    if pa.types.is_list(column.type):
        column = pc.binary_join(column, "\n")
    if pa.types.is_floating(column.type):
        found = np.unique(column.to_numpy(), return_inverse=True)[1]
    elif pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        found = column.cast(pa.int64()).fill_null(0).to_numpy()
    elif missing is not None:
        found = coded(column.cast(pa.string()).fill_null("")).ranks
    else:
        found = coded(column).ranks
    numbers: Ints = found if missing is None else np.where(missing, found.max() + 1, found)
    return numbers


class Ordering:
    """Puts the rows of a table in order that come query time by query time. A few of them wait for others, so that many
    small pieces are sorted together."""

    def __init__(self, name: str, kind: Kind) -> None:
        self._name, self._kind = name, kind
        self._held: list[pa.Table] = []
        self._size = 0

    def add(self, table: pa.Table) -> Iterator[pa.Table]:
        """Take rows of the next query times; what is worth it is given back."""
        self._held.append(table)
        self._size += table.num_rows
        if self._size >= ENOUGH:
            yield from self.rest()

    def rest(self) -> Iterator[pa.Table]:
        """What has waited."""
        held, self._held, self._size = self._held, [], 0
        if held:
            yield in_order(self._name, concatenate(held), self._kind)


class Shelf:
    """Rejected rows, which come in any order and may be many: they wait in a file for the last of them."""

    def __init__(self, path: Path, kind: Kind) -> None:
        self._path, self._kind = path, kind
        self._writer: pa.ipc.RecordBatchFileWriter | None = None

    def add(self, rejected: pa.Table) -> None:
        if not rejected.num_rows:
            return
        if self._writer is None:
            self._writer = pa.ipc.new_file(str(self._path), REJECTED)
        self._writer.write_table(rejected)

    def rows(self) -> Iterator[pa.Table]:
        """All of them in their order, piece by piece; the file is gone then."""
        if self._writer is None:
            return
        self._writer.close()
        with pa.memory_map(str(self._path)) as file:
            table = pa.ipc.open_file(file).read_all()
            order = _order("rejected", table, self._kind)
            for start in range(0, len(order), ENOUGH):
                yield table.take(pa.array(order[start : start + ENOUGH]))
        self._path.unlink()
