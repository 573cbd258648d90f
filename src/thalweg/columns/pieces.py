"""Arrow columns that come in pieces."""

from __future__ import annotations

import pyarrow as pa


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece; Arrow would copy even one that is.

    >>> whole(pa.chunked_array([[1], [2, 3]])).to_pylist()
    [1, 2, 3]
    """
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
