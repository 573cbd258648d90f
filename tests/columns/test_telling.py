"""What each of several query times tells, against the states that it saw, one after the other."""

from __future__ import annotations

import numpy as np
from column_lists import ints, ragged
from hypothesis import given
from hypothesis import strategies as st

from thalweg.columns.telling import by_query, first_elsewhere, tell
from thalweg.columns.timelines import OPEN

Interval = tuple[int, int]
LAST = 24


@st.composite
def timelines(draw: st.DrawFn, tick: int) -> list[Interval]:
    """Maximal intervals on the ticks; the last one may run on."""
    cuts = sorted(draw(st.sets(st.integers(1, LAST // tick), max_size=9)))
    ends = [tick * cut for cut in cuts]
    if len(ends) % 2:
        ends.append(int(OPEN))
    return list(zip(ends[::2], ends[1::2], strict=True))


def holds(timeline: list[Interval], time: int) -> bool:
    return any(start <= time < end for start, end in timeline)


def seen(timeline: list[Interval], after: int, late: set[int], tick: int) -> set[Interval]:
    """What a query time tells that knows all up to the point `after`, there perhaps otherwise than it turned out."""
    points = {time: holds(timeline, time) for time in range(0, after + tick, tick)}
    points[after] ^= after in late
    found, start = set(), None
    for time, held in points.items():
        if held and start is None:
            start = time
        elif not held and start is not None:
            found.add((start, time))
            start = None
    return found if start is None else found | {(start, int(OPEN))}


@given(st.data(), st.sampled_from([1, 1, 2, 3]), st.integers(1, 7))
def test_each_query_time_tells_how_what_it_sees_differs_from_what_the_one_before_saw(
    data: st.DataObject, tick: int, step: int
) -> None:
    lists = data.draw(st.lists(timelines(tick), min_size=1, max_size=3))
    queries = range(0, LAST + step, step)
    previous, *rest = queries[data.draw(st.integers(0, len(queries) - 2)) :]
    known = {query: query - query % tick + tick for query in queries}
    borders = sorted({known[query] for query in (previous, *rest[:-1])} - {known[rest[-1]]})
    late = [set(data.draw(st.lists(st.sampled_from(borders))) if borders else ()) for _ in lists]
    states = {
        query: {(i, *span) for i, spans in enumerate(lists) for span in seen(spans, known[query], late[i], tick)}
        for query in (previous, *rest)
    }
    final = states[rest[-1]]
    expected = []
    for before, query in zip((previous, *rest), rest, strict=False):
        expected += [(query, 0, *row, 0) for row in sorted(states[before] - states[query])]
        expected += [(query, 1, *row, 0) for row in sorted(states[query] - states[before])]
    gone, came = sorted(states[previous] - final), sorted(final - states[previous])
    otherwise = sorted((i, point) for i, points in enumerate(late) for point in points if point > known[previous])
    columns = [
        ints([row[c] for row in rows]) for rows, width in ((gone, 3), (came, 3), (otherwise, 2)) for c in range(width)
    ]
    old, new, doubted, none = columns[:3], columns[3:6], columns[6:], np.empty(0, np.int64)
    made = ragged([[(s, e, 0) for i, s, e in sorted(final) if i == k] for k in range(len(lists))], 3)
    told = np.empty((6, len(gone) + 3 * len(came) + 4 * len(otherwise)), np.int64)
    place = made.table, made.pool
    n = tell(*old, none, *new, none, *doubted, *place, 0, step, tick, known[previous], told)
    ordered, counts = np.empty((6, n), np.int64), np.zeros(2 * len(rest) + 1, np.int64)
    by_query(told, n, rest[0], step, counts, ordered)
    assert [tuple(row) for row in ordered.T.tolist()] == expected


@given(st.lists(st.tuples(st.integers(-9, 30), st.integers(-9, 30), st.booleans(), st.booleans())), st.integers(1, 7))
def test_rows_that_cannot_be_taken_in_together_are_found(
    rows: list[tuple[int, int, bool, bool]], step: int
) -> None:
    def belongs(arrival: int, time: int, inserts: bool, counts: bool) -> bool:
        return inserts and counts and -(-arrival // step) == -(-time // step)

    arrival, time = (ints([row[c] for row in rows]) for c in (0, 1))
    ops, counts = ints([1 if row[2] else -1 for row in rows]), ints([row[1] - (not row[3]) for row in rows])
    expected = next((k for k, row in enumerate(rows) if not belongs(*row)), len(rows))
    assert first_elsewhere(arrival, ops, counts, time, 0, step) == expected
