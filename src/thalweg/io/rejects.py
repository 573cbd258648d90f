"""Rows that are not taken, with the reason: the `rejected` table.

source   file or table the row stands in
row      its line there, or its place in the table, counted from 1
reason   a code of `thalweg.reasons`, the reader's or the reasoner's
detail   the reason in words
text     the row as it was read
"""

from __future__ import annotations

import pyarrow as pa

from thalweg.protocol import Ints

REJECTED = pa.schema(
    [
        ("source", pa.string()),
        ("row", pa.int64()),
        ("reason", pa.string()),
        ("detail", pa.string()),
        ("text", pa.string()),
    ]
)


class Rejects:
    """Collects the rejected rows of one chunk of one source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._parts: list[pa.Table] = []

    def add(self, rows: Ints, reason: str, detail: str | pa.Array, text: pa.Array) -> None:
        """Reject rows (their places in the source), all for one reason; the detail is one for all or one for
        each."""
        if not len(rows):
            return
        details = repeat(detail, len(rows)) if isinstance(detail, str) else detail
        self._parts.append(
            pa.table(
                [
                    repeat(self.source, len(rows)),
                    pa.array(rows, pa.int64()),
                    repeat(reason, len(rows)),
                    details,
                    text,
                ],
                schema=REJECTED,
            )
        )

    def table(self) -> pa.Table:
        """What was rejected, in the order of the rows."""
        if not self._parts:
            return REJECTED.empty_table()
        return pa.concat_tables(self._parts).sort_by("row").combine_chunks()


def repeat(text: str, size: int) -> pa.Array:
    """A column that says the same in every row."""
    return pa.repeat(pa.scalar(text, pa.string()), size)
