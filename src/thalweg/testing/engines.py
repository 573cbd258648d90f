"""Any event reasoner, run over reference rows and answering like the reference, so that the two can be compared.

`replay_with` drives a reasoner of `thalweg.protocol` through every query time and folds its changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from thalweg.language.program import Program
from thalweg.protocol import OPEN_END, Batch, Reasoner, Revision, Rows
from thalweg.reference.events import Row
from thalweg.reference.intervals import Interval
from thalweg.reference.terms import Ground
from thalweg.reference.windowed import default_start


@dataclass(frozen=True)
class Result:
    """What a reasoner has said up to a query time: the folded timeline, and the rows of the query time itself."""

    query_time: int
    timeline: dict[tuple[str, str], list[Interval]]
    events: frozenset[tuple[str, int]]
    open: frozenset[tuple[str, str | None, int, int, str]]
    rejected: frozenset[tuple[int, str]]


def to_batch(rows: Iterable[Row]) -> Batch:
    """Reference rows as columns, one `Rows` per name, shape and arity."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.name, row.shape, len(row.args)), []).append(row)
    return [_columns(name, shape, members) for (name, shape, _), members in groups.items()]


def _columns(name: str, shape: str, rows: Sequence[Row]) -> Rows:
    def ints(values: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.fromiter(values, np.int64, len(rows))

    ends = [OPEN_END if row.end is None else row.end for row in rows]
    return Rows(
        name=name,
        op=np.fromiter((row.op for row in rows), np.int8, len(rows)),
        arrival=ints(row.arrival for row in rows),
        time=ints(row.time for row in rows),
        row=ints(row.number for row in rows),
        args=tuple(pa.array(map(_field, column)) for column in zip(*(row.args for row in rows), strict=True)),
        end=ints(ends) if shape == "interval" else None,
        value=None if shape == "event" else pa.array([_field(row.value) for row in rows]),
    )


def _field(constant: Ground) -> str:
    """A constant as a text field."""
    if not isinstance(constant, (str, int, float)):
        raise TypeError(f"{constant!r} is no constant")
    return str(constant)


MakeReasoner = Callable[..., Reasoner]


def replay_with(
    make: MakeReasoner,
    program: Program,
    rows: Sequence[Row],
    *,
    window: int,
    step: int,
    end: int,
    start: int | None = None,
    tick: int = 1,
    allow_gaps: bool = False,
    batches: Sequence[Sequence[Row]] | None = None,
) -> list[Result]:
    """The results of a reasoner at every query time up to the first at or after `end`.

    `make` is called like the reasoner's class; `batches` says how the rows are to be split, one batch otherwise.
    """
    rows = [row for row in rows if row.arrival <= end]
    start = default_start(rows, step, end) if start is None else start
    options = {"tick": tick} if tick != 1 else {}
    if allow_gaps:
        options["allow_gaps"] = True
    reasoner = make(program, window=window, step=step, start=start, **options)
    for batch in batches or [rows]:
        reasoner.accept(to_batch(row for row in batch if row.arrival <= end))
    last = start - step * ((start - end) // step)
    fold = Fold()
    return [fold.add(q, reasoner.advance(q)) for q in range(start + step, last + 1, step)]


class Fold:
    """Adds up the changes of revisions to timelines."""

    def __init__(self) -> None:
        self._intervals: set[tuple[str, str, int, int | None]] = set()
        self._events: set[tuple[str, int]] = set()

    def add(self, q: int, revision: Revision) -> Result:
        for change in revision["changes"].to_pylist():
            row = (change["fluent"], change["value"], change["start"], change["end"])
            if change["op"] == "insert":
                assert row not in self._intervals, f"{row} inserted twice, at {q}"
                self._intervals.add(row)
            else:
                self._intervals.remove(row)
        self._fold_events(revision)
        timeline: dict[tuple[str, str], list[Interval]] = {}
        for fluent, value, start, end in sorted(self._intervals, key=lambda row: row[:3]):
            timeline.setdefault((fluent, value), []).append((start, end))
        pending = _table(revision, "open")
        rejected = frozenset((row["row"], row["reason"]) for row in _table(revision, "rejected"))
        return Result(
            q,
            timeline,
            frozenset(self._events),
            frozenset(
                (row["fluent"], row["value"], row["due"], row["since"], row["cancelled_by"]) for row in pending
            ),
            rejected,
        )

    def _fold_events(self, revision: Revision) -> None:
        for change in _table(revision, "events"):
            row = (change["event"], change["time"])
            if change["op"] == "insert":
                self._events.add(row)
            else:
                self._events.remove(row)


def _table(revision: Revision, name: str) -> list[dict[str, Any]]:
    return list(revision[name].to_pylist()) if name in revision.tables else []
