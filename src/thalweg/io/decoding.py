"""Bytes as text. Text is UTF-8; other bytes are written ``\\xfc``, so that names that differ stay different."""

from __future__ import annotations

import pyarrow as pa


def decoded(content: bytes) -> str:
    """The text of some bytes.

    >>> decoded(b"M\\xc3\\xbcller"), decoded(b"M\\xfcller")
    ('Müller', 'M\\\\xfcller')
    """
    return content.decode(errors="backslashreplace")


def as_text(column: pa.Array) -> pa.Array:
    """A column of bytes as one of texts; any other column as it is.

    >>> as_text(pa.array([b"a", None, b"\\xfc"])).to_pylist()
    ['a', None, '\\\\xfc']
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        words = as_text(column.dictionary)
        return column if words is column.dictionary else pa.DictionaryArray.from_arrays(column.indices, words)
    if not _is_bytes(kind):
        return column
    return readable(column.cast(pa.binary()).view(pa.string()))


def readable(words: pa.Array) -> pa.Array:
    """Texts whose bytes nobody has looked at yet."""
    try:
        words.validate(full=True)
    except pa.ArrowInvalid:
        found = words.cast(pa.binary()).to_pylist()
        return pa.array([None if word is None else decoded(word) for word in found], pa.string())
    return words


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )
