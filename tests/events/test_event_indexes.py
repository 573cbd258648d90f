"""Events that wait as columns until they are asked for, against a plain set of rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns.ragged import Version
from thalweg.events.indexes import EventIndex
from thalweg.events.stores import EventStore
from thalweg.protocol import Ints

Row = tuple[int, int, int]
windows = st.lists(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 2))), min_size=1, max_size=3)
WIDTH = 10


def columns(rows: list[Row]) -> list[Ints]:
    return [np.array([row[c] for row in rows], np.int64) for c in range(3)]


@given(windows, st.sampled_from([(), (0,), (1,), (0, 1)]), st.integers(1, 200), st.booleans())
def test_an_event_is_absent_where_no_row_says_otherwise(
    found: list[set[Row]], positions: tuple[int, ...], questions: int, put_in: bool
) -> None:
    index = EventIndex(positions, 2)
    index.probed = True
    seen: set[Row] = set()
    draw = np.random.default_rng(questions)
    for k, window in enumerate(found):
        rows = sorted((k * WIDTH + t, x, y) for t, x, y in window)
        later = len([row for row in rows if row[0] < k * WIDTH + 5])
        if rows:
            index.arrive(columns(rows), later)
        seen |= set(rows)
        if put_in:
            assert index.lists.count == index.keys.count
        times = draw.integers(k * WIDTH - 5, (k + 1) * WIDTH, questions)
        keys = [draw.integers(0, 4, questions) for _ in positions]
        there = {(row[0], *(row[1 + p] for p in positions)) for row in seen}
        asked = zip(times.tolist(), *(key.tolist() for key in keys), strict=True)
        expected = [n for n, question in enumerate(asked) if question not in there]
        assert index.absent(keys, times, Version.NOW).tolist() == expected
        index.expire(k * WIDTH + 4)
        index.commit()
        seen = {row for row in seen if row[0] > k * WIDTH + 4}


def test_a_late_event_that_no_rule_looks_up_moves_only_the_events_of_its_own_individual() -> None:
    store = EventStore("turn", 1)
    rows = np.array([(time, vessel) for time in range(1, 101) for vessel in range(50)], np.int64)
    store.apply(rows, np.ones(len(rows), np.int64), None, assign=True)
    lists = store.primary().lists
    store.commit(0)
    used = lists.used
    store.apply(np.array([(1, 50), (0, 7)], np.int64), np.ones(2, np.int64), None, assign=True)
    assert store.moves.came.tolist() == [[0, 7], [1, 50]]
    assert lists.used - used < 300
