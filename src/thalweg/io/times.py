"""Times: integers, or dates measured in ticks since 1970-01-01 (UTC).

A `Clock` says how long one time-point lasts, and how far times go (`thalweg.analysis.farthest`): what lies beyond is
out of range. Integers are time-points already; dates and timestamps are floored to a time-point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.analysis.farthest import FARTHEST, too_large
from thalweg.analysis.requests import LONGEST
from thalweg.io.errors import InputError
from thalweg.language.terms import EXACT
from thalweg.protocol import Ints

Mask = npt.NDArray[np.bool_]

Duration = int | str | timedelta
"""A number of time-points, a text with a unit (``"10m"``) or a timedelta."""
Point = int | str | date
"""A time-point, an ISO date or timestamp, or one of `datetime`."""

OPEN_WORDS = ("", "inf", "infinity", "null", "none")
_SECONDS = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
    "w": Fraction(604800),
}
_DURATION = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([a-z]*)")
_INTEGER = r"^[+-]?[0-9]+$"
_DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_ZONED = r"([0-9](Z|[+-][0-9]{2}:?[0-9]{2})|:[0-9]{2}(\.[0-9]+)?[+-][0-9]{2})$"


@dataclass(frozen=True, slots=True)
class Clock:
    """How long one time-point lasts, in microseconds, and the largest time of a row."""

    micros: int = 1_000_000
    farthest: int = FARTHEST

    @staticmethod
    def of_seconds(seconds: float | Fraction | None, farthest: int = FARTHEST) -> Clock:
        """The clock of a program that declares its tick; one second otherwise."""
        if seconds is None:
            return Clock(farthest=farthest)
        micros = Fraction(seconds).limit_denominator(1_000_000) * 1_000_000
        if micros <= 0 or micros.denominator != 1:
            raise InputError(
                "tick", f"a tick of {float(seconds):g} s is not a positive number of microseconds"
            )
        return Clock(int(micros), farthest)

    def duration(self, text: Duration, what: str = "duration") -> int:
        """A number of time-points from ``600``, ``10m``, ``1.5h`` or a timedelta.

        >>> Clock().duration("10m")
        600
        """
        number, unit = split_duration(text, what)
        points = number if unit is None else number * unit * 1_000_000 / self.micros
        if points.denominator != 1:
            raise InputError(
                what, f"{what} {plain(text)} is not a whole number of time-points of {self.micros / 1e6:g} s"
            )
        if abs(points) > LONGEST:
            raise InputError(what, f"{what} {plain(text)} is more than 2**62 time-points")
        return int(points)

    def point(self, text: Point, what: str = "time", beyond: int = 0) -> int:
        """A time-point from an integer, a date or a timestamp; so far beyond the largest time of a row at most."""
        far = replace(self, farthest=min(self.farthest + beyond, LONGEST))
        times = read_times(pa.array([str(plain(text)).strip()]), far)
        if times.overflow[0]:
            raise InputError(what, f"{what} {text} is {too_large(self.farthest)}")
        if times.missing[0] or times.unreadable[0]:
            raise InputError(what, f"{what} {text} is neither an integer nor an ISO date or timestamp")
        return int(times.values[0])


def plain(given: Duration | Point) -> int | str:
    """A time or a duration as a number or a text; what is neither is left for those who read it.

    >>> plain(timedelta(minutes=10)), plain(timedelta(microseconds=250)), plain(date(2026, 3, 2))
    ('600s', '0.250ms', '2026-03-02')
    """
    if isinstance(given, np.timedelta64 | np.datetime64):
        given = given.astype(f"{given.dtype.kind}8[us]").item()
    if isinstance(given, timedelta):
        micros = given // timedelta(microseconds=1)
        seconds, rest = divmod(micros, 1_000_000)
        return f"{Decimal(micros).scaleb(-3):f}ms" if rest else f"{seconds}s"
    if isinstance(given, np.integer):
        return int(given)
    return given.isoformat() if isinstance(given, date) else given


def split_duration(text: Duration, what: str) -> tuple[Fraction, Fraction | None]:
    """The number and the unit in seconds; no unit: a number of time-points."""
    found = _DURATION.fullmatch(str(plain(text)).strip().lower())
    if found is None or (found[2] and found[2] not in _SECONDS):
        raise InputError(what, f"{what} {text} is not a number with an optional unit ({', '.join(_SECONDS)})")
    return Fraction(found[1]), _SECONDS[found[2]] if found[2] else None


@dataclass(frozen=True, slots=True)
class Times:
    """A column of times, with the rows that have none, that cannot be read, and that are out of range."""

    values: Ints
    missing: Mask
    unreadable: Mask
    overflow: Mask

    @property
    def clean(self) -> bool:
        return not (self.missing.any() or self.unreadable.any() or self.overflow.any())


def read_times(column: pa.Array, clock: Clock) -> Times:
    """Time-points of a column of integers, floats without a fraction, dates, timestamps or text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _decoded(column, clock)
    if pa.types.is_integer(kind):
        return _integers(column, clock)
    if pa.types.is_decimal(kind):
        return _decimals(column, clock)
    if pa.types.is_floating(kind):
        return _floats(column.cast(pa.float64()), clock)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _stamps(column, clock)
    if pa.types.is_null(kind):
        return _build(np.zeros(len(column), np.int64), clock, missing=np.ones(len(column), np.bool_))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _texts(column.cast(pa.string()), clock)
    missing = _nulls(column)
    return _build(np.zeros(len(column), np.int64), clock, missing=missing, unreadable=~missing)


@dataclass(frozen=True, slots=True)
class Extent:
    """Some rows: how many, the earliest and latest arrival, and the first of all times. None: none can be read."""

    size: int
    earliest: int | None
    latest: int | None
    first: int | None


def extent(
    size: int, arrivals: Sequence[pa.Array], times: Sequence[pa.Array], clock: Clock, *, optional: bool = False
) -> Extent:
    """The extent of rows with these columns of arrivals and of times; without arrivals, rows arrive in time.
    `optional`: so does a single row without one."""
    happens = [read_times(column, clock) for column in times]
    arrives = [read_times(column, clock) for column in arrivals]
    bounds = [_bounds(column) for column in arrives or happens]
    if optional:
        bounds += [_bounds(column, told.missing) for told in arrives if told.missing.any() for column in happens]
    known = [found for found in bounds if found is not None]
    every = known + [found for column in happens if (found := _bounds(column)) is not None]
    return Extent(
        size,
        min((low for low, _ in known), default=None),
        max((high for _, high in known), default=None),
        min((low for low, _ in every), default=None),
    )


def _bounds(times: Times, among: Mask | None = None) -> tuple[int, int] | None:
    """The smallest and the largest time of a column, or of some of its rows, as far as it can be read."""
    good = times.values if among is None else times.values[among]
    if not times.clean:
        read = ~(times.missing | times.unreadable | times.overflow)
        good = times.values[read if among is None else read & among]
    return (int(good.min()), int(good.max())) if len(good) else None


def _build(
    values: Ints,
    clock: Clock,
    missing: Mask | None = None,
    unreadable: Mask | None = None,
    overflow: Mask | None = None,
) -> Times:
    nothing = np.zeros(len(values), np.bool_)
    far = (values > clock.farthest) | (values < -clock.farthest)
    return Times(
        values,
        nothing if missing is None else missing,
        nothing if unreadable is None else unreadable,
        far if overflow is None else far | overflow,
    )


def as_mask(column: pa.Array) -> Mask:
    """A column of truth values without nulls as an array."""
    mask: Mask = column.to_numpy(zero_copy_only=False).astype(np.bool_, copy=False)
    return mask


def _nulls(column: pa.Array) -> Mask:
    if column.null_count == 0:
        return np.zeros(len(column), np.bool_)
    return as_mask(column.is_null())


def _filled(column: pa.Array) -> Ints:
    """The int64 values of a column, 0 where there is none."""
    if column.null_count:
        column = column.fill_null(0)
    values: Ints = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return values


def _decoded(column: pa.Array, clock: Clock) -> Times:
    """Each distinct value is read once."""
    inner = read_times(column.dictionary, clock)
    missing = _nulls(column)
    codes = _filled(column.indices)
    if not len(column.dictionary):
        return _build(np.zeros(len(column), np.int64), clock, missing=missing)
    return Times(
        inner.values[codes],
        inner.missing[codes] | missing,
        inner.unreadable[codes] & ~missing,
        inner.overflow[codes] & ~missing,
    )


def _integers(column: pa.Array, clock: Clock) -> Times:
    missing = _nulls(column)
    if pa.types.is_uint64(column.type):
        far = as_mask(pc.greater(column.fill_null(0), pa.scalar(clock.farthest, pa.uint64())))
        return _build(_filled(column.cast(pa.int64(), safe=False)), clock, missing=missing, overflow=far)
    return _build(_filled(column.cast(pa.int64())), clock, missing=missing)


def _decimals(column: pa.Array, clock: Clock) -> Times:
    try:
        return _integers(column.cast(pa.int64()), clock)
    except pa.ArrowInvalid:
        numbers = [None if number is None else Fraction(number) for number in column.to_pylist()]
    far = np.array([n is not None and abs(n) > clock.farthest for n in numbers], np.bool_)
    broken = np.array([n is not None and n.denominator != 1 for n in numbers], np.bool_)
    values = [0 if n is None or off else int(n) for n, off in zip(numbers, far | broken, strict=True)]
    return _build(np.array(values, np.int64), clock, _nulls(column), broken & ~far, far)


def _floats(column: pa.Array, clock: Clock) -> Times:
    """Floats, as far as each is told from its neighbours: from there on it may stand for another time."""
    values = column.to_numpy(zero_copy_only=False)
    missing = np.isnan(values)
    far = ~missing & (np.abs(values) >= min(EXACT, clock.farthest + 1))
    whole = np.where(missing | far, 0.0, values)
    broken = whole != np.floor(whole)
    return _build(whole.astype(np.int64), clock, missing=missing, overflow=far, unreadable=broken)


_MICROS = {"s": 1_000_000, "ms": 1000, "us": 1}


def _stamps(column: pa.Array, clock: Clock) -> Times:
    missing, kind = _nulls(column), column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return _build(_filled(column.cast(pa.int64())) // (1000 * clock.micros), clock, missing=missing)
    raw = _filled(column.cast(pa.int32()) if pa.types.is_date32(kind) else column.cast(pa.int64()))
    unit = 86_400_000_000 if pa.types.is_date32(kind) else _MICROS["ms" if pa.types.is_date64(kind) else kind.unit]
    most = np.iinfo(np.int64).max // unit
    far = (raw > most) | (raw < -most)
    micros = np.where(far, 0, raw) * unit
    return _build(np.floor_divide(micros, clock.micros), clock, missing=missing, overflow=far)


def _texts(column: pa.Array, clock: Clock) -> Times:
    """Text, the common cases first: all integers, then all timestamps of one form, then row by row
    classes."""
    if column.null_count == 0 and not has_hexadecimals(column):
        for kind in (pa.int64(), pa.timestamp("us"), pa.timestamp("us", "UTC")):
            try:
                return read_times(column.cast(kind), clock)
            except pa.ArrowInvalid:
                continue
    return _mixed(pc.utf8_trim_whitespace(column.fill_null("")), clock)


def has_hexadecimals(column: pa.Array) -> bool:
    """True where a text may be one that Arrow would cast from base 16, which is no number here."""
    data = column.buffers()[2]
    if data is None:
        return False
    characters = np.frombuffer(data, np.uint8)
    return bool((characters == ord("x")).any() or (characters == ord("X")).any())


def _mixed(column: pa.Array, clock: Clock) -> Times:
    size = len(column)
    values = np.zeros(size, np.int64)
    overflow = np.zeros(size, np.bool_)
    missing = as_mask(pc.equal(column, ""))
    left = ~missing
    for pattern, kind in (
        (_INTEGER, pa.int64()),
        (_DECIMAL, pa.float64()),
        (_ZONED, pa.timestamp("us", "UTC")),
        (r"^[0-9]{4}-[0-9]{2}-[0-9]{2}", pa.timestamp("us")),
    ):
        mask = left & as_mask(pc.match_substring_regex(column, pattern))
        where = np.flatnonzero(mask)
        if not len(where):
            continue
        parsed, valid = cast_each(column.take(pa.array(where)), kind)
        times = read_times(parsed, clock)
        out_of_range = ~valid & (kind == pa.int64())
        values[where] = times.values
        overflow[where] = out_of_range | times.overflow
        left[where[(valid & ~times.unreadable) | out_of_range]] = False
    return _build(values, clock, missing=missing, unreadable=left, overflow=overflow)


def cast_each(column: pa.Array, kind: pa.DataType) -> tuple[pa.Array, Mask]:
    """Cast what can be cast, by halving where a cast fails; the rest is null and not valid.

    The cost follows the number of failures, which the caller has made few by looking at the text first.
    """
    if pa.types.is_integer(kind):
        column = pc.replace_substring_regex(column, r"^\+", "")
    try:
        parsed = column.cast(kind)
        return parsed, np.ones(len(column), np.bool_)
    except pa.ArrowInvalid:
        if len(column) == 1:
            return pa.nulls(1, kind), np.zeros(1, np.bool_)
    half = len(column) // 2
    left, left_valid = cast_each(column.slice(0, half), kind)
    right, right_valid = cast_each(column.slice(half), kind)
    return pa.concat_arrays([left, right]), np.concatenate([left_valid, right_valid])


def read_ends(column: pa.Array | None, clock: Clock, size: int, open_end: int) -> Times:
    """Ends of intervals: as times, and no end, an empty field or ``inf`` where the interval is still
    running."""
    if column is None:
        nothing = np.zeros(size, np.bool_)
        return Times(np.full(size, open_end, np.int64), nothing, nothing, nothing)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        words = pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(column)), pa.array(OPEN_WORDS, column.type))
        column = pc.if_else(words, pa.scalar(None, column.type), column)
    elif pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_inf(column), pa.scalar(None, column.type), column)
    times = read_times(column, clock)
    values = np.where(times.missing, open_end, times.values)
    return Times(values, np.zeros(size, np.bool_), times.unreadable, times.overflow)
