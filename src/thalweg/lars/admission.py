"""Admission: rows become codes, wait for their tick, and are taken in or rejected.

A row takes part from the tick that is the later of its time and its arrival. Of the rows about one fact that take part
together the last to arrive counts; of those that arrive together retractions come first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.farthest import too_large
from thalweg.analysis.types import NUMBER
from thalweg.columns.compiled import njit
from thalweg.language.terms import EXACT
from thalweg.lars.codes import Codes
from thalweg.lars.stratify import Predicate
from thalweg.protocol import NOTHING_TO_RETRACT, REJECTED, Ints, Rows
from thalweg.reasons import (
    BEFORE_START,
    MISSING,
    OUT_OF_RANGE,
    TOO_LATE,
    UNKNOWN_NAME,
    UNKNOWN_RETRACTION,
    WRONG_ARITY,
    WRONG_TYPE,
)

DUE, ARRIVAL, OP, ROW = range(4)
"""Columns of waiting rows; the arguments and the time (a number code) follow."""


@dataclass(slots=True)
class Rejected:
    """Rows that count for nothing."""

    parts: list[tuple[int, Ints, str, str]] = field(default_factory=list)

    def add(self, tick: int, rows: Ints, reason: str, detail: str) -> None:
        if len(rows):
            self.parts.append((tick, rows, reason, detail))

    def table(self) -> pa.Table:
        """Everything rejected so far; and start anew."""
        parts = sorted(self.parts, key=lambda p: (p[0], int(p[1].min())))
        self.parts = []
        columns = [
            np.concatenate([np.full(len(r), t) for t, r, _, _ in parts]),
            np.concatenate([r for _, r, _, _ in parts]),
            [reason for _, r, reason, _ in parts for _ in range(len(r))],
            [detail for _, r, _, detail in parts for _ in range(len(r))],
        ]
        return pa.table([pa.array(c) for c in columns], schema=REJECTED)


EMPTY_REJECTED = REJECTED.empty_table()


@njit(cache=True)
def _code(
    op: npt.NDArray[np.int8], arrival: Ints, time: Ints, row: Ints, now: int, coded: Ints
) -> tuple[int, int, bool, bool]:
    """Fill in the columns besides the arguments. Returns the earliest and the latest time, whether all rows are
    insertions on time, and whether they are in the order of their ticks."""
    earliest = latest = time[0]
    clean = True
    in_order = True
    last = coded.shape[1] - 1
    for k in range(len(time)):
        due = max(max(arrival[k], time[k]), now + 1)
        clean = clean and due == time[k] and op[k] > 0
        in_order = in_order and (k == 0 or coded[k - 1, DUE] <= due)
        earliest, latest = min(earliest, time[k]), max(latest, time[k])
        coded[k, DUE] = due
        coded[k, ARRIVAL] = arrival[k]
        coded[k, OP] = op[k]
        coded[k, ROW] = row[k]
        coded[k, last] = np.float64(time[k]).view(np.int64)
    return earliest, latest, clean, in_order


class Part(NamedTuple):
    """Coded rows. `clean`: all are insertions on time; `in_order`: of their ticks."""

    rows: Ints
    clean: bool
    in_order: bool


class Admission:
    """Codes rows and keeps them until their tick."""

    def __init__(
        self, codes: Codes, kinds: dict[Predicate, tuple[str, ...]], start: int, lateness: int
    ) -> None:
        self.codes = codes
        self.kinds = kinds
        self.start = start
        self.lateness = lateness
        self.rejected = Rejected()
        self.waiting: dict[Predicate, list[Part]] = {}

    def accept(self, rows: Rows, now: int) -> None:
        """Code the rows of one name; what can never be used is rejected at once."""
        predicate = (rows.name, len(rows.args))
        kinds = self.kinds.get(predicate)
        if kinds is None:
            self._refuse_name(rows, now)
            return
        count = len(rows)
        if not count:
            return
        coded = np.empty((count, 5 + len(kinds)), np.int64)
        good = self._arguments(rows, kinds, coded, now)
        earliest, latest, clean, in_order = _code(rows.op, rows.arrival, rows.time, rows.row, now, coded)
        if latest >= EXACT:  # what lies as far back is before the start
            far = rows.time >= EXACT
            self.rejected.add(now, rows.row[far], OUT_OF_RANGE, f"its time is {too_large(EXACT - 1)}")
            good = ~far if good is None else good & ~far
        if earliest < self.start:
            early = rows.time < self.start
            self.rejected.add(now, rows.row[early], BEFORE_START, f"the timeline starts at {self.start}")
            good = ~early if good is None else good & ~early
        self.put(predicate, Part(coded if good is None else coded[good], clean, in_order))

    def put(self, predicate: Predicate, part: Part) -> None:
        """Let coded rows wait for their tick."""
        if len(part.rows):
            self.waiting.setdefault(predicate, []).append(part)

    def _refuse_name(self, rows: Rows, now: int) -> None:
        arities = sorted(arity for name, arity in self.kinds if name == rows.name)
        if arities:
            known = " or ".join(f"{rows.name}/{arity}" for arity in arities)
            self.rejected.add(
                now, rows.row, WRONG_ARITY, f"{rows.name}/{len(rows.args)}; the rules read {known}"
            )
        else:
            self.rejected.add(now, rows.row, UNKNOWN_NAME, f"no rule reads {rows.name}")

    def _arguments(
        self, rows: Rows, kinds: tuple[str, ...], coded: Ints, now: int
    ) -> npt.NDArray[np.bool_] | None:
        """Fill in the codes of the arguments; which rows are good, or None where all are."""
        good: npt.NDArray[np.bool_] | None = None
        for c, (values, kind) in enumerate(zip(rows.args, kinds, strict=True)):
            bad = None
            if values.null_count:
                bad = pc.is_null(values).to_numpy(zero_copy_only=False)
                self.rejected.add(now, rows.row[bad], MISSING, f"argument {c + 1} of {rows.name}")
                values = values.fill_null(0 if pa.types.is_primitive(values.type) else "0")
            if kind == NUMBER and not pa.types.is_primitive(values.type):
                values, failed = _parsed(values)
                if failed.any():
                    self.rejected.add(now, rows.row[failed], WRONG_TYPE, f"argument {c + 1} of {rows.name}")
                    bad = failed if bad is None else bad | failed
            coded[:, ROW + 1 + c] = self.codes.column(values, kind)
            if bad is not None:
                good = ~bad if good is None else good & ~bad
        return good

    def ticks(self, to: int) -> tuple[list[int], list[int]]:
        """The ticks up to `to` at which rows take part, and those at which late ones do."""
        due: set[int] = set()
        late: set[int] = set()
        for predicate in self.waiting:
            rows, clean, _ = self._ready(predicate, to)
            if len(rows):
                first, last = int(rows[0, DUE]), int(rows[-1, DUE])
                due.update([first] if first == last else np.unique(rows[:, DUE]).tolist())
                if not clean:
                    tardy = rows[:, DUE] > rows[:, -1].copy().view(np.float64)
                    late.update(rows[tardy, DUE].tolist())
        return sorted(due), sorted(late)

    def _ready(self, predicate: Predicate, to: int) -> Part:
        """The rows whose tick has come, in the order of their ticks."""
        parts = self.waiting[predicate]
        part = parts[0]
        if len(parts) > 1 or not part.in_order:
            rows = np.concatenate([p.rows for p in parts]) if len(parts) > 1 else part.rows
            rows = rows[np.argsort(rows[:, DUE], kind="stable")]
            part = Part(rows, all(p.clean for p in parts), True)
            self.waiting[predicate] = [part]
        if part.rows[-1, DUE] <= to:
            return part
        return part._replace(rows=part.rows[: np.searchsorted(part.rows[:, DUE], to, side="right")])

    def take(self, to: int) -> dict[Predicate, Part]:
        """Rows whose tick has come."""
        found: dict[Predicate, Part] = {}
        for predicate in list(self.waiting):
            ready = self._ready(predicate, to)
            whole = self.waiting[predicate][0]
            if len(ready.rows) < len(whole.rows):
                self.waiting[predicate] = [whole._replace(rows=whole.rows[len(ready.rows) :])]
            else:
                del self.waiting[predicate]
            if len(ready.rows):
                found[predicate] = ready
        return found

    def in_time(self, rows: Ints) -> Ints:
        """The rows without those that come too late."""
        times = np.ascontiguousarray(rows[:, -1]).view(np.float64)
        late = rows[:, DUE] - times > self.lateness
        if late.any():
            for tick in np.unique(rows[late, DUE]).tolist():
                which = late & (rows[:, DUE] == tick)
                detail = f"ticks before {tick - self.lateness} are final"
                self.rejected.add(tick, rows[which, ROW], TOO_LATE, detail)
            return rows[~late]
        return rows

    def resolve(self, rows: Ints, known: Callable[[Ints], npt.NDArray[np.bool_]]) -> tuple[Ints, Ints]:
        """Facts that are there after all their rows and were not before, and the other way round."""
        facts = slice(ROW + 1, None)
        rows = rows[np.lexsort((rows[:, OP], rows[:, ARRIVAL], *rows[:, facts].T))]
        same = (rows[1:, facts] == rows[:-1, facts]).all(axis=1)
        first, final = np.concatenate([[True], ~same]), np.concatenate([~same, [True]])
        held = known(np.ascontiguousarray(rows[:, facts]))
        there = np.where(first, held, np.concatenate([[False], rows[:-1, OP] > 0]))
        orphans = rows[(rows[:, OP] < 0) & ~there]
        for tick in np.unique(orphans[:, DUE]).tolist():
            which = orphans[:, DUE] == tick
            self.rejected.add(tick, orphans[which, ROW], UNKNOWN_RETRACTION, NOTHING_TO_RETRACT)
        up = final & (rows[:, OP] > 0) & ~held
        down = final & (rows[:, OP] < 0) & held
        return rows[up][:, facts], rows[down][:, facts]


def _parsed(values: pa.Array) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
    """Texts as numbers, and which of them are none."""
    texts = values.cast(pa.string()).to_pylist()
    failed = np.zeros(len(texts), np.bool_)
    out = np.zeros(len(texts))
    for i, text in enumerate(texts):
        try:
            out[i] = float(text)
        except ValueError:
            failed[i] = True
    failed |= ~np.isfinite(out)
    out[failed] = 0.0
    return pa.array(out), failed
