"""Admission: input rows become codes, wait for their query time, and are taken in or rejected.

A row takes part from the first query time at or after its arrival and its own time. In the order of arrival, an
insertion makes its fact be there and a retraction takes it away; of rows that arrive together retractions come
first, so that the order in which rows are accepted does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from thalweg.columns.keys import KeyTable
from thalweg.columns.symbols import EXACT, numbers
from thalweg.events.plan import Plan
from thalweg.events.stores import NEVER
from thalweg.protocol import OPEN_END, Ints, Mask, Rows

ARRIVAL, OP, ROW, COUNTS, FACT = range(5)
"""Columns of a waiting row: when it arrives, what it does, its number, from when on it counts, and then the fact."""

TOO_LATE = "too late"
BEFORE_START = "before the start"
UNKNOWN_RETRACTION = "unknown retraction"
UNKNOWN_NAME = "unknown name"
WRONG_ARITY = "wrong arity"
EMPTY_INTERVAL = "end before start"
OFF_TICK = "not on the tick"
NOT_A_NUMBER = "not a number"
MISSING = "missing value"


@dataclass(slots=True)
class Rejected:
    """Rows that count for nothing: the query time at which that is said, the row, and which of `reasons` it is."""

    rows: Ints = field(default_factory=lambda: np.empty((0, 3), np.int64))
    reasons: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, queries: Ints | int, rows: Ints, reason: str, detail: str) -> None:
        if len(rows):
            code = self.reasons.setdefault((reason, detail), len(self.reasons))
            new = np.empty((len(rows), 3), np.int64)
            new[:, 0], new[:, 1], new[:, 2] = queries, rows, code
            self.rows = np.concatenate([self.rows, new])

    def table(self, query: int) -> pa.Table:
        """What is to be said up to the query time, in order of query time and row."""
        said = self.rows[:, 0] <= query
        out, self.rows = self.rows[said], self.rows[~said]
        out = out[np.lexsort([out[:, 1], out[:, 0]])]
        code = pa.array(out[:, 2])
        reasons = pa.array([r for r, _ in self.reasons], pa.string()).take(code)
        details = pa.array([d for _, d in self.reasons], pa.string()).take(code)
        if not len(self.rows):
            self.reasons = {}
        times, rows = (pa.array(np.ascontiguousarray(out[:, c])) for c in range(2))
        return pa.table([times, rows, reasons, details], names=["query_time", "row", "reason", "detail"])


@dataclass(slots=True)
class Waiting:
    """Coded rows of one relation that have not had their query time: not arrived, or (`early`) arrived before their own
    time. Columns: as above, the fact being time, arguments; for fluents start, end, arguments, value."""

    width: int
    parts: list[Ints] = field(default_factory=list)
    ready: bool = True
    early: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.early = np.empty((0, self.width), np.int64)

    def add(self, rows: Ints) -> None:
        self.parts.append(rows)
        self.ready = len(self.parts) == 1 and bool((np.diff(rows[:, 0]) >= 0).all())

    def take(self, query: int) -> Ints:
        """Rows that have arrived by the query time, and those that came early."""
        if not self.parts:
            rows, self.early = self.early, self.early[:0]
            return rows
        if not self.ready:
            rows = np.concatenate(self.parts)
            if (np.diff(rows[:, 0]) < 0).any():
                rows = rows[np.argsort(rows[:, 0], kind="stable")]
            self.parts, self.ready = [rows], True
        rows = self.parts[0]
        at = int(np.searchsorted(rows[:, 0], query, side="right"))
        self.parts = [rows[at:]] if at < len(rows) else []
        if not len(self.early):
            return rows[:at]
        rows, self.early = np.concatenate([self.early, rows[:at]]), self.early[:0]
        return rows


class Verdict:
    """Which rows of a batch are still good, and where the others are said to be bad."""

    def __init__(self, rows: Ints, said: Ints, rejected: Rejected) -> None:
        self.good = np.ones(len(rows), np.bool_)
        self._rows, self._said, self._rejected = rows, said, rejected

    def reject(self, bad: Mask, reason: str, detail: str) -> None:
        bad = bad & self.good
        if bad.any():
            self._rejected.add(self._said[bad], self._rows[bad], reason, detail)
            self.good &= ~bad


class Admission:
    """Codes rows and hands them to the stores."""

    def __init__(self, plan: Plan, *, window: int, step: int, start: int, tick: int) -> None:
        self.plan = plan
        self.window, self.step, self.start, self.tick = window, step, start, tick
        self.rejected = Rejected()
        self._by_name = _by_name(plan)
        self.waiting: dict[str, Waiting] = {}
        self.coder = plan.catalogue.coder

    # ----------------------------------------------------------------- accepting

    def accept(self, rows: Rows, query: int) -> None:
        """Code the rows of one name; what can never be used is rejected at the first query time after its arrival,
        at the earliest at `query`."""
        said = np.maximum(query, self.start - (self.start - rows.arrival) // self.step * self.step)
        found = self._by_name.get(rows.name)
        relation = found.get(len(rows.args)) if found else None
        if found is None:
            self.rejected.add(said, rows.row, UNKNOWN_NAME, f"no rule reads {rows.name}")
        elif relation is None:
            known = ", ".join(f"{rows.name}/{n}" for n in sorted(found))
            self.rejected.add(said, rows.row, WRONG_ARITY, f"{rows.name}/{len(rows.args)}; the rules read {known}")
        elif (relation in self.plan.inputs) != (rows.value is not None):
            what = "an event, without a value" if rows.value is not None else "an interval fluent, with a value"
            self.rejected.add(said, rows.row, WRONG_ARITY, f"{rows.name} is {what}")
        else:
            self._code(rows, relation, relation in self.plan.inputs, Verdict(rows.row, said, self.rejected))

    def _code(self, rows: Rows, relation: str, fluent: bool, verdict: Verdict) -> None:
        kind = "fluent" if fluent else "event"
        columns = [self._column(c, (kind, relation, i), verdict) for i, c in enumerate(rows.args)]
        times: list[Ints] = [rows.time]
        last = rows.time
        if fluent:
            assert rows.value is not None
            columns.append(self._column(rows.value, ("value", relation, 0), verdict))
            end = rows.end if rows.end is not None else rows.time + self.tick
            times.append(end)
            last = np.where(end == OPEN_END, OPEN_END, end - self.tick)
            verdict.reject(end <= rows.time, EMPTY_INTERVAL, "an interval ends after it starts")
        if self.tick > 1:
            off = rows.time % self.tick != 0
            if fluent:
                off |= (times[1] != OPEN_END) & (times[1] % self.tick != 0)
            verdict.reject(off, OFF_TICK, f"times are multiples of {self.tick}")
        if not rows.derived:
            early = (rows.arrival <= self.start) | (last <= self.start)
            verdict.reject(early, BEFORE_START, f"the stream starts after {self.start}")
        known = rows.time - self.tick if rows.derived else rows.time
        out = np.empty((len(rows), FACT + len(times) + len(columns)), np.int64)
        parts: list[Ints] = [rows.arrival, rows.op.astype(np.int64), rows.row, known, *times, *columns]
        for at, part in enumerate(parts):
            out[:, at] = part
        if not verdict.good.all():
            out = out[verdict.good]
        if len(out):
            self.waiting.setdefault(relation, Waiting(out.shape[1])).add(out)

    def _column(self, column: pa.Array, node: tuple[str, str, int], verdict: Verdict) -> Ints:
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if column.null_count:
            missing = column.is_null().to_numpy(zero_copy_only=False)
            verdict.reject(missing, MISSING, f"argument {node[2] + 1} of {node[1]} is missing")
            filler = pa.scalar(0 if not _is_text(column.type) else "", _value_type(column.type))
            column = pc.fill_null(column, filler)
        if not self.coder.sorts.numeric(node):
            return self.coder.symbols.encode(column)
        values = _floats(column)
        bad = ~np.isfinite(values) | (np.abs(values) > EXACT)
        verdict.reject(bad, NOT_A_NUMBER, f"argument {node[2] + 1} of {node[1]} is no number in range")
        return numbers(np.where(bad, 0.0, values))

    # ----------------------------------------------------------------- taking in

    def admit(self, query: int, previous: int) -> bool:
        """Hand over the rows whose time has come; True when some are late or retracted, so that causes matter."""
        horizon = query - self.window
        revised = False
        for relation, waiting in self.waiting.items():
            rows = waiting.take(query)
            if not len(rows):
                continue
            fluent = relation in self.plan.inputs
            last = rows[:, FACT]
            if fluent:
                end = rows[:, FACT + 1]
                last = np.where(end == OPEN_END, OPEN_END, end - self.tick)
            late = last <= horizon
            if late.any():
                self.rejected.add(query, rows[late, ROW], TOO_LATE, f"the window starts after {horizon}")
                rows = rows[~late]
            ahead = rows[:, COUNTS] > query
            if ahead.any():
                waiting.early = self._hold(rows[ahead], query)
                rows = rows[~ahead]
            if len(rows):
                revised |= self._deliver(relation, fluent, rows, query, previous)
        return revised

    def _hold(self, rows: Ints, query: int) -> Ints:
        """Of rows whose own time lies ahead, the insertions that stand."""
        if (rows[:, OP] > 0).all():
            return rows
        absent = np.zeros(len(rows), np.bool_)
        _, ids, there, _ = self._settle(rows[:, FACT:], rows, absent, None, query)
        stands = (rows[:, OP] > 0) & (there[ids] == 1)
        _, first = np.unique(ids[stands], return_index=True)
        held: Ints = rows[stands][first]
        return held

    def _deliver(self, relation: str, fluent: bool, rows: Ints, query: int, previous: int) -> bool:
        caused = (rows[:, COUNTS] < rows[:, FACT]) & (rows[:, ROW] >= 0)
        late = (rows[:, FACT] <= previous) | caused
        retracts = rows[:, OP] < 0
        causes: Ints | None = None
        if late.any() or retracts.any():
            causes = np.where(late | retracts, rows[:, ROW], -1)
        if fluent:
            unit = self.plan.inputs[relation]
            columns = [np.ascontiguousarray(rows[:, c]) for c in range(FACT + 2, rows.shape[1])]
            ids = unit.store.intern(columns, len(rows))
            facts = np.column_stack([ids, rows[:, FACT : FACT + 2]])
        else:
            facts = rows[:, FACT:]
        there = np.ones(len(rows), np.int64)
        if retracts.any():
            present = (
                unit.present(facts[:, 0], facts[:, 1:]) if fluent else self.plan.input_events[relation].present(facts)
            )
            table, _, there, causes = self._settle(facts, rows, present, causes, query)
            facts = table.keys.copy()
        if fluent:
            unit.feed(np.ascontiguousarray(facts[:, 0]), facts[:, 1:], there, causes)
        else:
            needed_from = query if self.window <= self.step else NEVER
            self.plan.input_events[relation].apply(facts, there, causes, assign=True, needed_from=needed_from)
        return causes is not None

    def _settle(
        self,
        facts: Ints,
        rows: Ints,
        present: Mask,
        causes: Ints | None,
        query: int,
    ) -> tuple[KeyTable, Ints, Ints, Ints]:
        """Replay the rows: the facts, the fact of each row, whether each fact is there in the end, its cause.
        Retractions of what is not there are rejected."""
        table = KeyTable(facts.shape[1])
        ids = table.intern([np.ascontiguousarray(facts[:, c]) for c in range(facts.shape[1])], len(facts))
        order = np.lexsort([rows[:, ROW], rows[:, OP], rows[:, ARRIVAL], ids])
        there = np.zeros(table.count, np.int64)
        there[ids] = present
        unknown = np.zeros(len(rows), np.bool_)
        _replay(order, ids, rows[:, OP], there, unknown)
        self.rejected.add(query, rows[unknown, ROW], UNKNOWN_RETRACTION, "nothing like it is known")
        best = np.full(table.count, -1)
        if causes is not None:
            np.maximum.at(best, ids, causes)
        return table, ids, there, best


@njit(cache=True)
def _replay(order: Ints, ids: Ints, ops: Ints, there: Ints, unknown: Mask) -> None:
    """Apply insertions and retractions in order to what is there."""
    for k in order:
        if ops[k] > 0:
            there[ids[k]] = 1
        elif there[ids[k]] == 1:
            there[ids[k]] = 0
        else:
            unknown[k] = True


def _by_name(plan: Plan) -> dict[str, dict[int, str]]:
    """Input relations by name and number of arguments."""
    found: dict[str, dict[int, str]] = {}
    for relation, store in plan.input_events.items():
        found.setdefault(relation.split("(")[0], {})[store.arity] = relation
    for relation, unit in plan.inputs.items():
        found.setdefault(relation.split("(")[0], {})[unit.store.arity] = relation
    return found


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _floats(column: pa.Array) -> npt.NDArray[np.float64]:
    """The numbers of a column, NaN where a text is none."""
    if not _is_text(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values = np.array([_float(x) for x in column.dictionary.to_pylist()], np.float64)
    return values[column.indices.to_numpy(zero_copy_only=False)] if len(values) else values


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
