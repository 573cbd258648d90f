"""Bytes as text. Text is UTF-8; other bytes are written ``\\xfc``, so that names that differ stay different."""

from __future__ import annotations

from uuid import UUID

import pyarrow as pa


def decoded(content: bytes) -> str:
    """The text of some bytes.

    >>> decoded(b"M\\xc3\\xbcller"), decoded(b"M\\xfcller")
    ('Müller', 'M\\\\xfcller')
    """
    return content.decode(errors="backslashreplace")


def as_text(column: pa.Array) -> pa.Array:
    """A column of bytes, or of texts that nobody has looked at, as one of texts; any other column as it is.

    >>> as_text(pa.array([b"a", None, b"\\xfc"])).to_pylist()
    ['a', None, '\\\\xfc']
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _uuids(column.storage) if kind.extension_name == "arrow.uuid" else as_text(column.storage)
    if pa.types.is_dictionary(kind):
        words = as_text(column.dictionary)
        if words is column.dictionary:
            return column
        return pa.DictionaryArray.from_arrays(column.indices, words).dictionary_decode().dictionary_encode()
    if _is_bytes(kind):
        return readable(column.cast(pa.large_binary()).view(pa.large_string())).cast(pa.string())
    return readable(column) if pa.types.is_string(kind) or pa.types.is_large_string(kind) else column


def stored(kind: pa.DataType) -> pa.DataType:
    """The type in which values of this type are stored."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _uuids(column: pa.Array) -> pa.Array:
    return pa.array([None if x is None else str(UUID(bytes=x)) for x in column.to_pylist()], pa.string())


def readable(words: pa.Array) -> pa.Array:
    """Texts whose bytes nobody has looked at yet."""
    try:
        words.validate(full=True)
    except pa.ArrowInvalid:
        found = words.cast(pa.large_binary()).to_pylist()
        return pa.array([None if word is None else decoded(word) for word in found], pa.string())
    return words


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )
