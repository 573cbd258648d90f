"""Rows of a shard: from record batches that Spark sends, or from files, in large pieces.

What cannot be read is rejected; messages for other stages are passed on. Where a state is kept, rows come in the order
of their numbers, whatever a shuffle makes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns.compiled import owned
from thalweg.columns.pieces import whole
from thalweg.columns.wording import worded
from thalweg.io.assemble import filtered
from thalweg.io.decoding import as_text
from thalweg.io.rejects import REJECTED, Rejects, repeat
from thalweg.io.tabular import Table, read_table, rows_as_text
from thalweg.protocol import Ints, Rows
from thalweg.reasons import TOO_FAR_AHEAD
from thalweg.runs import up_to
from thalweg.spark.copies import for_shard
from thalweg.spark.orders import Note, Order, message
from thalweg.spark.parcel import unpacked
from thalweg.spark.parquet import own_rows
from thalweg.spark.places import LARGEST, Sources, numbered, originals
from thalweg.spark.routing import ARRIVAL, ROW, message_column
from thalweg.spark.shard import latest_arrival

CHUNK_ROWS = 512 * 1024
"""Rows that are read together."""
_NO_NUMBER = np.int64(-(2**63))


class Reader:
    """Turns record batches into rows; what cannot be read is rejected, what is for others is passed on."""

    def __init__(self, order: Order, shard: int, note: Note) -> None:
        self.order = order
        self.settings = order.settings
        self.shard = shard
        self.note = note
        self.rejected: list[pa.Table] = []
        self.passed: list[pa.RecordBatch] = []

    def chunks(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[list[Rows], int | None]]:
        """Rows in large pieces: of the stream, and of earlier stages. With each, the arrival up to which there are no
        further ones, where that is known."""
        for table in _as_they_come(batches) if self.order.state is None else _by_number(batches):
            last = pc.max(table.column(ARRIVAL)).as_py() if ARRIVAL in table.column_names else None
            yield self._rows(table), None if last is None else last - 1
        if self.order.files is not None:
            for table, own, complete in own_rows(self.order.files, self.settings, self.order.stage, self.shard):
                yield self._read(table, own), complete

    def _rows(self, table: pa.Table) -> list[Rows]:
        found: list[Rows] = []
        if message_column("content") in table.column_names:
            sent = table.column(message_column("kind")).is_valid()
            found = self._messages(table.filter(sent))
            table = table.filter(pc.invert(sent))
        if table.num_rows:
            found += self._read(table if self.order.state is None else _in_order(table))
        return found

    def _messages(self, table: pa.Table) -> list[Rows]:
        found: list[Rows] = []
        sent = table.select([message_column(n) for n in ("stage", "to", "kind", "content")]).to_pylist()
        for stage, to, kind, content in sorted(tuple(row.values()) for row in sent):
            if stage == self.order.stage:
                found += unpacked(content)
            else:
                self.passed.append(message(stage, to, kind, content))
        return found

    def _read(self, table: pa.Table, own: Ints | None = None) -> list[Rows]:
        """The rows of a table; `own`: which of them, where others stand between them."""
        settings = self.settings
        self.note.rows += table.num_rows if own is None else len(own)
        names = settings.header.needed(settings.shapes)
        columns = {name: _flat(table.column(name)) for name in names}
        number = _row_numbers(table.column(ROW), self.order.sources.offset)
        piece = Table(columns, number, lambda where: rows_as_text(columns, where), own)
        rejects = Rejects(settings.label)
        rows = read_table(
            piece,
            settings.header,
            settings.event,
            settings.shapes,
            settings.plan.clock,
            offset=0,
            rejected=rejects,
        )
        before = sum(map(len, rows))
        rows = up_to(rows, settings.plan.schedule.end)
        self.note.unread += before - sum(map(len, rows))
        rows = [for_shard(numbered(part), settings, self.order.stage, self.shard) for part in rows]
        rows, far = within(rows, self.order.limit, settings.max_ahead, self.order.sources)
        self.rejected += [rejects.table(), far]
        latest = latest_arrival(rows)
        if latest is not None:
            self.note.latest = latest if self.note.latest is None else max(latest, self.note.latest)
        return rows


def _as_they_come(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in large pieces."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.num_rows
        if size >= CHUNK_ROWS:
            yield pa.Table.from_batches(held)
            held, size = [], 0
    if size:
        yield pa.Table.from_batches(held)


def _by_number(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in large pieces that follow each other by their numbers, wherever a shuffle brings them: a batch that
    comes again is to leave the same bytes. Messages, which have no number, are in the first."""
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    of_batch = [_numbers(batch) for batch in held]
    numbers = np.concatenate(of_batch)
    starts = range(CHUNK_ROWS, len(numbers), CHUNK_ROWS)
    cuts = np.unique(np.partition(numbers, starts)[starts.start :: CHUNK_ROWS]) if starts else numbers[:0]
    places = [np.searchsorted(cuts, found, side="right") for found in of_batch]
    for piece in range(len(cuts) + 1):
        parts = []
        for batch, place in zip(held, places, strict=True):
            here = place == piece
            if here.any():
                parts.append(batch if here.all() else batch.filter(pa.array(here)))
        if parts:
            yield pa.Table.from_batches(parts)


def _in_order(table: pa.Table) -> pa.Table:
    """The rows in the order of their numbers, and those that share one in that of what they say."""
    numbers = _numbers(table)
    if (np.diff(numbers) > 0).all():
        return table
    order = np.argsort(numbers)
    if (np.diff(numbers[order]) == 0).any():
        said = [name for name in table.column_names if not pa.types.is_nested(table.schema.field(name).type)]
        order = pc.sort_indices(table, [(name, "ascending") for name in (ROW, *said)]).to_numpy()
    return table.take(pa.array(order))


def _numbers(rows: pa.RecordBatch | pa.Table) -> Ints:
    """The numbers of rows; that of messages is less than any other."""
    if ROW not in rows.schema.names:
        return np.full(rows.num_rows, _NO_NUMBER)
    return owned(pc.fill_null(rows.column(ROW), _NO_NUMBER).to_numpy(zero_copy_only=False))


def _row_numbers(given: pa.ChunkedArray, offset: int) -> Ints:
    """The numbers of rows; those without one, or with one out of bounds, have 0. Where all have one, none is copied."""
    bounds = pc.min_max(given).as_py()
    if given.null_count or (len(given) and not 0 <= bounds["min"] <= bounds["max"] <= LARGEST):
        given = pc.fill_null(pc.if_else(pc.less_equal(given, LARGEST), pc.max_element_wise(given, 0), 0), 0)
    found: Ints = given.to_numpy()
    return found + offset if offset else found


def within(
    rows: list[Rows], limit: int | None, ahead: int | None, sources: Sources
) -> tuple[list[Rows], pa.Table]:
    """The rows that do not claim to come from too far in the future, and the others as rejected ones, but for
    copies."""
    if ahead is None or limit is None:
        return rows, REJECTED.empty_table()
    kept: list[Rows] = []
    refused = [REJECTED.empty_table()]
    for part in rows:
        far = (part.arrival > limit) | (part.time > np.minimum(part.arrival, limit) + ahead)
        if not far.any():
            kept.append(part)
            continue
        source, place = sources.locate(part.row[far & originals(part.row)])
        detail = f"more than {ahead} time-points after everything known, {limit}"
        told = [source, place, repeat(TOO_FAR_AHEAD, len(place)), repeat(detail, len(place))]
        refused.append(pa.table([*told, pa.nulls(len(place), pa.string())], schema=REJECTED))
        rest = filtered(part, ~far)
        if rest is not None:
            kept.append(rest)
    return kept, pa.concat_tables(refused)


def _flat(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece; texts as words, which are looked for once and not for each event name."""
    flat = whole(column)
    return as_text(worded(flat) if pa.types.is_string(flat.type) else flat)
