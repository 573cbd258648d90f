"""Admission: input rows become codes, wait for their query time, and are taken in or rejected.

A row takes part from the first query time at or after its arrival and its own time. In the order of arrival, an
insertion makes its fact be there and a retraction takes it away; of rows that arrive together retractions come
first, so that the order in which rows are accepted does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.farthest import too_large
from thalweg.columns.compiled import njit, owned
from thalweg.columns.keys import KeyTable, ascends, each_once, extent
from thalweg.columns.pieces import whole
from thalweg.columns.telling import first_elsewhere
from thalweg.events.moves import NEVER
from thalweg.events.plan import Plan
from thalweg.events.waiting import ARRIVAL, COUNTS, FACT, OP, ROW, Coded, Waiting
from thalweg.language.instances import apart, unquoted
from thalweg.language.terms import EXACT
from thalweg.protocol import NOTHING_TO_RETRACT, OPEN_END, REJECTED, Ints, Mask, Rows
from thalweg.reasons import (
    BEFORE_START,
    END_BEFORE_START,
    MISSING,
    OFF_TICK,
    OUT_OF_RANGE,
    TOO_LATE,
    UNKNOWN_NAME,
    UNKNOWN_RETRACTION,
    WRONG_ARITY,
    WRONG_TYPE,
)

_NOTHING_REJECTED = REJECTED.empty_table()


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
        if not len(self.rows):
            self.reasons = {}
            return _NOTHING_REJECTED
        said = self.rows[:, 0] <= query
        out, self.rows = self.rows[said], self.rows[~said]
        out = out[np.lexsort([out[:, 1], out[:, 0]])]
        code = pa.array(out[:, 2])
        reasons = pa.array([r for r, _ in self.reasons], pa.string()).take(code)
        details = pa.array([d for _, d in self.reasons], pa.string()).take(code)
        if not len(self.rows):
            self.reasons = {}
        times, rows = (pa.array(np.ascontiguousarray(out[:, c])) for c in range(2))
        return pa.table([times, rows, reasons, details], schema=REJECTED)


class Verdict:
    """Which rows of a batch are still good (None: all of them), and where the others are said to be bad."""

    def __init__(self, rows: Rows, said: Callable[[Ints], Ints], rejected: Rejected) -> None:
        self.good: Mask | None = None
        self._rows, self._said, self._rejected = rows, said, rejected

    def reject(self, bad: Mask, reason: str, detail: str) -> None:
        if self.good is not None:
            bad = bad & self.good
        if bad.any():
            self._rejected.add(self._said(self._rows.arrival[bad]), self._rows.row[bad], reason, detail)
            self.good = ~bad if self.good is None else self.good & ~bad


class Admission:
    """Codes rows and hands them to the stores."""

    def __init__(self, plan: Plan, *, window: int, step: int, start: int, tick: int, farthest: int) -> None:
        self.plan = plan
        self.farthest = farthest
        self.once = window <= step
        """Every row is looked at by one query only."""
        self.window, self.step, self.start, self.tick = window, step, start, tick
        self.rejected = Rejected()
        self._by_name = _by_name(plan)
        self.waiting: dict[str, Waiting] = {}
        self.coder = plan.catalogue.coder

    # ----------------------------------------------------------------- accepting

    def accept(self, rows: Rows, query: int) -> None:
        """Code the rows of one name; what can never be used is rejected at the first query time after its arrival,
        at the earliest at `query`."""

        def said(arrival: Ints) -> Ints:
            arrival = np.where(arrival > self.farthest, query, arrival)  # no query time comes after these
            return np.maximum(query, self.start - (self.start - arrival) // self.step * self.step)

        def reject(reason: str, detail: str) -> None:
            self.rejected.add(said(rows.arrival), rows.row, reason, detail)

        found = self._by_name.get(rows.name)
        relation = found.get(len(rows.args)) if found else None
        if found is None:
            reject(UNKNOWN_NAME, f"no rule reads {rows.name}")
        elif relation is None:
            known = ", ".join(f"{rows.name}/{n}" for n in sorted(found))
            reject(WRONG_ARITY, f"{rows.name}/{len(rows.args)}; the rules read {known}")
        elif (relation in self.plan.inputs) != (rows.value is not None):
            what = "an event, without a value" if rows.value is not None else "an interval fluent, with a value"
            reject(WRONG_ARITY, f"{rows.name} is {what}")
        else:
            self._code(rows, relation, relation in self.plan.inputs, Verdict(rows, said, self.rejected))

    def _code(self, rows: Rows, relation: str, fluent: bool, verdict: Verdict) -> None:
        kind = "fluent" if fluent else "event"
        derived = rows.derived
        columns = [self._column(c, (kind, relation, i), verdict, derived) for i, c in enumerate(rows.args)]
        times: list[Ints] = [rows.time]
        last = rows.time
        if fluent:
            assert rows.value is not None
            columns.append(self._column(rows.value, ("value", relation, 0), verdict, derived))
            end = rows.end if rows.end is not None else rows.time + self.tick
            times.append(end)
            last = np.where(end == OPEN_END, OPEN_END, end - self.tick)
            verdict.reject(end <= rows.time, END_BEFORE_START, "an interval ends after it starts")
        if self.tick > 1:
            off = rows.time % self.tick != 0
            if fluent:
                off |= (times[1] != OPEN_END) & (times[1] % self.tick != 0)
            verdict.reject(off, OFF_TICK, f"times are multiples of {self.tick}")
        if not rows.derived and rows.time.max() > self.farthest:
            verdict.reject(rows.time > self.farthest, OUT_OF_RANGE, f"its time is {too_large(self.farthest)}")
        if not rows.derived and min(rows.arrival.min(), last.min()) <= self.start:
            early = (rows.arrival <= self.start) | (last <= self.start)
            verdict.reject(early, BEFORE_START, f"the stream starts after {self.start}")
        plain = not rows.derived and bool(rows.op.min() > 0)
        time = owned(rows.time)
        arrival = time if rows.arrival is rows.time else rows.arrival
        known = time - self.tick if rows.derived else time
        ops = rows.op.astype(np.int64)
        coded = Coded((arrival, ops, rows.row, known, time, *map(owned, times[1:]), *columns), plain)
        if verdict.good is not None:
            coded = coded.take(verdict.good)
        if len(coded):
            self.waiting.setdefault(relation, Waiting()).add(coded)

    def _column(
        self, column: pa.Array, node: tuple[str, str, int], verdict: Verdict, derived: bool
    ) -> Ints:
        column = whole(column)
        if column.null_count:
            missing = column.is_null().to_numpy(zero_copy_only=False)
            verdict.reject(missing, MISSING, f"argument {node[2] + 1} of {node[1]} is missing")
            filler = pa.scalar(0 if not _is_text(column.type) else "", _value_type(column.type))
            column = pc.fill_null(column, filler)
        if not self.coder.sorts.numeric(node):
            return self.coder.symbols.encode(column, written=derived)
        codes, bad = _number_codes(owned(_floats(column)))
        if bad.any():
            verdict.reject(bad, WRONG_TYPE, f"argument {node[2] + 1} of {node[1]} is no number in range")
        return codes

    # ----------------------------------------------------------------- taking in

    def next_arrival(self) -> int:
        """When the next row arrives of those that wait; `OPEN_END`: none does."""
        return min((waiting.next_arrival() for waiting in self.waiting.values()), default=OPEN_END)

    def together(self, previous: int, most: int, rows: int) -> int:
        """How many of the next query times can take their rows in at once: all of them are insertions that arrive by
        the query time after their own time, and there are not too many. At most `most`, at least one. Looks twice as
        far while nothing stands in the way, and so at few rows where something does."""
        if any(waiting.early is not None for waiting in self.waiting.values()):
            return 1
        parts = [part for waiting in self.waiting.values() for part in waiting.parts]
        seen, count = [0] * len(parts), 1
        while count < most:
            further = min(2 * count, most)
            query = previous + further * self.step
            sizes = [int(part[ARRIVAL].searchsorted(query, side="right")) for part in parts]
            if sum(sizes) > rows:
                break
            fit = [self._fit(*given, previous) for given in zip(parts, seen, sizes, strict=True)]
            if min(fit, default=further) < further:
                return max(1, min(fit))
            seen, count = sizes, further
        return count

    def _fit(self, part: Coded, low: int, high: int, previous: int) -> int:
        """How many of the next query times can take in the rows low .. high - 1 with those before them."""
        arrival, op, counts, time = (owned(part[c][low:high]) for c in (ARRIVAL, OP, COUNTS, FACT))
        elsewhere = first_elsewhere(arrival, op, counts, time, self.start, self.step)
        return OPEN_END if elsewhere == len(arrival) else (int(arrival[elsewhere]) - 1 - previous) // self.step

    def admit(self, query: int, previous: int, horizon: int) -> bool:
        """Hand over the rows whose time has come, but those at or before the horizon; True when some are late or
        retracted, so that causes matter."""
        revised = False
        for relation, waiting in self.waiting.items():
            rows = waiting.take(query)
            if rows is None:
                continue
            fluent = relation in self.plan.inputs
            last = rows[FACT]
            if fluent:
                end = rows[FACT + 1]
                last = np.where(end == OPEN_END, OPEN_END, end - self.tick)
            elif rows.plain and self.once:
                low, high = extent(owned(last))
                if low > max(previous, horizon) and high <= query:
                    self._arrive(relation, rows, query)
                    continue
            if last.min() <= horizon:
                late, derived = last <= horizon, rows.derived
                if not fluent:  # what an earlier stage derives at the horizon itself can still come and go
                    late &= (last < horizon) | ~derived
                own = late & ~derived  # what is left of a derived interval is known here
                if own.any():
                    self.rejected.add(query, rows[ROW][own], TOO_LATE, f"the window starts after {horizon}")
                rows = rows.take(~late)
            if len(rows) and rows[COUNTS].max() > query:
                ahead = rows[COUNTS] > query
                waiting.early = self._hold(rows.take(ahead), query)
                rows = rows.take(~ahead)
            if len(rows):
                revised |= self._deliver(relation, fluent, rows, query, previous)
        return revised

    def _hold(self, rows: Coded, query: int) -> Coded | None:
        """Of rows whose own time lies ahead, the insertions that stand. Those that turn out to lie in a gap between
        windows are told of as too late: there each fact is held once."""
        if self.window >= self.step and (rows.plain or (rows[OP] > 0).all()):
            return rows
        absent = np.zeros(len(rows), np.bool_)
        _, brought, _, _ = self._settle(np.column_stack(rows.fact), rows, absent, None, query)
        stands = np.sort(brought[brought >= 0])
        return rows.take(stands) if len(stands) else None

    def _deliver(self, relation: str, fluent: bool, rows: Coded, query: int, previous: int) -> bool:
        """Hand rows to their store; True when some are late or retracted."""
        fresh = rows.plain and bool(rows[FACT].min() > previous)
        if fresh and self.once and not fluent:
            self._arrive(relation, rows, query)
            return False
        causes: Ints | None = None
        if not fresh:
            caused = (rows[FACT] <= previous) | (rows.derived & (rows[ROW] >= 0))
            causes = np.where(caused, rows[ROW], -1) if caused.any() else None
        if fluent:
            unit = self.plan.inputs[relation]
            ids = unit.store.intern(list(rows.fact[2:]), len(rows))
            facts = np.column_stack([ids, *rows.fact[:2]])
        else:
            facts = np.column_stack(rows.fact)
        there = np.ones(len(rows), np.int64)
        if not rows.plain and (rows[OP] < 0).any():
            present = (
                unit.present(facts[:, 0], facts[:, 1:]) if fluent else self.plan.input_events[relation].present(facts)
            )
            table, _, there, causes = self._settle(facts, rows, present, causes, query)
            facts = table.keys.copy()
        if fluent:
            unit.feed(np.ascontiguousarray(facts[:, 0]), facts[:, 1:], there, causes)
        else:
            self.plan.input_events[relation].apply(
                facts, there, causes, assign=True, needed_from=self._needed_from(query)
            )
        return causes is not None

    def _needed_from(self, query: int) -> int:
        """Rows from here on will be asked for again by later queries."""
        return query - query % self.tick if self.once else NEVER

    def _arrive(self, relation: str, rows: Coded, query: int) -> None:
        """New rows of a window that does not overlap the last one go to their store as they are, each once."""
        columns = rows.fact
        if not ascends(owned(columns[0])):
            order = np.argsort(columns[0], kind="stable")
            columns = tuple(column[order] for column in columns)
        self.plan.input_events[relation].arrive(each_once(columns), self._needed_from(query))

    def _settle(
        self,
        facts: Ints,
        rows: Coded,
        present: Mask,
        causes: Ints | None,
        query: int,
    ) -> tuple[KeyTable, Ints, Ints, Ints]:
        """Replay the rows: the facts, for each the row that brought it (-1: none, or it is gone), whether it is there
        in the end, its cause. Retractions of what is not there are rejected."""
        table = KeyTable(facts.shape[1])
        ids = table.intern([np.ascontiguousarray(facts[:, c]) for c in range(facts.shape[1])], len(facts))
        order = np.lexsort([rows[ROW], rows[OP], rows[ARRIVAL], ids])
        there = np.zeros(table.count, np.int64)
        there[ids] = present
        brought = np.full(table.count, -1)
        unknown = np.zeros(len(rows), np.bool_)
        _replay(order, ids, rows[OP].astype(np.int64), there, brought, unknown)
        self.rejected.add(query, rows[ROW][unknown], UNKNOWN_RETRACTION, NOTHING_TO_RETRACT)
        best = np.full(table.count, -1)
        if causes is not None:
            np.maximum.at(best, ids[~unknown], causes[~unknown])
        return table, brought, there, best


@njit(cache=True)
def _number_codes(values: npt.NDArray[np.float64]) -> tuple[Ints, Mask]:
    """Codes of numbers, and which are none: not finite."""
    codes = np.empty(len(values), np.float64)
    bad = np.zeros(len(values), np.bool_)
    for i in range(len(values)):
        value = values[i]
        bad[i] = not np.isfinite(value)
        codes[i] = 0.0 if bad[i] else value + 0.0
    return codes.view(np.int64), bad


@njit(cache=True)
def _replay(order: Ints, ids: Ints, ops: Ints, there: Ints, brought: Ints, unknown: Mask) -> None:
    """Apply insertions and retractions in order to what is there, and note the insertion that brought it."""
    for k in order:
        if ops[k] > 0:
            if there[ids[k]] == 0:
                brought[ids[k]] = k
            there[ids[k]] = 1
        elif there[ids[k]] == 1:
            there[ids[k]] = 0
            brought[ids[k]] = -1
        else:
            unknown[k] = True


def _by_name(plan: Plan) -> dict[str, dict[int, str]]:
    """Input relations by name and number of arguments."""
    found: dict[str, dict[int, str]] = {}
    for relation, store in plan.input_events.items():
        found.setdefault(unquoted(apart(relation)[0]), {})[store.arity] = relation
    for relation, unit in plan.inputs.items():
        found.setdefault(unquoted(apart(relation)[0]), {})[unit.store.arity] = relation
    return found


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _floats(column: pa.Array) -> npt.NDArray[np.float64]:
    """The numbers of a column, NaN where a text is none, or an integer cannot be told from its neighbours."""
    if not _is_text(column.type):
        values = np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
        if pa.types.is_integer(column.type) and column.type.bit_width == 64:
            values = np.where(np.abs(values) < EXACT, values, np.nan)
        return values
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values = np.array([_float(x) for x in column.dictionary.to_pylist()], np.float64)
    return values[column.indices.to_numpy(zero_copy_only=False)] if len(values) else values


def _float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return math.nan if abs(value) >= EXACT and text.lstrip("+-").isdecimal() else value
