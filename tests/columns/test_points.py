"""Leaving out points that change nothing, against the law of inertia."""

from __future__ import annotations

import numpy as np
from column_lists import ints
from hypothesis import given
from hypothesis import strategies as st
from test_timeline_kernels import inertia

from thalweg.columns.keys import each_once
from thalweg.columns.points import Thinner
from thalweg.columns.timelines import INITIATE, TERMINATE, TERMINATE_ALL

point = st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(0, 2))
lists = st.lists(
    st.tuples(
        st.sampled_from([INITIATE, TERMINATE, TERMINATE_ALL]), st.lists(point, min_size=1, max_size=12)
    ),
    min_size=1,
    max_size=4,
)


@given(lists, st.sampled_from([4, 3000]))
def test_timelines_are_the_same_without_the_points_that_are_left_out(
    found: list[tuple[int, list[tuple[int, int, int]]]], count: int
) -> None:
    thin = Thinner()
    for _ in range(2):  # marks of an earlier call do not count
        parts = [
            (*(ints([p[c] for p in points]) for c in (0, 1)), kind, ints([p[2] for p in points]))
            for kind, points in found
        ]
        ids, starts, rows, first, last = thin(parts, count)
        times = [[time for _, time, _ in points] for _, points in found]
        assert (first, last) == (min(map(min, times)), max(map(max, times)))
        assert ids.tolist() == sorted({i for _, points in found for i, _, _ in points})
        owners = np.repeat(ids, np.diff(starts)).tolist()
        kept = [(i, *row) for i, row in zip(owners, rows.tolist(), strict=True)]
        every = [(i, time, kind, value) for kind, points in found for i, time, value in points]
        assert set(kept) <= set(every)
        for instance in range(4):
            mine, all_mine = (
                [(t, k, v, 1) for i, t, k, v in some if i == instance] for some in (kept, every)
            )
            assert inertia(mine) == inertia(all_mine)
            assert [p[0] for p in mine] == sorted(p[0] for p in mine)


def test_a_point_that_repeats_the_last_one_is_left_out() -> None:
    ids, starts, rows, *_ = Thinner()([(ints([0, 0, 0]), ints([1, 2, 3]), INITIATE, ints([7, 7, 8]))], 1)
    assert (ids.tolist(), starts.tolist()) == ([0], [0, 2])
    assert rows.tolist() == [[1, INITIATE, 7], [3, INITIATE, 8]]


def test_one_value_can_stand_for_all() -> None:
    _, _, rows, *_ = Thinner()([(ints([0, 1, 0]), ints([1, 2, 3]), INITIATE, ints([7]))], 2)
    assert rows.tolist() == [[1, INITIATE, 7], [2, INITIATE, 7]]


def test_a_repeated_point_stays_where_something_else_happens_at_the_same_time() -> None:
    parts = [
        (ints([0, 0]), ints([1, 2]), INITIATE, ints([7, 7])),
        (ints([0]), ints([2]), INITIATE, ints([8])),
    ]
    assert Thinner()(parts, 1)[2][:, 0].tolist() == [1, 2, 2]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), max_size=60))
def test_of_rows_that_are_there_twice_the_first_stays(rows: list[tuple[int, int, int]]) -> None:
    rows.sort(key=lambda row: row[0])
    columns = each_once([ints([row[c] for row in rows]) for c in range(3)])
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == list(dict.fromkeys(rows))
