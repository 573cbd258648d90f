"""Arrow columns: in one piece, and some rows of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from thalweg.protocol import Ints


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece; Arrow would copy even one that is.

    >>> whole(pa.chunked_array([[1], [2, 3]])).to_pylist()
    [1, 2, 3]
    """
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def taken(column: pa.Array, rows: Ints) -> pa.Array:
    """The rows of a column; Arrow takes twice as long where there is a value in each.

    >>> taken(pa.array([4, 5, 6]), np.array([2, 0])).to_pylist()
    [6, 4]
    """
    if column.null_count == 0:
        if pa.types.is_dictionary(column.type):
            words = taken(column.indices, rows)
            return pa.DictionaryArray.from_arrays(words, column.dictionary, ordered=column.type.ordered, safe=False)
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            return pa.array(np.take(column.to_numpy(), rows))
    return column.take(pa.array(rows))


def legible(column: pa.Array) -> pa.Array:
    """A column as it is, but for texts: bytes are read as UTF-8, and other bytes are written ``\\xfc``, so that what
    differs stays different.

    >>> legible(pa.array([b"a", b"\\xfc", None])).to_pylist()
    ['a', '\\\\xfc', None]
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        words = legible(column.dictionary)
        if words is column.dictionary:
            return column
        return pa.DictionaryArray.from_arrays(column.indices, words).dictionary_decode().dictionary_encode()
    if any(told(kind) for told in _BYTES):
        return _decoded(column)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    try:
        column.cast(_AS_BYTES[kind]).cast(kind)  # Arrow looks at bytes that are to be texts, and not at texts
    except pa.ArrowInvalid:
        return _decoded(column.cast(_AS_BYTES[kind]))
    return column


_BYTES = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
    pa.types.is_binary_view,
)
_AS_BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}


def _decoded(column: pa.Array) -> pa.Array:
    try:
        return column.cast(pa.large_binary()).cast(pa.string())
    except pa.ArrowInvalid:
        values = (None if value is None else value.decode(errors="backslashreplace") for value in column.to_pylist())
        return pa.array(values, pa.string())
