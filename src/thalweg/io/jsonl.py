"""JSON lines: one object per line, each read as if it were alone (`thalweg.io.keyed`).

Arrow reads whole blocks. A block that it refuses (a malformed line, a key whose values are of different
types) is read line by line instead, and the malformed lines are rejected.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from thalweg import reasons
from thalweg.columns.pieces import whole
from thalweg.io.delimited import characters_of, line_ends, whole_lines
from thalweg.io.kernels import mark_keys
from thalweg.io.keyed import Keys, column_name, columns_by_key, rows_by_column
from thalweg.io.rejects import Rejects
from thalweg.io.shapes import Shapes
from thalweg.io.tabular import Table, keyed_header
from thalweg.io.times import as_mask
from thalweg.io.values import is_nothing
from thalweg.language.terms import EXACT
from thalweg.protocol import Ints


class JsonLines:
    """Reads the blocks of one file in order. `seen`: the columns so far, in the order of first sight."""

    def __init__(self, label: str, shapes: Shapes) -> None:
        self.label = label
        self.header = keyed_header(shapes)
        self.seen: dict[str, None] = {}
        self._texts: dict[str, pa.DataType] = {}
        """Columns that Arrow would take for timestamps, though they may be names."""

    def read(self, block: bytes, line: int, rejected: Rejects) -> Table:
        """The rows of a block that begins with line number `line`."""
        ends = line_ends(block)
        lines = whole_lines(block, ends)
        where = np.flatnonzero(as_mask(pc.not_equal(pc.utf8_trim_whitespace(lines), "")))
        found = self._in_one(block, ends, where)
        if found is None:
            objects, where = self._line_by_line(lines, where, line, rejected)
            found = columns_by_key(objects)
        columns, keys = found
        self.seen.update(dict.fromkeys(columns))
        for name in self.header.columns:
            columns.setdefault(name, pa.nulls(len(where)))

        def text(bad: Ints) -> pa.Array:
            return pc.utf8_rtrim(lines.take(pa.array(where[bad])), "\n")

        return Table(columns, where + line, text, keys=keys)

    def _in_one(self, block: bytes, ends: Ints, where: Ints) -> tuple[dict[str, pa.Array], Keys] | None:
        """The columns and keys of the lines, read as one; None: they have to be read one by one."""
        table = self._table(block)
        if table is None or table.num_rows != len(where) or _rounded(table):
            return None
        names = [column_name(name, self.header.columns) for name in table.column_names]
        sets = _key_sets(block, ends, where)
        if sets is None or len(set(names)) < len(names):
            return None
        found = dict(zip(names, table.columns, strict=True))
        columns = {name: whole(column) for name, column in found.items() if not pa.types.is_nested(column.type)}
        named = tuple(tuple(column_name(key, self.header.columns) for key in keys) for keys in sets.sets)
        return columns, Keys(sets.which, named)

    def _table(self, block: bytes) -> pa.Table | None:
        """The block as Arrow reads it, all texts as texts."""
        for texts in (self._texts, {}):
            try:
                table = _parsed(block, texts)
                stamps = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
                if not stamps:
                    return table
                self._texts |= dict.fromkeys(stamps, pa.string())
                return _parsed(block, texts | dict.fromkeys(stamps, pa.string()))
            except pa.ArrowInvalid:
                continue
        return None

    def _line_by_line(
        self, lines: pa.Array, where: Ints, line: int, rejected: Rejects
    ) -> tuple[list[Mapping[str, Any]], Ints]:
        """The objects of the lines that hold one, and those lines."""
        said = [_object(line) for line in lines.take(pa.array(where)).to_pylist()]
        keys = dict.fromkeys(key for found in said if not isinstance(found, str) for key in found)
        self.seen.update(dict.fromkeys(column_name(key, self.header.columns) for key in keys))
        objects: list[Mapping[str, Any]] = []
        good: list[int] = []
        bad: list[int] = []
        complaints: list[str] = []
        known = iter(rows_by_column((row for row in said if not isinstance(row, str)), self.header.columns))
        for place, row in zip(where.tolist(), said, strict=True):
            found = row if isinstance(row, str) else next(known)
            if isinstance(found, str):
                bad.append(place)
                complaints.append(found)
            else:
                objects.append(found)
                good.append(place)
        wrong = np.array(bad, np.int64)
        text = pc.utf8_rtrim(lines.take(pa.array(wrong)), "\n")
        rejected.add(wrong + line, reasons.MALFORMED, pa.array(complaints, pa.string()), text)
        return objects, np.array(good, np.int64)


def _parsed(block: bytes, texts: Mapping[str, pa.DataType]) -> pa.Table:
    options = pj.ParseOptions(explicit_schema=pa.schema(texts.items()))
    return pj.read_json(pa.BufferReader(block), pj.ReadOptions(block_size=max(len(block), 1)), options)


def _key_sets(block: bytes, ends: Ints, where: Ints) -> Keys | None:
    """The keys of the lines that say something; None where a line does not hold one object."""
    marks = np.empty(len(where), np.uint64)
    starts = np.concatenate([np.zeros(1, np.int64), ends])[where]
    mark_keys(characters_of(block), starts, ends[where], marks)
    distinct, first, which = np.unique(marks, return_index=True, return_inverse=True)
    sets = []
    for place in first.tolist():
        found = _object(block[starts[place] : ends[where[place]]].decode())
        if isinstance(found, str):
            return None
        sets.append(tuple(key for key, value in found.items() if not is_nothing(value)))
    return Keys(which.astype(np.int64), tuple(sets)) if not len(distinct) or distinct[0] else None


def _rounded(table: pa.Table) -> bool:
    """Whether a column of floats may have been whole numbers too large for one."""
    floats = [column for column in table.columns if pa.types.is_floating(column.type)]
    return any((pc.max(pc.abs(column)).as_py() or 0) >= EXACT for column in floats)


def _object(line: str) -> dict[str, Any] | str:
    """The object of a line, or what is wrong with it."""
    try:
        found = json.loads(line.removesuffix("\n"))
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

