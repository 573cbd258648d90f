"""The numbers of words by which rows are sent to shards: crc32 of each, where its text decides as it is (`keying`)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.columns.compiled import kernel, part
from thalweg.protocol import Ints

_MINUS, _PLUS, _POINT, _ZERO, _NINE, _BACKSLASH, _X = (ord(letter) for letter in "-+.09\\x")
_DIGITS = 15
"""Integers with so many digits at most are exact."""


def _crc_table() -> npt.NDArray[np.uint32]:
    found = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        found = np.where(found & 1, (found >> 1) ^ np.uint32(0xEDB88320), found >> 1)
    return found


_CRC_TABLE = _crc_table()


@part
def _is_itself(letters: npt.NDArray[np.uint8], start: int, end: int) -> bool:
    """True for a text that cannot be a number, or is an integer as one writes it."""
    if start == end:
        return False
    first = letters[start]
    if first not in (_MINUS, _PLUS, _POINT) and not _ZERO <= first <= _NINE:
        return True
    at = start + 1 if first == _MINUS else start
    if first in (_PLUS, _POINT) or at == end or end - at > _DIGITS:
        return False
    for k in range(at, end):
        if not _ZERO <= letters[k] <= _NINE:
            return False
    return letters[at] != _ZERO or (at == start and end - at == 1)


@kernel
def _checksums(ends: Ints, letters: npt.NDArray[np.uint8], table: npt.NDArray[np.uint32], out: Ints) -> None:
    """out[k] is the crc32 of word k, whose letters stand from ends[k] to ends[k + 1]; -1 where the text alone does not
    decide. One pass."""
    for k in range(len(out)):
        start, end = ends[k], ends[k + 1]
        if not _is_itself(letters, start, end):
            out[k] = -1
            continue
        found, escaped = np.uint32(0xFFFFFFFF), False
        for at in range(start, end):
            escaped |= letters[at] == _BACKSLASH and at + 1 < end and letters[at + 1] == _X
            found = table[(found ^ letters[at]) & np.uint32(0xFF)] ^ (found >> np.uint32(8))
        out[k] = -1 if escaped else np.int64(found ^ np.uint32(0xFFFFFFFF))


def checksums(words: pa.Array) -> Ints:
    """The number of each word; -1 where its text alone does not decide."""
    _, offsets, content = words.buffers()
    ends = np.frombuffer(offsets, np.int32)[words.offset : words.offset + len(words) + 1].astype(np.int64)
    letters = np.frombuffer(content, np.uint8) if content is not None else np.empty(0, np.uint8)
    found = np.empty(len(words), np.int64)
    _checksums(ends, np.require(letters, requirements="C"), _CRC_TABLE, found)
    return found
