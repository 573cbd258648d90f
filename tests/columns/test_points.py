"""Leaving out points that change nothing, against the law of inertia."""

from __future__ import annotations

import numpy as np
import pytest
from column_lists import ints
from hypothesis import given
from hypothesis import strategies as st
from test_timeline_kernels import inertia

from thalweg.columns.keys import each_once
from thalweg.columns.points import Thinner
from thalweg.columns.slabs import LENGTH, OFFSET, WIDTH, Places
from thalweg.columns.timelines import INITIATE, OPEN, TERMINATE, TERMINATE_ALL
from thalweg.protocol import Ints

point = st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(0, 2))
lists = st.lists(
    st.tuples(
        st.sampled_from([INITIATE, TERMINATE, TERMINATE_ALL]), st.lists(point, min_size=1, max_size=12)
    ),
    min_size=1,
    max_size=4,
)


NEVER_HELD = np.zeros((8, WIDTH), np.int32), np.empty((0, 3), np.int64)
"""Timelines without an interval."""


def held(values: list[int | None], count: int) -> tuple[Places, Ints]:
    """Timelines of instances that were there once, and some of which have a value since."""
    table, pool = np.zeros((count, WIDTH), np.int32), []
    for instance, value in enumerate(values):
        table[instance, OFFSET], table[instance, LENGTH] = len(pool), 1 if value is None else 2
        pool.append((-9, -6, 1))
        if value is not None:
            pool.append((-3, OPEN, value))
    return table, np.array(pool, np.int64)


@given(lists, st.lists(st.none() | st.integers(0, 2), min_size=4, max_size=4), st.sampled_from([4, 3000]))
def test_timelines_are_the_same_without_the_points_that_are_left_out(
    found: list[tuple[int, list[tuple[int, int, int]]]], values: list[int | None], count: int
) -> None:
    thin = Thinner()
    for _ in range(2):  # marks of an earlier call do not count
        parts = [
            (*(ints([p[c] for p in points]) for c in (0, 1)), kind, ints([p[2] for p in points]))
            for kind, points in found
        ]
        ids, starts, rows, first, last = thin(parts, count, *held(values, count))
        times = [[time for _, time, _ in points] for _, points in found]
        assert (first, last) == (min(map(min, times)), max(map(max, times)))
        assert set(ids.tolist()) <= {i for _, points in found for i, _, _ in points}
        assert ids.tolist() == sorted(set(ids.tolist())) and (np.diff(starts) > 0).all()
        owners = np.repeat(ids, np.diff(starts)).tolist()
        kept = [(i, *row) for i, row in zip(owners, rows.tolist(), strict=True)]
        every = [(i, time, kind, value) for kind, points in found for i, time, value in points]
        assert set(kept) <= set(every)
        for instance, value in enumerate(values):
            before = [] if value is None else [(-4, INITIATE, value, 1)]
            mine, all_mine = (
                [(t, k, v, 1) for i, t, k, v in some if i == instance] for some in (kept, every)
            )
            assert inertia(before + mine) == inertia(before + all_mine)
            assert [p[0] for p in mine] == sorted(p[0] for p in mine)


def test_a_point_that_repeats_the_last_one_is_left_out() -> None:
    parts = [(ints([0, 0, 0]), ints([1, 2, 3]), INITIATE, ints([7, 7, 8]))]
    ids, starts, rows, *_ = Thinner()(parts, 1, *NEVER_HELD)
    assert (ids.tolist(), starts.tolist()) == ([0], [0, 2])
    assert rows.tolist() == [[1, INITIATE, 7], [3, INITIATE, 8]]


def test_an_instance_whose_points_say_what_holds_already_is_left_out() -> None:
    before = held([7, 8, None, None], 4)
    parts = [(ints([0, 1, 2, 0]), ints([1, 1, 1, 2]), INITIATE, ints([7]))]
    parts.append((ints([3]), ints([1]), TERMINATE, ints([7])))
    ids, starts, rows, *_ = Thinner()(parts, 4, *before)
    assert (ids.tolist(), starts.tolist()) == ([1, 2], [0, 1, 2])
    assert rows.tolist() == [[1, INITIATE, 7], [1, INITIATE, 7]]
    ids, starts, rows, *_ = Thinner()(parts[1:], 4, *before)
    assert (ids.tolist(), starts.tolist(), rows.tolist()) == ([], [0], [])


def test_one_value_can_stand_for_all() -> None:
    _, _, rows, *_ = Thinner()([(ints([0, 1, 0]), ints([1, 2, 3]), INITIATE, ints([7]))], 2, *NEVER_HELD)
    assert rows.tolist() == [[1, INITIATE, 7], [2, INITIATE, 7]]


@pytest.mark.parametrize("before", [NEVER_HELD, held([7], 1)], ids=["none", "the same"])
def test_a_repeated_point_stays_where_something_else_happens_at_the_same_time(before: tuple[Places, Ints]) -> None:
    parts = [
        (ints([0, 0]), ints([1, 2]), INITIATE, ints([7, 7])),
        (ints([0]), ints([2]), INITIATE, ints([8])),
    ]
    kept = Thinner()(parts, 1, *before)[2][:, 0].tolist()
    assert kept == ([1, 2, 2] if before is NEVER_HELD else [2, 2])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), max_size=60))
def test_of_rows_that_are_there_twice_the_first_stays(rows: list[tuple[int, int, int]]) -> None:
    rows.sort(key=lambda row: row[0])
    columns = each_once([ints([row[c] for row in rows]) for c in range(3)])
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == list(dict.fromkeys(rows))
