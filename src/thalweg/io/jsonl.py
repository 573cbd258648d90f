"""JSON lines: one object per line, keys as columns.

Arrow reads whole blocks. A block that it refuses (a malformed line, a key whose values are of different
types) is read line by line instead, and the malformed lines are rejected.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from thalweg import reasons
from thalweg.columns.pieces import whole
from thalweg.io.delimited import line_ends, whole_lines
from thalweg.io.rejects import Rejects
from thalweg.io.shapes import Shapes
from thalweg.io.tabular import Header, Table, flat_columns, read_header
from thalweg.io.times import as_mask
from thalweg.language.terms import EXACT
from thalweg.protocol import Ints


class JsonLines:
    """Reads the blocks of one file in order; columns are those seen so far, in the order of first sight."""

    def __init__(self, label: str, shapes: Shapes) -> None:
        self.label = label
        self.shapes = shapes
        self.columns: dict[str, None] = {}
        self.header: Header | None = None

    def read(self, block: bytes, line: int, rejected: Rejects) -> tuple[Table, Header]:
        """The rows of a block that begins with line number `line`."""
        ends = line_ends(block)
        lines = whole_lines(block, ends)
        where = np.flatnonzero(as_mask(pc.not_equal(pc.utf8_trim_whitespace(lines), "")))
        try:
            table = pj.read_json(
                pa.BufferReader(block), pj.ReadOptions(block_size=max(len(block), 1)), pj.ParseOptions()
            )
        except pa.ArrowInvalid:
            table = None
        if table is None or table.num_rows != len(where) or _rounded(table):
            table, where = _line_by_line(lines, where, line, rejected)
        columns = {name: whole(table.column(name)) for name in flat_columns(table.schema)}
        header = self._header(list(columns))
        for name in header.columns:
            if name not in columns:
                columns[name] = pa.nulls(table.num_rows)

        def text(bad: Ints) -> pa.Array:
            return pc.utf8_rtrim(lines.take(pa.array(where[bad])), "\n")

        return Table(columns, where + line, text), header

    def _header(self, names: list[str]) -> Header:
        if self.header is None or any(name not in self.columns for name in names):
            self.columns.update(dict.fromkeys(names))
            self.header = read_header(list(self.columns), self.shapes, self.label)
        return self.header


def _rounded(table: pa.Table) -> bool:
    """Whether a column of floats may have been whole numbers too large for one."""
    floats = [column for column in table.columns if pa.types.is_floating(column.type)]
    return any((pc.max(pc.abs(column)).as_py() or 0) >= EXACT for column in floats)


def _line_by_line(lines: pa.Array, where: Ints, line: int, rejected: Rejects) -> tuple[pa.Table, Ints]:
    """The objects of the lines that hold one, and those lines."""
    objects: list[dict[str, Any]] = []
    good: list[int] = []
    bad: list[int] = []
    complaints: list[str] = []
    for place in where.tolist():
        found = _object(lines[place].as_py())
        if isinstance(found, str):
            bad.append(place)
            complaints.append(found)
        else:
            objects.append(found)
            good.append(place)
    wrong = np.array(bad, np.int64)
    text = pc.utf8_rtrim(lines.take(pa.array(wrong)), "\n")
    rejected.add(wrong + line, reasons.MALFORMED, pa.array(complaints, pa.string()), text)
    names = dict.fromkeys(name for found in objects for name in found)
    columns = {name: _column([found.get(name) for found in objects]) for name in names}
    table = pa.table(columns) if columns else pa.table({"time": pa.array([], pa.int64())})
    return table, np.array(good, np.int64)


def _object(line: str) -> dict[str, Any] | str:
    """The object of a line, or what is wrong with it."""
    try:
        found = json.loads(line)
        if "\\u" in line:
            json.dumps(found, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        return f"not JSON: {error.msg} at column {error.colno}"
    except UnicodeEncodeError:
        return "not JSON: half of a surrogate pair"
    except RecursionError:
        return "not JSON: nested too deeply"
    except ValueError:
        return f"not JSON: a number of more than {sys.get_int_max_str_digits()} digits"
    return found if isinstance(found, dict) else "not a JSON object"


def _column(values: list[Any]) -> pa.Array:
    """One type where all values are of one; text otherwise."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 or (kinds == {int, float} and all(abs(v) < EXACT for v in values if isinstance(v, int))):
        try:
            return pa.array(
                [float(v) if v is not None else None for v in values] if len(kinds) == 2 else values
            )
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            pass
    return pa.array([v if v is None or isinstance(v, str) else json.dumps(v) for v in values], pa.string())
