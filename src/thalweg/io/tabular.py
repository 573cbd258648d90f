"""Tables with named columns: headed CSV, JSONL, Parquet, Arrow.

    name       which event or fluent the row is of; without it the table holds one, told by its file name
    time       when it happens (or `start`, for intervals)
    arrival    when it becomes known; without it, `time`, also where only some rows have one
    start end  of an interval; without an end it is still running
    value      of a fluent; without it, ``true``
    op         insert or retract (also ``+ -``, and `_change_type` with the names of change data feeds)

Every other column is an argument: by the declared argument names where the table has them all, else ``arg1,
arg2, ...`` where it has those, else the remaining columns in their order. Where rows say by themselves which columns
they have, see `thalweg.io.keyed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg import reasons
from thalweg.columns.pieces import taken
from thalweg.io.assemble import Fields, assemble
from thalweg.io.decoding import readable, stored
from thalweg.io.errors import InputError, did_you_mean
from thalweg.io.groups import Group, by_name
from thalweg.io.keyed import CHANGE_TYPE, FEED, Keys, choices, special_keys
from thalweg.io.rejects import Rejects
from thalweg.io.shapes import Layout, Shape, Shapes
from thalweg.io.times import Clock, Extent, as_mask, extent
from thalweg.protocol import Ints, Rows

OPS = ("op", CHANGE_TYPE)
REFUSED = ("_thalweg_reason", "_thalweg_detail", "_thalweg_text")
"""Columns of lines that were taken apart before: the reason why a line is rejected, the same in words, the line."""


@dataclass(frozen=True, slots=True)
class Header:
    """How the columns of a table are used. Each is a column name, or None where the table has no such column;
    `free` are the columns that may hold arguments, in order. `refused`: the rows were lines, and those that cannot be
    read say why in the columns `REFUSED`."""

    columns: tuple[str, ...]
    name: str | None
    time: str | None
    arrival: str | None
    start: str | None
    end: str | None
    value: str | None
    op: str | None
    free: tuple[str, ...]
    refused: bool = False

    def arguments(self, shape: Shape) -> tuple[str, ...] | None:
        """The columns of the declared arguments, where the table has them all. Fields of lines have no names, so a
        column that was made of them is none, be it called like an argument."""
        names = [field.name for field in shape.fields]
        if self.refused and not {*self._special, *self.free}.isdisjoint(names):
            return None
        if names and all(name is not None and name in self.columns for name in names):
            return tuple(name for name in names if name is not None)
        return None

    @property
    def _special(self) -> tuple[str | None, ...]:
        return self.name, self.time, self.arrival, self.start, self.end, self.value, self.op

    def needed(self, shapes: Iterable[Shape]) -> tuple[str, ...]:
        """The columns that have to be read."""
        used = {column for column in self._special if column}
        used.update(REFUSED if self.refused else ())
        for shape in shapes:
            used.update(self.arguments(shape) or self.free)
        return tuple(column for column in self.columns if column in used)

    @property
    def when(self) -> tuple[str, ...]:
        """The columns that hold times at which rows happen or become known."""
        return tuple(column for column in (self.arrival, self.time, self.start) if column is not None)


def flat_columns(schema: pa.Schema) -> list[str]:
    """The columns that can hold times, constants or numbers: not lists, structures or maps."""
    return [field.name for field in schema if not pa.types.is_nested(stored(field.type))]


def read_header(columns: Sequence[str], shapes: Shapes, label: str) -> Header:
    """How the columns are used; an error where the table has no time."""
    twice = next((column for column in columns if list(columns).count(column) > 1), None)
    if twice is not None:
        raise InputError("columns", f"{label} has more than one column `{twice}`")
    plain = {column.strip().lower(): column for column in reversed(columns)}
    layouts = {shape.layout for shape in shapes}
    interval, fluent = Layout.INTERVAL in layouts, layouts - {Layout.EVENT}
    time = plain.get("time")
    start = plain.get("start") if interval or time is None else None
    if time is None and start is None:
        near = next((name for column, name in plain.items() if did_you_mean(column, ["time"])), None)
        advice = f"; is `{near}` meant to be it?" if near is not None else ""
        found = f"its columns are {', '.join(columns)}" if columns else "it has no columns"
        raise InputError("columns", f"{label} has no column `time`{advice}", found)
    taken = {
        "name": plain.get("name"),
        "time": time,
        "arrival": plain.get("arrival"),
        "start": start,
        "end": plain.get("end") if interval else None,
        "value": plain.get("value") if fluent else None,
        "op": next((plain[column] for column in OPS if column in plain), None),
    }
    for column in taken.values():
        alike = [other for other in columns if column and other.strip().lower() == column.strip().lower()]
        if len(alike) > 1:
            raise InputError("columns", f"{label} has more than one column `{alike[0].lower()}`: {', '.join(alike)}")
    refused = set(REFUSED) <= set(columns)
    others = (*FEED, *OPS, *REFUSED) if refused else (*FEED, *OPS)
    free = [c for c in columns if c not in taken.values() and c.strip().lower() not in others]
    numbered = [plain[f"arg{i}"] for i in range(1, len(free) + 1) if f"arg{i}" in plain]
    return Header(columns=tuple(columns), free=tuple(numbered or free), refused=refused, **taken)


def keyed_header(shapes: Shapes) -> Header:
    """How rows are read that say by themselves which columns they have."""
    special = special_keys(shapes)
    end, value = ("end" if "end" in special else None), ("value" if "value" in special else None)
    return Header(special, "name", "time", "arrival", "start", end, value, "op", free=())


@dataclass(frozen=True, slots=True)
class Table:
    """A piece of a table: its columns, the place of each row in the source, and the rows as text. `among`: the rows to
    be read, in order, where others stand between them. `keys`: which columns each row has, where it says so itself."""

    columns: Mapping[str, pa.Array]
    row: Ints
    text: Callable[[Ints], pa.Array]
    among: Ints | None = None
    keys: Keys | None = None

    def column(self, name: str | None, where: Ints | None) -> pa.Array | None:
        """A column at the given rows (None: at all rows)."""
        if name is None:
            return None
        found = self.columns[name]
        return found if where is None else taken(found, where)


def read_table(
    table: Table,
    header: Header,
    event: str | None,
    shapes: Shapes,
    clock: Clock,
    *,
    offset: int,
    rejected: Rejects,
) -> list[Rows]:
    """The rows of a piece of a table; `event` is the name of the rows that have none."""
    found: list[Rows] = []
    if header.refused:
        table = _without_refused(table, rejected)
    groups, others = _groups(table, header, event, shapes)
    if len(others):
        details = shapes.unknown(_texts(table.columns[header.name or ""]).take(pa.array(others)))
        rejected.add(table.row[others], reasons.UNKNOWN_NAME, details, table.text(others))
    for group in groups:
        whole = len(group.where) == len(table.row)
        for shape, columns, where in _shaped(table, header, group, shapes, rejected):
            for time, timed in _by_time(table, header, shape, where):
                everything = whole and len(timed) == len(table.row)
                fields = _fields(table, header, shape, columns, time, None if everything else timed)
                rows = assemble(fields, clock, offset, rejected)
                if rows is not None:
                    found.append(rows)
    return found


def _without_refused(table: Table, rejected: Rejects) -> Table:
    """The table without the rows that say why they cannot be read; these are rejected."""
    reason, detail, text = (table.columns[name] for name in REFUSED)
    if reason.null_count == len(reason):
        return table
    told = as_mask(reason.is_valid())
    rows = np.arange(len(told)) if table.among is None else table.among
    refused = rows[told[rows]]
    which = _texts(taken(reason, refused))
    for word in which.unique().to_pylist():
        where = refused[as_mask(pc.equal(which, word))]
        rejected.add(table.row[where], word, _texts(taken(detail, where)), _texts(taken(text, where)))
    return replace(table, among=rows[~told[rows]])


def _groups(table: Table, header: Header, event: str | None, shapes: Shapes) -> tuple[list[Group], Ints]:
    """The rows of each known name, and all other rows."""
    if header.name is None:
        assert event is not None
        rows = np.arange(len(table.row)) if table.among is None else table.among
        return [Group(event, rows)], np.empty(0, np.int64)
    names = table.columns[header.name]
    if event is not None:
        names = pc.fill_null(names.cast(pa.string()), event)
    if not pa.types.is_dictionary(names.type):
        names = names.cast(pa.string()).dictionary_encode()
    return by_name(names, shapes.by_name, table.among)


def _texts(column: pa.Array) -> pa.Array:
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return readable(plain.cast(pa.string()))


def _shaped(
    table: Table, header: Header, group: Group, shapes: Shapes, rejected: Rejects
) -> Iterator[tuple[Shape, tuple[str | None, ...], Ints]]:
    """The rows of a group by shape, with the columns of their arguments; rows of no shape are rejected."""
    arities = shapes.by_name[group.name]
    if table.keys is not None:
        for choice, where in choices(table.keys, group.where, arities, header.columns):
            if isinstance(choice, tuple):
                yield *choice, where
            else:
                _reject_arity(table, group.name, where, np.full(len(where), choice), shapes, rejected)
        return
    if len(arities) == 1:
        (shape,) = arities.values()
        declared = header.arguments(shape)
        if declared is not None or len(header.free) == shape.arity:
            yield shape, declared or header.free, group.where
            return
    used = _used(table, header, group.where)
    smallest = min(arities)
    left = np.ones(len(used), np.bool_)
    for arity, shape in arities.items():
        fits = used == arity
        if len(arities) == 1 and len(header.free) >= arity:
            fits = used <= smallest
        if fits.any():
            left &= ~fits
            yield shape, header.free[:arity], group.where[fits]
    _reject_arity(table, group.name, group.where[left], used[left], shapes, rejected)


def _reject_arity(table: Table, name: str, wrong: Ints, used: Ints, shapes: Shapes, rejected: Rejects) -> None:
    """Reject rows of a name with so many arguments."""
    counts = pa.array(used)
    nouns = pc.if_else(pc.equal(counts, 1), " argument", " arguments")
    expected = f" where {shapes.wrong_arity(name)}"
    detail = pc.binary_join_element_wise(counts.cast(pa.string()), nouns, expected, "")
    rejected.add(table.row[wrong], reasons.WRONG_ARITY, detail, table.text(wrong))


def _used(table: Table, header: Header, where: Ints) -> Ints:
    """How many argument columns each row uses: up to the last one that is not empty."""
    used = np.zeros(len(where), np.int64)
    for position, column in enumerate(header.free, start=1):
        present = as_mask(table.columns[column].is_valid())[where]
        used[present] = position
    return used


def _by_time(table: Table, header: Header, shape: Shape, where: Ints) -> Iterator[tuple[str, Ints]]:
    """The rows by the column that has their time: intervals have a `start` and all others a `time`, but where only the
    other of the two is there, it is that."""
    both = (header.start, header.time) if shape.layout is Layout.INTERVAL else (header.time, header.start)
    first, *other = [name for name in both if name is not None]
    if other and table.columns[first].null_count:
        lacking = as_mask(pc.and_(table.columns[first].is_null(), table.columns[other[0]].is_valid()))[where]
        if lacking.any():
            yield other[0], where[lacking]
            where = where[~lacking]
    if len(where):
        yield first, where


def _fields(
    table: Table, header: Header, shape: Shape, columns: tuple[str | None, ...], time: str, where: Ints | None
) -> Fields:
    interval = shape.layout is Layout.INTERVAL
    row = table.row if where is None else table.row[where]

    def argument(name: str | None) -> pa.Array:
        found = table.column(name if name in table.columns else None, where)
        return pa.nulls(len(row)) if found is None else found

    return Fields(
        shape=shape,
        row=row,
        time=table.column(time, where),
        arrival=table.column(header.arrival, where),
        end=table.column(header.end, where) if interval else None,
        value=None if shape.layout is Layout.EVENT else table.column(header.value, where),
        args=tuple(map(argument, columns)),
        op=table.column(header.op, where),
        text=lambda bad: table.text(bad if where is None else where[bad]),
    )


def rows_as_text(columns: Mapping[str, pa.Array], where: Ints) -> pa.Array:
    """``name=velocity time=5 speed=2.5``: rows of a typed table, for the rejected table."""
    cells = [pa.repeat(pa.scalar("", pa.string()), len(where))]  # a row may be nothing but nulls
    for name, column in columns.items():
        cell = column.take(pa.array(where))
        if pa.types.is_dictionary(cell.type):
            cell = cell.dictionary_decode()
        if not pa.types.is_nested(cell.type):
            cells.append(pc.binary_join_element_wise(f"{name}=", cell.cast(pa.string()), ""))
    return pc.utf8_ltrim_whitespace(readable(pc.binary_join_element_wise(*cells, " ", null_handling="skip")))


def survey_columns(columns: Mapping[str, pa.Array], header: Header, size: int, clock: Clock) -> Extent:
    """The times of a piece of a table."""
    arrivals = [columns[header.arrival]] if header.arrival is not None else []
    times = [columns[name] for name in (header.time, header.start) if name is not None]
    return extent(size, arrivals, times, clock, optional=True)
