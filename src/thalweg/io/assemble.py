"""From the fields of rows of one shape to `Rows`: every field in its type, every bad row rejected once.

Bad rows are found by masks over whole columns; the first reason found for a row is the one reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg import reasons
from thalweg.analysis.farthest import too_large
from thalweg.columns.wording import word_numbers
from thalweg.io.decoding import readable
from thalweg.io.rejects import Rejects, repeat
from thalweg.io.shapes import Layout, Shape, Type
from thalweg.io.times import Clock, Mask, Times, read_ends, read_times
from thalweg.io.typed import Typed, expected, read_column
from thalweg.protocol import OPEN_END, Ints, Ops, Rows

INSERTIONS = ("+", "insert", "update_postimage")
RETRACTIONS = ("-", "retract", "delete", "update_preimage")


@dataclass(frozen=True, slots=True)
class Fields:
    """Rows of one shape as they were read. `row` is each row's place in its source; `text` gives the rows at
    the given indexes as they stood there. No arrival: a row arrives when it happens. No value: ``true``. So it is also
    where a single row has none, but not where fields are told by their places (`positional`)."""

    shape: Shape
    row: Ints
    time: pa.Array
    args: tuple[pa.Array, ...]
    text: Callable[[Ints], pa.Array]
    arrival: pa.Array | None = None
    end: pa.Array | None = None
    value: pa.Array | None = None
    op: pa.Array | None = None
    positional: bool = False


class _Sieve:
    """Which rows are still good; the others have been handed to the rejects."""

    def __init__(self, fields: Fields, rejected: Rejects) -> None:
        self.fields = fields
        self.rejected = rejected
        self.bad: Mask | None = None

    def reject(self, mask: Mask, reason: str, detail: Callable[[Ints], str | pa.Array]) -> None:
        if not mask.any():
            return
        fresh = mask if self.bad is None else mask & ~self.bad
        where = np.flatnonzero(fresh)
        self.bad = fresh.copy() if self.bad is None else self.bad | fresh
        self.rejected.add(self.fields.row[where], reason, detail(where), self.fields.text(where))

    def times(self, times: Times, what: str, column: pa.Array | None, clock: Clock) -> Ints:
        if column is None or times.clean:
            return times.values
        self.reject(times.missing, reasons.NO_TIME, lambda where: f"{what} is missing")
        self.reject(
            times.unreadable,
            reasons.BAD_TIME,
            lambda where: quoting(column, where, f"{what} ", NO_TIME),
        )
        self.reject(
            times.overflow,
            reasons.OUT_OF_RANGE,
            lambda where: quoting(column, where, f"{what} ", f" is {too_large(clock.farthest)}"),
        )
        return times.values

    def field(self, column: pa.Array, kind: Type, label: str, otherwise: str | None = None) -> pa.Array:
        """The column in its type; `otherwise` is the constant of rows that have none."""
        typed = read_column(column, kind)
        if otherwise is not None and typed.missing.any():
            typed = _filled(typed, otherwise)
        if typed.clean:
            return typed.column
        self.reject(typed.missing, reasons.MISSING, lambda where: f"{label} is missing")
        wanted = f" is not {expected(kind)}"
        self.reject(typed.mismatch, reasons.WRONG_TYPE, lambda where: quoting(column, where, f"{label} ", wanted))
        self.reject(
            typed.overflow,
            reasons.OUT_OF_RANGE,
            lambda where: quoting(column, where, f"{label} ", " is too large"),
        )
        return typed.column


NO_TIME = " is neither a whole number nor a date such as 2026-03-02"


def quoting(column: pa.Array, where: Ints, before: str, after: str) -> pa.Array:
    """``speed 'abc' is not a number``, for each of the rows."""
    found = column.take(pa.array(where))
    if pa.types.is_dictionary(found.type):
        found = found.dictionary_decode()
    words = readable(found.cast(pa.string()))
    return pc.binary_join_element_wise(f"{before}'", words, f"'{after}", "", null_handling="replace")


def assemble(fields: Fields, clock: Clock, offset: int, rejected: Rejects) -> Rows | None:
    """The good rows, numbered from `offset`; None where there are none."""
    shape, size = fields.shape, len(fields.row)
    sieve = _Sieve(fields, rejected)
    interval = shape.layout is Layout.INTERVAL
    op = read_ops(fields.op, size, sieve)
    time = sieve.times(read_times(fields.time, clock), "start" if interval else "time", fields.time, clock)
    arrival = _arrivals(fields, time, clock, sieve)
    end = _ends(fields, time, clock, sieve) if interval else None
    args = tuple(
        sieve.field(column, field.type, shape.label(i))
        for i, (column, field) in enumerate(zip(fields.args, shape.fields, strict=True))
    )
    value = None
    if shape.value is not None:
        truth = "true" if shape.value.type is Type.SYMBOL and not fields.positional else None
        given = fields.value
        if given is None:
            given = pa.nulls(size, pa.string()) if truth is None else repeat(truth, size)
        value = sieve.field(given, shape.value.type, "value", truth)
    rows = Rows(shape.name, op, arrival, time, fields.row + offset, args, end, value)
    return rows if sieve.bad is None else filtered(rows, ~sieve.bad)


def _filled(typed: Typed, constant: str) -> Typed:
    """Constants, with one for the rows that have none."""
    words = pc.if_else(pa.array(typed.missing), constant, typed.column.dictionary_decode())
    return replace(typed, column=words.dictionary_encode(), missing=np.zeros_like(typed.missing))


def _arrivals(fields: Fields, time: Ints, clock: Clock, sieve: _Sieve) -> Ints:
    if fields.arrival is None:
        return time
    times = read_times(fields.arrival, clock)
    if not fields.positional and times.missing.any():
        known = np.where(times.missing, time, times.values)
        times = replace(times, values=known, missing=np.zeros_like(times.missing))
    return sieve.times(times, "arrival", fields.arrival, clock)


def _ends(fields: Fields, start: Ints, clock: Clock, sieve: _Sieve) -> Ints:
    times = read_ends(fields.end, clock, len(start), OPEN_END)
    end = sieve.times(times, "end", fields.end, clock)

    def detail(where: Ints) -> pa.Array:
        starts, ends = pa.array(start[where]).cast(pa.string()), pa.array(end[where]).cast(pa.string())
        return pc.binary_join_element_wise("end ", ends, " is not after start ", starts, "")

    sieve.reject(end <= start, reasons.END_BEFORE_START, detail)
    return end


def read_ops(column: pa.Array | None, size: int, sieve: _Sieve) -> Ops:
    """+1 for insertions, -1 for retractions; rows without an operation are insertions."""
    if column is None:
        return np.ones(size, np.int8)
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    words = [str(word).strip().lower() for word in column.dictionary.to_pylist()]
    signs = np.array([1 if w in INSERTIONS else -1 if w in RETRACTIONS else 0 for w in words] or [1], np.int8)
    ops = np.append(signs, np.int8(1))[word_numbers(column, len(signs))]
    allowed = f" is none of {', '.join(INSERTIONS + RETRACTIONS)}"
    sieve.reject(ops == 0, reasons.BAD_OP, lambda where: quoting(column, where, "op ", allowed))
    return ops


def filtered(rows: Rows, good: Mask) -> Rows | None:
    """The good ones of the rows; None where there are none."""
    if not good.any():
        return None
    keep = pa.array(good)
    return Rows(
        rows.name,
        rows.op[good],
        rows.arrival[good],
        rows.time[good],
        rows.row[good],
        tuple(column.filter(keep) for column in rows.args),
        None if rows.end is None else rows.end[good],
        None if rows.value is None else rows.value.filter(keep),
    )
