"""Where the tables of a run go: kept in memory, or written to a directory as they come.

The reasoner's changes are kept as they are and folded as well: changes of intervals to `timeline`, changes of
derived events to `events`. docs/tables.md says what the columns mean.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from thalweg.io.fold import (
    ATOM_CHANGES,
    ATOMS,
    EVENT_CHANGES,
    EVENTS,
    INTERVAL_CHANGES,
    TEXT,
    TIMELINE,
    Folding,
    Sort,
    concatenate,
)
from thalweg.io.instances import Instances
from thalweg.io.order import Ordering, Shelf, in_order
from thalweg.io.rejects import REJECTED
from thalweg.io.write import Folder
from thalweg.language.rules import Kind

CHANGES = pa.schema(
    [
        ("query_time", pa.int64()),
        ("op", TEXT),
        ("fluent", TEXT),
        ("value", TEXT),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("cause", TEXT),
    ]
)
DERIVED = pa.schema(
    [("query_time", pa.int64()), ("op", TEXT), ("event", TEXT), ("time", pa.int64()), ("cause", TEXT)]
)
OPEN = pa.schema(
    [
        ("query_time", pa.int64()),
        ("fluent", TEXT),
        ("value", TEXT),
        ("due", pa.int64()),
        ("since", pa.int64()),
        ("cancelled_by", TEXT),
    ]
)
TABLES = {
    Kind.EVENTS: {
        "timeline": TIMELINE,
        "changes": CHANGES,
        "events": EVENTS,
        "event_changes": DERIVED,
        "open": OPEN,
        "rejected": REJECTED,
    },
    Kind.ANSWERS: {"rejected": REJECTED},
    Kind.LARS: {"answers": ATOMS, "rejected": REJECTED},
}
"""The tables that every run of a kind has, be they empty; a reasoner may add others."""

MAY_BE_EMPTY = {"timeline": {"end"}, "changes": {"end"}, "events": set[str](), "event_changes": set[str]()}
"""Of the large tables of event descriptions the columns in which a value may be missing. Of the others Parquet files
say that none is, which makes them faster to write and to read."""


FOLDED: dict[Kind, dict[str, tuple[str, Sort]]] = {
    Kind.EVENTS: {"changes": ("timeline", INTERVAL_CHANGES), "event_changes": ("events", EVENT_CHANGES)},
    Kind.ANSWERS: {},
    Kind.LARS: {"changes": ("answers", ATOM_CHANGES)},
}
"""Tables of changes, and what they fold to."""
STANDING = {Kind.EVENTS: {"open"}, Kind.ANSWERS: {"open"}, Kind.LARS: {"labels"}}
"""Tables that say how things stand: each replaces the one before it, so that only the last counts."""


def shaped(name: str, table: pa.Table, kind: Kind) -> tuple[str, pa.Table]:
    """A table as a reasoner gives it, under its documented name and with its documented columns."""
    if kind is Kind.EVENTS and name == "events":
        name = "event_changes"
    schema = TABLES[kind].get(name)
    if schema is None or table.schema.equals(schema):
        return name, table
    return name, table.select(schema.names).cast(schema)


class Memory:
    """Keeps every table."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self._parts: dict[str, list[pa.Table]] = {}
        self._orderings: dict[str, Ordering] = {}

    def add(self, name: str, table: pa.Table) -> None:
        name, table = shaped(name, table, self.kind)
        if name in STANDING[self.kind]:
            self._parts[name] = [table]
        elif name == "rejected":
            self._parts.setdefault(name, []).append(table)
        else:
            ordering = self._orderings.setdefault(name, Ordering(name, self.kind))
            self._parts.setdefault(name, []).extend(ordering.add(table))

    def settle(self, reach: int) -> None:
        """Everything is kept until the end."""

    def tables(self) -> dict[str, pa.Table]:
        """All tables, those included that a run of this kind always has."""
        for name, ordering in self._orderings.items():
            self._parts[name].extend(ordering.rest())
        found = {name: concatenate(parts) for name, parts in self._parts.items()}
        for name in {"rejected", *STANDING[self.kind]} & set(found):
            found[name] = in_order(name, found[name], self.kind)
        for changes, (target, sort) in FOLDED[self.kind].items():
            if changes in found:
                found[target] = sort.fold(found[changes])
        wanted = {name: found.pop(name, schema.empty_table()) for name, schema in TABLES[self.kind].items()}
        return {**wanted, **found}


class Files:
    """Writes every table to a folder as it comes, in order. What is final of the folded tables is written when there is
    much of it, so that memory follows the window; a folded table that is not that large is sorted as a
    whole."""

    def __init__(self, folder: Folder, kind: Kind, instances: Instances | None = None) -> None:
        """With `instances`, the intervals of each fluent are also written to a table of its own."""
        self.folder = folder
        self.kind = kind
        self._instances = instances
        self.sizes: dict[str, int] = {}
        self._orderings: dict[str, Ordering] = {}
        self._standing: dict[str, pa.Table] = {}
        self._rejected = Shelf(folder.path / ".rejected", kind)
        self._reach: int | None = None
        self._folded = {changes: (target, Folding(sort)) for changes, (target, sort) in FOLDED[kind].items()}

    def add(self, name: str, table: pa.Table) -> None:
        name, table = shaped(name, table, self.kind)
        if name in STANDING[self.kind]:
            self._standing[name] = table
        elif name == "rejected":
            with self.folder.writable():
                self._rejected.add(table)
        else:
            ordering = self._orderings.setdefault(name, Ordering(name, self.kind))
            self._write_ordered(name, ordering.add(table))

    def _write_ordered(self, name: str, pieces: Iterable[pa.Table]) -> None:
        for piece in pieces:
            self._write(name, piece)
            if name in self._folded:
                self._folded[name][1].add(piece)

    def settle(self, reach: int) -> None:
        self._reach = reach
        for target, folding in self._folded.values():
            for final in folding.settled(reach):
                self._write_folded(target, final)

    def finish(self) -> None:
        """Write what is left, and the tables that every run has."""
        for name, ordering in self._orderings.items():
            self._write_ordered(name, ordering.rest())
        if self._reach is not None:
            self.settle(self._reach)
        for target, folding in self._folded.values():
            self._write_folded(target, folding.rest())
        for name, table in self._standing.items():
            self._write(name, in_order(name, table, self.kind))
        for table in self._rejected.rows():
            self._write("rejected", table)
        for name, schema in TABLES[self.kind].items():
            self._write(name, schema.empty_table())

    def _write_folded(self, name: str, table: pa.Table) -> None:
        self._write(name, table)
        if name == "timeline" and self._instances is not None:
            for fluent in self._instances.fluents:
                self.folder.write(f"fluents/{_file_name(fluent)}", self._instances.columns(table, fluent, whole=False))

    def _write(self, name: str, table: pa.Table) -> None:
        if self.kind is Kind.EVENTS and name in MAY_BE_EMPTY:
            table = _filled(table, MAY_BE_EMPTY[name])
        self.folder.write(name, table)
        self.sizes[name] = self.sizes.get(name, 0) + table.num_rows


def _file_name(name: str) -> str:
    """A name, which may hold anything, as that of a file.

    >>> _file_name("On it"), _file_name("../50 %")
    ('On it', '..%2F50 %25')
    """
    return name.replace("%", "%25").replace("/", "%2F").replace("\0", "%00")


def _filled(table: pa.Table, may_be_empty: set[str]) -> pa.Table:
    """The table, saying that no value is missing but in the given columns."""
    schema = pa.schema([field.with_nullable(field.name in may_be_empty) for field in table.schema])
    return pa.Table.from_arrays(table.columns, schema=schema)
