"""What a query found, as Arrow tables: changes of intervals, derived events, pending countdowns.

Texts of instances are made once per instance and then taken by id.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns.cells import NONE
from thalweg.columns.symbols import as_floats, number_text
from thalweg.columns.timelines import OPEN
from thalweg.events.plan import Plan
from thalweg.events.stores import TIME, EventStore, FluentStore, Moves
from thalweg.events.sweeping import SweepUnit
from thalweg.events.units import Clock
from thalweg.protocol import Ints

CHANGES = pa.schema(
    [
        ("query_time", pa.int64()),
        ("op", pa.string()),
        ("fluent", pa.string()),
        ("value", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("cause", pa.string()),
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
class Texts:
    """Instance texts of one relation, grown with its instances."""

    name: str
    kind: str
    arity: int
    array: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))


class Output:
    """Collects differences query by query and turns them into tables."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._texts = {id(store): Texts(store.name, "fluent", store.arity) for _, _, store in plan.outputs}
        self._changes: dict[int, tuple[FluentStore, list[Ints]]] = {}
        self._events: list[pa.Table] = []
        self._symbols = pa.array([], pa.string())

    # ----------------------------------------------------------------- texts

    def _argument(self, kind: str, name: str, position: int, codes: Ints) -> pa.Array:
        """The texts of one argument."""
        coder = self.plan.catalogue.coder
        if coder.sorts.numeric((kind, name, position)):
            return pa.array([number_text(v) for v in as_floats(codes).tolist()], pa.string())
        texts = coder.symbols.texts
        if len(self._symbols) < len(texts):
            self._symbols = pa.concat_arrays([self._symbols, pa.array(texts[len(self._symbols) :], pa.string())])
        return self._symbols.take(pa.array(codes))

    def _instances(self, kind: str, name: str, keys: Ints) -> pa.Array:
        """The texts of ground instances: the relation's name with its holes filled."""
        parts = _split(name)
        if len(parts) == 1:
            return pa.repeat(name, len(keys))
        pieces: list[pa.Array | str] = []
        for i, part in enumerate(parts[:-1]):
            pieces += [part, self._argument(kind, name, i, np.ascontiguousarray(keys[:, i]))]
        return pc.binary_join_element_wise(*pieces, parts[-1], "")

    def fluent_texts(self, store: FluentStore, ids: Ints) -> pa.Array:
        """The texts of fluent instances."""
        texts = self._texts[id(store)]
        if len(texts.array) < store.instances.count:
            keys = store.instances.keys[len(texts.array) :, : store.arity]
            texts.array = pa.concat_arrays([texts.array, self._instances("fluent", store.name, keys)])
        return texts.array.take(pa.array(ids))

    def value_texts(self, store: FluentStore, values: Ints) -> pa.Array:
        """The texts of values."""
        codes, inverse = np.unique(values, return_inverse=True)
        coder = self.plan.catalogue.coder
        names = [coder.text(int(c), ("value", store.name, 0)) for c in codes]
        return pa.array(names, pa.string()).take(pa.array(inverse))

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
            part = np.empty((len(ids), 7), np.int64)
            part[:, 0], part[:, 1], part[:, 2], part[:, 3] = clock.query, op, ids, values
            part[:, 4:6], part[:, 6] = intervals[:, :2], causes
            self._changes.setdefault(id(store), (store, []))[1].append(part)

    def _change_table(self) -> pa.Table:
        """The collected changes, fluent by fluent."""
        if not self._changes:
            return CHANGES.empty_table()
        rows = np.concatenate([part for _, parts in self._changes.values() for part in parts])
        fluents, values = [], []
        for store, parts in self._changes.values():
            mine = np.concatenate(parts)
            fluents.append(self.fluent_texts(store, np.ascontiguousarray(mine[:, 2])))
            values.append(self.value_texts(store, np.ascontiguousarray(mine[:, 3])))
        self._changes = {}
        ends = np.ascontiguousarray(rows[:, 5])
        return pa.table(
            [
                pa.array(np.ascontiguousarray(rows[:, 0])),
                pa.array(["delete", "insert"]).take(pa.array(np.ascontiguousarray(rows[:, 1]))),
                pa.concat_arrays(fluents),
                pa.concat_arrays(values),
                pa.array(np.ascontiguousarray(rows[:, 4])),
                pa.array(ends, mask=ends == OPEN),
                cause_texts(np.ascontiguousarray(rows[:, 6])),
            ],
            schema=CHANGES,
        )

    def _happened(self, clock: Clock, store: EventStore, moves: Moves) -> None:
        for op, rows, causes in (
            ("delete", moves.gone, moves.gone_cause),
            ("insert", moves.came, moves.came_cause),
        ):
            if len(rows):
                names = self._instances("event", store.name, np.ascontiguousarray(rows[:, 1:]))
                self._events.append(
                    pa.table(
                        [
                            pa.array(np.full(len(rows), clock.query)),
                            pa.repeat(op, len(rows)),
                            names,
                            pa.array(np.ascontiguousarray(rows[:, 0])),
                            cause_texts(causes),
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

    def forget(self) -> None:
        """Drop texts and collected rows, after a snapshot was put in."""
        for texts in self._texts.values():
            texts.array = pa.array([], pa.string())
        self._symbols = pa.array([], pa.string())
        self._changes, self._events = {}, []

    @staticmethod
    def schemas() -> dict[str, pa.Schema]:
        return {"changes": CHANGES, "events": EVENTS, "open": PENDING, "rejected": REJECTED}


def cause_texts(causes: Ints) -> pa.Array:
    """``time``, or the input row."""
    if (causes == TIME).all():
        return pa.repeat("time", len(causes))
    codes, inverse = np.unique(causes, return_inverse=True)
    return pa.array(["time" if c == TIME else f"row {c}" for c in codes.tolist()]).take(pa.array(inverse))


def _split(name: str) -> list[str]:
    """A relation's name around its holes."""
    import re

    return re.split(r"(?<=[(,])_(?=[,)])", name)
