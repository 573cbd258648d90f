"""Times, durations and argument columns, one rule at a time."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.io.errors import InputError
from thalweg.io.shapes import Type
from thalweg.io.times import Clock, read_ends, read_times
from thalweg.io.typed import read_column

FIELDS = st.sampled_from(
    "0,12,-7,+5,007,1.0,1.5,x,2022-01-03,2022-01-03T00:00:01Z,1e3,99999999999999999999,9007199254740993,inf,nan,"
    "1e999,.5,5.,1_0,--1,0x1,, 3 ,1e30,-1e30,3.0e30,9.3e18,1700000000000000001,-4000000000000000001".split(",")
)


@pytest.mark.parametrize(
    ("text", "points"), [("600", 600), ("10m", 600), ("1.5h", 5400), ("1d", 86400), ("2000ms", 2), (30, 30)]
)
def test_a_duration_is_a_number_of_time_points_or_has_a_unit(text: str | int, points: int) -> None:
    assert Clock().duration(text) == points


@pytest.mark.parametrize(
    "given",
    [timedelta(minutes=10), pd.Timedelta("10min"), np.timedelta64(10, "m"), np.timedelta64(6 * 10**8, "us")],
)
def test_a_duration_may_be_a_timedelta(given: Any) -> None:
    assert Clock().duration(given) == 600


def test_a_timedelta_that_is_no_whole_number_of_ticks_is_an_error() -> None:
    with pytest.raises(InputError, match=r"window 1500.000ms is not a whole number of time-points of 1 s"):
        Clock().duration(timedelta(seconds=1.5), "window")


@given(st.integers(-(10**15), 10**15))
def test_a_timedelta_is_read_to_the_microsecond(micros: int) -> None:
    assert Clock(1).duration(timedelta(microseconds=micros)) == micros


@pytest.mark.parametrize(
    "given",
    [
        datetime(2026, 3, 2, 9, 30, tzinfo=timezone(timedelta(hours=1))),
        datetime(2026, 3, 2, 8, 30),
        pd.Timestamp("2026-03-02T08:30"),
        np.datetime64("2026-03-02T08:30"),
    ],
)
def test_a_time_may_be_a_datetime(given: Any) -> None:
    assert Clock().point(given) == Clock().point("2026-03-02T08:30Z")


def test_a_duration_is_measured_in_ticks() -> None:
    assert Clock.of_seconds(60).duration("1h") == 60
    assert Clock.of_seconds(0.1).duration("3s") == 30


@pytest.mark.parametrize("text", ["ten", "10 parsecs", "", "1.5", "m"])
def test_a_duration_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match="window"):
        Clock().duration(text, "window")


def test_a_duration_that_is_too_large_is_an_error() -> None:
    assert Clock().duration(2**62) == 2**62
    with pytest.raises(InputError, match="window 99999999999999999999 is more than"):
        Clock().duration("99999999999999999999", "window")


def test_a_duration_that_is_no_whole_number_of_ticks_is_an_error() -> None:
    with pytest.raises(InputError, match="whole number of time-points of 60 s"):
        Clock.of_seconds(60).duration("90s")


def test_a_point_in_time_is_an_integer_or_a_date() -> None:
    assert Clock().point("-5") == -5
    assert Clock().point("2022-01-03") == 1641168000
    with pytest.raises(InputError, match="start tomorrow is neither"):
        Clock().point("tomorrow", "start")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("1e30", "overflow"), ("9.3e18", "overflow"), ("-3.0e30", "overflow"), ("1.5", "mismatch"), ("x", "mismatch")],
)
@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
def test_a_number_that_is_no_exact_integer_spoils_its_own_row_only(text: str, reason: str, kind: pa.DataType) -> None:
    typed = read_column(pa.array(["3", text, "1e3"]).cast(kind), Type.INT)
    assert typed.column.to_pylist() == [3, None, 1000]
    assert getattr(typed, reason).tolist() == [False, True, False]


def test_a_time_is_out_of_range_beyond_the_farthest_one() -> None:
    clock = Clock(farthest=1000)
    for column in (
        pa.array([1000, -1000, 1001, -1001]),
        pa.array([1000, 0, 1001, 2**64 - 1], pa.uint64()),
        pa.array(["1000", "-1000", "1001", "-1001"]),
        pa.array(["1e3", "-1000.0", "1001.0", "1e30"]),
        pa.array([1000.0, -1000.0, 1001.0, float("inf")]),
        pa.array(list(map(Decimal, (1000, -1000, 1001, 10**25)))),
        pa.array([1000, -1000, 1001, 10**18], pa.timestamp("s")),
        pa.array([1000, -1000, 1001, -1001]).dictionary_encode(),
    ):
        times = read_times(column, clock)
        assert times.overflow.tolist() == [False, False, True, True], column.type
        assert not (times.unreadable.any() or times.missing.any())
    assert clock.point(1000) == 1000
    assert clock.point(1003, "start", beyond=3) == 1003
    with pytest.raises(InputError, match="end 1001 is too large: the program computes with times"):
        clock.point(1001, "end")


def test_a_large_time_is_exact_or_out_of_range_whatever_it_is_written_as() -> None:
    exact = 1_700_000_000_000_000_001
    for column in (pa.array([exact]), pa.array([str(exact)]), pa.array([Decimal(exact)]), pa.array([str(exact), "x"])):
        assert read_times(column, Clock()).values[0] == exact
    for column in (pa.array([float(exact)]), pa.array(["1.7e18"]), pa.array([f"{exact}.0"])):
        assert read_times(column, Clock()).overflow.tolist() == [True]


def test_a_decimal_is_a_time_where_it_is_whole() -> None:
    times = read_times(pa.array([Decimal("5.0"), Decimal("1.5"), None]), Clock())
    assert times.values[0] == 5
    assert times.unreadable.tolist() == [False, True, False]
    assert times.missing.tolist() == [False, False, True]


def test_a_timestamp_is_rounded_down_to_a_time_point() -> None:
    for unit, value in (("ns", -1), ("us", -1), ("ms", -1), ("s", -1)):
        assert read_times(pa.array([value], pa.timestamp(unit)), Clock()).values.tolist() == [-1]


@given(st.lists(FIELDS, min_size=1, max_size=12))
def test_a_time_is_read_the_same_alone_and_among_others(fields: list[str]) -> None:
    together = read_times(pa.array(fields), Clock())
    for place, text in enumerate(fields):
        alone = read_times(pa.array([text]), Clock())
        states = [(t.missing[i], t.unreadable[i], t.overflow[i]) for t, i in ((together, place), (alone, 0))]
        assert states[0] == states[1]
        if not any(states[0]):
            assert together.values[place] == alone.values[0]


@given(st.lists(FIELDS, min_size=1, max_size=12), st.sampled_from(list(Type)))
def test_an_argument_is_read_the_same_alone_and_among_others(fields: list[str], kind: Type) -> None:
    together = read_column(pa.array(fields), kind)
    for place, text in enumerate(fields):
        alone = read_column(pa.array([text]), kind)
        assert together.column[place].as_py() == alone.column[0].as_py()
        assert together.mismatch[place] == alone.mismatch[0]
        assert together.overflow[place] == alone.overflow[0]


@given(st.lists(FIELDS, min_size=1, max_size=12), st.sampled_from(list(Type)))
def test_an_argument_is_null_exactly_where_it_is_complained_about(fields: list[str], kind: Type) -> None:
    typed = read_column(pa.array([*fields, None]), kind)
    complaints = typed.missing | typed.mismatch | typed.overflow
    assert complaints.tolist() == typed.column.is_null().to_pylist()
    assert typed.missing.tolist() == [False] * len(fields) + [True]


def test_dictionary_columns_are_read_by_their_words() -> None:
    column = pa.array(["5", "x", "5", None, "2022-01-03"]).dictionary_encode()
    times = read_times(column, Clock())
    assert times.values[[0, 2, 4]].tolist() == [5, 5, 1641168000]
    assert times.unreadable.tolist() == [False, True, False, False, False]
    assert times.missing.tolist() == [False, False, False, True, False]


def test_an_end_that_is_empty_or_infinite_is_open() -> None:
    ends = read_ends(pa.array(["5", "inf", "", None, "Infinity", "x"]), Clock(), 6, 99)
    assert ends.values[:5].tolist() == [5, 99, 99, 99, 99]
    assert ends.unreadable.tolist() == [False] * 5 + [True]


def test_a_declared_int_takes_whole_numbers_only() -> None:
    typed = read_column(pa.array(["3", "3.5", "4.0"]), Type.INT)
    assert typed.column.to_pylist() == [3, None, 4]
    assert typed.mismatch.tolist() == [False, True, False]


def test_numbers_that_look_different_are_one_constant() -> None:
    typed = read_column(pa.array(["12", "0012", "12.0", "+12", "1.2e1", "m12", "12.5"]), Type.SYMBOL)
    assert typed.column.to_pylist() == ["12", "12", "12", "12", "12", "m12", "12.5"]
