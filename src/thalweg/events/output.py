"""What a query found, as Arrow tables: changes of intervals, derived events, pending countdowns.

Texts of instances are made once per instance and then taken by number; the table of changes is dictionary-encoded, with
each text once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns.cells import NONE
from thalweg.columns.gathering import TIME
from thalweg.columns.symbols import as_floats, number_text
from thalweg.columns.texts import Numbers, TextPool
from thalweg.columns.timelines import OPEN
from thalweg.events.plan import Plan
from thalweg.events.stores import EventStore, FluentStore, Moves
from thalweg.events.sweeping import SweepUnit
from thalweg.events.units import Clock
from thalweg.protocol import Ints

TEXT = pa.dictionary(pa.int32(), pa.string())
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
EVENTS = pa.schema(
    [
        ("query_time", pa.int64()),
        ("op", pa.string()),
        ("event", pa.string()),
        ("time", pa.int64()),
        ("cause", pa.string()),
    ]
)
PENDING = pa.schema(
    [
        ("query_time", pa.int64()),
        ("fluent", pa.string()),
        ("value", pa.string()),
        ("due", pa.int64()),
        ("since", pa.int64()),
        ("cancelled_by", pa.string()),
    ]
)
REJECTED = pa.schema(
    [("query_time", pa.int64()), ("row", pa.int64()), ("reason", pa.string()), ("detail", pa.string())]
)


@dataclass(slots=True)
class Part:
    """Changes of one fluent at one query time: deletions (op 0) or insertions (1)."""

    query: int
    op: int
    ids: Ints
    values: Ints
    intervals: Ints
    causes: Ints


class Output:
    """Collects differences query by query and turns them into tables."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._changes: dict[int, tuple[FluentStore, list[Part]]] = {}
        self._events: list[pa.Table] = []
        self.forget()

    def forget(self) -> None:
        """Drop texts and collected rows, after a snapshot was put in."""
        self._pool = TextPool()
        self._symbols = Numbers()
        self._instances = {id(store): Numbers() for _, _, store in self.plan.outputs}
        self._numbers: dict[int, int] = {}
        self._changes, self._events = {}, []

    # ----------------------------------------------------------------- texts

    def _symbol_numbers(self) -> Ints:
        """The numbers of the texts of all symbols."""
        texts = self.plan.catalogue.coder.symbols.texts
        if self._symbols.count < len(texts):
            self._symbols.extend(self._pool.add(pa.array(texts[self._symbols.count :], pa.string())))
        return self._symbols.known

    def _argument(self, kind: str, name: str, position: int, codes: Ints) -> pa.Array:
        """The texts of one argument."""
        if self.plan.catalogue.coder.sorts.numeric((kind, name, position)):
            return pa.array([number_text(v) for v in as_floats(codes).tolist()], pa.string())
        return self._pool.take(self._symbol_numbers()[codes])

    def _written(self, kind: str, name: str, keys: Ints) -> pa.Array:
        """The texts of ground instances: the relation's name with its holes filled."""
        parts = _split(name)
        if len(parts) == 1:
            return pa.repeat(name, len(keys))
        pieces: list[pa.Array | str] = []
        for i, part in enumerate(parts[:-1]):
            pieces += [part, self._argument(kind, name, i, np.ascontiguousarray(keys[:, i]))]
        return pc.binary_join_element_wise(*pieces, parts[-1], "")

    def _fluent_numbers(self, store: FluentStore, ids: Ints) -> Ints:
        """The numbers of the texts of fluent instances, which are written when first asked for."""
        known = self._instances[id(store)]
        if known.count < store.instances.count:
            keys = store.instances.keys[known.count :, : store.arity]
            known.extend(self._pool.add(self._written("fluent", store.name, keys)))
        return known.known[ids]

    def _value_numbers(self, store: FluentStore, values: Ints) -> Ints:
        """The numbers of the texts of values."""
        if not self.plan.catalogue.coder.sorts.numeric(("value", store.name, 0)):
            return self._symbol_numbers()[values]
        codes, inverse = np.unique(values, return_inverse=True)
        new = [code for code in codes.tolist() if code not in self._numbers]
        texts = [number_text(v) for v in as_floats(np.array(new, np.int64)).tolist()]
        self._numbers.update(zip(new, self._pool.add(pa.array(texts, pa.string())).tolist(), strict=True))
        return np.array([self._numbers[code] for code in codes.tolist()], np.int64)[inverse]

    def fluent_texts(self, store: FluentStore, ids: Ints) -> pa.Array:
        """The texts of fluent instances."""
        return self._pool.take(self._fluent_numbers(store, ids))

    def value_texts(self, store: FluentStore, values: Ints) -> pa.Array:
        """The texts of values."""
        return self._pool.take(self._value_numbers(store, values))

    # ----------------------------------------------------------------- collecting

    def collect(self, clock: Clock) -> None:
        """Take the differences of the query that has just run."""
        for unit, at, store in self.plan.outputs:
            difference = unit.reported(at, clock)
            if difference is not None:
                d = difference
                self._change(clock, store, 0, d.removed_ids, d.removed, d.removed_cause)
                self._change(clock, store, 1, d.added_ids, d.added, d.added_cause)
        for derived in self.plan.derived:
            moves = derived.reported(clock)
            if moves:
                self._happened(clock, derived.store, moves)

    def _change(self, clock: Clock, store: FluentStore, op: int, ids: Ints, intervals: Ints, causes: Ints) -> None:
        if len(ids):
            values = store.instances.column(store.arity, ids) if store.by_value else intervals[:, 2]
            part = Part(clock.query, op, ids, values, intervals, causes)
            self._changes.setdefault(id(store), (store, []))[1].append(part)

    def _change_table(self) -> pa.Table:
        """The collected changes, fluent by fluent."""
        if not self._changes:
            return CHANGES.empty_table()
        found = [(store, part) for store, parts in self._changes.values() for part in parts]
        self._changes = {}
        sizes = [len(part.ids) for _, part in found]
        fluents = np.concatenate([self._fluent_numbers(store, part.ids) for store, part in found])
        values = np.concatenate([self._value_numbers(store, part.values) for store, part in found])
        starts, ends = (np.concatenate([part.intervals[:, c] for _, part in found]) for c in (0, 1))
        ops = np.repeat(np.array([part.op for _, part in found], np.int32), sizes)
        return pa.table(
            [
                pa.array(np.repeat([part.query for _, part in found], sizes)),
                pa.DictionaryArray.from_arrays(pa.array(ops), pa.array(["delete", "insert"])),
                self._pool.encode(fluents),
                self._pool.encode(values),
                pa.array(starts),
                pa.array(ends, mask=ends == OPEN),
                cause_texts(np.concatenate([part.causes for _, part in found])),
            ],
            schema=CHANGES,
        )

    def _happened(self, clock: Clock, store: EventStore, moves: Moves) -> None:
        for op, rows, causes in (
            ("delete", moves.gone, moves.gone_cause),
            ("insert", moves.came, moves.came_cause),
        ):
            if len(rows):
                names = self._written("event", store.name, np.ascontiguousarray(rows[:, 1:]))
                self._events.append(
                    pa.table(
                        [
                            pa.array(np.full(len(rows), clock.query)),
                            pa.repeat(op, len(rows)),
                            names,
                            pa.array(np.ascontiguousarray(rows[:, 0])),
                            cause_texts(causes).cast(pa.string()),
                        ],
                        schema=EVENTS,
                    )
                )

    # ----------------------------------------------------------------- tables

    def tables(self, query_time: int) -> dict[str, pa.Table]:
        """Everything collected since the last call, and the countdowns that run at `query_time`."""
        events = pa.concat_tables(self._events) if self._events else EVENTS.empty_table()
        self._events = []
        return {"changes": self._change_table(), "events": events, "open": self._pending(query_time)}

    def _pending(self, query_time: int) -> pa.Table:
        found = []
        for unit in self.plan.units():
            if not isinstance(unit, SweepUnit) or not unit.countdowns.plans:
                continue
            pending = unit.countdowns.pending()
            for at, store in enumerate(unit.stores):
                mine = pending.fluent == at
                n = int(mine.sum())
                if not n:
                    continue
                source, target = pending.value[mine], pending.target[mine]
                ends = target == NONE
                name = self.fluent_texts(store, pending.instance[mine])
                pair = pc.binary_join_element_wise(name, self.value_texts(store, source), "=")
                end = pc.binary_join_element_wise("end of ", pair, "")
                again = pc.binary_join_element_wise(end, " or initiation of ", pair, "")
                shown = self.value_texts(store, np.where(ends, source, target))
                found.append(
                    pa.table(
                        [
                            pa.array(np.full(n, query_time)),
                            name,
                            pc.if_else(pa.array(ends), pa.scalar(None, pa.string()), shown),
                            pa.array(pending.due[mine]),
                            pa.array(pending.since[mine]),
                            pc.if_else(pa.array(pending.postponable[mine]), again, end),
                        ],
                        schema=PENDING,
                    )
                )
        return pa.concat_tables(found) if found else PENDING.empty_table()

    @staticmethod
    def schemas() -> dict[str, pa.Schema]:
        return {"changes": CHANGES, "events": EVENTS, "open": PENDING, "rejected": REJECTED}


def cause_texts(causes: Ints) -> pa.DictionaryArray:
    """``time``, or the input row."""
    if (causes == TIME).all():
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(causes), np.int32)), pa.array(["time"]))
    codes, inverse = np.unique(causes, return_inverse=True)
    texts = ["time" if c == TIME else f"row {c}" for c in codes.tolist()]
    return pa.DictionaryArray.from_arrays(pa.array(inverse.astype(np.int32)), pa.array(texts))


def _split(name: str) -> list[str]:
    """A relation's name around its holes."""
    import re

    return re.split(r"(?<=[(,])_(?=[,)])", name)
