"""Delimited text: blocks of whole lines, and the fields of all lines of a block as one flat column.

A line break always ends a row. A field in double quotes may contain the separator, and a doubled quote means
one; a line with an odd number of quotes is taken literally. Spaces around a field do not belong to it. Work
is done on whole blocks: no Python code runs per line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.decoding import decoded
from thalweg.io.kernels import Bytes, split_fields
from thalweg.io.times import Mask, as_mask
from thalweg.protocol import Ints

BLOCK = 16 * 1024 * 1024
_SHIELDS = (b"\x1f", b"\x1e", b"\x1d", b"\x1c", b"\x01", b"\x02", b"\x03")
_BLANKS = (b" ", b"\t", b"\r", b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e", b"\x1f")


def blocks(path: Path, size: int | None = None) -> Iterator[bytes]:
    """The file, decompressed, in pieces of about `size` (`BLOCK`) bytes that end with a line break."""
    size = BLOCK if size is None else size
    with pa.input_stream(str(path), compression="detect") as stream:
        rest = stream.read(3)
        rest = b"" if rest == b"\xef\xbb\xbf" else rest
        last = False
        while not last:
            piece = stream.read(size)
            last = len(piece) < size
            piece = rest + piece
            cut = len(piece) if last else piece.rfind(b"\n") + 1
            rest = piece[cut:]
            if cut:
                yield clean(piece[:cut] if piece[cut - 1 : cut] == b"\n" else piece[:cut] + b"\n")


def clean(block: bytes) -> bytes:
    """Line breaks as one character, and text that is UTF-8: other bytes are written ``\\xfc``, so that what
    differs stays different."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    try:
        block.decode()
    except UnicodeDecodeError:
        return decoded(block).encode()
    return block


@dataclass(frozen=True, slots=True)
class Lines:
    """The fields of the lines of a block: line `i` has `count[i]` fields, `values[first[i]]` and those after
    it."""

    block: bytes
    ends: Ints
    values: pa.Array
    first: Ints
    count: Ints

    def __len__(self) -> int:
        return len(self.first)

    def field(self, lines: Ints, position: int) -> pa.Array:
        """One field of each of the given lines, all of which have it."""
        return self.values.take(pa.array(self.first[lines] + position))

    def text(self, lines: Ints) -> pa.Array:
        """The lines as they were read."""
        whole = whole_lines(self.block, self.ends).take(pa.array(lines))
        return pc.utf8_rtrim(whole, "\n")

    def first_characters(self) -> Bytes:
        """The first byte of each line."""
        starts = np.zeros(len(self.ends), np.int64)
        starts[1:] = self.ends[:-1]
        return characters_of(self.block)[starts]

    def blank(self) -> Mask:
        """Which lines say nothing."""
        heads = self.field(np.arange(len(self)), 0)
        empty: Mask = as_mask(pc.equal(heads, "")) & (self.count == 1)
        return empty


def whole_lines(block: bytes, ends: Ints) -> pa.Array:
    """The lines of a block as a column, without copying; each still has its last character, the line
    break."""
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends
    return pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(block))


def characters_of(block: bytes) -> Bytes:
    """The bytes of a block as an array, without copying."""
    return np.frombuffer(block, np.uint8)


def line_ends(block: bytes) -> Ints:
    """Where each line of a block ends, its line break included."""
    return np.flatnonzero(characters_of(block) == ord("\n")) + 1


def split(block: bytes, separator: str) -> Lines:
    """The fields of every line of the block."""
    sep = separator.encode()
    quoted = b'"' in block
    body = characters_of(block)
    shield = next((byte for byte in _SHIELDS if byte not in block), _SHIELDS[0]) if quoted else b""
    if quoted:
        body = _shield(body, line_ends(block), sep, shield)
    lines = block.count(b"\n")
    fields = lines + int(np.count_nonzero(body == sep[0]))
    kept, offsets = np.empty(len(block), np.uint8), np.empty(fields + 1, np.int32)
    ends, first = np.empty(lines, np.int64), np.empty(lines + 1, np.int64)
    size = split_fields(body, sep[0], kept, offsets, ends, first)
    values = pa.StringArray.from_buffers(fields, pa.py_buffer(offsets), pa.py_buffer(kept[:size]))
    if not block.isascii() or any(blank in block for blank in _BLANKS if blank != sep):
        values = pc.utf8_trim_whitespace(values)
    if quoted:
        values = _unquote(pc.replace_substring(values, shield.decode(), separator), '"')
    if b"'" in block:
        values = _unquote(values, "'")
    return Lines(block, ends, values, first[:-1], np.diff(first))


def _shield(characters: Bytes, ends: Ints, sep: bytes, shield: bytes) -> Bytes:
    """The block with separators inside double quotes replaced, so that they do not separate."""
    quotes = np.cumsum(characters == ord('"'), dtype=np.int64)
    until = quotes[ends - 1]
    before = np.concatenate([[0], until[:-1]])
    lengths = np.diff(np.concatenate([[0], ends]))
    paired = np.repeat((until - before) % 2 == 0, lengths)
    inside = (quotes - np.repeat(before, lengths)) % 2 == 1
    shielded = characters.copy()
    shielded[paired & inside & (characters == sep[0])] = shield[0]
    return shielded


def _unquote(values: pa.Array, quote: str) -> pa.Array:
    """Fields that stand in quotes without them."""
    quoted = pc.and_(pc.starts_with(values, quote), pc.ends_with(values, quote))
    quoted = pc.and_(quoted, pc.greater(pc.binary_length(values), 1))
    inner = pc.utf8_slice_codeunits(values.filter(quoted), 1, -1)
    return pc.replace_with_mask(values, quoted, pc.replace_substring(inner, quote * 2, quote))


def none_if_empty(column: pa.Array) -> pa.Array:
    """Empty fields as missing values."""
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
