"""RTEC-style CSV: no header, one row per line, the name first, `|` between the fields.

    name|arrival|time|arguments...                 events
    name|arrival|start|end|value|arguments...      input fluents, as intervals
    name|arrival|time|value|arguments...           input fluents, as points

A line may begin with one more field, ``+`` for an insertion or ``-`` for a retraction.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg import reasons
from thalweg.io.assemble import Fields, assemble
from thalweg.io.delimited import Lines, characters_of, none_if_empty, split
from thalweg.io.groups import Group, by_name
from thalweg.io.kernels import survey_lines
from thalweg.io.rejects import Rejects
from thalweg.io.shapes import Layout, Shape, Shapes
from thalweg.io.times import Clock, Extent, Mask, as_mask, extent
from thalweg.protocol import Ints, Rows

ARGUMENTS_AT = {Layout.EVENT: 3, Layout.POINT: 4, Layout.INTERVAL: 5}
_MAY_BEGIN_A_SIGN = np.array([not (chr(byte).isalnum() and byte < 128) for byte in range(256)])
"""First bytes of lines that may begin with a sign, be it in quotes or after blanks."""


def read_block(
    block: bytes, separator: str, shapes: Shapes, clock: Clock, *, line: int, offset: int, rejected: Rejects
) -> list[Rows]:
    """The rows of a block whose first line is number `line` of its source."""
    return read_lines(split(block, separator), shapes, clock, line=line, offset=offset, rejected=rejected)


def read_lines(
    lines: Lines, shapes: Shapes, clock: Clock, *, line: int, offset: int, rejected: Rejects
) -> list[Rows]:
    """The rows of lines, the first of which is number `line` of its source; empty lines say nothing."""
    blank = lines.blank()
    lines, signed = without_signs(lines)
    shaped, misshapen, unknown = by_shape(lines, shapes)
    unknown = unknown[~blank[unknown]]
    if len(unknown):
        details = shapes.unknown(lines.field(unknown, 0))
        rejected.add(unknown + line, reasons.UNKNOWN_NAME, details, lines.text(unknown))
    found: list[Rows] = []
    for shape, where in shaped:
        rows = assemble(_fields(shape, lines, where, signed, line), clock, offset, rejected)
        if rows is not None:
            found.append(rows)
    for name, wrong in misshapen:
        rejected.add(wrong + line, reasons.WRONG_ARITY, _arity(lines, wrong, name, shapes), lines.text(wrong))
    return found


def by_shape(lines: Lines, shapes: Shapes) -> tuple[list[tuple[Shape, Ints]], list[Group], Ints]:
    """The lines of each shape; those of each name that fit none of its shapes; all others. The lines have no signs."""
    names = lines.field(np.arange(len(lines)), 0).dictionary_encode()
    groups, others = by_name(names, shapes.by_name)
    shaped: list[tuple[Shape, Ints]] = []
    misshapen: list[Group] = []
    for name, left in groups:
        for shape in shapes.by_name[name].values():
            fits = lines.count[left] == ARGUMENTS_AT[shape.layout] + shape.arity
            if fits.any():
                shaped.append((shape, left if fits.all() else left[fits]))
                left = left[~fits]
        if len(left):
            misshapen.append(Group(name, left))
    return shaped, misshapen, others


def without_signs(lines: Lines) -> tuple[Lines, Mask | None]:
    """The lines without their leading ``+`` or ``-`` field, and which of them had one."""
    if not _MAY_BEGIN_A_SIGN[lines.first_characters()].any():
        return lines, None
    heads = lines.field(np.arange(len(lines)), 0)
    signed = as_mask(pc.is_in(heads, pa.array(["+", "-"]))) & (lines.count > 1)
    if not signed.any():
        return lines, None
    return Lines(lines.block, lines.ends, lines.values, lines.first + signed, lines.count - signed), signed


def _fields(shape: Shape, lines: Lines, where: Ints, signed: Mask | None, line: int) -> Fields:
    start = ARGUMENTS_AT[shape.layout]
    op = None
    if signed is not None:
        marks = lines.values.take(
            pa.array(np.where(signed[where], lines.first[where] - 1, lines.first[where]))
        )
        op = pc.if_else(pa.array(signed[where]), marks, pa.scalar("+"))
    return Fields(
        shape=shape,
        row=where + line,
        arrival=lines.field(where, 1),
        time=lines.field(where, 2),
        end=lines.field(where, 3) if shape.layout is Layout.INTERVAL else None,
        value=None if shape.layout is Layout.EVENT else none_if_empty(lines.field(where, start - 1)),
        args=tuple(lines.field(where, start + i) for i in range(shape.arity)),
        op=op,
        positional=True,
        text=lambda bad: lines.text(where[bad]),
    )


def _arity(lines: Lines, where: Ints, name: str, shapes: Shapes) -> pa.Array:
    """What the lines have, and what they should have."""
    wanted = [
        f"{ARGUMENTS_AT[s.layout] + arity} ({name}|arrival|{_TIMES[s.layout]}{'|...' if arity else ''})"
        for arity, s in sorted(shapes.by_name[name].items())
    ]
    counts = pa.array(lines.count[where]).cast(pa.string())
    return pc.binary_join_element_wise(counts, f" fields where {name} takes {' or '.join(wanted)}", "")


_TIMES = {Layout.EVENT: "time", Layout.POINT: "time|value", Layout.INTERVAL: "start|end|value"}


def survey_block(block: bytes, separator: str, clock: Clock) -> Extent:
    """The times of a block, without the rest of its rows."""
    if b'"' not in block:  # in quotes a separator separates nothing
        low, high, first, size, read = survey_lines(characters_of(block), ord(separator))
        if read and size and -clock.farthest <= first and high <= clock.farthest:
            return Extent(size, low, high, first) if low <= high else Extent(size, None, None, None)
    lines, _ = without_signs(split(block, separator))
    where = np.flatnonzero(lines.count >= 3)
    return extent(len(lines), [lines.field(where, 1)], [lines.field(where, 2)], clock)
