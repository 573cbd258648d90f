"""Kernels over the bytes of delimited text, and of lines of JSON. One pass each, no allocation per line."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.columns.compiled import njit
from thalweg.protocol import Ints

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32]
Marks = npt.NDArray[np.uint64]

_LINE_BREAK = 10
_ZERO, _NINE, _MINUS, _PLUS = 48, 57, 45, 43
_SPACE, _TAB, _RETURN = 32, 9, 13
_QUOTE, _BACKSLASH, _COLON, _NULL = 34, 92, 58, 110
_OPEN_BRACKET, _CLOSE_BRACKET, _OPEN_BRACE, _CLOSE_BRACE = 91, 93, 123, 125
_BASIS, _PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)
"""Of the hash function FNV-1a."""
DIGITS = 18
"""Integers of up to this many digits are read by the kernel; whatever is longer is left to others."""


@njit(cache=True)
def split_fields(block: Bytes, separator: int, kept: Bytes, offsets: Offsets, ends: Ints, first: Ints) -> int:
    """Cut a block of whole lines into fields.

    `kept` gets the bytes of all fields without separators and line breaks, `offsets` where each field begins
    (and the last ends) in it, `ends` where each line ends in the block, `first` the number of its first field
    (one more than there are lines). The arrays have room for all. Returns the number of bytes kept. Linear in
    the block.
    """
    field, line, size = 0, 0, 0
    offsets[0] = 0
    first[0] = 0
    for place in range(len(block)):
        byte = block[place]
        if byte == separator or byte == _LINE_BREAK:
            field += 1
            offsets[field] = size
            if byte == _LINE_BREAK:
                ends[line] = place + 1
                line += 1
                first[line] = field
        else:
            kept[size] = byte
            size += 1
    return size


@njit(cache=True)
def _integer(block: Bytes, place: int, separator: int) -> tuple[int, int, bool]:
    """The integer at a place, where its field ends, and whether it is one."""
    sign, value, digits = 1, 0, 0
    if block[place] == _MINUS:
        sign = -1
        place += 1
    while _ZERO <= block[place] <= _NINE and digits <= DIGITS:
        value = value * 10 + (block[place] - _ZERO)
        digits += 1
        place += 1
    ended = block[place] == separator or block[place] == _LINE_BREAK
    return sign * value, place, ended and 0 < digits <= DIGITS


@njit(cache=True)
def survey_lines(block: Bytes, separator: int) -> tuple[int, int, int, int, bool]:
    """The smallest and largest arrival and the smallest time of RTEC-style lines, how many lines there are, and whether
    all of them could be read this way: fields 2 and 3 are plain integers. Empty lines are skipped. Linear."""
    low, high, first = np.iinfo(np.int64).max, np.iinfo(np.int64).min, np.iinfo(np.int64).max
    lines, place, size = 0, 0, len(block)
    while place < size:
        lines += 1
        if block[place] == _LINE_BREAK:
            place += 1
            continue
        start = place
        while block[place] != separator and block[place] != _LINE_BREAK:
            place += 1
        signed = place == start + 1 and (block[start] == _PLUS or block[start] == _MINUS)
        if signed and block[place] == separator:
            place += 1
            while block[place] != separator and block[place] != _LINE_BREAK:
                place += 1
        if block[place] == _LINE_BREAK:
            return low, high, first, lines, False
        arrival, place, good = _integer(block, place + 1, separator)
        if not good or block[place] == _LINE_BREAK:
            return low, high, first, lines, False
        time, place, good = _integer(block, place + 1, separator)
        if not good:
            return low, high, first, lines, False
        low, high, first = min(low, arrival), max(high, arrival), min(first, arrival, time)
        while block[place] != _LINE_BREAK:
            place += 1
        place += 1
    return low, high, first, lines, True


@njit(cache=True)
def mark_keys(block: Bytes, starts: Ints, ends: Ints, marks: Marks) -> None:
    """For each line, which holds a JSON object, a mark of its keys in their order: other keys have another one. Keys
    without a value (null), or with a list or an object, do not count; 0 marks a line that holds no object. Linear."""
    for line in range(len(starts)):
        place, end = starts[line], ends[line]
        depth, mark = 0, _BASIS
        while place < end:
            byte = block[place]
            place += 1
            if byte == _OPEN_BRACE or byte == _OPEN_BRACKET:
                depth += 1
            elif byte == _CLOSE_BRACE or byte == _CLOSE_BRACKET:
                depth -= 1
            elif byte == _QUOTE:
                key = _BASIS
                while place < end and block[place] != _QUOTE:
                    if block[place] == _BACKSLASH:
                        key = (key ^ np.uint64(_BACKSLASH)) * _PRIME
                        place += 1
                    key = (key ^ np.uint64(block[place])) * _PRIME
                    place += 1
                place = _after_blanks(block, place + 1, end)
                if depth == 1 and place < end and block[place] == _COLON:
                    place = _after_blanks(block, place + 1, end)
                    first = block[place] if place < end else _NULL
                    if first != _NULL and first != _OPEN_BRACE and first != _OPEN_BRACKET:
                        mark = ((mark ^ (key >> np.uint64(32))) * _PRIME ^ key) * _PRIME
        marks[line] = mark if depth == 0 else np.uint64(0)


@njit(cache=True)
def _after_blanks(block: Bytes, place: int, end: int) -> int:
    """The first place from here on where there is no blank."""
    while place < end and (block[place] == _SPACE or block[place] == _TAB or block[place] == _RETURN):
        place += 1
    return place
